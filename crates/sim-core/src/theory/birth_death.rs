//! The stationary distribution of a birth-death chain.

/// Probabilities of the states 0, 1, …, `ratios.len()`, where `ratios[n]` is the rate up from `n`
/// over the rate down from `n + 1`.
///
/// The likeliest state has weight 1 and the others follow from it by products of ratios, so nothing
/// overflows, and what underflows is below `1e-300` of the likeliest.
pub(super) fn stationary(ratios: &[f64]) -> Vec<f64> {
    let mut likeliest = 0;
    let (mut log_weight, mut most) = (0.0, 0.0);
    for (state, &ratio) in ratios.iter().enumerate() {
        log_weight += libm::log(ratio);
        if log_weight > most {
            most = log_weight;
            likeliest = state + 1;
        }
    }
    let mut weights = vec![1.0; ratios.len() + 1];
    for state in (0..likeliest).rev() {
        weights[state] = weights[state + 1] / ratios[state];
    }
    for state in likeliest..ratios.len() {
        weights[state + 1] = weights[state] * ratios[state];
    }
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_states_balance() {
        // Up at 3, down at 1: three quarters of the time up.
        assert_eq!(stationary(&[3.0]), [0.25, 0.75]);
        assert_eq!(stationary(&[]), [1.0]);
    }

    #[test]
    fn long_steep_chains_neither_overflow_nor_vanish() {
        let mut ratios = vec![1e6; 5_000];
        ratios.extend(vec![1e-6; 5_000]);
        let probabilities = stationary(&ratios);
        assert!((probabilities[5_000] - 1.0).abs() < 3e-6);
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
