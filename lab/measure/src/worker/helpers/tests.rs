use super::super::library::Contestant;
use super::*;
use crate::output::memory_file;
use std::ffi::c_void;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64};
use tiebreak_abi as abi;
use tiebreak_machine::cpus;

/// States of [`COUNTED`] items that were prepared and not yet released.
static STATES: AtomicU64 = AtomicU64::new(0);
const COUNTED: u64 = 7;

/// Makes a state of its answer, which is its input's length, and its items. Fails without items.
unsafe extern "C" fn prepare(workload: *const abi::RawWorkload) -> *mut c_void {
    // SAFETY: the worker gives a workload.
    let workload = unsafe { &*workload };
    if workload.items == 0 {
        return std::ptr::null_mut();
    }
    STATES.fetch_add(u64::from(workload.items == COUNTED), Ordering::SeqCst);
    Box::into_raw(Box::new([workload.input_bytes, workload.items])).cast()
}

unsafe extern "C" fn run(state: *mut c_void) -> u64 {
    // SAFETY: the state is from `prepare`.
    unsafe { *state.cast::<u64>() }
}

/// Returns another number each time.
unsafe extern "C" fn count(state: *mut c_void) -> u64 {
    let state = state.cast::<u64>();
    // SAFETY: the state is from `prepare`, and no other thread has it.
    unsafe {
        *state += 1;
        *state
    }
}

unsafe extern "C" fn dump(state: *mut c_void, sink: *const abi::RawSink) {
    // SAFETY: the state is from `prepare`, and the sink is alive.
    unsafe {
        let text = (*state.cast::<u64>()).to_string();
        ((*sink).write)((*sink).context, text.as_ptr().cast(), text.len() as u64);
    }
}

unsafe extern "C" fn release(state: *mut c_void) {
    // SAFETY: the state is from `prepare`, and is not used again.
    let state = unsafe { Box::from_raw(state.cast::<[u64; 2]>()) };
    STATES.fetch_sub(u64::from(state[1] == COUNTED), Ordering::SeqCst);
}

fn contestant(run: unsafe extern "C" fn(*mut c_void) -> u64) -> Contestant {
    Contestant::of_functions(prepare, run, dump, release)
}

fn sizes(items: u64) -> Sizes {
    Sizes { bytes: 42, items, output_bytes: 100 }
}

/// Starts helpers, each on its own CPU if this machine has enough.
fn helpers(count: usize) -> Helpers {
    let allowed = cpus::allowed();
    let pinned: HelperCpus = allowed.iter().map(|cpu| *cpu as u64).take(count).collect();
    let cpus = if pinned.len() == count { pinned } else { HelperCpus::new() };
    Helpers::start(count, &cpus).unwrap()
}

fn prepared(helpers: &mut Helpers, count: usize, contestant: Contestant, items: u64) -> bool {
    let sizes = sizes(items);
    // SAFETY: the functions above do not read the input.
    unsafe { helpers.prepare(count, 3, contestant, (&sizes, std::ptr::null()), 100) }.unwrap()
}

#[test]
fn helpers_run_until_they_are_stopped() {
    for all in [1, 2, 5] {
        let mut helpers = helpers(all);
        assert!(prepared(&mut helpers, all, contestant(run), 1));
        for count in (1..=all).rev() {
            helpers.begin(count, 3).unwrap();
            // On a busy machine a helper may get a CPU only after more than one wait.
            let until = Instant::now() + Duration::from_secs(60);
            loop {
                helpers.wait_until_running(count, Duration::ZERO);
                if helpers.fewest_since(count) > 0 || Instant::now() > until {
                    break;
                }
            }
            assert!(helpers.fewest_since(count) > 0);
            assert_eq!(helpers.end(count, 42).unwrap(), Ran { is_torn: false });
            helpers.look(all);
            assert_eq!(helpers.fewest_since(all), 0, "nobody runs any more");
        }
        helpers.release().unwrap();
    }
}

/// Waits until each of the first `count` helpers has made this many calls, for a minute at most.
fn wait_for(helpers: &Helpers, count: usize, calls: u64) {
    let until = Instant::now() + Duration::from_secs(60);
    while helpers.fewest_since(count) < calls {
        assert!(Instant::now() < until, "they do not run");
        std::thread::yield_now();
    }
}

/// Holds the calls of `held` until it is cleared.
static IS_HELD: AtomicBool = AtomicBool::new(true);

unsafe extern "C" fn held(state: *mut c_void) -> u64 {
    let until = Instant::now() + Duration::from_secs(60);
    while IS_HELD.load(Ordering::SeqCst) && Instant::now() < until {
        std::thread::yield_now();
    }
    // SAFETY: the state is from `prepare`.
    unsafe { run(state) }
}

#[test]
fn a_call_from_before_until_after_counts_if_it_ends_soon() {
    let mut helpers = helpers(1);
    assert!(prepared(&mut helpers, 1, contestant(held), 1));
    helpers.look(1);
    assert_eq!(helpers.fewest_beside(1), 0, "nobody was told to run");
    helpers.begin(1, 3).unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    while helpers.fewest_beside(1) == 0 {
        assert!(Instant::now() < until, "it does not begin");
        std::thread::yield_now();
        helpers.look(1);
    }
    assert_eq!((helpers.fewest_beside(1), helpers.fewest_since(1)), (1, 0));
    assert!(!helpers.end_soon(1, Duration::from_millis(1)), "it is held");
    IS_HELD.store(false, Ordering::SeqCst);
    assert!(helpers.end_soon(1, Duration::from_secs(60)));
    assert_eq!(helpers.end(1, 42).unwrap(), Ran { is_torn: false });
    helpers.look(1);
    assert_eq!(helpers.fewest_beside(1), 0, "nobody runs any more");
}

#[test]
fn another_answer_is_seen() {
    let mut helpers = helpers(2);
    assert!(prepared(&mut helpers, 2, contestant(run), 1));
    helpers.begin(2, 3).unwrap();
    wait_for(&helpers, 2, 1);
    assert_eq!(helpers.end(2, 41).unwrap(), Ran { is_torn: true }, "than was expected");
    let mut helpers = self::helpers(1);
    assert!(prepared(&mut helpers, 1, contestant(count), 1));
    helpers.begin(1, 3).unwrap();
    wait_for(&helpers, 1, 2);
    assert_eq!(helpers.end(1, 43).unwrap(), Ran { is_torn: true }, "than before");
}

#[test]
fn states_are_dumped_and_released_where_they_were_prepared() {
    let mut helpers = helpers(2);
    assert!(!prepared(&mut helpers, 2, contestant(run), 0), "it says that it cannot");
    assert!(prepared(&mut helpers, 2, contestant(run), COUNTED));
    assert_eq!(STATES.load(Ordering::SeqCst), 2);
    let file = memory_file().unwrap();
    assert_eq!(helpers.dump(1, 3, file.try_clone().unwrap()).unwrap(), 42);
    let mut text = [0; 2];
    file.read_exact_at(&mut text, 0).unwrap();
    assert_eq!(text, *b"42");
    assert!(helpers.dump(0, 2, file.try_clone().unwrap()).is_err(), "nothing is there");
    helpers.release().unwrap();
    assert_eq!(STATES.load(Ordering::SeqCst), 0);
}

#[test]
fn too_few_cpus_are_an_error() {
    let first = cpus::allowed()[0] as u64;
    assert!(Helpers::start(2, &vec![first]).is_err());
    assert!(Helpers::start(1, &vec![8191]).is_err(), "no such CPU");
    assert!(Helpers::start(0, &HelperCpus::new()).is_ok());
}
