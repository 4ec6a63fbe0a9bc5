//! The count of system management interrupts, in which the firmware takes all CPUs away. No other
//! count of the kernel shows them.
//!
//! Intel, Software Developer's Manual volume 4: `MSR_SMI_COUNT` 0x34 counts them since the last
//! reset, in 32 bits. perf's `msr` events have the same count as `smi`.

use super::energy::{Input, explain_msr, read_register};
use super::perf::{Counter, Event, READ_TIMES};
use crate::tree::{Tree, explain};
use std::fs::File;

const EVENTS: &str = "/sys/bus/event_source/devices/msr";
const REGISTERS: &str = "/dev/cpu/0/msr";
const COUNT: u64 = 0x34;
const RIGHT: &str = "run as root";

/// An open count of them. All CPUs stop for each, so the count of one CPU suffices.
#[derive(Debug)]
pub struct Smis(Input);

impl Smis {
    /// Opens the count: perf's, or else the processor's register.
    ///
    /// # Errors
    /// Fails if neither can be read; the text gives the reason for each.
    pub fn open(tree: &Tree) -> Result<Smis, String> {
        let by_event = match event(tree) {
            Ok(counter) => return Ok(Smis(Input::Event(counter))),
            Err(error) => error,
        };
        let file = File::open(tree.path(REGISTERS));
        let opened = file.and_then(|file| read_register(&file, COUNT).map(|_| file));
        opened
            .map(|file| Smis(Input::Register(file, COUNT)))
            .map_err(|error| format!("{by_event}; {REGISTERS} (MSR 0x34): {}", explain_msr(&error)))
    }

    /// Returns the count; `None` if it can no longer be read. One system call.
    pub fn count(&self) -> Option<u64> {
        self.0.read()
    }
}

fn event(tree: &Tree) -> Result<Counter, String> {
    let kind = tree.number(&format!("{EVENTS}/type")).and_then(|kind| kind.try_into().ok());
    let config = tree
        .text(&format!("{EVENTS}/events/smi"))
        .and_then(|event| u64::from_str_radix(event.strip_prefix("event=0x")?, 16).ok());
    let (Some(kind), Some(config)) = (kind, config) else {
        return Err("perf has no event msr/smi/".to_owned());
    };
    let opened =
        Counter::open(Event { kind, config, flags: 0, read_format: READ_TIMES }, -1, 0, None);
    opened.map_err(|error| format!("perf's event msr/smi/: {}", explain(&error, RIGHT)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::made_up;

    fn registers(count: u32) -> String {
        let mut bytes = [0_u8; 0x3C];
        bytes[0x34..0x38].copy_from_slice(&count.to_le_bytes());
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[test]
    fn a_register_counts() {
        let (_folder, tree) = made_up::tree(&[(REGISTERS, &registers(5))]);
        let smis = Smis::open(&tree).unwrap();
        assert_eq!(smis.count(), Some(5));
        std::fs::write(tree.path(REGISTERS), registers(7)).unwrap();
        assert_eq!(smis.count(), Some(7));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        fn check(files: &[(&str, &str)], expected: &str) {
            let (_folder, tree) = made_up::tree(files);
            assert_eq!(Smis::open(&tree).unwrap_err(), expected);
        }
        let none = "/dev/cpu/0/msr (MSR 0x34): no such file (ENOENT): the kernel's module msr \
                    is not loaded";
        check(&[], &format!("perf has no event msr/smi/; {none}"));
        let odd = [("sys/bus/event_source/devices/msr/events/smi", "banana")];
        check(&odd, &format!("perf has no event msr/smi/; {none}"));
        let folder = [("dev/cpu/0/msr/below", "")];
        let reason = "/dev/cpu/0/msr (MSR 0x34): is a directory (EISDIR)";
        check(&folder, &format!("perf has no event msr/smi/; {reason}"));
        // A type of events that no kernel has.
        let unknown = [
            ("sys/bus/event_source/devices/msr/type", "4000000000"),
            ("sys/bus/event_source/devices/msr/events/smi", "event=0x04"),
        ];
        let (_folder, tree) = made_up::tree(&unknown);
        let said = Smis::open(&tree).unwrap_err();
        assert!(said.starts_with("perf's event msr/smi/: "), "{said}");
    }
}
