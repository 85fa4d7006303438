//! Numbers of turns against their distributions, and conversations by hand.

use super::*;
use crate::random::Purpose;

const SAMPLES: u64 = 40_000;

fn all() -> [Turns; 5] {
    [
        Turns::Fixed { turns: 6 },
        Turns::Uniform { least: 1, most: 9 },
        Turns::Uniform { least: 4, most: 7 },
        Turns::Geometric { mean: 5.0 },
        Turns::Geometric { mean: 1.0 },
    ]
}

fn stream() -> Stream {
    Stream::new(5, Purpose::Sessions)
}

/// The largest distance of observed frequencies from probabilities, in standard deviations.
fn worst_deviation(observed: &[u64], probability: impl Fn(usize) -> f64) -> f64 {
    let number = observed.iter().sum::<u64>() as f64;
    let deviation = |(value, &count): (usize, &u64)| {
        let p = probability(value);
        let spread = (number * p * (1.0 - p)).sqrt();
        (count as f64 - number * p).abs() / crate::float::greater(1.0, spread)
    };
    observed.iter().enumerate().map(deviation).fold(0.0, crate::float::greater)
}

fn tally(draw: impl FnMut() -> u64) -> Vec<u64> {
    let mut counts = vec![0; 60];
    for value in std::iter::repeat_with(draw).take(SAMPLES as usize) {
        counts[(value as usize).min(59)] += 1;
    }
    counts
}

/// Of a new session the number of turns is as its tail says, and its mean too.
#[test]
fn turns_follow_their_distribution() {
    for turns in all() {
        let mut stream = stream();
        let counts = tally(|| turns.draw(&mut stream));
        let exactly = |k: usize| {
            if k == 0 { 0.0 } else { turns.at_least(k as u64) - turns.at_least(k as u64 + 1) }
        };
        let worst = worst_deviation(&counts[..59], exactly);
        assert!(worst < 4.5, "{turns:?}: {worst}");
        let mean: f64 = (1..2_000).map(|k| turns.at_least(k)).sum();
        assert!((mean - turns.mean()).abs() < 1e-9, "{turns:?}: {mean}");
    }
}

/// A request picked at random is turn k in proportion to the sessions that reach it.
#[test]
fn places_follow_the_sessions_that_reach_them() {
    for turns in all() {
        let mut stream = stream();
        let counts = tally(|| turns.draw_place(&mut stream));
        let probability =
            |k: usize| if k == 0 { 0.0 } else { turns.at_least(k as u64) / turns.mean() };
        let worst = worst_deviation(&counts[..59], probability);
        assert!(worst < 4.5, "{turns:?}: {worst}");
    }
}

/// Sessions found between two turns, by counting all the pauses of many new sessions.
#[test]
fn sessions_are_found_under_way_as_their_pauses_are() {
    for turns in all() {
        if turns.most() == Some(1) {
            continue;
        }
        let mut pauses = vec![0.0; 64 * 64];
        let mut number = 0.0;
        for n in 2..64_u64 {
            let exactly = turns.at_least(n) - turns.at_least(n + 1);
            for done in 1..n {
                pauses[(done * 64 + (n - done)) as usize] += exactly;
                number += exactly;
            }
        }
        let mut counts = vec![0_u64; 64 * 64];
        let mut stream = stream();
        for _ in 0..SAMPLES {
            let UnderWay { done, left } = turns.draw_under_way(&mut stream);
            assert!(done >= 1 && left >= 1);
            if done + left < 64 {
                counts[(done * 64 + left) as usize] += 1;
            }
        }
        let worst = worst_deviation(&counts, |place| pauses[place] / number);
        assert!(worst < 5.0, "{turns:?}: {worst}");
    }
}

#[test]
fn a_prompt_is_the_whole_conversation_and_what_is_new() {
    let mut conversation = Conversation::new(u64::MAX, 0);
    let prompts: Vec<Turn> = [(100, 10), (20, 30), (5, 1)]
        .iter()
        .map(|&(input, output)| conversation.ask(input, output))
        .collect();
    let turn = |input_tokens, history_tokens| Turn { input_tokens, history_tokens, is_cut: false };
    assert_eq!(prompts, [turn(100, 0), turn(110 + 20, 110), turn(160 + 5, 160)]);
    assert_eq!((conversation.asked(), conversation.tokens()), (3, 160 + 6));
}

/// 200 tokens at most, of which 40 stay whatever happens.
#[test]
fn a_long_conversation_loses_its_oldest_turns() {
    let mut conversation = Conversation::new(200, 40);
    assert_eq!(conversation.ask(60, 30).input_tokens, 60);
    assert_eq!(conversation.ask(50, 30).input_tokens, 90 + 50);
    // 40 + 50 + 80 + 40 do not fit; 40 + 80 + 40 do.
    let third = conversation.ask(30, 10);
    assert_eq!(third, Turn { input_tokens: 40 + 80 + 30, history_tokens: 120, is_cut: true });
    assert_eq!((conversation.tokens(), conversation.pinned_tokens()), (40 + 80 + 40, 40));
    // One that is too long by itself goes alone, and whole.
    let fourth = conversation.ask(300, 10);
    assert_eq!(fourth, Turn { input_tokens: 340, history_tokens: 40, is_cut: true });
    assert_eq!(conversation.tokens(), 350);
    // A prompt shorter than what is pinned is all of it.
    let mut short = Conversation::new(200, 40);
    assert_eq!(short.ask(10, 5).input_tokens, 10);
    assert_eq!(short.ask(10, 5).input_tokens, 25);
}

/// The mean history against conversations held, with and without a limit.
#[test]
fn the_mean_history_is_that_of_conversations() {
    for turns in all() {
        for most_tokens in [u64::MAX, 700] {
            let sessions =
                Sessions { turns, think: ClientTime::Fixed { mean_s: 1.0 }, most_tokens };
            let (mut history, mut number) = (0.0, 0.0);
            let mut stream = stream();
            for _ in 0..SAMPLES {
                let mut conversation = Conversation::new(most_tokens, 0);
                for _ in 0..turns.draw(&mut stream) {
                    history += conversation.ask(50, 50).history_tokens as f64;
                    number += 1.0;
                }
            }
            let (told, held) = (sessions.mean_history_tokens(50.0, 50.0), history / number);
            assert!((told - held).abs() <= 0.03 * held, "{sessions:?}: {told} {held}");
        }
    }
}

#[test]
fn numbers_outside_their_domain_are_named() {
    let of = |turns| Sessions { turns, ..Sessions::SINGLE };
    for turns in [
        Turns::Fixed { turns: 0 },
        Turns::Fixed { turns: 1_001 },
        Turns::Uniform { least: 0, most: 3 },
        Turns::Uniform { least: 4, most: 3 },
        Turns::Geometric { mean: 0.5 },
        Turns::Geometric { mean: f64::NAN },
    ] {
        let refused = of(turns).check();
        assert!(
            matches!(
                refused,
                Err(SetupError::OutOfDomain { field: "workload.sessions.turns", .. })
            ),
            "{turns:?}: {refused:?}"
        );
    }
    assert!(all().iter().all(|&turns| of(turns).check() == Ok(())));
    assert!(Sessions { most_tokens: 0, ..Sessions::SINGLE }.check().is_err());
    let thinks = Sessions { think: ClientTime::Fixed { mean_s: -1.0 }, ..Sessions::SINGLE };
    assert!(thinks.check().is_err());
}

#[test]
fn the_largest_turn_is_bounded_by_turns_and_by_the_limit() {
    let largest = |turns, most_tokens, own| {
        Sessions { turns, most_tokens, ..Sessions::SINGLE }.largest_tokens(own, 0)
    };
    assert_eq!(largest(Turns::Fixed { turns: 5 }, u64::MAX, 100), 500);
    assert_eq!(largest(Turns::Fixed { turns: 5 }, 300, 100), 300);
    assert_eq!(largest(Turns::Fixed { turns: 5 }, 30, 100), 100);
    assert_eq!(largest(Turns::Geometric { mean: 5.0 }, 300, 100), 300);
    assert_eq!(largest(Turns::Geometric { mean: 5.0 }, u64::MAX, 100), MAX_LENGTH_TOKENS);
    // The beginning that is never left out comes on top of a turn that is longer than the limit.
    let pinned = Sessions { turns: Turns::Fixed { turns: 2 }, most_tokens: 20, ..Sessions::SINGLE };
    assert_eq!(pinned.largest_tokens(206, 93), 299);
    assert_eq!(pinned.largest_tokens(40, 93), 80);
}
