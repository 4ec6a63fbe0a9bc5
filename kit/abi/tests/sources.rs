//! What the crate says of its own files is what there is.

mod common;

use common::Folder;
use std::path::Path;

#[test]
fn sources_are_all_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut there: Vec<String> = ["include", "src"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).expect("a folder of the crate"))
        .map(|entry| entry.expect("an entry").path())
        .map(|path| path.strip_prefix(root).expect("in the crate").to_string_lossy().into_owned())
        .collect();
    there.sort();
    let named: Vec<&str> = tiebreak_abi::SOURCES.iter().map(|(path, _)| *path).collect();
    assert_eq!(named, there, "SOURCES names every file of include and src, in order");
}

#[test]
fn sources_are_enough_for_rustc() {
    let folder = Folder::new();
    assert!(Path::new(&folder.build_abi()).exists());
}
