//! Line icons, 16 × 16, drawn with the colour of the text beside them.

use crate::dom::{El, svg};

/// One icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Icon {
    Undo,
    Redo,
    Link,
    Sun,
    Moon,
    System,
    Down,
    Right,
    Tick,
    Warning,
    Cross,
    Settings,
    Close,
    Keys,
    Pin,
    Export,
}

impl Icon {
    fn path(self) -> &'static str {
        match self {
            Self::Undo => "M6.5 3.5 3.5 6.5l3 3M3.8 6.5h5.7a3 3 0 0 1 0 6H6.5",
            Self::Redo => "m9.5 3.5 3 3-3 3M12.2 6.5H6.5a3 3 0 0 0 0 6h3",
            Self::Link => {
                "M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.2-2.2a2.6 2.6 0 0 0-3.7-3.7l-.9.9M9.2 6.8a2.6 2.6 0 0 \
                 0-3.7 0L3.3 9a2.6 2.6 0 0 0 3.7 3.7l.9-.9"
            }
            Self::Sun => {
                "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M8 1.6v1.3M8 13.1v1.3M1.6 8h1.3M13.1 \
                 8h1.3M3.5 3.5l.9.9M11.6 11.6l.9.9M3.5 12.5l.9-.9M11.6 4.4l.9-.9"
            }
            Self::Moon => "M13 9.6A5.6 5.6 0 0 1 6.4 3a5.6 5.6 0 1 0 6.6 6.6",
            Self::System => "M2.5 3.5h11v7.5h-11zM6 13.5h4M8 11v2.5",
            Self::Down => "m4 6 4 4 4-4",
            Self::Right => "m6 4 4 4-4 4",
            Self::Tick => "m3.5 8.5 3 3 6-7",
            Self::Warning => "M8 2.8 14 13H2zM8 6.6v3M8 11.2v.1",
            Self::Cross => "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M6 6l4 4M10 6l-4 4",
            Self::Keys => {
                "M1.8 4h12.4v8H1.8zM4.4 6.6h.1M6.8 6.6h.1M9.2 6.6h.1M11.6 6.6h.1M4.8 9.4h6.4"
            }
            Self::Pin => "M6 2h4M6.5 2v4.5L4.5 9h7l-2-2.5V2M8 9v5",
            Self::Export => "M8 2.5v7M5 6.8l3 3 3-3M2.8 11v2.2h10.4V11",
            Self::Close => "m4.5 4.5 7 7M11.5 4.5l-7 7",
            Self::Settings => {
                "M2.5 4.5h6M12 4.5h1.5M2.5 11.5h1.5M7.5 11.5h6M10.2 2.8a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 \
                 0 0 0-3.4M5.8 9.8a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4"
            }
        }
    }

    /// The icon as a picture without a name; what it stands for is said beside it.
    pub(crate) fn el(self) -> El {
        svg("svg")
            .class("icon")
            .attr("viewBox", "0 0 16 16")
            .attr("aria-hidden", "true")
            .child(svg("path").attr("d", self.path()))
    }
}

/// The mark of the product.
pub(crate) fn mark() -> El {
    let rect = |x, y, width, height, radius| {
        svg("rect")
            .attr("x", x)
            .attr("y", y)
            .attr("width", width)
            .attr("height", height)
            .attr("rx", radius)
    };
    svg("svg").class("brand-mark").attr("viewBox", "0 0 24 24").attr("aria-hidden", "true").child([
        rect("1.5", "1.5", "21", "21", "6").attr("fill", "var(--accent)"),
        svg("path")
            .attr("d", "M4 12V8a4 4 0 0 1 4-4h8a4 4 0 0 1 4 4v4z")
            .attr("fill", "var(--surface)"),
        rect("6.5", "6.6", "11", "2.6", "1.3").attr("fill", "var(--c2)"),
    ])
}
