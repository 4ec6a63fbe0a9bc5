//! A little study in a folder of its own: an oracle and contestants in C.

use crate::common::{self, contestant};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;
use tiebreak_core::claim::{Claim, Relation, Statement};
use tiebreak_core::language::Language;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::*;
use tiebreak_core::sampler::{FunctionSampler, UnitFailure, UnitRan, UnitRequest};
use tiebreak_core::schedule::{RoundCoins, UnitCoins};
pub use tiebreak_core::study::BatchCalls;
use tiebreak_core::study::*;
use tiebreak_core::verdict::Fault;
use tiebreak_measure::workers::{WorkerProgram, Workers};

pub static NEVER: AtomicBool = AtomicBool::new(false);
pub const SECOND_NS: u64 = 1_000_000_000;
/// The size of every input below, in bytes and in items: no multiple of any alignment.
pub const SIZE: u64 = 1000;

/// Bytes from a seed; the answer is each byte as a number, the checksum their sum; of the contract
/// `doubled` twice that. Distribution `copied` has an output as long as the input. With `mortal`,
/// whoever removes the log dies. With `busy`, an input other than that of [`coins`] takes until the
/// log is gone, which grows meanwhile. With `told`, the process writes its number there.
const ORACLE: &str = r#"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
static int generate(const tiebreak_request *r, const tiebreak_sink *s) {
  const char *log = getenv("TEST_LOG");
  if (!strcmp(r->distribution, "crash")) abort();
  if (!strcmp(r->distribution, "fail")) return 5;
  if (!strcmp(r->distribution, "mortal") && !unlink(log)) raise(SIGKILL);
  if (!strcmp(r->distribution, "told")) {
    int fd = open(log, O_WRONLY);
    dprintf(fd, "%d", getpid());
    close(fd);
  }
  if (!strcmp(r->distribution, "busy") && r->seed != 7) {
    for (int fd; (fd = open(log, O_WRONLY | O_APPEND)) >= 0; close(fd)) {
      if (write(fd, ".", 1) != 1) return 6;
      usleep(100);
    }
  }
  uint64_t x = r->seed + 1000 * r->part + 1;
  for (uint64_t i = 0; i < r->size; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    uint8_t byte = x >> 56;
    s->write(s->context, &byte, 1);
  }
  return 0;
}
static uint64_t items(const tiebreak_request *r, const uint8_t *in, uint64_t n) {
  (void)r; (void)in;
  return n;
}
static uint64_t output_bytes(const tiebreak_request *r, const uint8_t *in, uint64_t n) {
  (void)in;
  return strcmp(r->distribution, "copied") ? 0 : n;
}
static int answer(const tiebreak_request *r, const uint8_t *in, uint64_t n,
                  const tiebreak_sink *s, uint64_t *checksum) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < n; i++) {
    char line[8];
    sum += in[i];
    s->write(s->context, line, snprintf(line, sizeof line, "%d\n", in[i]));
  }
  *checksum = strcmp(r->contract, "doubled") ? sum : 2 * sum;
  return 0;
}
const tiebreak_oracle tiebreak_oracle_table = {TIEBREAK_MAGIC, TIEBREAK_ABI,
  sizeof(tiebreak_oracle), 0, generate, items, output_bytes, answer};
"#;

/// A contestant in C, right unless a piece of it says otherwise. The pieces are C statements.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// Before everything else.
    pub before: &'a str,
    /// In `prepare`, where `s` is the new state and `w` the workload.
    pub prepare: &'a str,
    /// `NULL`, or the name of a function that `before` defines.
    pub reset: &'a str,
    /// In `run`, before the sum of the input is taken into `sum`.
    pub run: &'a str,
    /// In `run`, after it.
    pub after: &'a str,
    /// In `dump`, for the byte `value` at `i`.
    pub dump: &'a str,
    /// Fields of the table: needs, slack of input and of output, alignment.
    pub declares: &'a str,
}

pub const RIGHT: Source<'static> = Source {
    before: "",
    prepare: "",
    reset: "NULL",
    run: "",
    after: "",
    dump: "",
    declares: "NULL, 0, 0, 0",
};

impl Source<'_> {
    pub fn text(&self) -> String {
        let Source { before, prepare, reset, run, after, dump, declares } = self;
        format!(
            r#"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef struct {{
  const uint8_t *input; uint64_t bytes; uint8_t *output; uint64_t calls; uint8_t own[4096];
}} state;
static void tell(const char *what) {{
  const char *path = getenv("TEST_LOG");
  int fd = path ? open(path, O_WRONLY | O_APPEND) : -1;
  if (fd >= 0 && write(fd, what, strlen(what)) && close(fd)) {{}}
}}
{before}
static void *prepare(const tiebreak_workload *w) {{
  state *s = calloc(1, sizeof *s);
  s->input = w->input; s->bytes = w->input_bytes; s->output = w->output;
  {prepare}
  return s;
}}
static uint64_t run(void *p) {{
  state *s = p;
  uint64_t sum = 0;
  {run}
  for (uint64_t i = 0; i < s->bytes; i++) sum += s->input[i];
  {after}
  return sum;
}}
static void dump(void *p, const tiebreak_sink *k) {{
  state *s = p;
  for (uint64_t i = 0; i < s->bytes; i++) {{
    char line[8];
    int value = s->input[i];
    {dump}
    k->write(k->context, line, snprintf(line, sizeof line, "%d\n", value));
  }}
}}
static void release(void *p) {{ free(p); }}
#define FIELDS {declares}
#ifndef FLAGS
  #define FLAGS 0
#endif
const tiebreak_contestant tiebreak_contestant_table = {{TIEBREAK_MAGIC, TIEBREAK_ABI,
  sizeof(tiebreak_contestant), FLAGS, "test", FIELDS, 0, prepare, {reset}, run, dump, release}};
"#
        )
    }
}

pub struct Study {
    folder: TempDir,
    pub plan: Plan,
    pub program: WorkerProgram,
}

impl Study {
    /// A study of these contestants, whose workers are not pinned and wait for nothing.
    pub fn new(sources: &[Source<'_>]) -> Study {
        let folder = tempfile::tempdir().unwrap();
        let oracle = compile(folder.path(), "oracle", ORACLE, &["-shared"]);
        let built: Vec<Built> = (0..)
            .zip(sources)
            .map(|(index, source)| {
                let object = compile(folder.path(), &format!("c{index}"), &source.text(), &["-c"]);
                built(&object)
            })
            .collect();
        let plan = plan(folder.path(), &oracle, built);
        Study { folder, plan, program: crate::program() }
    }

    pub fn functions(&mut self) -> &mut FunctionPlan {
        self.plan.functions.as_mut().unwrap()
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// From now on workers have this variable in their environment.
    pub fn with_variable(mut self, name: &str, value: &Path) -> Study {
        let WorkerProgram { program, arguments } = self.program;
        let mut variable = OsString::from(format!("{name}="));
        variable.push(value);
        let words = [variable, program.into()].into_iter().chain(arguments).collect();
        self.program = WorkerProgram { program: "/usr/bin/env".into(), arguments: words };
        self
    }

    /// From now on contestants may `tell`; gives the file that they tell it to.
    pub fn with_log(self) -> (Study, PathBuf) {
        let log = self.path().join("log");
        std::fs::write(&log, "").unwrap();
        let study = self.with_variable("TEST_LOG", &log);
        (study, log)
    }

    pub fn workers(&self) -> Workers {
        self.workers_until(&NEVER)
    }

    pub fn workers_until(&self, interrupted: &'static AtomicBool) -> Workers {
        let folder = self.path().join("placements");
        Workers::new(&self.plan, self.program.clone(), &folder, interrupted).unwrap()
    }

    /// Runs one unit of all contestants, two rounds in opposite orders.
    pub fn run(&self) -> Result<UnitRan, UnitFailure> {
        let order: Vec<usize> = (0..self.plan.contestants.len()).collect();
        run(&mut self.workers(), &coins(&order), &[order.clone(), reversed(&order)])
    }
}

pub fn reversed(order: &[usize]) -> Vec<usize> {
    order.iter().rev().copied().collect()
}

/// Coins of a unit with a process of its own.
pub fn coins(order: &[usize]) -> RoundCoins {
    let placements = (0..order.len() as u64).map(|index| 100 + index).collect();
    RoundCoins {
        round: 0,
        attempt: 0,
        primer: Some(order[0]),
        order: order.to_vec(),
        padding_bytes: (0..=order.len() as u32).map(|index| 1000 * index + 17).collect(),
        unit: Some(UnitCoins { input_seed: 7, orders_seed: 1, stack_bytes: 1234, placements }),
        load_seed: None,
    }
}

/// The same unit with other placements and another input.
pub fn placed(coins: RoundCoins, seed: u64) -> RoundCoins {
    let mut unit = coins.unit.unwrap();
    unit.placements.iter_mut().for_each(|placement| *placement += seed);
    unit.input_seed += seed;
    RoundCoins { unit: Some(unit), ..coins }
}

pub fn run(
    workers: &mut Workers,
    coins: &RoundCoins,
    orders: &[Vec<usize>],
) -> Result<UnitRan, UnitFailure> {
    workers.run_unit(&UnitRequest {
        coins,
        members: &coins.order,
        orders,
        timeout_ns: 20 * SECOND_NS,
    })
}

pub fn fault_of<T: std::fmt::Debug>(result: Result<T, UnitFailure>) -> (usize, Fault) {
    match result {
        Err(UnitFailure::Fault(contestant, fault)) => (contestant, fault),
        other => panic!("a fault was expected: {other:?}"),
    }
}

/// Compiles a source with the header before it; gives the object or the library.
pub fn compile(folder: &Path, name: &str, text: &str, words: &[&str]) -> PathBuf {
    let (source, out) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.out")));
    std::fs::write(folder.join("tiebreak.h"), tiebreak_abi::HEADER).unwrap();
    std::fs::write(&source, format!("#include \"tiebreak.h\"\n{text}")).unwrap();
    let mut command = Command::new("cc");
    command
        .args(["-O1", "-fPIC", "-w", "-D_GNU_SOURCE"])
        .args(words)
        .arg("-o")
        .arg(&out)
        .arg(&source);
    let compiled = command.output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    out
}

fn built(object: &Path) -> Built {
    let word = |word: &str| word.to_owned();
    Built {
        contract: PUBLISHED.to_owned(),
        is_exact: true,
        language: Language::named("c").unwrap(),
        receipt: "cc".to_owned(),
        code: None,
        standard: None,
        form: BuiltForm::Objects {
            objects: vec![object.to_str().unwrap().to_owned()],
            linker: vec![word("cc"), word("-shared"), word("-o")],
            libraries: Vec::new(),
            code_padding: Vec::new(),
            data_padding: Vec::new(),
            reference: None,
        },
        team: None,
    }
}

pub fn claim(metric: Metric) -> PlannedClaim {
    let claim = Claim {
        text: "A is faster than B".to_owned(),
        left: "A".to_owned(),
        right: Some("B".to_owned()),
        statement: Statement::Ratio(Relation::Order),
        metric,
        workload: None,
    };
    PlannedClaim { claim, left: 0, right: Some(1), error: 0.01, gate: Gate::None, waits_ns: 0 }
}

fn plan(folder: &Path, oracle: &Path, built: Vec<Built>) -> Plan {
    let names = ('A'..).map(String::from).take(built.len());
    let plan = common::plan(names.map(|name| contestant(name, "")));
    Plan {
        scope: Scope::Code,
        centre: Centre::Median,
        functions: Some(Box::new(FunctionPlan {
            folder: folder.to_str().unwrap().to_owned(),
            study: "test".to_owned(),
            title: String::new(),
            source: String::new(),
            item: "byte".to_owned(),
            call: Call::Separate,
            workload: Workload {
                name: "bytes".to_owned(),
                distribution: "plain".to_owned(),
                size: SIZE,
                seed: 3,
                is_drawn: true,
                about: String::new(),
                file: None,
                answer: None,
                contestants: Vec::new(),
                is_on_request: false,
            },
            workloads: Vec::new(),
            contracts: Vec::new(),
            items: SIZE,
            input_bytes: SIZE,
            oracle: Some(oracle.to_str().unwrap().to_owned()),
            built,
            not_run: Vec::new(),
            reference: 0,
            published: Vec::new(),
            published_claims: Vec::new(),
            rounds_a_unit: 2,
            calls_a_batch: BatchCalls::Alike(10),
            times_each_call: false,
            reads_in_run: false,
            reads_whole: false,
            starts_processes: false,
            cpu: None,
            placements: Placements::Fresh,
            pilot: Pilot::default(),
            untimed: Vec::new(),
        })),
        program: ProgramPlan { wait_for_quiet: false, ..ProgramPlan::default() },
        ..plan
    }
}
