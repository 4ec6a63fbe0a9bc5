//! Rows about what goes on, and what a second of watching found.

use super::*;

#[test]
fn what_goes_on_now() {
    let show = "ps -eo pid,user,pcpu,comm --sort=-pcpu | head";
    let pressure = |text| [("proc/pressure/cpu", text)];
    let calm_text = pressure("some avg10=1.20 avg60=9.00 avg300=9.00 total=1");
    check(&calm_text, "cpu-pressure", Standing::Fine, "1% of the last 10 s", NONE);
    let busy = pressure("some avg10=61.20 avg60=9.00 avg300=9.00 total=1");
    check(&busy, "cpu-pressure", Standing::Noisy, "61% of the last 10 s", [show, ""]);
    let odd = "/proc/pressure/cpu holds 'banana', which is not known here";
    check(&pressure("banana"), "cpu-pressure", Standing::Unknown, odd, NONE);
    let load = |text| [("proc/loadavg", text)];
    let row = "runnable-tasks";
    let few = load("0.53 0.12 0.04 4/88 5785");
    check(&few, row, Standing::Fine, "3 besides tiebreak, for 4 CPUs", NONE);
    let busy = load("0.53 0.12 0.04 6/88 5785");
    check(&busy, row, Standing::Noisy, "5 besides tiebreak, for 4 CPUs", [show, ""]);
    let odd = "/proc/loadavg holds '0.1', which is not known here";
    check(&load("0.1"), row, Standing::Unknown, odd, NONE);
    let stat = |text| [("proc/stat", text)];
    let little = stat("cpu  10 0 10 979 0 0 0 1 5 0\n");
    check(&little, "steal", Standing::Fine, "0.10% since the start", NONE);
    let stolen = stat("cpu  10 0 10 970 0 0 0 10 5 0\n");
    check(&stolen, "steal", Standing::Noisy, "1.00% since the start", NONE);
    let odd = "/proc/stat holds 'cpu 1 2', which is not known here";
    check(&stat("cpu 1 2"), "steal", Standing::Unknown, odd, NONE);
    let (_folder, tree) = place_files(&stolen);
    let metal = Place { is_virtual: false, ..HERE };
    assert_eq!(look_at(&tree, metal, calm(), "steal").standing, Standing::Absent);
}

/// What is said of a second on a machine with these files.
fn watched(files: &[(&str, &str)], second: Second, knob: &str) -> (Standing, String, String) {
    let (_folder, tree) = place_files(files);
    let found = look_at(&tree, HERE, second, knob);
    (found.standing, found.now, found.change.map_or(found.help, |change| change.command))
}

#[test]
fn wake_ups() {
    let device = [("dev/cpu_dma_latency", "")];
    let hold = "sudo sh -c 'exec 3> /dev/cpu_dma_latency; echo 0 >&3; exec sleep infinity'";
    let rest = "What helps: less other work, or CPUs of one's own (--cpus).";
    let check = |half: u64, late: u64, files: &[(&str, &str)], standing, now: &str, help: &str| {
        let mut late_ns = vec![half; 980];
        late_ns.extend(vec![late; 20]);
        let said = watched(files, Second { late_ns: Ok(late_ns), ..calm() }, "wake-up-latency");
        assert_eq!(said, (standing, now.to_owned(), help.to_owned()));
    };
    let now = "median 4 us, 99th percentile 90 us, worst 90 us";
    check(4_000, 90_000, &device, Standing::Fine, now, "");
    let now = "median 61 us, 99th percentile 90 us, worst 90 us";
    check(61_000, 90_000, &device, Standing::Could, now, hold);
    check(61_000, 90_000, &[], Standing::Could, now, rest);
    let busy = [device[0], ("proc/pressure/cpu", "some avg10=61.20")];
    check(61_000, 90_000, &busy, Standing::Could, now, rest);
    let now = "median 61 us, 99th percentile 7000 us, worst 7000 us";
    check(61_000, 7_000_000, &device, Standing::Noisy, now, hold);
    let now = "median 4 us, 99th percentile 7000 us, worst 7000 us";
    check(4_000, 7_000_000, &device, Standing::Noisy, now, rest);
    for (late_ns, why) in
        [(Err("EPERM".to_owned()), "EPERM"), (Ok(Vec::new()), "nothing woke within a second")]
    {
        let said = watched(&[], Second { late_ns, ..calm() }, "wake-up-latency");
        assert_eq!(said, (Standing::Unknown, why.to_owned(), String::new()));
    }
}

#[test]
fn interrupts_on_isolated_cpus_are_counted() {
    let interrupt = |name: &str, words: &str, count| Interrupts {
        name: name.to_owned(),
        words: words.to_owned(),
        count,
    };
    let second = |ticks| {
        let first = vec![interrupt("TLB", "TLB shootdowns", 3)];
        let second = vec![interrupt("LOC", "Local timer interrupts", ticks)];
        Second { interrupts: vec![(2, first), (3, second)], ..calm() }
    };
    let check = |isolated: &str, ticks, standing, now: &str| {
        let files = [("CPU/isolated", isolated)];
        let said = watched(&files, second(ticks), "isolated-interrupts");
        assert_eq!((said.0, &said.1[..]), (standing, now));
    };
    check("", 250, Standing::Absent, "no CPU is isolated");
    check("2-3", 1, Standing::Fine, "4 in 1 s on CPUs 2-3");
    let now = "253 in 1 s on CPUs 2-3, most of them: Local timer interrupts";
    check("2-3", 250, Standing::Noisy, now);
    check("2", 250, Standing::Fine, "3 in 1 s on CPUs 2");
    let odd = "/sys/devices/system/cpu/isolated holds 'x', which is not known here";
    check("x", 250, Standing::Unknown, odd);
}

#[test]
fn interrupts_of_the_firmware() {
    let check = |smis, is_virtual, standing, now: &str| {
        let (_folder, tree) = place_files(&[]);
        let place = Place { is_virtual, ..HERE };
        let found = look_at(&tree, place, Second { smis, ..calm() }, "smi");
        assert_eq!((found.standing, &found.now[..]), (standing, now));
    };
    check(Ok(0), false, Standing::Fine, "0 in 1 s");
    check(Ok(2), false, Standing::Noisy, "2 in 1 s");
    let whose = "0 in 1 s, as this virtual machine counts them; those of the host are not known";
    check(Ok(0), true, Standing::Fine, whose);
    let unknown = "no event; gaps without a cause: tiebreak machine noise";
    check(Err("no event".to_owned()), true, Standing::Unknown, unknown);
}

#[test]
fn a_lower_clock_is_named_only_if_it_is_no_noise() {
    let check = |ordinary_ns, wide_ns, standing, now: &str| {
        let wide = Ok(Wide { vectors: "AVX-512", ordinary_ns, wide_ns });
        let said = watched(&[], Second { wide, ..calm() }, "wide-vectors");
        assert_eq!((said.0, &said.1[..]), (standing, now));
    };
    check([800, 801, 802], [800, 801, 802], Standing::Fine, "100% after AVX-512");
    check([800, 801, 802], [999, 1000, 1001], Standing::Could, "80% after AVX-512");
    check([800, 801, 1000], [999, 1000, 1001], Standing::Fine, "80% after AVX-512");
    let wide = Err("no vectors".to_owned());
    let said = watched(&[], Second { wide, ..calm() }, "wide-vectors");
    assert_eq!((said.0, &said.1[..]), (Standing::Absent, "no vectors"));
}

#[test]
fn a_second_of_this_machine() {
    let (_folder, tree) = place_files(&[("CPU/isolated", "0")]);
    let second = Second::watch(&tree, &cpus::allowed());
    assert!(second.late_ns.is_err() || second.late_ns.is_ok_and(|late| late.is_sorted()));
    assert_eq!(second.interrupts, [(0, Vec::new())], "nothing counts in the made-up root");
    assert!(second.smis.unwrap_err().contains("/dev/cpu/0/msr (MSR 0x34): no such file"));
}
