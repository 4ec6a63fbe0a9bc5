//! Servers, started, loaded, ended and judged on the machine that runs the tests. Who loads them is
//! a made-up driver, and they are shells, which write their number into a file with the name of
//! their port.

mod common;

use common::contestant;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tiebreak_core::load::{LoadEnd, LoadEnding, MessageCounts, MqttShape, MqttTraffic};
use tiebreak_core::load::{MqttVersion, Pace, Spacing, Traffic};
use tiebreak_core::plan::*;
use tiebreak_core::sample::{BatchTime, Mark, Outcome, Served};
use tiebreak_core::sampler::{ProgramSampler, Ran, RunFailure, RunRequest, Sampler};
use tiebreak_core::server::{Driver, LoadFailure, LoadOrder, LoadSeen, ServerPlan};
use tiebreak_core::verdict::Fault;
use tiebreak_core::warning::Warning;
use tiebreak_measure::Servers;

static NEVER: AtomicBool = AtomicBool::new(false);

const SECOND_NS: u64 = 1_000_000_000;

/// What becomes of a load.
type Load = fn(&Loader, &LoadOrder<'_>) -> Result<LoadSeen, LoadFailure>;

/// Finds servers by the files that they write into this folder.
struct Loader {
    folder: PathBuf,
    load: Load,
    /// How long the connections take.
    opening: Duration,
}

impl Loader {
    /// Returns the number of the process that has written the file of a port.
    fn pid(&self, port: u16) -> Option<u32> {
        std::fs::read_to_string(self.folder.join(port.to_string())).ok()?.trim().parse().ok()
    }
}

impl Driver for Loader {
    fn load(
        &mut self,
        order: &LoadOrder<'_>,
        opened: &mut dyn FnMut(),
    ) -> Result<LoadSeen, LoadFailure> {
        match self.pid(order.port) {
            Some(_) => {
                std::thread::sleep(self.opening);
                opened();
                (self.load)(self, order)
            }
            None => Err(LoadFailure::NotOpen("nobody is there".to_owned())),
        }
    }
}

/// A load in which all messages arrive, within a tenth of a second.
fn good(_: &Loader, order: &LoadOrder<'_>) -> Result<LoadSeen, LoadFailure> {
    std::thread::sleep(Duration::from_millis(100));
    let LoadEnd::Messages(sent) = order.plan.end else { panic!("{order:?}") };
    Ok(LoadSeen {
        served: Served {
            counts: MessageCounts { intended: sent, sent, arrived: sent, ..Default::default() },
            late: 0,
            generator_cpu_ns: 7,
            latencies_ns: [BatchTime::between(10, 20); 4],
        },
        wall_ns: 1000 + order.seed,
        is_behind_schedule: true,
        ending: LoadEnding::Complete,
        histogram: vec![1, 2, 3],
    })
}

fn plan(folder: &Path, script: &str) -> Plan {
    let script = script.replace("FOLDER", &folder.display().to_string());
    let command = format!("sh -c '{script}'");
    let pace = Pace::Open { rate_per_second: 1000, spacing: Spacing::Constant };
    let (traffic, end) = (Traffic::Http { connections: 1 }, LoadEnd::Messages(100));
    let servers = ServerPlan {
        patience_ns: SECOND_NS,
        ready_within_ns: 20 * SECOND_NS,
        ..ServerPlan::new("as typed", "http://127.0.0.1:{port}/", traffic, pace, end)
    };
    Plan {
        servers: Some(Box::new(servers)),
        program: ProgramPlan { output: OutputPlan::Null, ..ProgramPlan::default() },
        ..common::plan([contestant("A", &command)])
    }
}

fn servers(folder: &Path, plan: &Plan, load: Load) -> Servers {
    let loader = Box::new(Loader { folder: folder.to_owned(), load, opening: Duration::ZERO });
    Servers::new(plan, plan.servers.as_ref().unwrap(), loader, &NEVER).unwrap()
}

const REQUEST: RunRequest =
    RunRequest { contestant: 0, padding_bytes: 0, timeout_ns: 60 * SECOND_NS, load_seed: 5 };

/// Runs a server once, and asserts that nothing of it is left.
fn run(plan: impl Fn(&Path) -> Plan, load: Load) -> Result<Ran, RunFailure> {
    let folder = tempfile::tempdir().unwrap();
    let ran = servers(folder.path(), &plan(folder.path()), load).run(&REQUEST);
    let mark = folder.path().display().to_string();
    let left = processes_with(&mark);
    assert!(left.is_empty(), "{left:?}");
    ran
}

/// Returns the commands of the processes that have a text in them.
fn processes_with(text: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let commands = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let commands = commands.map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "));
    commands.filter(|command| command.contains(text)).collect()
}

fn fault(ran: Result<Ran, RunFailure>) -> (String, String) {
    match ran {
        Err(RunFailure::Fault(Fault::Server { what, stderr })) => (what, stderr),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_is_the_load_of_a_fresh_server() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo {dir} >> FOLDER/places; cat {dir}/x > /dev/null && echo $$ > FOLDER/{port}; \
                  exec sh -c \"while :; do :; done\"";
    let mut plan = plan(folder.path(), script);
    plan.contestants[0].hooks.prepare = Some("echo {port} > {dir}/x".to_owned());
    let mut servers = servers(folder.path(), &plan, good);
    for _ in 0..2 {
        let ran = servers.run(&REQUEST).unwrap();
        assert_eq!((ran.sample.outcome, ran.output), (Outcome::Finished, None));
        // The seed of the load, which is not that of the untimed one before.
        assert_eq!((ran.sample.wall_ns, ran.histogram), (1007, vec![1, 2, 3]));
        let served = ran.sample.served.unwrap();
        assert_eq!((served.counts.arrived, served.generator_cpu_ns), (100, 7));
        assert!(ran.sample.marks.has(Mark::BehindSchedule));
        // It runs all the time; a busy machine may give it little of that.
        let cpu_ns = ran.sample.user_ns + ran.sample.system_ns;
        assert!((1_000_000..SECOND_NS).contains(&cpu_ns), "{cpu_ns}");
        assert!(ran.sample.peak_memory_bytes > 100_000, "{:?}", ran.sample);
    }
    let places = std::fs::read_to_string(folder.path().join("places")).unwrap();
    let places: Vec<&str> = places.lines().collect();
    assert!(places.len() == 2 && places[0] != places[1], "{places:?}");
    assert!(places.iter().all(|place| !Path::new(place).exists()), "{places:?}");
    assert!(servers.take_warnings().is_empty());
}

#[test]
fn what_opening_connections_costs_is_not_the_load_s() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo $$ > FOLDER/{port}; exec sh -c \"while :; do :; done\"";
    let plan = plan(folder.path(), script);
    let opening = Duration::from_millis(600);
    let loader = Box::new(Loader { folder: folder.path().to_owned(), load: good, opening });
    let of_servers = plan.servers.as_ref().unwrap();
    let mut servers = Servers::new(&plan, of_servers, loader, &NEVER).unwrap();
    let sample = servers.run(&REQUEST).unwrap().sample;
    // It runs all the time: a tenth of a second is the load's, six are not.
    assert!(sample.user_ns + sample.system_ns < SECOND_NS / 2, "{sample:?}");
}

#[test]
fn a_server_may_go_into_the_background() {
    let script = "setsid sh -c \"echo \\$\\$ > FOLDER/{port}; exec sleep 60\" & exit 0";
    assert!(run(|folder| plan(folder, script), good).is_ok());
}

#[test]
fn a_server_that_ends_is_void_with_its_words() {
    let (what, stderr) = fault(run(|folder| plan(folder, "echo no luck >&2; exit 3"), good));
    assert_eq!((&*what, &*stderr), ("ended with exit status 3 before it was ready", "no luck"));
    let kill: Load = |loader, order| {
        let pid = loader.pid(order.port).unwrap().to_string();
        Command::new("kill").args(["-9", &pid]).status().unwrap();
        let ending = LoadEnding::Broken { connection: 0, why: "went away".to_owned() };
        Ok(LoadSeen { ending, ..good(loader, order).unwrap() })
    };
    let script = "echo on my way; echo $$ > FOLDER/{port}; exec sleep 60";
    let (what, stderr) = fault(run(|folder| plan(folder, script), kill));
    assert_eq!(what, "was killed by signal 9 in its untimed load");
    assert_eq!(stderr, "on my way");
}

#[test]
fn a_server_that_is_never_ready_is_waited_for_so_long() {
    let impatient = |folder: &Path| {
        let mut plan = plan(folder, "echo no {port} of FOLDER; exec sleep 60");
        plan.servers.as_mut().unwrap().ready_within_ns = SECOND_NS / 5;
        plan
    };
    let (what, stderr) = fault(run(impatient, good));
    assert_eq!(what, "was not ready within 200ms (nobody is there)");
    assert!(stderr.starts_with("no "), "{stderr}");
}

const SLEEPER: &str = "echo $$ > FOLDER/{port}; exec sleep 60";

#[test]
fn a_server_that_is_not_trusted_is_void_at_once() {
    struct Distrustful;
    impl Driver for Distrustful {
        fn load(
            &mut self,
            _: &LoadOrder<'_>,
            _: &mut dyn FnMut(),
        ) -> Result<LoadSeen, LoadFailure> {
            Err(LoadFailure::Distrusted("it has no certificate".to_owned()))
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(folder.path(), SLEEPER);
    let servers_plan = plan.servers.as_mut().unwrap();
    servers_plan.ready_within_ns = 3600 * SECOND_NS;
    let servers_plan = servers_plan.clone();
    let mut servers = Servers::new(&plan, &servers_plan, Box::new(Distrustful), &NEVER).unwrap();
    let (what, _) = fault(servers.run(&REQUEST));
    assert_eq!(what, "cannot be trusted: it has no certificate");
}

#[test]
fn a_server_must_do_what_it_is_asked_for() {
    let broken: Load = |loader, order| {
        let ending = LoadEnding::Broken { connection: 3, why: "said nonsense".to_owned() };
        Ok(LoadSeen { ending, ..good(loader, order)? })
    };
    let refusing: Load = |loader, order| {
        let mut seen = good(loader, order)?;
        seen.served.counts.refused = 2;
        Ok(seen)
    };
    let losing: Load = |loader, order| {
        let mut seen = good(loader, order)?;
        (seen.served.counts.lost, seen.ending) = (1, LoadEnding::Waited);
        Ok(seen)
    };
    for (load, said) in [
        (broken, "said nonsense (connection 3), in its untimed load"),
        (refusing, "refused 2 of 10 requests, in its untimed load"),
        (losing, "lost 1 answer of 10 requests, in its untimed load"),
    ] {
        assert_eq!(fault(run(|folder| plan(folder, SLEEPER), load)).0, said);
    }
    // Nobody promised these.
    let unpromised = |folder: &Path| {
        let mut plan = plan(folder, SLEEPER);
        plan.servers.as_mut().unwrap().traffic = Traffic::Mqtt(MqttTraffic {
            shape: MqttShape::Pairs,
            connections: 2,
            pairs: 0,
            wildcards: 0,
            payload_bytes: 16,
            qos: 0,
            version: MqttVersion::V311,
            keep_alive_s: 0,
        });
        plan
    };
    let ran = run(unpromised, losing).unwrap();
    assert_eq!(ran.sample.served.unwrap().counts.lost, 1);
}

#[test]
fn a_load_that_takes_too_long_is_cut_off() {
    let slow: Load = |loader, order| {
        let mut seen = good(loader, order)?;
        if order.plan.end == LoadEnd::Messages(100) {
            seen.ending = LoadEnding::Interrupted;
        }
        Ok(seen)
    };
    let ran = run(|folder| plan(folder, SLEEPER), slow).unwrap();
    assert_eq!(ran.sample.outcome, Outcome::TimedOut);
    assert_eq!(ran.sample.wall_ns, REQUEST.timeout_ns);
}

#[test]
fn a_server_that_is_deaf_is_killed_and_that_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let script = "trap \"\" TERM; echo $$ > FOLDER/{port}; while :; do sleep 0.1; done";
    let mut servers = servers(folder.path(), &plan(folder.path(), script), good);
    let started = Instant::now();
    assert!(servers.run(&REQUEST).is_ok());
    assert!(started.elapsed() >= Duration::from_secs(5));
    let warnings = servers.take_warnings();
    assert_eq!(warnings, [Warning::NotStopped { contestant: "A".to_owned() }]);
    assert!(processes_with(&folder.path().display().to_string()).is_empty());
}
