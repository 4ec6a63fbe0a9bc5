//! A counter of energy, whatever it is read from.

use super::part::Part;
use crate::meters::perf::Counter;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// No package takes as much power: a counter that could have gone round more than once at this
/// power tells nothing.
const WATTS_MAX: f64 = 1000.0;

/// A counter of energy that only grows, but for starting again above its range.
#[derive(Debug)]
pub(super) struct Gauge {
    /// What it covers.
    pub part: Part,
    /// Where it is read.
    pub input: Input,
    /// Nanojoules a count.
    pub count_nj: f64,
    /// Counts after which it starts again at 0; `None` if it never does.
    pub range: Option<u64>,
}

/// Where a gauge is read.
#[derive(Debug)]
pub(super) enum Input {
    /// An event of perf's.
    Event(Counter),
    /// A file with a decimal number.
    Text(File),
    /// The low 32 bits of a register, at its number in the file of a CPU's registers.
    Register(File, u64),
}

impl Gauge {
    /// The counter now; `None` if it can no longer be read. One system call.
    pub(super) fn read(&self) -> Option<u64> {
        match &self.input {
            Input::Event(counter) => Some(counter.read().ok()?.count),
            Input::Text(file) => {
                let mut text = [0; 32];
                let length = file.read_at(&mut text, 0).ok()?;
                std::str::from_utf8(&text[..length]).ok()?.trim().parse().ok()
            }
            Input::Register(file, register) => {
                Some(read_register(file, *register).ok()? & u64::from(u32::MAX))
            }
        }
    }

    /// Nanojoules between two values of the counter that were read so far apart; `None` if it went
    /// back without a reason, or may have started again more than once.
    pub(super) fn used_nj(&self, now: u64, then: u64, apart: Duration) -> Option<u64> {
        let counts = match self.range {
            Some(range) => {
                let round_s = range as f64 * self.count_nj / 1e9 / WATTS_MAX;
                if apart.as_secs_f64() >= round_s {
                    return None;
                }
                if now >= then { now - then } else { range.checked_sub(then)?.checked_add(now)? }
            }
            None => now.checked_sub(then)?,
        };
        Some((counts as f64 * self.count_nj) as u64)
    }
}

/// A model-specific register: eight bytes at its number.
pub(in crate::meters) fn read_register(file: &File, register: u64) -> std::io::Result<u64> {
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, register)?;
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::super::part::Domain;
    use super::*;

    #[test]
    fn what_cannot_be_known_is_absent() {
        let check = |range, count_nj, [then, now]: [u64; 2], apart_ms, expected| {
            let part = Part { domain: Domain::Package, name: "package-0".to_owned() };
            let input = Input::Text(File::open("/dev/null").unwrap());
            let gauge = Gauge { part, input, count_nj, range };
            assert_eq!(gauge.used_nj(now, then, Duration::from_millis(apart_ms)), expected);
        };
        check(None, 1000.0, [5, 7], 1, Some(2000));
        check(None, 1000.0, [7, 5], 1, None);
        check(Some(1 << 32), 15_258.789_062_5, [u64::from(u32::MAX), 1], 1, Some(30_517));
        // 65.5 J come to their end within 66 ms at 1 kW, and not within 65 ms.
        check(Some(65_532_610), 1000.0, [65_532_600, 10], 65, Some(20_000));
        check(Some(65_532_610), 1000.0, [65_532_600, 10], 66, None);
        check(Some(100), 1e9, [120, 5], 1, None);
    }
}
