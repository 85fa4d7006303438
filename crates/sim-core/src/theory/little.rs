//! Little's law: number in the system = rate × time in the system.
//!
//! Little, "A proof for the queuing formula L = λW" (1961). It holds for any part of any system
//! whose books close, whatever the arrivals and the service.

use super::error::{TheoryError, positive};

/// Mean number in the system, `L = λ W`.
///
/// # Errors
/// A rate or a time outside its domain.
pub fn in_system(rate_per_s: f64, time_in_system_s: f64) -> Result<f64, TheoryError> {
    Ok(positive("rate_per_s", rate_per_s)? * positive("time_in_system_s", time_in_system_s)?)
}

/// Mean time in the system in seconds, `W = L / λ`.
///
/// # Errors
/// A number in the system or a rate outside its domain.
pub fn time_in_system_s(in_system: f64, rate_per_s: f64) -> Result<f64, TheoryError> {
    Ok(positive("number in the system", in_system)? / positive("rate_per_s", rate_per_s)?)
}

/// Rate per second, `λ = L / W`.
///
/// # Errors
/// A number in the system or a time outside its domain.
pub fn rate_per_s(in_system: f64, time_in_system_s: f64) -> Result<f64, TheoryError> {
    let time_s = positive("time_in_system_s", time_in_system_s)?;
    Ok(positive("number in the system", in_system)? / time_s)
}

/// Replicas of `slots` each that serve a rate at no more than a load: `⌈λ S / (slots · load)⌉`.
///
/// # Errors
/// A number outside its domain; the load must be above 0 and at most 1.
pub fn replicas(
    rate_per_s: f64,
    service_s: f64,
    slots: u64,
    load: f64,
) -> Result<f64, TheoryError> {
    let busy = in_system(rate_per_s, service_s)?;
    let slots = super::error::count("slots", slots)? as f64;
    if !(load > 0.0 && load <= 1.0) {
        let requirement = "above 0 and at most 1";
        return Err(TheoryError::OutOfDomain { field: "load", value: load, requirement });
    }
    let exact = busy / (slots * positive("load", load)?);
    // Rounding must not buy a replica: 8 · 2 / (4 · 0.8) is 5, whatever its last bit.
    Ok((exact * (1.0 - 1e-12)).ceil())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_agree() {
        assert_eq!(in_system(8.0, 2.0), Ok(16.0));
        assert_eq!(time_in_system_s(16.0, 8.0), Ok(2.0));
        assert_eq!(rate_per_s(16.0, 2.0), Ok(8.0));
        assert!(in_system(-1.0, 2.0).is_err() && rate_per_s(1.0, f64::INFINITY).is_err());
    }

    #[test]
    fn replicas_round_up_once() {
        // 8 per second for 2 s each on replicas of 4: 4 at full load, 6.67 at 60 %.
        assert_eq!(replicas(8.0, 2.0, 4, 1.0), Ok(4.0));
        assert_eq!(replicas(8.0, 2.0, 4, 0.6), Ok(7.0));
        assert_eq!(replicas(8.0, 2.0, 4, 0.8), Ok(5.0));
        assert!(replicas(8.0, 2.0, 4, 1.1).is_err() && replicas(8.0, 2.0, 0, 0.5).is_err());
    }
}
