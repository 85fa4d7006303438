//! Sorts, one of each kind: a sort is four kilobytes of code, and each type that is sorted elsewhere
//! would bring another copy to every visitor of the page.

/// Sorts whole numbers, upwards.
#[inline(never)]
pub fn whole(values: &mut [u64]) {
    values.sort_unstable();
}

/// Sorts numbers, upwards, in the order of [`f64::total_cmp`].
pub fn floats(values: &mut [f64]) {
    let mut keys: Vec<u64> = values.iter().map(|&value| key(value)).collect();
    whole(&mut keys);
    for (value, key) in values.iter_mut().zip(keys) {
        *value = of_key(key);
    }
}

/// Sorts pairs by their first numbers, upwards; those with equal first numbers keep their order. By
/// merging runs that double in length: a tenth of the code of the standard library's stable sort, for
/// lists that are sorted once.
#[inline(never)]
pub fn by_first(pairs: &mut [(f64, f64)]) {
    let mut merged = pairs.to_vec();
    let mut length = 1;
    while length < pairs.len() {
        for (start, run) in pairs.chunks(2 * length).enumerate() {
            let (mut left, mut right) = run.split_at(length.min(run.len()));
            for place in &mut merged[2 * length * start..][..run.len()] {
                let is_right = match (left.first(), right.first()) {
                    (Some(a), Some(b)) => b.0.total_cmp(&a.0).is_lt(),
                    (None, _) => true,
                    (_, None) => false,
                };
                let from = if is_right { &mut right } else { &mut left };
                if let Some((first, rest)) = from.split_first() {
                    (*place, *from) = (*first, rest);
                }
            }
        }
        pairs.copy_from_slice(&merged);
        length *= 2;
    }
}

const SIGN: u64 = 1 << 63;

/// A whole number that is the greater the greater the float is: of negative floats all bits are
/// turned, of others the sign alone.
fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

fn of_key(key: u64) -> f64 {
    f64::from_bits(if key & SIGN == 0 { !key } else { key & !SIGN })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_floats_are_sorted_as_the_standard_library_does(
            bits in prop::collection::vec(any::<u64>(), 0..200),
            small in prop::collection::vec(-3_i32..3, 0..50),
        ) {
            let mut values: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
            values.extend(small.into_iter().map(f64::from));
            values.extend([0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]);
            let mut expected = values.clone();
            expected.sort_by(f64::total_cmp);
            floats(&mut values);
            let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            prop_assert_eq!(bits(values), bits(expected));
        }
    }

    proptest! {
        #[test]
        fn any_pairs_are_sorted_as_the_standard_library_does(
            firsts in prop::collection::vec(-20_i32..20, 0..300),
        ) {
            let pair = |(place, first): (usize, i32)| (f64::from(first) / 4.0, place as f64);
            let mut pairs: Vec<_> = firsts.into_iter().enumerate().map(pair).collect();
            let mut expected = pairs.clone();
            expected.sort_by(|a, b| a.0.total_cmp(&b.0));
            by_first(&mut pairs);
            prop_assert_eq!(pairs, expected);
        }
    }

    #[test]
    fn pairs_with_equal_keys_keep_their_order() {
        let mut pairs = [(2.0, 1.0), (1.0, 2.0), (2.0, 0.0), (1.0, 1.0)];
        by_first(&mut pairs);
        assert_eq!(pairs, [(1.0, 2.0), (1.0, 1.0), (2.0, 1.0), (2.0, 0.0)]);
    }
}
