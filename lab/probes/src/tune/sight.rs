//! Looks at a machine, and writes the commands that change a file and put it back.

use super::*;
use std::ffi::CString;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::str::FromStr;
use tiebreak_machine::tree::explain;
use tiebreak_report::text::{each_once, shell_quote};

/// Where the kernel describes CPUs.
pub(super) const FOLDER: &str = "/sys/devices/system/cpu";

/// Some CPUs.
pub(super) type Cpus = BTreeSet<usize>;

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
    /// Whether a hardware counter opens: a machine may have none.
    pub(super) has_counters: bool,
}

/// Returns the text of a file, without the white space around it.
pub(super) fn text(tree: &Tree, file: &str) -> Outcome<String> {
    match std::fs::read(tree.path(file)) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim().to_owned()),
        Err(why) if why.kind() == ErrorKind::NotFound => Err(Found::absent(format!("no {file}"))),
        Err(error) => Err(Found::unknown(format!("{file}: {}", explain(&error, "run as root")))),
    }
}

/// Returns the number in a file that holds one.
pub(super) fn number<T: FromStr>(tree: &Tree, file: &str) -> Outcome<T> {
    let text = text(tree, file)?;
    text.parse().map_err(|_| Found::holds(file, &text))
}

/// Returns the CPUs in a file that holds a list of them; `(null)` is none.
pub(super) fn list_of(tree: &Tree, file: &str) -> Outcome<Cpus> {
    let text = text(tree, file)?;
    let list = parse_list(if text == "(null)" { "" } else { &text });
    list.map(Cpus::from_iter).ok_or_else(|| Found::holds(file, &text))
}

/// Returns the file, or each of those that the pattern means, with its text.
pub(super) fn each(tree: &Tree, pattern: &str) -> Outcome<Vec<(String, String)>> {
    let files = tree.matching(pattern);
    if files.is_empty() {
        return Err(Found::absent(format!("no {pattern}")));
    }
    files.into_iter().map(|file| text(tree, &file).map(|text| (file, text))).collect()
}

/// Returns the CPUs that the kernel keeps free of other tasks or of its tick.
///
/// # Errors
/// There are none, or what the kernel says is not understood.
pub(super) fn isolated(tree: &Tree) -> Outcome<Cpus> {
    let mut all = Cpus::new();
    for name in ["isolated", "nohz_full"] {
        match list_of(tree, &format!("{FOLDER}/{name}")) {
            Ok(cpus) => all.extend(cpus),
            Err(lack) if lack.standing == Standing::Absent => {}
            Err(unknown) => return Err(unknown),
        }
    }
    if all.is_empty() { Err(Found::absent("no CPU is isolated")) } else { Ok(all) }
}

/// How something stands, and what would change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) standing: Standing,
    /// How it is now, or why that is not known.
    pub(super) now: String,
    pub(super) change: Option<Change>,
}

/// What a look says, or why nothing was found: it then stands as absent or unknown.
pub(super) type Outcome<T = Found> = Result<T, Found>;

impl Found {
    pub(super) fn new(standing: Standing, now: impl Into<String>) -> Found {
        Found { standing, now: now.into(), change: None }
    }

    pub(super) fn fine(now: impl Into<String>) -> Found {
        Found::new(Standing::Fine, now)
    }

    pub(super) fn noisy_if(is_noisy: bool, now: impl Into<String>) -> Found {
        Found::new(if is_noisy { Standing::Noisy } else { Standing::Fine }, now)
    }

    pub(super) fn could_if(could_be_better: bool, now: impl Into<String>) -> Found {
        Found::new(if could_be_better { Standing::Could } else { Standing::Fine }, now)
    }

    /// The machine does not have it.
    pub(super) fn absent(why: impl Into<String>) -> Found {
        Found::new(Standing::Absent, why)
    }

    /// It cannot be read.
    pub(super) fn unknown(why: impl Into<String>) -> Found {
        Found::new(Standing::Unknown, why)
    }

    /// A file holds something that is not known here.
    pub(super) fn holds(file: &str, text: &str) -> Found {
        let line: String = text.lines().next().unwrap_or_default().chars().take(40).collect();
        Found::unknown(format!("{file} holds '{line}', which is not known here"))
    }

    /// With these writes; as it is if there are none, or nothing is to be gained.
    pub(super) fn writing(self, sight: &Sight<'_>, writes: &[Write]) -> Found {
        let is_wanted = self.standing.is_bad() && !writes.is_empty();
        Found { change: is_wanted.then(|| writing(sight.tree, writes)), ..self }
    }

    /// With a command that is no write to a file; as it is if nothing is to be gained.
    pub(super) fn by(self, command: &str, undo: Option<&str>, needs: Needs) -> Found {
        let (command, undo) = (command.to_owned(), undo.map(str::to_owned));
        Found { change: self.standing.is_bad().then_some(Change { command, undo, needs }), ..self }
    }
}

/// More files of one pattern are written in a loop.
const MOST_NAMED: usize = 3;

/// A file that should hold something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Write {
    pub(super) file: String,
    /// What it holds now.
    pub(super) old: String,
    /// What it should hold.
    pub(super) new: String,
}

impl Write {
    pub(super) fn new(file: impl Into<String>, old: impl ToString, new: impl ToString) -> Write {
        Write { file: file.into(), old: old.to_string(), new: new.to_string() }
    }
}

/// Returns the commands for all of these writes together, of which there is one or more: one line
/// does them, another one undoes them, and files of many CPUs are named by a pattern where that
/// means them and no others.
pub(super) fn writing<'a>(tree: &Tree, writes: &'a [Write]) -> Change {
    let needs =
        writes.iter().map(|write| needs(tree, &write.file)).fold(Needs::Nothing, Needs::max);
    let sudo = if needs == Needs::Nothing { "" } else { "sudo " };
    let [command, undo] =
        [|write: &'a Write| &write.new, |write: &'a Write| &write.old].map(|value| {
            let values = each_once(writes.iter().map(value)).into_iter();
            let commands = values.flat_map(|wanted| {
                let files = writes.iter().filter(|write| value(write) == wanted);
                let files: Vec<&str> = files.map(|write| write.file.as_str()).collect();
                commands(tree, &files, &format!("echo {} | {sudo}tee", shell_quote(wanted)))
            });
            commands.collect::<Vec<_>>().join("; ")
        });
    Change { command, undo: Some(undo), needs }
}

/// Commands that do the same with each of these files: those of all CPUs or interrupts by their
/// pattern, those of some in a loop over numbers.
fn commands(tree: &Tree, files: &[&str], tee: &str) -> Vec<String> {
    let mut by_pattern: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for file in files {
        by_pattern.entry(pattern(file)).or_default().push(file);
    }
    let (mut names, mut loops) = (Vec::new(), Vec::new());
    for (pattern, ours) in by_pattern {
        let ends = pattern.split_once('*').filter(|(_, after)| !after.contains('*'));
        match ends.filter(|_| ours.len() > MOST_NAMED) {
            _ if ours.len() > 1 && ours.len() == tree.matching(&pattern).len() => {
                names.push(pattern);
            }
            Some((before, after)) => {
                let numbers = ours.iter().map(|file| &file[before.len()..file.len() - after.len()]);
                let numbers = numbers.collect::<Vec<_>>().join(" ");
                loops.push(format!("for n in {numbers}; do {tee} {before}$n{after}; done"));
            }
            None => names.push(ours.join(" ")),
        }
    }
    let named = (!names.is_empty()).then(|| format!("{tee} {}", names.join(" ")));
    named.into_iter().chain(loops).collect()
}

/// Returns the same file of every CPU, or of every interrupt.
fn pattern(file: &str) -> String {
    let parts = file.split('/').map(|part| match part.trim_end_matches(char::is_numeric) {
        "" if !part.is_empty() => "*",
        "cpu" if part != "cpu" => "cpu*",
        _ => part,
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Returns what it takes to write a file that is there. Nothing is opened: the kernel is only
/// asked.
pub(super) fn needs(tree: &Tree, file: &str) -> Needs {
    let path = CString::new(tree.path(file).as_os_str().as_bytes());
    let Ok(path) = path else { return Needs::Root };
    // SAFETY: the path ends with a zero byte and is only read.
    let error = unsafe { libc::access(path.as_ptr(), libc::W_OK) };
    if error == 0 {
        return Needs::Nothing;
    }
    needs_by(io::Error::last_os_error().raw_os_error())
}

/// Returns a container sees `/sys` and `/proc/sys` mounted read-only; then its own root cannot help
/// either.
pub(super) fn needs_by(errno: Option<i32>) -> Needs {
    if errno == Some(libc::EROFS) { Needs::Host } else { Needs::Root }
}
