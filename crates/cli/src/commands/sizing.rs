//! What each change that is offered leads to: how many GPUs then hold the target.

use std::num::NonZeroUsize;

use planner::{PlanAnswer, Remedy, Verdict};
use scenario::Scenario;

use super::plan::{self, Depth};
use crate::{
    failure::Failure,
    trace::{self, Recording},
};

/// A number of GPUs is absurd where so many times fewer do.
const ABSURD: u64 = 10;

/// How much further a target is moved where it takes an absurd number of GPUs to hold it.
const EASES: [f64; 3] = [2.0, 4.0, 8.0];

/// GPUs that hold the target, and as many as would keep up at least, whatever the target.
#[derive(Clone, Copy)]
struct Size {
    gpus: u64,
    range: (u64, u64),
    at_least: u64,
}

impl Size {
    const fn is_absurd(self) -> bool {
        self.gpus / ABSURD > self.at_least
    }
}

/// The way to the number of GPUs of a changed scenario.
struct Sizing<'a> {
    scenario: &'a Scenario,
    recording: Option<&'a Recording>,
    threads: NonZeroUsize,
}

/// Say of each change how many GPUs it leads to, by a plan of its own. Where a moved target
/// still takes many times the GPUs that would keep up, the same with a target moved further is offered,
/// too. Changes that need many times as many as another one come last.
pub(super) fn size_remedies(
    scenario: &Scenario,
    answer: &mut PlanAnswer,
    recording: Option<&Recording>,
    threads: NonZeroUsize,
) -> Result<(), Failure> {
    let remedies = match &mut answer.verdict {
        Verdict::Sized(_) => return Ok(()),
        Verdict::DoesNotFit { remedies, .. }
        | Verdict::NoRoom { remedies, .. }
        | Verdict::TooLong { remedies, .. }
        | Verdict::OutOfReach { remedies, .. } => remedies,
    };
    let sizing = Sizing { scenario, recording, threads };
    let mut sized: Vec<Remedy> = Vec::new();
    for mut remedy in std::mem::take(remedies) {
        let size = sizing.size(&remedy)?;
        remedy.gpus = size.map(|size| size.gpus);
        remedy.gpus_range = size.map(|size| size.range);
        let eased = match size {
            Some(size) if size.is_absurd() => sizing.eased(&remedy)?,
            _ => None,
        };
        sized.push(remedy);
        sized.extend(eased);
    }
    if let Some(least) = sized.iter().filter_map(|remedy| remedy.gpus).min() {
        let is_absurd = |gpus: u64| gpus / ABSURD > least;
        // A stable sort: the smallest change stays first among its like.
        sized.sort_by_key(|remedy| remedy.gpus.is_none_or(is_absurd));
    }
    *remedies = sized;
    Ok(())
}

impl Sizing<'_> {
    /// How many GPUs the scenario needs with the change; `None` where no number does.
    fn size(&self, remedy: &Remedy) -> Result<Option<Size>, Failure> {
        let Some(changed) = self.changed(remedy) else { return Ok(None) };
        let Ok(resolved) = trace::to_resolve(&changed, self.recording.is_some()).resolve() else {
            return Ok(None);
        };
        let answer = plan::planned(&resolved, self.recording, Depth::Full, self.threads)?;
        let Verdict::Sized(fleet) = answer.verdict else { return Ok(None) };
        let each = changed.gpus_per_engine();
        let ceiling_per_s = answer.ceiling_per_s.map_or(f64::INFINITY, |ceiling| ceiling.value);
        // A float beyond the range of u64 saturates.
        let at_least = (answer.rate_per_s * (1.0 + answer.headroom) / ceiling_per_s).ceil() as u64;
        Ok(Some(Size {
            gpus: fleet.with_headroom.saturating_mul(each),
            range: (
                fleet.with_headroom_low.saturating_mul(each),
                fleet.with_headroom_high.saturating_mul(each),
            ),
            at_least: at_least.max(1).saturating_mul(each),
        }))
    }

    fn changed(&self, remedy: &Remedy) -> Option<Scenario> {
        let mut changed = self.scenario.clone();
        let is_set = remedy.changes().all(|(key, value)| changed.set(key, value).is_ok());
        is_set.then_some(changed)
    }

    /// The change with its targets moved further, as little as makes the number of GPUs sane; `None`
    /// where it moves no target or none of that helps.
    fn eased(&self, remedy: &Remedy) -> Result<Option<Remedy>, Failure> {
        for times in EASES {
            let Some(mut eased) = self.further(remedy, times) else { return Ok(None) };
            if let Some(size) = self.size(&eased)?.filter(|size| !size.is_absurd()) {
                eased.gpus = Some(size.gpus);
                eased.gpus_range = Some(size.range);
                return Ok(Some(eased));
            }
        }
        Ok(None)
    }

    /// The change with its targets so many times as long.
    fn further(&self, remedy: &Remedy, times: f64) -> Option<Remedy> {
        let changed = self.changed(remedy)?;
        let mut further: Option<Remedy> = None;
        let mut is_moved = false;
        for (key, value) in remedy.changes() {
            let mut value = value.to_owned();
            if is_target(key) {
                let text = changed.get(key)?;
                let ms = quantity::parse(&text, quantity::Unit::Milliseconds).ok()?;
                value = format!("{}ms", quantity::plain(ms * times, 0));
                is_moved = true;
            }
            further = Some(match further {
                None => {
                    let effect = format!("{}; here {times} times that", remedy.effect);
                    Remedy::new(key, value, effect)
                }
                Some(further) => further.with(key, &value),
            });
        }
        let mut further = further.filter(|_| is_moved)?;
        further.meets_target = remedy.meets_target;
        // Beyond what can be set there is nothing to offer.
        let taken = self.changed(&further)?;
        let is_taken = |(key, value): (&str, &str)| {
            let mut fresh = taken.clone();
            fresh.set(key, value).is_ok_and(|said| said.is_empty())
        };
        let are_taken = further.changes().all(is_taken);
        are_taken.then_some(further)
    }
}

/// Whether a setting is a target for a time.
fn is_target(key: &str) -> bool {
    matches!(key.rsplit('.').next(), Some("ttft" | "tpot"))
}
