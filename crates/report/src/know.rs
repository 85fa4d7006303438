//! How we know, in words: the same for the page and the terminal.

use planner::{
    Compared, MOST_QUEUES_OUTSIDE, Plateau, PlateauKind, Printed, ProofAnswer, PublishedCell,
    Queue, State, Truth, TruthKind,
};
use quantity::{NARROW_SPACE, count, duration, number, share};

/// The share of comparisons that a 99 % interval leaves out by chance.
const OUTSIDE_BY_CHANCE: f64 = 0.01;

/// What a truth says.
#[must_use]
pub const fn truth_title(kind: TruthKind) -> &'static str {
    match kind {
        TruthKind::Conservation => "Sent = answered + turned away + dropped + in flight",
        TruthKind::LittlesLaw => "Little’s law: L = λ W",
        TruthKind::Slots => "Running at once ≤ slots",
        TruthKind::Memory => "KV cache in use ≤ its capacity",
        TruthKind::Ceiling => "Throughput ≤ what the arithmetic allows",
        TruthKind::Utilisation => "Time at work ≤ time",
        TruthKind::WorkConservation => "No server idles while somebody waits",
        TruthKind::Misses => "Late and unanswered requests count as misses",
        TruthKind::Percentiles => "A percentile comes from all values, never from averages",
        TruthKind::Causality => "No answer comes before its question",
        TruthKind::TwoEngines => "Fast engine = obvious engine",
        TruthKind::SameBits => "The same set-up gives the same bits",
        TruthKind::Queues => "Queueing theory lies in the simulation’s intervals",
        TruthKind::Plateaus => "Full engines finish what closed forms say",
        TruthKind::Published => "Published tables are reproduced",
    }
}

/// Both sides of a truth as they were found: “2,000 = 1,987 + 13 + 0 + 0”. Empty before it was
/// looked at.
#[must_use]
pub fn truth_figures(truth: &Truth) -> String {
    if truth.checks == 0 {
        return String::new();
    }
    let [a, b, c, d, e] = truth.figures;
    let n = |value: f64| count(value as u64);
    match truth.kind {
        TruthKind::Conservation => format!("{} = {} + {} + {} + {}", n(a), n(b), n(c), n(d), n(e)),
        TruthKind::LittlesLaw => {
            format!("{} = {}/s × {}", number(a / d), number(c / d), duration(b / c))
        }
        TruthKind::Slots => format!("closest: {} of {}", n(a), n(b)),
        TruthKind::Memory => format!("closest: {} of {} tokens", n(a), n(b)),
        TruthKind::Ceiling => format!("at most {} of it", share(a)),
        TruthKind::Utilisation => format!("at most {} of it", share(a)),
        TruthKind::WorkConservation => {
            format!("{}{NARROW_SPACE}s at work = {}{NARROW_SPACE}s with work", n(a), n(b))
        }
        TruthKind::Misses => {
            format!("{} of {} met their target, by books and by requests", n(a), n(c))
        }
        TruthKind::Percentiles => format!(
            "P99 {} = {}; averaged windows would say {}",
            duration(a),
            duration(b),
            duration(c)
        ),
        TruthKind::Causality => format!("{} answers; the soonest after {}", n(a), duration(b)),
        TruthKind::TwoEngines => {
            format!("{} requests alike, times to {} digits", n(a), digits(b))
        }
        TruthKind::SameBits => format!("{} runs repeated, all alike", n(a)),
        TruthKind::Queues => format!("{} of {} inside. {}", n(a), n(b), queues_outside(truth)),
        TruthKind::Plateaus => format!("{} of {}; the furthest off by {}", n(a), n(b), share(c)),
        TruthKind::Published => format!("{} of {} figures within sampling error", n(a), n(b)),
    }
}

/// What chance leaves outside the intervals, and how many would be more than that: without it, a
/// comparison that is outside looks like a truth that does not hold.
fn queues_outside(truth: &Truth) -> String {
    let compared = truth.figures[1];
    format!(
        "Expected outside: {}, one in a hundred; up to {} are no surprise, since the three figures of a \
         run lean alike.",
        number(OUTSIDE_BY_CHANCE * compared),
        count(MOST_QUEUES_OUTSIDE)
    )
}

/// Decimal digits in which two numbers agree that differ by this, relative.
fn digits(difference: f64) -> String {
    let digits = if difference > 0.0 { -libm::floor(libm::log10(difference)) - 1.0 } else { 15.0 };
    quantity::whole(sim_core::float::greater(digits, 0.0))
}

/// The truths that every build checks, the page's as the command line's.
pub(crate) fn listed(answer: &ProofAnswer) -> impl Iterator<Item = &Truth> {
    answer.truths.iter().filter(|truth| truth.kind != TruthKind::TwoEngines)
}

/// That the fast engines decide as the obvious ones do, which a page does not carry.
pub(crate) fn engines(answer: &ProofAnswer) -> Option<&Truth> {
    answer.truths.iter().find(|truth| truth.kind == TruthKind::TwoEngines)
}

/// “14 of 14 hold”, or what does not; of the truths that every build checks.
#[must_use]
pub fn know_headline(answer: &ProofAnswer) -> String {
    let count = |state| listed(answer).filter(|truth| truth.state == state).count();
    let all = listed(answer).count();
    match (count(State::Fails), count(State::Holds)) {
        (0, holding) => format!("{holding} of {all} hold"),
        (1, _) => format!("1 of {all} does not hold"),
        (failing, _) => format!("{failing} of {all} do not hold"),
    }
}

/// “220 random set-ups under 11 policies, 3,062,174 requests”.
#[must_use]
pub fn know_extent(answer: &ProofAnswer) -> String {
    format!(
        "{} random set-ups of every policy, {} requests, seed {}",
        count(answer.setups),
        count(answer.requests),
        answer.seed
    )
}

/// The queue's name in Kendall's notation.
#[must_use]
pub const fn queue_name(queue: Queue) -> &'static str {
    match queue {
        Queue::Exponential => "M/M/1",
        Queue::Constant => "M/D/1",
        Queue::Lognormal => "M/G/1",
        Queue::FourServers => "M/M/4",
    }
}

/// What is served, and by how many.
#[must_use]
pub const fn queue_words(queue: Queue) -> &'static str {
    match queue {
        Queue::Exponential => "exponential service",
        Queue::Constant => "constant service",
        Queue::Lognormal => "lognormal service",
        Queue::FourServers => "4 servers",
    }
}

/// “4.97 (4.61 to 5.33)”.
#[must_use]
pub fn compared(compared: &Compared) -> String {
    format!("{} ({})", number(compared.value), quantity::range(compared.low, compared.high))
}

/// What ran full.
#[must_use]
pub fn plateau_name(kind: PlateauKind) -> String {
    match kind {
        PlateauKind::WholeBatches { batch } => format!("Whole batches of {batch}: b/(a + cb)"),
        PlateauKind::Continuous { batch } => {
            format!("Continuous, {}: b/(a + cb)", quantity::counted(batch, "slot", "slots"))
        }
        PlateauKind::Roofline { input_tokens, output_tokens } => {
            format!("Roofline, {} in, {} out", count(input_tokens), count(output_tokens))
        }
    }
}

/// “4 % below”.
#[must_use]
pub fn plateau_deviation(plateau: &Plateau) -> String {
    let deviation = plateau.deviation();
    if deviation.abs() < 1e-6 {
        "the same".to_owned()
    } else if deviation < 0.0 {
        format!("{} below", share(-deviation))
    } else {
        format!("{} above", share(deviation))
    }
}

/// The published setting.
#[must_use]
pub const fn setting_name(setting: u32) -> &'static str {
    match setting {
        0 => "7B on H100 at 1 req/s",
        1 => "7B on H100 at 10 req/s",
        2 => "7B on H100 at 20 req/s",
        3 => "7B on H100 at 40 req/s",
        4 => "Batches of 8, 20 ms delay, 60 req/s",
        _ => "Batches of 32, 50 ms delay, 140 req/s",
    }
}

/// The published figure.
#[must_use]
pub const fn figure_name(figure: Printed) -> &'static str {
    match figure {
        Printed::TtftP50 => "TTFT P50",
        Printed::TtftP99 => "TTFT P99",
        Printed::TpotP99 => "TPOT P99",
        Printed::OutputTokens => "Output tokens/s",
        Printed::WithinTarget => "Within target",
        Printed::LatencyP50 => "Latency P50",
        Printed::LatencyP99 => "Latency P99",
        Printed::MeanBatch => "Mean batch",
    }
}

/// A printed figure in its unit.
#[must_use]
pub(crate) fn figure_value(figure: Printed, value: f64) -> String {
    match figure {
        Printed::OutputTokens | Printed::MeanBatch => number(value),
        Printed::WithinTarget => share(value),
        _ => duration(value),
    }
}

/// “printed” and “ours ± half” of a cell.
#[must_use]
pub fn cell_values(cell: &PublishedCell) -> [String; 2] {
    let printed = figure_value(cell.figure, cell.printed);
    let low = sim_core::float::greater(0.0, cell.ours - cell.half);
    let ours = format!(
        "{} to {}",
        figure_value(cell.figure, low),
        figure_value(cell.figure, cell.ours + cell.half)
    );
    [printed, ours]
}
