//! A canvas as sharp as the screen, and a draw at most once a frame.

use std::{cell::Cell, rc::Rc};

use charts::Style;
use leptos::prelude::*;
use wasm_bindgen::{JsCast, prelude::Closure};
use web_sys::{Element, HtmlCanvasElement, ResizeObserver};

/// Backend units per device pixel: curves stay smooth though units are whole numbers.
const OVERSAMPLE: u32 = 4;

/// Size of a canvas on the page and how many device pixels a CSS px has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Surface {
    /// CSS px.
    pub(crate) width_px: f64,
    /// CSS px.
    pub(crate) height_px: f64,
    /// Device pixels per CSS px.
    pub(crate) ratio: f64,
}

impl Surface {
    /// Whether there is anything to draw on yet.
    pub(crate) fn is_visible(&self) -> bool {
        self.width_px >= 1.0 && self.height_px >= 1.0
    }

    /// Gives the backing store its size. Setting it clears the canvas, so only if it differs.
    pub(crate) fn fit(&self, canvas: &HtmlCanvasElement) {
        let pixels = |px: f64| (px * self.ratio).round() as u32;
        let (width, height) = (pixels(self.width_px), pixels(self.height_px));
        if canvas.width() != width {
            canvas.set_width(width);
        }
        if canvas.height() != height {
            canvas.set_height(height);
        }
    }
}

/// How charts are drawn on a surface.
pub(crate) fn chart_style(surface: &Surface) -> Style {
    let style = Style::canvas(surface.width_px, surface.height_px, surface.ratio);
    // No copies: our backend strokes the halo.
    Style { halo_copies: 0, ..style.oversampled(OVERSAMPLE) }
}

/// Follows the size of an element and the pixel ratio of its screen.
pub(crate) fn watch_size(element: &Element, surface: RwSignal<Surface>) {
    let measured = element.clone();
    let measure = Rc::new(move || {
        let now = Surface {
            width_px: f64::from(measured.client_width()),
            height_px: f64::from(measured.client_height()),
            ratio: window().device_pixel_ratio(),
        };
        // What is hidden keeps its size, and so it can be drawn in the frame in which it comes back.
        if now.is_visible() && surface.get_untracked() != now {
            surface.set(now);
        }
    });
    let on_resize = {
        let measure = Rc::clone(&measure);
        Closure::<dyn Fn()>::new(move || measure())
    };
    if let Ok(observer) = ResizeObserver::new(on_resize.as_ref().unchecked_ref()) {
        observer.observe(element);
    }
    on_resize.forget();
    watch_ratio(measure);
}

/// A window that moves to another screen changes its ratio without changing any size. The media
/// query matches the present ratio, so it has to be asked anew after each change.
fn watch_ratio(measure: Rc<impl Fn() + 'static>) {
    let query =
        ["(resolution: ", &quantity::plain(window().device_pixel_ratio(), 0), "dppx)"].concat();
    let Ok(Some(list)) = window().match_media(&query) else { return };
    let on_change = Closure::once_into_js(move || {
        measure();
        watch_ratio(measure);
    });
    let options = web_sys::AddEventListenerOptions::new();
    options.set_once(true);
    let _ = list.add_event_listener_with_callback_and_add_event_listener_options(
        "change",
        on_change.unchecked_ref(),
        &options,
    );
}

/// Runs a drawing in the next frame, however often it is asked for until then, if the region that it
/// was built in is still there.
#[derive(Clone)]
pub(crate) struct Frame {
    region: StoredValue<()>,
    asked: Rc<Cell<bool>>,
    draw: Rc<dyn Fn()>,
}

impl Frame {
    /// For this drawing.
    pub(crate) fn new(draw: impl Fn() + 'static) -> Self {
        Self { region: StoredValue::new(()), asked: Rc::default(), draw: Rc::new(draw) }
    }

    /// Asks for a drawing.
    pub(crate) fn ask(&self) {
        if !self.asked.replace(true) {
            let frame = self.clone();
            request_animation_frame(move || {
                frame.asked.set(false);
                if !frame.region.is_disposed() {
                    (frame.draw)();
                }
            });
        }
    }
}
