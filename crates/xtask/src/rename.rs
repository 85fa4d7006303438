//! Short names between the module and its script.
//!
//! wasm-bindgen calls each function that one takes from the other by its path and a hash. Both files
//! spell all of them out, and a hash does not compress: together they are seven kilobytes of it.

use crate::reencoded::reencoded;
use crate::short_names::ShortNames;
use anyhow::{Result, ensure};
use std::collections::BTreeMap;
use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{ExportSection, ImportSection};
use wasmparser::{Export, ImportSectionReader, Parser, Payload};

/// How wasm-bindgen's own names begin, and the compiler's.
const LONG: [&str; 3] = ["__wbg_", "__wbindgen_", "_ZN"];
/// How the new names begin: as no name of wasm-bindgen's script does.
const MARK: char = '$';

/// The module and the script with short names for what they take from each other, except for the
/// exports that `keep` names.
///
/// # Errors
/// The module cannot be read, or the script has names that begin like the new ones.
pub(crate) fn shorten(
    module: &[u8],
    script: &str,
    keep: impl Fn(&str) -> bool,
) -> Result<(Vec<u8>, String)> {
    ensure!(
        !words(script).any(|(word, _)| word.len() > 1 && word.starts_with(MARK)),
        "the script has names that begin with {MARK}"
    );
    let mut fresh = ShortNames::without(std::iter::empty());
    let mut names = BTreeMap::new();
    for name in borders(module)?.into_iter().filter(|name| !keep(name)) {
        if LONG.iter().any(|beginning| name.starts_with(beginning)) {
            names.entry(name).or_insert_with(|| format!("{MARK}{}", fresh.next()));
        }
    }
    let mut written = String::with_capacity(script.len());
    for (word, rest) in words(script) {
        written.push_str(names.get(word).map_or(word, String::as_str));
        written.push_str(rest);
    }
    Ok((reencoded(&mut Renamed(&names), module)?, written))
}

/// The names of all that a module takes and gives.
fn borders(module: &[u8]) -> Result<Vec<&str>> {
    let mut names = Vec::new();
    for payload in Parser::new(0).parse_all(module) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    names.push(import?.name);
                }
            }
            Payload::ExportSection(exports) => {
                for export in exports {
                    names.push(export?.name);
                }
            }
            _ => {}
        }
    }
    Ok(names)
}

/// Words that can be names, each with what stands between it and the next.
fn words(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == MARK;
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (word, after) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
        let (between, next) = after.split_at(after.find(is_part).unwrap_or(after.len()));
        rest = next;
        Some((word, between))
    })
}

/// Writes a module with other names at its borders.
struct Renamed<'a>(&'a BTreeMap<&'a str, String>);

impl Renamed<'_> {
    fn name<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.get(name).map_or(name, String::as_str)
    }
}

impl Reencode for Renamed<'_> {
    type Error = std::convert::Infallible;

    fn parse_import_section(
        &mut self,
        imports: &mut ImportSection,
        section: ImportSectionReader<'_>,
    ) -> Result<(), reencode::Error> {
        for import in section.into_imports() {
            let import = import?;
            let ty = self.entity_type(import.ty)?;
            imports.import(import.module, self.name(import.name), ty);
        }
        Ok(())
    }

    fn parse_export(
        &mut self,
        exports: &mut ExportSection,
        export: Export<'_>,
    ) -> Result<(), reencode::Error> {
        let index = self.external_index(export.kind, export.index)?;
        exports.export(self.name(export.name), export.kind.into(), index);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasm_encoder::{EntityType, ExportKind, Module, TypeSection};

    fn module() -> Vec<u8> {
        let mut types = TypeSection::new();
        types.ty().function([], []);
        let mut imports = ImportSection::new();
        imports.import("./web.js", "__wbg_log_0123456789abcdef", EntityType::Function(0));
        imports.import("./web.js", "other", EntityType::Function(0));
        let mut exports = ExportSection::new();
        exports.export("__wbindgen_start", ExportKind::Func, 1);
        exports.export("__wbg_kept_free", ExportKind::Func, 1);
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&exports);
        module.finish()
    }

    #[test]
    fn module_and_script_agree_on_the_new_names() {
        let script = "const imports = { __wbg_log_0123456789abcdef: log, other };\n\
            wasm.__wbindgen_start(); wasm.__wbg_kept_free(`${other}`); __wbg_log_01()";
        let (module, script) =
            shorten(&module(), script, |name| name.contains("kept")).expect("a module");
        let names = borders(&module).expect("a module");
        assert_eq!(names, ["$a", "other", "$b", "__wbg_kept_free"]);
        assert_eq!(
            script,
            "const imports = { $a: log, other };\n\
             wasm.$b(); wasm.__wbg_kept_free(`${other}`); __wbg_log_01()"
        );
    }

    #[test]
    fn a_script_with_such_names_is_refused() {
        assert!(shorten(&module(), "let $a = 1;", |_| false).is_err());
        assert!(shorten(&[1, 2], "", |_| false).is_err(), "no module");
    }

    #[test]
    fn words_and_what_is_between_make_the_text() {
        for text in ["", "a", " ", "a b", "(a.b)", "`${a}`", "é a"] {
            let again: String = words(text).flat_map(|(word, between)| [word, between]).collect();
            assert_eq!(again, text);
        }
    }
}
