//! Where threads may run.

/// The CPUs on which this thread may run, in ascending order; none if the kernel does not say.
pub fn allowed_cpus() -> Vec<usize> {
    // SAFETY: a set of CPUs is an array of numbers, for which zero is valid.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes no more than the given length.
    if unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } != 0 {
        return Vec::new();
    }
    // SAFETY: every index is below the number of bits.
    (0..libc::CPU_SETSIZE as usize).filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &set) }).collect()
}

/// Keeps this thread on some of its CPUs; if that is refused, it stays where it is.
pub fn keep_to(cpus: &[usize]) -> bool {
    // SAFETY: as above.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for cpu in cpus {
        // SAFETY: the numbers are those of CPUs, and checked against the size of the set.
        unsafe { libc::CPU_SET(*cpu, &mut set) };
    }
    // SAFETY: the kernel reads no more than the given length.
    unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) == 0 }
}
