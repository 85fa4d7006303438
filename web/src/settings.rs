//! The numbers that have a control, and how each is read, written, stepped and spoken.
//!
//! Ranges, snapping and steps come from the scenario's one table of fields. Only what is a part of a
//! field (the spread of a length, the burstiness of arrivals) has its own slider here.

use scenario::{Direction, Field, Notice, Scale, Scenario, Slider, Snap, Step, StepSizes, field};
use sim_core::{ArrivalProcess, LengthSpec};

use crate::strings;

/// Which part of a field a control moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The number itself.
    Value,
    /// The sigma of a length.
    Spread,
    /// The shape of bursty arrivals.
    Burstiness,
}

/// A number with a control.
#[derive(Debug)]
pub(crate) struct Dial {
    /// Unique in the page.
    pub(crate) id: &'static str,
    /// Key of the field.
    pub(crate) key: &'static str,
    /// What the control is called; the field's own label if empty.
    label: &'static str,
    /// The unit as a screen reader says it.
    pub(crate) spoken_unit: &'static str,
    part: Part,
}

const fn dial(id: &'static str, key: &'static str, spoken_unit: &'static str) -> Dial {
    Dial { id, key, label: "", spoken_unit, part: Part::Value }
}

pub(crate) static RATE: Dial = dial("rate", "rate", "requests per second");
pub(crate) static PROMPT: Dial = dial("in", "in", "tokens");
pub(crate) static ANSWER: Dial = dial("out", "out", "tokens");
pub(crate) static TTFT: Dial = dial("ttft", "ttft", "milliseconds");
pub(crate) static TPOT: Dial = dial("tpot", "tpot", "milliseconds");
pub(crate) static HEADROOM: Dial = dial("headroom", "headroom", "percent");
pub(crate) static BUDGET: Dial = dial("budget", "sched.max_num_batched_tokens", "tokens");
pub(crate) static SEQUENCES: Dial = dial("seqs", "sched.max_num_seqs", "sequences");
pub(crate) static EFFICIENCY: Dial = dial("mfu", "step.mfu", "");
pub(crate) static OVERHEAD: Dial = dial("overhead", "step.overhead_s", "seconds");
pub(crate) static REQUESTS: Dial = dial("requests", "sim.requests", "requests");
pub(crate) static RUNS: Dial = dial("runs", "sim.replications", "runs");
pub(crate) static SEED: Dial = dial("seed", "seed", "");
pub(crate) static PROMPT_SPREAD: Dial = Dial {
    id: "in-spread",
    key: "in",
    label: strings::PROMPT_SPREAD,
    spoken_unit: "",
    part: Part::Spread,
};
pub(crate) static ANSWER_SPREAD: Dial = Dial {
    id: "out-spread",
    key: "out",
    label: strings::ANSWER_SPREAD,
    spoken_unit: "",
    part: Part::Spread,
};
pub(crate) static BURSTINESS: Dial = Dial {
    id: "burstiness",
    key: "arrivals",
    label: strings::BURSTINESS,
    spoken_unit: "",
    part: Part::Burstiness,
};

/// Spread of lengths: 0 is none, 2 reaches over two orders of magnitude.
const SPREAD: Slider = Slider {
    min: 0.0,
    max: 2.0,
    scale: Scale::Linear,
    snap: Snap::Multiples(0.1),
    steps: StepSizes::Add([0.01, 0.1, 0.5]),
};

/// Shape of gamma gaps: 1 is Poisson, below is burstier.
const SHAPE: Slider = Slider {
    min: 0.1,
    max: 4.0,
    scale: Scale::Log,
    snap: Snap::Decades(&[1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0]),
    steps: StepSizes::Multiply([1.01, 1.1, 2.0]),
};

/// Sigma with which a spread begins when it is switched on.
const FIRST_SPREAD: f64 = 0.5;

impl Dial {
    fn field(&self) -> Option<&'static Field> {
        field(self.key)
    }

    /// What the control is called.
    pub(crate) fn label(&self) -> &'static str {
        match self.field() {
            Some(field) if self.label.is_empty() => field.label,
            _ => self.label,
        }
    }

    /// One sentence of help.
    pub(crate) fn help(&self) -> &'static str {
        match self.part {
            Part::Value => self.field().map_or("", |field| field.help),
            Part::Spread => strings::SPREAD_HELP,
            Part::Burstiness => strings::BURSTINESS_HELP,
        }
    }

    /// The unit beside the number.
    pub(crate) fn unit(&self) -> &'static str {
        match self.part {
            Part::Value => self.field().map_or("", |field| field.unit),
            Part::Spread | Part::Burstiness => "",
        }
    }

    /// The slider, where there is one.
    pub(crate) fn slider(&self) -> Option<Slider> {
        match self.part {
            Part::Value => self.field().and_then(|field| field.slider),
            Part::Spread => Some(SPREAD),
            Part::Burstiness => Some(SHAPE),
        }
    }

    /// The value in force, in the unit beside the number; none where the catalogue decides.
    pub(crate) fn value(&self, scenario: &Scenario) -> Option<f64> {
        match self.part {
            Part::Value => scenario.number(self.key),
            Part::Spread => Some(sigma(self.length(scenario))),
            Part::Burstiness => match scenario.arrivals {
                ArrivalProcess::Gamma { shape } => Some(shape),
                _ => None,
            },
        }
    }

    /// The number as a field shows it, every digit of it.
    pub(crate) fn text(&self, scenario: &Scenario) -> Option<String> {
        match self.part {
            // Beyond 2⁵³ a seed has digits that a float would lose.
            Part::Value if self.slider().is_none() => {
                self.value(scenario)?;
                let written = scenario.get(self.key)?;
                Some(written.trim_end_matches(char::is_alphabetic).to_owned())
            }
            _ => self.value(scenario).map(quantity::editable),
        }
    }

    /// What the value is when nobody changed it.
    pub(crate) fn default_value(&self) -> Option<f64> {
        match self.part {
            Part::Burstiness => Some(1.0),
            _ => self.value(&Scenario::preset()),
        }
    }

    /// Whether somebody changed it.
    pub(crate) fn is_changed(&self, scenario: &Scenario) -> bool {
        self.value(scenario) != self.value(&Scenario::preset())
    }

    /// Sets it to a number.
    pub(crate) fn put(&self, scenario: &mut Scenario, value: f64) -> Result<Vec<Notice>, Notice> {
        match self.part {
            Part::Value => scenario.set_number(self.key, value),
            Part::Burstiness => scenario.set(self.key, &format!("gamma({value})")),
            Part::Spread => scenario.set(self.key, &spread(self.length(scenario), value)),
        }
    }

    /// Sets it to what a person typed.
    pub(crate) fn type_in(
        &self,
        scenario: &mut Scenario,
        text: &str,
    ) -> Result<Vec<Notice>, Notice> {
        let number = match self.part {
            // A bare number keeps the spread that is in force.
            Part::Value if matches!(self.key, "in" | "out") => {
                quantity::parse(text, quantity::Unit::Tokens).ok()
            }
            Part::Value => None,
            Part::Spread | Part::Burstiness => quantity::parse(text, quantity::Unit::Number).ok(),
        };
        match number {
            Some(value) => self.put(scenario, value),
            None => scenario.set(self.key, text),
        }
    }

    /// Sets it to what it is when nobody changed it.
    pub(crate) fn reset(&self, scenario: &mut Scenario) {
        // Defaults are always in range, and optional fields know this word.
        let _ = match (self.part, self.default_value()) {
            (_, Some(value)) => self.put(scenario, value),
            (_, None) => scenario.set(self.key, "auto"),
        };
    }

    /// The value after a key press.
    pub(crate) fn stepped(&self, value: f64, step: Step, direction: Direction) -> f64 {
        match (self.part, self.field()) {
            (Part::Value, Some(field)) => field.stepped(value, step, direction),
            _ => self.slider().map_or(value, |slider| stepped(&slider, value, step, direction)),
        }
    }

    fn length(&self, scenario: &Scenario) -> LengthSpec {
        if self.key == "in" { scenario.input } else { scenario.output }
    }
}

fn sigma(length: LengthSpec) -> f64 {
    match length {
        LengthSpec::Fixed { .. } => 0.0,
        LengthSpec::Uniform { min_tokens, max_tokens } => {
            // The sigma of a lognormal that varies as much: σ² = ln(1 + c²), where c² is the squared
            // coefficient of variation, for small c about c² itself.
            let relative = (max_tokens - min_tokens) as f64 / length.mean_tokens();
            (relative * relative / 12.0).sqrt()
        }
        LengthSpec::LogNormal { sigma, .. } => sigma,
        // Two thirds of a lognormal lie within one sigma, for small sigmas as much either way.
        LengthSpec::Empirical(quantiles) if quantiles.at(0.5) > 0.0 => {
            (quantiles.at(0.84) - quantiles.at(0.16)) / (2.0 * quantiles.at(0.5))
        }
        LengthSpec::Empirical(_) => 0.0,
    }
}

/// A length with another spread, as links write it.
fn spread(length: LengthSpec, sigma: f64) -> String {
    let median = match length {
        LengthSpec::Fixed { .. } | LengthSpec::Uniform { .. } => length.mean_tokens(),
        LengthSpec::LogNormal { median_tokens, .. } => median_tokens,
        LengthSpec::Empirical(quantiles) => quantiles.at(0.5),
    };
    if sigma > 0.0 { format!("lognormal({median},{sigma})") } else { format!("{}", median.round()) }
}

fn stepped(slider: &Slider, value: f64, step: Step, direction: Direction) -> f64 {
    let size = |sizes: [f64; 3]| match step {
        Step::Small => sizes[0],
        Step::Large => sizes[1],
        Step::Page => sizes[2],
    };
    let moved = match (slider.steps, direction) {
        (StepSizes::Multiply(sizes), Direction::Up) => value * size(sizes),
        (StepSizes::Multiply(sizes), Direction::Down) => value / size(sizes),
        (StepSizes::Add(sizes), Direction::Up) => value + size(sizes),
        (StepSizes::Add(sizes), Direction::Down) => value - size(sizes),
    };
    // Two decimals are as fine as these two are ever told.
    let rounded = (moved * 100.0).round() / 100.0;
    if rounded < slider.min {
        slider.min
    } else if rounded > slider.max {
        slider.max
    } else {
        rounded
    }
}

/// Patterns of arrivals as a choice: label and value as links write it.
pub(crate) const PATTERNS: [(&str, &str); 3] = [
    (strings::PATTERN_POISSON, "poisson"),
    (strings::PATTERN_BURSTY, "gamma(0.5)"),
    (strings::PATTERN_EVEN, "even"),
];

/// Scheduling rules as a choice: label and value as links write it. Whole batches can be asked for
/// by link and command line.
pub(crate) const RULES: [(&str, &str); 2] =
    [(strings::RULES_REFERENCE, "reference"), (strings::RULES_VLLM, "vllm-0.33")];

/// Which of [`PATTERNS`] is in force.
pub(crate) fn pattern(scenario: &Scenario) -> &'static str {
    match scenario.arrivals {
        ArrivalProcess::Poisson => "poisson",
        ArrivalProcess::Gamma { .. } => "gamma(0.5)",
        ArrivalProcess::Even => "even",
    }
}

/// Whether prompts or answers have a spread.
pub(crate) fn has_spread(dial: &Dial, scenario: &Scenario) -> bool {
    sigma(dial.length(scenario)) > 0.0
}

/// Switches the spread of prompts or answers on or off.
pub(crate) fn switch_spread(dial: &Dial, scenario: &mut Scenario, on: bool) {
    // Both values are in range.
    let _ = dial.put(scenario, if on { FIRST_SPREAD } else { 0.0 });
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [&Dial; 16] = [
        &RATE,
        &PROMPT,
        &ANSWER,
        &TTFT,
        &TPOT,
        &HEADROOM,
        &BUDGET,
        &SEQUENCES,
        &EFFICIENCY,
        &OVERHEAD,
        &REQUESTS,
        &RUNS,
        &SEED,
        &PROMPT_SPREAD,
        &ANSWER_SPREAD,
        &BURSTINESS,
    ];

    #[test]
    fn every_dial_has_a_field_and_a_name() {
        for dial in ALL {
            assert!(dial.field().is_some(), "{}", dial.id);
            assert!(!dial.label().is_empty(), "{}", dial.id);
            assert!(!dial.help().is_empty(), "{}", dial.id);
        }
    }

    #[test]
    fn a_reset_undoes_a_change() {
        for dial in ALL {
            let mut scenario = Scenario::preset();
            let Some(slider) = dial.slider() else { continue };
            dial.put(&mut scenario, slider.max).unwrap();
            assert_eq!(dial.value(&scenario), Some(slider.max), "{}", dial.id);
            dial.reset(&mut scenario);
            assert_eq!(dial.value(&scenario), dial.default_value(), "{}", dial.id);
        }
    }

    #[test]
    fn a_typed_length_keeps_its_spread() {
        let mut scenario = Scenario::preset();
        switch_spread(&PROMPT_SPREAD, &mut scenario, true);
        PROMPT.type_in(&mut scenario, "1.5k").unwrap();
        assert_eq!(PROMPT.value(&scenario), Some(1500.0));
        assert_eq!(PROMPT_SPREAD.value(&scenario), Some(FIRST_SPREAD));
    }
}
