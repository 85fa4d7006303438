//! What a GPU-hour costs: as typed, or as the catalogue has it.

use catalog::Device;
use quantity::Unit;

use crate::cost::Dollars;

/// Most that an hour of a GPU may cost, dollars.
const MOST: f64 = 1e6;
/// Least mean load over the planned one.
const LEAST_LOAD: f64 = 0.001;

/// What was typed about money cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// It is no price, and no range of prices.
    #[error(
        "price={text}: {problem} Give dollars for an hour of one GPU, for example price=2.5, price=2..4 or price=2..2.8..4."
    )]
    Price {
        /// What was typed.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// It is no part of a load.
    #[error(
        "utilisation={text}: {problem} Give the mean load as a part of the planned one, for example utilisation=40%."
    )]
    Utilisation {
        /// What was typed.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl Dollars {
    /// `2.5`, `2..4`, `2..3..4`: a price, its range, or its range with the typical price inside, in
    /// dollars for an hour of one GPU.
    ///
    /// # Errors
    /// [`MoneyError::Price`] where it is none of these.
    pub fn read(text: &str) -> Result<Self, MoneyError> {
        let wrong = |problem: String| MoneyError::Price { text: text.to_owned(), problem };
        let amount = |part: &str| {
            let part = part.trim().trim_start_matches('$');
            let value = quantity::parse(part, Unit::DollarsPerHour)
                .map_err(|error| wrong(format!("{error}.")))?;
            let is_price = value > 0.0 && value <= MOST;
            is_price
                .then_some(value)
                .ok_or_else(|| wrong("A price is above $0 and at most $1,000,000.".to_owned()))
        };
        let parts = text.split("..").map(amount).collect::<Result<Vec<f64>, _>>()?;
        match parts[..] {
            [one] => Ok(Self::exactly(one)),
            [low, high] if low <= high => Ok(Self::between(low, high)),
            [low, typical, high] if low <= typical && typical <= high => {
                Ok(Self { low, typical, high })
            }
            [_, _] | [_, _, _] => Err(wrong("The lower price comes first.".to_owned())),
            _ => Err(wrong("There are at most three prices.".to_owned())),
        }
    }

    /// The shortest text that [`Self::read`] makes the same of.
    #[must_use]
    pub fn written(&self) -> String {
        let plain = |amount: f64| quantity::plain(amount, 0);
        if self.is_exact() {
            return plain(self.typical);
        }
        let ends = [self.low, self.high].map(plain);
        if *self == Self::between(self.low, self.high) {
            return ends.join("..");
        }
        [&ends[0], "..", &plain(self.typical), "..", &ends[1]].concat()
    }

    /// The catalogue's range for a GPU; `None` where it has no price.
    #[must_use]
    pub fn of_catalogue(device: &Device) -> Option<Self> {
        let (low, high) = device.price_per_hour.as_ref()?;
        Some(Self::between(low.value, high.value))
    }
}

/// `40%`: the mean load as a part of the planned one, 0.001 to 1.
///
/// # Errors
/// [`MoneyError::Utilisation`] where it is no such part.
pub fn read_average_load(text: &str) -> Result<f64, MoneyError> {
    let wrong = |problem: String| MoneyError::Utilisation { text: text.to_owned(), problem };
    let value = quantity::parse(text, Unit::Share).map_err(|error| wrong(format!("{error}.")))?;
    let is_part = (LEAST_LOAD..=1.0).contains(&value);
    is_part.then_some(value).ok_or_else(|| wrong("It is from 0.1 % to 100 %.".to_owned()))
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "a test stops at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn prices_are_read_as_ranges() {
        let price = |text| Dollars::read(text).expect("a price");
        assert_eq!(price("2.5"), Dollars::exactly(2.5));
        assert_eq!(price("$2..$4.5"), Dollars { low: 2.0, typical: 3.0, high: 4.5 });
        assert_eq!(price("2..2.8..4"), Dollars { low: 2.0, typical: 2.8, high: 4.0 });
        for bad in ["", "0", "-2", "4..2", "2..1..4", "1..2..3..4", "many", "1e9", "2 s"] {
            let message = Dollars::read(bad).expect_err(bad).to_string();
            assert!(message.starts_with(&format!("price={bad}: ")), "{message}");
            assert!(message.contains("for example price=2.5"), "{message}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for (text, written) in
            [("$2.50", "2.5"), ("2..4.50", "2..4.5"), (" 2 .. 2.8 .. 4 ", "2..2.8..4")]
        {
            let price = Dollars::read(text).expect("a price");
            assert_eq!(price.written(), written);
            assert_eq!(Dollars::read(written).expect("a price"), price);
        }
    }

    #[test]
    fn the_mean_load_is_a_part() {
        assert_eq!((read_average_load("40%"), read_average_load("0.4")), (Ok(0.4), Ok(0.4)));
        for bad in ["0", "120%", "-1", "x"] {
            assert!(read_average_load(bad).is_err(), "{bad}");
        }
    }
}
