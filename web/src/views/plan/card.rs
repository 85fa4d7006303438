//! What the answer card shows: a pure function of scenario, answer and activity, so that each of
//! its states can be told, tested and compared without a page.

use std::sync::Arc;

use super::{
    fact::{Fact, facts, no_facts},
    refused::refused,
};
use crate::{
    answered::{Answered, Resolution, Stand},
    icons::Icon,
    state::Activity,
    strings,
};
use planner::{FleetSize, Remedy, Verdict};
use quantity::{NARROW_SPACE, about, count};
use report::{Status, Telling};

/// How many changes are offered at most.
pub(crate) const MOST_CHANGES: usize = 3;

/// Words and numbers of the card, in the places of its frame.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Card {
    /// The number, or one word for why there is none.
    pub(crate) hero: String,
    /// How large the number may be.
    pub(crate) size: Size,
    /// Whether number and words are of an older scenario.
    pub(crate) is_stale: bool,
    /// What the number counts, with the place where it may break.
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
    /// One or two characters.
    Number,
    /// Some more.
    Wide,
    /// So many that the headline stands beneath.
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
    /// Engines.
    pub(crate) engines: u64,
    /// GPUs of each.
    pub(crate) gpus_each: u64,
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

impl Card {
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
///
/// Of each setting the number goes through at most three stages, each closer than the one before:
/// about what the last answer becomes under it, then one run, both marked “≈”, then all runs.
pub(crate) fn card(
    resolution: &Resolution,
    answered: Option<&Arc<Answered>>,
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
        return refused(resolution, error, now);
    }
    match (now, answered.and_then(|answered| answered.under(resolution))) {
        (Activity::Refused(message), _) => unanswered(message),
        (_, Some(answered)) => of_answer(&answered, now, is_quick),
        (_, None) => waiting(resolution, answered, now, is_quick),
    }
}

/// An answer in words; of the first runs it is not known yet how sure they are.
pub(crate) fn told(answered: &Answered) -> Telling {
    let (answer, scenario) = (&answered.answer, &answered.resolution.scenario);
    if answered.is_complete() {
        report::tell(answer, scenario)
    } else {
        report::tell_so_far(answer, scenario)
    }
}

fn of_answer(answered: &Answered, now: &Activity, is_quick: bool) -> Card {
    let telling = told(answered);
    match &answered.answer.verdict {
        Verdict::Sized(fleet) => {
            let card = sized(answered, fleet, telling);
            if answered.is_complete() { card } else { so_far(card, answered.stand, now, is_quick) }
        }
        _ => no_answer(&telling),
    }
}

fn sized(answered: &Answered, fleet: &FleetSize, telling: Telling) -> Card {
    let gauge = gauge(fleet, answered);
    Card {
        size: size_of(&telling.hero),
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

/// The card before all runs are in: it says about how many, and has no verdict. While a slider moves
/// it reads the same whether a run is in or not: only the figures change.
fn so_far(card: Card, stand: Stand, now: &Activity, is_quick: bool) -> Card {
    let card = Card { hero: about(&card.hero), ..card };
    let line = if stand == Stand::Scaled { strings::SCALED_LINE } else { strings::ONE_RUN_LINE };
    match now {
        Activity::Running(done, total) => Card { pill: run_pill(*done, *total, is_quick), ..card },
        Activity::Cancelled => Card {
            pill: no_pill(),
            qualifier: line.to_owned(),
            qualifier_short: line.to_owned(),
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

/// Where there is no answer that could be carried over, the closed form, which knows none of the
/// facts. Where it knows no number either, as the last answer did, that one's reason stays, dimmed.
fn waiting(
    resolution: &Resolution,
    last: Option<&Arc<Answered>>,
    now: &Activity,
    is_quick: bool,
) -> Card {
    let scenario = &resolution.scenario;
    let form = resolution.outcome.as_ref().as_ref().ok().map(|(_, form)| form);
    let gpus_each = scenario.gpus_per_engine();
    let engines = form.and_then(|form| form.gpus);
    let gpus = engines.map(|engines| engines.saturating_mul(gpus_each));
    let each = form.map_or(0.0, |form| form.capacity_per_s);
    let hero = gpus.map_or_else(|| strings::UNKNOWN.to_owned(), |n| about(&count(n)));
    let is_running = matches!(now, Activity::Running(..));
    let pill = match now {
        Activity::Running(done, total) => run_pill(*done, *total, is_quick),
        _ => no_pill(),
    };
    if let (None, Some(last)) = (gpus, last.filter(|last| !last.is_sized())) {
        return Card { is_stale: true, pill, ..no_answer(&told(last)) };
    }
    let line = if is_running { strings::RUNNING_LINE } else { strings::CANCELLED_LINE };
    let gauge = Gauge {
        engines: engines.unwrap_or(1),
        gpus_each,
        asked_per_s: form.map_or(0.0, |form| form.asked_per_s),
        each_per_s: each,
        is_estimate: true,
    };
    let right = Right::Facts(Box::new(no_facts(scenario)));
    let headline = report::expected_headline(gpus.unwrap_or(0), scenario);
    Card {
        size: size_of(&hero),
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
    answered: Option<&Arc<Answered>>,
    message: &str,
    note: &'static str,
) -> Card {
    let mut card = match answered {
        Some(answered) => of_answer(answered, &Activity::Idle, false),
        None => waiting(resolution, None, &Activity::Cancelled, false),
    };
    card.is_stale = true;
    card.offers_simulation = false;
    if answered.is_some_and(|answered| !answered.is_of(&resolution.scenario)) {
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

pub(super) fn no_answer(telling: &Telling) -> Card {
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

fn gauge(fleet: &FleetSize, answered: &Answered) -> Gauge {
    let (scenario, answer) = (&answered.resolution.scenario, &answered.answer);
    let engines = fleet.with_headroom;
    let even = fleet.carried_per_s / engines as f64;
    Gauge {
        engines,
        gpus_each: scenario.gpus_per_engine(),
        asked_per_s: answer.rate_per_s,
        each_per_s: answer.capacity_per_s.map_or(even, |capacity| capacity.value),
        is_estimate: !answered.is_complete(),
    }
}

pub(crate) fn pill(tone: &'static str, icon: Icon, text: &str) -> Pill {
    Pill { tone, icon: Some(icon), text: text.to_owned() }
}

/// How far a run is; of a quick one, that it is no more than that.
pub(crate) fn run_pill(done: u32, total: u32, is_quick: bool) -> Pill {
    let text = match done {
        0 => strings::ESTIMATING.to_owned(),
        _ if is_quick => strings::ESTIMATING.to_owned(),
        _ => strings::percent_done(done, total),
    };
    Pill { tone: "accent", icon: None, text }
}

/// Where the line says it, with the way on.
pub(crate) fn no_pill() -> Pill {
    Pill { tone: "accent", icon: None, text: String::new() }
}

fn size_of(hero: &str) -> Size {
    // The sign of an estimate hangs beside the number and takes no room.
    match hero.chars().filter(|c| !matches!(*c, NARROW_SPACE | '≈')).count() {
        ..=2 => Size::Number,
        3..=4 => Size::Wide,
        _ => Size::Widest,
    }
}

#[cfg(test)]
mod tests {
    use planner::Plan;
    use scenario::Scenario;

    use super::*;

    /// What a drag's one run answers, or all runs.
    fn answered(scenario: &Scenario, complete: bool) -> Arc<Answered> {
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
        let stand = if complete { Stand::Complete } else { Stand::FirstRun };
        let resolution = Resolution::new(scenario.clone());
        Arc::new(Answered { resolution, answer, stand, input_ms: 0.0 })
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
            // As many as there were, so that none goes away and comes back.
            let figures = figures(&card);
            let marked = figures.iter().filter(|figure| figure.starts_with('≈')).count();
            assert!(marked >= 5 && !figures.contains(&strings::UNKNOWN), "{figures:?}");
            assert!(card.qualifier.contains('≈'), "{}", card.qualifier);
        }
    }

    #[test]
    fn of_one_setting_what_is_carried_over_and_one_run_differ_in_figures_alone() {
        let mut other = small();
        other.set_number("rate", 37.0).unwrap();
        let (old, new) = (answered(&small(), true), answered(&other, false));
        let resolution = Resolution::new(other);
        let seen = |answered, now| {
            let shown = card(&resolution, Some(answered), now, true);
            let Right::Facts(facts) = &shown.right else { panic!("{shown:?}") };
            let words = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
            let labels = facts
                .each_ref()
                .map(|fact| [&fact.line.0, &fact.second_line.0].map(|line| words(line)));
            (words(&shown.hero), words(&shown.qualifier), shown.pill.clone(), labels)
        };
        assert_eq!(seen(&old, &Activity::Running(0, 9)), seen(&new, &Activity::Idle));
    }

    #[test]
    fn the_last_reason_stays_dimmed_while_no_number_is_in_sight() {
        let (mut before, mut after) = (small(), small());
        before.set("ttft", "10ms").unwrap();
        after.set("ttft", "9ms").unwrap();
        let old = answered(&before, false);
        let card = card(&Resolution::new(after), Some(&old), &Activity::Running(0, 9), true);
        assert!(card.is_stale && card.size == Size::Words, "{card:?}");
        assert_eq!(card.pill.text, strings::ESTIMATING);
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
