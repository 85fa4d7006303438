//! From bytes to text: gzip, byte order marks, UTF-16, line ends.

use std::{borrow::Cow, io::Read};

use flate2::read::MultiGzDecoder;

use crate::error::ImportError;

/// The most text that is read, packed or not: a page's memory ends at a few times this.
const LIMIT_BYTES: u64 = 256 << 20;

/// Starts of files that are not text, and what to do with them.
const FOREIGN: [(&[u8], &str, &str); 6] = [
    (b"PK\x03\x04", "a zip archive or a spreadsheet", "unpack it, or save the sheet as CSV"),
    (b"\x28\xb5\x2f\xfd", "packed with Zstandard", "unpack it, or pack it with gzip"),
    (b"BZh", "packed with bzip2", "unpack it, or pack it with gzip"),
    (b"\xfd7zXZ\0", "packed with xz", "unpack it, or pack it with gzip"),
    (b"PAR1", "a Parquet file", "export it as CSV"),
    (b"SQLite format 3\0", "a database", "export the table as CSV"),
];

/// A file's text, with what was done to get it.
pub(crate) struct Text<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) notes: Vec<String>,
}

/// Unpack and decode `bytes`.
pub(crate) fn decode<'a>(file: &str, bytes: &'a [u8]) -> Result<Text<'a>, ImportError> {
    let mut notes = Vec::new();
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        notes.push("Unpacked with gzip.".to_owned());
        Cow::Owned(gunzip(file, bytes)?)
    } else {
        Cow::Borrowed(bytes)
    };
    if bytes.len() as u64 > LIMIT_BYTES {
        return Err(too_large(file));
    }
    if let Some(&(_, what, remedy)) = FOREIGN.iter().find(|(magic, ..)| bytes.starts_with(magic)) {
        return Err(ImportError::Unreadable { file: file.to_owned(), what, remedy });
    }
    let text = characters(bytes, &mut notes);
    if text.trim().is_empty() {
        return Err(ImportError::Empty { file: file.to_owned() });
    }
    Ok(Text { text: with_line_feeds(text), notes })
}

fn gunzip(file: &str, bytes: &[u8]) -> Result<Vec<u8>, ImportError> {
    let mut unpacked = Vec::new();
    // A small file can unpack to any size; reading stops one byte past the limit.
    MultiGzDecoder::new(bytes).take(LIMIT_BYTES + 1).read_to_end(&mut unpacked).map_err(
        |error| ImportError::BrokenGzip { file: file.to_owned(), problem: error.to_string() },
    )?;
    if unpacked.len() as u64 > LIMIT_BYTES { Err(too_large(file)) } else { Ok(unpacked) }
}

fn too_large(file: &str) -> ImportError {
    ImportError::TooLarge { file: file.to_owned(), limit_mib: LIMIT_BYTES >> 20 }
}

fn characters<'a>(bytes: Cow<'a, [u8]>, notes: &mut Vec<String>) -> Cow<'a, str> {
    let utf16 = |unit: fn([u8; 2]) -> u16| {
        let units = bytes.get(2..).unwrap_or_default().chunks_exact(2);
        let units = units.map(|pair| unit([pair[0], pair[1]]));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    let text: String = if bytes.starts_with(&[0xff, 0xfe]) {
        utf16(u16::from_le_bytes)
    } else if bytes.starts_with(&[0xfe, 0xff]) {
        utf16(u16::from_be_bytes)
    } else {
        return utf8(bytes, notes);
    };
    notes.push("Decoded from UTF-16.".to_owned());
    Cow::Owned(text)
}

fn utf8<'a>(bytes: Cow<'a, [u8]>, notes: &mut Vec<String>) -> Cow<'a, str> {
    const MARK: &str = "\u{feff}";
    match bytes {
        Cow::Borrowed(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text.trim_start_matches(MARK)),
            Err(_) => Cow::Owned(lossy(bytes, notes).trim_start_matches(MARK).to_owned()),
        },
        Cow::Owned(bytes) => {
            let text =
                String::from_utf8(bytes).unwrap_or_else(|error| lossy(error.as_bytes(), notes));
            Cow::Owned(text.trim_start_matches(MARK).to_owned())
        }
    }
}

fn lossy(bytes: &[u8], notes: &mut Vec<String>) -> String {
    notes.push("Some bytes are not UTF-8; they were read as “\u{fffd}”.".to_owned());
    String::from_utf8_lossy(bytes).into_owned()
}

/// Lines that end in a carriage return alone would all count as one.
fn with_line_feeds(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains('\r') && !text.contains('\n') {
        Cow::Owned(text.replace('\r', "\n"))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        decode("f", bytes).map(|text| text.text.into_owned()).unwrap()
    }

    #[test]
    fn marks_encodings_and_line_ends_are_undone() {
        assert_eq!(text(b"\xef\xbb\xbfa,b\r\n1,2"), "a,b\r\n1,2");
        assert_eq!(text(b"\xff\xfea\0,\0b\0"), "a,b");
        assert_eq!(text(b"\xfe\xff\0a\0,\0b"), "a,b");
        assert_eq!(text(b"a\rb"), "a\nb");
        assert_eq!(text(b"a\xff"), "a\u{fffd}");
    }

    #[test]
    fn what_is_not_text_is_named() {
        for (bytes, word) in [
            (&b"PK\x03\x04rest"[..], "zip"),
            (b"PAR1", "Parquet"),
            (b"\x1f\x8b\x08 cut short", "gzip"),
            (b" \r\n\t", "empty"),
            (b"", "empty"),
        ] {
            let error = decode("“f”", bytes).err().unwrap().to_string();
            assert!(error.starts_with("“f” ") && error.contains(word), "{error}");
        }
    }
}
