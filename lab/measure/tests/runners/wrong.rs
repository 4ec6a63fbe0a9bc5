//! Runners that misbehave, each with the fault that it gets.

use super::TIMEOUT_NS;
use super::plan::{NEVER, PYTHON, Study, fault_of, start, there, unit};
use std::process::{Child, Command};
use tiebreak_core::sample::BatchTime;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::verdict::Fault;

/// A runner by hand: it answers each request with what `ANSWERS` has for its first word, and spends
/// `SPENT_NS` on a run.
const FAKE: &str = "
import os, sys, time
ANSWERS = {'hello': 'hello 1 fake 0', 'load': 'loaded reset=no', 'reset': 'reset'}
SAID, SPENT_NS = 1.0, 5000000
def run(times):
    start = time.perf_counter_ns()
    while times > 0 and time.perf_counter_ns() - start < SPENT_NS:
        pass
    elapsed = time.perf_counter_ns() - start
    return 'ran elapsed_ns=%d checksum=7' % (elapsed * SAID)
def dump(path):
    with open(path[5:], 'w') as file:
        file.write('7')
    return 'dumped bytes=1'
CHANGES
for line in iter(sys.stdin.readline, ''):
    word, _, rest = line.strip().partition(' ')
    if word == 'bye':
        break
    if word == 'run':
        answer = run(int(rest))
    elif word == 'dump':
        answer = dump(rest)
    else:
        answer = ANSWERS[word]
    sys.stdout.write(answer + '\\n')
    sys.stdout.flush()
";

fn fake(changes: &str) -> String {
    FAKE.replace("CHANGES", changes)
}

/// The fault of the second of two contestants; the first one is good.
#[track_caller]
fn fault(changes: &str, timeout_ns: u64) -> Option<Fault> {
    if !there(&[&PYTHON]) {
        return None;
    }
    let study = Study::new().python("good.py", &fake("")).python("bad.py", &fake(changes));
    let (contestant, fault) = fault_of(&study, timeout_ns);
    assert_eq!(contestant, 1, "{fault}");
    Some(fault)
}

#[track_caller]
fn breaks_the_protocol(changes: &str, needles: &[&str]) {
    let Some(fault) = fault(changes, TIMEOUT_NS) else { return };
    assert!(matches!(fault, Fault::Runner { .. }), "{fault:?}");
    for needle in needles {
        assert!(fault.to_string().contains(needle), "{needle}: {fault}");
    }
}

#[test]
fn a_time_that_the_clock_contradicts_is_a_fault() {
    let said = ["said that a batch took", "the clock outside says"];
    breaks_the_protocol("SAID = 0", &said);
    breaks_the_protocol("SAID = 1000", &said);
    // Less than it was on a CPU: no neighbour explains that.
    let short = "def run(times):\n    end = time.process_time() + 0.005\n    \
                 while time.process_time() < end: pass\n    \
                 return 'ran elapsed_ns=1000000 checksum=7'";
    breaks_the_protocol(short, &said);
}

/// Says 1 ms of every third batch, which takes 5 ms on a CPU.
const LIES_NOW_AND_THEN: &str = "
seen = 0
def run(times):
    global seen
    start, end = time.perf_counter_ns(), time.process_time() + 0.005 * (times > 0)
    while time.process_time() < end: pass
    elapsed = time.perf_counter_ns() - start
    seen += times == 2
    if times == 2 and seen % 3 == 0: elapsed = 1000000
    return 'ran elapsed_ns=%d checksum=7' % elapsed";

/// Says 1 ms of 5 ms of sleep, which no CPU time can tell from a wait.
const LIES_ABOUT_SLEEP: &str = "
def run(times):
    time.sleep(0.005 * (times > 0))
    return 'ran elapsed_ns=%d checksum=7' % (1000000 * (times > 0))";

#[test]
fn a_lie_gains_nothing_and_is_a_fault_once_it_is_proven() {
    if !there(&[&PYTHON]) {
        return;
    }
    // How many units of 8 batches are gone through, and whether it is proven then.
    let check = |changes: &str, units: usize, is_proven: bool| {
        let study = Study::new().python("good.py", &fake("")).python("bad.py", &fake(changes));
        let mut runners = study.runners();
        for _ in 0..units {
            match unit(&mut runners, &vec![vec![0, 1]; 8], TIMEOUT_NS) {
                Ok(ran) => {
                    // A wait of ours may hide a sleep; the median of the rounds is what counts.
                    let short = ran.batches[1].iter().filter(|time| time.high_ns < 5_000_000);
                    assert!(short.count() < 4, "{ran:?}");
                    assert!(ran.batches[1].iter().any(|time| time.low_ns < 2_000_000), "{ran:?}");
                }
                Err(UnitFailure::Fault(1, fault)) if is_proven => {
                    assert!(fault.to_string().contains("no wait explains"), "{fault}");
                    return;
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(!is_proven, "a runner that lies in one batch of three must be void");
    };
    check(LIES_NOW_AND_THEN, 8, true);
    check(LIES_ABOUT_SLEEP, 2, false);
}

/// Leaves 0.2 ms of 5 ms on a CPU out of what it says, and makes exchanges without a run take as
/// long as if that were the pipes'.
const LEAVES_A_LITTLE_OUT: &str = "
def run(times):
    start, end = time.perf_counter_ns(), time.process_time() + (0.005 if times else 0.0002)
    while time.process_time() < end: pass
    elapsed = time.perf_counter_ns() - start - 200000
    return 'ran elapsed_ns=%d checksum=7' % (elapsed * (times > 0))";

#[test]
fn what_is_left_out_of_a_time_is_in_its_reading() {
    if !there(&[&PYTHON]) {
        return;
    }
    let liar = fake(LEAVES_A_LITTLE_OUT);
    let study = Study::new().python("good.py", &fake("")).python("bad.py", &liar);
    let ran = unit(&mut study.runners(), &vec![vec![0, 1]; 16], TIMEOUT_NS).unwrap();
    assert!(ran.batches[1].iter().all(|time| time.high_ns >= 5_000_000), "{ran:?}");
    let close = |time: &&BatchTime| time.high_ns - time.low_ns < time.low_ns / 10;
    assert!(ran.batches[0].iter().filter(close).count() > 8, "{ran:?}");
}

#[test]
fn the_reference_is_the_standard_where_there_is_no_oracle() {
    if !there(&[&PYTHON]) {
        return;
    }
    let other = "def dump(path):\n    open(path[5:], 'w').write('6'); return 'dumped bytes=1'";
    for reference in [0, 1] {
        let mut study = Study::new().python("a.py", &fake(other)).python("b.py", &fake(""));
        study.reference = reference;
        let (contestant, fault) = fault_of(&study, TIMEOUT_NS);
        assert_eq!(contestant, 1 - reference, "{fault}");
        assert!(matches!(fault, Fault::WrongAnswer { item: Some(1), .. }), "{fault:?}");
    }
}

#[test]
fn a_line_that_is_no_answer_is_quoted_with_what_would_be_right() {
    let right = "'loaded reset=no' would be right";
    breaks_the_protocol("ANSWERS['load'] = 'fine, thanks'", &["'fine, thanks'", right]);
    breaks_the_protocol("ANSWERS['load'] = 'x' * 1000", &["xxx...", right]);
    let right = "'ran elapsed_ns=NANOSECONDS checksum=NUMBER' would be right";
    breaks_the_protocol("run = lambda times: 'ran 5'", &["'ran 5'", right]);
    breaks_the_protocol("run = lambda times: 'ran elapsed_ns=-5 checksum=1'", &[right]);
    breaks_the_protocol("ANSWERS['hello'] = 'hello 9 fake'", &["version 9", "speaks 1"]);
    breaks_the_protocol("print('hi', flush=True)", &["answered 'hello' with 'hi'"]);
    let late = "ANSWERS['load'] += '\\nprinted'";
    breaks_the_protocol(late, &["wrote 'printed", "without being asked"]);
    breaks_the_protocol("sys.stdout.write('y' * 300000)", &["64 KiB"]);
    breaks_the_protocol(
        "ANSWERS['load'] = 'error no such thing'",
        &["could not do 'load': no such"],
    );
    breaks_the_protocol("dump = lambda path: 'dumped bytes=5'", &["dumped 0 bytes"]);
    breaks_the_protocol("sys.stderr.write('z' * (20 << 20))", &["16 MiB to standard error"]);
}

#[test]
fn an_end_before_bye_is_told_with_the_last_words() {
    let ends = |how: &str| {
        let change = format!("def run(times):\n    sys.stderr.write('last words\\n'); {how}");
        fault(&change, TIMEOUT_NS)
    };
    let stderr = || "last words".to_owned();
    if let Some(fault) = ends("sys.exit(3)") {
        assert_eq!(fault, Fault::ExitStatus { status: 3, stderr: stderr() });
    }
    if let Some(fault) = ends("os.kill(os.getpid(), 9)") {
        assert_eq!(fault, Fault::Signal { signal: 9, stderr: stderr() });
    }
    if let Some(fault) = ends("os._exit(0)") {
        assert!(fault.to_string().contains("ended before it was asked to"), "{fault}");
    }
    if let Some(fault) = ends("os.close(1); time.sleep(30)") {
        assert!(fault.to_string().contains("closed its standard output"), "{fault}");
    }
}

#[test]
fn runners_start_at_the_same_time_and_each_fault_is_its_own() {
    if !there(&[&PYTHON]) {
        return;
    }
    let bad = fake("ANSWERS['load'] = 'what?'");
    let whose = |first: &str, second: &str| {
        let study = Study::new().python("first.py", first).python("second.py", second);
        fault_of(&study, TIMEOUT_NS).0
    };
    assert_eq!(whose(&bad, &fake("")), 0);
    assert_eq!(whose(&fake(""), &bad), 1);
    assert_eq!(whose(&bad, &bad), 0);
    if tiebreak_machine::cpus::allowed().len() < 2 {
        eprintln!("skipped: on one CPU runners start one after the other");
        return;
    }
    // Once they have been checked alone, neither answers before the other has started.
    let meets = |own: &str, other: &str| {
        fake(&format!(
            "if os.path.exists('meet'):\n    open('{own}', 'w').close()\n    \
             while not os.path.exists('{other}'): time.sleep(0.001)"
        ))
    };
    let study = Study::new().python("a.py", &meets("a", "b")).python("b.py", &meets("b", "a"));
    let mut runners = study.runners();
    assert_eq!((runners.check(0, 1), runners.check(1, 1)), (Ok(()), Ok(())));
    std::fs::write(study.path().join("meet"), "").unwrap();
    let ran = unit(&mut runners, &[vec![0, 1], vec![1, 0]], TIMEOUT_NS);
    assert!(ran.is_ok(), "{ran:?}");
}

#[test]
fn silence_is_a_fault_after_the_time_out() {
    if let Some(fault) = fault("run = lambda times: time.sleep(60)", 2_000_000_000) {
        assert_eq!(fault, Fault::Hung { workload: "some".into(), seconds: 2 });
    }
}

#[test]
fn an_answer_that_differs_is_a_fault() {
    let eight =
        "def run(times):\n    time.sleep(0.001); return 'ran elapsed_ns=1000000 checksum=8'";
    let wrong = |item, expected: &str, got: &str| Fault::WrongAnswer {
        workload: "some".into(),
        item,
        expected: expected.into(),
        got: got.into(),
    };
    if let Some(fault) = fault(eight, TIMEOUT_NS) {
        assert_eq!(fault, wrong(None, "7", "8"));
    }
    let text = "def dump(path):\n    open(path[5:], 'w').write('6'); return 'dumped bytes=1'";
    if let Some(fault) = fault(text, TIMEOUT_NS) {
        assert_eq!(fault, wrong(Some(1), "7", "6"));
    }
}

#[test]
fn other_contracts_may_answer_otherwise() {
    if !there(&[&PYTHON]) {
        return;
    }
    let other =
        fake("def dump(path):\n    open(path[5:], 'w').write('6'); return 'dumped bytes=1'");
    let mut study = Study::new().python("good.py", &fake("")).python("other.py", &other);
    study.built(1).is_exact = false;
    study.built(1).contract = "relaxed".into();
    let mut runners = study.runners();
    assert_eq!(runners.check(0, 1), Ok(()));
    assert_eq!(runners.check(1, 1), Ok(()));
}

/// Processes that want one CPU all the time, until this is dropped.
struct Neighbours(Vec<Child>);

impl Neighbours {
    fn new(count: usize, cpu: usize) -> Neighbours {
        let mut command = Command::new("taskset");
        command.args(["-c", &cpu.to_string(), "sh", "-c", "while :; do :; done"]);
        Neighbours((0..count).map(|_| command.spawn().unwrap()).collect())
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended by itself needs no end.
            let _ = child.kill().and_then(|()| child.wait());
        }
    }
}

#[test]
fn waiting_for_a_cpu_is_not_silence() {
    if !there(&[&PYTHON, "taskset"]) {
        return;
    }
    let cpu = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let cpu = cpu.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let cpu: usize = cpu.trim().split([',', '-']).next().unwrap().parse().unwrap();
    // A fifth of a second of a CPU that it shares with eight: nearly two seconds.
    let works = "
clock = time.process_time_ns
def run(times):
    start = clock()
    while times > 0 and clock() - start < 200000000:
        pass
    return 'ran elapsed_ns=%d checksum=7' % (clock() - start)
";
    let study = Study::new().python("slow.py", &fake(works));
    let mut plan = study.plan();
    plan.functions.as_mut().unwrap().cpu = Some(cpu);
    let mut runners = start(&plan, &NEVER).unwrap();
    let _neighbours = Neighbours::new(8, cpu);
    let ran = unit(&mut runners, &[vec![0]], 1_000_000_000);
    assert!(ran.is_ok(), "{ran:?}");
}
