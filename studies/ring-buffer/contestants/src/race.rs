//! What is timed.

use crate::consumer::Consumer;
use crate::input::{Input, Sum, Task};
use crate::ring::{Ring, SLOTS, Writer};
use core::marker::PhantomData;
use events::event::Event;
use tiebreak_abi::{Contestant, Sink, Workload};

pub struct Race<E>(PhantomData<E>);

/// A ring with both of its sides.
pub struct State<E: Event> {
    input: Input,
    ring: &'static Ring<E>,
    /// Absent while a writer has it, and at the end.
    producer: Option<E::Producer>,
    consumer: Option<Consumer>,
    position: u64,
    /// Of the last run.
    sum: u64,
    is_lost: bool,
}

/// The checksum where the reading thread did not come to an end.
const LOST: u64 = !0;

impl<E: Event> Contestant for Race<E> {
    const NAME: &'static core::ffi::CStr = c"ring-buffer";
    const RESETS: bool = true;
    type State<'w> = State<E>;

    fn prepare(workload: Workload<'_>) -> Option<State<E>> {
        let input = Input::read(workload.input())?;
        let ring: &'static Ring<E> = Box::leak(Box::new(Ring::new()));
        let consumer = if input.task == Task::Pairs { Some(Consumer::start(ring)?) } else { None };
        let producer = Some(ring.written.producer());
        Some(State { input, ring, producer, consumer, position: 0, sum: 0, is_lost: false })
    }

    /// The other thread begins to read.
    fn reset(state: &mut State<E>) {
        let goal = state.position + state.input.size;
        let has_begun = state.consumer.as_ref().is_none_or(|consumer| consumer.begin(goal));
        state.is_lost |= !has_begun;
    }

    fn run(state: &mut State<E>) -> u64 {
        match state.input.task {
            Task::Push => state.push(),
            Task::Pairs => state.pairs(),
        }
        if state.is_lost { LOST } else { state.sum }
    }

    /// Whether anything was missed, and the sum.
    fn dump(state: &mut State<E>, sink: &mut Sink<'_>) {
        sink.line(u64::from(state.is_lost));
        sink.line(state.sum);
    }
}

impl<E: Event> State<E> {
    #[inline(never)]
    fn push(&mut self) {
        let Some(producer) = self.producer.take() else { return };
        let mut writer = Writer::new(self.ring, producer, self.position);
        let (mut item, mut left) = (self.input.first, self.input.size);
        while left > 0 {
            let now = left.min(SLOTS);
            for _ in 0..now {
                writer.push(item);
                item = item.wrapping_add(self.input.step);
            }
            self.ring.set_read(writer.position);
            left -= now;
        }
        self.position = writer.position;
        self.producer = Some(writer.producer);
        self.sum = self.last();
    }

    /// The sum of what still stands in the ring.
    fn last(&self) -> u64 {
        let kept = self.input.size.min(SLOTS);
        let mut sum = Sum::default();
        (self.position - kept..self.position).for_each(|at| sum.add(self.ring.item(at)));
        sum.value()
    }

    #[inline(never)]
    fn pairs(&mut self) {
        let Some(producer) = self.producer.take() else { return };
        let mut writer = Writer::new(self.ring, producer, self.position);
        let mut item = self.input.first;
        for _ in 0..self.input.size {
            writer.push(item);
            item = item.wrapping_add(self.input.step);
        }
        self.position = writer.position;
        self.producer = Some(writer.producer);
        match self.consumer.as_ref().and_then(|consumer| consumer.end(self.position)) {
            Some(sum) => self.sum = sum,
            None => self.is_lost = true,
        }
    }
}

impl<E: Event> Drop for State<E> {
    fn drop(&mut self) {
        drop(self.producer.take());
        let has_ended = self.consumer.as_mut().is_none_or(Consumer::stop);
        // A thread that did not end in time keeps the ring.
        if has_ended {
            // SAFETY: it was leaked in `prepare`; the thread has ended, the producer is dropped,
            // and what is left of this state does not look at it.
            drop(unsafe { Box::from_raw(std::ptr::from_ref(self.ring).cast_mut()) });
        }
    }
}
