//! Reads the catalogue's JSON once, at build time, with the very code that the crate has for it, and
//! leaves it in a compact form: the page then carries no JSON parser. Broken data break the build,
//! with the entry and the field.
#![allow(dead_code, reason = "the build needs only the reading half of these modules")]
#![allow(unreachable_pub, reason = "in the crate itself these are public")]

#[path = "src/figure.rs"]
mod figure;
#[path = "src/gpu.rs"]
mod gpu;
#[path = "src/model.rs"]
mod model;
#[path = "src/parse.rs"]
mod parse;
#[path = "src/suggest.rs"]
mod suggest;

use std::{error::Error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let assets = PathBuf::from("../../assets/catalog");
    let read = |name: &str| {
        let path = assets.join(name);
        println!("cargo::rerun-if-changed={}", path.display());
        fs::read_to_string(&path)
    };
    let catalog = (parse::models(&read("models.json")?)?, parse::gpus(&read("gpus.json")?)?);
    let out = PathBuf::from(std::env::var("OUT_DIR")?).join("catalog.bin");
    fs::write(out, postcard::to_stdvec(&catalog)?)?;
    Ok(())
}
