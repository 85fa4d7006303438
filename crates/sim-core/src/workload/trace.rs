//! A recording of requests, to be replayed.

use std::sync::Arc;

use crate::setup::SetupError;

use super::MAX_LENGTH_TOKENS;

/// One recorded request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceRow {
    /// When it was sent, seconds from the start of the recording.
    pub arrival_s: f64,
    /// Prompt length.
    pub input_tokens: u64,
    /// Output length.
    pub output_tokens: u64,
}

/// Recorded requests in order of arrival.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Trace {
    rows: Vec<TraceRow>,
    blocks: Option<PromptBlocks>,
}

/// What recorded prompts have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptBlocks {
    /// Tokens that one number stands for; the last block of a prompt may be shorter.
    pub tokens_per_block: u64,
    /// Of each row the numbers of its prompt's blocks from the first: equal numbers are equal text after
    /// an equal beginning.
    pub of_row: Vec<Arc<[u64]>>,
}

impl Trace {
    /// Take over `rows`.
    ///
    /// # Errors
    /// The trace is empty, a time is not finite, negative or before its predecessor's, or a length
    /// cannot be simulated.
    pub fn new(rows: Vec<TraceRow>) -> Result<Self, SetupError> {
        let trace = Self { rows, blocks: None };
        trace.check()?;
        Ok(trace)
    }

    /// The same with what its prompts have in common.
    #[must_use]
    pub fn with_blocks(self, blocks: PromptBlocks) -> Self {
        Self { blocks: Some(blocks), ..self }
    }

    /// What its prompts have in common, where that was recorded.
    #[must_use]
    pub const fn blocks(&self) -> Option<&PromptBlocks> {
        self.blocks.as_ref()
    }

    /// The rows.
    #[must_use]
    pub fn rows(&self) -> &[TraceRow] {
        &self.rows
    }

    /// Requests per second between the first and the last arrival; `None` with no such span.
    #[must_use]
    pub fn mean_rate_per_s(&self) -> Option<f64> {
        let first = self.rows.first()?.arrival_s;
        let last = self.rows.last()?.arrival_s;
        (last > first).then(|| (self.rows.len() - 1) as f64 / (last - first))
    }

    /// Mean prompt and mean output length, in tokens; zeros for an empty trace.
    #[must_use]
    pub fn mean_tokens(&self) -> (f64, f64) {
        let number = self.rows.len().max(1) as f64;
        let input: u64 = self.rows.iter().map(|row| row.input_tokens).sum();
        let output: u64 = self.rows.iter().map(|row| row.output_tokens).sum();
        (input as f64 / number, output as f64 / number)
    }

    /// Tokens of the largest request, prompt and output together.
    #[must_use]
    pub fn largest_request_tokens(&self) -> u64 {
        self.rows.iter().map(|row| row.input_tokens + row.output_tokens).max().unwrap_or(0)
    }

    pub(super) fn check(&self) -> Result<(), SetupError> {
        if self.rows.is_empty() {
            return Err(SetupError::EmptyTrace);
        }
        let mut previous_s = 0.0;
        for (index, row) in self.rows.iter().enumerate() {
            if let Some(problem) = row.problem(previous_s) {
                return Err(SetupError::BadTraceRow { row: index + 1, problem });
            }
            previous_s = row.arrival_s;
        }
        Ok(())
    }
}

impl TraceRow {
    fn problem(&self, previous_s: f64) -> Option<&'static str> {
        if !self.arrival_s.is_finite() || self.arrival_s < 0.0 {
            Some("arrival_s must be a finite number of seconds, 0 or more")
        } else if self.arrival_s < previous_s {
            Some("arrival_s is before the row above it; sort the rows by arrival_s")
        } else if self.output_tokens == 0 {
            Some("output_tokens is 0; a request must produce at least 1 token")
        } else if self.input_tokens > MAX_LENGTH_TOKENS || self.output_tokens > MAX_LENGTH_TOKENS {
            Some("a length is above 1,000,000,000 tokens; is the column in another unit?")
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(arrival_s: f64, output_tokens: u64) -> TraceRow {
        TraceRow { arrival_s, input_tokens: 10, output_tokens }
    }

    #[test]
    fn bad_rows_are_named() {
        assert_eq!(Trace::new(vec![]), Err(SetupError::EmptyTrace));
        for (rows, bad) in [
            (vec![row(f64::NAN, 1)], 1),
            (vec![row(0.0, 1), row(-1.0, 1)], 2),
            (vec![row(2.0, 1), row(1.0, 1)], 2),
            (vec![row(0.0, 0)], 1),
            (vec![row(0.0, u64::MAX)], 1),
        ] {
            let error = Trace::new(rows).unwrap_err();
            assert!(matches!(error, SetupError::BadTraceRow { row, .. } if row == bad), "{error}");
        }
    }

    #[test]
    fn mean_rate_counts_gaps() {
        let trace = Trace::new(vec![row(1.0, 1), row(2.0, 1), row(3.0, 1)]).unwrap();
        assert_eq!(trace.mean_rate_per_s(), Some(1.0));
        assert_eq!(Trace::new(vec![row(1.0, 1)]).unwrap().mean_rate_per_s(), None);
    }
}
