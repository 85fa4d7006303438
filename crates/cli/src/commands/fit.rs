//! `headroom fit`.

use std::{fmt::Write as _, fs::File, io::Read as _, process::ExitCode};

use fit::{Errors, FitError, Model, Predicted, Setting, Split, Study};

use crate::{
    args::{FitArgs, LeaveOut},
    failure::Failure,
    output,
};

/// The largest file of measured runs is a tenth of this.
const MOST_BYTES: u64 = 64 << 20;
/// Below this share of a curve's largest throughput an engine is not near saturation.
const UNSATURATED: f64 = 0.8;

/// A row of the table: what it is called and which runs it takes.
type Regime = (&'static str, fn(&Setting) -> bool);

const REGIMES: [Regime; 6] = [
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
    output::print(&heading(&study, &model))?;
    let fitted = study.predict(&model, &logs).into_iter().enumerate();
    let fitted = fitted.filter_map(|(at, predicted)| Some((at, predicted?))).collect::<Vec<_>>();
    output::print(&table(&study, "Fitted on all runs", &fitted, args.groups))?;
    if let Some(path) = &args.constants {
        output::write_file(path, &constants(args, &study, &model, &logs))?;
    }
    for (split, title) in splits(args.leave_out) {
        let parts = study.parts(split);
        let mut left_out = Vec::new();
        for (done, part) in parts.iter().enumerate() {
            if args.progress {
                output::note(&format!("{} of {}: without {part}", done + 1, parts.len()));
            }
            left_out.extend(study.leave_out(&model, &first, split, part));
        }
        let title = format!("{title} ({} of them)", parts.len());
        output::print(&table(&study, &title, &left_out, args.groups))?;
    }
    Ok(ExitCode::SUCCESS)
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
