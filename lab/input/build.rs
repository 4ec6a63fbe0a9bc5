//! Writes the table of inputs, which has three parts, as JSON, which is read in a tenth of the time
//! that TOML takes: each start of the program reads it.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=src/inputs");
    let parts = ["values", "claims", "study"].map(|part| format!("src/inputs/{part}.toml"));
    let text = parts.map(|part| fs::read_to_string(part).expect("the table is there")).join("\n");
    let table: toml::Value = toml::from_str(&text).expect("the table is TOML");
    let json = serde_json::to_string(&table).expect("it has only text, numbers and lists");
    let folder = env::var("OUT_DIR").expect("cargo names a folder");
    fs::write(Path::new(&folder).join("inputs.json"), json).expect("the folder can be written");
}
