//! The obvious sessions: every session of a run is laid out at its beginning, turn by turn, and each
//! prompt is added up from the first turn on.

use crate::{
    clients::{ClientTime, SessionCounts, rest_of_think_s, think_s},
    engine::vllm::{Answered, Before},
    setup::Setup,
    workload::{Request, RequestClass, lengths_of_turn},
};

use super::sessions::{
    arrivals, begun, deal_of, found, found_under_way, key_of, mix_of, place_of, sessions_of,
    standing_of, turns_of,
};

/// A session with all its turns.
struct Laid {
    number: u64,
    class: u32,
    /// Prompt and output that each turn adds.
    turns: Vec<(u64, u64)>,
    /// The first turn that is sent in the run.
    first: u64,
    first_s: f64,
    prefix_tokens: u64,
    most_tokens: u64,
    think: ClientTime,
    is_session: bool,
    /// The turns answered in the run.
    answered: Vec<(usize, Answered)>,
    end: End,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    /// It has not sent anything yet.
    Ahead,
    UnderWay,
    Completed,
    BrokenOff,
}

pub(super) struct ObviousSessions {
    seed: u64,
    laid: Vec<Laid>,
    /// The turns sent: their keys.
    sent: Vec<u64>,
}

impl ObviousSessions {
    pub(super) fn new(setup: &Setup) -> Option<Self> {
        let mix = mix_of(setup).ok()?;
        let seed = setup.seed;
        let (replicas, replica) = deal_of(setup);
        let mut laid = Vec::new();
        for (index, class) in mix.classes.iter().enumerate() {
            let sessions = sessions_of(class);
            for place in 0..found_under_way(mix, class) {
                if place % replicas != replica {
                    continue;
                }
                let number = found(index, place);
                let standing = standing_of(&sessions, seed, number);
                let key = key_of(number, standing.done);
                let first_s = rest_of_think_s(&sessions.think, seed, key);
                let turns = standing.done + standing.left;
                laid.push(Laid::new(class, index, seed, number, turns, (standing.done, first_s)));
            }
        }
        // No more can begin than turns are sent.
        let own = |session: &Request| session.index % replicas == replica;
        let begin = arrivals(mix, (1, 0), seed).filter(own);
        for session in begin.take(setup.workload.requests as usize) {
            let index = session.class as usize;
            let class = &mix.classes[index];
            let number = begun(session.index);
            let turns = turns_of(&sessions_of(class), seed, number);
            laid.push(Laid::new(class, index, seed, number, turns, (0, session.arrival_s)));
        }
        Some(Self { seed, laid, sent: Vec::new() })
    }

    /// When the first turn of each session is sent, and its key.
    pub(super) fn first_sends(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.laid.iter().map(|laid| (laid.first_s, key_of(laid.number, laid.first)))
    }

    fn of(&mut self, key: u64) -> &mut Laid {
        let number = place_of(key).0;
        let place = self.laid.iter().position(|laid| laid.number == number);
        &mut self.laid[place.unwrap_or(0)]
    }

    /// The turn of a key is sent.
    pub(super) fn send(&mut self, key: u64) -> (Request, Option<Before>) {
        self.sent.push(key);
        let laid = self.of(key);
        laid.end = End::UnderWay;
        let turn = place_of(key).1 as usize;
        let (prompt_tokens, ..) = laid.prompt(turn);
        let request = Request {
            index: 0,
            arrival_s: 0.0,
            input_tokens: prompt_tokens,
            output_tokens: laid.turns[turn].1,
            class: laid.class,
        };
        (request, laid.is_session.then(|| laid.before(turn)))
    }

    /// The turn of a key has ended: when the next one would be sent, and its key.
    pub(super) fn next_send(
        &mut self,
        key: u64,
        answered: Option<Answered>,
        now_s: f64,
    ) -> Option<(f64, u64)> {
        let seed = self.seed;
        let laid = self.of(key);
        let next = place_of(key).1 + 1;
        let Some(answered) = answered else {
            laid.end = End::BrokenOff;
            return None;
        };
        laid.answered.push((place_of(key).1 as usize, answered));
        if next == laid.turns.len() as u64 {
            laid.end = End::Completed;
        } else {
            let key = key_of(laid.number, next);
            return Some((now_s + think_s(&laid.think, seed, key), key));
        }
        None
    }

    pub(super) fn counts(&self) -> SessionCounts {
        let mut counts = SessionCounts::default();
        for laid in &self.laid {
            let was_found = laid.first > 0;
            counts.found += u64::from(was_found);
            counts.begun += u64::from(!was_found && laid.end != End::Ahead);
            match laid.end {
                End::Ahead => counts.under_way += u64::from(was_found),
                End::UnderWay => counts.under_way += 1,
                End::Completed => counts.completed += 1,
                End::BrokenOff => counts.broken_off += 1,
            }
        }
        for &key in &self.sent {
            let (number, turn) = place_of(key);
            let laid = self.laid.iter().filter(|laid| laid.number == number);
            for (prompt, history, is_cut) in laid.map(|laid| laid.prompt(turn as usize)) {
                counts.turns += 1;
                counts.input_tokens += prompt;
                counts.history_tokens += history;
                counts.cut_turns += u64::from(is_cut);
            }
        }
        counts
    }
}

impl Laid {
    fn new(
        class: &RequestClass,
        index: usize,
        seed: u64,
        number: u64,
        turns: u64,
        (first, first_s): (u64, f64),
    ) -> Self {
        let sessions = sessions_of(class);
        let lengths = |turn| lengths_of_turn(class, index, seed, key_of(number, turn));
        Self {
            number,
            class: index as u32,
            turns: (0..turns).map(lengths).collect(),
            first,
            first_s,
            prefix_tokens: class.shared_prefix.map_or(0, |prefix| prefix.tokens),
            most_tokens: sessions.most_tokens,
            think: sessions.think,
            is_session: class.sessions.is_some(),
            answered: Vec::new(),
            end: End::Ahead,
        }
    }

    fn pinned_tokens(&self) -> u64 {
        self.prefix_tokens.min(self.turns[0].0)
    }

    /// What each turn before has left of which the prompt of this one is made, where nothing has moved.
    fn before(&self, turn: usize) -> Before {
        let unmoved = |other: usize| (other + 1..=turn).all(|later| !self.prompt(later).2);
        let said = |(other, answered): &(usize, Answered)| {
            answered.said(self.prompt(*other).0 + self.turns[*other].1 - 1)
        };
        let there = self.answered.iter().filter(|(other, _)| unmoved(*other));
        Before { pinned_tokens: self.pinned_tokens(), turns: there.flat_map(said).collect() }
    }

    /// Tokens of a turn's prompt, of the conversation in it, and whether the turn lost others that the
    /// one before had.
    fn prompt(&self, turn: usize) -> (u64, u64, bool) {
        let pinned = self.pinned_tokens();
        // What each turn adds, the pinned beginning apart.
        let added = |turn: usize| {
            let (input, output) = self.turns[turn];
            (if turn == 0 { input - pinned } else { input }, output)
        };
        let held = |from: usize, to: usize| {
            (from..to).map(|turn| added(turn).0 + added(turn).1).sum::<u64>()
        };
        // The first turn that is still there, turn after turn.
        let mut first = 0;
        let mut before = 0;
        for turn in 0..=turn {
            before = first;
            while first < turn && pinned + held(first, turn + 1) > self.most_tokens {
                first += 1;
            }
        }
        let history = held(first, turn) + if turn > 0 { pinned } else { 0 };
        let prompt = pinned + held(first, turn) + added(turn).0;
        (prompt, history, first > before)
    }
}
