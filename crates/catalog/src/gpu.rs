//! What is known of one GPU.

use serde::{Deserialize, Serialize};

use crate::figure::Figure;

/// A GPU, with its data-sheet figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gpu {
    /// Stable name in links, lower case.
    pub slug: String,
    /// Name in pickers, with its memory: “H100 SXM 80 GB”.
    pub name: String,
    /// Name in sentences: “H100”.
    pub short_name: String,
    /// Who makes it.
    pub maker: String,
    /// Other names that find it.
    pub aliases: Vec<String>,
    /// Dense BF16 peak without sparsity, FLOP/s.
    pub peak_flops: Figure,
    /// Memory bandwidth, bytes per second.
    pub bandwidth_bytes_per_s: Figure,
    /// Nominal memory, bytes.
    pub memory_bytes: Figure,
}

impl Gpu {
    /// The slug and all aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.slug.as_str()).chain(self.aliases.iter().map(String::as_str))
    }

    /// All figures, with the names of their fields.
    pub fn figures(&self) -> [(&'static str, &Figure); 3] {
        [
            ("peak_flops", &self.peak_flops),
            ("bandwidth_bytes_per_s", &self.bandwidth_bytes_per_s),
            ("memory_bytes", &self.memory_bytes),
        ]
    }

    pub(crate) fn search_text(&self) -> String {
        format!("{} {} {} {}", self.slug, self.name, self.maker, self.aliases.join(" "))
    }
}
