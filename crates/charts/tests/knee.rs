//! The knee chart as pictures and as geometry: the right bytes for real data, no panic and no
//! nonsense for absurd data.
//!
//! `BLESS=1 cargo test -p charts` writes the pictures anew; look at them before committing.

#![cfg(feature = "svg")]

use std::path::PathBuf;

use charts::theme::{DARK, LIGHT};
use charts::{
    ChartError, Interval, KneeData, KneePoint, Style, Theme, knee_geometry, knee_svg, readout,
};

const WIDE: Style = Style::svg(712.0, 352.0);
const PHONE: Style = Style::svg(342.0, 332.0);

/// One H100, published constants: rate in requests per second, then times in milliseconds.
fn measured() -> KneeData {
    let rows = [
        (1.0, 34.0, 60.0, 5.6, 1.0),
        (5.0, 35.0, 90.0, 6.9, 5.0),
        (10.0, 37.0, 121.0, 8.9, 10.0),
        (15.0, 39.0, 166.0, 12.8, 15.0),
        (20.0, 65.0, 242.0, 22.9, 20.0),
        (22.0, 90.0, 330.0, 33.0, 22.0),
        (23.0, 150.0, 600.0, 39.0, 21.0),
        (24.0, 500.0, 1700.0, 40.5, 15.0),
    ];
    let points = rows.map(|(rate, p50, p99, tpot, goodput)| point(rate, p50, p99, tpot, goodput));
    KneeData {
        points: points.to_vec(),
        closed_form: (1..24).map(|i| (f64::from(i), 0.05 + 0.008 * f64::from(i))).collect(),
        ttft_target_s: 1.0,
        tpot_target_s: 0.04,
        capacity_per_s: Some(Interval::new(22.4, 22.0, 22.9)),
        planned_rate_per_s: Some(16.7),
        ceiling_per_s: Some(24.2),
        server: String::from("one GPU"),
        is_estimate: false,
    }
}

fn point(rate_per_s: f64, p50_ms: f64, p99_ms: f64, tpot_ms: f64, goodput: f64) -> KneePoint {
    let around = |value: f64| Interval::new(value, 0.9 * value, 1.1 * value);
    KneePoint {
        rate_per_s,
        ttft_p50_s: p50_ms / 1e3,
        ttft_p99_s: around(p99_ms / 1e3),
        tpot_p99_s: around(tpot_ms / 1e3),
        goodput_per_s: Interval::exact(goodput),
        stable: true,
    }
}

fn nothing() -> KneeData {
    KneeData {
        points: Vec::new(),
        closed_form: Vec::new(),
        ttft_target_s: f64::NAN,
        tpot_target_s: 0.0,
        capacity_per_s: None,
        planned_rate_per_s: None,
        ceiling_per_s: None,
        server: String::new(),
        is_estimate: false,
    }
}

#[track_caller]
fn drawn(data: &KneeData, theme: &Theme, style: &Style) -> String {
    let svg = knee_svg(data, theme, style).unwrap_or_default();
    assert!(svg.ends_with("</svg>\n"), "not drawn");
    for nonsense in ["NaN", "inf", "e308", "unknown", "beyond"] {
        assert!(!svg.contains(nonsense), "{nonsense} in {svg}");
    }
    svg
}

fn picture(name: &str, data: &KneeData, theme: &Theme, style: &Style) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/pictures").join(name);
    let svg = drawn(data, theme, style);
    if std::env::var_os("BLESS").is_some() {
        assert!(std::fs::write(&path, &svg).is_ok(), "cannot write {name}");
    }
    let blessed = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(svg == blessed, "{name} differs from what was blessed; look, then run with BLESS=1");
}

#[test]
fn pictures_are_as_blessed() {
    picture("knee_wide_light.svg", &measured(), &LIGHT, &WIDE);
    picture("knee_wide_dark.svg", &measured(), &DARK, &WIDE);
    picture("knee_phone_light.svg", &measured(), &LIGHT, &PHONE);
}

#[test]
fn wide_charts_say_everything_and_narrow_ones_the_main_things() {
    let wide = drawn(&measured(), &LIGHT, &WIDE);
    for words in [
        "target holds to 22.4",
        "planned 16.7",
        "34\u{202f}% headroom",
        "target 1\u{202f}s",
        "target 40\u{202f}ms",
        "TTFT P99",
        "\nP50\n",
        "closed form",
        "TPOT P99",
        "Goodput",
        "offered",
        "Unstable",
        "above 24.2",
        "P99 withheld",
        "Requests per second on one GPU",
    ] {
        assert!(wide.contains(words), "{words}");
    }
    let narrow = drawn(&measured(), &LIGHT, &PHONE);
    for words in ["limit 22.4", "planned 16.7", "TTFT P99", "rotate(270", "Requests/s on one GPU"] {
        assert!(narrow.contains(words), "{words}");
    }
    for words in ["\nP50\n", "closed form", "offered", "target holds to", "P99 withheld"] {
        assert!(!narrow.contains(words), "{words}");
    }
}

#[test]
fn a_load_beyond_the_capacity_is_named_too() {
    for planned in [22.6, 25.0, 27.5] {
        let data = KneeData { planned_rate_per_s: Some(planned), ..measured() };
        let svg = drawn(&data, &LIGHT, &WIDE);
        assert!(svg.contains(&format!("planned {planned}")), "{planned}");
        assert!(svg.contains("target holds to 22.4"), "{planned}");
        assert!(!svg.contains("headroom"), "{planned}");
    }
}

#[test]
fn panels_share_the_height_and_one_axis() {
    let Ok(geometry) = knee_geometry(&measured(), &WIDE) else { panic!("fits") };
    let heights = [geometry.ttft, geometry.tpot, geometry.goodput].map(|p| p.rect.height());
    assert!((geometry.tpot.rect.top - geometry.ttft.rect.bottom - 20.0).abs() < 1e-9);
    assert!((geometry.goodput.rect.top - geometry.tpot.rect.bottom - 20.0).abs() < 1e-9);
    let all: f64 = heights.iter().sum();
    for (height, share) in heights.into_iter().zip([0.46, 0.28, 0.26]) {
        assert!((height / all - share).abs() < 0.005, "{height} of {all}");
    }
    assert!((geometry.x.high() - 1.15 * 24.2).abs() < 1e-9);
    assert_eq!((geometry.ttft.y.low(), geometry.ttft.y.high()), (0.01, 5.0));
    assert_eq!((geometry.tpot.y.low(), geometry.tpot.y.high()), (0.0, 0.05));
}

#[test]
fn places_and_values_are_inverse() {
    let Ok(geometry) = knee_geometry(&measured(), &PHONE) else { panic!("fits") };
    for scale in [geometry.x, geometry.ttft.y, geometry.tpot.y, geometry.goodput.y] {
        for part in [0.0, 0.1, 0.5, 0.99, 1.0] {
            let value = scale.low() + part * (scale.high() - scale.low());
            let back = scale.to_value(scale.to_px(value));
            assert!((back - value).abs() <= 1e-9 * scale.high(), "{back} for {value}");
        }
    }
    assert_eq!(geometry.rate_at(-50.0), 0.0);
    assert_eq!(geometry.rate_at(5000.0), geometry.x.high());
}

#[test]
fn reads_the_curves_that_it_draws() {
    let data = measured();
    let at = readout(&data, 15.0);
    assert!(!at.unstable);
    assert!(at.ttft_p99_s.is_some_and(|i| (i.value - 0.166).abs() < 1e-12 && i.low < i.value));
    assert!(at.ttft_p50_s.is_some_and(|s| (s - 0.039).abs() < 1e-12));
    assert_eq!(at.goodput_per_s.map(|i| i.value), Some(15.0));
    let between = readout(&data, 17.0);
    assert!(between.ttft_p99_s.is_some_and(|i| i.value > 0.166 && i.value < 0.242));
    for rate in [20.5, 21.0, 21.9] {
        let goodput = readout(&data, rate).goodput_per_s.map(|i| i.value);
        assert!(goodput.is_some_and(|per_s| per_s <= rate), "more than was offered at {rate}");
    }
    let low = readout(&data, 0.5);
    assert_eq!(low.ttft_p99_s, None);
    assert!(low.goodput_per_s.is_some_and(|i| (i.value - 0.5).abs() < 1e-9));
    let beyond = readout(&data, 25.0);
    assert!(beyond.unstable);
    assert_eq!((beyond.ttft_p99_s, beyond.goodput_per_s), (None, None));
    assert_eq!(readout(&data, f64::NAN).ttft_p99_s, None);
}

#[test]
fn nothing_unstable_is_drawn_or_read() {
    let mut data = measured();
    data.ceiling_per_s = None;
    data.points[6].stable = false;
    assert!(readout(&data, 22.0).ttft_p99_s.is_some());
    assert_eq!(readout(&data, 22.5).ttft_p99_s, None, "between stable and unstable");
    assert_eq!(readout(&data, 24.0).ttft_p99_s, None, "stable again is chance");
    assert!(readout(&data, 23.0).unstable);
    assert!(drawn(&data, &LIGHT, &WIDE).contains("above 23"));
}

fn absurd_data() -> Vec<KneeData> {
    let full = measured();
    let with = |change: &dyn Fn(&mut KneeData)| {
        let mut data = measured();
        change(&mut data);
        data
    };
    let each = |change: &dyn Fn(&mut KneePoint)| with(&|d| d.points.iter_mut().for_each(change));
    vec![
        nothing(),
        KneeData { points: full.points[..1].to_vec(), ..nothing() },
        KneeData { closed_form: full.closed_form.clone(), ..nothing() },
        each(&|p| p.stable = false),
        each(&|p| p.ttft_p99_s.value = f64::NAN),
        each(&|p| p.ttft_p99_s = Interval::exact(f64::INFINITY)),
        each(&|p| p.ttft_p99_s = Interval::exact(1e-300)),
        each(&|p| p.ttft_p50_s = -1.0),
        each(&|p| p.tpot_p99_s = Interval::exact(1e308)),
        each(&|p| p.rate_per_s = f64::NAN),
        each(&|p| p.rate_per_s = 5.0),
        each(&|p| p.rate_per_s *= 1e300),
        with(&|d| d.points.truncate(1)),
        with(&|d| d.points[0].ttft_p50_s = 1e-30),
        with(&|d| d.points[3].ttft_p99_s = Interval::new(0.166, 0.3, 0.1)),
        with(&|d| d.ceiling_per_s = Some(f64::INFINITY)),
        with(&|d| d.ceiling_per_s = Some(0.0)),
        with(&|d| d.ceiling_per_s = Some(-3.0)),
        with(&|d| d.ceiling_per_s = Some(1e-200)),
        with(&|d| d.capacity_per_s = Some(Interval::exact(f64::NAN))),
        with(&|d| d.capacity_per_s = Some(Interval::new(22.0, f64::NEG_INFINITY, f64::INFINITY))),
        with(&|d| d.capacity_per_s = Some(Interval::exact(1e9))),
        with(&|d| d.planned_rate_per_s = Some(f64::NAN)),
        with(&|d| d.planned_rate_per_s = Some(0.0)),
        with(&|d| d.planned_rate_per_s = Some(1e-9)),
        with(&|d| d.planned_rate_per_s = Some(30.0)),
        with(&|d| d.planned_rate_per_s = Some(1e9)),
        with(&|d| d.closed_form = vec![(f64::NAN, 1.0), (1.0, f64::INFINITY), (2.0, -1.0)]),
        with(&|d| d.ttft_target_s = f64::INFINITY),
        with(&|d| d.ttft_target_s = 1e-12),
        with(&|d| d.ttft_target_s = 1e12),
        with(&|d| d.tpot_target_s = f64::NAN),
    ]
}

#[test]
fn absurd_data_draws_something() {
    for (i, data) in absurd_data().iter().enumerate() {
        for style in [WIDE, PHONE, Style::canvas(160.0, 160.0, 1.0)] {
            assert!(knee_svg(data, &LIGHT, &style).is_ok(), "case {i}");
            let _ = drawn(data, &DARK, &style);
        }
        for rate in [f64::NAN, -1.0, 0.0, 22.0, 1e300, f64::INFINITY] {
            let at = readout(data, rate);
            assert!(at.ttft_p99_s.is_none_or(|interval| interval.value.is_finite()), "case {i}");
        }
    }
}

#[test]
fn an_impossible_size_is_an_error() {
    for style in [
        Style::svg(100.0, 352.0),
        Style::svg(712.0, 0.0),
        Style::svg(f64::NAN, 352.0),
        Style::svg(f64::INFINITY, 352.0),
        Style::canvas(712.0, 352.0, 0.0),
        Style::canvas(712.0, 352.0, 1.0).oversampled(0),
    ] {
        let refused = knee_geometry(&measured(), &style);
        assert!(matches!(refused, Err(ChartError::TooSmall { .. })), "{style:?}");
        assert!(knee_svg(&measured(), &LIGHT, &style).is_err());
    }
}

#[test]
fn the_same_data_gives_the_same_bytes() {
    let mut shuffled = measured();
    shuffled.points.reverse();
    shuffled.closed_form.reverse();
    assert_eq!(drawn(&measured(), &LIGHT, &WIDE), drawn(&shuffled, &LIGHT, &WIDE));
}
