//! Files of claims that are right, what they are read as, and the limits of all files.

use tiebreak_core::plan::{
    Adjust, Budget, Centre, Check, Gate, Hooks, OutputPlan, Primer, ProgramPlan, Success,
};
use tiebreak_core::result::Family;
use tiebreak_input::{
    ClaimsFile, Contest, EXAMPLE, Entrants, MAX_CONTESTANTS, MAX_FILE_BYTES, MAX_FILE_CLAIMS,
    parse_file,
};

const SMALLEST: &str = "\
[[contest]]
claims = [\"quick is faster than slow\"]

[contest.contestants]
quick = \"sort -n numbers.txt\"
slow = \"sort -g numbers.txt\"
";

fn read(text: &str) -> ClaimsFile {
    parse_file("claims.toml", text).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn refused(text: &str) -> String {
    parse_file("claims.toml", text).unwrap_err().to_string()
}

/// The only contest of a file that starts with these lines and goes on with the smallest one.
fn contest(options: &str, in_contest: &str) -> Contest {
    let contest = format!("[[contest]]\n{in_contest}");
    let mut file = read(&format!("{options}{}", SMALLEST.replace("[[contest]]\n", &contest)));
    file.contests.pop().unwrap()
}

#[test]
fn the_smallest_file_has_six_lines_and_no_options() {
    assert_eq!(SMALLEST.lines().count(), 6);
    let file = read(SMALLEST);
    assert_eq!((file.error, file.budget, file.family), (None, None, None));
    assert_eq!(file.seed, None);
    let [contest] = &file.contests[..] else { panic!("{file:?}") };
    assert_eq!((contest.name.as_str(), contest.line), ("contest-1", 1));
    assert_eq!(contest.options.program, ProgramPlan::default());
    assert_eq!(contest.options.workload, "");
    assert_eq!((contest.options.resolution, contest.options.centre), (None, None));
    assert_eq!((contest.options.adjust, contest.options.block_runs), (None, None));
    let Entrants::Programs(programs) = &contest.entrants else { panic!("{contest:?}") };
    let named: Vec<_> = programs.iter().map(|p| (p.name.as_str(), p.command.as_str())).collect();
    assert_eq!(named, [("quick", "sort -n numbers.txt"), ("slow", "sort -g numbers.txt")]);
    assert!(programs.iter().all(|p| p.hooks == Hooks::default() && p.directory.is_none()));
    let [claim] = &contest.claims[..] else { panic!("{contest:?}") };
    assert_eq!((claim.line, claim.gate), (2, Gate::None));
    assert_eq!(claim.claim.text, "quick is faster than slow");
    assert_eq!(file.claims(), 1);
}

#[test]
fn all_that_is_said_of_the_file_is_read() {
    let said = "error = 0.001\nbudget = \"2min, 500 rounds\"\nfamily = \"e-bh\"\nseed = 0x2a\n";
    let file = read(&format!("{said}{SMALLEST}"));
    assert_eq!(file.error, Some(0.001));
    assert_eq!(file.budget, Some(Budget { rounds: Some(500), seconds: Some(120.0) }));
    assert_eq!((file.family, file.seed.as_deref()), (Some(Family::EBh), Some("0x2a")));
}

#[test]
fn every_option_is_read_at_both_places() {
    let options = "resolution = \"2%\"\ncentre = \"factor\"\nadjust = [\"slot\", \"strata\"]\n\
        block = 30\nshell = \"default\"\ninput = \"data/x.txt\"\noutput = \"null\"\n\
        output-limit = \"1MiB\"\ndirectory = \"build\"\ncheck = \"exit\"\nsuccess = [1, 3]\n\
        timeout = \"1.5s\"\nwarmup = 2\ncpus = \"0,2-3\"\nwait-for-quiet = false\n\
        primer = \"never\"\n\
        setup = \"1\"\nprepare = \"2\"\nconclude = \"3\"\ncleanup = \"4\"\n";
    for contest in [contest(options, ""), contest("", options)] {
        let hook = |text: &str| Some(text.to_owned());
        let Entrants::Programs(programs) = &contest.entrants else { panic!("{contest:?}") };
        let hooks =
            Hooks { setup: hook("1"), prepare: hook("2"), conclude: hook("3"), cleanup: hook("4") };
        assert!(programs.iter().all(|p| p.hooks == hooks && p.workload == "x.txt"));
        let said = contest.options;
        assert_eq!((said.resolution, said.centre), (Some(0.02), Some(Centre::Factor)));
        assert_eq!(said.adjust, Some(Adjust { slot: true, strata: true }));
        assert_eq!((said.block_runs, said.workload.as_str()), (Some(30), "x.txt"));
        let program = ProgramPlan {
            shell: Some("sh".to_owned()),
            input: Some("data/x.txt".to_owned()),
            output: OutputPlan::Null,
            directory: Some("build".to_owned()),
            timeout_ns: Some(1_500_000_000),
            check: Check::Exit,
            success: Success::Statuses(vec![1, 3]),
            cpus: vec![0, 2, 3],
            warmup_runs: 2,
            wait_for_quiet: false,
            output_limit_bytes: 1 << 20,
            primer: Primer::Never,
        };
        assert_eq!(said.program, program);
    }
}

#[test]
fn what_a_contest_says_goes_before_what_the_file_says() {
    let around = "shell = \"bash\"\ninput = \"x\"\nignore-failure = true\nadjust = \"slot\"\n\
        workload = \"big\"\nprepare = \"sync\"\ncpus = \"1\"\nresolution = 0\n";
    let inner = "shell = \"none\"\ninput = \"/dev/null\"\nsuccess = []\nadjust = \"none\"\n\
        check = \"cmp - x\"\ncentre = \"median\"\n";
    let contest = contest(around, inner);
    let program = &contest.options.program;
    assert_eq!((program.shell.as_deref(), program.input.as_deref()), (None, None));
    assert_eq!(program.success, Success::Statuses(Vec::new()));
    assert_eq!(program.check, Check::Judge("cmp - x".to_owned()));
    assert_eq!(program.cpus, [1]);
    assert_eq!(contest.options.adjust, Some(Adjust::NONE));
    assert_eq!(contest.options.centre, Some(Centre::Median));
    assert_eq!((contest.options.workload.as_str(), contest.options.resolution), ("big", Some(0.0)));
}

#[test]
fn contestants_have_folders_and_hooks_of_their_own_and_keep_their_order() {
    let file = read(
        "[[contest]]\nprepare = 'sync'\nclaims = ['z is faster than a']\n\
         contestants = { z = 'x', 'my prog' = 'w', \
         a = { command = 'y', directory = 'd', prepare = 'p', setup = 's' } }\n",
    );
    let Entrants::Programs(programs) = &file.contests[0].entrants else { panic!("{file:?}") };
    let names: Vec<_> = programs.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["z", "my prog", "a"]);
    assert_eq!(programs[0].hooks.prepare.as_deref(), Some("sync"));
    assert_eq!(programs[2].hooks.prepare.as_deref(), Some("p"));
    assert_eq!(programs[2].hooks.setup.as_deref(), Some("s"));
    assert_eq!(programs[2].directory.as_deref(), Some("d"));
}

#[test]
fn claims_are_gates_where_that_is_said() {
    use Gate::{ClosedUnlessHolds as Strict, None as No, OpenUnlessRefuted as Open};
    let gates = |file: &str, contest: &str| {
        let claims = "claims = ['a is faster than b',\n\
            { claim = 'b is faster than a', gate = true },\n\
            { claim = 'a is within 2% of b', gate = false },\n\
            { claim = 'a is within 3% of b', gate = true, strict = true }]\n";
        let text =
            format!("{file}[[contest]]\n{contest}{claims}contestants = {{ a = 'x', b = 'y' }}\n");
        let claims = read(&text).contests.pop().unwrap().claims;
        claims.iter().map(|claim| claim.gate).collect::<Vec<_>>()
    };
    assert_eq!(gates("", ""), [No, Open, No, Strict]);
    assert_eq!(gates("gate = true\n", ""), [Open, Open, No, Strict]);
    assert_eq!(gates("gate = true\nstrict = true\n", ""), [Strict, Strict, No, Strict]);
    assert_eq!(gates("gate = true\n", "gate = false\nstrict = true\n"), [No, Strict, No, Strict]);
}

#[test]
fn revisions_are_a_gate_unless_something_else_is_said() {
    let revisions = |contest: &str, table: &str| {
        let text = format!(
            "[[contest]]\n{contest}prepare = 'p'\n\n[contest.revisions]\nbase = 'main'\n{table}\
             command = './app input'\n"
        );
        let mut contest = read(&text).contests.pop().unwrap();
        let Entrants::Revisions(revisions) = contest.entrants else { panic!("{text}") };
        (revisions, contest.claims.remove(0))
    };
    let (plain, claim) = revisions("", "");
    assert_eq!((plain.base.as_str(), plain.head.as_str()), ("main", "HEAD"));
    assert_eq!((plain.build, plain.builds_at_once, plain.slowdown_max), (None, false, None));
    assert_eq!(plain.command, "./app input");
    assert_eq!(plain.hooks.prepare.as_deref(), Some("p"));
    assert_eq!(claim.claim.text, "head is no more than 2% slower than base");
    assert_eq!((claim.line, claim.gate), (4, Gate::OpenUnlessRefuted));

    let table = "head = '.'\nbuild = 'make app'\nbuild-jobs = 2\nmax-slowdown = '5%'\n";
    let (other, claim) = revisions("strict = true\n", table);
    assert_eq!((other.head.as_str(), other.build.as_deref()), (".", Some("make app")));
    assert_eq!((other.builds_at_once, other.slowdown_max), (true, Some(0.05)));
    assert_eq!(claim.claim.text, "head is no more than 5% slower than base");
    assert_eq!(claim.gate, Gate::ClosedUnlessHolds);

    let (_, claim) = revisions("claims = ['head is faster than base']\ngate = false\n", "");
    assert_eq!((claim.claim.text.as_str(), claim.gate), ("head is faster than base", Gate::None));
}

#[test]
fn a_mean_of_wall_time_may_have_the_timeout_as_its_cap() {
    let claims = "claims = ['mean of a is below 5 ms', 'mean of a is above 5 by page faults']\n";
    let file = read(&format!("timeout = '1s'\n[[contest]]\n{claims}contestants = {{ a = 'x' }}\n"));
    assert_eq!(file.claims(), 2);
}

#[test]
fn names_and_sentences_may_have_any_letters() {
    let file = read(
        "\u{feff}[[contest]]\nname = \"\u{65e5}\u{672c} 'x'\"\nclaims = [\"'\\u00e9 1' is faster \
         than b on \u{fc}\"]\nworkload = '\u{fc}'\ncontestants = { '\u{e9} 1' = 'x', b = 'y' }\n",
    );
    assert_eq!(file.contests[0].claims[0].claim.left, "\u{e9} 1");
    assert_eq!(file.contests[0].claims[0].line, 3);
}

#[test]
fn the_example_is_right_and_has_every_key() {
    let file = read(EXAMPLE);
    assert_eq!((file.contests.len(), file.claims()), (2, 8));
    // The revisions in it are a comment, as they need a repository.
    let (_, commented) = EXAMPLE.split_once("#[[contest]]").unwrap();
    let live: Vec<&str> = commented.lines().map(|line| line.trim_start_matches('#')).collect();
    let file = read(&format!("[[contest]]\n{}", live.join("\n")));
    let Entrants::Revisions(revisions) = &file.contests[0].entrants else { panic!("{file:?}") };
    assert_eq!(revisions.build.as_deref(), Some("make app"));

    let schema = schema();
    for place in ["", "/$defs/contest", "/$defs/revisions"] {
        let keys = schema.pointer(&format!("{place}/properties")).unwrap().as_object().unwrap();
        for key in keys.keys().filter(|key| !key.starts_with("contest") && *key != "revisions") {
            let starts = [format!("{key} = "), format!("#{key} = ")];
            let is_there = |line: &str| starts.iter().any(|start| line.starts_with(start));
            assert!(EXAMPLE.lines().any(is_there), "{key} is not in the example");
        }
    }
    assert!(EXAMPLE.lines().all(|line| line.chars().count() <= 100 && line.is_ascii()));
}

fn schema() -> serde_json::Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/claims-1.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The blocks of the manual's page in this language.
fn blocks(language: &str) -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/manual/check.md");
    let page = std::fs::read_to_string(path).unwrap();
    let fence = format!("```{language}\n");
    let blocks = page.split(&fence).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_manual_says_what_is_so() {
    let files = blocks("toml");
    assert_eq!(files[0], SMALLEST);
    let contests: Vec<_> = files.iter().filter(|text| text.contains("[[contest]]")).collect();
    assert_eq!(contests.len(), 2);
    contests.into_iter().for_each(|text| drop(read(text)));
    let slip = "[[contest]]\nclaims = [\"a is fsater than b\"]\ncontestants = {a = 'x', b = 'y'}\n";
    let errors = parse_file("claims.toml", slip).unwrap_err();
    assert_eq!(blocks("text"), [errors.render(false) + "\n"]);
}

#[test]
fn sizes_have_limits() {
    let long = format!("{SMALLEST}# {}\n", "x".repeat(MAX_FILE_BYTES));
    let message = refused(&long);
    assert!(
        message.contains(": the file has 1000136 bytes: expected at most 1000000"),
        "{message}"
    );

    let rendered = parse_file("claims.toml", &long).unwrap_err().render(false);
    assert!(rendered.contains("--> claims.toml:7:999868\n") && rendered.len() < 1000, "{rendered}");

    let claim = |n: usize| format!("'a is at least {n}x faster than b', ");
    let many = |n: usize| -> String { (1..=n).map(claim).collect() };
    let contest = |n: usize, name: &str| {
        let claims = many(n);
        format!(
            "[[contest]]\nname = '{name}'\nclaims = [{claims}]\ncontestants = {{a='x',b='y'}}\n"
        )
    };
    let most = contest(MAX_FILE_CLAIMS - 1, "x") + &contest(1, "y");
    assert_eq!(read(&most).claims(), MAX_FILE_CLAIMS);
    let more = contest(MAX_FILE_CLAIMS - 1, "x") + &contest(2, "y");
    let message = refused(&more);
    assert!(message.contains("7:45: this is claim 1001 of the file"), "{message}");

    let contests = "[[contest]]\n".repeat(MAX_FILE_CLAIMS + 10);
    let errors = parse_file("claims.toml", &contests).unwrap_err();
    let last = errors.iter().last().unwrap();
    assert!(last.to_string().starts_with("1001:1: this is contest 1001 of the file"), "{last}");
    let end = "2001 errors in claims.toml, of which the first 100 are shown";
    assert!(errors.to_string().ends_with(end) && errors.render(false).ends_with(end));

    let line = |n: usize| format!("c{n} = 'x'\n");
    let lines: String = (0..=MAX_CONTESTANTS).map(line).collect();
    let crowd =
        format!("[[contest]]\nclaims = ['c1 is faster than c2']\n[contest.contestants]\n{lines}");
    assert!(refused(&crowd).contains("this contest has 1001 contestants: expected at most 1000"));
}

#[test]
fn errors_can_be_iterated_and_are_one_line_each() {
    let text = SMALLEST.replace("slow\"]", "slwo\", 'x']");
    let errors = parse_file("x\u{1b}.toml", &text).unwrap_err();
    let places: Vec<_> = errors.iter().map(|error| (error.line, error.column)).collect();
    assert_eq!(places, [(2, 33), (2, 41)]);
    let lines = errors.to_string();
    assert_eq!(
        lines,
        "x?.toml:2:33: no contestant is called 'slwo': expected 'slow'; did you mean 'slow'?\n\
         x?.toml:2:41: no contestant is called 'x': expected 'quick' or 'slow'\n\
         2 errors in x?.toml"
    );
}
