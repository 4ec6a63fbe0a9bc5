//! Placements, made when they are needed or linked ahead, and what their seeds determine.

use super::cache::Scratch;
use super::error::BuildError;
use super::link::Linker;
use super::place::{Placer, Refusal};
use super::{locked, objects};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use tiebreak_abi::Random;
use tiebreak_core::study::{BuiltForm, Placements};

/// A contestant's index, and the seed of its placement.
type Wanted = (usize, u64);

/// Makes placements: without the linker where that is possible, in a millisecond at most; else by
/// the linker, ahead. Their files are in a folder that only this stock uses, and are removed with
/// it.
#[derive(Debug)]
pub struct Stock {
    scratch: Scratch,
    forms: Vec<BuiltForm>,
    /// By contestant, what places it without the linker, read when it is first placed.
    placers: Vec<OnceLock<Result<Arc<Placer>, Refusal>>>,
    placements: Placements,
    /// Determines which placements are reused.
    salt: u64,
    ready: Mutex<HashMap<Wanted, PathBuf>>,
    made: AtomicUsize,
}

impl Stock {
    /// Creates an empty stock, whose files will be in a new folder in `folder`. A library must be
    /// loadable from there. Removes what stocks of killed processes left there.
    ///
    /// # Errors
    /// Fails if the folder cannot be created.
    pub fn new(
        folder: PathBuf,
        forms: Vec<BuiltForm>,
        placements: Placements,
    ) -> Result<Stock, BuildError> {
        Scratch::sweep(&folder);
        let scratch = Scratch::new(&folder)?;
        let (ready, made) = (Mutex::default(), AtomicUsize::new(0));
        let placers = forms.iter().map(|_| OnceLock::new()).collect();
        Ok(Stock { scratch, forms, placers, placements, salt: 0, ready, made })
    }

    /// Draws the reused placements from this salt, so that each run has different ones. Those of
    /// two contestants differ in any case.
    #[must_use]
    pub fn with_salt(self, salt: u64) -> Stock {
        Stock { salt, ..self }
    }

    /// Links the wanted placements, as (contestant, seed), that are missing and need the linker, on
    /// as many threads as there are CPUs, and returns when all exist. Removes those that are not
    /// wanted any more, except with [`Placements::Reused`]. Call it while nothing is timed. Each
    /// costs 5 to 30 ms of a CPU; a missing contestant costs nothing.
    ///
    /// # Errors
    /// Fails if a link fails; the successful ones are kept.
    pub fn ahead(&self, wanted: &[(usize, u64)]) -> Result<(), BuildError> {
        self.forget_unwanted(wanted);
        let missing = self.missing(wanted);
        let threads = thread::available_parallelism().map_or(1, usize::from).min(missing.len());
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(&wanted) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                let path = self.make(wanted)?;
                locked(&self.ready).insert(wanted, path);
            }
            Ok(())
        };
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let own = work();
            let ended = others.into_iter().map(thread::ScopedJoinHandle::join);
            ended.fold(own, |so_far, ended| {
                so_far.and(ended.unwrap_or_else(|panic| resume_unwind(panic)))
            })
        })
    }

    /// Makes those of these placements that are missing, one after the other, if they need no
    /// linker. What cannot be made is reported when it is taken.
    pub fn make_ahead(&self, wanted: &[(usize, u64)]) {
        for wanted in wanted.iter().map(|wanted| self.reduced(*wanted)) {
            let is_there = locked(&self.ready).contains_key(&wanted);
            if !is_there
                && self.placer(wanted.0).is_some()
                && let Ok(path) = self.make(wanted)
            {
                locked(&self.ready).insert(wanted, path);
            }
        }
    }

    /// Returns whether one of these placements is missing and needs the linker.
    pub fn lacks(&self, wanted: &[(usize, u64)]) -> bool {
        !self.missing(wanted).is_empty()
    }

    /// Returns a placement, which is made now if it was not linked ahead. The caller must remove
    /// the file. The same placement is never returned twice, though one with the same seed may be
    /// made again. With [`Placements::Reused`] the file stays, and the seed selects one of that
    /// many.
    ///
    /// # Errors
    /// Fails if the link fails.
    pub fn take(&self, contestant: usize, seed: u64) -> Result<PathBuf, BuildError> {
        let wanted = self.reduced((contestant, seed));
        let is_kept = matches!(self.placements, Placements::Reused(_));
        let found = {
            let mut ready = locked(&self.ready);
            if is_kept { ready.get(&wanted).cloned() } else { ready.remove(&wanted) }
        };
        if let Some(path) = found {
            return Ok(path);
        }
        let path = self.make(wanted)?;
        if is_kept {
            locked(&self.ready).insert(wanted, path.clone());
        }
        Ok(path)
    }

    /// Returns how many placements were made so far.
    pub fn made(&self) -> usize {
        self.made.load(Ordering::Relaxed)
    }

    /// Returns the folder of the stock's files.
    pub fn folder(&self) -> &Path {
        &self.scratch.path
    }

    /// Removes the placements, with their files, that no coming unit wants: those of a contestant
    /// that is void, or of an attempt that failed.
    pub fn forget_unwanted(&self, wanted: &[(usize, u64)]) {
        if matches!(self.placements, Placements::Reused(_)) {
            return;
        }
        let wanted: HashSet<&Wanted> = wanted.iter().collect();
        for (_, path) in locked(&self.ready).extract_if(|one, _| !wanted.contains(one)) {
            // A file that cannot be removed now is removed with the folder.
            let _ = fs::remove_file(path);
        }
    }

    /// Returns the wanted placements, once each, that are missing and whose contestant has to be
    /// linked.
    fn missing(&self, wanted: &[Wanted]) -> Vec<Wanted> {
        let ready = locked(&self.ready);
        let mut missing = Vec::new();
        for wanted in wanted.iter().map(|wanted| self.reduced(*wanted)) {
            let form = self.forms.get(wanted.0);
            let has_objects = form.is_some_and(|form| !objects(form).is_empty());
            let is_linked = has_objects && self.placer(wanted.0).is_none();
            if is_linked && !ready.contains_key(&wanted) && !missing.contains(&wanted) {
                missing.push(wanted);
            }
        }
        missing
    }

    /// Maps a seed to one of the reused placements of its contestant.
    fn reduced(&self, (contestant, seed): Wanted) -> Wanted {
        match self.placements {
            Placements::Reused(count) if seed != 0 => {
                let which = seed % u64::from(count.max(1));
                let own = Random::new(self.salt ^ contestant as u64).next_u64();
                (contestant, Random::new(own.wrapping_add(which)).next_u64() | 1)
            }
            _ => (contestant, seed),
        }
    }

    /// Makes one placement. File names have equal length, so no contestant's path is longer than
    /// another's.
    fn make(&self, (contestant, seed): Wanted) -> Result<PathBuf, BuildError> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let name = format!("{number:08x}-{contestant:04x}-{seed:016x}.so");
        let path = self.scratch.path.join(name);
        let form = self.forms.get(contestant);
        let form =
            form.ok_or(BuildError::NoLibrary { language: "a contestant that is not there" })?;
        let placed = match (form, seed) {
            // As it was built, it is what the linker made of it.
            (BuiltForm::Objects { reference: Some(reference), .. }, 0) => {
                fs::copy(&reference.library, &path).is_ok()
            }
            (_, 0) => false,
            _ => self.placer(contestant).is_some_and(|placer| placer.write(seed, &path).is_ok()),
        };
        if !placed {
            Linker::link(form, seed, &path)?;
        }
        Ok(path)
    }

    /// Returns what places a contestant; `None` if only the linker can.
    fn placer(&self, contestant: usize) -> Option<&Placer> {
        let (placer, form) = (self.placers.get(contestant)?, self.forms.get(contestant)?);
        placer.get_or_init(|| Placer::of(form)).as_deref().ok()
    }
}

/// Tosses a fair coin.
pub(super) fn coin(random: &mut Random) -> bool {
    random.next_u64() >> 63 == 1
}

/// Shuffles the items.
pub(super) fn shuffle<T>(random: &mut Random, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        let other = random.below(last as u64 + 1);
        items.swap(last, other as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_as_likely() {
        let mut counts = [0_u32; 6];
        for seed in 0..6000 {
            let mut items = [0_usize, 1, 2];
            shuffle(&mut Random::new(seed), &mut items);
            counts[items[0] * 2 + usize::from(items[1] > items[2])] += 1;
        }
        // 1000 each; the standard deviation is 29.
        assert!(counts.iter().all(|&count| (880..1120).contains(&count)), "{counts:?}");
    }

    #[test]
    fn coins_are_fair() {
        let mut random = Random::new(1);
        let heads = (0..10_000).filter(|_| coin(&mut random)).count();
        // The standard deviation is 50.
        assert!((4750..5250).contains(&heads), "{heads}");
    }
}
