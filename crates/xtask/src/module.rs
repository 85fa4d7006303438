//! The page's module and its worker's first lines: cut in two, made small, and named after their
//! content.
//!
//! A browser that still had an old file in its cache would run it under a new page. Trunk names the
//! module after what it made; what we make of that has to have a name of its own.

use crate::hash::{integrity, sha256_hex};
use crate::late::{is_used, split};
use crate::rename::shorten;
use crate::shrink::{minify, shrink};
use crate::workspace::{Workspace, entries, read, rename, write};
use anyhow::{Context, Result, bail};
use std::path::Path;

/// What is left of a hash in a name: enough to tell builds apart, short enough to read.
const HASH_LENGTH: usize = 16;
const SCRIPT_ENDING: &str = ".js";
const WASM_ENDING: &str = "_bg.wasm";
/// What the late part is called, after the name that it shares with the first.
pub(crate) const LATE_ENDING: &str = "_late.wasm";
const ENDINGS: [&str; 3] = [WASM_ENDING, LATE_ENDING, SCRIPT_ENDING];
const WORKER: &str = "worker.js";

/// Where Cargo leaves the module, as linked.
const LINKED: [&str; 3] = ["wasm32-unknown-unknown", "wasm-release", "web.wasm"];

/// Cuts, shrinks and renames the module in the built site. Returns the page with the new name in it.
pub(crate) fn finish(workspace: &Workspace, site: &Path, page: &str) -> Result<String> {
    let old = module_name(site)?;
    let wasm = site.join(format!("{old}{WASM_ENDING}"));
    let late = site.join(format!("{old}{LATE_ENDING}"));
    let script = site.join(format!("{old}{SCRIPT_ENDING}"));
    let (module, shortened) = shorten(&read_bytes(&wasm)?, &read(&script)?, |name| !is_used(name))?;
    let page = vouched(page, &wasm, || {
        cut(workspace, &module, [&wasm, &late])?;
        shrink(workspace, &late)?;
        shrink(workspace, &wasm)
    })?;
    let page = vouched(&page, &script, || {
        write(&script, shortened)?;
        minify(workspace, &script)
    })?;
    rename_module(site, &old, &page)
}

/// Writes the two parts of a module to these files.
fn cut(workspace: &Workspace, module: &[u8], [first, late]: [&Path; 2]) -> Result<()> {
    let linked = LINKED.iter().fold(workspace.target().to_path_buf(), |path, part| path.join(part));
    let halves = split(&read_bytes(&linked)?, module)
        .with_context(|| format!("{} could not be cut in two", first.display()))?;
    write(first, halves.first)?;
    write(late, halves.late)
}

/// What the module's two files are called, but for their endings.
fn module_name(site: &Path) -> Result<String> {
    let names: Vec<String> = entries(site)?
        .iter()
        .filter_map(|path| path.file_name()?.to_str()?.strip_suffix(WASM_ENDING).map(str::to_owned))
        .collect();
    match names.as_slice() {
        [name] if site.join(format!("{name}{SCRIPT_ENDING}")).is_file() => Ok(name.clone()),
        [name] => bail!("the build has no {name}{SCRIPT_ENDING}"),
        _ => bail!("the build has {} modules instead of one", names.len()),
    }
}

/// Changes a file, and the digest by which the page knows it: a browser drops a file that has another.
fn vouched(page: &str, file: &Path, change: impl FnOnce() -> Result<()>) -> Result<String> {
    let digest = || Ok::<_, anyhow::Error>(integrity(&read_bytes(file)?));
    let before = digest()?;
    change()?;
    Ok(page.replace(&before, &digest()?))
}

fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("{} could not be read", path.display()))
}

/// One hash for script and both parts of the module: they only ever work together.
fn rename_module(site: &Path, old: &str, page: &str) -> Result<String> {
    let path = |name: &str, ending: &str| site.join(format!("{name}{ending}"));
    let contents = ENDINGS.iter().map(|ending| read_bytes(&path(old, ending)));
    let new = hashed("headroom", &contents.collect::<Result<Vec<_>>>()?.concat());
    let renamed = page.replace(old, &new);
    if renamed == page {
        bail!("index.html does not load {old}{SCRIPT_ENDING}");
    }
    for ending in ENDINGS {
        rename(&path(old, ending), &path(&new, ending))?;
    }
    Ok(renamed)
}

/// Renames the worker's first lines, and returns their address for the page.
pub(crate) fn name_worker(site: &Path) -> Result<String> {
    let path = site.join(WORKER);
    if !path.is_file() {
        bail!("the build has no {WORKER}: does index.html still ask for it?");
    }
    let script = read(&path)?;
    let name = format!("{}.js", hashed("worker", script.as_bytes()));
    write(&site.join(&name), script)?;
    std::fs::remove_file(&path).with_context(|| format!("{WORKER} could not be removed"))?;
    Ok(format!("./{name}"))
}

fn hashed(name: &str, content: &[u8]) -> String {
    let digest = sha256_hex(content);
    format!("{name}-{}", digest.get(..HASH_LENGTH).unwrap_or(&digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> std::path::PathBuf {
        let site = std::env::temp_dir().join(format!("headroom-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&site).expect("a folder for the test");
        site
    }

    #[test]
    fn the_name_follows_the_content() {
        assert_eq!(hashed("worker", b"abc"), "worker-ba7816bf8f01cfea");
        assert_ne!(hashed("worker", b"abc"), hashed("worker", b"abd"));
    }

    #[test]
    fn files_are_renamed_and_the_page_with_them() {
        let site = folder("module");
        let put = |name: &str, text: &str| std::fs::write(site.join(name), text).expect("a file");
        assert!(module_name(&site).is_err(), "nothing is there");
        put("web-1_bg.wasm", "w");
        assert!(module_name(&site).is_err(), "the script is missing");
        put("web-1.js", "s");
        assert_eq!(module_name(&site).expect("both are there"), "web-1");
        assert!(rename_module(&site, "web-1", "<p>no script</p>").is_err());
        let page = "web-1.js web-1_bg.wasm";
        assert!(rename_module(&site, "web-1", page).is_err(), "the late part is missing");
        put("web-1_late.wasm", "l");
        let page = rename_module(&site, "web-1", page).expect("a page");
        let script = page.split_once(' ').expect("two names").0;
        assert!(site.join(script.replace(".js", "_late.wasm")).is_file());
        for name in page.split(' ') {
            assert!(site.join(name).is_file(), "{name}");
        }
        assert!(!site.join("web-1.js").exists());
        std::fs::remove_dir_all(&site).expect("the test's folder");
    }

    #[test]
    fn the_page_vouches_for_what_a_file_has_become() {
        let site = folder("integrity");
        let file = site.join("a.js");
        std::fs::write(&file, "before").expect("a file");
        let page = format!("<link integrity=\"{}\">", integrity(b"before"));
        let change = || std::fs::write(&file, "after").context("a file");
        let page = vouched(&page, &file, change).expect("readable files");
        assert_eq!(page, format!("<link integrity=\"{}\">", integrity(b"after")));
        std::fs::remove_dir_all(&site).expect("the test's folder");
    }

    #[test]
    fn the_worker_is_renamed_and_a_lost_one_is_an_error() {
        let site = folder("worker");
        assert!(name_worker(&site).is_err());
        std::fs::write(site.join(WORKER), "abc").expect("a file");
        assert_eq!(name_worker(&site).expect("it is there"), "./worker-ba7816bf8f01cfea.js");
        assert!(site.join("worker-ba7816bf8f01cfea.js").is_file());
        std::fs::remove_dir_all(&site).expect("the test's folder");
    }
}
