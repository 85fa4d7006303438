//! `headroom fit`.

use std::{fmt::Write as _, fs::File, io::Read as _, process::ExitCode};

use charts::{AccuracyDot, Style, accuracy_svg, theme};
use fit::{Errors, FitError, Model, Pair, Predicted, Setting, Split, Study, two_points};

use crate::{
    args::{FitArgs, LeaveOut},
    failure::Failure,
    output,
};

/// The largest file of measured runs is a tenth of this.
const MOST_BYTES: u64 = 64 << 20;
/// Below this share of a curve's largest throughput an engine is not near saturation.
const UNSATURATED: f64 = 0.8;

/// Below this share an engine has little to do.
const LIGHT: f64 = 0.5;

/// A row of the table: what it is called and which runs it takes.
type Regime = (&'static str, fn(&Setting) -> bool);

const REGIMES: [Regime; 10] = [
    ("dense, light: below 50 %", |it| !it.deployment.has_experts && it.utilisation < LIGHT),
    ("dense, 50 to 80 %", |it| {
        !it.deployment.has_experts && it.utilisation >= LIGHT && it.utilisation < UNSATURATED
    }),
    ("mixture of experts, light: below 50 %", |it| {
        it.deployment.has_experts && it.utilisation < LIGHT
    }),
    ("mixture of experts, 50 to 80 %", |it| {
        it.deployment.has_experts && it.utilisation >= LIGHT && it.utilisation < UNSATURATED
    }),
    ("dense, below 80 %", |it| !it.deployment.has_experts && it.utilisation < UNSATURATED),
    ("mixture of experts, below 80 %", |it| {
        it.deployment.has_experts && it.utilisation < UNSATURATED
    }),
    ("all, below 80 %", |it| it.utilisation < UNSATURATED),
    ("dense, from 80 %", |it| !it.deployment.has_experts && it.utilisation >= UNSATURATED),
    ("mixture of experts, from 80 %", |it| {
        it.deployment.has_experts && it.utilisation >= UNSATURATED
    }),
    ("all", |_| true),
];

pub(crate) fn run(args: &FitArgs) -> Result<ExitCode, Failure> {
    let file = File::open(&args.file).map_err(|error| Failure::reading(&args.file, error))?;
    let bytes = file.metadata().map_err(|error| Failure::reading(&args.file, error))?.len();
    if bytes > MOST_BYTES {
        return Err(Failure::input(format!(
            "{}: {bytes} bytes; a file of measured runs has at most {MOST_BYTES}. Give fewer rows.",
            args.file.display()
        )));
    }
    let study = Study::read(file.take(MOST_BYTES)).map_err(|error| refused(args, &error))?;
    let model = study.model();
    let first = study.at_priors(&model);
    let logs = study.fit_without(&model, &first, None);
    let mut page = Page::default();
    page.tell(heading(&study, &model))?;
    let fitted = study.predict(&model, &logs).into_iter().enumerate();
    let fitted = fitted.filter_map(|(at, predicted)| Some((at, predicted?))).collect::<Vec<_>>();
    page.tell(table(&study, "Fitted on all runs", &fitted, args.groups))?;
    if let Some(path) = &args.constants {
        output::write_file(path, &constants(args, &study, &model, &logs))?;
    }
    let mut shown = fitted;
    for (split, title) in splits(args.leave_out) {
        let held = held_out(&study, &model, &first, split, args.progress);
        let left_out = study.predict_by(&model, &held);
        let title = format!("{title} ({} of them)", study.parts(split).len());
        page.tell(table(&study, &title, &left_out, args.groups))?;
        shown = left_out;
        if args.two_points && split == Split::Group {
            page.tell(calibrated(&study, &model, &held))?;
        }
    }
    if let Some(path) = &args.report {
        output::write_file(path, &page.markdown(args))?;
    }
    if let Some(path) = &args.chart {
        let svg =
            accuracy_svg(&dots(&study, &shown), &theme::LIGHT, &Style::svg(SIZE_PX.0, SIZE_PX.1));
        output::write_file(path, &svg.map_err(|error| Failure::input(error.to_string()))?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Size of the drawing, CSS px.
const SIZE_PX: (f64, f64) = (720.0, 380.0);

/// What is printed, kept for the page.
#[derive(Default)]
struct Page(Vec<String>);

impl Page {
    fn tell(&mut self, text: String) -> Result<(), Failure> {
        output::print(&text)?;
        self.0.push(text);
        Ok(())
    }

    /// Tables as they were printed, under the command that makes them again.
    fn markdown(&self, args: &FitArgs) -> String {
        let name =
            args.file.file_name().map_or_else(String::new, |it| it.to_string_lossy().into_owned());
        let mut text = format!(
            "# How far the kernel model is off\n\nMade by `headroom fit` from `{name}`; `headroom fit --help` says \
             how. A regime is a share of the largest throughput of a run’s curve. “–” stands for what was not \
             measured.\n"
        );
        for part in &self.0 {
            text.push_str(&format!("\n```text\n{}\n```\n", part.trim_matches('\n')));
        }
        text
    }
}

/// For each run that counts, constants that were fitted without its part.
fn held_out(
    study: &Study,
    model: &Model,
    first: &[Option<fit::Held>],
    split: Split,
    has_progress: bool,
) -> Vec<Option<Vec<f64>>> {
    let mut held = vec![None; study.settings.all.len()];
    let parts = study.parts(split);
    for (done, part) in parts.iter().enumerate() {
        if has_progress {
            output::note(&format!("{} of {}: without {part}", done + 1, parts.len()));
        }
        let logs = study.fit_without(model, first, Some((split, part)));
        for (slot, setting) in held.iter_mut().zip(&study.settings.all) {
            if split.part(setting) == *part {
                *slot = Some(logs.clone());
            }
        }
    }
    held
}

/// Errors on the points of each curve that two of them were not fitted on.
fn calibrated(study: &Study, model: &Model, logs: &[Option<Vec<f64>>]) -> String {
    let mut text = format!(
        "\nEach curve calibrated on two of its points, from constants that never saw its group\n\n{:62} {:>5} {:>13} \
         {:>13} {:>13}\n",
        "absolute error on its other points, median / P90 in percent",
        "runs",
        "TTFT",
        "TPOT",
        "E2E"
    );
    for (name, pair) in
        [("lowest and highest", Pair::LowestHighest), ("lowest and middle", Pair::LowestMiddle)]
    {
        let spared = two_points(model, &study.settings.all, logs, pair);
        let errors = |of: fn(&fit::Spared) -> Predicted| {
            Errors::of(spared.iter().map(|it| (&study.settings.all[it.at], of(it))))
        };
        text.push_str(&line(&format!("{name}: before"), &errors(|it| it.before)));
        text.push_str(&line(&format!("{name}: after"), &errors(|it| it.after)));
    }
    text
}

/// Runs that count as dots of predicted against measured time.
fn dots(study: &Study, found: &[(usize, Predicted)]) -> Vec<AccuracyDot> {
    let all = found.iter().map(|&(at, predicted)| (&study.settings.all[at], predicted));
    let counted = all.filter(|(setting, _)| setting.counts);
    counted
        .flat_map(|(setting, predicted)| {
            let dot = |panel: usize, measured_s: f64, predicted_s: f64| AccuracyDot {
                panel,
                measured_s,
                predicted_s,
                is_second: setting.deployment.has_experts,
            };
            let ttft = setting.measured.ttft_s.filter(|_| setting.ttft_weight > 0.0);
            let ttft = ttft.map(|measured_s| dot(0, measured_s, predicted.ttft_s));
            let tpot = Some(dot(1, setting.measured.tpot_s, predicted.tpot_s));
            ttft.into_iter().chain(tpot).filter(|dot| dot.predicted_s.is_finite())
        })
        .collect()
}

fn refused(args: &FitArgs, error: &FitError) -> Failure {
    Failure::input(format!("{}: {}", args.file.display(), output::sentence(&error.to_string())))
}

fn splits(leave_out: LeaveOut) -> Vec<(Split, &'static str)> {
    let group = (Split::Group, "Each group left out: network, GPU, ranks, engine and precision");
    let family = (Split::Family, "Each family left out: network, GPU, engine and precision");
    match leave_out {
        LeaveOut::None => Vec::new(),
        LeaveOut::Group => vec![group],
        LeaveOut::Family => vec![family],
        LeaveOut::Both => vec![group, family],
    }
}

fn heading(study: &Study, model: &Model) -> String {
    let all = &study.settings.all;
    let fitted = all.iter().filter(|setting| setting.is_fitted).count();
    let counted = all.iter().filter(|setting| setting.counts).count();
    let mut text = format!(
        "{} runs understood, {fitted} fitted, {counted} counted in the errors; {} free constants.\n",
        all.len(),
        model.parameters.len()
    );
    text.push_str("Left out:");
    for (at, (reason, count)) in study.settings.left_out.iter().enumerate() {
        let _ = write!(text, "{} {reason} ({count})", if at == 0 { "" } else { ";" });
    }
    text.push_str(".\n");
    text
}

fn table(study: &Study, title: &str, found: &[(usize, Predicted)], by_group: bool) -> String {
    let all = &study.settings.all;
    let runs = |takes: &dyn Fn(&Setting) -> bool| {
        Errors::of(
            found
                .iter()
                .map(|&(at, predicted)| (&all[at], predicted))
                .filter(|(setting, _)| takes(setting)),
        )
    };
    let mut text = format!(
        "\n{title}\n\n{:62} {:>5} {:>13} {:>13} {:>13}\n",
        "absolute error, median / P90 in percent", "runs", "TTFT", "TPOT", "E2E"
    );
    for (name, takes) in REGIMES {
        text.push_str(&line(name, &runs(&|setting| setting.counts && takes(setting))));
    }
    if by_group {
        let mut groups: Vec<&str> = found.iter().map(|&(at, _)| all[at].group.as_str()).collect();
        groups.sort_unstable();
        groups.dedup();
        text.push('\n');
        for group in groups {
            text.push_str(&line(group, &runs(&|setting| setting.group == group)));
        }
    }
    text
}

fn line(name: &str, errors: &Errors) -> String {
    if errors.runs == 0 {
        return String::new();
    }
    let [ttft, tpot, e2e] = [errors.ttft, errors.tpot, errors.e2e].map(|error| {
        if error.median.is_nan() {
            "–".to_owned()
        } else {
            format!("{:.1} / {:.1}", error.median, error.p90)
        }
    });
    format!("{name:62} {:>5} {ttft:>13} {tpot:>13} {e2e:>13}\n", errors.runs)
}

/// The file of constants.
fn constants(args: &FitArgs, study: &Study, model: &Model, logs: &[f64]) -> String {
    let fitted = study.settings.all.iter().filter(|setting| setting.is_fitted).count();
    let mut text = format!(
        "{{\n \"source\": \"headroom fit, {fitted} measured runs of {}\",\n \"date\": \"{}\",\n \
         \"licence\": \"constants derived from published measurements; the runs stay with their owners\",\n \
         \"constants\": [\n",
        args.file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        args.date
    );
    let found = study.constants(model, logs);
    for (at, constant) in found.iter().enumerate() {
        let end = if at + 1 == found.len() { "" } else { "," };
        let _ = writeln!(
            text,
            "  {{\"name\": \"{}\", \"value\": {}, \"prior\": {}, \"spread\": {}, \"rows\": {}}}{end}",
            constant.name, constant.value, constant.prior, constant.spread, constant.rows
        );
    }
    text.push_str(" ]\n}\n");
    text
}
