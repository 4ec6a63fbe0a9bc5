//! Prints of machines for tests.

use crate::topology::show::tests::made_up;
use crate::{Cores, MachinePrint, Probed, Timers, Tried};
use tiebreak_core::fingerprint::{Fact, Fingerprint};

/// A print in which each outcome of a probe stands.
pub(crate) fn print() -> MachinePrint {
    let tried = |way: &str, error: &str| Tried { way: way.to_owned(), error: error.to_owned() };
    let tried = vec![
        tried("perf event power/energy-pkg", "no such device"),
        tried("/sys/class/powercap", "No such file or directory (os error 2)"),
        tried("hwmon", "no sensor of energy"),
        tried("/dev/cpu/0/msr", "Permission denied (os error 13)"),
    ];
    let reasons = ["a short look: 3 rounds", "CPU 1 was moved during 2 of them"];
    MachinePrint {
        schema: MachinePrint::SCHEMA.to_owned(),
        taken_unix_ms: 1_795_293_900_000,
        took_ns: 26_700_000_000,
        is_quick: true,
        interrupted: false,
        machine: facts(),
        topology: Some(Probed::of(made_up(2, 4, 2), Vec::new())),
        timers: Some(Probed::of(Timers::default(), Vec::new())),
        cores: Some(Probed::of(Cores::default(), reasons.map(str::to_owned).to_vec())),
        cacheline: Some(Probed::inconclusive("the two methods disagree <64 & 128>")),
        bandwidth: Some(Probed::inconclusive("no window in which all threads ran")),
        noise: Some(Probed::inconclusive("no CPU could be watched for long enough")),
        energy: Some(Probed::Unavailable { what: "energy".to_owned(), tried }),
        ..MachinePrint::default()
    }
}

/// What a made-up machine says of itself.
pub(crate) fn facts() -> Fingerprint {
    let text = |text: &str| Fact::Text(text.to_owned());
    let facts = [
        ("cpu_model", text("Example CPU 3000 64-Core Processor")),
        ("cpus_allowed", text("0-7,64-71")),
        ("cpus_online", Fact::Number(128)),
        ("hypervisor", text("KVM")),
        ("kernel", text("6.18.44-example-amd64")),
        ("memory_bytes", Fact::Number(34_359_738_368)),
        ("now_load_average_1min", text("0.10")),
    ];
    Fingerprint(facts.map(|(key, fact)| (key.to_owned(), fact)).into())
}
