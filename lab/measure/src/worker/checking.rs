//! The checking pass: one contestant between guard pages, whose answer is dumped, and which once
//! gets no memory. Then the pass in which it runs on all of its threads at once, and the answer of
//! each is checked.

use super::conduct;
use super::helpers::Helpers;
use super::library::{Contestant, Sink};
use super::memory::{self, Guarded};
use super::state::{Prepared, workload};
use super::unit::beside;
use crate::files::{content, memory_file};
use crate::system::{checked, status_number};
use crate::wire::area::{Area, Header, Touch, WORKER_ITSELF};
use crate::wire::mapping::Mapping;
use crate::wire::message::{Check, ONES, Refusal, Reply, Side, Sizes, Together, ZEROS};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};
use tiebreak_abi::Random;
use tiebreak_machine::cpus;

/// The content of outputs before a run; it must still surround them afterwards.
const FILLING: u8 = 0xa5;

/// A dump of an overwritten output may be this many times as long as the output, plus a constant: a
/// contestant that follows random lengths may write much.
const DUMPED_TIMES: u64 = 8;
const DUMPED_BYTES: u64 = 16 << 20;
/// Fewer than this many further runs precede such a dump.
const RUNS: u64 = 16;

/// Loads the contestant, prepares it on guarded buffers, runs it twice, a reset before each run,
/// lets it dump its answer, and releases it. In the last of these passes it runs once more without
/// memory, unless its table says that it allocates. A touch of foreign memory is recorded in the
/// area; if the hardware detects it, the process ends there.
///
/// # Errors
/// Fails if a system call fails.
pub(super) fn check(check: &Check, [area, input, dump]: [OwnedFd; 3]) -> io::Result<Reply> {
    // The signal handler keeps a pointer to it until the process ends.
    let area: &'static Area = Box::leak(Box::new(Area::map(&area, 0)?));
    let header = area.header();
    header.enter(0);
    let contestant = match Contestant::load(&check.object) {
        Ok(contestant) => contestant,
        Err(refusal) => return Ok(Reply::Refused(0, refusal)),
    };
    header.enter(WORKER_ITSELF);
    let (input, mut output) = buffers(&contestant, &check.input, check.side, input)?;
    if check.side == Side::Flush && is_aligned(&contestant, &input, &output) {
        return Ok(Reply::Skipped);
    }
    memory::install_trap(header, &input, &output)?;
    let has_output = output.bytes() + contestant.output_slack_bytes() > 0;
    let place = if has_output { output.start().as_ptr() } else { std::ptr::null_mut() };
    let workload = workload(&check.input, input.start().as_ptr(), place);
    let mut sink = Sink::new(Some(dump));
    let own_threads = conduct::threads();
    header.enter(0);
    // SAFETY: the table determines what each function takes; the workload outlives the state, and
    // the sink the dump.
    let (checksums, unstarved) = unsafe {
        let state = (contestant.prepare)(&raw const workload);
        if state.is_null() {
            return Ok(Reply::Refused(0, Refusal::NotPrepared));
        }
        let run = |_| {
            if let Some(reset) = contestant.reset {
                reset(state);
            }
            header.enter(0);
            (contestant.run)(state)
        };
        let checksums = [0, 1].map(run);
        if check.noise != 0 {
            overwrite(&mut output, check.noise, run)?;
        }
        let raw = sink.raw();
        (contestant.dump)(state, &raw const raw);
        // The contestant's own threads may be the ones that allocate.
        let is_alone = conduct::threads() <= own_threads;
        let is_last = check.side == Side::Front && check.noise == 0;
        let unstarved = match is_last && !contestant.allocates() {
            true if is_alone => run_starved(header, &contestant, state, checksums[1])?,
            true => Some(THREADS),
            false => None,
        };
        (contestant.release)(state);
        (checksums, unstarved)
    };
    header.enter(WORKER_ITSELF);
    record_stray(header, &output);
    sink.finish()?;
    Ok(Reply::Checked { checksums, unstarved: unstarved.map(str::to_owned) })
}

/// Returns the input, sealed, and the output, filled.
fn buffers(
    contestant: &Contestant,
    sizes: &Sizes,
    side: Side,
    file: OwnedFd,
) -> io::Result<(Guarded, Guarded)> {
    let alignment = contestant.alignment_bytes();
    let (bytes, slack) = (sizes.bytes as usize, contestant.input_slack_bytes());
    let mut input = Guarded::new(bytes, slack, alignment, side)?;
    File::from(file).read_exact_at(input.content(), 0)?;
    input.seal()?;
    let (bytes, slack) = (sizes.output_bytes as usize, contestant.output_slack_bytes());
    let mut output = Guarded::new(bytes, slack, alignment, side)?;
    output.fill(FILLING);
    Ok((input, output))
}

/// Makes some more runs, and then overwrites their output with noise. The limit on files ends a
/// contestant that would now dump for ever.
fn overwrite(output: &mut Guarded, noise: u64, run: impl Fn(u64) -> u64) -> io::Result<()> {
    let mut random = Random::new(noise);
    (0..random.below(RUNS)).map(run).for_each(drop);
    output.content().fill_with(|| match noise {
        ZEROS => 0,
        ONES => u8::MAX,
        _ => random.next_u64() as u8,
    });
    let most = DUMPED_TIMES * output.bytes() as u64 + DUMPED_BYTES;
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: the limits are valid.
    checked(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }).map(drop)
}

fn is_aligned(contestant: &Contestant, input: &Guarded, output: &Guarded) -> bool {
    let alignment = contestant.alignment_bytes();
    let starts = [input, output].map(|buffer| buffer.start().as_ptr() as usize);
    starts.iter().all(|start| start.is_multiple_of(alignment))
}

/// Records bytes that were written around the output where there is no guard page.
fn record_stray(header: &Header, output: &Guarded) {
    let (side, bytes) = match output.stray(FILLING) {
        (0, 0) => return,
        (0, ahead) => (Touch::BEFORE_START, ahead as u64),
        (past, _) => (Touch::PAST_END, past as u64),
    };
    header.record_touch(Touch { place: Touch::OUTPUT, side, access: Touch::WROTE, bytes });
}

/// The least time for which all threads run, and the least number of calls of the first one.
const RUN_MIN: Duration = Duration::from_millis(20);
const CALLS_MIN: u64 = 3;

/// Loads the contestant, prepares it on each of its threads, runs all of them at once, then lets
/// them dump their answers, one after the other: the first one's goes to `dump`, and one that
/// differs from it to `other`. Each thread then releases its own state.
///
/// # Errors
/// Fails if a system call fails.
pub(super) fn together(
    pass: &Together,
    [area, input, dump, other]: [OwnedFd; 4],
) -> io::Result<Reply> {
    let area = Area::map(&area, 0)?;
    let header = area.header();
    if let Some(cpu) = pass.cpu {
        cpus::pin_this_thread(&[cpu as usize])?;
    }
    header.enter(0);
    let contestant = match Contestant::load(&pass.member.object) {
        Ok(contestant) => contestant,
        Err(refusal) => return Ok(Reply::Refused(0, refusal)),
    };
    let mapped = Mapping::input(&input, pass.input.bytes as usize, contestant.input_slack_bytes())?;
    let place = mapped.start().as_ptr().cast_const();
    let count = beside(pass.member.threads);
    let mut helpers = Helpers::start(count, &pass.helpers)?;
    let from = (&pass.input, place);
    // SAFETY: the input is mapped until this function ends, and the helpers end earlier.
    let made = unsafe { Prepared::new(contestant, &pass.input, place, pass.member.padding)? };
    // SAFETY: as above.
    let are_ready = unsafe { helpers.prepare(count, 0, contestant, from, pass.member.padding)? };
    let Some((prepared, _output)) = made.filter(|_| are_ready) else {
        return Ok(Reply::Refused(0, Refusal::NotPrepared));
    };
    let (checksum, is_torn) = run_all(&prepared, &mut helpers, count, header)?;
    let (dump, differing) = (File::from(dump), File::from(other));
    prepared.dump(dump.try_clone()?.into(), Sink::buffer())?;
    let first = content(&dump)?;
    let mut other = None;
    for index in 0..count {
        header.enter(0);
        let file = memory_file()?;
        let theirs = helpers.dump(index, 0, file.try_clone()?)?;
        let answer = content(&file)?;
        if theirs != checksum || answer != first {
            differing.write_all_at(&answer, 0)?;
            other = Some(theirs);
            break;
        }
    }
    helpers.release()?;
    // SAFETY: the state is what this contestant has prepared, and is not used again.
    unsafe { (contestant.release)(prepared.state) };
    header.enter(WORKER_ITSELF);
    Ok(Reply::Together { checksum, other, is_torn })
}

/// Runs all threads at once. Returns the first one's last checksum, and whether any call of any
/// thread gave another one.
fn run_all(
    prepared: &Prepared,
    helpers: &mut Helpers,
    count: usize,
    header: &Header,
) -> io::Result<(u64, bool)> {
    helpers.begin(count, 0)?;
    let begun = Instant::now();
    let mut checksum = prepared.call();
    helpers.wait_until_running(count, begun.elapsed());
    let (mut calls, mut is_torn) = (1, false);
    while calls < CALLS_MIN || begun.elapsed() < RUN_MIN {
        header.enter(0);
        let before = std::mem::replace(&mut checksum, prepared.call());
        is_torn |= before != checksum;
        calls += 1;
    }
    is_torn |= helpers.end(count, checksum)?;
    Ok((checksum, is_torn))
}

/// The memory that the process may still gain: making a few pages writable is not an allocation.
/// The C library asks for more than twice this at a time.
const SLACK_BYTES: usize = 64 << 10;
/// The first size to take; then its halves, down to what the allocator rounds to 16 bytes.
const LARGEST_BYTES: usize = 1 << 30;
/// Below this, every size class of the allocator is requested.
const SMALL_BYTES: usize = 2048;
const STEP_BYTES: usize = 16;

/// Why that call was not made.
const NOT_REPORTED: &str =
    "the kernel does not say how much memory a process has (VmData in /proc/self/status)";
const NO_LIMIT: &str = "the kernel does not keep to a limit on memory (RLIMIT_DATA)";
const THREADS: &str = "its 'prepare' starts threads, which may be what asks for memory";

/// Calls a contestant once more while neither the allocator nor the kernel has memory for it.
/// Records a touch of the heap in the area if the contestant dies in the call, or if its checksum
/// changes. Returns why the call was not made, if it was not.
///
/// # Errors
/// Fails if the limit cannot be set.
fn run_starved(
    header: &Header,
    contestant: &Contestant,
    state: *mut libc::c_void,
    checksum: u64,
) -> io::Result<Option<&'static str>> {
    if let Some(reset) = contestant.reset {
        // SAFETY: the state is what this contestant has prepared.
        unsafe { reset(state) };
    }
    let before = limit()?;
    let Some(used) = used_bytes() else { return Ok(Some(NOT_REPORTED)) };
    set_limit(libc::rlimit { rlim_cur: used + SLACK_BYTES as u64, ..before })?;
    let is_limited = is_limited();
    if is_limited {
        take_all();
        header.record_touch(Touch { place: Touch::HEAP, side: Touch::INSIDE, access: 0, bytes: 0 });
        // SAFETY: the same, and it was reset if it needs that.
        let got = unsafe { (contestant.run)(state) };
        if got == checksum {
            header.clear_touch();
        }
    }
    set_limit(before)?;
    Ok((!is_limited).then_some(NO_LIMIT))
}

/// Returns whether the kernel enforces the limit: it can be configured not to, and some kernels
/// never do.
fn is_limited() -> bool {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let null = std::ptr::null_mut();
    // SAFETY: memory that is mapped, or added to the end of the heap, is not used.
    unsafe {
        libc::mmap(null, 2 * SLACK_BYTES, access, flags, -1, 0) == libc::MAP_FAILED
            && libc::sbrk(2 * SLACK_BYTES as libc::intptr_t) as isize == -1
    }
}

/// Takes all memory that the allocator still has, for good: large pieces first, so that few calls
/// are needed.
fn take_all() {
    let mut bytes = LARGEST_BYTES;
    while bytes > 0 {
        // SAFETY: the memory is not used; only the address is read.
        while !std::hint::black_box(unsafe { libc::malloc(bytes) }).is_null() {}
        bytes = if bytes > SMALL_BYTES { bytes / 2 } else { bytes - STEP_BYTES };
    }
}

/// Returns how much writable private memory the process has, without stacks, as the limit counts
/// it; `None` if the kernel does not report it.
fn used_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(status_number(&status, "VmData:")? * 1024)
}

/// Returns how much writable private memory the process may have.
fn limit() -> io::Result<libc::rlimit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the place is valid for the result.
    checked(unsafe { libc::getrlimit(libc::RLIMIT_DATA, &raw mut limit) }).map(|_| limit)
}

fn set_limit(limit: libc::rlimit) -> io::Result<()> {
    // SAFETY: the limits are valid.
    checked(unsafe { libc::setrlimit(libc::RLIMIT_DATA, &raw const limit) }).map(drop)
}
