//! `headroom alternatives`.

use std::process::ExitCode;

use catalog::{Checkpoint, Device};
use charts::{Style, costs_svg, theme};
use planner::{Alternatives, Dollars};
use scenario::Scenario;

use super::chart::is_svg;
use crate::{
    args::AlternativesArgs, failure::Failure, input, memory_settings::sentence, output, pool,
    prices, progress::Progress,
};

/// Size of the drawing, CSS px.
const SIZE_PX: (f64, f64) = (760.0, 440.0);

pub(crate) fn run(args: &AlternativesArgs) -> Result<ExitCode, Failure> {
    if let Some(path) = &args.chart {
        is_svg("--chart", path)?;
    }
    let scenario = input::scenario(&args.scenario)?;
    let (devices, checkpoint) = named(args, &scenario)?;
    let typed =
        args.price.iter().map(|text| prices::price_of_gpu(text)).collect::<Result<Vec<_>, _>>()?;
    let price = |device: &Device| -> Option<Dollars> {
        let typed = typed.iter().find(|(named, _)| named.slug == device.slug);
        let known = || report::Price::of_catalogue(device).map(|price| price.per_hour);
        typed.map(|(_, dollars)| *dollars).or_else(known)
    };
    let mut asked = Alternatives::new(
        &scenario,
        (&devices, &checkpoint),
        &price,
        args.rows.get(),
        args.max_cost,
    );
    let progress = Progress::start();
    loop {
        let jobs = asked.next_jobs();
        if jobs.is_empty() {
            break;
        }
        progress.expect(asked.progress().1);
        asked.accept(&pool::run_all(&jobs, args.threads.count(), &progress)?);
    }
    drop(progress);
    let answer = asked.answer();
    if let Some(path) = &args.chart {
        let style = Style::svg(SIZE_PX.0, SIZE_PX.1);
        let latency = "P99 end-to-end latency at the planned load";
        let svg = costs_svg(&report::cost_dots(&answer), latency, &theme::LIGHT, &style)
            .map_err(|error| Failure::input(error.to_string()))?;
        output::write_file(path, &svg)?;
    }
    output::print(&if args.json {
        report::alternatives_json(&answer, &scenario)
    } else if args.csv {
        report::alternatives_csv(&answer)
    } else {
        report::alternatives_text(&answer, &scenario, args.rows.get())
    })?;
    Ok(output::code(!answer.rows.is_empty()))
}

/// The GPUs to look among, and the model.
fn named(
    args: &AlternativesArgs,
    scenario: &Scenario,
) -> Result<(Vec<Device>, Checkpoint), Failure> {
    let refused = |error: catalog::LookUpError| Failure::input(sentence(&error));
    let checkpoint = catalog::checkpoint(&scenario.model).map_err(refused)?;
    let devices = if args.among.is_empty() {
        catalog::search_devices("")
    } else {
        args.among.iter().map(|name| catalog::device(name)).collect()
    };
    let mut devices = devices.map_err(refused)?;
    let mut seen: Vec<String> = Vec::new();
    devices.retain(|device| {
        let is_new = !seen.contains(&device.slug);
        seen.push(device.slug.clone());
        is_new
    });
    if !is_of_a_machine(scenario) {
        return Err(Failure::input(
            "step.kind: this step time is of one machine, whatever the GPU, so that there is nothing \
             to compare. Leave it out, or give step.kind=kernel.",
        ));
    }
    let typed = [
        "step.params",
        "step.weight_bytes",
        "step.kv_bytes_per_token",
        "step.peak_flops",
        "step.bandwidth",
        "kv.capacity_tokens",
        "kv.num_gpu_blocks",
    ];
    for key in typed.iter().filter(|key| scenario.get(key).is_some()) {
        output::note(&format!(
            "{key} is of one GPU; each deployment has its own, from the catalogue."
        ));
    }
    Ok((devices, checkpoint))
}

/// Whether the step time follows from model and GPU.
fn is_of_a_machine(scenario: &Scenario) -> bool {
    !matches!(scenario.step.kind, Some(scenario::StepKind::Affine | scenario::StepKind::QueueModel))
}
