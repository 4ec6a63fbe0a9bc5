//! Inspects a library without racing it.

use super::process::{NoReply, Patience, Process, WorkerProgram};
use crate::worker::message::{Reply, Request};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

/// How long loading a library may take.
const TIMEOUT_NS: u64 = 60_000_000_000;

/// The content of a contestant's table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its name, for messages.
    pub name: String,
    /// The CPU features that it needs, spelled as in `/proc/cpuinfo`; this machine has them.
    pub needs: Vec<String>,
    /// Whether something must be reset before each run: then each call is timed separately.
    pub has_reset: bool,
    /// Whether a run allocates memory.
    pub allocates: bool,
    /// Bytes that it may read past the end of its input.
    pub input_slack_bytes: u32,
    /// Bytes that it may write past the end of its output.
    pub output_slack_bytes: u32,
    /// The alignment of its input and output.
    pub alignment_bytes: u32,
}

/// Why a library is not a contestant that can be raced here.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The system's linker refuses it, or it has no table, or one that this version of tiebreak
    /// does not know.
    #[error("'{library}' is not a contestant: {why}")]
    Refused {
        /// The library.
        library: PathBuf,
        /// Why, and what to do.
        why: String,
    },
    /// It needs a feature that this CPU lacks.
    #[error("'{library}' needs the CPU feature '{feature}', which this machine does not have")]
    Needs {
        /// The library.
        library: PathBuf,
        /// The first feature that is missing.
        feature: String,
    },
    /// It kills the process that loads it.
    #[error("'{library}' ended the process that loaded it ({how}){said}")]
    Crashed {
        /// The library.
        library: PathBuf,
        /// The signal or the exit status.
        how: String,
        /// What it wrote to standard error, after a semicolon.
        said: String,
    },
    /// No worker is available.
    #[error("no worker could look at '{library}': {reason}: free memory, or raise the limits")]
    Worker {
        /// The library.
        library: PathBuf,
        /// The error of the system.
        reason: io::Error,
    },
}

/// Loads a contestant in a separate process and returns the content of its table. Costs some
/// milliseconds.
///
/// # Errors
/// Fails if it cannot be raced here; the text says why.
pub fn probe(library: &Path, program: &WorkerProgram) -> Result<Facts, LoadError> {
    let path = || library.to_owned();
    let failed = |reason| LoadError::Worker { library: path(), reason };
    let mut process = Process::start(program, 0).map_err(failed)?;
    let patience = Patience { interrupted: None, timeout_ns: TIMEOUT_NS, area: None };
    let request = Request::Probe(absolute(library));
    let table = match process.ask(&request, &[], &patience) {
        Ok(Reply::Table(table)) => table,
        Ok(Reply::Refused(_, refusal)) => {
            let why = refusal.sentence();
            return Err(LoadError::Refused { library: path(), why });
        }
        Ok(other) => return Err(failed(io::Error::other(format!("it answered {other:?}")))),
        Err(NoReply::Lost(error)) => return Err(failed(error)),
        Err(no_reply) => {
            let said = process.said();
            let said = if said.is_empty() { said } else { format!("; it said: {said}") };
            return Err(LoadError::Crashed { library: path(), how: how(&no_reply), said });
        }
    };
    let needs: Vec<String> = list(&table.needs).collect();
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if let Some(feature) = missing(&needs, &cpuinfo) {
        return Err(LoadError::Needs { library: path(), feature: feature.to_owned() });
    }
    Ok(Facts {
        name: table.name,
        needs,
        has_reset: table.has_reset,
        allocates: table.allocates,
        input_slack_bytes: table.input_slack_bytes,
        output_slack_bytes: table.output_slack_bytes,
        alignment_bytes: table.alignment_bytes,
    })
}

/// Describes how a process ended.
pub(crate) fn how(no_reply: &NoReply) -> String {
    match no_reply {
        NoReply::Interrupted => "interrupted".to_owned(),
        NoReply::Hung => "it did not come back".to_owned(),
        NoReply::Lost(error) => error.to_string(),
        NoReply::Ended(status) => match (status.signal(), status.code()) {
            (Some(signal), _) => format!("signal {signal}"),
            (None, code) => format!("status {}", code.unwrap_or_default()),
        },
    }
}

/// Makes a path absolute: the linker searches its own folders for a name without a slash.
pub(crate) fn absolute(library: &Path) -> PathBuf {
    std::path::absolute(library).unwrap_or_else(|_| library.to_owned())
}

fn list(needs: &str) -> impl Iterator<Item = String> {
    needs.split(',').map(|feature| feature.trim().to_owned()).filter(|feature| !feature.is_empty())
}

/// Returns the first feature that the text of `/proc/cpuinfo` does not name; `None` if the text
/// names no features, because then they are unknown.
fn missing<'a>(needs: &'a [String], cpuinfo: &str) -> Option<&'a str> {
    let line = cpuinfo.lines().find_map(|line| {
        let (name, values) = line.split_once(':')?;
        matches!(name.trim(), "flags" | "Features").then_some(values)
    })?;
    let has = |feature: &str| line.split_ascii_whitespace().any(|word| word == feature);
    needs.iter().map(String::as_str).find(|feature| !has(feature))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_looked_up_as_whole_words() {
        let x86 = "processor\t: 0\nflags\t\t: fpu avx avx2 bmi2\nbugs\t: x\n";
        let arm = "processor : 0\nFeatures\t: fp asimd sve\n";
        let check = |needs: &str, cpuinfo: &str, expected: Option<&str>| {
            let needs: Vec<String> = list(needs).collect();
            assert_eq!(missing(&needs, cpuinfo), expected, "{needs:?}");
        };
        check("", x86, None);
        check("avx2, bmi2,", x86, None);
        check("avx2,avx512f,none", x86, Some("avx512f"));
        check("bmi", x86, Some("bmi"));
        check("sve", arm, None);
        check("avx2", arm, Some("avx2"));
        check("avx2", "", None);
    }
}
