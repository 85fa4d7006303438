//! What the list of keys says.

/// Keys and what they do, in groups.
pub(crate) const KEY_GROUPS: [(&str, &[(&str, &str)]); 3] = [
    (
        "Everywhere",
        &[
            ("?", "this list"),
            ("1, 2, 3, 4, 6", "Plan, Fleet, Compare, Calibrate, How we know"),
            ("R", "run again"),
            ("T", "the chart as a table, and back"),
            ("L", "copy the link"),
            ("P", "pin to compare, unpin"),
            ("X", "swap A and B"),
            ("E", "export"),
            ("Esc", "stop a run, close what is open"),
            ("Ctrl Z, Ctrl Shift Z", "undo, redo a setting"),
        ],
    ),
    (
        "On a slider",
        &[
            ("← →", "a small step; with Shift a larger one"),
            ("Page ↑ Page ↓", "a large step"),
            ("Home, End", "least, most"),
            ("Delete", "as it was at first"),
        ],
    ),
    (
        "On the chart",
        &[
            ("← →", "next point; with Shift five points"),
            ("Home, End", "first, last point"),
            ("Esc", "back to the planned load"),
        ],
    ),
];
