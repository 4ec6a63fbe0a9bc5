//! The heavy side as those who reclaim use it: begun, and asked about later.

use crate::barrier::{Barrier, Ticket};
use crate::mutation::{self, Mutation};

/// A heavy side that was begun.
pub(crate) struct Heavy {
    /// None: a fault that a model put in.
    ticket: Option<Ticket>,
    #[cfg(test)]
    polls_left: usize,
}

impl Heavy {
    /// Begins one, unless a model runs with this fault.
    pub(crate) fn begin(barrier: Barrier, fault: Mutation) -> Heavy {
        Heavy {
            ticket: if mutation::is(fault) { None } else { Some(barrier.begin()) },
            #[cfg(test)]
            polls_left: tests::POLLS.get(),
        }
    }

    /// Whether it is complete.
    pub(crate) fn poll(&mut self) -> bool {
        #[cfg(test)]
        if self.polls_left > 0 {
            self.polls_left -= 1;
            return false;
        }
        self.ticket.as_mut().is_none_or(Ticket::poll)
    }

    /// Waits until it is.
    pub(crate) fn wait(self) {
        if let Some(ticket) = self.ticket {
            ticket.wait();
        }
        #[cfg(test)]
        tests::WAITS.set(tests::WAITS.get() + 1);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use core::cell::Cell;

    std::thread_local! {
        /// How often a heavy side that this thread begins says that it is not complete.
        pub(crate) static POLLS: Cell<usize> = const { Cell::new(0) };
        /// How often this thread has waited for one.
        pub(crate) static WAITS: Cell<usize> = const { Cell::new(0) };
    }
}
