//! What is typed about money, and what the catalogue says where nothing is.

use planner::{Dollars, MoneyError, read_average_load};
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
            self.price = Some(Dollars::read(value).map_err(|error| in_words(&error))?);
        } else {
            self.average_load = Some(read_average_load(value).map_err(|error| in_words(&error))?);
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

fn in_words(error: &MoneyError) -> Failure {
    Failure::input(error.to_string())
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
    Ok((device, Dollars::read(dollars).map_err(|error| in_words(&error))?))
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "a test stops at the first surprise")]
mod tests {
    use super::*;

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
