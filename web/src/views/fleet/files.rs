//! The fleet as files to keep.

use charts::{FleetData, Style, Theme, fleet_svg};
use js_sys::encode_uri_component;
use protocol::FleetSlice;
use quantity::plain;

use crate::browser;

/// Size of the picture, CSS px.
const PICTURE_PX: (f64, f64) = (960.0, 720.0);

/// The columns of the table, the same as the command line's.
const HEADER: &str = "start_s,offered,served,slo_met,rejected,ttft_p50_s,ttft_p99_s,waiting,deferred,running,\
                      kv_usage_mean,kv_usage_max,pending,starting,ready,draining,desired\n";

/// Gives the rows as `fleet.svg`. Tells whether it could.
pub(super) fn save_svg(data: &FleetData, theme: &Theme) -> bool {
    let style = Style::svg(PICTURE_PX.0, PICTURE_PX.1);
    match fleet_svg(data, theme, &style) {
        Ok(text) => save("data:image/svg+xml;charset=utf-8,", &text, "fleet.svg"),
        Err(_) => return false,
    }
    true
}

/// Gives the windows as `fleet.csv`, all digits, SI units.
pub(super) fn save_csv(slices: &[FleetSlice]) {
    save("data:text/csv;charset=utf-8,", &csv(slices), "fleet.csv");
}

fn save(kind: &str, text: &str, name: &str) {
    let encoded = String::from(encode_uri_component(text));
    browser::save(&[kind, &encoded].concat(), name);
}

fn csv(slices: &[FleetSlice]) -> String {
    let mut text = HEADER.to_owned();
    for slice in slices {
        let real = |value: f64| plain(value, 0);
        let maybe = |value: Option<f64>| value.map(real).unwrap_or_default();
        let [pending, starting, ready, draining] = slice.replicas.map(|count| count.to_string());
        let cells = [
            real(slice.start_s),
            slice.offered.to_string(),
            slice.served.to_string(),
            slice.slo_met.to_string(),
            slice.rejected.to_string(),
            maybe(slice.ttft_s.0),
            maybe(slice.ttft_s.1),
            slice.waiting.to_string(),
            slice.deferred.to_string(),
            slice.running.to_string(),
            real(slice.kv.0),
            real(slice.kv.1),
            pending,
            starting,
            ready,
            draining,
            slice.asked.to_string(),
        ];
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}
