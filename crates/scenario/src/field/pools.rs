//! The settings of speculative decoding and of prefill and decode pools.

use quantity::Unit;

use super::{
    Access::{self, Real, Whole},
    Field, Group,
    table::word,
};

const fn percent(key: &'static str, label: &'static str, access: Access) -> Field {
    Field {
        unit: "%",
        quantity: Unit::Percent,
        max: 100.0,
        ..word(key, label, Group::Engine, access)
    }
}

const fn replicas(key: &'static str, label: &'static str, access: Access) -> Field {
    Field {
        quantity: Unit::Count,
        example: "1",
        max: 1000.0,
        default: "0",
        ..word(key, label, Group::Engine, access)
    }
}

pub(super) const SPEC_TOKENS: Field = Field {
    unit: "tokens",
    quantity: Unit::Tokens,
    help: "Speculative decoding: tokens that a draft model proposes for each sequence in a step, all of which are verified in that step; 0 for none.",
    example: "4",
    max: 64.0,
    default: "0",
    ..word(
        "spec.tokens",
        "Drafted tokens",
        Group::Engine,
        Whole { get: |s| s.spec.tokens, put: |s, v| s.spec.tokens = v },
    )
};

pub(super) const SPEC_ACCEPTANCE: Field = Field {
    help: "Speculative decoding: how often a drafted token is kept, given that those before it were.",
    example: "70% or 0.7",
    default: "70",
    ..percent(
        "spec.acceptance",
        "Acceptance rate",
        Real { get: |s| s.spec.acceptance, put: |s, v| s.spec.acceptance = v },
    )
};

pub(super) const SPEC_DRAFT_COST: Field = Field {
    help: "Speculative decoding: time in which the draft model proposes one token, as a share of a step that decodes one for each sequence.",
    example: "5% or 0.05",
    default: "5",
    ..percent(
        "spec.draft_cost",
        "Draft cost",
        Real { get: |s| s.spec.draft_cost, put: |s, v| s.spec.draft_cost = v },
    )
};

pub(super) const PREFILL: Field = Field {
    help: "Replicas that only prefill, and send their KV cache to those that decode; 0 for replicas that do both. Plans are about the latter; headroom simulate and the page show both.",
    ..replicas(
        "disagg.prefill",
        "Prefill replicas",
        Whole { get: |s| s.disagg.prefill, put: |s, v| s.disagg.prefill = v },
    )
};

pub(super) const DECODE: Field = Field {
    help: "Replicas that only decode what others have prefilled. Plans are about replicas that do both; headroom simulate and the page show both.",
    ..replicas(
        "disagg.decode",
        "Decode replicas",
        Whole { get: |s| s.disagg.decode, put: |s, v| s.disagg.decode = v },
    )
};

pub(super) const LINK: Field = Field {
    unit: "Gbit/s",
    help: "Prefill and decode replicas: bandwidth at which one prefill replica sends KV cache, one request after the other.",
    example: "400",
    min: 0.01,
    max: 1e6,
    default: "400",
    ..word(
        "disagg.link_gbps",
        "KV link",
        Group::Engine,
        Real { get: |s| s.disagg.link_gbps, put: |s, v| s.disagg.link_gbps = v },
    )
};

pub(super) const LATENCY: Field = Field {
    unit: "ms",
    quantity: Unit::Milliseconds,
    help: "Prefill and decode replicas: time from the last byte sent to the KV cache being usable.",
    example: "1ms",
    max: 60_000.0,
    default: "1ms",
    ..word(
        "disagg.latency",
        "KV link latency",
        Group::Engine,
        Real { get: |s| s.disagg.latency_s, put: |s, v| s.disagg.latency_s = v },
    )
};
