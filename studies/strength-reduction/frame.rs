// What every Rust contestant of this study shares, all but `compute` of the crate that this module
// stands in: see frame.h, which it follows word by word.

use core::fmt;
use tiebreak_abi::{Contestant, Sink, Workload};

/// The bits of an element, as a line of the answer has them.
struct Bits(u64);

impl fmt::Display for Bits {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

fn exact(i: u64) -> f64 {
    let unit = (1_u64 << 52) as f64;
    let [a, b, c] = [1.1, 2.2, 3.3].map(|factor: f64| (factor * unit) as u128);
    let i = u128::from(i);
    (a * i * i + b * i + c) as f64 / unit
}

fn canonical(i: u64, value: f64, ulps: f64) -> Bits {
    let exact = exact(i);
    let ulp = f64::from_bits(exact.to_bits() & 0x7ff0_0000_0000_0000) * f64::EPSILON;
    let near = (value - exact).abs() <= ulps * ulp;
    Bits(if near { exact.to_bits() } else { value.to_bits() })
}

/// The contestant whose kernel is `compute` of the crate's root.
pub struct Form;

impl Contestant for Form {
    const NAME: &'static core::ffi::CStr = c"form";
    type State<'w> = Workload<'w>;

    fn prepare(workload: Workload<'_>) -> Option<Workload<'_>> {
        Some(workload)
    }

    fn run(workload: &mut Workload<'_>) -> u64 {
        let data = workload.output_as();
        crate::compute(data);
        data.len() as u64 + data.last().map_or(0, |value| value.to_bits() >> 32)
    }

    /// Under the published contract.
    fn dump(workload: &mut Workload<'_>, sink: &mut Sink<'_>) {
        for (i, value) in (0_u64..).zip(workload.output_as::<f64>()) {
            sink.line(canonical(i, *value, (i + 2) as f64));
        }
    }
}
