//! Contestants on several threads: what runs where, what is proven of it, and what is judged.

use super::study::*;
use tiebreak_core::sample::Mark;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::study::Team;
use tiebreak_core::verdict::Fault;
use tiebreak_machine::cpus;
use tiebreak_measure::workers::Workers;

/// Whether code runs on another thread than the one that is timed.
const BESIDE: &str = "static int beside(void) { return gettid() != getpid(); }";

/// A study in which the first contestant runs on two threads; `None` where only one CPU may be
/// used.
fn on_two_threads(sources: &[Source<'_>]) -> Option<Study> {
    let mut study = Study::new(sources);
    let team = Team { family: "A".to_owned(), threads: 2 };
    study.functions().built[0].team = Some(team);
    study.functions().cpu = cpus::allowed().last().copied();
    // On a busy machine the other thread may wait long for a CPU.
    study.plan.program.timeout_ns = Some(60 * SECOND_NS);
    (cpus::allowed().len() > 1).then_some(study)
}

#[test]
fn each_thread_has_its_own_state_and_only_one_is_timed() {
    let own = Source {
        before: BESIDE,
        prepare: "s->calls = gettid(); tell(beside() ? \"beside \" : \"timed \");",
        // A state that another thread runs gives another answer.
        run: "sum += s->calls != gettid(); if (beside() && !s->own[0]++) tell(\"runs \");",
        ..RIGHT
    };
    let Some(study) = on_two_threads(&[own, RIGHT]) else { return };
    let (mut study, log) = study.with_log();
    study.functions().calls_a_batch = BatchCalls::Alike(1000);
    let told = || std::fs::read_to_string(&log).unwrap();
    // On a busy machine the other thread may need more than one unit until it gets a CPU.
    for units in 1..=100 {
        study.run().unwrap();
        assert_eq!(told().matches("timed ").count(), units);
        assert_eq!(told().matches("beside ").count(), units);
        if told().contains("runs ") {
            return;
        }
    }
    panic!("the other thread never ran: {}", told());
}

#[test]
fn who_does_not_keep_pace_is_marked_and_stays() {
    let run = "if (beside()) usleep(20000);";
    let slow = Source { before: BESIDE, run, ..RIGHT };
    let Some(mut study) = on_two_threads(&[slow, RIGHT]) else { return };
    study.functions().calls_a_batch = BatchCalls::Alike(1000);
    let ran = study.run().unwrap();
    assert!(ran.samples[0].marks.has(Mark::NotTogether), "{:?}", ran.samples[0]);
    assert!(!ran.samples[1].marks.has(Mark::NotTogether), "it runs alone");
    assert!(ran.samples[0].wall_ns > 0 && ran.batches[0].len() == 2);
}

#[track_caller]
fn check_fault(source: Source<'_>, is_expected: impl Fn(&Fault) -> bool) {
    check_fault_within(60, source, is_expected);
}

#[track_caller]
fn check_fault_within(seconds: u64, source: Source<'_>, is_expected: impl Fn(&Fault) -> bool) {
    let Some(mut study) = on_two_threads(&[source, RIGHT]) else { return };
    study.plan.program.timeout_ns = Some(seconds * SECOND_NS);
    let check = |found: Result<(), UnitFailure>, when: &str| {
        let (contestant, fault) = fault_of(found);
        assert!(contestant == 0 && is_expected(&fault), "{when}: {fault:?}");
    };
    check(study.workers().check(0, 7), "in the checking pass");
    study.workers().check(1, 7).unwrap();
}

#[test]
fn an_answer_that_differs_on_another_thread_is_wrong() {
    let beside = Source { before: BESIDE, ..RIGHT };
    let is_wrong = |at: Option<u64>| {
        move |fault: &Fault| match fault {
            Fault::WrongAnswer { workload, item, .. } => {
                workload == "bytes on 2 threads" && *item == at
            }
            _ => false,
        }
    };
    let dump = "if (beside() && i == 4) value = 256;";
    check_fault(Source { dump, ..beside }, is_wrong(Some(5)));
    let run = "if (beside()) sum += 1;";
    check_fault(Source { run, ..beside }, is_wrong(None));
    let torn = "if (beside() && s->calls++ == 0) sum += 1;";
    check_fault(Source { run: torn, ..beside }, is_wrong(None));
}

#[test]
fn faults_of_another_thread_are_the_contestants() {
    let beside = Source { before: BESIDE, ..RIGHT };
    let is_abort = |fault: &Fault| matches!(fault, Fault::Signal { signal: libc::SIGABRT, .. });
    check_fault(Source { run: "if (beside()) abort();", ..beside }, is_abort);
    check_fault(Source { prepare: "if (beside()) abort();", ..beside }, is_abort);
    let is_hung = |fault: &Fault| matches!(fault, Fault::Hung { seconds: 2, .. });
    let hangs = Source { run: "if (beside()) for (;;) pause();", ..beside };
    check_fault_within(2, hangs, is_hung);
    let is_unprepared = |fault: &Fault| matches!(fault, Fault::NotPrepared { .. });
    check_fault(Source { prepare: "if (beside()) return NULL;", ..beside }, is_unprepared);
}

#[test]
fn a_wrong_answer_beside_a_batch_is_found_in_the_unit() {
    let torn = "if (beside() && s->calls++ == 100) sum += 1;";
    let source = Source { before: BESIDE, run: torn, ..RIGHT };
    let Some(mut study) = on_two_threads(&[source, RIGHT]) else { return };
    study.functions().calls_a_batch = BatchCalls::Alike(10_000);
    // As above: it needs a CPU for so many calls.
    for _ in 0..100 {
        match study.run() {
            Ok(_) => {}
            Err(UnitFailure::Fault(0, Fault::WrongAnswer { .. })) => return,
            other => panic!("{other:?}"),
        }
    }
    panic!("no wrong answer was found");
}

#[test]
fn more_threads_than_cpus_are_an_error() {
    let mut study = Study::new(&[RIGHT, RIGHT]);
    let many = cpus::allowed().len() as u32;
    study.functions().built[1].team = Some(Team { family: "B".to_owned(), threads: many + 1 });
    let folder = study.path().join("placements");
    let made = Workers::new(&study.plan, study.program.clone(), &folder, &NEVER);
    let error = made.unwrap_err().to_string();
    assert!(error.contains(&format!("{} threads, and there are {many} CPUs", many + 1)), "{error}");
}
