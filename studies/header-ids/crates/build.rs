//! Makes code of the list of names: a map for `phf`, and a `match`.

use std::path::Path;
use std::{env, fs};
use uncased::UncasedStr;

fn main() {
    println!("cargo::rerun-if-changed=../names.inc");
    let list = fs::read_to_string("../names.inc").expect("the list of names");
    let names: Vec<&str> = list.lines().filter_map(|line| line.split('"').nth(1)).collect();

    let mut map = phf_codegen::Map::new();
    let mut arms = String::new();
    for (id, name) in names.iter().enumerate() {
        map.entry(UncasedStr::new(name), id.to_string());
        arms += &format!("    b\"{}\" => Some({id}),\n", name.to_ascii_lowercase());
    }
    let folder = env::var_os("OUT_DIR").expect("Cargo says where");
    let folder = Path::new(&folder);
    fs::write(folder.join("phf.rs"), map.build().to_string()).expect("a file");
    fs::write(folder.join("match.rs"), format!("match text {{\n{arms}    _ => None,\n}}\n"))
        .expect("a file");
}
