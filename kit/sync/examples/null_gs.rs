//! The null-GS trick, as history: does this kernel still put the old base of GS back?
//!
//! Before `rseq(2)` a thread on x86-64 could find out by a single instruction that it had lost its
//! CPU in the meantime. It asked the kernel for a base of GS other than 0 (`arch_prctl`), and
//! before a critical section wrote the null selector to GS, which sets the base to 0. The kernel
//! kept the base that was asked for, not the one in force; so once the thread had lost its CPU and
//! got it back, an access relative to GS went to another address than the thread had meant, and
//! could be made to fail there.
//!
//! It rests on two things: that the null selector resets the base (Intel's processors, and AMD's of
//! late), and that the kernel does not save the base in force (Linux before 5.9, and later where
//! the processor lacks FSGSBASE or the kernel was started with `nofsgsbase`). This program looks at
//! both. It reads its own memory only, and puts everything back. Run it with
//! `cargo run -p tiebreak-sync --example null_gs`.

#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", target_os = "linux"))]
mod trick {
    use std::arch::asm;
    use std::io;
    use std::time::Duration;

    const ARCH_SET_GS: u64 = 0x1001;
    const ARCH_GET_GS: u64 = 0x1004;
    /// Bit of `AT_HWCAP2`: programs may read and write the bases themselves, so the kernel saves
    /// them.
    const FSGSBASE: u64 = 1 << 1;
    /// The base that is asked for: a relative access then meets the second value, not the first.
    const BASE: u64 = 8;
    const VALUES: [u64; 2] = [11, 22];
    const SLEEPS: u32 = 5;

    /// What the program does, step by step.
    pub fn run() -> io::Result<()> {
        if base()? != 0 {
            println!("GS is in use in this process already: nothing is tried");
            return Ok(());
        }
        // SAFETY: it takes a number and gives one.
        let uses_fsgsbase = unsafe { libc::getauxval(libc::AT_HWCAP2) } & FSGSBASE != 0;
        println!("the kernel lets programs set the base (FSGSBASE): {}", answer(uses_fsgsbase));
        println!("at first, a read relative to GS meets {}", named(read()?));
        set_base(BASE)?;
        let outcome = look();
        // Whatever happened: nothing else in this process uses GS.
        set_base(0)?;
        outcome
    }

    fn look() -> io::Result<()> {
        println!("with a base of {BASE} it meets {}", named(read()?));
        write_null_selector();
        let after_null = read()?;
        println!("after the null selector it meets {}", named(after_null));
        if after_null != VALUES[0] {
            println!(
                "So: the trick does not work. On this processor a null selector keeps the base."
            );
            return Ok(());
        }
        let before = switches();
        (0..SLEEPS).for_each(|_| std::thread::sleep(Duration::from_millis(1)));
        let after_switch = read()?;
        let switches = switches() - before;
        println!("after {switches} context switches it meets {}", named(after_switch));
        println!("{}", verdict(switches, after_switch));
        Ok(())
    }

    fn verdict(switches: i64, after_switch: u64) -> &'static str {
        if switches == 0 {
            "So nothing is known: the thread was never switched."
        } else if after_switch == VALUES[1] {
            "So: the trick works. The kernel put back the base that it had been asked for."
        } else {
            "So: the trick does not work. The kernel saved the base in force, 0, and put that back."
        }
    }

    fn answer(is_so: bool) -> &'static str {
        if is_so { "yes" } else { "no" }
    }

    fn named(value: u64) -> &'static str {
        if value == VALUES[0] { "the first value (base 0)" } else { "the second value (base 8)" }
    }

    /// The first of the values, as far as the base of GS is 0.
    fn read() -> io::Result<u64> {
        let base = base()?;
        if base != 0 && base != BASE {
            return Err(io::Error::other(format!(
                "the base of GS is {base:#x}, which this program did not set"
            )));
        }
        let value;
        // SAFETY: the base is 0 or 8, as was just seen, and only this program changes it to
        // anything else; so what is read is one of the two values.
        unsafe {
            asm!(
                "mov {value}, qword ptr gs:[{values}]",
                values = in(reg) &raw const VALUES_IN_MEMORY,
                value = out(reg) value,
                options(nostack, readonly, preserves_flags),
            );
        }
        Ok(value)
    }

    static VALUES_IN_MEMORY: [u64; 2] = VALUES;

    fn write_null_selector() {
        // SAFETY: the null selector may always be loaded, and on x86-64 Linux neither Rust nor the
        // C library uses GS.
        unsafe { asm!("mov gs, {0:x}", in(reg) 0_u64, options(nostack, preserves_flags)) };
    }

    fn base() -> io::Result<u64> {
        let mut base = 0_u64;
        // SAFETY: the kernel writes a number there.
        let status = unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_GET_GS, &raw mut base) };
        if status == 0 { Ok(base) } else { Err(io::Error::last_os_error()) }
    }

    fn set_base(base: u64) -> io::Result<()> {
        // SAFETY: nothing else in this process uses GS.
        let status = unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_SET_GS, base) };
        if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// How often this thread has lost or left its CPU.
    fn switches() -> i64 {
        // SAFETY: plain numbers, which the kernel writes.
        unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
            usage.ru_nvcsw + usage.ru_nivcsw
        }
    }
}

#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", target_os = "linux"))]
fn main() {
    if let Err(error) = trick::run() {
        println!("it cannot be tried here: {error}");
    }
}

#[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64", target_os = "linux")))]
fn main() {
    println!("it was a trick of x86-64 Linux: there is nothing to try here");
}
