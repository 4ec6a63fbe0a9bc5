//! The atomics of everything that a model checker can run, and its lock: loom's under `--cfg loom`,
//! else those of the language. And what is made of single ones.

#[cfg(not(loom))]
use std::sync;

#[cfg(loom)]
use loom::sync;

pub(crate) use sync::Mutex;
#[allow(unused_imports)]
pub(crate) use sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

/// A value alone on its pair of cache lines, because processors fetch two at a time. For what many
/// read while its neighbours change.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub(crate) struct Padded<T>(pub(crate) T);

/// A value of the process, made when it is first asked for.
///
/// Each thread that finds none makes one; the first that publishes its own counts, and it stays for
/// ever. Not a `OnceLock` or `LazyLock`: if another thread were in the middle of making it at a
/// fork, the child would wait for it for ever.
pub(crate) struct Published<T: Sync + 'static>(core::sync::atomic::AtomicPtr<T>);

impl<T: Sync + 'static> Published<T> {
    pub(crate) const fn none() -> Published<T> {
        Published(core::sync::atomic::AtomicPtr::new(core::ptr::null_mut()))
    }

    /// The value.
    #[inline]
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> T) -> &'static T {
        // Acquire: what it points to was written before.
        let found = self.0.load(Ordering::Acquire);
        // SAFETY: what is not null came from `publish`, and is never freed or changed.
        unsafe { found.as_ref() }.unwrap_or_else(|| self.publish(make()))
    }

    #[cold]
    fn publish(&self, value: T) -> &'static T {
        let ours = Box::into_raw(Box::new(value));
        let null = core::ptr::null_mut();
        // Release: for the load above. Acquire: for what another thread has published.
        match self.0.compare_exchange(null, ours, Ordering::Release, Ordering::Acquire) {
            // SAFETY: a Box that was leaked: nothing frees or changes it.
            Ok(_) => unsafe { &*ours },
            Err(theirs) => {
                // SAFETY: ours came from a Box, and no other thread has seen it.
                drop(unsafe { Box::from_raw(ours) });
                // SAFETY: as in `get_or_make`.
                unsafe { &*theirs }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    /// As in a child that was forked then: the other thread does not come to an end.
    #[test]
    fn nobody_waits_for_who_is_in_the_middle_of_making_it() {
        static VALUE: Published<u32> = Published::none();
        let (begun, is_begun) = channel();
        let (end, is_end) = channel();
        let slow = std::thread::spawn(move || {
            let mut is_told = false;
            let value = VALUE.get_or_make(|| {
                begun.send(()).unwrap();
                is_told = is_end.recv_timeout(Duration::from_secs(10)).is_ok();
                1
            });
            (*value, is_told)
        });
        is_begun.recv().unwrap();
        assert_eq!(*VALUE.get_or_make(|| 2), 2);
        // No other thread exists that could need to know whether this one has waited.
        let _ = end.send(());
        assert_eq!(slow.join().unwrap(), (2, true), "the first that was published counts");
        assert_eq!(*VALUE.get_or_make(|| 3), 2);
    }
}
