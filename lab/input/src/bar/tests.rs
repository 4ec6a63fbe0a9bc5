//! Numbers in units: read, refused, written.

use super::*;
use proptest::prelude::*;

fn read(text: &str, metric: Metric) -> Result<f64, String> {
    let mut cursor = Cursor::new(text, &[]).unwrap();
    let bar = bar(&mut cursor, &["by"]);
    bar.and_then(|bar| bar.value(&cursor, metric, true)).map_err(|error| error.to_string())
}

#[test]
fn every_unit_is_read_with_and_without_a_space() {
    let cases = [
        ("5ns", Metric::WallTime, 5.0),
        ("5 us", Metric::CpuTime, 5e3),
        ("5.25 ms", Metric::WallTime, 5.25e6),
        ("5MS", Metric::WallTime, 5e6),
        ("1.5 s", Metric::WallTime, 1.5e9),
        ("2min", Metric::WallTime, 120e9),
        ("7 B", Metric::PeakMemory, 7.0),
        ("7 kB", Metric::PeakMemory, 7e3),
        ("7 KiB", Metric::PeakMemory, 7168.0),
        ("1.5 MiB", Metric::PeakMemory, 1_572_864.0),
        ("1 MB", Metric::PeakMemory, 1e6),
        ("1 GB", Metric::PeakMemory, 1e9),
        ("1 GiB", Metric::PeakMemory, 1_073_741_824.0),
        ("3nJ", Metric::Energy, 3.0),
        ("3 uJ", Metric::Energy, 3e3),
        ("3 mJ", Metric::Energy, 3e6),
        ("3 J", Metric::Energy, 3e9),
        ("1000", Metric::PageFaults, 1000.0),
        ("1000 by", Metric::Cycles, 1000.0),
    ];
    for (text, metric, value) in cases {
        assert_eq!(read(text, metric), Ok(value), "{text}");
    }
}

#[test]
fn a_unit_must_fit_the_metric_and_a_number_its_range() {
    let cases = [
        ("5 ms", Metric::PageFaults, "'5 ms' is not an amount of page faults: expected a plain"),
        ("5", Metric::Energy, "'5' is not an amount of energy: expected '5 nJ', '5 uJ'"),
        ("0 ms", Metric::WallTime, "'0 ms' is out of range: expected more than 0 and at most"),
        ("-1 ms", Metric::WallTime, "'-1 ms' is out of range"),
        ("2e18", Metric::Cycles, "'e18' is not a unit"),
        ("2000000000000000000", Metric::Cycles, "'2000000000000000000' is out of range"),
        ("5 MJ", Metric::Energy, "'MJ' is not a unit; did you mean 'mJ'?"),
        ("5 parsecs", Metric::WallTime, "'parsecs' is not a unit: expected 'ns', 'us'"),
        ("5mss", Metric::WallTime, "'mss' is not a unit; did you mean 'ms'?"),
        ("ms", Metric::WallTime, "'ms' is not a number: expected a number such as 5 ms"),
        ("NaN ms", Metric::WallTime, "'NaN' is not a number"),
        ("", Metric::WallTime, "the claim ends too early: expected a number such as 5 ms"),
    ];
    for (text, metric, message) in cases {
        let error = read(text, metric).unwrap_err();
        assert!(error.starts_with(message), "{text}: {error}");
    }
}

#[test]
fn bars_are_written_short() {
    let cases = [
        (5e6, Unit::Nanoseconds, "5 ms"),
        (5.25e6, Unit::Nanoseconds, "5.25 ms"),
        (90e9, Unit::Nanoseconds, "90 s"),
        (0.5, Unit::Nanoseconds, "0.5 ns"),
        (67_108_864.0, Unit::Bytes, "64 MiB"),
        (1e6, Unit::Bytes, "1 MB"),
        (1000.0, Unit::Count, "1000"),
        (1e18, Unit::Nanojoules, "1000000000 J"),
    ];
    for (value, unit, text) in cases {
        assert_eq!(written(value, unit), text);
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_back(
        mantissa in 1.0..10.0f64,
        exponent in -3..18i32,
        metric in proptest::sample::select(&Metric::ALL[..]),
    ) {
        for value in [mantissa * 10_f64.powi(exponent), mantissa.floor() * 1024.0] {
            prop_assert_eq!(read(&written(value, metric.unit()), metric), Ok(value));
        }
    }
}
