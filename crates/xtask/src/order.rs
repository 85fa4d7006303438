//! An order of functions in which gzip finds what it has seen before.
//!
//! gzip looks back no further than 32 KiB. The compiler leaves many functions that are copies of each
//! other but for a type, and scatters them over a module of twenty times that size.

use std::collections::VecDeque;

/// Bytes that gzip may look back on, less what the longest match reaches over the edge.
const WINDOW: usize = 30_000;
/// Length of the pieces whose number two functions are compared by.
const PIECE: usize = 6;
/// What more functions have is in every window, and says nothing about likeness.
const MOST_OWNERS: usize = 200;
/// Bytes that a function costs beside its body; keeps the shortest from always coming first.
const ENTRY: usize = 8;

/// The indices of `bodies`, such that each is followed by the one that has the greatest part of its
/// pieces among those just before it.
pub(crate) fn alike_together(bodies: &[&[u8]]) -> Vec<usize> {
    let mut line = Line::new(bodies);
    let mut order = Vec::with_capacity(bodies.len());
    let longest = (0..bodies.len()).max_by_key(|&function| bodies[function].len());
    let mut next = longest;
    while let Some(function) = next {
        order.push(function);
        line.append(function);
        next = line.most_alike();
    }
    order
}

/// The functions that have their place, and how well each of the others would follow them.
struct Line<'a> {
    bodies: &'a [&'a [u8]],
    /// Of each function the pieces that some others have, too.
    pieces: Vec<Vec<usize>>,
    /// Of each such piece the functions that have it.
    owners: Vec<Vec<usize>>,
    /// How many functions of the window have each piece.
    seen: Vec<usize>,
    /// How many pieces of each function are in the window.
    known: Vec<usize>,
    waits: Vec<bool>,
    window: VecDeque<usize>,
    window_bytes: usize,
}

impl<'a> Line<'a> {
    fn new(bodies: &'a [&'a [u8]]) -> Self {
        let owners = shared_pieces(bodies);
        let mut pieces = vec![Vec::new(); bodies.len()];
        for (piece, functions) in owners.iter().enumerate() {
            for &function in functions {
                pieces[function].push(piece);
            }
        }
        Self {
            bodies,
            pieces,
            seen: vec![0; owners.len()],
            owners,
            known: vec![0; bodies.len()],
            waits: vec![true; bodies.len()],
            window: VecDeque::new(),
            window_bytes: 0,
        }
    }

    fn append(&mut self, function: usize) {
        self.waits[function] = false;
        self.window.push_back(function);
        self.window_bytes += self.bodies[function].len();
        for &piece in &self.pieces[function] {
            self.seen[piece] += 1;
            if self.seen[piece] == 1 {
                self.owners[piece].iter().for_each(|&owner| self.known[owner] += 1);
            }
        }
        while self.window_bytes > WINDOW && self.window.len() > 1 {
            let Some(oldest) = self.window.pop_front() else { break };
            self.window_bytes -= self.bodies[oldest].len();
            for &piece in &self.pieces[oldest] {
                self.seen[piece] -= 1;
                if self.seen[piece] == 0 {
                    self.owners[piece].iter().for_each(|&owner| self.known[owner] -= 1);
                }
            }
        }
    }

    /// The function with the greatest known part, the first of equals; `None` when all are placed.
    fn most_alike(&self) -> Option<usize> {
        let waiting = (0..self.bodies.len()).filter(|&function| self.waits[function]);
        waiting.reduce(|best, other| {
            let size = |function: usize| self.bodies[function].len() + ENTRY;
            // The greater of two fractions, without dividing.
            let is_greater = self.known[other] * size(best) > self.known[best] * size(other);
            if is_greater { other } else { best }
        })
    }
}

/// Of each piece that several functions have, but not too many, those functions.
fn shared_pieces(bodies: &[&[u8]]) -> Vec<Vec<usize>> {
    let mut found: Vec<(&[u8], usize)> = Vec::new();
    for (function, body) in bodies.iter().enumerate() {
        found.extend(body.windows(PIECE).map(|piece| (piece, function)));
    }
    found.sort_unstable();
    found.dedup();
    found
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|owners| (2..=MOST_OWNERS).contains(&owners.len()))
        .map(|owners| owners.iter().map(|&(_, function)| function).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    /// Bytes without pattern, the same in every run.
    fn noise(seed: u64, length: usize) -> Vec<u8> {
        let next = |state: &u64| {
            Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963))
        };
        std::iter::successors(next(&seed), next)
            .map(|state| (state >> 56) as u8)
            .take(length)
            .collect()
    }

    fn gzipped<'a>(bodies: impl Iterator<Item = &'a [u8]>) -> usize {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        bodies.for_each(|body| encoder.write_all(body).expect("gzip in memory"));
        encoder.finish().expect("gzip in memory").len()
    }

    #[test]
    fn copies_far_apart_come_together_and_compress() {
        // Forty functions, then their copies: each copy 80 kB behind its original.
        let originals: Vec<Vec<u8>> = (0..40).map(|seed| noise(seed, 2_000)).collect();
        let bodies: Vec<&[u8]> = originals.iter().chain(&originals).map(Vec::as_slice).collect();
        let order = alike_together(&bodies);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..80), "every function has one place");
        for pair in order.chunks(2) {
            assert_eq!(pair[0] % 40, pair[1] % 40, "{order:?}");
        }
        let before = gzipped(bodies.iter().copied());
        let after = gzipped(order.iter().map(|&function| bodies[function]));
        assert!(after * 10 < before * 6, "{before} bytes before, {after} after");
    }

    #[test]
    fn nothing_and_little_have_an_order() {
        assert!(alike_together(&[]).is_empty());
        assert_eq!(alike_together(&[b"", b"abc"]), [1, 0]);
    }
}
