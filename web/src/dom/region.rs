//! A stretch of siblings that comes, changes and goes as a whole.

use leptos::prelude::document;
use web_sys::{Element, Node};

use super::{El, Tell, follow};

/// Some siblings.
#[derive(Debug, Default)]
pub(crate) struct Nodes(Vec<Node>);

impl Nodes {
    /// Puts them last into `parent`.
    pub(super) fn append_to(self, parent: &Element) {
        for node in self.0 {
            // An element takes whatever is not its own ancestor.
            let _ = parent.append_child(&node);
        }
    }
}

impl From<El> for Nodes {
    fn from(element: El) -> Self {
        Self(vec![element.into()])
    }
}

impl From<Option<El>> for Nodes {
    fn from(element: Option<El>) -> Self {
        Self(element.into_iter().map(Node::from).collect())
    }
}

impl From<Vec<El>> for Nodes {
    fn from(elements: Vec<El>) -> Self {
        Self(elements.into_iter().map(Node::from).collect())
    }
}

impl<const N: usize> From<[El; N]> for Nodes {
    fn from(elements: [El; N]) -> Self {
        Self(elements.into_iter().map(Node::from).collect())
    }
}

impl<const N: usize> From<[Nodes; N]> for Nodes {
    fn from(stretches: [Nodes; N]) -> Self {
        Self(stretches.into_iter().flat_map(|Nodes(nodes)| nodes).collect())
    }
}

impl From<&str> for Nodes {
    fn from(text: &str) -> Self {
        Self(vec![document().create_text_node(text).into()])
    }
}

impl From<String> for Nodes {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

/// Keeps what `tell` builds at this place of `parent`. The effects and listeners of what was there
/// end before `tell` runs, being owned by the effect that runs it.
#[inline(never)]
pub(super) fn follow_region(parent: &Element, tell: Box<dyn Tell<Nodes>>) {
    // An empty text marks the place: it is read out by nobody and styled by nothing.
    let place: Node = document().create_text_node("").into();
    let _ = parent.append_child(&place);
    let mut there: Vec<Node> = Vec::new();
    follow(Box::new(move || {
        let Nodes(now) = tell.tell();
        // The parent is the element itself, or what it was moved into with its region.
        let Some(parent) = place.parent_node() else { return };
        for node in there.drain(..) {
            // It is gone already if somebody else removed it.
            let _ = parent.remove_child(&node);
        }
        for node in &now {
            let _ = parent.insert_before(node, Some(&place));
        }
        there = now;
    }));
}
