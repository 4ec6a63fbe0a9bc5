//! Runners: contestants in other runtimes, good ones and bad ones.

mod cheats;
#[path = "../common/mod.rs"]
mod common;
mod headers;
mod page;
mod plan;
mod wrong;

use plan::{NEVER, PYTHON, Study, coins, root, start, there, unit};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tiebreak_core::plan::Scope;
use tiebreak_core::sample::Outcome;
use tiebreak_core::sampler::{FunctionSampler, UnitFailure, UnitRequest};
use tiebreak_core::study::{BatchCalls, BuiltForm};
use tiebreak_measure::StartError;
use tiebreak_measure::runners::Runners;

const TIMEOUT_NS: u64 = 20_000_000_000;

/// Adds 0 to 19999 in Python, prints as well, and needs nothing.
const SUM: &str = "
import tiebreak
class Sum:
    def __init__(self, data, workload):
        self.size = workload.size
        print('prints', data)
    def run(self):
        self.total = sum(i ^ self.size for i in range(20000))
        print('prints while it runs')
        return self.total
    def dump(self):
        return '%d\\n' % self.total
tiebreak.serve(Sum)
";

/// The same for Node and Bun.
const SUM_MJS: &str = "
const { serve } = await import(`${process.env.TIEBREAK_SDK}/tiebreak.mjs`);
serve((input, workload) => {
  let total = 0;
  console.log('prints', input.length);
  return {
    run() {
      total = 0;
      for (let i = 0; i < 20000; i++) total += i ^ workload.size;
      process.stdout.write('prints while it runs');
      return total;
    },
    dump: () => `${total}`,
  };
});
";

fn sums() -> Option<Study> {
    there(&[&PYTHON]).then(|| Study::new().python("a.py", SUM).python("b.py", SUM))
}

#[test]
fn a_unit_gives_samples_and_batches() {
    let Some(study) = sums() else { return };
    let mut runners = study.runners();
    assert_eq!(runners.measure_input(5), Ok((3, 0)));
    runners.set_batch(BatchCalls::Alike(3));
    let ran = unit(&mut runners, &[vec![1, 0], vec![0, 1], vec![1, 0]], TIMEOUT_NS).unwrap();
    assert_eq!((ran.samples.len(), ran.batches.len()), (2, 2));
    for (sample, batches) in ran.samples.iter().zip(&ran.batches) {
        assert_eq!(batches.len(), 3);
        assert_eq!(sample.outcome, Outcome::Finished);
        assert_eq!(sample.wall_ns, batches.iter().map(|time| time.high_ns).sum::<u64>());
        assert!(sample.user_ns + sample.system_ns > sample.wall_ns / 20, "{sample:?}");
        assert!(sample.peak_memory_bytes > 1 << 20, "{sample:?}");
    }
    let files = runners.files();
    assert!(files.iter().any(|file| file.ends_with("a.py")), "{files:?}");
    assert_eq!(runners.check(1, 7), Ok(()));
}

#[test]
fn what_a_script_imports_is_among_the_files() {
    let Some(mut study) = sums() else { return };
    std::fs::write(study.path().join("helper.py"), "").unwrap();
    let helper = study.path().join("helper.py");
    let BuiltForm::Runner { files, .. } = &mut study.built(0).form else { unreachable!() };
    files.push(helper.to_string_lossy().into_owned());
    assert!(study.runners().files().contains(&helper));
}

#[test]
fn runtimes_agree_on_an_answer() {
    if !there(&[&PYTHON, "node"]) {
        return;
    }
    let mut study = Study::new().python("a.py", SUM).with("node", "b.mjs", SUM_MJS);
    for (program, file, script) in [("pypy3", "c.py", SUM), ("bun", "d.mjs", SUM_MJS)] {
        if there(&[program]) {
            study = study.with(program, file, script);
        }
    }
    study.calls_a_batch = 10;
    let all: Vec<usize> = (0..study.plan().contestants.len()).collect();
    let ran = unit(&mut study.runners(), &[all], TIMEOUT_NS).unwrap();
    // What is interpreted is slower than what is compiled while it runs.
    assert!(ran.batches[0][0].low_ns > ran.batches[1][0].low_ns, "{ran:?}");
}

#[test]
fn processes_go_on_at_scope_layout_only() {
    let Some(mut study) = sums() else { return };
    let next = |runners: &mut Runners| {
        let coins = coins(&[1, 0], false);
        let orders = [vec![1, 0]];
        let (coins, members) = (&coins, &coins.order);
        let request = UnitRequest { coins, members, orders: &orders, timeout_ns: TIMEOUT_NS };
        runners.run_unit(&request)
    };
    for scope in [Scope::Binary, Scope::Layout] {
        study.scope = scope;
        let mut runners = study.runners();
        unit(&mut runners, &[vec![0, 1]], TIMEOUT_NS).unwrap();
        assert_eq!(next(&mut runners).is_ok(), scope == Scope::Layout);
    }
}

#[test]
fn a_contestant_may_put_its_input_back() {
    if !there(&[&PYTHON]) {
        return;
    }
    let pop = "
import tiebreak
class Pop:
    def __init__(self, data, workload):
        self.data = data
    def reset(self):
        self.left = list(self.data)
    def run(self):
        self.sum = 0
        while self.left:
            self.sum += self.left.pop()
        return self.sum
    def dump(self):
        return '%d' % self.sum
tiebreak.serve(Pop)
";
    let mut study = Study::new().python("a.py", pop).python("b.py", pop);
    std::fs::write(study.path().join("input"), "abc".repeat(1000)).unwrap();
    study.workload.file = Some("input".into());
    study.workload.answer = Some("294000".into());
    let ran = unit(&mut study.runners(), &[vec![0, 1], vec![1, 0]], TIMEOUT_NS).unwrap();
    assert!(ran.batches.iter().flatten().all(|time| time.low_ns > 1000), "{ran:?}");
}

#[test]
fn parts_count_by_their_geometric_mean() {
    if !there(&[&PYTHON]) {
        return;
    }
    let parts = "
import tiebreak
from time import perf_counter_ns
def spin(us):
    def run():
        end = perf_counter_ns() + us * 1000
        while perf_counter_ns() < end:
            pass
        return us
    return run
class Parts:
    def __init__(self, data, workload):
        self.parts = [spin(1000), spin(16000)]
    def dump(self):
        return ''
tiebreak.serve(Parts)
";
    let mut study = Study::new().python("a.py", parts).python("b.py", parts);
    study.calls_a_batch = 1;
    let ran = unit(&mut study.runners(), &vec![vec![0, 1]; 4], TIMEOUT_NS).unwrap();
    // 4 ms; a neighbour may make the parts longer, so that the fastest of some is looked at.
    let fastest = ran.batches.iter().flatten().map(|time| time.low_ns).min().unwrap();
    assert!((4_000_000..8_000_000).contains(&fastest), "{ran:?}");
    assert!(ran.samples.iter().all(|sample| sample.delay_share().unwrap_or(0.0) <= 1.0));
}

#[test]
fn interrupting_ends_a_unit_at_once() {
    if !there(&[&PYTHON]) {
        return;
    }
    static FLAG: AtomicBool = AtomicBool::new(false);
    let sleep = SUM.replace("self.total = ", "__import__('time').sleep(30); self.total = ");
    let study = Study::new().python("a.py", &sleep).python("b.py", &sleep);
    let mut runners = start(&study.plan(), &FLAG).unwrap();
    let asked = std::thread::spawn(|| {
        std::thread::sleep(Duration::from_millis(700));
        FLAG.store(true, Ordering::SeqCst);
        Instant::now()
    });
    let ran = unit(&mut runners, &[vec![0, 1]], TIMEOUT_NS);
    assert_eq!(ran, Err(UnitFailure::Interrupted));
    assert!(asked.join().unwrap().elapsed() < Duration::from_secs(10));
}

#[test]
fn no_runner_outlives_whoever_started_it() {
    if !there(&[&PYTHON]) {
        return;
    }
    let tells = SUM.replace(
        "import tiebreak",
        "import os, tiebreak\nopen('pid', 'w').write(str(os.getpid()))",
    );
    let mut study = Study::new().python("a.py", &tells).python("b.py", SUM);
    study.scope = Scope::Layout;
    let (plan, folder) = (study.plan(), study.path().to_owned());
    let started = std::thread::spawn(move || {
        let mut runners = start(&plan, &NEVER).unwrap();
        unit(&mut runners, &[vec![0, 1]], TIMEOUT_NS).unwrap();
        // As if this had been killed: nothing says bye.
        std::mem::forget(runners);
    });
    started.join().unwrap();
    let pid = std::fs::read_to_string(folder.join("pid")).unwrap();
    let is_gone = || match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    };
    let end = Instant::now() + Duration::from_secs(20);
    while !is_gone() {
        assert!(Instant::now() < end, "runner {pid} is still there");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_cannot_be_started_is_known_at_once() {
    let study = Study::new().with("no-such-runtime", "a.py", SUM).python("b.py", SUM);
    let error = start(&study.plan(), &NEVER).unwrap_err();
    assert!(matches!(&error, StartError::NotFound { word, .. } if word == "no-such-runtime"));
    if let Some(study) = sums() {
        let mut plan = study.plan();
        plan.functions.as_mut().unwrap().cpu = Some(100_000);
        let error = start(&plan, &NEVER).unwrap_err();
        assert!(matches!(error, StartError::CpuNotAllowed { cpu: 100_000, .. }));
    }
}

#[test]
fn the_programs_of_the_python_study_answer_as_it_says() {
    let folder = root().join("studies/python");
    let study = std::fs::read_to_string(folder.join("study.toml")).unwrap();
    for interpreter in [PYTHON.as_str(), "pypy3"] {
        if !there(&[interpreter]) {
            continue;
        }
        let output = std::process::Command::new(interpreter)
            .args([&folder.join("programs.py").to_string_lossy(), "--answers"])
            .output()
            .unwrap();
        let answers = String::from_utf8(output.stdout).unwrap();
        assert_eq!(answers.lines().count(), 10, "{interpreter}: {answers}");
        let suite = study.split("\n\n").find(|entry| entry.contains("\"suite\"")).unwrap();
        assert!(suite.contains(&format!("\"\"\"\n{answers}\"\"\"")), "{interpreter}: {answers}");
        for line in answers.lines() {
            let (name, answer) = line.split_once(": ").unwrap();
            let at = study.find(&format!("name = \"{name}\"")).expect(name);
            let entry = study[at..].split("\n\n").next().unwrap();
            assert!(entry.contains(&format!("answer = \"{answer}\"")), "{interpreter}: {line}");
        }
    }
}
