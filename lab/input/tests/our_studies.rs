//! The studies of this project are right.

use std::path::Path;
use tiebreak_input::study_folder::read;

#[test]
fn every_study_of_this_project_is_right() {
    let studies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let folders = std::fs::read_dir(studies).unwrap().map(|entry| entry.unwrap().path());
    let folders: Vec<_> = folders.filter(|path| path.join("study.toml").is_file()).collect();
    assert!(!folders.is_empty());
    let wrong = folders.iter().filter_map(|folder| read(folder).err());
    let wrong: Vec<String> = wrong.map(|errors| errors.to_string()).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n\n"));
}
