//! Close names for mistyped ones, and the search of pickers.

/// Lower case, without the spaces and underscores that people put for hyphens.
pub(crate) fn normalised(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace([' ', '_'], "-")
}

/// The names closest to a mistyped one, best first, at most `limit`.
///
/// A name is close if it begins or ends with what was typed, contains it, or differs from it in few letters for its
/// length. Nothing is close to an empty text.
pub fn nearest<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Vec<&'a str> {
    // Longer texts are no typing mistakes, and the distance costs the product of both lengths.
    const LONGEST: usize = 64;
    let typed = normalised(typed);
    if typed.is_empty() || typed.chars().count() > LONGEST {
        return Vec::new();
    }
    let known: Vec<&str> = known.into_iter().collect();
    let mut scored: Vec<u64> = Vec::new();
    for (index, name) in known.iter().enumerate() {
        if let Some(score) = closeness(&typed, name) {
            scored.push(by_score(score, index));
        }
    }
    // As whole numbers, like all sorts of the page: each other type would bring a sort of its own.
    scored.sort_unstable();
    scored.into_iter().map(|key| known[index_of(key)]).take(limit).collect()
}

/// The slugs whose names are closest to a mistyped one, best first, each once, at most `limit`.
pub(crate) fn nearest_slugs<'a>(
    typed: &str,
    names: impl Iterator<Item = (&'a str, &'a str)>,
    limit: usize,
) -> Vec<String> {
    let (names, slugs): (Vec<&str>, Vec<&str>) = names.unzip();
    let mut found: Vec<String> = Vec::new();
    for near in nearest(typed, names.iter().copied(), 4 * limit) {
        let slug = names.iter().position(|name| *name == near).and_then(|index| slugs.get(index));
        if let Some(slug) = slug.filter(|slug| !found.iter().any(|known| known == *slug)) {
            found.push((*slug).to_owned());
        }
    }
    found.truncate(limit);
    found
}

/// Entries whose text holds every word of the query, those that begin with it first.
pub(crate) fn ranked<'a, T>(
    query: &str,
    entries: &'a [T],
    text: impl Fn(&T) -> String,
) -> Vec<&'a T> {
    let query = query.trim().to_ascii_lowercase();
    let mut found: Vec<u64> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let text = text(entry).to_ascii_lowercase();
        if query.split_whitespace().all(|word| text.contains(word)) {
            found.push(by_score(text.find(&query).unwrap_or(text.len()), index));
        }
    }
    found.sort_unstable();
    found.into_iter().map(|key| &entries[index_of(key)]).collect()
}

/// A number to sort entries by: the score, and the index where scores are equal, so that ties stay in
/// the order of the catalogue. Names and catalogues are far shorter than 2³².
fn by_score(score: usize, index: usize) -> u64 {
    (score as u64) << u32::BITS | index as u64
}

fn index_of(key: u64) -> usize {
    key as u32 as usize
}

/// Zero for the closest; `None` for a name that nobody could have meant.
fn closeness(typed: &str, name: &str) -> Option<usize> {
    let distance = edit_distance(typed, name);
    // One mistake in short words, one in three letters in long ones.
    let tolerated = (typed.chars().count() / 3).max(1);
    if distance <= tolerated {
        return Some(distance);
    }
    let contained = typed.len() >= 2 && (name.contains(typed) || typed.contains(name));
    contained.then_some(tolerated + distance)
}

/// Least number of letters to insert, delete, replace or swap with a neighbour.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, &from) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &to) in b.iter().enumerate() {
            let replaced = above[j] + usize::from(from != to);
            let mut best = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && from == b[j - 1] && a[i - 1] == to {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_single_mistakes() {
        for (a, b, distance) in [
            ("", "", 0),
            ("", "abc", 3),
            ("rate", "rate", 0),
            ("rat", "rate", 1),
            ("rtae", "rate", 1),
            ("raze", "rate", 1),
            ("kitten", "sitting", 3),
            ("“é”", "e", 3),
        ] {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
            assert_eq!(edit_distance(b, a), distance, "{b} {a}");
        }
    }

    #[test]
    fn nearest_prefers_fewer_mistakes_and_says_nothing_about_nonsense() {
        let known = ["rate", "rev", "share", "sim.requests"];
        assert_eq!(nearest("rat", known, 3), ["rate"]);
        assert_eq!(nearest("requests", known, 3), ["sim.requests"]);
        assert!(nearest("", known, 3).is_empty());
        assert!(nearest("xylophone", known, 3).is_empty());
        assert!(nearest(&"rate".repeat(100_000), known, 3).is_empty());
    }
}
