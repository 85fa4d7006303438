//! Who sends what: classes, bursts and a rate that changes, in numbers.

use std::sync::Arc;

use quantity::editable;
use sim_core::{
    ArrivalProcess, LengthSpec, RequestSource, Slo,
    clients::ClientTime,
    workload::{
        Arrivals, Mix, OnOff, RateProfile, RequestClass, RequestLengths, Sessions, SharedPrefix,
    },
};

use crate::{
    class::{CLASS_PREFIX, ClassSpec, REST},
    overload::LinePolicy,
    schema::Scenario,
    writing,
};

use super::{
    error::ResolveError,
    ledger::{Ledger, LedgerEntry, Provenance},
};

const TYPED: &str = "typed";
const AS_FOR_ALL: &str = "as for the scenario";

/// Shares closer to all than this are all: three thirds of a rounded third.
const ROUNDING: f64 = 1e-9;

/// The requests of a scenario by class. Without classes there is one member, which has no name.
pub(super) struct Traffic<'a> {
    scenario: &'a Scenario,
    members: Vec<Member<'a>>,
}

/// One class, or what the classes leave over.
struct Member<'a> {
    /// What was typed; absent for what is left over.
    spec: Option<&'a ClassSpec>,
    share: f64,
    input: LengthSpec,
    output: LengthSpec,
    slo: Slo,
    /// How its prompts begin alike.
    shared_prefix: Option<SharedPrefix>,
    /// Its sessions, if it has any.
    sessions: Option<Sessions>,
    /// How long its clients wait, where classes differ in that.
    patience: Option<ClientTime>,
}

impl<'a> Traffic<'a> {
    /// Sort the requests of a scenario.
    ///
    /// # Errors
    ///
    /// If the classes take more than all requests.
    pub(super) fn of(scenario: &'a Scenario) -> Result<Self, ResolveError> {
        let taken: f64 = scenario.classes.iter().map(|class| class.share).sum();
        if taken > 1.0 + ROUNDING {
            return Err(too_much(scenario, taken));
        }
        let left = 1.0 - taken;
        let rest = Member {
            spec: None,
            share: left,
            input: scenario.input,
            output: scenario.output,
            slo: scenario.slo,
            shared_prefix: prefix(COMMON_PREFIX, scenario.shared_prefix_tokens),
            sessions: scenario.sessions_of(None),
            patience: scenario.class_patience(None),
        };
        let class = |(index, spec): (usize, &'a ClassSpec)| Member {
            spec: Some(spec),
            share: spec.share,
            input: spec.input.unwrap_or(scenario.input),
            output: spec.output.unwrap_or(scenario.output),
            slo: scenario.target(Some(&spec.name)),
            shared_prefix: match spec.prefix_tokens {
                Some(tokens) => prefix(COMMON_PREFIX + 1 + index as u64, tokens),
                None => prefix(COMMON_PREFIX, scenario.shared_prefix_tokens),
            },
            sessions: scenario.sessions_of(Some(spec)),
            patience: scenario.class_patience(Some(spec)),
        };
        // What is left over comes first: it draws as it would alone.
        let rest = (left > ROUNDING).then_some(rest);
        let members =
            rest.into_iter().chain(scenario.classes.iter().enumerate().map(class)).collect();
        Ok(Self { scenario, members })
    }

    /// Names of the classes in the order of the simulator; none without classes.
    pub(super) fn names(&self) -> Vec<String> {
        if self.scenario.classes.is_empty() {
            return Vec::new();
        }
        self.members.iter().map(|member| member.name().to_owned()).collect()
    }

    /// Tokens that the largest request needs.
    pub(super) fn largest_tokens(&self) -> u64 {
        let tokens = |member: &Member<'_>| {
            member.input.longest_tokens().saturating_add(member.output.longest_tokens())
        };
        self.members.iter().map(tokens).max().unwrap_or(0)
    }

    /// Let no conversation grow beyond what the cache holds.
    pub(super) fn hold_within(&mut self, capacity_tokens: u64) {
        for sessions in self.members.iter_mut().filter_map(|member| member.sessions.as_mut()) {
            sessions.most_tokens = sessions.most_tokens.min(capacity_tokens.max(1));
        }
    }

    /// What the simulator draws from.
    pub(super) fn source(&self) -> RequestSource {
        let scenario = self.scenario;
        let is_plain = scenario.classes.is_empty()
            && scenario.shared_prefix_tokens == 0
            && scenario.bursts.is_none()
            && self.members.iter().all(|member| member.sessions.is_none())
            && !scenario.changes_over_time();
        if is_plain {
            return RequestSource::Generated {
                process: scenario.arrivals,
                rate_per_s: scenario.rate_per_s,
                input: scenario.input,
                output: scenario.output,
            };
        }
        RequestSource::Mixed(Arc::new(Mix {
            arrivals: Arrivals {
                process: scenario.arrivals,
                rate_per_s: scenario.rate_per_s,
                bursts: scenario.bursts,
                profile: if scenario.changes_over_time() {
                    scenario.profile.to_rate_profile()
                } else {
                    RateProfile::Constant
                },
            },
            classes: self.members.iter().map(Member::class).collect(),
        }))
    }

    /// Say of each number where it comes from.
    pub(super) fn push(&self, ledger: &mut Ledger) {
        self.push_arrivals(ledger);
        self.push_profile(ledger);
        self.members.iter().for_each(|member| push_sessions(member, ledger));
        if self.scenario.classes.is_empty() {
            return;
        }
        self.members.iter().for_each(|member| self.push_member(member, ledger));
        let (input, output) = self.source().mean_tokens();
        for (key, label, mean, is_prompt) in
            [("in.mean", "Mean prompt", input, true), ("out.mean", "Mean answer", output, false)]
        {
            let parts: Vec<String> = self
                .members
                .iter()
                .map(|member| {
                    let (input, output) = member.class().mean_tokens();
                    let mean = if is_prompt { input } else { output };
                    format!("{} × {}", percent(member.share), editable(mean))
                })
                .collect();
            let entry = LedgerEntry::new(
                (key, label, "tokens"),
                mean,
                Provenance::Derived,
                "mean over the classes",
            );
            ledger.push(entry.with_formula(parts.join(" + ")));
        }
    }

    fn push_arrivals(&self, ledger: &mut Ledger) {
        let given = |name, value| LedgerEntry::new(name, value, Provenance::Given, TYPED);
        if let ArrivalProcess::Gamma { shape } = self.scenario.arrivals {
            ledger.push(given(("arrivals.shape", "Shape of the gaps", ""), shape));
        }
        if let Some(closed) = self.scenario.closed {
            let users = closed.users as f64;
            ledger.push(given(("arrivals.users", "Users over all GPUs", "users"), users));
            ledger.push(given(("arrivals.think_s", "Mean think time", "s"), closed.think_s));
        }
        let Some(bursts @ OnOff { on_s, off_s, lull_share }) = self.scenario.bursts else { return };
        ledger.push(given(("arrivals.on_s", "Mean length of a burst", "s"), on_s));
        ledger.push(given(("arrivals.off_s", "Mean length of a lull", "s"), off_s));
        ledger.push(given(("arrivals.lull_share", "Lull rate over burst rate", ""), lull_share));
        let (burst, _) = bursts.factors();
        let (on, off, lull) = (editable(on_s), editable(off_s), editable(lull_share));
        let entry = LedgerEntry::new(
            ("arrivals.burst_factor", "Burst rate over mean rate", ""),
            burst,
            Provenance::Derived,
            "such that the mean rate is as given",
        );
        ledger.push(entry.with_formula(format!("({on} + {off}) ÷ ({on} + {off} × {lull})")));
    }

    fn push_profile(&self, ledger: &mut Ledger) {
        if !self.scenario.changes_over_time() {
            return;
        }
        let (rate_per_s, peak) = (self.scenario.rate_per_s, self.scenario.peak_factor());
        let entry = LedgerEntry::new(
            ("rate.peak", "Peak request rate", "req/s"),
            rate_per_s * peak,
            Provenance::Derived,
            "the largest factor of the rate profile; plans size for it",
        );
        ledger.push(entry.with_formula(format!("{} × {}", editable(rate_per_s), editable(peak))));
    }

    fn push_member(&self, member: &Member<'_>, ledger: &mut Ledger) {
        let key = |part: &str| format!("{CLASS_PREFIX}{}.{part}", member.name());
        let label = |part: &str| format!("Class {}, {part}", member.name());
        let number = |length: LengthSpec| length.mean_tokens();
        let spec = member.spec;
        let is_typed = |typed: bool| {
            if typed { (Provenance::Given, TYPED) } else { (Provenance::Assumed, AS_FOR_ALL) }
        };
        let share = LedgerEntry::new(
            (&key("share"), &label("share"), "%"),
            100.0 * member.share,
            if spec.is_some() { Provenance::Given } else { Provenance::Derived },
            if spec.is_some() { TYPED } else { "what the classes leave over" },
        );
        ledger.push(match spec {
            Some(_) => share,
            None => share.with_formula(format!("100 − {}", self.taken().join(" − "))),
        });
        for (part, name, unit, value, typed) in [
            ("in", "mean prompt", "tokens", number(member.input), spec.map(|s| s.input.is_some())),
            (
                "out",
                "mean answer",
                "tokens",
                number(member.output),
                spec.map(|s| s.output.is_some()),
            ),
            (
                "ttft",
                "TTFT at most",
                "ms",
                writing::shifted(member.slo.ttft_s, 3),
                spec.map(|s| s.ttft_s.is_some()),
            ),
            (
                "tpot",
                "TPOT at most",
                "ms",
                writing::shifted(member.slo.tpot_s, 3),
                spec.map(|s| s.tpot_s.is_some()),
            ),
        ] {
            let (kind, source) = is_typed(typed == Some(true));
            ledger.push(LedgerEntry::new((&key(part), &label(name), unit), value, kind, source));
        }
        if let Some(priority) = spec.and_then(|spec| spec.priority) {
            let source = if self.scenario.goes_by_priority() {
                TYPED
            } else {
                "typed; without sched.policy=priority requests are served in order of arrival"
            };
            let name = (&*key("priority"), &*label("priority"), "");
            ledger.push(LedgerEntry::new(name, f64::from(priority), Provenance::Given, source));
        }
        if let Some(tokens) = spec.and_then(|spec| spec.prefix_tokens) {
            let name = (&*key("prefix"), &*label("shared prefix"), "tokens");
            let source = self.scenario.prefix_source();
            ledger.push(LedgerEntry::new(name, tokens as f64, Provenance::Given, source));
        }
        if let Some(patience_s) = spec.and_then(|spec| spec.patience_s) {
            let name = (&*key("patience"), &*label("patience"), "s");
            ledger.push(LedgerEntry::new(name, patience_s, Provenance::Given, TYPED));
        }
    }

    fn taken(&self) -> Vec<String> {
        self.scenario.classes.iter().map(|class| editable(100.0 * class.share)).collect()
    }
}

/// What the sessions of a class come to.
fn push_sessions(member: &Member<'_>, ledger: &mut Ledger) {
    let Some(Sessions { turns, think, most_tokens }) = member.sessions else { return };
    let (prefix, whose) = match member.spec {
        Some(spec) => ([CLASS_PREFIX, &spec.name, "."].concat(), format!("Class {}: ", spec.name)),
        None => (String::new(), String::new()),
    };
    let mut push = |key: &str, label: &str, unit: &str, value: f64, kind, source: &str| {
        let (key, label) = ([&prefix, key].concat(), [&whose, label].concat());
        ledger.push(LedgerEntry::new((&key, &label, unit), value, kind, source));
    };
    push("turns", "Turns of a session, mean", "turns", turns.mean(), Provenance::Given, TYPED);
    push("think", "Time to think, mean", "s", think.mean_s(), Provenance::Given, TYPED);
    let class = member.class();
    push(
        "turns.history",
        "Conversation before a turn, mean",
        "tokens",
        class.mean_history_tokens(),
        Provenance::Derived,
        "what the turns before it added, to prompts and answers, from their mean lengths",
    );
    if most_tokens < u64::MAX {
        let source = "the lesser of the model’s context and the KV cache; older turns are left out";
        push(
            "turns.most_tokens",
            "Most tokens of a turn",
            "tokens",
            most_tokens as f64,
            Provenance::Derived,
            source,
        );
    }
}

impl Scenario {
    /// The target of a class of requests; of all others where there is no such class.
    #[must_use]
    pub fn target(&self, class: Option<&str>) -> Slo {
        let spec = self.classes.iter().find(|spec| Some(spec.name.as_str()) == class);
        Slo {
            ttft_s: spec.and_then(|spec| spec.ttft_s).unwrap_or(self.slo.ttft_s),
            tpot_s: spec.and_then(|spec| spec.tpot_s).unwrap_or(self.slo.tpot_s),
            share: self.slo.share,
        }
    }

    /// Whether the line or vLLM's scheduler takes the most important class first.
    fn goes_by_priority(&self) -> bool {
        self.overload.policy == LinePolicy::Priority
            || (self.vllm.by_priority && self.rules.are_vllms())
    }

    /// What the ledger says of a prefix that was typed.
    pub(super) const fn prefix_source(&self) -> &'static str {
        if !self.rules.are_vllms() {
            "typed; only vLLM’s rules have a prefix cache"
        } else if !self.vllm.prefix_caching {
            "typed; found again only with sched.prefix_caching=on"
        } else {
            TYPED
        }
    }

    /// The largest multiple of the rate that the profile ever asks for.
    #[must_use]
    pub fn peak_factor(&self) -> f64 {
        self.profile.to_rate_profile().peak_factor()
    }

    /// Requests per second at the peak of the profile, over all GPUs.
    #[must_use]
    pub fn peak_rate_per_s(&self) -> f64 {
        self.rate_per_s * self.peak_factor()
    }
}

impl Member<'_> {
    fn name(&self) -> &str {
        self.spec.map_or(REST, |spec| spec.name.as_str())
    }

    fn class(&self) -> RequestClass {
        RequestClass {
            weight: self.share,
            lengths: RequestLengths::Independent { input: self.input, output: self.output },
            slo: self.slo,
            priority: self.spec.and_then(|spec| spec.priority).unwrap_or(0),
            shared_prefix: self.shared_prefix,
            sessions: self.sessions,
            patience: self.patience,
        }
    }
}

/// The beginning that the scenario's own traffic shares with classes that say nothing of it; those
/// of classes that do follow.
const COMMON_PREFIX: u64 = 0;

fn prefix(group: u64, tokens: u64) -> Option<SharedPrefix> {
    (tokens > 0).then_some(SharedPrefix { group, tokens })
}

fn percent(share: f64) -> String {
    quantity::with_unit(&editable(100.0 * share), "%")
}

/// The classes take more than all requests: the largest one is to give way.
fn too_much(scenario: &Scenario, taken: f64) -> ResolveError {
    let by_share = |a: &&ClassSpec, b: &&ClassSpec| a.share.total_cmp(&b.share);
    let largest = scenario.classes.iter().max_by(by_share);
    let change = largest.and_then(|class| {
        let others = taken - class.share;
        let name = &class.name;
        (others < 0.99).then(|| {
            format!(", for example {CLASS_PREFIX}{name}.share={}", editable(100.0 * (1.0 - others)))
        })
    });
    let shares = scenario
        .classes
        .iter()
        .map(|class| format!("{} {}", class.name, percent(class.share)))
        .collect::<Vec<_>>()
        .join(", ");
    ResolveError::Shares { taken, shares, change: change.unwrap_or_default() }
}
