//! A fleet over time, as a picture.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use charts::{ChartError, FleetData, FleetPoint, Style, fleet_svg, theme, windows_per_point};

/// An hour in minutes, in which a fleet grows from one to four and is late in the middle.
fn data() -> FleetData {
    let point = |minute: u32| {
        let late = (20..30).contains(&minute);
        FleetPoint {
            start_s: 60.0 * f64::from(minute),
            rates_per_s: (10.0 + f64::from(minute), 10.0),
            replicas: [if minute < 30 { 1.0 } else { 4.0 }, if late { 3.0 } else { 0.0 }, 0.0, 0.0],
            desired: if minute < 20 { 1.0 } else { 4.0 },
            requests: (if late { 500.0 } else { 0.0 }, 32.0),
            slo_share: (minute != 5).then_some(if late { 0.2 } else { 1.0 }),
        }
    };
    FleetData {
        points: (0..60).map(point).collect(),
        end_s: 3600.0,
        target_share: 0.99,
        faults_s: vec![1200.0],
    }
}

fn drawn(data: &FleetData) -> String {
    fleet_svg(data, &theme::LIGHT, &Style::svg(712.0, 560.0)).expect("drawn")
}

#[test]
fn four_panels_share_one_axis_of_time() {
    let svg = drawn(&data());
    for word in ["Requests per second", "Replicas", "Requests", "In time", "asked for", "100 %"] {
        assert!(svg.contains(&format!("\n{word}\n")), "{word}");
    }
    assert_eq!(svg.matches("\n30 min\n").count(), 1);
    // What is late, and what went wrong, is in the colour of what is missed.
    let bad = theme::LIGHT.bad.to_string().to_uppercase();
    assert!(svg.contains(&bad));
    let mut calm = data();
    calm.faults_s.clear();
    for point in &mut calm.points {
        point.slo_share = Some(1.0);
    }
    assert!(!drawn(&calm).contains(&bad));
}

#[test]
fn a_long_run_is_told_in_hours() {
    let mut long = data();
    long.end_s = 86_400.0;
    assert!(drawn(&long).contains(" h\n"));
}

#[test]
fn nothing_to_draw_is_an_empty_chart_and_too_little_room_an_error() {
    let nothing = FleetData { points: Vec::new(), end_s: 0.0, faults_s: Vec::new(), ..data() };
    assert!(drawn(&nothing).contains("\nReplicas\n"));
    let small = fleet_svg(&data(), &theme::LIGHT, &Style::svg(200.0, 200.0));
    assert!(matches!(small, Err(ChartError::TooSmall { .. })));
}

#[test]
fn a_chart_has_no_more_points_than_can_be_told_apart() {
    assert_eq!((windows_per_point(0), windows_per_point(480), windows_per_point(481)), (1, 1, 2));
    assert_eq!(windows_per_point(86_400), 180);
}
