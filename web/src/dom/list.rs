//! Elements that come and go one by one, each keeping what was done to it.

use leptos::prelude::{Owner, document};
use web_sys::{Element, Node};

use super::{El, follow};

/// Keeps one element for each key at this place of `parent`, in the order of the keys. What is built
/// for a key belongs to it, and ends when the key goes; the others stay as they are.
#[inline(never)]
pub(super) fn follow_list(
    parent: &Element,
    keys: Box<dyn Fn() -> Vec<u32>>,
    build: Box<dyn Fn(u32) -> El>,
) {
    let place: Node = document().create_text_node("").into();
    let _ = parent.append_child(&place);
    // Not the effect's own, whose belongings end whenever it runs.
    let outer = Owner::current();
    let mut there: Vec<(u32, Node, Owner)> = Vec::new();
    follow(Box::new(move || {
        let now = keys();
        let Some(parent) = place.parent_node() else { return };
        there.retain(|(key, node, owner)| {
            let stays = now.contains(key);
            if !stays {
                owner.cleanup();
                let _ = parent.remove_child(node);
            }
            stays
        });
        for key in now {
            if there.iter().any(|(other, ..)| *other == key) {
                continue;
            }
            let owner = outer.as_ref().map_or_else(Owner::new, Owner::child);
            let node: Node = owner.with(|| build(key)).into();
            // Keys are only ever added at the end.
            let _ = parent.insert_before(&node, Some(&place));
            there.push((key, node, owner));
        }
    }));
}
