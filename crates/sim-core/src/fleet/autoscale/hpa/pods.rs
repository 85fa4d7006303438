//! Which pods count: ready, unready, without a metric, or ignored.

/// Where a pod is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Accepted, its containers not started: waiting for a node or for its image.
    Pending,
    /// Its containers run.
    Running,
    /// Its containers ended well.
    Succeeded,
    /// A container ended badly.
    Failed,
}

/// The pod's `Ready` condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// Whether its probes pass.
    pub is_ready: bool,
    /// When that last changed, in seconds.
    pub since_s: f64,
}

/// What the controller knows of one pod.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pod {
    /// Where it is in its life.
    pub phase: Phase,
    /// Whether it is being deleted.
    pub is_deleted: bool,
    /// Its readiness; `None` before the kubelet has reported any.
    pub condition: Option<Condition>,
    /// When the kubelet took it on, in seconds; `None` before.
    pub start_s: Option<f64>,
    /// Thousandths of the resource that its containers request, in all; `None` where one of them
    /// requests none.
    pub request_milli: Option<i64>,
}

/// A pod's metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Thousandths of the metric's unit.
    pub value_milli: i64,
    /// When it was taken, in seconds.
    pub at_s: f64,
    /// Over how long before then it was averaged, in seconds.
    pub window_s: f64,
}

/// What is measured; only CPU has rules of its own for pods that start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// `cpu`: start-up burns a lot of it, so that young pods are set aside.
    Cpu,
    /// Memory, or any custom metric.
    Other,
}

/// For how long a pod's CPU is distrusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Initialization {
    /// After the start of a pod, its CPU counts only if it is ready and the sample began after it
    /// became so; in seconds (`--horizontal-pod-autoscaler-cpu-initialization-period`).
    pub cpu_period_s: f64,
    /// An unready pod whose readiness last changed this soon after its start has never been ready;
    /// in seconds (`--horizontal-pod-autoscaler-initial-readiness-delay`).
    pub readiness_delay_s: f64,
}

impl Default for Initialization {
    /// 5 min and 30 s, the controller manager's defaults.
    fn default() -> Self {
        Self { cpu_period_s: 300.0, readiness_delay_s: 30.0 }
    }
}

/// The pods of a workload, by what they count for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// How many count.
    pub ready: usize,
    /// Indices of those that wait, start or are not trusted yet.
    pub unready: Vec<usize>,
    /// Indices of those that run but have no metric.
    pub missing: Vec<usize>,
    /// Indices of those that failed or are being deleted.
    pub ignored: Vec<usize>,
}

/// Sort pods into groups; `samples[i]` is the metric of `pods[i]`, and pods beyond the samples have
/// none.
///
/// The order of the tests is theirs: deleted or failed, then pending, then without a metric, then,
/// for CPU alone, not ready yet.
///
/// *Oddity*: a pod of the CPU metric that is unready **now** but was ready long after its start
/// counts as ready with all its usage, and one of any other metric is never unready once it runs.
#[must_use]
pub fn group_pods(
    pods: &[Pod],
    samples: &[Option<Sample>],
    resource: Resource,
    initialization: &Initialization,
    now_s: f64,
) -> Groups {
    let mut groups = Groups::default();
    for (index, pod) in pods.iter().enumerate() {
        if pod.is_deleted || pod.phase == Phase::Failed {
            groups.ignored.push(index);
        } else if pod.phase == Phase::Pending {
            groups.unready.push(index);
        } else {
            match samples.get(index).copied().flatten() {
                None => groups.missing.push(index),
                Some(sample)
                    if resource == Resource::Cpu
                        && is_starting(pod, &sample, initialization, now_s) =>
                {
                    groups.unready.push(index);
                }
                Some(_) => groups.ready += 1,
            }
        }
    }
    groups
}

fn is_starting(pod: &Pod, sample: &Sample, initialization: &Initialization, now_s: f64) -> bool {
    let (Some(condition), Some(start_s)) = (pod.condition, pod.start_s) else {
        return true;
    };
    if start_s + initialization.cpu_period_s > now_s {
        !condition.is_ready || sample.at_s < condition.since_s + sample.window_s
    } else {
        !condition.is_ready && start_s + initialization.readiness_delay_s > condition.since_s
    }
}
