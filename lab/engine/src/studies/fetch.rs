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

/// Fetches the newest commit of a repository into a folder of the cache, and returns the folder of
/// the study at this path in it.
///
/// # Errors
/// Fails if git cannot fetch it, or if the path leads out of the repository.
pub(crate) fn fetch(url: &str, path: &str, cache: &Path) -> Result<PathBuf> {
    let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if !is_inside {
        return data(format!("'{path}' is not a path within the repository {url}"));
    }
    // The last part is the study's name, if the path is empty.
    let name = url.to_ascii_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let folder = cache.join("repositories").join(name);
    std::fs::create_dir_all(&folder)
        .map_err(|error| LabError::Data(format!("cannot make {}: {error}", folder.display())))?;
    let doing = format!("fetch {url}");
    for words in [
        &["init", "--quiet"][..],
        &["fetch", "--quiet", "--depth", "1", url, "HEAD"],
        &["reset", "--quiet", "--hard", "FETCH_HEAD"],
        &["clean", "--quiet", "--force", "-dx"],
    ] {
        output(git(&folder).args(words), &doing)?;
    }
    Ok(folder.join(path))
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
    fn the_newest_commit_is_fetched_each_time() {
        let place = tempfile::tempdir().unwrap();
        let (source, cache) = (place.path().join("source"), place.path().join("cache"));
        std::fs::create_dir_all(source.join("studies/one")).unwrap();
        let run = |words: &[&str]| output(git(&source).args(words), "test").unwrap();
        run(&["init", "--quiet"]);
        let url = format!("file://{}", source.display());
        for text in ["first", "second"] {
            std::fs::write(source.join("studies/one/study.toml"), text).unwrap();
            run(&["add", "--all"]);
            let name = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
            run(&[&name[..], &["commit", "--quiet", "--message", text]].concat());
            let folder = fetch(&url, "studies/one", &cache).unwrap();
            let found = std::fs::read_to_string(folder.join("study.toml")).unwrap();
            assert_eq!(found, text);
        }
        let check = |url: &str, path: &str, contains: &str| {
            let error = fetch(url, path, &cache).unwrap_err().to_string();
            assert!(error.contains(contains), "{error}");
        };
        check(&url, "../x", "is not a path within the repository");
        check(&format!("{url}/none"), "", "cannot fetch file://");
    }
}
