//! What can hold a capacity down, and the same set-up with a little more of it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sim_core::{RequestSource, Setup, Slo, engine::Attendance, step_time::StepTimeSpec};

/// Something that may hold the capacity of one GPU down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Requests that may run at once (`sched.max_num_seqs`).
    Sequences,
    /// Tokens of one step (`sched.max_num_batched_tokens`).
    TokenBudget,
    /// Requests that may wait (`overload.queue_limit`).
    QueueBound,
    /// Tokens that the KV cache holds.
    KvCache,
    /// Arithmetic per second.
    Compute,
    /// Bytes of memory read per second.
    Bandwidth,
    /// Fixed time of each step: scheduling, launches.
    Overhead,
    /// Time that each sequence adds to a step, where the step time knows no more of the machine.
    TimePerSequence,
    /// The target for the time to first token.
    TtftTarget,
    /// The target for the time per output token.
    TpotTarget,
}

/// What a limit is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// A setting of the engine: more of it costs a restart.
    Setting,
    /// The machine, and the software on it.
    Machine,
    /// What was promised.
    Target,
}

impl Limit {
    /// All of them, settings first: where two are as good, the cheaper one is named.
    pub const ALL: [Self; 10] = [
        Self::Sequences,
        Self::TokenBudget,
        Self::QueueBound,
        Self::KvCache,
        Self::Compute,
        Self::Bandwidth,
        Self::Overhead,
        Self::TimePerSequence,
        Self::TtftTarget,
        Self::TpotTarget,
    ];

    /// What it is of.
    #[must_use]
    pub const fn kind(self) -> LimitKind {
        match self {
            Self::Sequences | Self::TokenBudget | Self::QueueBound => LimitKind::Setting,
            Self::KvCache
            | Self::Compute
            | Self::Bandwidth
            | Self::Overhead
            | Self::TimePerSequence => LimitKind::Machine,
            Self::TtftTarget | Self::TpotTarget => LimitKind::Target,
        }
    }

    /// The set-up with `factor` times as much of it (or a time divided by it), and the factor that
    /// whole numbers leave; `None` where the set-up has no such limit.
    #[must_use]
    pub fn relaxed(
        self,
        (setup, attendance): (&Setup, &Attendance),
        factor: f64,
    ) -> Option<Relaxed> {
        let mut setup = setup.clone();
        let mut attendance = *attendance;
        let (input_tokens, output_tokens) = setup.workload.source.mean_tokens();
        // A cache holds whole requests: less than one more may change nothing.
        let request_tokens = (input_tokens + output_tokens).ceil() as u64;
        let engine = &mut setup.engine;
        let factor = match self {
            Self::Sequences => more(&mut engine.max_num_seqs, factor, 1)?,
            Self::TokenBudget => more(&mut engine.max_num_batched_tokens, factor, 1)?,
            Self::KvCache => more(&mut engine.kv_capacity_tokens, factor, request_tokens)?,
            Self::QueueBound => more(attendance.overload.queue_limit.as_mut()?, factor, 1)?,
            Self::TtftTarget | Self::TpotTarget => {
                self.looser(&mut setup.slo, factor)?;
                if let RequestSource::Mixed(mix) = &mut setup.workload.source {
                    let classes = &mut Arc::make_mut(mix).classes;
                    for class in classes {
                        self.looser(&mut class.slo, factor)?;
                    }
                }
                factor
            }
            Self::Compute | Self::Bandwidth | Self::Overhead | Self::TimePerSequence => {
                self.faster(&mut setup.step_time, factor)?
            }
        };
        Some(Relaxed { setup, attendance, factor })
    }

    /// A target that is `factor` times as long.
    fn looser(self, slo: &mut Slo, factor: f64) -> Option<f64> {
        longer(if self == Self::TtftTarget { &mut slo.ttft_s } else { &mut slo.tpot_s }, factor)
    }

    /// The step with `factor` times as much of the machine.
    fn faster(self, step_time: &mut StepTimeSpec, factor: f64) -> Option<f64> {
        match (self, step_time) {
            (Self::Compute, StepTimeSpec::Roofline { peak_flops, .. }) => {
                longer(peak_flops, factor)
            }
            (Self::Bandwidth, StepTimeSpec::Roofline { bandwidth_bytes_per_s, .. }) => {
                longer(bandwidth_bytes_per_s, factor)
            }
            (Self::Overhead, StepTimeSpec::Roofline { overhead_s: time_s, .. })
            | (Self::Overhead, StepTimeSpec::Affine { fixed_s: time_s, .. })
            | (Self::Overhead, StepTimeSpec::QueueModel { alpha_s: time_s, .. })
            | (Self::TimePerSequence, StepTimeSpec::Affine { per_item_s: time_s, .. })
            | (Self::Compute, StepTimeSpec::QueueModel { beta_s: time_s, .. })
            | (Self::Bandwidth, StepTimeSpec::QueueModel { gamma_s: time_s, .. }) => {
                longer(time_s, 1.0 / factor).map(|_| factor)
            }
            _ => None,
        }
    }
}

/// A set-up with more of one thing.
pub struct Relaxed {
    /// What to simulate.
    pub setup: Setup,
    /// How clients and the line behave.
    pub attendance: Attendance,
    /// How many times as much there is.
    pub factor: f64,
}

/// A whole number times the factor, and no less than `least` more; none of nothing.
fn more(number: &mut u64, factor: f64, least: u64) -> Option<f64> {
    let before = *number;
    // A float beyond the range of u64 saturates.
    *number = ((before as f64 * factor).round() as u64).max(before.checked_add(least)?);
    (before > 0).then(|| *number as f64 / before as f64)
}

/// A time or a rate times the factor; none where there is nothing to multiply.
fn longer(number: &mut f64, factor: f64) -> Option<f64> {
    *number *= factor;
    (number.is_finite() && *number > 0.0).then_some(factor)
}
