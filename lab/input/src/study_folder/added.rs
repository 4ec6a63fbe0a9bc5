//! A contestant that is no part of a study's folder.

use crate::grammar::KEYWORDS;
use crate::names::{is_name, plain};
use std::path::Path;
use tiebreak_core::study::{Entrant, Recipe, Study};

/// Adds a source to a study as a contestant, with the name of the file. It is built as a contestant
/// of the study in whose place it stands: as the reference, or as the first, whose own source, the
/// last one of a library and the first one of a runner, has the same ending.
///
/// # Errors
/// Says in words why it cannot be added: it is not a file, no contestant has such a source, or its
/// name cannot be used.
pub fn add(study: &mut Study, file: &Path) -> Result<(), String> {
    let shown = file.display();
    let path = file.canonicalize().map_err(|error| format!("cannot read {shown}: {error}"))?;
    let (true, Some(path)) = (path.is_file(), path.to_str()) else {
        return Err(format!("{shown} is not a file: a contestant that is added is one source"));
    };
    let ending = file.extension();
    let is_like = |one: &&Entrant| {
        let source = own_source(&one.recipe).and_then(|at| one.recipe.sources.get(at));
        ending.is_some() && source.map(Path::new).and_then(Path::extension) == ending
    };
    let reference = study.contestants.iter().filter(|one| one.name == study.reference);
    let Some(like) = reference.chain(&study.contestants).find(is_like) else {
        return Err(format!(
            "no contestant of {} has a source that ends as {shown} does, so how to build that is \
             not known",
            study.name
        ));
    };
    let name = plain(&file.file_stem().unwrap_or_default().to_string_lossy());
    let is_taken = study.contestants.iter().any(|one| one.name == name || one.stem == name);
    if !is_name(&name) || KEYWORDS.contains(&name.as_str()) || is_taken {
        return Err(format!(
            "{shown} cannot be a contestant called '{name}': another file name is needed"
        ));
    }
    let mut recipe = like.recipe.clone();
    if let Some(source) = own_source(&recipe).and_then(|at| recipe.sources.get_mut(at)) {
        path.clone_into(source);
    }
    for workload in study.workloads.iter_mut().filter(|one| !one.contestants.is_empty()) {
        workload.contestants.push(name.clone());
    }
    let about = format!("added from {shown}, built as {}", like.name);
    let (stem, contract) = (name.clone(), like.contract.clone());
    study.contestants.push(Entrant { name, stem, recipe, contract, about, threads: None });
    Ok(())
}

/// Returns which source of a recipe is the contestant's own; others are shared.
fn own_source(recipe: &Recipe) -> Option<usize> {
    if recipe.language.is_runner() { Some(0) } else { recipe.sources.len().checked_sub(1) }
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
        for file in [&other, &folder.path().join("with.c")] {
            std::fs::write(file, "").unwrap();
        }
        for (file, expected) in [
            (mine.as_path(), "cannot be a contestant called 'my-sum'"),
            (&folder.path().join("with.c"), "cannot be a contestant called 'with'"),
            (&other, "no contestant of sums has a source that ends as"),
            (folder.path(), "is not a file"),
            (&folder.path().join("none.c"), "cannot read"),
        ] {
            let error = add(&mut study, file).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn of_a_runner_the_script_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("scripts");
        std::fs::create_dir(&place).unwrap();
        let table = |name: &str| {
            format!(
                "[[contestant]]\nname = \"{name}\"\nlanguage = \"javascript\"\n\
                 sources = [\"{name}.mjs\", \"shared.mjs\"]\n"
            )
        };
        let text = format!(
            "title = \"T\"\nsource = \"S\"\nreference = \"one\"\n[[workload]]\nname = \"w\"\n\
             size = 1\nanswer = \"1\"\n{}{}",
            table("one"),
            table("two")
        );
        std::fs::write(place.join("study.toml"), text).unwrap();
        for file in ["scripts/one.mjs", "scripts/two.mjs", "scripts/shared.mjs", "mine.mjs"] {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        let mut study = read(&place).unwrap();
        add(&mut study, &folder.path().join("mine.mjs")).unwrap();
        let sources = &study.contestants[2].recipe.sources;
        assert!(sources[0].ends_with("/mine.mjs") && sources[1] == "shared.mjs", "{sources:?}");
    }
}
