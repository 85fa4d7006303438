//! Every example of every `--help` runs.

use super::{file, headroom, printed};

const TRACE: &str = "azure_2023_conv_first2000.csv.gz";

/// The command lines under “Examples:”, without their explanations.
fn examples(help: &str) -> Vec<String> {
    help.lines()
        .skip_while(|line| *line != "Examples:")
        .skip(1)
        .take_while(|line| line.starts_with("  headroom "))
        .map(|line| line.trim_start().split("   ").next().unwrap_or_default().to_owned())
        .collect()
}

/// The words of a command line as a shell parts them: quotation marks hold a word together, and
/// what comes after `>` is where the output goes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            _ => word.push(character),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    let end = words.iter().position(|word| word == ">").unwrap_or(words.len());
    words[1..end].to_vec()
}

#[test]
fn every_example_runs() {
    let recorded = format!("{}/../../tests/golden/traces/{TRACE}", env!("CARGO_MANIFEST_DIR"));
    let azure = std::fs::read(recorded).expect("the recording is there");
    std::fs::write(file("azure.csv.gz", ""), azure).expect("it can be written");
    let rows: String = (0..400).map(|i| format!("{}.5,{},{}\n", i, 300 + i, 50 + i % 90)).collect();
    file("day.csv", &format!("arrival_s,input_tokens,output_tokens\n{rows}"));
    file(
        "server.log",
        "INFO Initializing a V1 LLM engine (v0.19.0) with config: model='Llama-3.1-8B'\n",
    );
    file(
        "results.json",
        r#"[{"completed": 40, "request_rate": "inf", "max_concurrency": 4, "total_input_tokens": 20000, "total_output_tokens": 4000, "mean_ttft_ms": 40.0, "mean_tpot_ms": 8.0}]"#,
    );
    file(
        "results.csv",
        "concurrency,isl,osl,requests,req_s,ttft_ms,tpot_ms\n1,500,100,10,1.2,30,8\n16,500,100,160,14,60,10\n64,500,100,640,38,180,15\n",
    );
    file("scenario.json", &printed(&["link", "rate=40", "--json"]));
    let commands = [
        "",
        "plan",
        "why",
        "alternatives",
        "check",
        "sweep",
        "simulate",
        "fleet",
        "chart",
        "link",
        "know",
        "catalog",
        "calibrate",
        "curve",
    ];
    let mut count = 0;
    for command in commands {
        let arguments = if command.is_empty() { vec!["--help"] } else { vec![command, "--help"] };
        let lines = examples(&printed(&arguments));
        assert!(lines.len() >= 2, "{command} --help has {lines:?}");
        for line in lines {
            let words = words(&line);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let output = headroom(&words).assert().code(0).get_output().clone();
            let message = String::from_utf8_lossy(&output.stderr);
            assert!(!message.contains("error:"), "{line}: {message}");
            count += 1;
        }
    }
    assert!(count >= 30, "{count} examples");
}
