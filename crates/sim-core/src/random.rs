//! Portable random numbers: one named stream per purpose, and samplers on `libm`.
//!
//! Each purpose draws from a stream of its own, derived from the seed, so that two scenarios that
//! differ in one thing see the same users in everything else (common random numbers). The samplers
//! are ours because rand_distr's bits depend on which crate of the build turns on
//! `num-traits/std`; rand_distr is their oracle in the tests.

use rand::{Rng, SeedableRng, rngs::Xoshiro256PlusPlus};

use crate::float::from_count;

/// What a stream of random numbers is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Gaps between arrivals.
    Arrivals,
    /// Prompt lengths.
    InputTokens,
    /// Output lengths.
    OutputTokens,
    /// Service times, or the noise on them.
    Service,
    /// Which class of a mix a request belongs to.
    Class,
    /// Lengths of bursts and lulls.
    Bursts,
    /// Waits before another attempt.
    RetryWait,
    /// Whether a client turns its own attempt away.
    Throttle,
    /// Times between an answer and the next request of the same user.
    Think,
    /// What becomes of drafted tokens.
    Acceptance,
    /// How long an attempt is waited for.
    Patience,
    /// How long the stages of a replica's start take.
    StartUp,
    /// How long a node takes to come.
    Provisioning,
    /// Which replica a router picks.
    Routing,
    /// How many turns a session has.
    Sessions,
    /// How long a replica or a node lasts.
    Failures,
}

impl Purpose {
    /// A constant per purpose; never renumbered, since published numbers depend on it.
    const fn id(self) -> u64 {
        match self {
            Self::Arrivals => 1,
            Self::InputTokens => 2,
            Self::OutputTokens => 3,
            Self::Service => 4,
            Self::Class => 5,
            Self::Bursts => 6,
            Self::RetryWait => 7,
            Self::Throttle => 8,
            Self::Think => 9,
            Self::Acceptance => 10,
            Self::Patience => 11,
            Self::StartUp => 13,
            Self::Provisioning => 14,
            Self::Routing => 15,
            Self::Sessions => 12,
            Self::Failures => 16,
        }
    }
}

/// The stream of one purpose under one seed.
#[derive(Clone, Debug)]
pub struct Stream {
    generator: Xoshiro256PlusPlus,
    /// The polar method makes normals in pairs; the second waits here.
    spare_normal: Option<f64>,
}

impl Stream {
    /// Derive the stream of `purpose` from `seed`.
    #[must_use]
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        let derived = split_mix(seed ^ split_mix(purpose.id()));
        Self { generator: Xoshiro256PlusPlus::seed_from_u64(derived), spare_normal: None }
    }

    /// A stream for one request alone: its draws do not depend on the order of service.
    #[must_use]
    pub fn of_request(seed: u64, purpose: Purpose, index: u64) -> Self {
        Self::new(seed ^ split_mix(index.wrapping_mul(2) + 1), purpose)
    }

    /// Uniform in (0, 1], with 53 bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        from_count((self.generator.next_u64() >> 11) + 1) * (1.0 / (1_u64 << 53) as f64)
    }

    /// Exponential with mean 1, by inversion.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform())
    }

    /// Standard normal, by Marsaglia's polar method.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare_normal.take() {
            return spare;
        }
        let [first, second] = self.normal_pair();
        self.spare_normal = Some(second);
        first
    }

    /// As many standard normals as there is room for: those that one call after the other of
    /// [`normal`](Self::normal) would give.
    #[inline]
    pub fn normals(&mut self, room: &mut [f64]) {
        let spares = usize::from(self.spare_normal.is_some()).min(room.len());
        let (spare, rest) = room.split_at_mut(spares);
        for spare in spare {
            *spare = self.normal();
        }
        let (pairs, last) = rest.as_chunks_mut::<2>();
        for pair in pairs {
            *pair = self.normal_pair();
        }
        if let [last] = last {
            *last = self.normal();
        }
    }

    #[inline]
    fn normal_pair(&mut self) -> [f64; 2] {
        loop {
            let x = 2.0 * self.uniform() - 1.0;
            let y = 2.0 * self.uniform() - 1.0;
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let scale = (-2.0 * libm::log(square) / square).sqrt();
                return [x * scale, y * scale];
            }
        }
    }

    /// Gamma with the given shape and mean 1 (scale `1 / shape`).
    ///
    /// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000); below shape 1
    /// by their boost `G(k) = G(k + 1) · U^(1/k)`.
    pub fn gamma_of_mean_one(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let boost = libm::pow(self.uniform(), 1.0 / shape);
            return self.gamma_from_one(shape + 1.0) * boost / shape;
        }
        self.gamma_from_one(shape) / shape
    }

    /// Gamma with scale 1 and shape at least 1.
    fn gamma_from_one(&mut self, shape: f64) -> f64 {
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let root = 1.0 + c * x;
            if root <= 0.0 {
                continue;
            }
            let v = root * root * root;
            let u = self.uniform();
            if libm::log(u) < 0.5 * x * x + d - d * v + d * libm::log(v) {
                return d * v;
            }
        }
    }
}

/// The output function of SplitMix64 (Steele, Lea, Flood 2014): spreads nearby seeds apart.
#[must_use]
pub const fn split_mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{Continuous, ContinuousCDF, Exp, Gamma, Normal};

    const SAMPLES: usize = 20_000;
    /// Kolmogorov-Smirnov at 20,000 samples: 1.95 / √n rejects a true hypothesis once in 1,000.
    const KS_LIMIT: f64 = 1.95 / 141.421_356;

    fn ks_distance(mut samples: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
        samples.sort_unstable_by(f64::total_cmp);
        let n = samples.len() as f64;
        samples
            .iter()
            .enumerate()
            .map(|(i, &x)| {
                let f = cdf(x);
                crate::float::greater(f - i as f64 / n, (i + 1) as f64 / n - f)
            })
            .fold(0.0, crate::float::greater)
    }

    #[test]
    fn exponential_follows_its_distribution() {
        let mut stream = Stream::new(1, Purpose::Arrivals);
        let samples = (0..SAMPLES).map(|_| stream.exponential()).collect();
        let law = Exp::new(1.0).unwrap();
        assert!(ks_distance(samples, |x| law.cdf(x)) < KS_LIMIT);
    }

    #[test]
    fn normal_follows_its_distribution() {
        let mut stream = Stream::new(2, Purpose::InputTokens);
        let samples = (0..SAMPLES).map(|_| stream.normal()).collect();
        let law = Normal::new(0.0, 1.0).unwrap();
        assert!(ks_distance(samples, |x| law.cdf(x)) < KS_LIMIT);
        assert!(law.pdf(0.0) > 0.39);
    }

    #[test]
    fn many_normals_are_those_of_one_call_after_the_other() {
        let (mut single, mut block) =
            (Stream::new(5, Purpose::InputTokens), Stream::new(5, Purpose::InputTokens));
        for length in [3, 1, 0, 4, 7, 2, 1, 1, 64] {
            let mut drawn = vec![0.0; length];
            block.normals(&mut drawn);
            let expected: Vec<f64> = (0..length).map(|_| single.normal()).collect();
            assert_eq!(drawn, expected);
            // Calls of both kinds mix.
            assert_eq!(block.normal(), single.normal());
        }
    }

    #[test]
    fn gamma_follows_its_distribution_on_both_sides_of_one() {
        for (seed, shape) in [(3, 0.25), (4, 0.5), (5, 1.0), (6, 4.0)] {
            let mut stream = Stream::new(seed, Purpose::Arrivals);
            let samples = (0..SAMPLES).map(|_| stream.gamma_of_mean_one(shape)).collect();
            let law = Gamma::new(shape, shape).unwrap();
            let distance = ks_distance(samples, |x| law.cdf(x));
            assert!(distance < KS_LIMIT, "shape {shape}: {distance}");
        }
    }

    /// Two-sample test against rand_distr, the independent implementation.
    #[test]
    fn samplers_agree_with_rand_distr() {
        use rand_distr::{Distribution, Exp1, Gamma as TheirGamma};
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(11);
        let mut theirs: Vec<f64> = (0..SAMPLES).map(|_| Exp1.sample(&mut generator)).collect();
        let mut stream = Stream::new(12, Purpose::Arrivals);
        let ours = (0..SAMPLES).map(|_| stream.exponential()).collect();
        assert!(two_sample_distance(ours, &mut theirs) < KS_LIMIT * 2_f64.sqrt());

        let law = TheirGamma::new(0.5, 2.0).unwrap();
        let mut theirs: Vec<f64> = (0..SAMPLES).map(|_| law.sample(&mut generator)).collect();
        let ours = (0..SAMPLES).map(|_| stream.gamma_of_mean_one(0.5)).collect();
        assert!(two_sample_distance(ours, &mut theirs) < KS_LIMIT * 2_f64.sqrt());
    }

    fn two_sample_distance(ours: Vec<f64>, theirs: &mut [f64]) -> f64 {
        theirs.sort_unstable_by(f64::total_cmp);
        let n = theirs.len() as f64;
        ks_distance(ours, |x| theirs.partition_point(|&y| y <= x) as f64 / n)
    }

    #[test]
    fn streams_of_two_purposes_differ_and_repeat() {
        let draw = |seed, purpose| Stream::new(seed, purpose).uniform();
        assert_ne!(draw(7, Purpose::Arrivals), draw(7, Purpose::InputTokens));
        assert_ne!(draw(7, Purpose::Arrivals), draw(8, Purpose::Arrivals));
        assert_eq!(draw(7, Purpose::Arrivals), draw(7, Purpose::Arrivals));
    }
}
