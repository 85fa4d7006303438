//! Where the page's elements meet Leptos.

use leptos::{html, prelude::*};

use super::Nodes;

/// What `build` builds, as a Leptos view.
pub(crate) fn mounted<N>(build: impl FnOnce() -> N + 'static) -> impl IntoView
where
    N: Into<Nodes>,
{
    let root = NodeRef::<html::Div>::new();
    root.on_load(move |root| build().into().append_to(&root));
    view! { <div class="mounted" node_ref=root></div> }
}
