//! One helper: its thread, and the desk that it shares with the timed thread.

use super::super::library::Contestant;
use super::super::memory::Mapping;
use super::super::message::Sizes;
use super::super::sink::Sink;
use super::super::state::Prepared;
use super::{Arc, Ordering, io};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use tiebreak_machine::cpus;

/// The stack size of the timed thread; only the used part takes memory.
const STACK_BYTES: usize = 8 << 20;

/// What the timed thread and a helper share while they run: a cache line that no other desk shares,
/// aligned so that no neighbour is fetched with it.
#[repr(align(128))]
#[derive(Default)]
pub(super) struct Desk {
    /// The number of calls that have begun so far.
    pub(super) begun: AtomicU64,
    /// The number of calls that have ended so far.
    pub(super) calls: AtomicU64,
    is_stopped: AtomicBool,
}

/// An order to a helper.
pub(super) enum Order {
    Prepare { position: u32, contestant: Contestant, sizes: Sizes, input: usize, padding: u32 },
    Run { position: u32 },
    Dump { position: u32, sink: Sink },
    Release,
}

/// A helper's answer.
pub(super) enum Answer {
    Prepared,
    NotPrepared,
    /// The checksum of its first call, and whether another call gave another one.
    Ran {
        checksum: Option<u64>,
        is_torn: bool,
    },
    Dumped(io::Result<u64>),
    Released,
    Failed(io::Error),
}

/// A thread that waits for orders. Dropping it ends the thread.
pub(super) struct Helper {
    pub(super) desk: Arc<Desk>,
    /// `None` once the thread must end.
    orders: Option<SyncSender<Order>>,
    answers: Receiver<Answer>,
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
        let work = move || {
            let pinned = cpu.map_or(Ok(()), |cpu| cpus::pin_this_thread(&[cpu]));
            let begun = pinned.map_or_else(Answer::Failed, |()| Answer::Released);
            if answer.send(begun).is_ok() {
                work(&shared, &received, &answer);
            }
        };
        let name = "tiebreak-beside".to_owned();
        let thread = Builder::new().name(name).stack_size(STACK_BYTES).spawn(work)?;
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
        let told = self.orders.as_ref().map(|orders| orders.send(order).is_ok());
        if told == Some(true) { Ok(()) } else { Err(gone()) }
    }

    pub(super) fn answer(&self) -> io::Result<Answer> {
        match self.answers.recv() {
            Ok(Answer::Failed(error)) => Err(error),
            Ok(answer) => Ok(answer),
            Err(_) => Err(gone()),
        }
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

fn work(desk: &Desk, orders: &Receiver<Order>, answers: &SyncSender<Answer>) {
    let mut states = States::default();
    while let Ok(order) = orders.recv() {
        let answer = match order {
            Order::Prepare { position, contestant, sizes, input, padding } => {
                states.prepare(position, contestant, &sizes, input, padding)
            }
            Order::Run { position } => states.run(position, desk),
            Order::Dump { position, sink } => states.dump(position, sink),
            Order::Release => states.release(),
        };
        if answers.send(answer).is_err() {
            return;
        }
    }
}

impl States {
    fn prepare(
        &mut self,
        position: u32,
        contestant: Contestant,
        sizes: &Sizes,
        input: usize,
        padding: u32,
    ) -> Answer {
        // SAFETY: the sender of the order guarantees that the input is mapped as long as this
        // thread exists.
        match unsafe { Prepared::new(contestant, sizes, input as *const u8, padding) } {
            Ok(Some((prepared, output))) => {
                let place = position as usize;
                self.prepared.resize(self.prepared.len().max(place + 1), None);
                self.prepared[place] = Some(prepared);
                self.outputs.extend(output);
                Answer::Prepared
            }
            Ok(None) => Answer::NotPrepared,
            Err(error) => Answer::Failed(error),
        }
    }

    fn at(&self, position: u32) -> Option<Prepared> {
        self.prepared.get(position as usize).copied().flatten()
    }

    /// Calls the contestant until it is stopped.
    fn run(&self, position: u32, desk: &Desk) -> Answer {
        let Some(prepared) = self.at(position) else {
            return Answer::Failed(io::Error::other("nothing is prepared there"));
        };
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

    fn dump(&self, position: u32, mut sink: Sink) -> Answer {
        let Some(prepared) = self.at(position) else {
            return Answer::Failed(io::Error::other("nothing is prepared there"));
        };
        let checksum = prepared.call();
        let raw = sink.raw();
        // SAFETY: the state is what this contestant has prepared, and the sink outlives the call.
        unsafe { (prepared.contestant.dump)(prepared.state, &raw const raw) };
        Answer::Dumped(sink.finish().map(|_| checksum))
    }

    fn release(&mut self) -> Answer {
        for prepared in self.prepared.drain(..).flatten() {
            // SAFETY: the state is what this contestant has prepared, and is not used again.
            unsafe { (prepared.contestant.release)(prepared.state) };
        }
        self.outputs.clear();
        Answer::Released
    }
}
