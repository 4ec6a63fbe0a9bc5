//! The ways to make every other thread pass a fence.

/// How the heavy side of a barrier reaches the other threads. In the order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strategy {
    /// `membarrier(2)`, private and expedited: an interrupt to each CPU that runs this process.
    PrivateExpedited,
    /// `membarrier(2)`, global and expedited: an interrupt to each CPU that runs a registered
    /// process.
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
