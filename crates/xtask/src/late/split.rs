//! Both parts written out.

use super::bound::Bound;
use super::data::{Divided, divide};
use super::is_used;
use super::reach::{Part, Parts};
use super::survey::Piece;
use crate::short_names::ShortNames;
use anyhow::{Context, Result, anyhow};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{
    CodeSection, ConstExpr, DataSection, ElementSection, Elements, EntityType, ExportKind,
    ExportSection, Function, FunctionSection, ImportSection, Module, TableSection, TypeSection,
};
use wasmparser::{
    CodeSectionReader, CustomSectionReader, DataSectionReader, ElementSectionReader,
    ExportSectionReader, ExternalKind, FunctionSectionReader, Parser, TableSectionReader,
};

/// Under which name the late part imports from the first one.
const FIRST: &str = "f";
/// The name of the function table in the first part. Only a module that was cut exports it by that:
/// `sim_worker::late` knows it by it.
const SIGN: &str = "late";

/// The two parts of a module.
#[derive(Debug)]
pub(crate) struct Halves {
    pub(crate) first: Vec<u8>,
    pub(crate) late: Vec<u8>,
}

/// Cuts `module`, read as `bound`, by the parts that its functions and pieces of data belong to.
pub(super) fn split(
    bound: &Bound<'_>,
    module: &[u8],
    pieces: &[Piece],
    parts: &Parts,
    doors: &[u32],
) -> Result<Halves> {
    let cut = Cut::new(bound, pieces, parts, doors)?;
    Ok(Halves { first: cut.first(module)?, late: cut.late()? })
}

/// Who is where, and what passes between the two.
struct Cut<'a> {
    bound: &'a Bound<'a>,
    /// The functions of the first part, in order, and their numbers there.
    first: BTreeMap<u32, u32>,
    /// The functions of the late part, what is behind the doors among them, and their numbers there.
    late: BTreeMap<u32, u32>,
    /// The place in the table by which each door leads to the late part.
    doors: BTreeMap<u32, u32>,
    taken: Taken,
    data: Divided,
}

impl<'a> Cut<'a> {
    fn new(bound: &'a Bound<'a>, pieces: &[Piece], parts: &Parts, doors: &[u32]) -> Result<Self> {
        let is = |part: Part| move |function: &u32| parts.functions[*function as usize] == part;
        let own = || bound.imported..bound.functions();
        let first = (0..bound.imported).chain(own().filter(is(Part::First))).zip(0..).collect();
        let mut late: BTreeSet<u32> = own().filter(is(Part::Late)).collect();
        late.extend(doors);
        let taken = Taken::by(&late, bound);
        let late = late.into_iter().zip(taken.functions.len() as u32..).collect();
        let table = bound.tables.get(bound.function_table as usize);
        let after_table = table.context("the module has no function table")?.initial as u32;
        let doors = doors.iter().copied().zip(after_table..).collect();
        let data = divide(&bound.segments, pieces, &parts.pieces);
        Ok(Self { bound, first, late, doors, taken, data })
    }

    fn first(&self, module: &[u8]) -> Result<Vec<u8>> {
        let mut written = Module::new();
        First(self)
            .parse_core_module(&mut written, Parser::new(0), module)
            .map_err(|error| anyhow!("the first part could not be written: {error}"))?;
        Ok(written.finish())
    }

    fn late(&self) -> Result<Vec<u8>> {
        let mut writer = Late(self);
        let mut module = Module::new();
        let written = writer
            .types()
            .and_then(|types| Ok((types, writer.imports()?)))
            .and_then(|(types, imports)| Ok((types, imports, writer.code()?)));
        let (types, imports, code) =
            written.map_err(|error| anyhow!("the late part could not be written: {error}"))?;
        let mut functions = FunctionSection::new();
        for &function in self.late.keys() {
            functions.function(self.bound.type_of[function as usize]);
        }
        let mut data = DataSection::new();
        for (address, content) in &self.data.late {
            data.active(0, &place(*address), content.iter().copied());
        }
        module.section(&types).section(&imports).section(&functions);
        module.section(&self.late_slots()).section(&code).section(&data);
        Ok(module.finish())
    }

    /// The places of the table that the late part fills: its own functions, and the doors.
    fn late_slots(&self) -> ElementSection {
        let is_late = |function: &u32| {
            self.late.get(function).filter(|_| !self.doors.contains_key(function)).copied()
        };
        let own = self.bound.slots.iter().filter_map(|(&slot, f)| Some((slot, is_late(f)?)));
        let doors = self.doors.iter().map(|(door, &slot)| (slot, self.late[door]));
        // The function table is the only one here, or one of several, in the order of the first part.
        let table = self.taken.tables.keys().position(|&table| table == self.bound.function_table);
        slots(own.chain(doors), table.unwrap_or(0) as u32)
    }
}

/// What the late part takes from the first one: numbers there, and the names it is exported under.
struct Taken {
    functions: BTreeMap<u32, String>,
    tables: BTreeMap<u32, String>,
    globals: BTreeMap<u32, String>,
    memory: String,
    /// What the first part did not export before.
    new: Vec<(ExportKind, u32, String)>,
}

impl Taken {
    fn by(late: &BTreeSet<u32>, bound: &Bound<'_>) -> Self {
        let mentions = || late.iter().filter_map(|&function| bound.mentions(function));
        let functions = mentions().flat_map(|mentions| &mentions.functions);
        let functions: BTreeSet<u32> = functions.copied().filter(|f| !late.contains(f)).collect();
        let mut tables: BTreeSet<u32> = mentions().flat_map(|m| &m.tables).copied().collect();
        tables.insert(bound.function_table);
        let globals: BTreeSet<u32> = mentions().flat_map(|m| &m.globals).copied().collect();
        let mut naming = Naming {
            known: bound,
            fresh: ShortNames::without(bound.exports.iter().map(|export| export.name)),
            new: Vec::new(),
        };
        Self {
            functions: naming.all(&functions, ExternalKind::Func, ExportKind::Func),
            tables: naming.all(&tables, ExternalKind::Table, ExportKind::Table),
            globals: naming.all(&globals, ExternalKind::Global, ExportKind::Global),
            memory: naming.one(0, ExternalKind::Memory, ExportKind::Memory),
            new: naming.new,
        }
    }
}

/// Names for what the first part has to export: those that it has, or new ones.
struct Naming<'a> {
    known: &'a Bound<'a>,
    fresh: ShortNames,
    new: Vec<(ExportKind, u32, String)>,
}

impl Naming<'_> {
    fn one(&mut self, index: u32, kind: ExternalKind, as_export: ExportKind) -> String {
        let mut exports = self.known.exports.iter().filter(|export| is_used(export.name));
        if let Some(known) = exports.find(|export| export.kind == kind && export.index == index) {
            return known.name.to_owned();
        }
        let is_sign = kind == ExternalKind::Table && index == self.known.function_table;
        let name = if is_sign { SIGN.to_owned() } else { self.fresh.next() };
        self.new.push((as_export, index, name.clone()));
        name
    }

    fn all(
        &mut self,
        indices: &BTreeSet<u32>,
        kind: ExternalKind,
        as_export: ExportKind,
    ) -> BTreeMap<u32, String> {
        indices.iter().map(|&index| (index, self.one(index, kind, as_export))).collect()
    }
}

/// Writes the first part: without late functions and data, with the doors as ways to them.
struct First<'a>(&'a Cut<'a>);

type Written<T> = Result<T, reencode::Error<anyhow::Error>>;

impl First<'_> {
    /// The functions of the module itself that stay, as numbers.
    fn own(&self) -> impl Iterator<Item = u32> {
        let imported = self.0.bound.imported;
        self.0.first.keys().copied().filter(move |&function| function >= imported)
    }

    /// What stands in the first part for a function behind a door.
    fn door(&self, function: u32, slot: u32) -> Function {
        let ty = self.0.bound.type_of[function as usize];
        let parameters = self.0.bound.types[ty as usize].params().len() as u32;
        let mut door = Function::new([]);
        let mut instructions = door.instructions();
        for parameter in 0..parameters {
            instructions.local_get(parameter);
        }
        instructions.i32_const(slot as i32);
        instructions.call_indirect(self.0.bound.function_table, ty);
        instructions.end();
        door
    }
}

impl Reencode for First<'_> {
    type Error = anyhow::Error;

    fn function_index(&mut self, function: u32) -> Written<u32> {
        self.0.first.get(&function).copied().ok_or_else(|| {
            let name = self.0.bound.names.get(&function).copied().unwrap_or_default();
            reencode::Error::UserError(anyhow!("the first part uses {name}, which is not in it"))
        })
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        _: FunctionSectionReader<'_>,
    ) -> Written<()> {
        for function in self.own() {
            functions.function(self.0.bound.type_of[function as usize]);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        _: CodeSectionReader<'_>,
    ) -> Written<()> {
        for function in self.own().collect::<Vec<_>>() {
            if let Some(&slot) = self.0.doors.get(&function) {
                code.function(&self.door(function, slot));
            } else {
                let own = (function - self.0.bound.imported) as usize;
                self.parse_function_body(code, self.0.bound.bodies[own].clone())?;
            }
        }
        Ok(())
    }

    fn parse_table_section(
        &mut self,
        tables: &mut TableSection,
        section: TableSectionReader<'_>,
    ) -> Written<()> {
        for (index, table) in section.into_iter().enumerate() {
            let mut table = table?;
            if index == self.0.bound.function_table as usize {
                table.ty.initial += self.0.doors.len() as u64;
                table.ty.maximum = table.ty.maximum.map(|most| most + self.0.doors.len() as u64);
            }
            self.parse_table(tables, table)?;
        }
        Ok(())
    }

    fn parse_element_section(
        &mut self,
        elements: &mut ElementSection,
        _: ElementSectionReader<'_>,
    ) -> Written<()> {
        let stays = |(&slot, function): (&u32, &u32)| Some((slot, *self.0.first.get(function)?));
        let filled = self.0.bound.slots.iter().filter_map(stays);
        *elements = slots(filled, self.0.bound.function_table);
        Ok(())
    }

    fn parse_export_section(
        &mut self,
        exports: &mut ExportSection,
        section: ExportSectionReader<'_>,
    ) -> Written<()> {
        for export in section {
            let export = export?;
            if is_used(export.name) {
                self.parse_export(exports, export)?;
            }
        }
        for (kind, index, name) in &self.0.taken.new {
            let index =
                if *kind == ExportKind::Func { self.function_index(*index)? } else { *index };
            exports.export(name, *kind, index);
        }
        Ok(())
    }

    fn parse_data_section(
        &mut self,
        data: &mut DataSection,
        _: DataSectionReader<'_>,
    ) -> Written<()> {
        for ((address, _), content) in self.0.bound.segments.iter().zip(&self.0.data.first) {
            data.active(0, &place(*address), content.iter().copied());
        }
        Ok(())
    }

    /// Names and relocations have served.
    fn parse_custom_section(&mut self, _: &mut Module, _: CustomSectionReader<'_>) -> Written<()> {
        Ok(())
    }
}

/// Writes the late part.
struct Late<'a>(&'a Cut<'a>);

impl Late<'_> {
    fn types(&mut self) -> Written<TypeSection> {
        let mut types = TypeSection::new();
        for ty in &self.0.bound.types {
            types.ty().func_type(&self.func_type(ty.clone())?);
        }
        Ok(types)
    }

    fn imports(&mut self) -> Written<ImportSection> {
        let Cut { bound, taken, doors, .. } = self.0;
        let mut imports = ImportSection::new();
        for (&function, name) in &taken.functions {
            imports.import(FIRST, name, EntityType::Function(bound.type_of[function as usize]));
        }
        for (&table, name) in &taken.tables {
            let mut ty = self.table_type(bound.tables[table as usize])?;
            if table == bound.function_table {
                ty.minimum += doors.len() as u64;
                ty.maximum = ty.maximum.map(|most| most + doors.len() as u64);
            }
            imports.import(FIRST, name, ty);
        }
        imports.import(FIRST, &taken.memory, self.memory_type(bound.memories[0])?);
        for (&global, name) in &taken.globals {
            imports.import(FIRST, name, self.global_type(bound.globals[global as usize])?);
        }
        Ok(imports)
    }

    fn code(&mut self) -> Written<CodeSection> {
        let mut code = CodeSection::new();
        for &function in self.0.late.keys() {
            let own = (function - self.0.bound.imported) as usize;
            self.parse_function_body(&mut code, self.0.bound.bodies[own].clone())?;
        }
        Ok(code)
    }
}

/// What is not in the late part is imported, in the order of its numbers.
impl Reencode for Late<'_> {
    type Error = anyhow::Error;

    fn function_index(&mut self, function: u32) -> Written<u32> {
        match self.0.late.get(&function) {
            Some(&own) => Ok(own),
            None => imported(&self.0.taken.functions, function),
        }
    }

    fn table_index(&mut self, table: u32) -> Written<u32> {
        imported(&self.0.taken.tables, table)
    }

    fn global_index(&mut self, global: u32) -> Written<u32> {
        imported(&self.0.taken.globals, global)
    }
}

fn imported(taken: &BTreeMap<u32, String>, index: u32) -> Written<u32> {
    let place = taken.keys().position(|&one| one == index);
    let place = place.ok_or_else(|| {
        reencode::Error::UserError(anyhow!("the late part uses {index}, which it does not import"))
    })?;
    Ok(place as u32)
}

/// Segments that fill places of the table, one for each run of neighbours.
fn slots(filled: impl Iterator<Item = (u32, u32)>, table: u32) -> ElementSection {
    let filled: Vec<(u32, u32)> = filled.collect();
    let mut section = ElementSection::new();
    for run in filled.chunk_by(|(one, _), (next, _)| one + 1 == *next) {
        let functions: Vec<u32> = run.iter().map(|&(_, function)| function).collect();
        let Some(&(start, _)) = run.first() else { continue };
        let table = (table > 0).then_some(table);
        section.active(table, &place(start), Elements::Functions(Cow::from(functions)));
    }
    section
}

/// A place in memory or in a table.
fn place(at: u32) -> ConstExpr {
    ConstExpr::i32_const(at as i32)
}
