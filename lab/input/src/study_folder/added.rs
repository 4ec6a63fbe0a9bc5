//! A contestant that is no part of a study's folder.

use crate::names::{is_name, plain};
use std::path::Path;
use tiebreak_core::study::{Entrant, Study};

/// Adds a source to a study as a contestant, with the name of the file. It is built as a contestant
/// of the study whose last source has the same ending, with this file in the place of that source:
/// as the reference if that is one, else as the first.
///
/// # Errors
/// Says in words why it cannot be added: it is not a file, no contestant has such a source, or its
/// name is taken.
pub fn add(study: &mut Study, file: &Path) -> Result<(), String> {
    let shown = file.display();
    let path = file.canonicalize().map_err(|error| format!("cannot read {shown}: {error}"))?;
    let (true, Some(path)) = (path.is_file(), path.to_str()) else {
        return Err(format!("{shown} is not a file: a contestant that is added is one source"));
    };
    let ending = file.extension();
    let is_like = |one: &&Entrant| {
        let source = one.recipe.sources.last().map(Path::new);
        ending.is_some() && source.and_then(Path::extension) == ending
    };
    let reference = study.contestants.iter().filter(|one| one.name == study.reference);
    let Some(like) = reference.chain(&study.contestants).find(is_like) else {
        return Err(format!(
            "no contestant of {} has a source that ends as {shown} does, so how to build that is \
             not known",
            study.name
        ));
    };
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name = plain(&stem);
    if !is_name(&name) || study.contestants.iter().any(|one| one.name == name) {
        return Err(format!(
            "{shown} cannot be a contestant called '{name}': another file name is needed"
        ));
    }
    let mut recipe = like.recipe.clone();
    recipe.sources.pop();
    recipe.sources.push(path.to_owned());
    let about = format!("added from {shown}, built as {}", like.name);
    let (stem, contract) = (name.clone(), like.contract.clone());
    study.contestants.push(Entrant { name, stem, recipe, contract, about, threads: None });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study_folder::read;

    #[test]
    fn a_file_becomes_a_contestant_like_those_of_its_kind() {
        let folder = tempfile::tempdir().unwrap();
        let study = folder.path().join("sums");
        std::fs::create_dir(&study).unwrap();
        for (name, text) in crate::study_folder::skeleton("sums") {
            std::fs::write(study.join(name), text).unwrap();
        }
        let mut study = read(&study).unwrap();
        let mine = folder.path().join("My Sum.c");
        std::fs::write(&mine, "").unwrap();
        add(&mut study, &mine).unwrap();
        let added = study.contestants.last().unwrap();
        let like = study.contestants.iter().find(|one| one.name == study.reference).unwrap();
        assert_eq!(added.name, "my-sum");
        assert_eq!(added.recipe.flags, like.recipe.flags);
        assert_eq!(added.recipe.sources.len(), like.recipe.sources.len());
        assert!(added.recipe.sources.last().unwrap().ends_with("My Sum.c"));
        let other = folder.path().join("mine.rs");
        std::fs::write(&other, "").unwrap();
        for (file, expected) in [
            (mine.as_path(), "cannot be a contestant called 'my-sum'"),
            (&other, "no contestant of sums has a source that ends as"),
            (folder.path(), "is not a file"),
            (&folder.path().join("none.c"), "cannot read"),
        ] {
            let error = add(&mut study, file).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
