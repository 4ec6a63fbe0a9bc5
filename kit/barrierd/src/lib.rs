//! The daemon that knows, for every CPU, the last time it was surely interrupted.
//!
//! Data flows one way. Two [programs](bpf::programs) in the kernel write an array that everybody
//! may map to read, and report to a ring buffer when a CPU has passed what somebody waits for. The
//! [loop](daemon) sleeps on that buffer and on the clients' sockets, writes its [page], and wakes
//! the threads that sleep on a word of it. Clients decide alone, from the array, whether a barrier
//! is complete; nothing that another client does, and nothing that the daemon fails to do, changes
//! that; [one word](held) tells them whether the programs are still attached. The argument is in
//! [`tiebreak_sync::interrupts`].
//!
//! | module | what it has |
//! |---|---|
//! | [`bpf`] | an assembler, the two programs, the system call, the ring |
//! | [`kernel`] | the programs, attached |
//! | [`machine`], [`survey`] | what the system says of CPUs and clocks; a visit to each |
//! | [`page`], [`server`] | what clients read, and how they get it |
//! | [`daemon`] | the loop |
//! | [`privileges`], [`signals`] | what the daemon gives up; how it is asked to end |
//! | [`cli`] | the program's commands |

pub mod bpf;
pub mod cli;
pub mod daemon;
pub mod held;
pub mod kernel;
pub mod machine;
pub mod page;
pub mod privileges;
pub mod server;
pub mod signals;
pub mod survey;

/// What a system call gave; the system's error if that is -1.
fn checked<T: PartialEq + From<i8>>(result: T) -> std::io::Result<T> {
    if result == T::from(-1) { Err(std::io::Error::last_os_error()) } else { Ok(result) }
}
