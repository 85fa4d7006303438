//! The shortest names that are free.

use std::collections::BTreeSet;

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// `a`, `b`, … `Z`, `aa`, …, leaving out those that are taken.
pub(crate) struct ShortNames {
    taken: BTreeSet<String>,
    next: usize,
}

impl ShortNames {
    /// Names other than these.
    pub(crate) fn without<'a>(taken: impl Iterator<Item = &'a str>) -> Self {
        Self { taken: taken.map(str::to_owned).collect(), next: 0 }
    }

    /// The next one.
    pub(crate) fn next(&mut self) -> String {
        loop {
            let name = name(self.next);
            self.next += 1;
            if !self.taken.contains(&name) {
                return name;
            }
        }
    }
}

fn name(mut number: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(LETTERS[number % LETTERS.len()]));
        number /= LETTERS.len();
        if number == 0 {
            return letters.iter().rev().collect();
        }
        number -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_none_comes_twice() {
        let mut names = ShortNames::without(["b", "aa"].into_iter());
        let all: Vec<String> = (0..3_000).map(|_| names.next()).collect();
        assert_eq!(all[..3], ["a", "c", "d"]);
        assert_eq!(all[50..53], ["Z", "ab", "ac"]);
        assert!(all.iter().all(|name| name.len() <= 3));
        let distinct: BTreeSet<&String> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }
}
