//! perf's `power` events. The kernel adds up the counts of the packages' registers, so they never
//! wrap.

use super::gauge::{Domain, Gauge, Input, Part};
use crate::cpus;
use crate::meters::perf::{Counter, Event, READ_TIMES};
use crate::tree::{Tree, explain};

/// The folder in which the kernel describes the events.
pub(super) const FOLDER: &str = "/sys/bus/event_source/devices/power";

const RIGHT: &str = "events of a whole machine need CAP_PERFMON (root has it), or a number of 0 or \
                     less in /proc/sys/kernel/perf_event_paranoid";

/// The events, that of the package first: without it, the others are not read.
const EVENTS: [(&str, Domain); 5] = [
    ("energy-pkg", Domain::Package),
    ("energy-cores", Domain::Cores),
    ("energy-gpu", Domain::Graphics),
    ("energy-ram", Domain::Memory),
    ("energy-psys", Domain::Platform),
];

/// An event as the kernel describes it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Described {
    domain: Domain,
    config: u64,
    count_nj: f64,
}

/// The type, one CPU per package to open events on, and the available events.
pub(super) type Description = (u32, Vec<usize>, Vec<Described>);

/// Opens all available events.
pub(super) fn open(tree: &Tree) -> Result<Vec<Gauge>, String> {
    let (kind, cpus, events) = describe(tree)?;
    let mut gauges = Vec::new();
    for described in events {
        for cpu in &cpus {
            let event = Event { kind, config: described.config, flags: 0, read_format: READ_TIMES };
            let part = Part { domain: described.domain, name: format!("CPU {cpu}") };
            match Counter::open(event, -1, *cpu as i32, None) {
                Ok(counter) => gauges.push(Gauge {
                    part,
                    input: Input::Event(counter),
                    count_nj: described.count_nj,
                    range: None,
                }),
                Err(error) if described.domain == Domain::Package => {
                    return Err(format!("perf_event_open: {}", explain(&error, RIGHT)));
                }
                // A missing part is no reason to give up the package.
                Err(_) => {}
            }
        }
    }
    Ok(gauges)
}

/// Reads the kernel's description.
pub(super) fn describe(tree: &Tree) -> Result<Description, String> {
    let kind = tree.read(&format!("{FOLDER}/type"), "")?;
    let kind = kind.parse().map_err(|_| format!("type holds '{kind}'"))?;
    let mask = tree.read(&format!("{FOLDER}/cpumask"), "")?;
    let cpus = cpus::parse_list(&mask).filter(|cpus| !cpus.is_empty());
    let cpus = cpus.ok_or_else(|| format!("cpumask holds '{mask}'"))?;
    let mut events = Vec::new();
    for (name, domain) in EVENTS {
        match event(tree, name, domain) {
            Ok(event) => events.push(event),
            Err(error) if domain == Domain::Package => return Err(error),
            Err(_) => {}
        }
    }
    Ok((kind, cpus, events))
}

fn event(tree: &Tree, name: &str, domain: Domain) -> Result<Described, String> {
    let read = |suffix: &str| tree.read(&format!("{FOLDER}/events/{name}{suffix}"), "");
    let event = read("")?;
    let config = event.strip_prefix("event=0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
    let config = config.ok_or_else(|| format!("events/{name} holds '{event}'"))?;
    let scale = read(".scale")?;
    let joules = scale.parse::<f64>().ok().filter(|joules| *joules > 0.0 && joules.is_finite());
    let joules = joules.ok_or_else(|| format!("events/{name}.scale holds '{scale}'"))?;
    // A kernel that ever counts in another unit would report it here.
    if let Ok(unit) = read(".unit")
        && unit != "Joules"
    {
        return Err(format!("events/{name}.unit holds '{unit}'"));
    }
    Ok(Described { domain, config, count_nj: joules * 1e9 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::made_up;

    /// Two packages of a server with memory gauges, and a client with all events.
    fn layout<'a>(cpumask: &'a str, names: &[&'a str]) -> Vec<(String, &'a str)> {
        let base = FOLDER.trim_start_matches('/');
        let mut files =
            vec![(format!("{base}/type"), "21\n"), (format!("{base}/cpumask"), cpumask)];
        for name in names {
            let event = match *name {
                "energy-cores" => "event=0x01\n",
                "energy-pkg" => "event=0x02\n",
                "energy-ram" => "event=0x03\n",
                "energy-gpu" => "event=0x04\n",
                _ => "event=0x05\n",
            };
            files.push((format!("{base}/events/{name}"), event));
            let scale = "2.3283064365386962890625e-10\n";
            files.push((format!("{base}/events/{name}.scale"), scale));
            files.push((format!("{base}/events/{name}.unit"), "Joules\n"));
        }
        files
    }

    fn described(files: &[(String, &str)]) -> Result<Description, String> {
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let (_folder, tree) = made_up::tree(&files);
        describe(&tree)
    }

    #[test]
    fn events_are_described_by_their_files() {
        fn check(cpumask: &str, names: &[&str], cpus: &[usize], expected: &[(Domain, u64)]) {
            let (kind, found, events) = described(&layout(cpumask, names)).unwrap();
            assert_eq!((kind, found.as_slice()), (21, cpus));
            let short: Vec<_> = events.iter().map(|one| (one.domain, one.config)).collect();
            assert_eq!(short, expected);
            assert!(events.iter().all(|one| one.count_nj == 0.232_830_643_653_869_63));
        }
        let server = [(Domain::Package, 2), (Domain::Memory, 3)];
        check("0,16\n", &["energy-ram", "energy-pkg"], &[0, 16], &server);
        let client = ["energy-pkg", "energy-cores", "energy-gpu", "energy-ram", "energy-psys"];
        let parts = [
            (Domain::Package, 2),
            (Domain::Cores, 1),
            (Domain::Graphics, 4),
            (Domain::Memory, 3),
            (Domain::Platform, 5),
        ];
        check("0\n", &client, &[0], &parts);
        // AMD: only the package.
        check("0-1", &["energy-pkg"], &[0, 1], &[(Domain::Package, 2)]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        fn check(change: &str, text: Option<&'static str>, expected: &str) {
            let mut files = layout("0\n", &["energy-pkg"]);
            let at = files.iter().position(|(path, _)| path.ends_with(change)).unwrap();
            match text {
                Some(text) => files[at].1 = text,
                None => drop(files.remove(at)),
            }
            assert_eq!(described(&files).unwrap_err(), expected);
        }
        check("/type", None, "power/type: no such file (ENOENT)");
        check("/type", Some("x"), "type holds 'x'");
        check("/cpumask", Some("\n"), "cpumask holds ''");
        check("energy-pkg", None, "events/energy-pkg: no such file (ENOENT)");
        check("energy-pkg", Some("event=banana"), "events/energy-pkg holds 'event=banana'");
        check(".scale", Some("0"), "events/energy-pkg.scale holds '0'");
        check(".unit", Some("Calories"), "events/energy-pkg.unit holds 'Calories'");
    }
}
