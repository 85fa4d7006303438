//! What an answer becomes under other settings, before anything of them is simulated.

use scenario::Resolved;
use sim_core::float::lesser;

use crate::{
    answer::{Estimate, FleetSize, LoadPoint, PlanAnswer, UsersAnswer, Verdict},
    closed_form::ClosedForm,
    plan::requests_that_fit,
};

/// By how much the closed form moves what was measured.
struct Scales {
    rate: f64,
    users: f64,
    ttft: f64,
    tpot: f64,
    kv: f64,
}

impl PlanAnswer {
    /// About the answer under other settings: what was measured under the old ones, scaled by what
    /// the closed forms of both say. Rates move with the ceiling, the capacity with the closed form's
    /// own, latencies with those of a lone request. The closed form's error is much the same before
    /// and after, so that it cancels; where only the load or the headroom changed nothing is scaled.
    ///
    /// Nothing in it has an interval, and it tells of no classes. `None` where this answer is no
    /// number of GPUs, where the closed form knows none, and between users and rates.
    #[must_use]
    pub fn scaled(&self, from: &ClosedForm, to: &ClosedForm, now: &Resolved) -> Option<Self> {
        if !matches!(self.verdict, Verdict::Sized(_)) {
            return None;
        }
        let that_fit = requests_that_fit(&now.setup);
        let scales = Scales {
            rate: ratio(to.ceiling_per_s, from.ceiling_per_s)?,
            users: ratio(to.users.unwrap_or(1.0), from.users.unwrap_or(1.0))?,
            ttft: ratio(to.ttft_floor_s, from.ttft_floor_s)?,
            tpot: ratio(to.tpot_floor_s, from.tpot_floor_s)?,
            kv: ratio(self.requests_that_fit as f64, that_fit as f64)?,
        };
        let ceiling = times(self.ceiling_per_s?, scales.rate);
        let grown = times(self.capacity_per_s?, ratio(to.capacity_per_s, from.capacity_per_s)?);
        let each = exact(lesser(grown.value, ceiling.value));
        let users = match (self.users, now.attendance.users()) {
            (None, None) => None,
            (Some(users), Some(asked)) => Some(UsersAnswer {
                asked: asked as f64,
                capacity: Some(times(users.capacity?, scales.users)),
                ..users
            }),
            _ => return None,
        };
        let size = match users {
            Some(users) => FleetSize::divide(users.asked, now.headroom, &users.capacity?),
            None => FleetSize::divide(to.asked_per_s, now.headroom, &each),
        }?;
        let gpus = size.with_headroom as f64;
        let planned_per_s = match users {
            // As much of the capacity in requests as in users.
            Some(users) => each.value * users.asked / gpus / users.capacity?.value,
            None => to.asked_per_s / gpus,
        };
        let mut knee = self.knee.clone();
        for point in &mut knee {
            scales.move_point(point);
        }
        Some(Self {
            verdict: Verdict::Sized(FleetSize { carried_per_s: each.value * gpus, ..size }),
            rate_per_s: planned_per_s * gpus,
            users,
            headroom: now.headroom,
            capacity_per_s: Some(each),
            ceiling_per_s: Some(ceiling),
            planned: between(&knee, planned_per_s),
            knee,
            classes: Vec::new(),
            requests_that_fit: that_fit,
            requests: now.setup.workload.requests,
            ..*self
        })
    }
}

impl Scales {
    fn move_point(&self, point: &mut LoadPoint) {
        point.rate_per_s *= self.rate;
        point.users = point.users.map(|users| users * self.users);
        for (estimate, factor) in [
            (&mut point.ttft_p50_s, self.ttft),
            (&mut point.ttft_p99_s, self.ttft),
            (&mut point.tpot_p50_s, self.tpot),
            (&mut point.tpot_p99_s, self.tpot),
            (&mut point.itl_p50_s, self.tpot),
            (&mut point.itl_p99_s, self.tpot),
            (&mut point.goodput_per_s, self.rate),
            (&mut point.throughput_per_s, self.rate),
            (&mut point.output_tokens_per_s, self.rate),
        ] {
            *estimate = times(*estimate, factor);
        }
        point.kv_peak_share = lesser(1.0, point.kv_peak_share * self.kv);
    }
}

/// The engine at a rate between two that were looked at, on the straight line between them; beyond
/// the ends as at the end.
fn between(knee: &[LoadPoint], rate_per_s: f64) -> Option<LoadPoint> {
    let mut before = knee.first()?;
    let mut after = before;
    for point in knee.iter().filter(|point| point.stable) {
        (before, after) = (after, point);
        if point.rate_per_s >= rate_per_s {
            break;
        }
    }
    let span = after.rate_per_s - before.rate_per_s;
    let part = if span > 0.0 { lesser(1.0, (rate_per_s - before.rate_per_s) / span) } else { 0.0 };
    let mix = |before: f64, after: f64| before + (after - before) * part;
    let mixed = |before: Estimate, after: Estimate| exact(mix(before.value, after.value));
    Some(LoadPoint {
        rate_per_s,
        users: before.users.map(|users| mix(users, after.users.unwrap_or(users))),
        ttft_p50_s: mixed(before.ttft_p50_s, after.ttft_p50_s),
        ttft_p99_s: mixed(before.ttft_p99_s, after.ttft_p99_s),
        tpot_p99_s: mixed(before.tpot_p99_s, after.tpot_p99_s),
        mean_running: mix(before.mean_running, after.mean_running),
        kv_peak_share: mix(before.kv_peak_share, after.kv_peak_share),
        compute_bound_share: mix(before.compute_bound_share, after.compute_bound_share),
        ..*before
    })
}

/// How many times as much; `None` where that says nothing.
fn ratio(now: f64, before: f64) -> Option<f64> {
    let ratio = now / before;
    (ratio.is_finite() && ratio > 0.0).then_some(ratio)
}

fn times(estimate: Estimate, factor: f64) -> Estimate {
    exact(estimate.value * factor)
}

/// A number without an interval.
const fn exact(value: f64) -> Estimate {
    Estimate { value, low: value, high: value }
}

#[cfg(test)]
mod tests {
    use scenario::Scenario;

    use super::*;
    use crate::{Plan, closed_form, run_inline};

    fn at(changes: &[(&str, &str)]) -> Resolved {
        let mut scenario = Scenario::preset();
        for (key, value) in [("sim.requests", "500"), ("sim.replications", "2")] {
            scenario.set(key, value).unwrap();
        }
        for (key, value) in changes {
            scenario.set(key, value).unwrap();
        }
        scenario.resolve().unwrap()
    }

    fn answer(resolved: &Resolved) -> PlanAnswer {
        run_inline(&mut Plan::new(resolved)).unwrap().unwrap()
    }

    fn scaled(from: &Resolved, to: &Resolved) -> Option<PlanAnswer> {
        answer(from).scaled(&closed_form(from), &closed_form(to), to)
    }

    fn gpus(answer: &PlanAnswer) -> f64 {
        match answer.verdict {
            Verdict::Sized(size) => size.with_headroom as f64,
            _ => panic!("no number: {answer:?}"),
        }
    }

    fn close(a: f64, b: f64, part: f64) -> bool {
        (a - b).abs() <= part * b.abs()
    }

    #[test]
    fn under_the_same_settings_it_is_the_same_without_intervals() {
        let here = at(&[]);
        let (measured, about) = (answer(&here), scaled(&here, &here).unwrap());
        assert_eq!(gpus(&about), gpus(&measured));
        let capacity = about.capacity_per_s.unwrap();
        assert_eq!(capacity.value, measured.capacity_per_s.unwrap().value);
        assert_eq!((capacity.low, capacity.high), (capacity.value, capacity.value));
        let (about, measured) = (about.planned.unwrap(), measured.planned.unwrap());
        assert!(close(about.ttft_p99_s.value, measured.ttft_p99_s.value, 1e-9));
        assert!(close(about.tpot_p99_s.value, measured.tpot_p99_s.value, 1e-9));
        assert_eq!(about.rate_per_s, measured.rate_per_s);
    }

    #[test]
    fn another_load_is_divided_by_the_capacity_that_was_measured() {
        let (here, there) = (at(&[]), at(&[("rate", "1234"), ("headroom", "40")]));
        let (measured, about) = (answer(&there), scaled(&here, &there).unwrap());
        assert_eq!(gpus(&about), gpus(&measured));
        assert_eq!(about.headroom, 0.4);
    }

    #[test]
    fn it_is_closer_to_the_simulation_than_the_closed_form() {
        for (changes, part) in [
            ([("in", "1500"), ("out", "200")], 0.1),
            ([("tpot", "30ms"), ("ttft", "500ms")], 0.1),
            // Of other hardware the closed form knows less.
            ([("gpu", "l40s"), ("rate", "20")], 0.25),
        ] {
            let (here, there) = (at(&[]), at(&changes));
            let form = closed_form(&there).capacity_per_s;
            let capacity = |answer: PlanAnswer| answer.capacity_per_s.unwrap().value;
            let (measured, about) =
                (capacity(answer(&there)), capacity(scaled(&here, &there).unwrap()));
            assert!(
                close(about, measured, part) && (about - measured).abs() <= (form - measured).abs(),
                "{changes:?}: about {about}, closed form {form}, measured {measured}"
            );
        }
    }

    #[test]
    fn users_stay_users() {
        let here = at(&[("arrivals", "closed(200,10s)")]);
        let there = at(&[("arrivals", "closed(900,10s)")]);
        let about = scaled(&here, &there).unwrap();
        assert_eq!(about.users.unwrap().asked, 900.0);
        assert!(close(gpus(&about), gpus(&answer(&there)), 0.34));
        assert_eq!(scaled(&here, &at(&[])), None, "a rate from users");
        assert_eq!(scaled(&at(&[]), &here), None, "users from a rate");
    }

    #[test]
    fn nothing_comes_of_an_answer_without_a_number() {
        let out_of_reach = at(&[("ttft", "10ms")]);
        assert_eq!(scaled(&out_of_reach, &at(&[])), None);
        assert_eq!(scaled(&at(&[]), &out_of_reach), None);
    }
}
