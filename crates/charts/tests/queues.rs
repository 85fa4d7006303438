//! Theory beside simulation, as a picture.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use charts::{ChartError, Interval, QueueDot, QueuePanel, Style, queues_svg, theme};

fn panels(outside: bool) -> Vec<QueuePanel> {
    let dot = |load: f64| {
        let mean = 1.0 / (1.0 - load);
        let theory = [mean, 2.3 * mean, 4.6 * mean];
        let shift = if outside { 1.3 } else { 1.02 };
        let simulated = theory.map(|t| Interval::new(t * shift, t * shift * 0.9, t * shift * 1.1));
        QueueDot { load, theory, simulated }
    };
    ["M/M/1", "M/D/1", "M/G/1", "M/M/4"]
        .map(|title| QueuePanel {
            title: title.to_owned(),
            words: "some service".to_owned(),
            dots: [0.3, 0.5, 0.7, 0.8, 0.9, 0.95].map(dot).into(),
        })
        .into()
}

#[test]
fn every_queue_has_its_panel_its_dots_and_its_theory() {
    let svg = queues_svg(&panels(false), &theme::LIGHT, &Style::svg(520.0, 400.0)).expect("drawn");
    for title in ["M/M/1", "M/D/1", "M/G/1", "M/M/4", "some service", "Load", "\n100\n", "\n0.9\n"]
    {
        assert!(svg.contains(title), "{title}");
    }
    // Two circles a dot.
    assert_eq!(svg.matches("<circle").count(), 2 * 4 * 6 * 3);
    assert!(!svg.contains(&theme::LIGHT.warn.to_string().to_uppercase()));
}

#[test]
fn theory_outside_an_interval_is_marked() {
    let svg = queues_svg(&panels(true), &theme::LIGHT, &Style::svg(520.0, 400.0)).expect("drawn");
    assert!(svg.contains(&theme::LIGHT.warn.to_string().to_uppercase()));
}

#[test]
fn empty_odd_and_tiny_charts_are_defined() {
    let style = Style::svg(520.0, 400.0);
    assert!(queues_svg(&[], &theme::DARK, &style).is_ok());
    let mut odd = panels(false);
    odd[0].dots.clear();
    odd[1].dots[0].theory = [f64::NAN, 0.0, f64::INFINITY];
    odd[2].dots[0].simulated = [Interval::exact(f64::NAN); 3];
    assert!(queues_svg(&odd, &theme::DARK, &style).is_ok());
    let small = queues_svg(&odd, &theme::DARK, &Style::svg(90.0, 400.0));
    assert!(matches!(small, Err(ChartError::TooSmall { .. })), "{small:?}");
}
