//! Texts taken apart: `name(a,b)`, and lists whose items may have parentheses of their own.

/// The items of a list, parted by the commas outside of parentheses.
pub(crate) fn items(text: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                items.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(&text[start..]);
    items
}

/// `name(a,b)` taken apart, the name in lower case. A missing last parenthesis is forgiven: mail
/// programs cut it off links.
pub(crate) fn call(text: &str) -> Option<(String, Vec<&str>)> {
    let (name, rest) = text.trim().split_once('(')?;
    let opened = rest.matches('(').count();
    let closed = rest.matches(')').count();
    let inside = if closed > opened { rest.strip_suffix(')').unwrap_or(rest) } else { rest };
    Some((name.trim().to_ascii_lowercase(), items(inside)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_within_parentheses_part_nothing() {
        assert_eq!(items("a,b(1,2),c"), ["a", "b(1,2)", "c"]);
        assert_eq!(items(""), [""]);
        assert_eq!(items("a),b(1,2"), ["a)", "b(1,2"]);
    }

    #[test]
    fn calls_are_taken_apart() {
        assert_eq!(call("Gamma( 0.5 )"), Some(("gamma".to_owned(), vec![" 0.5 "])));
        assert_eq!(call("f(1,g(2,3))"), Some(("f".to_owned(), vec!["1", "g(2,3)"])));
        assert_eq!(call("f(1,g(2,3)"), Some(("f".to_owned(), vec!["1", "g(2,3)"])));
        assert_eq!(call("f(1,2"), Some(("f".to_owned(), vec!["1", "2"])));
        assert_eq!(call("plain"), None);
    }
}
