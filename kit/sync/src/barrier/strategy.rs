//! The ways to make every other thread pass a fence.

/// How the heavy side of a barrier reaches the other threads. In the order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strategy {
    /// `membarrier(2)`, private and expedited: an interrupt to each CPU that runs this process.
    PrivateExpedited,
    /// `membarrier(2)`, global and expedited: an interrupt to each CPU that runs a registered
    /// process. Never chosen, since Linux leaves some of them out: see
    /// [`Unsound::LeavesOutCpus`](super::Unsound::LeavesOutCpus).
    GlobalExpedited,
    /// `mprotect(2)` of a page that is in use: the kernel interrupts the others to forget it. Sound
    /// on x86 only, and only where the CPU cannot do that without interrupts.
    Mprotect,
    /// The daemon `barrierd`: wait until every CPU was interrupted. x86 only.
    Interrupts,
    /// `membarrier(2)`, global: waits for the kernel's own grace period, some 10 to 50 ms.
    GlobalUnexpedited,
    /// A full fence on both sides.
    SeqCst,
}

impl Strategy {
    /// All of them, the best first.
    pub const ALL: [Strategy; 6] = [
        Strategy::PrivateExpedited,
        Strategy::GlobalExpedited,
        Strategy::Mprotect,
        Strategy::Interrupts,
        Strategy::GlobalUnexpedited,
        Strategy::SeqCst,
    ];

    /// From its place in [`Strategy::ALL`]. Written out, so that it needs no table.
    #[inline]
    pub(super) const fn from_place(place: u8) -> Option<Strategy> {
        match place {
            0 => Some(Strategy::PrivateExpedited),
            1 => Some(Strategy::GlobalExpedited),
            2 => Some(Strategy::Mprotect),
            3 => Some(Strategy::Interrupts),
            4 => Some(Strategy::GlobalUnexpedited),
            5 => Some(Strategy::SeqCst),
            _ => None,
        }
    }

    /// Its name, for people and for configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Strategy::PrivateExpedited => "membarrier-private-expedited",
            Strategy::GlobalExpedited => "membarrier-global-expedited",
            Strategy::Mprotect => "mprotect",
            Strategy::Interrupts => "barrierd",
            Strategy::GlobalUnexpedited => "membarrier-global-unexpedited",
            Strategy::SeqCst => "seq-cst",
        }
    }

    /// Whether the light side is no instruction.
    pub const fn light_is_free(self) -> bool {
        !matches!(self, Strategy::SeqCst)
    }

    /// Whether a heavy side can be under way while its caller does something else.
    pub const fn is_asynchronous(self) -> bool {
        matches!(self, Strategy::Interrupts)
    }
}

impl core::fmt::Display for Strategy {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_gives_its_strategy_back() {
        for (place, strategy) in Strategy::ALL.into_iter().enumerate() {
            assert_eq!(strategy as usize, place);
            assert_eq!(Strategy::from_place(place as u8), Some(strategy));
        }
        assert_eq!(Strategy::from_place(Strategy::ALL.len() as u8), None);
        assert_eq!(Strategy::from_place(u8::MAX), None);
    }

    #[test]
    fn names_are_different() {
        let mut names = Strategy::ALL.map(Strategy::name);
        names.sort_unstable();
        assert!(names.is_sorted_by(|one, other| one < other), "{names:?}");
    }
}
