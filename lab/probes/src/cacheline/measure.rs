//! The probe of the cache line, by three methods: a flush (the answer, where there is one), false
//! sharing, and the published strided copy.

mod flush;
mod sharing;
mod strided;

pub use flush::FlushObservation;
pub use strided::Point as Strided;

use crate::tools::*;
use crate::{LineAdvertised, SharingPoint};

/// Of the budget: what each method may take.
const SHARES: [f64; 3] = [0.25, 0.30, 0.40];

/// The probe.
#[derive(Debug)]
pub struct Cacheline {
    cpus: Vec<usize>,
    advertised: Vec<AdvertisedCache>,
    memory_bytes: u64,
}

/// What it saw: of each method what it gave, or why it gave nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Loads beside a line that was just flushed, or loaded.
    pub flush: Result<FlushObservation, String>,
    /// Increments by two CPUs.
    pub sharing: Result<Vec<SharingPoint>, String>,
    /// The strided copy.
    pub strided: Result<Vec<Strided>, String>,
    /// Who says how long a line is, and what.
    pub advertised: Vec<LineAdvertised>,
}

impl Cacheline {
    /// A probe that runs on the first of these CPUs, and for false sharing on the last one too.
    ///
    /// # Errors
    /// None today: where one method is missing, another one is not.
    pub fn new(cpus: &[usize]) -> Result<Cacheline, Unavailable> {
        let first = cpus.first().copied().unwrap_or(0);
        Ok(Cacheline {
            cpus: cpus.to_vec(),
            advertised: caches::advertised(first),
            memory_bytes: caches::memory_share_bytes(),
        })
    }

    /// Measures, for as long as the budget lasts.
    pub fn measure(&self, budget: &mut Budget<'_>) -> Probed<Reading> {
        let mut reasons = Vec::new();
        let first = self.cpus.first().copied().unwrap_or(0);
        let _pinned = pinned(first, &mut reasons);
        let length = |share: f64| -> Duration { budget.length().mul_f64(share) };
        let [of_flush, of_sharing, of_strided] = SHARES.map(length);
        let flush = flush::measure(of_flush, budget);
        let strided = strided::measure(self.memory_bytes, of_strided, budget);
        let sharing = match self.cpus[..] {
            [first, .., last] => sharing::measure([first, last], of_sharing, budget),
            _ => Err("there is one CPU only".to_owned()),
        };
        let reading = Reading { flush, sharing, strided, advertised: self.advertised() };
        if [reading.flush.is_err(), reading.sharing.is_err(), reading.strided.is_err()] == [true; 3]
        {
            return Probed::inconclusive("no method gave anything");
        }
        Probed::of(reading, reasons)
    }

    fn advertised(&self) -> Vec<LineAdvertised> {
        let line = self.advertised.iter().find_map(|cache| cache.line_bytes);
        let told = |(source, line_bytes): (&str, Option<u64>)| {
            Some(LineAdvertised { source: source.to_owned(), line_bytes: line_bytes? })
        };
        [("sysfs", line), ("CPUID", cpuid())].into_iter().filter_map(told).collect()
    }
}

/// What CPUID says that a flush writes back: leaf 1, EBX bits 8 to 15, in units of 8 bytes.
#[cfg(target_arch = "x86_64")]
fn cpuid() -> Option<u64> {
    let bytes = u64::from(std::arch::x86_64::__cpuid(1).ebx >> 8 & 0xff) * 8;
    (bytes > 0).then_some(bytes)
}

#[cfg(not(target_arch = "x86_64"))]
fn cpuid() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::time::Instant;
    use tiebreak_machine::cpus;

    #[test]
    fn each_method_gives_something_or_says_why_not() {
        let flag = AtomicBool::new(false);
        let mut quiet = |_| ();
        let begin = Instant::now();
        let mut budget = Budget::new(Duration::from_millis(900), &flag, &mut quiet);
        let before = cpus::allowed();
        let probed = Cacheline::new(&before).unwrap().measure(&mut budget);
        assert!(begin.elapsed() < Duration::from_secs(60));
        assert_eq!(cpus::allowed(), before);
        let reading = probed.value().unwrap();
        assert!(reading.flush.as_ref().err().is_none_or(|why| !why.is_empty()));
        assert!(reading.advertised.iter().all(|said| said.line_bytes.is_power_of_two()));
        // One CPU shares nothing.
        let one = Cacheline::new(&before[..1]).unwrap().measure(&mut budget);
        assert!(one.value().is_none_or(|reading| reading.sharing.is_err()));
    }
}
