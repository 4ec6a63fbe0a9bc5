//! The density of plausible rates, for a picture.

/// The share of the peak down to which the density is drawn.
const DENSITY_LEAST: f64 = 1e-3;
/// The number of halvings in the search for that place.
const HALVINGS: u32 = 50;

/// Returns the density of `Beta(successes + 1, trials - successes + 1)` over its peak, at evenly
/// spread rates.
pub(super) fn of(trials: u64, successes: u64, points: usize) -> Vec<(f64, f64)> {
    let (n, s) = (trials as f64, successes as f64);
    let peak = if trials == 0 { 0.5 } else { s / n };
    let times = |count: f64, log: f64| if count == 0.0 { 0.0 } else { count * log };
    let log_density = |rate: f64| times(s, libm::log(rate)) + times(n - s, libm::log1p(-rate));
    let log_peak = log_density(peak);
    let relative = |rate: f64| libm::exp(log_density(rate) - log_peak).min(1.0);
    let edge = |extreme: f64| {
        if relative(extreme) >= DENSITY_LEAST {
            return extreme;
        }
        let (mut outside, mut inside) = (extreme, peak);
        for _ in 0..HALVINGS {
            let middle = (outside + inside) / 2.0;
            *(if relative(middle) < DENSITY_LEAST { &mut outside } else { &mut inside }) = middle;
        }
        inside
    };
    let (low, high) = (edge(0.0), edge(1.0));
    let last = points.max(2) - 1;
    let rate =
        |i: usize| if i == last { high } else { low + (high - low) * i as f64 / last as f64 };
    (0..=last).map(|i| (rate(i), relative(rate(i)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(trials: u64, successes: u64, peak: f64, (low, high): (f64, f64)) {
        let curve = of(trials, successes, 201);
        assert_eq!(curve.len(), 201);
        let (first, last) = (curve[0].0, curve[200].0);
        assert!((first - low).abs() < 2e-3 && (last - high).abs() < 2e-3, "{first} {last}");
        let off = |point: &&(f64, f64)| ((point.0 - peak).abs() * 1e9) as u64;
        let at_peak = curve.iter().min_by_key(off).unwrap();
        assert!(at_peak.1 > 0.99, "{at_peak:?}");
        assert!(curve.iter().all(|(_, y)| (DENSITY_LEAST * 0.999..=1.0).contains(y)));
        assert!(curve.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn curves_cover_the_mass() {
        check(0, 0, 0.5, (0.0, 1.0));
        // x^10 is a thousandth at 10^-0.3.
        check(10, 10, 1.0, (0.5012, 1.0));
        check(10, 0, 0.0, (0.0, 0.4988));
        // Nearly normal: a thousandth lies 3.717 standard deviations out.
        check(10_000, 5000, 0.5, (0.4814, 0.5186));
        assert_eq!(of(5, 3, 0).len(), 2);
    }
}
