//! Units of functions in virtual time: what is told ahead is what is loaded, a kill costs no unit,
//! a journal alone gives the table, and a run that is void before it begins races the others.

mod threads;
mod turns;

use crate::common::{self, KILLED, header};
use std::sync::atomic::AtomicBool;
use tiebreak_input as input;
use tiebreak_lab::core::claim::{Relation, Statement};
use tiebreak_lab::core::journal::{Event, Journal, Round, StopReason};
use tiebreak_lab::core::language::Language;
use tiebreak_lab::core::metric::Metric;
use tiebreak_lab::core::plan::{
    Adjust, Budget, Centre, Contestant, ENGINE_VERSION, Gate, Hooks, Kind, Plan, PlannedClaim,
    ProgramPlan, Scope,
};
use tiebreak_lab::core::result::StudyRow;
use tiebreak_lab::core::sample::{BatchTime, Mark, Marks, Sample};
use tiebreak_lab::core::sampler::{
    Contestants, FunctionSampler, Quiet, Sampler, UnitFailure, UnitRan, UnitRequest,
};
use tiebreak_lab::core::schedule::RoundCoins;
use tiebreak_lab::core::study::{
    BatchCalls, Built, BuiltForm, Figure, FigureUnit, FunctionPlan, NotRun, Published, Workload,
};
use tiebreak_lab::core::verdict::{Fault, Verdict};
use tiebreak_lab::engine::Engine;
use tiebreak_lab::recorder::{NOTHING, Recorder};
use tiebreak_lab::replay;
use tiebreak_lab::studies::{Environment, Functions};
use tiebreak_measure::workers::WorkerProgram;
use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::observation::factor;
use tiebreak_store::{RunId, Store};

const CALLS: u64 = 10;

/// Functions in virtual time.
struct Virtual {
    call_ns: Vec<f64>,
    /// What was announced and was not loaded yet.
    expected: Vec<(usize, u64)>,
    /// Placements that were loaded without having been announced.
    surprises: u64,
    loaded: u64,
    now_ns: u64,
    units: u64,
    killed_in: Option<u64>,
    fails: Option<(usize, u64)>,
    /// The contestant whose threads take turns.
    takes_turns: Option<usize>,
    /// The share by which each further contestant in a unit slows the first of the plan down, as
    /// one does whose data others push out of the caches.
    crowding: f64,
    /// Who was loaded in each process.
    processes: Vec<Vec<usize>>,
}

impl Virtual {
    fn new(call_ns: &[f64]) -> Virtual {
        Virtual {
            call_ns: call_ns.to_vec(),
            expected: Vec::new(),
            surprises: 0,
            loaded: 0,
            now_ns: 0,
            units: 0,
            killed_in: None,
            fails: None,
            takes_turns: None,
            crowding: 0.0,
            processes: Vec::new(),
        }
    }

    fn load(&mut self, placement: (usize, u64)) {
        self.loaded += 1;
        match self.expected.iter().position(|one| *one == placement) {
            Some(place) => drop(self.expected.remove(place)),
            None => self.surprises += 1,
        }
    }
}

impl Sampler for Virtual {
    fn contestants(&mut self) -> Contestants<'_> {
        Contestants::Functions(self)
    }

    fn wait_for_quiet(&mut self, _at_most_ns: u64) -> Quiet {
        Quiet { waited_ns: 0, quiet: true }
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }
}

impl FunctionSampler for Virtual {
    fn run_unit(&mut self, request: &UnitRequest<'_>) -> Result<UnitRan, UnitFailure> {
        if self.killed_in == Some(self.units) {
            std::panic::panic_any(KILLED);
        }
        self.units += 1;
        let coins = request.coins;
        let unit = coins.unit.as_ref();
        if unit.is_some() {
            self.processes.push(request.members.to_vec());
        }
        let is_loaded = |one: &usize| self.processes.last().unwrap().contains(one);
        assert!(coins.order.iter().all(is_loaded), "{coins:?}");
        for (contestant, placement) in
            coins.order.iter().zip(unit.iter().flat_map(|u| &u.placements))
        {
            self.load((*contestant, *placement));
        }
        if let Some((contestant, round)) = self.fails
            && coins.round == round
            && coins.order.contains(&contestant)
        {
            let fault = Fault::Hung { workload: "random".into(), seconds: 1 };
            return Err(UnitFailure::Fault(contestant, fault));
        }
        let mut batches = Vec::new();
        for contestant in &coins.order {
            let text = format!("{} {} {contestant}", coins.round, coins.attempt);
            let mut noise = Stream::new(Seed::from_text(&text), Purpose::Simulation, 0, 0);
            let crowd = if *contestant == 0 { coins.order.len() - 2 } else { 0 };
            let shift = 0.01 * noise.normal() + self.crowding * crowd as f64;
            let batch = |_: &Vec<usize>| {
                let log = shift + 0.01 * noise.normal();
                (self.call_ns[*contestant] * CALLS as f64 * factor(log)) as u64
            };
            batches.push(request.orders.iter().map(batch).collect::<Vec<u64>>());
        }
        let sample = |(walls, contestant): (&Vec<u64>, &usize)| {
            let is_apart = self.takes_turns == Some(*contestant);
            let marks = if is_apart { Marks::NONE.with(Mark::NotTogether) } else { Marks::NONE };
            Sample { marks, ..Sample::of_wall_ns(walls.iter().sum()) }
        };
        let samples: Vec<Sample> = batches.iter().zip(&coins.order).map(sample).collect();
        let rounds_ns = samples.iter().map(|sample| sample.wall_ns).sum::<u64>();
        self.now_ns += rounds_ns;
        let known = |of: Vec<u64>| of.into_iter().map(BatchTime::from).collect();
        let batches = batches.into_iter().map(known).collect();
        Ok(UnitRan { samples, batches, rounds_ns })
    }

    fn expect(&mut self, units: &[RoundCoins]) {
        self.expected.clear();
        for coins in units {
            let placements = coins.unit.iter().flat_map(|unit| unit.placements.clone());
            self.expected.extend(coins.order.iter().copied().zip(placements));
        }
    }
}

/// Three tables in which some of the contestants are.
fn published() -> Vec<Published> {
    let figure = |contestant: &str, value| Figure {
        workload: "random".into(),
        contestant: contestant.into(),
        value,
    };
    vec![
        Published {
            source: "a page".into(),
            machine: "a machine".into(),
            unit: FigureUnit::MillionsASecond,
            statistic: None,
            text: String::new(),
            figures: vec![figure("a", 100.0), figure("b", 250.0), figure("absent", 50.0)],
        },
        Published {
            source: "another".into(),
            machine: "another machine".into(),
            unit: FigureUnit::Microseconds,
            statistic: None,
            text: String::new(),
            figures: vec![figure("a", 9.0), figure("b", 6.0)],
        },
        Published {
            source: "a third".into(),
            machine: String::new(),
            unit: FigureUnit::Megabytes,
            statistic: None,
            text: String::new(),
            figures: vec![figure("b", 43.5)],
        },
    ]
}

fn functions(contestants: usize, scope: Scope) -> FunctionPlan {
    let runner = BuiltForm::Runner {
        command: vec!["none".into()],
        environment: Vec::new(),
        directory: String::new(),
        files: Vec::new(),
    };
    let built = Built {
        contract: "published".into(),
        is_exact: true,
        language: Language::named("c").unwrap(),
        receipt: "cc 1".into(),
        code: None,
        standard: Some("C23".into()),
        form: runner,
        team: None,
    };
    let usual = common::functions();
    FunctionPlan {
        title: "A study".into(),
        source: "nobody".into(),
        item: "number".into(),
        workload: Workload {
            name: "random".into(),
            distribution: "random".into(),
            size: 100,
            ..usual.workload.clone()
        },
        items: 100,
        input_bytes: 400,
        built: vec![built; contestants],
        not_run: vec![NotRun { name: "absent".into(), why: "no compiler".into() }],
        published: published(),
        rounds_a_unit: if scope == Scope::Layout { 1 } else { 4 },
        calls_a_batch: BatchCalls::Alike(CALLS),
        ..usual
    }
}

/// A plan with a ratio of the table for each contestant but the first, and one claim.
fn plan(names: &[&str], scope: Scope, rounds: u64, precision: f64) -> Plan {
    let contestant = |name: &&str| Contestant {
        name: (*name).to_owned(),
        command: "cc".into(),
        workload: "random".into(),
        parameters: Vec::new(),
        hooks: Hooks::default(),
        directory: None,
    };
    let others = names.iter().enumerate().skip(1);
    let error = 0.01 / names.len() as f64;
    let planned = |claim, left| PlannedClaim {
        claim,
        left,
        right: Some(0),
        error,
        gate: Gate::None,
        waits_ns: 0,
    };
    let cells = others.map(|(index, name)| {
        let metric = Metric::WallTime;
        planned(input::measure_question(name, names[0], precision, metric, "random"), index)
    });
    let claim = format!("{} is at least 1.5x faster than {} on random", names[1], names[0]);
    let claim = input::parse(&claim, names).unwrap();
    Plan {
        engine_version: ENGINE_VERSION,
        kind: Kind::Compare,
        contestants: names.iter().map(contestant).collect(),
        claims: std::iter::once(planned(claim, 1)).chain(cells).collect(),
        error: 0.01,
        resolution: 0.01,
        budget: Budget { rounds: Some(rounds), seconds: None },
        scope,
        centre: if scope == Scope::Code { Centre::Median } else { Centre::Factor },
        seed: "a study random".into(),
        clock_step_ns: 1.0,
        program: ProgramPlan::default(),
        block_runs: 1,
        adjust: Adjust::NONE,
        servers: None,
        suite: None,
        functions: Some(Box::new(functions(names.len(), scope))),
        load: None,
    }
}

struct Lab {
    folder: tempfile::TempDir,
    run: RunId,
}

impl Lab {
    fn new(plan: Plan) -> Lab {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("j.db")).unwrap();
        let run = store.create_run(&header(plan)).unwrap();
        Lab { folder, run }
    }

    fn open(&self) -> Store {
        Store::open(&self.folder.path().join("j.db")).unwrap()
    }

    fn journal(&self) -> Journal {
        self.open().journal(&self.run).unwrap()
    }

    /// Goes on from where the journal stands; `None` if it was killed.
    fn go(&self, sampler: &mut Virtual) -> Option<StopReason> {
        let stop = AtomicBool::new(false);
        let mut store = self.open();
        let journal = store.journal(&self.run).unwrap();
        let run = std::panic::AssertUnwindSafe(|| {
            let run = self.run.clone();
            let recorder = Recorder { store: &mut store, run, before_commit: NOTHING };
            Engine::new(recorder, &journal, sampler, &stop).run(|_| {}).unwrap().1
        });
        std::panic::catch_unwind(run).ok()
    }
}

#[test]
fn what_is_told_ahead_is_what_is_loaded() {
    let lab = Lab::new(plan(&["a", "b", "c"], Scope::Code, 100, 0.0001));
    let mut sampler = Virtual::new(&[1e5, 5e4, 2e5]);
    assert_eq!(lab.go(&mut sampler), Some(StopReason::Budget));
    assert_eq!((sampler.surprises, sampler.loaded), (0, 400), "two pairs, 100 units each");
    assert!(sampler.expected.is_empty(), "nothing is linked beyond the budget");
    // A fault costs an attempt, and what was announced of the contestants that are left is loaded.
    let lab = Lab::new(plan(&["a", "b", "c"], Scope::Code, 100, 0.0001));
    let mut sampler = Virtual { fails: Some((2, 20)), ..Virtual::new(&[1e5, 5e4, 2e5]) };
    lab.go(&mut sampler);
    assert_eq!(sampler.surprises, 0);
    replay::replay(&lab.journal()).unwrap();
}

#[test]
fn the_company_does_not_change_a_ratio() {
    let ratio = |names: &[&str], engine_version: u32, crowding: f64| {
        let mut asked = plan(names, Scope::Code, 400, 0.02);
        asked.engine_version = engine_version;
        let lab = Lab::new(asked);
        let calls = [1e5, 5e4, 2e5, 1.5e5, 2e4, 9e4];
        let mut sampler = Virtual { crowding, ..Virtual::new(&calls[..names.len()]) };
        assert_eq!(lab.go(&mut sampler), Some(StopReason::Settled));
        let effect = replay::replay(&lab.journal()).unwrap().verdicts[1].effect();
        (effect.low.unwrap(), effect.high.unwrap())
    };
    let all = ["a", "b", "c", "d", "e", "f"];
    let agree = |one: (f64, f64), other: (f64, f64)| one.0 < other.1 && other.0 < one.1;
    for engine_version in [1, 2] {
        let alone = ratio(&all[..2], engine_version, 0.05);
        assert!(agree(alone, ratio(&all, engine_version, 0.0)), "nobody is in the way");
        let among = ratio(&all, engine_version, 0.05);
        assert_eq!(agree(alone, among), engine_version == 2, "{alone:?} {among:?}");
    }
}

#[test]
fn a_unit_has_one_pair_and_every_pair_gets_as_many_units() {
    for scope in [Scope::Code, Scope::Binary, Scope::Layout] {
        let lab = Lab::new(plan(&["a", "b", "c", "d"], scope, 10, 0.0001));
        let mut sampler = Virtual::new(&[1e5, 5e4, 2e5, 1.5e5]);
        assert_eq!(lab.go(&mut sampler), Some(StopReason::Budget));
        let journal = lab.journal();
        let pair = |round: &Round| {
            let mut order = round.coins.order.clone();
            order.sort_unstable();
            order
        };
        let turns: Vec<Vec<usize>> = journal.rounds.iter().map(pair).collect();
        let expected = [vec![0, 1], vec![0, 2], vec![0, 3]];
        assert!(turns.iter().eq(expected.iter().cycle().take(30)), "{turns:?}");
        let result = replay::replay(&journal).unwrap();
        // The claim about b and its cell share the units of their pair.
        assert!(result.verdicts.iter().skip(1).all(|claim| claim.rounds == 10));
        assert!(result.verdicts[0].rounds <= 10);
        // At scope layout the one process that serves all rounds has everybody.
        let sizes: Vec<usize> = sampler.processes.iter().map(Vec::len).collect();
        assert_eq!(sizes, if scope == Scope::Layout { vec![4] } else { vec![2; 30] });
    }
}

#[test]
fn a_kill_in_any_unit_costs_no_finished_one_and_the_journal_replays() {
    for scope in [Scope::Code, Scope::Binary, Scope::Layout] {
        let whole = Lab::new(plan(&["a", "b", "c"], scope, 40, 0.001));
        whole.go(&mut Virtual::new(&[1e5, 5e4, 2e5])).unwrap();
        let result = replay::replay(&whole.journal()).unwrap();
        assert_eq!(result.rounds, 80, "two pairs, 40 units each");
        let killed = Lab::new(plan(&["a", "b", "c"], scope, 40, 0.001));
        for unit in [7, 11] {
            let mut sampler = Virtual { killed_in: Some(unit), ..Virtual::new(&[1e5, 5e4, 2e5]) };
            assert_eq!(killed.go(&mut sampler), None);
        }
        assert_eq!(killed.journal().rounds.len(), 18);
        killed.go(&mut Virtual::new(&[1e5, 5e4, 2e5])).unwrap();
        let journal = killed.journal();
        assert_eq!((journal.rounds.len(), journal.lost.len()), (80, 2), "{scope:?}");
        replay::replay(&journal).unwrap();
    }
}

#[test]
fn the_journal_alone_gives_the_table() {
    let lab = Lab::new(plan(&["a", "b", "c"], Scope::Code, 2000, 0.02));
    assert_eq!(lab.go(&mut Virtual::new(&[1e5, 5e4, 2e5])), Some(StopReason::Settled));
    let result = replay::result(&lab.journal());
    assert_eq!(result.verdicts[0].verdict, Verdict::Holds);
    assert!(result.warnings.is_empty(), "{:?}", result.warnings);
    for (contestant, row) in result.contestants.iter().zip(&result.study.as_ref().unwrap().rows) {
        assert_eq!(contestant.metrics, row.per_call, "{}: everything is for one call", row.name);
        let longest = contestant.distribution.as_ref().map_or(0.0, |picture| picture.high);
        assert!(longest < 4e5 || row.not_run.is_some(), "{}: of one call too: {longest}", row.name);
    }
    let table = result.study.unwrap();
    let names: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "absent"]);
    let [a, b, c, absent] = &table.rows[..] else { panic!() };
    for (row, call_ns) in [(a, 1e5), (b, 5e4), (c, 2e5)] {
        let wall = row.per_call.iter().find(|(metric, _)| *metric == Metric::WallTime).unwrap();
        let median = wall.1.median.unwrap();
        assert!((median / call_ns - 1.0).abs() < 0.02, "{}: {median}", row.name);
        assert!(row.batches > 0 && row.batches.is_multiple_of(4));
        let picture = row.distribution.as_ref().unwrap();
        assert_eq!(picture.counts.iter().sum::<u64>() + picture.beyond, row.batches);
        assert_eq!((row.receipt.as_str(), row.standard.as_deref()), ("cc 1", Some("C23")));
    }
    assert_eq!(a.ratio, None);
    for (row, truth) in [(b, 2.0), (c, 0.5)] {
        let ratio = row.ratio.unwrap();
        let (low, high) = (ratio.low.unwrap(), ratio.high.unwrap());
        assert!(low < truth && truth < high && high / low < 1.041, "{ratio:?}");
        assert!(row.is_settled);
    }
    assert_eq!(
        [a, b, c, absent].map(|row| row.rank),
        [Some([2, 2]), Some([1, 1]), Some([3, 3]), None]
    );
    assert_eq!(absent.not_run.as_deref(), Some("no compiler"));
    let figures = |of: &StudyRow| {
        let each = of.published.iter().map(|one| (one.table, one.value, one.ratio));
        each.collect::<Vec<_>>()
    };
    assert_eq!(figures(a), [(0, 100.0, None), (1, 9.0, None)]);
    assert_eq!(figures(b), [(0, 250.0, Some(2.5)), (1, 6.0, Some(1.5)), (2, 43.5, None)]);
    assert_eq!(figures(c), []);
    assert_eq!(figures(absent), [(0, 50.0, Some(0.5))]);
}

#[test]
fn rows_are_ranked_as_far_as_their_intervals_lie_apart() {
    let ranks = |calls: &[f64], rounds: u64| {
        let names = ["a", "b", "c", "d", "e"];
        let lab = Lab::new(plan(&names[..calls.len()], Scope::Code, rounds, 0.0001));
        lab.go(&mut Virtual::new(calls));
        let rows = replay::result(&lab.journal()).study.unwrap().rows;
        rows.iter().map(|row| row.rank).collect::<Vec<_>>()
    };
    // b and c differ by less than is known of either; nothing is known at all after four units.
    let calls = [1e5, 5e4, 5.0001e4, 2e5, 9e4];
    let known = [Some([4, 4]), Some([1, 2]), Some([1, 2]), Some([5, 5]), Some([3, 3]), None];
    assert_eq!(ranks(&calls, 60), known);
    let unknown = [Some([1, 5]); 5].into_iter().chain([None]);
    assert_eq!(ranks(&calls, 4), unknown.collect::<Vec<_>>());
    assert_eq!(ranks(&[1e5, 5e4], 60), [Some([2, 2]), Some([1, 1]), None]);
}

#[test]
fn times_are_of_the_batches_beside_the_reference() {
    let mut asked = plan(&["a", "b", "c"], Scope::Code, 30, 0.0001);
    let claim =
        input::parse("b is at least 3.9x faster than c on random", &["a", "b", "c"]).unwrap();
    asked.claims.push(PlannedClaim { claim, left: 1, right: Some(2), ..asked.claims[0].clone() });
    let lab = Lab::new(asked);
    lab.go(&mut Virtual::new(&[1e5, 5e4, 2e5]));
    let journal = lab.journal();
    let units = |contestant: usize| {
        let took_part = |round: &&Round| round.coins.order.contains(&contestant);
        journal.rounds.iter().filter(took_part).count() as u64
    };
    let result = replay::replay(&journal).unwrap();
    let rows = result.study.unwrap().rows;
    assert_eq!([0, 1, 2].map(|row| rows[row].batches), [60 * 4, 30 * 4, 30 * 4]);
    assert!(units(1) > 30 && units(2) > 30, "the pair of b and c had units too");
    assert_eq!([0, 1, 2].map(|one| result.contestants[one].samples), [0, 1, 2].map(units));
}

#[test]
fn times_that_are_far_apart_have_scales_of_their_own() {
    let scales = |slow_ns: f64| {
        let lab = Lab::new(plan(&["a", "b"], Scope::Code, 50, 0.001));
        lab.go(&mut Virtual::new(&[1e5, slow_ns]));
        let rows = replay::result(&lab.journal()).study.unwrap().rows;
        let [a, b, _] = [0, 1, 2].map(|row| rows[row].distribution.clone());
        (a.unwrap(), b.unwrap())
    };
    let (a, b) = scales(1.5e6);
    assert_eq!((a.low, a.high), (b.low, b.high));
    let (a, b) = scales(1e7);
    assert!(a.high < b.low);
}

#[test]
fn who_is_void_before_the_first_round_is_left_out_of_the_race() {
    let mut asked = plan(&["a", "b", "c"], Scope::Code, 60, 0.001);
    asked.claims.retain(|claim| {
        !matches!(claim.claim.statement, Statement::Ratio(Relation::Measure { .. }))
            || claim.left != 2
    });
    let claim = input::parse("c is faster than a on random", &["a", "b", "c"]).unwrap();
    asked.claims.push(PlannedClaim { claim, left: 2, ..asked.claims[0].clone() });
    let lab = Lab::new(asked);
    let fault = Fault::NotPrepared { workload: "random".into() };
    let event = Event::Void { contestant: 2, round: 0, attempt: None, fault: fault.clone() };
    lab.open().event(&lab.run, &event).unwrap();
    let mut sampler = Virtual::new(&[1e5, 5e4, 2e5]);
    lab.go(&mut sampler);
    let result = replay::replay(&lab.journal()).unwrap();
    assert_eq!(sampler.loaded, 2 * result.rounds);
    assert_eq!(result.verdicts[0].verdict, Verdict::Holds);
    assert_eq!(result.verdicts[2].verdict, Verdict::Void);
    let rows = result.study.unwrap().rows;
    assert_eq!((rows[2].fault.as_ref(), rows[2].batches), (Some(&fault), 0));
    assert!(rows[1].ratio.unwrap().low.is_some());
}

#[test]
fn what_runs_functions_keeps_its_files_in_the_cache_that_it_is_given() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let objects = BuiltForm::Objects {
        objects: Vec::new(),
        linker: Vec::new(),
        libraries: Vec::new(),
        code_padding: Vec::new(),
        data_padding: Vec::new(),
        reference: None,
    };
    let runner = BuiltForm::Runner {
        command: vec!["sh".into()],
        environment: Vec::new(),
        directory: String::new(),
        files: Vec::new(),
    };
    for (form, folder) in [(objects, "placements"), (runner, "clients")] {
        let cache = tempfile::tempdir().unwrap();
        let environment = Environment {
            cache: cache.path().to_owned(),
            program: WorkerProgram { program: "none".into(), arguments: Vec::new() },
            stop: &STOP,
        };
        let mut plan = plan(&["a", "b"], Scope::Code, 10, 0.05);
        for built in &mut plan.functions.as_mut().unwrap().built {
            built.form = form.clone();
        }
        let functions = Functions::new(&plan, &environment).unwrap();
        let made = std::fs::read_dir(cache.path().join(folder)).unwrap();
        assert!(made.count() > 0, "{folder}");
        drop(functions);
    }
}
