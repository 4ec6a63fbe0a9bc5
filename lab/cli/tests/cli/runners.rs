//! Studies of runners as a user meets them.

use crate::common::Place;

const STUDY: &str = r#"
title = "Sums"
source = "nobody"
item = "number"
reference = "second"

[[workload]]
name = "some"
size = 20000

[[contestant]]
name = "first"
language = "python"
sources = ["first.py"]

[[contestant]]
name = "second"
language = "python"
sources = ["second.py"]
"#;

const CONTESTANT: &str = "
import tiebreak
from helper import add
class Sum:
    def __init__(self, data, workload):
        self.size = workload.size
    def run(self):
        self.total = add(self.size)
        return self.total
    def dump(self):
        return '%d\\n' % self.total
tiebreak.serve(Sum)
";

/// A place with this study, if Python is here.
fn place() -> Option<Place> {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: there is no python3 here");
        return None;
    }
    let place = Place::new();
    std::fs::create_dir_all(place.path("studies/sums")).unwrap();
    let files = [
        ("study.toml", STUDY),
        ("helper.py", "def add(size):\n    return sum(range(size))\n"),
        ("first.py", CONTESTANT),
        ("second.py", CONTESTANT),
    ];
    files.iter().for_each(|(file, text)| write(&place, file, text));
    Some(place)
}

fn write(place: &Place, file: &str, text: &str) {
    std::fs::write(place.path("studies/sums").join(file), text).unwrap();
}

#[test]
fn a_run_does_not_go_on_with_another_program_behind_its_script() {
    let Some(place) = place() else { return };
    let run = ["study", "run", "sums", "--budget", "3 rounds", "--precision", "0.01%"];
    let said = place.run(&run);
    assert!([0, 1, 2].contains(&said.code), "{said:?}");
    let more = ["resume", "latest", "--more", "3 rounds"];
    let on = place.run(&more);
    assert!([0, 1, 2].contains(&on.code), "{on:?}");
    write(&place, "helper.py", "def add(size):\n    return size * (size - 1) // 2\n");
    let changed = place.run(&more);
    assert_eq!(changed.code, 65, "{changed:?}");
    assert!(changed.err.contains("helper.py is gone or has changed"), "{changed:?}");
    // Other programs are another claim, which nothing repeats.
    for is_repeated in [false, true] {
        let anew = place.run(&run);
        assert!([0, 1, 2].contains(&anew.code), "{anew:?}");
        let told = anew.out.contains("run 2 of this claim on these files");
        assert_eq!(told, is_repeated, "{anew:?}");
    }
}

#[test]
fn verify_takes_the_reference_for_the_standard() {
    let Some(place) = place() else { return };
    let wrong = CONTESTANT.replace("add(self.size)", "add(self.size) + 1");
    write(&place, "first.py", &wrong);
    let said = place.run(&["study", "verify", "sums"]);
    assert!(said.out.contains("first answered wrongly on some"), "{said:?}");
    assert!(said.out.contains("Wrong: 1 of 2"), "{said:?}");
    let at = |name: &str| said.out.find(&format!("  {name} ")).unwrap();
    assert!(at("first") < at("second"), "the table keeps the study's order: {said:?}");
}

/// The oracle of both, and a contestant in C.
const ORACLE: &str = "
#include \"tiebreak.h\"
static uint64_t sum(const uint8_t *bytes, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++) sum += bytes[i];
  return sum;
}
";

#[test]
fn a_library_races_a_runner_in_a_process_of_its_own() {
    let Some(place) = place() else { return };
    if std::process::Command::new("gcc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no gcc here");
        return;
    }
    let python = "
import tiebreak
class Sum:
    def __init__(self, data, workload):
        self.data = data
    def run(self):
        return sum(self.data)
    def dump(self):
        return '%d\\n' % sum(self.data)
tiebreak.serve(Sum)
";
    write(&place, "sum.py", python);
    write(&place, "sum.c", &format!("{ORACLE}TIEBREAK_NUMBER(sum);\n"));
    // It is right only where it is reset before each run, and prints while it is loaded.
    let resets = "
#include <stdio.h>
static uint64_t calls;
static void reset(void *state) { (void)state; calls = 0; }
static uint64_t run(void *state) {
  const tiebreak_workload *workload = (const tiebreak_workload *)state;
  return sum(workload->input, workload->input_bytes) + calls++;
}
static void dump(void *state, const tiebreak_sink *sink) {
  tiebreak_write_number(sink, run(state) - 1);
}
__attribute__((constructor)) static void say(void) { puts(\"loaded\"); fflush(stdout); }
TIEBREAK_CONTESTANT_WITH(\"resets\", \"\", 0u, 0u, 0u, 0u, tiebreak_copy_workload, reset, run,
                         dump, free);
";
    write(&place, "resets.c", &format!("{ORACLE}{resets}"));
    write(&place, "wrong.c", &format!("{ORACLE}TIEBREAK_NUMBER(sum);\n").replace("= 0;", "= 1;"));
    let oracle = format!("{ORACLE}TIEBREAK_NUMBER_ORACLE(tiebreak_random_bytes, sum);\n");
    write(&place, "oracle.c", &oracle);
    let one = |name: &str, source: &str| {
        format!("[[contestant]]\nname = \"{name}\"\nsources = [\"{source}\"]\n")
    };
    let contestants = [
        one("python", "sum.py"),
        one("c", "sum.c"),
        one("resets", "resets.c"),
        one("wrong", "wrong.c"),
    ];
    let study = format!(
        "title = \"Sums\"\nsource = \"nobody\"\nreference = \"python\"\nprecision = \"50%\"\n\
         [oracle]\nsources = [\"oracle.c\"]\n[[workload]]\nname = \"some\"\n\
         distribution = \"random\"\nsize = 20000\n{}[[claim]]\n\
         text = \"c is at least 2x faster than python\"\n",
        contestants.concat()
    );
    write(&place, "study.toml", &study);
    let verified = place.run(&["study", "verify", "sums"]);
    assert_eq!(verified.code, 3, "{verified:?}");
    assert!(verified.out.contains("Wrong: 1 of 4 answers."), "{verified:?}");
    let three = ["--contestants", "python,c,resets", "--budget", "2min"];
    let said = place.run(&[&["study", "run", "sums"], &three[..]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!said.out.contains("Void"), "{said:?}");
    assert!(said.out.contains("Holds: c is at least 2x faster than python"), "{said:?}");
}
