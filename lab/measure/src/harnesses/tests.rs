//! What harnesses said, read, and what is said to them.

use super::*;

fn read(harness: &dyn Harness, output: &str) -> Result<Vec<(String, f64)>, String> {
    let timed = harness.read(output, Path::new("/nowhere"))?;
    Ok(timed.into_iter().map(|one| (one.name, one.ns)).collect())
}

fn words(harness: &dyn Harness, names: Option<&[&str]>) -> Vec<String> {
    let program =
        Program { name: String::new(), words: vec!["./bench".to_owned()], folder: PathBuf::new() };
    let slice = Duration::from_millis(20);
    let (limit, stop) = (Duration::from_secs(1), AtomicBool::new(false));
    let results = Path::new("/r");
    let asked = SliceRequest { names, slice, results, padding_bytes: 0, limit, stop: &stop };
    let command = harness.command(&program, &asked);
    command.get_args().map(|word| word.to_string_lossy().into_owned()).collect()
}

#[test]
fn lines_of_go() {
    let output = "goos: linux\npkg: example.com/s\nBenchmarkMax  \t 4321\t   5281 ns/op\n\
        BenchmarkSum/n=10 \t 99\t 3.5 ns/op\t 8 B/op\t 1 allocs/op\nBenchmarkNone\nPASS\n";
    let expected = [("BenchmarkMax".to_owned(), 5281.0), ("BenchmarkSum/n=10".to_owned(), 3.5)];
    assert_eq!(read(&go::Go, output).unwrap(), expected);
    let threads = std::thread::available_parallelism().unwrap();
    let behind = format!("BenchmarkSize/of-{threads}-{threads} 10 2 ns/op\n");
    assert_eq!(read(&go::Go, &behind).unwrap()[0].0, format!("BenchmarkSize/of-{threads}"));
    assert!(read(&go::Go, "BenchmarkX 1 many ns/op").unwrap_err().contains("no time before"));
    let asked = words(&go::Go, Some(&["BenchmarkSum/n=10", "BenchmarkMax"]));
    assert!(asked.contains(&"-test.bench=^BenchmarkSum$/^n=10$|^BenchmarkMax$".to_owned()));
}

#[test]
fn json_of_google_benchmark() {
    let folder = tempfile::tempdir().unwrap();
    let read = |text: &str| {
        fs::write(folder.path().join("results.json"), text).unwrap();
        google::Google.read("a banner", folder.path())
    };
    let output = r#"{"context": {}, "benchmarks": [
        {"name": "BM_f<int>/8", "run_type": "iteration", "real_time": 1.5, "time_unit": "us"},
        {"name": "BM_f<int>/8", "run_type": "iteration", "real_time": 2.5, "time_unit": "us"},
        {"name": "BM_f<int>/8_mean", "run_type": "aggregate", "real_time": 1, "time_unit": "us"},
        {"name": "BM_g", "skipped": true, "real_time": 0, "time_unit": "ns"}
    ]}"#;
    assert_eq!(read(output).unwrap(), [Timed::exact("BM_f<int>/8", 2000.0)]);
    let failed = r#"{"benchmarks": [{"name": "x", "error_occurred": true}]}"#;
    assert_eq!(read(failed).unwrap(), []);
    assert!(read("BM_f 12 ns").is_err());
    let asked = words(&google::Google, Some(&["BM_f<int>/8", "g(1.5)"]));
    assert!(
        asked.contains(&r"--benchmark_filter=^(BM_f<int>/8|g\(1\.5\))$".to_owned()),
        "{asked:?}"
    );
}

#[test]
fn files_of_criterion_and_pytest() {
    let folder = tempfile::tempdir().unwrap();
    let new = folder.path().join("group").join("first").join("new");
    fs::create_dir_all(&new).unwrap();
    fs::write(new.join("benchmark.json"), r#"{"full_id": "a group/first"}"#).unwrap();
    fs::write(new.join("sample.json"), r#"{"iters": [10.0, 20.0], "times": [50.0, 70.0]}"#)
        .unwrap();
    let timed = criterion::Criterion.read("", folder.path()).unwrap();
    assert_eq!(timed, [Timed::exact("a group/first", 4.0)]);
    fs::write(new.join("sample.json"), "{}").unwrap();
    assert!(criterion::Criterion.read("", folder.path()).unwrap_err().contains("has no samples"));
    let results = r#"{"benchmarks": [{"fullname": "t.py::test_x[1]", "stats": {"mean": 2e-6}}]}"#;
    fs::write(folder.path().join("results.json"), results).unwrap();
    let timed = pytest::Pytest.read("", folder.path()).unwrap();
    assert_eq!((timed[0].name.as_str(), timed[0].ns.round()), ("t.py::test_x[1]", 2000.0));
    assert!(words(&pytest::Pytest, Some(&["t.py::test_x[1]"])).contains(&"t.py::test_x[1]".into()));
}

#[test]
fn lines_of_anyone() {
    let output = "# comment\nsum of 8  12.5\nnothing\nbad -3\nlast\t7\n";
    let expected = [("sum of 8".to_owned(), 12.5), ("last".to_owned(), 7.0)];
    assert_eq!(read(&custom::Custom, output).unwrap(), expected);
    assert_eq!(read(&custom::Custom, "").unwrap(), []);
    let steps =
        custom::Custom.read("a 12\nb 12.50\nc 1.20e+03\nd 1E-2", Path::new("/nowhere")).unwrap();
    assert_eq!(steps.iter().map(|one| one.step_ns).collect::<Vec<_>>(), [1.0, 0.01, 10.0, 0.01]);
}

#[test]
fn traces_of_harnesses() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path();
    let found = || ALL.iter().filter_map(|one| one.trace(project).map(|_| one.name()));
    assert_eq!(found().count(), 0);
    fs::write(project.join("Cargo.toml"), "[dev-dependencies]\ncriterion = \"0.5\"\n").unwrap();
    assert_eq!(found().collect::<Vec<_>>(), ["criterion"]);
    fs::write(project.join("x_test.go"), "package x\n\nfunc BenchmarkX(b *testing.B) {}\n")
        .unwrap();
    fs::write(project.join("CMakeLists.txt"), "target_link_libraries(b benchmark::benchmark)")
        .unwrap();
    fs::write(project.join("setup.cfg"), "tests = pytest-benchmark\n").unwrap();
    let expected = ["criterion", "go", "google-benchmark", "pytest-benchmark"];
    assert_eq!(found().collect::<Vec<_>>(), expected);
}
