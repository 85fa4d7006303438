//! Statistics of a workload in the style of ServeGen: rates over days, the clients of a window,
//! and histograms of lengths.
//!
//! Each of the three is a table that names its workloads in the first column:
//!
//! | table | columns |
//! |---|---|
//! | rates | `workload`, `t_s`, `rate_rps_total`, `n_active_clients`, `rate_weighted_cv`, `top1_share` |
//! | clients | `workload`, `client`, `t_s`, `rate_rps`, `cv`, `arrival_family`, `p1`, `p2` |
//! | lengths | `workload`, `t_window_s`, `field`, `bin_lo`, `bin_hi`, `prob` |
//!
//! A table is used whole or not at all: a histogram with a bin missing is another histogram.

use crate::{
    alias::plain,
    count,
    error::{ImportError, file_label, listed, quoted},
    table::{self, Header, Row},
    text,
};

/// The most entries of a file. Looking through them for each row stays quick below it.
const MOST_ENTRIES: usize = 1000;

/// Which of the three tables a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatisticsKind {
    /// Rates over time.
    Rates,
    /// Clients of a window.
    Clients,
    /// Histograms of lengths.
    Lengths,
}

/// Statistics read from a file, by workload in order of appearance.
#[derive(Clone, Debug, PartialEq)]
pub enum Statistics {
    /// Rates over time.
    Rates(Vec<RateSeries>),
    /// Clients of a window.
    Clients(Vec<ClientGroup>),
    /// Histograms of lengths.
    Lengths(Vec<LengthHistogram>),
}

/// A workload's rate, window by window.
#[derive(Clone, Debug, PartialEq)]
pub struct RateSeries {
    /// Name of the workload.
    pub workload: String,
    /// In the order of the file.
    pub windows: Vec<RateWindow>,
}

/// The rate of one window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateWindow {
    /// Start, in seconds of the recording.
    pub start_s: f64,
    /// All clients together.
    pub rate_per_s: f64,
    /// Clients that sent at all.
    pub active_clients: f64,
    /// Coefficient of variation of a client's gaps, weighted by rate.
    pub rate_weighted_cv: f64,
    /// The busiest client's share of the rate.
    pub top_client_share: f64,
}

/// The clients of a workload in one window.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientGroup {
    /// Name of the workload.
    pub workload: String,
    /// Start of the window, in seconds of the recording.
    pub start_s: f64,
    /// In the order of the file.
    pub clients: Vec<Client>,
}

/// How one client sends.
#[derive(Clone, Debug, PartialEq)]
pub struct Client {
    /// Its name or number.
    pub name: String,
    /// Requests per second.
    pub rate_per_s: f64,
    /// Coefficient of variation of the gaps.
    pub gap_cv: f64,
    /// Distribution fitted to the gaps.
    pub gaps: GapFamily,
    /// Its shape, the first parameter.
    pub shape: f64,
    /// Its scale in seconds, the second parameter.
    pub scale_s: f64,
}

/// A distribution of gaps between arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GapFamily {
    /// Gamma; an exponential is the one with shape 1.
    Gamma,
    /// Weibull.
    Weibull,
}

/// Lengths of a workload in one window.
#[derive(Clone, Debug, PartialEq)]
pub struct LengthHistogram {
    /// Name of the workload.
    pub workload: String,
    /// Start of the window, in seconds of the recording.
    pub start_s: f64,
    /// What is counted, for example `input_tokens`.
    pub field: String,
    /// In the order of the file.
    pub bins: Vec<LengthBin>,
}

/// One bin of a histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LengthBin {
    /// Least length in it.
    pub from: f64,
    /// Least length above it.
    pub to: f64,
    /// Share of the requests.
    pub share: f64,
}

impl StatisticsKind {
    const ALL: [Self; 3] = [Self::Rates, Self::Clients, Self::Lengths];

    /// What such a file holds, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rates => "rates over time",
            Self::Clients => "the rates of single clients",
            Self::Lengths => "histograms of lengths",
        }
    }

    const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Rates => &[
                "workload",
                "t_s",
                "rate_rps_total",
                "n_active_clients",
                "rate_weighted_cv",
                "top1_share",
            ],
            Self::Clients => {
                &["workload", "client", "t_s", "rate_rps", "cv", "arrival_family", "p1", "p2"]
            }
            Self::Lengths => &["workload", "t_window_s", "field", "bin_lo", "bin_hi", "prob"],
        }
    }
}

impl RateSeries {
    /// Mean over the windows that are there.
    #[must_use]
    pub fn mean_rate_per_s(&self) -> f64 {
        let sum: f64 = self.windows.iter().map(|window| window.rate_per_s).sum();
        sum / self.windows.len().max(1) as f64
    }

    /// The busiest window's rate over the mean; `None` where nothing was sent.
    #[must_use]
    pub fn peak_over_mean(&self) -> Option<f64> {
        let peak = self.windows.iter().map(|window| window.rate_per_s);
        let peak = peak.fold(0.0, sim_core::float::greater);
        let mean = self.mean_rate_per_s();
        (mean > 0.0).then(|| peak / mean)
    }
}

impl ClientGroup {
    /// All clients together.
    #[must_use]
    pub fn rate_per_s(&self) -> f64 {
        self.clients.iter().map(|client| client.rate_per_s).sum()
    }

    /// Mean coefficient of variation, weighted by rate; `None` where nothing was sent.
    #[must_use]
    pub fn rate_weighted_cv(&self) -> Option<f64> {
        let weighted: f64 =
            self.clients.iter().map(|client| client.rate_per_s * client.gap_cv).sum();
        let rate = self.rate_per_s();
        (rate > 0.0).then(|| weighted / rate)
    }
}

impl LengthHistogram {
    /// Mean, with each bin at its middle; `None` where all shares are 0.
    #[must_use]
    pub fn mean_tokens(&self) -> Option<f64> {
        let total: f64 = self.bins.iter().map(|bin| bin.share).sum();
        let sum: f64 = self.bins.iter().map(|bin| bin.share * 0.5 * (bin.from + bin.to)).sum();
        (total > 0.0).then(|| sum / total)
    }
}

/// Which statistics a text holds, if any.
pub(crate) fn kind(text: &str) -> Option<StatisticsKind> {
    find(text).map(|found| found.1)
}

fn find(text: &str) -> Option<(Header, StatisticsKind)> {
    table::headers(text).find_map(|header| {
        let kind = StatisticsKind::ALL
            .into_iter()
            .find(|kind| kind.columns().iter().all(|column| position(&header, column).is_some()))?;
        Some((header, kind))
    })
}

fn position(header: &Header, column: &str) -> Option<usize> {
    header.names.iter().position(|name| plain(name) == plain(column))
}

/// Read statistics of a workload. `name_hint` is the file's name and is used in messages only.
///
/// # Errors
/// The bytes are no text, none of the three tables, or a value in it cannot be used.
pub fn read(name_hint: Option<&str>, bytes: &[u8]) -> Result<Statistics, ImportError> {
    let file = file_label(name_hint);
    let decoded = text::decode(&file, bytes)?;
    let Some((header, kind)) = find(&decoded.text) else {
        return Err(no_header(file, &decoded.text));
    };
    let places: Vec<usize> =
        kind.columns().iter().filter_map(|column| position(&header, column)).collect();
    let mut statistics = match kind {
        StatisticsKind::Rates => Statistics::Rates(Vec::new()),
        StatisticsKind::Clients => Statistics::Clients(Vec::new()),
        StatisticsKind::Lengths => Statistics::Lengths(Vec::new()),
    };
    let mut rows = 0;
    for row in table::rows_under(&decoded.text, &header) {
        let fields = Fields { kind, places: &places, row: &row, comma: header.decimal_comma() };
        let misfit = row.misfit(header.names.len()).map_or(Ok(()), Err);
        misfit.and_then(|()| statistics.add(&fields)).map_err(|reason| ImportError::BadValue {
            file: file.clone(),
            line: row.line,
            reason,
        })?;
        rows += 1;
    }
    if rows == 0 {
        return Err(ImportError::NoRows { file });
    }
    Ok(statistics)
}

fn no_header(file: String, text: &str) -> ImportError {
    let first = table::headers(text).next();
    ImportError::MissingColumns {
        file,
        line: first.as_ref().map_or(1, |header| header.line),
        kind: "set of columns",
        missing: "statistics of a workload".to_owned(),
        found: first.map_or_else(|| listed::<&str>(&[]), |header| listed(&header.names)),
        remedy: format!(
            "Rates need {}; clients need {}; lengths need {}",
            StatisticsKind::Rates.columns().join(","),
            StatisticsKind::Clients.columns().join(","),
            StatisticsKind::Lengths.columns().join(",")
        ),
    }
}

/// The fields of a row in the order of the kind's columns.
struct Fields<'a> {
    kind: StatisticsKind,
    places: &'a [usize],
    row: &'a Row,
    comma: bool,
}

impl Fields<'_> {
    fn name(&self, column: usize) -> &'static str {
        self.kind.columns().get(column).copied().unwrap_or_default()
    }

    fn text(&self, column: usize) -> Result<&str, String> {
        let field = self.places.get(column).and_then(|&place| self.row.field(place));
        field
            .filter(|text| !text.is_empty())
            .ok_or_else(|| format!("no value for {}; give one", self.name(column)))
    }

    /// A number that is 0 or more.
    fn number(&self, column: usize) -> Result<f64, String> {
        let text = self.text(column)?;
        count::finite(text, self.comma).filter(|number| *number >= 0.0).ok_or_else(|| {
            format!("{} is {}; give a number, 0 or more", self.name(column), quoted(text))
        })
    }

    /// A number from 0 to 1.
    fn share(&self, column: usize) -> Result<f64, String> {
        let share = self.number(column)?;
        if share <= 1.0 {
            Ok(share)
        } else {
            Err(format!("{} is {share}; give a share from 0 to 1", self.name(column)))
        }
    }
}

impl Statistics {
    /// Add a row; the error names column, value and remedy.
    fn add(&mut self, row: &Fields<'_>) -> Result<(), String> {
        let workload = row.text(0)?.to_owned();
        match self {
            Self::Rates(all) => {
                let window = RateWindow {
                    start_s: row.number(1)?,
                    rate_per_s: row.number(2)?,
                    active_clients: row.number(3)?,
                    rate_weighted_cv: row.number(4)?,
                    top_client_share: row.share(5)?,
                };
                let series = entry(
                    all,
                    |series| series.workload == workload,
                    || RateSeries { workload: workload.clone(), windows: Vec::new() },
                )?;
                series.windows.push(window);
            }
            Self::Clients(all) => {
                let start_s = row.number(2)?;
                let client = client(row)?;
                let group = entry(
                    all,
                    |group| group.workload == workload && group.start_s == start_s,
                    || ClientGroup { workload: workload.clone(), start_s, clients: Vec::new() },
                )?;
                group.clients.push(client);
            }
            Self::Lengths(all) => {
                let start_s = row.number(1)?;
                let field = row.text(2)?.to_owned();
                let bin = bin(row)?;
                let histogram = entry(
                    all,
                    |known| {
                        known.workload == workload
                            && known.start_s == start_s
                            && known.field == field
                    },
                    || LengthHistogram {
                        workload: workload.clone(),
                        start_s,
                        field: field.clone(),
                        bins: Vec::new(),
                    },
                )?;
                histogram.bins.push(bin);
            }
        }
        Ok(())
    }
}

fn client(row: &Fields<'_>) -> Result<Client, String> {
    let family = row.text(5)?;
    Ok(Client {
        name: row.text(1)?.to_owned(),
        rate_per_s: row.number(3)?,
        gap_cv: row.number(4)?,
        gaps: match plain(family).as_str() {
            "gamma" => GapFamily::Gamma,
            "weibull" => GapFamily::Weibull,
            _ => {
                return Err(format!(
                    "arrival_family is {}; known are Gamma and Weibull",
                    quoted(family)
                ));
            }
        },
        shape: row.number(6)?,
        scale_s: row.number(7)?,
    })
}

fn bin(row: &Fields<'_>) -> Result<LengthBin, String> {
    let bin = LengthBin { from: row.number(3)?, to: row.number(4)?, share: row.share(5)? };
    if bin.to > bin.from {
        Ok(bin)
    } else {
        Err(format!("bin_hi is {}, not above bin_lo, {}; swap or mend them", bin.to, bin.from))
    }
}

/// The last entry that fits, or a new one: files list a workload's rows together, so that looking
/// from the end finds it at once.
fn entry<T>(
    all: &mut Vec<T>,
    fits: impl Fn(&T) -> bool,
    new: impl FnOnce() -> T,
) -> Result<&mut T, String> {
    let index = match all.iter().rposition(fits) {
        Some(index) => index,
        None if all.len() >= MOST_ENTRIES => {
            return Err(format!(
                "more than {MOST_ENTRIES} workloads, windows and fields; is the workload's column \
                 the right one?"
            ));
        }
        None => {
            all.push(new());
            all.len() - 1
        }
    };
    Ok(&mut all[index])
}
