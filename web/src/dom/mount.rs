//! Where the page's elements meet the document.

use leptos::prelude::document;

use super::Nodes;

/// Puts elements last into the document's body.
pub(crate) fn in_body(nodes: impl Into<Nodes>) {
    if let Some(body) = document().body() {
        nodes.into().append_to(&body);
    }
}
