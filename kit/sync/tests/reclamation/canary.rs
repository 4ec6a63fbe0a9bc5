//! Objects that know whether they were freed. Their memory is used again for objects of the same
//! kind only, so to look at a freed one is a wrong answer and not undefined.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

/// Where canaries come from and go to. It must outlive the reclamation that it is used with.
#[derive(Default)]
pub struct Aviary {
    // Boxed, because their addresses stay when the vector grows.
    #[allow(clippy::vec_box)]
    all: Mutex<Vec<Box<Canary>>>,
    free: Mutex<Vec<usize>>,
    alive: AtomicUsize,
}

/// One of them: alive while its generation is odd.
pub struct Canary {
    generation: AtomicU64,
    number: usize,
    aviary: *const Aviary,
}

// SAFETY: the aviary is shared by reference and outlives its canaries.
unsafe impl Send for Canary {}
// SAFETY: as above.
unsafe impl Sync for Canary {}

impl Aviary {
    /// How many are alive.
    pub fn alive(&self) -> usize {
        self.alive.load(SeqCst)
    }

    /// A live one.
    pub fn hatch(&self) -> *mut Canary {
        let free = self.free.lock().unwrap().pop();
        let mut all = self.all.lock().unwrap();
        let number = free.unwrap_or_else(|| {
            let number = all.len();
            all.push(Box::new(Canary { generation: AtomicU64::new(0), number, aviary: self }));
            number
        });
        assert_eq!(all[number].generation.fetch_add(1, SeqCst) % 2, 0, "it was alive already");
        self.alive.fetch_add(1, SeqCst);
        std::ptr::from_ref(&*all[number]).cast_mut()
    }
}

impl Canary {
    /// Looks at it for a while, as a reader that holds it.
    pub fn check(&self) {
        let before = self.generation.load(SeqCst);
        assert_eq!(before % 2, 1, "a reader found an object that was freed");
        for _ in 0..self.number % 8 {
            std::hint::spin_loop();
        }
        assert_eq!(self.generation.load(SeqCst), before, "an object was freed under its reader");
    }
}

/// Frees one.
///
/// # Safety
/// It came from `hatch` of an aviary that is still there.
pub unsafe fn bury(canary: *mut Canary) {
    // SAFETY: canaries live as long as their aviary.
    let (canary, aviary) = unsafe { (&*canary, &*(*canary).aviary) };
    assert_eq!(canary.generation.fetch_add(1, SeqCst) % 2, 1, "it was freed twice");
    aviary.alive.fetch_sub(1, SeqCst);
    aviary.free.lock().unwrap().push(canary.number);
}

#[test]
#[should_panic(expected = "a reader found an object that was freed")]
fn a_freed_canary_is_noticed() {
    let aviary = Aviary::default();
    let canary = aviary.hatch();
    // SAFETY: the aviary is there.
    unsafe { bury(canary) };
    // SAFETY: as above.
    unsafe { &*canary }.check();
}
