//! What a sample costs beside the program itself: runs of `true` (or the command given) through
//! [`Programs`], against a bare loop of `posix_spawn` and `wait4`, turn and turn about.
//!
//! `cargo run --release -p tiebreak-measure --example overhead [COMMAND]`

use std::ffi::CString;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use tiebreak_core::plan::*;
use tiebreak_core::sampler::{ProgramSampler, RunRequest};
use tiebreak_measure::Programs;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
const RUNS: usize = 2000;

fn plan(command: &str) -> Plan {
    Plan {
        engine_version: ENGINE_VERSION,
        kind: Kind::Compare,
        contestants: vec![Contestant {
            name: "A".into(),
            command: command.into(),
            workload: String::new(),
            parameters: Vec::new(),
            hooks: Hooks::default(),
            directory: None,
        }],
        claims: Vec::new(),
        error: 0.01,
        resolution: 0.01,
        budget: Budget { rounds: Some(1), seconds: None },
        scope: Scope::Binary,
        centre: Centre::Factor,
        seed: "0".into(),
        clock_step_ns: 20.0,
        block_runs: 1,
        adjust: Adjust::NONE,
        functions: None,
        program: ProgramPlan { wait_for_quiet: false, ..ProgramPlan::default() },
    }
}

fn bare(path: &str, words: &[String]) -> f64 {
    let path = CString::new(path).expect("no zero byte");
    let words: Vec<_> =
        words.iter().map(|word| CString::new(word.as_str()).expect("no zero")).collect();
    let mut pointers: Vec<_> = words.iter().map(|word| word.as_ptr().cast_mut()).collect();
    pointers.push(std::ptr::null_mut());
    unsafe extern "C" {
        static environ: *const *mut libc::c_char;
    }
    let start = Instant::now();
    // SAFETY: all strings end with a zero byte and the vectors with a null pointer.
    unsafe {
        let (mut pid, mut status) = (0, 0);
        let nothing = std::ptr::null();
        let usage = std::ptr::null_mut();
        assert_eq!(
            libc::posix_spawn(
                &raw mut pid,
                path.as_ptr(),
                nothing,
                std::ptr::null(),
                pointers.as_ptr(),
                environ
            ),
            0
        );
        assert_eq!(libc::wait4(pid, &raw mut status, 0, usage), pid);
    }
    start.elapsed().as_nanos() as f64 / 1e3
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let command = std::env::args().nth(1).unwrap_or_else(|| "true".to_owned());
    let words = tiebreak_measure::words::split(&command).expect("a command");
    let path = tiebreak_measure::resolve(&words[0], None).expect("a program");
    let path = path.to_str().expect("a plain path");
    let mut programs = Programs::new(&plan(&command), &INTERRUPTED).expect("a plan");
    let (mut bares, mut walls, mut totals) = (Vec::new(), Vec::new(), Vec::new());
    let mut memory = u64::MAX;
    for run in 0..RUNS {
        bares.push(bare(path, &words));
        let request = RunRequest {
            contestant: 0,
            padding_bytes: run as u32 % 4096,
            timeout_ns: 10_000_000_000,
        };
        let start = Instant::now();
        let ran = programs.run(&request).expect("a sample");
        totals.push(start.elapsed().as_nanos() as f64 / 1e3);
        walls.push(ran.sample.wall_ns as f64 / 1e3);
        memory = memory.min(ran.sample.peak_memory_bytes);
    }
    let (bare, wall, total) = (median(bares), median(walls), median(totals));
    println!("bare posix_spawn + wait4      {bare:8.1} us");
    println!("wall time of the sample       {wall:8.1} us  {:+.1}%", (wall / bare - 1.0) * 100.0);
    println!(
        "the whole run, sample and all {total:8.1} us  beside the sample {:.1} us",
        total - wall
    );
    println!(
        "peak memory {} KiB, floor {} KiB",
        memory / 1024,
        programs.peak_memory_floor_bytes() / 1024
    );
    println!("missing meters: {:?}", programs.missing_meters());
}
