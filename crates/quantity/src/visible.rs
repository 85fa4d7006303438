//! What people typed, shown back to them.

/// The text with every character that would steer a terminal, break a line or hide other characters
/// written as its code: an escape as `\\u{1b}`.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            push_code(&mut shown, character as u32);
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Control characters, line and paragraph separators, and what turns the direction of text or takes
/// no room.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// As a string literal has it. By hand: the page prints no other hexadecimal number.
fn push_code(shown: &mut String, code: u32) {
    shown.push_str("\\u{");
    let mut digits = 1;
    while digits < 6 && code >> (4 * digits) != 0 {
        digits += 1;
    }
    for place in (0..digits).rev() {
        let digit = (code >> (4 * place)) & 0xf;
        shown.push(char::from_digit(digit, 16).unwrap_or('0'));
    }
    shown.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_terminals_are_shown_and_letters_stay() {
        for (text, shown) in [
            ("rate=5", "rate=5"),
            ("naïve 数 💥 \u{202f}s", "naïve 数 💥 \u{202f}s"),
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("a\nb\tc\0", "a\\u{a}b\\u{9}c\\u{0}"),
            ("\u{9b}2J", "\\u{9b}2J"),
            ("x\u{202e}y\u{feff}", "x\\u{202e}y\\u{feff}"),
        ] {
            assert_eq!(visible(text), shown);
        }
        assert_eq!(visible("\u{10ffff}"), "\u{10ffff}");
    }
}
