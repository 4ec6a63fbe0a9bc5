//! The driver of the Confidence Sequence Method and its power, on the runs of the text.

#![allow(clippy::excessive_precision, reason = "published digits stay as they were published")]

use tiebreak_stats::classic::{
    ClassicError, Conclusion, Driver, DriverOptions, Power, PowerOptions, PowerResult, Progress,
};
use tiebreak_stats::coins::{Purpose, Seed, Stream};

fn options(alpha: f64, alpha_hi: Option<f64>, eps: f64) -> DriverOptions {
    DriverOptions { alpha, alpha_hi, eps, min_count: 0, max_count: None }
}

fn is_close(got: f64, published: f64) -> bool {
    (got - published).abs() <= 1e-10 * published.abs()
}

/// A line of a report to the four digits that the text prints: trials, share, lower end, upper end,
/// and the level in powers of ten.
fn check_line(driver: &Driver, progress: &Progress, line: (u64, f64, f64, f64, f64)) {
    let (n, estimate, low, high, level) = line;
    let interval = driver.interval(progress);
    let level_got = -progress.log_level / std::f64::consts::LN_10;
    let got = [progress.estimate().unwrap(), interval.0, interval.1, level_got];
    for (got, printed) in got.into_iter().zip([estimate, low, high, level]) {
        // Half a unit of the fourth digit.
        let unit = libm::pow(10.0, libm::floor(libm::log10(printed.abs().max(1e-300))) - 3.0);
        assert!((got - printed).abs() <= 0.5001 * unit, "n = {n}: {got}, not {printed}");
    }
}

/// Runs a driver and checks the lines on the way.
fn run_with_lines(
    driver: &Driver,
    outcomes: impl IntoIterator<Item = bool>,
    lines: &[(u64, f64, f64, f64, f64)],
) -> Progress {
    let mut seen = 0;
    let end = driver.run(outcomes, |progress| {
        if let Some(line) = lines.iter().find(|line| line.0 == progress.n) {
            check_line(driver, progress, *line);
            seen += 1;
        }
    });
    assert_eq!(seen, lines.len());
    end
}

#[test]
fn the_permutation_test_of_the_text() {
    let driver = Driver::new(&options(0.005, Some(0.01), 1e-9)).unwrap();
    let lines = [
        (1, 0.0, 7.761e-11, 1.0, -0.2967),
        (10, 0.0, 0.0, 0.8709, -0.9977),
        (20, 0.0, 0.0, 0.6577, -1.235),
        (30, 0.0, 0.0, 0.5163, -1.360),
        (40, 0.0, 0.0, 0.4226, -1.438),
        (50, 0.0, 0.0, 0.3569, -1.489),
        (60, 0.0, 0.0, 0.3086, -1.523),
        (70, 0.0, 0.0, 0.2718, -1.546),
        (80, 0.0, 0.0, 0.2427, -1.559),
        (90, 0.0, 0.0, 0.2192, -1.566),
        (100, 0.0, 0.0, 0.1998, -1.568),
        (200, 0.0, 0.0, 0.1060, -1.430),
        (300, 0.0, 0.0, 7.207e-2, -1.169),
        (400, 0.0, 0.0, 5.460e-2, -0.8572),
        (500, 0.0, 0.0, 4.395e-2, -0.5174),
        (600, 0.0, 0.0, 3.677e-2, -0.1600),
        (700, 0.0, 0.0, 3.161e-2, 0.2096),
        (800, 0.0, 0.0, 2.772e-2, 0.5882),
        (900, 0.0, 0.0, 2.468e-2, 0.9736),
        (1000, 0.0, 0.0, 2.224e-2, 1.364),
        (2000, 0.0, 0.0, 1.119e-2, 5.428),
    ];
    let end = run_with_lines(&driver, std::iter::repeat(false), &lines);
    assert_eq!((end.n, end.s, end.estimate()), (2967, 0, Some(0.0)));
    assert!(!end.differs_from_low && end.differs_from_high);
    let (low, high) = driver.interval(&end);
    assert!(low == 0.0 && is_close(high, 0.007557510165262294), "[{low}, {high}]");
    assert_eq!(driver.conclude(&end), Conclusion::Below(0.01));
}

#[test]
fn the_outer_test_of_the_power_of_the_text() {
    let outer = DriverOptions { min_count: 100, ..options(0.99, None, 1e-9) };
    let driver = Driver::new(&outer).unwrap();
    let lines = [
        (1, 0.0, 1.250e-10, 1.0, 1.699),
        (10, 0.0, 0.0, 0.8660, 18.96),
        (20, 0.0, 0.0, 0.6511, 38.68),
        (30, 0.0, 0.0, 0.5099, 58.51),
        (40, 2.5e-2, 5.518e-7, 0.4659, 74.79),
        (50, 2e-2, 4.425e-7, 0.3952, 94.60),
        (60, 1.667e-2, 3.694e-7, 0.3427, 114.4),
        (70, 1.429e-2, 3.170e-7, 0.3024, 134.3),
        (80, 1.25e-2, 2.776e-7, 0.2705, 154.2),
        (90, 1.111e-2, 2.469e-7, 0.2446, 174.1),
        (100, 1e-2, 2.223e-7, 0.2232, 194.0),
    ];
    // The one success came between the lines of 30 and 40.
    let end = run_with_lines(&driver, (1..).map(|attempt| attempt == 35), &lines);
    assert_eq!((end.n, end.s), (100, 1));
    assert!(end.differs_from_low && end.differs_from_high);
    let (low, high) = driver.interval(&end);
    assert!(is_close(low, 2.2234953205868331e-7), "{low}");
    assert!(is_close(high, 0.22321314110840665), "{high}");
    assert_eq!(driver.conclude(&end), Conclusion::Below(0.99));
}

#[test]
fn the_driver_ends_where_it_should() {
    let check = |options: DriverOptions, outcomes: Vec<bool>, n, is_decided| {
        let end = Driver::new(&options).unwrap().run(outcomes, |_| {});
        assert_eq!((end.n, end.is_decided()), (n, is_decided), "{options:?}");
    };
    let half = options(0.5, None, 0.01);
    let heads = |count| vec![true; count];
    // ln(n + 1) + n ln 0.5 < ln 0.005 for the first time at 12.
    check(half, heads(100), 12, true);
    check(half, heads(11), 11, false);
    check(half, vec![], 0, false);
    check(DriverOptions { max_count: Some(5), ..half }, heads(100), 5, false);
    check(DriverOptions { max_count: Some(0), ..half }, heads(100), 0, false);
    check(DriverOptions { min_count: 30, ..half }, heads(100), 30, true);
    check(DriverOptions { min_count: 30, max_count: Some(9), ..half }, heads(100), 30, true);
    // Half of the smallest double is 0, and nothing is said at an error of 0.
    check(DriverOptions { eps: f64::from_bits(1), ..half }, heads(3000), 3000, false);
}

#[test]
fn the_driver_shares_its_error_as_published() {
    // All successes: the interval of n successes is [e^(1/(n + 1)), ...] for a tail of e.
    let low_end = |alpha_hi| {
        let driver = Driver::new(&options(0.7, alpha_hi, 1e-9)).unwrap();
        let end = driver.run(std::iter::repeat(true), |_| {});
        (end.n, driver.interval(&end).0)
    };
    let (n, low) = low_end(None);
    let truth = libm::pow(1e-9 / 4.0, 1.0 / (n + 1) as f64);
    // Published: about 0.7417.
    assert!(n == 73 && low <= truth && low > truth * (1.0 - 1e-9), "{n} {low}");
    assert!((low - 0.7417).abs() < 5e-5, "{low}");
    let (n, low) = low_end(Some(0.9));
    let truth = libm::pow(1e-9 / 6.0, 1.0 / (n + 1) as f64);
    assert!(low <= truth && low > truth * (1.0 - 1e-9), "{n} {low}");
}

#[test]
fn conclusions() {
    let check = |alpha, alpha_hi, n, s, expected| {
        // The successes are spread evenly.
        let outcomes = (1..=n).map(|i: u64| i * s / n > (i - 1) * s / n);
        let driver = DriverOptions { min_count: n, ..options(alpha, alpha_hi, 0.01) };
        let driver = Driver::new(&driver).unwrap();
        let end = driver.run(outcomes, |_| {});
        assert_eq!((end.n, end.s), (n, s));
        assert_eq!(driver.conclude(&end), expected, "{alpha} {alpha_hi:?}: {s} of {n}");
    };
    check(0.5, None, 1000, 300, Conclusion::Below(0.5));
    check(0.5, None, 1000, 700, Conclusion::Above(0.5));
    check(0.5, None, 1000, 500, Conclusion::Open);
    check(0.4, Some(0.6), 2000, 1000, Conclusion::Between);
    check(0.4, Some(0.6), 2000, 1500, Conclusion::Above(0.6));
    check(0.4, Some(0.6), 2000, 500, Conclusion::Below(0.4));
    check(0.4, Some(0.6), 2000, 1180, Conclusion::Above(0.4));
    check(0.4, Some(0.6), 2000, 820, Conclusion::Below(0.6));
    check(0.4, Some(0.6), 20, 10, Conclusion::Open);
}

fn power_options(p: f64, alpha: f64, max_count: u64, success_rate: f64) -> PowerOptions {
    let (alpha_hi, eps, max_attempts) = (None, 1e-5, None);
    PowerOptions { p, alpha, alpha_hi, max_count, eps, success_rate, max_attempts }
}

fn power(options: &PowerOptions, seed: &str) -> PowerResult {
    let mut stream = Stream::new(Seed::from_text(seed), Purpose::Simulation, 0, 0);
    Power::new(options).unwrap().run(|| stream.unit(), |_| {})
}

#[test]
fn power_of_certain_trials_as_published() {
    let check = |p, alpha, max_count, success_rate, share| {
        let result = power(&power_options(p, alpha, max_count, success_rate), "certain");
        assert!(result.progress.is_decided(), "{p} {alpha}");
        assert_eq!(result.progress.estimate(), Some(share), "{p} {alpha}");
    };
    check(1.0, 0.99, 10, 0.99, 0.0);
    check(0.0, 0.99, 10, 0.7, 1.0);
    check(0.0, 0.99, 1, 0.7, 0.0);
    check(1.0, 0.01, 10, 0.7, 1.0);
    check(1.0, 0.01, 1, 0.7, 0.0);
    check(0.0, 0.01, 10, 0.99, 0.0);
}

#[test]
fn power_in_the_middle_of_96_and_98_percent() {
    let middle =
        PowerOptions { alpha_hi: Some(0.98), eps: 1e-3, ..power_options(0.97, 0.96, 1000, 0.99) };
    // The text found one success in 100; simulations put the power at 1.7%.
    let result = power(&middle, "the text's setup");
    assert_eq!(result.progress.n, 100);
    assert!(result.progress.s <= 8, "{result:?}");
    assert!(result.progress.differs_from_low);
    assert!((100..=1000).contains(&result.inner_count_max), "{result:?}");
    let outer = Power::new(&middle).unwrap().outer;
    assert_eq!(outer.conclude(&result.progress), Conclusion::Below(0.99));

    // The share over many attempts, with no power asked for.
    let many = PowerOptions { max_attempts: Some(2000), success_rate: 0.02, ..middle };
    let result = power(&many, "many attempts");
    let share = result.progress.estimate().unwrap();
    assert_eq!(result.progress.n, 2000);
    assert!((0.008..=0.028).contains(&share), "{share}");
}

#[test]
fn options_out_of_range_are_told_by_name() {
    fn check(error: Option<ClassicError>, argument: &str) {
        assert_eq!(error.expect(argument).argument, argument);
    }
    let nan = f64::NAN;
    check(Driver::new(&options(0.0, None, 0.01)).err(), "alpha");
    check(Driver::new(&options(nan, None, 0.01)).err(), "alpha");
    check(Driver::new(&options(0.5, Some(1.0), 0.01)).err(), "alpha_hi");
    check(Driver::new(&options(0.5, None, 0.0)).err(), "eps");
    check(Driver::new(&options(0.5, None, 1.0)).err(), "eps");
    check(Power::new(&power_options(1.1, 0.5, 9, 0.9)).err(), "p");
    check(Power::new(&power_options(nan, 0.5, 9, 0.9)).err(), "p");
    check(Power::new(&power_options(0.4, 1.5, 9, 0.9)).err(), "alpha");
    check(Power::new(&power_options(0.4, 0.5, 9, 1.0)).err(), "success_rate");
}
