//! The answer card: one frame for all its states, so that nothing around it ever moves.

use leptos::prelude::*;
use quantity::NARROW_SPACE;

use super::{
    card::{Beneath, Card, Pill, Size, card},
    facts::right_view,
    gauge::gauge_view,
};
use crate::{
    app::Layout,
    memo::{flag, memo, text, when},
    state::{Activity, State},
    strings,
};

/// What the card shows now.
pub(crate) fn card_memo(state: State) -> Memo<Card> {
    memo(move |_| {
        let resolution = state.resolution.get();
        let answered = state.answered.get();
        state.activity.with(|now| card(&resolution, answered.as_deref(), now))
    })
}

/// The card. Its parts are replaced only if they differ.
#[component]
pub(crate) fn AnswerCard(condensed: Signal<bool>) -> impl IntoView {
    let state = expect_context::<State>();
    let card = card_memo(state);
    let part = move |tell: fn(&Card) -> String| memo(move |_| card.with(tell));
    let hero = part(|card| card.hero.clone());
    let headline = part(|card| card.headline.clone());
    let layout = expect_context::<Layout>();
    let qualifier = memo(move |_| {
        let short = layout.is_phone.get();
        card.with(|card| if short { card.qualifier_short.clone() } else { card.qualifier.clone() })
    });
    let size = memo(move |_| card.with(|card| card.size));
    let is_stale = memo(move |_| card.with(|card| card.is_stale));
    let offers = memo(move |_| card.with(|card| card.offers_simulation));
    let pill = memo(move |_| card.with(|card| card.pill.clone()));
    let beneath = memo(move |_| card.with(|card| card.beneath.clone()));
    let right = memo(move |_| card.with(|card| card.right.clone()));
    view! {
        <section
            class="card answer"
            id="answer"
            tabindex="-1"
            aria-label=strings::ANSWER_LABEL
            data-condensed=text(move || condensed.get().to_string())
        >
            <ProgressLine />
            <div class="answer-left">
                <div class="answer-head">
                    <p
                        class="hero"
                        class:hero-words=move || size.get() == Size::Words
                        class:hero-wide=move || size.get() == Size::Wide
                        class:hero-widest=move || size.get() == Size::Widest
                        class:stale=flag(move || is_stale.get())
                    >
                        {move || hero_view(&hero.get())}
                    </p>
                    <div class="answer-text">
                        <p class="headline" title=text(move || headline.get())>
                            {text(move || headline.get())}
                        </p>
                        <p class="qualifier" title=text(move || qualifier.get())>
                            {text(move || qualifier.get())}
                            <Show when=when(move || offers.get())>
                                " "
                                <button
                                    type="button"
                                    class="inline-action"
                                    on:click=move |_| state.run_again()
                                >
                                    {strings::SIMULATE}
                                </button>
                            </Show>
                        </p>
                    </div>
                    // Another word is another pill: one that grew to the left would seem to move.
                    <For
                        each=move || [pill.get()]
                        key=|pill| (pill.tone, pill.text.clone())
                        children=|pill| pill_view(&pill)
                    />
                </div>
                {move || beneath_view(state, beneath.get())}
            </div>
            <div class="answer-right">{move || right_view(state, right.get())}</div>
        </section>
    }
}

/// The number; a sign that it is about right hangs beside it, so that it comes and goes without
/// moving anything.
fn hero_view(hero: &str) -> impl IntoView + use<> {
    let (sign, number) = match hero.split_once(NARROW_SPACE) {
        Some((sign, number)) => (Some(format!("{sign}{NARROW_SPACE}")), number),
        None => (None, hero),
    };
    view! {
        {sign.map(|sign| view! { <span class="hero-sign">{sign}</span> })}
        {number.to_owned()}
    }
}

fn pill_view(pill: &Pill) -> impl IntoView + use<> {
    view! {
        <p class="pill" data-tone=pill.tone hidden=pill.text.is_empty()>
            {pill.icon.map(|icon| icon.view())}
            <span class="pill-text">{pill.text.clone()}</span>
        </p>
    }
}

fn beneath_view(state: State, beneath: Beneath) -> AnyView {
    match beneath {
        Beneath::Gauge(gauge) => gauge_view(gauge).into_any(),
        Beneath::Paragraph { text, run_longer } => {
            let offer = run_longer.then(|| {
                view! {
                    <button
                        type="button"
                        class="inline-action"
                        on:click=move |_| state.run_longer()
                    >
                        {strings::RUN_LONGER}
                    </button>
                    "."
                }
            });
            let title = text.clone();
            view! {
                <p class="paragraph" title=title>
                    {text}
                    {offer}
                </p>
            }
            .into_any()
        }
    }
}

/// The line at the card's upper edge while something is being simulated.
#[component]
fn ProgressLine() -> impl IntoView {
    let state = expect_context::<State>();
    let done = memo(move |_| match state.activity.get() {
        Activity::Running(done, total) if total > 0 => f64::from(done) / f64::from(total),
        _ => 0.0,
    });
    let is_running =
        memo(move |_| state.activity.with(|activity| matches!(activity, Activity::Running(..))));
    view! {
        <div
            class="progress"
            aria-hidden="true"
            data-on=text(move || is_running.get().to_string())
            style=("--done", move || format!("{:.3}", done.get()))
        ></div>
    }
}
