//! `headroom alternatives`: what else would do.

use super::{file, headroom, json, printed};

const ASKED: [&str; 7] = [
    "alternatives",
    "model=llama-3.1-8b",
    "rate=30",
    "sim.requests=300",
    "--among",
    "h100-sxm,h200-sxm,l40s,l4,a100-sxm-80gb",
    "--rows=4",
];

fn ask(more: &[&str]) -> serde_json::Value {
    json(&[&ASKED[..], &["--json"], more].concat())
}

fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn the_cheapest_comes_first_and_the_front_is_marked() {
    let answer = ask(&[]);
    let rows = answer["rows"].as_array().expect("rows");
    assert!(rows.len() > 8, "{}", rows.len());
    let cost = |row: &serde_json::Value| number(&row["per_hour"]["typical"]);
    assert!(rows.windows(2).all(|pair| cost(&pair[0]) <= cost(&pair[1])));
    assert!(rows[..4].iter().all(|row| row["basis"] == "simulated"));
    assert!(rows[..4].iter().all(|row| row["binding_basis"] == "simulated"));
    // On the front is what is faster than everything before it, which costs no more.
    let simulated: Vec<_> = rows.iter().filter(|row| row["basis"] == "simulated").collect();
    for (place, row) in simulated.iter().enumerate() {
        let latency_s = number(&row["e2e_p99_s"]);
        let is_fastest =
            simulated[..place].iter().all(|before| number(&before["e2e_p99_s"]) > latency_s);
        assert_eq!(row["is_on_front"] == true, is_fastest, "{row}");
    }
    let tuned = &answer["tuned"];
    assert!(number(&tuned["capacity_per_s"]["value"]) > 0.0);
    assert!(tuned["link"].as_str().is_some_and(|link| link.contains("sched.max_num_seqs=")));
}

/// What a row says is what a plan of its link says.
#[test]
fn a_row_is_the_quick_plan_of_its_link() {
    let answer = ask(&[]);
    let row = &answer["rows"][0];
    let link = row["link"].as_str().expect("a link");
    let plan = json(&["plan", link, "--quick", "--json"]);
    assert_eq!(plan["verdict"]["gpus"], row["gpus"]);
    assert_eq!(plan["capacity_per_s"]["value"], row["capacity_per_s"]);
    assert_eq!(plan["planned"]["e2e_p99_s"]["value"], row["e2e_p99_s"]);
}

#[test]
fn prices_and_budgets_of_one_s_own_count() {
    let answer = ask(&["--price", "l40s=0.01", "--max-cost", "5"]);
    let rows = answer["rows"].as_array().expect("rows");
    assert_eq!(rows[0]["gpu"], "l40s");
    assert!(rows.iter().all(|row| number(&row["per_hour"]["typical"]) <= 5.0));
    assert!(number(&answer["dearer"]) > 0.0);
}

#[test]
fn the_answer_does_not_depend_on_threads() {
    let with = |threads| printed(&[&ASKED[..], &["--csv", "--threads", threads]].concat());
    let alone = with("1");
    assert!(alone.starts_with("gpu,gpus,gpus_per_engine,weights,basis,"), "{alone}");
    assert_eq!(alone, with("3"));
}

#[test]
fn the_chart_names_the_front() {
    let path = file("costs.svg", "");
    let text = printed(&[&ASKED[..], &["--chart", &path]].concat());
    assert!(text.contains("The cheapest that holds the target: "), "{text}");
    assert!(text.contains("--max-num-seqs "), "{text}");
    let svg = std::fs::read_to_string(path).expect("it was written");
    assert!(svg.contains("<title>Cost against latency</title>"));
    assert!(svg.contains("Dollars an hour"), "no axis");
}

#[test]
fn what_cannot_be_asked_is_refused() {
    for (more, word) in [
        (vec!["step.kind=affine"], "nothing to compare"),
        (vec!["--price", "h100"], "for example h100-sxm=2..4"),
        (vec!["--price", "h1000=3"], "h1000"),
        (vec!["--among", "gtx"], "no GPU called"),
        (vec!["--chart", "costs.png"], "costs.svg"),
        (vec!["price=3"], "this command has no use for it"),
    ] {
        let arguments = [&["alternatives", "model=llama-3.1-8b"][..], &more].concat();
        let output = headroom(&arguments).assert().code(2).get_output().stderr.clone();
        let message = String::from_utf8_lossy(&output).to_lowercase();
        assert!(message.contains(&word.to_lowercase()), "{arguments:?}: {message}");
    }
}
