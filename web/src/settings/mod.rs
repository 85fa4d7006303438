//! The numbers that have a control, and how each is read, written, stepped and spoken.
//!
//! Ranges, snapping and steps come from the scenario's one table of fields. What is only a part of a
//! field (the spread of a length, the length of a burst) has its own reading and slider in [`piece`].

mod classes;
mod fleet;
mod kinds;
mod lengths;
mod piece;
mod sessions;

use quantity::Unit;
use scenario::{
    Direction, Field, Notice, NoticeKind, Scenario, Slider, Snap, Step, StepSizes, field,
};

use crate::strings;

pub(crate) use classes::{
    ClassPart, add_class, caches_prefixes, class_part, loses_patience, put_class_part,
    remove_class, rename_class, shares_taken,
};
pub(crate) use fleet::{
    FLEET_DURATION, FLEET_FAULT_AT, FLEET_INITIAL, FLEET_MAX, FLEET_MIN, FLEET_SCALE_DOWN,
    FLEET_START, FLEET_TARGET,
};
pub(crate) use kinds::{ARRIVALS, IN_LENGTHS, Kinds, OUT_LENGTHS, PROFILE, RULES};
pub(crate) use lengths::{IN, OUT};
pub(crate) use piece::{
    BURST, BURSTINESS, DELAY, HOURS, LULL, LULL_SHARE, PEAK_HOUR, POINTS, PROFILE_AT,
    PROFILE_FACTOR, PROFILE_LENGTH, PROFILE_TO, THINK, TROUGH, USERS, closed,
};
pub(crate) use sessions::{TURN_THINK, TURNS};

/// Which part of a field a control moves.
#[derive(Debug)]
enum Part {
    /// The number itself.
    Value,
    /// A number within it, such as the length of a burst.
    Piece(Piece),
    /// The list within its parentheses, such as the points of a profile.
    List(List),
}

/// A number within a setting.
#[derive(Debug)]
struct Piece {
    help: &'static str,
    unit: &'static str,
    quantity: Unit,
    slider: Option<Slider>,
    /// What it begins with; none where that depends on the rest.
    first: Option<f64>,
    /// What it is now, if the setting has it.
    read: fn(&Scenario) -> Option<f64>,
    /// The whole setting with another number, as links write it.
    write: fn(&Scenario, f64) -> String,
}

/// A list within a setting.
#[derive(Debug)]
struct List {
    help: &'static str,
    /// Name before the parentheses.
    name: &'static str,
    /// Whether the setting is such a list now.
    is_there: fn(&Scenario) -> bool,
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
pub(crate) static CACHE: Dial = dial("kv", "kv.capacity_tokens", "tokens");
pub(crate) static PREFIX: Dial = dial("prefix", "prefix", "tokens");
pub(crate) static LONG_PREFILL: Dial =
    dial("long-prefill", "sched.long_prefill_token_threshold", "tokens");
pub(crate) static WATERMARK: Dial = dial("watermark", "sched.watermark", "percent");
pub(crate) static DRAFTED: Dial = dial("drafted", "spec.tokens", "tokens");
/// Dials of speculative decoding that are there once something is drafted.
pub(crate) static DRAFT_DETAILS: [Dial; 2] = [
    dial("acceptance", "spec.acceptance", "percent"),
    dial("draft-cost", "spec.draft_cost", "percent"),
];
/// Dials of prefill and decode pools, and those that are there once there are both.
pub(crate) static POOLS: [Dial; 2] = [
    dial("pool-prefill", "disagg.prefill", "replicas"),
    dial("pool-decode", "disagg.decode", "replicas"),
];
pub(crate) static POOL_DETAILS: [Dial; 2] = [
    dial("kv-link", "disagg.link_gbps", "gigabits per second"),
    dial("kv-latency", "disagg.latency", "milliseconds"),
];
pub(crate) static QUEUE_LIMIT: Dial = dial("queue-limit", "overload.queue_limit", "requests");
pub(crate) static DEADLINE: Dial = dial("deadline", "overload.deadline", "seconds");
pub(crate) static PATIENCE: Dial = dial("patience", "clients.patience", "seconds");
pub(crate) static PATIENCE_DETAILS: [Dial; 1] =
    [dial("patience-sigma", "clients.patience_sigma", "")];
pub(crate) static RETRIES: Dial = dial("retries", "clients.retries", "");
/// Dials of overload and clients that are there once something follows from them, by the setting
/// that they come after.
pub(crate) static LINE_DETAILS: [Dial; 3] = [
    dial("codel-target", "overload.codel_target", "seconds"),
    dial("codel-interval", "overload.codel_interval", "seconds"),
    dial("rejection-cost", "overload.rejection_cost", "seconds"),
];
pub(crate) static RETRY_DETAILS: [Dial; 4] = [
    dial("backoff", "clients.backoff", "seconds"),
    dial("backoff-cap", "clients.backoff_cap", "seconds"),
    dial("retry-budget", "clients.retry_budget", "percent"),
    dial("retry-after", "overload.retry_after", "seconds"),
];
pub(crate) static THROTTLE_DETAILS: [Dial; 2] = [
    dial("throttle-k", "clients.throttle_k", ""),
    dial("throttle-window", "clients.throttle_window", "seconds"),
];
/// How many GPUs an engine may be spread over.
pub(crate) const GPUS_PER_ENGINE: [&str; 5] = ["1", "2", "4", "8", "16"];
pub(crate) static BLOCKS: Dial = dial("blocks", "kv.num_gpu_blocks", "blocks");
pub(crate) static EFFICIENCY: Dial = dial("mfu", "step.mfu", "");
pub(crate) static OVERHEAD: Dial = dial("overhead", "step.overhead_s", "seconds");
pub(crate) static REQUESTS: Dial = dial("requests", "sim.requests", "requests");
pub(crate) static RUNS: Dial = dial("runs", "sim.replications", "runs");
pub(crate) static SEED: Dial = dial("seed", "seed", "");

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
        match &self.part {
            Part::Value => self.field().map_or("", |field| field.help),
            Part::Piece(piece) => piece.help,
            Part::List(list) => list.help,
        }
    }

    /// The unit beside the number.
    pub(crate) fn unit(&self) -> &'static str {
        match &self.part {
            Part::Value => self.field().map_or("", |field| field.unit),
            Part::Piece(piece) => piece.unit,
            Part::List(_) => "",
        }
    }

    /// Whether it is a text rather than a number.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.part, Part::List(_))
    }

    /// Whether a number may be said with a spread: `lognormal(512,0.9)`.
    pub(crate) fn takes_words(&self) -> bool {
        matches!(self.part, Part::Value) && matches!(self.key, "in" | "out")
    }

    /// The unit in which a bare number is read.
    fn quantity(&self) -> Option<Unit> {
        match &self.part {
            Part::Value => self.field().filter(|field| field.is_number()).map(|f| f.quantity),
            Part::Piece(piece) => Some(piece.quantity),
            Part::List(_) => None,
        }
    }

    /// Whether the catalogue decides while nobody says anything else.
    pub(crate) fn is_optional(&self) -> bool {
        matches!(self.part, Part::Value) && self.field().is_some_and(Field::is_optional)
    }

    /// The slider, where there is one.
    pub(crate) fn slider(&self) -> Option<Slider> {
        match &self.part {
            Part::Value => self.field().and_then(|field| field.slider),
            Part::Piece(piece) => piece.slider,
            Part::List(_) => None,
        }
    }

    /// The value in force, in the unit beside the number; none where the catalogue decides, or where
    /// the setting has no such part.
    pub(crate) fn value(&self, scenario: &Scenario) -> Option<f64> {
        match &self.part {
            Part::Value => scenario.number(self.key),
            Part::Piece(piece) => (piece.read)(scenario),
            Part::List(_) => None,
        }
    }

    /// The number as a field shows it, every digit of it.
    pub(crate) fn text(&self, scenario: &Scenario) -> Option<String> {
        match &self.part {
            Part::List(list) => {
                let written = scenario.get(self.key).filter(|_| (list.is_there)(scenario))?;
                let (_, inside) = written.split_once('(')?;
                Some(inside.trim_end_matches(')').replace(',', ", "))
            }
            // Beyond 2⁵³ a seed has digits that a float would lose.
            Part::Value if self.slider().is_none() => {
                let value = self.value(scenario)?;
                let written = scenario.get(self.key)?;
                let is_none =
                    value == 0.0 && self.field().is_some_and(|field| field.none.is_some());
                let number = written.trim_end_matches(char::is_alphabetic);
                Some(if is_none { written } else { number.to_owned() })
            }
            _ => self.value(scenario).map(quantity::editable),
        }
    }

    /// What the value is when nobody changed it.
    pub(crate) fn default_value(&self) -> Option<f64> {
        match &self.part {
            Part::Piece(piece) => piece.first,
            _ => self.value(&Scenario::preset()),
        }
    }

    /// Whether somebody changed it.
    pub(crate) fn is_changed(&self, scenario: &Scenario) -> bool {
        match &self.part {
            Part::Value => self.value(scenario) != self.default_value(),
            Part::Piece(piece) => piece.first.is_some() && self.value(scenario) != piece.first,
            Part::List(_) => false,
        }
    }

    /// Sets it to a number.
    pub(crate) fn put(&self, scenario: &mut Scenario, value: f64) -> Result<Vec<Notice>, Notice> {
        match &self.part {
            Part::Value | Part::List(_) => scenario.set_number(self.key, value),
            Part::Piece(piece) => scenario.set(self.key, &(piece.write)(scenario, value)),
        }
    }

    /// Sets it to what a person typed.
    pub(crate) fn type_in(
        &self,
        scenario: &mut Scenario,
        text: &str,
    ) -> Result<Vec<Notice>, Notice> {
        // Nothing here can be less than nothing: a slip of the finger, of which no other number is
        // to be guessed.
        if self.quantity().is_some_and(|unit| strings::is_negative(text, unit)) {
            return Err(self.refusal(scenario, text, &strings::negative(text)));
        }
        match &self.part {
            Part::Piece(piece) => match quantity::parse(text, piece.quantity) {
                Ok(value) => self.put(scenario, value),
                Err(problem) => Err(self.refusal(scenario, text, &problem.to_string())),
            },
            Part::List(list) if !text.contains('(') => {
                scenario.set(self.key, &format!("{}({text})", list.name))
            }
            _ if self.takes_words() => self.type_length(scenario, text),
            _ if text.trim().is_empty() && self.is_optional() => scenario.set(self.key, AUTO),
            _ => scenario.set(self.key, text),
        }
    }

    /// Sets a length; a bare number keeps the spread that is in force.
    fn type_length(&self, scenario: &mut Scenario, text: &str) -> Result<Vec<Notice>, Notice> {
        let mut plain = scenario.clone();
        let mut said = plain.set(self.key, text)?;
        let is_number = quantity::parse(text, Unit::Tokens).is_ok();
        let Some(tokens) = self.value(&plain).filter(|_| is_number) else {
            *scenario = plain;
            return Ok(said);
        };
        said.extend(self.put(scenario, tokens)?);
        // Bounds at the end of their range, or rounded, may keep the spread from it.
        let now = self.value(scenario).unwrap_or(tokens);
        if said.is_empty() && (now - tokens).abs() > 1.0 {
            let message = strings::nearest_with_spread(tokens, now);
            let (key, value) = (self.key.to_owned(), text.to_owned());
            said.push(Notice { key, value, kind: NoticeKind::Clamped, message });
        }
        Ok(said)
    }

    /// The notice about what is no such number: field, value and remedy.
    fn refusal(&self, scenario: &Scenario, text: &str, problem: &str) -> Notice {
        let shown = |value: f64| strings::with_unit(&quantity::editable(value), self.unit());
        let now = self.value(scenario);
        let message = strings::refused_number(
            problem,
            self.label(),
            &self.default_value().or(now).map(shown).unwrap_or_default(),
            &now.map(shown).unwrap_or_default(),
        );
        let (key, value) = (self.key.to_owned(), text.to_owned());
        Notice { key, value, kind: NoticeKind::Invalid, message }
    }

    /// Sets it to what it is when nobody changed it.
    pub(crate) fn reset(&self, scenario: &mut Scenario) {
        // Defaults are always in range, and optional fields know this word.
        let _ = match self.default_value() {
            Some(value) => self.put(scenario, value),
            None if self.is_optional() => scenario.set(self.key, AUTO),
            None => Ok(Vec::new()),
        };
    }

    /// The value after a key press.
    pub(crate) fn stepped(&self, value: f64, step: Step, direction: Direction) -> f64 {
        match (&self.part, self.field()) {
            (Part::Value, Some(field)) => field.stepped(value, step, direction),
            _ => self.slider().map_or(value, |slider| stepped(&slider, value, step, direction)),
        }
    }
}

/// The word that gives a setting back to the catalogue.
pub(crate) const AUTO: &str = "auto";

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
    let rounded = match slider.snap {
        // Whole things are told without decimals, and move by at least one.
        Snap::Octaves(_) if direction == Direction::Up => moved.ceil(),
        Snap::Octaves(_) => moved.floor(),
        // Two decimals are as fine as all others are ever told.
        _ => (moved * 100.0).round() / 100.0,
    };
    if rounded < slider.min {
        slider.min
    } else if rounded > slider.max {
        slider.max
    } else {
        rounded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: [&Dial; 30] = [
        &RATE,
        &PROMPT,
        &ANSWER,
        &TTFT,
        &TPOT,
        &HEADROOM,
        &BUDGET,
        &SEQUENCES,
        &CACHE,
        &EFFICIENCY,
        &OVERHEAD,
        &REQUESTS,
        &RUNS,
        &SEED,
        &QUEUE_LIMIT,
        &DEADLINE,
        &PATIENCE,
        &PATIENCE_DETAILS[0],
        &RETRIES,
        &LINE_DETAILS[0],
        &LINE_DETAILS[1],
        &LINE_DETAILS[2],
        &RETRY_DETAILS[0],
        &RETRY_DETAILS[1],
        &RETRY_DETAILS[2],
        &RETRY_DETAILS[3],
        &THROTTLE_DETAILS[0],
        &THROTTLE_DETAILS[1],
        &TURNS,
        &TURN_THINK,
    ];

    /// A kind of a setting, and the dials that it has.
    const WITHIN: [(&Kinds, &str, &[&Dial]); 15] = [
        (&ARRIVALS, "closed", &[&USERS, &THINK]),
        (&ARRIVALS, "bursty", &[&BURSTINESS]),
        (&ARRIVALS, "onoff", &[&BURST, &LULL, &LULL_SHARE]),
        (&PROFILE, "step", &[&PROFILE_AT, &PROFILE_FACTOR]),
        (&PROFILE, "ramp", &[&PROFILE_AT, &PROFILE_TO, &PROFILE_FACTOR]),
        (&PROFILE, "spike", &[&PROFILE_AT, &PROFILE_LENGTH, &PROFILE_FACTOR]),
        (&PROFILE, "daily", &[&TROUGH, &PEAK_HOUR]),
        (&PROFILE, "points", &[&POINTS]),
        (&IN_LENGTHS, "uniform", &[&IN.least, &IN.most]),
        (&IN_LENGTHS, "lognormal", &[&IN.sigma, &IN.shortest, &IN.longest]),
        (&IN_LENGTHS, "quantiles", &[&IN.quantiles]),
        (&OUT_LENGTHS, "uniform", &[&OUT.least, &OUT.most]),
        (&OUT_LENGTHS, "lognormal", &[&OUT.sigma, &OUT.shortest, &OUT.longest]),
        (&OUT_LENGTHS, "quantiles", &[&OUT.quantiles]),
        (&RULES, "dynamic", &[&DELAY]),
    ];

    fn named(dial: &Dial) {
        assert!(dial.field().is_some(), "{}", dial.id);
        assert!(!dial.label().is_empty(), "{}", dial.id);
        assert!(!dial.help().is_empty(), "{}", dial.id);
    }

    #[test]
    fn a_reset_undoes_a_change() {
        for dial in PLAIN {
            named(dial);
            let mut scenario = Scenario::preset();
            let Some(slider) = dial.slider() else { continue };
            dial.put(&mut scenario, slider.max).unwrap();
            assert_eq!(dial.value(&scenario), Some(slider.max), "{}", dial.id);
            dial.reset(&mut scenario);
            assert_eq!(dial.value(&scenario), dial.default_value(), "{}", dial.id);
        }
    }

    #[test]
    fn each_kind_has_its_numbers_and_keeps_them_in_its_link() {
        for (kinds, value, dials) in WITHIN {
            let mut scenario = Scenario::preset();
            let first = kinds.first(&scenario, value).expect(value);
            assert_eq!(scenario.set(kinds.key, &first), Ok(Vec::new()), "{first}");
            assert_eq!((kinds.current)(&scenario), value);
            for dial in dials {
                named(dial);
                let text = dial.text(&scenario).expect(dial.id);
                let before = scenario.clone();
                assert_eq!(dial.type_in(&mut scenario, &text), Ok(Vec::new()), "{}", dial.id);
                assert_eq!(scenario, before, "{} shows {text}", dial.id);
                let Some(slider) = dial.slider() else { continue };
                for end in [slider.max, slider.min] {
                    assert_eq!(dial.put(&mut scenario, end), Ok(Vec::new()), "{} {end}", dial.id);
                    let now = dial.value(&scenario).expect(dial.id);
                    assert!((now - end).abs() < 1e-9, "{}: {now} for {end}", dial.id);
                    assert_eq!((kinds.current)(&scenario), value, "{} at {end}", dial.id);
                }
                scenario = before;
            }
            assert_eq!(Scenario::from_link(&scenario.to_link()).scenario, scenario);
        }
    }

    /// What a person types is in force, or something is said of it.
    #[test]
    fn no_number_is_changed_in_silence() {
        const TYPED: [(&str, f64); 8] = [
            ("-5", -5.0),
            ("-0.2", -0.2),
            ("0", 0.0),
            ("0.4", 0.4),
            ("10.5", 10.5),
            ("700", 700.0),
            ("9e6", 9e6),
            ("1e14", 1e14),
        ];
        let plain = PLAIN.into_iter().chain([&PREFIX, &LONG_PREFILL, &WATERMARK]);
        let mut dials: Vec<(Scenario, &Dial)> =
            plain.map(|dial| (Scenario::preset(), dial)).collect();
        for (kinds, value, within) in WITHIN {
            let mut scenario = Scenario::preset();
            let first = kinds.first(&scenario, value).expect(value);
            scenario.set(kinds.key, &first).expect(value);
            let length = [&PROMPT, &ANSWER].into_iter().find(|dial| dial.key == kinds.key);
            let numbers = within.iter().copied().chain(length).filter(|dial| !dial.is_text());
            dials.extend(numbers.map(|dial| (scenario.clone(), dial)));
        }
        for (before, dial) in dials {
            for (text, typed) in TYPED {
                let mut scenario = before.clone();
                let said = dial.type_in(&mut scenario, text);
                let now = dial.value(&scenario);
                // A bare number up to one is a share and one above it is per cent, wherever either
                // is meant; the median of a spread is whole.
                let is_taken = now.is_some_and(|now| {
                    let as_share = match dial.quantity() {
                        Some(Unit::Percent) => (now - 100.0 * typed).abs() < 1e-6,
                        Some(Unit::Share) => (100.0 * now - typed).abs() < 1e-6,
                        _ => false,
                    };
                    let slack = if dial.takes_words() { 1.0 } else { 1e-9 * typed.abs() };
                    (now - typed).abs() <= slack || as_share
                });
                let is_told = said.as_ref().is_ok_and(|said| !said.is_empty());
                assert!(
                    is_taken || is_told || said.is_err(),
                    "{text} in {} of {} becomes {now:?}",
                    dial.id,
                    before.to_link()
                );
                if typed < 0.0 {
                    let notice = said.expect_err("a negative number");
                    assert_eq!(scenario, before, "{}", dial.id);
                    for part in [text, dial.label(), "Still using"] {
                        assert!(notice.message.contains(part), "{}", notice.message);
                    }
                }
            }
        }
    }

    #[test]
    fn a_negative_prompt_is_refused_with_an_example() {
        let mut scenario = Scenario::preset();
        let notice = PROMPT.type_in(&mut scenario, " -5 ").expect_err("negative");
        assert_eq!(
            notice.message,
            "“-5” is less than 0. For “Prompt” give for example 1,024\u{202f}tokens. Still using \
             1,024\u{202f}tokens."
        );
        assert_eq!(notice.kind, NoticeKind::Invalid);
        assert_eq!(PROMPT.type_in(&mut scenario, "10.6").map(|said| said.len()), Ok(1));
        assert_eq!(PROMPT.value(&scenario), Some(11.0));
    }

    #[test]
    fn a_bare_number_keeps_the_spread() {
        let mut scenario = Scenario::preset();
        scenario.set("in", "uniform(100,300)").unwrap();
        assert_eq!(PROMPT.type_in(&mut scenario, "1000"), Ok(Vec::new()));
        assert_eq!(scenario.get("in").as_deref(), Some("uniform(500,1500)"));
        // Whose bounds end where lengths do.
        let said = PROMPT.type_in(&mut scenario, "9000000").expect("a length");
        assert!(said[0].message.contains("9,000,000"), "{said:?}");
        scenario.set("in", "uniform(0,0)").unwrap();
        assert_eq!(PROMPT.type_in(&mut scenario, "20"), Ok(Vec::new()));
        assert_eq!(scenario.get("in").as_deref(), Some("uniform(20,20)"));
    }

    #[test]
    fn what_is_no_number_names_field_value_and_remedy() {
        let mut scenario = Scenario::preset();
        scenario.set("arrivals", "onoff(20s,60s,0.1)").unwrap();
        let notice = BURST.type_in(&mut scenario, "soon").expect_err("no time");
        for part in ["“soon”", "Burst", "20\u{202f}s"] {
            assert!(notice.message.contains(part), "{}", notice.message);
        }
        // What is out of range is moved into it, and said.
        let notices = LULL_SHARE.type_in(&mut scenario, "300").expect("a share");
        assert_eq!(notices.len(), 1);
        assert_eq!(LULL_SHARE.value(&scenario), Some(100.0));
    }

    #[test]
    fn a_typed_length_keeps_its_spread() {
        let mut scenario = Scenario::preset();
        scenario.set("in", "lognormal(1024,0.5)").unwrap();
        PROMPT.type_in(&mut scenario, "1.5k").unwrap();
        assert_eq!(PROMPT.value(&scenario), Some(1500.0));
        assert_eq!(IN.sigma.value(&scenario), Some(0.5));
        scenario.set("in", "quantiles(0:10,50:100,100:1000)").unwrap();
        PROMPT.put(&mut scenario, 200.0).unwrap();
        assert_eq!(scenario.get("in").as_deref(), Some("quantiles(0:20,50:200,100:2000)"));
    }

    #[test]
    fn an_empty_field_gives_a_setting_back_to_the_catalogue() {
        let mut scenario = Scenario::preset();
        CACHE.type_in(&mut scenario, "50k").unwrap();
        assert_eq!(CACHE.text(&scenario).as_deref(), Some("50000"));
        CACHE.type_in(&mut scenario, " ").unwrap();
        assert_eq!(scenario, Scenario::preset());
        assert!(RATE.type_in(&mut scenario, "").is_err());
    }
}
