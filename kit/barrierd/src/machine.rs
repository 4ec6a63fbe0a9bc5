//! What the system says of CPUs and clocks.
//!
//! The files are opened once: later the daemon has no right to open any, but may read these again.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use tiebreak_sync::interrupts::CpuSet;

/// Clocks that agree between CPUs: one for all of them, or counters that the kernel has compared.
const COMMON_CLOCKS: [&str; 5] =
    ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "hpet", "acpi_pm"];

/// The files of `/sys` that the daemon reads.
#[derive(Debug)]
pub struct Machine {
    online: File,
    clock: Option<File>,
    /// All CPUs that there can ever be.
    pub possible: CpuSet,
    /// Those without a tick while they run a single task.
    pub tickless: CpuSet,
}

impl Machine {
    /// Opens the files under a folder, which is `/sys/devices/system`.
    ///
    /// # Errors
    ///
    /// It has no lists of CPUs.
    pub fn open(folder: &Path) -> io::Result<Machine> {
        let possible = read_list(&File::open(folder.join("cpu/possible"))?)?;
        // The file is missing in kernels that cannot do without the tick.
        let tickless = File::open(folder.join("cpu/nohz_full"));
        let tickless = tickless.and_then(|file| read_list(&file)).unwrap_or_default();
        let online = File::open(folder.join("cpu/online"))?;
        let clock = folder.join("clocksource/clocksource0/current_clocksource");
        Ok(Machine { online, clock: File::open(clock).ok(), possible, tickless })
    }

    /// How many slots there must be: the highest number, plus one.
    pub fn slots(&self) -> usize {
        self.possible.iter().last().map_or(0, |last| last + 1)
    }

    /// The CPUs that are online now.
    ///
    /// # Errors
    ///
    /// The file cannot be read or understood.
    pub fn online(&self) -> io::Result<CpuSet> {
        read_list(&self.online)
    }

    /// The kernel's clock now, by its name.
    pub fn clock(&self) -> Option<String> {
        self.clock.as_ref().and_then(|file| read_text(file).ok())
    }

    /// Whether times of different CPUs can be compared at all.
    pub fn has_common_clock(&self) -> bool {
        self.clock().is_some_and(|clock| COMMON_CLOCKS.contains(&clock.as_str()))
    }
}

fn read_text(file: &File) -> io::Result<String> {
    let mut bytes = [0; 4096];
    let length = file.read_at(&mut bytes, 0)?;
    Ok(String::from_utf8_lossy(&bytes[..length]).trim().to_string())
}

fn read_list(file: &File) -> io::Result<CpuSet> {
    let text = read_text(file)?;
    // Where no CPU is meant, some kernels write this.
    if text == "(null)" {
        return Ok(CpuSet::new());
    }
    text.parse().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(files: &[(&str, &str)]) -> (tempfile::TempDir, io::Result<Machine>) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let machine = Machine::open(folder.path());
        (folder, machine)
    }

    const CLOCK: &str = "clocksource/clocksource0/current_clocksource";

    #[test]
    fn files_are_read_again_without_being_opened_again() {
        let files = [("cpu/possible", "0-7\n"), ("cpu/online", "0-3,6\n"), (CLOCK, "tsc\n")];
        let (folder, machine) = made(&files);
        let machine = machine.unwrap();
        assert_eq!((machine.slots(), machine.tickless.len()), (8, 0));
        assert_eq!(machine.online().unwrap().to_string(), "0-3,6");
        assert!(machine.has_common_clock());
        std::fs::write(folder.path().join("cpu/online"), "0-7\n").unwrap();
        std::fs::write(folder.path().join(CLOCK), "jiffies\n").unwrap();
        assert_eq!(machine.online().unwrap().to_string(), "0-7");
        assert!(!machine.has_common_clock());
    }

    #[test]
    fn what_is_missing_is_no_cpu_and_no_clock() {
        let list = ("cpu/possible", "0\n");
        for (nohz_full, expected) in [("2,5-6\n", "2,5-6"), ("(null)\n", ""), ("\n", "")] {
            let (_folder, machine) =
                made(&[list, ("cpu/online", "0\n"), ("cpu/nohz_full", nohz_full)]);
            let machine = machine.unwrap();
            assert_eq!(machine.tickless.to_string(), expected);
            assert!(machine.clock().is_none() && !machine.has_common_clock());
        }
        assert!(made(&[list]).1.is_err(), "no list of CPUs that are online");
    }
}
