//! Writes the knee chart of Qwen2.5-7B on one H100 as SVG files, in both themes and two sizes, to
//! the folder given (or the current one).

use std::path::PathBuf;

use charts::theme::{DARK, LIGHT};
use charts::{Interval, KneeData, KneePoint, Style, knee_svg};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| String::from(".")));
    for (theme_name, theme) in [("light", LIGHT), ("dark", DARK)] {
        for (size_name, style) in
            [("wide", Style::svg(712.0, 352.0)), ("phone", Style::svg(342.0, 332.0))]
        {
            let svg = knee_svg(&measured(), &theme, &style)?;
            std::fs::write(folder.join(format!("knee_{size_name}_{theme_name}.svg")), svg)?;
        }
    }
    Ok(())
}

/// Rates in requests per second, times in milliseconds, half-widths of the intervals as a share.
fn measured() -> KneeData {
    let rows = [
        (1.0, 34.0, 60.0, 5.6, 1.0, 0.04),
        (5.0, 35.0, 90.0, 6.9, 5.0, 0.04),
        (10.0, 37.0, 121.0, 8.9, 10.0, 0.04),
        (15.0, 39.0, 166.0, 12.8, 15.0, 0.05),
        (18.0, 52.0, 208.0, 18.2, 18.0, 0.06),
        (20.0, 65.0, 242.0, 22.9, 20.0, 0.07),
        (21.0, 75.0, 275.0, 27.8, 21.0, 0.08),
        (22.0, 90.0, 330.0, 33.0, 22.0, 0.11),
        (22.6, 115.0, 430.0, 36.8, 22.6, 0.16),
        (23.0, 150.0, 600.0, 39.0, 21.8, 0.22),
        (23.5, 270.0, 1050.0, 40.0, 19.0, 0.28),
        (24.0, 500.0, 1700.0, 40.5, 15.0, 0.30),
    ];
    let around =
        |value: f64, share: f64| Interval::new(value, value * (1.0 - share), value * (1.0 + share));
    let points =
        rows.map(|(rate_per_s, p50_ms, p99_ms, tpot_ms, goodput_per_s, share)| KneePoint {
            rate_per_s,
            ttft_p50_s: p50_ms / 1e3,
            ttft_p99_s: around(p99_ms / 1e3, share),
            tpot_p99_s: around(tpot_ms / 1e3, share / 4.0),
            goodput_per_s: around(goodput_per_s, 0.005),
            stable: true,
        });
    // Prefill time, and the wait of an M/D/1 queue of prefill work, at its 99th percentile.
    let closed_form = (1..=46).map(|half| {
        let rate = f64::from(half) / 2.0;
        let load = rate * 0.0285;
        (rate, 0.0285 + 2.3 * 0.0285 * load / (2.0 * (1.0 - load)) + 0.02 + 0.004 * rate)
    });
    KneeData {
        points: points.to_vec(),
        closed_form: closed_form.collect(),
        ttft_target_s: 1.0,
        tpot_target_s: 0.04,
        capacity_per_s: Some(Interval::new(22.6, 22.2, 23.2)),
        planned_rate_per_s: Some(100.0 / 6.0),
        ceiling_per_s: Some(24.2),
        server: String::from("one GPU"),
        is_estimate: false,
    }
}
