//! What the answer card says of a fleet: a pure function of what is known.

use protocol::{FleetAnswer, FleetRow, FleetSlice, FleetSums};
use quantity::{count, duration, share};
use scenario::Scenario;

use super::Shown;
use crate::{
    answered::Resolution,
    icons::Icon,
    state::Activity,
    strings,
    views::plan::{
        card::{
            Beneath, Card, Pill, Right, Size, no_pill, pill, run_pill, stopped_beside, unanswered,
        },
        fact::Fact,
        refused::refused,
    },
};

/// Windows with fewer answers have no percentile to be told as the worst.
const FEWEST_SERVED: u64 = 20;

/// The card for what is known now.
pub(super) fn card(
    resolution: &Resolution,
    shown: Option<&Shown>,
    now: &Activity,
    is_quick: bool,
) -> Card {
    let scenario = &resolution.scenario;
    let last = shown.and_then(|shown| shown.answered.as_ref());
    match now {
        Activity::Stopped { message, waits } => {
            let note = if *waits { strings::STOPPED_TWICE } else { strings::RESTARTING };
            return stopped_beside(waiting(no_pill()), message, note);
        }
        Activity::NotLoaded => {
            let note = strings::NOT_LOADED_NOTE;
            return stopped_beside(waiting(no_pill()), strings::FLEET_NOT_LOADED, note);
        }
        Activity::Refused(message) => return unanswered(message),
        _ => {}
    }
    if let Err(error) = resolution.outcome.as_ref() {
        return refused(resolution, error, now);
    }
    let running = match now {
        Activity::Running(done, total) => Some(run_pill(*done, *total, is_quick)),
        _ => None,
    };
    match (shown, last) {
        (Some(shown), Some((of, answer))) if of == scenario => {
            let card = of_answer(scenario, answer, shown);
            match running {
                Some(pill) => Card { pill, ..card },
                None => card,
            }
        }
        // What comes next takes its place; until then it stays, dimmed.
        (Some(shown), Some((of, answer))) if running.is_some() => {
            let pill = running.unwrap_or_else(no_pill);
            Card { pill, is_stale: true, ..of_answer(of, answer, shown) }
        }
        _ => {
            let is_stopped = *now == Activity::Cancelled;
            let mut card = waiting(running.unwrap_or_else(no_pill));
            if is_stopped {
                card.qualifier = strings::FLEET_STOPPED.to_owned();
                card.qualifier_short.clone_from(&card.qualifier);
                card.offers_simulation = true;
            }
            card
        }
    }
}

/// Nothing is known of the present settings.
fn waiting(pill: Pill) -> Card {
    let empty = |label| Fact { label, value: strings::UNKNOWN.to_owned(), ..Fact::default() };
    let labels = strings::FLEET_FACTS.map(empty);
    Card {
        hero: strings::UNKNOWN.to_owned(),
        size: Size::Number,
        is_stale: false,
        headline: strings::REQUESTS_LATE.to_owned(),
        qualifier: strings::FLEET_RUNNING.to_owned(),
        qualifier_short: strings::FLEET_RUNNING.to_owned(),
        offers_simulation: false,
        pill,
        beneath: Beneath::Paragraph { text: String::new(), run_longer: false },
        right: Right::Facts(Box::new(labels)),
    }
}

fn of_answer(scenario: &Scenario, answer: &FleetAnswer, shown: &Shown) -> Card {
    let sums = &answer.sums;
    let holds = sums.met_share() >= scenario.slo.share;
    let of = strings::late_of(sums.late(), sums.offered);
    let hero = share(1.0 - sums.met_share());
    // Beside a wide number the headline has less room.
    let size = match hero.chars().filter(|c| *c != quantity::NARROW_SPACE).count() {
        ..=3 => Size::Number,
        4..=6 => Size::Wide,
        _ => Size::Widest,
    };
    Card {
        hero,
        size,
        is_stale: false,
        headline: strings::REQUESTS_LATE.to_owned(),
        qualifier: of.clone(),
        qualifier_short: of,
        offers_simulation: false,
        pill: if holds {
            pill("ok", Icon::Tick, strings::HELD)
        } else {
            pill("bad", Icon::Cross, strings::MISSED)
        },
        beneath: Beneath::Paragraph { text: sentence(scenario, answer), run_longer: false },
        right: Right::Facts(Box::new([
            worst_fact(answer),
            limit_fact(scenario, answer, shown),
            hours_fact(sums, answer.gpus_per_replica),
            fixed_fact(scenario, sums, shown),
        ])),
    }
}

/// What happened, in two sentences at most.
fn sentence(scenario: &Scenario, answer: &FleetAnswer) -> String {
    let spec = &scenario.fleet;
    let asked = answer.slices.iter().map(|slice| slice.asked).max().unwrap_or(0);
    let first = spec.first();
    let story = if spec.policy_word() == "fixed" {
        strings::fleet_fixed(spec.min)
    } else if u64::from(asked) <= first {
        strings::fleet_never_asked(first)
    } else {
        strings::fleet_asked(u64::from(asked), spec.start_s)
    };
    let fault =
        strings::fleet_fault_told(spec.fault_word(), spec.fault_at_s, answer.sums.restarted);
    if fault.is_empty() { story } else { [&story, " ", &fault].concat() }
}

/// The window with the longest waits, and the longest queue.
pub(super) fn worst(answer: &FleetAnswer) -> Option<&FleetSlice> {
    let enough = answer.slices.iter().filter(|slice| slice.served >= FEWEST_SERVED);
    let late = |slice: &FleetSlice| slice.ttft_s.1.unwrap_or(0.0);
    enough.reduce(|most, slice| if late(slice) > late(most) { slice } else { most })
}

fn worst_fact(answer: &FleetAnswer) -> Fact {
    let [label, ..] = strings::FLEET_FACTS;
    let Some(worst) = worst(answer) else {
        return Fact { label, value: strings::UNKNOWN.to_owned(), ..Fact::default() };
    };
    let queue = answer.slices.iter().max_by_key(|slice| slice.waiting);
    let (waiting, at_s) =
        queue.map_or((0, 0.0), |slice| (slice.waiting, slice.start_s + answer.window_s));
    Fact {
        label,
        value: worst.ttft_s.1.map_or_else(|| strings::UNKNOWN.to_owned(), duration),
        line: (
            strings::worst_window(worst.start_s, answer.end_s),
            strings::P99_TTFT_SHORT.to_owned(),
        ),
        second: strings::waiting(waiting),
        second_line: (strings::longest_queue(at_s, answer.end_s), strings::QUEUE_SHORT.to_owned()),
    }
}

/// The same with a start that is over at once, if it was tried.
fn quick_start<'a>(scenario: &Scenario, rows: &'a [FleetRow]) -> Option<&'a FleetRow> {
    let spec = &scenario.fleet;
    rows.iter().find(|row| row.spec.policy == spec.policy && row.spec.start_s < spec.start_s)
}

/// Whether most of those that were late ended while as many replicas were ready as there may be.
fn is_full(answer: &FleetAnswer, most: u64) -> bool {
    let late = |slice: &FleetSlice| slice.served - slice.slo_met;
    let full = answer.slices.iter().filter(|slice| u64::from(slice.replicas[2]) >= most);
    let all: u64 = answer.slices.iter().map(late).sum();
    full.map(late).sum::<u64>() * 2 > all
}

fn limit_fact(scenario: &Scenario, answer: &FleetAnswer, shown: &Shown) -> Fact {
    let [_, label, ..] = strings::FLEET_FACTS;
    let spec = &scenario.fleet;
    let late = answer.sums.late();
    let quick = quick_start(scenario, &shown.rows);
    let fixed = fewest_fixed(scenario, shown);
    let asked = answer.slices.iter().map(|slice| slice.asked).max().unwrap_or(0);
    let same = |text: String| (text.clone(), text);
    let (value, line) = if answer.sums.met_share() >= scenario.slo.share {
        (strings::NOTHING, same(strings::TARGET_HOLDS.to_owned()))
    } else if spec.policy_word() == "fixed" {
        (strings::REPLICAS, same(strings::too_few_fixed(spec.min)))
    } else if let Some(quick) = quick.filter(|row| row.sums.late() * 2 <= late) {
        (strings::START_DELAY, instead(quick))
    } else if let Some(fixed) = fixed.filter(|row| row.spec.min <= spec.max) {
        (strings::AUTOSCALER, same(strings::fixed_would_hold(fixed.spec.min)))
    } else if !shown.is_complete {
        (strings::UNKNOWN, same(strings::BEING_TRIED.to_owned()))
    } else if is_full(answer, spec.max) {
        (strings::MOST_REPLICAS, same(strings::all_asked(spec.max)))
    } else if u64::from(asked) >= spec.max {
        (strings::AUTOSCALER, same(strings::all_asked(spec.max)))
    } else {
        (strings::AUTOSCALER, same(strings::asked_at_most(u64::from(asked), spec.max)))
    };
    let second = strings::most_ready(answer.sums.peak_ready);
    let second_line = strings::READY_AT_MOST.to_owned();
    Fact {
        label,
        value: value.to_owned(),
        line,
        second,
        second_line: (second_line.clone(), second_line),
    }
}

fn instead(row: &FleetRow) -> (String, String) {
    let (start_s, late) = (row.spec.start_s, share(1.0 - row.sums.met_share()));
    (strings::start_instead(start_s, &late), strings::start_instead_short(start_s, &late))
}

fn hours_fact(sums: &FleetSums, gpus: u64) -> Fact {
    let [_, _, label, _] = strings::FLEET_FACTS;
    let line = strings::replicas_started(sums.started, gpus);
    Fact {
        label,
        value: strings::gpu_hours(sums.gpu_hours),
        line: (line.clone(), line),
        second: strings::idle(1.0 - sums.busy),
        second_line: (strings::NO_STEP_RAN.to_owned(), strings::NO_STEP_SHORT.to_owned()),
    }
}

/// The fewest fixed replicas that are known to hold, once it is known that fewer do not.
pub(super) fn fewest_fixed(scenario: &Scenario, shown: &Shown) -> Option<FleetRow> {
    let share = scenario.slo.share;
    let is_fixed = |row: &&FleetRow| row.spec.policy_word() == "fixed";
    let fixed = shown.rows.iter().filter(is_fixed);
    let mut holding: Option<&FleetRow> = None;
    for row in fixed.filter(|row| row.sums.met_share() >= share) {
        if holding.is_none_or(|best| row.spec.min < best.spec.min) {
            holding = Some(row);
        }
    }
    holding.filter(|_| shown.is_complete).copied()
}

fn fixed_fact(scenario: &Scenario, sums: &FleetSums, shown: &Shown) -> Fact {
    let [.., label] = strings::FLEET_FACTS;
    let Some(row) = fewest_fixed(scenario, shown) else {
        let line = if !shown.is_complete {
            strings::BEING_TRIED.to_owned()
        } else if shown.rows.is_empty() {
            strings::TOO_LONG_TO_TRY.to_owned()
        } else {
            strings::none_holds(scenario.fleet.max * 2)
        };
        let value = strings::UNKNOWN.to_owned();
        return Fact { label, value, line: (line.clone(), line), ..Fact::default() };
    };
    let late = strings::replicas_late(&share(1.0 - row.sums.met_share()));
    let change = strings::hours_change(row.sums.gpu_hours, sums.gpu_hours);
    Fact {
        label,
        value: strings::fixed_count(&count(row.spec.min)),
        line: (late, strings::FIXED_SHORT.to_owned()),
        second: strings::gpu_hours(row.sums.gpu_hours),
        second_line: (change.clone(), change),
    }
}

#[cfg(test)]
mod tests {
    use scenario::FleetSpec;

    use super::*;

    fn slice(start_s: f64, ready: u32, late: u64, p99_s: f64) -> FleetSlice {
        FleetSlice {
            start_s,
            offered: 200,
            served: 200,
            slo_met: 200 - late,
            rejected: 0,
            ttft_s: (Some(0.1), Some(p99_s)),
            waiting: late * 2,
            deferred: 0,
            running: 10,
            kv: (0.1, 0.2),
            replicas: [0, 0, ready, 0],
            asked: 6,
        }
    }

    fn sums(late: u64, gpu_hours: f64) -> FleetSums {
        FleetSums {
            offered: 400,
            completed: 400,
            rejected: 0,
            in_flight: 0,
            slo_met: 400 - late,
            ttft_s: (Some(0.1), Some(2.0)),
            tpot_p99_s: Some(0.02),
            gpu_hours,
            busy: 0.75,
            peak_ready: 6,
            started: 6,
            restarted: 0,
        }
    }

    /// Two windows, in the second of which half are late though all six replicas are ready.
    fn answer() -> FleetAnswer {
        let slices = vec![slice(0.0, 2, 10, 0.5), slice(60.0, 6, 100, 53.2)];
        FleetAnswer {
            sums: sums(110, 2.0),
            window_s: 60.0,
            end_s: 120.0,
            gpus_per_replica: 1,
            slices,
        }
    }

    fn told(rows: Vec<FleetRow>, is_complete: bool) -> Card {
        let mut scenario = Scenario::preset();
        scenario.fleet.max = 6;
        let shown = Shown {
            asked: scenario.clone(),
            answered: Some((scenario.clone(), answer())),
            rows,
            is_complete,
        };
        card(&Resolution::new(scenario), Some(&shown), &Activity::Idle, false)
    }

    fn facts(card: Card) -> [Fact; 4] {
        let Right::Facts(facts) = card.right else { panic!("{:?}", card.right) };
        *facts
    }

    fn row(policy: &str, min: u64, start_s: f64, late: u64) -> FleetRow {
        let place = scenario::FLEET_POLICIES.iter().position(|word| *word == policy);
        let policy = place.expect("a policy") as u8;
        let spec = FleetSpec { policy, min, start_s, ..Scenario::preset().fleet };
        FleetRow { spec, sums: sums(late, 1.5) }
    }

    #[test]
    fn the_card_tells_the_share_that_is_late_and_the_worst_window() {
        let card = told(Vec::new(), false);
        assert_eq!((card.hero.as_str(), card.pill.tone), ("27.5\u{202f}%", "bad"));
        assert_eq!(card.qualifier, "110 of 400");
        let [worst, limit, hours, fixed] = facts(card);
        assert_eq!(
            (worst.value.as_str(), worst.line.0.as_str()),
            ("53.2\u{202f}s", "P99 TTFT, at 1:00")
        );
        assert_eq!(worst.second, "200 waiting");
        assert_eq!((limit.value.as_str(), limit.line.0.as_str()), ("–", "being tried"));
        assert_eq!(
            (hours.value.as_str(), hours.second.as_str()),
            ("2\u{202f}h", "25\u{202f}% idle")
        );
        assert_eq!(fixed.line.0, "being tried");
    }

    #[test]
    fn what_limits_it_is_what_was_tried() {
        let limit = |rows, is_complete| {
            let [_, limit, ..] = facts(told(rows, is_complete));
            limit.value
        };
        assert_eq!(limit(vec![row("hpa", 1, 5.0, 20)], false), "Start delay");
        let slow = row("hpa", 1, 5.0, 100);
        assert_eq!(limit(vec![slow, row("fixed", 4, 60.0, 0)], true), "Autoscaler");
        assert_eq!(limit(vec![slow, row("fixed", 12, 60.0, 50)], true), "Most replicas");
        // Of a run that is too long to be tried with others, only what it shows is told.
        assert_eq!(limit(Vec::new(), true), "Most replicas");
    }

    #[test]
    fn the_fewest_fixed_are_told_once_all_have_been_tried() {
        let rows =
            || vec![row("fixed", 6, 60.0, 0), row("fixed", 4, 60.0, 3), row("fixed", 3, 60.0, 90)];
        let fixed = |is_complete| {
            let [.., fixed] = facts(told(rows(), is_complete));
            fixed
        };
        assert_eq!(fixed(false).value, "–");
        assert_eq!(
            (fixed(true).value.as_str(), fixed(true).second_line.0.as_str()),
            ("4 fixed", "25\u{202f}% less than this")
        );
    }

    #[test]
    fn an_older_answer_is_no_answer_to_new_settings() {
        let shown = Shown {
            asked: Scenario::preset(),
            answered: Some((Scenario::preset(), answer())),
            rows: Vec::new(),
            is_complete: true,
        };
        let mut scenario = Scenario::preset();
        scenario.rate_per_s = 50.0;
        let now = Activity::Running(620, 1000);
        let card = card(&Resolution::new(scenario), Some(&shown), &now, false);
        assert_eq!((card.hero.as_str(), card.pill.text.as_str()), ("–", "62\u{202f}%"));
    }
}
