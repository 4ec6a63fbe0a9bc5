//! What the tests do with a count, whatever its kind; and the naive counter that is the oracle.

use std::sync::{Condvar, Mutex, mpsc};
use std::time::{Duration, Instant};

use tiebreak_sync::event_count::{
    Bound, EventCount, Multi, OneProducer, Producer, Single, TwoWord, Value, Waiting,
};

/// A count, its numbers widened.
pub trait Subject: Send + Sync + Sized + 'static {
    /// What comes before zero.
    const LAST: u64;

    fn new(waiting: Waiting) -> Self;
    /// The right to add: of one at a time, there is no second.
    fn hand(&self) -> Option<impl Hand>;
    fn value(&self) -> u64;
    fn wait(&self, seen: u64) -> u64;
    fn wait_until(&self, seen: u64, deadline: Instant) -> Option<u64>;
    fn bound(&self) -> Bound;
    fn rescues(&self) -> u64;
}

/// Who adds.
pub trait Hand: Send {
    fn increment(&mut self);
    fn add(&mut self, n: u64);
}

/// A count that is simple enough to be right by looking at it.
pub struct Oracle {
    count: Mutex<u64>,
    has_changed: Condvar,
}

impl Subject for Oracle {
    const LAST: u64 = u64::MAX >> 1;

    fn new(_waiting: Waiting) -> Self {
        Oracle { count: Mutex::new(0), has_changed: Condvar::new() }
    }

    fn hand(&self) -> Option<impl Hand> {
        Some(self)
    }

    fn value(&self) -> u64 {
        *self.count.lock().unwrap()
    }

    fn wait(&self, seen: u64) -> u64 {
        let count = self.count.lock().unwrap();
        *self.has_changed.wait_while(count, |count| *count == seen).unwrap()
    }

    fn wait_until(&self, seen: u64, deadline: Instant) -> Option<u64> {
        let left = deadline.saturating_duration_since(Instant::now());
        let count = self.count.lock().unwrap();
        let (count, _) =
            self.has_changed.wait_timeout_while(count, left, |count| *count == seen).unwrap();
        (*count != seen).then_some(*count)
    }

    fn bound(&self) -> Bound {
        Bound::Atomic
    }

    fn rescues(&self) -> u64 {
        0
    }
}

impl Hand for &Oracle {
    fn increment(&mut self) {
        self.add(1);
    }

    fn add(&mut self, n: u64) {
        let mut count = self.count.lock().unwrap();
        *count = count.wrapping_add(n) & Oracle::LAST;
        self.has_changed.notify_all();
    }
}

macro_rules! subject {
    ($value:ty, $kind:ty, $count:ident => $hand:expr) => {
        impl Subject for EventCount<$value, $kind> {
            const LAST: u64 = <$value as Value>::MAX as u64;

            fn new(waiting: Waiting) -> Self {
                EventCount::with_waiting(waiting)
            }

            fn hand(&self) -> Option<impl Hand> {
                let $count = self;
                $hand
            }

            fn value(&self) -> u64 {
                EventCount::value(self).into()
            }

            fn wait(&self, seen: u64) -> u64 {
                EventCount::wait(self, seen as $value).into()
            }

            fn wait_until(&self, seen: u64, deadline: Instant) -> Option<u64> {
                EventCount::wait_until(self, seen as $value, deadline).map(u64::from)
            }

            fn bound(&self) -> Bound {
                EventCount::bound(self)
            }

            fn rescues(&self) -> u64 {
                EventCount::rescues(self)
            }
        }
    };
}
subject!(u32, Single, count => count.producer());
subject!(u64, Single, count => count.producer());
subject!(u32, TwoWord, count => count.producer());
subject!(u64, TwoWord, count => count.producer());
subject!(u32, Multi, count => Some(count));
subject!(u64, Multi, count => Some(count));

macro_rules! hand {
    ($value:ty) => {
        impl<P: OneProducer> Hand for Producer<'_, $value, P> {
            fn increment(&mut self) {
                Producer::increment(self);
            }

            fn add(&mut self, n: u64) {
                Producer::add(self, n as $value);
            }
        }

        impl Hand for &EventCount<$value, Multi> {
            fn increment(&mut self) {
                EventCount::increment(self);
            }

            fn add(&mut self, n: u64) {
                EventCount::add(self, n as $value);
            }
        }
    };
}
hand!(u32);
hand!(u64);

/// When a wait that should end is lost for sure, on however busy a machine.
pub fn hopeless() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// Runs `body` on a thread of its own and fails if it does not end: it may sleep for good.
pub fn watched(body: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        body();
        let _ = done.send(());
    });
    match is_done.recv_timeout(Duration::from_secs(120)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("a thread still sleeps: a lost wake-up"),
        // Done, or it panicked: the join tells.
        _ => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    }
}

/// Made-up numbers, the same in every run: the generator of Steele, Lea and Flood (2014).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Nothing, a short loop, a step aside for others, or a short sleep: a phase drawn by chance.
    pub fn dawdle(&mut self) {
        match self.below(16) {
            0 => std::thread::yield_now(),
            1 => std::thread::sleep(Duration::from_micros(self.below(50))),
            2..6 => (0..self.below(2000)).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
    }
}
