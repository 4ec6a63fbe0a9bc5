//! The latencies of a load as an `.hlog`, the log of Tene's HdrHistogram, which its tools plot and
//! merge.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use std::time::Duration;
use tiebreak_core::load::{LatencyBin, LoadResult, PaceResult};

/// The digits of a value that its histograms keep: more than our bins have.
const DIGITS: u8 = 3;
/// Values are in nanoseconds, the greatest one of a line in milliseconds, as is usual.
const MAX_DIVISOR: f64 = 1e6;

/// The histograms of the latencies as an interval log: two lines a load, one after the other in
/// time, with the tags `intended-send` and `actual-send`. Each arrival counts at the upper bound of
/// its bin from the intended send, and at the lower bound from the actual one, so that quantiles
/// are the bounds of tables. What is beyond all bins counts at the greatest latency.
pub fn hlog(result: &LoadResult) -> String {
    let mut log = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut begun = Duration::ZERO;
    let mut builder = IntervalLogWriterBuilder::new();
    builder.add_comment("latencies in ns, by tiebreak load").with_max_value_divisor(MAX_DIVISOR);
    // Writing to memory does not fail.
    if let Ok(mut writer) = builder.begin_log_with(&mut log, &mut serializer) {
        for load in &result.loads {
            let lasted = Duration::from_nanos(load.duration_ns);
            for (tag, value, count) in SIDES {
                if let Some(histogram) = histogram(load, value, count) {
                    let _ = writer.write_histogram(&histogram, begun, lasted, Tag::new(tag));
                }
            }
            begun += lasted;
        }
    }
    String::from_utf8(log).unwrap_or_default()
}

/// The value and the count of a bin.
type Of = fn(&LatencyBin) -> u64;

/// From which send, at which bound of a bin, and how many.
const SIDES: [(&str, Of, Of); 2] = [
    ("intended-send", |bin| bin.high_ns, |bin| bin.from_intended),
    ("actual-send", |bin| bin.low_ns, |bin| bin.from_actual),
];

/// Returns the histogram of one side; `None` if nothing arrived.
fn histogram(load: &PaceResult, value: Of, count: Of) -> Option<Histogram<u64>> {
    let greatest_ns = load.latencies.last()?.high_ns;
    let mut histogram = Histogram::new(DIGITS).ok()?;
    for bin in &load.bins {
        let value_ns = value(bin).min(greatest_ns).max(1);
        histogram.record_n(value_ns, count(bin)).ok()?;
    }
    Some(histogram)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::tests::{load, open, result};
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    /// Reads base64: the crate has no reader of its own for that step.
    fn decoded(text: &str) -> Vec<u8> {
        let value = |byte: u8| match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        let mut bytes = Vec::new();
        for four in text.trim_end_matches('=').as_bytes().chunks(4) {
            let bits = four.iter().fold(0, |bits, byte| bits << 6 | u32::from(value(*byte)));
            let bits = bits << (6 * (4 - four.len()));
            bytes.extend(&bits.to_be_bytes()[1..four.len()]);
        }
        bytes
    }

    #[test]
    fn a_log_is_read_back() {
        let bin = |low_ns, high_ns, from_actual, from_intended| LatencyBin {
            low_ns,
            high_ns,
            from_actual,
            from_intended,
        };
        let mut one = load(open(1000), 0);
        one.bins = vec![
            bin(1000, 1007, 900, 0),
            bin(50_000, 50_400, 99, 990),
            bin(1 << 40, u64::MAX, 1, 10),
        ];
        let (duration, greatest_ns) = (Duration::from_nanos(one.duration_ns), 4_250_000);
        let mut empty = load(open(1), 0);
        empty.latencies.clear();
        let log = hlog(&result(vec![one.clone(), empty, one]));
        let mut found = Vec::new();
        for entry in IntervalLogIterator::new(log.as_bytes()) {
            if let LogEntry::Interval(line) = entry.unwrap() {
                let bytes = decoded(line.encoded_histogram());
                let histogram: Histogram<u64> =
                    Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
                found.push((line.tag().unwrap().as_str().to_owned(), line, histogram));
            }
        }
        let tags: Vec<&str> = found.iter().map(|(tag, ..)| tag.as_str()).collect();
        assert_eq!(tags, ["intended-send", "actual-send", "intended-send", "actual-send"]);
        for ((tag, line, histogram), [half, most]) in
            found.iter().zip([[50_400, greatest_ns], [1000, greatest_ns]].iter().cycle())
        {
            assert_eq!(
                (histogram.len(), line.duration().as_millis()),
                (1000, duration.as_millis())
            );
            for (quantile, expected) in [(0.5, *half), (1.0, *most)] {
                let value = histogram.value_at_quantile(quantile);
                assert!(histogram.equivalent(value, expected), "{tag} {quantile}: {value}");
            }
        }
    }
}
