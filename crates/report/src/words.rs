//! Every sentence about an answer or a run. Slots are arguments; no sentence is built elsewhere. The
//! page, the command line and the files say the same.

mod run;

use planner::{Estimate, Remedy};
use quantity::{
    about, count, counted, duration, editable, number, number_to, rate, share, with_interval,
    with_unit,
};

pub(crate) use run::{
    IN_POOLS, POOLS_KEPT, run_cached, run_counts, run_load, run_overloaded, run_preempted,
    run_rates, run_rejected, run_replicas, run_share, run_unanswered, sample_advice, steady_state,
};
pub use run::{pools_overloaded, run_pools, run_transfers};

pub(crate) const DOES_NOT_FIT: &str = "Does not fit";
pub(crate) const NO_ROOM: &str = "No room";
pub(crate) const CHANGES_THAT_WORK: &str = "Smallest changes that work";
pub(crate) const CHANGES_THAT_FIT: &str = "Smallest changes that make it fit";
pub(crate) const CHANGES_THAT_RUN: &str = "Smallest changes that make it run";
pub(crate) const TARGET_STAYS_OUT_OF_REACH: &str =
    "What is offered lets it run; no change that we know of meets the target, too.";
pub(crate) const OUT_OF_REACH: &str = "Out of reach";
pub(crate) const NO_ANSWER: &str = "No answer";
pub(crate) const STABLE: &str = "Stable";
pub(crate) const CLOSE_CALL: &str = "Close call";
pub(crate) const WITHHELD_STATUS: &str = "P99 withheld";
pub(crate) const WITHHELD: &str = "withheld";
pub(crate) const NOTHING_HELPS: &str =
    "No change that we know of helps: check the numbers that were typed.";
/// “one GPU”, “one engine of 4 GPUs”.
#[must_use]
pub fn one_server(gpus_each: u64) -> String {
    of_engines("one GPU".to_owned(), gpus_each)
}

/// A sentence about one GPU, where an engine has several.
pub(crate) fn of_engines(sentence: String, gpus_each: u64) -> String {
    if gpus_each == 1 {
        return sentence;
    }
    let one = ["ne engine of ", &count(gpus_each), " GPUs"].concat();
    sentence.replace("ne GPU", &one)
}

/// “6 GPUs”; “6 engines” where each has several.
fn servers(number: u64, gpus_each: u64) -> String {
    if gpus_each == 1 {
        return counted(number, "GPU", "GPUs");
    }
    counted(number, "engine", "engines")
}

/// What makes intervals half as wide.
pub const RUN_LONGER: &str = "run 4 times longer";
pub(crate) const WITHHELD_NOTE: &str = "Withheld: at such a rate the queue grows for as long as the load lasts, so a latency would only tell how long we watched.";
pub(crate) const UNSETTLED_NOTE: &str =
    "*: most runs ended before the engine had settled, or were too short to tell; run longer.";
pub(crate) const FINITE_RUN: &str =
    "This is what happened in one finite run, warm-up included; it is no promise.";

pub(crate) const RUN_STABLE: &str =
    "Stable: in the second half the number in flight shows no trend.";
pub(crate) const RUN_KEEPS_UP: &str =
    "It keeps up: the rate changes over time, and no line is left that grows.";
pub(crate) const RUN_STILL_CHANGING: &str =
    "Not settled: the number in flight still rises or falls in the second half; run longer.";
pub(crate) const RUN_TOO_SHORT: &str = "Too short to tell whether it keeps up; run longer.";
pub(crate) const NO_STEADY_STATE: &str =
    "There are no intervals: there is no steady state that they could be of.";
pub(crate) const NO_ALIKE_BATCHES: &str =
    "There are no intervals: the rate changes over time, so no two parts of the run are alike.";
/// What can be done about it where requests are drawn.
pub(crate) const COMPARE_SEEDS: &str = " Compare several seeds.";
pub(crate) const NO_INTERVALS: &str = "There are no intervals: the run is too short for them.";
pub(crate) const CORRELATED: &str = "too short for its swings: the interval is wider";
pub(crate) const UNANSWERED_NOTE: &str = "A percentile is withheld where more requests than it leaves out get no answer: rejected, dropped, given up or held back.";

/// A load is so many requests per second, or so many users of a closed loop.
pub(crate) const RATE: &str = "req/s";
pub(crate) const USERS: &str = "users";

/// “22.4 req/s”, “312 users”.
fn load(value: f64, unit: &str) -> String {
    in_unit(&number(value), unit)
}

/// A written load with its unit: “1 user”.
fn in_unit(text: &str, unit: &str) -> String {
    with_unit(text, if text == "1" && unit == USERS { "user" } else { unit })
}

/// “100 req/s”, “1,250 users”: what was asked, users to the last.
fn asked_load(value: f64, unit: &str) -> String {
    let text = if unit == USERS { editable(value) } else { number(value) };
    in_unit(&text, unit)
}

/// “H100 GPUs for 100 req/s”.
pub(crate) fn headline(gpu: &str, gpus: u64, asked: f64, unit: &str) -> String {
    let noun = if gpus == 1 { "GPU" } else { "GPUs" };
    format!("{gpu} {noun} for {}", asked_load(asked, unit))
}

/// “H100 for 90 req/s”.
pub(crate) fn headline_close(gpu: &str, asked: f64, unit: &str) -> String {
    format!("{gpu} for {}", asked_load(asked, unit))
}

/// “5–6”, all digits; “5 or more” where the capacity may be nothing at all.
pub(crate) fn gpus_between(low: u64, high: u64) -> String {
    if high == u64::MAX {
        return format!("{} or more", count(low));
    }
    format!("{}–{}", count(low), count(high))
}

/// “with 25 % headroom; ≈ 5 would do without”, and the same where there is little room: before all runs
/// are in. Whether fewer would do is not known yet.
pub(crate) fn qualifiers_so_far(headroom: f64, without: u64, carried: &str) -> [String; 2] {
    let with = with_headroom(headroom);
    if headroom <= 0.0 {
        return [["no headroom: ", &about(carried), " is the most they carry"].concat(), with];
    }
    let without = about(&count(without));
    [
        [&with, "; ", &without, " would do without"].concat(),
        [&with, "; ", &without, " without"].concat(),
    ]
}

/// “with 25 % headroom; 5 would do without”.
pub(crate) fn qualifier(headroom: f64, with: u64, without: u64, carried: &str) -> String {
    if headroom <= 0.0 {
        format!("no headroom: {carried} is the most they carry")
    } else if with == without {
        format!("with {} headroom; no fewer would do", share(headroom))
    } else {
        format!("with {} headroom; {} would do without", share(headroom), count(without))
    }
}

/// “with 25 % headroom; 5 without”, where there is little room.
pub(crate) fn qualifier_short(headroom: f64, with: u64, without: u64) -> String {
    if headroom <= 0.0 || with == without {
        with_headroom(headroom)
    } else {
        format!("with {} headroom; {} without", share(headroom), count(without))
    }
}

/// “with 25 % headroom”.
#[must_use]
pub fn with_headroom(headroom: f64) -> String {
    if headroom <= 0.0 {
        "no headroom".to_owned()
    } else {
        format!("with {} headroom", share(headroom))
    }
}

/// “One GPU sustains about 22.4 req/s at this target (22.0 to 22.9, 95 %); 6 carry 134 req/s.”
pub(crate) fn sustains(capacity: &Estimate, gpus: u64, unit: &str) -> String {
    let one = format!("One GPU sustains about {} at this target", load(capacity.value, unit));
    let interval = interval(capacity);
    if gpus == 1 {
        return format!("{one}{interval}.");
    }
    format!("{one}{interval}; {} carry {}.", count(gpus), carried(capacity, gpus, unit))
}

/// “134 req/s”.
pub(crate) fn carried(capacity: &Estimate, gpus: u64, unit: &str) -> String {
    load(capacity.value * gpus as f64, unit)
}

/// “134 req/s at this target (132 to 137, 95 %)”.
pub(crate) fn carried_load(load_of_all: &Estimate, unit: &str) -> String {
    format!("{} at this target{}", load(load_of_all.value, unit), interval(load_of_all))
}

/// “22.4 req/s”, “312 users”.
pub(crate) fn load_text(value: f64, unit: &str) -> String {
    load(value, unit)
}

/// “ (22.0 to 22.9, 95 %)”, or nothing where no interval is known or its ends read the same.
fn interval(estimate: &Estimate) -> String {
    if number(estimate.low) == number(estimate.high) {
        return String::new();
    }
    let all = with_interval(estimate.value, estimate.low, estimate.high);
    let ends = all.split_once('(').map_or(all.as_str(), |(_, ends)| ends);
    format!(" ({}, {})", ends.trim_end_matches(')'), with_unit("95", "%"))
}

/// “100 req/s × 1.25 ÷ 22.6 req/s = 5.53, so 6 GPUs.” Who computes it after us finds the same.
pub(crate) fn arithmetic(
    asked: f64,
    headroom: f64,
    capacity: f64,
    (engines, gpus_each): (u64, u64),
    unit: &str,
) -> String {
    let factor = 1.0 + headroom;
    let times = times(factor);
    let (capacity, quotient) = sum_that_holds(asked * factor, capacity, engines);
    let mut so = servers(engines, gpus_each);
    if gpus_each > 1 {
        so = [&so, ", ", &counted(engines.saturating_mul(gpus_each), "GPU", "GPUs")].concat();
    }
    format!(
        "{}{times} ÷ {} = {quotient}, so {so}.",
        in_unit(&editable(asked), unit),
        in_unit(&capacity, unit),
    )
}

/// “ × 1.25”; nothing without headroom.
fn times(factor: f64) -> String {
    if factor > 1.0 { format!(" × {}", editable(factor)) } else { String::new() }
}

/// Capacity and quotient with as few digits, three or more, as make the shown quotient that of the
/// shown numbers, and the number of GPUs what it rounds up to.
fn sum_that_holds(wanted: f64, capacity: f64, gpus: u64) -> (String, String) {
    const DIGITS: std::ops::Range<usize> = 3..12;
    let quotient = wanted / capacity;
    // No digit before the point is rounded away.
    let mut least = 1;
    let mut power = 10.0;
    while power <= quotient && least < DIGITS.end {
        (least, power) = (least + 1, power * 10.0);
    }
    let rounds_up = |digits: &usize| {
        let shown = quantity::rounded_to(quotient, *digits).ceil();
        sim_core::float::greater(1.0, shown) == gpus as f64
    };
    let mut enough = (least.max(DIGITS.start)..DIGITS.end).filter(rounds_up);
    let digits = enough.next().unwrap_or(DIGITS.end);
    let text = number_to(quotient, digits);
    let gives_it = |of_capacity: &usize| {
        let shown = quantity::rounded_to(capacity, *of_capacity);
        number_to(wanted / shown, digits) == text
    };
    let of_capacity = DIGITS.clone().find(gives_it).unwrap_or(DIGITS.end);
    (number_to(capacity, of_capacity), text)
}

/// “Each then gets 16.7 req/s: P99 TTFT 181 ms of 1 s, P99 TPOT 15.2 ms of 40 ms.”
pub(crate) fn planned(gets: &str, ttft: (f64, f64), tpot: (f64, f64)) -> String {
    format!(
        "Each then gets {gets}: P99 TTFT {} of {}, P99 TPOT {} of {}.",
        duration(ttft.0),
        duration(ttft.1),
        duration(tpot.0),
        duration(tpot.1)
    )
}

/// “Each then gets 16.7 req/s: 99.6 % of requests within the target of their class, P99 TTFT 181 ms
/// and P99 TPOT 15.2 ms over all classes.”
pub(crate) fn planned_by_class(gets: &str, met: f64, ttft_s: f64, tpot_s: f64) -> String {
    format!(
        "Each then gets {gets}: {} of requests within the target of their class, P99 TTFT {} and \
         P99 TPOT {} over all classes.",
        share(met),
        duration(ttft_s),
        duration(tpot_s)
    )
}

/// “chat, 60 %: TTFT 500 ms, TPOT 40 ms”.
pub(crate) fn class(name: &str, part: f64, ttft_s: f64, tpot_s: f64) -> String {
    format!("{name}, {}: TTFT {}, TPOT {}", share(part), duration(ttft_s), duration(tpot_s))
}

/// Which target each class is held to.
pub(crate) fn classes(kinds: &[String]) -> String {
    format!("Each request is held to the target of its class ({}).", kinds.join("; "))
}

/// “chat, 99.6 % in target, P99 TTFT 181 ms, P99 TPOT 15.2 ms”.
pub(crate) fn class_figures(
    name: &str,
    met: f64,
    ttft_s: Option<f64>,
    tpot_s: Option<f64>,
) -> String {
    format!(
        "{name}, {} in target, P99 TTFT {}, P99 TPOT {}",
        share(met),
        quantity::duration_or_unknown(ttft_s),
        quantity::duration_or_unknown(tpot_s)
    )
}

/// What each class gets at the planned load.
pub(crate) fn by_class(told: &[String]) -> String {
    format!("At the planned load: {}.", told.join("; "))
}

/// “In class rag: at no load …”.
pub(crate) fn of_class(class: &str, sentence: &str) -> String {
    format!("In class {class}: {sentence}")
}

/// That a rate which changes over time is planned for at its peak.
pub(crate) fn peak(peak_per_s: f64, rate_per_s: f64, factor: f64) -> String {
    let product = if factor == 1.0 {
        String::new()
    } else {
        format!(" ({} × {})", number(factor), rate(rate_per_s))
    };
    format!(
        "The rate changes over time: this is sized for its peak, {}{product}, as if it stayed \
         there; what a GPU sustains is measured at a steady rate.",
        rate(peak_per_s)
    )
}

/// That the runs see few bursts.
pub(crate) fn few_bursts(requests: u64, seen: f64, wanted: f64) -> String {
    let seen = number(seen);
    let rounds = if seen == "1" { "round" } else { "rounds" };
    format!(
        "A run of {} lasts for about {seen} {rounds} of burst and lull, so its numbers depend on \
         which; sim.requests={} would see 20.",
        counted(requests, "request", "requests"),
        two_digits_up(wanted)
    )
}

/// Rounded up to two digits, as one would type it.
fn two_digits_up(value: f64) -> u64 {
    let mut unit = 1.0;
    while value >= unit * 100.0 {
        unit *= 10.0;
    }
    // A float beyond the range of u64 saturates.
    ((value / unit).ceil() * unit) as u64
}

/// For a planned load that one GPU cannot finish.
pub(crate) fn planned_unstable(gets: &str) -> String {
    format!("Each would get {gets}. {WITHHELD_NOTE}")
}

/// For a planned load at which so many requests get no answer that there is no P99.
pub(crate) fn planned_unanswered(gets: &str, met: f64) -> String {
    format!(
        "Each then gets {gets}: {} of requests within the target. {UNANSWERED_NOTE}",
        share(met)
    )
}

/// “16.7 req/s”, “66 users, who come to 16.1 req/s”.
pub(crate) fn gets(rate_per_s: f64, users: Option<f64>) -> String {
    let rate = rate(rate_per_s);
    match users {
        Some(users) => format!("{}, who come to {rate}", asked_load(users, USERS)),
        None => rate,
    }
}

/// Who waits for whom where batches are served whole.
pub(crate) fn batches_are_whole(is_sequential: bool) -> String {
    let words = if is_sequential {
        "Requests are served one at a time: whoever comes while one is served waits until its answer is done."
    } else {
        "Batches are served whole: whoever comes while one runs waits until its longest answer is done."
    };
    words.to_owned()
}

/// When a batch starts.
pub(crate) fn batches_wait(most: u64, delay_s: f64) -> String {
    format!(
        " A batch waits for {} or until the first has waited {}.",
        counted(most, "request", "requests"),
        duration(delay_s)
    )
}

/// Why batches that are served whole hold a target at next to no load.
pub(crate) fn batches_are_too_long(lone_s: f64, target_s: f64) -> String {
    format!(
        " Even a request alone takes {}, longer than the TTFT target of {}: a GPU holds the target only \
         while hardly anybody comes before it is idle again. sched.rules=reference lets requests in at \
         every step.",
        duration(lone_s),
        duration(target_s)
    )
}

/// What it means that requests are turns of sessions.
pub(crate) const SESSIONS: &str = "Requests are turns of sessions: the prompt of each is the conversation so far and a new one, and it is sent some time after the last answer; the rate is that of turns.";

/// What the users of a closed loop come to.
pub(crate) fn users(think_s: f64, on_schedule: bool, each_per_s: f64) -> String {
    let pace = if on_schedule {
        format!("Each user means to send a request every {}", duration(think_s))
    } else if think_s <= 0.0 {
        "Each user sends the next request at once".to_owned()
    } else {
        format!("Each user thinks for {} on average before the next request", duration(think_s))
    };
    format!("{pace}; as many as one GPU sustains come to {}.", rate(each_per_s))
}

/// “At the planned load 0.4 % of requests get no answer; …”
pub(crate) fn unanswered(part: f64) -> String {
    format!(
        "At the planned load {} of requests get no answer: they count as missing the target, and \
         latencies are those of the others.",
        share(part)
    )
}

/// “One GPU can finish at most 24.2 req/s at all (24.1 to 24.3, 95 %), whatever the target.”
pub(crate) fn ceiling(ceiling_per_s: &Estimate) -> String {
    format!(
        "One GPU can finish at most {} at all{}, whatever the target.",
        rate(ceiling_per_s.value),
        interval(ceiling_per_s)
    )
}

/// Why a capacity lies just below what can be finished at all.
pub(crate) fn at_limit(margin: f64) -> String {
    format!(
        "That is the limit of stability less {}: the target is met up to it, but at the limit itself \
         the queue grows without bound, and these runs cannot tell rates closer to it.",
        share(margin)
    )
}

/// How far a tail can be trusted that comes from few requests.
pub(crate) fn few_requests(requests: u64, rank_from_top: u64, needed: u64) -> String {
    let noun = if requests == 1 { "request is" } else { "requests are" };
    let place = match rank_from_top {
        1 => "the largest value".to_owned(),
        rank => format!("number {} from the top", count(rank)),
    };
    format!(
        "{} {noun} few: their P99 is {place}; for ± 10 % it takes about {} requests.",
        count(requests),
        count(two_digits_up(needed as f64))
    )
}

/// “From 8 runs of 2,000 requests per rate, for the capacity longer ones without their start: 123,456
/// requests simulated in 2,345,678 steps.” One run alone counts as a whole.
pub(crate) fn effort(replications: u32, requests: u64, simulated: u64, steps: u64) -> String {
    format!(
        "From {} of {} per rate{}: {} simulated in {}.",
        counted(u64::from(replications), "run", "runs"),
        counted(requests, "request", "requests"),
        if replications > 1 { ", for the capacity longer ones without their start" } else { "" },
        counted(simulated, "request", "requests"),
        counted(steps, "step", "steps")
    )
}

/// The arithmetic of a close call and the first way out; the other one, [`RUN_LONGER`], follows.
pub(crate) fn close_call(
    asked: f64,
    headroom: f64,
    (few, many, gpus_each): (u64, u64, u64),
    capacity: &Estimate,
    unit: &str,
) -> String {
    let factor = 1.0 + headroom;
    let needed = asked * factor / few as f64;
    // What is needed lies within the interval, and is to be seen to.
    let [low, each, high] = [0, 1, 2].map(|index| {
        let shown = quantity::distinct(&[capacity.low, needed, capacity.high]);
        shown.into_iter().nth(index).unwrap_or_default()
    });
    let held = if low == high { low } else { format!("{low} to {high}") };
    let need = format!(
        "{}{} needs {} from each of {}. One GPU holds {held}.",
        editable(asked),
        times(factor),
        in_unit(&each, unit),
        servers(few, gpus_each),
    );
    if many == u64::MAX {
        return format!("{need} To narrow that,");
    }
    format!("{need} Take {}, or", count(many))
}

/// Why the model is too large.
pub(crate) fn does_not_fit(
    model: &str,
    gpu: &str,
    weight_bytes: f64,
    available_bytes: f64,
) -> String {
    format!(
        "{model} has {} of weights. One {gpu} leaves {} for weights and KV cache.",
        quantity::memory(weight_bytes),
        quantity::memory(available_bytes)
    )
}

/// Why no request can run.
pub(crate) fn no_room(
    (capacity_tokens, is_typed): (u64, bool),
    needed_tokens: u64,
    class: Option<&str>,
) -> String {
    let what =
        if is_typed { "The KV cache (kv.capacity_tokens)" } else { "Weights fit. What is left" };
    let whose = class.map_or_else(String::new, |class| [" of class ", class].concat());
    let capacity = counted(capacity_tokens, "token", "tokens");
    let needed = count(needed_tokens);
    [what, " holds ", &capacity, " of KV; one request", &whose, " needs ", &needed, "."].concat()
}

/// Why no load meets the target for the time to first token.
pub(crate) fn ttft_out_of_reach(target_s: f64, floor_s: f64) -> String {
    format!(
        "At no load is TTFT under {}: prefill alone takes {}.",
        duration(target_s),
        duration(floor_s)
    )
}

/// Why no load meets the target for the time per token.
pub(crate) fn tpot_out_of_reach(target_s: f64, floor_s: f64) -> String {
    format!(
        "At no load is TPOT under {}: even alone a request waits {} for each token.",
        duration(target_s),
        duration(floor_s)
    )
}

/// Why no load meets the target where a lone request would.
pub(crate) fn share_out_of_reach(target_share: f64) -> String {
    format!(
        "A lone request meets the target, but at no load that was simulated do {} of requests.",
        share(target_share)
    )
}

/// “Try gpu=h200-sxm (141 GB of memory): then 7 GPUs hold the target.”
pub(crate) fn remedy(remedy: &Remedy) -> String {
    let then = match (remedy.gpus, remedy.gpus_range) {
        (None, _) => String::new(),
        (Some(_), Some((low, high))) if low != high => {
            format!(": then {}–{} GPUs hold the target", count(low), count(high))
        }
        (Some(1), _) => ": then 1 GPU holds the target".to_owned(),
        (Some(gpus), _) => format!(": then {} GPUs hold the target", count(gpus)),
    };
    format!("Try {} ({}){then}.", remedy.typed(), remedy.effect)
}

/// That the runs at the planned load have not settled.
pub(crate) fn unsettled(requests: u64) -> String {
    format!(
        "At the planned load most runs of {} end before the engine has settled; more of them \
         (sim.requests) would tell more.",
        counted(requests, "request", "requests")
    )
}
