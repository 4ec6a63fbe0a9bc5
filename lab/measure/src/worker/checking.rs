//! The checking pass: one contestant between guard pages, whose answer is dumped.

use super::area::{Area, NOBODY, Touch};
use super::conduct;
use super::library::Contestant;
use super::memory::{Guarded, Side};
use super::message::{Check, ONES, Reply, Sizes, ZEROS};
use super::sink::Sink;
use super::starved;
use super::state::workload;
use super::trap;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
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
    header.enter(NOBODY);
    let (input, mut output) = buffers(&contestant, &check.input, check.side, input)?;
    if check.side == Side::Flush && is_aligned(&contestant, &input, &output) {
        return Ok(Reply::Skipped);
    }
    trap::set(header, &input, &output)?;
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
            return Ok(Reply::Refused(0, super::message::Refusal::NotPrepared));
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
            true if is_alone => starved::run(header, &contestant, state, checksums[1])?,
            true => starved::THREADS,
            false => 0,
        };
        (contestant.release)(state);
        (checksums, unstarved)
    };
    header.enter(NOBODY);
    tell_stray(header, &output);
    sink.finish()?;
    Ok(Reply::Checked { checksums, unstarved })
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
    match unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn is_aligned(contestant: &Contestant, input: &Guarded, output: &Guarded) -> bool {
    let alignment = contestant.alignment_bytes();
    let address = |buffer: &Guarded| buffer.start().as_ptr() as usize;
    [input, output].iter().all(|buffer| address(buffer).is_multiple_of(alignment))
}

/// Records bytes that were written around the output where there is no guard page.
fn tell_stray(header: &super::area::Header, output: &Guarded) {
    let (past, ahead) = output.stray(FILLING);
    let touch = |side, bytes: usize| Touch {
        place: Touch::OUTPUT,
        side,
        access: Touch::WROTE,
        bytes: bytes as u64,
    };
    if past > 0 {
        header.tell(touch(Touch::PAST_END, past));
    } else if ahead > 0 {
        header.tell(touch(Touch::BEFORE_START, ahead));
    }
}
