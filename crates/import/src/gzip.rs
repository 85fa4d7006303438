//! Files packed with gzip (RFC 1952): members one after another, each a DEFLATE stream (RFC 1951)
//! with a checksum and the length of what it holds.
//!
//! The page carries this code to whoever brings a recording, so that it is small: all tables are made
//! when they are needed. A code of up to [`QUICK_BITS`] bits is one look-up, a longer one is walked
//! to its end bit by bit.

/// Why bytes cannot be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// What is wrong with them.
    Broken(&'static str),
    /// They hold more than is taken.
    TooMuch,
}

const CUT_SHORT: Problem = Problem::Broken("it is cut short");
const CORRUPT: Problem = Problem::Broken("its content is damaged");
const CHANGED: Problem = Problem::Broken("its checksum does not fit its content");
const UNKNOWN: Problem = Problem::Broken("its header is damaged");

/// How a member begins; DEFLATE is the only method there is.
pub(crate) const MAGIC: [u8; 2] = [0x1f, 0x8b];
const DEFLATE: u8 = 8;
/// Flags of a header, each for a part of it that may be there.
const HAS_CHECKSUM: u8 = 1 << 1;
const HAS_EXTRA: u8 = 1 << 2;
const HAS_NAME: u8 = 1 << 3;
const HAS_COMMENT: u8 = 1 << 4;
const RESERVED: u8 = 0b1110_0000;

/// Most bits of a code.
const MOST_BITS: usize = 15;
/// Bits that are looked up at once.
const QUICK_BITS: u32 = 10;
/// Codes of a block: literals and lengths, and distances.
const SYMBOLS: usize = 288;
const DISTANCES: usize = 30;
/// The symbol that ends a block. Literals lie below it, lengths above.
const END_OF_BLOCK: u16 = 256;
/// The order in which the lengths of the codes of code lengths are written.
const LENGTHS_ORDER: [u8; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Unpacks all members of `packed`, up to `limit` bytes.
pub(crate) fn unpack(packed: &[u8], limit: usize) -> Result<Vec<u8>, Problem> {
    let sums = checksums();
    let (mut rest, mut unpacked) = (packed, Vec::new());
    while !rest.is_empty() {
        let start = unpacked.len();
        let mut bits = Bits::of(after_header(rest)?);
        inflate(&mut bits, &mut unpacked, start, limit)?;
        let (trailer, after) = bits.bytes_left().split_at_checked(8).ok_or(CUT_SHORT)?;
        let member = &unpacked[start..];
        let sum = member
            .iter()
            .fold(!0_u32, |sum, byte| sums[usize::from(sum as u8 ^ byte)] ^ (sum >> 8));
        let told = [(!sum).to_le_bytes(), (member.len() as u32).to_le_bytes()].concat();
        if trailer != told {
            return Err(CHANGED);
        }
        rest = after;
    }
    Ok(unpacked)
}

/// CRC-32 of each byte.
fn checksums() -> [u32; 256] {
    std::array::from_fn(|byte| {
        (0..8).fold(byte as u32, |sum, _| (sum >> 1) ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}

/// What follows a member's header.
fn after_header(member: &[u8]) -> Result<&[u8], Problem> {
    let (fixed, mut rest) = member.split_at_checked(10).ok_or(CUT_SHORT)?;
    let flags = fixed[3];
    if fixed[..2] != MAGIC || fixed[2] != DEFLATE || flags & RESERVED != 0 {
        return Err(UNKNOWN);
    }
    if flags & HAS_EXTRA != 0 {
        let (length, after) = rest.split_at_checked(2).ok_or(CUT_SHORT)?;
        rest = after
            .get(usize::from(u16::from_le_bytes([length[0], length[1]]))..)
            .ok_or(CUT_SHORT)?;
    }
    for text in [HAS_NAME, HAS_COMMENT] {
        if flags & text != 0 {
            let end = rest.iter().position(|&byte| byte == 0).ok_or(CUT_SHORT)?;
            rest = &rest[end + 1..];
        }
    }
    if flags & HAS_CHECKSUM == 0 { Ok(rest) } else { rest.get(2..).ok_or(CUT_SHORT) }
}

/// Unpacks one DEFLATE stream to the end of `unpacked`, where its window begins at `start`.
fn inflate(
    bits: &mut Bits<'_>,
    unpacked: &mut Vec<u8>,
    start: usize,
    limit: usize,
) -> Result<(), Problem> {
    let mut last = false;
    while !last {
        last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(bits, unpacked, limit)?,
            1 => block(bits, &fixed_codes(), unpacked, start, limit)?,
            2 => {
                let codes = written_codes(bits)?;
                block(bits, &codes, unpacked, start, limit)?;
            }
            _ => return Err(CORRUPT),
        }
    }
    Ok(())
}

/// Copies a block that is not packed.
fn stored(bits: &mut Bits<'_>, unpacked: &mut Vec<u8>, limit: usize) -> Result<(), Problem> {
    let (head, rest) = bits.bytes_left().split_at_checked(4).ok_or(CUT_SHORT)?;
    let length = u16::from_le_bytes([head[0], head[1]]);
    if length != !u16::from_le_bytes([head[2], head[3]]) {
        return Err(CORRUPT);
    }
    let (content, rest) = rest.split_at_checked(usize::from(length)).ok_or(CUT_SHORT)?;
    if content.len() > limit - unpacked.len() {
        return Err(Problem::TooMuch);
    }
    unpacked.extend_from_slice(content);
    *bits = Bits::of(rest);
    Ok(())
}

/// Codes of literals and lengths, and of distances.
type Codes = [Code; 2];

/// Unpacks a block.
fn block(
    bits: &mut Bits<'_>,
    [symbols, distances]: &Codes,
    unpacked: &mut Vec<u8>,
    start: usize,
    limit: usize,
) -> Result<(), Problem> {
    loop {
        bits.fill();
        let symbol = symbols.next(bits)?;
        if symbol == END_OF_BLOCK {
            return Ok(());
        }
        if unpacked.len() >= limit {
            return Err(Problem::TooMuch);
        }
        if symbol < END_OF_BLOCK {
            unpacked.push(symbol as u8);
            continue;
        }
        let length = length(bits, symbol)?;
        let symbol = distances.next(bits)?;
        let distance = distance(bits, symbol)?;
        if distance > unpacked.len() - start {
            return Err(CORRUPT);
        }
        if length > limit - unpacked.len() {
            return Err(Problem::TooMuch);
        }
        let from = unpacked.len() - distance;
        if distance >= length {
            unpacked.extend_from_within(from..from + length);
        } else {
            // What is copied is part of the copy.
            for at in from..from + length {
                unpacked.push(unpacked[at]);
            }
        }
    }
}

/// The length that a symbol above the end of a block and the bits after it stand for.
fn length(bits: &mut Bits<'_>, symbol: u16) -> Result<usize, Problem> {
    match u32::from(symbol - END_OF_BLOCK - 1) {
        place @ 0..8 => Ok(place as usize + 3),
        place @ 8..28 => {
            let extra = place / 4 - 1;
            Ok((((4 + place % 4) << extra) + bits.take(extra)?) as usize + 3)
        }
        28 => Ok(258),
        _ => Err(CORRUPT),
    }
}

/// The distance that a symbol and the bits after it stand for.
fn distance(bits: &mut Bits<'_>, symbol: u16) -> Result<usize, Problem> {
    match u32::from(symbol) {
        place @ 0..4 => Ok(place as usize + 1),
        place => {
            let extra = place / 2 - 1;
            Ok((((2 + place % 2) << extra) + bits.take(extra)?) as usize + 1)
        }
    }
}

fn fixed_codes() -> Codes {
    let length = |symbol: usize| match symbol {
        0..144 => 8,
        144..256 => 9,
        256..280 => 7,
        _ => 8,
    };
    let symbols: [u8; SYMBOLS] = std::array::from_fn(length);
    [Code::of(&symbols), Code::of(&[5; DISTANCES])]
}

/// Reads the codes that a block begins with.
fn written_codes(bits: &mut Bits<'_>) -> Result<Codes, Problem> {
    let symbols = bits.take(5)? as usize + 257;
    let distances = bits.take(5)? as usize + 1;
    let written = bits.take(4)? as usize + 4;
    if symbols > 286 || distances > DISTANCES {
        return Err(CORRUPT);
    }
    let mut of_lengths = [0; 19];
    for &place in LENGTHS_ORDER.iter().take(written) {
        of_lengths[usize::from(place)] = bits.take(3)? as u8;
    }
    let code = Code::whole(&of_lengths)?;
    let mut lengths: Vec<u8> = Vec::new();
    while lengths.len() < symbols + distances {
        bits.fill();
        let (length, times) = match code.next(bits)? {
            16 => (*lengths.last().ok_or(CORRUPT)?, 3 + bits.take(2)?),
            17 => (0, 3 + bits.take(3)?),
            18 => (0, 11 + bits.take(7)?),
            length => (length as u8, 1),
        };
        lengths.resize(lengths.len() + times as usize, length);
    }
    let (of_symbols, of_distances) = lengths.split_at_checked(symbols).ok_or(CORRUPT)?;
    if of_distances.len() != distances || of_symbols[usize::from(END_OF_BLOCK)] == 0 {
        return Err(CORRUPT);
    }
    Ok([Code::whole(of_symbols)?, Code::whole(of_distances)?])
}

/// A prefix code (RFC 1951, 3.2.2): symbols by their codes, shorter codes first.
struct Code {
    /// By the next [`QUICK_BITS`] bits: sixteen times the symbol whose code they begin with, plus
    /// the code's length; 0 where the code is longer, or there is none.
    quick: Vec<u16>,
    /// How many codes there are of each length.
    counts: [u16; MOST_BITS + 1],
    /// Symbols in the order of their codes.
    symbols: Vec<u16>,
}

impl Code {
    /// The code in which each symbol has a code of this length, or none where that is 0.
    fn of(lengths: &[u8]) -> Self {
        let mut counts = [0; MOST_BITS + 1];
        for &length in lengths {
            counts[usize::from(length)] += 1;
        }
        counts[0] = 0;
        let mut code = Self { quick: vec![0; 1 << QUICK_BITS], counts, symbols: Vec::new() };
        let mut next = 0_u32;
        for length in 1..=MOST_BITS as u32 {
            for (symbol, _) in lengths.iter().enumerate().filter(|(_, l)| u32::from(**l) == length)
            {
                code.symbols.push(symbol as u16);
                if length <= QUICK_BITS {
                    code.look_up(next, length, symbol as u16);
                }
                next += 1;
            }
            next <<= 1;
        }
        code
    }

    /// The same for lengths that were read: they have to be a code, and a whole one but for a code
    /// of one symbol or of none.
    fn whole(lengths: &[u8]) -> Result<Self, Problem> {
        let share = |length: &u8| (1_u32 << MOST_BITS) >> length;
        let used: u32 = lengths.iter().filter(|length| **length > 0).map(share).sum();
        let symbols = lengths.iter().filter(|length| **length > 0).count();
        if used == 1 << MOST_BITS || (symbols <= 1 && used <= 1 << (MOST_BITS - 1)) {
            Ok(Self::of(lengths))
        } else {
            Err(CORRUPT)
        }
    }

    /// Enters a code at all places that begin with it. Its first bit is the lowest.
    fn look_up(&mut self, code: u32, length: u32, symbol: u16) {
        let first = (code.reverse_bits() >> (u32::BITS - length)) as usize;
        for place in self.quick.iter_mut().skip(first).step_by(1 << length) {
            *place = symbol << 4 | length as u16;
        }
    }

    /// The next symbol.
    #[inline]
    fn next(&self, bits: &mut Bits<'_>) -> Result<u16, Problem> {
        let found = self.quick[bits.held as usize & ((1 << QUICK_BITS) - 1)];
        let length = u32::from(found & 15);
        if length > 0 && length <= bits.count {
            bits.drop(length);
            return Ok(found >> 4);
        }
        self.walk(bits)
    }

    /// The next symbol, bit by bit: codes of a length follow each other, so that it is enough to
    /// know how many there are.
    fn walk(&self, bits: &mut Bits<'_>) -> Result<u16, Problem> {
        let (mut code, mut first, mut index) = (0_i32, 0_i32, 0_i32);
        for &count in self.counts.iter().skip(1) {
            code |= bits.take(1)? as i32;
            let count = i32::from(count);
            if code - first < count {
                let place = (index + code - first) as usize;
                return self.symbols.get(place).copied().ok_or(CORRUPT);
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        Err(CORRUPT)
    }
}

/// Bits, the lowest of each byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    /// How many bytes are held, or were.
    at: usize,
    held: u64,
    count: u32,
}

impl<'a> Bits<'a> {
    const fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, held: 0, count: 0 }
    }

    /// Holds as many bits as can be needed for a symbol, a length and a distance, if there are so
    /// many.
    #[inline]
    fn fill(&mut self) {
        if self.count >= 48 {
            return;
        }
        while self.count <= 56
            && let Some(&byte) = self.bytes.get(self.at)
        {
            self.held |= u64::from(byte) << self.count;
            self.count += 8;
            self.at += 1;
        }
    }

    /// The next bits, at most 15, the first the lowest.
    #[inline]
    fn take(&mut self, count: u32) -> Result<u32, Problem> {
        if self.count < count {
            self.fill();
            if self.count < count {
                return Err(CUT_SHORT);
            }
        }
        let taken = self.held as u32 & ((1 << count) - 1);
        self.drop(count);
        Ok(taken)
    }

    #[inline]
    const fn drop(&mut self, count: u32) {
        self.held >>= count;
        self.count -= count;
    }

    /// The bytes after the one that was begun.
    fn bytes_left(&self) -> &'a [u8] {
        self.bytes.get(self.at - self.count as usize / 8..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use flate2::{Compression, GzBuilder, read::MultiGzDecoder, write::GzEncoder};
    use proptest::{collection::vec, prelude::*};

    use super::*;

    const LIMIT: usize = 1 << 20;

    fn packed(content: &[u8], level: u32) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::new(level));
        packer.write_all(content).unwrap();
        packer.finish().unwrap()
    }

    /// What another unpacker makes of it; `None` where it refuses.
    fn oracle(packed: &[u8]) -> Option<Vec<u8>> {
        let mut unpacked = Vec::new();
        MultiGzDecoder::new(packed).read_to_end(&mut unpacked).ok().map(|_| unpacked)
    }

    /// Contents of several kinds: noise, few symbols, and repetition near and far.
    fn content() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            vec(any::<u8>(), 0..3000),
            vec(0..4_u8, 0..3000),
            (vec(any::<u8>(), 1..300), 1..400_usize).prop_map(|(part, times)| part.repeat(times)),
            vec((0..1000_u32, any::<u16>()), 0..2000).prop_map(|rows| {
                rows.iter().map(|(a, b)| format!("{a}.{b},{b}\n")).collect::<String>().into_bytes()
            }),
        ]
    }

    proptest! {
        #[test]
        fn what_was_packed_is_unpacked(
            contents in vec((content(), 0..=9_u32), 1..4),
        ) {
            let members: Vec<u8> = contents.iter().flat_map(|(c, level)| packed(c, *level)).collect();
            let whole: Vec<u8> = contents.into_iter().flat_map(|(content, _)| content).collect();
            prop_assert_eq!(unpack(&members, LIMIT).unwrap(), whole);
        }

        /// A bit that is turned over, and a file that ends too soon, are noticed or do not matter.
        #[test]
        fn damage_is_found_as_another_unpacker_finds_it(
            content in content(),
            level in 0..=9_u32,
            at in any::<prop::sample::Index>(),
            bit in 0..8_u32,
            cut in any::<bool>(),
        ) {
            let mut bytes = packed(&content, level);
            let at = at.index(bytes.len());
            if cut {
                bytes.truncate(at);
                prop_assert!(at == 0 || unpack(&bytes, LIMIT) == Err(CUT_SHORT));
            } else {
                bytes[at] ^= 1_u8 << bit;
                // Flags of a header turn on parts that may or may not be checked.
                if at != 3 {
                    prop_assert_eq!(unpack(&bytes, LIMIT).ok(), oracle(&bytes));
                }
            }
        }

        #[test]
        fn any_stream_ends(bytes in vec(any::<u8>(), 0..300)) {
            let member = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0][..], &bytes].concat();
            if let Some(unpacked) = oracle(&member) {
                prop_assert_eq!(unpack(&member, LIMIT).unwrap(), unpacked);
            } else {
                prop_assert!(unpack(&member, LIMIT).is_err());
            }
        }
    }

    #[test]
    fn all_parts_of_a_header_are_passed_over() {
        let header = GzBuilder::new().filename("a.csv").comment("one").extra(&b"12345"[..]);
        let mut packer = header.write(Vec::new(), Compression::best());
        packer.write_all(b"content").unwrap();
        assert_eq!(unpack(&packer.finish().unwrap(), LIMIT).unwrap(), b"content");
    }

    #[test]
    fn no_more_is_unpacked_than_the_limit() {
        for content in
            [vec![7; 100_000], (0..100_000_u32).map(|i| (i.wrapping_mul(i) >> 5) as u8).collect()]
        {
            for level in [0, 1, 9] {
                let packed = packed(&content, level);
                assert_eq!(unpack(&packed, 100_000).unwrap(), content);
                assert_eq!(unpack(&packed, 99_999), Err(Problem::TooMuch));
                assert_eq!(unpack(&packed, 10), Err(Problem::TooMuch));
            }
        }
    }
}
