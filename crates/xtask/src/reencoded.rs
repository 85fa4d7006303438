//! A module written anew, changed on the way.

use anyhow::Result;
use std::convert::Infallible;
use wasm_encoder::Module;
use wasm_encoder::reencode::Reencode;
use wasmparser::Parser;

/// What `how` makes of a module.
///
/// # Errors
/// It is no module.
pub(crate) fn reencoded(
    how: &mut impl Reencode<Error = Infallible>,
    module: &[u8],
) -> Result<Vec<u8>> {
    let mut written = Module::new();
    how.parse_core_module(&mut written, Parser::new(0), module)
        .map_err(|error| anyhow::anyhow!("the module could not be written anew: {error}"))?;
    Ok(written.finish())
}
