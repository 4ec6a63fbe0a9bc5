//! All checks of `cargo xtask tidy`.

use crate::finding::Finding;
use crate::tree::Source;
use crate::{circles, copied, edges, generated, lengths, pages, tree, unsafety, words};
use anyhow::{Context, Result};
use std::path::Path;

/// Returns every finding in the repository, in the order of files and lines.
///
/// # Errors
/// Fails if a file that tidy itself needs cannot be read.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let sources = tree::read(root)?;
    let own = own_folders(root);
    let texts = copied::Texts::read(root)?;
    let mut findings = Vec::new();
    for source in &sources {
        findings.extend(lengths::wide_lines(source));
        findings.extend(lengths::too_long(source));
        findings.extend(lengths::short_file(source, &sources));
        findings.extend(words::check(source, &own));
        findings.extend(pages::check(source, |path| root.join(path).exists()));
        findings.extend(generated::check(root, source));
        findings.extend(texts.as_ref().and_then(|texts| texts.check(source)));
    }
    findings.extend(generated::stale_files(root)?);
    let map = edges::map(page(&sources, edges::MAP)?)?;
    let metadata = edges::metadata(root)?;
    findings.extend(edges::check_edges(&map, &metadata));
    let reasons = page(&sources, edges::DEPENDENCIES)?;
    findings.extend(edges::check_dependencies(reasons, &map, &metadata)?);
    findings.extend(unsafety::check(&map, &sources));
    findings.extend(circles::check(&sources));
    findings.sort();
    Ok(findings)
}

/// Returns the folders of this machine that no file may name: of the checkout, and of the user.
fn own_folders(root: &Path) -> Vec<String> {
    let user = std::env::var("HOME").ok().filter(|home| home.len() > 1);
    let user = user.map(|home| format!("{}/", home.trim_end_matches('/')));
    [root.to_string_lossy().into_owned()].into_iter().chain(user).collect()
}

fn page<'a>(sources: &'a [Source], path: &str) -> Result<&'a str> {
    let found = sources.iter().find(|source| source.path == path);
    Ok(&found.with_context(|| format!("there is no {path}"))?.text)
}
