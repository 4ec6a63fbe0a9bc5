//! What can be seen of a machine, and what a look at it finds.

use super::*;
use std::io::ErrorKind;
use std::str::FromStr;
use tiebreak_machine::refusal::explain;

/// Where the kernel tells of CPUs.
pub(super) const FOLDER: &str = "/sys/devices/system/cpu";

/// The files, and what no file tells.
#[derive(Debug)]
pub(super) struct Sight<'a> {
    pub(super) tree: &'a Tree,
    pub(super) place: Place,
    pub(super) second: Second,
}

/// What no file tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// How many CPUs this process may use.
    pub(super) cpus_allowed: usize,
    /// Whether a hypervisor is below.
    pub(super) is_virtual: bool,
    /// Whether this process is root's, who may open every counter.
    pub(super) is_root: bool,
    /// Whether a hardware counter opens: a machine may have none, whoever asks.
    pub(super) has_counters: bool,
}

impl Sight<'_> {
    /// The text of a file, without the white space around it.
    pub(super) fn text(&self, file: &str) -> Result<String, Lack> {
        text(self.tree, file)
    }

    /// A file that holds one number.
    pub(super) fn number<T: FromStr>(&self, file: &str) -> Result<T, Lack> {
        let text = self.text(file)?;
        text.parse().map_err(|_| Lack::holds(file, &text))
    }

    /// A file that holds a list of CPUs; `(null)` is none.
    pub(super) fn cpus(&self, file: &str) -> Result<BTreeSet<usize>, Lack> {
        cpus(self.tree, file)
    }

    /// The file, or each of those that the pattern means, with its text.
    pub(super) fn each(&self, pattern: &str) -> Result<Vec<(String, String)>, Lack> {
        let files = self.tree.matching(pattern);
        if files.is_empty() {
            return Err(Lack::Absent(format!("no {pattern}")));
        }
        files.into_iter().map(|file| self.text(&file).map(|text| (file, text))).collect()
    }
}

fn text(tree: &Tree, file: &str) -> Result<String, Lack> {
    match std::fs::read(tree.path(file)) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim().to_owned()),
        Err(why) if why.kind() == ErrorKind::NotFound => Err(Lack::Absent(format!("no {file}"))),
        Err(error) => Err(Lack::Unknown(format!("{file}: {}", explain(&error, "run as root")))),
    }
}

fn cpus(tree: &Tree, file: &str) -> Result<BTreeSet<usize>, Lack> {
    let text = text(tree, file)?;
    let list = parse_list(if text == "(null)" { "" } else { &text });
    list.map(|list| list.into_iter().collect()).ok_or_else(|| Lack::holds(file, &text))
}

/// The CPUs that the kernel keeps free of other tasks or of its tick.
///
/// # Errors
/// There are none, or what the kernel says is not understood.
pub(super) fn isolated(tree: &Tree) -> Result<BTreeSet<usize>, Lack> {
    let mut all = BTreeSet::new();
    for name in ["isolated", "nohz_full"] {
        match cpus(tree, &format!("{FOLDER}/{name}")) {
            Ok(cpus) => all.extend(cpus),
            Err(Lack::Absent(_)) => {}
            Err(unknown) => return Err(unknown),
        }
    }
    if all.is_empty() { Err(Lack::Absent("no CPU is isolated".to_owned())) } else { Ok(all) }
}

/// How something stands, and what would change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) standing: Standing,
    /// How it is now, or why that is not known.
    pub(super) now: String,
    pub(super) change: Option<Change>,
}

/// Why nothing was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    /// The machine does not have it.
    Absent(String),
    /// It cannot be read, or says what is not known here.
    Unknown(String),
}

/// What a look says.
pub(super) type Outcome = Result<Found, Lack>;

impl Found {
    pub(super) fn new(standing: Standing, now: impl Into<String>) -> Found {
        Found { standing, now: now.into(), change: None }
    }

    pub(super) fn fine(now: impl Into<String>) -> Found {
        Found::new(Standing::Fine, now)
    }

    /// With what would change it.
    pub(super) fn changed(self, change: Change) -> Found {
        Found { change: Some(change), ..self }
    }

    /// With these writes.
    pub(super) fn writing(self, sight: &Sight<'_>, writes: &[Write]) -> Found {
        self.changed(writing(sight.tree, writes))
    }

    /// With a command that is no write to a file.
    pub(super) fn by(self, command: &str, undo: Option<&str>, needs: Needs) -> Found {
        let undo = undo.map(str::to_owned);
        self.changed(Change { command: command.to_owned(), undo, needs })
    }
}

impl Lack {
    /// A file says something that nobody here understands.
    pub(super) fn holds(file: &str, text: &str) -> Lack {
        let line: String = text.lines().next().unwrap_or_default().chars().take(40).collect();
        Lack::Unknown(format!("{file} holds '{line}', which is not known here"))
    }
}

impl From<Lack> for Found {
    fn from(lack: Lack) -> Found {
        match lack {
            Lack::Absent(why) => Found::new(Standing::Absent, why),
            Lack::Unknown(why) => Found::new(Standing::Unknown, why),
        }
    }
}
