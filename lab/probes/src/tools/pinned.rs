//! One CPU for the calling thread, for as long as a probe runs.

use super::*;

/// Keeps the calling thread on one CPU; the CPUs that it had come back when this is dropped.
#[derive(Debug)]
pub(crate) struct Pinned {
    before: Vec<usize>,
}

impl Pinned {
    /// Pins the calling thread.
    ///
    /// # Errors
    /// The kernel's: this CPU is not one that this process may use.
    pub(crate) fn to(cpu: usize) -> io::Result<Pinned> {
        let before = cpus::allowed();
        cpus::pin_this_thread(&[cpu])?;
        Ok(Pinned { before })
    }
}

/// How often this thread has lost its CPU so far, and how often it has given it up; 0 where the
/// kernel does not say.
pub(crate) fn switches() -> (u64, u64) {
    // SAFETY: all zero bytes are a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid place for the result.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    (usage.ru_nivcsw as u64, usage.ru_nvcsw as u64)
}

/// Pins the calling thread, or adds a reason why it is not.
pub(crate) fn pinned(cpu: usize, reasons: &mut Vec<String>) -> Option<Pinned> {
    let pinned = Pinned::to(cpu);
    pinned.map_err(|error| reasons.push(format!("could not stay on CPU {cpu}: {error}"))).ok()
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Nothing can be done about a CPU that went away meanwhile.
        let _ = cpus::pin_this_thread(&self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpus_come_back() {
        let before = cpus::allowed();
        let first = before[0];
        let pinned = Pinned::to(first).unwrap();
        assert_eq!(cpus::allowed(), [first]);
        drop(pinned);
        assert_eq!(cpus::allowed(), before);
        assert!(Pinned::to(8191).is_err());
    }
}
