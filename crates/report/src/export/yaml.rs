//! JSON values as YAML. Every text is quoted as JSON quotes it, which YAML 1.2 reads alike, so that no
//! text can be taken for something else.

use std::fmt::Write as _;

use serde_json::Value;

/// A document without its separator.
pub(super) fn yaml(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value, 0);
    text
}

fn write(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                let _ = write!(text, "{:indent$}{}:", "", key(name));
                nested(text, value, indent + 2);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                let mut block = String::new();
                write(&mut block, item, indent + 2);
                // The first line of what is in it stands behind the hyphen.
                let _ = write!(text, "{:indent$}- {}", "", block.trim_start());
            }
        }
        scalar => {
            let _ = writeln!(text, "{:indent$}{scalar}", "");
        }
    }
}

fn nested(text: &mut String, value: &Value, indent: usize) {
    let is_block = match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    if is_block {
        text.push('\n');
        write(text, value, indent);
    } else {
        // Writing to a string cannot fail.
        let _ = writeln!(text, " {value}");
    }
}

/// A name that needs no quotation marks has none.
fn key(name: &str) -> String {
    let is_plain = name.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_./".contains(letter));
    if is_plain { name.to_owned() } else { Value::from(name).to_string() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_are_indented_and_texts_quoted() {
        let value = json!({
            "a": { "b": [1, { "c": "x: y", "d": [] }], "e": true },
            "app.kubernetes.io/name": "n",
            "9": null,
        });
        let expected = "\"9\": null\na:\n  b:\n    - 1\n    - c: \"x: y\"\n      d: []\n  e: true\n\
             app.kubernetes.io/name: \"n\"\n";
        assert_eq!(yaml(&value), expected);
    }
}
