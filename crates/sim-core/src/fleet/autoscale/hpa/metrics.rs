//! From one metric to a number of replicas.

use super::{
    super::replicas_of,
    pods::{Groups, Initialization, Pod, Resource, Sample, group_pods},
};

/// By how much the ratio of metric to target may miss 1 before anything is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Below 1.
    pub down: f64,
    /// Above 1.
    pub up: f64,
}

impl Default for Tolerance {
    /// A tenth both ways (`--horizontal-pod-autoscaler-tolerance`); per direction since 1.33.
    fn default() -> Self {
        Self { down: 0.1, up: 0.1 }
    }
}

impl Tolerance {
    /// Whether `ratio` is near enough to 1; the edges are.
    #[must_use]
    pub fn is_within(&self, ratio: f64) -> bool {
        1.0 - self.down <= ratio && ratio <= 1.0 + self.up
    }
}

/// What one metric asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// Replicas.
    pub replicas: i32,
    /// The value that the status shows: the mean over pods, or the whole; in thousandths.
    pub usage_milli: i64,
    /// Usage in per cent of the request, where the target is one.
    pub utilization_percent: Option<i32>,
}

/// A metric from which nothing follows. One that fails keeps the others from scaling down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// Nothing is selected.
    #[error("no pods returned by selector while calculating replica count")]
    NoPods,
    /// The metrics API knows of no pod at all.
    #[error("no metrics returned from {api} metrics API")]
    NoSamples {
        /// `resource` or `custom`.
        api: &'static str,
    },
    /// All pods with a metric are unready or ignored.
    #[error("did not receive metrics for targeted pods (pods might be unready)")]
    NoMetrics,
    /// The metrics are of other pods.
    #[error("no metrics returned matched known pods")]
    NoKnownPods,
    /// A utilisation needs the requests of all pods.
    #[error("missing request for the resource in pod {pod}; give every container one")]
    MissingRequest {
        /// Index of the pod.
        pod: usize,
    },
    /// There is nothing to divide by.
    #[error("the target is {target}; it must be above 0")]
    BadTarget {
        /// The target.
        target: i64,
    },
    /// The metrics API had no answer: an outage, or a metric that does not exist.
    #[error("unable to get the metric")]
    Unavailable,
}

/// The metric of a workload's pods.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PodMetrics<'a> {
    /// Of each pod in turn; `None` or nothing where there is no sample.
    pub of_pods: &'a [Option<Sample>],
    /// Thousandths of what came with them for pods that are not selected.
    ///
    /// *Oddity*: they count towards the mean of a pods metric, and towards the number that a
    /// corrected ratio is multiplied with, though not towards utilisation.
    pub of_strangers_milli: &'a [i64],
}

/// Metrics in use for one calculation: those of pods, and how many there are with the strangers.
struct InUse {
    milli: Vec<Option<i64>>,
    strangers: usize,
}

impl InUse {
    /// Metrics of pods that are neither unready nor ignored.
    fn new(pods: usize, metrics: &PodMetrics<'_>, groups: &Groups) -> Self {
        let mut milli: Vec<Option<i64>> = (0..pods)
            .map(|pod| metrics.of_pods.get(pod).copied().flatten())
            .map(|sample| sample.map(|sample| sample.value_milli))
            .collect();
        for &pod in groups.unready.iter().chain(&groups.ignored) {
            milli[pod] = None;
        }
        Self { milli, strangers: metrics.of_strangers_milli.len() }
    }

    fn count(&self) -> usize {
        self.milli.iter().flatten().count() + self.strangers
    }

    fn set(&mut self, pods: &[usize], value: impl Fn(usize) -> i64) {
        for &pod in pods {
            self.milli[pod] = Some(value(pod));
        }
    }
}

/// How a metric of pods compares with its target.
struct Usage {
    ratio: f64,
    mean_milli: i64,
    percent: Option<i32>,
}

/// Replicas by utilisation: usage in per cent of what the pods request, against `target_percent`.
///
/// Per cent are whole numbers, truncated, before the ratio is taken. Pods without a metric count as
/// using `max(100, target)` per cent of their request where the rest would scale down, and nothing
/// where it would scale up; unready pods count as using nothing where it would scale up. A result
/// that such corrections turn round is no change.
///
/// # Errors
/// No sample, no pods, no metrics of pods that count, a pod without a request, or a target of 0 or
/// less.
pub fn utilization(
    (pods, resource): (&[Pod], Resource),
    metrics: &PodMetrics<'_>,
    (current, target_percent): (i32, i32),
    tolerance: &Tolerance,
    initialization: &Initialization,
    now_s: f64,
) -> Result<Proposal, MetricError> {
    if target_percent <= 0 {
        return Err(MetricError::BadTarget { target: target_percent.into() });
    }
    let groups = grouped((pods, resource, "resource"), metrics, initialization, now_s)?;
    let mut in_use = InUse::new(pods.len(), metrics, &groups);
    if in_use.count() == 0 {
        return Err(MetricError::NoMetrics);
    }
    let requests_milli = pods
        .iter()
        .enumerate()
        .map(|(pod, of)| of.request_milli.ok_or(MetricError::MissingRequest { pod }))
        .collect::<Result<Vec<i64>, _>>()?;
    let usage = |in_use: &InUse| {
        let known = in_use.milli.iter().zip(&requests_milli);
        let known = known.filter_map(|(milli, request)| milli.map(|milli| (milli, *request)));
        let (mut used, mut requested, mut count) = (0_i64, 0_i64, 0_i64);
        for (milli, request) in known {
            used = used.saturating_add(milli);
            requested = requested.saturating_add(request);
            count += 1;
        }
        // Nothing of known pods: no request either.
        let hundredfold = used.saturating_mul(100);
        let percent = hundredfold.checked_div(requested).ok_or(MetricError::NoKnownPods)?;
        let percent = i32::try_from(percent).unwrap_or(i32::MAX);
        let ratio = f64::from(percent) / f64::from(target_percent);
        Ok(Usage { ratio, mean_milli: used / count.max(1), percent: Some(percent) })
    };
    let stand_in_percent = i64::from(target_percent.max(100));
    let missing_milli = |pod: usize| requests_milli[pod].saturating_mul(stand_in_percent) / 100;
    propose(&groups, &mut in_use, current, tolerance, usage, missing_milli)
}

/// Replicas by a metric of each pod, against `target_milli` for the mean.
///
/// As [`utilization`], but pods without a metric count as at the target where the rest would scale
/// down, and the mean is truncated to thousandths. Raw resource usage (`AverageValue`) is this with
/// [`Resource::Cpu`], custom metrics with [`Resource::Other`].
///
/// # Errors
/// No sample, no pods, no metrics of pods that count, or a target of 0 or less.
pub fn pods_average(
    (pods, resource): (&[Pod], Resource),
    metrics: &PodMetrics<'_>,
    (current, target_milli): (i32, i64),
    tolerance: &Tolerance,
    initialization: &Initialization,
    now_s: f64,
) -> Result<Proposal, MetricError> {
    if target_milli <= 0 {
        return Err(MetricError::BadTarget { target: target_milli });
    }
    let api = if resource == Resource::Cpu { "resource" } else { "custom" };
    let groups = grouped((pods, resource, api), metrics, initialization, now_s)?;
    let mut in_use = InUse::new(pods.len(), metrics, &groups);
    if in_use.count() == 0 {
        return Err(MetricError::NoMetrics);
    }
    let usage = |in_use: &InUse| {
        let all = in_use.milli.iter().flatten().chain(metrics.of_strangers_milli);
        let total = all.fold(0_i64, |total, &milli| total.saturating_add(milli));
        let mean_milli = total / in_use.count().max(1) as i64;
        Ok(Usage { ratio: mean_milli as f64 / target_milli as f64, mean_milli, percent: None })
    };
    propose(&groups, &mut in_use, current, tolerance, usage, |_| target_milli)
}

fn grouped(
    (pods, resource, api): (&[Pod], Resource, &'static str),
    metrics: &PodMetrics<'_>,
    initialization: &Initialization,
    now_s: f64,
) -> Result<Groups, MetricError> {
    if metrics.of_strangers_milli.is_empty() && metrics.of_pods.iter().all(Option::is_none) {
        return Err(MetricError::NoSamples { api });
    }
    if pods.is_empty() {
        return Err(MetricError::NoPods);
    }
    Ok(group_pods(pods, metrics.of_pods, resource, initialization, now_s))
}

fn propose(
    groups: &Groups,
    in_use: &mut InUse,
    current: i32,
    tolerance: &Tolerance,
    usage: impl Fn(&InUse) -> Result<Usage, MetricError>,
    missing_milli: impl Fn(usize) -> i64,
) -> Result<Proposal, MetricError> {
    let first = usage(in_use)?;
    let proposal = |replicas| Proposal {
        replicas,
        usage_milli: first.mean_milli,
        utilization_percent: first.percent,
    };
    let grows_with_unready = !groups.unready.is_empty() && first.ratio > 1.0;
    if !grows_with_unready && groups.missing.is_empty() {
        let replicas = if tolerance.is_within(first.ratio) {
            current
        } else {
            replicas_of((first.ratio * groups.ready as f64).ceil())
        };
        return Ok(proposal(replicas));
    }
    if first.ratio < 1.0 {
        in_use.set(&groups.missing, missing_milli);
    } else if first.ratio > 1.0 {
        in_use.set(&groups.missing, |_| 0);
    }
    if grows_with_unready {
        in_use.set(&groups.unready, |_| 0);
    }
    let ratio = usage(in_use)?.ratio;
    let turns_round = (first.ratio < 1.0 && ratio > 1.0) || (first.ratio > 1.0 && ratio < 1.0);
    let replicas = replicas_of((ratio * in_use.count() as f64).ceil());
    let contradicts = (ratio < 1.0 && replicas > current) || (ratio > 1.0 && replicas < current);
    let stays = tolerance.is_within(ratio) || turns_round || contradicts;
    Ok(proposal(if stays { current } else { replicas }))
}

/// Replicas by the value of another object (an ingress, a queue) against `target_milli`.
///
/// *Oddity*: the ratio is multiplied with the pods that are **ready**, not with the current number,
/// so that a fleet that is still starting is scaled as if it were as small as its ready part. From
/// zero, the ratio itself is the number of replicas.
///
/// # Errors
/// A target of 0 or less.
pub fn object_value(
    (current, ready_pods): (i32, u32),
    value_milli: i64,
    target_milli: i64,
    tolerance: &Tolerance,
) -> Result<Proposal, MetricError> {
    if target_milli <= 0 {
        return Err(MetricError::BadTarget { target: target_milli });
    }
    let ratio = value_milli as f64 / target_milli as f64;
    let replicas = if current == 0 {
        replicas_of(ratio.ceil())
    } else if tolerance.is_within(ratio) {
        current
    } else {
        replicas_of((ratio * f64::from(ready_pods)).ceil())
    };
    Ok(Proposal { replicas, usage_milli: value_milli, utilization_percent: None })
}

/// Replicas by the value of another object, against `target_milli` **per replica**.
///
/// `status_replicas` are those that exist, ready or not. With none the mean is not a number that
/// could be shown, and is given as 0 or the greatest one.
///
/// # Errors
/// A target of 0 or less.
pub fn object_average(
    status_replicas: i32,
    value_milli: i64,
    target_milli: i64,
    tolerance: &Tolerance,
) -> Result<Proposal, MetricError> {
    if target_milli <= 0 {
        return Err(MetricError::BadTarget { target: target_milli });
    }
    let (value, replicas) = (value_milli as f64, f64::from(status_replicas));
    let target = target_milli as f64;
    let proposed = if tolerance.is_within(value / (target * replicas)) {
        status_replicas
    } else {
        replicas_of((value / target).ceil())
    };
    let usage_milli = (value / replicas).ceil() as i64;
    Ok(Proposal { replicas: proposed, usage_milli, utilization_percent: None })
}

/// Replicas by the sum of an external metric's series against `target_milli`; as [`object_value`].
///
/// # Errors
/// A target of 0 or less.
pub fn external_value(
    counts: (i32, u32),
    series_milli: &[i64],
    target_milli: i64,
    tolerance: &Tolerance,
) -> Result<Proposal, MetricError> {
    object_value(counts, sum(series_milli), target_milli, tolerance)
}

/// Replicas by the sum of an external metric's series, against `target_milli` per replica; as
/// [`object_average`]. This is what KEDA's HPA does.
///
/// # Errors
/// A target of 0 or less.
pub fn external_average(
    status_replicas: i32,
    series_milli: &[i64],
    target_milli: i64,
    tolerance: &Tolerance,
) -> Result<Proposal, MetricError> {
    let total = sum(series_milli);
    let mut proposal = object_average(status_replicas, total, target_milli, tolerance)?;
    if total == i64::MAX {
        proposal.usage_milli = i64::MAX;
    }
    Ok(proposal)
}

/// The sum of series, capped where it would overflow.
fn sum(series_milli: &[i64]) -> i64 {
    series_milli.iter().fold(0_i64, |total, &milli| total.saturating_add(milli))
}
