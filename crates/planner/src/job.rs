//! One run of a question, and how jobs are put to the simulator.

use sim_core::{Keep, Progress, Run, Setup, SetupError, Simulation, engine::Attendance, random};

/// An independent run.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// What to simulate.
    pub setup: Setup,
    /// How clients and the line behave.
    pub attendance: Attendance,
}

impl Job {
    /// Simulate the whole job at once.
    ///
    /// # Errors
    /// The set-up holds a number outside its domain.
    pub fn run(&self) -> Result<Run, SetupError> {
        let mut simulation = self.start()?;
        while simulation.advance(u64::MAX) != Progress::Done {}
        Ok(simulation.finish())
    }

    /// Prepare the job, to be advanced piece by piece.
    ///
    /// # Errors
    /// The set-up holds a number outside its domain.
    pub fn start(&self) -> Result<Simulation, SetupError> {
        Simulation::attended(&self.setup, &self.attendance, Keep::default())
    }
}

/// `base` at another rate and replication, in an open loop where nobody reacts. A replay is given at the speed that makes 1 req/s.
pub(crate) fn job_at(base: &Setup, rate_per_s: f64, replication: u32) -> Job {
    let mut setup = base.clone();
    setup.workload.source.set_rate(rate_per_s);
    setup.seed = seed_of(base.seed, replication);
    Job { setup, attendance: Attendance::OPEN }
}

/// The first replication has the scenario's own seed; the others are derived from it.
pub(crate) fn seed_of(seed: u64, replication: u32) -> u64 {
    if replication == 0 { seed } else { random::split_mix(seed ^ (u64::from(replication) << 32)) }
}
