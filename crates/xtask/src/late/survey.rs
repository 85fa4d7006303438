//! What the linker knows and the finished module does not: whose address each function and each
//! piece of data holds.
//!
//! A number in the code may be an address, a place in the function table, or just a number. The
//! linker's relocations (`--emit-relocs`) tell which. They are read from the module as linked;
//! wasm-bindgen numbers functions anew, so that they are known here by their names.

use super::reach::References;
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::ops::Range;
use wasmparser::{
    KnownCustom, Linking, Name, Parser, Payload, RelocSectionReader, RelocationEntry,
    RelocationType, SymbolInfo,
};

/// What the linker left.
#[derive(Default)]
pub(super) struct Survey {
    /// What each function holds, by its name.
    pub(super) functions: BTreeMap<String, References>,
    /// The pieces of data.
    pub(super) pieces: Vec<Piece>,
    /// What is held by data that belongs to no piece: nothing tells who uses it.
    pub(super) unowned: References,
}

/// One piece of data: a constant, a text, a table of methods.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Piece {
    /// Where it lies in memory.
    pub(super) addresses: Range<u32>,
    /// What it holds.
    pub(super) holds: References,
}

/// Reads the linked module.
///
/// # Errors
/// It is no module, has no relocations, or relocations of a kind that says nothing here.
pub(super) fn survey(linked: &[u8]) -> Result<Survey> {
    let linked = Linked::read(linked)?;
    let mut survey = Survey {
        pieces: linked.pieces(),
        functions: linked
            .names
            .values()
            .map(|&name| (name.to_owned(), References::default()))
            .collect(),
        unowned: References::default(),
    };
    for entry in &linked.code_relocations {
        let Some((target, value)) = linked.target(entry)? else { continue };
        linked.check(entry, linked.code, value)?;
        let name = linked.function_at(entry.offset as usize)?;
        survey.functions.entry(name.to_owned()).or_default().push(target);
    }
    for entry in &linked.data_relocations {
        let Some((target, value)) = linked.target(entry)? else { continue };
        linked.check(entry, linked.data, value)?;
        let address = linked.address_at(entry.offset as usize)?;
        let mut owned = false;
        for piece in survey.pieces.iter_mut().filter(|piece| piece.addresses.contains(&address)) {
            piece.holds.push(target);
            owned = true;
        }
        if !owned {
            survey.unowned.push(target);
        }
    }
    survey.functions.values_mut().for_each(References::tidy);
    survey.pieces.iter_mut().for_each(|piece| piece.holds.tidy());
    Ok(survey)
}

/// What one relocation refers to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Target {
    /// The function in this place of the table.
    Slot(u32),
    /// The piece of data with this number.
    Piece(usize),
}

/// The sections of a linked module that matter here.
#[derive(Default)]
struct Linked<'a> {
    names: BTreeMap<u32, &'a str>,
    imported: u32,
    /// The code section, and the data section.
    code: &'a [u8],
    data: &'a [u8],
    /// The bodies of its own functions, counted from the start of the code section.
    bodies: Vec<Range<usize>>,
    /// Address of each data segment, and where it lies in the data section.
    segments: Vec<(u32, Range<usize>)>,
    /// The place in the table of each function that has one.
    slots: BTreeMap<u32, u32>,
    symbols: Vec<SymbolInfo<'a>>,
    /// Which piece of data, and where, each symbol stands for that stands for one.
    piece_of: Vec<Option<(usize, u32)>>,
    code_relocations: Vec<RelocationEntry>,
    data_relocations: Vec<RelocationEntry>,
}

impl<'a> Linked<'a> {
    fn read(module: &'a [u8]) -> Result<Self> {
        let mut linked = Self::default();
        let mut code_start = 0;
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        linked.imported += u32::from(super::is_function(&import?.ty));
                    }
                }
                Payload::ElementSection(elements) => {
                    for element in elements {
                        let (_, slots) = super::slots_of(&element?)?;
                        linked
                            .slots
                            .extend(slots.into_iter().map(|(slot, function)| (function, slot)));
                    }
                }
                Payload::CodeSectionStart { unchecked_range: range, .. } => {
                    code_start = range.start;
                    linked.code = slice(module, range)?;
                }
                Payload::CodeSectionEntry(body) => {
                    let range = body.range();
                    let at = |place: u64| (place - code_start) as usize;
                    linked.bodies.push(at(range.start)..at(range.end));
                }
                Payload::DataSection(data) => {
                    let start = data.range().start;
                    linked.data = slice(module, data.range())?;
                    for segment in data {
                        let segment = segment?;
                        let end = (segment.range.end - start) as usize;
                        let bytes = end - segment.data.len()..end;
                        linked.segments.push((super::address_of(&segment)?, bytes));
                    }
                }
                Payload::CustomSection(section) => linked.read_custom(&section)?,
                _ => {}
            }
        }
        ensure!(
            !linked.code_relocations.is_empty() && !linked.symbols.is_empty(),
            "the linked module has no relocations: was it linked with --emit-relocs?"
        );
        linked.number_pieces();
        Ok(linked)
    }

    fn read_custom(&mut self, section: &wasmparser::CustomSectionReader<'a>) -> Result<()> {
        match section.as_known() {
            KnownCustom::Name(names) => {
                for name in names {
                    let Name::Function(functions) = name? else { continue };
                    for naming in functions {
                        let naming = naming?;
                        self.names.insert(naming.index, naming.name);
                    }
                }
            }
            KnownCustom::Linking(linking) => {
                for subsection in linking.subsections() {
                    let Linking::SymbolTable(symbols) = subsection? else { continue };
                    self.symbols = symbols.into_iter().collect::<Result<_, _>>()?;
                }
            }
            KnownCustom::Reloc(relocations) => {
                self.read_relocations(section.name(), &relocations)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn read_relocations(&mut self, name: &str, section: &RelocSectionReader<'a>) -> Result<()> {
        let entries = section.entries().into_iter().collect::<Result<Vec<_>, _>>()?;
        match name {
            "reloc.CODE" => self.code_relocations = entries,
            "reloc.DATA" => self.data_relocations = entries,
            // Debugging information: nobody calls that.
            _ => {}
        }
        Ok(())
    }

    fn pieces(&self) -> Vec<Piece> {
        let addresses = self.symbols.iter().filter_map(|symbol| self.addresses(symbol));
        addresses.map(|addresses| Piece { addresses, holds: References::default() }).collect()
    }

    /// Where the data lies that a symbol stands for; nothing if it stands for something else.
    fn addresses(&self, symbol: &SymbolInfo<'_>) -> Option<Range<u32>> {
        let SymbolInfo::Data { symbol: Some(defined), .. } = symbol else { return None };
        let start = self.segments.get(defined.index as usize)?.0 + defined.offset;
        Some(start..start + defined.size)
    }

    /// Numbers the symbols that stand for data as [`Self::pieces`] does.
    fn number_pieces(&mut self) {
        let mut pieces = 0;
        let number = |symbol| {
            let start = self.addresses(symbol)?.start;
            pieces += 1;
            Some((pieces - 1, start))
        };
        self.piece_of = self.symbols.iter().map(number).collect();
    }

    /// What a relocation refers to, and the number that the linker must have written there; nothing
    /// where the finished module itself says what it refers to.
    fn target(&self, entry: &RelocationEntry) -> Result<Option<(Target, u32)>> {
        use RelocationType as Kind;
        let index = entry.index as usize;
        match entry.ty {
            Kind::TableIndexSleb | Kind::TableIndexI32 => {
                let Some(SymbolInfo::Func { index, .. }) = self.symbols.get(index) else {
                    bail!("a relocation of a function refers to something else");
                };
                let slot = self.slots.get(index);
                let slot = *slot.context("a function has an address and no place in the table")?;
                Ok(Some((Target::Slot(slot), slot)))
            }
            Kind::MemoryAddrLeb | Kind::MemoryAddrSleb | Kind::MemoryAddrI32 => {
                let piece = self.piece_of.get(index).copied().flatten();
                Ok(piece.map(|(piece, address)| {
                    (Target::Piece(piece), address.wrapping_add_signed(entry.addend as i32))
                }))
            }
            Kind::FunctionIndexLeb
            | Kind::TypeIndexLeb
            | Kind::GlobalIndexLeb
            | Kind::TableNumberLeb => Ok(None),
            other => bail!("the linker left relocations of a kind not known here: {other:?}"),
        }
    }

    /// Fails unless a relocation lies where its number is: then it is understood.
    fn check(&self, entry: &RelocationEntry, section: &[u8], value: u32) -> Result<()> {
        let written =
            section.get(entry.relocation_range()?).context("a relocation lies nowhere")?;
        let written = match *written {
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
            // Seven bits in each byte.
            _ => written
                .iter()
                .rev()
                .fold(0, |number: u32, byte| number.wrapping_shl(7) | u32::from(byte & 0x7f)),
        };
        ensure!(written == value, "a relocation to {value} lies where {written} is written");
        Ok(())
    }

    /// The function whose body holds this place of the code section.
    fn function_at(&self, offset: usize) -> Result<&'a str> {
        let after = self.bodies.partition_point(|body| body.end <= offset);
        let held = self.bodies.get(after).is_some_and(|body| body.contains(&offset));
        let name = self.names.get(&(self.imported + after as u32)).filter(|_| held);
        name.copied().context("a relocation lies in no function that has a name")
    }

    /// The address of a place of the data section.
    fn address_at(&self, offset: usize) -> Result<u32> {
        let segment = self.segments.iter().find(|(_, bytes)| bytes.contains(&offset));
        let (address, bytes) = segment.context("a relocation lies in no data segment")?;
        Ok(address + (offset - bytes.start) as u32)
    }
}

fn slice(module: &[u8], range: Range<u64>) -> Result<&[u8]> {
    module.get(range.start as usize..range.end as usize).context("a section ends behind the module")
}
