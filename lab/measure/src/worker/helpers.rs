//! Threads that run the same contestant at the same time as the timed thread.
//!
//! A helper has its own CPU, and its own state, which it prepared itself, of each contestant that
//! runs on that many threads. It sleeps until it must run one, then calls it repeatedly until it
//! must stop, and counts its calls where the timed thread can read them. The count proves that both
//! ran at the same time.

use super::library::{Contestant, Sink};
use super::state::Prepared;
use crate::wire::mapping::Mapping;
use crate::wire::message::{HelperCpus, Sizes};
use std::fs::File;
use std::io;
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

/// The helpers of a worker. Dropping it ends them.
pub(super) struct Helpers {
    helpers: Vec<Helper>,
    /// Whether each has its own CPU.
    is_pinned: bool,
    /// The counts of calls at the last read.
    seen: Vec<u64>,
    /// Whether each was in a call at the last read.
    is_inside: Vec<bool>,
}

impl Helpers {
    /// Starts this many helpers, each on the next of these CPUs.
    ///
    /// # Errors
    /// Fails if a thread cannot be started or pinned, or if there are too few CPUs.
    pub(super) fn start(count: usize, cpus: &HelperCpus) -> io::Result<Helpers> {
        let is_pinned = !cpus.is_empty();
        if is_pinned && cpus.len() < count {
            return Err(io::Error::other("there are fewer CPUs than threads"));
        }
        let own = (0..count).map(|index| cpus.get(index).map(|cpu| *cpu as usize));
        let helpers = own.map(Helper::start).collect::<io::Result<_>>()?;
        Ok(Helpers { helpers, is_pinned, seen: vec![0; count], is_inside: vec![false; count] })
    }

    /// Lets the first `count` helpers prepare a state of the contestant at this index, one after
    /// the other, and returns whether all succeeded.
    ///
    /// # Errors
    /// Fails if there is no memory for it.
    ///
    /// # Safety
    /// The input must be mapped, with the slack that the contestant needs, as long as the helpers
    /// exist.
    pub(super) unsafe fn prepare(
        &mut self,
        count: usize,
        position: u32,
        contestant: Contestant,
        input: (&Sizes, *const u8),
        padding: u32,
    ) -> io::Result<bool> {
        for helper in &self.helpers[..count] {
            let (sizes, input) = (*input.0, input.1 as usize);
            let order = Order::Prepare { position, contestant, sizes, input, padding };
            if let Answer::NotPrepared = helper.ask(order)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Starts the first `count` helpers, which call the contestant at this index repeatedly from
    /// now on.
    pub(super) fn begin(&mut self, count: usize, position: u32) -> io::Result<()> {
        self.helpers[..count].iter().try_for_each(|helper| helper.begin(position))
    }

    /// Waits until each of the first `count` helpers has made a call since now, or until enough
    /// time has passed for a slow call. The batch's own counts prove whether a helper ran at the
    /// same time.
    pub(super) fn wait_until_running(&mut self, count: usize, a_call: Duration) {
        let until = Instant::now() + START_MAX + START_CALLS_MAX * a_call;
        self.look(count);
        let mut looks = 0_u32;
        while (0..count).any(|index| self.since(index) == 0) && Instant::now() < until {
            looks += 1;
            if !self.is_pinned && looks.is_multiple_of(LOOKS) {
                std::thread::yield_now();
            }
            std::hint::spin_loop();
        }
    }

    /// Reads the counts of the first `count` helpers.
    pub(super) fn look(&mut self, count: usize) {
        let all = self.seen.iter_mut().zip(&mut self.is_inside).zip(&self.helpers);
        for ((seen, is_inside), helper) in all.take(count) {
            *seen = helper.desk.calls.load(Ordering::Acquire);
            *is_inside = helper.desk.begun.load(Ordering::Acquire) != *seen;
        }
    }

    /// Returns the fewest calls that one of the first `count` helpers has made since the last read.
    /// A helper that was in a call then and still is counts as one: [`Helpers::end_soon`] says
    /// whether it may.
    pub(super) fn fewest_beside(&self, count: usize) -> u64 {
        let calls = (0..count).map(|at| self.since(at).max(u64::from(self.is_inside[at])));
        calls.min().unwrap_or(0)
    }

    /// Returns whether each of the first `count` helpers has ended a call since the last read, or
    /// does so within this time. A call that began before a batch and takes longer than twice the
    /// batch is too slow, or its thread has lost the CPU: it proves nothing.
    pub(super) fn end_soon(&self, count: usize, within: Duration) -> bool {
        let begin = Instant::now();
        while self.fewest_since(count) == 0 {
            if begin.elapsed() > within {
                return false;
            }
            std::hint::spin_loop();
        }
        true
    }

    /// Returns the fewest calls that one of the first `count` helpers has made since the last read.
    fn fewest_since(&self, count: usize) -> u64 {
        (0..count).map(|index| self.since(index)).min().unwrap_or(0)
    }

    fn since(&self, index: usize) -> u64 {
        let calls = self.helpers[index].desk.calls.load(Ordering::Acquire);
        calls.wrapping_sub(self.seen[index])
    }

    /// Stops the first `count` helpers, waits until each has finished its last call, and returns
    /// whether a call gave another checksum than this.
    ///
    /// # Errors
    /// Fails if a helper has ended.
    pub(super) fn end(&mut self, count: usize, expected: u64) -> io::Result<bool> {
        self.helpers[..count].iter().for_each(Helper::stop);
        let mut any_is_torn = false;
        for helper in &self.helpers[..count] {
            let Answer::Ran { checksum, is_torn } = helper.answer()? else {
                return Err(io::Error::other("a thread did something else than it was asked"));
            };
            any_is_torn |= is_torn || checksum.is_some_and(|checksum| checksum != expected);
        }
        Ok(any_is_torn)
    }

    /// Lets a helper call the contestant at this index once and dump its answer to a file, and
    /// returns the checksum.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub(super) fn dump(&self, index: usize, position: u32, file: File) -> io::Result<u64> {
        let sink = Sink::new(Some(file.into()));
        match self.helpers[index].ask(Order::Dump { position, sink })? {
            Answer::Dumped(checksum) => Ok(checksum),
            _ => Err(io::Error::other("a thread did something else than it was asked")),
        }
    }

    /// Lets all helpers release the states that they have prepared, and ends them.
    ///
    /// # Errors
    /// Fails if a helper has ended.
    pub(super) fn release(self) -> io::Result<()> {
        self.helpers.iter().try_for_each(|helper| helper.ask(Order::Release).map(drop))
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
    pub(super) begun: AtomicU64,
    /// The number of calls that have ended so far.
    pub(super) calls: AtomicU64,
    is_stopped: AtomicBool,
}

/// An order to a helper.
enum Order {
    Prepare { position: u32, contestant: Contestant, sizes: Sizes, input: usize, padding: u32 },
    Run { position: u32 },
    Dump { position: u32, sink: Sink },
    Release,
}

/// A helper's answer.
enum Answer {
    Done,
    NotPrepared,
    /// The checksum of its first call, and whether another call gave another one.
    Ran {
        checksum: Option<u64>,
        is_torn: bool,
    },
    /// The checksum of the call before the dump.
    Dumped(u64),
}

/// A thread that waits for orders. Dropping it ends the thread.
struct Helper {
    desk: Arc<Desk>,
    /// `None` once the thread must end.
    orders: Option<SyncSender<Order>>,
    answers: Receiver<io::Result<Answer>>,
    thread: Option<JoinHandle<()>>,
}

impl Helper {
    /// Starts a helper on this CPU.
    pub(super) fn start(cpu: Option<usize>) -> io::Result<Helper> {
        let desk = Arc::new(Desk::default());
        // Room for one message, allocated now: nothing is allocated while something is timed.
        let (orders, received) = sync_channel(1);
        let (answer, answers) = sync_channel(1);
        let shared = Arc::clone(&desk);
        let builder = Builder::new().name("tiebreak-beside".to_owned()).stack_size(STACK_BYTES);
        let thread = builder.spawn(move || {
            let pinned = cpu.map_or(Ok(()), |cpu| cpus::pin_this_thread(&[cpu]));
            if answer.send(pinned.map(|()| Answer::Done)).is_ok() {
                work(&shared, &received, &answer);
            }
        })?;
        let helper = Helper { desk, orders: Some(orders), answers, thread: Some(thread) };
        helper.answer().map(|_| helper)
    }

    /// Sends an order and waits for the answer.
    pub(super) fn ask(&self, order: Order) -> io::Result<Answer> {
        self.tell(order)?;
        self.answer()
    }

    /// Lets it run the contestant at this index until it is stopped.
    pub(super) fn begin(&self, position: u32) -> io::Result<()> {
        self.desk.is_stopped.store(false, Ordering::Release);
        self.tell(Order::Run { position })
    }

    pub(super) fn stop(&self) {
        self.desk.is_stopped.store(true, Ordering::Release);
    }

    fn tell(&self, order: Order) -> io::Result<()> {
        self.orders.as_ref().and_then(|orders| orders.send(order).ok()).ok_or_else(gone)
    }

    pub(super) fn answer(&self) -> io::Result<Answer> {
        self.answers.recv().map_err(|_| gone())?
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

fn gone() -> io::Error {
    io::Error::other("a thread that was to run beside another one is gone")
}

/// The states that a helper has prepared, each at the index of its contestant, and the outputs that
/// they write to.
#[derive(Default)]
struct States {
    prepared: Vec<Option<Prepared>>,
    outputs: Vec<Mapping>,
}

fn work(desk: &Desk, orders: &Receiver<Order>, answers: &SyncSender<io::Result<Answer>>) {
    let mut states = States::default();
    while let Ok(order) = orders.recv() {
        if answers.send(states.obey(order, desk)).is_err() {
            return;
        }
    }
}

impl States {
    fn obey(&mut self, order: Order, desk: &Desk) -> io::Result<Answer> {
        match order {
            Order::Prepare { position, contestant, sizes, input, padding } => {
                // SAFETY: the sender of the order guarantees that the input is mapped as long as
                // this thread exists.
                let made =
                    unsafe { Prepared::new(contestant, &sizes, input as *const u8, padding)? };
                let Some((prepared, output)) = made else { return Ok(Answer::NotPrepared) };
                let place = position as usize;
                self.prepared.resize(self.prepared.len().max(place + 1), None);
                self.prepared[place] = Some(prepared);
                self.outputs.extend(output);
                Ok(Answer::Done)
            }
            Order::Run { position } => Ok(run(&self.at(position)?, desk)),
            Order::Dump { position, sink } => {
                let prepared = self.at(position)?;
                let checksum = prepared.call();
                prepared.dump_to(sink)?;
                Ok(Answer::Dumped(checksum))
            }
            Order::Release => {
                for prepared in self.prepared.drain(..).flatten() {
                    // SAFETY: the state is what this contestant has prepared, and is not used
                    // again.
                    unsafe { (prepared.contestant.release)(prepared.state) };
                }
                self.outputs.clear();
                Ok(Answer::Done)
            }
        }
    }

    fn at(&self, position: u32) -> io::Result<Prepared> {
        let prepared = self.prepared.get(position as usize).copied().flatten();
        prepared.ok_or_else(|| io::Error::other("nothing is prepared there"))
    }
}

/// Calls the contestant until it is stopped.
fn run(prepared: &Prepared, desk: &Desk) -> Answer {
    let (mut first, mut differs) = (None, 0);
    let mut calls = desk.calls.load(Ordering::Relaxed);
    while !desk.is_stopped.load(Ordering::Acquire) {
        desk.begun.store(calls.wrapping_add(1), Ordering::Release);
        let checksum = prepared.call();
        differs |= checksum ^ *first.get_or_insert(checksum);
        calls = calls.wrapping_add(1);
        desk.calls.store(calls, Ordering::Release);
    }
    Answer::Ran { checksum: first, is_torn: differs != 0 }
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
                assert!(!helpers.end(count, 42).unwrap());
                helpers.look(all);
                assert_eq!(helpers.fewest_since(all), 0, "nobody runs any more");
            }
            helpers.release().unwrap();
        }
    }

    /// Waits until each of the first `count` helpers has made this many calls, for a minute at
    /// most.
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
        assert!(!helpers.end(1, 42).unwrap());
        helpers.look(1);
        assert_eq!(helpers.fewest_beside(1), 0, "nobody runs any more");
    }

    #[test]
    fn another_answer_is_seen() {
        let mut helpers = helpers(2);
        assert!(prepared(&mut helpers, 2, contestant(run), 1));
        helpers.begin(2, 3).unwrap();
        wait_for(&helpers, 2, 1);
        assert!(helpers.end(2, 41).unwrap(), "than was expected");
        let mut helpers = self::helpers(1);
        assert!(prepared(&mut helpers, 1, contestant(count), 1));
        helpers.begin(1, 3).unwrap();
        wait_for(&helpers, 1, 2);
        assert!(helpers.end(1, 43).unwrap(), "than before");
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
}
