//! Settings that come in kinds, each with numbers of its own.

use scenario::{Notice, Profile, Scenario, SchedRules, field};
use sim_core::{ArrivalProcess, LengthSpec};

use quantity::plain;

use super::piece::call;
use crate::strings;

/// A setting of several kinds.
#[derive(Debug)]
pub(crate) struct Kinds {
    /// Unique in the page.
    pub(crate) id: &'static str,
    /// Key of the field.
    pub(crate) key: &'static str,
    /// What is chosen.
    pub(crate) label: &'static str,
    /// What there is to choose.
    pub(crate) all: &'static [Kind],
    /// The kind in force.
    pub(crate) current: fn(&Scenario) -> &'static str,
    /// Whether the number of the setting outlives a change of kind.
    keeps_number: bool,
}

/// One kind.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Its value in the choice.
    pub(crate) value: &'static str,
    /// What it is called.
    pub(crate) name: &'static str,
    /// What the setting is when it is chosen for the first time, as links write it.
    first: fn(&Scenario) -> String,
}

const fn kind(value: &'static str, name: &'static str, first: fn(&Scenario) -> String) -> Kind {
    Kind { value, name, first }
}

impl Kinds {
    /// What the setting becomes when a kind is chosen for the first time.
    pub(crate) fn first(&self, scenario: &Scenario, value: &str) -> Option<String> {
        let kind = self.all.iter().find(|kind| kind.value == value)?;
        Some((kind.first)(scenario))
    }

    /// What the kind in force is called.
    pub(crate) fn name(&self, scenario: &Scenario) -> &'static str {
        let current = (self.current)(scenario);
        self.all.iter().find(|kind| kind.value == current).map_or("", |kind| kind.name)
    }

    /// Whether it is not as it is when nobody changed it.
    pub(crate) fn is_changed(&self, scenario: &Scenario) -> bool {
        (self.current)(scenario) != (self.current)(&Scenario::preset())
    }

    /// Chooses a kind; `before` is what the setting was when it was last of that kind.
    pub(crate) fn put(
        &self,
        scenario: &mut Scenario,
        value: &str,
        before: Option<&str>,
    ) -> Result<Vec<Notice>, Notice> {
        let number = scenario.number(self.key).filter(|_| self.keeps_number);
        let text = before.map(str::to_owned).or_else(|| self.first(scenario, value));
        let said = scenario.set(self.key, &text.unwrap_or_default())?;
        if let (Some(number), Some(_)) = (number, before) {
            scenario.set_number(self.key, number)?;
        }
        Ok(said)
    }
}

pub(crate) static ARRIVALS: Kinds = Kinds {
    id: "pattern",
    key: "arrivals",
    label: strings::PATTERN,
    all: &[
        kind("poisson", strings::PATTERN_POISSON, |_| "poisson".to_owned()),
        kind("bursty", strings::PATTERN_BURSTY, |_| "gamma(0.5)".to_owned()),
        kind("even", strings::PATTERN_EVEN, |_| "even".to_owned()),
        kind("onoff", strings::PATTERN_ON_OFF, |_| "onoff(20s,60s,0.1)".to_owned()),
        // As many as would come to the rate if their answers took no time.
        kind("closed", strings::PATTERN_CLOSED, |s| {
            ["closed(", &plain(number(s, "rate").round() * 10.0, 0), ",10s)"].concat()
        }),
    ],
    current: |scenario| match (scenario.bursts, scenario.arrivals) {
        _ if scenario.closed.is_some() => "closed",
        (Some(_), _) => "onoff",
        (None, ArrivalProcess::Poisson) => "poisson",
        (None, ArrivalProcess::Gamma { .. }) => "bursty",
        (None, ArrivalProcess::Even) => "even",
    },
    keeps_number: false,
};

pub(crate) static PROFILE: Kinds = Kinds {
    id: "profile",
    key: "profile",
    label: strings::PROFILE,
    all: &[
        kind("constant", strings::PROFILE_CONSTANT, |_| "constant".to_owned()),
        kind("step", strings::PROFILE_STEP, |_| "step(60s,2)".to_owned()),
        kind("ramp", strings::PROFILE_RAMP, |_| "ramp(60s,600s,2)".to_owned()),
        kind("spike", strings::PROFILE_SPIKE, |_| "spike(60s,30s,2)".to_owned()),
        kind("daily", strings::PROFILE_DAILY, |_| "daily(0.3)".to_owned()),
        kind("hours", strings::PROFILE_HOURS, |_| {
            // An office's day, quiet at night.
            "daily(0.2,0.2,0.2,0.2,0.2,0.2,0.3,0.5,0.8,1,1,1,0.9,1,1,1,0.9,0.8,0.6,0.5,0.4,0.3,0.3,0.2)"
                .to_owned()
        }),
        kind("points", strings::PROFILE_POINTS, |_| "points(0s:1,600s:2)".to_owned()),
    ],
    current: |scenario| match scenario.profile {
        Profile::Constant => "constant",
        Profile::Step { .. } => "step",
        Profile::Ramp { .. } => "ramp",
        Profile::Spike { .. } => "spike",
        Profile::Day { .. } => "daily",
        Profile::Hours { .. } => "hours",
        Profile::Points { .. } => "points",
    },
    keeps_number: false,
};

const fn length_kind(length: &LengthSpec) -> &'static str {
    match length {
        LengthSpec::Fixed { .. } => "fixed",
        LengthSpec::Uniform { .. } => "uniform",
        LengthSpec::LogNormal { .. } => "lognormal",
        LengthSpec::Empirical(_) => "quantiles",
    }
}

/// Half of a length to one and a half times it.
fn uniform(scenario: &Scenario, key: &str) -> String {
    let tokens = number(scenario, key);
    call("uniform", [(tokens / 2.0).ceil(), (tokens * 1.5).floor()])
}

/// As what chats measure: a long tail above the median.
fn quantiles(scenario: &Scenario, key: &str) -> String {
    let tokens = number(scenario, key);
    let at = |factor: f64| plain((tokens * factor).ceil(), 0);
    let parts = ["0:", &at(0.05), ",50:", &at(1.0), ",90:", &at(3.0), ",99:", &at(8.0)].concat();
    ["quantiles(", &parts, ",100:", &at(12.0), ")"].concat()
}

/// The kinds of prompts, or of answers.
macro_rules! length_kinds {
    ($id:literal, $key:literal, $label:expr, $length:ident) => {
        Kinds {
            id: $id,
            key: $key,
            label: $label,
            all: &[
                kind("fixed", strings::FIXED, |s| plain(number(s, $key), 0)),
                kind("uniform", strings::UNIFORM, |s| uniform(s, $key)),
                kind("lognormal", strings::LOGNORMAL, |s| {
                    call("lognormal", [number(s, $key), 0.5])
                }),
                kind("quantiles", strings::QUANTILES, |s| quantiles(s, $key)),
            ],
            current: |scenario| length_kind(&scenario.$length),
            keeps_number: true,
        }
    };
}

pub(crate) static IN_LENGTHS: Kinds =
    length_kinds!("in-lengths", "in", strings::PROMPT_LENGTHS, input);
pub(crate) static OUT_LENGTHS: Kinds =
    length_kinds!("out-lengths", "out", strings::ANSWER_LENGTHS, output);

pub(crate) static RULES: Kinds = Kinds {
    id: "rules",
    key: "sched.rules",
    label: strings::BATCHING,
    all: &[
        kind("reference", strings::RULES_REFERENCE, |_| "reference".to_owned()),
        kind("vllm-0.33", strings::RULES_VLLM, |_| "vllm-0.33".to_owned()),
        kind("vllm-0.11", strings::RULES_VLLM_OLD, |_| "vllm-0.11".to_owned()),
        kind("static", strings::RULES_STATIC, |_| "static".to_owned()),
        kind("dynamic", strings::RULES_DYNAMIC, |_| "dynamic(20ms)".to_owned()),
        kind("sequential", strings::RULES_SEQUENTIAL, |_| "sequential".to_owned()),
    ],
    current: |scenario| match scenario.rules {
        SchedRules::Reference => "reference",
        SchedRules::Vllm { old: false } => "vllm-0.33",
        SchedRules::Vllm { old: true } => "vllm-0.11",
        SchedRules::Static => "static",
        SchedRules::Dynamic { .. } => "dynamic",
        SchedRules::Sequential => "sequential",
    },
    keeps_number: false,
};

/// The number of a field that a kind begins with.
fn number(scenario: &Scenario, key: &str) -> f64 {
    let least = field(key).map_or(0.0, |field| field.min);
    scenario.number(key).map_or(least, f64::round)
}
