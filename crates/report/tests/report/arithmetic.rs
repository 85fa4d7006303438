//! Sums that are shown add up, and numbers that differ look different.

use planner::{Estimate, FleetSize, PlanAnswer, Verdict};
use report::tell;
use scenario::Scenario;

use super::{about, point, sized};

fn plain(text: &str) -> String {
    text.replace('\u{202f}', " ")
}

fn answer(rate_per_s: f64, headroom: f64, capacity: Estimate) -> PlanAnswer {
    let fleet = FleetSize::divide(rate_per_s, headroom, &capacity).expect("a capacity");
    PlanAnswer { rate_per_s, headroom, verdict: Verdict::Sized(fleet), ..sized(capacity) }
}

fn sentences(answer: &PlanAnswer) -> Vec<String> {
    tell(answer, &Scenario::preset()).sentences.iter().map(|text| plain(text)).collect()
}

/// A shown number, and half a unit of its last digit.
fn number(text: &str) -> (f64, f64) {
    let digits = text.replace(',', "");
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    (digits.parse().expect("a number"), 0.5 * libm::pow(0.1, decimals as f64))
}

/// Whoever types the shown numbers into a calculator finds the shown result and number of GPUs.
#[test]
fn the_shown_division_adds_up() {
    let capacities = (1..60).map(|step| 0.0131 * libm::pow(1.171, f64::from(step)));
    let mut longest = 0;
    for (index, capacity) in capacities.enumerate() {
        for (rate, headroom) in [(100.0, 0.25), (1_234.5, 0.1), (0.75, 0.0), (9_999.0, 0.333)] {
            let answer = answer(rate, headroom, Estimate::exactly(capacity));
            let Verdict::Sized(fleet) = answer.verdict else { unreachable!("it is sized") };
            let told = sentences(&answer);
            let sum = told.iter().find(|text| text.contains(" ÷ ")).expect("a division");
            let (left, right) = sum.split_once(" = ").expect("a result");
            let numbers: Vec<f64> = left
                .split(['×', '÷'])
                .map(|part| number(part.trim().trim_end_matches(" req/s")).0)
                .collect();
            let factor = if headroom > 0.0 { numbers[1] } else { 1.0 };
            let computed = numbers[0] * factor / numbers[numbers.len() - 1];
            let shown = right.split(", so").next().expect("a quotient");
            let (quotient, half) = number(shown);
            assert!((computed - quotient).abs() <= half * 1.000_001, "{index}: {sum}");
            assert_eq!((quotient.ceil() as u64).max(1), fleet.with_headroom, "{index}: {sum}");
            longest = longest.max(sum.len());
        }
    }
    assert!(longest < 90, "{longest}");
}

#[test]
fn thousands_of_gpus_are_told_alike_everywhere() {
    let telling =
        tell(&answer(100.0, 0.25, about(0.0255, 0.02116, 0.030_505)), &Scenario::preset());
    assert_eq!(telling.hero, "4,098–5,908");
    let told: Vec<String> = telling.sentences.iter().map(|text| plain(text)).collect();
    assert!(
        told[0].contains("from each of 4,098 GPUs") && told[0].contains("Take 5,908"),
        "{told:?}"
    );
    // What is needed and what is held differ in the fourth digit, and are shown to.
    assert!(told[0].contains("needs 0.0305 req") && told[0].contains("to 0.03051."), "{told:?}");
}

#[test]
fn close_rates_are_told_apart_in_the_table() {
    let points = [5.0, 21.92, 21.93, 21.930_000_01].map(|rate| point(rate, true, 0.2, 0.01));
    let table = report::knee_table(&points);
    let rates: Vec<&str> =
        table.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(rates[..2], ["5", "21.92"]);
    let columns: Vec<usize> = table.lines().map(|line| line.chars().count()).collect();
    assert_eq!(rates.len(), 4, "{table}");
    assert!(columns.windows(2).all(|pair| pair[0] == pair[1]), "{table}");
}

#[test]
fn few_requests_are_said_to_be_few() {
    let mut answer = sized(about(22.6, 22.2, 23.2));
    assert!(!sentences(&answer).iter().any(|text| text.contains("few")));
    (answer.requests, answer.replications) = (3, 1);
    let few = "3 requests are few: their P99 is the largest value; for ± 10 % it takes about 1,800 \
               requests.";
    assert!(sentences(&answer).iter().any(|text| text == few), "{:?}", sentences(&answer));
    assert!(report::remarks(&answer, &Scenario::preset()).iter().any(|text| plain(text) == few));
    (answer.requests, answer.replications) = (100, 8);
    let told = sentences(&answer);
    assert!(told.iter().any(|text| text.contains("P99 is number 9 from the top")), "{told:?}");
}

#[test]
fn a_capacity_at_the_limit_of_stability_says_so() {
    let mut answer = sized(about(24.03, 23.7, 24.3));
    answer.ceiling_per_s = Some(about(24.2, 24.1, 24.3));
    let told = sentences(&answer);
    assert!(told.iter().any(|text| text.contains("limit of stability less 0.79 %")), "{told:?}");
    let ceiling = "One GPU can finish at most 24.2 req/s at all (24.1 to 24.3, 95 %), whatever the \
                   target.";
    assert!(told.iter().any(|text| text == ceiling), "{told:?}");
    let told = sentences(&sized(about(22.6, 22.2, 23.2)));
    assert!(!told.iter().any(|text| text.contains("limit of stability")), "{told:?}");
}
