//! No autoscaler: a number of replicas.

/// So many replicas, whatever happens; a lost one is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// Replicas.
    pub replicas: i32,
}

impl Fixed {
    /// The number of replicas.
    #[must_use]
    pub const fn desired(&self) -> i32 {
        self.replicas
    }
}
