//! How wide text is in Inter, the page's typeface: the same on every machine and backend, and
//! without asking a browser to lay text out.

/// Advance widths of the characters from space to `~` in thousandths of an em, digits tabular.
const REGULAR: [u16; 95] = [
    281, 288, 466, 633, 642, 982, 644, 300, 365, 365, 501, 662, 288, 460, 288, 360, 648, 648, 648,
    648, 648, 648, 648, 648, 648, 648, 288, 302, 662, 662, 662, 511, 966, 690, 654, 730, 722, 601,
    590, 746, 743, 269, 571, 672, 565, 903, 753, 765, 639, 765, 644, 642, 646, 744, 690, 985, 682,
    679, 629, 365, 360, 365, 471, 456, 323, 562, 612, 571, 612, 583, 370, 613, 591, 242, 242, 549,
    242, 876, 591, 600, 612, 612, 376, 528, 327, 591, 562, 818, 546, 562, 552, 426, 333, 426, 662,
];
/// The same at weight 600.
const SEMIBOLD: [u16; 95] = [
    251, 321, 523, 644, 650, 1004, 663, 326, 373, 373, 540, 673, 319, 465, 319, 379, 647, 647, 647,
    647, 647, 647, 647, 647, 647, 647, 319, 329, 673, 673, 673, 543, 1000, 728, 659, 737, 722, 605,
    588, 749, 746, 277, 580, 704, 565, 922, 759, 769, 645, 773, 652, 650, 660, 736, 728, 1020, 720,
    713, 652, 373, 379, 373, 481, 469, 351, 574, 625, 583, 625, 591, 389, 625, 612, 261, 261, 570,
    261, 900, 612, 609, 625, 625, 397, 549, 353, 612, 587, 839, 569, 589, 566, 455, 358, 455, 673,
];
/// The narrow no-break space before a unit.
const NARROW_SPACE: u16 = 180;
/// Any other character: signs are as wide as a digit, foreign letters rarely wider than this.
const OTHER: u16 = 670;

/// Width in the unit of `size` of `text` set in Inter.
pub(crate) fn text_width(text: &str, size: f64, bold: bool) -> f64 {
    let table = if bold { &SEMIBOLD } else { &REGULAR };
    let thousandths: u32 = text.chars().map(|c| u32::from(advance(c, table))).sum();
    f64::from(thousandths) * size / 1000.0
}

fn advance(c: char, table: &[u16; 95]) -> u16 {
    if c == '\u{202f}' {
        return NARROW_SPACE;
    }
    let place = (c as usize).checked_sub(' ' as usize);
    place.and_then(|place| table.get(place)).copied().unwrap_or(OTHER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_add_up() {
        assert_eq!(text_width("", 12.0, false), 0.0);
        assert!((text_width("00", 10.0, false) - 12.96).abs() < 1e-12);
        assert!(text_width("TTFT P99", 12.0, true) > text_width("TTFT P99", 12.0, false));
        assert!((text_width("36\u{202f}%", 1000.0, false) - 2458.0).abs() < 1e-9);
    }
}
