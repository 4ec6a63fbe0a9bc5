//! The Confidence Sequence Method as published, kept as a classic and as an oracle.
//!
//! The functions of Paul Khuong's "Testing slo-type properties with the Confidence Sequence Method"
//! (pvk.ca, 2018) and of its package `csm`. The method is Robbins's criterion (1970) as a test of a
//! success rate that may be checked after every trial (Ding, Gandy and Hahn 2017), with every
//! rounding made towards "not yet". The code is written anew from the text. Its numbers equal those
//! of the text to ten digits and more, and its names are the text's.
//!
//! | function | gives |
//! |---|---|
//! | [`csm`] | whether `s` successes in `n` trials rule out the rate `alpha` |
//! | [`log_choose`] | an upper bound of `ln C(n, s)` |
//! | [`beta_icdf`] | an outer bound of a tail quantile of Beta(a, b) |
//! | [`quantile_index`] | the ranks between which a quantile lies |
//! | [`Driver`] | the loop that asks after every trial whether to stop |
//! | [`Power`] | how often that loop succeeds, estimated by the loop itself |
//!
//! Where the published C, Lisp and Python differ, the code follows the Lisp form, because it made
//! the numbers of the text. Logarithms come from the `libm` crate instead of the platform, so the
//! results are the same bits on every machine.
//!
//! For new work use [`share_test`](crate::share_test): it needs fewer trials.

mod driver;

pub use driver::{
    ATTEMPTS_MIN, Conclusion, Driver, DriverOptions, OUTER_EPS, Power, PowerOptions, PowerResult,
    Progress,
};
use std::fmt;

/// The result of the test after a number of trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CsmLevel {
    /// Whether the rate `alpha` is ruled out.
    pub is_rejected: bool,
    /// The natural logarithm of the error rate at which the test would just not stop here, rounded
    /// up. It is for reports only: the error rate must be chosen before the first trial.
    pub log_level: f64,
}

/// Tests whether `s` successes in `n` independent trials rule out that their success rate is
/// `alpha`, at the error rate `exp(log_eps)` over all `n` together. They do if an upper bound of
///
/// ```text
/// ln(n + 1) + ln C(n, s) + s ln alpha + (n - s) ln(1 - alpha)
/// ```
///
/// lies below `log_eps` (Robbins 1970). Then `s/n` and the true rate lie on the same side of
/// `alpha`, again up to that error rate (Ding, Gandy and Hahn 2017). The test takes constant time.
/// Round `log_eps` down, as by [`log_down`].
///
/// # Errors
/// Fails if `n` is not below [`TRIALS_LIMIT`], `s` is above `n`, `alpha` is not above 0 and below
/// 1, or `log_eps` is above 0 or not a number.
pub fn csm(n: u64, alpha: f64, s: u64, log_eps: f64) -> Result<CsmLevel, ClassicError> {
    require(n < TRIALS_LIMIT, "n", n, "below 2^49")?;
    require_rate("alpha", alpha)?;
    require(s <= n, "s", s, "at most n")?;
    require_log_eps(log_eps)?;
    let log_level = log_level(n, alpha, s);
    Ok(CsmLevel { is_rejected: log_level < log_eps, log_level })
}

/// Returns the level for arguments known to be valid.
fn log_level(n: u64, alpha: f64, s: u64) -> f64 {
    sum_up(&[
        log_up((n + 1) as f64),
        bound(n, s),
        next(s as f64 * log_up(alpha)),
        next((n - s) as f64 * log1p_up(-alpha)),
    ])
}

/// The limit of the number of trials, so that `12 n` is exact.
pub const TRIALS_LIMIT: u64 = 1 << 49;

/// The smallest double above `-ln sqrt(2 pi)`: -8277062471433908 / 2^53.
const MINUS_LOG_SQRT_2PI: f64 = -8_277_062_471_433_908.0 / (1u64 << 53) as f64;

/// Returns an upper bound of `ln C(n, s)`, from Robbins's bounds of the factorial (1955):
///
/// ```text
/// sqrt(2 pi) n^(n + 1/2) exp(-n + 1/(12n + 1)) < n! < sqrt(2 pi) n^(n + 1/2) exp(-n + 1/(12n))
/// ```
///
/// The bound is exact for `s` of 0 and `n`, and one rounding above for 1 and `n - 1`. Otherwise the
/// bounds of the factorials add at most 0.0027 (at `s = 2`, `n = 4`), and less the larger the
/// smaller one of `s` and `n - s` is. Rounding adds about 1e-15 of `n ln n`, which is more from
/// about `n = 1e11` on.
///
/// # Errors
/// Fails if `n` is not below [`TRIALS_LIMIT`], or if `s` is above `n`.
pub fn log_choose(n: u64, s: u64) -> Result<f64, ClassicError> {
    require(n < TRIALS_LIMIT, "n", n, "below 2^49")?;
    require(s <= n, "s", s, "at most n")?;
    Ok(bound(n, s))
}

/// Returns the bound for arguments known to be valid.
fn bound(n: u64, s: u64) -> f64 {
    let r = n - s;
    if s == 0 || r == 0 {
        return 0.0;
    }
    let (n, s, r) = (n as f64, s as f64, r as f64);
    if s == 1.0 || r == 1.0 {
        return log_up(n);
    }
    sum_up(&[
        MINUS_LOG_SQRT_2PI,
        next((n + 0.5) * log_up(n)),
        next(-(s + 0.5) * log_down(s)),
        next(-(r + 0.5) * log_down(r)),
        next(1.0 / (12.0 * n)),
        next(-1.0 / (12.0 * s + 1.0)),
        next(-1.0 / (12.0 * r + 1.0)),
    ])
}

/// `-ln 2`, rounded away from 0: half of the error for each end.
const MINUS_LN_2: f64 = -0.693_147_180_559_945_4;

/// The rank that the caller wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// The lower end of the confidence sequence.
    Lower,
    /// The sample's own quantile.
    Estimate,
    /// The upper end of the confidence sequence.
    Upper,
}

/// Returns the index, from 0, into `n` sorted independent observations at which an end of a
/// confidence sequence for the quantile `q` lies, or `None` while there are too few observations
/// for one. Both ends together hold for all `n` at the error rate `exp(log_eps)`, half of it for
/// each end.
///
/// The lower end is the highest rank that is so low that [`csm`] rejects it as a count
/// of observations below the quantile; the upper end mirrors it. With ties, the interval is wider
/// than necessary. Calls the test at most 49 times.
///
/// The quantile 0 has the upper end 0 and no lower one. The quantile 1 has the lower end `n - 1`
/// and no upper one.
///
/// # Errors
/// Fails if `n` is not below [`TRIALS_LIMIT`], `q` is not from 0 to 1, or `log_eps` is above 0 or
/// not a number.
pub fn quantile_index(
    n: u64,
    q: f64,
    log_eps: f64,
    rank: Rank,
) -> Result<Option<u64>, ClassicError> {
    require(n < TRIALS_LIMIT, "n", n, "below 2^49")?;
    require((0.0..=1.0).contains(&q), "q", q, "from 0 to 1")?;
    require_log_eps(log_eps)?;
    if n == 0 {
        return Ok(None);
    }
    let level = log_eps + MINUS_LN_2;
    let place = n as f64 * q;
    let is_extreme = |s: u64| log_level(n, q, s) < level;
    Ok(match rank {
        Rank::Lower if q == 0.0 => None,
        Rank::Upper if q == 1.0 => None,
        _ if q == 0.0 => Some(0),
        _ if q == 1.0 => Some(n - 1),
        Rank::Lower => boundary(0, place as u64, is_extreme),
        // The 10% quantile of 100 observations is the tenth, which has the index 9.
        Rank::Estimate => Some((libm::ceil(place) as u64).saturating_sub(1)),
        Rank::Upper => boundary(n, libm::ceil(place) as u64, is_extreme).map(|s| s - 1),
    })
}

/// Returns the last extreme count on the way from the outermost to the central one, or `None` if
/// not even the outermost is extreme.
fn boundary(outer: u64, centre: u64, is_extreme: impl Fn(u64) -> bool) -> Option<u64> {
    if outer == centre || !is_extreme(outer) {
        return None;
    }
    let (mut extreme, mut central) = (outer, centre);
    while extreme.abs_diff(central) > 1 {
        let middle = extreme.min(central) + extreme.abs_diff(central) / 2;
        *(if is_extreme(middle) { &mut extreme } else { &mut central }) = middle;
    }
    Some(extreme)
}

/// The largest tail; larger ones are reduced to this, because the series is made for improbable
/// points.
const TAIL_MAX: f64 = 0.05;
/// The precision, as a share of the bound, at which the search stops.
const PRECISION: f64 = 1e-10;
/// The precision from which the search may give up.
const PRECISION_GOAL: f64 = 1e-3;
/// The number of terms that a point may take from then on.
const TERMS_PAST_GOAL: u64 = 1000;

/// The end of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The left one.
    Lower,
    /// The right one.
    Upper,
}

/// A bound and its precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetaBound {
    /// The bound, between 0 and 1.
    pub bound: f64,
    /// An upper bound of its distance from the quantile, if the series decided every point. Where
    /// the series is slow, the quantile may lie further in.
    pub slack: f64,
}

/// Returns a lower bound of the `alpha` quantile of Beta(a, b), or an upper bound of its
/// `1 - alpha` quantile: an end of an interval that holds at least `1 - 2 alpha` of the
/// distribution. An `alpha` above 0.05 counts as 0.05, and 0 gives 0 or 1.
///
/// The function bisects on [`incbeta`] to 1e-10 of the value. From 0.1% on, it
/// gives up where 1024 terms cannot decide the side of a point. That is 1000 terms rounded up to a
/// multiple of 128, as in the published Lisp and C. The published Python stops at 1000 without a
/// check, and gives other digits from the sixth on for hard cases such as (3973, 29, 0.0005).
///
/// An interval of this kind is Bayesian, for one look at the data: it does not hold at all moments
/// together.
///
/// # Errors
/// Fails if `a` or `b` is 0 or not below [`COUNT_LIMIT`], or if `alpha` is
/// below 0 or not a number.
pub fn beta_icdf(a: u64, b: u64, alpha: f64, end: End) -> Result<BetaBound, ClassicError> {
    require_counts(a, b)?;
    require(alpha >= 0.0, "alpha", alpha, "at least 0 (above 0.05 counts as 0.05)")?;
    Ok(bound_of(a, b, alpha, end))
}

/// Returns the bound for arguments known to be valid.
fn bound_of(a: u64, b: u64, alpha: f64, end: End) -> BetaBound {
    if alpha <= 0.0 {
        let bound = if end == End::Lower { 0.0 } else { 1.0 };
        return BetaBound { bound, slack: 0.0 };
    }
    let (a, b) = if end == End::Lower { (a, b) } else { (b, a) };
    let (low, high) = bracket(a, b, alpha.min(TAIL_MAX));
    let bound = if end == End::Lower { low } else { next(1.0 - low).min(1.0) };
    BetaBound { bound, slack: next(high - low).min(1.0) }
}

/// Returns two points around the largest `x` with a bound of `I_x(a, b)` below `alpha`; the lower
/// one is on the safe side of it.
fn bracket(a: u64, b: u64, alpha: f64) -> (f64, f64) {
    let (mut low, mut high) = (0.0, a as f64 / (a + b) as f64);
    while high > PRECISION.max(low + low * PRECISION) {
        let x = 0.5 * (high + low);
        let is_good = high < low + low * PRECISION_GOAL;
        let terms_max = is_good.then_some(TERMS_PAST_GOAL);
        match (Series { a, b, x, threshold: alpha }).side(terms_max) {
            Some(value) if value < alpha => low = x,
            None if is_good => break,
            // Where the side is unknown, "too far in" is safe.
            _ => high = x,
        }
    }
    (low, high)
}

/// The limit of the parameters of a Beta distribution; they must be below it.
pub const COUNT_LIMIT: u64 = 1 << 44;

/// The number of terms between two checks of the tail of the series.
const TERMS_BETWEEN_LOOKS: u64 = 128;

/// Returns a value on the same side of `threshold` as an upper bound of the regularised incomplete
/// Beta function `I_x(a, b)`. Returns `None` if `terms_max` terms (rounded up to a multiple of 128;
/// without it, `10 (a + b + 1000)`) cannot decide the side.
///
/// ```text
/// I_x(a, b) = C(a + b - 1, a) x^a (1 - x)^b sum_s prod_(i = 1..s) (1 + (b - 1)/(a + i)) x
/// ```
///
/// Each product is rounded up. The rest after a term lies between two geometric series. The side is
/// known when the lower series is twice the distance to the threshold, or the upper one half of it.
///
/// # Errors
/// Fails if `a` or `b` is 0 or not below [`COUNT_LIMIT`], or if `x` is not above 0 and below the
/// mean `a / (a + b)`, where the series converges fast enough to be of use.
pub fn incbeta(
    a: u64,
    b: u64,
    x: f64,
    threshold: f64,
    terms_max: Option<u64>,
) -> Result<Option<f64>, ClassicError> {
    require_counts(a, b)?;
    let is_below_mean = x > 0.0 && x < a as f64 / (a + b) as f64;
    require(is_below_mean, "x", x, "above 0 and below a / (a + b)")?;
    Ok(Series { a, b, x, threshold }.side(terms_max))
}

/// Checks that both parameters of a Beta distribution are valid counts.
fn require_counts(a: u64, b: u64) -> Result<(), ClassicError> {
    for (argument, count) in [("a", a), ("b", b)] {
        let is_met = (1..COUNT_LIMIT).contains(&count);
        require(is_met, argument, count, "at least 1 and below 2^44")?;
    }
    Ok(())
}

/// The series for one point, with arguments known to be valid.
#[derive(Clone, Copy)]
struct Series {
    a: u64,
    b: u64,
    x: f64,
    threshold: f64,
}

impl Series {
    /// Returns the result of [`incbeta`].
    fn side(self, terms_max: Option<u64>) -> Option<f64> {
        let terms_max = terms_max.unwrap_or(10 * (self.a + self.b + 1000));
        let terms_max = terms_max.div_ceil(TERMS_BETWEEN_LOOKS) * TERMS_BETWEEN_LOOKS;
        let mut product = self.first_term();
        let mut sum = SumUp { value: product, rest: 0.0 };
        for i in 1..=terms_max {
            let ratio = next((self.b as f64 - 1.0) / (self.a + i) as f64);
            let factor = next(self.x * next(1.0 + ratio)).min(1.0);
            let before = sum.value;
            product = next(product * factor);
            sum.include(product);
            // The rest is less than a step of the value, so this side is certain.
            if sum.value > self.threshold {
                return Some(sum.value);
            }
            if sum.value == before || i % TERMS_BETWEEN_LOOKS == 0 {
                let side = self.look_ahead(sum, product, factor);
                if side.is_some() {
                    return side;
                }
            }
        }
        None
    }

    /// Returns `C(a + b - 1, a) x^a (1 - x)^b`, rounded up.
    fn first_term(self) -> f64 {
        exp_up(sum_up(&[
            bound(self.a + self.b - 1, self.a),
            next(self.a as f64 * log_up(self.x)),
            next(self.b as f64 * log1p_up(-self.x)),
        ]))
    }

    /// Returns the side by the geometric series `product r / (1 - r)`: all later factors are at
    /// least `x` and at most the last one.
    fn look_ahead(self, sum: SumUp, product: f64, factor: f64) -> Option<f64> {
        let missing = (self.threshold - sum.value) - sum.rest;
        let low = product * libm::exp(log_down(self.x) - log1p_up(-self.x));
        if low > 2.0 * missing {
            return Some((sum.value + low).max(self.threshold));
        }
        // With a factor of 1, the upper series diverges.
        if factor >= 1.0 {
            return None;
        }
        let high = product * libm::exp(log_up(factor) - log1p_down(-factor));
        (high < 0.5 * missing).then_some(sum.value)
    }
}

/// An upper bound of a sum, as two numbers of which the first alone is the rounded sum: Kahan's
/// compensated summation, with its one rounding step made to round up (Shewchuk 1997, theorem 6).
/// Starts as 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SumUp {
    /// The sum, rounded.
    pub value: f64,
    /// The remainder of the rounding.
    pub rest: f64,
}

impl SumUp {
    /// Adds a finite term.
    pub fn include(&mut self, term: f64) {
        let (large, small) =
            if self.value.abs() < term.abs() { (term, self.value) } else { (self.value, term) };
        let shifted = next(small + self.rest);
        // Without a rest above 0, the term alone is an upper bound as well.
        let small = if self.rest <= 0.0 { small.min(shifted) } else { shifted };
        // The exact sum of two numbers, the larger one first (Dekker 1971).
        self.value = large + small;
        self.rest = small - (self.value - large);
    }

    /// Returns one number that is at least the sum of all terms.
    pub fn finish(self) -> f64 {
        let bound = next(self.value + self.rest);
        if self.rest > 0.0 { bound } else { self.value.min(bound) }
    }
}

/// Returns an upper bound of the sum of finite terms, off by at most one or two units in the last
/// place of the largest partial sum.
pub fn sum_up(terms: &[f64]) -> f64 {
    let mut sum = SumUp::default();
    for term in terms {
        sum.include(*term);
    }
    sum.finish()
}

/// The number of steps below which the error of libm's logarithms is assumed to be.
const LIBM_ULPS: u32 = 4;

/// Returns the bits of a double as a number that grows with the double: -0 is -1, and +0 is 0.
fn image(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    bits ^ flip(bits)
}

/// Returns the double with this image.
fn of_image(bits: i64) -> f64 {
    f64::from_bits((bits ^ flip(bits)) as u64)
}

/// Flips all bits but the sign if the sign is set: converts sign and magnitude to two's complement
/// and back.
fn flip(bits: i64) -> i64 {
    (((bits >> 63) as u64) >> 1) as i64
}

/// Returns the double `steps` above `x`; -0 and +0 are neighbours. The result is meaningless for
/// infinities and NaN.
pub fn next_k(x: f64, steps: u32) -> f64 {
    of_image(image(x).wrapping_add(i64::from(steps)))
}

/// Returns the double `steps` below `x`; +0 and -0 are neighbours.
pub fn prev_k(x: f64, steps: u32) -> f64 {
    of_image(image(x).wrapping_sub(i64::from(steps)))
}

/// Returns the double after `x`. If `x` is a sum, product or quotient that was rounded to nearest,
/// this is at least the exact result.
pub fn next(x: f64) -> f64 {
    next_k(x, 1)
}

/// Returns the double before `x`.
pub fn prev(x: f64) -> f64 {
    prev_k(x, 1)
}

/// Returns an upper bound of `ln x`.
pub fn log_up(x: f64) -> f64 {
    next_k(libm::log(x), LIBM_ULPS)
}

/// Returns a lower bound of `ln x`.
pub fn log_down(x: f64) -> f64 {
    prev_k(libm::log(x), LIBM_ULPS)
}

/// Returns an upper bound of `ln(1 + x)`.
pub fn log1p_up(x: f64) -> f64 {
    next_k(libm::log1p(x), LIBM_ULPS)
}

/// Returns a lower bound of `ln(1 + x)`.
pub fn log1p_down(x: f64) -> f64 {
    prev_k(libm::log1p(x), LIBM_ULPS)
}

/// Returns an upper bound of `exp x`.
fn exp_up(x: f64) -> f64 {
    next_k(libm::exp(x), LIBM_ULPS)
}

/// An argument outside the domain of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassicError {
    /// The name of the argument in the function's documentation.
    pub argument: &'static str,
    /// Its value, as text.
    pub value: String,
    /// The valid values, after "must be".
    pub expected: &'static str,
}

impl fmt::Display for ClassicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}, but must be {}", self.argument, self.value, self.expected)
    }
}

impl std::error::Error for ClassicError {}

/// Returns an error unless the condition is met.
fn require(
    is_met: bool,
    argument: &'static str,
    value: impl fmt::Display,
    expected: &'static str,
) -> Result<(), ClassicError> {
    if is_met { Ok(()) } else { Err(ClassicError { argument, value: value.to_string(), expected }) }
}

/// Checks that a rate lies strictly between 0 and 1, so that a test can be about it.
fn require_rate(argument: &'static str, rate: f64) -> Result<(), ClassicError> {
    require(rate > 0.0 && rate < 1.0, argument, rate, "above 0 and below 1")
}

/// Checks that the logarithm of an error rate is at most 0.
fn require_log_eps(log_eps: f64) -> Result<(), ClassicError> {
    require(log_eps <= 0.0, "log_eps", log_eps, "at most 0: the natural logarithm of an error rate")
}
