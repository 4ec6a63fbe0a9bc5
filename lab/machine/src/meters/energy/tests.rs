//! Layouts of real machines, made up as files.

use super::*;
use crate::tree::made_up;

/// Finds the meter, alive or not: files of a test stand still.
fn found(tree: &Tree) -> Result<Energy, Unavailable> {
    Energy::find(tree, |_| Ok(()))
}

const CLIENT: &[(&str, &str)] = &[
    ("sys/class/powercap/intel-rapl/enabled", "1\n"),
    ("sys/class/powercap/intel-rapl:0/name", "package-0\n"),
    ("sys/class/powercap/intel-rapl:0/energy_uj", "261000000000\n"),
    ("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n"),
    ("sys/class/powercap/intel-rapl:0:0/name", "core\n"),
    ("sys/class/powercap/intel-rapl:0:0/energy_uj", "700\n"),
    ("sys/class/powercap/intel-rapl:0:0/max_energy_range_uj", "262143328850\n"),
    ("sys/class/powercap/intel-rapl:0:1/name", "uncore\n"),
    ("sys/class/powercap/intel-rapl:0:1/energy_uj", "5\n"),
    ("sys/class/powercap/intel-rapl:0:1/max_energy_range_uj", "262143328850\n"),
    ("sys/class/powercap/intel-rapl:1/name", "psys\n"),
    ("sys/class/powercap/intel-rapl:1/energy_uj", "90\n"),
    ("sys/class/powercap/intel-rapl:1/max_energy_range_uj", "262143328850\n"),
    ("sys/class/powercap/intel-rapl-mmio:0/name", "package-0\n"),
    ("sys/class/powercap/intel-rapl-mmio:0/energy_uj", "900\n"),
    ("sys/class/powercap/intel-rapl-mmio:0/max_energy_range_uj", "262143328850\n"),
];

const SERVER: &[(&str, &str)] = &[
    ("sys/class/powercap/intel-rapl:0/name", "package-0\n"),
    ("sys/class/powercap/intel-rapl:0/energy_uj", "900\n"),
    ("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n"),
    ("sys/class/powercap/intel-rapl:0:0/name", "dram\n"),
    ("sys/class/powercap/intel-rapl:0:0/energy_uj", "1\n"),
    ("sys/class/powercap/intel-rapl:0:0/max_energy_range_uj", "65712999613\n"),
    ("sys/class/powercap/intel-rapl:1/name", "package-1\n"),
    ("sys/class/powercap/intel-rapl:1/energy_uj", "10\n"),
    ("sys/class/powercap/intel-rapl:1/max_energy_range_uj", "262143328850\n"),
    ("sys/class/powercap/intel-rapl:1:0/name", "dram\n"),
    ("sys/class/powercap/intel-rapl:1:0/energy_uj", "2\n"),
    ("sys/class/powercap/intel-rapl:1:0/max_energy_range_uj", "65712999613\n"),
];

/// A processor of AMD: the same names, a package and its cores.
const AMD_POWERCAP: &[(&str, &str)] = &[
    ("sys/class/powercap/intel-rapl:0/name", "package-0\n"),
    ("sys/class/powercap/intel-rapl:0/energy_uj", "65532610000\n"),
    ("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "65532610987\n"),
    ("sys/class/powercap/intel-rapl:0:0/name", "core\n"),
    ("sys/class/powercap/intel-rapl:0:0/energy_uj", "3\n"),
    ("sys/class/powercap/intel-rapl:0:0/max_energy_range_uj", "65532610987\n"),
];

const AMD_HWMON: &[(&str, &str)] = &[
    ("sys/class/hwmon/hwmon0/name", "k10temp\n"),
    ("sys/class/hwmon/hwmon0/temp1_input", "40000\n"),
    ("sys/class/hwmon/hwmon2/name", "amd_energy\n"),
    ("sys/class/hwmon/hwmon2/energy1_label", "Ecore000\n"),
    ("sys/class/hwmon/hwmon2/energy1_input", "70\n"),
    ("sys/class/hwmon/hwmon2/energy10_label", "Esocket1\n"),
    ("sys/class/hwmon/hwmon2/energy10_input", "2000\n"),
    ("sys/class/hwmon/hwmon2/energy9_label", "Esocket0\n"),
    ("sys/class/hwmon/hwmon2/energy9_input", "1000\n"),
];

/// Checks the chosen source, and its parts, with the headline before the bar.
#[test]
fn layouts_are_read() {
    fn check(files: &[(&str, &str)], source: &str, expected: &str) {
        let (_folder, tree) = made_up::tree(files);
        let meter = found(&tree).unwrap();
        let names: Vec<String> = meter.parts().iter().map(Part::to_string).collect();
        let (headline, parts) = names.split_at(meter.headline());
        let text = format!("{} | {}", headline.join(", "), parts.join(", "));
        assert_eq!((meter.source(), text.trim_end()), (source, expected));
    }
    let client = "package (package-0) | cores (package-0 core), graphics (package-0 uncore), \
                  platform (psys)";
    check(CLIENT, "powercap", client);
    let server = "package (package-0), package (package-1) | memory (package-0 dram), memory \
                  (package-1 dram)";
    check(SERVER, "powercap", server);
    check(AMD_POWERCAP, "powercap", "package (package-0) | cores (package-0 core)");
    // Where only the memory-mapped twin is there, it serves.
    check(&CLIENT[13..], "powercap", "package (package-0) |");
    let sockets = "package (Esocket0), package (Esocket1) | cores (Ecore000)";
    check(AMD_HWMON, "hwmon", sockets);
    check(&[AMD_HWMON, SERVER].concat(), "powercap", server);
    let board = [
        ("sys/class/hwmon/hwmon1/name", "ltc4282\n"),
        ("sys/class/hwmon/hwmon1/energy1_input", "5\n"),
        ("sys/class/hwmon/hwmon3/name", "i915\n"),
        ("sys/class/hwmon/hwmon3/energy1_input", "7\n"),
    ];
    check(&board, "hwmon", "board (ltc4282 energy1) |");
    // A sensor that cannot be read costs only itself, unless it is a socket's.
    let mut blind = AMD_HWMON.to_vec();
    blind[4].1 = "none\n";
    check(&blind, "hwmon", "package (Esocket0), package (Esocket1) |");
}

/// Changes the numbers of some files, and checks the headline and each part.
#[test]
fn packages_are_summed_and_wrap() {
    let check = |files: &[(&str, &str)], changes: &[(&str, &str)], nj, parts: &[u64]| {
        let (_folder, tree) = made_up::tree(files);
        let meter = found(&tree).unwrap();
        let (then, then_all) = (meter.read().unwrap(), meter.read_parts().unwrap());
        for (path, text) in changes {
            std::fs::write(tree.path(&format!("sys/class/{path}")), text).unwrap();
        }
        let (now, now_all) = (meter.read().unwrap(), meter.read_parts().unwrap());
        assert_eq!(meter.since_nj(&now, &then), nj);
        let each: Option<Vec<u64>> = meter.each_since_nj(&now_all, &then_all).into_iter().collect();
        assert_eq!(each.unwrap_or_default(), parts);
    };
    let client = [
        ("powercap/intel-rapl:0/energy_uj", "1000\n"),
        ("powercap/intel-rapl:0:0/energy_uj", "750\n"),
        ("powercap/intel-rapl-mmio:0/energy_uj", "5000\n"),
        ("powercap/intel-rapl:1/energy_uj", "1090\n"),
    ];
    let wrapped = (262_143_328_850 - 261_000_000_000 + 1000) * 1000;
    check(CLIENT, &client, Some(wrapped), &[wrapped, 50_000, 0, 1_000_000]);
    let server = [
        ("powercap/intel-rapl:0/energy_uj", "1050\n"),
        ("powercap/intel-rapl:1/energy_uj", "30\n"),
        ("powercap/intel-rapl:1:0/energy_uj", "9\n"),
    ];
    check(SERVER, &server, Some(170_000), &[150_000, 20_000, 0, 7000]);
    let amd = [("powercap/intel-rapl:0/energy_uj", "13\n")];
    check(AMD_POWERCAP, &amd, Some(1_000_000), &[1_000_000, 0]);
    let sockets = [
        ("hwmon/hwmon2/energy9_input", "1500\n"),
        ("hwmon/hwmon2/energy10_input", "2001\n"),
        ("hwmon/hwmon2/energy1_input", "80\n"),
    ];
    check(AMD_HWMON, &sockets, Some(501_000), &[500_000, 1000, 10_000]);
    // Without a proof that the gauges move, nothing is known until all of the headline have moved.
    let (_folder, tree) = made_up::tree(SERVER);
    let meter = found(&tree).unwrap().doubted();
    let then = meter.read().unwrap();
    for ((path, text), nj) in server.iter().zip([None, Some(170_000)]) {
        std::fs::write(tree.path(&format!("sys/class/{path}")), text).unwrap();
        assert_eq!(meter.since_nj(&meter.read().unwrap(), &then), nj);
    }
    // A counter of 64 bits that goes back was reset: nothing is known.
    check(AMD_HWMON, &[("hwmon/hwmon2/energy9_input", "1\n")], None, &[]);
}

const TOPOLOGY: &str = "sys/devices/system/cpu";

/// Registers of two packages, with the unit 2^-14 J or 2^-16 J.
fn registers(cpuinfo: &str, unit: (u64, u64), package: u64) -> (tempfile::TempDir, Tree) {
    let (folder, tree) = made_up::tree(&[
        ("proc/cpuinfo", cpuinfo),
        (&format!("{TOPOLOGY}/cpu0/topology/physical_package_id"), "0\n"),
        (&format!("{TOPOLOGY}/cpu1/topology/physical_package_id"), "0\n"),
        (&format!("{TOPOLOGY}/cpu2/topology/physical_package_id"), "1\n"),
        (&format!("{TOPOLOGY}/cpuidle/current_driver"), "acpi_idle\n"),
        ("dev/cpu/0/msr", ""),
        ("dev/cpu/2/msr", ""),
    ]);
    set_register(&tree, 0, unit.0, unit.1);
    set_register(&tree, 2, unit.0, unit.1);
    // The upper half is reserved: its contents must not count.
    set_register(&tree, 0, package, 0xAAAA_BBBB_FFFF_FF00);
    set_register(&tree, 2, package, 0x100);
    (folder, tree)
}

fn set_register(tree: &Tree, cpu: usize, register: u64, value: u64) {
    use std::os::unix::fs::FileExt;
    let path = tree.path(&format!("dev/cpu/{cpu}/msr"));
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.write_all_at(&value.to_le_bytes(), register).unwrap();
}

#[test]
fn registers_are_counted_in_their_unit() {
    let intel = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 106\n";
    let amd = "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n";
    fn check(cpuinfo: &str, unit: (u64, u64), package: u64, count_nj: f64) {
        let (_folder, tree) = registers(cpuinfo, unit, package);
        let meter = found(&tree).unwrap();
        assert_eq!((meter.source(), meter.headline()), ("MSR", 2));
        let then = meter.read().unwrap();
        set_register(&tree, 0, package, 0xCCCC_DDDD_0000_0100);
        set_register(&tree, 2, package, 0x300);
        let now = meter.read().unwrap();
        // 0x200 counts each, with a wrap at 32 bits in one.
        let each_nj = (512.0 * count_nj) as u64;
        assert_eq!(meter.since_nj(&now, &then), Some(2 * each_nj));
        assert_eq!(meter.parts()[1].name, "package-1");
    }
    check(intel, (0x606, 0x000A_0E03), 0x611, 1e9 / 16384.0);
    check(amd, (0xC001_0299, 0x000A_1003), 0xC001_029B, 1e9 / 65536.0);
}

/// Checks the reason that each way gives for its failure.
#[test]
fn every_way_says_what_it_lacks() {
    fn check(files: &[(&str, &str)], way: usize, expected: &str) {
        let (_folder, tree) = made_up::tree(files);
        let error = found(&tree).unwrap_err();
        assert_eq!(error.tried.len(), SOURCES.len());
        assert_eq!(error.tried[way].1, expected);
    }
    let silvermont = "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 55\n";
    let intel = "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 143\n";
    check(&[], 0, "power/type: no such file (ENOENT)");
    check(&[], 1, "no such file (ENOENT)");
    check(&[], 2, "no such file (ENOENT)");
    check(&[], 3, "the processor's vendor is not known");
    check(&[("sys/class/powercap/intel-rapl/enabled", "1")], 1, "no zone of a package");
    // A package without its number, without its range, and with something else in it.
    let no_file = "intel-rapl:0/energy_uj: no such file (ENOENT)";
    check(&CLIENT[1..2], 1, no_file);
    check(&CLIENT[1..3], 1, "intel-rapl:0/max_energy_range_uj: no such file (ENOENT)");
    let words = [CLIENT[1], ("sys/class/powercap/intel-rapl:0/energy_uj", "many\n")];
    check(&words, 1, "intel-rapl:0/energy_uj holds 'many'");
    // A folder in place of a file, since root can read any file.
    let folder = [CLIENT[1], ("sys/class/powercap/intel-rapl:0/energy_uj/x", "")];
    check(&folder, 1, "intel-rapl:0/energy_uj: is a directory (EISDIR)");
    check(&AMD_HWMON[..2], 2, "no sensor counts energy");
    let card =
        [("sys/class/hwmon/hwmon3/name", "xe\n"), ("sys/class/hwmon/hwmon3/energy1_input", "7")];
    check(&card, 2, "xe is a graphics card's");
    let several = [
        ("sys/class/hwmon/hwmon0/name", "vexpress_energy\n"),
        ("sys/class/hwmon/hwmon0/energy1_input", "7"),
        ("sys/class/hwmon/hwmon0/energy1_label", "A53\n"),
        ("sys/class/hwmon/hwmon0/energy2_input", "8"),
    ];
    let unknown =
        "which of vexpress_energy A53, vexpress_energy energy2 covers the whole is not known";
    check(&several, 2, unknown);
    let mut blind = AMD_HWMON.to_vec();
    blind[6].1 = "none\n";
    check(&blind, 2, "hwmon2/energy10_input holds 'none'");
    blind = several.to_vec();
    blind[1].1 = "none\n";
    blind[3].1 = "none\n";
    let both = "hwmon0/energy1_input holds 'none'; hwmon0/energy2_input holds 'none'";
    check(&blind, 2, both);
    let one = "which of vexpress_energy A53 covers the whole is not known; \
               hwmon0/energy2_input holds 'none'";
    blind[1].1 = "7\n";
    check(&blind, 2, one);
    let not_loaded = "CPU 0: no such file (ENOENT): the kernel's module msr is not loaded";
    check(&[("proc/cpuinfo", intel)], 3, not_loaded);
    let other_unit = "the unit of this model of Intel's is not known here";
    check(&[("proc/cpuinfo", silvermont)], 3, other_unit);
    let other_vendor = "no registers of energy are known of CentaurHauls at this family";
    check(&[("proc/cpuinfo", "vendor_id : CentaurHauls\n")], 3, other_vendor);
    let folder = [("proc/cpuinfo", intel), ("dev/cpu/0/msr/x", "")];
    check(&folder, 3, "CPU 0: is a directory (EISDIR)");
}

#[test]
fn a_missing_right_is_named() {
    fn check(number: i32, expected: &str) {
        let error = std::io::Error::from_raw_os_error(number);
        assert_eq!(crate::tree::explain(&error, "run as root"), expected);
    }
    check(libc::EACCES, "permission denied (EACCES): run as root");
    check(libc::EPERM, "operation not permitted (EPERM): run as root");
    check(libc::EIO, "the machine does not answer (EIO)");
    assert!(crate::tree::explain(&std::io::Error::other("odd"), "").contains("odd"));
}

#[test]
fn all_that_was_tried_is_listed() {
    let (_folder, tree) = made_up::tree(&[]);
    let text = found(&tree).unwrap_err().to_string();
    let expected = "no energy meter: perf power events (/sys/bus/event_source/devices/power): \
                    power/type: no such file (ENOENT); powercap (/sys/class/powercap): no such \
                    file (ENOENT); hwmon (/sys/class/hwmon): no such file (ENOENT); MSR \
                    (/dev/cpu/N/msr): the processor's vendor is not known";
    assert_eq!(text, expected);
}

#[test]
fn a_meter_that_stands_still_has_no_period() {
    let (_folder, tree) = made_up::tree(SERVER);
    let meter = found(&tree).unwrap();
    assert_eq!(meter.period_ns(Duration::from_millis(5), &|| false), None);
    assert_eq!(meter.period_ns(Duration::from_secs(3600), &|| true), None);
}

/// Another thread moves the gauge of each package that is alive.
#[test]
fn a_meter_must_move_under_load() {
    fn check(files: &[(&str, &str)], alive: &[&str], expected: Result<&str, &str>) {
        let (_folder, tree) = made_up::tree(files);
        let done = std::sync::atomic::AtomicBool::new(false);
        let write = |count: u64| {
            for path in alive {
                let path = tree.path(&format!("sys/class/{path}"));
                let file = std::fs::File::options().write(true).open(path).unwrap();
                let text = format!("{:015}", 1000 + count);
                std::os::unix::fs::FileExt::write_all_at(&file, text.as_bytes(), 0).unwrap();
            }
        };
        // A reader may see half of a write: from here on that is a number too, as long as before.
        write(0);
        let opened = std::thread::scope(|scope| {
            scope.spawn(|| {
                for count in 1.. {
                    write(count);
                    if done.load(std::sync::atomic::Ordering::Relaxed) {
                        return;
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            let opened = Energy::find(&tree, Energy::prove_alive);
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            opened
        });
        match (opened, expected) {
            (Ok(energy), Ok(source)) => assert_eq!(energy.source(), source),
            (Err(reason), Err(expected)) => {
                assert!(reason.to_string().contains(expected), "{reason}");
            }
            (opened, _) => panic!("{opened:?}, not {expected:?}"),
        }
    }
    let [first, second] = ["powercap/intel-rapl:0/energy_uj", "powercap/intel-rapl:1/energy_uj"];
    check(SERVER, &[first, second], Ok("powercap"));
    let dead = "powercap (/sys/class/powercap): package (package-1) is dead: it stood still while";
    check(SERVER, &[first], Err(dead));
    check(AMD_POWERCAP, &[], Err("package (package-0) is dead"));
    // The next way may be alive.
    let both = [AMD_HWMON, AMD_POWERCAP].concat();
    check(&both, &["hwmon/hwmon2/energy9_input", "hwmon/hwmon2/energy10_input"], Ok("hwmon"));
}

/// A `power` event that is really one of the kernel's own: a CPU clock, or a dummy.
#[test]
fn a_dead_event_is_no_meter() {
    fn check(event: &str, refusal: Option<&str>) {
        let base = "sys/bus/event_source/devices/power";
        let (_folder, tree) = made_up::tree(&[
            // PERF_TYPE_SOFTWARE
            (&format!("{base}/type"), "1"),
            (&format!("{base}/cpumask"), "0"),
            (&format!("{base}/events/energy-pkg"), event),
            (&format!("{base}/events/energy-pkg.scale"), "1e-9"),
        ]);
        match Energy::find(&tree, Energy::prove_alive) {
            Ok(energy) => assert_eq!((energy.source(), refusal), ("perf power events", None)),
            // Not every user may open events of a whole CPU.
            Err(reason) if reason.tried[0].1.starts_with("perf_event_open") => {}
            Err(reason) => assert_eq!(Some(reason.tried[0].1.as_str()), refusal),
        }
    }
    check("event=0x00", None);
    let dead = "package (CPU 0) is dead: it stood still while a CPU worked for 250ms";
    check("event=0x09", Some(dead));
}
