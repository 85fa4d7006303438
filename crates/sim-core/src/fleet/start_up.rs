//! How long a replica takes to start, stage by stage.

use crate::{
    random::{Purpose, Stream},
    setup::SetupError,
};

/// How long a stage takes, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StageTime {
    /// Always as long.
    Fixed(f64),
    /// Lognormal, by its mean and its coefficient of variation (standard deviation over mean).
    Lognormal {
        /// Mean in seconds.
        mean_s: f64,
        /// Coefficient of variation.
        cv: f64,
    },
}

impl StageTime {
    /// No time at all.
    pub const NONE: Self = Self::Fixed(0.0);

    /// Mean in seconds.
    #[must_use]
    pub const fn mean_s(&self) -> f64 {
        match *self {
            Self::Fixed(seconds) | Self::Lognormal { mean_s: seconds, .. } => seconds,
        }
    }

    /// A duration from `stream`: `exp(μ + σz)` with `σ² = ln(1 + cv²)` and `μ = ln(mean) − σ²/2`.
    pub fn draw_s(&self, stream: &mut Stream) -> f64 {
        match *self {
            Self::Fixed(seconds) => seconds,
            Self::Lognormal { mean_s, cv } => {
                let variance = libm::log1p(cv * cv);
                mean_s * libm::exp(variance.sqrt() * stream.normal() - variance / 2.0)
            }
        }
    }

    /// # Errors
    /// A mean or a variation that is negative or not finite.
    pub fn check(&self, field: &'static str) -> Result<(), SetupError> {
        let values = match *self {
            Self::Fixed(seconds) => [seconds, 0.0],
            Self::Lognormal { mean_s, cv } => [mean_s, cv],
        };
        for value in values {
            if !(0.0..f64::INFINITY).contains(&value) {
                let requirement = "0 or more, and finite";
                return Err(SetupError::OutOfDomain { field, value, requirement });
            }
        }
        Ok(())
    }
}

/// The timed stages of a start, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StartStage {
    /// The container's image comes to the node.
    ImagePull,
    /// Weights come to the GPU: from a registry, a bucket, a disk or the page cache.
    Weights,
    /// The engine's process: imports, distributed start, profiling of memory, CUDA graphs.
    EngineStart,
    /// Kernels are compiled, or found compiled.
    Compile,
}

impl StartStage {
    /// All of them, in order.
    pub const ALL: [Self; 4] = [Self::ImagePull, Self::Weights, Self::EngineStart, Self::Compile];
}

/// How long each stage of a start takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StartUp {
    /// Image pull onto a node that has not had it.
    pub image_pull: StageTime,
    /// Image pull onto one that has.
    pub image_pull_cached: StageTime,
    /// Weights.
    pub weights: StageTime,
    /// The engine's process.
    pub engine_start: StageTime,
    /// Compilation on a node that has not run the model.
    pub compile: StageTime,
    /// Compilation on one that has, and keeps the cache.
    pub compile_cached: StageTime,
    /// Period of the readiness probe in seconds: the replica is ready at the first probe, counted
    /// from when its container began, after it could serve. 0 for at once.
    pub readiness_period_s: f64,
}

impl StartUp {
    /// A start that takes so long in all, whatever is cached.
    #[must_use]
    pub const fn fixed(total_s: f64) -> Self {
        Self {
            image_pull: StageTime::NONE,
            image_pull_cached: StageTime::NONE,
            weights: StageTime::NONE,
            engine_start: StageTime::Fixed(total_s),
            compile: StageTime::NONE,
            compile_cached: StageTime::NONE,
            readiness_period_s: 0.0,
        }
    }

    /// The time of a stage on a node that has the image, and the compiled kernels, or not.
    #[must_use]
    pub const fn time_of(
        &self,
        stage: StartStage,
        has_image: bool,
        has_kernels: bool,
    ) -> StageTime {
        match stage {
            StartStage::ImagePull if has_image => self.image_pull_cached,
            StartStage::ImagePull => self.image_pull,
            StartStage::Weights => self.weights,
            StartStage::EngineStart => self.engine_start,
            StartStage::Compile if has_kernels => self.compile_cached,
            StartStage::Compile => self.compile,
        }
    }

    /// Mean time from a node being there to the replica being able to serve, in seconds.
    #[must_use]
    pub fn mean_s(&self, has_image: bool, has_kernels: bool) -> f64 {
        let stages = StartStage::ALL.iter();
        stages.map(|&stage| self.time_of(stage, has_image, has_kernels).mean_s()).sum()
    }

    /// How long `stage` of replica `replica` takes, in seconds: a draw of its own, whatever else
    /// happens in the fleet.
    #[must_use]
    pub fn draw_s(
        &self,
        (seed, replica): (u64, u64),
        stage: StartStage,
        (has_image, has_kernels): (bool, bool),
    ) -> f64 {
        let index = replica * StartStage::ALL.len() as u64 + stage as u64;
        let mut stream = Stream::of_request(seed, Purpose::StartUp, index);
        self.time_of(stage, has_image, has_kernels).draw_s(&mut stream)
    }

    /// # Errors
    /// A time that is negative or not finite.
    pub fn check(&self) -> Result<(), SetupError> {
        self.image_pull.check("start.image_pull")?;
        self.image_pull_cached.check("start.image_pull_cached")?;
        self.weights.check("start.weights")?;
        self.engine_start.check("start.engine_start")?;
        self.compile.check("start.compile")?;
        self.compile_cached.check("start.compile_cached")?;
        StageTime::Fixed(self.readiness_period_s).check("start.readiness_period")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lognormal_has_its_mean_and_variation() {
        let time = StageTime::Lognormal { mean_s: 120.0, cv: 0.5 };
        let mut stream = Stream::new(5, Purpose::StartUp);
        let draws: Vec<f64> = (0..20_000).map(|_| time.draw_s(&mut stream)).collect();
        let mean = draws.iter().sum::<f64>() / 20_000.0;
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 20_000.0;
        // Four standard errors of the mean.
        assert!((mean - 120.0).abs() < 4.0 * 60.0 / 20_000_f64.sqrt(), "{mean}");
        assert!((variance.sqrt() / mean - 0.5).abs() < 0.02, "{}", variance.sqrt() / mean);
    }

    #[test]
    fn each_replica_and_stage_has_its_own_draw() {
        let time = StageTime::Lognormal { mean_s: 10.0, cv: 1.0 };
        let start_up = StartUp { image_pull: time, weights: time, ..StartUp::fixed(1.0) };
        let draw = |replica, stage| start_up.draw_s((7, replica), stage, (false, false));
        assert_eq!(draw(3, StartStage::Weights), draw(3, StartStage::Weights));
        assert_ne!(draw(3, StartStage::Weights), draw(4, StartStage::Weights));
        assert_ne!(draw(3, StartStage::Weights), draw(3, StartStage::ImagePull));
        assert_eq!(draw(3, StartStage::EngineStart), 1.0);
    }

    #[test]
    fn impossible_times_are_named() {
        let bad = StartUp { compile: StageTime::Fixed(-1.0), ..StartUp::fixed(1.0) };
        let error = bad.check().unwrap_err().to_string();
        assert!(error.starts_with("start.compile is -1"), "{error}");
    }
}
