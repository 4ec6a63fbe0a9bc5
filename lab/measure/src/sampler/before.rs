//! What is checked, and prepared, before a program runs.

use crate::error::StartError;
use crate::image::Image;
use crate::program;
use crate::words;
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use tiebreak_core::plan::{Contestant, Plan, ProgramPlan};
use tiebreak_machine::cpus;

/// Returns the folder that each contestant runs in, if it is not the current one: its own, or the
/// run's.
pub(super) fn directories(plan: &Plan) -> Result<Vec<Option<PathBuf>>, StartError> {
    let of_run = plan.program.directory.as_deref();
    check_directory(of_run)?;
    let of_each = plan.contestants.iter().map(|each| each.directory.as_deref().or(of_run));
    of_each.map(check_directory).collect()
}

fn check_directory(directory: Option<&str>) -> Result<Option<PathBuf>, StartError> {
    let Some(directory) = directory else {
        return Ok(None);
    };
    let path = PathBuf::from(directory);
    match std::fs::read_dir(&path) {
        Err(reason) if reason.kind() != io::ErrorKind::PermissionDenied => {
            Err(StartError::Directory { path, reason })
        }
        // A folder that cannot be listed may still be entered: the launcher tries.
        _ => Ok(Some(path)),
    }
}

pub(super) fn open_null() -> Result<File, StartError> {
    let opened = File::options().read(true).write(true).open("/dev/null");
    opened.map_err(|reason| StartError::Launcher { doing: "/dev/null cannot be opened", reason })
}

pub(super) fn check_input(plan: &ProgramPlan) -> Result<(), StartError> {
    let Some(input) = &plan.input else {
        return Ok(());
    };
    let check = || {
        // Checked before it is opened: opening a pipe waits for its writer.
        let kind = std::fs::metadata(input)?;
        if kind.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        if !kind.is_file() {
            return Err(io::Error::other(
                "it is not a regular file, so two runs would not read the same from it",
            ));
        }
        File::open(input).map(drop)
    };
    check().map_err(|reason| StartError::Input { path: PathBuf::from(input), reason })
}

/// Returns the CPUs that contestants may run on.
pub(super) fn check_cpus(wanted: &[usize], allowed: &[usize]) -> Result<Vec<usize>, StartError> {
    if let Some(&cpu) = wanted.iter().find(|cpu| !allowed.contains(cpu)) {
        return Err(StartError::CpuNotAllowed { cpu, allowed: cpus::format_list(allowed) });
    }
    let mut cpus = if wanted.is_empty() { allowed } else { wanted }.to_vec();
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// Returns a contestant's program and arguments, and adds the files that they name to `files`.
pub(super) fn image(
    contestant: &Contestant,
    plan: &ProgramPlan,
    directory: Option<&Path>,
    files: &mut Vec<PathBuf>,
) -> Result<Image, StartError> {
    let split = |command: &str| {
        let failed = |reason| StartError::Words { command: command.to_owned(), reason };
        words::split(command).map_err(failed)
    };
    let (words, named) = match &plan.shell {
        None => {
            let words = split(&contestant.command)?;
            let named = words[1..].to_vec();
            (words, named)
        }
        Some(shell) => {
            let mut words = split(shell)?;
            words.extend(["-c".to_owned(), contestant.command.clone()]);
            // Only the shell can determine its words with certainty; this finds the plain ones.
            (words, contestant.command.split_whitespace().map(str::to_owned).collect())
        }
    };
    let path = program::resolve(&words[0], directory)?;
    let at = |word: &String| directory.map_or_else(|| word.into(), |folder| folder.join(word));
    files.push(path.clone());
    if plan.shell.is_some() {
        files.extend(named.first().and_then(|word| program::resolve(word, directory).ok()));
    }
    files.extend(named.iter().map(at).filter(|path: &PathBuf| path.is_file()));
    let command = || contestant.command.replace('\0', "?");
    Image::new(&path, &words).map_err(|_| StartError::ZeroByte { command: command() })
}

pub(super) fn without_repetition(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(file.clone()));
    files
}
