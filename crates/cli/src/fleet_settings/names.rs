//! Names of policies, signals and routers as they are typed.

use clap::ValueEnum;
use sim_core::fleet::policy::Aggregate;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PolicyName {
    /// Nobody: --min replicas.
    Fixed,
    /// Kubernetes’ HPA v2 on the mean over the replicas.
    Hpa,
    /// KEDA on the sum, from and to zero.
    Keda,
    /// Knative’s pod autoscaler on requests at once, from and to zero.
    Knative,
    /// llm-d’s variant autoscaler by saturation, version 1, followed by an HPA.
    WvaV1,
    /// The same, version 2.
    WvaV2,
    /// llm-d’s analyzer by a queueing model with a Kalman filter (parked upstream), followed by an HPA.
    WvaQueueing,
    /// A season of --season learned from what was, looked ahead in by a start-up time.
    Seasonal,
    /// A line through the last five minutes, looked ahead along by a start-up time.
    Trend,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum SignalName {
    /// Requests running and waiting.
    InFlight,
    /// Requests waiting.
    Queue,
    /// Those of them that wait for capacity.
    CapacityQueue,
    /// Requests running.
    Running,
    /// KV cache in use, per cent.
    KvUsage,
    /// Requests per second.
    Rate,
    /// Tokens generated per second.
    TokenRate,
    /// GPU busy, per cent.
    GpuBusy,
    /// GPU memory, per cent.
    GpuMemory,
    /// Processor, per cent.
    Cpu,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum AggregateName {
    /// Their sum, and what waits before them.
    Sum,
    /// Their mean.
    Mean,
    /// The greatest of them.
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum RouterName {
    /// One line for all replicas.
    SharedQueue,
    /// In turn.
    RoundRobin,
    /// By chance.
    Random,
    /// To the one with the fewest requests.
    LeastInFlight,
    /// To the better of two by chance.
    PowerOfTwo,
    /// To the one with the fewest KV tokens.
    LeastKv,
    /// Prompts that begin alike to the same one.
    PrefixAffinity,
}

impl AggregateName {
    pub(super) const fn aggregate(self) -> Aggregate {
        match self {
            Self::Sum => Aggregate::Sum,
            Self::Mean => Aggregate::Mean,
            Self::Max => Aggregate::Max,
        }
    }
}

/// A name as clap knows it.
pub(super) fn named<T: ValueEnum>(name: &str) -> Result<T, String> {
    T::from_str(name, false).map_err(|_| {
        let names: Vec<String> = T::value_variants()
            .iter()
            .filter_map(|variant| Some(variant.to_possible_value()?.get_name().to_owned()))
            .collect();
        format!("{name} is none of {}", names.join(", "))
    })
}
