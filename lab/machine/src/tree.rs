//! Small text files below a root: `/` on a machine, a folder in a test; and why one cannot be read,
//! in words that a user can act on.

use std::io;
use std::path::{Path, PathBuf};

/// A root above `proc`, `sys` and `etc`.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
}

impl Tree {
    /// Returns the files of this machine.
    pub fn here() -> Tree {
        Tree::at(Path::new("/"))
    }

    /// Returns the tree below a folder.
    pub fn at(root: &Path) -> Tree {
        Tree { root: root.to_owned() }
    }

    /// Returns the path below the root of an absolute path, with or without the first slash.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Reads the whole text, without surrounding white space. `right` names the right to read it.
    ///
    /// # Errors
    /// `FILE: reason`.
    pub fn read(&self, path: &str, right: &str) -> Result<String, String> {
        match std::fs::read(self.path(path)) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim().to_owned()),
            Err(error) => Err(format!("{}: {}", last(path), explain(&error, right))),
        }
    }

    /// Reads a file that contains one decimal number.
    ///
    /// # Errors
    /// As [`Tree::read`], or what stands there instead.
    pub fn read_number(&self, path: &str, right: &str) -> Result<u64, String> {
        let text = self.read(path, right)?;
        text.parse().map_err(|_| format!("{} holds '{text}'", last(path)))
    }

    /// Reads the whole text, without surrounding white space; `None` if it is empty or unreadable.
    pub fn text(&self, path: &str) -> Option<String> {
        self.read(path, "").ok().filter(|text| !text.is_empty())
    }

    /// Reads a file that contains one decimal number.
    pub fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// Returns the bytes in a line such as `MemTotal: 16283484 kB` or `Node 0 MemTotal: 9 kB`.
    pub fn kib_bytes(&self, path: &str, key: &str) -> Option<u64> {
        let key = format!("{key}:");
        let text = self.text(path)?;
        let value = text.lines().find_map(|line| {
            let (before, value) = line.split_once(&key)?;
            (before.is_empty() || before.ends_with(' ')).then_some(value)
        })?;
        value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    }

    /// Returns the names in a folder, sorted.
    ///
    /// # Errors
    /// The reason.
    pub fn read_names(&self, folder: &str) -> Result<Vec<String>, String> {
        let entries = std::fs::read_dir(self.path(folder))
            .map_err(|error| explain(&error, "the folder is closed"))?;
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<_> = names.collect();
        names.sort();
        Ok(names)
    }

    /// Returns the names in a folder, sorted; none if there is no such folder.
    pub fn names(&self, folder: &str) -> Vec<String> {
        self.read_names(folder).unwrap_or_default()
    }

    /// Returns the paths of files that match a pattern, as in a shell: a `*` stands for the rest of
    /// one name. Shorter paths come first, so that numbers are in order.
    pub fn matching(&self, pattern: &str) -> Vec<String> {
        let Some((before, after)) = pattern.split_once('*') else {
            let is_there = self.path(pattern).symlink_metadata().is_ok();
            return is_there.then(|| pattern.to_owned()).into_iter().collect();
        };
        let (folder, start) = before.rsplit_once('/').unwrap_or(("", before));
        let names = self.names(folder).into_iter().filter(|name| name.starts_with(start));
        let found = names.flat_map(|name| self.matching(&format!("{folder}/{name}{after}")));
        let mut found: Vec<String> = found.collect();
        found.sort_by_key(|path| (path.len(), path.clone()));
        found
    }
}

/// Returns the first value of a text of lines `name: value`, such as `/proc/cpuinfo`, that has one
/// of these names.
pub fn field<'a>(text: &'a str, names: &[&str]) -> Option<&'a str> {
    let mut pairs = text.lines().filter_map(|line| line.split_once(':'));
    Some(pairs.find(|(name, _)| names.contains(&name.trim()))?.1.trim())
}

/// Describes the error by its name, with the missing right where the error is about one.
pub fn explain(error: &io::Error, right: &str) -> String {
    let Some(number) = error.raw_os_error() else { return error.to_string() };
    match number {
        libc::EACCES => format!("permission denied (EACCES): {right}"),
        libc::EPERM => format!("operation not permitted (EPERM): {right}"),
        libc::ENOENT => "no such file (ENOENT)".to_owned(),
        libc::EISDIR => "is a directory (EISDIR)".to_owned(),
        libc::ENODEV => "no such device (ENODEV)".to_owned(),
        libc::ENXIO => "no such device (ENXIO)".to_owned(),
        libc::EIO => "the machine does not answer (EIO)".to_owned(),
        libc::EINVAL => "invalid (EINVAL)".to_owned(),
        libc::EOPNOTSUPP => "not supported (EOPNOTSUPP)".to_owned(),
        libc::ENODATA => "no data (ENODATA)".to_owned(),
        _ => error.to_string(),
    }
}

/// Returns the file and its folder.
fn last(path: &str) -> &str {
    let mut slashes = path.rmatch_indices('/').map(|(at, _)| at + 1);
    slashes.next();
    &path[slashes.next().unwrap_or(0)..]
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_star_is_the_rest_of_a_name() {
        let files = ["cpu/cpu10/a", "cpu/cpu2/a", "cpu/cpu2/b", "cpu/cpufreq/c"];
        let (_folder, tree) = super::made_up::tree(&files.map(|file| (file, "")));
        let check = |pattern: &str, expected: &[&str]| {
            assert_eq!(tree.matching(pattern), expected, "{pattern}");
        };
        check("/cpu/cpu*/a", &["/cpu/cpu2/a", "/cpu/cpu10/a"]);
        check("/cpu/cpu*/*", &["/cpu/cpu2/a", "/cpu/cpu2/b", "/cpu/cpu10/a", "/cpu/cpufreq/c"]);
        check("/cpu/cpu2/a", &["/cpu/cpu2/a"]);
        check("/cpu/cpu3/a", &[]);
        check("/none*/a", &[]);
    }

    #[test]
    fn a_line_tells_bytes() {
        let text = "HighMemTotal: 1 kB\nMemTotal:    2 kB\nNode 0 MemFree: 3 kB\nBad: 4 MB\n";
        let (_folder, tree) = super::made_up::tree(&[("info", text)]);
        let found = ["MemTotal", "MemFree", "Bad", "None"].map(|key| tree.kib_bytes("info", key));
        assert_eq!(found, [Some(2048), Some(3072), None, None]);
        assert_eq!(tree.kib_bytes("absent", "MemTotal"), None);
    }
}

#[cfg(any(test, feature = "made-up"))]
pub mod made_up {
    //! Made-up files for tests.

    use super::Tree;

    /// Makes a folder with these files, and the tree at it.
    pub fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().unwrap();
        let tree = Tree::at(folder.path());
        for (path, text) in files {
            let path = tree.path(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        (folder, tree)
    }
}
