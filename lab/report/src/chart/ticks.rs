//! Round places on an axis.

use super::Span;

/// Round values between the ends of an axis, at most `most`, from the lowest.
pub(super) fn at(axis: Span, most: usize, is_binary: bool) -> Vec<f64> {
    let most = most.max(2);
    if axis.high <= axis.low {
        return vec![axis.low];
    }
    let wide = axis.high / axis.low;
    match axis.is_log {
        true if is_binary => powers(axis, most, 2.0, &[1.0]),
        true if wide < 4.0 => linear(axis, most),
        true => powers(axis, most, 10.0, &[1.0, 2.0, 5.0]),
        false => linear(axis, most),
    }
}

/// Whether a value is a power of two, or halfway between two of them.
pub(super) fn is_binary(value: f64) -> bool {
    let mantissa = value / 2f64.powf(value.log2().floor());
    [1.0, 1.5, 2.0].iter().any(|round| (mantissa - round).abs() < 1e-9)
}

fn linear(axis: Span, most: usize) -> Vec<f64> {
    let step = round_step((axis.high - axis.low) / (most - 1) as f64);
    let first = (axis.low / step - 1e-9).ceil() as i64;
    let last = (axis.high / step + 1e-9).floor() as i64;
    (first..=last).map(|index| index as f64 * step).collect()
}

/// Powers of a base, each times the multiples; if these are too many only powers, then every second
/// one, and so on.
fn powers(axis: Span, most: usize, base: f64, multiples: &[f64]) -> Vec<f64> {
    let exponents = |value: f64| value.ln() / base.ln();
    let first = exponents(axis.low).floor() as i32 - 1;
    let last = exponents(axis.high).ceil() as i32 + 1;
    let inside = |value: &f64| (axis.low * (1.0 - 1e-9)..=axis.high * (1.0 + 1e-9)).contains(value);
    let all = |multiples: &[f64], every: i32| -> Vec<f64> {
        let powers = (first..=last).filter(|power| power.rem_euclid(every) == 0);
        let values = powers.flat_map(|power| multiples.iter().map(move |m| m * base.powi(power)));
        values.filter(inside).collect()
    };
    let fine = all(multiples, 1);
    if fine.len() <= most {
        return fine;
    }
    let mut every = 1;
    loop {
        let coarse = all(&[1.0], every);
        if coarse.len() <= most || every > 64 {
            return coarse;
        }
        every += 1;
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below a value above 0.
pub(crate) fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|n| n * power >= least * (1.0 - 1e-9));
    step.unwrap_or(10.0) * power
}
