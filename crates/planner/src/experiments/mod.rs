//! Experiments: claims about serving fleets, each with a set-up that shows whether it holds.
//!
//! A claim is stated in words, a few fleets run that differ in one thing, and checks on their figures
//! say what holds. Seeds are fixed, so that an experiment always comes out the same.

mod control;
mod lab;
mod pools;
mod signals;
mod starts;
mod theory;

use sim_core::SetupError;

/// A claim, and how it is tried.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// What to call it by.
    pub name: &'static str,
    /// What is claimed.
    pub claim: &'static str,
    /// What runs.
    pub setting: &'static str,
    run: fn() -> Result<Findings, SetupError>,
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The figures.
    pub tables: Vec<Table>,
    /// What follows from them.
    pub checks: Vec<Check>,
    /// What else there is to say of it.
    pub remark: &'static str,
}

/// Figures of cases that differ in one thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// What the rows are.
    pub rows_are: &'static str,
    /// What the figures are.
    pub columns: Vec<Column>,
    /// One per case.
    pub rows: Vec<Row>,
}

/// A kind of figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// What it is.
    pub name: &'static str,
    /// What it is in.
    pub unit: Unit,
}

/// What a figure is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A whole number of things.
    Count,
    /// A number.
    Number,
    /// A share, 0 to 1.
    Share,
    /// Seconds.
    Seconds,
    /// Minutes.
    Minutes,
    /// Hours of one GPU.
    GpuHours,
}

/// One case and its figures, one per column; NaN where there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Which case.
    pub case: String,
    /// Its figures.
    pub values: Vec<f64>,
}

/// A sentence about the figures, and whether it is true of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The sentence.
    pub what: String,
    /// Whether it is true.
    pub holds: bool,
}

impl Findings {
    /// Whether everything is as claimed.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.checks.iter().all(|check| check.holds)
    }
}

impl Table {
    fn new(rows_are: &'static str, columns: &[(&'static str, Unit)]) -> Self {
        let columns = columns.iter().map(|&(name, unit)| Column { name, unit }).collect();
        Self { rows_are, columns, rows: Vec::new() }
    }

    fn row(&mut self, case: impl Into<String>, values: &[f64]) {
        debug_assert_eq!(values.len(), self.columns.len());
        self.rows.push(Row { case: case.into(), values: values.to_vec() });
    }
}

impl Check {
    fn new(what: impl Into<String>, holds: bool) -> Self {
        Self { what: what.into(), holds }
    }
}

impl Experiment {
    /// Try the claim.
    ///
    /// # Errors
    /// A set-up that is none; those of the list are.
    pub fn run(&self) -> Result<Findings, SetupError> {
        (self.run)()
    }
}

/// All of them, in the order in which one would read them.
#[must_use]
pub fn experiments() -> Vec<Experiment> {
    [
        &signals::EXPERIMENTS[..],
        &control::EXPERIMENTS[..],
        &starts::EXPERIMENTS[..],
        &theory::EXPERIMENTS[..],
        &pools::EXPERIMENTS[..],
    ]
    .concat()
}
