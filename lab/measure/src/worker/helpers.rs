//! Threads that run the same contestant at the same time as the timed thread.
//!
//! A helper has its own CPU, and its own state, which it prepared itself, of each contestant that
//! runs on that many threads. It sleeps until it must run one, then calls it repeatedly until it
//! must stop, and counts its calls where the timed thread can read them. The count proves that both
//! ran at the same time.

use super::library::{Contestant, Sink};
use super::state::Prepared;
use crate::wire::message::{Sizes, Trouble};
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
}

impl Helpers {
    /// Starts this many helpers, each on the next of these CPUs.
    ///
    /// # Errors
    /// Fails if a thread cannot be started or pinned, or if there are too few CPUs.
    pub(super) fn start(count: usize, cpus: &[usize]) -> Result<Helpers, Trouble> {
        let is_pinned = !cpus.is_empty();
        if is_pinned && cpus.len() < count {
            return Err(Trouble::Failed("there are fewer CPUs than threads".to_owned()));
        }
        let helpers = (0..count).map(|index| Helper::start(cpus.get(index).copied()));
        Ok(Helpers { helpers: helpers.collect::<Result<_, _>>()?, is_pinned })
    }

    /// Lets the first `count` helpers prepare a state of the contestant at this index, one after
    /// the other.
    ///
    /// # Errors
    /// Fails if there is no memory for it, or if the contestant reports that it cannot.
    ///
    /// # Safety
    /// The input must be mapped, with the slack that the contestant needs, as long as the helpers
    /// exist.
    pub(super) unsafe fn prepare(
        &self,
        count: usize,
        position: usize,
        contestant: Contestant,
        (sizes, input): (&Sizes, *const u8),
        padding: u32,
    ) -> Result<(), Trouble> {
        for helper in &self.helpers[..count] {
            let (sizes, input) = (*sizes, input as usize);
            helper.ask(Order::Prepare { position, contestant, sizes, input, padding })?;
        }
        Ok(())
    }

    /// Starts the first `count` helpers, which call the contestant at this index repeatedly from
    /// now on.
    pub(super) fn begin(&self, count: usize, position: usize) -> Result<(), Trouble> {
        self.helpers[..count].iter().try_for_each(|helper| {
            helper.desk.is_stopped.store(false, Ordering::Release);
            helper.tell(Order::Run { position })
        })
    }

    /// Waits until each of the first `count` helpers has made a call since now, or until enough
    /// time has passed for a slow call. The batch's own counts prove whether a helper ran at the
    /// same time.
    pub(super) fn wait_until_running(&mut self, count: usize, a_call: Duration) {
        let until = Instant::now() + START_MAX + START_CALLS_MAX * a_call;
        self.look(count);
        let mut looks = 0_u32;
        while self.helpers[..count].iter().any(|helper| helper.since() == 0)
            && Instant::now() < until
        {
            looks += 1;
            if !self.is_pinned && looks.is_multiple_of(LOOKS) {
                std::thread::yield_now();
            }
            std::hint::spin_loop();
        }
    }

    /// Reads the counts of the first `count` helpers.
    pub(super) fn look(&mut self, count: usize) {
        for helper in &mut self.helpers[..count] {
            helper.seen = helper.desk.calls.load(Ordering::Acquire);
            helper.is_inside = helper.desk.begun.load(Ordering::Acquire) != helper.seen;
        }
    }

    /// Returns the fewest calls that one of the first `count` helpers has made since the last read.
    /// A helper that was in a call then and still is counts as one: [`Helpers::end_soon`] says
    /// whether it may.
    pub(super) fn fewest_beside(&self, count: usize) -> u64 {
        let all = self.helpers[..count].iter();
        let calls = all.map(|helper| helper.since().max(u64::from(helper.is_inside)));
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
        self.helpers[..count].iter().map(Helper::since).min().unwrap_or(0)
    }

    /// Stops the first `count` helpers, waits until each has finished its last call, and returns
    /// whether a call gave another checksum than this.
    ///
    /// # Errors
    /// Fails if a helper has ended.
    pub(super) fn end(&self, count: usize, expected: u64) -> Result<bool, Trouble> {
        self.helpers[..count].iter().for_each(Helper::stop);
        let mut any_is_torn = false;
        for helper in &self.helpers[..count] {
            let Ran { checksum, is_torn } = helper.answer()?;
            any_is_torn |= is_torn || checksum.is_some_and(|checksum| checksum != expected);
        }
        Ok(any_is_torn)
    }

    /// Lets a helper call the contestant at this index once and dump its answer to a file, and
    /// returns the checksum.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub(super) fn dump(&self, index: usize, position: usize, file: File) -> Result<u64, Trouble> {
        let ran = self.helpers[index].ask(Order::Dump { position, file })?;
        Ok(ran.checksum.unwrap_or_default())
    }

    /// Lets all helpers release the states that they have prepared.
    ///
    /// # Errors
    /// Fails if a helper has ended.
    pub(super) fn release(&self) -> Result<(), Trouble> {
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
    begun: AtomicU64,
    /// The number of calls that have ended so far.
    calls: AtomicU64,
    is_stopped: AtomicBool,
}

/// An order to a helper.
enum Order {
    Prepare { position: usize, contestant: Contestant, sizes: Sizes, input: usize, padding: u32 },
    Run { position: usize },
    Dump { position: usize, file: File },
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
    /// Starts a helper on this CPU.
    fn start(cpu: Option<usize>) -> Result<Helper, Trouble> {
        let desk = Arc::new(Desk::default());
        // Room for one message, allocated now: nothing is allocated while something is timed.
        let (orders, received) = sync_channel(1);
        let (answer, answers) = sync_channel(1);
        let shared = Arc::clone(&desk);
        let builder = Builder::new().name("tiebreak-beside".to_owned()).stack_size(STACK_BYTES);
        let thread = builder.spawn(move || {
            let pinned = cpu.map_or(Ok(()), |cpu| cpus::pin_this_thread(&[cpu]));
            let mut answered = answer.send(pinned.map(|()| Ran::default()).map_err(Trouble::from));
            let mut states = Vec::new();
            while answered.is_ok()
                && let Ok(order) = received.recv()
            {
                answered = answer.send(obey(order, &mut states, &shared));
            }
        })?;
        let (orders, thread) = (Some(orders), Some(thread));
        let helper = Helper { desk, orders, answers, thread, seen: 0, is_inside: false };
        helper.answer().map(|_| helper)
    }

    /// Sends an order and waits for the answer.
    fn ask(&self, order: Order) -> Result<Ran, Trouble> {
        self.tell(order)?;
        self.answer()
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
    Trouble::Failed("a thread that was to run beside another one is gone".to_owned())
}

/// Obeys an order. The states are what the helper has prepared, each at the index of its
/// contestant.
fn obey(order: Order, states: &mut Vec<Option<Prepared>>, desk: &Desk) -> Result<Ran, Trouble> {
    match order {
        Order::Prepare { position, contestant, sizes, input, padding } => {
            // SAFETY: the sender of the order guarantees that the input is mapped as long as this
            // thread exists.
            let made = unsafe { Prepared::new(contestant, &sizes, input as *const u8, padding)? };
            states.resize_with(states.len().max(position + 1), || None);
            states[position] = Some(made);
            Ok(Ran::default())
        }
        Order::Run { position } => Ok(run(at(states, position)?, desk)),
        Order::Dump { position, file } => {
            let prepared = at(states, position)?;
            let checksum = Some(prepared.call());
            prepared.dump(&mut Sink::new(), file.into())?;
            Ok(Ran { checksum, is_torn: false })
        }
        Order::Release => {
            states.drain(..).flatten().for_each(Prepared::release);
            Ok(Ran::default())
        }
    }
}

fn at(states: &[Option<Prepared>], position: usize) -> io::Result<&Prepared> {
    let prepared = states.get(position).and_then(Option::as_ref);
    prepared.ok_or_else(|| io::Error::other("nothing is prepared there"))
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
    fn helpers(count: usize) -> Helpers {
        let allowed = cpus::allowed();
        let cpus = allowed.get(..count).unwrap_or_default();
        Helpers::start(count, cpus).unwrap()
    }

    fn prepared(helpers: &Helpers, count: usize, contestant: Contestant, items: u64) -> bool {
        let input = (&sizes(items), std::ptr::null());
        // SAFETY: the functions above do not read the input.
        match unsafe { helpers.prepare(count, 3, contestant, input, 100) } {
            Err(Trouble::NotPrepared) => false,
            made => made.map(|()| true).unwrap(),
        }
    }

    #[test]
    fn helpers_run_until_they_are_stopped() {
        for all in [1, 2, 5] {
            let mut helpers = helpers(all);
            assert!(prepared(&helpers, all, contestant(run), 1));
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
        assert!(prepared(&helpers, 1, contestant(held), 1));
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
        let helpers = helpers(2);
        assert!(prepared(&helpers, 2, contestant(run), 1));
        helpers.begin(2, 3).unwrap();
        wait_for(&helpers, 2, 1);
        assert!(helpers.end(2, 41).unwrap(), "than was expected");
        let helpers = self::helpers(1);
        assert!(prepared(&helpers, 1, contestant(count), 1));
        helpers.begin(1, 3).unwrap();
        wait_for(&helpers, 1, 2);
        assert!(helpers.end(1, 43).unwrap(), "than before");
    }

    #[test]
    fn states_are_dumped_and_released_where_they_were_prepared() {
        let helpers = helpers(2);
        assert!(!prepared(&helpers, 2, contestant(run), 0), "it says that it cannot");
        assert!(prepared(&helpers, 2, contestant(run), COUNTED));
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
        let first = cpus::allowed()[0];
        assert!(Helpers::start(2, &[first]).is_err());
        assert!(Helpers::start(1, &[8191]).is_err(), "no such CPU");
        assert!(Helpers::start(0, &[]).is_ok());
    }
}
