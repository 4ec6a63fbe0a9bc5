//! When each CPU was last interrupted: the client of `barrierd`.
//!
//! The daemon `barrierd` attaches two small programs to the kernel: one to interrupts, one to
//! context switches. Each run of either executes a full fence on its CPU and then shows the time,
//! in a line of memory that everybody may read. Who has written something and must know that all
//! others will see it, or have already shown what they did before, waits until every CPU has run a
//! program. That disturbs nobody: the interrupts come anyway, mostly within a tick (1 to 10 ms).
//!
//! ```
//! use std::time::{Duration, Instant};
//! use tiebreak_sync::interrupts::Client;
//!
//! match Client::connect() {
//!     Ok(client) => {
//!         let ticket = client.begin();
//!         // Other work fits in here; `client.poll(&ticket)` asks without waiting.
//!         match client.wait(&ticket, Some(Instant::now() + Duration::from_secs(1))) {
//!             Ok(is_done) => println!("all have passed a fence: {is_done}"),
//!             Err(stale) => println!("{stale}"),
//!         }
//!     }
//!     Err(unavailable) => println!("{unavailable}"),
//! }
//! ```
//!
//! where no daemon runs prints:
//!
//! ```text
//! no barrierd listens at /run/barrierd/socket: No such file or directory (os error 2); start one
//! with `barrierd run`, as root
//! ```
//!
//! # The theorem
//!
//! Let a reader do `store X; load Y`, with nothing in between but the compiler's word not to swap
//! them, on any CPUs of the ticket's set. Let another thread do `store Y; t = begin()`, and once
//! `poll(&t)` is `Ok(true)`, `load X`. Then at least one of them sees the other's store.
//!
//! # The argument
//!
//! Of x86-TSO we need: each CPU's stores become visible to all others in the order of its program;
//! a locked instruction or fence first makes visible what its CPU has stored before; nothing that
//! comes after it is loaded before.
//!
//! 1. Each run of a program exchanges the CPU's word, by a locked instruction. Call that the run's
//!    *fence*. It is on that CPU, between two instructions of whatever was interrupted or switched.
//! 2. `begin` is a full fence, then a look at the clock (or at the counts of all slots). So the
//!    store to Y is visible before the time is read, or the counts are.
//! 3. If a fence lies between X and Y, the reader has a fence, the other has one, and the theorem
//!    is that of store buffering. Every context switch has one, so what remains is X and Y on one
//!    CPU c with no run in between.
//! 4. *The stamp of c is later than the ticket.* The program reads the clock and then executes the
//!    fence, as what it exchanges depends on the time. By *later* we mean by more than clocks of
//!    two CPUs may differ, so the fence came after Y was visible. If X and Y come after the fence,
//!    the load of Y sees the store. If they come before, X was visible at the fence, and so it is
//!    to us, who have seen the fence's result. By the counts, what
//!    we have seen is not the fence but the count's store, which the program does before it. The
//!    count changed after it was looked at, hence after Y was visible, and the fence comes
//!    after that: if X and Y come after the fence, the load of Y sees the store. If X and Y come
//!    before the run, X was stored before the count, and stores become visible in their order: who
//!    has seen the count sees X. No clock is needed.
//! 5. *c is idle, seen after the ticket's fence.* The word says so from the fence of the switch to
//!    the idle task until that of the switch away from it, and no reader runs on c in between. X
//!    and Y before the first fence: X was visible at it. After the second: it comes after we saw
//!    the word, hence after Y was visible, and the load of Y comes after it.
//! 6. *c is offline*: the daemon saw the slot at a value and then that c was offline; the slot
//!    still has this value. A CPU that comes up switches tasks before it runs any program of a
//!    user, which changes the slot. So it is as in 5. That includes CPUs which never were online.
//! 7. *A thread that owns c checked in*: its locked instruction is as good as a run's fence, after
//!    Y was visible since the word was looked at after that; no other reader runs on c.
//!
//! # What is assumed, and who must hold it
//!
//! - The CPU keeps x86-TSO. On others [`Client::connect`] refuses.
//! - The program on context switches stays attached while its flags are trusted. The daemon alone
//!   keeps it so, and says that it lives by a robust futex in its page, which its thread holds. The
//!   kernel takes the thread's number out of that word when the thread dies by whatever means, in
//!   `exit_mm`, before `exit_files` closes the descriptor that keeps the program attached; a daemon
//!   that ends in order does both in this order too. A client looks at the word after it has looked
//!   at all flags, and x86 loads in order. If the word still names the thread, the program was
//!   attached when the flags were read; if not, the barrier is not complete, whatever they say. A
//!   switch that runs no program has seen the program detached, hence comes after that look. So
//!   what is loaded in the thread that it begins is loaded after Y was visible.
//! - The kernel can write the word. The list by which it finds it, and the word, are in shared
//!   memory that is locked: what kills for want of memory reaps private memory of a process before
//!   its end, and no shared one.
//! - Tickets by the clock: clocks differ by at most the margin. The daemon measures an upper bound
//!   between the CPUs that are online when it starts, and says which were not: their stamps are
//!   not compared. That a CPU which goes and comes back has its old clock, the kernel holds. What
//!   is measured is the clock that processes read; programs in the kernel read one that is
//!   switched over slightly later whenever the kernel corrects its rate, and goes on at the old
//!   rate until then. The margin has 10 us for that: enough for 500 ppm, the most that time daemons
//!   set, over 20 ms. The kernel promises no bound. The daemon withdraws the margin when the kernel
//!   changes its clock, or a CPU that it did not survey comes up; it sees that within a second, 50
//!   ms while somebody waits. Then, and in another time namespace, tickets go by counts.
//! - Tickets by counts: nothing of clocks. Those of [`barrier`](crate::barrier) are of this kind.
//! - What listens is a daemon. Who may write to `/run`, and to the socket's folder there, holds
//!   that: root, or the user of its own under which the system's manager starts the daemon. For
//!   other places see [`Client::connect_to`].
//! - A thread that checks in owns its CPU. The caller of [`CheckIns::attend`] holds that.
//!
//! How long it takes is no matter of safety: if a CPU is silent for 100 ms, or the daemon has
//! ended, [`Client::poll`] says so, and the caller takes another way.

mod check_in;
mod client;
mod connect;
mod cpu_set;
mod errors;
pub mod layout;
#[cfg(all(test, target_arch = "x86_64", not(any(miri, loom))))]
pub(crate) mod made;
mod mapping;
mod progress;
mod sleep;
mod ticket;
mod view;

pub use check_in::{Attendance, CheckIns, NotAttended};
pub use client::Client;
pub(crate) use cpu_set::allowed;
pub use cpu_set::{CpuSet, NotCpus};
pub use errors::{Stale, Unavailable};
pub use ticket::{Ticket, VirtualTicket};
pub use view::Age;
