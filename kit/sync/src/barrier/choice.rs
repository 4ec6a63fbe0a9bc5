//! Which strategy works here, and why no better one does.

use super::{Reason, Refused, Strategy, fork, interrupts, membarrier, page, soundness};
use crate::published::Published;

/// What was chosen for a process, once, and what was refused.
///
/// Printed, it is one line for a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The strategy in force.
    pub active: Strategy,
    /// The better ones, the best first, each with the reason why it is not.
    pub refused: Vec<Refused>,
}

impl core::fmt::Display for Choice {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "barrier: {}", self.active)?;
        for (place, refused) in self.refused.iter().enumerate() {
            let separator = if place == 0 { "; refused: " } else { ", " };
            write!(formatter, "{separator}{refused}")?;
        }
        Ok(())
    }
}

static CHOICE: Published<Choice> = Published::none();

/// The choice of this process, made at the first call.
pub(super) fn of_this_process() -> &'static Choice {
    CHOICE.get_or_make(|| choose(prepare))
}

/// The best strategy that can be made ready.
fn choose(prepare: impl Fn(Strategy) -> Result<(), Reason>) -> Choice {
    let mut refused = Vec::new();
    for strategy in Strategy::ALL {
        match prepare(strategy) {
            Ok(()) => return Choice { active: strategy, refused },
            Err(reason) => refused.push(Refused { strategy, reason }),
        }
    }
    Choice { active: Strategy::SeqCst, refused }
}

/// Makes a strategy ready, and does its heavy side once; not unless it is known to be a barrier.
pub(super) fn prepare(strategy: Strategy) -> Result<(), Reason> {
    if !cfg!(any(loom, miri)) {
        soundness::check(strategy).map_err(Reason::Unsound)?;
    }
    prepare_unchecked(strategy)
}

/// The same, whether or not it is a barrier.
pub(super) fn prepare_unchecked(strategy: Strategy) -> Result<(), Reason> {
    if strategy == Strategy::SeqCst {
        return Ok(());
    }
    if cfg!(any(loom, miri)) {
        return Err(Reason::Model);
    }
    fork::install()?;
    match strategy {
        Strategy::Mprotect => page::prepare(),
        Strategy::Interrupts => interrupts::prepare(),
        _ => membarrier::prepare(strategy),
    }?;
    fork::remember(strategy);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPERM: Reason = Reason::Errno { call: "membarrier(QUERY)", errno: libc::EPERM };

    fn choose_from(ready: &[Strategy]) -> Choice {
        choose(|strategy| if ready.contains(&strategy) { Ok(()) } else { Err(EPERM) })
    }

    #[test]
    fn the_best_that_is_ready_is_chosen_and_the_better_ones_are_named() {
        for (place, strategy) in Strategy::ALL.into_iter().enumerate() {
            let choice = choose_from(&[Strategy::SeqCst, strategy]);
            assert_eq!(choice.active, strategy);
            let refused: Vec<_> = choice.refused.iter().map(|refused| refused.strategy).collect();
            assert_eq!(refused, Strategy::ALL[..place]);
        }
    }

    #[test]
    fn nothing_ready_means_fences() {
        assert_eq!(choose_from(&[]).active, Strategy::SeqCst);
    }

    #[test]
    fn it_is_printed_on_one_line() {
        let print = |ready: Strategy, reason: Reason| {
            let prepare = |one| if one == ready { Ok(()) } else { Err(reason) };
            choose(prepare).to_string()
        };
        assert_eq!(
            print(Strategy::PrivateExpedited, EPERM),
            "barrier: membarrier-private-expedited"
        );
        assert_eq!(
            print(Strategy::Mprotect, Reason::NotOffered),
            "barrier: mprotect; refused: \
             membarrier-private-expedited: this kernel does not offer it, \
             membarrier-global-expedited: this kernel does not offer it"
        );
        let with_errno = print(Strategy::SeqCst, EPERM);
        // How the library words an error is its own affair: Miri's differs.
        let error = std::io::Error::from_raw_os_error(libc::EPERM);
        assert!(with_errno.contains(&format!("membarrier(QUERY): {error}")), "{with_errno}");
        assert_eq!(with_errno.lines().count(), 1);
    }

    #[test]
    fn threads_that_choose_at_once_agree() {
        let addresses: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| core::ptr::from_ref(of_this_process()).addr()))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(addresses.iter().all(|address| *address == addresses[0]));
    }
}
