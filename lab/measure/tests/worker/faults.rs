//! Contestants that do wrong, and workers that are killed.

use super::study::*;
use std::path::Path;
use std::time::{Duration, Instant};
use tiebreak_core::plan::Scope;
use tiebreak_core::sampler::{FunctionSampler, UnitFailure, UnitRequest};
use tiebreak_core::verdict::Fault;

#[test]
fn the_contestant_that_ran_is_at_fault() {
    let number = |fault: &Fault| match fault {
        Fault::Signal { signal, .. } => Some(*signal),
        _ => None,
    };
    let signal = |signal| move |fault: &Fault| number(fault) == Some(signal);
    let check = |wrong: Source<'_>, is_expected: &dyn Fn(&Fault) -> bool| {
        let study = Study::new(&[RIGHT, wrong]);
        let (contestant, fault) = fault_of(study.run());
        assert!(contestant == 1 && is_expected(&fault), "{contestant} {fault:?}");
    };
    let run = |run| Source { run, ..RIGHT };
    check(run("*(volatile int *)8 = 1;"), &signal(libc::SIGSEGV));
    check(run("abort();"), &signal(libc::SIGABRT));
    check(run("__builtin_trap();"), &signal(libc::SIGILL));
    check(Source { prepare: "abort();", ..RIGHT }, &signal(libc::SIGABRT));
    let before = "__attribute__((constructor)) static void early(void) { abort(); }";
    check(Source { before, ..RIGHT }, &signal(libc::SIGABRT));
    let said = "fprintf(stderr, \"no such\\nthing here\"); abort();";
    check(run(said), &|fault| fault.to_string().ends_with("it said: no such\nthing here"));
    // Alone it does it again, so nobody else did it.
    let before = "#include <signal.h>\n";
    check(Source { before, run: "kill(getpid(), SIGKILL);", ..RIGHT }, &signal(libc::SIGKILL));
    check(Source { before, prepare: "raise(SIGTERM);", ..RIGHT }, &signal(libc::SIGTERM));
    let status = |fault: &Fault| matches!(fault, Fault::ExitStatus { status: 3, .. });
    check(run("exit(3);"), &status);
    check(Source { prepare: "return NULL;", ..RIGHT }, &|fault| {
        *fault == Fault::NotPrepared { workload: "bytes".to_owned() }
    });
    check(
        Source { before: "extern int nowhere(void);", run: "nowhere();", ..RIGHT },
        &|fault| matches!(fault, Fault::CannotStart { reason } if reason.contains("nowhere")),
    );
}

#[test]
fn who_writes_to_its_input_harms_itself_alone() {
    let before = "#include <sys/mman.h>\n\
        static void *page(state *s) { return (void *)((uintptr_t)s->input & ~4095ul); }";
    let check = |run: &str, is_expected: &dyn Fn(&Fault) -> bool| {
        let study = Study::new(&[Source { before, run, ..RIGHT }, RIGHT]);
        let (contestant, fault) = fault_of(study.run());
        assert!(contestant == 0 && is_expected(&fault), "{contestant} {fault:?}");
    };
    let flip = "if (++s->calls == 7) { mprotect(page(s), 4096, PROT_READ | PROT_WRITE);
        *(uint8_t *)s->input ^= 1; }";
    check(flip, &|fault| matches!(fault, Fault::Signal { signal: libc::SIGSEGV, .. }));
    let replace = "if (++s->calls == 7) { mmap(page(s), 4096, PROT_READ,
        MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0); }";
    check(replace, &|fault| matches!(fault, Fault::WrongAnswer { .. }));
    // Who may not, and takes no for an answer, has changed nothing.
    let asks = "if (!mprotect(page(s), 4096, PROT_READ | PROT_WRITE)) *(uint8_t *)s->input ^= 1;";
    Study::new(&[Source { before, run: asks, ..RIGHT }, RIGHT]).run().unwrap();
}

#[test]
fn who_does_not_come_back_is_ended() {
    let check = |wrong: Source<'_>| {
        let study = Study::new(&[wrong, RIGHT]);
        let unit = coins(&[1, 0]);
        let (members, orders) = (&unit.order, &[vec![1, 0]]);
        let request = UnitRequest { coins: &unit, members, orders, timeout_ns: SECOND_NS };
        let start = Instant::now();
        let ran = study.workers().run_unit(&request);
        let expected = Fault::Hung { workload: "bytes".to_owned(), seconds: 1 };
        assert_eq!(fault_of(ran), (0, expected));
        assert!(start.elapsed() < Duration::from_secs(50));
    };
    check(Source { run: "for (;;) pause();", ..RIGHT });
    check(Source { prepare: "for (;;) {}", ..RIGHT });
}

#[test]
fn who_is_slow_but_comes_back_is_not() {
    let mut study = Study::new(&[Source { run: "usleep(150000);", ..RIGHT }]);
    study.functions().calls_a_batch = BatchCalls::Alike(1);
    let unit = coins(&[0]);
    let orders = vec![vec![0]; 6];
    let (coins, members) = (&unit, &unit.order);
    let request = UnitRequest { coins, members, orders: &orders, timeout_ns: SECOND_NS };
    let ran = study.workers().run_unit(&request).unwrap();
    assert!(ran.samples[0].wall_ns > SECOND_NS / 2, "{ran:?}");
}

#[test]
fn wrong_answers_are_found_in_any_unit() {
    let check = |wrong: Source<'_>, item: Option<u64>, contains: &str| {
        let (contestant, fault) = fault_of(Study::new(&[RIGHT, wrong]).run());
        let Fault::WrongAnswer { workload, item: found, .. } = &fault else { panic!("{fault:?}") };
        assert_eq!((contestant, workload.as_str(), *found), (1, "bytes", item), "{fault}");
        assert!(fault.to_string().contains(contains), "{fault}");
    };
    // The checking pass finds the item where the answer shows it.
    let dump = "if (i == 41) value = 300;";
    check(Source { after: "sum++;", dump, ..RIGHT }, Some(42), "item 42 should be");
    check(Source { after: "sum++;", ..RIGHT }, None, "its checksum should be");
    let torn = "if (++s->calls == 7) sum++;";
    check(Source { after: torn, ..RIGHT }, None, "in some of its calls");
    // A batch that is wrong from its untimed call on.
    let later = "if (++s->calls > 12) sum++;";
    check(Source { after: later, ..RIGHT }, None, "its checksum should be");
}

#[test]
fn nobody_is_void_for_what_another_writes_to_its_memory() {
    // Maps zeros in the place of everybody else's input.
    let before = "#include <sys/mman.h>
        static void frame(state *s) {
            static char maps[1 << 17]; long n = 0, r; int fd = open(\"/proc/self/maps\", O_RDONLY);
            while ((r = read(fd, maps + n, sizeof maps - 1 - n)) > 0) n += r;
            close(fd);
            for (char *line = strtok(maps, \"\\n\"); line; line = strtok(NULL, \"\\n\")) {
                unsigned long from, to; char may[8];
                if (sscanf(line, \"%lx-%lx %7s\", &from, &to, may) != 3) continue;
                if (!strstr(line, \"memfd\") || may[1] == 'w') continue;
                if ((unsigned long)s->input >= from && (unsigned long)s->input < to) continue;
                mmap((void *)from, to - from, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            }
        }";
    let framer = Source { before, after: "if (++s->calls == 4) frame(s);", ..RIGHT };
    for (sources, others) in [([RIGHT, framer], ["A", "B"]), ([framer, RIGHT], ["B", "A"])] {
        let mut study = Study::new(&sources);
        for scope in [Scope::Code, Scope::Layout] {
            study.plan.scope = scope;
            let ran = study.run();
            let Err(UnitFailure::Broken(why)) = ran else { panic!("{ran:?}") };
            let [honest, framer] = others;
            let said =
                format!("{honest} answered wrongly next to {framer} on bytes and rightly alone");
            assert!(why.contains(&said), "{why}");
            assert!(why.contains("finished units are kept"), "{why}");
        }
    }
}

#[test]
fn a_contestant_is_judged_by_its_own_contract() {
    let mut study = Study::new(&[RIGHT, Source { after: "sum *= 2;", ..RIGHT }]);
    fault_of(study.run());
    study.functions().built[1].contract = "doubled".to_owned();
    study.run().unwrap();
    study.workers().check(1, 5).unwrap();
}

#[test]
fn printing_before_the_runs_disturbs_nobody() {
    let loud = "for (int i = 0; i < 3000; i++) { puts(\"noise\"); fputs(\"noise\", stderr); } \
                fflush(stdout); char in[8]; if (read(0, in, 8) != 0) return NULL;";
    Study::new(&[Source { prepare: loud, ..RIGHT }, RIGHT]).run().unwrap();
}

/// Kills the process that has told its number, as a program outside would, and takes the number
/// away before.
fn kill_the_one_in(log: &Path) {
    let read = || std::fs::read_to_string(log).unwrap().trim().parse::<i32>().ok();
    let pid = loop {
        match read() {
            Some(pid) => break pid,
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    std::fs::remove_file(log).unwrap();
    // SAFETY: it is a worker of ours that waits to be killed.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

const TELL_NUMBER: &str = "char t[32]; sprintf(t, \"%d\", getpid()); tell(t);";

#[test]
fn a_worker_that_is_killed_is_nobodys_fault_and_the_next_one_works() {
    let run_it =
        format!("if (!access(getenv(\"TEST_LOG\"), W_OK)) {{ {TELL_NUMBER} sleep(100); }}");
    let (study, log) = Study::new(&[Source { run: &run_it, ..RIGHT }, RIGHT]).with_log();
    let mut workers = study.workers();
    let killer = {
        let log = log.clone();
        std::thread::spawn(move || kill_the_one_in(&log))
    };
    let unit = coins(&[0, 1]);
    let ran = run(&mut workers, &unit, &[vec![0, 1]]);
    let Err(UnitFailure::Broken(why)) = ran else { panic!("{ran:?}") };
    assert!(why.contains("killed from outside (signal 9)"), "{why}");
    killer.join().unwrap();
    run(&mut workers, &unit, &[vec![0, 1]]).unwrap();
}

#[test]
fn a_worker_that_is_killed_between_rounds_is_told() {
    let (mut study, log) = Study::new(&[Source { prepare: TELL_NUMBER, ..RIGHT }]).with_log();
    study.plan.scope = Scope::Layout;
    let mut workers = study.workers();
    let unit = coins(&[0]);
    run(&mut workers, &unit, &[vec![0]]).unwrap();
    kill_the_one_in(&log);
    let next = tiebreak_core::schedule::RoundCoins { unit: None, ..unit };
    let ran = run(&mut workers, &next, &[vec![0]]);
    assert!(matches!(&ran, Err(UnitFailure::Broken(why)) if why.contains("killed")), "{ran:?}");
}

/// Whether any process of this group is there and is no mere entry of the table any more.
fn is_alive(group: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let stats =
        processes.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    // The name, in brackets, may hold anything; after it come state, parent and group.
    let mut fields = stats.filter_map(|stat| Some(stat.rsplit_once(") ")?.1.to_owned()));
    fields.any(|fields| {
        let mut fields = fields.split(' ');
        fields.next() != Some("Z") && fields.nth(1) == Some(group)
    })
}

#[test]
fn workers_end_with_whoever_started_them_and_so_does_what_they_started() {
    // A child of a child, so that it is nobody's in the worker.
    let forks = "if (!fork()) { if (!fork()) for (;;) pause(); _exit(0); } wait(NULL);";
    let prepare = format!("{TELL_NUMBER} {forks}");
    let before = "#include <sys/wait.h>\n";
    let (mut study, log) = Study::new(&[Source { before, prepare: &prepare, ..RIGHT }]).with_log();
    study.plan.scope = Scope::Layout;
    let number = || std::fs::read_to_string(&log).unwrap();
    let gone = || {
        let start = Instant::now();
        while is_alive(&number()) {
            assert!(start.elapsed() < Duration::from_secs(50), "{} is still there", number());
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let mut workers = study.workers();
    run(&mut workers, &coins(&[0]), &[vec![0]]).unwrap();
    assert!(is_alive(&number()));
    drop(workers);
    gone();
    // The kernel ends a worker whose parent's thread is gone, without anybody's help.
    std::fs::write(&log, "").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut workers = study.workers();
            run(&mut workers, &coins(&[0]), &[vec![0]]).unwrap();
            assert!(is_alive(&number()));
            std::mem::forget(workers);
        });
    });
    gone();
}

#[test]
fn an_oracle_that_is_stopped_ends_with_whoever_started_it() {
    let (mut study, log) = Study::new(&[RIGHT]).with_log();
    study.functions().workload.distribution = "told".to_owned();
    let number = std::thread::scope(|scope| {
        let started = scope.spawn(|| {
            let mut workers = study.workers();
            workers.measure_input(1).unwrap();
            let number = std::fs::read_to_string(&log).unwrap();
            // SAFETY: it is an oracle of ours.
            unsafe { libc::kill(number.parse().unwrap(), libc::SIGSTOP) };
            std::mem::forget(workers);
            number
        });
        started.join().unwrap()
    });
    let start = Instant::now();
    while is_alive(&number) {
        assert!(start.elapsed() < Duration::from_secs(50), "{number} is still there");
        std::thread::sleep(Duration::from_millis(5));
    }
}
