//! The event counts of tiebreak-sync.

use crate::event::Event;

#[cfg(not(any(feature = "ours-sp64", feature = "ours-mp64")))]
use tiebreak_sync::event_count::EventCount32 as EventCount;
#[cfg(any(feature = "ours-sp64", feature = "ours-mp64"))]
use tiebreak_sync::event_count::EventCount64 as EventCount;

#[cfg(any(feature = "ours-mp32", feature = "ours-mp64"))]
use tiebreak_sync::event_count::Multi as Kind;
#[cfg(any(feature = "ours-sp32", feature = "ours-sp64"))]
use tiebreak_sync::event_count::Single as Kind;
#[cfg(feature = "ours-two-word32")]
use tiebreak_sync::event_count::TwoWord as Kind;

#[cfg(any(feature = "ours-sp64", feature = "ours-mp64"))]
type Count = u64;
#[cfg(not(any(feature = "ours-sp64", feature = "ours-mp64")))]
type Count = u32;

#[repr(align(128))]
pub struct Ours(EventCount<Kind>);

impl Event for Ours {
    #[cfg(any(feature = "ours-mp32", feature = "ours-mp64"))]
    type Producer = ();
    #[cfg(not(any(feature = "ours-mp32", feature = "ours-mp64")))]
    type Producer = tiebreak_sync::event_count::Producer<'static, Count, Kind>;

    #[allow(clippy::unnecessary_cast, reason = "one of the counts has 32 bits")]
    const MASK: u64 = (Count::MAX >> 1) as u64;

    fn new() -> Ours {
        Ours(EventCount::new())
    }

    #[cfg(any(feature = "ours-mp32", feature = "ours-mp64"))]
    fn producer(&'static self) {}

    #[cfg(not(any(feature = "ours-mp32", feature = "ours-mp64")))]
    fn producer(&'static self) -> Self::Producer {
        self.0.producer().expect("a new count has its producer")
    }

    #[cfg(any(feature = "ours-mp32", feature = "ours-mp64"))]
    #[inline(always)]
    fn increment(&self, (): &mut ()) {
        self.0.increment();
    }

    #[cfg(not(any(feature = "ours-mp32", feature = "ours-mp64")))]
    #[inline(always)]
    fn increment(&self, producer: &mut Self::Producer) {
        producer.increment();
    }

    #[allow(clippy::unnecessary_cast, reason = "one of the counts has 32 bits")]
    fn value(&self) -> u64 {
        self.0.value() as u64
    }

    fn wait(&self, seen: u64) {
        self.0.wait(seen as Count);
    }
}
