//! What a drawing of a fleet is of. Times are seconds.

/// A fleet over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FleetData {
    /// The requested rate: corners of straight lines, requests per second.
    pub asked_rate: Vec<(f64, f64)>,
    /// Where the axis ends.
    pub end_s: f64,
    /// The windows in order.
    pub bins: Vec<FleetBin>,
    /// Longest time to first token that meets the target.
    pub ttft_target_s: f64,
    /// What happened, in order.
    pub events: Vec<FleetEvent>,
    /// From when to when more comes than else.
    pub surge: Option<(f64, f64)>,
    /// The first start of a replica: decided, ready, and how long it is said to take.
    pub start: Option<(f64, f64, String)>,
}

/// One window; what is counted at an instant is counted at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FleetBin {
    /// When it begins.
    pub start_s: f64,
    /// When it ends.
    pub end_s: f64,
    /// Requests that came, per second.
    pub arrived_per_s: f64,
    /// Requests that were turned away, per second.
    pub rejected_per_s: f64,
    /// Replicas that are ready.
    pub ready: u32,
    /// Replicas on their way.
    pub starting: u32,
    /// Replicas that finish what they have.
    pub draining: u32,
    /// Replicas asked for.
    pub asked: u32,
    /// Requests that wait.
    pub waiting: u64,
    /// Share of the KV cache in use: mean and maximum over the replicas.
    pub kv: (f64, f64),
    /// Time to first token, 99 of 100, of those served in it.
    pub ttft_p99_s: Option<f64>,
    /// How many those are.
    pub served: u64,
    /// GPUs that the replicas hold.
    pub gpus: u64,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetEvent {
    /// When.
    pub at_s: f64,
    /// In a word or two.
    pub name: String,
}

/// A row of the drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FleetRowKind {
    /// Requests asked for, counted, and turned away.
    Arrivals,
    /// Replicas by state, and those asked for.
    Replicas,
    /// Requests that wait.
    Queue,
    /// KV cache in use.
    Kv,
    /// Time to first token, 99 of 100.
    Ttft,
    /// GPUs that the replicas hold.
    Gpus,
}

impl FleetRowKind {
    /// All rows, from the top.
    pub const ALL: [Self; 6] =
        [Self::Arrivals, Self::Replicas, Self::Queue, Self::Kv, Self::Ttft, Self::Gpus];

    /// What it shows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrivals => "Arrivals",
            Self::Replicas => "Replicas",
            Self::Queue => "Queue",
            Self::Kv => "KV cache",
            Self::Ttft => "P99 TTFT",
            Self::Gpus => "GPUs",
        }
    }

    /// The greatest value that it shows.
    pub(super) fn most(self, data: &FleetData) -> f64 {
        let of_bins = |tell: fn(&FleetBin) -> f64| {
            data.bins
                .iter()
                .map(tell)
                .fold(0.0, |most, value| if value > most { value } else { most })
        };
        let or = |most: f64, other: f64| if other > most { other } else { most };
        match self {
            Self::Arrivals => data
                .asked_rate
                .iter()
                .fold(of_bins(|bin| bin.arrived_per_s), |most, &(_, rate)| or(most, rate)),
            Self::Replicas => or(
                of_bins(|bin| f64::from(bin.ready + bin.starting + bin.draining)),
                of_bins(|bin| f64::from(bin.asked)),
            ),
            Self::Queue => or(of_bins(|bin| bin.waiting as f64), 4.0),
            Self::Kv => 1.0,
            Self::Ttft => {
                or(of_bins(|bin| bin.ttft_p99_s.unwrap_or(0.0)), data.ttft_target_s * 1.25)
            }
            Self::Gpus => of_bins(|bin| bin.gpus as f64),
        }
    }
}
