//! What the answer card shows: a pure function of scenario, answer and activity, so that each of
//! its states can be told, tested and compared without a page.

use planner::{FleetSize, LoadPoint, PlanAnswer, Remedy, Verdict};
use quantity::{NARROW_SPACE, about, count, duration, whole_percent};
use report::{Status, Telling};
use scenario::{ResolveError, Scenario, SchedRules};

use crate::{
    icons::Icon,
    state::{Activity, Answered, Resolution},
    strings,
};

/// How many changes are offered at most.
pub(crate) const MOST_CHANGES: usize = 3;

/// Characters beyond which a headline takes two lines beside a number of three digits.
const LONG_HEADLINE: usize = 18;
/// The same beside a number of one digit.
const LONGEST_HEADLINE: usize = 24;

/// Words and numbers of the card, in the places of its frame.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Card {
    /// The number, or one word for why there is none.
    pub(crate) hero: String,
    /// How large the number may be.
    pub(crate) size: Size,
    /// Whether the number is of an older scenario.
    pub(crate) is_stale: bool,
    /// What the number counts, on one line or on two.
    pub(crate) headline: String,
    /// What it holds for.
    pub(crate) qualifier: String,
    /// The same where there is little room.
    pub(crate) qualifier_short: String,
    /// What one can do about the qualifying line.
    pub(crate) offers_simulation: bool,
    /// State in an icon and a word.
    pub(crate) pill: Pill,
    /// What stands beneath.
    pub(crate) beneath: Beneath,
    /// What stands to the right.
    pub(crate) right: Right,
}

/// How large the number may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// One or two digits.
    Number,
    /// Some more.
    Wide,
    /// So many that the headline takes two lines.
    Wider,
    /// Many.
    Widest,
    /// Words.
    Words,
}

/// State in an icon and a word.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pill {
    /// Name of the colour.
    pub(crate) tone: &'static str,
    /// The icon, unless it is a progress.
    pub(crate) icon: Option<Icon>,
    /// The word.
    pub(crate) text: String,
}

/// What stands beneath the headline.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Beneath {
    /// Load and room.
    Gauge(Gauge),
    /// A paragraph; `run_longer` ends it with that offer.
    Paragraph { text: String, run_longer: bool },
}

/// Load and room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gauge {
    /// GPUs.
    pub(crate) gpus: u64,
    /// Asked rate, per second.
    pub(crate) asked_per_s: f64,
    /// What one GPU holds, per second.
    pub(crate) each_per_s: f64,
    /// Whether that is the closed form's.
    pub(crate) is_estimate: bool,
}

/// What stands to the right.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Right {
    /// The four facts, of the present scenario; what is not known of it yet is absent.
    Facts(Box<[Fact; 4]>),
    /// Changes that work, no more than [`MOST_CHANGES`].
    Remedies(Vec<Remedy>),
    /// What to do about a worker that died; `waits` if nothing happens by itself.
    Restart { message: String, note: &'static str },
}

/// One fact: a label, and two values with a line each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fact {
    /// What it is about.
    pub(crate) label: &'static str,
    /// First value.
    pub(crate) value: String,
    /// Its line, and a shorter one for where there is little room.
    pub(crate) line: (String, String),
    /// Second value.
    pub(crate) second: String,
    /// Its line, again with a shorter one.
    pub(crate) second_line: (String, String),
}

impl Fact {
    /// The same from one run: what was measured is about right. How many requests fit is computed,
    /// and what limits a step is a word.
    fn about(self) -> Self {
        let marked = |text: String| {
            let is_figure = text.starts_with(|c: char| c.is_ascii_digit());
            if is_figure { about(&text) } else { text }
        };
        let is_computed = self.label == strings::KV_CACHE;
        Self {
            value: marked(self.value),
            line: (marked(self.line.0), marked(self.line.1)),
            second: if is_computed { self.second } else { marked(self.second) },
            ..self
        }
    }
}

impl Card {
    /// Whether the headline needs two lines even beside a single digit.
    pub(crate) fn has_long_headline(&self) -> bool {
        self.headline.chars().count() > LONGEST_HEADLINE
    }

    /// Why there is no number, in a word. The number of an older scenario is none.
    pub(crate) fn word(&self) -> &str {
        if self.size == Size::Words { &self.hero } else { strings::NO_ANSWER }
    }

    /// Why there is no number, in a sentence; empty if there is one.
    pub(crate) fn reason(&self) -> &str {
        match &self.beneath {
            Beneath::Paragraph { text, .. } => text,
            Beneath::Gauge(_) => "",
        }
    }

    /// The first of the changes that work, by name; none where all that is known lets the scenario
    /// run and still misses the target.
    pub(crate) fn first_change(&self) -> Option<String> {
        match &self.right {
            Right::Remedies(changes) => {
                changes.first().filter(|change| change.meets_target).map(change_name)
            }
            _ => None,
        }
    }
}

/// The setting of a change and its new value, as a person calls them.
pub(crate) fn change_name(change: &Remedy) -> String {
    let names: Vec<String> =
        change.changes().map(|(key, value)| strings::remedy(key, value)).collect();
    names.join(" and ")
}

/// The card for what is known now. A quick run is one of a drag.
pub(crate) fn card(
    resolution: &Resolution,
    answered: Option<&Answered>,
    now: &Activity,
    is_quick: bool,
) -> Card {
    match now {
        Activity::Stopped { message, waits } => {
            let note = if *waits { strings::STOPPED_TWICE } else { strings::RESTARTING };
            return stopped(resolution, answered, message, note);
        }
        Activity::NotLoaded => {
            return stopped(resolution, answered, strings::NOT_LOADED, strings::NOT_LOADED_NOTE);
        }
        _ => {}
    }
    if let Err(error) = resolution.outcome.as_ref() {
        return refused(&resolution.scenario, error);
    }
    match (now, answered) {
        (Activity::Refused(message), _) => unanswered(message),
        (_, Some(answered)) if answered.scenario == resolution.scenario => {
            of_answer(answered, now, is_quick)
        }
        _ => waiting(resolution, now, is_quick),
    }
}

/// An answer in words; of the first runs it is not known yet how sure they are.
pub(crate) fn told(answered: &Answered) -> Telling {
    let Answered { scenario, answer, complete, .. } = answered;
    if *complete { report::tell(answer, scenario) } else { report::tell_so_far(answer, scenario) }
}

fn of_answer(answered: &Answered, now: &Activity, is_quick: bool) -> Card {
    let telling = told(answered);
    match &answered.answer.verdict {
        Verdict::Sized(fleet) => {
            let card = sized(answered, fleet, telling);
            if answered.complete { card } else { so_far(card, now, is_quick) }
        }
        _ => no_answer(&telling),
    }
}

/// Beside a wider number there is room for fewer words on one line.
fn size_beside(hero: &str, headline: &str) -> Size {
    match size_of(hero) {
        Size::Wide if headline.chars().count() > LONG_HEADLINE => Size::Wider,
        size => size,
    }
}

fn sized(answered: &Answered, fleet: &FleetSize, telling: Telling) -> Card {
    let carried_per_s = fleet.carried_per_s;
    let gauge = gauge(fleet.with_headroom, &answered.answer, carried_per_s, !answered.complete);
    Card {
        size: size_beside(&telling.hero, &telling.headline),
        is_stale: false,
        headline: telling.broken_headline(),
        offers_simulation: false,
        pill: pill_of(telling.status),
        hero: telling.hero,
        qualifier: telling.line,
        qualifier_short: telling.line_short,
        beneath: match telling.close_call {
            Some(text) => Beneath::Paragraph { text: text + " ", run_longer: true },
            None => Beneath::Gauge(gauge),
        },
        right: Right::Facts(Box::new(facts(answered, fleet))),
    }
}

/// The card of the first of several runs: one short run says about how many, and no verdict.
fn so_far(card: Card, now: &Activity, is_quick: bool) -> Card {
    let hero = about(&card.hero);
    let card = Card { size: size_beside(&hero, &card.headline), hero, ..card };
    match now {
        Activity::Running(done, total) => Card { pill: run_pill(*done, *total, is_quick), ..card },
        Activity::Cancelled => Card {
            pill: no_pill(),
            qualifier: strings::ONE_RUN_LINE.to_owned(),
            qualifier_short: strings::ONE_RUN_LINE.to_owned(),
            offers_simulation: true,
            ..card
        },
        _ => Card { pill: run_pill(0, 0, true), ..card },
    }
}

fn pill_of(status: Status) -> Pill {
    let (tone, icon) = match status {
        Status::Stable => ("ok", Icon::Tick),
        Status::CloseCall => ("warn", Icon::Warning),
        Status::Withheld => ("held", Icon::Warning),
        Status::NoAnswer => ("bad", Icon::Cross),
    };
    pill(tone, icon, status.label())
}

/// The closed form at once; of the facts it knows none.
fn waiting(resolution: &Resolution, now: &Activity, is_quick: bool) -> Card {
    let scenario = &resolution.scenario;
    let form = resolution.outcome.as_ref().as_ref().ok().map(|(_, form)| form);
    let gpus = form.and_then(|form| form.gpus);
    let each = form.map_or(0.0, |form| form.capacity_per_s);
    let hero = gpus.map_or_else(|| strings::UNKNOWN.to_owned(), |n| about(&count(n)));
    let is_running = matches!(now, Activity::Running(..));
    let pill = match now {
        Activity::Running(done, total) => run_pill(*done, *total, is_quick),
        _ => no_pill(),
    };
    let line = if is_running { strings::RUNNING_LINE } else { strings::CANCELLED_LINE };
    let gauge = Gauge {
        gpus: gpus.unwrap_or(1),
        asked_per_s: form.map_or(0.0, |form| form.asked_per_s),
        each_per_s: each,
        is_estimate: true,
    };
    let right = Right::Facts(Box::new(no_facts(scenario)));
    let headline = report::expected_headline(gpus.unwrap_or(0), scenario);
    Card {
        size: size_beside(&hero, &headline),
        hero,
        is_stale: false,
        headline,
        qualifier: line.to_owned(),
        qualifier_short: line.to_owned(),
        offers_simulation: !is_running,
        pill,
        beneath: Beneath::Gauge(gauge),
        right,
    }
}

/// The last answer, dimmed, and what to do.
fn stopped(
    resolution: &Resolution,
    answered: Option<&Answered>,
    message: &str,
    note: &'static str,
) -> Card {
    let mut card = match answered {
        Some(answered) => of_answer(answered, &Activity::Idle, false),
        None => waiting(resolution, &Activity::Cancelled, false),
    };
    card.is_stale = true;
    card.offers_simulation = false;
    if answered.is_some_and(|answered| answered.scenario != resolution.scenario) {
        card.qualifier = strings::STOPPED_LINE.to_owned();
        card.qualifier_short = strings::STOPPED_LINE.to_owned();
    }
    stopped_beside(card, message, note)
}

/// What to do about a worker that died, beside what a card says.
pub(crate) fn stopped_beside(card: Card, message: &str, note: &'static str) -> Card {
    let text = strings::stopped_because(message);
    Card {
        pill: pill("bad", Icon::Cross, strings::STOPPED),
        beneath: Beneath::Paragraph { text, run_longer: false },
        right: Right::Restart { message: message.to_owned(), note },
        ..card
    }
}

pub(crate) fn refused(scenario: &Scenario, error: &ResolveError) -> Card {
    match PlanAnswer::impossible(scenario, error) {
        Some(answer) => no_answer(&report::tell(&answer, scenario)),
        None => unanswered(&error.to_string()),
    }
}

fn no_answer(telling: &Telling) -> Card {
    Card {
        hero: telling.hero.clone(),
        size: Size::Words,
        is_stale: false,
        headline: String::new(),
        qualifier: String::new(),
        qualifier_short: String::new(),
        offers_simulation: false,
        pill: pill_of(Status::NoAnswer),
        beneath: Beneath::Paragraph {
            text: telling.sentences.first().cloned().unwrap_or_default(),
            run_longer: false,
        },
        right: Right::Remedies(telling.changes.iter().take(MOST_CHANGES).cloned().collect()),
    }
}

/// For a scenario that is mistaken rather than impossible.
pub(crate) fn unanswered(reason: &str) -> Card {
    no_answer(&Telling::without_number(reason))
}

fn facts(answered: &Answered, fleet: &FleetSize) -> [Fact; 4] {
    let Answered { scenario, answer, complete, .. } = answered;
    let facts = [
        load_fact(scenario, answer.planned.as_ref()),
        limit_fact(scenario, answer.planned.as_ref()),
        cache_fact(scenario, answer),
        sure_fact(answer, fleet),
    ];
    if *complete { facts } else { facts.map(Fact::about) }
}

/// The places where the facts will be.
fn no_facts(scenario: &Scenario) -> [Fact; 4] {
    let empty = |label, line: &str| Fact {
        label,
        value: strings::UNKNOWN.to_owned(),
        line: whole(line),
        ..Fact::default()
    };
    [
        load_fact(scenario, None),
        empty(strings::WHAT_LIMITS, ""),
        empty(strings::KV_CACHE, strings::IN_USE_AT_PEAK),
        empty(strings::HOW_SURE, ""),
    ]
}

fn load_fact(scenario: &Scenario, planned: Option<&LoadPoint>) -> Fact {
    let shown = |value: fn(&LoadPoint) -> f64| {
        planned
            .filter(|point| point.has_percentile(99.0))
            .map_or_else(|| strings::UNKNOWN.to_owned(), |point| duration(value(point)))
    };
    // Classes have targets of their own.
    let target = |target_s| scenario.classes.is_empty().then_some(target_s);
    Fact {
        label: strings::AT_PLANNED_LOAD,
        value: shown(|point| point.ttft_p99_s.value),
        line: strings::p99_with_target("TTFT", target(scenario.slo.ttft_s)),
        second: shown(|point| point.tpot_p99_s.value),
        second_line: strings::p99_with_target("TPOT", target(scenario.slo.tpot_s)),
    }
}

fn limit_fact(scenario: &Scenario, planned: Option<&LoadPoint>) -> Fact {
    let label = strings::WHAT_LIMITS;
    let Some(point) = planned else {
        return Fact { label, value: strings::UNKNOWN.to_owned(), ..Fact::default() };
    };
    let compute = point.compute_bound_share;
    let (word, share) = if compute >= 0.5 {
        (strings::COMPUTE, compute)
    } else {
        (strings::BANDWIDTH, 1.0 - compute)
    };
    let most = match scenario.rules {
        SchedRules::Sequential => 1,
        _ => scenario.sched.max_num_seqs,
    };
    Fact {
        label,
        value: word.to_owned(),
        line: strings::of_step_time(share),
        second: strings::sequences(point.mean_running, most),
        second_line: whole(strings::RUNNING_ON_AVERAGE),
    }
}

fn cache_fact(scenario: &Scenario, answer: &PlanAnswer) -> Fact {
    if !scenario.limits_memory() {
        let (line, short) = strings::NO_MEMORY;
        return Fact {
            label: strings::KV_CACHE,
            value: strings::NOT_MODELLED.to_owned(),
            line: (line.to_owned(), short.to_owned()),
            ..Fact::default()
        };
    }
    Fact {
        label: strings::KV_CACHE,
        value: answer.planned.map_or_else(
            || strings::UNKNOWN.to_owned(),
            |point| whole_percent(point.kv_peak_share),
        ),
        line: whole(strings::IN_USE_AT_PEAK),
        second: strings::requests(answer.requests_that_fit),
        second_line: whole(strings::LARGEST_FIT),
    }
}

fn sure_fact(answer: &PlanAnswer, fleet: &FleetSize) -> Fact {
    let line = answer
        .capacity_per_s
        .map(|capacity| strings::one_holds(capacity.low, capacity.high))
        .unwrap_or_default();
    Fact {
        label: strings::HOW_SURE,
        value: strings::gpus(fleet.with_headroom_low, fleet.with_headroom_high),
        line,
        second: strings::PUBLISHED_FORMULA.to_owned(),
        second_line: whole(&strings::runs_of(answer.replications)),
    }
}

fn gauge(gpus: u64, answer: &PlanAnswer, carried_per_s: f64, is_estimate: bool) -> Gauge {
    let each_per_s =
        answer.capacity_per_s.map_or(carried_per_s / gpus as f64, |capacity| capacity.value);
    Gauge { gpus, asked_per_s: answer.rate_per_s, each_per_s, is_estimate }
}

pub(crate) fn pill(tone: &'static str, icon: Icon, text: &str) -> Pill {
    Pill { tone, icon: Some(icon), text: text.to_owned() }
}

/// How far a run is; of a quick one, that it is no more than that.
pub(crate) fn run_pill(done: u32, total: u32, is_quick: bool) -> Pill {
    let text =
        if is_quick { strings::ESTIMATING.to_owned() } else { strings::percent_done(done, total) };
    Pill { tone: "accent", icon: None, text }
}

/// Where the line says it, with the way on.
pub(crate) fn no_pill() -> Pill {
    Pill { tone: "accent", icon: None, text: String::new() }
}

fn size_of(hero: &str) -> Size {
    // The sign of a closed form hangs beside the number and takes no room.
    match hero.chars().filter(|c| !matches!(*c, NARROW_SPACE | '≈')).count() {
        ..=2 => Size::Number,
        3..=4 => Size::Wide,
        5 => Size::Wider,
        _ => Size::Widest,
    }
}

/// A line that is short enough everywhere.
fn whole(line: &str) -> (String, String) {
    (line.to_owned(), line.to_owned())
}

#[cfg(test)]
mod tests {
    use planner::Plan;

    use super::*;

    /// What a drag's one run answers, or all runs.
    fn answered(scenario: &Scenario, complete: bool) -> Answered {
        let resolved = scenario.resolve().unwrap();
        let mut plan = if complete { Plan::new(&resolved) } else { Plan::quick(&resolved) };
        loop {
            let jobs = plan.next_jobs();
            if jobs.is_empty() {
                break;
            }
            plan.accept(&jobs.iter().map(|job| job.run().unwrap()).collect::<Vec<_>>());
        }
        let answer = plan.answer().unwrap().clone();
        Answered { scenario: scenario.clone(), answer, complete, input_ms: 0.0 }
    }

    fn small() -> Scenario {
        let mut scenario = Scenario::preset();
        scenario.sim.requests = 300;
        scenario.sim.replications = 3;
        scenario
    }

    fn figures(card: &Card) -> Vec<&str> {
        let Right::Facts(facts) = &card.right else { return Vec::new() };
        facts.iter().flat_map(|fact| [&*fact.value, &*fact.second]).collect()
    }

    #[test]
    fn one_run_is_about_and_no_verdict() {
        let scenario = small();
        let quick = answered(&scenario, false);
        let now = Activity::Idle;
        let card = card(&Resolution::new(scenario), Some(&quick), &now, true);
        assert!(card.hero.starts_with('≈'), "{}", card.hero);
        assert_eq!(card.pill.text, strings::ESTIMATING);
        assert!(figures(&card).iter().filter(|figure| figure.starts_with('≈')).count() >= 3);
        assert!(matches!(card.beneath, Beneath::Gauge(Gauge { is_estimate: true, .. })));
        // Stopped before all runs were in, it says so and offers them.
        let stopped =
            super::card(&Resolution::new(small()), Some(&quick), &Activity::Cancelled, false);
        assert!(stopped.hero.starts_with('≈') && stopped.offers_simulation);
        assert_eq!((stopped.pill.text.as_str(), &*stopped.qualifier), ("", strings::ONE_RUN_LINE));
    }

    #[test]
    fn no_figure_is_of_another_scenario() {
        let mut other = small();
        other.set_number("rate", 37.0).unwrap();
        for complete in [false, true] {
            let old = answered(&small(), complete);
            let now = Activity::Running(1, 9);
            let card = card(&Resolution::new(other.clone()), Some(&old), &now, true);
            assert!(card.hero.starts_with('≈') && card.headline.contains("37"), "{card:?}");
            assert_eq!(card.pill.text, strings::ESTIMATING);
            let figures = figures(&card);
            assert!(figures.iter().all(|f| f.is_empty() || *f == strings::UNKNOWN), "{figures:?}");
        }
    }

    #[test]
    fn all_runs_have_a_verdict_and_no_sign() {
        let scenario = small();
        let full = answered(&scenario, true);
        let card = card(&Resolution::new(scenario), Some(&full), &Activity::Idle, false);
        assert!(!card.hero.contains('≈') && !figures(&card).iter().any(|f| f.contains('≈')));
        assert_ne!(card.pill.text, strings::ESTIMATING);
    }
}
