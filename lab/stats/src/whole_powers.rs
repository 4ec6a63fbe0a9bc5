//! Powers with whole exponents, the same to the last bit on every machine.

/// Returns `2^exponent` for normal numbers, made from its bits; 0 below them.
pub(crate) fn pow2(exponent: i64) -> f64 {
    if exponent < -1022 { 0.0 } else { f64::from_bits(((exponent.min(1023) + 1023) as u64) << 52) }
}

/// Computes `base^times` by squaring: the platform's `powi` may round differently.
pub(crate) fn power(base: f64, times: u64) -> f64 {
    let (mut product, mut square, mut left) = (1.0, base, times);
    while left > 0 {
        if left & 1 == 1 {
            product *= square;
        }
        square *= square;
        left >>= 1;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_exact_and_end_at_the_normal_numbers() {
        assert_eq!((pow2(0), pow2(-3), pow2(10)), (1.0, 0.125, 1024.0));
        assert_eq!((pow2(-1022), pow2(-1023)), (f64::MIN_POSITIVE, 0.0));
        assert_eq!(pow2(2000), pow2(1023));
    }

    #[test]
    fn a_power_is_the_product() {
        assert_eq!((power(0.5, 0), power(0.5, 7), power(3.0, 5)), (1.0, 1.0 / 128.0, 243.0));
        assert_eq!(power(0.9, 1_000_000), 0.0);
    }
}
