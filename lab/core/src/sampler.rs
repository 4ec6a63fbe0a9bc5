//! The trait by which the engine gets samples, whatever gives them.

use crate::sample::{BatchTime, Sample};
use crate::schedule::RoundCoins;
use crate::study::Untimed;
use crate::verdict::Fault;
use crate::warning::Warning;

/// One run that the engine asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunRequest {
    /// Index of the contestant in the plan.
    pub contestant: usize,
    /// Bytes of padding in its environment.
    pub padding_bytes: u32,
    /// The run is ended when it has taken this long.
    pub timeout_ns: u64,
}

/// What a run left: its sample and what it wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// The numbers.
    pub sample: Sample,
    /// What it wrote to standard output; `None` if that was not captured or it was timed out.
    pub output: Option<OutputDigest>,
}

/// A short name for an output: equal outputs have equal prints.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct OutputDigest {
    /// How long the output was.
    pub bytes: u64,
    /// The first 32 hexadecimal digits of its SHA-256.
    pub digest: String,
}

/// Why a run gave no sample.
#[derive(Clone, Debug, PartialEq)]
pub enum RunFailure {
    /// The contestant is at fault and is void from here on.
    Fault(Fault),
    /// The user asked to stop; the run was ended and its attempt is lost.
    Interrupted,
    /// The machine or tiebreak is at fault; the text says what to do.
    Broken(String),
}

/// One unit of functions that the engine asks for.
#[derive(Clone, Copy, Debug)]
pub struct UnitRequest<'a> {
    /// What was drawn. Without `unit` in it, the process of the round before goes on.
    pub coins: &'a RoundCoins,
    /// Who is loaded, in this order, if a process is started: the contestants of the round, and at
    /// scope `layout` those of later rounds too.
    pub members: &'a [usize],
    /// The order of each of the unit's rounds: permutations of the coins' order.
    pub orders: &'a [Vec<usize>],
    /// Who gives no sign of life for this long, in a call, a batch or while it is prepared, hangs.
    pub timeout_ns: u64,
}

/// What a unit gave, one entry an entry of its coins' order.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitRan {
    /// The sums over its timed batches.
    pub samples: Vec<Sample>,
    /// The wall time of each timed batch, in the order of its rounds.
    pub batches: Vec<Vec<BatchTime>>,
}

/// Why a unit gave no samples.
#[derive(Clone, Debug, PartialEq)]
pub enum UnitFailure {
    /// The contestant at this index of the plan is at fault and is void from here on.
    Fault(usize, Fault),
    /// The user asked to stop.
    Interrupted,
    /// The machine or tiebreak is at fault; the text says what to do.
    Broken(String),
}

/// How long a round waited for a quiet machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quiet {
    /// Nanoseconds waited.
    pub waited_ns: u64,
    /// Whether it was quiet in the end (or nothing could be said).
    pub quiet: bool,
}

/// Gives samples for rounds: of contestants on this machine, or of a test's in virtual time.
pub trait Sampler {
    /// Returns what its contestants are, and so what can be asked of it.
    fn contestants(&mut self) -> Contestants<'_>;

    /// Waits, within the sampler's own limits and `at_most_ns`, until the machine is quiet.
    fn wait_for_quiet(&mut self, at_most_ns: u64) -> Quiet;

    /// Returns what the user should know of the runs since the last call.
    fn take_warnings(&mut self) -> Vec<Warning> {
        Vec::new()
    }

    /// Reads the monotonic clock by which budgets are kept: nanoseconds from any origin.
    fn now_ns(&self) -> u64;
}

/// A sampler by the kind of its contestants.
pub enum Contestants<'a> {
    /// Commands, a process a sample.
    Programs(&'a mut dyn ProgramSampler),
    /// Functions, in a worker or in another runtime, a unit an observation.
    Functions(&'a mut dyn FunctionSampler),
}

impl Contestants<'_> {
    /// Returns what every sampler does.
    pub fn any(&mut self) -> &mut dyn Sampler {
        match self {
            Contestants::Programs(programs) => *programs,
            Contestants::Functions(functions) => *functions,
        }
    }
}

/// Gives samples of programs.
pub trait ProgramSampler: Sampler {
    /// Runs the contestant's set-up hook, once before its first run.
    ///
    /// # Errors
    /// The hook's failure, as a fault of the contestant.
    fn set_up(&mut self, _contestant: usize) -> Result<(), RunFailure> {
        Ok(())
    }

    /// Runs a contestant once and measures it. Prepare and conclude hooks run around it, untimed.
    ///
    /// # Errors
    /// A failure of the contestant, an interruption, or something that is not its fault.
    fn run(&mut self, request: &RunRequest) -> Result<Ran, RunFailure>;

    /// Runs the contestant's clean-up hook, once after its last run.
    ///
    /// # Errors
    /// The hook's failure.
    fn clean_up(&mut self, _contestant: usize) -> Result<(), RunFailure> {
        Ok(())
    }
}

/// Gives samples of functions.
pub trait FunctionSampler: Sampler {
    /// Runs a unit: prepares its contestants in a process of their own, runs its rounds, each timed
    /// batch after an untimed call of the same function, and checks what they gave.
    ///
    /// # Errors
    /// A fault of one contestant, an interruption, or something that is not their fault.
    fn run_unit(&mut self, request: &UnitRequest<'_>) -> Result<UnitRan, UnitFailure>;

    /// Makes ready, between rounds, while nothing is timed, what will soon be loaded: these
    /// contestants at these placements, in this order. What was expected before and is not among
    /// them is not needed any more.
    fn expect(&mut self, _placements: &[(usize, u64)]) {}

    /// Returns what a contestant was seen to do outside of its timed calls; `None` where it was not
    /// looked at.
    fn untimed(&self, _contestant: usize) -> Option<Untimed> {
        None
    }
}
