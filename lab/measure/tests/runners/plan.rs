//! Plans of runners for tests, and units of them.

use crate::common::{contestant, plan};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use tiebreak_core::language::Language;
use tiebreak_core::plan::{Budget, Centre, Contestant, Plan, ProgramPlan, Scope};
use tiebreak_core::sampler::{FunctionSampler, UnitFailure, UnitRan, UnitRequest};
use tiebreak_core::schedule::{RoundCoins, UnitCoins};
use tiebreak_core::study::{
    BatchCalls, Built, BuiltForm, Call, FunctionPlan, Pilot, Placements, Workload,
};
use tiebreak_core::verdict::Fault;
use tiebreak_measure::StartError;
use tiebreak_measure::runners::Runners;
use tiebreak_measure::workers::WorkerProgram;

pub static NEVER: AtomicBool = AtomicBool::new(false);

/// The interpreter itself: a version manager's shim of that name starts it from a slow script, and
/// what its children wait for a CPU is not seen.
pub static PYTHON: LazyLock<String> = LazyLock::new(|| {
    let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let path = asked.ok().filter(|said| said.status.success());
    path.map_or("python3".into(), |said| String::from_utf8_lossy(&said.stdout).trim().into())
});

/// Contestants in a folder of their own.
pub struct Study {
    pub folder: tempfile::TempDir,
    contestants: Vec<(String, Built)>,
    pub workload: Workload,
    pub scope: Scope,
    pub calls_a_batch: u64,
    pub items: u64,
    pub reference: usize,
}

impl Study {
    pub fn new() -> Study {
        let workload = Workload {
            name: "some".into(),
            distribution: String::new(),
            size: 3,
            seed: 1,
            is_drawn: false,
            about: String::new(),
            file: None,
            answer: None,
            contestants: Vec::new(),
            is_on_request: false,
        };
        Study {
            folder: tempfile::tempdir().unwrap(),
            contestants: Vec::new(),
            workload,
            scope: Scope::Binary,
            calls_a_batch: 2,
            items: 3,
            reference: 0,
        }
    }

    /// Adds a contestant in Python.
    pub fn python(self, file: &str, script: &str) -> Study {
        self.with(&PYTHON, file, script)
    }

    /// Adds a contestant: this program gets this script.
    pub fn with(mut self, program: &str, file: &str, script: &str) -> Study {
        std::fs::write(self.folder.path().join(file), script).unwrap();
        let form = BuiltForm::Runner {
            command: vec![program.into(), file.into()],
            environment: vec![("PYTHONDONTWRITEBYTECODE".into(), "1".into())],
            directory: self.path().to_string_lossy().into_owned(),
            files: Vec::new(),
        };
        let built = Built {
            contract: "published".into(),
            is_exact: true,
            language: Language::named("python").unwrap(),
            receipt: String::new(),
            code: None,
            standard: None,
            form,
            team: None,
        };
        self.contestants.push((file.to_owned(), built));
        self
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn built(&mut self, contestant: usize) -> &mut Built {
        &mut self.contestants[contestant].1
    }

    pub fn plan(&self) -> Plan {
        let contestant = |(name, _): &(String, Built)| Contestant {
            workload: self.workload.name.clone(),
            ..contestant(name, "")
        };
        Plan {
            budget: Budget { rounds: Some(1), seconds: None },
            scope: self.scope,
            centre: Centre::Median,
            seed: "1-2".into(),
            program: ProgramPlan { wait_for_quiet: false, ..ProgramPlan::default() },
            functions: Some(Box::new(self.functions())),
            ..plan(self.contestants.iter().map(contestant))
        }
    }

    fn functions(&self) -> FunctionPlan {
        FunctionPlan {
            folder: self.path().to_string_lossy().into_owned(),
            study: "test".into(),
            title: String::new(),
            source: String::new(),
            item: "item".into(),
            call: Call::Separate,
            workload: self.workload.clone(),
            workloads: Vec::new(),
            contracts: Vec::new(),
            items: self.items,
            input_bytes: 0,
            oracle: None,
            built: self.contestants.iter().map(|(_, built)| built.clone()).collect(),
            not_run: Vec::new(),
            reference: self.reference,
            published: Vec::new(),
            published_claims: Vec::new(),
            rounds_a_unit: 2,
            calls_a_batch: BatchCalls::Alike(self.calls_a_batch),
            times_each_call: false,
            reads_in_run: false,
            reads_whole: false,
            starts_processes: false,
            cpu: None,
            placements: Placements::Fresh,
            pilot: Pilot::default(),
            untimed: Vec::new(),
        }
    }

    pub fn runners(&self) -> Runners {
        start(&self.plan(), &NEVER).unwrap()
    }
}

/// Starts what a plan needs, with a cache in its study's folder.
pub fn start(plan: &Plan, interrupted: &'static AtomicBool) -> Result<Runners, StartError> {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_tiebreak-worker"));
    let worker = WorkerProgram { program, arguments: Vec::new() };
    let folder = plan.functions.as_ref().map_or("", |functions| &functions.folder);
    Runners::new(plan, &worker, &Path::new(folder).join("cache"), interrupted)
}

/// The coins of a unit of these contestants, in this order.
pub fn coins(order: &[usize], is_unit: bool) -> RoundCoins {
    RoundCoins {
        round: 0,
        attempt: 0,
        primer: Some(order[0]),
        order: order.to_vec(),
        padding_bytes: vec![100; order.len() + 1],
        load_seed: None,
        unit: is_unit.then(|| UnitCoins {
            input_seed: 5,
            orders_seed: 6,
            stack_bytes: 0,
            placements: vec![0; order.len()],
        }),
    }
}

/// Runs a unit with these orders of its rounds.
pub fn unit(
    runners: &mut Runners,
    orders: &[Vec<usize>],
    timeout_ns: u64,
) -> Result<UnitRan, UnitFailure> {
    let coins = coins(&orders[0], true);
    runners.run_unit(&UnitRequest { coins: &coins, members: &coins.order, orders, timeout_ns })
}

/// The fault that a unit of this study ends with within 8 rounds, and whose it is.
pub fn fault_of(study: &Study, timeout_ns: u64) -> (usize, Fault) {
    let all: Vec<usize> = (0..study.plan().contestants.len()).collect();
    let mut plan = study.plan();
    plan.program.timeout_ns = Some(timeout_ns);
    let mut runners = start(&plan, &NEVER).unwrap();
    match unit(&mut runners, &vec![all; 8], timeout_ns) {
        Err(UnitFailure::Fault(contestant, fault)) => (contestant, fault),
        other => panic!("no fault but {other:?}"),
    }
}

/// Whether these programs are there; where not, the test says why it does nothing.
pub fn there(programs: &[&str]) -> bool {
    let missing = |program: &&&str| tiebreak_measure::resolve(program, None).is_err();
    match programs.iter().find(missing) {
        Some(program) => {
            eprintln!("skipped: there is no {program} here");
            false
        }
        None => true,
    }
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
