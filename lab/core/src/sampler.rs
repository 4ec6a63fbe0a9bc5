//! The traits by which the engine gets samples from any source.

use crate::sample::{BatchTime, Sample};
use crate::schedule::RoundCoins;
use crate::study::Untimed;
use crate::verdict::Fault;
use crate::warning::Warning;

/// A request of the engine for one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunRequest {
    /// The index of the contestant in the plan.
    pub contestant: usize,
    /// The bytes of padding in its environment.
    pub padding_bytes: u32,
    /// The time at which the run is ended.
    pub timeout_ns: u64,
    /// Decides everything that is random about the load on a server; 0 for programs.
    pub load_seed: u64,
}

/// The result of a run: its sample and its output.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// The measured numbers.
    pub sample: Sample,
    /// The digest of its standard output; `None` if that was not captured, or if the run timed out.
    pub output: Option<OutputDigest>,
    /// The histograms of the latencies of a server's load; empty for programs.
    pub histogram: Vec<u8>,
}

/// A short name for an output: equal outputs have equal digests.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct OutputDigest {
    /// The length of the output.
    pub bytes: u64,
    /// The first 32 hexadecimal digits of its SHA-256.
    pub digest: String,
}

/// The reason why a run gave no sample.
#[derive(Clone, Debug, PartialEq)]
pub enum RunFailure {
    /// The contestant is at fault and is void from here on.
    Fault(Fault),
    /// The user asked to stop; the run was ended and its attempt is lost.
    Interrupted,
    /// The machine or tiebreak is at fault; the text says what to do.
    Broken(String),
}

/// A request of the engine for one unit of functions.
#[derive(Clone, Copy, Debug)]
pub struct UnitRequest<'a> {
    /// The coins. Without `unit` in them, the process of the previous round continues.
    pub coins: &'a RoundCoins,
    /// The contestants to load, in this order, if a process is started: those of the round, and at
    /// scope `layout` those of later rounds too.
    pub members: &'a [usize],
    /// The order of each of the unit's rounds: permutations of the coins' order.
    pub orders: &'a [Vec<usize>],
    /// The time without a sign of life, in a call, in a batch or during preparation, after which a
    /// contestant counts as hung.
    pub timeout_ns: u64,
}

/// The results of a unit, one entry per entry of its coins' order.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitRan {
    /// The sums over its timed batches.
    pub samples: Vec<Sample>,
    /// The wall time of each timed batch, in the order of its rounds.
    pub batches: Vec<Vec<BatchTime>>,
    /// How long all its rounds took together, with what lies between timed batches.
    pub rounds_ns: u64,
}

/// The reason why a unit gave no samples.
#[derive(Clone, Debug, PartialEq)]
pub enum UnitFailure {
    /// The contestant at this index of the plan is at fault and is void from here on.
    Fault(usize, Fault),
    /// The user asked to stop.
    Interrupted,
    /// The machine or tiebreak is at fault; the text says what to do.
    Broken(String),
}

/// The result of waiting for a quiet machine before a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quiet {
    /// The nanoseconds waited.
    pub waited_ns: u64,
    /// Whether it was quiet in the end, or its state is unknown.
    pub quiet: bool,
}

/// A source of samples for rounds: contestants on this machine, or a test's in virtual time.
pub trait Sampler {
    /// Returns its contestants by kind, and so the requests that it accepts.
    fn contestants(&mut self) -> Contestants<'_>;

    /// Waits, within the sampler's own limits and `at_most_ns`, until the machine is quiet.
    fn wait_for_quiet(&mut self, at_most_ns: u64) -> Quiet;

    /// Returns the warnings about the runs since the last call.
    fn take_warnings(&mut self) -> Vec<Warning> {
        Vec::new()
    }

    /// Reads the monotonic clock that budgets use, in nanoseconds from any origin.
    fn now_ns(&self) -> u64;
}

/// A sampler by the kind of its contestants.
pub enum Contestants<'a> {
    /// Commands, with one process per sample: programs, and servers under load.
    Programs(&'a mut dyn ProgramSampler),
    /// Functions, in a worker or in another runtime, with one unit per observation.
    Functions(&'a mut dyn FunctionSampler),
}

impl Contestants<'_> {
    /// Returns the part that every sampler shares.
    pub fn any(&mut self) -> &mut dyn Sampler {
        match self {
            Contestants::Programs(programs) => *programs,
            Contestants::Functions(functions) => *functions,
        }
    }
}

/// A source of samples of programs, or of servers.
pub trait ProgramSampler: Sampler {
    /// Runs the contestant's set-up hook, once before its first run.
    ///
    /// # Errors
    /// Fails if the hook fails, with a fault of the contestant.
    fn set_up(&mut self, _contestant: usize) -> Result<(), RunFailure> {
        Ok(())
    }

    /// Runs a contestant once and measures it. Prepare and conclude hooks run around it, untimed.
    ///
    /// # Errors
    /// Fails if the contestant fails, if the user interrupts, or for a reason outside the
    /// contestant.
    fn run(&mut self, request: &RunRequest) -> Result<Ran, RunFailure>;

    /// Runs the contestant's clean-up hook, once after its last run.
    ///
    /// # Errors
    /// Fails if the hook fails.
    fn clean_up(&mut self, _contestant: usize) -> Result<(), RunFailure> {
        Ok(())
    }
}

/// A source of samples of functions.
pub trait FunctionSampler: Sampler {
    /// Runs a unit: prepares its contestants in a process of their own, runs its rounds, each timed
    /// batch after an untimed call of the same function, and checks their answers.
    ///
    /// # Errors
    /// Fails if a contestant is at fault, if the user interrupts, or for a reason outside the
    /// contestants.
    fn run_unit(&mut self, request: &UnitRequest<'_>) -> Result<UnitRan, UnitFailure>;

    /// Prepares, while nothing is timed, what these coming units need: placements, inputs, a
    /// process. The first of them is next. Anything expected before that is not among them is no
    /// longer needed.
    fn expect(&mut self, _units: &[RoundCoins]) {}

    /// Returns the measurements of a contestant's work outside its timed calls; `None` where there
    /// are none.
    fn untimed(&self, _contestant: usize) -> Option<Untimed> {
        None
    }
}
