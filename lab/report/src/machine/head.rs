//! The first and the last line of a print.

use crate::date::format_unix_ms;
use crate::number::{Scale, seconds};
use crate::text::plain;
use tiebreak_core::fingerprint::{Fact, Fingerprint};
use tiebreak_core::machine::MachinePrint;
use tiebreak_core::metric::Unit;

/// `2026-11-22 14:05 UTC: Example CPU 3000, CPUs 0-7 of 8, KVM, 16 GiB, Linux 6.18`; what is not
/// known is left out.
pub(crate) fn head(print: &MachinePrint) -> String {
    format!("{} UTC: {}", format_unix_ms(print.taken_unix_ms), machine(&print.machine))
}

/// The processor's name.
pub(crate) fn title(print: &MachinePrint) -> String {
    model(&print.machine)
}

fn model(facts: &Fingerprint) -> String {
    text(facts, "cpu_model").unwrap_or_else(|| "a processor without a name".to_owned())
}

fn text(facts: &Fingerprint, key: &str) -> Option<String> {
    match facts.0.get(key) {
        Some(Fact::Text(text)) => Some(plain(text)),
        _ => None,
    }
}

/// The machine in a few words.
pub(super) fn machine(facts: &Fingerprint) -> String {
    let text = |key: &str| text(facts, key);
    let number = |key: &str| match facts.0.get(key) {
        Some(Fact::Number(number)) => Some(*number),
        _ => None,
    };
    let of = number("cpus_online").map_or(String::new(), |online| format!(" of {online}"));
    let memory = number("memory_bytes").map(|bytes| bytes as f64);
    let parts = [
        Some(model(facts)),
        text("cpus_allowed").map(|allowed| format!("CPUs {allowed}{of}")),
        text("hypervisor").filter(|name| name != "none").map(|name| match name.as_str() {
            "yes" => "a virtual machine".to_owned(),
            _ => name,
        }),
        memory.map(|bytes| Scale::of(Unit::Bytes, bytes).write(bytes)),
        text("kernel").map(|kernel| format!("Linux {kernel}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// How long it took, and how to see it again.
pub(crate) fn tail(print: &MachinePrint, name: Option<&str>) -> String {
    let took = seconds(print.took_ns as f64 / 1e9);
    let look = if print.is_quick { ", a short look at each" } else { "" };
    let took = match print.interrupted {
        true => format!("stopped after {took}, before all of it was measured"),
        false => format!("took {took}{look}"),
    };
    match name.map(plain) {
        Some(name) => format!("{took}; kept as {name}: tiebreak machine show {name}"),
        None => took,
    }
}
