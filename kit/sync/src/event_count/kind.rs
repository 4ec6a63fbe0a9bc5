//! What can be counted, and by how many.

use crate::atomic::{AtomicU32, AtomicU64};
use crate::barrier::Barrier;

use super::bound::Bound;
use super::count::Count;
use super::flagged::Flagged;
use super::pair::{Pair, Version};
use super::word::Word;

/// Closes the traits of this module: their promises are kept here, so nobody else implements them.
mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// What an event count holds: `u32`, of which it uses 31 bits, or `u64`, of which it uses 63.
pub trait Value: Sealed + Copy + Eq + core::fmt::Debug + Send + Sync + 'static {
    /// One.
    const ONE: Self;
    /// The largest value. After it comes zero.
    const MAX: Self;
    /// Count and flag in one word.
    #[doc(hidden)]
    type Word: Word<Value = Self>;
    /// The word of a count that has its flag elsewhere.
    #[doc(hidden)]
    type Version: Version<Value = Self>;
    /// What is left of a number of increments once those that lead back to the start are gone.
    #[doc(hidden)]
    fn reduced(self) -> Self;
    /// Whether this is zero.
    #[doc(hidden)]
    fn is_zero(self) -> bool;
}

/// Who increments an event count: [`Single`], [`Multi`] or [`TwoWord`].
pub trait Producers: Sealed + Send + Sync + 'static {
    /// The representation.
    #[doc(hidden)]
    type Count<V: Value>: Count<Value = V>;
    /// The bound in force where this one is asked for.
    #[doc(hidden)]
    fn bound(asked: Option<Bound>) -> Bound;
}

/// The kinds with one producer at a time.
pub trait OneProducer: Producers {
    /// Adds, alone. Whoever calls this must be the only one that does.
    #[doc(hidden)]
    fn increment<V: Value>(count: &Self::Count<V>, light: Barrier);
    /// The same, of any number.
    #[doc(hidden)]
    fn add<V: Value>(count: &Self::Count<V>, n: V, light: Barrier);
}

/// One producer at a time, who increments with a read-modify-write that is not atomic. On x86-64
/// that is one `inc` of memory and a branch; on any other architecture this is [`TwoWord`].
#[derive(Debug)]
pub enum Single {}

/// Any number of producers: an increment is one locked instruction and a branch.
#[derive(Debug)]
pub enum Multi {}

/// One producer at a time, on any architecture: the flag has a word of its own, and an increment is
/// a store, the light side of a barrier and a load.
#[derive(Debug)]
pub enum TwoWord {}

macro_rules! value {
    ($value:ty, $atomic:ty) => {
        impl Sealed for $value {}
        impl Value for $value {
            const ONE: Self = 1;
            const MAX: Self = <$value>::MAX >> 1;
            type Word = $atomic;
            type Version = $atomic;

            #[inline(always)]
            fn reduced(self) -> Self {
                self & <Self as Value>::MAX
            }

            #[inline(always)]
            fn is_zero(self) -> bool {
                self == 0
            }
        }
    };
}
value!(u32, AtomicU32);
value!(u64, AtomicU64);

impl Sealed for Single {}
impl Sealed for Multi {}
impl Sealed for TwoWord {}

impl Producers for Multi {
    type Count<V: Value> = Flagged<V>;

    /// A locked instruction never overwrites a flag, so nothing is in flight that could.
    fn bound(_asked: Option<Bound>) -> Bound {
        Bound::Atomic
    }
}

impl Producers for TwoWord {
    type Count<V: Value> = Pair<V>;

    /// The light side is the producer's, so there has to be a heavy one.
    fn bound(asked: Option<Bound>) -> Bound {
        match asked {
            Some(Bound::Barrier(barrier)) => Bound::Barrier(barrier),
            _ => Bound::Barrier(Barrier::process()),
        }
    }
}

impl OneProducer for TwoWord {
    #[inline(always)]
    fn increment<V: Value>(count: &Pair<V>, light: Barrier) {
        count.add_alone(V::ONE, light);
    }

    #[inline(always)]
    fn add<V: Value>(count: &Pair<V>, n: V, light: Barrier) {
        count.add_alone(n, light);
    }
}

#[cfg(target_arch = "x86_64")]
impl Producers for Single {
    type Count<V: Value> = Flagged<V>;

    /// A heavy side has to reach the producer between two instructions: a pair of plain fences
    /// does not, so the published rule takes its place.
    fn bound(asked: Option<Bound>) -> Bound {
        let barrier = match asked {
            Some(Bound::OneSecond) => return Bound::OneSecond,
            Some(Bound::Barrier(barrier)) => barrier,
            Some(Bound::Atomic) | None => Barrier::process(),
        };
        if barrier.strategy().light_is_free() { Bound::Barrier(barrier) } else { Bound::OneSecond }
    }
}

#[cfg(target_arch = "x86_64")]
impl OneProducer for Single {
    #[inline(always)]
    fn increment<V: Value>(count: &Flagged<V>, _light: Barrier) {
        count.increment_alone();
    }

    #[inline(always)]
    fn add<V: Value>(count: &Flagged<V>, n: V, _light: Barrier) {
        count.add_alone(n);
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Producers for Single {
    type Count<V: Value> = Pair<V>;

    fn bound(asked: Option<Bound>) -> Bound {
        TwoWord::bound(asked)
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl OneProducer for Single {
    #[inline(always)]
    fn increment<V: Value>(count: &Pair<V>, light: Barrier) {
        count.add_alone(V::ONE, light);
    }

    #[inline(always)]
    fn add<V: Value>(count: &Pair<V>, n: V, light: Barrier) {
        count.add_alone(n, light);
    }
}
