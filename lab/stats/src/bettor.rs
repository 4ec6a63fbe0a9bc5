//! The two tables of bettors and the score by which they bet.
//!
//! A bettor holds the stake `a` in (0, 1) for ever. On a round whose log ratio lies `y` above the
//! bar, it multiplies its wealth by `1 + a h(y)` when it bets that the ratio is above the bar, and
//! by `1 - a h(y)` when it bets that it is below. The score `h` is odd, nondecreasing and at most 1
//! in size. Validity needs no more than that: if the noise has either sign with the same
//! probability, such a factor has no expected gain (Efron 1969; de la Pena 1999; Howard, Ramdas,
//! McAuliffe and Sekhon 2020, lemma 3; Perez-Ortiz and others 2024; Koning 2024). The theorems, and
//! what they assume, are in `docs/manual/evidence.md`.

/// The number of bettors in a table; shorter tables are filled with bettors that stake nothing.
pub const BETTORS: usize = 9;

/// The number of past rounds that a bettor needs before it uses the size of a ratio, not only its
/// sign.
pub const ROUNDS_BEFORE_SCALE: usize = 6;

/// The index of the first bettor of a table that may use sizes. The bettors before it use only
/// signs, so that the loops over either kind have a length that the compiler knows.
const FIRST_ON_SIZE: usize = 4;

/// A table of bettors.
#[derive(Debug, PartialEq)]
pub struct Table {
    /// The name in journals and papers.
    pub name: &'static str,
    /// The stakes.
    pub stake: [f64; BETTORS],
    /// The share of the initial wealth that each bettor holds; they sum to 1.
    pub weight: [f64; BETTORS],
    /// The slopes at which the scores of the bettors from the fifth on rise with the distance in
    /// scale units; `None` for a table on signs only.
    pub slope: Option<[f64; BETTORS - FIRST_ON_SIZE]>,
    /// Whether the verdict must also agree with the median (rule A1: only for M3r).
    pub asks_the_median: bool,
}

/// The table for a constant factor between two contestants: four bettors on the sign of the log
/// ratio and five on its size, capped at three scale units so that no outlier decides.
///
/// Stakes, slopes and weights were picked by hand, out of eight candidates, for the fewest rounds
/// on four synthetic kinds of noise (normal; with spikes; in two modes; all of these with a drift).
/// The table's validity does not depend on that choice; its speed on other noise does.
pub static M3R: Table = Table {
    name: "M3r",
    stake: [0.90, 0.60, 0.35, 0.15, 0.90, 0.60, 0.35, 0.17, 0.07],
    weight: [0.15, 0.12, 0.12, 0.06, 0.15, 0.15, 0.12, 0.08, 0.05],
    slope: Some([1.5, 1.2, 1.0, 0.9, 0.9]),
    asks_the_median: true,
};

/// The table for the median of the paired ratios, without an assumption of symmetry: signs only.
pub static S: Table = Table {
    name: "S",
    stake: [0.95, 0.80, 0.60, 0.40, 0.25, 0.12, 0.05, 0.0, 0.0],
    weight: [0.12, 0.16, 0.20, 0.20, 0.14, 0.10, 0.08, 0.0, 0.0],
    slope: None,
    asks_the_median: false,
};

/// Returns the sign of `y` as a score: -1, 0 or 1.
#[inline]
pub fn sign(y: f64) -> f64 {
    if y > 0.0 {
        1.0
    } else if y < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// Computes a rational approximation of the hyperbolic tangent: `|v| (27 + v^2) / (27 + 9 v^2)`, 1
/// from 3 on.
///
/// It is odd and nondecreasing (its derivative is proportional to `(v^2 - 9)^2`), and uses
/// operations that IEEE 754 defines to the last bit.
#[inline]
pub fn rational_score(v: f64) -> f64 {
    let size = v.abs();
    let square = size * size;
    let score = size * (27.0 + square) / (27.0 + 9.0 * square);
    (if size >= 3.0 { 1.0 } else { score }).copysign(v)
}

impl Table {
    /// Returns the least number of rounds, all on one side of the bar, after which the wealth of
    /// the bets reaches `1 / error_a_side`. No run of fewer rounds settles anything.
    pub fn fewest_rounds(&self, error_a_side: f64) -> u64 {
        let mut wealth = self.weight;
        let mut rounds = 0;
        while wealth.iter().sum::<f64>() < 1.0 / error_a_side && rounds < 10_000 {
            wealth.iter_mut().zip(self.stake).for_each(|(wealth, stake)| *wealth *= 1.0 + stake);
            rounds += 1;
        }
        rounds
    }

    /// Returns the scores of all bettors for a round that lies `y` above the bar. The scale is that
    /// of the rounds before it; with `None`, every bettor uses the sign.
    #[inline]
    pub fn scores(&self, y: f64, scale: Option<f64>) -> [f64; BETTORS] {
        let sign = sign(y);
        let mut scores = [sign; BETTORS];
        if let (Some(slope), Some(scale)) = (&self.slope, scale) {
            let distance = y / scale;
            for (score, slope) in scores[FIRST_ON_SIZE..].iter_mut().zip(slope) {
                *score = rational_score(slope * distance);
            }
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_sum_to_one_and_stakes_stay_below_it() {
        for table in [&M3R, &S] {
            let sum: f64 = table.weight.iter().sum();
            assert!((sum - 1.0).abs() < 1e-15, "{}: {sum}", table.name);
            assert!(table.stake.iter().all(|a| (0.0..1.0).contains(a)));
        }
    }

    #[test]
    fn the_fewest_rounds_are_those_of_unanimous_bets() {
        // Ten rounds at 1%, two-sided, as a race of unanimous rounds needs (lab/engine).
        assert_eq!(M3R.fewest_rounds(0.005), 10);
        assert_eq!(S.fewest_rounds(1.0), 0);
        assert_eq!(S.fewest_rounds(0.005), 11);
        assert_eq!(S.fewest_rounds(0.01 / 158.0), 18);
    }

    #[test]
    fn the_score_is_odd_and_nondecreasing_and_capped() {
        let mut last = -1.0;
        for i in -50_000..=50_000 {
            let v = f64::from(i) * 1e-4;
            let h = rational_score(v);
            assert!(h >= last, "decreases at {v}");
            assert_eq!(h, -rational_score(-v));
            assert!(h.abs() <= 1.0);
            last = h;
        }
        assert_eq!(rational_score(0.0), 0.0);
        assert_eq!(rational_score(f64::INFINITY), 1.0);
        assert_eq!(rational_score(-3.0), -1.0);
    }
}
