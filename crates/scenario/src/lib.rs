//! A person's words: schema, validation, link and JSON codecs, and their resolution to plain numbers.
//!
//! ```text
//!   link, JSON, key=value ──▶ Scenario ──resolve──▶ Setup + Ledger
//!                    ▲            │
//!                    └── FIELDS ──┘   one table: keys, labels, units, ranges, steps
//! ```
//!
//! A [`Scenario`] holds names and what a person set; [`Scenario::resolve`] looks the names up in the
//! catalogue and says of every number where it comes from. Nothing that a person writes makes this
//! crate panic, and nothing is replaced in silence: each departure is a [`Notice`].

mod arrivals;
mod caution;
mod class;
mod class_setting;
mod context;
mod defaults;
mod demand;
mod field;
mod fleet;
mod json;
mod late;
mod lengths;
mod link;
mod notice;
mod overload;
mod pieces;
mod profile;
mod range;
mod reader;
mod reading;
mod recording;
mod resolve;
mod rules;
mod schema;
mod sessions;
mod setting;
mod wide;
mod writing;

pub use caution::Needy;
pub use class::{
    CLASS_EXAMPLE, CLASS_HELP, CLASS_PREFIX, ClassSpec, MAX_CLASSES, REST, field_of_part,
};
pub use context::BeyondContext;
pub use demand::{Demand, DemandError, EXAMPLES as DEMAND_EXAMPLES, Tokens};
pub use field::{
    Direction, ENGINES, FIELDS, Field, Group, KV_DTYPES, Scale, Slider, Snap, Step, StepSizes,
    WEIGHTS, field,
};
pub use fleet::{
    FLEET_FAULTS, FLEET_POLICIES, FLEET_ROUTERS, FLEET_SIGNALS, FleetError, FleetSpec,
    METRIC_OUTAGE_S,
};
pub use json::ScenarioError;
pub use late::{late_part_is_here, set_late_part_absent};
pub use link::{VERSUS, page_word};
pub use notice::{Notice, NoticeKind, Parsed};
pub use overload::{Clients, ClosedLoop, LinePolicy, Need, OVERLOAD_NEEDS, Overload, Spread};
pub use profile::Profile;
pub use reader::LINK_VERSION;
pub use resolve::{
    Ledger, LedgerEntry, Memory, Provenance, Remedy, ResolveError, Resolved, Untyped,
};
pub use rules::SchedRules;
pub use schema::{
    Deploy, Disagg, Scenario, Sched, Sim, Spec, StepKind, StepOverrides, VllmOptions,
};
pub use wide::{Listed, gpu_name, link_wants_wide_catalogue, model_name, wide_gpus, wide_models};
