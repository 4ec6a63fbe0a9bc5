//! Worlds in which the true ratio is known, and comparisons in them: the engine, the referee and
//! the journal are the real ones, and only the clock and what the world does to it are made up.

use super::{ROUNDS_A_UNIT, VirtualLab, functions, request};
use std::sync::atomic::AtomicBool;
use tiebreak_lab::core::plan::{Adjust, Budget, Centre, Plan, Scope};
use tiebreak_lab::core::sample::{BatchTime, Outcome, Sample};
use tiebreak_lab::core::sampler::{
    Contestants, FunctionSampler, ProgramSampler, Quiet, Ran, RunFailure, RunRequest, Sampler,
    UnitFailure, UnitRan, UnitRequest,
};
use tiebreak_lab::core::verdict::Verdict;
use tiebreak_lab::engine::Engine;
use tiebreak_lab::planning::{self, Request};
use tiebreak_lab::recorder::{NOTHING, Recorder};
use tiebreak_lab::referee::Referee;
use tiebreak_stats::coins::{Purpose, Seed, Stream};

/// What a world does to the logarithm of a run's time, whoever runs: the truth stays what it is.
/// A hundredth is 1%.
#[derive(Clone, Copy, Debug)]
pub struct World {
    /// Its name in the table.
    pub name: &'static str,
    /// Standard deviation of the normal noise of a run.
    pub sd: f64,
    /// A run waits for up to this many times its own length, each wait equally likely.
    pub busy: f64,
    /// The probability that those who make it wait are there, or not, as in the run before; 0 if
    /// they always are.
    pub burst_stays: f64,
    /// What each run adds to every later run of its contestant.
    pub grows: f64,
    /// What the first run of a contestant is slower; with each of its runs a thirtieth of it goes.
    pub warms: f64,
    /// What each run adds to every later run of anybody.
    pub drift: f64,
    /// What every second run is slower.
    pub period: f64,
    /// How far apart two modes are; four of five runs are in the mode of the one before.
    pub modes: f64,
    /// The scale of Cauchy noise, which has no mean.
    pub tails: f64,
    /// The factor, as a logarithm, by which each tenth run on average is slower.
    pub slow_tenth: f64,
    /// What the second timed run of a round is slower, and what a run that follows one of the same
    /// contestant is slower; three tenths of a run's noise come back in the next one.
    pub follows: f64,
}

const QUIET: World = World {
    name: "quiet",
    sd: 0.015,
    busy: 0.0,
    burst_stays: 0.0,
    grows: 0.0,
    warms: 0.0,
    drift: 0.0,
    period: 0.0,
    modes: 0.0,
    tails: 0.0,
    slow_tenth: 0.0,
    follows: 0.0,
};

/// Every world, one row each.
pub const WORLDS: [World; 13] = [
    QUIET,
    World { name: "busy 2", busy: 2.0, ..QUIET },
    World { name: "busy 8", busy: 8.0, ..QUIET },
    World { name: "busy 16", busy: 16.0, ..QUIET },
    World { name: "busy 8, in bursts", busy: 8.0, burst_stays: 0.9, ..QUIET },
    World { name: "own state grows", grows: 0.002, ..QUIET },
    World { name: "own state warms", warms: 0.5, ..QUIET },
    World { name: "drift", drift: 0.002, ..QUIET },
    World { name: "period 2", period: 0.05, ..QUIET },
    World { name: "two modes", modes: 0.05, ..QUIET },
    World { name: "heavy tails", tails: 0.01, ..QUIET },
    World { name: "a slow tenth", slow_tenth: 1.1, ..QUIET },
    World { name: "neighbours that follow us", follows: 0.04, ..QUIET },
];

/// The world of this name.
pub fn world(name: &str) -> &'static World {
    WORLDS.iter().find(|world| world.name == name).expect("a world of the table")
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Programs: a primer and a run of each, a round.
    Programs,
    /// Functions: a process a unit, with six batches of each.
    Functions,
    /// Runners: a process of each that goes on, with a batch of each a round.
    Runners,
}

/// Every form.
pub const FORMS: [Form; 3] = [Form::Programs, Form::Functions, Form::Runners];

impl Form {
    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Form::Programs => "programs",
            Form::Functions => "functions",
            Form::Runners => "runners",
        }
    }

    /// The plan of a comparison of A with B.
    pub fn plan(self, seed: &str, error: f64, rounds: u64) -> Plan {
        let budget = Some(Budget { rounds: Some(rounds), seconds: None });
        let centre = Centre::unless_said(Adjust::NONE);
        let asked = Request { error, budget, centre, seed: seed.into(), ..request(2, &[]) };
        let plan = planning::plan(&asked).unwrap();
        let functions = |rounds_a_unit| {
            let functions =
                tiebreak_lab::core::study::FunctionPlan { rounds_a_unit, ..functions() };
            Some(Box::new(functions))
        };
        match self {
            Form::Programs => plan,
            Form::Functions => {
                Plan { scope: Scope::Code, functions: functions(ROUNDS_A_UNIT), ..plan }
            }
            Form::Runners => Plan { scope: Scope::Layout, functions: functions(1), ..plan },
        }
    }
}

/// Runs of two contestants in a world, of which the second takes `1 + slower` times as long.
pub struct WorldSampler {
    world: World,
    slower: f64,
    chance: Stream,
    now_ns: u64,
    /// Runs of anybody, and of each.
    runs: u64,
    own_runs: [u64; 2],
    /// Of the last run: who made it, its noise, its mode, and whether a burst was on.
    last: Option<usize>,
    last_noise: f64,
    slow_mode: bool,
    burst: bool,
    /// Whether the plan is of functions.
    of_functions: bool,
}

impl WorldSampler {
    /// A world's runs, a function of the seed.
    pub fn new(world: &World, slower: f64, seed: &str) -> WorldSampler {
        WorldSampler {
            world: *world,
            slower,
            chance: Stream::new(Seed::from_text(seed), Purpose::Simulation, 0, 0),
            now_ns: 0,
            runs: 0,
            own_runs: [0; 2],
            last: None,
            last_noise: 0.0,
            slow_mode: false,
            burst: false,
            of_functions: false,
        }
    }

    /// The logarithm of the time of a contestant's next run; `second` if it is the second timed one
    /// of its round.
    pub fn log_time(&mut self, contestant: usize, second: bool) -> f64 {
        let World { sd, busy, burst_stays, modes, tails, slow_tenth, follows, .. } = self.world;
        let mut noise = sd * self.chance.normal();
        if busy > 0.0 {
            if self.chance.unit() >= burst_stays {
                self.burst = burst_stays == 0.0 || self.chance.unit() < 0.5;
            }
            let wait = busy * self.chance.unit();
            noise += if self.burst { wait.ln_1p() } else { 0.0 };
        }
        if modes > 0.0 && self.chance.unit() >= 0.8 {
            self.slow_mode = self.chance.unit() < 0.5;
        }
        noise += if self.slow_mode { modes } else { 0.0 };
        if tails > 0.0 {
            noise += tails * (std::f64::consts::PI * (self.chance.unit() - 0.5)).tan().min(500.0);
        }
        if slow_tenth > 0.0 && self.chance.unit() < 0.1 {
            noise += slow_tenth;
        }
        let own = self.own_runs[contestant] as f64;
        noise += self.world.grows * own + self.world.warms * (-own / 30.0).exp();
        noise += self.world.drift * self.runs as f64;
        noise += if self.runs % 2 == 1 { self.world.period } else { 0.0 };
        if follows > 0.0 {
            noise += if second { follows } else { 0.0 };
            noise += if self.last == Some(contestant) { follows } else { 0.0 };
            noise += 0.3 * self.last_noise;
        }
        self.own_runs[contestant] += 1;
        self.runs += 1;
        (self.last, self.last_noise) = (Some(contestant), noise);
        noise + if contestant == 1 { self.slower.ln_1p() } else { 0.0 }
    }

    /// The same as nanoseconds of a run of about 0.1 ms; at most three hours, for heavy tails.
    fn wall_ns(&mut self, contestant: usize, second: bool) -> u64 {
        let wall_ns = (1e5 * self.log_time(contestant, second).exp()).clamp(1000.0, 1e13) as u64;
        self.now_ns += wall_ns;
        wall_ns
    }
}

impl Sampler for WorldSampler {
    fn contestants(&mut self) -> Contestants<'_> {
        if self.of_functions { Contestants::Functions(self) } else { Contestants::Programs(self) }
    }

    fn wait_for_quiet(&mut self, _: u64) -> Quiet {
        Quiet { waited_ns: 0, quiet: true }
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }
}

impl ProgramSampler for WorldSampler {
    fn run(&mut self, request: &RunRequest) -> Result<Ran, RunFailure> {
        // A round is a primer and two timed runs.
        let second = self.runs % 3 == 2;
        let wall_ns = self.wall_ns(request.contestant, second);
        Ok(Ran { sample: within(request.timeout_ns, wall_ns), output: None, histogram: Vec::new() })
    }
}

impl FunctionSampler for WorldSampler {
    /// A process of its own is luck that stays for the unit: as large as the noise of a run. What
    /// is warm in a process goes with it. As in the worker, everybody is called once before the
    /// rounds, the primer last, and each timed batch follows an untimed call of the same function.
    fn run_unit(&mut self, request: &UnitRequest<'_>) -> Result<UnitRan, UnitFailure> {
        let order = &request.coins.order;
        let mut luck = [0.0; 2];
        if request.coins.unit.is_some() {
            luck = [0; 2].map(|_| self.world.sd * self.chance.normal());
            self.own_runs = if self.world.warms > 0.0 { [0; 2] } else { self.own_runs };
        }
        let primer = request.coins.primer;
        let others = order.iter().filter(|other| Some(**other) != primer);
        for untimed in others.chain(&primer) {
            self.log_time(*untimed, false);
        }
        let mut batches = vec![Vec::new(); order.len()];
        for round in request.orders {
            for (slot, contestant) in round.iter().enumerate() {
                self.log_time(*contestant, false);
                let wall_ns = self.wall_ns(*contestant, slot == 1) as f64 * luck[*contestant].exp();
                let position = order.iter().position(|other| other == contestant).unwrap();
                batches[position].push(BatchTime::from(wall_ns as u64));
            }
        }
        let sum = |of: &Vec<BatchTime>| of.iter().map(|time| time.high_ns).sum();
        let samples = batches.iter().map(|of| Sample::of_wall_ns(sum(of))).collect();
        let rounds_ns = batches.iter().map(sum).sum();
        Ok(UnitRan { samples, batches, rounds_ns })
    }
}

/// A run of so many nanoseconds, which is ended at the time-out.
pub fn within(timeout_ns: u64, wall_ns: u64) -> Sample {
    let outcome = if wall_ns > timeout_ns { Outcome::TimedOut } else { Outcome::Finished };
    Sample { outcome, ..Sample::of_wall_ns(wall_ns.min(timeout_ns)) }
}

/// What one comparison said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// That which is so: of equals nothing, of others that A is faster.
    pub found: bool,
    /// What is not so: of equals that one is faster, of others that B is, or that they are close.
    pub wrong: bool,
    /// The interval of the ratio has no place for the true one.
    pub missed: bool,
}

/// Judges what was said of a true log ratio: the winner, "too close", and the limits.
fn said(slower: f64, winner: Option<usize>, close: bool, low: f64, high: f64) -> Outcomes {
    let truth = slower.ln_1p();
    Outcomes {
        found: slower > 0.0 && winner == Some(0),
        wrong: if slower > 0.0 { close || winner == Some(1) } else { winner.is_some() },
        missed: low > truth || high < truth,
    }
}

/// A comparison by the engine, with its journal.
pub fn by_engine(plan: Plan, world: &World, slower: f64) -> Outcomes {
    let mut sampler = WorldSampler::new(world, slower, &format!("{} {}", world.name, plan.seed));
    sampler.of_functions = plan.functions.is_some();
    judged(&race(plan, &mut sampler), slower)
}

/// A comparison by the engine, with its journal, of what a sampler gives.
pub fn race(plan: Plan, sampler: &mut impl Sampler) -> Referee {
    let lab = VirtualLab::of(plan);
    let mut store = lab.open();
    let journal = store.journal(&lab.run).unwrap();
    let recorder = Recorder { store: &mut store, run: lab.run.clone(), before_commit: NOTHING };
    let stop = AtomicBool::new(false);
    Engine::new(recorder, &journal, sampler, &stop).run(|_| {}).unwrap().0
}

/// What a comparison said of contestants of which the second takes `1 + slower` times as long.
pub fn judged(referee: &Referee, slower: f64) -> Outcomes {
    let evidence = referee.evidence(0);
    let winner = referee.winner(0).filter(|_| referee.verdict(0) == Verdict::Holds);
    let close = referee.verdict(0) == Verdict::TooClose;
    let (low, high) = (evidence.low, evidence.high);
    said(slower, winner, close, low.unwrap_or(f64::MIN), high.unwrap_or(f64::MAX))
}

/// In which order another tool has the runs made whose logarithms Welch's test then compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// All of A, then all of B, as hyperfine does.
    Blocks,
    /// A B A B.
    Turns,
    /// A B A B, and a look after each pair, until a difference is seen.
    Peeking,
}

/// Runs of each contestant that Welch's test compares, as many as `make peers` lets hyperfine make.
const PEER_RUNS: usize = 80;
/// The two-sided 5% point of Student's distribution with 158 degrees of freedom or fewer: that of
/// 79, the fewest that Welch's formula gives for 80 and 80 runs.
const STUDENT_95: f64 = 1.990;

impl Peer {
    /// A comparison by Welch's test at 5%.
    pub fn compare(self, seed: &str, world: &World, slower: f64) -> Outcomes {
        let mut sampler = WorldSampler::new(world, slower, &format!("{} {seed}", world.name));
        let mut of = [Sums::default(), Sums::default()];
        if self == Peer::Blocks {
            for contestant in [0, 1] {
                (0..PEER_RUNS)
                    .for_each(|_| of[contestant].add(sampler.log_time(contestant, false)));
            }
            return welch(slower, &of);
        }
        for pair in 0..PEER_RUNS {
            (0..2).for_each(|who| of[who].add(sampler.log_time(who, who == 1)));
            let now = welch(slower, &of);
            if self == Peer::Peeking && pair >= 4 && (now.wrong || now.found) {
                return now;
            }
        }
        welch(slower, &of)
    }
}

/// What Welch's test says of the logarithms of B's times and A's.
fn welch(slower: f64, [a, b]: &[Sums; 2]) -> Outcomes {
    let difference = b.mean - a.mean;
    let half = STUDENT_95 * (a.error_squared() + b.error_squared()).sqrt();
    let winner = (difference.abs() > half).then_some(usize::from(difference < 0.0));
    said(slower, winner, false, difference - half, difference + half)
}

/// Count, mean and squares of deviations (Welford 1962).
#[derive(Clone, Copy, Default)]
struct Sums {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Sums {
    fn add(&mut self, x: f64) {
        self.n += 1.0;
        let off = x - self.mean;
        self.mean += off / self.n;
        self.squares += off * (x - self.mean);
    }

    /// The variance of the mean.
    fn error_squared(&self) -> f64 {
        self.squares / (self.n - 1.0) / self.n
    }
}

/// What many comparisons said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub comparisons: u64,
    pub found: u64,
    pub wrong: u64,
    pub missed: u64,
}

/// Makes comparisons, told their seeds, on all CPUs.
pub fn count(comparisons: u64, name: &str, compare: impl Fn(&str) -> Outcomes + Sync) -> Counts {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let part = |thread: u64| -> Vec<Outcomes> {
        let mine = (thread..comparisons).step_by(threads as usize);
        mine.map(|number| compare(&format!("{name} {number}"))).collect()
    };
    let all: Vec<Outcomes> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|n| scope.spawn(move || part(n))).collect();
        started.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let how_many = |is: fn(&Outcomes) -> bool| all.iter().filter(|said| is(said)).count() as u64;
    Counts {
        comparisons,
        found: how_many(|said| said.found),
        wrong: how_many(|said| said.wrong),
        missed: how_many(|said| said.missed),
    }
}
