//! A stack and a queue without locks.
//!
//! Both are known from the literature (Treiber 1986; Michael and Scott 1996), and both hold memory
//! that others may look at while it is taken out: so each works over [epochs](crate::epoch) or over
//! [hazard pointers](crate::hazard), as one chooses. They serve as examples, and as test beds of
//! the two.
//!
//! ```
//! use tiebreak_sync::{collections::Queue, epoch, hazard};
//!
//! let (collector, domain) = (epoch::Collector::new(), hazard::Domain::new());
//! let (requests, answers) = (Queue::new(&collector), Queue::new(&domain));
//! std::thread::scope(|scope| {
//!     scope.spawn(|| {
//!         let (ours, theirs) = (collector.register(), domain.register());
//!         let mut left = 2;
//!         while left > 0 {
//!             let Some(request) = requests.pop(&ours) else {
//!                 std::thread::yield_now();
//!                 continue;
//!             };
//!             answers.push(request * request, &theirs);
//!             left -= 1;
//!         }
//!     });
//!     let handle = collector.register();
//!     requests.push(3, &handle);
//!     requests.push(4, &handle);
//! });
//! let handle = domain.register();
//! assert_eq!([answers.pop(&handle), answers.pop(&handle)], [Some(9), Some(16)]);
//! ```

mod queue;
mod reclaim;
mod stack;

pub use queue::Queue;
pub use reclaim::Reclaim;
pub use stack::Stack;

#[cfg(all(test, not(loom)))]
mod tests;
