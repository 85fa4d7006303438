//! The Headroom page.
//!
//! ```text
//!   controls ──▶ Scenario ──resolve──▶ closed form ──▶ answer card, knee
//!                   │  ▲                                   ▲
//!                   ▼  │                                   │
//!              address bar            worker ──▶ PlanAnswer
//! ```
//!
//! One scenario is the truth ([`state`]); views read from it and controls write to it.

mod answered;
mod app;
mod browser;
mod canvas;
mod controls;
mod dom;
mod fatal;
mod icons;
mod kept;
mod keys;
mod late;
mod memo;
mod names;
mod recording;
mod settings;
mod shell;
mod state;
mod steps;
mod strings;
mod theme;
mod url_state;
mod view;
mod views;
mod worker_client;

fn main() {
    // The worker runs this very module: what both need is loaded and compiled once.
    if let Some(scope) = sim_worker::scope() {
        sim_worker::start(&scope);
        return;
    }
    fatal::reveal_on_panic();
    leptos::mount::mount_to_body(app::app);
}
