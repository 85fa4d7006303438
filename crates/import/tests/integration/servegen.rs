//! Statistics of a workload.

use import::servegen::{self, GapFamily, Statistics};

use crate::{bytes, golden_path};

fn read(name: &str) -> Statistics {
    servegen::read(Some(name), &bytes(&golden_path(name))).unwrap_or_else(|error| panic!("{error}"))
}

fn error(text: &str) -> String {
    servegen::read(Some("s.csv"), text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn rates_are_kept_by_workload() {
    let Statistics::Rates(series) = read("own_rates.csv") else { panic!("rates") };
    assert_eq!(series.len(), 2);
    assert_eq!((series[0].workload.as_str(), series[0].windows.len()), ("chat", 2));
    assert_eq!(series[0].mean_rate_per_s(), 20.0);
    assert_eq!(series[0].peak_over_mean(), Some(1.5));
    assert_eq!(series[0].windows[1].start_s, 600.0);
}

#[test]
fn clients_and_lengths_are_kept_by_window() {
    let Statistics::Clients(groups) = read("own_clients.csv") else { panic!("clients") };
    assert_eq!(groups[0].rate_per_s(), 30.0);
    assert_eq!(groups[0].rate_weighted_cv(), Some(2.0));
    assert_eq!(groups[0].clients[1].gaps, GapFamily::Weibull);
    let Statistics::Lengths(histograms) = read("own_lengths.csv") else { panic!("lengths") };
    assert_eq!(histograms.len(), 2);
    assert_eq!(histograms[0].mean_tokens(), Some(26.0));
    assert_eq!(histograms[1].field, "output_tokens");
}

#[test]
fn one_bad_value_spoils_a_table() {
    let lengths = "workload,t_window_s,field,bin_lo,bin_hi,prob\na,0,input_tokens,";
    assert_eq!(
        error(&format!("{lengths}0,16,x\n")),
        "“s.csv”, line 2: prob is “x”; give a number, 0 or more"
    );
    assert!(error(&format!("{lengths}0,16,1.5\n")).contains("prob is 1.5; give a share"));
    assert!(error(&format!("{lengths}16,16,1\n")).contains("not above bin_lo"));
    assert!(error(&format!("{lengths}0,16\n")).contains("no value for prob"));
    assert!(error("workload,t_window_s,field,bin_lo,bin_hi,prob\n").contains("no row under it"));
    assert!(error("a,b\n1,2\n").contains("Rates need workload,t_s,rate_rps_total"));
    let client = "workload,client,t_s,rate_rps,cv,arrival_family,p1,p2\na,1,0,1,1,Pareto,1,1\n";
    assert!(error(client).contains("“Pareto”; known are Gamma and Weibull"));
}

#[test]
fn the_number_of_entries_is_bounded() {
    let mut text = "workload,t_window_s,field,bin_lo,bin_hi,prob\n".to_owned();
    for index in 0..1001 {
        text.push_str(&format!("w{index},0,f,0,1,1\n"));
    }
    assert!(error(&text).contains("line 1002: more than 1000"));
}
