//! Who sends the turns of sessions, and when.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    clients::{SessionCounts, rest_of_think_s, think_s},
    engine::{
        by_number::ByNumber,
        vllm::{Answered, Before, Said},
    },
    float::lesser,
    random::{Purpose, Stream},
    setup::{Setup, SetupError},
    workload::{
        Conversation, Deal, LengthSpec, Mix, Request, RequestClass, RequestLengths, RequestSource,
        Requests, Sessions, UnderWay, Workload, lengths_of_turn,
    },
};

/// Most sessions that a run may find under way.
const MOST_UNDER_WAY: f64 = 4e6;

/// A key of draws holds the session's number and, in so many bits, the turn's.
const TURN_BITS: u32 = 21;

/// The turn, counted from 0, of a session by its number.
pub(super) const fn key_of(session: u64, turn: u64) -> u64 {
    (session << TURN_BITS) | turn
}

/// The session and the turn that a key belongs to.
pub(super) const fn place_of(key: u64) -> (u64, u64) {
    (key >> TURN_BITS, key & ((1 << TURN_BITS) - 1))
}

/// The number of the session that comes `index`-th in the run.
pub(super) const fn begun(index: u64) -> u64 {
    2 * index
}

/// The number of the `index`-th session of a class that the run finds under way.
pub(super) const fn found(class: usize, index: u64) -> u64 {
    2 * (index * crate::workload::MAX_CLASSES as u64 + class as u64) + 1
}

/// How a class comes in sessions; single requests are sessions of one turn.
pub(super) fn sessions_of(class: &RequestClass) -> Sessions {
    class.sessions.unwrap_or(Sessions::SINGLE)
}

/// Sessions of a class that begin per second where the rate profile is 1, given the rate of all turns.
fn rate_of(mix: &Mix, class: &RequestClass) -> f64 {
    let share = class.weight / mix.total_weight();
    mix.arrivals.rate_per_s * share / sessions_of(class).turns.mean()
}

/// How many sessions of a class think at a random moment, by Little's law.
fn thinking(mix: &Mix, class: &RequestClass) -> f64 {
    let Sessions { turns, think, .. } = sessions_of(class);
    let rate_per_s = rate_of(mix, class) * mix.arrivals.profile.first_factor();
    rate_per_s * (turns.mean() - 1.0) * think.mean_s()
}

/// How many sessions of a class a run finds under way.
pub(super) fn found_under_way(mix: &Mix, class: &RequestClass) -> u64 {
    // Checked to be few.
    libm::round(lesser(thinking(mix, class), MOST_UNDER_WAY)) as u64
}

/// The sessions of a set-up whose workload has any. Where they are dealt out, those of all replicas.
///
/// # Errors
/// A source without classes, or so many sessions at once that they would fill the memory.
pub(super) fn mix_of(setup: &Setup) -> Result<&Arc<Mix>, SetupError> {
    let RequestSource::Mixed(mix) = setup.workload.source.whole() else {
        return Err(SetupError::NoSessions);
    };
    let at_once: f64 = mix.classes.iter().map(|class| thinking(mix, class)).sum();
    if at_once > MOST_UNDER_WAY {
        return Err(SetupError::OutOfDomain {
            field: "workload.sessions.under_way",
            value: at_once,
            requirement: "at most 4,000,000 sessions that think at once: a lower rate, fewer turns or \
                          less time to think",
        });
    }
    Ok(mix)
}

/// Replicas among which sessions are dealt out, and which of them this is.
pub(super) fn deal_of(setup: &Setup) -> (u64, u64) {
    match &setup.workload.source {
        RequestSource::Dealt(deal) => (deal.replicas, deal.replica),
        _ => (1, 0),
    }
}

/// The stream of new sessions, of which only the arrival time and the class count: the workload's own
/// pattern of arrivals, at the rate of sessions. Of `replicas` it is every so many-th of them.
pub(super) fn arrivals(mix: &Mix, (replicas, replica): (u64, u64), seed: u64) -> Requests {
    const TOKEN: LengthSpec = LengthSpec::Fixed { tokens: 1 };
    let mut sessions = mix.clone();
    for class in &mut sessions.classes {
        class.weight = rate_of(mix, class);
        class.lengths = RequestLengths::Independent { input: TOKEN, output: TOKEN };
        class.sessions = None;
    }
    sessions.arrivals.rate_per_s = sessions.total_weight();
    let whole = Box::new(RequestSource::Mixed(Arc::new(sessions)));
    let source = RequestSource::Dealt(Deal { source: whole, replicas, replica });
    Requests::new(&Workload { source, requests: u64::MAX }, seed)
}

/// How many turns a new session has.
pub(super) fn turns_of(sessions: &Sessions, seed: u64, session: u64) -> u64 {
    sessions.turns.draw(&mut Stream::of_request(seed, Purpose::Sessions, session))
}

/// Where a session stands that the run finds under way.
pub(super) fn standing_of(sessions: &Sessions, seed: u64, session: u64) -> UnderWay {
    sessions.turns.draw_under_way(&mut Stream::of_request(seed, Purpose::Sessions, session))
}

/// The bits of a time that is not negative: they are in its order.
type TimeBits = u64;

/// A session that has sent a turn and is not over.
#[derive(Clone, Debug)]
struct Session {
    class: usize,
    /// Turns to come after the one that was sent last.
    left: u64,
    conversation: Conversation,
    /// What its turns have left in the cache of the engine.
    said: Vec<Said>,
}

/// All users with a session.
#[derive(Clone, Debug)]
pub(super) struct SessionSenders {
    mix: Arc<Mix>,
    seed: u64,
    /// Sessions that are going to begin.
    arrivals: Requests,
    total: u64,
    /// How many turns may still be sent.
    to_send: u64,
    /// By number.
    under_way: ByNumber<Session>,
    /// Turns of these, and of those found under way, that are going to be sent, by time and key.
    going_to_send: BTreeSet<(TimeBits, u64)>,
    counts: SessionCounts,
}

impl SessionSenders {
    /// Those of a set-up, given its classes.
    pub(super) fn new(mix: &Arc<Mix>, setup: &Setup) -> Self {
        let (requests, seed) = (setup.workload.requests, setup.seed);
        let (replicas, replica) = deal_of(setup);
        let mut senders = Self {
            mix: Arc::clone(mix),
            seed,
            arrivals: arrivals(mix, (replicas, replica), seed),
            total: requests,
            to_send: requests,
            under_way: ByNumber::new(),
            going_to_send: BTreeSet::new(),
            counts: SessionCounts::default(),
        };
        for (class, spec) in mix.classes.iter().enumerate() {
            let sessions = sessions_of(spec);
            // Each replica has every so many-th, as of those that are going to begin.
            for index in (replica..found_under_way(mix, spec)).step_by(replicas as usize) {
                let session = found(class, index);
                let key = key_of(session, standing_of(&sessions, seed, session).done);
                let send_s = rest_of_think_s(&sessions.think, seed, key);
                senders.going_to_send.insert((send_s.to_bits(), key));
                senders.counts.found += 1;
            }
        }
        senders.counts.under_way = senders.counts.found;
        senders
    }

    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    pub(super) const fn counts(&self) -> SessionCounts {
        self.counts
    }

    /// The turn that is sent next: its time and key, and the class of a session that begins with it.
    fn next(&self) -> Option<(TimeBits, u64, Option<usize>)> {
        if self.to_send == 0 {
            return None;
        }
        let going = self.going_to_send.first().map(|&(bits, key)| (bits, key, None));
        let begins = self.arrivals.peek().map(|session| {
            let key = key_of(begun(self.arrivals.place_in_whole(session.index)), 0);
            (session.arrival_s.to_bits(), key, Some(session.class as usize))
        });
        match (going, begins) {
            (Some(going), Some(begins)) if (going.0, going.1) < (begins.0, begins.1) => Some(going),
            (going, begins) => begins.or(going),
        }
    }

    pub(super) fn next_s(&self) -> Option<f64> {
        self.next().map(|(bits, ..)| f64::from_bits(bits))
    }

    pub(super) fn send(&mut self) -> Option<(u64, Request, Option<Before>)> {
        let (bits, key, begins) = self.next()?;
        let (number, turn) = place_of(key);
        if let Some(class) = begins {
            self.arrivals.pass();
            self.counts.begun += 1;
            self.counts.under_way += 1;
            let turns = turns_of(&sessions_of(&self.mix.classes[class]), self.seed, number);
            self.meet(number, class, turns);
        } else {
            self.going_to_send.pop_first();
            if self.under_way.get(number).is_none() {
                let class = (number / 2) as usize % crate::workload::MAX_CLASSES;
                let sessions = sessions_of(&self.mix.classes[class]);
                self.meet(number, class, standing_of(&sessions, self.seed, number).left);
            }
        }
        self.to_send -= 1;
        let Self { mix, seed, under_way, counts, .. } = self;
        let session = under_way.get_mut(number)?;
        session.left -= 1;
        let class = &mix.classes[session.class];
        // Of a session found under way the turns before count as answered.
        let mut asked = None;
        while session.conversation.asked() <= turn {
            let key = key_of(number, session.conversation.asked());
            let (input_tokens, output_tokens) = lengths_of_turn(class, session.class, *seed, key);
            asked = Some((session.conversation.ask(input_tokens, output_tokens), output_tokens));
        }
        let (asked, output_tokens) = asked?;
        counts.turns += 1;
        counts.cut_turns += u64::from(asked.is_cut);
        counts.input_tokens += asked.input_tokens;
        counts.history_tokens += asked.history_tokens;
        let request = Request {
            index: 0,
            arrival_s: f64::from_bits(bits),
            input_tokens: asked.input_tokens,
            output_tokens,
            class: session.class as u32,
        };
        if asked.is_cut {
            // What is left has moved, and nothing but the beginning is found where it was.
            session.said.clear();
        }
        let pinned_tokens = session.conversation.pinned_tokens();
        let before = Before { pinned_tokens, turns: session.said[..].into() };
        // Nobody looks for what a single request has left.
        Some((key, request, class.sessions.map(|_| before)))
    }

    fn meet(&mut self, number: u64, class: usize, left: u64) {
        let spec = &self.mix.classes[class];
        let prefix_tokens = spec.shared_prefix.map_or(0, |prefix| prefix.tokens);
        let conversation = Conversation::new(sessions_of(spec).most_tokens, prefix_tokens);
        let session = Session { class, left, conversation, said: Vec::new() };
        self.under_way.insert(number, session);
    }

    /// The turn of a key has ended, with the answer to an attempt or without any.
    pub(super) fn ended(&mut self, key: u64, answered: Option<Answered>, now_s: f64) {
        let (number, turn) = place_of(key);
        let Some(session) = self.under_way.get_mut(number) else { return };
        if let Some(answered) = answered
            && session.left > 0
        {
            // The last token of an answer is not computed.
            let up_to_tokens = session.conversation.tokens() - 1;
            session.said.extend(answered.said(up_to_tokens));
            if self.to_send > 0 {
                let think = sessions_of(&self.mix.classes[session.class]).think;
                let next = key_of(number, turn + 1);
                let send_s = now_s + think_s(&think, self.seed, next);
                self.going_to_send.insert((send_s.to_bits(), next));
            }
            return;
        }
        self.under_way.remove(number);
        self.counts.under_way -= 1;
        if answered.is_some() {
            self.counts.completed += 1;
        } else {
            self.counts.broken_off += 1;
        }
    }
}
