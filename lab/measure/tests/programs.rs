//! Whole programs, started, timed, ended and judged on the machine that runs the tests.

mod common;

use common::contestant;
use std::collections::HashSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tiebreak_core::plan::*;
use tiebreak_core::sample::{Mark, Outcome, Sample};
use tiebreak_core::sampler::{ProgramSampler, Ran, RunFailure, RunRequest, Sampler};
use tiebreak_core::verdict::Fault;
use tiebreak_core::warning::Warning;
use tiebreak_measure::{Programs, StartError};

static NEVER: AtomicBool = AtomicBool::new(false);
/// Tests that spend CPU time or look at who is left run one at a time.
static ALONE: Mutex<()> = Mutex::new(());

const SECOND_NS: u64 = 1_000_000_000;

fn plan(commands: &[&str]) -> Plan {
    let names = ('A'..).map(String::from);
    common::plan(names.zip(commands).map(|(name, command)| contestant(name, command)))
}

fn request(contestant: usize) -> RunRequest {
    RunRequest { contestant, padding_bytes: 0, timeout_ns: 60 * SECOND_NS, load_seed: 0 }
}

/// Runs the first contestant of a plan once.
fn run(plan: &Plan) -> Result<Ran, RunFailure> {
    Programs::new(plan, &NEVER).unwrap().run(&request(0))
}

fn run_command(command: &str) -> Result<Ran, RunFailure> {
    run(&plan(&[command]))
}

fn fault_of(result: Result<Ran, RunFailure>) -> Fault {
    match result {
        Err(RunFailure::Fault(fault)) => fault,
        other => panic!("a fault was expected: {other:?}"),
    }
}

/// Whether a process with this word among its arguments is alive.
fn is_alive(word: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
        .any(|line| line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes()))
}

/// Whether every such process ends soon: one that was killed takes its time on a busy machine.
fn is_ended(word: &str) -> bool {
    let wait = |_: &i32| std::thread::sleep(Duration::from_millis(10));
    (0..2000).inspect(wait).any(|_| !is_alive(word))
}

#[test]
fn the_status_decides() {
    let check = |command: &str, fault: Option<Fault>| match (run_command(command), fault) {
        (Ok(ran), None) => assert_eq!(ran.sample.outcome, Outcome::Finished),
        (result, Some(fault)) => assert_eq!(fault_of(result), fault, "{command}"),
        (result, None) => panic!("{command}: {result:?}"),
    };
    let said = |text: &str| text.to_owned();
    check("true", None);
    check("sh -c 'exit 3'", Some(Fault::ExitStatus { status: 3, stderr: String::new() }));
    let fault = Fault::ExitStatus { status: 1, stderr: said("no luck") };
    check("sh -c 'echo no luck >&2; exit 1'", Some(fault));
    let fault = Fault::Signal { signal: 11, stderr: said("last\nwords") };
    check("sh -c 'echo last >&2; echo words >&2; kill -SEGV $$'", None.or(Some(fault)));
    let mut plan = plan(&["sh -c 'exit 3'"]);
    plan.program.success = Success::Statuses(vec![3]);
    assert!(run(&plan).is_ok());
    plan.program.success = Success::Any;
    assert!(run(&plan).is_ok());
}

#[test]
fn what_cannot_be_started_is_said_before_anything_runs() {
    let check = |plan: &Plan, said: &str| {
        let error = Programs::new(plan, &NEVER).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    };
    check(&plan(&["true", "no-such-program-here"]), "no folder of PATH has it");
    check(&plan(&["/etc/hostname-that-is-not"]), "there is no such file");
    check(&plan(&["/etc"]), "is a directory");
    check(&plan(&["/proc/self/maps"]), "chmod +x");
    check(&plan(&["cat <x"]), "--shell");
    check(&plan(&["echo a\0b"]), "zero byte");
    let with = |change: fn(&mut ProgramPlan)| {
        let mut plan = plan(&["true"]);
        change(&mut plan.program);
        plan
    };
    check(&with(|program| program.input = Some("/no/input".into())), "'/no/input' cannot be read");
    check(&with(|program| program.input = Some("/".into())), "cannot be read");
    check(&with(|program| program.directory = Some("/no/folder".into())), "cannot be entered");
    check(&with(|program| program.directory = Some("/dev/null".into())), "cannot be entered");
    check(&with(|program| program.cpus = vec![8000]), "CPU 8000 is not one of");
    check(&with(|program| program.shell = Some("no-such-shell".into())), "'no-such-shell'");
    let judged = with(|program| {
        program.check = Check::Judge("true".into());
        program.output = OutputPlan::Null;
    });
    assert!(matches!(Programs::new(&judged, &NEVER), Err(StartError::JudgeWithoutOutput)));
}

#[test]
fn a_program_that_vanishes_is_at_fault() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tool");
    std::fs::copy("/bin/true", &path).unwrap();
    let mut programs = Programs::new(&plan(&[path.to_str().unwrap()]), &NEVER).unwrap();
    assert!(programs.run(&request(0)).is_ok());
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(fault_of(programs.run(&request(0))), Fault::CannotStart { .. }));
    assert!(matches!(programs.run(&request(1)), Err(RunFailure::Broken(_))), "no such contestant");
}

#[test]
fn a_flood_is_ended() {
    let _alone = ALONE.lock();
    let mut plan = plan(&["yes", "head -c 1000 /dev/zero", "head -c 1001 /dev/zero"]);
    plan.program.output_limit_bytes = 1000;
    let mut programs = Programs::new(&plan, &NEVER).unwrap();
    assert_eq!(fault_of(programs.run(&request(0))), Fault::Flooded { limit_bytes: 1000 });
    assert_eq!(programs.run(&request(1)).unwrap().output.unwrap().bytes, 1000);
    assert_eq!(fault_of(programs.run(&request(2))), Fault::Flooded { limit_bytes: 1000 });
    plan.program.output = OutputPlan::Null;
    let ran = Programs::new(&plan, &NEVER).unwrap().run(&request(2)).unwrap();
    assert_eq!(ran.output, None);
}

#[test]
fn a_hang_is_ended_at_the_time_out() {
    let _alone = ALONE.lock();
    let mut programs = Programs::new(&plan(&["sh -c 'sleep 987654; true'"]), &NEVER).unwrap();
    let asked = RunRequest { timeout_ns: SECOND_NS / 20, ..request(0) };
    let ran = programs.run(&asked).unwrap();
    assert_eq!(ran.sample.outcome, Outcome::TimedOut);
    assert_eq!(ran.sample.wall_ns, asked.timeout_ns);
    assert_eq!(ran.output, None);
    assert!(is_ended("987654"), "its child is ended with it");
}

#[test]
fn what_is_left_behind_is_ended_and_told_once() {
    let _alone = ALONE.lock();
    let commands = [
        "sh -c 'sleep 876543 & sleep 0.05'",
        "sh -c 'setsid sh -c \"sleep 876543 & sleep 876543\" & sleep 0.05'",
        "sh -c 'env -i setsid setsid sleep 876543 & sleep 0.05'",
        "true",
    ];
    let mut programs = Programs::new(&plan(&commands), &NEVER).unwrap();
    for contestant in [0, 1, 2, 0] {
        let ran = programs.run(&request(contestant)).unwrap();
        assert!(ran.sample.marks.has(Mark::LeftBehind), "{contestant}");
        assert!(is_ended("876543"), "{contestant}");
    }
    assert!(!programs.run(&request(3)).unwrap().sample.marks.has(Mark::LeftBehind));
    let warnings = programs.take_warnings();
    let left = |warning: &Warning| match warning {
        Warning::LeftBehind { contestant, process } => (contestant.clone(), process.clone()),
        other => panic!("{other:?}"),
    };
    let left: Vec<_> = warnings.iter().map(left).collect();
    assert_eq!(left[0], ("A".to_owned(), "sleep".to_owned()));
    assert_eq!(left.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["A", "B", "C"]);
    assert!(programs.take_warnings().is_empty());
}

#[test]
fn children_of_others_are_left_alone() {
    let _alone = ALONE.lock();
    let mut child = std::process::Command::new("sleep").arg("765432").spawn().unwrap();
    let mut programs = Programs::new(&plan(&["sh -c 'sleep 60 & :'"]), &NEVER).unwrap();
    programs.run(&request(0)).unwrap();
    drop(programs);
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_environment_is_ours_and_a_padding() {
    let print = "sh -c 'env | sort'";
    let mut programs = Programs::new(&plan(&[print, "sh -c 'echo ${#TIEBREAK_PADDING}'"]), &NEVER);
    let programs = programs.as_mut().unwrap();
    let bytes = |programs: &mut Programs, padding_bytes| {
        let asked = RunRequest { padding_bytes, ..request(0) };
        programs.run(&asked).unwrap().output.unwrap().bytes
    };
    let base = bytes(programs, 0);
    for padding in [1, 100, 4096, 0, 100_000, 50] {
        assert_eq!(bytes(programs, padding), base + u64::from(padding));
    }
    let too_long = RunRequest { padding_bytes: 1 << 20, ..request(0) };
    assert!(matches!(programs.run(&too_long), Err(RunFailure::Broken(_))));
    let outputs: HashSet<_> = (0..3).map(|_| programs.run(&request(1)).unwrap().output).collect();
    assert_eq!(outputs.len(), 1);
}

/// What a command writes, by way of a file.
fn written(command: &str, change: impl FnOnce(&mut ProgramPlan)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut plan = plan(&[&format!("sh -c '{command} >{}'", out.display())]);
    change(&mut plan.program);
    run(&plan).unwrap();
    std::fs::read_to_string(out).unwrap()
}

#[test]
fn input_directory_shell_and_signals_are_as_planned() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in");
    std::fs::write(&file, "given\n").unwrap();
    let path = file.to_str().unwrap().to_owned();
    assert_eq!(written("cat", |program| program.input = Some(path.clone())), "given\n");
    assert_eq!(written("cat", |_| {}), "");
    let directory = folder.path().canonicalize().unwrap().to_str().unwrap().to_owned();
    let here = written("pwd -P", |program| program.directory = Some(directory.clone()));
    assert_eq!(here.trim(), directory);
    let status = written("cat /proc/self/status", |_| {});
    for line in ["SigBlk", "SigIgn", "SigCgt"] {
        let signals = status.lines().find_map(|text| text.strip_prefix(line)).unwrap();
        let signals = u64::from_str_radix(signals.trim_start_matches(":\t"), 16).unwrap();
        // Without 32 and 33, which the C library keeps to itself.
        assert_eq!(signals & !(3 << 31), 0, "{line}");
    }
    let fds = written("ls /proc/self/fd", |_| {});
    assert_eq!(fds, "0\n1\n2\n3\n", "the fourth is the list's own");

    // The input is read from its start in every run.
    let mut plan = plan(&["cat", "read x; echo \"$x\" | tr a-z A-Z"]);
    plan.program.input = Some(path);
    plan.program.shell = Some("sh".to_owned());
    let mut programs = Programs::new(&plan, &NEVER).unwrap();
    for contestant in [0, 0, 1, 1] {
        assert_eq!(programs.run(&request(contestant)).unwrap().output.unwrap().bytes, 6);
    }
    assert!(programs.files().contains(&file));
}

#[test]
fn files_are_the_programs_and_the_files_that_commands_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("data"), "x").unwrap();
    std::fs::write(path("in"), "x").unwrap();
    let mut plan = plan(&["cat data no-file -u", "cat ./data"]);
    plan.program.directory = Some(folder.path().to_str().unwrap().to_owned());
    plan.program.input = Some(path("in"));
    let files = Programs::new(&plan, &NEVER).unwrap().files();
    let cat = tiebreak_measure::resolve("cat", None).unwrap();
    let data = folder.path().join("data");
    assert_eq!(files, [cat, data, path("in").into()], "each once");
}

fn hooks(log: &Path) -> Hooks {
    let hook = |name: &str| Some(format!("echo {name} $TIEBREAK_CONTESTANT >>{}", log.display()));
    let (setup, prepare) = (hook("setup"), hook("prepare"));
    Hooks { setup, prepare, conclude: hook("conclude"), cleanup: hook("cleanup") }
}

#[test]
fn hooks_run_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut plan = plan(&[&format!("sh -c 'echo run >>{}'", log.display())]);
    plan.contestants[0].hooks = hooks(&log);
    let mut programs = Programs::new(&plan, &NEVER).unwrap();
    programs.set_up(0).unwrap();
    programs.run(&request(0)).unwrap();
    programs.run(&request(0)).unwrap();
    programs.clean_up(0).unwrap();
    let expected = "setup A\nprepare A\nrun\nconclude A\nprepare A\nrun\nconclude A\ncleanup A\n";
    assert_eq!(std::fs::read_to_string(&log).unwrap(), expected);
}

#[test]
fn a_failing_hook_is_a_fault() {
    let check = |hooks: Hooks, failing: &str, expected_status: i32| {
        let mut plan = plan(&["true"]);
        plan.contestants[0].hooks = hooks;
        let mut programs = Programs::new(&plan, &NEVER).unwrap();
        let result = programs.set_up(0).and_then(|()| programs.run(&request(0)).map(|_| ()));
        let fault = match result.and_then(|()| programs.clean_up(0)) {
            Err(RunFailure::Fault(Fault::Hook { hook, status, stderr, .. })) => {
                (hook, status, stderr)
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(fault, (failing.to_owned(), expected_status, "said".to_owned()));
    };
    let bad = |status: &str| Some(format!("echo said >&2; {status}"));
    check(Hooks { setup: bad("exit 4"), ..Hooks::default() }, "setup", 4);
    check(Hooks { prepare: bad("kill -9 $$"), ..Hooks::default() }, "prepare", 137);
    check(Hooks { conclude: bad("exit 5"), ..Hooks::default() }, "conclude", 5);
    check(Hooks { cleanup: bad("exit 6"), ..Hooks::default() }, "cleanup", 6);
}

#[test]
fn conclude_runs_after_a_failure_too() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut plan = plan(&["false"]);
    plan.contestants[0].hooks = hooks(&log);
    assert!(matches!(fault_of(run(&plan)), Fault::ExitStatus { status: 1, .. }));
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "prepare A\nconclude A\n");
}

#[test]
fn a_judge_sees_each_output_once() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut plan = plan(&["echo good", "echo bad"]);
    let judge = format!("echo $TIEBREAK_CONTESTANT >>{}; grep -q good", log.display());
    plan.program.check = Check::Judge(judge.clone());
    let mut programs = Programs::new(&plan, &NEVER).unwrap();
    programs.run(&request(0)).unwrap();
    programs.run(&request(0)).unwrap();
    assert_eq!(fault_of(programs.run(&request(1))), Fault::Rejected { judge, status: 1 });
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "A\nB\n");
}

/// Sets the flag when the file comes into being, then lets the flag be.
fn interrupt_when(file: &Path, flag: &'static AtomicBool) -> std::thread::JoinHandle<()> {
    let file = file.to_owned();
    std::thread::spawn(move || {
        while !file.exists() {
            std::thread::sleep(Duration::from_millis(2));
        }
        flag.store(true, Ordering::SeqCst);
    })
}

#[test]
fn an_interruption_ends_what_runs() {
    let _alone = ALONE.lock();
    static IN_RUN: AtomicBool = AtomicBool::new(false);
    static IN_HOOK: AtomicBool = AtomicBool::new(false);
    let check = |flag: &'static AtomicBool, in_hook: bool| {
        let folder: TempDir = tempfile::tempdir().unwrap();
        let (began, cleaned) = (folder.path().join("began"), folder.path().join("cleaned"));
        let hang = format!("touch {}; sleep 654321; true", began.display());
        let mut plan = plan(&[&format!("sh -c '{hang}'")]);
        plan.contestants[0].hooks.prepare = in_hook.then_some(hang);
        plan.contestants[0].hooks.cleanup = Some(format!("touch {}", cleaned.display()));
        let mut programs = Programs::new(&plan, flag).unwrap();
        let interrupter = interrupt_when(&began, flag);
        assert_eq!(programs.run(&request(0)), Err(RunFailure::Interrupted));
        interrupter.join().unwrap();
        assert!(is_ended("654321"));
        assert_eq!(programs.run(&request(0)), Err(RunFailure::Interrupted), "it stays so");
        programs.clean_up(0).unwrap();
        assert!(cleaned.exists(), "the clean-up runs all the same");
    };
    check(&IN_RUN, false);
    check(&IN_HOOK, true);
}

#[test]
fn a_dropped_sampler_leaves_no_process() {
    let _alone = ALONE.lock();
    static FLAG: AtomicBool = AtomicBool::new(false);
    let folder = tempfile::tempdir().unwrap();
    let began = folder.path().join("began");
    let plan = plan(&[&format!("sh -c 'touch {}; sleep 543210'", began.display())]);
    let mut programs = Programs::new(&plan, &FLAG).unwrap();
    let interrupter = interrupt_when(&began, &FLAG);
    assert!(programs.run(&request(0)).is_err());
    interrupter.join().unwrap();
    drop(programs);
    assert!(is_ended("543210"));
}

/// Names the program that [`what_runs_ends_with_us`] runs in a process of its own.
const HANG: &str = "TIEBREAK_TEST_HANG";

#[test]
fn what_runs_ends_with_us() {
    if let Ok(command) = std::env::var(HANG) {
        let _ = run_command(&command);
        return;
    }
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let began = folder.path().join("began");
    let mut us = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "what_runs_ends_with_us"])
        .env(HANG, format!("sh -c 'setsid sleep 432109 & touch {}; sleep 432109'", began.display()))
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while !began.exists() {
        std::thread::sleep(Duration::from_millis(2));
    }
    us.kill().unwrap();
    us.wait().unwrap();
    // The launcher is nobody's to wait for now.
    for _ in 0..1000 {
        if !is_alive("432109") {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("a program outlived the process that had it run");
}

fn sample(command: &str) -> Sample {
    run_command(command).unwrap().sample
}

#[test]
fn accounts_are_those_of_the_program() {
    let _alone = ALONE.lock();
    let spin = sample("sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'");
    assert!(spin.user_ns > spin.wall_ns / 10, "{spin:?}");
    assert!(spin.user_ns + spin.system_ns <= 2 * spin.wall_ns, "{spin:?}");
    let sleep = sample("sleep 0.3");
    assert!(sleep.wall_ns >= 300_000_000);
    assert!(sleep.user_ns + sleep.system_ns < sleep.wall_ns / 2);
    assert!(sleep.voluntary_switches >= 1);
    assert!(sleep.minor_faults > 0);
    // 60 MB read in one piece.
    let large = sample("dd if=/dev/zero of=/dev/null bs=60000000 count=1");
    assert!(large.peak_memory_bytes > 60_000_000, "{large:?}");
}

#[test]
fn the_peak_memory_of_a_small_program_is_its_own() {
    let _alone = ALONE.lock();
    let mut programs = Programs::new(&plan(&["true"]), &NEVER).unwrap();
    let held = vec![2_u8; 100 << 20];
    let ran = programs.run(&request(0)).unwrap();
    assert_eq!(std::hint::black_box(held)[1], 2);
    assert!(programs.peak_memory_floor_bytes() > 0);
    assert!(programs.peak_memory_floor_bytes() < 100 << 20);
    assert!(ran.sample.peak_memory_bytes < 100 << 20, "{:?}", ran.sample);
}

#[test]
fn programs_run_where_they_are_pinned() {
    let allowed = tiebreak_machine::cpus::allowed();
    let last = *allowed.last().unwrap();
    let list = "grep Cpus_allowed_list /proc/self/status";
    let said = written(list, |program| program.cpus = vec![last]);
    assert_eq!(said.trim(), format!("Cpus_allowed_list:\t{last}"));
    let said = written(list, |_| {});
    let expected = tiebreak_machine::cpus::format_cpus(&allowed);
    assert_eq!(said.trim(), format!("Cpus_allowed_list:\t{expected}"));
    assert_eq!(tiebreak_machine::cpus::allowed(), allowed, "we are not pinned ourselves");
}

#[test]
fn counters_are_read_when_a_claim_asks_for_them() {
    let _alone = ALONE.lock();
    use tiebreak_core::claim::{Claim, Relation, Statement};
    use tiebreak_core::metric::Metric;
    let mut plan = plan(&["true", "sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'"]);
    let mut programs = Programs::new(&plan, &NEVER).unwrap();
    assert_eq!(programs.run(&request(0)).unwrap().sample.meters.instructions, None);
    plan.claims.push(PlannedClaim {
        claim: Claim {
            text: String::new(),
            left: "A".to_owned(),
            right: Some("B".to_owned()),
            statement: Statement::Ratio(Relation::Order),
            metric: Metric::Instructions,
            workload: None,
        },
        left: 0,
        right: Some(1),
        error: 0.01,
        gate: Gate::None,
        waits_ns: 0,
    });
    let mut programs = Programs::new(&plan, &NEVER).unwrap();
    let mut count =
        |contestant| programs.run(&request(contestant)).unwrap().sample.meters.instructions;
    match (count(0), count(1), count(0)) {
        (Some(few), Some(many), Some(again)) => {
            assert!(few > 0 && many > 2 * few && again < 2 * few, "{few} {many} {again}");
        }
        // Without counters the reason is said.
        missing => assert!(!programs.missing_meters().is_empty(), "{missing:?}"),
    }
}

/// Each contestant, its hooks and its files are of its own folder, in whatever order they run.
#[test]
fn a_contestant_has_a_folder_of_its_own() {
    let root = tempfile::tempdir().unwrap();
    for name in ["base", "head", "run's"] {
        let folder = root.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("in"), name).unwrap();
        std::fs::write(folder.join("tool"), format!("#!/bin/sh\necho {} $PWD >>log\n", name.len()))
            .unwrap();
        std::fs::set_permissions(folder.join("tool"), Permissions::from_mode(0o755)).unwrap();
    }
    let path = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
    let mut plan = plan(&["./tool in", "./tool", "./tool"]);
    plan.program.directory = Some(path("run's"));
    plan.contestants[0].directory = Some(path("base"));
    plan.contestants[1].directory = Some(path("head"));
    plan.contestants[1].hooks.prepare = Some("echo prepared >>log".to_owned());
    let mut programs = Programs::new(&plan, &NEVER).unwrap();
    for contestant in [0, 1, 2, 1, 0, 0] {
        programs.run(&request(contestant)).unwrap();
    }
    let log = |name: &str| std::fs::read_to_string(root.path().join(name).join("log")).unwrap();
    assert_eq!(log("base").lines().count(), 3);
    assert_eq!(log("head").matches("prepared").count(), 2);
    assert_eq!(log("head").matches("4 ").count(), 2);
    assert_eq!(log("run's").lines().count(), 1);
    let files = programs.files();
    let has = |file: &str| files.contains(&root.path().join(file));
    assert!(has("base/tool") && has("base/in") && has("head/tool") && has("run's/tool"));

    plan.contestants[1].directory = Some(path("gone"));
    let error = Programs::new(&plan, &NEVER).unwrap_err().to_string();
    assert!(error.contains("gone' cannot be entered"), "{error}");
    std::fs::write(root.path().join("gone"), "a file").unwrap();
    let error = Programs::new(&plan, &NEVER).unwrap_err().to_string();
    assert!(error.contains("gone' cannot be entered"), "{error}");
}

const SPIN: &str = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";

/// Its time on a CPU does not grow when a neighbour makes it wait, its time waiting does.
#[test]
fn the_scheduler_says_who_ran_and_who_waited() {
    let _alone = ALONE.lock();
    let mut plan = plan(&[
        &format!("sh -c '{SPIN}'"),
        &format!("sh -c 'while :; do :; done & {SPIN}; kill $!'"),
        &format!("sh -c '({SPIN}); true'"),
    ]);
    plan.program.cpus = vec![*tiebreak_machine::cpus::allowed().last().unwrap()];
    let mut programs = Programs::new(&plan, &NEVER).unwrap();
    let of = |sample: &Sample| sample.meters.run_ns.zip(sample.beside.run_delay_ns);
    let alone = programs.run(&request(0)).unwrap().sample;
    let Some((run_ns, _)) = of(&alone) else {
        let there = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
        assert!(there.is_empty() || there.trim().ends_with(" 0"), "the kernel counts: {there}");
        return;
    };
    let cpu_ns = alone.user_ns + alone.system_ns;
    assert!(run_ns.abs_diff(cpu_ns) < cpu_ns / 10, "{run_ns} of {cpu_ns}");
    assert!(run_ns < alone.wall_ns);
    let beside = programs.run(&request(1)).unwrap().sample;
    let (run_ns, delay_ns) = of(&beside).unwrap();
    assert!(delay_ns > run_ns / 4, "it waited {delay_ns} of {}", beside.wall_ns);
    // The launcher's own wait is in it, which may reach a little beyond the run.
    let most_ns = beside.wall_ns + beside.wall_ns / 10;
    assert!(run_ns + delay_ns <= most_ns, "{run_ns} + {delay_ns} > {}", beside.wall_ns);
    // What a child runs is no time of the main thread's.
    let child = programs.run(&request(2)).unwrap().sample;
    let (run_ns, _) = of(&child).unwrap();
    assert!(run_ns < (child.user_ns + child.system_ns) / 4, "{run_ns}");
    // A run that is ended has run as well.
    let asked = RunRequest { timeout_ns: 2_000_000, ..request(0) };
    let ended = programs.run(&asked).unwrap().sample;
    assert_eq!(ended.outcome, Outcome::TimedOut);
    assert!(of(&ended).is_some_and(|(run_ns, _)| run_ns < alone.wall_ns));
}
