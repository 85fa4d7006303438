//! Policies on the same traffic: what each costs, and how it keeps the target.

use sim_core::fleet::outcome::LiveRun;

/// One policy's figures beside those of others.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyFigures {
    /// What it is called.
    pub name: String,
    /// Share of all requests that met their target.
    pub slo_share: f64,
    /// Minutes in windows below the target's share.
    pub violation_min: f64,
    /// Time to first token of 99 of 100, in seconds.
    pub ttft_p99_s: Option<f64>,
    /// GPU-hours that replicas held, from node to end.
    pub gpu_hours: f64,
    /// Those of them without a step running.
    pub wasted_gpu_hours: f64,
    /// GPU-hours of the nodes, free ones included.
    pub node_gpu_hours: f64,
    /// What the nodes cost, at the price that was given.
    pub cost: Option<f64>,
    /// Most replicas that were ready at once.
    pub peak_ready: u32,
    /// Replicas started.
    pub started: u64,
    /// Whether the target's share was met.
    pub holds: bool,
    /// Whether none of the others has as many requests in time for as few GPU-hours, and more of the
    /// one or less of the other.
    pub is_on_front: bool,
    /// Whether it is the cheapest of those that hold the target.
    pub is_cheapest: bool,
}

/// Put policies side by side, in their order. `window_s` is the width of the runs' windows,
/// `price_per_gpu_h` what a GPU costs an hour.
#[must_use]
pub fn compare_policies(
    runs: &[(String, LiveRun)],
    window_s: f64,
    price_per_gpu_h: Option<f64>,
) -> Vec<PolicyFigures> {
    let figures = |(name, run): &(String, LiveRun)| {
        let slo_share = run.total.slo_share();
        PolicyFigures {
            name: name.clone(),
            slo_share,
            violation_min: run.violation_min(window_s),
            ttft_p99_s: run.total.ttft.percentile(99.0),
            gpu_hours: run.held_gpu_hours(),
            wasted_gpu_hours: run.wasted_gpu_hours(),
            node_gpu_hours: run.gpu_hours(),
            cost: price_per_gpu_h.map(|price| price * run.gpu_hours()),
            peak_ready: run.peak_ready,
            started: run.decided,
            holds: slo_share >= run.total.slo.share,
            is_on_front: false,
            is_cheapest: false,
        }
    };
    let mut all: Vec<PolicyFigures> = runs.iter().map(figures).collect();
    let points: Vec<(f64, f64)> = all.iter().map(|each| (each.gpu_hours, each.slo_share)).collect();
    for each in &mut all {
        let is_beaten = points.iter().any(|&(gpu_hours, slo_share)| {
            let no_worse = gpu_hours <= each.gpu_hours && slo_share >= each.slo_share;
            no_worse && (gpu_hours < each.gpu_hours || slo_share > each.slo_share)
        });
        each.is_on_front = !is_beaten;
    }
    let cheapest = all
        .iter()
        .enumerate()
        .filter(|(_, each)| each.holds)
        .min_by(|(_, a), (_, b)| a.gpu_hours.total_cmp(&b.gpu_hours))
        .map(|(index, _)| index);
    if let Some(each) = cheapest.and_then(|index| all.get_mut(index)) {
        each.is_cheapest = true;
    }
    all
}
