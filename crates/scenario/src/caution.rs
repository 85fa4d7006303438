//! Settings that are taken as written and still do not do what a reader would expect: those without
//! effect beside the others, and lengths that no engine would serve whole.

use sim_core::workload::Requests;

use crate::{
    class::CLASS_PREFIX,
    context::BeyondContext,
    field::{FIELDS, field},
    notice::{Notice, NoticeKind},
    resolve,
    schema::{Scenario, StepKind},
};

/// What has to be set so that another setting counts.
struct Need {
    /// Key of the setting that decides.
    key: &'static str,
    /// A value of it that lets the other one count.
    value: &'static str,
    /// Whether it does.
    is_met: fn(&Scenario) -> bool,
}

const VLLM: Need =
    Need { key: "sched.rules", value: "vllm-0.33", is_met: |scenario| scenario.rules.are_vllms() };
const PREFIX_CACHE: Need = Need {
    key: "sched.prefix_caching",
    value: "on",
    is_met: |scenario| scenario.vllm.prefix_caching,
};
const PRIORITIES: Need =
    Need { key: "sched.policy", value: "priority", is_met: |scenario| scenario.vllm.by_priority };
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
const ROOFLINE: Need = Need {
    key: "step.kind",
    value: "roofline",
    is_met: |scenario| matches!(scenario.step.kind, None | Some(StepKind::Roofline)),
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

/// Which settings need what. A part of a class goes by its own name.
static NEEDS: &[(&str, &[Need])] = &[
    ("model", &[ROOFLINE]),
    ("gpu", &[ROOFLINE]),
    ("sched.max_num_batched_tokens", &[STEP_BY_STEP]),
    ("sched.max_num_seqs", &[AT_ONCE]),
    ("sched.async", &[VLLM]),
    ("sched.policy", &[VLLM]),
    ("sched.prefix_caching", &[VLLM]),
    ("prefix", &[VLLM, PREFIX_CACHE]),
    ("sched.long_prefill_token_threshold", &[VLLM]),
    ("sched.watermark", &[VLLM]),
    ("priority", &[VLLM, PRIORITIES]),
    ("step.params", &[ROOFLINE]),
    ("step.weight_bytes", &[ROOFLINE]),
    ("step.kv_bytes_per_token", &[ROOFLINE]),
    ("step.peak_flops", &[ROOFLINE]),
    ("step.bandwidth", &[ROOFLINE]),
    ("step.mfu", &[ROOFLINE]),
    ("step.overhead_s", &[ROOFLINE]),
    ("step.fixed_s", &[AFFINE]),
    ("step.per_item_s", &[AFFINE]),
    ("step.alpha_s", &[QUEUE_MODEL]),
    ("step.beta_s", &[QUEUE_MODEL]),
    ("step.gamma_s", &[QUEUE_MODEL]),
];

/// Parts of a class that need something.
const CLASS_PARTS: [&str; 2] = ["priority", "prefix"];

/// As many requests are looked at for lengths beyond the context.
const MOST_LOOKED_AT: u64 = 10_000;

impl Scenario {
    /// What a person should know of settings that were all taken as written: which of them have no
    /// effect beside the others and what would give them one, and how many requests are longer than
    /// the model takes.
    #[must_use]
    pub fn cautions(&self) -> Vec<Notice> {
        let mut cautions = self.without_effect();
        if let Some(beyond) = self.beyond_context() {
            let message = beyond.sentence(&self.way_within_context(&beyond));
            cautions.push(Notice::new("in", "", NoticeKind::BeyondContext, message));
        }
        cautions
    }

    fn without_effect(&self) -> Vec<Notice> {
        let mut idle = Vec::new();
        let own = FIELDS.iter().filter(|field| {
            // What the catalogue decides has no text and an empty default.
            self.text(field).is_some_and(|text| text != field.default)
        });
        for field in own {
            idle.extend(self.idle(field.key, field.key, field.label));
        }
        for class in &self.classes {
            for part in CLASS_PARTS.into_iter().filter(|part| class.part(part).is_some()) {
                let key = [CLASS_PREFIX, &class.name, ".", part].concat();
                let label = ["Class ", &class.name, ", ", part].concat();
                idle.extend(self.idle(part, &key, &label));
            }
        }
        idle
    }

    /// The notice about a setting that lacks what it needs.
    fn idle(&self, name: &str, key: &str, label: &str) -> Option<Notice> {
        let (_, needs) = NEEDS.iter().find(|(needy, _)| *needy == name)?;
        let lacking = || needs.iter().filter(|need| !(need.is_met)(self));
        lacking().next()?;
        let (mut now, mut instead) = (String::new(), String::new());
        for need in lacking() {
            let default = need.default();
            let current = self.get(need.key);
            and(&mut now, need.key, current.as_deref().unwrap_or(default));
            and(&mut instead, need.key, need.value);
        }
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
        Some(Notice::new(key, &value, NoticeKind::NoEffect, message))
    }

    /// How many of the first requests are longer than the model takes, prompt and answer together;
    /// none where no request can be.
    fn beyond_context(&self) -> Option<BeyondContext> {
        let context_tokens = self.context_tokens()?;
        let workload = resolve::workload(self)?;
        if workload.source.largest_request_tokens() <= context_tokens {
            return None;
        }
        let requests = Requests::new(&workload, self.sim.seed).take(MOST_LOOKED_AT as usize);
        let tokens = requests.map(|request| (request.input_tokens, request.output_tokens));
        BeyondContext::among(context_tokens, tokens)
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
