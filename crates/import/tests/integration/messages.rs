//! What is said about files that are not quite as they should be.

use import::trace::{self, SKIPPED_KEPT, TraceFormat};

use crate::{bytes, golden_path, read_text};

fn error(text: &str) -> String {
    trace::read(Some("t.csv"), text.as_bytes()).unwrap_err().to_string()
}

fn reason(row: &str) -> String {
    let text = format!("arrival_s,input_tokens,output_tokens\n0,1,1\n{row}\n");
    let trace = read_text(&text);
    assert_eq!((trace.rows.len(), trace.skipped[0].line), (1, 3), "{row}");
    trace.skipped[0].reason.clone()
}

#[test]
fn bad_rows_name_column_value_and_remedy() {
    for (row, want) in [
        (
            "soon,1,1",
            "arrival_s is “soon”, which is no time; write seconds as in 12.5, or a date as in 2023-11-16 18:15:46.68",
        ),
        (",1,1", "arrival_s is empty; give the time of the request"),
        (
            "-1,1,1",
            "arrival_s is “-1”, before the start of the recording; count from the first request",
        ),
        ("1,x,1", "input_tokens is “x”, not a number; give a whole number of tokens"),
        ("1,1.5,1", "input_tokens is “1.5”, not whole; give a whole number of tokens"),
        ("1,1,-2", "output_tokens is “-2”, below 0; give a whole number of tokens"),
        (
            "1,1,2000000000",
            "output_tokens is “2000000000”, above 1,000,000,000 tokens; is the column in another unit?",
        ),
        ("1,1", "no value for output_tokens; give a whole number of tokens"),
        ("1,1,0", "output_tokens is 0; a request must produce at least 1 token to be replayed"),
        (
            "1,1,024,5",
            "4 values under 3 column names; put quotation marks around values that hold the separator",
        ),
        (
            "\"1,2,3\n4,5,6",
            "a quotation mark is not closed, so that the rows below were read as part of this one (1 or more); remove or double the mark",
        ),
        (
            "2023-11-16 18:15:46,1,1",
            "arrival_s is “2023-11-16 18:15:46”, unlike the rows above: some are times since 1970 and some seconds of a recording; use one of the two",
        ),
    ] {
        assert_eq!(reason(row), want);
    }
}

#[test]
fn thousands_of_bad_rows_are_counted_and_a_few_kept() {
    let mut text = "t_s,isl,osl\n".to_owned();
    for index in 0..5000 {
        text.push_str(if index % 5 == 0 { "1,2,3\n" } else { "1,2,none\n" });
    }
    let trace = read_text(&text);
    assert_eq!((trace.rows.len(), trace.skipped_total), (1000, 4000));
    assert_eq!(trace.skipped.len(), SKIPPED_KEPT);
    assert_eq!(
        trace.notes,
        ["4,000 of 5,000 rows left out; the first is line 3: osl is “none”, not a number; give a \
          whole number of tokens."]
    );
}

#[test]
fn unusable_files_say_what_to_do() {
    for (text, want) in [
        ("", "“t.csv” is empty; choose a file with a header line and at least one row"),
        (
            "0,1,1\n",
            "“t.csv”, line 1: no column for arrival_s, input_tokens, output_tokens; it has “0”, “1”, “1”. Name the columns in the first line, for example arrival_s,input_tokens,output_tokens",
        ),
        (
            "# note\ntime;prompt_tokens\n1;2\n",
            "“t.csv”, line 2: no column for output_tokens; it has “time”, “prompt_tokens”. Name the columns in the first line, for example arrival_s,input_tokens,output_tokens",
        ),
        ("t,isl,osl\n", "“t.csv” has a header and no row under it; add at least one"),
        (
            "t,isl,osl\n1,2,0\n",
            "“t.csv”: none of its rows (1) can be used; the first is line 2: osl is 0; a request must produce at least 1 token to be replayed",
        ),
        (
            "{\"duration\": 3,\n \"completed\": 4}",
            "“t.csv”, line 1: no key for arrival_s, input_tokens, output_tokens; it has “completed”, “duration”. Give one object a request, for example {\"arrival_s\": 0.5, \"input_tokens\": 512, \"output_tokens\": 64}",
        ),
        (
            "[{\"t\": 1},\n  oh]",
            "“t.csv”, line 2, column 3: not valid JSON (expected value); give one object a line, or one array of objects",
        ),
    ] {
        assert_eq!(error(text), want);
    }
    let statistics = trace::read(None, &bytes(&golden_path("own_rates.csv"))).unwrap_err();
    assert_eq!(
        statistics.to_string(),
        "This file holds rates over time; that is no list of requests; say what it tells as settings instead: rate, profile=points(…), in=quantiles(…), out=quantiles(…)"
    );
}

#[test]
fn a_broken_gzip_file_is_an_error() {
    let whole = bytes(&golden_path("azure_2023_conv_first2000.csv.gz"));
    for length in [2, 10, 1000, whole.len() - 4] {
        let error = trace::read(Some("a.gz"), &whole[..length]).unwrap_err().to_string();
        assert!(error.starts_with("“a.gz” is a gzip file that cannot be unpacked"), "{error}");
    }
}

#[test]
fn layouts_make_no_difference() {
    let plain = read_text("arrival_s,input_tokens,output_tokens\n0.5,10,20\n1.5,1024,40\n").rows;
    for text in [
        "\u{feff}ARRIVAL_S, Input Tokens ,output-tokens\r\n0.5, 10, 20\r\n\r\n1.5,\"1,024\",40\r\n",
        "output_len\tprompt_len\ttime_ms\n20\t10\t500\n40\t1024\t1500\n",
        "sep=;\nt;isl;osl;\n0,5;10;20;\n1,5;1024.0;40;;\n",
        "Export of today\n\nid|arrived_at|num_prefill_tokens|num_decode_tokens\na|0.5|10|20\n|1.5|1024|40",
        "t,isl,osl\r0.5,10,20\r1.5,1024,40\r",
        "{\"arrival_s\": 0.5, \"input_tokens\": 10, \"output_tokens\": 20}\n\n{\"arrival_s\": \"1.5\", \"input_tokens\": 1024.0, \"output_tokens\": 40}",
        "[{\"isl\": 10, \"osl\": 20, \"time_us\": 500000},\n {\"isl\": 1024, \"osl\": 40, \"time_us\": 1500000}]",
        "{\"timestamp\": 500, \"input_length\": 10, \"output_length\": 20, \"hash_ids\": []}\n{\"timestamp\": 1500, \"input_length\": 1024, \"output_length\": 40}",
    ] {
        assert_eq!(read_text(text).rows, plain, "{text}");
    }
}

#[test]
fn what_is_understood_without_being_written_is_noted() {
    let notes = read_text("timestamp,isl,osl,cost\n1,2,3,4\n").notes;
    assert_eq!(
        notes,
        [
            "Columns that are not used: “cost”.",
            "Values of timestamp are read as seconds, for want of a unit; name the column with \
             _ms if it counts those."
        ]
    );
    let epoch =
        read_text("timestamp,isl,osl\n1700000000500,2,3\n1700000000000,2,0\n1700000000250,2,3\n");
    assert_eq!(epoch.rows.iter().map(|row| row.arrival_s).collect::<Vec<_>>(), [0.0, 0.25]);
    assert_eq!(
        epoch.notes,
        [
            "Values of timestamp are read as milliseconds, by their size.",
            "1 request is left out for want of an output: a request must produce at least 1 token.",
            "1 of 3 rows left out; the first is line 3: osl is 0; a request must produce at \
             least 1 token to be replayed.",
            "Times count from the first request, at “1700000000250”.",
            "1 request was earlier than the row above; the rows were sorted by time.",
        ]
    );
}

#[test]
fn aiperf_records_are_requests_of_the_measured_load() {
    let record = |start: u64, phase: &str, error: &str| {
        format!(
            "{{\"metadata\": {{\"request_start_ns\": {start}, \"benchmark_phase\": \"{phase}\", \
             \"conversation_id\": null}}, \"metrics\": {{\"input_sequence_length\": \
             {{\"value\": 100, \"unit\": \"tokens\"}}, \"output_sequence_length\": \
             {{\"value\": 200}}}}, \"error\": {error}}}\n"
        )
    };
    let start = 1_762_551_534_797_067_827;
    let text = [
        record(start - 5, "warmup", "null"),
        record(start, "profiling", "null"),
        record(start + 1, "profiling", "{\"code\": 500}"),
        record(start + 250_000_001, "profiling", "null"),
    ]
    .concat();
    let trace = read_text(&text);
    assert_eq!(trace.format, TraceFormat::AiperfRecords);
    assert_eq!(
        trace.rows.iter().map(|row| row.arrival_s).collect::<Vec<_>>(),
        [0.0, 0.250_000_001]
    );
    assert_eq!(trace.skipped_total, 2);
    assert!(trace.skipped[0].reason.contains("“warmup”; only requests of “profiling”"));
}

#[test]
fn blocks_and_sessions_are_kept_in_tables_too() {
    let trace = read_text(
        "t,isl,osl,hash_ids,conversation_id\n0,1,1,\"[7, 8]\",b\n1,1,1,7 9,a\n2,1,1,,b\n3,1,1,x,b\n",
    );
    let blocks: Vec<_> = trace.rows.iter().map(|row| row.prefix_hashes.clone()).collect();
    assert_eq!(blocks, [vec![7, 8], vec![7, 9], vec![]]);
    let sessions: Vec<_> = trace.rows.iter().map(|row| row.session).collect();
    assert_eq!(sessions, [Some(0), Some(1), Some(0)]);
    assert_eq!(
        trace.skipped[0].reason,
        "block id “x” is no whole number of 64 bits; number the blocks"
    );
}
