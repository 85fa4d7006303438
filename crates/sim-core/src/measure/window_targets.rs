//! How a target held over time: a share over a whole run may hide an hour in which nothing met it.

use crate::float::{greater, lesser};

use super::{
    run::Run,
    windows::{Window, Windows},
};

/// Fewest and most requests that a window is to hold on average, so that its share is one.
const FEWEST: f64 = 100.0;
const MOST: f64 = 1_000.0;
/// Misses that the target itself allows in a window of that size.
const ALLOWED_MISSES: f64 = 2.0;

/// The share of requests that met their target, window by window of equal width. A request counts
/// where it ended; one without an answer is a miss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowTargets {
    /// Width of each window in seconds: that of one or more windows of the run.
    pub width_s: f64,
    /// Windows in which enough requests ended to tell.
    pub windows: u64,
    /// Of these, windows in which the target's share of them met it.
    pub meeting: u64,
    /// The window with the smallest share, the first of several.
    pub worst: WindowShare,
}

/// What became of the requests that ended in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowShare {
    /// When it begins, in seconds.
    pub start_s: f64,
    /// When it ends, in seconds.
    pub end_s: f64,
    /// Requests that ended in it.
    pub ended: u64,
    /// Of these, requests that met their target.
    pub slo_met: u64,
}

impl WindowTargets {
    /// Share of the windows that met the target.
    #[must_use]
    pub fn meeting_share(&self) -> f64 {
        if self.windows == 0 { 0.0 } else { self.meeting as f64 / self.windows as f64 }
    }
}

impl WindowShare {
    /// Share of the requests that met their target; 0 where none ended.
    #[must_use]
    pub fn slo_share(&self) -> f64 {
        if self.ended == 0 { 0.0 } else { self.slo_met as f64 / self.ended as f64 }
    }

    fn of(window: &Window) -> Self {
        Self {
            start_s: window.start_s,
            end_s: window.end_s,
            ended: window.completed + window.unanswered,
            slo_met: window.slo_met,
        }
    }

    fn join(&mut self, next: &Self) {
        self.end_s = next.end_s;
        self.ended += next.ended;
        self.slo_met += next.slo_met;
    }
}

impl Run {
    /// How the target held over time. The run's windows are joined until they hold so many requests,
    /// on average, that the target itself allows two misses in each; windows with less than half of
    /// that are left out, since one miss would decide. `None` where that leaves fewer than two.
    #[must_use]
    pub fn window_targets(&self) -> Option<WindowTargets> {
        let wanted = greater(FEWEST, lesser(MOST, ALLOWED_MISSES / (1.0 - self.slo.share)));
        let (width_s, all) = joined(&self.windows, wanted);
        let judged = all.iter().filter(|window| 2.0 * window.ended as f64 >= wanted);
        let mut found: Option<WindowTargets> = None;
        for window in judged {
            let meets = u64::from(window.slo_share() >= self.slo.share);
            match &mut found {
                None => {
                    let worst = *window;
                    found = Some(WindowTargets { width_s, windows: 1, meeting: meets, worst });
                }
                Some(found) => {
                    found.windows += 1;
                    found.meeting += meets;
                    if window.slo_share() < found.worst.slo_share() {
                        found.worst = *window;
                    }
                }
            }
        }
        found.filter(|found| found.windows >= 2)
    }
}

/// The windows of a run, twice as wide time and again until as many requests end in each on average
/// as are wanted; with their width in seconds.
fn joined(windows: &Windows, wanted: f64) -> (f64, Vec<WindowShare>) {
    let mut shares: Vec<WindowShare> = Vec::new();
    shares.extend(windows.iter().map(|window| WindowShare::of(&window)));
    let ended = shares.iter().map(|share| share.ended).sum::<u64>() as f64;
    let mut width_s = windows.width_s();
    while shares.len() > 1 && ended < wanted * shares.len() as f64 {
        let number = shares.len().div_ceil(2);
        for index in 0..number {
            let mut pair = shares[2 * index];
            if let Some(next) = shares.get(2 * index + 1) {
                pair.join(next);
            }
            shares[index] = pair;
        }
        shares.truncate(number);
        width_s *= 2.0;
    }
    (width_s, shares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::{
        ArrivalProcess, EngineSpec, Keep, LengthSpec, RequestSource, Rules, Setup, Slo,
        StepTimeSpec, Workload, simulate,
        workload::{Arrivals, Mix, RateProfile, RequestClass, RequestLengths},
    };

    /// One server of 0.1 s at a load of a half, under a profile.
    fn run(profile: RateProfile, requests: u64, share: f64) -> Run {
        let one = LengthSpec::Fixed { tokens: 1 };
        let slo = Slo { ttft_s: 1.0, tpot_s: 1.0, share };
        let class = RequestClass {
            weight: 1.0,
            lengths: RequestLengths::Independent { input: one, output: one },
            slo,
            priority: 0,
            shared_prefix: None,
            sessions: None,
            patience: None,
        };
        let arrivals =
            Arrivals { process: ArrivalProcess::Poisson, rate_per_s: 5.0, bursts: None, profile };
        let mix = Mix { arrivals, classes: vec![class] };
        let setup = Setup {
            workload: Workload { source: RequestSource::Mixed(Arc::new(mix)), requests },
            engine: EngineSpec {
                max_num_batched_tokens: 10,
                max_num_seqs: 1,
                kv_capacity_tokens: 10,
            },
            rules: Rules::Reference,
            step_time: StepTimeSpec::Affine { fixed_s: 0.1, per_item_s: 0.0 },
            slo,
            seed: 3,
        };
        simulate(&setup, Keep { requests: true, ..Keep::default() }).unwrap()
    }

    /// The same, counted from the requests one by one.
    fn share_between(run: &Run, from_s: f64, to_s: f64) -> (u64, u64) {
        let ended = run.requests.iter().flatten().filter(|r| (from_s..to_s).contains(&r.finish_s));
        let met = ended.clone().filter(|r| r.first_token_s - r.arrival_s <= run.slo.ttft_s);
        (ended.count() as u64, met.count() as u64)
    }

    #[test]
    fn a_spike_is_the_worst_window_of_a_good_day() {
        let run = run(RateProfile::spike(1_000.0, 15.0, 4.0), 20_000, 0.95);
        let found = run.window_targets().unwrap();
        let WindowShare { start_s, end_s, ended, slo_met } = found.worst;
        assert!(start_s < 1_080.0 && end_s > 1_000.0, "{found:?}");
        assert_eq!(share_between(&run, start_s, end_s), (ended, slo_met));
        assert_eq!(end_s - start_s, found.width_s);
        assert!(found.worst.slo_share() < 0.6, "{found:?}");
        // Over all it looks well, and it was well nearly all the time.
        assert!(run.slo_share() > 0.96, "{}", run.slo_share());
        assert!(found.meeting_share() > 0.9 && found.meeting < found.windows, "{found:?}");
        assert!(found.windows >= 64, "{found:?}");
    }

    #[test]
    fn every_window_is_counted_as_its_requests_are() {
        let run = run(RateProfile::Constant, 5_000, 0.99);
        let (width_s, shares) = joined(&run.windows, 200.0);
        assert_eq!(shares.iter().map(|share| share.ended).sum::<u64>(), 5_000);
        assert_eq!(shares.iter().map(|share| share.slo_met).sum::<u64>(), run.slo_met);
        for share in &shares {
            let counted = share_between(&run, share.start_s, share.end_s);
            assert_eq!(counted, (share.ended, share.slo_met));
        }
        assert!(5_000.0 / shares.len() as f64 >= 200.0);
        assert!(shares.windows(2).all(|pair| pair[1].start_s - pair[0].start_s == width_s));
    }

    #[test]
    fn short_runs_have_no_windows_to_tell_apart() {
        assert_eq!(run(RateProfile::Constant, 150, 0.99).window_targets(), None);
        assert!(run(RateProfile::Constant, 2_000, 0.99).window_targets().is_some());
        // Of a target for all of them no number of requests would do.
        assert!(run(RateProfile::Constant, 5_000, 1.0).window_targets().is_some());
    }
}
