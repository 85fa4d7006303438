//! The cursor over the knee, on a canvas of its own: moving it does not redraw the chart.

use charts::{KneeGeometry, Readout, Rgb, Theme};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::{Surface, backend::context};

/// Radius of the dots, CSS px.
const DOT_PX: f64 = 4.0;

/// Draws the cursor at a readout, or nothing.
pub(crate) fn draw_cursor(
    canvas: &HtmlCanvasElement,
    surface: &Surface,
    geometry: &KneeGeometry,
    readout: Option<&Readout>,
    theme: &Theme,
) {
    surface.fit(canvas);
    let Some(context) = context(canvas) else { return };
    let ratio = surface.ratio;
    if context.set_transform(ratio, 0.0, 0.0, ratio, 0.0, 0.0).is_err() {
        return;
    }
    context.clear_rect(0.0, 0.0, surface.width_px, surface.height_px);
    let Some(readout) = readout else { return };

    let x = geometry.x.to_px(readout.rate_per_s);
    line(&context, x, geometry, theme);
    let [_, ttft_colour, tpot_colour, goodput_colour, ..] = theme.data;
    let dots = [
        (geometry.ttft, readout.ttft_p99_s.map(|v| v.value), ttft_colour),
        (geometry.ttft, readout.ttft_p50_s, ttft_colour),
        (geometry.tpot, readout.tpot_p99_s.map(|v| v.value), tpot_colour),
        (geometry.goodput, readout.goodput_per_s.map(|v| v.value), goodput_colour),
    ];
    for (panel, value, colour) in dots {
        let Some(value) = value else { continue };
        let y = panel.y.to_px(value);
        if y >= panel.rect.top && y <= panel.rect.bottom {
            dot(&context, (x, y), theme.surface, colour.mark);
        }
    }
}

fn line(context: &CanvasRenderingContext2d, x: f64, geometry: &KneeGeometry, theme: &Theme) {
    context.set_stroke_style_str(&theme.text.to_string());
    context.set_line_width(1.0);
    context.begin_path();
    let x = x.floor() + 0.5;
    context.move_to(x, geometry.plot.top);
    context.line_to(x, geometry.plot.bottom);
    context.stroke();
}

fn dot(context: &CanvasRenderingContext2d, (x, y): (f64, f64), fill: Rgb, stroke: Rgb) {
    context.begin_path();
    // A positive radius is never refused.
    let _ = context.arc(x, y, DOT_PX, 0.0, std::f64::consts::TAU);
    context.set_fill_style_str(&fill.to_string());
    context.fill();
    context.set_stroke_style_str(&stroke.to_string());
    context.set_line_width(2.0);
    context.stroke();
}
