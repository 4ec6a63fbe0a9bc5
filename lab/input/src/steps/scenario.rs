//! A scenario: a contest that steps build up, written as a file of claims and read as one.

use super::{Below, Does, STEPS, Step};
use crate::MAX_FILE_BYTES;
use crate::error::shown;
use crate::file::{ClaimsFile, parse_file};
use crate::inputs::{self, Input, Place};
use crate::parameters::fill;
use crate::suggest::closest;
use tiebreak_core::verdict::Verdict;

/// What errors call the file that a scenario becomes.
const FILE: &str = "the scenario";
/// The table of a file of claims whose keys are the options of a scenario.
const CONTEST: &str = "claims.contest";
/// Keys of a file of claims that are not options of a scenario, because steps say them or because
/// they are for all scenarios.
const NOT_OPTIONS: [&str; 8] =
    ["name", "claims", "contestants", "revisions", "error", "budget", "family", "seed"];

/// An argument of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A part of its text, or a doc string.
    Text(String),
    /// A table.
    Table(Vec<Vec<String>>),
}

/// What a step asks for.
#[derive(Debug)]
pub enum Task {
    /// Nothing: the scenario remembers what it says.
    Nothing,
    /// To race for these claims, which must hold.
    Claims(Box<ClaimsFile>),
    /// To race for these claims, and to compare their verdicts with those of the table.
    Verdicts(Box<ClaimsFile>, Vec<Vec<String>>),
}

/// What the steps of a scenario have said so far.
#[derive(Clone, Debug, Default)]
pub struct Scenario {
    programs: Vec<Pair>,
    parameters: Vec<Pair>,
    options: Vec<Pair>,
    budget: Option<String>,
    error: Option<String>,
}

/// A name and what it names.
type Pair = (String, String);

impl Scenario {
    /// Performs the step at this position of [`STEPS`].
    ///
    /// # Errors
    /// Fails if there is no such step, if its arguments are not those that it takes, or if what it
    /// says is wrong; the text says what would be right. The scenario then stays as it was.
    pub fn perform(&mut self, index: usize, arguments: &[Argument]) -> Result<Task, String> {
        let mut next = self.clone();
        let task = next.take(index, arguments)?;
        *self = next;
        Ok(task)
    }

    fn take(&mut self, index: usize, arguments: &[Argument]) -> Result<Task, String> {
        let step = STEPS.get(index).ok_or("no step has this id; step_matches gives the ids")?;
        let (texts, table) = taken_apart(step, arguments)?;
        match step.does {
            Does::Program => self.programs.extend(pairs(&texts, &table)),
            Does::Parameter => self.parameters.extend(pairs(&texts, &table)),
            Does::Option => self.options.extend(pairs(&texts, &table)),
            Does::Race => {
                for (name, text) in step.names().zip(&texts) {
                    let place = if name == "ERROR" { &mut self.error } else { &mut self.budget };
                    *place = Some((*text).to_owned());
                }
            }
            Does::Claim(_) => return self.claims(&[step.text(&texts)]),
            Does::Share => return self.claims(&[share_claim(&texts)?]),
            Does::Claims => {
                let lines = texts.iter().flat_map(|text| text.lines()).map(str::trim);
                let lines = lines.filter(|line| !line.is_empty()).map(str::to_owned);
                return self.claims(&lines.collect::<Vec<_>>());
            }
            Does::Verdicts => {
                self.check_programs()?;
                self.check_parameters()?;
                let rows = pairs(&texts, &table);
                let claims = rows.into_iter().map(claim_of_row).collect::<Result<Vec<_>, _>>()?;
                return Ok(Task::Verdicts(Box::new(self.file(&claims)?), table));
            }
        }
        self.check()?;
        Ok(Task::Nothing)
    }

    fn claims(&self, claims: &[String]) -> Result<Task, String> {
        self.check_programs()?;
        self.check_parameters()?;
        Ok(Task::Claims(Box::new(self.file(claims)?)))
    }

    /// Checks what was said so far, so that the step that says something wrong fails, and not the
    /// one that races.
    fn check(&self) -> Result<(), String> {
        check_names(&self.programs, "programs")?;
        check_names(&self.parameters, "parameters")?;
        check_names(&self.options, "options")?;
        if let Some((key, _)) = self.options.iter().find(|(key, _)| NOT_OPTIONS.contains(&&**key)) {
            return Err(format!(
                "'{key}' is not an option of a scenario: it is said in a step, or to the server; \
                 'tiebreak wire --steps' lists the steps"
            ));
        }
        let unknown = self.options.iter().find(|(key, _)| inputs::key(CONTEST, key).is_none());
        if let Some((key, _)) = unknown {
            return Err(unknown_option(key));
        }
        let said = [&self.programs, &self.parameters, &self.options].into_iter().flatten();
        if said.map(|(name, text)| name.len() + text.len()).sum::<usize>() > MAX_FILE_BYTES {
            return Err(format!(
                "this scenario is too long: expected at most {MAX_FILE_BYTES} bytes"
            ));
        }
        // Any claim about any program does.
        let program = self.programs.first().map_or("a program", |(name, _)| name);
        self.file(&[format!("\"{program}\" succeeds at least 50% of the time")]).map(drop)
    }

    fn check_programs(&self) -> Result<(), String> {
        if self.programs.is_empty() {
            let step = r#"the program "NAME" is "COMMAND""#;
            return Err(format!("this scenario names no program: write '{step}' before a claim"));
        }
        Ok(())
    }

    fn check_parameters(&self) -> Result<(), String> {
        for (name, _) in &self.parameters {
            let place = format!("{{{name}}}");
            let mut texts = self.programs.iter().chain(&self.options).map(|(_, text)| text);
            if !texts.any(|text| text.contains(&place)) {
                return Err(format!(
                    "nothing uses the parameter {name}: write {place} where its value goes"
                ));
            }
        }
        Ok(())
    }

    /// Reads the scenario, with these claims, as a file of claims.
    fn file(&self, claims: &[String]) -> Result<ClaimsFile, String> {
        parse_file(FILE, &self.written(claims)).map_err(|errors| errors.render(false))
    }

    /// Writes the scenario, with these claims, as a file of claims. One that has become too long to
    /// be read as such is cut off.
    fn written(&self, claims: &[String]) -> String {
        let said = [("error", &self.error), ("budget", &self.budget)];
        let said = said.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?)));
        let head = said.map(|(key, value)| format!("{key} = {}\n", quoted(value)));
        let options = self.options.iter().map(|(key, value)| {
            format!("{} = {}\n", quoted(key), option_value(key, &self.filled(value)))
        });
        let claims = claims.iter().map(|claim| format!("    {},\n", quoted(claim)));
        let other = ("a program".to_owned(), "true".to_owned());
        let no_other = Some(&other).filter(|_| self.programs.is_empty());
        let programs = self.programs.iter().chain(no_other).map(|(name, command)| {
            format!("{} = {}\n", quoted(name), quoted(&self.filled(command)))
        });
        let line = |text: &str| std::iter::once(text.to_owned());
        let lines = head.chain(line("[[contest]]\n")).chain(options);
        let lines = lines.chain(line("claims = [\n")).chain(claims);
        let lines = lines.chain(line("]\n[contest.contestants]\n")).chain(programs);
        let mut text = String::new();
        for line in lines {
            text += &line;
            if text.len() > MAX_FILE_BYTES {
                break;
            }
        }
        text
    }

    /// Returns a text with the values of the parameters. None is filled in behind what is too long
    /// for a file.
    fn filled(&self, text: &str) -> String {
        fill(text, &self.parameters, MAX_FILE_BYTES)
    }
}

/// Returns the texts of the arguments, and the table below the step, if the step takes them.
fn taken_apart<'a>(
    step: &Step,
    arguments: &'a [Argument],
) -> Result<(Vec<&'a str>, Vec<Vec<String>>), String> {
    let (mut texts, mut table) = (Vec::new(), Vec::new());
    for argument in arguments {
        match argument {
            Argument::Text(text) => texts.push(text.as_str()),
            Argument::Table(rows) => table.clone_from(rows),
        }
    }
    let pattern = step.pattern;
    let of_text = usize::from(step.below == Below::Text);
    if texts.len() != step.names().count() + of_text
        || texts.iter().any(|text| text.trim().is_empty())
    {
        let below = if of_text == 1 { ", and a doc string below it that is not empty" } else { "" };
        return Err(format!("'{pattern}' takes a text for each word in capitals{below}"));
    }
    match (step.below, table.first()) {
        (Below::Table(columns), Some(first)) if *first == columns => {
            match table.iter().find(|row| row.len() != columns.len()) {
                None if table.len() > 1 => Ok((texts, table)),
                _ => Err(format!("'{pattern}' takes a table with rows of two cells")),
            }
        }
        (Below::Table([left, right]), _) => Err(format!(
            "'{pattern}' takes a table below it, whose first line is | {left} | {right} |"
        )),
        (_, Some(_)) => Err(format!("'{pattern}' takes no table")),
        (_, None) => Ok((texts, table)),
    }
}

/// Returns the rows of a table of two columns, or the two texts of a step without one.
fn pairs(texts: &[&str], table: &[Vec<String>]) -> Vec<Pair> {
    match texts {
        [name, value] => vec![((*name).to_owned(), (*value).to_owned())],
        _ => table.iter().skip(1).map(|row| (row[0].clone(), row[1].clone())).collect(),
    }
}

/// Checks that no name is given twice.
fn check_names(pairs: &[Pair], what: &str) -> Result<(), String> {
    let twice = pairs
        .iter()
        .enumerate()
        .find(|(index, (name, _))| pairs[..*index].iter().any(|(other, _)| other == name));
    match twice {
        None => Ok(()),
        Some((_, (name, _))) => Err(format!(
            "two {what} of this scenario are called '{}': their names must differ",
            shown(name)
        )),
    }
}

/// Says that a scenario has no such option, and which it has that is similar.
fn unknown_option(key: &str) -> String {
    let options = Place::of(CONTEST).inputs().map(|input| input.name.as_str());
    let meant = closest(&key.replace('_', "-"), options.filter(|key| !NOT_OPTIONS.contains(key)));
    let meant = meant.map_or_else(
        || "docs/manual/check.md lists those of a contest".to_owned(),
        |meant| format!("did you mean '{meant}'?"),
    );
    format!("a scenario has no option '{}'; {meant}", shown(key))
}

/// Returns the claim of `99% of "old" take less than 50 ms`.
fn share_claim(texts: &[&str]) -> Result<String, String> {
    let [share, name, bar] = texts else { return Err("this step takes three texts".to_owned()) };
    match share.strip_suffix('%') {
        Some(share) => Ok(format!("p{} of \"{name}\" is below {bar}", share.trim_end())),
        None => Err(format!("'{}' is not a share: expected one such as 99%", shown(share))),
    }
}

/// Returns the claim of a row, if the row expects a verdict of it.
fn claim_of_row((claim, verdict): Pair) -> Result<String, String> {
    let names = Verdict::ALL.map(Verdict::name);
    if names.contains(&verdict.as_str()) {
        return Ok(claim);
    }
    Err(format!("'{}' is not a verdict: expected {}", shown(&verdict), names.join(", ")))
}

/// Writes the value of an option as the type of its key has it: a string, unless it is a boolean, a
/// whole number or an array of such.
fn option_value(key: &str, value: &str) -> String {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let inner = value.strip_prefix('[').and_then(|value| value.strip_suffix(']'));
    let is_array = inner.is_some_and(|inner| inner.split(',').all(|one| is_number(one.trim())));
    let is_bare = matches!(value, "true" | "false") || is_number(value) || is_array;
    let is_text = inputs::key(CONTEST, key).is_none_or(Input::is_text);
    if is_bare && !is_text { value.to_owned() } else { quoted(value) }
}

/// Writes a text as a string of TOML: as it is between single quotes, if that can be.
fn quoted(text: &str) -> String {
    if !text.contains(|c: char| c == '\'' || c.is_control()) {
        return format!("'{text}'");
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted += &format!("\\U{:08X}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::find;
    use tiebreak_core::plan::{Budget, Success};

    /// Performs steps, each with what stands below it, and returns what the last one asks for.
    fn perform(steps: &[(&str, Option<Argument>)]) -> Result<Task, String> {
        let mut scenario = Scenario::default();
        let mut last = Ok(Task::Nothing);
        for (text, below) in steps {
            last.as_ref().map_err(|error| panic!("before {text}: {error}")).unwrap();
            let found = find(text).unwrap_or_else(|| panic!("no step for {text}"));
            let texts = found.arguments.into_iter().map(|place| text[place].to_owned());
            let arguments: Vec<Argument> = texts.map(Argument::Text).chain(below.clone()).collect();
            last = scenario.perform(found.index, &arguments);
        }
        last
    }

    fn table(rows: &[[&str; 2]]) -> Option<Argument> {
        let rows = rows.iter().map(|row| row.map(str::to_owned).to_vec());
        Some(Argument::Table(rows.collect()))
    }

    fn text(text: &str) -> Option<Argument> {
        Some(Argument::Text(text.to_owned()))
    }

    const OLD: (&str, Option<Argument>) = (r#"the program "old" is "sort -n {file}""#, None);
    const NEW: (&str, Option<Argument>) = (r#"the program "new" is "sort -g {file}""#, None);
    const FILE: (&str, Option<Argument>) = (r#"the parameter "file" is "it's.txt""#, None);

    #[test]
    fn a_scenario_becomes_a_file_of_claims() {
        let steps = [
            OLD,
            ("these programs:", table(&[["program", "command"], ["new", "sort -g {file}"]])),
            FILE,
            (
                "these options:",
                table(&[
                    ["option", "value"],
                    ["success", "[1, 2]"],
                    ["cpus", "0"],
                    ["warmup", "3"],
                ]),
            ),
            ("they are raced for at most 2 min, 300 rounds with an error of 5%", None),
            (r#""new" is at least 1.5x faster than "old""#, None),
        ];
        let Task::Claims(file) = perform(&steps).unwrap() else { panic!("no claims") };
        assert_eq!(file.error, Some(0.05));
        assert_eq!(file.budget, Some(Budget { rounds: Some(300), seconds: Some(120.0) }));
        let contest = &file.contests[0];
        assert_eq!(contest.claims[0].claim.left, "new");
        assert_eq!(contest.options.program.success, Success::Statuses(vec![1, 2]));
        assert_eq!(contest.options.program.cpus, [0]);
        assert_eq!(contest.options.program.warmup_runs, 3);
        let crate::Entrants::Programs(programs) = &contest.entrants else { panic!("revisions") };
        let commands: Vec<&str> = programs.iter().map(|program| &*program.command).collect();
        assert_eq!(commands, ["sort -n it's.txt", "sort -g it's.txt"]);
    }

    fn check_claims(step: (&str, Option<Argument>), expected: &[&str]) {
        let asked = perform(&[OLD, NEW, FILE, step.clone()]);
        let (Task::Claims(file) | Task::Verdicts(file, _)) = asked.unwrap() else {
            panic!("{step:?} asks for nothing")
        };
        let texts: Vec<&str> =
            file.contests[0].claims.iter().map(|claim| claim.claim.text.as_str()).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn steps_state_claims() {
        check_claims(
            (r#"99% of "old" take less than 50 ms"#, None),
            &[r#"p99 of "old" is below 50 ms"#],
        );
        check_claims(
            (r#"99.5 % of "old" take less than 50 ms with 98% as bad"#, None),
            &[r#"p99.5 of "old" is below 50 ms with 98% as bad"#],
        );
        check_claims(
            (r#""old" uses less memory than "new""#, None),
            &[r#""old" uses less memory than "new""#],
        );
        check_claims(
            ("these claims hold:", text("new is faster than old\n\n  old is within 50% of new\n")),
            &["new is faster than old", "old is within 50% of new"],
        );
        let verdicts = table(&[["claim", "verdict"], ["new is faster than old", "too close"]]);
        check_claims(("the verdicts are:", verdicts), &["new is faster than old"]);
    }

    fn check_error(steps: &[(&str, Option<Argument>)], expected: &[&str]) {
        let error = perform(steps).expect_err("an error");
        for expected in expected {
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_step_that_fails_leaves_the_scenario_as_it_was() {
        let mut scenario = Scenario::default();
        let mut program = |name: &str| {
            let step = find(r#"the program "a" is "b""#).unwrap().index;
            let texts = [name, "true"].map(|text| Argument::Text(text.to_owned()));
            scenario.perform(step, &texts)
        };
        assert!(program("a").is_ok());
        assert!(program("a").unwrap_err().contains("two programs"));
        assert!(program("c").is_ok(), "the second a is forgotten");
    }

    #[test]
    fn parameters_are_filled_once_and_never_for_ever() {
        let steps = [
            (r#"the program "p" is "echo {a}{c}""#, None),
            (r#"the parameter "a" is "{c}{d""#, None),
            (r#"the parameter "c" is "3""#, None),
            (r#""p" succeeds at least 50% of the time"#, None),
        ];
        let Task::Claims(file) = perform(&steps).unwrap() else { panic!("no claims") };
        let crate::Entrants::Programs(programs) = &file.contests[0].entrants else {
            panic!("revisions")
        };
        assert_eq!(programs[0].command, "echo {c}{d3");

        let many = format!(r#"the program "p" is "{}""#, "{a}".repeat(100_000));
        let long = format!(r#"the parameter "a" is "{}""#, "x".repeat(100_000));
        check_error(&[(&many, None), (&long, None)], &["expected at most 1000000"]);
        let longer = format!(r#"the program "p" is "{}""#, "x".repeat(MAX_FILE_BYTES));
        check_error(&[(&longer, None)], &["this scenario is too long"]);
    }

    #[test]
    fn the_step_that_is_wrong_says_what_would_be_right() {
        let fails = |step: (&'static str, Option<Argument>), expected: &[&str]| {
            check_error(&[OLD, NEW, FILE, step], expected);
        };
        fails(
            (r#""new" is fsater than "old""#, None),
            &["'fsater' cannot stand here", "did you mean 'faster'"],
        );
        fails(
            (r#""new" is faster than "odl""#, None),
            &["no contestant is called 'odl'", "did you mean 'old'"],
        );
        fails((r#""new" is faster than "new""#, None), &["is compared with itself"]);
        fails((r#""mean" is faster than "old""#, None), &["no contestant is called 'mean'"]);
        fails((r#"most of "old" take less than 5 ms"#, None), &["'most' is not a share"]);
        fails((r#"mean of "old" is below 5 ms"#, None), &["this mean has no cap"]);
        fails((r#"the program "old" is "true""#, None), &["two programs", "'old'"]);
        fails((r#"the program "a'b" is "true""#, None), &["is not a valid contestant name"]);
        fails((r#"the option "timeot" is "5s""#, None), &["timeot", "did you mean 'timeout'"]);
        fails((r#"the option "budgets" is "5s""#, None), &["no option 'budgets'; docs/manual"]);
        fails((r#"the option "timeout" is "5""#, None), &["invalid value", "timeout"]);
        fails((r#"the option "warmup" is "many""#, None), &["'warmup' cannot be a string"]);
        fails((r#"the option "seed" is "5""#, None), &["is not an option of a scenario"]);
        fails(("they are raced for at most ages", None), &["invalid value 'ages' for 'budget'"]);
        fails(("they are raced with an error of 60%", None), &["above 0 and below 50%"]);
        fails(("these claims hold:", None), &["a doc string below it"]);
        fails(("these claims hold:", text("\n")), &["a doc string below it"]);
        fails(
            ("these claims hold:", text("new is faster than old\nnew is faster than old")),
            &["already"],
        );
        fails(("these programs:", None), &["first line is | program | command |"]);
        fails(("these programs:", table(&[["name", "command"]])), &["| program | command |"]);
        fails(("these programs:", table(&[["program", "command"]])), &["rows of two cells"]);
        fails(
            ("the verdicts are:", table(&[["claim", "verdict"], ["a", "true"]])),
            &["'true' is not a verdict", "too close"],
        );
        fails((r#"the parameter "x" is "y""#, table(&[["a", "b"]])), &["takes no table"]);
        check_error(
            &[
                OLD,
                (r#"the parameter "level" is "9""#, None),
                (r#""old" is within 1% of "old""#, None),
            ],
            &["nothing uses the parameter level"],
        );
        check_error(&[(r#""a" is faster than "b""#, None)], &["this scenario names no program"]);
        let error = Scenario::default().perform(99, &[]).unwrap_err();
        assert!(error.contains("no step has this id"), "{error}");
        let error = Scenario::default().perform(0, &[]).unwrap_err();
        assert!(error.contains("takes a text for each word in capitals"), "{error}");
    }

    #[test]
    fn any_text_is_written_as_a_string_that_is_read_back() {
        for text in ["plain", "it's", "a\"b'c\\d", "tab\there\u{7f}\u{1}", "\u{e9}\u{2028}"] {
            let written = format!("a = {}", quoted(text));
            let read: toml::Table = toml::from_str(&written).unwrap();
            assert_eq!(read["a"].as_str(), Some(text), "{written}");
        }
    }
}
