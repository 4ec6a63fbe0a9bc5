use super::*;

const PAGE: &str = "\
| folder | crate | what it does | may use | unsafe | may not |
|---|---|---|---|---|---|
| `lab/core` | `t-core` | nouns | - | forbidden | read a clock |
| `lab/stats` | `t-stats` | evidence | `t-core` | forbidden | |
| `lab/machine` | `t-machine` | probes | `t-core` | allowed | print |
";

const THIRD_PARTY: &str = "\
| dependency | used by | reason | weighed against |
|---|---|---|---|
| `serde`, `serde_json` | `t-core` | JSON | own |
| `libm` | `t-stats` | same bits | std |
";

fn package(name: &str, uses: &[(&str, bool)]) -> Package {
    let dependency = |(name, local): &(&str, bool)| Dependency {
        name: (*name).to_owned(),
        path: local.then(|| "somewhere".to_owned()),
    };
    Package { name: name.to_owned(), dependencies: uses.iter().map(dependency).collect() }
}

fn workspace(stats: &[(&str, bool)]) -> Metadata {
    let core = package("t-core", &[("serde", false), ("serde_json", false)]);
    let packages = vec![core, package("t-stats", stats), package("t-machine", &[])];
    Metadata { packages }
}

#[track_caller]
fn check(metadata: &Metadata, expected: &[&str]) {
    let map = map(PAGE).unwrap();
    let mut findings = check_edges(&map, metadata);
    findings.extend(check_dependencies(THIRD_PARTY, &map, metadata).unwrap());
    let found: Vec<_> = findings.iter().map(Finding::to_string).collect();
    assert_eq!(found, expected);
}

#[test]
fn what_the_pages_grant_may_be_used() {
    check(&workspace(&[("t-core", true), ("libm", false)]), &[]);
}

#[test]
fn an_edge_that_the_map_lacks_is_found() {
    check(
        &workspace(&[("t-machine", true), ("libm", false)]),
        &["lab/stats/Cargo.toml:1: t-stats uses t-machine: \
           drop it, or say in ARCHITECTURE.md that it may"],
    );
}

#[test]
fn a_dependency_without_a_reason_is_found_and_a_reason_without_a_use() {
    check(
        &workspace(&[("rand", false)]),
        &[
            "lab/stats/Cargo.toml:1: t-stats uses rand: \
             drop it, or give the reason in docs/dependencies.md",
            "docs/dependencies.md:4: t-stats does not use libm: say who does",
        ],
    );
}

#[test]
fn crates_and_rows_must_match() {
    let mut metadata = workspace(&[("libm", false)]);
    metadata.packages.remove(2);
    metadata.packages.push(package("t-new", &[]));
    check(
        &metadata,
        &[
            "ARCHITECTURE.md:1: the crate t-new has no row: add it to the table of crates",
            "ARCHITECTURE.md:5: the workspace has no crate t-machine: drop the row",
        ],
    );
}

#[test]
fn a_broken_map_is_refused() {
    let error = |page: &str| map(page).unwrap_err().to_string();
    assert!(error("no table").contains("no table with the columns folder, crate"));
    assert!(error(&PAGE.replace("allowed", "maybe")).contains("'maybe' is neither"));
    assert!(error(&PAGE.replace('`', "")).contains("stand in backticks"));
}
