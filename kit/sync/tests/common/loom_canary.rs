//! What the models of reclamation have in common: objects whose use after their end is found.

use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicPtr;
use std::rc::Rc;
use tiebreak_sync::mutation::{self, Mutation};

/// An object whose freeing is a write, so that loom tells it from reads that do not come before.
/// Its memory stays until the model ends.
pub struct Canary(UnsafeCell<bool>);

impl Canary {
    /// A live one.
    pub fn new() -> Rc<Canary> {
        Rc::new(Canary(UnsafeCell::new(true)))
    }

    /// Fails the model if it was freed.
    pub fn check(&self) {
        // SAFETY: loom finds it if someone writes meanwhile; that is the test.
        self.0.with(|is_alive| assert!(unsafe { *is_alive }, "it was freed"));
    }
}

/// Ends an object.
///
/// # Safety
///
/// The model keeps its memory until its end.
pub unsafe fn bury(canary: *mut Canary) {
    // SAFETY: the model keeps the memory; loom finds it if someone reads meanwhile.
    unsafe { (*canary).0.with_mut(|is_alive| *is_alive = false) };
}

/// Where it is.
pub fn pointer(canary: &Rc<Canary>) -> *mut Canary {
    Rc::as_ptr(canary).cast_mut()
}

/// Where readers find canaries.
pub type Place = AtomicPtr<Canary>;

/// Runs every interleaving with up to five preemptions, or as many as LOOM_MAX_PREEMPTIONS says.
pub fn explore(mutation: Mutation, model: impl Fn() + Sync + Send + 'static) {
    explore_to(5, mutation, model);
}

/// The same with another number of preemptions.
pub fn explore_to(
    preemptions: usize,
    mutation: Mutation,
    model: impl Fn() + Sync + Send + 'static,
) {
    mutation::set(mutation);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(preemptions));
    builder.check(model);
}
