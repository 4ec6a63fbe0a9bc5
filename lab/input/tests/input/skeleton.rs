//! The study that `tiebreak study new` writes: it reads back, its sources compile without a
//! warning, and its contestants answer as its oracle says.

use std::fs;
use std::path::Path;
use std::process::Command;
use tiebreak_core::study::Entrant;
use tiebreak_input::study_folder::{read, skeleton};

/// Asks the oracle for inputs of both distributions and compares the contestant's answers with its
/// own: the laboratory's part, as far as a test needs one.
const DRIVER: &str = r#"
#include "tiebreak.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct text { char bytes[100000]; uint64_t count; } text;

static void take(void *context, const void *bytes, uint64_t count) {
  text *to = context;
  if (to->count + count > sizeof to->bytes) exit(3);
  memcpy(to->bytes + to->count, bytes, count);
  to->count += count;
}

static text input, expected, found;

static int check(const char *distribution, uint64_t size, uint64_t part, uint64_t parts) {
  const tiebreak_oracle *oracle = &tiebreak_oracle_table;
  const tiebreak_contestant *contestant = &tiebreak_contestant_table;
  tiebreak_request request = {sizeof request, 0,        "small", distribution, "published",
                              size,           7 + part, part,    parts};
  input.count = expected.count = found.count = 0;
  tiebreak_sink to_input = {&input, take}, to_expected = {&expected, take};
  tiebreak_sink to_found = {&found, take};
  if (oracle->generate(&request, &to_input)) return 4;
  const uint8_t *bytes = (const uint8_t *)input.bytes;
  uint64_t items = oracle->items(&request, bytes, input.count), checksum = 0;
  if (items != input.count) return 5;
  if (oracle->answer(&request, bytes, input.count, &to_expected, &checksum)) return 6;
  tiebreak_workload workload = {sizeof workload, 0, bytes, input.count, NULL, 0, items};
  void *state = contestant->prepare(&workload);
  if (state == NULL || contestant->run(state) != checksum) return 7;
  if (contestant->run(state) != checksum) return 7;
  contestant->dump(state, &to_found);
  contestant->release(state);
  if (found.count != expected.count) return 8;
  if (memcmp(found.bytes, expected.bytes, found.count)) return 8;
  return 0;
}

int main(void) {
  for (uint64_t part = 0; part < 64; part++) {
    int wrong = check("lengths", 64, part, 64);
    if (wrong) return wrong;
  }
  return check("random", 20000, 0, 1);
}
"#;

#[test]
fn the_skeleton_is_a_study_that_works() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("my-sums");
    fs::create_dir(&folder).unwrap();
    for (path, content) in skeleton("my-sums") {
        assert!(!content.contains("NAME"), "{path}");
        fs::write(folder.join(path), content).unwrap();
    }
    let study = read(&folder).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(study.name, "my-sums");
    assert_eq!((study.contestants.len(), study.workloads.len(), study.claims.len()), (2, 1, 1));
    assert_eq!(study.files, ["oracle.c", "plain.c", "study.toml", "unrolled.c"]);
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    assert!(readme.contains("<!-- generated: tiebreak study run my-sums -->\n<!-- end -->\n"));
    if Command::new("gcc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no gcc; Debian's package gcc brings one");
        return;
    }
    fs::write(folder.join("driver.c"), DRIVER).unwrap();
    study.contestants.iter().for_each(|contestant| answers_rightly(&folder, contestant));
}

/// Compiles a contestant, the oracle and the driver into one program, and runs it.
fn answers_rightly(folder: &Path, contestant: &Entrant) {
    let program = folder.join(&contestant.name);
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kit/abi/include");
    let compiled = Command::new("gcc")
        .args(["-std=c17", "-Wall", "-Wextra", "-Werror", "-DTIEBREAK_INLINED", "-I", header])
        .args(&contestant.recipe.flags)
        .args(&contestant.recipe.sources)
        .args(["oracle.c", "driver.c", "-o"])
        .arg(&program)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let status = Command::new(&program).status().unwrap();
    assert_eq!(status.code(), Some(0), "{}", contestant.name);
}
