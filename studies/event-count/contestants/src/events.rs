//! The contestants.

#[cfg(any(feature = "parking_lot", feature = "std-condvar"))]
mod condvar;
#[cfg(feature = "event-listener")]
mod listener;
#[cfg(any(
    feature = "ours-sp32",
    feature = "ours-sp64",
    feature = "ours-mp32",
    feature = "ours-mp64",
    feature = "ours-two-word32"
))]
mod ours;
#[cfg(feature = "std-park")]
mod park;
#[cfg(any(feature = "store", feature = "lock-add", feature = "futex"))]
mod word;

#[cfg(any(feature = "parking_lot", feature = "std-condvar"))]
pub use condvar::Guarded as Chosen;
#[cfg(feature = "event-listener")]
pub use listener::Listened as Chosen;
#[cfg(any(
    feature = "ours-sp32",
    feature = "ours-sp64",
    feature = "ours-mp32",
    feature = "ours-mp64",
    feature = "ours-two-word32"
))]
pub use ours::Ours as Chosen;
#[cfg(feature = "std-park")]
pub use park::Parked as Chosen;
#[cfg(any(feature = "store", feature = "lock-add", feature = "futex"))]
pub use word::Word as Chosen;
