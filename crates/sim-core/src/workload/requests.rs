//! Requests, one at a time, in order of arrival.

use std::{ops::Range, sync::Arc};

use crate::random::{Purpose, Stream, split_mix};

use super::{
    LengthPair, LengthSpec, MAX_CLASSES, Mix, Quantiles, RequestClass, RequestLengths,
    RequestSource, Sessions, Trace, Workload, arrival_clock::ArrivalClock, sessions::Conversation,
};

/// One request as its user sends it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Position in the order of arrival, from 0.
    pub index: u64,
    /// When it is sent, in seconds.
    pub arrival_s: f64,
    /// Prompt length.
    pub input_tokens: u64,
    /// Output length, 1 or more.
    pub output_tokens: u64,
    /// Which class of the workload's mix it belongs to; 0 where there is one.
    pub class: u32,
}

impl Request {
    /// Tokens whose keys and values it will hold at its end.
    #[must_use]
    pub const fn final_tokens(&self) -> u64 {
        self.input_tokens + self.output_tokens
    }
}

/// How many requests are drawn at a time. One kind of draw after the other, in short loops, costs
/// less than all kinds in turn for each request.
const BLOCK: u64 = 64;

/// The stream of requests of a workload. Memory does not grow with its length.
#[derive(Clone, Debug)]
pub struct Requests {
    /// How many have been drawn of the whole stream, and how many there are.
    drawn: u64,
    end: u64,
    /// Of which every so many-th, from which on, are this stream's.
    deal: (u64, u64),
    /// How many those are.
    total: u64,
    source: Source,
    /// Requests drawn ahead; those before `taken` have been handed out. It is used up only at the
    /// end of the stream.
    block: Vec<Request>,
    taken: usize,
}

#[derive(Clone, Debug)]
enum Source {
    // Boxed: a generator is many times the size of a replay.
    Generated(Box<Generator>),
    Replay { trace: Arc<Trace>, speed: f64 },
    Nothing,
}

/// Draws requests from distributions.
#[derive(Clone, Debug)]
struct Generator {
    arrivals: ArrivalClock,
    /// Chooses the class of each request; absent where there is one.
    chooser: Option<Chooser>,
    classes: Vec<ClassDraws>,
    /// The lengths of one block, class by class.
    by_class: Vec<Request>,
}

/// Chooses among classes by their weights.
#[derive(Clone, Debug)]
struct Chooser {
    stream: Stream,
    /// Cumulative shares, ending at 1.
    shares: Vec<f64>,
}

impl Chooser {
    fn new(mix: &Mix, seed: u64) -> Self {
        let total = mix.total_weight();
        let mut sum = 0.0;
        let share = |class: &RequestClass| {
            sum += class.weight / total;
            sum
        };
        let shares = mix.classes.iter().map(share).collect();
        Self { stream: Stream::new(seed, Purpose::Class), shares }
    }

    #[inline]
    fn choose(&mut self) -> usize {
        let point = self.stream.uniform();
        // There are few, and counting needs no branch that cannot be foretold.
        let below = self.shares.iter().map(|&share| usize::from(share < point)).sum::<usize>();
        below.min(self.shares.len() - 1)
    }
}

/// Draws the lengths of one class. Its streams are its own, so that another class in the mix does
/// not change them.
#[derive(Clone, Debug)]
enum ClassDraws {
    Independent { input: Lengths, output: Lengths },
    Pairs { pairs: Arc<[LengthPair]>, stream: Stream },
    // Boxed: it holds another.
    Turns(Box<TurnDraws>),
}

/// Draws turns of sessions as requests of their own: which turn each is, and the conversation before.
#[derive(Clone, Debug)]
struct TurnDraws {
    sessions: Sessions,
    prefix_tokens: u64,
    /// Which turn.
    places: Stream,
    /// What each turn adds.
    own: ClassDraws,
}

impl TurnDraws {
    // On its own: few ask for it.
    #[cold]
    #[inline(never)]
    fn draw(&mut self, requests: &mut [Request]) {
        for request in requests {
            let turns = self.sessions.turns.draw_place(&mut self.places);
            let mut conversation = Conversation::new(self.sessions.most_tokens, self.prefix_tokens);
            for _ in 0..turns {
                self.own.draw(std::slice::from_mut(request));
                request.input_tokens =
                    conversation.ask(request.input_tokens, request.output_tokens).input_tokens;
            }
        }
    }
}

/// Prompt and output that a turn adds to its session, in tokens. The draws belong to its key.
pub(crate) fn lengths_of_turn(
    class: &RequestClass,
    index: usize,
    seed: u64,
    key: u64,
) -> (u64, u64) {
    let mut turn =
        Request { index: key, arrival_s: 0.0, input_tokens: 0, output_tokens: 1, class: 0 };
    // As streams of a request are derived.
    let seed = seed ^ split_mix(key.wrapping_mul(2) + 1);
    ClassDraws::of_lengths(class, index, seed).draw(std::slice::from_mut(&mut turn));
    (turn.input_tokens, turn.output_tokens)
}

impl ClassDraws {
    fn independent(input: LengthSpec, output: LengthSpec, seed: u64) -> Self {
        Self::Independent {
            input: Lengths::new(input, seed, Purpose::InputTokens),
            output: Lengths::new(output, seed, Purpose::OutputTokens),
        }
    }

    fn new(class: &RequestClass, index: usize, seed: u64) -> Self {
        let own = Self::of_lengths(class, index, seed);
        let Some(sessions) = class.sessions else { return own };
        let prefix_tokens = class.shared_prefix.map_or(0, |prefix| prefix.tokens);
        let places = Stream::new(seed ^ split_mix(index as u64), Purpose::Sessions);
        Self::Turns(Box::new(TurnDraws { sessions, prefix_tokens, places, own }))
    }

    fn of_lengths(class: &RequestClass, index: usize, seed: u64) -> Self {
        // The first class draws as a workload of its own would.
        let seed = if index == 0 { seed } else { seed ^ split_mix(index as u64) };
        match &class.lengths {
            RequestLengths::Independent { input, output } => {
                Self::independent(*input, *output, seed)
            }
            RequestLengths::Pairs(pairs) => Self::Pairs {
                pairs: Arc::clone(pairs),
                stream: Stream::new(seed, Purpose::InputTokens),
            },
        }
    }

    /// Draw the lengths of consecutive requests of this class.
    #[inline]
    fn draw(&mut self, requests: &mut [Request]) {
        match self {
            Self::Independent { input, output } => {
                input.draw(requests, |request, tokens| request.input_tokens = tokens);
                output.draw(requests, |request, tokens| request.output_tokens = tokens);
            }
            Self::Pairs { pairs, stream } => {
                for request in requests {
                    let index = (stream.uniform() * pairs.len() as f64).ceil() as usize;
                    let pair = pairs[index.clamp(1, pairs.len()) - 1];
                    request.input_tokens = pair.input_tokens;
                    request.output_tokens = pair.output_tokens;
                }
            }
            Self::Turns(turns) => turns.draw(requests),
        }
    }
}

impl Generator {
    fn of_mix(mix: &Mix, seed: u64) -> Self {
        let classes = mix.classes.iter().enumerate();
        Self {
            arrivals: ArrivalClock::new(&mix.arrivals, seed),
            chooser: (mix.classes.len() > 1).then(|| Chooser::new(mix, seed)),
            classes: classes.map(|(index, class)| ClassDraws::new(class, index, seed)).collect(),
            by_class: Vec::new(),
        }
    }

    /// Append the requests of `indices`, which follow those drawn before.
    fn draw(&mut self, indices: Range<u64>, block: &mut Vec<Request>) {
        let start = block.len();
        block.extend(indices.map(|index| Request {
            index,
            arrival_s: self.arrivals.next_s(),
            input_tokens: 0,
            output_tokens: 1,
            class: 0,
        }));
        let fresh = &mut block[start..];
        let Some(chooser) = &mut self.chooser else {
            // A mix has at least one class.
            return self.classes.iter_mut().for_each(|only| only.draw(fresh));
        };
        let mut numbers = [0_usize; MAX_CLASSES];
        for request in &mut *fresh {
            let class = chooser.choose();
            request.class = class as u32;
            numbers[class] += 1;
        }
        self.draw_by_class(fresh, &numbers);
    }

    /// Draw the lengths of requests whose class is known, one class after the other, given how many
    /// there are of each.
    fn draw_by_class(&mut self, requests: &mut [Request], numbers: &[usize; MAX_CLASSES]) {
        if self.by_class.len() < requests.len() {
            // Whatever they are: their lengths are about to be drawn.
            self.by_class = requests.to_vec();
        }
        // Where the next request of each class finds its lengths.
        let mut places = [0_usize; MAX_CLASSES];
        let mut start = 0;
        for ((class, number), place) in self.classes.iter_mut().zip(numbers).zip(&mut places) {
            *place = start;
            class.draw(&mut self.by_class[start..start + number]);
            start += number;
        }
        for request in requests {
            let place = &mut places[request.class as usize];
            let drawn = &self.by_class[*place];
            request.input_tokens = drawn.input_tokens;
            request.output_tokens = drawn.output_tokens;
            *place += 1;
        }
    }
}

#[derive(Clone, Debug)]
enum Lengths {
    Fixed(u64),
    Uniform { min_tokens: u64, max_tokens: u64, stream: Stream },
    LogNormal { log_median: f64, sigma: f64, min_tokens: u64, max_tokens: u64, stream: Stream },
    // Boxed: the other lengths are a third of its size.
    Empirical { quantiles: Box<Quantiles>, stream: Stream },
}

impl Lengths {
    fn new(spec: LengthSpec, seed: u64, purpose: Purpose) -> Self {
        match spec {
            LengthSpec::Fixed { tokens } => Self::Fixed(tokens),
            LengthSpec::Uniform { min_tokens, max_tokens } => {
                Self::Uniform { min_tokens, max_tokens, stream: Stream::new(seed, purpose) }
            }
            LengthSpec::LogNormal { median_tokens, sigma, min_tokens, max_tokens } => {
                Self::LogNormal {
                    log_median: libm::log(median_tokens),
                    sigma,
                    min_tokens,
                    max_tokens,
                    stream: Stream::new(seed, purpose),
                }
            }
            LengthSpec::Empirical(quantiles) => {
                let stream = Stream::new(seed, purpose);
                Self::Empirical { quantiles: Box::new(quantiles), stream }
            }
        }
    }

    /// Draw a length for each request, in order.
    #[inline]
    fn draw(&mut self, requests: &mut [Request], set: impl Fn(&mut Request, u64)) {
        match self {
            Self::Fixed(tokens) => {
                for request in requests {
                    set(request, *tokens);
                }
            }
            Self::Uniform { min_tokens, max_tokens, stream } => {
                let choices = (*max_tokens - *min_tokens + 1) as f64;
                for request in requests {
                    let above = (stream.uniform() * choices).ceil() as u64;
                    set(request, (*min_tokens + above - 1).clamp(*min_tokens, *max_tokens));
                }
            }
            Self::LogNormal { log_median, sigma, min_tokens, max_tokens, stream } => {
                let mut room = [0.0; BLOCK as usize];
                for part in requests.chunks_mut(room.len()) {
                    let normals = &mut room[..part.len()];
                    stream.normals(normals);
                    for (request, normal) in part.iter_mut().zip(normals) {
                        let length = libm::exp(*log_median + *sigma * *normal);
                        set(request, whole_tokens(length).clamp(*min_tokens, *max_tokens));
                    }
                }
            }
            Self::Empirical { quantiles, stream } => {
                for request in requests {
                    set(request, libm::round(quantiles.at(stream.uniform())) as u64);
                }
            }
        }
    }
}

/// The nearest whole number, halves up, of a length that is not negative. One beyond the range
/// of 63 bits saturates; bounds of a length are far below.
#[inline]
fn whole_tokens(length: f64) -> u64 {
    let below = length as i64;
    let is_up = length - below as f64 >= 0.5;
    below.saturating_add(i64::from(is_up)).cast_unsigned()
}

impl Requests {
    /// Start the stream of a checked workload.
    #[must_use]
    pub fn new(workload: &Workload, seed: u64) -> Self {
        let (deal, dealt) = match &workload.source {
            RequestSource::Dealt(deal) => ((deal.replicas, deal.replica), &*deal.source),
            whole => ((1, 0), whole),
        };
        let (every, first) = deal;
        let (total, source) = match dealt {
            RequestSource::Generated { process, rate_per_s, input, output } => {
                let generator = Generator {
                    arrivals: ArrivalClock::constant(*process, *rate_per_s, seed),
                    chooser: None,
                    classes: vec![ClassDraws::independent(*input, *output, seed)],
                    by_class: Vec::new(),
                };
                (workload.requests, Source::Generated(Box::new(generator)))
            }
            RequestSource::Mixed(mix) => {
                (workload.requests, Source::Generated(Box::new(Generator::of_mix(mix, seed))))
            }
            RequestSource::Replay { trace, speed } => (
                workload.requests.min(share_of(trace.rows().len() as u64, every, first)),
                Source::Replay { trace: Arc::clone(trace), speed: *speed },
            ),
            // A checked workload is dealt out only once.
            RequestSource::Dealt(_) => (0, Source::Nothing),
        };
        // Just after this stream's last request.
        let end = match total.checked_sub(1) {
            Some(last) => last.saturating_mul(every).saturating_add(first + 1),
            None => 0,
        };
        let block = Vec::new();
        let mut requests = Self { drawn: 0, end, deal, total, source, block, taken: 0 };
        requests.fill_block();
        requests
    }

    /// How many requests the whole stream holds.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// The place of this stream's request `index` in the whole stream that is dealt out.
    #[must_use]
    pub(crate) const fn place_in_whole(&self, index: u64) -> u64 {
        index.wrapping_mul(self.deal.0).wrapping_add(self.deal.1)
    }

    /// The next request, without taking it.
    #[must_use]
    #[inline]
    pub fn peek(&self) -> Option<&Request> {
        self.block.get(self.taken)
    }

    /// Leave the next request behind.
    #[inline]
    pub(crate) fn pass(&mut self) {
        self.taken += 1;
        if self.taken >= self.block.len() {
            self.fill_block();
        }
    }

    /// Draw the next requests, once all that were drawn have been taken.
    #[cold]
    fn fill_block(&mut self) {
        self.block.clear();
        self.taken = 0;
        while self.block.is_empty() && self.drawn < self.end {
            let first = self.drawn;
            self.draw_block();
            self.keep_own(first);
        }
    }

    /// Drop what other replicas get of a block that begins with `first`, and count the rest anew.
    fn keep_own(&mut self, first: u64) {
        let (every, own) = self.deal;
        if every == 1 {
            return;
        }
        let before = share_of(first, every, own);
        // The request that comes next; it may lie beyond this block.
        let start = (self.place_in_whole(before) - first) as usize;
        let number = self.block.len().saturating_sub(start).div_ceil(every as usize);
        for kept in 0..number {
            let request = self.block[start + kept * every as usize];
            self.block[kept] = Request { index: before + kept as u64, ..request };
        }
        self.block.truncate(number);
    }

    fn draw_block(&mut self) {
        let indices = self.drawn..self.end.min(self.drawn.saturating_add(BLOCK));
        self.drawn = indices.end;
        match &mut self.source {
            Source::Generated(generator) => generator.draw(indices, &mut self.block),
            Source::Replay { trace, speed } => {
                let rows = &trace.rows()[indices.start as usize..indices.end as usize];
                self.block.extend(indices.zip(rows).map(|(index, row)| Request {
                    index,
                    arrival_s: row.arrival_s / *speed,
                    input_tokens: row.input_tokens,
                    output_tokens: row.output_tokens,
                    class: 0,
                }));
            }
            Source::Nothing => {}
        }
    }
}

/// How many of the first `number` requests a replica gets of a stream that is dealt out.
pub(crate) const fn share_of(number: u64, replicas: u64, replica: u64) -> u64 {
    if number > replica { (number - replica - 1) / replicas + 1 } else { 0 }
}

impl Iterator for Requests {
    type Item = Request;

    #[inline]
    fn next(&mut self) -> Option<Request> {
        let request = *self.peek()?;
        self.pass();
        Some(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::ArrivalProcess;

    fn generated(process: ArrivalProcess, rate_per_s: f64, output: LengthSpec) -> Workload {
        Workload {
            source: RequestSource::Generated {
                process,
                rate_per_s,
                input: LengthSpec::Fixed { tokens: 7 },
                output,
            },
            requests: 20_000,
        }
    }

    #[test]
    fn a_faster_rate_is_the_same_stream_compressed() {
        let output = LengthSpec::LogNormal {
            median_tokens: 200.0,
            sigma: 1.0,
            min_tokens: 1,
            max_tokens: 4000,
        };
        let slow = Requests::new(&generated(ArrivalProcess::Poisson, 2.0, output), 5);
        let fast = Requests::new(&generated(ArrivalProcess::Poisson, 8.0, output), 5);
        for (s, f) in slow.zip(fast) {
            assert_eq!(s.arrival_s, 4.0 * f.arrival_s);
            assert_eq!(s.output_tokens, f.output_tokens);
        }
    }

    #[test]
    fn mean_rate_is_the_asked_one() {
        let output = LengthSpec::Fixed { tokens: 3 };
        for process in
            [ArrivalProcess::Poisson, ArrivalProcess::Gamma { shape: 0.5 }, ArrivalProcess::Even]
        {
            let last = Requests::new(&generated(process, 10.0, output), 9).last().unwrap();
            let rate = 20_000.0 / last.arrival_s;
            // Four standard deviations of the burstiest: 10 · 4 · √(2 / 20,000).
            assert!((rate - 10.0).abs() < 0.4, "{process:?}: {rate}");
        }
    }

    #[test]
    fn drawn_lengths_have_the_quantiles_that_were_given() {
        let points = [(0.0, 10), (0.5, 100), (0.9, 500), (1.0, 2_000)];
        let quantiles = Quantiles::new(&points).unwrap();
        let output = LengthSpec::Empirical(quantiles);
        let mut lengths: Vec<u64> = Requests::new(&generated(ArrivalProcess::Even, 1.0, output), 3)
            .map(|request| request.output_tokens)
            .collect();
        lengths.sort_unstable();
        let number = lengths.len() as f64;
        let mean = lengths.iter().sum::<u64>() as f64 / number;
        // The standard deviation is about 370 tokens; four standard errors of the mean.
        assert!((mean - quantiles.mean_tokens()).abs() < 4.0 * 370.0 / number.sqrt(), "{mean}");
        for (share, tokens) in [(0.5, 100.0), (0.7, 300.0), (0.9, 500.0)] {
            let within = lengths.iter().filter(|&&length| length as f64 <= tokens).count();
            // Four standard deviations of a count, and a token of rounding.
            assert!((within as f64 / number - share).abs() < 0.018, "{share}: {within}");
        }
        assert!(lengths[0] >= 10 && lengths[lengths.len() - 1] <= 2_000);
    }

    #[test]
    fn lognormal_median_and_bounds_hold() {
        let output = LengthSpec::LogNormal {
            median_tokens: 200.0,
            sigma: 0.5,
            min_tokens: 50,
            max_tokens: 900,
        };
        let mut lengths: Vec<u64> = Requests::new(&generated(ArrivalProcess::Even, 1.0, output), 3)
            .map(|request| request.output_tokens)
            .collect();
        lengths.sort_unstable();
        let median = lengths[lengths.len() / 2];
        // Standard error of a sample median: 1.25 · 200 · 0.5 / √20,000 = 0.9 tokens; four of them.
        assert!((196..=204).contains(&median), "{median}");
        assert!(lengths[0] >= 50 && lengths[lengths.len() - 1] <= 900);
    }
}
