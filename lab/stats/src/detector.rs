//! When something has changed: an alarm over many runs.

/// A Shiryaev-Roberts detector fed with evidence (an e-detector: Shin, Ramdas and Rinaldo 2023).
///
/// Each run starts a new bet that the change was just before it, and all bets that were started go
/// on: `R_t = (R_(t-1) + 1) e_t`, where `e_t` is what the run's bets against "nothing has changed"
/// have won. As long as nothing has changed, `R_t - t` can be expected not to rise, so runs until
/// an alarm at `R_t >= r` are at least `r` on average, however the runs depend on each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detector {
    value: f64,
    mean_runs: f64,
}

impl Detector {
    /// At least `mean_runs` runs pass on average until a false alarm.
    pub fn new(mean_runs: f64) -> Detector {
        Detector { value: 0.0, mean_runs }
    }

    /// Takes the evidence of a run, at whatever moment it stopped; says whether it raises the
    /// alarm. Evidence that is not a number counts as 0. After an alarm the detector goes on: make
    /// a new one to start afresh.
    pub fn observe(&mut self, evidence: f64) -> bool {
        self.value = ((self.value + 1.0) * evidence.max(0.0)).min(f64::MAX);
        self.is_alarmed()
    }

    /// Whether the alarm is on.
    pub fn is_alarmed(&self) -> bool {
        self.value >= self.mean_runs
    }

    /// `R_t`, to be compared with the mean number of runs.
    pub fn value(&self) -> f64 {
        self.value
    }
}
