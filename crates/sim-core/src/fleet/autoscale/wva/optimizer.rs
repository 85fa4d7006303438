//! From required or spare capacity to replicas: the cheapest first.

/// One variant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapacityVariant {
    /// Its cost per replica, in any unit.
    pub cost: f64,
    /// Capacity per replica, in the unit of what is required; 0 for unknown.
    pub capacity: f64,
    /// Replicas that there are.
    pub current: i64,
    /// The least number of them, where one is set.
    pub min: Option<i64>,
    /// The greatest number of them, where one is set (0 for none).
    pub max: Option<i64>,
}

/// Replicas of each variant so that `required` more capacity is there or `spare` is gone.
///
/// Up: the variant with the least cost per capacity, to its maximum, then the next. Down: the
/// variant with the greatest cost, to its minimum, as many whole replicas as are spare, then the
/// next, until a round removes nothing. Without a minimum the cheapest variant keeps one replica if
/// no other has any, and the others may go to zero.
///
/// *Oddity*: where the cheapest variant has no replica, the others may all go to zero.
#[must_use]
pub fn cost_aware(required: f64, spare: f64, variants: &[CapacityVariant]) -> Vec<i64> {
    let mut targets: Vec<i64> = variants.iter().map(|variant| variant.current).collect();
    if required > 0.0 {
        add(required, variants, &mut targets);
    } else if spare > 0.0 {
        remove(spare, variants, &mut targets);
    }
    targets
}

fn add(required: f64, variants: &[CapacityVariant], targets: &mut [i64]) {
    let mut order: Vec<usize> =
        (0..variants.len()).filter(|&variant| variants[variant].capacity > 0.0).collect();
    let cost_of = |variant: usize| variants[variant].cost / variants[variant].capacity;
    order.sort_by(|&a, &b| cost_of(a).total_cmp(&cost_of(b)));
    let mut remaining = required;
    for index in order {
        if remaining <= 0.0 {
            break;
        }
        let variant = &variants[index];
        let room = match variant.max {
            Some(max) if max > 0 => (max - targets[index]).max(0),
            _ => i64::MAX,
        };
        let added = ((remaining / variant.capacity).ceil() as i64).min(room);
        targets[index] = targets[index].saturating_add(added);
        remaining -= added as f64 * variant.capacity;
    }
}

fn remove(spare: f64, variants: &[CapacityVariant], targets: &mut [i64]) {
    let mut order: Vec<usize> = (0..variants.len()).collect();
    order.sort_by(|&a, &b| variants[b].cost.total_cmp(&variants[a].cost));
    // Of several that cost the least, whichever would be the last to serve.
    let is_cheapest =
        |index: usize| variants.iter().all(|other| variants[index].cost <= other.cost);
    let mut remaining = spare;
    loop {
        let mut has_removed = false;
        for &index in &order {
            let variant = &variants[index];
            if remaining <= 0.0 || variant.capacity <= 0.0 {
                continue;
            }
            let others_serve =
                targets.iter().enumerate().any(|(other, &count)| other != index && count > 0);
            let last = i64::from(is_cheapest(index) && !others_serve);
            let least = variant.min.unwrap_or(0).max(last);
            let removable = targets[index] - least;
            let removed = ((remaining / variant.capacity).floor() as i64).min(removable);
            if removed > 0 {
                targets[index] -= removed;
                remaining -= removed as f64 * variant.capacity;
                has_removed = true;
            }
        }
        if !has_removed {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn variants() -> impl Strategy<Value = Vec<CapacityVariant>> {
        let one = (1_u32..30, 0_u32..5, 0_i64..6, 0_i64..3, 0_i64..9);
        prop::collection::vec(one, 1..5).prop_map(|all| {
            let of =
                |(cost, capacity, current, min, max): (u32, u32, i64, i64, i64)| CapacityVariant {
                    cost: f64::from(cost),
                    capacity: f64::from(capacity) * 1000.0,
                    current: current.max(min),
                    min: (min > 0).then_some(min),
                    max: (max > 0).then_some(max),
                };
            all.into_iter().map(of).collect()
        })
    }

    fn capacity(variants: &[CapacityVariant], targets: &[i64]) -> f64 {
        variants.iter().zip(targets).map(|(variant, &count)| variant.capacity * count as f64).sum()
    }

    proptest! {
        #[test]
        fn required_capacity_is_there_if_it_fits(variants in variants(), required in 1_u32..40_000) {
            let required = f64::from(required);
            let targets = cost_aware(required, 0.0, &variants);
            let added = capacity(&variants, &targets)
                - variants.iter().map(|v| v.capacity * v.current as f64).sum::<f64>();
            let is_full = variants.iter().zip(&targets).all(|(variant, &count)| {
                variant.capacity == 0.0 || variant.max.is_some_and(|max| count >= max)
            });
            prop_assert!(added >= required || is_full);
            for (variant, &count) in variants.iter().zip(&targets) {
                prop_assert!(count >= variant.current);
                prop_assert!(count == variant.current || variant.max.is_none_or(|max| count <= max));
            }
        }

        #[test]
        fn no_more_goes_than_is_spare(variants in variants(), spare in 1_u32..40_000) {
            let spare = f64::from(spare);
            let before: Vec<i64> = variants.iter().map(|variant| variant.current).collect();
            let targets = cost_aware(0.0, spare, &variants);
            prop_assert!(capacity(&variants, &before) - capacity(&variants, &targets) <= spare);
            for (variant, &count) in variants.iter().zip(&targets) {
                prop_assert!(count <= variant.current && count >= variant.min.unwrap_or(0));
            }
            let cheapest =
                (0..variants.len()).min_by(|&a, &b| variants[a].cost.total_cmp(&variants[b].cost));
            let served = cheapest.is_some_and(|cheapest| before[cheapest] > 0);
            prop_assert!(!served || targets.iter().any(|&count| count > 0));
        }
    }
}
