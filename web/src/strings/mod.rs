//! Everything the page says, in one place. Slots are arguments; no sentence is joined from parts
//! elsewhere.

mod calibrate;
mod compare;
mod decisions;
mod export;
mod fleet;
mod keys;
mod know;
mod pools;
mod recording;
mod settings;

pub(crate) use calibrate::*;
pub(crate) use compare::*;
pub(crate) use decisions::*;
pub(crate) use export::*;
pub(crate) use fleet::*;
pub(crate) use keys::*;
pub(crate) use know::*;
pub(crate) use pools::*;
pub(crate) use recording::*;
pub(crate) use settings::*;

use quantity::{NARROW_SPACE, count, duration, number, whole_percent};
use report::one_server;
use scenario::{Scenario, field};

pub(crate) const NAME: &str = "Headroom";
pub(crate) const PLAN: &str = "Plan";
pub(crate) const PAGE_HEADING: &str = "How many GPUs this traffic needs";
pub(crate) const SKIP: &str = "Skip to the answer";
pub(crate) const VIEWS: &str = "Views";
pub(crate) const SETTINGS: &str = "Settings";
pub(crate) const UNDO: &str = "Undo";
pub(crate) const REDO: &str = "Redo";
pub(crate) const COPY_LINK: &str = "Copy link";
pub(crate) const COPY_FAILED: &str =
    "The browser did not allow copying. The address bar holds the link.";
pub(crate) const DETAILS_COPIED: &str = "Details copied.";
pub(crate) const TABLE_COPIED: &str = "Table copied.";
pub(crate) const ALL_SETTINGS: &str = "All settings";
pub(crate) const FEWER_SETTINGS: &str = "Done";
pub(crate) const SETTINGS_COUNT: &str = "9 shown, 7 groups";
pub(crate) const RESIZE_SETTINGS: &str = "Show more or fewer settings";
pub(crate) const SHOW: &str = "Show";
pub(crate) const HIDE: &str = "Hide";
pub(crate) const DISMISS: &str = "Dismiss";
pub(crate) const CATALOGUE: &str = "the catalogue’s figure";

pub(crate) const SEARCH_MODELS: &str = "Search models";
pub(crate) const SEARCH_GPUS: &str = "Search GPUs";
pub(crate) const FITS: &str = "fits";
pub(crate) const DOES_NOT_FIT_SHORT: &str = "does not fit";

pub(crate) const AT_PLANNED_LOAD: &str = "At the planned load";
pub(crate) const WHAT_LIMITS: &str = "What limits it";
pub(crate) const KV_CACHE: &str = "KV cache";
pub(crate) const HOW_SURE: &str = "How sure";
pub(crate) const COMPUTE: &str = "Compute";
pub(crate) const BANDWIDTH: &str = "Bandwidth";
pub(crate) const IN_USE_AT_PEAK: &str = "in use at its peak";
pub(crate) const PUBLISHED_FORMULA: &str = "Published formula";
pub(crate) const NOT_CALIBRATED: &str = "not calibrated";
pub(crate) const NO_ANSWER: &str = "No answer";
pub(crate) const STOPPED: &str = "Stopped";
pub(crate) const UNKNOWN: &str = "–";
pub(crate) const RUNNING_LINE: &str = "closed form; Esc stops the run";
pub(crate) const CANCELLED_LINE: &str = "closed form only";
pub(crate) const SCALED_LINE: &str = "closed form only, scaled to the last run";
pub(crate) const ONE_RUN_LINE: &str = "from one run only";
/// In the place of a verdict, of which one short run says nothing.
pub(crate) const ESTIMATING: &str = "Estimating…";
pub(crate) const STOPPED_LINE: &str = "last answer, before the change";
pub(crate) const SIMULATE: &str = "Simulate";
pub(crate) const START_AGAIN: &str = "Start again";
pub(crate) const FEWER_RUNS: &str = "Use fewer runs";
pub(crate) const COPY_DETAILS: &str = "Copy details";
pub(crate) const RESTARTING: &str = "A fresh worker starts by itself in a moment.";
pub(crate) const STOPPED_TWICE: &str = "Stopped twice in a minute, so it waits for you.";
pub(crate) const NOT_LOADED: &str = "what simulates these rules could not be loaded";
pub(crate) const NOT_LOADED_NOTE: &str = "Any change of a setting tries again, too.";
pub(crate) const VIEW_NOT_LOADED: &str = "This view could not be loaded.";
pub(crate) const SETTINGS_NOT_LOADED: &str = "These settings could not be loaded.";
pub(crate) const NUMBERS_NOT_LOADED: &str = "These numbers could not be loaded.";
pub(crate) const CHANGES_NOT_LOADED: &str =
    "What would help could not be loaded; any change of a setting tries again.";
pub(crate) const KNEE_TITLE: &str = "Latency and goodput as load rises";
pub(crate) const KNEE_TITLE_SHORT: &str = "As load rises";
pub(crate) const TABLE: &str = "Table";
pub(crate) const TABLE_TITLE: &str = "The same numbers as a table (T)";
pub(crate) const PICTURE: &str = "PNG";
pub(crate) const PICTURE_TITLE: &str = "Save the chart as a PNG picture";
pub(crate) const REMARKS: &str = "About this traffic";
pub(crate) const KEYS: &str = "Keys";
pub(crate) const CLOSE: &str = "Close";
pub(crate) const LETTERS_ON: &str = "Single letters work while no field has the focus";
pub(crate) const LOADING: &str = "Loading…";
pub(crate) const TRY_AGAIN: &str = "Try again";
pub(crate) const APPLY: &str = "Apply";

/// Whether the chart's picture could be made.
pub(crate) fn saved(worked: bool) -> &'static str {
    if worked { "Saved as knee.png." } else { "The browser gave no canvas for the picture." }
}

pub(crate) const COPY_TABLE: &str = "Copy";
/// After the chart's subject while its runs are not all in.
pub(crate) const ESTIMATED: &str = ", estimated";
/// Before what is spoken of a point meanwhile.
pub(crate) const ABOUT: &str = "about ";
pub(crate) const TTFT: &str = "TTFT";
pub(crate) const TPOT: &str = "TPOT";
pub(crate) const TTFT_P99: &str = "TTFT P99";
pub(crate) const TTFT_P50: &str = "TTFT P50";
pub(crate) const TPOT_P99: &str = "TPOT P99";
pub(crate) const GOODPUT: &str = "Goodput";
pub(crate) const CURSOR: &str = "Request rate on the chart";
/// Why a latency of the table is withheld, of a load that is stable or not.
pub(crate) const fn withheld(is_stable: bool) -> &'static str {
    if is_stable { "withheld: too few answers" } else { "withheld: unstable" }
}

/// The first one only where the loads are users.
pub(crate) const KNEE_COLUMNS: [&str; 9] = [
    "Users",
    "Requests per second",
    "TTFT P50",
    "TTFT P99",
    "TPOT P99",
    "ITL P99",
    "Goodput, req/s",
    "Within target",
    "Running",
];

pub(crate) const LEDGER: &str = "Where the numbers come from";
pub(crate) const LEDGER_COLUMNS: [&str; 5] = ["Quantity", "Value", "Kind", "Source", "Formula"];

/// “Default: 100 req/s”.
pub(crate) fn default_is(value: &str, unit: &str) -> String {
    format!("Default: {}", with_unit(value, unit))
}

/// A number and the unit beside it.
pub(crate) fn with_unit(value: &str, unit: &str) -> String {
    if unit.is_empty() { value.to_owned() } else { format!("{value}{NARROW_SPACE}{unit}") }
}

/// “100 requests per second”.
pub(crate) fn spoken_value(value: &str, unit: &str) -> String {
    format!("{value} {unit}").trim().to_owned()
}

/// “Link copied. 212 characters, the whole scenario.”
pub(crate) fn link_copied(characters: usize) -> String {
    format!("Link copied. {} characters, the whole scenario.", count(characters as u64))
}

/// “Theme: dark”.
pub(crate) fn theme_is(name: &str) -> String {
    format!("Theme: {name}")
}

/// What back, forward or a typed link changed: “Back to request rate 100 req/s”.
pub(crate) fn restored(before: &Scenario, after: &Scenario) -> Option<String> {
    let changed: Vec<_> = scenario::FIELDS
        .iter()
        .filter(|field| before.get(field.key) != after.get(field.key))
        .collect();
    match changed[..] {
        [] => None,
        [only] => {
            let value = |scenario: &Scenario| {
                let unit = if only.unit == "%" || only.unit == "req/s" { only.unit } else { "" };
                let text = scenario.get(only.key).unwrap_or_else(|| CATALOGUE.to_owned());
                with_unit(&text, unit)
            };
            Some(format!("{}: {} → {}", only.label, value(before), value(after)))
        }
        _ => Some(format!("{} settings restored.", count(changed.len() as u64))),
    }
}

/// “This link holds 2 things that are not used as written.”
pub(crate) fn notices(n: usize) -> String {
    match n {
        1 => "One part of this link is not used as written.".to_owned(),
        n => format!("{} parts of this link are not used as written.", count(n as u64)),
    }
}

/// “Request rate 99999: Most we simulate is 10,000 req/s. Using 10,000.” Beside a control the field
/// is plain to see; in a list it must be named.
pub(crate) fn notice(notice: &scenario::Notice) -> String {
    match field(&notice.key) {
        Some(field)
            if notice.kind == scenario::NoticeKind::Clamped
                && !notice.message.starts_with(field.label) =>
        {
            format!("{} {}: {}", field.label, notice.value, notice.message)
        }
        _ => notice.message.clone(),
    }
}

/// What would bring numbers where there are none.
pub(crate) fn way_out(change: Option<&str>) -> String {
    match change {
        Some(change) => format!("Smallest change that works: {change}."),
        None => "Change a setting to bring it back.".to_owned(),
    }
}

/// Why the ledger is empty, and what would fill it.
pub(crate) fn no_numbers(reason: &str, change: Option<&str>) -> String {
    format!("No numbers to trace: {reason} {}", way_out(change))
}

/// “P99 TTFT, target 1 s”, and “P99 TTFT” where there is little room; without a target it is over
/// classes that have their own.
pub(crate) fn p99_with_target(name: &str, target_s: Option<f64>) -> (String, String) {
    let long = match target_s {
        Some(target_s) => format!("P99 {name}, target {}", duration(target_s)),
        None => format!("P99 {name}, all classes"),
    };
    (long, format!("P99 {name}"))
}

/// “55 % of step time”, and “55 % of time” where there is little room.
pub(crate) fn of_step_time(share: f64) -> (String, String) {
    let share = whole_percent(share);
    (format!("{share} of step time"), format!("{share} of time"))
}

/// “50 of 256”.
pub(crate) fn sequences(running: f64, most: u64) -> String {
    let running = if running < 10.0 { number(running) } else { quantity::whole(running) };
    format!("{running} of {}", count(most))
}

/// Under the running sequences.
pub(crate) const RUNNING_ON_AVERAGE: &str = "sequences on average";

/// “749 requests”.
pub(crate) fn requests(n: u64) -> String {
    if n == 1 { "1 request".to_owned() } else { format!("{} requests", count(n)) }
}

/// In the place of a number of the KV cache where the step time knows no memory.
pub(crate) const NOT_MODELLED: &str = "Not modelled";
/// Under it.
pub(crate) const NO_MEMORY: (&str, &str) = ("by this step time", "not modelled");
/// The same of batches that are served whole.
pub(crate) const NO_MEMORY_OF_BATCHES: (&str, &str) = ("by whole batches", "not modelled");

/// Under the number of requests that fit.
pub(crate) const LARGEST_FIT: &str = "of the largest size fit";

/// “5 to 7 GPUs”, and “229–235 GPUs” or “1,290–1,345” to save room.
pub(crate) fn gpus(low: u64, high: u64) -> String {
    let noun = if high == 1 { "GPU" } else { "GPUs" };
    if low == high {
        format!("{} {noun}", count(high))
    } else if high == u64::MAX {
        format!("{} or more GPUs", count(low))
    } else if high >= 1_000 {
        format!("{}–{}", count(low), count(high))
    } else if high >= 100 {
        format!("{}–{} {noun}", count(low), count(high))
    } else {
        format!("{} to {} {noun}", count(low), count(high))
    }
}

/// “22.2 to 23.2 req/s each” or “400 to 445 users each”, and “22.2–23.2” where there is little room.
pub(crate) fn one_holds(low: f64, high: f64, unit: &str) -> (String, String) {
    let range = quantity::range(low, high);
    let short = range.replace(" to ", "–");
    ([&with_unit(&range, unit), " each"].concat(), short)
}

/// “not calibrated; 8 runs”.
pub(crate) fn runs_of(runs: u32) -> String {
    let noun = if runs == 1 { "run" } else { "runs" };
    format!("{NOT_CALIBRATED}; {runs} {noun}")
}

/// “62 %”.
pub(crate) fn percent_done(done: u32, total: u32) -> String {
    let share = if total == 0 { 0.0 } else { f64::from(done) / f64::from(total) };
    whole_percent(if share > 1.0 { 1.0 } else { share })
}

/// Why there is nothing new.
pub(crate) fn stopped_because(message: &str) -> String {
    let message = message.lines().next().unwrap_or_default().trim();
    let mut short: String = message.chars().take(140).collect();
    if message.chars().nth(140).is_some() {
        short.push('…');
    }
    format!("The calculation stopped: {short}. Your settings are kept.")
}

/// “The calculation stood still for 10.8 s. A fresh worker started by itself.”, from the last that was
/// heard of the old worker to the first that was heard of the new one.
pub(crate) fn revived(silent_ms: f64) -> String {
    let silent_s = duration(silent_ms / 1e3);
    format!("The calculation stood still for {silent_s}. A fresh worker started by itself.")
}

/// Why a field has no number in force.
pub(crate) fn no_figure(error: Option<&str>) -> String {
    match error {
        Some(error) => ["No figure: ", error].concat(),
        None => "This step time has no such figure.".to_owned(),
    }
}

/// “22.6 per GPU”; “22.6 per engine” where each has several GPUs.
pub(crate) fn per_server(rate: f64, gpus_each: u64) -> String {
    let server = if gpus_each > 1 { " per engine" } else { " per GPU" };
    number(rate) + server
}

/// After the asked rate.
pub(crate) const ASKED_UNIT: &str = "\u{202f}req/s asked";

/// “Apply H200 SXM 141 GB”.
pub(crate) fn apply_change(name: &str) -> String {
    format!("{APPLY} {name}")
}

/// What is copied for a report of a stop.
pub(crate) fn details(message: &str, link: &str) -> String {
    format!("{message}\n{link}\n")
}

/// Name of the answer's section.
pub(crate) const ANSWER_LABEL: &str = "Answer";

/// Beneath a text that was typed before a reload and never taken in.
pub(crate) fn still_open(in_force: &str) -> String {
    ["Typed, but not in force: Enter takes it, Esc drops it. Still using ", in_force, "."].concat()
}

/// “1,024 in, 256 out”.
pub(crate) fn chip_lengths(scenario: &Scenario) -> String {
    let shown = |key| scenario.number(key).map(quantity::whole).unwrap_or_default();
    format!("{} in, {} out", shown("in"), shown("out"))
}

/// “TTFT 1 s, TPOT 40 ms”.
pub(crate) fn chip_target(scenario: &Scenario) -> String {
    format!("TTFT {}, TPOT {}", duration(scenario.slo.ttft_s), duration(scenario.slo.tpot_s))
}

/// “136 carried”.
pub(crate) fn carried(rate: f64) -> String {
    format!("{} carried", number(rate))
}

/// A remedy's name: “GPU: h200-sxm”.
pub(crate) fn remedy(key: &str, value: &str) -> String {
    match (field(key), key) {
        (_, "model") => crate::names::model(value),
        (_, "gpu") => crate::names::gpu(value),
        (Some(field), _) if field.choices.contains(&value) => {
            [field.label, " ", &word(value)].concat()
        }
        (Some(field), _) => {
            let shown = quantity::parse(value, field.quantity).map_or_else(
                |_| value.to_owned(),
                |number| quantity::format(number, field.quantity),
            );
            format!("{} {shown}", field.label)
        }
        (None, _) => format!("{key} {value}"),
    }
}

/// What is spoken once the answer rests, of a number of GPUs.
pub(crate) fn announcement(gpus: &str, gpu: &str, ttft_s: Option<f64>, pill: &str) -> String {
    // A number that is about right has its sign before it.
    let noun = if gpus == "1" || gpus == "≈\u{202f}1" { " GPU." } else { " GPUs." };
    let mut said = [gpus, " ", gpu, noun].concat();
    if let Some(ttft_s) = ttft_s {
        said.push_str(&format!(" P99 time to first token {}.", spoken_duration(ttft_s)));
    }
    if !pill.is_empty() {
        said.push_str(&[" ", pill, "."].concat());
    }
    said
}

/// What is spoken once it rests that there is no number, and why.
pub(crate) fn no_number(word: &str, reason: &str) -> String {
    [word, ". ", reason].concat()
}

/// “212 milliseconds”.
pub(crate) fn spoken_duration(seconds: f64) -> String {
    duration(seconds).replace("ms", "milliseconds").replace("\u{202f}s", "\u{202f}seconds")
}

/// What is held fixed on the chart, and from how many runs it is.
pub(crate) fn knee_subtitle(gpus_each: u64, runs: u32) -> String {
    let server = one_server(gpus_each);
    match runs {
        0 => server,
        1 => server + ", one run",
        n => format!("{server}, 95{NARROW_SPACE}% intervals, {n} runs per rate"),
    }
}

/// What the chart in a picture is of, as it is away from the page: “Qwen2.5-7B on H100, 1,024 in,
/// 256 out, TTFT 1 s, TPOT 40 ms”, and what is held fixed.
pub(crate) fn picture_lines(scenario: &Scenario, runs: u32) -> [String; 2] {
    let model = crate::names::model(&scenario.model);
    let gpu = crate::names::gpu_short(&scenario.gpu);
    let what = [&model, " on ", &gpu, ", ", &chip_lengths(scenario)].concat();
    [
        what,
        [&chip_target(scenario), "; ", &knee_subtitle(scenario.gpus_per_engine(), runs)].concat(),
    ]
}

/// “At 16.7 req/s”; takes the rate with its unit.
pub(crate) fn readout_at(rate: &str) -> String {
    ["At ", rate].concat()
}

/// The chart in one sentence.
pub(crate) fn knee_summary(
    server: &str,
    capacity: &str,
    ceiling: Option<f64>,
    planned: Option<(f64, f64)>,
) -> String {
    let planned = planned
        .map(|(rate, ttft)| {
            format!(
                " At the planned {} requests per second TTFT P99 is {}.",
                number(rate),
                spoken_duration(ttft)
            )
        })
        .unwrap_or_default();
    let ceiling = ceiling
        .map(|rate| format!(" and becomes unstable above {}", number(rate)))
        .unwrap_or_default();
    let server = server.replacen("one", "One", 1);
    format!("{server} holds the target up to {capacity} requests per second{ceiling}.{planned}")
}

/// A chart point as the cursor speaks it.
pub(crate) fn spoken_point(
    rate: f64,
    unstable: bool,
    ttft: Option<f64>,
    tpot: Option<f64>,
    goodput: Option<f64>,
) -> String {
    let mut text = format!("{} requests per second", number(rate));
    if unstable {
        text.push_str(": unstable, P99 withheld");
        return text;
    }
    if let Some(ttft) = ttft {
        text.push_str(&format!(": TTFT P99 {}", spoken_duration(ttft)));
    }
    if let Some(tpot) = tpot {
        text.push_str(&format!("; TPOT P99 {}", spoken_duration(tpot)));
    }
    if let Some(goodput) = goodput {
        text.push_str(&format!("; goodput {}", number(goodput)));
    }
    text
}

/// Said when a run takes longer than a second.
pub(crate) fn still_running(done: u32, total: u32) -> String {
    format!("Simulating, {} done.", percent_done(done, total))
}

/// “No model called “qwn”.”
pub(crate) fn nothing_found(query: &str) -> String {
    format!("Nothing in the catalogue is called “{query}”.")
}

/// “Poisson”, or “Bursty, spike”.
pub(crate) fn arrivals_summary(pattern: &str, profile: Option<&str>) -> String {
    match profile {
        Some(profile) => format!("{pattern}, {}", profile.to_ascii_lowercase()),
        None => pattern.to_owned(),
    }
}

/// “Fixed”, or “Lognormal, fixed”.
pub(crate) fn lengths_summary(prompts: &str, answers: &str) -> String {
    if prompts == answers {
        prompts.to_owned()
    } else {
        format!("{prompts}, {}", answers.to_ascii_lowercase())
    }
}

/// “one class”, “chat, rag”, “5 classes”.
pub(crate) fn mix_summary(names: &[&str]) -> String {
    match names {
        [] => "all alike".to_owned(),
        [_, _, _, ..] => format!("{} classes", count(names.len() as u64)),
        few => few.join(", "),
    }
}

/// “Reference, 256 at once”.
pub(crate) fn engine_summary(rules: &str, sequences: u64) -> String {
    format!("{rules}, {} at once", count(sequences))
}

/// “8 runs, not calibrated”.
pub(crate) fn accuracy_summary(runs: u32) -> String {
    format!("{runs} runs, {NOT_CALIBRATED}")
}

/// Label of the share.
pub(crate) const MUST_HOLD_FOR: &str = "Must hold for";

/// “0.45 to 0.55”, beside a value.
pub(crate) fn band(range: &str) -> String {
    format!("({range})")
}

/// “Model: ”, read before what is picked.
pub(crate) fn picker_label(key: &str) -> String {
    let label = field(key).map_or(key, |field| field.label);
    format!("{label}: ")
}

pub(crate) const THEME_SYSTEM: &str = "system";
pub(crate) const THEME_LIGHT: &str = "light";
pub(crate) const THEME_DARK: &str = "dark";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spoken_answer_counts_one_gpu_as_one() {
        let narrow = "\u{202f}";
        for (hero, spoken) in [
            ("6", "6 H100 GPUs. Stable."),
            ("1", "1 H100 GPU. Stable."),
            ("11", "11 H100 GPUs. Stable."),
            ("1–2", "1–2 H100 GPUs. Stable."),
        ] {
            assert_eq!(announcement(hero, "H100", None, "Stable"), spoken);
        }
        let about_one = ["≈", narrow, "1"].concat();
        assert_eq!(announcement(&about_one, "L4", None, ""), [&about_one, " L4 GPU."].concat());
        assert_eq!(no_number("Does not fit", "It is large."), "Does not fit. It is large.");
    }

    #[test]
    fn a_picture_says_what_it_is_of() {
        let [what, held] = picture_lines(&Scenario::preset(), 8);
        assert_eq!(what, "Qwen2.5-7B-Instruct on H100, 1,024 in, 256 out");
        assert!(held.starts_with("TTFT 1\u{202f}s, TPOT 40\u{202f}ms; one GPU, 95"), "{held}");
    }
}
