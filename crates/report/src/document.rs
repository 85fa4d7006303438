//! A report that stands alone: Markdown, or one HTML page that opens without a network and prints on A4.

use charts::{ChartError, Style, knee_svg, theme};
use planner::{Cost, LoadPoint, PlanAnswer, TokenCost, WhyAnswer};
use quantity::{duration, number, share};
use scenario::{Ledger, Scenario};

use crate::{
    cost::{Price, SPLIT_RULE, about, about_finely},
    export::{Deployment, bench_command, kubernetes, serve_command},
    knee::{by_load, knee_data},
    telling::tell,
    why::why_text,
    words,
};

/// Size of the chart, CSS px.
const CHART_PX: (f64, f64) = (712.0, 352.0);

/// Everything that a report may tell; what is absent is left out.
pub struct ReportParts<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Its answer.
    pub answer: &'a PlanAnswer,
    /// What it costs.
    pub cost: Option<(&'a Cost, &'a Price)>,
    /// What binds.
    pub why: Option<&'a WhyAnswer>,
    /// Where its numbers come from.
    pub ledger: Option<&'a Ledger>,
    /// What to run.
    pub deployment: Option<&'a Deployment>,
    /// The closed form's curve: request rate per second, time to first token in seconds.
    pub closed_form: Vec<(f64, f64)>,
}

/// A piece of a report.
enum Block {
    Heading(&'static str),
    Paragraph(String),
    Items(Vec<String>),
    Table {
        header: Vec<&'static str>,
        rows: Vec<Vec<String>>,
    },
    Code {
        what: &'static str,
        text: String,
    },
    /// A drawing, and what it shows in words.
    Figure {
        svg: String,
        caption: &'static str,
    },
}

/// The report as Markdown, without its chart.
#[must_use]
pub fn report_markdown(parts: &ReportParts<'_>) -> String {
    let mut text = format!("# {}\n", title(parts));
    for block in blocks(parts) {
        text.push('\n');
        text.push_str(&match block {
            // There is a table of the same points.
            Block::Figure { .. } => continue,
            Block::Heading(heading) => format!("## {heading}\n"),
            Block::Paragraph(sentence) => sentence + "\n",
            Block::Items(items) => items.iter().map(|item| format!("- {item}\n")).collect(),
            Block::Table { header, rows } => {
                let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
                let escaped = |cell: &String| cell.replace('|', "\\|");
                let mut table = line(header.iter().map(|cell| (*cell).to_owned()).collect());
                table.push_str(&line(header.iter().map(|_| "---".to_owned()).collect()));
                table.extend(rows.iter().map(|row| line(row.iter().map(escaped).collect())));
                table
            }
            Block::Code { what, text } => format!("{what}:\n\n```\n{text}```\n"),
        });
    }
    text
}

/// The report as one HTML page: no script, no address that is fetched.
///
/// # Errors
///
/// The chart cannot be drawn.
pub fn report_html(parts: &ReportParts<'_>) -> Result<String, ChartError> {
    let mut body = String::new();
    let mut all = blocks(parts);
    if !parts.answer.knee.is_empty() {
        let data = knee_data(parts.answer, parts.scenario, parts.closed_form.clone());
        let svg = knee_svg(&data, &theme::LIGHT, &Style::svg(CHART_PX.0, CHART_PX.1))?;
        let caption = "TTFT, TPOT and goodput of one engine as the request rate rises, with 95 % intervals; the dotted curve is the closed form. The table below has the same points.";
        let place = all
            .iter()
            .position(|block| matches!(block, Block::Heading("The knee")))
            .map_or(all.len(), |place| place + 1);
        all.insert(place, Block::Figure { svg, caption });
    }
    for block in all {
        body.push_str(&html(&block));
    }
    let title = escaped(&title(parts));
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n\
         {body}</main>\n</body>\n</html>\n"
    ))
}

const STYLE: &str = "\
body{margin:0;background:#fff;color:#14181f;font:15px/1.5 system-ui,sans-serif}\
main{max-width:760px;margin:0 auto;padding:24px}\
h1{font-size:26px;line-height:1.25}h2{font-size:19px;margin:28px 0 8px;break-after:avoid}\
table{border-collapse:collapse;width:100%;font-size:13px;font-variant-numeric:tabular-nums}\
th,td{border-bottom:1px solid #dfe3e9;padding:4px 8px 4px 0;text-align:left;vertical-align:top;overflow-wrap:anywhere}\
th{color:#454e5c}tr{break-inside:avoid}thead{display:table-header-group}\
pre{background:#eef0f4;padding:12px;white-space:pre-wrap;overflow-wrap:anywhere;font-size:12px}\
figure{margin:12px 0;break-inside:avoid}figure svg{max-width:100%;height:auto}figcaption{color:#454e5c;font-size:13px}\
@page{size:A4;margin:16mm}@media print{main{max-width:none;padding:0}pre{border:1px solid #dfe3e9}}";

fn html(block: &Block) -> String {
    let cells = |row: &[String]| -> String {
        row.iter().map(|cell| format!("<td>{}</td>", escaped(cell))).collect()
    };
    match block {
        Block::Heading(heading) => format!("<h2>{}</h2>\n", escaped(heading)),
        Block::Paragraph(sentence) => format!("<p>{}</p>\n", escaped(sentence)),
        Block::Items(items) => {
            let items: String =
                items.iter().map(|item| format!("<li>{}</li>\n", escaped(item))).collect();
            format!("<ul>\n{items}</ul>\n")
        }
        Block::Table { header, rows } => {
            let head: String = header
                .iter()
                .map(|cell| {
                    // A column of names has a name of its own for who cannot see the table.
                    let name = if cell.is_empty() { "what" } else { cell };
                    format!("<th scope=\"col\">{}</th>", escaped(name))
                })
                .collect();
            let rows: String =
                rows.iter().map(|row| format!("<tr>{}</tr>\n", cells(row))).collect();
            format!("<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n")
        }
        Block::Code { what, text } => {
            format!(
                "<p>{}:</p>\n<pre tabindex=\"0\"><code>{}</code></pre>\n",
                escaped(what),
                escaped(text)
            )
        }
        Block::Figure { svg, caption } => {
            format!("<figure>\n{svg}<figcaption>{}</figcaption>\n</figure>\n", escaped(caption))
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn title(parts: &ReportParts<'_>) -> String {
    let told = tell(parts.answer, parts.scenario);
    format!("{} {}", told.hero, told.headline).trim().to_owned()
}

fn blocks(parts: &ReportParts<'_>) -> Vec<Block> {
    let told = tell(parts.answer, parts.scenario);
    let mut all = Vec::new();
    if !told.line.is_empty() {
        all.push(Block::Paragraph(told.line.clone()));
    }
    all.push(Block::Items(told.sentences.clone()));
    let changes: Vec<String> = told.changes.iter().map(words::remedy).collect();
    if !changes.is_empty() {
        all.push(Block::Items(changes));
    }
    all.push(Block::Heading("The scenario"));
    all.push(Block::Table { header: vec!["setting", "value"], rows: settings(parts.scenario) });
    all.push(Block::Code { what: "As a link", text: format!("#{}\n", parts.scenario.to_link()) });
    if let Some(why) = parts.why {
        all.push(Block::Heading("What holds it down"));
        // The sentences stand before the table.
        let text = why_text(why);
        let sentences = text.split("\n\n").next().unwrap_or_default();
        all.push(Block::Paragraph(sentences.replace('\n', " ")));
    }
    if let Some((cost, price)) = parts.cost {
        all.extend(costs(cost, price));
    }
    if !parts.answer.knee.is_empty() {
        all.push(Block::Heading("The knee"));
        all.push(knee(parts.answer));
    }
    if let Some(deployment) = parts.deployment {
        all.push(Block::Heading("What to run"));
        let serve = serve_command(parts.scenario, deployment);
        let bench = bench_command(parts.scenario, deployment);
        let manifests = kubernetes(parts.scenario, deployment);
        all.push(Block::Code { what: "An engine", text: serve });
        all.push(Block::Code { what: "A benchmark that would verify the answer", text: bench });
        all.push(Block::Code { what: "Manifests for Kubernetes", text: manifests });
    }
    if let Some(ledger) = parts.ledger {
        all.push(Block::Heading("Where the numbers come from"));
        let header = vec!["number", "value", "unit", "kind", "source"];
        all.push(Block::Table { header, rows: ledger.0.iter().map(ledger_row).collect() });
    }
    all
}

fn ledger_row(entry: &scenario::LedgerEntry) -> Vec<String> {
    let source = match &entry.formula {
        Some(formula) => format!("{}: {formula}", entry.source),
        None => entry.source.clone(),
    };
    vec![
        entry.label.clone(),
        quantity::editable(entry.value),
        entry.unit.clone(),
        entry.kind.label().to_owned(),
        source,
    ]
}

/// Every setting that is not the preset's, and what anyone asks for first.
fn settings(scenario: &Scenario) -> Vec<Vec<String>> {
    const ALWAYS: [&str; 9] =
        ["model", "gpu", "rate", "in", "out", "ttft", "tpot", "share", "headroom"];
    let preset = Scenario::preset();
    let mut rows: Vec<Vec<String>> = scenario::FIELDS
        .iter()
        .filter_map(|field| {
            let value = scenario.get(field.key)?;
            let differs = preset.get(field.key).as_ref() != Some(&value);
            (differs || ALWAYS.contains(&field.key)).then(|| vec![field.key.to_owned(), value])
        })
        .collect();
    for class in &scenario.classes {
        let key = format!("{}{}", scenario::CLASS_PREFIX, class.name);
        let value = scenario.get(&key).unwrap_or_default();
        rows.push(vec![key, value]);
    }
    rows
}

fn costs(cost: &Cost, price: &Price) -> Vec<Block> {
    let row = |name: &str, at: &TokenCost| {
        vec![
            name.to_owned(),
            number(at.rate_per_s),
            at.million_input.map_or_else(|| "none".to_owned(), |it| about_finely(&it)),
            about_finely(&at.million_output),
            about_finely(&at.million_total),
        ]
    };
    let header = vec!["dollars per million tokens", "req/s each", "prompt", "answer", "both"];
    let rows = vec![
        row("at the planned load", &cost.planned),
        row("averaged over time", &cost.averaged),
        row("at the capacity", &cost.knee),
    ];
    vec![
        Block::Heading("What it costs"),
        Block::Paragraph(format!(
            "About {} an hour, {} a month; headroom is {} of the hour. A GPU-hour is {} ({}: {}).",
            about(&cost.per_hour),
            about(&cost.per_month),
            about(&cost.headroom_per_hour),
            about(&cost.price_per_hour),
            price.kind,
            price.source
        )),
        Block::Table { header, rows },
        Block::Paragraph(SPLIT_RULE.to_owned()),
    ]
}

fn knee(answer: &PlanAnswer) -> Block {
    let row = |point: &&LoadPoint| {
        let latency = |percent: f64, value: f64| {
            if point.has_percentile(percent) { duration(value) } else { words::WITHHELD.to_owned() }
        };
        vec![
            number(point.rate_per_s),
            latency(50.0, point.ttft_p50_s.value),
            latency(99.0, point.ttft_p99_s.value),
            latency(99.0, point.tpot_p99_s.value),
            latency(99.0, point.e2e_p99_s.value),
            number(point.goodput_per_s.value),
            share(point.slo_share.value),
        ]
    };
    Block::Table {
        header: vec![
            "req/s",
            "TTFT P50",
            "TTFT P99",
            "TPOT P99",
            "E2E P99",
            "goodput",
            "in target",
        ],
        rows: by_load(&answer.knee).iter().map(row).collect(),
    }
}
