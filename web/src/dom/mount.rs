//! Where the page's elements meet the document, and Leptos's views.

use leptos::{mount::mount_to, prelude::*};
use web_sys::HtmlElement;

use super::{El, Nodes};

/// Puts elements last into the document's body.
pub(crate) fn in_body(nodes: impl Into<Nodes>) {
    if let Some(body) = document().body() {
        nodes.into().append_to(&body);
    }
}

impl El {
    /// Puts a Leptos view last into the element, for as long as the page lives.
    pub(crate) fn leptos<V>(&self, view: impl FnOnce() -> V + 'static)
    where
        V: IntoView + 'static,
    {
        mount_to(self.node::<HtmlElement>().clone(), view).forget();
    }
}
