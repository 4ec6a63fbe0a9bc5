//! The pass in which one contestant runs on all of its threads at once, and the answer of each is
//! checked.

use super::area::{Area, NOBODY};
use super::helpers::Helpers;
use super::library::Contestant;
use super::memory::Mapping;
use super::message::{Refusal, Reply, Together};
use super::sink::Sink;
use super::state::Prepared;
use super::unit::beside;
use crate::output::memory_file;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};
use tiebreak_machine::cpus;

/// The least time for which all threads run, and the least number of calls of the first one.
const RUN_MIN: Duration = Duration::from_millis(20);
const CALLS_MIN: u64 = 3;
/// Dumps are compared in pieces of this many bytes.
const PIECE_BYTES: usize = 64 << 10;

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
    let (checksum, is_torn) = run(&prepared, &mut helpers, count, || header.enter(0))?;
    let answers = Answers { dump: dump.into(), other: other.into(), checksum };
    let other = answers.look(&prepared, &helpers, count, || header.enter(0))?;
    helpers.release()?;
    // SAFETY: the state is what this contestant has prepared, and is not used again.
    unsafe { (contestant.release)(prepared.state) };
    header.enter(NOBODY);
    Ok(Reply::Together { checksum, other, is_torn })
}

/// Runs all threads at once. Returns the first one's last checksum, and whether any call of any
/// thread gave another one.
fn run(
    prepared: &Prepared,
    helpers: &mut Helpers,
    count: usize,
    beat: impl Fn(),
) -> io::Result<(u64, bool)> {
    helpers.begin(count, 0)?;
    let begun = Instant::now();
    let mut checksum = prepared.call();
    helpers.wait_until_running(count, begun.elapsed());
    let (mut calls, mut is_torn) = (1, false);
    while calls < CALLS_MIN || begun.elapsed() < RUN_MIN {
        beat();
        let before = std::mem::replace(&mut checksum, prepared.call());
        is_torn |= before != checksum;
        calls += 1;
    }
    is_torn |= helpers.end(count, checksum)?.is_torn;
    Ok((checksum, is_torn))
}

/// The files for the answers, and the expected checksum.
struct Answers {
    dump: File,
    other: File,
    checksum: u64,
}

impl Answers {
    /// Lets all threads dump, and returns the checksum of the first that differs from the first
    /// thread.
    fn look(
        &self,
        prepared: &Prepared,
        helpers: &Helpers,
        count: usize,
        beat: impl Fn(),
    ) -> io::Result<Option<u64>> {
        prepared.dump(self.dump.try_clone()?.into(), Sink::buffer())?;
        for index in 0..count {
            beat();
            let file = memory_file()?;
            let checksum = helpers.dump(index, 0, file.try_clone()?)?;
            if checksum != self.checksum || !are_equal(&self.dump, &file)? {
                copy(&file, &self.other)?;
                return Ok(Some(checksum));
            }
        }
        Ok(None)
    }
}

fn are_equal(left: &File, right: &File) -> io::Result<bool> {
    let length = left.metadata()?.len();
    if right.metadata()?.len() != length {
        return Ok(false);
    }
    let [mut here, mut there] = [(); 2].map(|()| vec![0; PIECE_BYTES]);
    for at in (0..length).step_by(PIECE_BYTES) {
        let size = usize::try_from(length - at).unwrap_or(usize::MAX).min(PIECE_BYTES);
        left.read_exact_at(&mut here[..size], at)?;
        right.read_exact_at(&mut there[..size], at)?;
        if here[..size] != there[..size] {
            return Ok(false);
        }
    }
    Ok(true)
}

fn copy(from: &File, to: &File) -> io::Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    let mut at = 0;
    loop {
        let read = from.read_at(&mut piece, at)?;
        if read == 0 {
            return Ok(());
        }
        to.write_all_at(&piece[..read], at)?;
        at += read as u64;
    }
}
