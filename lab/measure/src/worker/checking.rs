//! The checking pass: one contestant between guard pages, whose answer is dumped, and which once
//! gets no memory. Then the pass in which it runs on all of its threads at once, and the answer of
//! each is checked.

use super::conduct;
use super::helpers::Helpers;
use super::library::Contestant;
use super::memory::{self, Guarded};
use super::state::Prepared;
use super::unit::{Placed, Unit};
use crate::files::{content, memory_file};
use crate::system::{checked, status_number};
use crate::wire::area::{Area, Header, Touch, WORKER_ITSELF};
use crate::wire::message::{Check, Checked, ONES, Side, Sizes, Together, Trouble, ZEROS};
use crate::worker::library::Sink;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::ptr::null_mut;
use std::time::{Duration, Instant};
use tiebreak_abi::Random;

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
/// area; if the hardware detects it, the process ends there. Returns nothing if a pass at
/// [`Side::Flush`] would be the same as the aligned one.
///
/// # Errors
/// Fails if a system call fails, or if the contestant cannot be loaded or prepared.
pub(super) fn check(
    check: &Check,
    area: &'static Area,
    [input, dump]: [OwnedFd; 2],
) -> Result<Option<Checked>, Trouble> {
    let header = area.header();
    header.enter(0);
    let contestant = Contestant::load(Path::new(&check.object))?;
    header.enter(WORKER_ITSELF);
    let (input, mut output) = buffers(&contestant, &check.input, check.side, input)?;
    let alignment = contestant.alignment_bytes();
    let starts = [&input, &output].map(|buffer| buffer.start().as_ptr());
    if check.side == Side::Flush
        && starts.iter().all(|start| start.addr().is_multiple_of(alignment))
    {
        return Ok(None);
    }
    memory::install_trap(header, &input, &output)?;
    let has_output = output.bytes + contestant.output_slack_bytes() > 0;
    let place = if has_output { starts[1] } else { null_mut() };
    let mut sink = Sink::new();
    let own_threads = conduct::threads();
    header.enter(0);
    // SAFETY: the buffers outlive the state.
    let prepared = unsafe { Prepared::with_output(contestant, &check.input, starts[0], place)? };
    let checksums = [run(&prepared, header), run(&prepared, header)];
    if check.noise != 0 {
        let mut random = Random::new(check.noise);
        for _ in 0..random.below(RUNS) {
            run(&prepared, header);
        }
        overwrite(&mut output, check.noise, random)?;
    }
    prepared.dump(&mut sink, dump)?;
    // The contestant's own threads may be the ones that allocate.
    let is_alone = conduct::threads() <= own_threads;
    let is_last = check.side == Side::Front && check.noise == 0;
    let unstarved = match is_last && !contestant.allocates() {
        true if is_alone => run_starved(header, &prepared, checksums[1])?,
        true => Some(THREADS),
        false => None,
    };
    prepared.release();
    header.enter(WORKER_ITSELF);
    record_stray(header, &mut output);
    Ok(Some(Checked { checksums, unstarved: unstarved.map(str::to_owned) }))
}

fn run(prepared: &Prepared, header: &Header) -> u64 {
    prepared.reset();
    header.enter(0);
    prepared.run()
}

/// Returns the input, sealed, and the output, filled.
pub(super) fn buffers(
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
    output.middle().fill(FILLING);
    Ok((input, output))
}

/// Overwrites the output with noise. The limit on files ends a contestant that would now dump for
/// ever.
fn overwrite(output: &mut Guarded, noise: u64, mut random: Random) -> io::Result<()> {
    output.content().fill_with(|| match noise {
        ZEROS => 0,
        ONES => u8::MAX,
        _ => random.next_u64() as u8,
    });
    let most = DUMPED_TIMES * output.bytes as u64 + DUMPED_BYTES;
    set_limit(libc::RLIMIT_FSIZE, libc::rlimit { rlim_cur: most, rlim_max: most })
}

/// Records bytes that were written around the output where there is no guard page.
fn record_stray(header: &Header, output: &mut Guarded) {
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

/// Runs the one contestant of a unit on all of its threads at once, then lets them dump their
/// answers, one after the other: the first one's goes to `dump`, and one that differs from it to
/// `other`. Each thread then releases its own state.
///
/// # Errors
/// Fails if a system call fails.
pub(super) fn together(unit: &mut Unit, [dump, other]: [OwnedFd; 2]) -> Result<Together, Trouble> {
    let (dump, differing) = (File::from(dump), File::from(other));
    let header = unit.header();
    // The input is bound first, so that it is unmapped last, after the helpers have ended.
    let Some(Placed { input: _input, prepared, mut helpers, .. }) = unit.contestants.pop() else {
        return Err(Trouble::Failed("nothing is loaded".to_owned()));
    };
    let (checksum, is_torn) = run_all(&prepared, &mut helpers, header)?;
    prepared.dump(&mut unit.sink, dump.try_clone()?.into())?;
    let first = content(&dump)?;
    let mut other = None;
    for index in 0..helpers.count() {
        header.enter(0);
        let file = memory_file()?;
        let theirs = helpers.dump(index, file.try_clone()?)?;
        let answer = content(&file)?;
        if theirs != checksum || answer != first {
            differing.write_all_at(&answer, 0)?;
            other = Some(theirs);
            break;
        }
    }
    helpers.release()?;
    prepared.release();
    header.enter(WORKER_ITSELF);
    Ok(Together { checksum, other, is_torn })
}

/// Runs all threads at once. Returns the first one's last checksum, and whether any call of any
/// thread gave another one.
fn run_all(
    prepared: &Prepared,
    helpers: &mut Helpers,
    header: &Header,
) -> Result<(u64, bool), Trouble> {
    header.enter(0);
    helpers.begin()?;
    let begun = Instant::now();
    let mut checksum = prepared.call();
    helpers.wait_until_running(begun.elapsed());
    let (mut calls, mut is_torn) = (1, false);
    while calls < CALLS_MIN || begun.elapsed() < RUN_MIN {
        header.enter(0);
        let before = std::mem::replace(&mut checksum, prepared.call());
        is_torn |= before != checksum;
        calls += 1;
    }
    is_torn |= helpers.end(checksum)?;
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
    prepared: &Prepared,
    checksum: u64,
) -> io::Result<Option<&'static str>> {
    prepared.reset();
    let mut before = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the place is valid for the result.
    checked(unsafe { libc::getrlimit(libc::RLIMIT_DATA, &raw mut before) })?;
    let Some(used) = used_bytes() else { return Ok(Some(NOT_REPORTED)) };
    let most = libc::rlimit { rlim_cur: used + SLACK_BYTES as u64, ..before };
    set_limit(libc::RLIMIT_DATA, most)?;
    let is_limited = is_limited();
    if is_limited {
        take_all();
        header.record_touch(Touch { place: Touch::HEAP, side: Touch::INSIDE, access: 0, bytes: 0 });
        if prepared.run() == checksum {
            header.clear_touch();
        }
    }
    set_limit(libc::RLIMIT_DATA, before)?;
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

fn set_limit(of: libc::__rlimit_resource_t, limit: libc::rlimit) -> io::Result<()> {
    // SAFETY: the limits are valid.
    checked(unsafe { libc::setrlimit(of, &raw const limit) }).map(drop)
}
