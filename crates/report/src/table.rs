//! Tables of text for terminals.

/// Columns under their headers, aligned to the right and two spaces apart.
pub(crate) fn aligned(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        let title = header.get(column).map_or(0, |title| title.chars().count());
        cells.chain([title]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded: Vec<String> =
            cells.zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
        padded.join("  ").trim_end().to_owned()
    };
    let mut text = line(&mut header.iter().copied()) + "\n";
    for row in rows {
        text.push_str(&line(&mut row.iter().map(String::as_str)));
        text.push('\n');
    }
    text
}

/// Columns of words under their headers, aligned to the left and two spaces apart; the last one
/// may be long.
pub(crate) fn ragged<const N: usize>(header: &[&str; N], rows: &[[String; N]]) -> String {
    let cells = |column: usize| rows.iter().map(move |row| row[column].chars().count());
    let widths: [usize; N] = std::array::from_fn(|column| {
        cells(column).chain([header[column].chars().count()]).max().unwrap_or(0)
    });
    let line = |texts: [&str; N]| {
        let padded: Vec<String> =
            texts.iter().zip(widths).map(|(text, width)| format!("{text:<width$}")).collect();
        padded.join("  ").trim_end().to_owned() + "\n"
    };
    let body = rows.iter().map(|row| line(row.each_ref().map(String::as_str)));
    [line(*header)].into_iter().chain(body).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_whatever_their_characters() {
        let rows = vec![
            vec!["1".to_owned(), "34\u{202f}ms".to_owned()],
            vec!["22.6".to_owned(), "\u{2212}5".to_owned()],
        ];
        assert_eq!(
            aligned(&["Rate", "P99"], &rows),
            "Rate    P99\n   1  34\u{202f}ms\n22.6     \u{2212}5\n"
        );
    }
}
