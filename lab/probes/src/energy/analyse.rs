//! Energy: computes the finding from the probe's reading.

use super::measure::{Load, Probe, Reading, Span};
use crate::tools::*;
use crate::{Energy, EnergyLoad, EnergyPart};

/// Two idle spans that differ by more than this share of their mean saw other work.
const IDLE_SHARE_MAX: f64 = 0.1;
/// A load that ran for less than this share of the time is not the named one.
const RAN_SHARE_MIN: f64 = 0.9;

/// Probes the machine.
pub(crate) fn probe(options: &Options<'_>, budget: &mut Budget<'_>) -> Probed<Energy> {
    probed(Probe::new(&options.cpus), |probe| probe.measure(budget).map(finding))
}

fn finding(reading: Reading, reasons: &mut Vec<String>) -> Energy {
    let before = reading.idle_before.watts();
    let after = reading.idle_after.as_ref().map(Span::watts);
    let idle = after.map_or(before, |after| (before + after) / 2.0);
    if let Some(after) = after
        && (after - before).abs() > IDLE_SHARE_MAX * idle
    {
        reasons.push(format!(
            "idle, the machine took {before:.1} W before the loads and {after:.1} W after them: \
             others were at work"
        ));
    }
    let loads: Vec<EnergyLoad> = reading.loads.iter().map(|load| above(load, idle)).collect();
    reasons.extend(loads.iter().filter_map(doubt));
    let busy = reading.loads.last().map(|load| &load.span);
    let parts = reading.parts.iter().enumerate().map(|(index, part)| EnergyPart {
        name: part.to_string(),
        is_counted: index < reading.headline,
        idle_watts: reading.idle_before.part_watts(index),
        busy_watts: busy.and_then(|span| span.part_watts(index)),
    });
    Energy {
        source: reading.source.to_owned(),
        period_ns: reading.period_ns,
        idle_before_watts: before,
        idle_after_watts: after,
        idle_watts: idle,
        loads,
        parts: parts.collect(),
    }
}

impl Span {
    /// Returns the power of the whole. Nanojoules per nanosecond are watts.
    fn watts(&self) -> f64 {
        self.whole_nj as f64 / self.elapsed_ns.max(1) as f64
    }

    /// Returns the power of a part.
    fn part_watts(&self, index: usize) -> Option<f64> {
        let nj = (*self.parts_nj.get(index)?)?;
        Some(nj as f64 / self.elapsed_ns.max(1) as f64)
    }
}

fn above(load: &Load, idle_watts: f64) -> EnergyLoad {
    let watts = load.span.watts();
    let above_nj = (watts - idle_watts) * load.span.elapsed_ns as f64;
    let possible_ns = load.span.elapsed_ns as f64 * load.cpus as f64;
    EnergyLoad {
        name: load.name.to_owned(),
        cpus: load.cpus as u32,
        elapsed_ns: load.span.elapsed_ns,
        joules: load.span.whole_nj as f64 / 1e9,
        watts,
        above_idle_watts: watts - idle_watts,
        value_nj: (above_nj > 0.0 && load.values > 0).then(|| above_nj / load.values as f64),
        ran_share: (load.run_ns as f64 / possible_ns.max(1.0)).min(1.0),
    }
}

/// Returns the reason against a load, if there is one.
fn doubt(load: &EnergyLoad) -> Option<String> {
    let name = format!("the {} load on {} of the CPUs", load.name, load.cpus);
    if load.ran_share < RAN_SHARE_MIN {
        return Some(format!("{name} ran for {:.0}% of the time", load.ran_share * 100.0));
    }
    load.value_nj.is_none().then(|| format!("{name} is lost in what others take"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_machine::meters::{EnergyDomain, EnergyPart as Part};

    fn span(elapsed_ms: u64, whole_mj: u64, memory_mj: Option<u64>) -> Span {
        let parts_nj = vec![Some(whole_mj * 1_000_000), memory_mj.map(|mj| mj * 1_000_000)];
        Span { elapsed_ns: elapsed_ms * 1_000_000, whole_nj: whole_mj * 1_000_000, parts_nj }
    }

    fn reading() -> Reading {
        fn part(domain: EnergyDomain, name: &str) -> Part {
            Part { domain, name: name.to_owned() }
        }
        fn load(name: &'static str, cpus: usize, span: Span, run_ms: u64) -> Load {
            Load { name, cpus, span, values: 2_000_000_000, run_ns: run_ms * 1_000_000 }
        }
        Reading {
            source: "powercap",
            parts: vec![
                part(EnergyDomain::Package, "package-0"),
                part(EnergyDomain::Memory, "package-0 dram"),
            ],
            headline: 1,
            period_ns: 1_000_000,
            idle_before: span(500, 5000, Some(500)),
            loads: vec![
                load("integer", 1, span(1000, 20_000, None), 995),
                load("integer", 4, span(1000, 51_000, Some(1500)), 3990),
            ],
            idle_after: Some(span(500, 5500, Some(500))),
        }
    }

    #[test]
    fn idle_is_subtracted_from_each_load() {
        let mut reasons = Vec::new();
        let found = finding(reading(), &mut reasons);
        assert_eq!(reasons, Vec::<String>::new());
        let idle = [found.idle_before_watts, found.idle_watts, found.idle_after_watts.unwrap()];
        assert_eq!(idle, [10.0, 10.5, 11.0]);
        let [one, all] = found.loads.as_slice() else { panic!("{found:?}") };
        assert_eq!((one.watts, one.above_idle_watts, one.joules), (20.0, 9.5, 20.0));
        assert_eq!((all.watts, all.above_idle_watts), (51.0, 40.5));
        assert_eq!((one.value_nj, one.ran_share), (Some(4.75), 0.995));
        let [package, memory] = found.parts.as_slice() else { panic!("{found:?}") };
        assert_eq!((package.is_counted, memory.is_counted), (true, false));
        assert_eq!((memory.idle_watts, memory.busy_watts), (Some(1.0), Some(1.5)));
        assert_eq!(memory.name, "memory (package-0 dram)");
    }

    #[test]
    fn what_speaks_against_a_reading_is_said() {
        fn check(change: fn(&mut Reading), expected: &str) -> Energy {
            let mut reading = reading();
            change(&mut reading);
            let mut reasons = Vec::new();
            let found = finding(reading, &mut reasons);
            assert_eq!(reasons.join("; "), expected);
            found
        }
        let others = "idle, the machine took 10.0 W before the loads and 16.0 W after them: others \
                      were at work";
        check(|reading| reading.idle_after = Some(span(500, 8000, None)), others);
        let slow = "the integer load on 4 of the CPUs ran for 50% of the time";
        check(|reading| reading.loads[1].run_ns /= 2, slow);
        let lost = "the integer load on 1 of the CPUs is lost in what others take";
        let found = check(|reading| reading.loads[0].span.whole_nj = 9_000_000_000, lost);
        assert_eq!((found.loads[0].above_idle_watts, found.loads[0].value_nj), (-1.5, None));
        let found = check(|reading| reading.idle_after = None, "");
        assert_eq!((found.idle_watts, found.idle_after_watts), (10.0, None));
    }
}
