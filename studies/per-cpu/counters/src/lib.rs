//! The counters of this study, one a feature. A counter is shared by all threads of its contestant
//! (of `plain` each has one).

mod amounts;

use amounts::Amounts;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use tiebreak_abi::{Contestant, Sink, Workload, contestant};

/// A number that all threads add to.
trait Counter: Sync {
    /// What a run finds once, if it can: what is the thread's own.
    type Own;
    fn new() -> Self;
    fn own(&self) -> Self::Own;
    fn add(&self, own: &Self::Own, amount: u64);
    fn sum(&self) -> u64;
}

#[cfg(any(feature = "rseq", feature = "fallback"))]
mod counter {
    use tiebreak_sync::per_cpu::{self, Mode};

    pub struct Count(per_cpu::Counter);

    impl super::Counter for Count {
        type Own = ();

        fn new() -> Count {
            Count(match cfg!(feature = "fallback") {
                true => per_cpu::Counter::with_atomics(),
                false => per_cpu::Counter::new(),
            })
        }

        fn own(&self) {}

        #[inline(always)]
        fn add(&self, _own: &(), amount: u64) {
            self.0.add(amount as i64);
        }

        fn sum(&self) -> u64 {
            self.0.sum() as u64
        }
    }

    impl Count {
        /// Without sections the contestant would not be what it is called.
        pub fn is_available(&self) -> bool {
            cfg!(feature = "fallback") || matches!(self.0.mode(), Mode::Rseq(_))
        }
    }
}

#[cfg(feature = "padded")]
mod counter {
    use std::sync::atomic::{AtomicU64, Ordering};

    const CPUS: usize = 1024;

    #[repr(align(128))]
    struct Padded(AtomicU64);

    pub struct Count(Vec<Padded>);

    unsafe extern "C" {
        safe fn sched_getcpu() -> i32;
    }

    impl super::Counter for Count {
        type Own = ();

        fn new() -> Count {
            Count((0..CPUS).map(|_| Padded(AtomicU64::new(0))).collect())
        }

        fn own(&self) {}

        #[inline(always)]
        fn add(&self, _own: &(), amount: u64) {
            let cpu = sched_getcpu() as usize % CPUS;
            self.0[cpu].0.fetch_add(amount, Ordering::Relaxed);
        }

        fn sum(&self) -> u64 {
            self.0.iter().map(|count| count.0.load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
        }
    }
}

#[cfg(feature = "locked")]
mod counter {
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Alone on its lines, so that only its own users contend for it.
    #[repr(align(128))]
    pub struct Count(AtomicU64);

    impl super::Counter for Count {
        type Own = ();

        fn new() -> Count {
            Count(AtomicU64::new(0))
        }

        fn own(&self) {}

        #[inline(always)]
        fn add(&self, _own: &(), amount: u64) {
            self.0.fetch_add(amount, Ordering::Relaxed);
        }

        fn sum(&self) -> u64 {
            self.0.load(Ordering::Relaxed)
        }
    }
}

#[cfg(any(feature = "local", feature = "plain"))]
mod counter {
    use std::cell::OnceCell;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};

    #[repr(align(128))]
    pub struct Padded(AtomicU64);

    /// The numbers of all threads.
    pub struct Count(Mutex<Vec<Arc<Padded>>>);

    thread_local! {
        static OWN: OnceCell<Arc<Padded>> = const { OnceCell::new() };
    }

    #[inline(always)]
    fn increase(own: &Padded, amount: u64) {
        own.0.store(own.0.load(Ordering::Relaxed) + amount, Ordering::Relaxed);
    }

    impl Count {
        #[cold]
        fn register(&self) -> Arc<Padded> {
            let own = Arc::new(Padded(AtomicU64::new(0)));
            self.0.lock().unwrap_or_else(|poison| poison.into_inner()).push(own.clone());
            own
        }
    }

    impl super::Counter for Count {
        #[cfg(feature = "local")]
        type Own = ();
        #[cfg(feature = "plain")]
        type Own = Arc<Padded>;

        fn new() -> Count {
            Count(Mutex::new(Vec::new()))
        }

        #[cfg(feature = "local")]
        fn own(&self) {}

        #[cfg(feature = "local")]
        #[inline(always)]
        fn add(&self, _own: &(), amount: u64) {
            OWN.with(|own| increase(own.get_or_init(|| self.register()), amount));
        }

        #[cfg(feature = "plain")]
        fn own(&self) -> Arc<Padded> {
            OWN.with(|own| own.get_or_init(|| self.register()).clone())
        }

        #[cfg(feature = "plain")]
        #[inline(always)]
        fn add(&self, own: &Arc<Padded>, amount: u64) {
            increase(own, amount);
        }

        fn sum(&self) -> u64 {
            let all = self.0.lock().unwrap_or_else(|poison| poison.into_inner());
            all.iter().map(|own| own.0.load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
        }
    }
}

use counter::Count;

static COUNT: LazyLock<Count> = LazyLock::new(Count::new);
/// What all runs of all threads should have added.
static EXPECTED: AtomicU64 = AtomicU64::new(0);

struct Race;

impl Contestant for Race {
    const NAME: &'static core::ffi::CStr = c"counter";
    type State<'w> = Amounts<'w>;

    fn prepare(workload: Workload<'_>) -> Option<Amounts<'_>> {
        let count = &*COUNT;
        #[cfg(any(feature = "rseq", feature = "fallback"))]
        if !count.is_available() {
            return None;
        }
        // Whatever a thread needs of its own is made here, not in a run.
        count.add(&count.own(), 0);
        Some(Amounts::new(workload.input()))
    }

    fn run(amounts: &mut Amounts<'_>) -> u64 {
        let count = &*COUNT;
        let sum = amounts.add_all(count, &count.own());
        EXPECTED.fetch_add(sum, Ordering::Relaxed);
        sum
    }

    /// The sum of a run, and what the counter is off by.
    fn dump(amounts: &mut Amounts<'_>, sink: &mut Sink<'_>) {
        let off = COUNT.sum().wrapping_sub(EXPECTED.load(Ordering::Relaxed));
        sink.line(amounts.sum().wrapping_add(off));
    }
}

contestant!(Race);
