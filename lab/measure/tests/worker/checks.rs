//! The checking pass: guard pages and whole answers; verification; oracles that fail.

use super::study::*;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::study::Verification;
use tiebreak_core::verdict::Fault;
use tiebreak_measure::oracle::Oracle;
use tiebreak_measure::workers::Workers;

/// A study of one contestant that has an output as long as its input.
fn copying(source: Source<'_>) -> Study {
    let mut study = Study::new(&[source]);
    study.functions().workload.distribution = "copied".to_owned();
    study
}

fn check(source: Source<'_>) -> Result<(), UnitFailure> {
    copying(source).workers().check(0, 9)
}

/// What is said of a contestant that touches what is not its own.
fn what(source: Source<'_>) -> String {
    match fault_of(check(source)) {
        (0, Fault::OutOfBounds { workload, what }) if workload == "bytes" => what,
        other => panic!("{other:?}"),
    }
}

fn running(run: &str) -> Source<'_> {
    Source { run, ..RIGHT }
}

#[test]
fn right_contestants_pass() {
    let copies = Source {
        after: "memcpy(s->output, s->input, s->bytes);",
        dump: "value = s->output[i];",
        ..RIGHT
    };
    let running = |run| Source { run, ..copies };
    check(copies).unwrap();
    check(running("puts(\"noise\");")).unwrap();
    let slack = running("sum += 0 * s->input[s->bytes + 6]; s->output[s->bytes + 2] = 1;");
    check(Source { declares: "NULL, 7, 3, 0", ..slack }).unwrap();
    // Alignment is what is promised, so it may be relied upon.
    let aligned = "if ((uintptr_t)s->input % 64 || (uintptr_t)s->output % 64) abort();";
    check(running(aligned)).unwrap();
    let more = "if ((uintptr_t)s->input % 2048 || (uintptr_t)s->output % 2048) abort();";
    check(Source { declares: "NULL, 0, 0, 2048", ..running(more) }).unwrap();
}

#[test]
fn touches_of_what_is_not_its_own_are_found_and_named() {
    let check = |run: &str, expected: &str| assert_eq!(what(running(run)), expected, "{run}");
    let output = "volatile uint8_t *q = s->output;";
    let input = "volatile const uint8_t *q = s->input;";
    check(&format!("{output} q[s->bytes] = 1;"), "wrote 1 byte past the end of its output");
    check(&format!("{output} q[s->bytes + 99] = 1;"), "wrote 100 bytes past the end of its output");
    check(&format!("{output} q[-1] = 1;"), "wrote 1 byte before the start of its output");
    check(&format!("{output} q[-70] = 1;"), "wrote 70 bytes before the start of its output");
    check(
        &format!("{output} sum += 0 * q[s->bytes + 50000];"),
        "read 50001 bytes past the end of its output",
    );
    check(&format!("{input} sum += 0 * q[s->bytes];"), "read 1 byte past the end of its input");
    check(&format!("{input} sum += 0 * q[-5];"), "read 5 bytes before the start of its input");
    check(
        "volatile uint8_t *q = (uint8_t *)s->input; q[7] = q[7];",
        "wrote to its input, which it may only read, at byte 7",
    );
    let slack = "volatile uint8_t *q = s->output; q[s->bytes + 8] = 1;";
    let slack = Source { declares: "NULL, 0, 8, 0", ..running(slack) };
    assert_eq!(what(slack), "wrote 9 bytes past the end of its output");
}

#[test]
fn crashes_that_have_nothing_to_do_with_buffers_are_crashes() {
    let (_, fault) = fault_of(check(running("*(volatile int *)8 = 1;")));
    assert!(matches!(fault, Fault::Signal { signal: libc::SIGSEGV, .. }), "{fault:?}");
    let (_, fault) = fault_of(check(Source { prepare: "return NULL;", ..RIGHT }));
    assert!(matches!(fault, Fault::NotPrepared { .. }), "{fault:?}");
}

#[test]
fn the_first_item_that_differs_is_named() {
    let check = |source: Source<'_>, item: Option<u64>, expected: &str, got: &str| {
        let (_, fault) = fault_of(check(source));
        let Fault::WrongAnswer { item: found, expected: right, got: wrong, .. } = &fault else {
            panic!("{fault:?}")
        };
        assert_eq!(*found, item);
        assert!(right.contains(expected) && wrong.contains(got), "{fault}");
    };
    let dump = |dump| Source { dump, ..RIGHT };
    check(dump("if (i >= 99) value = 777;"), Some(100), "", "777");
    check(dump("if (i == 999) break;"), Some(1000), "", "no more lines");
    check(dump("if (!i) k->write(k->context, \"x\\n\", 2);"), Some(1), "", "x");
    check(Source { after: "sum += 1;", ..RIGHT }, None, "", "");
    // Right the first time and wrong the second.
    check(Source { after: "sum += s->calls++;", ..RIGHT }, None, "", "");
}

#[test]
fn every_part_of_a_verification_is_judged() {
    let verification = Verification {
        name: "all of them".to_owned(),
        distribution: "plain".to_owned(),
        size: 100,
        parts: 3,
        is_full: false,
        contestants: Vec::new(),
    };
    let study = Study::new(&[RIGHT, Source { dump: "if (value == 200) value = 0;", ..RIGHT }]);
    let mut workers = study.workers();
    let mut wrong = 0;
    for part in 0..3 {
        assert_eq!(workers.verify(0, &verification, part), Ok(100));
        match workers.verify(1, &verification, part) {
            Ok(items) => assert_eq!(items, 100),
            failed => {
                let (contestant, fault) = fault_of(failed);
                assert_eq!(contestant, 1);
                assert!(fault.to_string().contains("should be '200' and was '0'"), "{fault}");
                assert!(fault.to_string().contains("on all of them"), "{fault}");
                wrong += 1;
            }
        }
    }
    assert!(wrong > 0);
}

#[test]
fn an_oracle_that_fails_is_an_error_and_works_again() {
    let mut study = Study::new(&[RIGHT]);
    let check = |study: &Study, expected: &str| {
        let failed = run(&mut study.workers(), &coins(&[0]), &[vec![0]]);
        let Err(UnitFailure::Broken(why)) = failed else { panic!("{failed:?}") };
        assert!(why.contains(expected), "{why}");
    };
    study.functions().workload.distribution = "fail".to_owned();
    check(&study, "the input of bytes (distribution 'fail', size 1000): its 'generate' gave 5");
    study.functions().workload.distribution = "crash".to_owned();
    check(&study, "the input of bytes (distribution 'crash', size 1000): signal 6");
    let library = study.functions().oracle.clone().unwrap();
    let mut oracle = Oracle::start(library.as_ref(), study.path(), &study.program, &NEVER).unwrap();
    let crashing = study.functions().workload.clone();
    assert!(oracle.input(&crashing, 1).is_err());
    let workload = tiebreak_core::study::Workload { distribution: "copied".to_owned(), ..crashing };
    let mut input = oracle.input(&workload, 1).unwrap();
    assert_eq!((input.bytes, input.items, input.output_bytes), (SIZE, SIZE, SIZE));
    let answer = oracle.answer(&input, "doubled").unwrap();
    let checksum = oracle.checksum(&mut input, "published").unwrap();
    assert_eq!(answer.checksum, 2 * checksum);
    let lines = std::io::read_to_string({
        let mut text = answer.text;
        std::io::Seek::rewind(&mut text).unwrap();
        text
    });
    assert_eq!(lines.unwrap().lines().count() as u64, SIZE);
    study.functions().oracle = Some("/nowhere/oracle.so".to_owned());
    let refused = Workers::new(&study.plan, study.program.clone(), study.path(), &NEVER);
    let why = refused.unwrap_err().to_string();
    assert!(why.contains("is not an oracle: it cannot be loaded: /nowhere/oracle.so"), "{why}");
}
