//! Threads that run the same contestant at the same time as the timed thread.
//!
//! A helper has its own CPU, and its own state of one contestant, which it prepared itself. It
//! sleeps until it must run, then calls the contestant repeatedly until it must stop, and counts
//! its calls where the timed thread can read them. The count proves that both ran at the same time.

use super::library::{Contestant, Sink};
use super::state::Prepared;
use crate::wire::message::{Sizes, Trouble};
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};
use tiebreak_machine::cpus;

/// The longest wait until all helpers run, in addition to the calls: as long as a few other
/// processes may hold a CPU before a helper gets it.
const START_MAX: Duration = Duration::from_millis(20);
/// The number of call times added to that wait.
const START_CALLS_MAX: u32 = 4;
/// After this many reads of the others' counts the thread yields its CPU, if they may need it.
const LOOKS: u32 = 64;

/// The helpers of one contestant. Dropping it ends them.
pub(super) struct Helpers {
    helpers: Vec<Helper>,
    /// Whether each has its own CPU.
    is_pinned: bool,
}

impl Helpers {
    /// Starts this many helpers, each on the next of these CPUs, one after the other. Each prepares
    /// its state.
    ///
    /// # Errors
    /// Fails if a thread cannot be started or pinned, if there are too few CPUs or there is no
    /// memory, or if the contestant reports that it cannot.
    ///
    /// # Safety
    /// The input must be mapped, with the slack that the contestant needs, as long as the helpers
    /// exist.
    pub(super) unsafe fn start(
        count: usize,
        cpus: &[usize],
        contestant: Contestant,
        sizes: &Sizes,
        input: *const u8,
        padding: u32,
    ) -> Result<Helpers, Trouble> {
        let is_pinned = !cpus.is_empty();
        if is_pinned && cpus.len() < count {
            return Err(Trouble::Failed("there are fewer CPUs than threads".to_owned()));
        }
        let mut helpers = Vec::new();
        for index in 0..count {
            let (cpu, sizes, input) = (cpus.get(index).copied(), *sizes, input.expose_provenance());
            helpers.push(Helper::start(move || {
                cpu.map_or(Ok(()), |cpu| cpus::pin_this_thread(&[cpu]))?;
                let input = std::ptr::with_exposed_provenance(input);
                // SAFETY: the caller guarantees that the input is mapped as long as this thread
                // exists.
                unsafe { Prepared::new(contestant, &sizes, input, padding) }
            })?);
        }
        Ok(Helpers { helpers, is_pinned })
    }

    pub(super) fn count(&self) -> usize {
        self.helpers.len()
    }

    /// Lets the helpers call the contestant repeatedly from now on.
    ///
    /// # Errors
    /// Fails if a helper has ended.
    pub(super) fn begin(&self) -> Result<(), Trouble> {
        self.helpers.iter().try_for_each(|helper| {
            helper.desk.is_stopped.store(false, Ordering::Release);
            helper.tell(Order::Run)
        })
    }

    /// Waits until each helper has made a call since now, or until enough time has passed for a
    /// slow call. The batch's own counts prove whether a helper ran at the same time.
    pub(super) fn wait_until_running(&mut self, a_call: Duration) {
        let until = Instant::now() + START_MAX + START_CALLS_MAX * a_call;
        self.look();
        let mut looks = 0_u32;
        while self.helpers.iter().any(|helper| helper.since() == 0) && Instant::now() < until {
            looks += 1;
            if !self.is_pinned && looks.is_multiple_of(LOOKS) {
                std::thread::yield_now();
            }
            std::hint::spin_loop();
        }
    }

    /// Reads the counts of the helpers.
    pub(super) fn look(&mut self) {
        for helper in &mut self.helpers {
            helper.seen = helper.desk.calls.load(Ordering::Acquire);
            helper.is_inside = helper.desk.begun.load(Ordering::Acquire) != helper.seen;
        }
    }

    /// Returns the fewest calls that a helper has made since the last read. A helper that was in a
    /// call then and still is counts as one: [`Helpers::end_soon`] says whether it may.
    pub(super) fn fewest_beside(&self) -> u64 {
        let all = self.helpers.iter();
        let calls = all.map(|helper| helper.since().max(u64::from(helper.is_inside)));
        calls.min().unwrap_or(0)
    }

    /// Returns whether each helper has ended a call since the last read, or does so within this
    /// time. A call that began before a batch and takes longer than twice the batch is too slow, or
    /// its thread has lost the CPU: it proves nothing.
    pub(super) fn end_soon(&self, within: Duration) -> bool {
        let begin = Instant::now();
        while self.fewest_since() == 0 {
            if begin.elapsed() > within {
                return false;
            }
            std::hint::spin_loop();
        }
        true
    }

    /// Returns the fewest calls that a helper has made since the last read.
    fn fewest_since(&self) -> u64 {
        self.helpers.iter().map(Helper::since).min().unwrap_or(0)
    }

    /// Stops the helpers, waits until each has finished its last call, and returns whether a call
    /// gave another checksum than this.
    ///
    /// # Errors
    /// Fails if a helper has ended.
    pub(super) fn end(&self, expected: u64) -> Result<bool, Trouble> {
        self.helpers.iter().for_each(Helper::stop);
        let mut any_is_torn = false;
        for helper in &self.helpers {
            let Ran { checksum, is_torn } = helper.answer()?;
            any_is_torn |= is_torn || checksum.is_some_and(|checksum| checksum != expected);
        }
        Ok(any_is_torn)
    }

    /// Lets a helper call the contestant once and dump its answer to a file, and returns the
    /// checksum.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub(super) fn dump(&self, index: usize, file: File) -> Result<u64, Trouble> {
        self.helpers[index].tell(Order::Dump(file))?;
        Ok(self.helpers[index].answer()?.checksum.unwrap_or_default())
    }

    /// Lets all helpers release their states, and ends them.
    ///
    /// # Errors
    /// Fails if a helper has ended.
    pub(super) fn release(&self) -> Result<(), Trouble> {
        self.helpers.iter().try_for_each(|helper| {
            helper.tell(Order::Release)?;
            helper.answer().map(drop)
        })
    }
}

/// The stack size of the timed thread; only the used part takes memory.
const STACK_BYTES: usize = 8 << 20;

/// What the timed thread and a helper share while they run: a cache line that no other desk shares,
/// aligned so that no neighbour is fetched with it.
#[repr(align(128))]
#[derive(Default)]
struct Desk {
    /// The number of calls that have begun so far.
    begun: AtomicU64,
    /// The number of calls that have ended so far.
    calls: AtomicU64,
    is_stopped: AtomicBool,
}

/// An order to a helper.
enum Order {
    Run,
    Dump(File),
    Release,
}

/// What the calls of an order gave: the checksum of the first one, and whether another one gave
/// another.
#[derive(Default)]
struct Ran {
    checksum: Option<u64>,
    is_torn: bool,
}

/// A thread that waits for orders. Dropping it ends the thread.
struct Helper {
    desk: Arc<Desk>,
    /// `None` once the thread must end.
    orders: Option<SyncSender<Order>>,
    answers: Receiver<Result<Ran, Trouble>>,
    thread: Option<JoinHandle<()>>,
    /// The count of ended calls at the last read, and whether it was in a call then.
    seen: u64,
    is_inside: bool,
}

impl Helper {
    /// Starts a helper, and waits until it has prepared its state.
    fn start(
        prepare: impl FnOnce() -> Result<Prepared, Trouble> + Send + 'static,
    ) -> Result<Helper, Trouble> {
        let desk = Arc::new(Desk::default());
        // Room for one message, allocated now: nothing is allocated while something is timed.
        let (orders, received) = sync_channel(1);
        let (answer, answers) = sync_channel(1);
        let shared = Arc::clone(&desk);
        let builder = Builder::new().name("tiebreak-helper".to_owned()).stack_size(STACK_BYTES);
        let thread = builder.spawn(move || match prepare() {
            Ok(prepared) => obey(prepared, &shared, &received, &answer),
            // The one who waits gets this, or has ended.
            Err(why) => drop(answer.send(Err(why))),
        })?;
        let (orders, thread) = (Some(orders), Some(thread));
        let helper = Helper { desk, orders, answers, thread, seen: 0, is_inside: false };
        helper.answer().map(|_| helper)
    }

    fn tell(&self, order: Order) -> Result<(), Trouble> {
        self.orders.as_ref().and_then(|orders| orders.send(order).ok()).ok_or_else(gone)
    }

    fn answer(&self) -> Result<Ran, Trouble> {
        self.answers.recv().map_err(|_| gone())?
    }

    fn stop(&self) {
        self.desk.is_stopped.store(true, Ordering::Release);
    }

    /// Returns the number of calls that have ended since the last read.
    fn since(&self) -> u64 {
        self.desk.calls.load(Ordering::Acquire).wrapping_sub(self.seen)
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.stop();
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // A panicking thread has printed its message.
            let _ = thread.join();
        }
    }
}

fn gone() -> Trouble {
    Trouble::Failed("a thread that was to run next to another one is gone".to_owned())
}

/// Obeys orders, after an answer that says that all is prepared, until the state is released or the
/// other side is gone.
fn obey(
    prepared: Prepared,
    desk: &Desk,
    orders: &Receiver<Order>,
    answers: &SyncSender<Result<Ran, Trouble>>,
) {
    let mut answered = answers.send(Ok(Ran::default()));
    while answered.is_ok()
        && let Ok(order) = orders.recv()
    {
        answered = answers.send(match order {
            Order::Run => Ok(run(&prepared, desk)),
            Order::Dump(file) => {
                let checksum = Some(prepared.call());
                let dumped = prepared.dump(&mut Sink::new(), file.into());
                dumped.map(|()| Ran { checksum, is_torn: false }).map_err(Trouble::from)
            }
            Order::Release => {
                prepared.release();
                return drop(answers.send(Ok(Ran::default())));
            }
        });
    }
}

/// Calls the contestant until it is stopped.
fn run(prepared: &Prepared, desk: &Desk) -> Ran {
    let (mut first, mut differs) = (None, 0);
    let mut calls = desk.calls.load(Ordering::Relaxed);
    while !desk.is_stopped.load(Ordering::Acquire) {
        desk.begun.store(calls.wrapping_add(1), Ordering::Release);
        let checksum = prepared.call();
        differs |= checksum ^ *first.get_or_insert(checksum);
        calls = calls.wrapping_add(1);
        desk.calls.store(calls, Ordering::Release);
    }
    Ran { checksum: first, is_torn: differs != 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::memory_file;
    use crate::worker::library::Contestant;
    use std::ffi::c_void;
    use std::os::unix::fs::FileExt;
    use std::sync::atomic::{AtomicBool, AtomicU64};
    use tiebreak_abi as abi;
    use tiebreak_machine::cpus;

    /// States of [`COUNTED`] items that were prepared and not yet released.
    static STATES: AtomicU64 = AtomicU64::new(0);
    const COUNTED: u64 = 7;

    /// Makes a state of its answer, which is its input's length, and its items. Fails without
    /// items.
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
    fn start(count: usize, contestant: Contestant, items: u64) -> Result<Helpers, Trouble> {
        let allowed = cpus::allowed();
        let (cpus, input) = (allowed.get(..count).unwrap_or_default(), std::ptr::null());
        // SAFETY: the functions above do not read the input.
        unsafe { Helpers::start(count, cpus, contestant, &sizes(items), input, 100) }
    }

    #[test]
    fn helpers_run_until_they_are_stopped() {
        for count in [1, 2, 5] {
            let mut helpers = start(count, contestant(run), 1).unwrap();
            for _ in 0..count {
                helpers.begin().unwrap();
                // On a busy machine a helper may get a CPU only after more than one wait.
                let until = Instant::now() + Duration::from_secs(60);
                loop {
                    helpers.wait_until_running(Duration::ZERO);
                    if helpers.fewest_since() > 0 || Instant::now() > until {
                        break;
                    }
                }
                assert!(helpers.fewest_since() > 0);
                assert!(!helpers.end(42).unwrap());
                helpers.look();
                assert_eq!(helpers.fewest_since(), 0, "no helper runs any more");
            }
            helpers.release().unwrap();
        }
    }

    /// Waits until each helper has made this many calls, for a minute at most.
    fn wait_for(helpers: &Helpers, calls: u64) {
        let until = Instant::now() + Duration::from_secs(60);
        while helpers.fewest_since() < calls {
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
        let mut helpers = start(1, contestant(held), 1).unwrap();
        helpers.look();
        assert_eq!(helpers.fewest_beside(), 0, "nobody was told to run");
        helpers.begin().unwrap();
        let until = Instant::now() + Duration::from_secs(30);
        while helpers.fewest_beside() == 0 {
            assert!(Instant::now() < until, "it does not begin");
            std::thread::yield_now();
            helpers.look();
        }
        assert_eq!((helpers.fewest_beside(), helpers.fewest_since()), (1, 0));
        assert!(!helpers.end_soon(Duration::from_millis(1)), "it is held");
        IS_HELD.store(false, Ordering::SeqCst);
        assert!(helpers.end_soon(Duration::from_secs(60)));
        assert!(!helpers.end(42).unwrap());
        helpers.look();
        assert_eq!(helpers.fewest_beside(), 0, "no helper runs any more");
    }

    #[test]
    fn another_answer_is_seen() {
        let helpers = start(2, contestant(run), 1).unwrap();
        helpers.begin().unwrap();
        wait_for(&helpers, 1);
        assert!(helpers.end(41).unwrap(), "than was expected");
        let helpers = start(1, contestant(count), 1).unwrap();
        helpers.begin().unwrap();
        wait_for(&helpers, 2);
        assert!(helpers.end(43).unwrap(), "than before");
    }

    #[test]
    fn states_are_dumped_and_released_where_they_were_prepared() {
        let refused = start(2, contestant(run), 0).err();
        assert_eq!(refused, Some(Trouble::NotPrepared), "it says that it cannot");
        let helpers = start(2, contestant(run), COUNTED).unwrap();
        assert_eq!(STATES.load(Ordering::SeqCst), 2);
        let file = memory_file().unwrap();
        assert_eq!(helpers.dump(1, file.try_clone().unwrap()).unwrap(), 42);
        let mut text = [0; 2];
        file.read_exact_at(&mut text, 0).unwrap();
        assert_eq!(text, *b"42");
        helpers.release().unwrap();
        assert_eq!(STATES.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn too_few_cpus_are_an_error() {
        let first = cpus::allowed()[0];
        let start = |count, cpus: &[usize]| {
            let (contestant, input) = (contestant(run), std::ptr::null());
            // SAFETY: the functions above do not read the input.
            unsafe { Helpers::start(count, cpus, contestant, &sizes(1), input, 100) }
        };
        assert!(start(2, &[first]).is_err());
        assert!(start(1, &[8191]).is_err(), "no such CPU");
        assert!(start(0, &[]).is_ok());
    }
}
