//! Sentences about a single run: what happened in it, and how far its figures can be trusted.

use quantity::{count, counted, duration, number, rate, share, with_unit};

/// “2,000 requests sent, 2,000 finished in 1 min 41 s.”
pub(crate) fn run_counts(offered: u64, completed: u64, duration_s: f64) -> String {
    format!(
        "{} sent, {} finished in {}.",
        counted(offered, "request", "requests"),
        count(completed),
        duration(duration_s)
    )
}

/// “12 turned away: they can never fit into the KV cache.”
pub(crate) fn run_rejected(rejected: u64) -> String {
    let they = if rejected == 1 { "it" } else { "they" };
    format!("{} turned away: {they} can never fit into the KV cache.", count(rejected))
}

/// “19.4 req/s finished, 19.4 req/s within the target (TTFT 1 s, TPOT 40 ms), 4,970 tok/s.”, where
/// `target` is that of all requests; classes have their own.
pub(crate) fn run_rates(
    finished_per_s: f64,
    good_per_s: f64,
    target: Option<(f64, f64)>,
    tokens_per_s: f64,
) -> String {
    let target = match target {
        Some((ttft_s, tpot_s)) => {
            format!("the target (TTFT {}, TPOT {})", duration(ttft_s), duration(tpot_s))
        }
        None => "the target of their class".to_owned(),
    };
    format!(
        "{} finished, {} within {target}, {}.",
        rate(finished_per_s),
        rate(good_per_s),
        quantity::token_rate(tokens_per_s)
    )
}

/// “99.95 % of all requests met the target.”
pub(crate) fn run_share(met: u64, offered: u64) -> String {
    let part = if offered == 0 { 0.0 } else { met as f64 / offered as f64 };
    let noun = if offered == 1 { "request" } else { "requests" };
    format!("{} {noun} met the target: {}.", quantity::count_of(met, offered), share(part))
}

/// “5 replicas got the requests in turn. Of one of them:”
pub(crate) fn run_replicas(replicas: u64, by_session: bool) -> String {
    let what = if by_session { "sessions, each with all its turns," } else { "requests" };
    format!("{} replicas got the {what} in turn. On one of them:", count(replicas))
}

pub(crate) const IN_POOLS: &str = "in pools";

/// “2 prefill replicas were busy for 73 % of the time, 1 decode replica for 41 %.”
#[must_use]
pub fn run_pools(prefill: (usize, f64), decode: (usize, f64)) -> String {
    let pool = |(number, busy): (usize, f64), one: &str, many: &str, verb: [&str; 2]| {
        let verb = verb[usize::from(number != 1)];
        format!("{}{verb} for {}", counted(number as u64, one, many), share(busy))
    };
    format!(
        "{} of the time, {}.",
        pool(prefill, "prefill replica", "prefill replicas", [" was busy", " were busy"]),
        pool(decode, "decode replica", "decode replicas", ["", ""])
    )
}

/// “1,990 KV caches of 58.7 MB on average were sent: 3.4 ms each from the first token to the decode
/// replica, 1.2 ms of them waiting for the link. Links were sending for 12 % of the time.”
#[must_use]
pub fn run_transfers(
    number: u64,
    mean_bytes: f64,
    (mean_s, wait_s): (f64, f64),
    busy: f64,
) -> String {
    format!(
        "{} of {} on average went over the links, {} each from the first token to the decode \
         replica, {} of it waiting for the link. Links were sending for {} of the time.",
        counted(number, "KV cache", "KV caches"),
        quantity::memory(mean_bytes),
        duration(mean_s),
        duration(wait_s),
        share(busy)
    )
}

/// “3 times a running request lost its KV cache; 240 tokens were computed again.”
pub(crate) fn run_preempted(preemptions: u64, recomputed_tokens: u64) -> String {
    format!(
        "{} a running request lost its KV cache; {} computed again.",
        counted(preemptions, "time", "times"),
        counted(recomputed_tokens, "token was", "tokens were")
    )
}

/// “The prefix cache held 24,800 tokens, which were not computed again.”
pub(crate) fn run_cached(cached_tokens: u64) -> String {
    let tokens = counted(cached_tokens, "token, which was", "tokens, which were");
    format!("The prefix cache held {tokens} not computed again.")
}

/// “12.3 requests ran at once on average, 45 at most; 61,568 of 959,123 tokens of KV at most.”
pub(crate) fn run_load(mean_running: f64, peak: u64, kv_peak: u64, kv_capacity: u64) -> String {
    let mean = number(mean_running);
    let noun = if mean == "1" { "request" } else { "requests" };
    if kv_capacity == u64::MAX {
        let peak = count(peak);
        return format!(
            "{mean} {noun} ran at once on average, {peak} at most; batches that are served whole take no \
             account of the KV cache."
        );
    }
    format!(
        "{mean} {noun} ran at once on average, {} at most; at most {} tokens of KV cache were reserved.",
        count(peak),
        quantity::count_of(kv_peak, kv_capacity)
    )
}

/// “Overloaded: in the second half 1,200 requests came and 900 left.”
pub(crate) fn run_overloaded(came: u64, left: u64) -> String {
    format!(
        "Overloaded: in the second half of the time {} came and {} left, and the line grew.",
        counted(came, "request", "requests"),
        count(left)
    )
}

/// “Overloaded: of 9,876 requests that ended in the second half of the time, 0 got an answer …”
pub(crate) fn run_unanswered(ended: u64, answered: u64) -> String {
    let (ended, answered) = (count(ended), count(answered));
    format!(
        "Overloaded: of {ended} requests that ended in the second half of the time, {answered} got an answer; \
         the others were rejected, dropped or given up."
    )
}

/// “In steady state, after a warm-up of 8 s, with 95 % intervals:”
pub(crate) fn steady_state(warm_up_s: f64) -> String {
    let after = if warm_up_s > 0.0 {
        format!("after a warm-up of {}", duration(warm_up_s))
    } else {
        "with no warm-up to leave out".to_owned()
    };
    format!("In steady state, {after}, with {} intervals:", with_unit("95", "%"))
}

/// “P99 from 240 requests is its third-largest value; for ± 10 % it takes about 1,800 requests.”
pub(crate) fn sample_advice(requests: u64, rank: &str, needed: u64) -> String {
    format!(
        "P99 from {} is its {rank} value; for ±\u{202f}10\u{202f}% it takes about {}.",
        counted(requests, "request", "requests"),
        counted(needed, "request", "requests")
    )
}

/// Where the latencies of an overloaded run are, if not in its text.
pub(crate) const POOLS_KEPT: &str =
    "--json and --requests-out keep what was measured in this finite run.";

/// Why latencies of the pools, or of replicas that do both, are withheld.
#[must_use]
pub const fn pools_overloaded((apart, together): (bool, bool)) -> &'static str {
    match (apart, together) {
        (true, true) => {
            "Both are overloaded: more came than left, so they have no latencies to stand behind."
        }
        (true, false) => {
            "The pools are overloaded: more came than left. Other numbers of prefill and decode replicas may carry this load."
        }
        _ => "The replicas that do both are overloaded: more came than left.",
    }
}
