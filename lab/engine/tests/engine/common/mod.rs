//! A laboratory in virtual time: samples are a function of the coins, time is a number, and a kill
//! can be had at any step. Shared by the tests of this folder.

#![allow(dead_code, reason = "an example uses a part")]

pub mod worlds;

use std::cell::Cell;
use std::sync::atomic::AtomicBool;
use tiebreak_lab::core::fingerprint::Fingerprint;
use tiebreak_lab::core::journal::{Event, Journal, RunHeader, StopReason};
use tiebreak_lab::core::metric::Metric;
use tiebreak_lab::core::plan::{Adjust, Budget, Centre, Check, Gate, Plan, ProgramPlan};
use tiebreak_lab::core::sample::{BatchTime, Outcome, Sample};
use tiebreak_lab::core::sampler::{
    Contestants, FunctionSampler, OutputDigest, ProgramSampler, Quiet, Ran, RunFailure, RunRequest,
    Sampler, UnitFailure, UnitRan, UnitRequest,
};
use tiebreak_lab::core::study::{BatchCalls, Call, FunctionPlan, Pilot, Placements, Workload};
use tiebreak_lab::core::verdict::Fault;
use tiebreak_lab::engine::Engine;
use tiebreak_lab::planning::{self, HookRequest, Request};
use tiebreak_lab::recorder::Recorder;
use tiebreak_lab::referee::Referee;
use tiebreak_store::{RunId, Store};

/// What one contestant does in the virtual laboratory.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// Its wall time without noise.
    pub wall_ns: f64,
    /// The relative size of its noise.
    pub noise: f64,
    /// Each run takes so much longer than the one before, as a share of the first.
    pub growth: f64,
    /// How many times as long as usual it takes in run number n.
    pub times: fn(u64) -> f64,
    /// Wall times are rounded to this.
    pub step_ns: u64,
    /// Its output in run number n (primers count).
    pub output: fn(u64) -> &'static str,
    /// It fails in this run.
    pub fails_in_run: Option<u64>,
    /// It fails in the runs of which this is true.
    pub fails: fn(u64) -> bool,
    /// It never ends.
    pub hangs: bool,
    /// The clock goes backwards in every run whose number this divides.
    pub clock_backwards_every: Option<u64>,
    /// Of every second batch of a unit it says this share of the time, against the clock outside.
    pub says: f64,
}

impl Default for Behaviour {
    fn default() -> Self {
        Behaviour {
            wall_ns: 5e6,
            noise: 0.02,
            growth: 0.0,
            times: |_| 1.0,
            step_ns: 1,
            output: |_| "same",
            fails_in_run: None,
            fails: |_| false,
            hangs: false,
            clock_backwards_every: None,
            says: 1.0,
        }
    }
}

/// Gives samples in virtual time.
pub struct VirtualSampler {
    behaviours: Vec<Behaviour>,
    runs: Vec<u64>,
    now_ns: Cell<u64>,
    steps: u64,
    /// The process is killed before this step: a wait or a run.
    pub killed_at: Option<u64>,
    /// The process is killed before this write to the journal.
    pub killed_at_write: Option<u64>,
    /// How many writes the last run made.
    pub writes: u64,
    /// What happened, in order.
    pub log: Vec<String>,
    /// Whether the plan is of functions.
    of_functions: bool,
}

/// A panic with this message stands for `kill -9`.
pub const KILLED: &str = "killed";

impl VirtualSampler {
    pub fn new(behaviours: &[Behaviour]) -> VirtualSampler {
        VirtualSampler {
            runs: vec![0; behaviours.len()],
            behaviours: behaviours.to_vec(),
            now_ns: Cell::new(0),
            steps: 0,
            killed_at: None,
            killed_at_write: None,
            writes: 0,
            log: Vec::new(),
            of_functions: false,
        }
    }

    fn step(&mut self) {
        if self.killed_at == Some(self.steps) {
            std::panic::panic_any(KILLED);
        }
        self.steps += 1;
    }

    fn pass(&self, ns: u64) {
        self.now_ns.set(self.now_ns.get() + ns);
    }
}

/// A number in [-1, 1) that belongs to a padding and a contestant, roughly bell-shaped.
fn noise(request: &RunRequest) -> f64 {
    let mut x =
        u64::from(request.padding_bytes) * 2_654_435_761 + request.contestant as u64 * 97 + 1;
    let mut sum = 0.0;
    for _ in 0..3 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        sum += (x >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0;
    }
    sum / 3.0
}

impl Sampler for VirtualSampler {
    fn contestants(&mut self) -> Contestants<'_> {
        if self.of_functions { Contestants::Functions(self) } else { Contestants::Programs(self) }
    }

    fn wait_for_quiet(&mut self, _at_most_ns: u64) -> Quiet {
        self.step();
        self.pass(1000);
        Quiet { waited_ns: 1000, quiet: true }
    }

    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }
}

impl ProgramSampler for VirtualSampler {
    fn set_up(&mut self, contestant: usize) -> Result<(), RunFailure> {
        self.log.push(format!("set up {contestant}"));
        Ok(())
    }

    fn run(&mut self, request: &RunRequest) -> Result<Ran, RunFailure> {
        self.step();
        let number = self.runs[request.contestant];
        self.runs[request.contestant] += 1;
        self.log.push(format!("run {}", request.contestant));
        let behaviour = &self.behaviours[request.contestant];
        if behaviour.fails_in_run == Some(number) || (behaviour.fails)(number) {
            return Err(RunFailure::Fault(Fault::ExitStatus { status: 7, stderr: "oh".into() }));
        }
        let grown = (1.0 + behaviour.growth * number as f64) * (behaviour.times)(number);
        let wall = behaviour.wall_ns * grown * (1.0 + behaviour.noise * noise(request));
        let wall_ns = (wall as u64 / behaviour.step_ns) * behaviour.step_ns;
        let mut sample = Sample::of_wall_ns(wall_ns);
        if behaviour.hangs || wall_ns > request.timeout_ns {
            sample.wall_ns = request.timeout_ns;
            sample.outcome = Outcome::TimedOut;
        } else if behaviour.clock_backwards_every.is_some_and(|every| number.is_multiple_of(every))
        {
            sample.outcome = Outcome::Unusable;
        }
        self.pass(sample.wall_ns);
        let text = (behaviour.output)(number);
        let output = OutputDigest { bytes: text.len() as u64, digest: text.to_owned() };
        Ok(Ran {
            sample,
            output: (sample.outcome != Outcome::TimedOut).then_some(output),
            histogram: Vec::new(),
        })
    }

    fn clean_up(&mut self, contestant: usize) -> Result<(), RunFailure> {
        self.log.push(format!("clean up {contestant}"));
        Ok(())
    }
}

impl FunctionSampler for VirtualSampler {
    /// A unit's placements shift each contestant by up to its noise, and each batch by a tenth of
    /// that.
    fn run_unit(&mut self, request: &UnitRequest<'_>) -> Result<UnitRan, UnitFailure> {
        self.step();
        let coins = request.coins;
        let kind = if coins.unit.is_some() { "unit" } else { "round" };
        self.log.push(format!("{kind} {:?} x{}", coins.order, request.orders.len()));
        let mut batches = vec![Vec::new(); coins.order.len()];
        for (number, order) in request.orders.iter().enumerate() {
            for contestant in order {
                let position = coins.order.iter().position(|other| other == contestant).unwrap();
                let run = self.runs[*contestant];
                self.runs[*contestant] += 1;
                let behaviour = &self.behaviours[*contestant];
                if behaviour.fails_in_run == Some(run) {
                    let fault = Fault::Hung { workload: "virtual".into(), seconds: 1 };
                    return Err(UnitFailure::Fault(*contestant, fault));
                }
                let placement = coins.unit.as_ref().map_or(0, |unit| unit.placements[position]);
                let drawn = |salt: u64| {
                    let padding_bytes = (salt % 65_521) as u32;
                    noise(&RunRequest {
                        contestant: *contestant,
                        padding_bytes,
                        timeout_ns: 0,
                        load_seed: 0,
                    })
                };
                let batch_noise = drawn(number as u64 * 31 + coins.round * 7 + 1) / 10.0;
                let shift = 1.0 + behaviour.noise * (drawn(placement) + batch_noise);
                let wall_ns = (behaviour.wall_ns * shift) as u64;
                self.pass(wall_ns);
                let says = if number % 2 == 0 { behaviour.says } else { 1.0 };
                let said_ns = (wall_ns as f64 * says) as u64;
                batches[position].push(BatchTime::between(said_ns, wall_ns));
            }
        }
        let sum = |of: &Vec<BatchTime>| of.iter().map(|time| time.high_ns).sum();
        let samples = batches.iter().map(|of| Sample::of_wall_ns(sum(of))).collect();
        let rounds_ns = batches.iter().map(sum).sum();
        Ok(UnitRan { samples, batches, rounds_ns })
    }
}

/// A request for a comparison of as many contestants as there are behaviours.
pub fn request(contestants: usize, claims: &[&str]) -> Request {
    Request {
        commands: (0..contestants).map(|i| format!("program-{i}")).collect(),
        names: Vec::new(),
        parameters: Vec::new(),
        claims: claims.iter().map(|claim| (*claim).to_owned()).collect(),
        all_pairs: false,
        metric: Metric::WallTime,
        error: 0.01,
        resolution: 0.01,
        budget: Some(Budget { rounds: Some(400), seconds: None }),
        centre: Centre::Factor,
        directories: Vec::new(),
        adjust: Adjust::NONE,
        block_runs: 1,
        gate: Gate::None,
        seed: "a virtual seed".into(),
        workload: String::new(),
        hooks: HookRequest::default(),
        program: ProgramPlan { check: Check::Default, ..ProgramPlan::default() },
        servers: None,
        clock_step_ns: 1.0,
    }
}

/// Rounds of a unit of [`functions`].
pub const ROUNDS_A_UNIT: u32 = 6;

/// What is planned of contestants that are functions in virtual time.
pub fn functions() -> FunctionPlan {
    let text = |text: &str| text.to_owned();
    FunctionPlan {
        folder: text("/study"),
        study: text("study"),
        title: text("a study"),
        source: text("nowhere"),
        item: text("item"),
        call: Call::Separate,
        workload: Workload {
            name: text("virtual"),
            distribution: text("none"),
            size: 1,
            seed: 0,
            is_drawn: true,
            about: String::new(),
            file: None,
            answer: None,
            contestants: Vec::new(),
            is_on_request: false,
        },
        workloads: Vec::new(),
        contracts: Vec::new(),
        items: 1,
        input_bytes: 1,
        oracle: None,
        built: Vec::new(),
        not_run: Vec::new(),
        reference: 0,
        published: Vec::new(),
        published_claims: Vec::new(),
        rounds_a_unit: ROUNDS_A_UNIT,
        calls_a_batch: BatchCalls::Alike(1),
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

/// A header without anything that depends on when and where it is written.
pub fn header(plan: Plan) -> RunHeader {
    RunHeader {
        created_unix_ms: 1_795_293_900_000,
        version: "0.1.0".into(),
        command: vec!["tiebreak".into(), "compare".into()],
        directory: "/".into(),
        plan,
        machine: Fingerprint::default(),
        machine_print: None,
        files: Vec::new(),
        claim_key: "virtual".into(),
    }
}

/// A store in a folder that goes with it.
pub struct VirtualLab {
    folder: tempfile::TempDir,
    pub run: RunId,
}

impl VirtualLab {
    pub fn new(request: &Request) -> VirtualLab {
        VirtualLab::of(planning::plan(request).unwrap())
    }

    pub fn of(plan: Plan) -> VirtualLab {
        let folder = scratch();
        let mut store = Store::open(&folder.path().join("journal.db")).unwrap();
        let run = store.create_run(&header(plan)).unwrap();
        VirtualLab { folder, run }
    }

    pub fn open(&self) -> Store {
        Store::open(&self.folder.path().join("journal.db")).unwrap()
    }

    pub fn journal(&self) -> Journal {
        self.open().journal(&self.run).unwrap()
    }

    pub fn event(&self, event: &Event) {
        self.open().event(&self.run, event).unwrap();
    }

    /// Goes on from where the journal stands; `Err` if it was killed.
    pub fn go(&self, sampler: &mut VirtualSampler) -> Result<(Referee, StopReason), ()> {
        let stop = AtomicBool::new(false);
        let mut store = self.open();
        let journal = store.journal(&self.run).unwrap();
        sampler.of_functions = journal.header.plan.functions.is_some();
        let run = std::panic::AssertUnwindSafe(|| {
            let killed_at = sampler.killed_at_write;
            let writes = Cell::new(0);
            let before_commit = || {
                if killed_at == Some(writes.get()) {
                    std::panic::panic_any(KILLED);
                }
                writes.set(writes.get() + 1);
            };
            let run = self.run.clone();
            let recorder = Recorder { store: &mut store, run, before_commit: &before_commit };
            let ended = Engine::new(recorder, &journal, sampler, &stop).run(|_| {}).unwrap();
            (ended, writes.get())
        });
        let (ended, writes) = std::panic::catch_unwind(run).map_err(|cause| {
            assert_eq!(cause.downcast_ref::<&str>(), Some(&KILLED), "an unexpected panic");
        })?;
        sampler.writes = writes;
        Ok(ended)
    }
}

/// Runs a comparison to its end.
pub fn compare(request: &Request, behaviours: &[Behaviour]) -> (Referee, StopReason, Journal) {
    let lab = VirtualLab::new(request);
    let (referee, reason) = lab.go(&mut VirtualSampler::new(behaviours)).unwrap();
    (referee, reason, lab.journal())
}

/// A folder for journals that nobody keeps: in memory where there is such a place, because tests of
/// statistics write thousands of them.
pub fn scratch() -> tempfile::TempDir {
    let in_memory = tempfile::tempdir_in("/dev/shm");
    in_memory.or_else(|_| tempfile::tempdir()).unwrap()
}
