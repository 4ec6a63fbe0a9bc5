//! What is timed.

use crate::event::Event;
use crate::input::{self, Record, Task, hash};
use crate::waiter::Waiter;
use core::marker::PhantomData;
use tiebreak_abi::{Contestant, Sink, Workload, launder};

pub struct Race<E>(PhantomData<E>);

/// A count, the thread that increments it and the thread that waits for it.
pub struct State<E: Event> {
    task: Task,
    size: u64,
    records: Vec<Record>,
    /// Where hashes go, as items would go into a ring.
    hashes: [u64; SLOTS],
    event: &'static E,
    /// Absent while a loop has it, and at the end.
    producer: Option<E::Producer>,
    waiter: Option<Waiter>,
    /// What the count must be.
    count: u64,
    /// Of the last run: what was counted, and what came of the work.
    counted: u64,
    sum: u64,
    /// The count was another, or the thread has not seen it in time.
    is_lost: bool,
}

const SLOTS: usize = 64;
/// The checksum where something was lost.
const LOST: u64 = !0;

impl<E: Event> Contestant for Race<E> {
    const NAME: &'static core::ffi::CStr = c"event-count";
    const RESETS: bool = true;
    type State<'w> = State<E>;

    fn prepare(workload: Workload<'_>) -> Option<State<E>> {
        let (task, size, records) = input::read(workload.input())?;
        let event: &'static E = Box::leak(Box::new(E::new()));
        let waiter = if task.has_waiter() { Some(Waiter::start(event)?) } else { None };
        Some(State {
            task,
            size,
            records,
            hashes: [0; SLOTS],
            event,
            producer: Some(event.producer()),
            waiter,
            count: event.value(),
            counted: 0,
            sum: 0,
            is_lost: false,
        })
    }

    fn reset(state: &mut State<E>) {
        state.settle();
    }

    fn run(state: &mut State<E>) -> u64 {
        match state.task {
            Task::Alone => state.alone(),
            Task::InWork => state.in_work(),
            Task::Waiter => state.increments(1),
            Task::Wake => {
                state.increments(1);
                state.wait_until_seen();
            }
            Task::Turns => state.turns(),
            Task::Chase => state.increments(state.size),
        }
        if state.is_lost { LOST } else { state.counted ^ state.sum }
    }

    /// What was counted, whether the waiting thread saw the last of it, and what came of the work.
    fn dump(state: &mut State<E>, sink: &mut Sink<'_>) {
        state.settle();
        sink.line(state.counted);
        sink.line(u64::from(state.is_lost));
        sink.line(state.sum);
    }
}

impl<E: Event> State<E> {
    #[inline(never)]
    fn alone(&mut self) {
        if let Some(mut producer) = self.producer.take() {
            for _ in 0..self.size {
                launder(self.event).increment_alone(&mut producer);
            }
            self.producer = Some(producer);
        }
        self.expect(self.size);
    }

    #[inline(never)]
    fn in_work(&mut self) {
        let mut sum = 0_u64;
        if let Some(mut producer) = self.producer.take() {
            let records = self.records.iter().cycle();
            for (index, record) in records.take(self.size as usize).enumerate() {
                let hash = hash(record);
                self.hashes[index % SLOTS] = hash;
                sum = sum.wrapping_add(hash);
                launder(self.event).increment_alone(&mut producer);
            }
            self.producer = Some(producer);
        }
        self.sum = sum;
        self.expect(self.size);
    }

    #[inline(never)]
    fn increments(&mut self, count: u64) {
        if let Some(mut producer) = self.producer.take() {
            for _ in 0..count {
                launder(self.event).increment(&mut producer);
            }
            self.producer = Some(producer);
        }
        self.expect(count);
    }

    fn turns(&mut self) {
        for _ in 0..self.size {
            if self.is_lost {
                break;
            }
            self.settle();
            self.increments(1);
            self.wait_until_seen();
        }
        self.counted = self.size;
    }

    /// The count itself is not looked at while it is timed: of a number under a mutex that would
    /// be in the way of the thread that wakes.
    fn expect(&mut self, counted: u64) {
        self.count = self.count.wrapping_add(counted) & E::MASK;
        self.counted = counted;
    }

    fn wait_until_seen(&mut self) {
        let is_seen = self.waiter.as_ref().is_none_or(|waiter| waiter.wait_until_seen(self.count));
        self.is_lost |= !is_seen;
    }

    /// Looks at the count, and waits until the waiting thread has seen it and sleeps.
    fn settle(&mut self) {
        let is_settled = self.waiter.as_ref().is_none_or(|waiter| waiter.settle(self.count));
        self.is_lost |= !is_settled || self.event.value() != self.count;
    }
}

impl<E: Event> Drop for State<E> {
    fn drop(&mut self) {
        let (event, mut producer) = (self.event, self.producer.take());
        let end = || {
            if let Some(producer) = &mut producer {
                event.increment(producer);
            }
        };
        let has_ended = self.waiter.as_mut().is_none_or(|waiter| waiter.end(end));
        drop(producer);
        // A thread that did not end in time keeps the count.
        if has_ended {
            // SAFETY: it was leaked in `prepare`; the thread has ended, the producer is dropped,
            // and what is left of this state does not look at it.
            drop(unsafe { Box::from_raw(std::ptr::from_ref(event).cast_mut()) });
        }
    }
}
