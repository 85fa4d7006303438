//! Digests, in the four spellings that we need: a file name's, a policy's, a page's, a folder's.

use crate::workspace::entries;
use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256, Sha384};
use std::fmt::Write;
use std::path::Path;

/// The digest in hexadecimal.
pub(crate) fn sha256_hex(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

/// The digest of a file as a page vouches for it in `integrity`.
pub(crate) fn integrity(content: &[u8]) -> String {
    format!("sha384-{}", STANDARD.encode(Sha384::digest(content)))
}

/// The digest as a Content-Security-Policy source: `sha256-…` in base64.
pub(crate) fn csp_source(content: &[u8]) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(content)))
}

/// A running digest of files and folders: their paths and contents, in a fixed order.
#[derive(Default)]
pub(crate) struct TreeHash(Sha256);

impl TreeHash {
    /// Adds words that belong to the state but lie in no file.
    pub(crate) fn add_text(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
    }

    /// Adds a file, or all files below a folder. Paths count relative to `root`, so that the
    /// digest is the same in every checkout. What is not there adds nothing, and neither do
    /// hidden files in folders: editors leave them behind.
    pub(crate) fn add(&mut self, root: &Path, relative: &str) -> Result<()> {
        let path = root.join(relative);
        if path.is_dir() {
            for entry in entries(&path)? {
                let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if !name.starts_with('.') {
                    self.add(root, &format!("{relative}/{name}"))?;
                }
            }
        } else if path.is_file() {
            let content = std::fs::read(&path)
                .with_context(|| format!("{} could not be read", path.display()))?;
            self.add_text(relative);
            self.0.update((content.len() as u64).to_le_bytes());
            self.0.update(content);
        }
        Ok(())
    }

    /// The digest in hexadecimal.
    pub(crate) fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        let of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256_hex(b"abc"), of_abc);
        let of_nothing = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        assert_eq!(csp_source(b""), of_nothing);
    }

    #[test]
    fn a_tree_digest_knows_names_and_contents() {
        let digest = |relative: &str| {
            let mut hash = TreeHash::default();
            let added = hash.add(Path::new(env!("CARGO_MANIFEST_DIR")), relative);
            assert!(added.is_ok(), "{added:?}");
            hash.finish()
        };
        assert_eq!(digest("src/main.rs"), digest("src/main.rs"));
        assert_ne!(digest("src/main.rs"), digest("src/hash.rs"));
        assert_eq!(digest("no such file"), digest("no such folder either"));
    }
}
