//! The module as wasm-bindgen leaves it, read as far as it has to be taken apart.

use super::{address_of, slots_of};
use anyhow::{Context, Result, bail, ensure};
use std::collections::{BTreeMap, BTreeSet};
use wasm_encoder::CodeSection;
use wasm_encoder::reencode::{self, Reencode};
use wasmparser::{
    Export, FuncType, FunctionBody, GlobalType, KnownCustom, MemoryType, Name, Operator, Parser,
    Payload, TableType, TypeRef,
};

/// A module in its pieces. Functions are counted as in the module, the imported ones first.
#[derive(Default)]
pub(super) struct Bound<'a> {
    pub(super) types: Vec<FuncType>,
    /// The type of each function.
    pub(super) type_of: Vec<u32>,
    /// How many functions come from outside.
    pub(super) imported: u32,
    pub(super) memories: Vec<MemoryType>,
    pub(super) tables: Vec<TableType>,
    pub(super) globals: Vec<GlobalType>,
    pub(super) exports: Vec<Export<'a>>,
    /// Which of the tables holds functions, and which function is in which place.
    pub(super) function_table: u32,
    pub(super) slots: BTreeMap<u32, u32>,
    /// The bodies of the module's own functions.
    pub(super) bodies: Vec<FunctionBody<'a>>,
    /// What each of them mentions.
    pub(super) mentions: Vec<Mentions>,
    /// Address and content of each data segment.
    pub(super) segments: Vec<(u32, &'a [u8])>,
    pub(super) names: BTreeMap<u32, &'a str>,
}

impl<'a> Bound<'a> {
    /// Reads a module.
    ///
    /// # Errors
    /// It is none, or has what wasm-bindgen does not leave.
    pub(super) fn read(module: &'a [u8]) -> Result<Self> {
        let mut bound = Self::default();
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::TypeSection(types) => {
                    for ty in types.into_iter_err_on_gc_types() {
                        bound.types.push(ty?);
                    }
                }
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        bound.read_import(import?.ty)?;
                    }
                }
                Payload::FunctionSection(functions) => {
                    for ty in functions {
                        bound.type_of.push(ty?);
                    }
                }
                Payload::TableSection(tables) => {
                    for table in tables {
                        bound.tables.push(table?.ty);
                    }
                }
                Payload::MemorySection(memories) => {
                    bound.memories = memories.into_iter().collect::<Result<_, _>>()?;
                }
                Payload::GlobalSection(globals) => {
                    for global in globals {
                        bound.globals.push(global?.ty);
                    }
                }
                Payload::ExportSection(exports) => {
                    bound.exports = exports.into_iter().collect::<Result<_, _>>()?;
                }
                Payload::StartSection { .. } => bail!("the module starts by itself"),
                Payload::ElementSection(elements) => {
                    for element in elements {
                        let (table, slots) = slots_of(&element?)?;
                        bound.function_table = table;
                        bound.slots.extend(slots);
                    }
                }
                Payload::CodeSectionEntry(body) => {
                    bound.mentions.push(Mentions::of(&body)?);
                    bound.bodies.push(body);
                }
                Payload::DataSection(data) => {
                    for segment in data {
                        let segment = segment?;
                        bound.segments.push((address_of(&segment)?, segment.data));
                    }
                }
                Payload::CustomSection(section) => {
                    if let KnownCustom::Name(names) = section.as_known() {
                        bound.read_names(names)?;
                    }
                }
                _ => {}
            }
        }
        ensure!(bound.memories.len() == 1, "the module has {} memories", bound.memories.len());
        Ok(bound)
    }

    fn read_import(&mut self, ty: TypeRef) -> Result<()> {
        let TypeRef::Func(ty) = ty else { bail!("the module imports what is no function") };
        self.type_of.push(ty);
        self.imported += 1;
        Ok(())
    }

    fn read_names(&mut self, names: wasmparser::NameSectionReader<'a>) -> Result<()> {
        for name in names {
            let Name::Function(functions) = name? else { continue };
            for naming in functions {
                let naming = naming?;
                self.names.insert(naming.index, naming.name);
            }
        }
        Ok(())
    }

    /// How many functions there are, with those from outside.
    pub(super) fn functions(&self) -> u32 {
        self.type_of.len() as u32
    }

    /// What a function mentions; nothing for one from outside.
    pub(super) fn mentions(&self, function: u32) -> Option<&Mentions> {
        self.mentions.get(function.checked_sub(self.imported)? as usize)
    }

    /// The numbers in a function that could be addresses of data.
    pub(super) fn addresses(&self, function: u32) -> Result<Vec<u32>> {
        let Some(own) = function.checked_sub(self.imported) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for operator in self.bodies[own as usize].get_operators_reader()? {
            let Operator::I32Const { value } = operator? else { continue };
            let value = value as u32;
            let within = |&(start, bytes): &(u32, &[u8])| {
                (start..start + bytes.len() as u32).contains(&value)
            };
            if self.segments.iter().any(within) {
                found.push(value);
            }
        }
        Ok(found)
    }

    /// The one function whose name begins like this.
    pub(super) fn named(&self, beginning: &str) -> Result<u32> {
        let mut found = self.names.iter().filter(|(_, name)| name.starts_with(beginning));
        let (&function, _) = found.next().with_context(|| {
            format!("no function {beginning}…: is it still called, and never inlined?")
        })?;
        ensure!(found.next().is_none(), "there are several functions {beginning}…");
        Ok(function)
    }
}

/// What a function's instructions name.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Mentions {
    pub(super) functions: BTreeSet<u32>,
    pub(super) tables: BTreeSet<u32>,
    pub(super) globals: BTreeSet<u32>,
}

impl Mentions {
    fn of(body: &FunctionBody<'_>) -> Result<Self> {
        let mut mentions = Self::default();
        mentions
            .parse_function_body(&mut CodeSection::new(), body.clone())
            .map_err(|error| anyhow::anyhow!("a function could not be read: {error}"))?;
        Ok(mentions)
    }
}

/// Writing a function anew asks for the number of whatever it names.
impl Reencode for Mentions {
    type Error = std::convert::Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, reencode::Error> {
        self.functions.insert(function);
        Ok(function)
    }

    fn table_index(&mut self, table: u32) -> Result<u32, reencode::Error> {
        self.tables.insert(table);
        Ok(table)
    }

    fn global_index(&mut self, global: u32) -> Result<u32, reencode::Error> {
        self.globals.insert(global);
        Ok(global)
    }
}
