//! Data divided among the parts.

use super::reach::Part;
use super::survey::Piece;

/// No piece of data asks for an address that is a multiple of more than this.
const GREATEST_ALIGNMENT: usize = 16;

/// The data of both parts.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Divided {
    /// The content of each segment in the first part, zero where it is not needed there.
    pub(super) first: Vec<Vec<u8>>,
    /// What the late part puts at which address.
    pub(super) late: Vec<(u32, Vec<u8>)>,
}

/// Divides segments, each an address and bytes.
///
/// What two pieces share, such as the end of a text, is in the earliest part that needs one of them;
/// what belongs to no piece is in the first part.
pub(super) fn divide(segments: &[(u32, &[u8])], pieces: &[Piece], parts: &[Part]) -> Divided {
    let mut divided = Divided::default();
    for &(address, bytes) in segments {
        let owners = owners(address, bytes, pieces, parts);
        let stays = |(&byte, &part): (&u8, &Part)| if part == Part::First { byte } else { 0 };
        divided.first.push(bytes.iter().zip(&owners).map(stays).collect());
        let mut start = 0;
        for run in owners.chunk_by(|one, next| one == next) {
            let end = start + run.len();
            if run.first() == Some(&Part::Late) {
                divided.late.push((address + start as u32, bytes[start..end].to_vec()));
            }
            start = end;
        }
    }
    divided
}

/// The part of each byte of a segment. A few zeros between pieces go with what they follow: they only
/// fill up to the next address that suits.
fn owners(address: u32, bytes: &[u8], pieces: &[Piece], parts: &[Part]) -> Vec<Part> {
    let mut claimed: Vec<Option<Part>> = vec![None; bytes.len()];
    for (piece, &part) in pieces.iter().zip(parts) {
        let at = |place: u32| (place.saturating_sub(address) as usize).min(bytes.len());
        for owner in &mut claimed[at(piece.addresses.start)..at(piece.addresses.end)] {
            *owner = Some(owner.map_or(part, |other| other.min(part)));
        }
    }
    let mut owners = Vec::with_capacity(bytes.len());
    let mut before = Part::First;
    for run in claimed.chunk_by(|one, next| one == next) {
        let start = owners.len();
        let content = &bytes[start..start + run.len()];
        let fills = content.len() < GREATEST_ALIGNMENT && content.iter().all(|&byte| byte == 0);
        before = run.first().copied().flatten().unwrap_or(if fills { before } else { Part::First });
        owners.resize(start + run.len(), before);
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::super::reach::References;
    use super::*;
    use Part::{First, Late, Nowhere};

    fn piece(start: u32, end: u32) -> Piece {
        Piece { addresses: start..end, holds: References::default() }
    }

    #[test]
    fn every_byte_is_in_the_earliest_part_that_needs_it() {
        // "abcdefgh" at 100: a text, and its end that somebody else uses, too.
        let pieces = [piece(100, 104), piece(102, 104), piece(104, 106), piece(106, 108)];
        let Divided { first, late } =
            divide(&[(100, b"abcdefgh")], &pieces, &[Late, First, Late, Nowhere]);
        assert_eq!(first, [b"\0\0cd\0\0\0\0"]);
        assert_eq!(late, [(100, b"ab".to_vec()), (104, b"ef".to_vec())]);
    }

    #[test]
    fn filling_goes_with_what_it_follows_and_all_else_stays() {
        let pieces = [piece(8, 10), piece(12, 14)];
        let Divided { first, late } = divide(&[(8, b"ab\0\0cdxy")], &pieces, &[Late, Late]);
        assert_eq!(first, [b"\0\0\0\0\0\0xy"]);
        assert_eq!(late, [(8, b"ab\0\0cd".to_vec())]);
        // Many zeros are no filling: somebody may write there.
        let long = [b"ab".as_slice(), &[0; 40]].concat();
        let Divided { late, .. } = divide(&[(8, &long)], &pieces[..1], &[Late]);
        assert_eq!(late, [(8, b"ab".to_vec())]);
    }

    #[test]
    fn pieces_of_other_segments_do_not_matter() {
        let segments: [(u32, &[u8]); 2] = [(0, b"ab"), (50, b"cd")];
        let Divided { first, late } =
            divide(&segments, &[piece(50, 52), piece(90, 99)], &[Late, Late]);
        assert_eq!(first, [b"ab", b"\0\0"]);
        assert_eq!(late, [(50, b"cd".to_vec())]);
    }
}
