//! The worker's files get their content's hash into their names.
//!
//! Trunk does that for the page only. A browser that still had an old worker in its cache would
//! run it under a new page.

use crate::hash::sha256_hex;
use crate::workspace::{read, rename, write};
use anyhow::{Context, Result, bail};
use std::path::Path;

/// The worker's binary, after which Trunk names all its files.
const NAME: &str = "sim-worker";
/// What is left of the hash: enough to tell builds apart, short enough to read.
const HASH_LENGTH: usize = 16;

/// Renames the worker's files in the built site, and returns the loader's address for the page.
pub(crate) fn fingerprint(site: &Path) -> Result<String> {
    let path = |ending: &str| site.join(format!("{NAME}{ending}"));
    for ending in ["_loader.js", ".js", "_bg.wasm"] {
        if !path(ending).is_file() {
            bail!("the build has no {NAME}{ending}: does index.html still ask for the worker?");
        }
    }
    let wasm = std::fs::read(path("_bg.wasm")).context("the worker's WASM could not be read")?;
    let script = read(&path(".js"))?;
    let loader = read(&path("_loader.js"))?;
    let all = [wasm.as_slice(), script.as_bytes(), loader.as_bytes()].concat();
    let hashed = hashed_name(&all);

    write(&path(".js"), patch(&script, &hashed))?;
    let patched = patch(&loader, &hashed);
    if patched == loader {
        bail!("{NAME}_loader.js loads neither {NAME}.js nor {NAME}_bg.wasm");
    }
    write(&path("_loader.js"), telling(&patched))?;
    for ending in ["_loader.js", ".js", "_bg.wasm"] {
        rename(&path(ending), &site.join(format!("{hashed}{ending}")))?;
    }
    Ok(format!("./{hashed}_loader.js"))
}

/// One hash for all three files: they only ever work together.
fn hashed_name(content: &[u8]) -> String {
    let digest = sha256_hex(content);
    format!("{NAME}-{}", digest.get(..HASH_LENGTH).unwrap_or(&digest))
}

/// Replaces the files' names inside a script.
fn patch(script: &str, hashed: &str) -> String {
    script
        .replace(&format!("{NAME}_bg.wasm"), &format!("{hashed}_bg.wasm"))
        .replace(&format!("{NAME}.js"), &format!("{hashed}.js"))
}

/// A start that fails rejects a promise, of which the page never hears. An error it does hear.
fn telling(loader: &str) -> String {
    match loader.trim_end().strip_suffix(";") {
        Some(call) if call.contains("wasm_bindgen(") => {
            format!("{call}.catch(e=>setTimeout(()=>{{throw e}}));")
        }
        _ => loader.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_tells_of_a_start_that_fails() {
        assert_eq!(
            telling("importScripts(\"a.js\");wasm_bindgen({module_or_path:\"a.wasm\"});\n"),
            "importScripts(\"a.js\");wasm_bindgen({module_or_path:\"a.wasm\"})\
             .catch(e=>setTimeout(()=>{throw e}));"
        );
        assert_eq!(telling("importScripts('a.js')"), "importScripts('a.js')");
    }

    #[test]
    fn both_names_in_the_loader_are_patched() {
        let loader = "importScripts(\"./sim-worker.js\");wasm_bindgen({module_or_path:\"./sim-worker_bg.wasm\"});";
        assert_eq!(
            patch(loader, "sim-worker-1f"),
            "importScripts(\"./sim-worker-1f.js\");wasm_bindgen({module_or_path:\"./sim-worker-1f_bg.wasm\"});"
        );
    }

    #[test]
    fn the_name_follows_the_content() {
        assert_eq!(hashed_name(b"abc"), "sim-worker-ba7816bf8f01cfea");
        assert_ne!(hashed_name(b"abc"), hashed_name(b"abd"));
    }

    #[test]
    fn files_are_renamed_and_a_lost_worker_is_an_error() {
        let site = std::env::temp_dir().join(format!("headroom-worker-{}", std::process::id()));
        std::fs::create_dir_all(&site).expect("a folder for the test");
        let put = |name: &str, text: &str| std::fs::write(site.join(name), text);
        put("sim-worker.js", "x").expect("a file for the test");
        put("sim-worker_loader.js", "importScripts('sim-worker.js')").expect("a file for the test");
        assert!(fingerprint(&site).is_err(), "the WASM is missing");
        put("sim-worker_bg.wasm", "y").expect("a file for the test");
        let address = fingerprint(&site).expect("all files are there");
        let loader = std::fs::read_to_string(site.join(&address)).expect("the loader");
        let script = loader.split('\'').nth(1).expect("a quoted name");
        assert!(site.join(script).is_file(), "{loader}");
        std::fs::remove_dir_all(&site).expect("the test's folder");
    }
}
