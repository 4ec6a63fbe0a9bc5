//! The Confidence Sequence Method as published, for scripts: its functions on words, its driver on
//! a stream, and the simulation of its power.

pub use tiebreak_stats::classic::{DriverOptions, PowerOptions};

use crate::error::{LabError, data};
use std::io::BufRead;
use tiebreak_stats::classic::{
    ClassicError, Conclusion, Driver, End, Power, Progress, Rank, beta_icdf, csm, log_choose,
    quantile_index,
};
use tiebreak_stats::coins::{Purpose, Seed, Stream};

/// A function of the method, on words.
pub struct Function {
    name: &'static str,
    /// The names of its arguments.
    arguments: &'static [&'static str],
    answer: fn(&Case) -> Result<String, ClassicError>,
}

/// Whether successes in trials rule out a success rate: 0 or 1, and the logarithm of the level.
pub const CSM: Function = Function {
    name: "csm",
    arguments: &["n", "alpha", "s", "log_eps"],
    answer: |case| {
        let got = csm(case.whole(0)?, case.number(1)?, case.whole(2)?, case.number(3)?)?;
        Ok(format!("{} {}", u8::from(got.is_rejected), g17(got.log_level)))
    },
};

/// An upper bound of the logarithm of a binomial coefficient.
pub const LOG_CHOOSE: Function = Function {
    name: "log-choose",
    arguments: &["n", "s"],
    answer: |case| Ok(g17(log_choose(case.whole(0)?, case.whole(1)?)?)),
};

/// A bound of a quantile of a beta distribution.
pub const BETA_ICDF: Function = Function {
    name: "beta-icdf",
    arguments: &["a", "b", "alpha", "lower|upper"],
    answer: |case| {
        let (a, b, alpha) = (case.whole(0)?, case.whole(1)?, case.number(2)?);
        let ends = [("lower", End::Lower), ("upper", End::Upper)];
        let end = case.choice(3, "lower or upper", ends)?;
        Ok(g17(beta_icdf(a, b, alpha, end)?.bound))
    },
};

/// The rank of an end of the interval of a quantile; `-` if there is none.
pub const QUANTILE_INDEX: Function = Function {
    name: "quantile-index",
    arguments: &["n", "q", "log_eps", "lower|estimate|upper"],
    answer: |case| {
        let (n, q, log_eps) = (case.whole(0)?, case.number(1)?, case.number(2)?);
        let ranks = [("lower", Rank::Lower), ("estimate", Rank::Estimate), ("upper", Rank::Upper)];
        let rank = case.choice(3, "lower or estimate or upper", ranks)?;
        let index = quantile_index(n, q, log_eps, rank)?;
        Ok(index.map_or_else(|| "-".to_owned(), |index| index.to_string()))
    },
};

impl Function {
    /// Answers one case, in 17 significant digits.
    ///
    /// # Errors
    /// Fails if a word is missing or invalid.
    pub fn of_words(&self, words: &[String]) -> Result<String, LabError> {
        self.answer(words).map_err(LabError::Usage)
    }

    /// Answers each line of `input`, until `take` returns false. Skips blank lines and what follows
    /// a `#`.
    ///
    /// # Errors
    /// Fails at the first line that is invalid or cannot be read.
    pub fn of_lines(
        &self,
        input: &mut impl BufRead,
        mut take: impl FnMut(String) -> bool,
    ) -> Result<(), LabError> {
        let mut number = 0;
        while let Some(words) = next_line(input, &mut number).map_err(LabError::Data)? {
            let answer = self.answer(&words);
            if !take(answer.map_err(|why| LabError::Data(format!("line {number}: {why}")))?) {
                break;
            }
        }
        Ok(())
    }

    fn answer(&self, words: &[String]) -> Result<String, String> {
        let Function { name, arguments, answer } = self;
        let (wanted, given) = (arguments.len(), words.len());
        if given != wanted {
            let usage = arguments.join(" ");
            return Err(format!("{name} takes {wanted} words ({usage}), not {given}"));
        }
        answer(&Case { words, arguments }).map_err(|ClassicError { argument, expected, .. }| {
            let place = arguments.iter().position(|name| *name == argument).unwrap_or(0);
            let (word, name, number) = (&words[place], arguments[place], place + 1);
            format!("word {number} ({name}) is '{word}', but must be {expected}")
        })
    }
}

/// The words of a case, as many as the function has arguments.
struct Case<'a> {
    words: &'a [String],
    arguments: &'static [&'static str],
}

impl Case<'_> {
    fn wrong(&self, place: usize, expected: &'static str) -> ClassicError {
        let value = self.words[place].clone();
        ClassicError { argument: self.arguments[place], value, expected }
    }

    fn whole(&self, place: usize) -> Result<u64, ClassicError> {
        self.words[place].parse().map_err(|_| self.wrong(place, "a whole number such as 1000"))
    }

    fn number(&self, place: usize) -> Result<f64, ClassicError> {
        self.words[place].parse().map_err(|_| self.wrong(place, "a number such as 0.98 or -6.9"))
    }

    /// Reads one of several names, which `expected` lists.
    fn choice<T, const N: usize>(
        &self,
        place: usize,
        expected: &'static str,
        choices: [(&str, T); N],
    ) -> Result<T, ClassicError> {
        let found = choices.into_iter().find(|(name, _)| *name == self.words[place]);
        found.map(|(_, choice)| choice).ok_or_else(|| self.wrong(place, expected))
    }
}

/// Reads up to the next line with words, and returns them; skips blank lines, and what follows a
/// `#`. `number` is then the number of that line, counted from 1. Returns `None` at the end.
///
/// # Errors
/// Fails if the line cannot be read or is not text; the error has its number.
fn next_line(input: &mut impl BufRead, number: &mut u64) -> Result<Option<Vec<String>>, String> {
    loop {
        let mut bytes = Vec::new();
        let read = input.read_until(b'\n', &mut bytes);
        *number += 1;
        if read.map_err(|error| format!("line {number} cannot be read: {error}"))? == 0 {
            return Ok(None);
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| format!("line {number} is not text; cases are words of ASCII"))?;
        let text = text.split('#').next().unwrap_or_default();
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        if !words.is_empty() {
            return Ok(Some(words));
        }
    }
}

/// Tests the stream of 0 and 1 in `input`, one a line, until the test decides or the stream ends.
/// Passes lines of the report to `say`, and returns whether the test has decided.
///
/// # Errors
/// Fails if an option is out of its range, or a line is invalid.
pub fn drive(
    options: &DriverOptions,
    mut input: impl BufRead,
    mut say: impl FnMut(&str),
) -> Result<bool, LabError> {
    let driver = Driver::new(options).map_err(refused)?;
    let (mut number, mut wrong) = (0, None);
    // Ends at the first line that is neither 0 nor 1.
    let outcomes = std::iter::from_fn(|| {
        next_outcome(&mut input, &mut number).unwrap_or_else(|why| {
            wrong = Some(why);
            None
        })
    });
    let end = driver.run(outcomes, |progress| {
        if is_due(progress.n) {
            say(&line(&driver, progress));
        }
    });
    match wrong {
        Some(wrong) => data(wrong),
        None => {
            say(&summary(&driver, &end));
            Ok(end.is_decided())
        }
    }
}

/// Simulates tests of trials with a known success rate, drawn from `seed`, and tests how often they
/// decide rightly. Reports as [`drive`] does.
///
/// # Errors
/// Fails if an option is out of its range.
pub fn power(
    options: &PowerOptions,
    seed: &str,
    mut say: impl FnMut(&str),
) -> Result<bool, LabError> {
    let power = Power::new(options).map_err(refused)?;
    let mut stream = Stream::new(Seed::from_text(seed), Purpose::Simulation, 0, 0);
    let result = power.run(
        || stream.unit(),
        |progress| {
            if is_due(progress.n) {
                say(&line(&power.outer, progress));
            }
        },
    );
    say(&summary(&power.outer, &result.progress));
    say(&format!("max inner iteration count: {}\n", result.inner_count_max));
    Ok(result.progress.is_decided())
}

/// Converts an error of an argument, which it names by its option.
fn refused(error: ClassicError) -> LabError {
    let name = match error.argument {
        "p" => "<P>".to_owned(),
        option => format!("--{}", option.replace('_', "-")),
    };
    LabError::Usage(format!("{name} is {}, but must be {}", error.value, error.expected))
}

/// Reads the next line that is not blank, which must be 0 or 1; `None` at the end.
fn next_outcome(input: &mut impl BufRead, number: &mut u64) -> Result<Option<bool>, String> {
    let Some(words) = next_line(input, number)? else { return Ok(None) };
    match words.join(" ").as_str() {
        "0" => Ok(Some(false)),
        "1" => Ok(Some(true)),
        text => Err(format!("line {number}: '{text}' is neither 0 nor 1, a trial's outcome")),
    }
}

/// Returns whether this trial has a line: the first does, and then ten for each power of ten.
fn is_due(n: u64) -> bool {
    n == 1 || n >= 10 && n.is_multiple_of(10u64.pow(n.ilog10()))
}

/// Returns trials, share of successes, both ends of the interval, and the level in powers of ten.
fn line(driver: &Driver, progress: &Progress) -> String {
    let (low, high) = driver.interval(progress);
    let level = -progress.log_level / std::f64::consts::LN_10;
    let estimate = progress.estimate().unwrap_or_default();
    let numbers = [estimate, low, high, level].map(|number| scientific(number, 3));
    format!("{:>10} {}\n", progress.n, numbers.join(" "))
}

/// Returns the text below the lines.
fn summary(driver: &Driver, progress: &Progress) -> String {
    let Progress { n, s, .. } = progress;
    let (low, high) = driver.interval(progress);
    let eps = scientific(driver.eps, 6);
    let estimate = progress.estimate().map_or_else(|| "?".to_owned(), rate);
    format!(
        "{n} iterations, {s} successes (false positive rate < {eps})\n\
         success rate p ~ {estimate}\n\
         confidence interval [{}, {}]\n{}\n",
        rate(low),
        rate(high),
        conclusion(driver, progress)
    )
}

fn conclusion(driver: &Driver, progress: &Progress) -> String {
    let (low, high) = (rate(driver.low), rate(driver.high));
    match driver.conclude(progress) {
        Conclusion::Between => format!("{low} < p < {high}"),
        Conclusion::Above(threshold) => format!("p > {}", rate(threshold)),
        Conclusion::Below(threshold) => format!("p < {}", rate(threshold)),
        Conclusion::Open if low == high => {
            format!("No statistically significant difference from {low}")
        }
        Conclusion::Open => {
            format!("No statistically significant difference from {low} or {high}")
        }
    }
}

/// Returns 17 significant digits as C's `%.17g` prints them: enough to read the same double back.
fn g17(x: f64) -> String {
    let digits = 17;
    if !x.is_finite() {
        return x.to_string().to_lowercase();
    }
    let (mantissa, exponent) = parts(x, digits as usize - 1);
    if (-4..digits).contains(&exponent) {
        let decimals = (digits - 1 - exponent) as usize;
        let fixed = format!("{x:.decimals$}");
        return if decimals == 0 { fixed } else { trimmed(&fixed).to_owned() };
    }
    // C writes a sign, and at least two digits.
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(&mantissa), exponent.abs())
}

/// Returns a decimal without its last zeros.
fn trimmed(text: &str) -> &str {
    text.trim_end_matches('0').trim_end_matches('.')
}

/// Returns a text such as `2.500e-2`, with this many decimals.
fn scientific(x: f64, decimals: usize) -> String {
    let (mantissa, exponent) = parts(x, decimals);
    format!("{mantissa}e{exponent:+}")
}

/// Splits a finite number into a mantissa with this many decimals, and its power of ten.
fn parts(x: f64, decimals: usize) -> (String, i32) {
    let text = format!("{x:.decimals$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.to_owned(), exponent.parse().unwrap_or(0))
}

/// Returns a rate to six digits: `0.223213`, or `2.223495e-7` below 0.1.
fn rate(x: f64) -> String {
    if x == 0.0 || x >= 0.1 { format!("{x:.6}") } else { scientific(x, 6) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seventeen_digits_as_c_prints_them() {
        fn check(x: f64, expected: &str) {
            assert_eq!(g17(x), expected);
            assert_eq!(expected.parse::<f64>().unwrap().to_bits(), x.to_bits(), "{expected}");
        }
        check(0.0, "0");
        check(-0.0, "-0");
        check(1.0, "1");
        check(0.1, "0.10000000000000001");
        check(-17.238559826956475, "-17.238559826956475");
        check(9.992007221626409e-16, "9.9920072216264089e-16");
        check(5.361735618111455e-5, "5.3617356181114549e-05");
        check(1e-4, "0.0001");
        check(693147169.972_553_3, "693147169.97255325");
        check(1e16, "10000000000000000");
        check(123456789012345680.0, "1.2345678901234568e+17");
        check(1e23, "9.9999999999999992e+22");
        check(5e-324, "4.9406564584124654e-324");
        check(1.7976931348623157e308, "1.7976931348623157e+308");
    }

    #[test]
    fn rates_and_levels_as_the_text_prints_them() {
        assert_eq!(scientific(-0.2967, 3), "-2.967e-1");
        assert_eq!(scientific(1.0, 3), "1.000e+0");
        assert_eq!(rate(0.22321314110840665), "0.223213");
        assert_eq!(rate(2.2234953205868331e-7), "2.223495e-7");
        assert_eq!(rate(0.0), "0.000000");
    }

    #[test]
    fn ten_lines_for_each_power_of_ten() {
        let due: Vec<u64> = (1..=3500).filter(|n| is_due(*n)).collect();
        let expected = [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 300, 400, 500, 600, 700];
        assert_eq!(due[..17], expected);
        assert_eq!(due[17..], [800, 900, 1000, 2000, 3000]);
    }
}
