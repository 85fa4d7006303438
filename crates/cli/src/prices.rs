//! What is typed about money, and what the catalogue says where nothing is.

use planner::Dollars;
use quantity::Unit;
use report::Price;
use scenario::Scenario;

use crate::failure::Failure;

/// What is typed about money beside a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MoneyWords {
    /// Dollars for an hour of a GPU.
    price: Option<Dollars>,
    /// Mean load over the planned one, 0 to 1.
    pub(crate) average_load: Option<f64>,
}

/// Keys of these words.
pub(crate) const KEYS: [&str; 2] = ["price", "utilisation"];

/// The key that a word means, whatever its spelling.
pub(crate) fn key(word: &str) -> Option<&'static str> {
    match word.trim() {
        "price" => Some("price"),
        "utilisation" | "utilization" => Some("utilisation"),
        _ => None,
    }
}

impl MoneyWords {
    /// Take one word in.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), Failure> {
        if key == "price" {
            self.price = Some(price(value)?);
        } else {
            self.average_load = Some(average_load(value)?);
        }
        Ok(())
    }

    /// What an hour of the scenario's GPU costs; `None` where nobody says.
    pub(crate) fn price_of(&self, scenario: &Scenario) -> Option<Price> {
        if let Some(per_hour) = self.price {
            return Some(Price { per_hour, kind: "given", source: "typed".to_owned() });
        }
        Price::of_catalogue(&catalog::device(&scenario.gpu).ok()?)
    }
}

/// `h100-sxm=2..4`: a GPU of the catalogue and its price.
pub(crate) fn price_of_gpu(text: &str) -> Result<(catalog::Device, Dollars), Failure> {
    let (name, dollars) = text.split_once('=').ok_or_else(|| {
        Failure::input(format!(
            "--price {text}: write a GPU and its price, for example h100-sxm=2..4."
        ))
    })?;
    let device = catalog::device(name)
        .map_err(|error| Failure::input(format!("--price {text}: {error}.")))?;
    Ok((device, price(dollars)?))
}

/// `2.5`, `2..4`, `2..3..4`: a price, its range, or its range with the typical price inside.
fn price(text: &str) -> Result<Dollars, Failure> {
    let wrong = |problem: String| {
        Failure::input(format!(
            "price={text}: {problem} Give dollars for an hour of one GPU, for example price=2.5, price=2..4 or price=2..2.8..4."
        ))
    };
    let amount = |part: &str| {
        let part = part.trim().trim_start_matches('$');
        let value = quantity::parse(part, Unit::DollarsPerHour)
            .map_err(|error| wrong(format!("{error}.")))?;
        let is_price = value > 0.0 && value <= 1e6;
        is_price
            .then_some(value)
            .ok_or_else(|| wrong("A price is above $0 and at most $1,000,000.".to_owned()))
    };
    let parts = text.split("..").map(amount).collect::<Result<Vec<f64>, _>>()?;
    match parts[..] {
        [one] => Ok(Dollars::exactly(one)),
        [low, high] if low <= high => Ok(Dollars::between(low, high)),
        [low, typical, high] if low <= typical && typical <= high => {
            Ok(Dollars { low, typical, high })
        }
        [_, _] | [_, _, _] => Err(wrong("The lower price comes first.".to_owned())),
        _ => Err(wrong("There are at most three prices.".to_owned())),
    }
}

fn average_load(text: &str) -> Result<f64, Failure> {
    let wrong = |problem: String| {
        Failure::input(format!(
            "utilisation={text}: {problem} Give the mean load as a part of the planned one, for example utilisation=40%."
        ))
    };
    let value = quantity::parse(text, Unit::Share).map_err(|error| wrong(format!("{error}.")))?;
    let is_part = (0.001..=1.0).contains(&value);
    is_part.then_some(value).ok_or_else(|| wrong("It is from 0.1 % to 100 %.".to_owned()))
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "a test stops at the first surprise")]
mod tests {
    use super::*;

    fn read(key: &str, value: &str) -> Result<MoneyWords, String> {
        let mut words = MoneyWords::default();
        words.set(key, value).map(|()| words).map_err(|failure| failure.to_string())
    }

    #[test]
    fn prices_are_read_as_ranges() {
        let price = |text| read("price", text).expect("a price").price.expect("it is set");
        assert_eq!(price("2.5"), Dollars::exactly(2.5));
        assert_eq!(price("$2..$4.5"), Dollars { low: 2.0, typical: 3.0, high: 4.5 });
        assert_eq!(price("2..2.8..4"), Dollars { low: 2.0, typical: 2.8, high: 4.0 });
        for bad in ["", "0", "-2", "4..2", "2..1..4", "1..2..3..4", "many", "1e9", "2 s"] {
            let message = read("price", bad).expect_err(bad);
            assert!(message.starts_with(&format!("price={bad}: ")), "{message}");
            assert!(message.contains("for example price=2.5"), "{message}");
        }
    }

    #[test]
    fn the_mean_load_is_a_part() {
        let part = |text| read("utilisation", text).expect("a part").average_load;
        assert_eq!((part("40%"), part("0.4")), (Some(0.4), Some(0.4)));
        for bad in ["0", "120%", "-1", "x"] {
            assert!(read("utilisation", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_catalogue_s_price_is_said_to_be_assumed() {
        let price = MoneyWords::default().price_of(&Scenario::preset()).expect("a price");
        assert_eq!((price.per_hour.low, price.per_hour.high), (1.99, 5.0));
        assert!((price.per_hour.typical - (1.99_f64 * 5.0).sqrt()).abs() < 1e-12);
        assert_eq!(price.kind, "assumed");
        let mut unpriced = Scenario::preset();
        unpriced.set("gpu", "l40").expect("a GPU");
        assert_eq!(MoneyWords::default().price_of(&unpriced), None);
    }
}
