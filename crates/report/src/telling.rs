//! What an answer means, in words.

use planner::{Estimate, FleetSize, PlanAnswer, Verdict};
use quantity::count;
use scenario::{Remedy, ResolveError, Scenario};

use crate::{names, traffic, words};

/// Whether an answer can be acted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The engine keeps up at the planned load.
    Stable,
    /// Within the interval of the capacity, two numbers of GPUs are possible.
    CloseCall,
    /// At the planned load the queue grows; its latencies are withheld.
    Withheld,
    /// There is no number of GPUs to give.
    NoAnswer,
}

impl Status {
    /// The word for people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Stable => words::STABLE,
            Self::CloseCall => words::CLOSE_CALL,
            Self::Withheld => words::WITHHELD_STATUS,
            Self::NoAnswer => words::NO_ANSWER,
        }
    }
}

/// An answer in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Telling {
    /// Whether it can be acted on.
    pub status: Status,
    /// The number of GPUs, or why there is none: “6”, “5–6”, “Does not fit”.
    pub hero: String,
    /// What the number counts: “H100 GPUs for 100 req/s”. Empty where there is none.
    pub headline: String,
    /// What it holds for: “with 25 % headroom; 5 would do without”. Empty where there is none.
    pub line: String,
    /// The same where there is little room.
    pub line_short: String,
    /// Whole sentences, the most important first.
    pub sentences: Vec<String>,
    /// Of a close call: its arithmetic and the first way out. The other one, [`crate::RUN_LONGER`],
    /// ends the sentence.
    pub close_call: Option<String>,
    /// Smallest changes that work, where there is no number.
    pub changes: Vec<Remedy>,
}

impl Telling {
    /// For a scenario that is mistaken rather than impossible: why there is no number.
    #[must_use]
    pub fn without_number(reason: &str) -> Self {
        no_answer(words::NO_ANSWER, reason.to_owned(), &[])
    }

    /// The same from the scenario's own error, with the changes that make it right.
    #[must_use]
    pub fn mistaken(error: &ResolveError) -> Self {
        no_answer(words::NO_ANSWER, error.without_remedies(), error.remedies())
    }

    /// The headline with the place where it breaks if there is no room for one line.
    #[must_use]
    pub fn broken_headline(&self) -> String {
        broken(&self.headline)
    }
}

/// What a number of GPUs counts before there is an answer, with the place where it breaks.
#[must_use]
pub fn expected_headline(gpus: u64, scenario: &Scenario) -> String {
    let (asked, unit) = match scenario.closed {
        Some(closed) => (closed.users as f64, words::USERS),
        None => (scenario.peak_rate_per_s(), words::RATE),
    };
    broken(&words::headline(&names::gpu(&scenario.gpu), gpus, asked, unit))
}

/// Headlines end in what the GPUs are for.
fn broken(headline: &str) -> String {
    match headline.rsplit_once(" for ") {
        Some((what, load)) => [what, "\nfor ", load].concat(),
        None => headline.to_owned(),
    }
}

/// Put an answer in words.
#[must_use]
pub fn tell(answer: &PlanAnswer, scenario: &Scenario) -> Telling {
    told(answer, scenario, true)
}

/// Put an answer from the first of several runs in words: how sure it is, is not known yet, so that
/// it is no close call.
#[must_use]
pub fn tell_so_far(answer: &PlanAnswer, scenario: &Scenario) -> Telling {
    told(answer, scenario, false)
}

fn told(answer: &PlanAnswer, scenario: &Scenario, is_complete: bool) -> Telling {
    match &answer.verdict {
        Verdict::Sized(fleet) => sized(answer, fleet, scenario, is_complete),
        Verdict::DoesNotFit { weight_bytes, available_bytes, remedies } => {
            let (mut model, gpu) = (names::model(&scenario.model), names::gpu(&scenario.gpu));
            if scenario.gpus_per_engine() > 1 {
                model = format!("Each of {} parts of {model}", count(scenario.gpus_per_engine()));
            }
            let sentence = words::does_not_fit(&model, &gpu, *weight_bytes, *available_bytes);
            no_answer(words::DOES_NOT_FIT, or_nothing(sentence, remedies), remedies)
        }
        Verdict::NoRoom { capacity_tokens, needed_tokens, remedies } => {
            let class = scenario.class_of_longest();
            let is_typed = scenario.kv_capacity_tokens.is_some();
            let sentence = words::no_room((*capacity_tokens, is_typed), *needed_tokens, class);
            no_answer(words::NO_ROOM, or_nothing(sentence, remedies), remedies)
        }
        Verdict::TooLong { sentence, remedies } => {
            no_answer(words::DOES_NOT_FIT, or_nothing(sentence.clone(), remedies), remedies)
        }
        Verdict::OutOfReach { class, ttft_floor_s, tpot_floor_s, remedies } => {
            let floors_s = (*ttft_floor_s, *tpot_floor_s);
            let sentence = out_of_reach(scenario, class.as_deref(), floors_s);
            no_answer(words::OUT_OF_REACH, or_nothing(sentence, remedies), remedies)
        }
    }
}

/// An answer as a few lines of text: the headline, what it holds for, the sentences, the changes.
#[must_use]
pub fn plan_text(telling: &Telling) -> String {
    let mut lines = vec![format!("{} {}", telling.hero, telling.headline).trim().to_owned()];
    if !telling.line.is_empty() {
        lines.push(telling.line.clone());
    }
    if telling.status != Status::Stable && telling.status != Status::NoAnswer {
        lines.push(telling.status.label().to_owned());
    }
    lines.push(String::new());
    lines.extend(telling.sentences.iter().cloned());
    lines.extend(telling.changes.iter().map(words::remedy));
    lines.join("\n") + "\n"
}

fn sized(
    answer: &PlanAnswer,
    fleet: &FleetSize,
    scenario: &Scenario,
    is_complete: bool,
) -> Telling {
    let gpu = names::gpu(&scenario.gpu);
    let FleetSize { with_headroom: gpus, without_headroom, carried_per_s, .. } = *fleet;
    let (low, high) = (fleet.with_headroom_low, fleet.with_headroom_high);
    let headroom = answer.headroom;
    let each = scenario.gpus_per_engine();
    let all = |engines: u64| engines.saturating_mul(each);
    let (asked, found, unit) = match &answer.users {
        Some(users) => (users.asked, users.capacity, words::USERS),
        None => (answer.rate_per_s, answer.capacity_per_s, words::RATE),
    };
    let capacity = found.unwrap_or_else(|| {
        let each = carried_per_s / gpus as f64;
        Estimate { value: each, low: each, high: each }
    });
    let is_close = low != high && is_complete;
    let close_call = is_close.then(|| {
        let text = words::close_call(asked, headroom, (low, high, each), &capacity, unit);
        words::of_engines(text, each)
    });
    let mut sentences = Vec::new();
    sentences.extend(close_call.as_ref().map(|text| format!("{text} {}.", words::RUN_LONGER)));
    sentences.push(words::sustains(&capacity, gpus, unit));
    sentences.extend(answer.is_at_limit().then(|| words::at_limit(answer.limit_margin())));
    sentences.push(words::arithmetic(asked, headroom, capacity.value, (gpus, each), unit));
    sentences.extend(traffic::users(answer, scenario));
    sentences.extend(traffic::whole_batches(answer, scenario));
    sentences.extend(traffic::sessions(scenario));
    sentences.extend(traffic::peak(answer, scenario));
    sentences.extend(planned(answer, scenario));
    sentences.extend(traffic::unanswered(answer));
    sentences.extend(traffic::classes(scenario));
    sentences.extend(traffic::class_figures(answer));
    sentences.extend(traffic::few_bursts(answer, scenario));
    sentences.extend(traffic::few_requests(answer));
    sentences.extend(unsettled(answer));
    sentences.extend(answer.ceiling_per_s.map(|ceiling| words::ceiling(&ceiling)));
    sentences.push(words::effort(
        answer.replications,
        answer.requests,
        answer.simulated_requests,
        answer.simulated_steps,
    ));
    for sentence in &mut sentences {
        *sentence = words::of_engines(std::mem::take(sentence), each);
    }
    let is_unstable = answer.planned.is_some_and(|point| !point.stable);
    let carried = words::carried(&capacity, gpus, unit);
    let [line, line_short] = if is_close {
        [words::with_headroom(headroom), words::with_headroom(headroom)]
    } else if is_complete {
        [
            words::qualifier(headroom, all(gpus), all(without_headroom), &carried),
            words::qualifier_short(headroom, all(gpus), all(without_headroom)),
        ]
    } else {
        words::qualifiers_so_far(headroom, all(without_headroom), &carried)
    };
    Telling {
        status: match (is_unstable, is_close) {
            (true, _) => Status::Withheld,
            (_, true) => Status::CloseCall,
            _ => Status::Stable,
        },
        hero: if is_close { words::gpus_between(all(low), all(high)) } else { count(all(gpus)) },
        headline: if is_close {
            words::headline_close(&gpu, asked, unit)
        } else {
            words::headline(&gpu, all(gpus), asked, unit)
        },
        line,
        line_short,
        sentences,
        close_call,
        changes: Vec::new(),
    }
}

/// What has to be known of traffic that is more than one kind of request at a steady rate, and of runs
/// too short for what is read from them; nothing where neither applies.
#[must_use]
pub fn remarks(answer: &PlanAnswer, scenario: &Scenario) -> Vec<String> {
    let all = [
        traffic::users(answer, scenario),
        traffic::whole_batches(answer, scenario),
        traffic::sessions(scenario),
        traffic::unanswered(answer),
        traffic::peak(answer, scenario),
        traffic::classes(scenario),
        traffic::class_figures(answer),
        traffic::few_bursts(answer, scenario),
        traffic::few_requests(answer),
        unsettled(answer),
    ];
    all.into_iter().flatten().collect()
}

/// That the runs at the planned load ended before the engine had settled.
fn unsettled(answer: &PlanAnswer) -> Option<String> {
    let planned = answer.planned?;
    (planned.stable && !planned.settled).then(|| words::unsettled(answer.requests))
}

fn planned(answer: &PlanAnswer, scenario: &Scenario) -> Option<String> {
    let point = answer.planned?;
    let gets = words::gets(point.rate_per_s, point.users);
    Some(if point.stable && !point.has_percentile(99.0) {
        words::planned_unanswered(&gets, point.slo_share.value)
    } else if point.stable && !scenario.classes.is_empty() {
        words::planned_by_class(
            &gets,
            point.slo_share.value,
            point.ttft_p99_s.value,
            point.tpot_p99_s.value,
        )
    } else if point.stable {
        words::planned(
            &gets,
            (point.ttft_p99_s.value, scenario.slo.ttft_s),
            (point.tpot_p99_s.value, scenario.slo.tpot_s),
        )
    } else {
        words::planned_unstable(&gets)
    })
}

fn out_of_reach(
    scenario: &Scenario,
    class: Option<&str>,
    (ttft_floor_s, tpot_floor_s): (f64, f64),
) -> String {
    let slo = scenario.target(class);
    let sentence = if ttft_floor_s > slo.ttft_s {
        words::ttft_out_of_reach(slo.ttft_s, ttft_floor_s)
    } else if tpot_floor_s > slo.tpot_s {
        words::tpot_out_of_reach(slo.tpot_s, tpot_floor_s)
    } else {
        words::share_out_of_reach(slo.share)
    };
    class.map_or(sentence.clone(), |class| words::of_class(class, &sentence))
}

/// What stands above the changes that a card offers, by its large word; nothing above none.
#[must_use]
pub fn changes_title(hero: &str, changes: &[Remedy]) -> &'static str {
    match hero {
        _ if changes.is_empty() => "",
        _ if changes.iter().all(|change| change.meets_target) => words::CHANGES_THAT_WORK,
        words::DOES_NOT_FIT | words::NO_ROOM => words::CHANGES_THAT_FIT,
        _ => words::CHANGES_THAT_RUN,
    }
}

/// Of an impossible scenario for which no change is known, or none with which the target is met.
fn or_nothing(sentence: String, changes: &[Remedy]) -> String {
    let more = if changes.is_empty() {
        words::NOTHING_HELPS
    } else if changes.iter().any(|change| change.meets_target) {
        return sentence;
    } else {
        words::TARGET_STAYS_OUT_OF_REACH
    };
    [&sentence, " ", more].concat()
}

fn no_answer(word: &str, sentence: String, changes: &[Remedy]) -> Telling {
    Telling {
        status: Status::NoAnswer,
        hero: word.to_owned(),
        headline: String::new(),
        line: String::new(),
        line_short: String::new(),
        sentences: vec![sentence],
        close_call: None,
        changes: changes.to_vec(),
    }
}
