//! Units and what they measure.

/// A unit in which a value is kept, shown or typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Time in seconds.
    Seconds,
    /// Time in thousandths of a second.
    Milliseconds,
    /// Requests per second.
    RequestsPerSecond,
    /// Tokens.
    Tokens,
    /// Tokens per second.
    TokensPerSecond,
    /// A part of a whole, 0 to 1, shown as a percentage.
    Share,
    /// A part of a whole in hundredths, 0 to 100.
    Percent,
    /// Bytes, shown with a binary prefix.
    Bytes,
    /// 2³⁰ bytes.
    Gibibytes,
    /// 10⁹ bytes: only where a vendor counts so.
    Gigabytes,
    /// Bytes per second, shown with a decimal prefix.
    BytesPerSecond,
    /// Floating-point operations.
    Flops,
    /// Floating-point operations per second.
    FlopsPerSecond,
    /// Parameters of a model, shown in billions.
    Parameters,
    /// Whole things: requests, sequences, runs.
    Count,
    /// GPUs.
    Gpus,
    /// Money in dollars.
    Dollars,
    /// Price in dollars per hour.
    DollarsPerHour,
    /// A plain number: a shape, a sigma, a factor.
    Number,
}

/// What a unit measures. Units of one dimension convert into each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    /// Base: seconds.
    Time,
    /// Base: requests per second.
    RequestRate,
    /// Base: tokens.
    Tokens,
    /// Base: tokens per second.
    TokenRate,
    /// Base: a share of 1.
    Share,
    /// Base: bytes.
    Memory,
    /// Base: bytes per second.
    Bandwidth,
    /// Base: floating-point operations.
    Work,
    /// Base: floating-point operations per second.
    WorkRate,
    /// Base: parameters.
    Parameters,
    /// Base: pieces.
    Count,
    /// Base: dollars.
    Money,
    /// Base: dollars per hour.
    Price,
    /// Base: one.
    Number,
}

impl Unit {
    /// What the unit measures.
    #[must_use]
    pub const fn dimension(self) -> Dimension {
        match self {
            Self::Seconds | Self::Milliseconds => Dimension::Time,
            Self::RequestsPerSecond => Dimension::RequestRate,
            Self::Tokens => Dimension::Tokens,
            Self::TokensPerSecond => Dimension::TokenRate,
            Self::Share | Self::Percent => Dimension::Share,
            Self::Bytes | Self::Gibibytes | Self::Gigabytes => Dimension::Memory,
            Self::BytesPerSecond => Dimension::Bandwidth,
            Self::Flops => Dimension::Work,
            Self::FlopsPerSecond => Dimension::WorkRate,
            Self::Parameters => Dimension::Parameters,
            Self::Count | Self::Gpus => Dimension::Count,
            Self::Dollars => Dimension::Money,
            Self::DollarsPerHour => Dimension::Price,
            Self::Number => Dimension::Number,
        }
    }

    /// How many base units of its dimension one of this unit is.
    #[must_use]
    pub const fn in_base(self) -> f64 {
        match self {
            Self::Milliseconds => 1e-3,
            Self::Percent => 1e-2,
            Self::Gibibytes => 1_073_741_824.0,
            Self::Gigabytes => 1e9,
            _ => 1.0,
        }
    }

    /// The text that follows a number in this unit; empty where none does.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::RequestsPerSecond => "req/s",
            Self::Tokens => "tokens",
            Self::TokensPerSecond => "tok/s",
            Self::Share | Self::Percent => "%",
            Self::Bytes => "B",
            Self::Gibibytes => "GiB",
            Self::Gigabytes => "GB",
            Self::BytesPerSecond => "B/s",
            Self::Flops => "FLOP",
            Self::FlopsPerSecond => "FLOP/s",
            Self::Gpus => "GPUs",
            Self::Dollars => "$",
            Self::DollarsPerHour => "$ / h",
            Self::Parameters | Self::Count | Self::Number => "",
        }
    }
}

impl Dimension {
    /// The dimension with its article, as a message names it: “a time”.
    #[must_use]
    pub const fn with_article(self) -> &'static str {
        match self {
            Self::Time => "a time",
            Self::RequestRate => "a request rate",
            Self::Tokens => "a number of tokens",
            Self::TokenRate => "a token rate",
            Self::Share => "a share",
            Self::Memory => "a memory size",
            Self::Bandwidth => "a bandwidth",
            Self::Work => "an amount of arithmetic",
            Self::WorkRate => "a speed of arithmetic",
            Self::Parameters => "a number of parameters",
            Self::Count => "a count",
            Self::Money => "an amount of money",
            Self::Price => "a price per hour",
            Self::Number => "a plain number",
        }
    }

    /// Which units a person may write, as a message says it.
    #[must_use]
    pub const fn how_to_write(self) -> &'static str {
        match self {
            Self::Time => "write ms or s",
            Self::RequestRate => "write req/s",
            Self::Tokens => "write tokens, or no unit",
            Self::TokenRate => "write tok/s",
            Self::Share => "write %, or a number from 0 to 1",
            Self::Memory => "write GiB or GB",
            Self::Bandwidth => "write GB/s or TB/s",
            Self::Work => "write GFLOP or TFLOP",
            Self::WorkRate => "write TFLOP/s",
            Self::Parameters => "write 7B or 7e9",
            Self::Count => "write a number without a unit",
            Self::Money => "write dollars",
            Self::Price => "write dollars per hour",
            Self::Number => "write a number without a unit",
        }
    }
}
