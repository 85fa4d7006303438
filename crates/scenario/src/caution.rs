//! Settings that are taken as written and still do not do what a reader would expect: those without
//! effect beside the others, and lengths that no engine would serve whole.

use sim_core::workload::Requests;

use crate::{
    class::CLASS_PREFIX,
    context::BeyondContext,
    field::field,
    notice::{Notice, NoticeKind},
    overload::{LinePolicy, Need, OVERLOAD_NEEDS},
    resolve,
    schema::{Scenario, StepKind},
};

/// Settings and what they need, all of it, so that they count.
pub type Needy = (&'static [&'static str], &'static [Need]);

const VLLM: Need =
    Need { key: "sched.rules", value: "vllm-0.33", is_met: |scenario| scenario.rules.are_vllms() };
const PREFIX_CACHE: Need = Need {
    key: "sched.prefix_caching",
    value: "on",
    is_met: |scenario| scenario.vllm.prefix_caching,
};
/// Under the reference rules the line may go by priority, too; vLLM’s own setting is named first.
const PRIORITY_RULES: Need = Need {
    key: "sched.rules",
    value: "vllm-0.33",
    is_met: |scenario| scenario.rules.are_vllms() || by_priority(scenario),
};
const PRIORITIES: Need = Need {
    key: "sched.policy",
    value: "priority",
    is_met: |scenario| scenario.vllm.by_priority || by_priority(scenario),
};

fn by_priority(scenario: &Scenario) -> bool {
    scenario.overload.policy == LinePolicy::Priority
}
const STEP_BY_STEP: Need = Need {
    key: "sched.rules",
    value: "reference",
    is_met: |scenario| !scenario.rules.form_whole_batches(),
};
const AT_ONCE: Need = Need {
    key: "sched.rules",
    value: "static",
    is_met: |scenario| !scenario.rules.are_sequential(),
};
const DRAFTS: Need =
    Need { key: "spec.tokens", value: "4", is_met: |scenario| scenario.spec.tokens > 0 };
const PREFILL: Need =
    Need { key: "disagg.prefill", value: "1", is_met: |scenario| scenario.disagg.prefill > 0 };
const DECODE: Need =
    Need { key: "disagg.decode", value: "1", is_met: |scenario| scenario.disagg.decode > 0 };
const ROOFLINE: Need = Need {
    key: "step.kind",
    value: "roofline",
    is_met: |scenario| matches!(scenario.step.kind, None | Some(StepKind::Roofline)),
};
const OF_A_MODEL: Need =
    Need { key: "step.kind", value: "roofline", is_met: Scenario::knows_memory };
#[cfg(feature = "networks")]
const KERNEL: Need = Need {
    key: "step.kind",
    value: "kernel",
    is_met: |scenario| scenario.step.kind == Some(StepKind::Kernel),
};
const AFFINE: Need = Need {
    key: "step.kind",
    value: "affine",
    is_met: |scenario| scenario.step.kind == Some(StepKind::Affine),
};
const QUEUE_MODEL: Need = Need {
    key: "step.kind",
    value: "queue-model",
    is_met: |scenario| scenario.step.kind == Some(StepKind::QueueModel),
};

const HPA: Need = Need {
    key: "fleet.policy",
    value: "hpa",
    is_met: |scenario| matches!(scenario.fleet.policy_word(), "hpa" | "wva-v1" | "wva-v2"),
};
const SIGNALLED: Need = Need {
    key: "fleet.policy",
    value: "hpa",
    is_met: |scenario| matches!(scenario.fleet.policy_word(), "hpa" | "keda" | "trend"),
};
const AIMED: Need = Need {
    key: "fleet.policy",
    value: "hpa",
    is_met: |scenario| !matches!(scenario.fleet.policy_word(), "fixed" | "wva-v1" | "wva-v2"),
};
const FAULTY: Need = Need {
    key: "fleet.fault",
    value: "replica",
    is_met: |scenario| scenario.fleet.fault_word() != "none",
};

/// Which settings need what. A part of a class goes by its own name, as a setting of all does.
static NEEDS: &[Needy] = &[
    (
        &[
            "step.params",
            "step.weight_bytes",
            "step.kv_bytes_per_token",
            "step.peak_flops",
            "step.bandwidth",
            "step.mfu",
            "step.overhead_s",
        ],
        &[ROOFLINE],
    ),
    (
        &["model", "gpu", "deploy.tp", "engine", "weights", "kv_dtype", "kv.num_gpu_blocks"],
        &[OF_A_MODEL],
    ),
    (&["step.fixed_s", "step.per_item_s"], &[AFFINE]),
    (&["step.alpha_s", "step.beta_s", "step.gamma_s"], &[QUEUE_MODEL]),
    #[cfg(feature = "networks")]
    (&["step.memory_factor", "step.compute_factor", "step.api_s"], &[KERNEL]),
    (&["sched.max_num_batched_tokens"], &[STEP_BY_STEP]),
    (&["sched.max_num_seqs"], &[AT_ONCE]),
    (
        &[
            "sched.async",
            "sched.policy",
            "sched.prefix_caching",
            "sched.long_prefill_token_threshold",
            "sched.watermark",
        ],
        &[VLLM],
    ),
    (&["prefix"], &[VLLM, PREFIX_CACHE]),
    (&["spec.acceptance", "spec.draft_cost"], &[DRAFTS]),
    (&["disagg.prefill"], &[DECODE]),
    (&["disagg.decode"], &[PREFILL]),
    (&["disagg.link_gbps", "disagg.latency"], &[PREFILL, DECODE]),
    (&["priority"], &[PRIORITY_RULES, PRIORITIES]),
    (&["fleet.scale_down_window"], &[HPA]),
    (&["fleet.signal"], &[SIGNALLED]),
    (&["fleet.target"], &[AIMED]),
    (&["fleet.fault_at"], &[FAULTY]),
];

/// Parts of a class that need something.
const CLASS_PARTS: [&str; 4] = ["priority", "prefix", "turns", "think"];

/// Pools are simulated, but nothing is planned with them.
const NOT_PLANNED: &str = "Prefill and decode replicas (disagg.prefill, disagg.decode) are simulated beside the plan where both are given, on the page and by headroom simulate; the plan itself is about replicas that do both.";

/// What begins the keys of pools.
const POOLS: &str = "disagg.";

/// As many requests are looked at for lengths beyond the context.
const MOST_LOOKED_AT: u64 = 10_000;

impl Scenario {
    /// What a person who plans should know of settings that were all taken as written: which of them
    /// have no effect beside the others and what would give them one, what counts in single runs
    /// alone, and how many requests are longer than the model takes.
    #[must_use]
    pub fn cautions(&self) -> Vec<Notice> {
        let mut cautions = self.without_effect(false);
        if self.disagg != Self::preset().disagg {
            let message = NOT_PLANNED.to_owned();
            cautions.push(Notice::new("disagg", "", NoticeKind::NotPlanned, message));
        }
        self.push_beyond_context(&mut cautions);
        self.push_empty_prompts(&mut cautions);
        self.push_crowded_batches(&mut cautions);
        cautions
    }

    /// The same for a single run, which has prefill and decode pools.
    #[must_use]
    pub fn cautions_of_run(&self) -> Vec<Notice> {
        let mut cautions = self.without_effect(true);
        self.push_beyond_context(&mut cautions);
        self.push_empty_prompts(&mut cautions);
        self.push_crowded_batches(&mut cautions);
        cautions
    }

    fn push_beyond_context(&self, cautions: &mut Vec<Notice>) {
        if let Some((key, value, message)) = self.long_conversations() {
            cautions.push(Notice::new(&key, &value, NoticeKind::BeyondContext, message));
        }
        if let Some(beyond) = self.beyond_context() {
            let message = beyond.sentence(&self.way_within_context(&beyond));
            cautions.push(Notice::new("in", "", NoticeKind::BeyondContext, message));
        }
    }

    fn push_empty_prompts(&self, cautions: &mut Vec<Notice>) {
        for typed in self.lengths() {
            if typed.key.ends_with("in") && typed.length.longest_tokens() == 0 {
                let message = [
                    &typed.label,
                    " (",
                    &typed.key,
                    "=0) is empty, and engines refuse such a request; \
                     here it takes one step to its first token. Set ",
                    &typed.key,
                    "=1 or more.",
                ]
                .concat();
                cautions.push(Notice::new(&typed.key, "0", NoticeKind::EmptyPrompt, message));
            }
        }
    }

    /// Batches that are served whole take no account of the KV cache: whether a full one would fit is
    /// for the person to know.
    fn push_crowded_batches(&self, cautions: &mut Vec<Notice>) {
        if !self.rules.form_whole_batches() || self.rules.are_sequential() || !self.limits_memory()
        {
            return;
        }
        let Ok(resolved) = self.resolve() else { return };
        let engine = &resolved.setup.engine;
        let (input, output) = resolved.setup.workload.source.mean_tokens();
        let each = input + output;
        let fit = (engine.kv_capacity_tokens as f64 / each) as u64;
        if engine.max_num_seqs <= fit {
            return;
        }
        let most = quantity::count(engine.max_num_seqs);
        let needed = quantity::count((engine.max_num_seqs as f64 * each) as u64);
        let capacity = quantity::count(engine.kv_capacity_tokens);
        let message = [
            "Batches that are served whole take no account of the KV cache: ",
            &most,
            " requests of mean length need ",
            &needed,
            " tokens, and it holds ",
            &capacity,
            ". Set sched.max_num_seqs=",
            &quantity::editable(if fit == 0 { 1 } else { fit } as f64),
            " or less.",
        ]
        .concat();
        cautions.push(Notice::new("sched.max_num_seqs", &most, NoticeKind::NoEffect, message));
    }

    // Plain loops: this travels to every visitor.
    fn without_effect(&self, has_pools: bool) -> Vec<Notice> {
        let mut idle = Vec::new();
        for table in [NEEDS, OVERLOAD_NEEDS] {
            for (keys, needs) in table {
                for key in *keys {
                    if has_pools || !key.starts_with(POOLS) {
                        self.push_idle(&mut idle, needs, key);
                    }
                }
            }
        }
        idle
    }

    /// Add a notice about each setting of that key, and each part of a class, if it lacks something
    /// that it needs.
    fn push_idle(&self, idle: &mut Vec<Notice>, needs: &[Need], key: &str) {
        let (mut now, mut instead) = (String::new(), String::new());
        for need in needs {
            if !(need.is_met)(self) {
                let current = self.get(need.key);
                and(&mut now, need.key, current.as_deref().unwrap_or(need.default()));
                and(&mut instead, need.key, need.value);
            }
        }
        if now.is_empty() {
            return;
        }
        let mut told = |key: &str, label: &str| {
            let value = self.get(key).unwrap_or_default();
            let message = [
                label,
                " (",
                key,
                "=",
                &value,
                ") has no effect under ",
                &now,
                "; set ",
                &instead,
                " to use it.",
            ]
            .concat();
            idle.push(Notice::new(key, &value, NoticeKind::NoEffect, message));
        };
        // What the catalogue decides has no text, and else an empty default.
        if let Some(field) = field(key)
            && self.text(field).is_some_and(|text| text != field.default)
        {
            told(key, field.label);
        }
        for class in &self.classes {
            if CLASS_PARTS.contains(&key) && class.part(key).is_some() {
                let name = &class.name;
                told(
                    &[CLASS_PREFIX, name, ".", key].concat(),
                    &["Class ", name, ", ", key].concat(),
                );
            }
        }
    }

    /// How many of the first requests are longer than the model takes, prompt and answer together;
    /// none where no request can be.
    fn beyond_context(&self) -> Option<BeyondContext> {
        let context_tokens = self.context_tokens()?;
        let workload = resolve::workload(self)?;
        if workload.source.largest_request_tokens() <= context_tokens {
            return None;
        }
        let mut beyond = BeyondContext::none_yet(context_tokens);
        for request in Requests::new(&workload, self.sim.seed) {
            if request.index == MOST_LOOKED_AT {
                break;
            }
            beyond.count(request.input_tokens, request.output_tokens);
        }
        (beyond.requests > 0).then_some(beyond)
    }
}

impl Need {
    /// What the deciding setting is where nobody says anything.
    fn default(&self) -> &'static str {
        match field(self.key).map(|field| field.default) {
            // The catalogue decides; of the step time it always takes this model.
            None | Some("") => ROOFLINE.value,
            Some(default) => default,
        }
    }
}

/// “sched.rules=reference and sched.prefix_caching=off”, piece by piece.
fn and(words: &mut String, key: &str, value: &str) {
    if !words.is_empty() {
        words.push_str(" and ");
    }
    words.push_str(key);
    words.push('=');
    words.push_str(value);
}
