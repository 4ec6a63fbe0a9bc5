//! The plans of races of two revisions.

use super::*;
use crate::planning::{self, Request};
use tiebreak_core::claim::{Relation, Statement};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Gate, Plan};

fn request(commands: &[&str]) -> Request {
    Request { gate: Gate::OpenUnlessRefuted, ..planning::tests::request(commands) }
}

fn gate(request: Request) -> Result<Plan, LabError> {
    plan(request, SLOWDOWN_MAX)
}

#[test]
fn without_a_claim_head_is_not_much_slower() {
    let made = gate(request(&["./app"])).unwrap();
    assert_eq!(made.claims[0].gate, Gate::OpenUnlessRefuted);
    let names: Vec<_> = made.contestants.iter().map(|contestant| &contestant.name).collect();
    assert_eq!(names, ["base", "head"]);
    let [only] = &made.claims[..] else { panic!("{:?}", made.claims) };
    assert_eq!(only.claim.text, "head is no more than 2% slower than base");
    assert_eq!((only.left, only.right), (1, Some(0)));
    let relation = Relation::NoMoreThan { fraction: 0.02 };
    assert_eq!(only.claim.statement, Statement::Ratio(relation));
    let memory = Request { metric: Metric::PeakMemory, ..request(&["./app"]) };
    let made = plan(memory, 0.005).unwrap();
    let text = &made.claims[0].claim.text;
    assert_eq!(text, "head uses no more than 0.5% more peak memory than base");
    let claims = vec!["head is faster than base".to_owned()];
    let made = gate(Request { claims, ..request(&["./app"]) }).unwrap();
    assert_eq!(made.claims[0].claim.text, "head is faster than base");
}

#[test]
fn what_two_revisions_do_not_have_is_refused() {
    fn check(request: Request, says: &str) {
        let error = gate(request).unwrap_err();
        assert!(error.to_string().contains(says), "should say '{says}': {error}");
    }
    check(request(&["./app", "./other"]), "here are 2");
    check(request(&[]), "here are 0");
    check(Request { names: vec!["x".into()], ..request(&["./app"]) }, "leave --name out");
    let parameters = vec![("n".to_owned(), vec!["1".to_owned()])];
    check(Request { parameters, ..request(&["./app {n}"]) }, "each value by itself");
    let claims = vec!["A is faster than B".to_owned()];
    assert!(matches!(gate(Request { claims, ..request(&["./app"]) }), Err(LabError::Claim(_))));
    for slowdown_max in [-0.1, 1.0, f64::NAN] {
        let error = plan(request(&["./app"]), slowdown_max).unwrap_err();
        assert!(error.to_string().contains("--max-slowdown 2%"), "{error}");
    }
}

#[test]
fn contestants_run_in_their_worktrees() {
    let tiny = Tiny::new();
    tiny.commit("app.sh", "#!/bin/sh\n");
    tiny.commit("bin/other.sh", "#!/bin/sh\n");
    let asked = asked(tiny.path(), "HEAD", "HEAD", Some(BUILD));
    let made = prepare(&asked, &mut Vec::new()).unwrap();
    let mut planned = gate(request(&["./app input"])).unwrap();
    made.place(&mut planned).unwrap();
    for (contestant, revision) in planned.contestants.iter().zip(&made.revisions) {
        let folder = made.folder(revision.name);
        assert_eq!(contestant.directory.as_deref(), folder.to_str());
        assert_eq!(contestant.parameters, [("commit".to_owned(), revision.commit.clone())]);
    }
    let in_folder = |folder: &str| {
        let mut planned = gate(request(&["./app"])).unwrap();
        planned.program.directory = Some(folder.to_owned());
        made.place(&mut planned).map(|()| planned)
    };
    let error = in_folder("bin").unwrap_err().to_string();
    assert!(error.contains("no program './app' after its build"), "{error}");
    assert!(in_folder("/").unwrap_err().to_string().contains("--directory /"));
    let placed = in_folder(".").unwrap();
    assert_eq!(placed.program.directory, None);
    assert_eq!(gone(&placed), None);
    drop(made);
    assert!(gone(&placed).unwrap().contains("--keep"));
}
