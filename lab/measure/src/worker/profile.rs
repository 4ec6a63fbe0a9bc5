//! Where a contestant spends its time: what a call takes, and the addresses at which a timer finds
//! it.

use super::checking::buffers;
use super::library::Contestant;
use super::meters::Meters;
use super::state::Prepared;
use crate::system::checked;
use crate::wire::area::{Area, UNKNOWN, WORKER_ITSELF};
use crate::wire::message::{Place, Profile, Profiled, Side, Trouble};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long calls are timed, and how long the timer looks at them.
const TIMED: Duration = Duration::from_millis(300);
const LOOKED_AT: Duration = Duration::from_millis(1500);
const LOOKED_AT_MOST: Duration = Duration::from_secs(15);
/// The time between two looks. It is no part of a tick of the kernel, so that looks do not fall
/// together with what happens at ticks.
const LOOK_US: i64 = 997;
/// Calls between two readings of the clock take about so long.
const STRETCH: Duration = Duration::from_millis(2);
/// The most looks.
const PLACES: usize = 4096;

/// The addresses that were found, how many there are, and whether a call runs.
static FOUND: [AtomicUsize; PLACES] = [const { AtomicUsize::new(0) }; PLACES];
static COUNT: AtomicUsize = AtomicUsize::new(0);
static IS_RUNNING: AtomicBool = AtomicBool::new(false);

/// Loads a contestant, prepares it, and calls it for about two seconds: first between two readings
/// of clock and counters, then under a timer. Resets are part of neither.
///
/// # Errors
/// Fails if a system call fails, or if the contestant cannot be loaded or prepared.
pub(super) fn profile(
    profile: &Profile,
    area: &'static Area,
    [input]: [OwnedFd; 1],
) -> Result<Profiled, Trouble> {
    let header = area.header();
    header.enter(0);
    let contestant = Contestant::load(Path::new(&profile.object))?;
    let (input, output) = buffers(&contestant, &profile.input, Side::Front, input)?;
    let has_output = output.bytes + contestant.output_slack_bytes() > 0;
    let place = if has_output { output.start().as_ptr() } else { null_mut() };
    // SAFETY: the buffers outlive the state.
    let prepared = unsafe {
        Prepared::with_output(contestant, &profile.input, input.start().as_ptr(), place)?
    };
    let calls = stretch(&prepared);
    let mut meters = Meters::open(false);
    meters.count();
    let mut record = meters.record();
    let (mut timed, mut timed_ns) = (0, 0);
    let begun = Instant::now();
    while begun.elapsed() < TIMED || timed == 0 {
        prepared.reset();
        meters.begin();
        let started = Instant::now();
        (0..calls).for_each(|_| _ = prepared.run());
        timed_ns += started.elapsed().as_nanos() as u64;
        meters.end(&mut record);
        timed += calls;
    }
    let places = look_at(&prepared, calls)?;
    prepared.release();
    header.enter(WORKER_ITSELF);
    let known = |count: u64| (count != UNKNOWN).then_some(count);
    Ok(Profiled {
        calls: timed,
        timed_ns,
        cycles: known(record.counts.cycles),
        instructions: known(record.counts.instructions),
        places,
    })
}

/// Returns how many calls take about as long as a stretch; one if each needs a reset.
fn stretch(prepared: &Prepared) -> u64 {
    let (mut calls, has_reset) = (1, prepared.contestant.facts().has_reset);
    loop {
        let begun = Instant::now();
        (0..calls).for_each(|_| _ = prepared.call());
        if has_reset || begun.elapsed() >= STRETCH {
            return calls;
        }
        calls *= 2;
    }
}

/// Calls it under a timer, and returns where the timer found it, by the file that lies there.
fn look_at(prepared: &Prepared, calls: u64) -> io::Result<Vec<Place>> {
    type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
    let handler: Handler = look;
    // SAFETY: the structures are valid, all zeros being a valid action; the handler only writes
    // into atomics.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        checked(libc::sigaction(libc::SIGALRM, &raw const action, null_mut()))?;
    }
    set_timer(LOOK_US)?;
    let (begun, mut ran) = (Instant::now(), Duration::ZERO);
    // Of one whose resets take most of the time, less has to do.
    while ran < LOOKED_AT && begun.elapsed() < LOOKED_AT_MOST {
        prepared.reset();
        let started = Instant::now();
        IS_RUNNING.store(true, Ordering::Relaxed);
        (0..calls).for_each(|_| _ = prepared.run());
        IS_RUNNING.store(false, Ordering::Relaxed);
        ran += started.elapsed();
    }
    set_timer(0)?;
    let count = COUNT.load(Ordering::Relaxed).min(PLACES);
    let addresses = FOUND[..count].iter().map(|found| found.load(Ordering::Relaxed) as u64);
    places(addresses, &std::fs::read_to_string("/proc/self/maps")?)
}

fn set_timer(every_us: i64) -> io::Result<()> {
    let every = libc::timeval { tv_sec: 0, tv_usec: every_us };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: the structure is valid.
    checked(unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, null_mut()) })?;
    Ok(())
}

/// Notes where the thread was.
extern "C" fn look(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    if !IS_RUNNING.load(Ordering::Relaxed) || context.is_null() {
        return;
    }
    // SAFETY: the kernel passes the context of the thread that it interrupted.
    let context = unsafe { &*context.cast::<libc::ucontext_t>() };
    #[cfg(target_arch = "x86_64")]
    let address = context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
    #[cfg(target_arch = "aarch64")]
    let address = context.uc_mcontext.pc as usize;
    let index = COUNT.fetch_add(1, Ordering::Relaxed);
    if let Some(place) = FOUND.get(index) {
        place.store(address, Ordering::Relaxed);
    }
}

/// Returns the places of addresses in the files that a process has mapped.
fn places(addresses: impl Iterator<Item = u64>, maps: &str) -> io::Result<Vec<Place>> {
    let mapped: Vec<(u64, u64, u64, &str)> = maps.lines().filter_map(mapping).collect();
    let mut found: BTreeMap<(String, u64), u64> = BTreeMap::new();
    for address in addresses {
        let within = mapped.iter().find(|(start, end, ..)| (*start..*end).contains(&address));
        let (file, offset) = match within {
            Some((start, _, offset, file)) => ((*file).to_owned(), address - start + offset),
            None => (String::new(), 0),
        };
        *found.entry((file, offset)).or_default() += 1;
    }
    Ok(found.into_iter().map(|((file, offset), count)| Place { file, offset, count }).collect())
}

/// Reads a line of `/proc/self/maps`: start, end, offset in the file, and the file.
fn mapping(line: &str) -> Option<(u64, u64, u64, &str)> {
    let mut words = line.splitn(6, ' ');
    let (start, end) = words.next()?.split_once('-')?;
    let offset = words.nth(1)?;
    let file = words.nth(2).unwrap_or_default().trim();
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some((number(start)?, number(end)?, number(offset)?, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_in_the_files_that_lie_there() {
        let maps = "\
55d0c0000000-55d0c0001000 r--p 00000000 08:01 1234                       /usr/bin/one file
55d0c0001000-55d0c0003000 r-xp 00001000 08:01 1234                       /usr/bin/one file
7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0                          [vdso]
7ffd00000000-7ffd00002000 rw-p 00000000 00:00 0
";
        let addresses = [0x55d0_c000_1010, 0x7ffc_0000_0004, 0x55d0_c000_1010, 0x10];
        let found = places(addresses.into_iter(), maps).unwrap();
        let found: Vec<_> =
            found.iter().map(|one| (one.file.as_str(), one.offset, one.count)).collect();
        assert_eq!(found, [("", 0, 1), ("/usr/bin/one file", 0x1010, 2), ("[vdso]", 4, 1)]);
    }
}
