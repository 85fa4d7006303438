//! A scenario whose requests come from a recording: it draws none of its own.

use sim_core::LengthSpec;

use crate::{Profile, Scenario};

impl Scenario {
    /// Leave out the traffic that a recording takes the place of: bursts, users of a closed loop,
    /// sessions, a rate that changes, and classes. Tells whether there was any.
    pub fn leave_traffic_to_recording(&mut self) -> bool {
        let has_pattern = self.bursts.take().is_some() | self.closed.take().is_some();
        let has_sessions = self.has_sessions();
        self.turns = Self::preset().turns;
        let has_profile = std::mem::take(&mut self.profile) != Profile::Constant;
        let has_classes = !std::mem::take(&mut self.classes).is_empty();
        has_pattern || has_sessions || has_profile || has_classes
    }

    /// The same scenario under a recording, as far as it can be told without its requests: those of
    /// the recording's mean lengths in tokens, at the scenario's rate.
    #[must_use]
    pub fn under_recording(&self, (input_tokens, output_tokens): (f64, f64)) -> Self {
        let mut scenario = self.clone();
        scenario.leave_traffic_to_recording();
        scenario.arrivals = Self::preset().arrivals;
        scenario.shared_prefix_tokens = 0;
        // Means are not negative; a request without an answer is none.
        scenario.input = LengthSpec::Fixed { tokens: input_tokens.round() as u64 };
        scenario.output = LengthSpec::Fixed { tokens: (output_tokens.round() as u64).max(1) };
        scenario
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_takes_the_place_of_all_that_is_drawn() {
        let mut scenario = Scenario::preset();
        assert!(!scenario.leave_traffic_to_recording());
        for (key, value) in [
            ("class.rag", "share:20%,in:4000"),
            ("arrivals", "closed(200,10s)"),
            ("profile", "daily(0.3)"),
            ("in", "lognormal(700,0.9)"),
            ("rate", "40"),
            ("ttft", "500ms"),
        ] {
            scenario.set(key, value).unwrap();
        }
        let recorded = scenario.under_recording((1_154.6, 0.2));
        let mut expected = Scenario::preset();
        for (key, value) in [("in", "1155"), ("out", "1"), ("rate", "40"), ("ttft", "500ms")] {
            expected.set(key, value).unwrap();
        }
        assert_eq!(recorded, expected);
        assert!(scenario.leave_traffic_to_recording());
        assert!(scenario.classes.is_empty() && scenario.closed.is_none());
    }
}
