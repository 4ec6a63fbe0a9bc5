//! Studies in other repositories, fetched by git.

use crate::error::{LabError, Result, data};
use crate::revisions::git::{git, output};
use std::path::{Component, Path, PathBuf};

/// Schemes of addresses; git knows others that start programs.
const SCHEMES: [&str; 5] = ["https", "http", "ssh", "git", "file"];

/// Returns the address of a repository and the path in it from an address such as
/// `https://example.org/repository.git#studies/demo`; `None` if this is none.
pub(crate) fn address(text: &str) -> Option<(&str, &str)> {
    let (url, path) = text.split_once('#').unwrap_or((text, ""));
    let (scheme, _) = url.split_once("://")?;
    SCHEMES.contains(&scheme).then_some((url, path))
}

/// Fetches the newest commit of a repository into the cache, and returns the folder of the study at
/// this path in it. Each commit has a folder of its own, so that what is raced does not change.
///
/// # Errors
/// Fails if git cannot fetch it, or if the path has parts such as `..`.
pub(crate) fn fetch(url: &str, path: &str, cache: &Path) -> Result<PathBuf> {
    let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if !is_inside {
        return data(format!("'{path}' is not a path within the repository {url}"));
    }
    let root = cache.join("repositories");
    let store = root.join("git");
    std::fs::create_dir_all(&store)
        .map_err(|error| LabError::Data(format!("cannot make {}: {error}", store.display())))?;
    let doing = format!("fetch {url}");
    let run = |words: &[&str]| output(git(&store).args(words), &doing);
    run(&["init", "--quiet", "--bare"])?;
    // A name of its own, as another process may fetch at the same time.
    let fetched = format!("refs/tiebreak/{}", std::process::id());
    run(&["fetch", "--quiet", "--depth", "1", url, &format!("+HEAD:{fetched}")])?;
    let commit = run(&["rev-parse", "--verify", &fetched])?;
    let folder = root.join(&commit).join(name_of(url));
    if !folder.is_dir() {
        let made = root.join(format!("making-{}", std::process::id()));
        let place = made.to_string_lossy();
        run(&["worktree", "add", "--quiet", "--force", "--detach", &place, &commit])?;
        let parent = root.join(&commit);
        let kept = std::fs::create_dir_all(&parent).and_then(|()| std::fs::rename(&made, &folder));
        // Another process may have been first.
        if let Err(error) = kept.or_else(|error| folder.is_dir().then_some(()).ok_or(error)) {
            return data(format!("cannot make {}: {error}", folder.display()));
        }
    }
    run(&["update-ref", "-d", &fetched])?;
    Ok(folder.join(path))
}

/// Returns a name for the folder of a repository, which is the study's if that is all of it.
fn name_of(url: &str) -> String {
    let last = url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let last = last.strip_suffix(".git").unwrap_or(last).to_ascii_lowercase();
    let plain = last.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let plain = plain.trim_matches('-');
    if plain.is_empty() { "study".to_owned() } else { plain.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_scheme_and_may_have_a_path() {
        for (text, expected) in [
            ("demo", None),
            ("./a#b", None),
            ("ext::sh -c x://y", None),
            ("https://a.org/b", Some(("https://a.org/b", ""))),
            ("file:///b#studies/c", Some(("file:///b", "studies/c"))),
        ] {
            assert_eq!(address(text), expected, "{text}");
        }
    }

    #[test]
    fn a_repository_has_a_name_that_a_study_can_have() {
        for (url, expected) in [
            ("https://a.org/b/My_Sums.git", "my-sums"),
            ("https://a.org/b/c/", "c"),
            ("https://a.org/_", "study"),
        ] {
            assert_eq!(name_of(url), expected);
        }
    }

    #[test]
    fn the_newest_commit_is_fetched_each_time() {
        let place = tempfile::tempdir().unwrap();
        let (source, cache) = (place.path().join("source"), place.path().join("cache"));
        std::fs::create_dir_all(source.join("studies/one")).unwrap();
        let run = |words: &[&str]| output(git(&source).args(words), "test").unwrap();
        run(&["init", "--quiet"]);
        let url = format!("file://{}", source.display());
        let mut folders = Vec::new();
        for text in ["first", "second"] {
            std::fs::write(source.join("studies/one/study.toml"), text).unwrap();
            run(&["add", "--all"]);
            let name = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
            run(&[&name[..], &["commit", "--quiet", "--message", text]].concat());
            let folder = fetch(&url, "studies/one", &cache).unwrap();
            let found = std::fs::read_to_string(folder.join("study.toml")).unwrap();
            assert_eq!(found, text);
            assert_eq!(fetch(&url, "studies/one", &cache).unwrap(), folder);
            folders.push(folder);
        }
        assert_ne!(folders[0], folders[1]);
        assert!(folders[0].is_dir());
        let check = |url: &str, path: &str, contains: &str| {
            let error = fetch(url, path, &cache).unwrap_err().to_string();
            assert!(error.contains(contains), "{error}");
        };
        check(&url, "../x", "is not a path within the repository");
        check(&format!("{url}/none"), "", "cannot fetch file://");
    }
}
