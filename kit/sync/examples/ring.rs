//! A ring for one writer and one reader whose write position is an event count: the reader sleeps
//! when it is empty, and the writer's push is two stores and a branch, as in a ring without that.
//!
//! ```text
//! cargo run --release --example ring -p tiebreak-sync
//! ```

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering};

use tiebreak_sync::event_count::{EventCount64, Producer, Single};

/// Places for numbers. The count of all that was written is the write position.
struct Ring<const PLACES: usize> {
    written: EventCount64<Single>,
    read: AtomicU64,
    places: [UnsafeCell<u64>; PLACES],
}

// SAFETY: a place belongs to the writer from the moment `read` passes it until `written` does, and
// to the reader from then on; both positions are released by one side and acquired by the other.
// There is one writer, as the event count has one producer, and one reader, by `split`.
unsafe impl<const PLACES: usize> Sync for Ring<PLACES> {}

struct Writer<'a, const PLACES: usize> {
    ring: &'a Ring<PLACES>,
    producer: Producer<'a, u64, Single>,
    written: u64,
    read_seen: u64,
}

struct Reader<'a, const PLACES: usize> {
    ring: &'a Ring<PLACES>,
    read: u64,
    written_seen: u64,
}

impl<const PLACES: usize> Ring<PLACES> {
    fn new() -> Self {
        Ring {
            written: EventCount64::new(),
            read: AtomicU64::new(0),
            places: std::array::from_fn(|_| UnsafeCell::new(0)),
        }
    }

    /// The two ends. The exclusive borrow lasts as long as they do, so there is one of each.
    fn split(&mut self) -> (Writer<'_, PLACES>, Reader<'_, PLACES>) {
        let ring = &*self;
        let written = ring.written.value();
        // Relaxed: no other thread has the ring.
        let read = ring.read.load(Ordering::Relaxed);
        let producer =
            ring.written.producer().expect("the exclusive borrow has ended the last one");
        (
            Writer { ring, producer, written, read_seen: read },
            Reader { ring, read, written_seen: written },
        )
    }

    fn place(&self, position: u64) -> *mut u64 {
        self.places[position as usize % PLACES].get()
    }
}

impl<const PLACES: usize> Writer<'_, PLACES> {
    /// Writes, unless the ring is full.
    fn push(&mut self, number: u64) -> Result<(), u64> {
        if self.written - self.read_seen == PLACES as u64 {
            // Acquire: the reader is done with the places that it says to have read.
            self.read_seen = self.ring.read.load(Ordering::Acquire);
            if self.written - self.read_seen == PLACES as u64 {
                return Err(number);
            }
        }
        // SAFETY: the reader has passed this place, and comes back only after the increment.
        unsafe { self.ring.place(self.written).write(number) };
        self.written += 1;
        self.producer.increment();
        Ok(())
    }
}

impl<const PLACES: usize> Reader<'_, PLACES> {
    /// Reads the next number, which may have to be waited for.
    fn pop(&mut self) -> u64 {
        if self.read == self.written_seen {
            self.written_seen = self.ring.written.wait(self.read);
        }
        // SAFETY: the writer has passed this place, and comes back only after the store below.
        let number = unsafe { self.ring.place(self.read).read() };
        self.read += 1;
        // Release: the number was read before the place is given back.
        self.ring.read.store(self.read, Ordering::Release);
        number
    }
}

fn main() {
    const NUMBERS: u64 = 1_000_000;
    let mut ring = Ring::<1024>::new();
    let bound = ring.written.bound();
    let (mut writer, mut reader) = ring.split();
    let sum = std::thread::scope(|scope| {
        let reader = scope.spawn(move || (0..NUMBERS).map(|_| reader.pop()).sum::<u64>());
        for number in 0..NUMBERS {
            while writer.push(number).is_err() {
                std::thread::yield_now();
            }
        }
        reader.join().expect("the reader does not panic")
    });
    assert_eq!(sum, NUMBERS * (NUMBERS - 1) / 2);
    println!("{NUMBERS} numbers through the ring, sum {sum}; bound: {bound}");
}
