//! Contestants that answer rightly where somebody looks, and not where the clock runs.

use super::study::*;
use tiebreak_core::sample::Mark;
use tiebreak_core::sampler::FunctionSampler;
use tiebreak_core::study::BatchCalls;
use tiebreak_core::verdict::Fault;

/// A study of an honest contestant and this one, both of which copy their input to their output and
/// dump what stands there.
fn copying(cheat: Source<'_>) -> Study {
    let honest = Source { run: "memcpy(s->output, s->input, s->bytes);", ..cheat };
    let honest = Source { before: "", prepare: "", after: "", reset: "NULL", ..honest };
    let mut study = Study::new(&[honest, cheat]);
    study.functions().workload.distribution = "copied".to_owned();
    study
}

const DUMPS: Source<'static> = Source { dump: "value = s->output[i];", ..RIGHT };

/// Runs units of the study until one has a fault, so many at most; what is said of the cheat, and
/// in words that contain these.
fn caught(study: &Study, units: usize, contains: &str) {
    let mut workers = study.workers();
    for unit in 0..units as u64 {
        let mut coins = coins(&[0, 1]);
        let drawn = coins.unit.as_mut().unwrap();
        (drawn.orders_seed, drawn.input_seed) = (unit, unit);
        let orders = [vec![0, 1], vec![1, 0], vec![0, 1]];
        match run(&mut workers, &coins, &orders) {
            Ok(_) => {}
            failed => {
                let (contestant, fault) = fault_of(failed);
                let is_conduct = matches!(fault, Fault::Conduct { .. });
                assert!(contestant == 1 && is_conduct, "{contestant} {fault:?}");
                assert!(fault.to_string().contains(contains), "{fault}");
                return;
            }
        }
    }
    panic!("nobody saw it: {contains}");
}

/// Runs as many units; nobody has a fault.
fn innocent(study: &Study, units: usize) {
    let mut workers = study.workers();
    for unit in 0..units as u64 {
        let mut coins = coins(&[0, 1]);
        let drawn = coins.unit.as_mut().unwrap();
        (drawn.orders_seed, drawn.input_seed) = (unit, unit);
        run(&mut workers, &coins, &[vec![0, 1], vec![1, 0], vec![0, 1]]).unwrap();
    }
}

#[test]
fn outputs_that_are_not_written_in_timed_calls_are_found() {
    let check = |run: &str, contains: &str| {
        let cheat = copying(Source { run, ..DUMPS });
        cheat.workers().check(1, 3).unwrap();
        caught(&cheat, 8, contains);
    };
    let first = "if (s->calls++ < 2) memcpy(s->output, s->input, s->bytes);";
    check(first, "left another answer after a timed batch than its checksum says: item ");
    // The checksum is of the input, so it does not show what became of the answer.
    let wrong = "memcpy(s->output, s->input, s->bytes); if (++s->calls > 5) s->output[41]++;";
    check(wrong, "item 42 should be");
    innocent(&copying(Source { run: "memcpy(s->output, s->input, s->bytes);", ..DUMPS }), 8);
}

#[test]
fn large_outputs_are_overwritten_in_places() {
    let large = |run| {
        let mut study = copying(Source { run, ..DUMPS });
        study.functions().workload.size = 100_000;
        study
    };
    let first = "if (s->calls++ < 2) memcpy(s->output, s->input, s->bytes);";
    caught(&large(first), 8, "left another answer");
    innocent(&large("memcpy(s->output, s->input, s->bytes);"), 4);
}

#[test]
fn who_writes_its_output_only_where_a_few_places_were_touched_is_found() {
    let run = "int same = s->calls++ > 0;
        for (uint64_t i = 0; i < s->bytes; i += 97) same &= s->output[i] == s->input[i];
        if (!same) memcpy(s->output, s->input, s->bytes);";
    for size in [SIZE, 100_000] {
        let mut canary = copying(Source { run, ..DUMPS });
        canary.functions().workload.size = size;
        caught(&canary, 40, "left another answer");
    }
}

/// A study whose contestants say that they read their input in `run` alone: the sum is some work.
fn reading(cheat: Source<'_>) -> Study {
    let mut study = Study::new(&[RIGHT, cheat]);
    study.functions().reads_in_run = true;
    study.functions().calls_a_batch = BatchCalls::Alike(200);
    study.functions().workload.size = 20_000;
    study
}

#[test]
fn answers_that_are_kept_are_found() {
    let check = |cheat: Source<'_>, contains: &str| {
        let study = reading(cheat);
        study.workers().check(1, 3).unwrap();
        caught(&study, 8, contains);
    };
    let stays = "answered for an input that was no longer there";
    // In the state, and in a global by the input's address.
    let keeps = Source { run: "if (s->calls) return s->calls;", after: "s->calls = sum;", ..RIGHT };
    check(keeps, stays);
    let before = "static const void *seen; static uint64_t kept;";
    let run = "if (seen == s->input) return kept;";
    check(Source { before, run, after: "seen = s->input; kept = sum;", ..RIGHT }, stays);
    // All of the work in `prepare`.
    let prepare = "for (uint64_t i = 0; i < s->bytes; i++) s->calls += s->input[i];";
    check(Source { prepare, run: "return s->calls;", ..RIGHT }, stays);
    // By what stands at a few places of the input, and after so many equal calls only.
    let before = "static uint64_t kept, times; static uint8_t seen[64];
        static const uint8_t *mark(const state *s, uint8_t *m) {
            for (int i = 0; i < 64; i++) m[i] = s->input[i * 300]; return m; }";
    let run =
        "uint8_t now[64]; if (!memcmp(mark(s, now), seen, 64)) { if (times++ > 3) return kept; }
        else times = 0;
        for (volatile int i = 0; i < 200000; i++) {}";
    let after = "mark(s, seen); kept = sum;";
    check(Source { before, run, after, ..RIGHT }, "did its work once for all calls on one input");
}

#[test]
fn rates_that_no_core_can_load_are_refused() {
    // It keeps an answer for each input that it has met, and knows it by a few places, so that the
    // exchange of two inputs shows nothing.
    let before = "static uint64_t kept[16]; static uint8_t seen[16][8]; static int many;
        static const uint8_t *mark(const state *s, uint8_t *m) {
            for (int i = 0; i < 8; i++) m[i] = s->input[i * 1000]; return m; }";
    let run = "uint8_t now[8]; mark(s, now);
        for (int i = 0; i < many; i++) if (!memcmp(now, seen[i], 8)) return kept[i];";
    let after = "memcpy(seen[many % 16], now, 8); kept[many++ % 16] = sum;";
    let study = |cheat| {
        let mut study = reading(cheat);
        study.functions().workload.size = 1_000_000;
        study.functions().calls_a_batch = BatchCalls::Alike(20);
        study
    };
    let mut cheats = study(Source { before, run, after, ..RIGHT });
    innocent(&cheats, 4);
    cheats.functions().reads_whole = true;
    caught(&cheats, 8, "for a call that has to read 1000000 bytes, and one load from each of");
    let mut honest = study(RIGHT);
    honest.functions().reads_whole = true;
    innocent(&honest, 4);
}

#[test]
fn what_is_not_timed_is_told() {
    let spins = "for (volatile int i = 0; i < 300000; i++) {}";
    let again = "static void again(void *p) { for (volatile int i = 0; i < 1000; i++) {} }";
    let slow = Source { before: again, prepare: spins, reset: "again", ..DUMPS };
    let mut study = copying(Source { run: "memcpy(s->output, s->input, s->bytes);", ..slow });
    study.functions().times_each_call = true;
    let mut workers = study.workers();
    assert_eq!(workers.untimed(0), None);
    for _ in 0..2 {
        run(&mut workers, &coins(&[0, 1]), &[vec![0, 1], vec![1, 0]]).unwrap();
    }
    let [honest, slow] = [0, 1].map(|one| workers.untimed(one).unwrap());
    assert!(slow.prepare_ns > 5 * honest.prepare_ns && slow.prepare_ns > 10_000, "{slow:?}");
    assert!(honest.reset_ns == 0 && slow.reset_ns > 100, "{honest:?} {slow:?}");
    assert!(honest.dump_ns.or(slow.dump_ns).is_some_and(|ns| ns > 0));
}

#[test]
fn who_does_the_work_in_each_call_may_be_exchanged_under() {
    innocent(&reading(RIGHT), 8);
    // Branches that follow the input.
    let run = "for (uint64_t i = 0; i < s->bytes; i++) if (s->input[i] & 1) s->calls++; \
               else { volatile int x = 1; (void)x; }";
    innocent(&reading(Source { run, ..RIGHT }), 8);
    let mut copies = reading(Source {
        prepare: "s->input = memcpy(malloc(s->bytes), s->input, s->bytes);",
        ..RIGHT
    });
    caught(&copies, 8, "where 'prepare' may read the input, study.toml says reads_input");
    copies.functions().reads_in_run = false;
    innocent(&copies, 8);
}

#[test]
fn work_in_resets_is_found() {
    let study = |before| {
        let mut study = Study::new(&[RIGHT, Source { before, reset: "again", ..RIGHT }]);
        study.functions().times_each_call = true;
        study
    };
    let works = "static void again(void *p) { for (volatile int i = 0; i < 300000; i++) {} }";
    caught(&study(works), 5, "has a 'reset' that takes");
    let copies = "static void again(void *p) { state *s = p; memcpy(s->own, s->input, s->bytes); }";
    innocent(&study(copies), 2);
}

#[test]
fn what_is_done_to_the_process_is_found() {
    let check = |before: &str, act: &str, contains: &str| {
        let study = |cheat| {
            let mut study = Study::new(&[RIGHT, cheat]);
            study.functions().cpu = None;
            study
        };
        let run = format!("if (s->calls++ == 3) {{ {act} }}");
        caught(&study(Source { before, run: &run, ..RIGHT }), 1, contains);
        if !contains.contains("'run'") {
            caught(&study(Source { before, prepare: act, ..RIGHT }), 1, contains);
        }
    };
    let pins = "cpu_set_t set; CPU_ZERO(&set); CPU_SET(sched_getcpu(), &set);
                sched_setaffinity(0, sizeof set, &set);";
    if tiebreak_machine::cpus::allowed().len() > 1 {
        check("#include <sched.h>\n", pins, "changed on which CPUs its process may run");
    }
    let rounds = "
        #if defined(__x86_64__)
          __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
        #else
          uint64_t word; __asm__ volatile(\"mrs %0, fpcr\" : \"=r\"(word));
          __asm__ volatile(\"msr fpcr, %0\" : : \"r\"(word | 1u << 24));
        #endif
        ";
    check("", rounds, "changed how the CPU rounds");
    let nicer = "setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 1);";
    check("#include <sys/resource.h>\n", nicer, "changed how the scheduler treats its process");
    let batch = "struct sched_param none = {0}; sched_setscheduler(0, SCHED_BATCH, &none);";
    check("#include <sched.h>\n", batch, "changed how the scheduler treats its process");
    let forks = "if (!fork()) for (;;) pause();";
    check("", forks, "left a process behind");
    let study = |prepare: &str, run: &str| {
        let mut study = Study::new(&[RIGHT, Source { prepare, run, ..RIGHT }]);
        study.functions().starts_processes = true;
        study
    };
    innocent(&study(forks, RIGHT.run), 1);
    let run = format!("if (s->calls++ == 3) {{ {forks} }}");
    caught(&study("", &run), 1, "left a process behind");
    let starts = "pthread_t thread; pthread_create(&thread, NULL, waits, NULL);";
    let waits = "#include <pthread.h>\nstatic void *waits(void *p) { for (;;) pause(); }";
    check(waits, starts, "left a thread behind that its 'run' had started");
    innocent(&Study::new(&[RIGHT, Source { before: waits, prepare: starts, ..RIGHT }]), 1);
}

/// Signals its process a hundred times a second, by a timer of each kind.
const TIMERS: &str = "
    #include <signal.h>
    #include <sys/time.h>
    #include <time.h>
    static void spins(int s) { for (volatile int i = 0; i < 1000; i++) {} }
    static void arm(int which) {
        signal(SIGALRM, spins); signal(SIGVTALRM, spins); signal(SIGPROF, spins);
        struct itimerval often = {{0, 10000}, {0, 10000}};
        setitimer(which, &often, NULL);
    }
    static void make(int clock) {
        signal(SIGALRM, spins);
        timer_t timer; struct itimerspec often = {{0, 10000000}, {0, 10000000}};
        if (!timer_create(clock, NULL, &timer)) timer_settime(timer, 0, &often, NULL);
    }
    static void made(void) { timer_t timer; timer_create(CLOCK_MONOTONIC, NULL, &timer); }
";

#[test]
fn timers_that_go_on_are_found() {
    let check = |source: Source<'_>| {
        caught(&Study::new(&[RIGHT, source]), 8, "left a timer armed that signals its process");
    };
    let timed = Source { before: TIMERS, ..RIGHT };
    check(Source { run: "if (s->calls++ == 3) arm(ITIMER_REAL);", ..timed });
    if std::path::Path::new("/proc/self/timers").exists() {
        check(Source { run: "if (s->calls++ == 3) make(CLOCK_MONOTONIC);", ..timed });
    }
    // Wherever it is done: nobody else is accused, whose batch comes next.
    check(Source { prepare: "arm(ITIMER_VIRTUAL);", ..timed });
    check(Source { run: "if (!s->calls++) arm(ITIMER_PROF);", ..timed });
    check(Source { dump: "if (!i) arm(ITIMER_REAL);", ..timed });
    // A timer that is not armed does nothing, nor does one that is stopped in time.
    let stops = "struct itimerval never = {{0}}; setitimer(ITIMER_REAL, &never, NULL);";
    let run = "arm(ITIMER_REAL);";
    innocent(&Study::new(&[RIGHT, Source { prepare: "made();", run, after: stops, ..timed }]), 2);
    // What a library does when it is loaded is put back, and is no fault.
    let before = format!(
        "{TIMERS} __attribute__((constructor)) static void early(void) {{
        arm(ITIMER_REAL); make(CLOCK_MONOTONIC); }}"
    );
    innocent(&Study::new(&[RIGHT, Source { before: &before, ..RIGHT }]), 2);
}

/// A study of an honest contestant and one with this before all else and this in `run`.
fn study(before: &str, run: &str) -> Study {
    Study::new(&[RIGHT, Source { before, run, ..RIGHT }])
}

/// What the checking pass says of the study's second contestant; nothing if it is innocent.
fn checked(study: &Study, contains: Option<&str>) {
    match (study.workers().check(1, 3), contains) {
        (Ok(()), None) => {}
        (failed @ Err(_), Some(contains)) => {
            let (contestant, fault) = fault_of(failed);
            let is_conduct = matches!(fault, Fault::Conduct { .. });
            assert!(contestant == 1 && is_conduct, "{contestant} {fault:?}");
            assert!(fault.to_string().contains(contains), "{fault}");
        }
        (found, _) => panic!("{contains:?}: {found:?}"),
    }
}

#[test]
fn prints_in_runs_are_found() {
    let contains = "printed in 'run', to standard output or standard error";
    for run in ["printf(\"x\");", "fputs(\"x\", stderr);", "if (write(1, \"x\", 1)) {}"] {
        caught(&study("", run), 1, contains);
    }
    innocent(&study("", ""), 1);
    let prepare = "printf(\"x\"); fputs(\"x\", stderr);";
    innocent(&Study::new(&[RIGHT, Source { prepare, ..RIGHT }]), 1);
}

#[test]
fn memory_that_runs_take_and_keep_is_found() {
    let leaks = "char *volatile some = malloc(100000); some[0] = 1;";
    caught(&study("", leaks), 1, "KiB of memory in timed batches and kept it, although its table");
    // As memory of the system's: its own, or such as a child would share.
    for kind in ["MAP_PRIVATE", "MAP_SHARED"] {
        let maps =
            format!("mmap(NULL, 100000, PROT_READ | PROT_WRITE, {kind} | MAP_ANONYMOUS, -1, 0);");
        let study = study("#include <sys/mman.h>\n", &maps);
        caught(&study, 1, "of memory in timed batches");
    }
    let frees = "void *volatile some = malloc(100000); free(some);";
    innocent(&study("", frees), 1);
    // Who says that it allocates is marked.
    let marked = study("#define FLAGS TIEBREAK_ALLOCATES\n", leaks).run().unwrap();
    let has_grown = |index: usize| marked.samples[index].marks.has(Mark::MemoryGrew);
    assert!(!has_grown(0) && has_grown(1));
}

#[test]
fn runs_that_allocate_and_do_not_say_so_are_found() {
    let asks = "asks for memory in 'run', although its table has no flag TIEBREAK_ALLOCATES";
    let says = "#define FLAGS TIEBREAK_ALLOCATES\n";
    for bytes in ["1", "100", "5000", "1 << 20"] {
        let run =
            format!("volatile char *some = malloc({bytes}); some[0] = 1; free((void *)some);");
        checked(&study("", &run), Some(asks));
        checked(&study(says, &run), None);
    }
    // It notices, and answers wrongly.
    let gives_up = "void *volatile some = malloc(9); free(some); if (!some) return 1;";
    checked(&study("", gives_up), Some("it gave another checksum"));
    // What is taken once is kept for the runs that follow, and `reset` may take what it likes.
    checked(&study("", "static char *kept; if (!kept) kept = malloc(9); kept[0] = 1;"), None);
    // To make a page writable is none.
    let sys = "#include <sys/mman.h>\n";
    let maps = "s->output = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);";
    let run = "if (mprotect(s->output, 4096, PROT_READ | PROT_WRITE)) abort(); s->output[0] = 1;
               if (mprotect(s->output, 4096, PROT_NONE)) abort();";
    checked(&Study::new(&[RIGHT, Source { before: sys, prepare: maps, run, ..RIGHT }]), None);
    let reset = "static void again(void *p) { volatile char *some = malloc(9); *some = 1; }";
    let resets = Source { before: reset, reset: "again", ..RIGHT };
    checked(&Study::new(&[RIGHT, resets]), None);
}

#[test]
fn where_nobody_sees_whether_runs_allocate_it_is_said_why() {
    let check = |study: Study, contains: Option<&str>| {
        let mut workers = study.workers();
        workers.check(1, 3).unwrap();
        let why = workers.unstarved(1);
        assert_eq!(why.is_some(), contains.is_some(), "{why:?}");
        assert!(why.unwrap_or("").contains(contains.unwrap_or("")), "{why:?}");
    };
    let asks = "volatile char *some = malloc(9); some[0] = 1; free((void *)some);";
    check(study("", ""), None);
    check(study("#define FLAGS TIEBREAK_ALLOCATES\n", asks), None);
    // A kernel that takes a limit and does not keep to it.
    let deaf = "int setrlimit(int which, const void *limit) { return 0; }
        int setrlimit64(int which, const void *limit) { return 0; }";
    let asking = study("", asks);
    let deaf = compile(asking.path(), "deaf", deaf, &["-shared"]);
    check(asking.with_variable("LD_PRELOAD", &deaf), Some("RLIMIT_DATA"));
    let before = "#include <pthread.h>
        static void *waits(void *p) { (void)p; for (;;) pause(); }";
    let prepare = "static int begun; pthread_t one;
        if (!begun++) { pthread_create(&one, 0, waits, 0); pthread_detach(one); }";
    let starts = Source { before, prepare, run: asks, ..RIGHT };
    check(Study::new(&[RIGHT, starts]), Some("starts threads"));
}

#[test]
fn nobody_is_accused_of_what_a_thread_of_another_does() {
    let before = "#include <pthread.h>
        static void *tells(void *p) { (void)p; for (;;) { fprintf(stderr, \"x\"); usleep(50); } }";
    let prepare = "static int begun; pthread_t one;
        if (!begun++) { pthread_create(&one, 0, tells, 0); pthread_detach(one); }";
    innocent(&Study::new(&[Source { before, prepare, ..RIGHT }, RIGHT]), 3);
}

#[test]
fn threads_that_burn_a_cpu_while_others_run_are_found() {
    let study = |cheat| {
        let mut study = Study::new(&[RIGHT, cheat]);
        study.functions().calls_a_batch = BatchCalls::Alike(2000);
        study
    };
    let contains = "has threads of its own that were on a CPU for";
    let starts = "pthread_t one; pthread_create(&one, NULL, burns, NULL); pthread_detach(one);";
    let burns = "#include <pthread.h>\nstatic void *burns(void *p) { for (;;) {} }";
    caught(&study(Source { before: burns, prepare: starts, ..RIGHT }), 200, contains);
    // Already when it is loaded.
    let loaded =
        format!("{burns}\n__attribute__((constructor)) static void early(void) {{ {starts} }}");
    caught(&study(Source { before: &loaded, ..RIGHT }), 200, contains);
    // A thread that works for the runs of its own contestant alone.
    let before = "#include <pthread.h>
        static volatile int runs;
        static void *burns(void *p) { for (;;) if (!runs) usleep(1000); }";
    let (run, after) = ("runs = 1;", "runs = 0;");
    innocent(&study(Source { before, prepare: starts, run, after, ..RIGHT }), 20);
}

#[test]
fn work_in_dumps_is_found_where_the_answer_is_an_output() {
    let contains = "dumped the right answer although its output had been overwritten";
    // Its output is right, so it is known only by what it dumps.
    let run = "memcpy(s->output, s->input, s->bytes);";
    checked(&copying(Source { run, ..RIGHT }), Some(contains));
    checked(&copying(Source { run, ..DUMPS }), None);
    checked(&Study::new(&[RIGHT, RIGHT]), None);
    // A few bytes may be right whatever the output holds: a flag, or a count of nothing.
    let mut short = copying(Source { run, ..RIGHT });
    short.functions().workload.size = 8;
    checked(&short, None);
    // Noise in its output may kill it, or let it dump for ever.
    let crashes = "value = s->output[i]; if (s->output[i] != s->input[i]) abort();";
    checked(&copying(Source { run, dump: crashes, ..RIGHT }), None);
    let floods = "value = s->output[i]; if (value != s->input[i]) i = 0;";
    checked(&copying(Source { run, dump: floods, ..RIGHT }), None);
}
