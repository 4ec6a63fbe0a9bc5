//! Placements linked ahead.

use super::error::BuildError;
use super::link::Linker;
use super::objects;
use super::scratch::Scratch;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use tiebreak_abi::Random;
use tiebreak_core::study::{BuiltForm, Placements};

/// A contestant by its index, and a seed of its placement.
type Wanted = (usize, u64);

/// Placements that were linked and not yet taken. Its files stand in a folder of its own and go
/// with it.
#[derive(Debug)]
pub struct Stock {
    scratch: Scratch,
    forms: Vec<BuiltForm>,
    placements: Placements,
    /// What the placements are drawn from that are used again.
    salt: u64,
    ready: Mutex<HashMap<Wanted, PathBuf>>,
    linked: AtomicUsize,
}

impl Stock {
    /// An empty stock, whose files will stand in a folder of its own in `folder`, from where a
    /// library can be loaded. What stocks left there whose processes were killed is removed.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn new(
        folder: PathBuf,
        forms: Vec<BuiltForm>,
        placements: Placements,
    ) -> Result<Stock, BuildError> {
        Scratch::sweep(&folder);
        let scratch = Scratch::new(&folder)?;
        let (ready, linked) = (Mutex::default(), AtomicUsize::new(0));
        Ok(Stock { scratch, forms, placements, salt: 0, ready, linked })
    }

    /// Draws the placements that are used again from this, so that each run has others. Those of
    /// two contestants differ in any case.
    #[must_use]
    pub fn with_salt(self, salt: u64) -> Stock {
        Stock { salt, ..self }
    }

    /// Links what is wanted, as (contestant, seed), and is not there yet, on as many threads as
    /// there are CPUs; returns when all is there. What is there and not wanted any more goes, but
    /// for [`Placements::Reused`]. To be called while nothing is timed. Each
    /// placement costs 5 to 30 ms of a CPU, a missing contestant nothing.
    ///
    /// # Errors
    /// A link failed; those that did not are kept.
    pub fn ahead(&self, wanted: &[(usize, u64)]) -> Result<(), BuildError> {
        self.forget_unwanted(wanted);
        let missing = self.missing(wanted);
        let threads = thread::available_parallelism().map_or(1, usize::from).min(missing.len());
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(&wanted) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                let path = self.link(wanted)?;
                self.ready().insert(wanted, path);
            }
            Ok(())
        };
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let own = work();
            let ended = others.into_iter().map(|thread| match thread.join() {
                Ok(ended) => ended,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            ended.fold(own, Result::and)
        })
    }

    /// Gives a placement, linked now if it was not linked ahead. The file is the caller's to
    /// remove; the same placement is never given twice, though one of the same seed may be linked
    /// anew. Of [`Placements::Reused`] the file stays, and the seed stands for one of so many.
    ///
    /// # Errors
    /// The link failed.
    pub fn take(&self, contestant: usize, seed: u64) -> Result<PathBuf, BuildError> {
        let wanted = self.reduced((contestant, seed));
        let is_kept = matches!(self.placements, Placements::Reused(_));
        let found = {
            let mut ready = self.ready();
            if is_kept { ready.get(&wanted).cloned() } else { ready.remove(&wanted) }
        };
        if let Some(path) = found {
            return Ok(path);
        }
        let path = self.link(wanted)?;
        if is_kept {
            self.ready().insert(wanted, path.clone());
        }
        Ok(path)
    }

    /// How many placements were linked so far.
    pub fn linked(&self) -> usize {
        self.linked.load(Ordering::Relaxed)
    }

    /// The folder of its files.
    pub fn folder(&self) -> &Path {
        self.scratch.path()
    }

    /// Removes what no coming unit wants, files too: of a contestant that is void, or of an attempt
    /// that failed.
    fn forget_unwanted(&self, wanted: &[Wanted]) {
        if matches!(self.placements, Placements::Reused(_)) {
            return;
        }
        let wanted: HashSet<&Wanted> = wanted.iter().collect();
        for (_, path) in self.ready().extract_if(|one, _| !wanted.contains(one)) {
            // A file that stays goes with the folder.
            let _ = std::fs::remove_file(path);
        }
    }

    /// What is wanted, once each, and is neither there nor beyond the contestants.
    fn missing(&self, wanted: &[Wanted]) -> Vec<Wanted> {
        let ready = self.ready();
        let mut seen = HashSet::new();
        let wanted = wanted.iter().map(|&wanted| self.reduced(wanted));
        let is_linkable = |contestant: usize| {
            self.forms.get(contestant).is_some_and(|form| !objects(form).is_empty())
        };
        let is_missing = |wanted: &Wanted| {
            is_linkable(wanted.0) && !ready.contains_key(wanted) && seen.insert(*wanted)
        };
        wanted.filter(is_missing).collect()
    }

    /// Of placements that are reused there are so many for each contestant.
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

    /// Links one. Names are of equal length, so that no contestant's path is longer than another's.
    fn link(&self, (contestant, seed): Wanted) -> Result<PathBuf, BuildError> {
        let number = self.linked.fetch_add(1, Ordering::Relaxed);
        let name = format!("{number:08x}-{contestant:04x}-{seed:016x}.so");
        let path = self.scratch.path().join(name);
        let form = self.forms.get(contestant);
        let form =
            form.ok_or(BuildError::NoLibrary { language: "a contestant that is not there" })?;
        Linker::link(form, seed, &path)?;
        Ok(path)
    }

    fn ready(&self) -> MutexGuard<'_, HashMap<Wanted, PathBuf>> {
        // What a panicking thread left is whole: values are only ever added or taken.
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
