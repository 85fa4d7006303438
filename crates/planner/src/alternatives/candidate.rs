//! What could serve a model: GPUs, how many share an engine, and the formats its weights are
//! published in.

use catalog::{Checkpoint, Device, WeightFormat};
use scenario::{Resolved, Scenario};
use sim_core::float::greater;

use crate::{closed_form::closed_form, cost::Dollars, fleet::gpus_for};

use super::row::Alternative;

/// GPUs that may share an engine.
const TENSOR_PARALLEL: [u64; 4] = [1, 2, 4, 8];

/// The closed form lies above the simulated capacity, since means stand for tails; this is for where
/// it should not.
const BOUND_MARGIN: f64 = 1.05;

/// A deployment that fits.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// What bounds say of it.
    pub(super) row: Alternative,
    pub(super) scenario: Scenario,
    pub(super) resolved: Resolved,
    /// Dollars for an hour of one GPU.
    pub(super) price_per_hour: Dollars,
    pub(super) bound: Bound,
}

/// What a deployment cannot beat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bound {
    /// Most that an engine sustains, requests per second.
    pub(super) capacity_per_s: f64,
    /// Fewest GPUs.
    pub(super) gpus: u64,
    /// Least that an hour of them costs at the typical price, dollars.
    pub(super) per_hour: f64,
    /// Least time from sending a request of mean length to its last token, seconds.
    pub(super) e2e_s: f64,
}

/// Everything that could be, and why the rest cannot.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    pub(super) fit: Vec<Candidate>,
    /// Deployments looked at.
    pub(super) looked_at: u32,
    /// Those that do not fit the memory, or cannot be set up.
    pub(super) unfit: u32,
    /// Those that miss the target even when idle, by the closed form.
    pub(super) hopeless: u32,
    /// GPUs without a price.
    pub(super) unpriced: u32,
}

/// One GPU and one format, to be looked at by every number of GPUs.
type Place = (Device, Dollars, Option<&'static str>);

/// What could serve a model, looked up piece by piece: all of it at once would keep a page's worker from
/// anything else for too long.
#[derive(Clone, Debug)]
pub struct Lookup {
    scenario: Scenario,
    /// The next one last.
    places: Vec<Place>,
    pub(super) found: Candidates,
}

impl Lookup {
    /// Every GPU of `devices` with a price, by every number of GPUs and every published format; `price`
    /// says what an hour of one costs.
    #[must_use]
    pub fn new(
        scenario: &Scenario,
        (devices, checkpoint): (&[Device], &Checkpoint),
        price: &dyn Fn(&Device) -> Option<Dollars>,
    ) -> Self {
        let mut found = Candidates::default();
        let mut places = Vec::new();
        for device in devices {
            let Some(price_per_hour) = price(device) else {
                found.unpriced += 1;
                continue;
            };
            let place = |format| (device.clone(), price_per_hour, format);
            places.extend(formats(scenario, checkpoint, device).into_iter().map(place));
        }
        places.reverse();
        Self { scenario: scenario.clone(), places, found }
    }

    /// Looks at one GPU in one format; false once there is none left.
    pub fn step(&mut self) -> bool {
        let Some((device, price_per_hour, format)) = self.places.pop() else { return false };
        for tp in TENSOR_PARALLEL {
            self.found.looked_at += 1;
            self.found.look_at(&self.scenario, (&device, format, tp), price_per_hour);
        }
        true
    }
}

impl Candidates {
    fn look_at(
        &mut self,
        scenario: &Scenario,
        (device, format, tp): (&Device, Option<&'static str>, u64),
        price_per_hour: Dollars,
    ) {
        let mut own = without_numbers(scenario);
        own.gpu.clone_from(&device.slug);
        own.deploy.tp = Some(tp);
        let is_set = format.is_none_or(|format| own.set("weights", format).is_ok());
        let resolved = if is_set { own.resolve().ok() } else { None };
        let Some(resolved) = resolved else {
            self.unfit += 1;
            return;
        };
        match Bound::of(&resolved, tp, price_per_hour) {
            Some(bound) => {
                let row = Alternative::bounded((&own, &resolved), price_per_hour, &bound);
                self.fit.push(Candidate { row, scenario: own, resolved, price_per_hour, bound });
            }
            None => self.hopeless += 1,
        }
    }
}

impl Bound {
    /// `None` where the target is missed even by an idle engine.
    pub(super) fn of(resolved: &Resolved, gpus_each: u64, price_per_hour: Dollars) -> Option<Self> {
        let form = closed_form(resolved);
        if form.capacity_per_s <= 0.0 {
            return None;
        }
        let wanted_per_s = form.asked_per_s * (1.0 + resolved.headroom);
        let engines = gpus_for(wanted_per_s, form.capacity_per_s * BOUND_MARGIN)?;
        let gpus = engines.saturating_mul(gpus_each);
        let (_, output) = resolved.setup.workload.source.mean_tokens();
        Some(Self {
            capacity_per_s: form.capacity_per_s * BOUND_MARGIN,
            gpus,
            per_hour: gpus as f64 * price_per_hour.typical,
            e2e_s: form.ttft_floor_s + greater(0.0, output - 1.0) * form.tpot_floor_s,
        })
    }
}

/// The scenario without numbers that were typed for one GPU alone.
fn without_numbers(scenario: &Scenario) -> Scenario {
    let mut own = scenario.clone();
    let step = &mut own.step;
    (step.params, step.weight_bytes, step.kv_bytes_per_token) = (None, None, None);
    (step.peak_flops, step.bandwidth) = (None, None);
    own.kv_capacity_tokens = None;
    own.deploy.num_gpu_blocks = None;
    own
}

/// The format that was asked for, or else all that the model is published in and that a GPU has
/// arithmetic for; four-bit weights of integers and of MXFP4 are unpacked on any.
fn formats(
    scenario: &Scenario,
    checkpoint: &Checkpoint,
    device: &Device,
) -> Vec<Option<&'static str>> {
    if scenario.deploy.weights != 0 || checkpoint.files.is_empty() {
        return vec![None];
    }
    let computes_in = |format: WeightFormat| match format {
        WeightFormat::Fp8 => device.peaks.fp8.is_some(),
        WeightFormat::Nvfp4 => device.peaks.fp4.is_some(),
        _ => true,
    };
    let mut words = Vec::new();
    for files in &checkpoint.files {
        let word = Some(files.format.word());
        if computes_in(files.format) && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}
