//! The protocol's clients, installed where runners find them.

use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use tiebreak_core::quantity::hexadecimal;

/// The files of `sdk/`: name and content of each.
const CLIENTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/clients.rs"));

/// The number of files that this process has begun to write.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// The folder of the clients.
#[derive(Clone, Debug)]
pub(crate) struct Clients(pub(crate) PathBuf);

/// Puts the clients of this version of tiebreak into this cache, unless they are there. The
/// folder's name is a hash of its content, so clients of several releases can coexist.
pub(crate) fn install(cache: &Path) -> io::Result<Clients> {
    let mut hash = Sha256::new();
    CLIENTS.iter().for_each(|(name, text)| hash.update([name, "\n", text].concat()));
    let folder = cache.join("clients").join(&hexadecimal(&hash.finalize())[..16]);
    for &(name, text) in CLIENTS {
        let place = folder.join(name);
        if std::fs::read(&place).is_ok_and(|found| found == text.as_bytes()) {
            continue;
        }
        // Other processes may do the same: each writes to its own file and renames it.
        std::fs::create_dir_all(&folder)?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let own = folder.join(format!("{name}.{}-{count}", std::process::id()));
        std::fs::write(&own, text)?;
        std::fs::rename(&own, &place)?;
    }
    Ok(Clients(folder))
}

impl Clients {
    /// Returns the environment variables of a runner: the study's own, and where the clients are.
    pub(crate) fn environment(&self, own: &[(String, String)]) -> Vec<(String, OsString)> {
        let before = own.iter().find(|(name, _)| name == "PYTHONPATH").map(|(_, path)| path.into());
        let before = before.or_else(|| std::env::var_os("PYTHONPATH"));
        let mut path = self.0.clone().into_os_string();
        if let Some(before) = before.filter(|before| !before.is_empty()) {
            path.push(":");
            path.push(before);
        }
        let others = own.iter().filter(|(name, _)| name != "PYTHONPATH");
        let others = others.map(|(name, value)| (name.clone(), value.into()));
        let sdk = self.0.clone().into_os_string();
        let ours = [("PYTHONPATH".to_owned(), path), ("TIEBREAK_SDK".to_owned(), sdk)];
        others.chain(ours).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_written_once_and_repaired() {
        let cache = tempfile::tempdir().unwrap();
        let Clients(folder) = install(cache.path()).unwrap();
        let (name, text) = CLIENTS[1];
        let place = folder.join(name);
        assert_eq!(std::fs::read_to_string(&place).unwrap(), text);
        std::fs::write(&place, "half").unwrap();
        install(cache.path()).unwrap();
        assert_eq!(std::fs::read_to_string(&place).unwrap(), text);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), CLIENTS.len());
    }

    #[test]
    fn a_study_may_have_variables_of_its_own() {
        let clients = Clients(PathBuf::from("/c"));
        let own = [("A", "1"), ("PYTHONPATH", "/own")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        let all = clients.environment(&own);
        let check = |name: &str, expected: &str| {
            let found: Vec<_> = all.iter().filter(|(found, _)| found == name).collect();
            assert!(matches!(found[..], [(_, value)] if value == expected), "{name}: {all:?}");
        };
        check("A", "1");
        check("PYTHONPATH", "/c:/own");
        check("TIEBREAK_SDK", "/c");
    }
}
