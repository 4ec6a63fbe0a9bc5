//! Studies as a user meets them: made, listed, shown, run, verified, killed and gone on with.

use crate::common::{Place, Ran, flat};
use serde_json::Value;
use std::process::Stdio;
use tiebreak_lab::Store;
use tiebreak_lab::report::html;

/// What a new study claims.
const CLAIM: &str = "unrolled is faster than plain";

/// A place with a study in C that works, of two workloads.
fn place() -> Place {
    let place = Place::new();
    let said = place.run(&["study", "new", "demo"]);
    assert_eq!(said.code, 0, "{said:?}");
    add(&place, "[[workload]]\nname = \"large\"\ndistribution = \"random\"\nsize = 1_000_000\n");
    place
}

/// Adds tables to the study.
fn add(place: &Place, tables: &str) {
    let path = place.path("studies/demo/study.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, format!("{text}\n{tables}")).unwrap();
}

/// Makes the study's claim a table with this line in it.
fn qualify_claim(place: &Place, line: &str) {
    edit(place, "study.toml", &format!("claims = [\"{CLAIM}\"]"), "");
    add(place, &format!("[[claim]]\ntext = \"{CLAIM}\"\n{line}\n"));
}

/// Changes a file of the study.
fn edit(place: &Place, file: &str, from: &str, to: &str) {
    let path = place.path("studies/demo").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} has no {from}");
    std::fs::write(path, text.replace(from, to)).unwrap();
}

/// Runs the study under a small budget; the result as JSON too.
fn run(place: &Place, more: &[&str]) -> (Ran, Value) {
    let words = ["study", "run", "demo", "--json", "result.json", "--seed", "s"];
    let budget = if more.contains(&"--budget") { &[][..] } else { &["--budget", "30 rounds"] };
    let said = place.run(&[&words[..], budget, more].concat());
    let text = std::fs::read_to_string(place.path("result.json")).unwrap_or_default();
    (said, serde_json::from_str(&text).unwrap_or_default())
}

/// The rows of a workload's table.
fn rows(result: &Value, workload: usize) -> &Vec<Value> {
    result["runs"][workload]["study"]["rows"].as_array().unwrap()
}

#[test]
fn studies_are_made_listed_and_shown() {
    let place = place();
    let listed = place.run(&["study", "list"]);
    assert!(listed.code == 0 && listed.out.contains("demo"), "{listed:?}");
    let shown = place.run(&["study", "show", "demo"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    for word in ["plain (reference)", "unrolled", "gcc", "flags: -O2", "small", "claim (ours)"] {
        assert!(shown.out.contains(word), "{word}: {}", shown.out);
    }
    assert_eq!(place.run(&["study", "new", "demo"]).code, 64);
    assert_eq!(place.run(&["study", "new", "No Name"]).code, 64);
    let missing = place.run(&["study", "show", "domo"]);
    assert!(missing.code == 65 && missing.err.contains("demo"), "{missing:?}");
    edit(&place, "study.toml", "contestants = ", "contesants = ");
    let broken = place.run(&["study", "show", "demo"]);
    assert!(broken.code == 65 && broken.err.contains("contesants"), "{broken:?}");
    let listed = place.run(&["study", "list"]);
    assert!(listed.code == 0 && listed.out.contains("is broken"), "{listed:?}");
    // By its folder, and from a folder below.
    let elsewhere = Place::new();
    assert_eq!(elsewhere.run(&["study", "list"]).out, "");
    assert_eq!(elsewhere.run(&["study", "new", "./here"]).code, 0);
    assert_eq!(elsewhere.run(&["study", "show", "here"]).code, 0);
}

#[test]
fn a_study_is_built_judged_and_raced() {
    let place = place();
    qualify_claim(&place, "published = true");
    let files = ["--html", "r.html", "--svg", "r.svg", "--ecdf", "e.svg", "--markdown", "r.md"];
    let (said, result) = run(&place, &files);
    assert!([0, 1, 2].contains(&said.code), "{said:?}");
    assert_eq!(result["schema"], "tiebreak/study/1");
    assert_eq!(result["runs"].as_array().unwrap().len(), 2);
    for workload in 0..2 {
        let names: Vec<_> = rows(&result, workload).iter().map(|row| &row["name"]).collect();
        assert_eq!(names, ["plain", "unrolled"]);
        assert!(rows(&result, workload)[1]["ratio"].is_object());
        is_counted_or_told_why(&result["runs"][workload], rows(&result, workload));
        // The claim, and a ratio of the table: the error is split over both workloads.
        let verdicts = result["runs"][workload]["verdicts"].as_array().unwrap();
        assert_eq!(verdicts.len(), 2);
        assert!(verdicts.iter().all(|claim| claim["error"] == 0.0025), "{verdicts:?}");
        let of_source: Vec<_> =
            verdicts.iter().filter(|claim| claim["published"] == true).collect();
        assert!(of_source.len() == 1 && of_source[0]["relation"]["form"] != "measure");
    }
    let page = std::fs::read_to_string(place.path("r.md")).unwrap();
    assert_eq!(page.matches("This is the source's claim.").count(), 2, "{page}");
    for (file, word) in [
        ("r-small.html", "<html"),
        ("r-large.html", "<html"),
        ("r.svg", "<svg"),
        ("e.svg", "<svg"),
        ("r.md", "| "),
    ] {
        let text = std::fs::read_to_string(place.path(file)).unwrap();
        assert!(text.contains(word), "{file}: {text}");
    }
    // Every timed batch is in the distribution function, and below the table is its picture.
    for row in rows(&result, 0) {
        assert_eq!(row["ecdf"]["count"], row["batches"], "{row}");
    }
    assert!(said.out.contains("share of batches that took at most so long"), "{said:?}");
    for words in [&["show", "latest"][..], &["replay", "latest"], &["report", "latest"]] {
        let said = place.run(words);
        assert!([0, 1, 2].contains(&said.code) && said.out.contains("unrolled"), "{said:?}");
    }
    let shown = place.run(&["show", "latest"]).out.replace('\n', " ");
    assert!(shown.contains("source's claim"), "{shown}");
}

/// Whatever some machine meters is in every row, or the run says once why it is in none.
fn is_counted_or_told_why(run: &Value, rows: &[Value]) {
    let warnings = run["warnings"].as_array().unwrap();
    let reasons = warnings.iter().filter(|warning| warning["code"] == "no_meter");
    let reasons: Vec<_> = reasons.map(Value::to_string).collect();
    let about = |what: &str| reasons.iter().filter(|reason| reason.contains(what)).count();
    for (metric, meter) in [("instructions", "no hardware counters"), ("energy_nj", "no energy")] {
        let told = usize::from(rows.iter().any(|row| row["per_call"][metric].is_null()));
        assert!(rows.iter().all(|row| row["per_call"][metric].is_null() == (told > 0)), "{rows:?}");
        assert_eq!(about(meter), told, "{metric}: {reasons:?}");
    }
}

#[test]
fn scopes_workloads_and_claims_are_chosen() {
    let place = place();
    for (scope, centre) in [("layout", "median"), ("binary", "median"), ("code", "median")] {
        let (said, result) = run(&place, &["--only", "small", "--scope", scope]);
        assert!([0, 1, 2].contains(&said.code), "{said:?}");
        let claim = &result["runs"][0]["verdicts"][0];
        assert_eq!((&claim["scope"], &claim["centre"]), (&scope.into(), &centre.into()));
        assert_eq!(result["runs"].as_array().unwrap().len(), 1);
    }
    let claim = "unrolled is within 1000% of plain on small";
    let (said, result) = run(&place, &["--claim", claim, "--budget", "200 rounds", "--quiet"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(result["runs"].as_array().unwrap().len(), 1, "only small has a claim");
    assert_eq!(result["runs"][0]["verdicts"].as_array().unwrap().len(), 1);
    assert_eq!(said.out.lines().count(), 1, "{}", said.out);
    let (said, _) = run(&place, &["--claim", claim, "--placements", "4", "--only", "small"]);
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn what_cannot_be_raced_is_said_before_anything_is_built() {
    let place = place();
    for (words, word) in [
        (&["--only", "huge"][..], "huge"),
        (&["--contestants", "nobody,plain"], "nobody"),
        (&["--error", "0.9"], "an error of"),
        (&["--resolution", "2"], "a resolution of"),
        (&["--precision", "0"], "a precision of"),
        (&["--claim", "plain is fsater than unrolled"], "fsater"),
        (&["--claim", "plain is faster than unrolled on huge"], "huge"),
        (&["--cpus", "0,1"], "name one"),
    ] {
        let (said, _) = run(&place, words);
        assert!(said.code == 64 && said.err.contains(word), "{words:?}: {said:?}");
    }
    let (said, _) = run(&place, &["--contestants", "plain"]);
    assert!(said.code == 65 && said.err.contains("fewer than two"), "{said:?}");
    let said = place.run(&["study", "run", "demo", "--dry-run"]);
    assert!(said.code == 0 && said.out.contains("unrolled is faster than plain"), "{said:?}");
}

#[test]
fn a_contestant_without_its_compiler_is_not_run_and_the_others_are() {
    let place = place();
    let third = "\n[[contestant]]\nname = \"third\"\nlanguage = \"c\"\nsources = [\"plain.c\"]\n\
                 compiler = \"no-such-compiler\"\npackage = \"a-package\"\n\
                 [[claim]]\ntext = \"third is faster than plain\"\n";
    add(&place, third);
    let (said, result) = run(&place, &["--only", "small"]);
    assert!([0, 1, 2].contains(&said.code), "{said:?}");
    assert!(said.err.contains("a-package"), "{said:?}");
    let third = &rows(&result, 0)[2];
    assert!(third["not_run"].as_str().unwrap().contains("a-package"), "{third}");
    let warnings = result["runs"][0]["warnings"].to_string();
    assert!(warnings.contains("third is faster than plain"), "{warnings}");
}

#[test]
fn a_contestant_runs_on_as_many_threads_as_there_are_cpus() {
    let place = place();
    let third = "\n[[contestant]]\nname = \"third\"\nlanguage = \"c\"\nsources = [\"plain.c\"]\n\
                 threads = [1, \"all\", 8192]\n\
                 [[claim]]\ntext = \"third-xall is no more than 50% slower than third-x1\"\n";
    add(&place, third);
    let shown = place.run(&["study", "show", "demo"]);
    assert!(shown.out.contains("threads: 1, all CPUs, 8192"), "{shown:?}");
    let (said, result) = run(&place, &["--only", "small"]);
    assert!([0, 1, 2].contains(&said.code), "{said:?}");
    let rows = rows(&result, 0);
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    for (name, row) in names.iter().zip(rows) {
        let scaling = &row["scaling"];
        let is_absent = row["not_run"].is_string();
        match *name {
            "plain" | "unrolled" => assert!(scaling.is_null() && !is_absent, "{row}"),
            "third-x1" => {
                assert_eq!((&scaling["threads"], &scaling["efficiency"]), (&1.into(), &1.0.into()))
            }
            "third-x8192" => assert!(is_absent && scaling.is_null(), "{row}"),
            // On one CPU it is the same as on one thread.
            "third-xall" if is_absent => assert!(row["not_run"].to_string().contains("1 CPU")),
            "third-xall" => {
                assert!(scaling["threads"].as_u64() > Some(1) && scaling["family"] == "third");
                let number = |key: &str| scaling[key].as_u64().unwrap();
                let (units, together) = (number("units"), number("together"));
                assert!(together <= units, "{row}");
                // A busy machine may keep the threads apart.
                let is_told = scaling["efficiency"].as_f64() > Some(0.0);
                assert_eq!(is_told, together > units / 2, "{row}");
                assert!(said.out.contains("on several threads"), "{said:?}");
            }
            other => panic!("{other}"),
        }
    }
    // Its name without a number is all of them.
    let (said, result) = run(&place, &["--only", "small", "--contestants", "plain,third"]);
    assert!([0, 1, 2].contains(&said.code), "{said:?}");
    assert_eq!(self::rows(&result, 0).len(), 4);
}

#[test]
fn a_build_that_fails_is_told_and_can_be_left_out() {
    let place = place();
    let broken =
        "\n[[contestant]]\nname = \"broken\"\nlanguage = \"c\"\nsources = [\"broken.c\"]\n";
    add(&place, broken);
    std::fs::write(place.path("studies/demo/broken.c"), "int main(\n").unwrap();
    let (said, _) = run(&place, &[]);
    assert!(said.code == 65 && said.err.contains("broken.c:"), "{said:?}");
    let (said, _) = run(&place, &["--contestants", "plain,unrolled"]);
    assert!([0, 1, 2].contains(&said.code), "{said:?}");
}

/// A claim about a contestant that cannot run here is open, and so is the study, which goes on.
#[test]
fn what_cannot_be_judged_here_is_counted() {
    let place = place();
    let missing = "\n[[contestant]]\nname = \"missing\"\nlanguage = \"c\"\n\
                   sources = [\"plain.c\"]\ncompiler = \"no-such-compiler\"\npackage = \"none\"\n\
                   [[claim]]\ntext = \"missing is faster than plain\"\n";
    edit(&place, "study.toml", &format!("claims = [\"{CLAIM}\"]"), "");
    add(&place, missing);
    let (said, result) = run(&place, &["--budget", "20 rounds"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(flat(&said.out).contains("claims were not judged"), "{}", said.out);
    let missing = rows(&result, 0).iter().find(|row| row["name"] == "missing").unwrap();
    assert!(missing["not_run"].as_str().unwrap().contains("no-such-compiler"), "{missing}");
}

#[test]
fn a_file_can_be_added_and_lists_make_contestants() {
    let place = place();
    std::fs::copy(place.path("studies/demo/plain.c"), place.path("mine.c")).unwrap();
    let table = "\n[[contestant]]\nname = \"more\"\nlanguage = \"c\"\nsources = [\"plain.c\"]\n\
                 levels = [\"-O1\", \"-O2\"]\n";
    add(&place, table);
    let (said, result) = run(&place, &["--add", "mine.c", "--budget", "60 rounds"]);
    assert!([0, 1, 2].contains(&said.code), "{said:?}");
    let names: Vec<_> = rows(&result, 0).iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["plain", "unrolled", "more-o1", "more-o2", "mine"]);
    assert!(rows(&result, 0).iter().all(|row| row["fault"].is_null()), "{result}");
    let verified = place.run(&["study", "verify", "demo", "--contestants", "more"]);
    assert!(verified.code == 0 && verified.out.contains("more-o2"), "{verified:?}");
    assert!(!verified.out.contains("unrolled"), "{verified:?}");
    let wrong = place.run(&["study", "run", "demo", "--add", "none.c"]);
    assert!(wrong.code == 65 && wrong.err.contains("cannot read none.c"), "{wrong:?}");
}

#[test]
fn combinations_with_the_same_code_are_raced_once() {
    let place = place();
    let table = "\n[[contestant]]\nname = \"twice\"\nsources = [\"plain.c\"]\nflags = [\"-O1\"]\n\
                 standards = [\"c11\", \"c17\"]\n";
    add(&place, table);
    let (said, result) = run(&place, &["--only", "small"]);
    assert!([0, 1, 2].contains(&said.code), "{said:?}");
    let of = |name: &str| rows(&result, 0).iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(of("twice-c17")["not_run"], "the same code as twice-c11");
    assert!(of("twice-c11")["not_run"].is_null() && of("plain")["not_run"].is_null());
    // By its whole name it is raced.
    let both = ["--only", "small", "--contestants", "twice-c11,twice-c17"];
    let (said, result) = run(&place, &both);
    assert!([0, 1, 2].contains(&said.code), "{said:?}");
    assert!(rows(&result, 0).iter().all(|row| row["not_run"].is_null()), "{result}");
}

#[test]
fn workloads_say_who_is_raced_on_them_and_when() {
    let place = place();
    let third = "\n[[contestant]]\nname = \"third\"\nsources = [\"plain.c\"]\nflags = [\"-O1\"]\n";
    add(&place, third);
    edit(&place, "study.toml", "size = 1_000_000", "size = 1_000_000\ncontestants = [\"third\"]");
    let rare = "[[workload]]\nname = \"rare\"\ndistribution = \"random\"\nsize = 300\n\
                on_request = true\n\n";
    add(&place, rare);
    let only = "[[verify]]\nname = \"five\"\ndistribution = \"random\"\nsize = 5\n\
                contestants = [\"third\"]\n\n";
    add(&place, only);
    let (said, result) = run(&place, &[]);
    assert!([0, 1, 2].contains(&said.code), "{said:?}");
    assert_eq!(result["runs"].as_array().unwrap().len(), 2, "rare was not asked for");
    crate::common::validate(&result["runs"][1]);
    let of = |name: &str| rows(&result, 1).iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(of("unrolled")["not_run"], "takes part in other workloads");
    assert!(of("third")["ratio"].is_object() && of("plain")["not_run"].is_null());
    // Each row has its own picture, behind one that is left out too.
    for row in ["plain", "third"].map(of) {
        let counts = row["distribution"]["counts"].as_array().unwrap().iter();
        let drawn: u64 = counts.map(|count| count.as_u64().unwrap()).sum();
        let beyond = row["distribution"]["beyond"].as_u64().unwrap();
        assert_eq!(drawn + beyond, row["batches"].as_u64().unwrap(), "{row}");
    }
    // The study's claim is about two of which one is not raced there.
    let claims = |run: usize| {
        let all = result["runs"][run]["verdicts"].as_array().unwrap().iter();
        all.filter(|one| one["relation"]["form"] != "measure").count()
    };
    assert_eq!((claims(0), claims(1)), (1, 0));
    let asked = ["--only", "large", "--claim", "unrolled is faster than plain on large"];
    let (said, _) = run(&place, &asked);
    assert!(said.code == 64 || said.out.contains("takes part in no"), "{said:?}");
    let (said, result) = run(&place, &["--only", "rare"]);
    assert!([0, 1, 2].contains(&said.code), "{said:?}");
    assert_eq!(result["runs"][0]["study"]["workload"]["is_on_request"], true);
    let verified = place.run(&["study", "verify", "demo"]);
    assert!(verified.code == 0 && verified.out.contains("rare"), "{verified:?}");
    let judged = |input| verified.out.lines().filter(|line| line.contains(input)).count();
    assert_eq!((judged(" large "), judged(" five ")), (2, 1), "{verified:?}");
}

#[test]
fn bytes_are_drawn_as_the_page_says_and_a_wrong_answer_names_its_part() {
    let place = place();
    let page = include_str!("../../../../docs/manual/studies.md");
    let blocks = page.split("```c\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let oracle: Vec<&str> = blocks.filter(|block| block.contains("TIEBREAK_BYTES")).collect();
    let [oracle] = oracle[..] else { panic!("{oracle:?}") };
    edit(&place, "oracle.c", "TIEBREAK_NUMBER_ORACLE(tiebreak_random_bytes, sum);", oracle);
    edit(&place, "study.toml", "\"random\"", "\"text\"");
    let verified = place.run(&["study", "verify", "demo"]);
    assert_eq!(verified.code, 0, "{verified:?}");
    edit(&place, "unrolled.c", "a + b + c + d;", "a + b + c + d + (count == 32);");
    let wrong = place.run(&["study", "verify", "demo"]);
    let named = "unrolled answered wrongly on every length from 1 to 64, part 32 of 640: item 1";
    assert!(wrong.code == 3 && flat(&wrong.out).contains(named), "{wrong:?}");
    edit(&place, "study.toml", "\"text\"", "\"txt\"");
    let unknown = place.run(&["study", "verify", "demo"]);
    assert!(unknown.code == 65 && flat(&unknown.err).contains("'txt'"), "{unknown:?}");
}

#[test]
fn two_results_are_compared() {
    let place = place();
    let (said, _) = run(&place, &[]);
    assert!([0, 1, 2].contains(&said.code), "{said:?}");
    std::fs::copy(place.path("result.json"), place.path("before.json")).unwrap();
    let compare = |more: &[&str]| place.run(&[&["study", "compare"], more].concat());
    let said = compare(&["before.json", "result.json", "--markdown", "c.md", "--json", "c.json"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains(", 0 differ; of "), "{said:?}");
    let text = std::fs::read_to_string(place.path("c.json")).unwrap();
    let compared: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(compared["results"][0]["name"], "before");
    assert!(std::fs::read_to_string(place.path("c.md")).unwrap().contains("| unrolled |"));
    let other = text.replace("tiebreak/study-comparison/1", "tiebreak/study/2");
    std::fs::write(place.path("other.json"), other).unwrap();
    for (file, code, expected) in [
        ("none.json", 65, "cannot read none.json"),
        ("other.json", 65, "its schema is tiebreak/study/2"),
        ("studies/demo/plain.c", 65, "not what 'tiebreak study run NAME --json FILE' writes"),
    ] {
        let wrong = compare(&["before.json", file]);
        assert!(wrong.code == code && wrong.err.contains(expected), "{wrong:?}");
    }
    let before = std::fs::read_to_string(place.path("before.json")).unwrap();
    let another = before.replacen("\"study\": \"demo\"", "\"study\": \"another\"", 1);
    std::fs::write(place.path("another.json"), another).unwrap();
    let wrong = compare(&["before.json", "another.json"]);
    assert!(wrong.code == 64 && wrong.err.contains("'another'"), "{wrong:?}");
}

#[test]
fn a_study_is_published_as_one_page() {
    let place = place();
    let none = place.run(&["study", "publish", "demo"]);
    assert!(none.code == 64 && none.err.contains("never raced"), "{none:?}");
    let source = "source = \"our own, https://example.org/sums\"\nitem = ";
    edit(&place, "study.toml", "item = ", source);
    qualify_claim(&place, "from = \"small\"");
    let (said, result) = run(&place, &[]);
    assert!([0, 1, 2].contains(&said.code), "{said:?}");
    assert_eq!(result["runs"][1]["verdicts"][0]["claim"], "unrolled is faster than plain on large");
    std::fs::copy(place.path("result.json"), place.path("other.json")).unwrap();
    let of_both = ["--result", "result.json", "--result", "other.json", "--html", "both.html"];
    for more in [&[][..], &of_both] {
        let said = place.run(&[&["study", "publish", "demo"], more].concat());
        assert!(said.code == 0 && said.out.contains("as gzip sends them"), "{said:?}");
    }
    let [newest, both] = ["demo.html", "both.html"].map(|file| {
        let page = std::fs::read_to_string(place.path(file)).unwrap();
        let first = &page[..page.find("<details>").unwrap()];
        assert!(html::packed_bytes(first) < html::FIRST_BYTES, "{file}");
        for part in [
            "<a href=\"https://example.org/sums\">",
            "unrolled is faster than plain on large",
            "On small",
            "TIEBREAK_KERNEL uint64_t sum",
            "tiebreak study verify demo",
            "sources and flags are those that were measured.",
        ] {
            assert!(page.contains(part), "{file}: {part}");
        }
        page
    });
    assert!(both.contains("On another machine") && !newest.contains("On another machine"));
    edit(&place, "plain.c", "uint64_t sum = 0", "uint64_t sum = 1 - 1");
    assert_eq!(place.run(&["study", "publish", "demo"]).code, 0);
    let changed = std::fs::read_to_string(place.path("demo.html")).unwrap();
    assert!(changed.contains("in how they are built: plain."));
    let other = place.run(&["study", "new", "other"]);
    assert_eq!(other.code, 0, "{other:?}");
    let wrong = place.run(&["study", "publish", "other", "--result", "result.json"]);
    assert!(wrong.code == 64 && wrong.err.contains("of the study 'demo'"), "{wrong:?}");
}

#[test]
fn where_two_contestants_spend_their_time_is_shown() {
    let place = place();
    if std::process::Command::new("objdump").arg("--version").output().is_err() {
        eprintln!("skipped: there is no objdump; Debian's package binutils brings it");
        return;
    }
    let said = place.run(&["study", "why", "demo", "unrolled", "plain", "--only", "large"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.starts_with("unrolled and plain on large\n"), "{said:?}");
    // Both read bytes in a loop of their own, and spend most of their time there.
    let loops = said.out.matches("the hot loop of").count();
    assert!(loops == 2 && said.out.contains("time  plain"), "{said:?}");
    let one = place.run(&["study", "why", "demo", "plain", "plain"]);
    assert!(one.code == 65 || one.code == 64, "{one:?}");
}

#[test]
fn a_wrong_answer_is_void_and_the_others_go_on() {
    let place = place();
    let third = "\n[[contestant]]\nname = \"wrong\"\nlanguage = \"c\"\nsources = [\"wrong.c\"]\n";
    add(&place, third);
    let plain = std::fs::read_to_string(place.path("studies/demo/plain.c")).unwrap();
    let wrong = plain.replace("uint64_t sum = 0;", "uint64_t sum = 1;");
    std::fs::write(place.path("studies/demo/wrong.c"), wrong).unwrap();
    let (said, result) = run(&place, &[]);
    assert_eq!(said.code, 3, "{said:?}");
    for workload in 0..2 {
        let [plain, unrolled, wrong] = &rows(&result, workload)[..] else { panic!() };
        assert!(wrong["fault"].to_string().contains("answered wrongly"), "{wrong}");
        assert!(plain["fault"].is_null() && unrolled["ratio"]["estimate"].is_number());
    }
    // With nobody left to be compared with, too; and where only verdicts are printed.
    let (said, result) = run(&place, &["--contestants", "plain,wrong", "--quiet"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.out.contains("Void: wrong answered wrongly"), "{said:?}");
    assert_eq!(result["runs"][0]["verdicts"].as_array().map(Vec::len), Some(0));
    assert_eq!(place.run(&["replay", "latest"]).code, 3);
    let verified = place.run(&["study", "verify", "demo"]);
    assert_eq!(verified.code, 3, "{verified:?}");
    assert!(verified.out.contains("wrong"), "{}", verified.out);
    for line in [
        "In addition to answers, a race looks for:",
        "answers kept from call to call        small, large",
        "rates that no core can load           none: needs reads_input = \"whole\"",
        "prints, leaks, allocation, threads    all workloads",
        "timers, priority, rounding, CPUs      all workloads",
    ] {
        assert!(verified.out.contains(line), "{}", verified.out);
    }
    let verified = place.run(&["study", "verify", "demo", "--contestants", "plain,unrolled"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
fn a_study_that_was_killed_goes_on_with_all_its_workloads() {
    let place = place();
    let words = ["study", "run", "demo", "--budget", "60s", "--precision", "0.01%", "--seed", "k"];
    let mut command = place.command(&words);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    place.wait_for_rounds(12);
    child.kill().unwrap();
    child.wait().unwrap();
    let before = finished(&place);
    assert_eq!(before.len(), 2);
    let said = place.run(&["resume", "latest", "--more", "6 rounds", "--json", "result.json"]);
    assert!([0, 1, 2].contains(&said.code), "{said:?}");
    let after = finished(&place);
    assert_eq!(after.len(), 2, "no run is new");
    let all = |rounds: &[u64]| rounds.iter().sum::<u64>();
    assert!(all(&after) >= all(&before) + 6, "{before:?} {after:?}");
    assert!(before.iter().zip(&after).all(|(before, after)| before <= after));
    assert_eq!(place.run(&["resume", "latest"]).code, 65, "its budget is used up");
    assert!([0, 1, 2].contains(&place.run(&["replay", "latest"]).code));
    edit(&place, "plain.c", "sum = 0", "sum  = 0");
    let changed = place.run(&["resume", "latest", "--more", "4 rounds"]);
    assert!([0, 1, 2].contains(&changed.code), "objects are in the cache: {changed:?}");
    std::fs::remove_dir_all(place.path("cache")).unwrap();
    let gone = place.run(&["resume", "latest", "--more", "4 rounds"]);
    assert!(gone.code == 65 && gone.err.contains("is gone or has changed"), "{gone:?}");
}

/// A kill between the beginnings of two runs leaves one workload of two: that is no study.
#[test]
fn a_study_that_lacks_the_run_of_a_workload_is_not_gone_on_with() {
    let place = place();
    let (said, result) = run(&place, &["--budget", "12 rounds"]);
    assert!([0, 1, 2].contains(&said.code), "{said:?}");
    let names: Vec<&str> = result["runs"].as_array().unwrap().iter().map(name).collect();
    let whole = Store::open(&place.path("j.db")).unwrap();
    let mut runs = whole.runs(None).unwrap();
    runs.reverse();
    let headers: Vec<_> = runs.iter().map(|run| whole.header(&run.id).unwrap()).collect();
    for header in &headers {
        assert_eq!(header.plan.functions.as_ref().unwrap().workloads, names);
    }
    std::fs::remove_file(place.path("j.db")).unwrap();
    let mut cut_off = Store::open(&place.path("j.db")).unwrap();
    cut_off.create_run(&headers[0]).unwrap();
    let refused = place.run(&["resume", "latest"]);
    let told = format!("there is no run on {}", names[1]);
    assert!(refused.code == 65 && refused.err.contains(&told), "{refused:?}");
    // Typed again, with the same seed: each beginning has its own runs.
    let first = cut_off.runs(None).unwrap()[0].id.clone();
    headers.iter().for_each(|header| drop(cut_off.create_run(header).unwrap()));
    let refused = place.run(&["resume", first.as_str()]);
    assert!(refused.code == 65 && refused.err.contains(&told), "{refused:?}");
    let resumed = place.run(&["resume", "latest"]);
    assert!([0, 1, 2].contains(&resumed.code), "{resumed:?}");
    assert_eq!(finished(&place)[2], 0, "the run that was cut off is left alone");
}

/// The workload of a run.
fn name(run: &Value) -> &str {
    run["study"]["workload"]["name"].as_str().unwrap()
}

/// Finished rounds of each run, the latest first.
fn finished(place: &Place) -> Vec<u64> {
    let runs: Value = serde_json::from_str(&place.run(&["history", "--json"]).out).unwrap();
    let runs = runs.as_array().unwrap().iter();
    runs.map(|run| run["rounds"].as_u64().unwrap()).collect()
}

/// Of verdicts about another task than the reference's there are none, however they are asked for.
#[test]
fn a_contestant_whose_contract_is_not_exact_gets_no_verdict() {
    let place = place();
    edit(&place, "study.toml", &format!("claims = [\"{CLAIM}\"]"), "");
    edit(&place, "study.toml", "[\"plain\", \"unrolled\"]", "[\"plain\"]");
    let contract = "[[contract]]\nname = \"other\"\nexact = false\ntext = \"another task\"\n";
    add(&place, &format!("{contract}[[contestant]]\nname = \"unrolled\"\ncontract = \"other\"\n"));
    let (said, result) = run(&place, &["--order"]);
    assert!(
        result["runs"].as_array().is_none_or(|runs| {
            runs.iter().all(|run| run["verdicts"].as_array().is_none_or(Vec::is_empty))
        }),
        "{said:?}"
    );
    let said = place.run(&["study", "run", "demo", "--claim", CLAIM, "--budget", "12 rounds"]);
    assert!(!said.out.contains("Holds") && !said.out.contains("Refuted"), "{said:?}");
}

#[test]
fn placements_that_are_drawn_again_are_told() {
    let place = place();
    let reused = ["--placements", "4", "--order", "--budget", "12 rounds"];
    let (said, result) = run(&place, &reused);
    assert!(said.out.contains("not valid"), "{said:?}");
    let warnings = result["runs"][0]["warnings"].to_string();
    assert!(warnings.contains("placements_reused"), "{warnings}");
}

#[test]
fn a_study_needs_no_folder_for_temporary_files() {
    let place = place();
    let words = ["study", "run", "demo", "--only", "small", "--budget", "12 rounds"];
    let output = place.command(&words).env("TMPDIR", place.path("nowhere")).output().unwrap();
    let said = Ran::of(output);
    assert!([0, 1, 2].contains(&said.code), "{said:?}");
    assert!(place.path("cache/placements").exists());
}
