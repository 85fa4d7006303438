//! The page's module and its script made smaller: what nobody calls taken out, what is left put in
//! an order that compresses well, and the script's own names made short.

use crate::order::alike_together;
use crate::process::run as run_process;
use crate::reencoded::reencoded;
use crate::setup;
use crate::workspace::{Workspace, write};
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{CodeSection, FunctionSection};
use wasmparser::{CodeSectionReader, FunctionSectionReader, Parser, Payload, TypeRef};

/// What every browser understands that has module workers, and the compiler makes use of.
const FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
];

/// Shrinks a module in place.
pub(crate) fn shrink(workspace: &Workspace, wasm: &Path) -> Result<()> {
    optimise(workspace, wasm)?;
    let module = read(wasm)?;
    let bodies = bodies(&module)?;
    write(wasm, arranged(&module, &alike_together(&bodies))?)
}

/// Minifies a script in place. It stays a module that exports what it did.
pub(crate) fn minify(workspace: &Workspace, script: &Path) -> Result<()> {
    let mut command = Command::new(setup::npm_program(workspace, "esbuild"));
    command.args(["--minify", "--format=esm", "--log-level=warning", "--allow-overwrite"]);
    let mut outfile = OsString::from("--outfile=");
    outfile.push(script);
    run_process(command.arg(script).arg(outfile))
}

fn read(wasm: &Path) -> Result<Vec<u8>> {
    std::fs::read(wasm).with_context(|| format!("{} could not be read", wasm.display()))
}

/// `--low-memory-unused` may assume that nothing lies below 1024: that is the far end of the stack.
fn optimise(workspace: &Workspace, wasm: &Path) -> Result<()> {
    let mut command = Command::new(setup::npm_program(workspace, "wasm-opt"));
    command.args(FEATURES).args([
        "--low-memory-unused",
        "-Oz",
        "--strip-debug",
        "--strip-producers",
    ]);
    run_process(command.arg(wasm).arg("-o").arg(wasm))
}

/// The same module with its own functions in another order: `order[place]` is who goes there.
fn arranged(module: &[u8], order: &[usize]) -> Result<Vec<u8>> {
    let imported = imported_functions(module)?;
    let mut places = vec![0; order.len()];
    for (place, &function) in order.iter().enumerate() {
        places[function] = place as u32;
    }
    reencoded(&mut Arranged { imported, order, places }, module)
}

/// Writes functions in an order, and names them everywhere by their new places.
struct Arranged<'a> {
    imported: u32,
    order: &'a [usize],
    places: Vec<u32>,
}

impl Reencode for Arranged<'_> {
    type Error = std::convert::Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, reencode::Error> {
        Ok(match function.checked_sub(self.imported) {
            Some(own) => self.imported + self.places[own as usize],
            None => function,
        })
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), reencode::Error> {
        let types = section.into_iter().collect::<Result<Vec<u32>, _>>()?;
        for &function in self.order {
            functions.function(self.type_index(types[function])?);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), reencode::Error> {
        let bodies = section.into_iter().collect::<Result<Vec<_>, _>>()?;
        for &function in self.order {
            self.parse_function_body(code, bodies[function].clone())?;
        }
        Ok(())
    }
}

/// The bodies of the module's own functions.
fn bodies(module: &[u8]) -> Result<Vec<&[u8]>> {
    let mut bodies = Vec::new();
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::CodeSectionEntry(body) = payload? {
            bodies.push(body.as_bytes());
        }
    }
    Ok(bodies)
}

/// How many functions come from outside: they are counted before the module's own.
fn imported_functions(module: &[u8]) -> Result<u32> {
    let mut count = 0;
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::ImportSection(imports) = payload? {
            for import in imports.into_imports() {
                count += u32::from(matches!(import?.ty, TypeRef::Func(_)));
            }
        }
    }
    Ok(count)
}
