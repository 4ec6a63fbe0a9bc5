//! How long a probe may take, and who wants to know how far it is.

use super::*;

/// The time that a probe has, the flag that stops it early, and who is told how far it is.
pub struct Budget<'a> {
    begin: Instant,
    length: Duration,
    interrupted: &'a AtomicBool,
    progress: &'a mut dyn FnMut(f64),
}

impl<'a> Budget<'a> {
    /// A budget that begins now. `progress` gets shares from 0 to 1, never while something is being
    /// timed.
    pub fn new(
        length: Duration,
        interrupted: &'a AtomicBool,
        progress: &'a mut dyn FnMut(f64),
    ) -> Budget<'a> {
        Budget { begin: Instant::now(), length, interrupted, progress }
    }

    /// All of it, spent or not.
    pub fn length(&self) -> Duration {
        self.length
    }

    /// What is left; zero once it is spent or the user wants to stop.
    pub fn left(&self) -> Duration {
        if self.is_interrupted() {
            return Duration::ZERO;
        }
        self.length.saturating_sub(self.begin.elapsed())
    }

    /// Whether nothing is left.
    pub fn is_spent(&self) -> bool {
        self.left().is_zero()
    }

    /// Whether the user wants to stop: what there is is kept.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// The flag, for threads that run for long.
    pub fn interrupted(&self) -> &'a AtomicBool {
        self.interrupted
    }

    /// Sleeps a little towards a moment; `false` if it is there, or nothing is left.
    pub fn nap(&self, until: Instant) -> bool {
        let wait = until.saturating_duration_since(Instant::now()).min(self.left());
        std::thread::sleep(wait.min(Duration::from_millis(50)));
        !wait.is_zero()
    }

    /// Tells how far the probe is, as a share of its work, or of its time if that is further.
    pub fn tell(&mut self, done: f64) {
        let spent = self.begin.elapsed().as_secs_f64() / self.length.as_secs_f64().max(1e-9);
        (self.progress)(done.max(spent).clamp(0.0, 1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_leaves_nothing() {
        let flag = AtomicBool::new(false);
        let mut told = Vec::new();
        let mut progress = |share| told.push(share);
        let mut budget = Budget::new(Duration::from_secs(3600), &flag, &mut progress);
        assert!(!budget.is_spent());
        budget.tell(0.5);
        budget.tell(7.0);
        flag.store(true, Ordering::Relaxed);
        assert!(budget.is_spent() && budget.is_interrupted());
        assert_eq!(told, [0.5, 1.0]);
    }
}
