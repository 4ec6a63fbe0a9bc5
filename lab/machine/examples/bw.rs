//! Temporary.
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tiebreak_machine::probes::{Budget, bandwidth};
fn main() {
    let s: f64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let flag = AtomicBool::new(false);
    let mut p = |_| ();
    let probe = bandwidth::Bandwidth::new(&tiebreak_machine::cpus::allowed()).unwrap();
    let mut b = Budget::new(Duration::from_secs_f64(s), &flag, &mut p);
    let r = probe.measure(&mut b);
    println!(
        "{} {:?}",
        r.state(),
        match &r {
            tiebreak_core::machine::Probed::Degraded { reasons, .. } => reasons.clone(),
            _ => vec![],
        }
    );
    if let Some(v) = r.value() {
        for c in &v.cells {
            println!(
                "{:6} {} {} kept {:4}/{:4} {:?}",
                c.traffic.name(),
                c.is_pinned,
                c.threads,
                c.windows_kept,
                c.windows,
                c.rounds.iter().map(|r| r.map(|r| (r / 1e8).round() / 10.0)).collect::<Vec<_>>()
            );
        }
        for l in &v.loaded_latency {
            println!(
                "{:.2} {:.1} GB/s {:.1} ns kept {}",
                l.asked_share,
                l.bytes_per_s / 1e9,
                l.latency_ns,
                l.windows_kept
            );
        }
    }
}
