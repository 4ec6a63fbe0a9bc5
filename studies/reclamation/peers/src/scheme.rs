//! What a contestant is: one way to read an object that others may replace.

use crate::node::Node;

/// A way to protect readers, and to free what is replaced.
pub trait Scheme: 'static {
    /// The shared pointer, and what else all threads share.
    type Shared: Send + Sync + 'static;
    /// What a thread has of its own.
    type Local: 'static;

    /// With this object to begin with.
    fn share(first: Box<Node>) -> Self::Shared;

    /// Registers the calling thread.
    fn register(shared: &'static Self::Shared) -> Self::Local;

    /// Enters, reads the object, leaves; gives what was read.
    fn pin(shared: &'static Self::Shared, local: &mut Self::Local) -> u64;

    /// Reads the object once more, in the way of those who read often: with what is kept from one
    /// read to the next.
    #[inline(always)]
    fn protect(shared: &'static Self::Shared, local: &mut Self::Local) -> u64 {
        Self::pin(shared, local)
    }

    /// Puts another object in the place of the old one, reads the old one, and sees to it that it
    /// is freed in time.
    fn retire(shared: &'static Self::Shared, local: &mut Self::Local, next: Box<Node>) -> u64;

    /// The same while others read.
    #[inline(always)]
    fn replace(shared: &'static Self::Shared, local: &mut Self::Local, next: Box<Node>) -> u64 {
        Self::retire(shared, local, next)
    }
}
