//! Which part of the module each function and each piece of data belongs to.

use super::survey::Target;
use std::collections::BTreeMap;

/// What is held by a function or a piece of data: places in the function table and pieces of data,
/// by their numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct References {
    pub(super) slots: Vec<u32>,
    pub(super) pieces: Vec<usize>,
}

impl References {
    pub(super) fn push(&mut self, target: Target) {
        match target {
            Target::Slot(slot) => self.slots.push(slot),
            Target::Piece(piece) => self.pieces.push(piece),
        }
    }

    /// Each once.
    pub(super) fn tidy(&mut self) {
        self.slots.sort_unstable();
        self.slots.dedup();
        self.pieces.sort_unstable();
        self.pieces.dedup();
    }
}

/// Where something belongs. The order is that of precedence: what two parts need is in the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// In what is loaded first.
    First,
    /// In what is loaded when it is needed.
    Late,
    /// Nowhere: nothing leads to it.
    Nowhere,
}

/// Who leads to whom.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// Of each function the functions that it calls.
    pub(super) calls: Vec<Vec<u32>>,
    /// What each function holds.
    pub(super) functions: Vec<References>,
    /// What each piece of data holds.
    pub(super) pieces: Vec<References>,
    /// The functions in the table, by place.
    pub(super) table: BTreeMap<u32, u32>,
}

/// The part of each function and of each piece of data.
#[derive(Debug, PartialEq)]
pub(super) struct Parts {
    pub(super) functions: Vec<Part>,
    pub(super) pieces: Vec<Part>,
}

impl Graph {
    /// What can be reached from outside (functions in `roots`, and what `held` names) without going
    /// through a door belongs to the first part, what only doors lead to is late.
    ///
    /// A door itself is in the first part, whoever is behind it.
    pub(super) fn parts(&self, roots: &[u32], held: &References, doors: &[u32]) -> Parts {
        let first = self.reach(roots, held, doors);
        let all = self.reach(roots, held, &[]);
        let part = |(&first, &all): (&bool, &bool)| match (first, all) {
            (true, _) => Part::First,
            (false, true) => Part::Late,
            (false, false) => Part::Nowhere,
        };
        Parts {
            functions: first.functions.iter().zip(&all.functions).map(part).collect(),
            pieces: first.pieces.iter().zip(&all.pieces).map(part).collect(),
        }
    }

    fn reach(&self, roots: &[u32], held: &References, closed: &[u32]) -> Reached {
        let mut reached = Reached {
            functions: vec![false; self.calls.len()],
            pieces: vec![false; self.pieces.len()],
            functions_to_follow: Vec::new(),
            pieces_to_follow: Vec::new(),
        };
        roots.iter().for_each(|&root| reached.function(root));
        reached.held(held, &self.table);
        loop {
            if let Some(function) = reached.functions_to_follow.pop() {
                if !closed.contains(&function) {
                    let function = function as usize;
                    self.calls[function].iter().for_each(|&called| reached.function(called));
                    reached.held(&self.functions[function], &self.table);
                }
            } else if let Some(piece) = reached.pieces_to_follow.pop() {
                reached.held(&self.pieces[piece], &self.table);
            } else {
                return reached;
            }
        }
    }
}

/// How far one has come.
struct Reached {
    functions: Vec<bool>,
    pieces: Vec<bool>,
    functions_to_follow: Vec<u32>,
    pieces_to_follow: Vec<usize>,
}

impl Reached {
    fn function(&mut self, function: u32) {
        if !std::mem::replace(&mut self.functions[function as usize], true) {
            self.functions_to_follow.push(function);
        }
    }

    fn held(&mut self, held: &References, table: &BTreeMap<u32, u32>) {
        for &piece in &held.pieces {
            if !std::mem::replace(&mut self.pieces[piece], true) {
                self.pieces_to_follow.push(piece);
            }
        }
        held.slots.iter().filter_map(|slot| table.get(slot)).for_each(|&function| {
            self.function(function);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Part::{First, Late, Nowhere};

    fn holds(slots: &[u32], pieces: &[usize]) -> References {
        References { slots: slots.to_vec(), pieces: pieces.to_vec() }
    }

    /// Function 0 is the root. It calls 1 and the door 2, and holds piece 0. The door calls 3 and
    /// holds piece 1, a table of methods with 4 in it. Nobody leads to 5, which holds piece 2. Both
    /// 1 and 3 call 6.
    fn graph() -> Graph {
        Graph {
            calls: vec![vec![1, 2], vec![6], vec![3], vec![6], vec![], vec![1], vec![]],
            functions: vec![
                holds(&[], &[0]),
                holds(&[], &[]),
                holds(&[], &[1]),
                holds(&[], &[]),
                holds(&[], &[]),
                holds(&[], &[2]),
                holds(&[], &[]),
            ],
            pieces: vec![holds(&[], &[]), holds(&[11], &[]), holds(&[], &[])],
            table: BTreeMap::from([(10, 1), (11, 4)]),
        }
    }

    #[test]
    fn what_only_a_door_leads_to_is_late() {
        let parts = graph().parts(&[0], &References::default(), &[2]);
        assert_eq!(parts.functions, [First, First, First, Late, Late, Nowhere, First]);
        assert_eq!(parts.pieces, [First, Late, Nowhere]);
    }

    #[test]
    fn without_doors_nothing_is_late() {
        let parts = graph().parts(&[0], &References::default(), &[]);
        assert_eq!(parts.functions, [First, First, First, First, First, Nowhere, First]);
        assert_eq!(parts.pieces, [First, First, Nowhere]);
    }

    #[test]
    fn a_second_way_in_brings_it_into_the_first_part() {
        // Whoever holds the table of methods can call what is in it.
        let mut graph = graph();
        graph.functions[6] = holds(&[], &[1]);
        let parts = graph.parts(&[0], &References::default(), &[2]);
        assert_eq!(parts.functions, [First, First, First, Late, First, Nowhere, First]);
        assert_eq!(parts.pieces, [First, First, Nowhere]);
    }

    #[test]
    fn what_nobody_knows_the_user_of_is_in_the_first_part() {
        let parts = graph().parts(&[0], &holds(&[11], &[2]), &[2]);
        assert_eq!(parts.functions[4], First);
        assert_eq!(parts.pieces, [First, Late, First]);
    }
}
