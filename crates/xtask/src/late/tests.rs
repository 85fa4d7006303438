//! A module of seven functions, as the linker leaves it and as wasm-bindgen does, cut in two.

use super::*;
use std::collections::BTreeMap;
use wasm_encoder::{
    ConstExpr as Constant, CustomSection, DataSection, ElementSection, Elements, EntityType,
    ExportKind, ExportSection, FunctionSection, GlobalSection, GlobalType, ImportSection,
    LinkingSection, MemorySection, MemoryType, Module, NameMap, NameSection, RawSection, RefType,
    SymbolTable, TableSection, TableType, TypeSection, ValType,
};
use wasmparser::{Parser, Payload, Validator};

/// Where the data lies: a text, then a table of methods, then a text of the late part.
const START: u32 = 1024;
const DATA: &[u8] = b"first\0\0\0\x02\0\0\0late!";
const FIRST_TEXT: (u32, u32) = (0, 5);
const METHODS: (u32, u32) = (8, 4);
const LATE_TEXT: (u32, u32) = (12, 5);
/// Bytes of the data section before its content.
const DATA_HEADER: u32 = 7;

const DOOR: &str = "_ZN1m4door17h0123456789abcdefE";
/// The module's own functions, as the linker orders them.
const NAMES: [&str; 7] = ["main", DOOR, "hidden", "shared", "method", "early", "unused"];
/// As wasm-bindgen orders them.
const ANEW: [&str; 7] = ["method", "unused", "shared", "early", DOOR, "main", "hidden"];
/// What is in the places 1 and 2 of the table.
const IN_TABLE: [&str; 2] = ["early", "method"];

/// How a relocation says that a number is a place in the table, or an address.
const SLOT: u8 = 1;
const ADDRESS: u8 = 4;

/// A function's instructions, and the relocations in them: kind, place, symbol.
#[derive(Default)]
struct Body {
    bytes: Vec<u8>,
    relocations: Vec<(u8, usize, u32)>,
}

impl Body {
    fn call(mut self, functions: &[&str], name: &str) -> Self {
        let own = functions.iter().position(|&other| other == name);
        self.bytes.extend([0x10, own.map_or(0, |own| own as u8 + 1)]);
        self
    }

    /// A number that the linker knows: five bytes, whatever it is.
    fn number(mut self, kind: u8, symbol: u32, value: u32) -> Self {
        self.bytes.push(0x41);
        self.relocations.push((kind, self.bytes.len(), symbol));
        self.bytes.extend((0..5).map(|n| (value >> (7 * n)) as u8 & 0x7f | u8::from(n < 4) << 7));
        self
    }

    fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend(bytes);
        self
    }
}

const DROP: &[u8] = &[0x1a];
/// `local.get 0`, `global.get 0`, `i32.add`.
const ADD_STACK: &[u8] = &[0x20, 0, 0x23, 0, 0x6a];

/// The symbols are: all functions, then the three pieces of data.
fn symbol(functions: &[&str], name: &str) -> u32 {
    functions.iter().position(|&other| other == name).map_or(99, |place| place as u32)
}

fn body(functions: &[&str], name: &str) -> Body {
    let address = |body: Body, (offset, _): (u32, u32), piece: u32| {
        body.number(ADDRESS, functions.len() as u32 + piece, START + offset)
    };
    let begin = Body::default;
    let body = match name {
        "main" => address(begin(), FIRST_TEXT, 0)
            .call(functions, DOOR)
            .raw(DROP)
            .number(SLOT, symbol(functions, "early"), 1)
            .raw(DROP)
            .call(functions, "shared"),
        DOOR => address(begin().call(functions, "hidden"), METHODS, 1).raw(DROP).raw(ADD_STACK),
        "hidden" => address(begin().call(functions, "shared"), LATE_TEXT, 2).call(functions, "log"),
        _ => begin(),
    };
    body.raw(&[0x0b])
}

/// What is a function of a number: all others take and give nothing.
fn type_of(name: &str) -> u32 {
    u32::from(name == DOOR)
}

/// The module with its functions in this order, and the relocations that belong to it.
fn module(functions: &[&str]) -> (Module, Vec<u8>) {
    let mut types = TypeSection::new();
    types.ty().function([], []);
    types.ty().function([ValType::I32], [ValType::I32]);
    types.ty().function([ValType::I32], []);
    let mut imports = ImportSection::new();
    imports.import("js", "log", EntityType::Function(2));
    let mut declared = FunctionSection::new();
    functions.iter().for_each(|name| _ = declared.function(type_of(name)));
    let mut tables = TableSection::new();
    tables.table(TableType {
        element_type: RefType::FUNCREF,
        table64: false,
        minimum: 3,
        maximum: Some(3),
        shared: false,
    });
    let mut memories = MemorySection::new();
    memories.memory(MemoryType {
        minimum: 1,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    });
    let mut globals = GlobalSection::new();
    let ty = GlobalType { val_type: ValType::I32, mutable: true, shared: false };
    globals.global(ty, &Constant::i32_const(START as i32));
    let number = |name: &str| symbol(functions, name) + 1;
    let mut exports = ExportSection::new();
    exports.export("memory", ExportKind::Memory, 0);
    exports.export("main", ExportKind::Func, number("main"));
    exports.export("intounderlyingsink_write", ExportKind::Func, number("unused"));
    let mut elements = ElementSection::new();
    let in_table = IN_TABLE.map(number);
    elements.active(None, &Constant::i32_const(1), Elements::Functions(in_table[..].into()));
    let mut code = vec![functions.len() as u8];
    let mut relocations = Vec::new();
    for name in functions {
        let body = body(functions, name);
        // The size, and that there are no locals.
        code.extend([body.bytes.len() as u8 + 1, 0]);
        for (kind, place, symbol) in body.relocations {
            relocations.extend([kind, (code.len() + place) as u8, symbol as u8]);
            // An address may lie beside its symbol: here it never does.
            relocations.extend((kind == ADDRESS).then_some(0));
        }
        code.extend(body.bytes);
    }
    let mut data = DataSection::new();
    data.active(0, &Constant::i32_const(START as i32), DATA.iter().copied());
    let mut module = Module::new();
    module.section(&types).section(&imports).section(&declared).section(&tables);
    module.section(&memories).section(&globals).section(&exports).section(&elements);
    module.section(&RawSection { id: 10, data: &code }).section(&data);
    (module, relocations)
}

/// How many relocations of code there are.
const IN_CODE: u8 = 4;

fn named(module: &mut Module, functions: &[&str]) {
    let mut map = NameMap::new();
    (1..).zip(functions).for_each(|(number, name)| map.append(number, name));
    let mut names = NameSection::new();
    names.functions(&map);
    module.section(&names);
}

/// As the linker leaves it.
fn linked() -> Vec<u8> {
    let (mut module, in_code) = module(&NAMES);
    let mut symbols = SymbolTable::new();
    (1..).zip(NAMES).for_each(|(number, name)| _ = symbols.function(0, number, Some(name)));
    for (name, (offset, size)) in [("a", FIRST_TEXT), ("b", METHODS), ("c", LATE_TEXT)] {
        let defined = wasm_encoder::DataSymbolDefinition { index: 0, offset, size };
        symbols.data(0, name, Some(defined));
    }
    let mut linking = LinkingSection::new();
    linking.symbol_table(&symbols);
    module.section(&linking);
    let of_code = [&[8, IN_CODE], in_code.as_slice()].concat();
    module.section(&CustomSection { name: "reloc.CODE".into(), data: of_code.into() });
    // One place of the table, in the table of methods.
    let method = symbol(&NAMES, "method") as u8;
    let of_data = vec![9, 1, 2, (DATA_HEADER + METHODS.0) as u8, method];
    module.section(&CustomSection { name: "reloc.DATA".into(), data: of_data.into() });
    named(&mut module, &NAMES);
    module.finish()
}

/// As wasm-bindgen leaves it.
fn bound() -> Vec<u8> {
    let (mut module, _) = module(&ANEW);
    named(&mut module, &ANEW);
    module.finish()
}

fn halves() -> Halves {
    split_at(&linked(), &bound(), &["m::door"]).expect("a module that can be cut")
}

fn assert_valid(module: &[u8]) {
    Validator::new().validate_all(module).expect("a valid module");
}

/// What a module is, read without a limit on what it imports.
#[derive(Default)]
struct Read {
    types: Vec<String>,
    imports: BTreeMap<String, String>,
    bodies: usize,
    slots: BTreeMap<u32, u32>,
    data: Vec<(u32, Vec<u8>)>,
}

fn read(module: &[u8]) -> Read {
    let mut read = Read::default();
    for payload in Parser::new(0).parse_all(module) {
        match payload.expect("a module") {
            Payload::TypeSection(types) => {
                let types = types.into_iter_err_on_gc_types();
                read.types = types.map(|ty| ty.expect("a type").to_string()).collect();
            }
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    let import = import.expect("an import");
                    let ty = match import.ty {
                        TypeRef::Func(ty) => read.types[ty as usize].clone(),
                        other => format!("{other:?}"),
                    };
                    read.imports.insert(format!("{}.{}", import.module, import.name), ty);
                }
            }
            Payload::ElementSection(elements) => {
                for element in elements {
                    let element = element.expect("a segment");
                    read.slots.extend(slots_of(&element).expect("a known kind").1);
                }
            }
            Payload::CodeSectionEntry(_) => read.bodies += 1,
            Payload::DataSection(data) => {
                for segment in data {
                    let segment = segment.expect("a segment");
                    let address = address_of(&segment).expect("an address");
                    read.data.push((address, segment.data.to_vec()));
                }
            }
            _ => {}
        }
    }
    read
}

#[test]
fn each_function_is_in_the_part_where_it_belongs() {
    let Halves { first, late } = halves();
    assert_valid(&first);
    let first = Bound::read(&first).expect("a module");
    // main, early, shared, and the door as a way to the late part.
    assert_eq!(first.bodies.len(), 4);
    assert_eq!(first.tables[0].initial, 4, "one place more than before");
    assert_eq!(first.tables[0].maximum, Some(4));
    assert_eq!(first.slots.keys().copied().collect::<Vec<_>>(), [1]);
    let names: Vec<&str> = first.exports.iter().map(|export| export.name).collect();
    assert!(!names.iter().any(|name| name.starts_with("intounderlying")), "{names:?}");

    assert_valid(&late);
    let late = read(&late);
    // What is behind the door, hidden, and the method; the last of the table's places is the door's.
    assert_eq!(late.bodies, 3);
    assert_eq!(late.slots.keys().copied().collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn the_late_part_takes_what_the_first_gives() {
    let Halves { first, late } = halves();
    let wanted = read(&late).imports;
    let types = read(&first).types;
    let first = Bound::read(&first).expect("a module");
    let given: BTreeMap<String, String> = first
        .exports
        .iter()
        .map(|export| {
            let index = export.index as usize;
            let ty = match export.kind {
                ExternalKind::Func => types[first.type_of[index] as usize].clone(),
                ExternalKind::Table => format!("{:?}", TypeRef::Table(first.tables[index])),
                ExternalKind::Memory => format!("{:?}", TypeRef::Memory(first.memories[index])),
                _ => format!("{:?}", TypeRef::Global(first.globals[index])),
            };
            (format!("f.{}", export.name), ty)
        })
        .collect();
    // Memory, table, stack pointer, `shared`, and `log`, which comes from JavaScript.
    assert_eq!(wanted.len(), 5, "{wanted:?}");
    assert!(wanted.contains_key("f.memory") && wanted.contains_key("f.late"), "{wanted:?}");
    for (name, ty) in &wanted {
        assert_eq!(given.get(name), Some(ty), "{name}");
    }
}

#[test]
fn each_piece_of_data_is_where_it_is_used() {
    let Halves { first, late } = halves();
    assert_eq!(read(&first).data, [(START, b"first\0\0\0\0\0\0\0\0\0\0\0\0".to_vec())]);
    assert_eq!(read(&late).data, [(START + METHODS.0, b"\x02\0\0\0late!".to_vec())]);
}

#[test]
fn a_door_passes_on_what_it_gets() {
    let Halves { first, .. } = halves();
    let first = Bound::read(&first).expect("a module");
    // The only function of the first part that calls by the table: its parameter, the last place.
    let door = first.bodies.iter().map(|body| body.as_bytes());
    let calls = |body: &&[u8]| body.contains(&0x11);
    let doors: Vec<&[u8]> = door.filter(calls).collect();
    assert_eq!(doors, [[0, 0x20, 0, 0x41, 3, 0x11, 1, 0, 0x0b].as_slice()]);
}

#[test]
fn what_cannot_be_cut_safely_is_refused() {
    let refused = |linked: &[u8], bound: &[u8], door: &str| {
        format!("{:#}", split_at(linked, bound, &[door]).expect_err("no cut"))
    };
    let message = refused(&linked(), &bound(), "m::window");
    assert!(message.contains("_ZN1m6window17h"), "{message}");
    assert!(message.contains("never inlined"), "{message}");

    let message = refused(&bound(), &bound(), "m::door");
    assert!(message.contains("--emit-relocs"), "{message}");

    // The address in `main` is not what the relocation says.
    let mut moved = linked();
    let address = [0x41, 0x80, 0x88, 0x80, 0x80, 0x00];
    let place = moved.windows(address.len()).position(|bytes| bytes == address);
    moved[place.expect("the address of the first text") + 1] = 0x81;
    let message = refused(&moved, &bound(), "m::door");
    assert!(message.contains("to 1024 lies where 1025 is written"), "{message}");

    // A function that the linker never saw, and that names data.
    let (mut renamed, _) = module(&ANEW);
    named(&mut renamed, &ANEW.map(|name| if name == "main" { "new" } else { name }));
    let message = refused(&linked(), &renamed.finish(), "m::door");
    assert!(message.contains("`new`, new to the linker, may hold addresses: [1024]"), "{message}");
}

#[test]
fn paths_are_written_as_the_compiler_does() {
    assert_eq!(mangled("web::views::know::know"), "_ZN3web5views4know4know17h");
}
