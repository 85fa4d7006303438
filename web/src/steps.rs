//! Undo and redo: the scenarios that were in force, one after the other, each with what its link says
//! beside it.

use scenario::Scenario;

/// A scenario, and what its link says beside it.
pub(crate) type Settled = (Scenario, String);

/// Settled scenarios, and where among them the page stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Steps {
    scenarios: Vec<Settled>,
    at: usize,
    /// The control whose moves still make one step; none after a rest or any other change.
    mover: &'static str,
}

impl Steps {
    /// Begins with one.
    pub(crate) fn new(first: Settled) -> Self {
        Self { scenarios: vec![first], at: 0, mover: "" }
    }

    /// Whether there is something to undo.
    pub(crate) fn can_undo(&self) -> bool {
        self.at > 0
    }

    /// Whether there is something to do again.
    pub(crate) fn can_redo(&self) -> bool {
        self.at + 1 < self.scenarios.len()
    }

    /// Takes in what is in force now; what had been undone is gone. Moves of one control take each
    /// other's place until they [rest](Self::rest); all else, without a `mover`, is a step of its own.
    /// What the stack already stands at changes nothing, which is how an undo comes back here.
    pub(crate) fn take(&mut self, scenario: &Scenario, words: &str, mover: &'static str) {
        if self.scenarios.get(self.at).is_some_and(|(s, w)| s == scenario && w == words) {
            return;
        }
        if mover.is_empty() || self.mover != mover {
            self.rest();
            self.at += 1;
        }
        self.mover = mover;
        self.scenarios.truncate(self.at);
        self.scenarios.push((scenario.clone(), words.to_owned()));
    }

    /// Whatever comes next is another step. Moves that end where they began were none.
    pub(crate) fn rest(&mut self) {
        let is_round = |before: usize| self.scenarios.get(before) == self.scenarios.get(self.at);
        if !self.mover.is_empty() && self.at.checked_sub(1).is_some_and(is_round) {
            self.scenarios.truncate(self.at);
            self.at -= 1;
        }
        self.mover = "";
    }

    /// Steps by one in either direction.
    pub(crate) fn step(&mut self, back: bool) -> Option<Settled> {
        self.rest();
        let to = if back { self.at.checked_sub(1) } else { Some(self.at + 1) }?;
        let scenario = self.scenarios.get(to)?.clone();
        self.at = to;
        Some(scenario)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is in force, with nothing beside it.
    fn plain(scenario: Scenario) -> Option<Settled> {
        Some((scenario, String::new()))
    }

    fn begun() -> Steps {
        Steps::new((at(100.0, 25.0), String::new()))
    }

    fn at(rate_per_s: f64, headroom: f64) -> Scenario {
        let mut scenario = Scenario::preset();
        scenario.set_number("rate", rate_per_s).unwrap();
        scenario.set_number("headroom", headroom).unwrap();
        scenario
    }

    #[test]
    fn moves_of_one_control_are_one_step_until_they_rest() {
        let mut steps = begun();
        for rate_per_s in [101.0, 102.0, 103.0] {
            steps.take(&at(rate_per_s, 25.0), "", "rate");
        }
        steps.rest();
        steps.take(&at(104.0, 25.0), "", "rate");
        assert_eq!(steps.step(true), plain(at(103.0, 25.0)));
        assert_eq!(steps.step(true), plain(at(100.0, 25.0)));
        assert_eq!(steps.step(true), None);
    }

    #[test]
    fn no_step_holds_the_moves_of_two_controls() {
        let mut steps = begun();
        steps.take(&at(101.0, 25.0), "", "rate");
        steps.take(&at(101.0, 26.0), "", "headroom");
        steps.take(&at(102.0, 26.0), "", "rate");
        assert_eq!(steps.step(true), plain(at(101.0, 26.0)));
        assert_eq!(steps.step(true), plain(at(101.0, 25.0)));
        assert_eq!(steps.step(true), plain(at(100.0, 25.0)));
    }

    #[test]
    fn what_is_typed_or_chosen_is_a_step_each_time() {
        let mut steps = begun();
        steps.take(&at(101.0, 25.0), "", "rate");
        steps.take(&at(120.0, 25.0), "", "");
        steps.take(&at(140.0, 25.0), "", "");
        for rate_per_s in [120.0, 101.0, 100.0] {
            assert_eq!(steps.step(true), plain(at(rate_per_s, 25.0)));
        }
    }

    #[test]
    fn undone_steps_come_again_until_something_else_does() {
        let mut steps = begun();
        steps.take(&at(101.0, 25.0), "", "");
        steps.take(&at(102.0, 25.0), "", "");
        let back = steps.step(true).unwrap();
        steps.take(&back.0, &back.1, "undo");
        assert!(steps.can_redo());
        assert_eq!(steps.step(false), plain(at(102.0, 25.0)));
        steps.step(true);
        steps.take(&at(103.0, 25.0), "", "rate");
        assert!(!steps.can_redo());
        assert_eq!(steps.step(true), plain(at(101.0, 25.0)));
    }

    #[test]
    fn a_drag_that_comes_back_is_no_step() {
        let mut steps = begun();
        steps.take(&at(101.0, 25.0), "", "rate");
        steps.take(&at(100.0, 25.0), "", "rate");
        steps.rest();
        assert!(!steps.can_undo() && !steps.can_redo());
    }

    /// What is pinned comes and goes with the scenario that it is compared with.
    #[test]
    fn a_step_brings_back_what_stood_beside_the_scenario() {
        let mut steps = begun();
        steps.take(&at(100.0, 25.0), "&versus=a", "");
        steps.take(&at(120.0, 25.0), "&versus=a", "rate");
        assert_eq!(steps.step(true), Some((at(100.0, 25.0), "&versus=a".to_owned())));
        assert_eq!(steps.step(true), plain(at(100.0, 25.0)));
        assert_eq!(steps.step(false), Some((at(100.0, 25.0), "&versus=a".to_owned())));
    }
}
