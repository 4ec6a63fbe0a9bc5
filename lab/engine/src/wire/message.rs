//! The messages of the wire protocol: arrays of JSON, one in a line.

use serde_json::{Value, json};
use tiebreak_core::verdict::Verdict;
use tiebreak_input::shown;
use tiebreak_input::steps::{Argument, Below, Match, STEPS, listed_line};

/// What Cucumber calls a table and a doc string below a step. It may call them nothing.
const BELOW: [(&str, Below); 2] = [
    ("Cucumber::MultilineArgument::DataTable", Below::Table(["", ""])),
    ("Cucumber::MultilineArgument::DocString", Below::Text),
];

/// What Cucumber asks.
#[derive(Debug, PartialEq)]
pub enum Request {
    /// Which step a text fits.
    StepMatches(String),
    /// To perform the step with this position in [`STEPS`].
    Invoke(usize, Vec<Argument>),
    /// What could stand in place of a text that no step fits; and what stands below it, if known.
    SnippetText(String, Option<Below>),
    /// A scenario begins.
    BeginScenario,
    /// A scenario has ended.
    EndScenario,
}

/// Why a line is no request.
#[derive(Debug, PartialEq)]
pub enum NotARequest {
    /// It is not of the protocol.
    Garbage(String),
    /// It is a message that this server does not know, or that lacks something.
    Unknown(String),
}

impl Request {
    /// Reads a line.
    ///
    /// # Errors
    /// Fails, with what would be right, if it is not a request.
    pub fn read(line: &[u8]) -> Result<Request, NotARequest> {
        let garbage = |why: String| {
            NotARequest::Garbage(format!(
                "{why}: expected a message of Cucumber's wire protocol, an array such as \
                 [\"begin_scenario\"] in one line"
            ))
        };
        let read: Value = serde_json::from_slice(line)
            .map_err(|error| garbage(format!("this is not JSON ({error})")))?;
        let name = read.get(0).and_then(Value::as_str);
        let name = name.ok_or_else(|| garbage("this is not an array with a name".to_owned()))?;
        let parameters = read.get(1).unwrap_or(&Value::Null);
        let text = |key: &str| {
            let text = parameters.get(key).and_then(Value::as_str).map(str::to_owned);
            text.ok_or_else(|| NotARequest::Unknown(format!("'{name}' lacks the text '{key}'")))
        };
        match name {
            "begin_scenario" => Ok(Request::BeginScenario),
            "end_scenario" => Ok(Request::EndScenario),
            "step_matches" => text("name_to_match").map(Request::StepMatches),
            "snippet_text" => {
                let class = text("multiline_arg_class").ok();
                let below = class.and_then(|class| BELOW.into_iter().find(|(of, _)| *of == class));
                Ok(Request::SnippetText(text("step_name")?, below.map(|(_, below)| below)))
            }
            "invoke" => {
                let id = text("id")?;
                let index = id.parse().map_err(|_| {
                    let id = shown(&id);
                    NotARequest::Unknown(format!(
                        "no step has the id '{id}'; step_matches gives the ids"
                    ))
                })?;
                let arguments = parameters.get("args").and_then(Value::as_array);
                let arguments = arguments.map_or(&[][..], Vec::as_slice).iter().map(argument);
                Ok(Request::Invoke(
                    index,
                    arguments.collect::<Option<_>>().ok_or_else(|| {
                        let why = "an argument of 'invoke' is neither a text nor a table of texts";
                        NotARequest::Unknown(why.to_owned())
                    })?,
                ))
            }
            _ => Err(NotARequest::Unknown(format!(
                "'{}' is not a message that this server knows: expected step_matches, invoke, \
                 snippet_text, begin_scenario or end_scenario",
                shown(name)
            ))),
        }
    }
}

/// Reads an argument of a step: a text, or the rows of a table.
fn argument(value: &Value) -> Option<Argument> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let row = |row: &Value| row.as_array()?.iter().map(text).collect::<Option<Vec<_>>>();
    match value {
        Value::Array(rows) => rows.iter().map(row).collect::<Option<_>>().map(Argument::Table),
        value => text(value).map(Argument::Text),
    }
}

/// What the server answers.
#[derive(Debug, PartialEq)]
pub enum Reply {
    /// Well done.
    Success,
    /// The step that a text fits, if any, and the text.
    Matches(Option<(usize, Vec<(String, usize)>)>),
    /// What could stand in place of an unknown step.
    Snippet(String),
    /// Nothing is proven: in these words.
    Pending(String),
    /// The step fails: in these words, and by this name.
    Fail(String, &'static str),
    /// Two tables differ.
    Diff(Vec<Vec<String>>, Vec<Vec<String>>),
}

impl Reply {
    /// Returns the answer about a text and the step that it fits.
    pub fn matches(text: &str, found: Option<Match>) -> Reply {
        Reply::Matches(found.map(|found| {
            let arguments = found.arguments.into_iter();
            // Cucumber counts characters.
            let arguments = arguments
                .map(|place| (text[place.clone()].to_owned(), text[..place.start].chars().count()));
            (found.index, arguments.collect())
        }))
    }

    /// Returns the line that says it.
    pub fn line(&self) -> String {
        let message = match self {
            Reply::Success => json!(["success"]),
            Reply::Matches(None) => json!(["success", []]),
            Reply::Matches(Some((index, arguments))) => {
                let arguments: Vec<Value> =
                    arguments.iter().map(|(text, at)| json!({ "val": text, "pos": at })).collect();
                json!(["success", [{
                    "id": index.to_string(),
                    "args": arguments,
                    "regexp": STEPS[*index].pattern,
                    "source": format!("tiebreak wire --steps:{}", listed_line(*index)),
                }]])
            }
            Reply::Snippet(text) => json!(["success", text]),
            Reply::Pending(text) => json!(["pending", text]),
            Reply::Fail(text, name) => json!(["fail", { "message": text, "exception": name }]),
            Reply::Diff(expected, found) => json!(["diff!", [expected, found]]),
        };
        message.to_string() + "\n"
    }
}

/// Returns the name by which a step fails whose claim got this verdict.
pub fn failure(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Void => "Void",
        Verdict::Refuted => "Refuted",
        _ => "NotProven",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_input::steps::find;

    fn check(line: &str, expected: Request) {
        assert_eq!(Request::read(line.as_bytes()), Ok(expected), "{line}");
    }

    #[test]
    fn requests_are_read() {
        let text = |text: &str| Argument::Text(text.to_owned());
        check(r#"["begin_scenario"]"#, Request::BeginScenario);
        check(r#"["begin_scenario",{"tags":["a"]}]"#, Request::BeginScenario);
        check(r#"["end_scenario", null]"#, Request::EndScenario);
        check(r#"["step_matches",{"name_to_match":"a"}]"#, Request::StepMatches("a".to_owned()));
        check(r#"["invoke",{"id":"0"}]"#, Request::Invoke(0, vec![]));
        let table = Argument::Table(vec![vec!["a".to_owned()], vec!["b".to_owned()]]);
        check(
            r#"["invoke",{"id":"2","args":["x",[["a"],["b"]]]}]"#,
            Request::Invoke(2, vec![text("x"), table]),
        );
        let snippet = |class: &str| {
            let step = json!({ "step_name": "x", "multiline_arg_class": class });
            json!(["snippet_text", step]).to_string()
        };
        for (class, below) in BELOW {
            check(&snippet(class), Request::SnippetText("x".to_owned(), Some(below)));
        }
        for class in ["", "Other"] {
            check(&snippet(class), Request::SnippetText("x".to_owned(), None));
        }
    }

    #[test]
    fn what_is_no_request_says_what_would_be_right() {
        for line in ["", "GET / HTTP/1.1", "{}", "[]", "[1]", "\"begin_scenario\"", "[\"a\""] {
            let Err(NotARequest::Garbage(why)) = Request::read(line.as_bytes()) else {
                panic!("{line} is a request")
            };
            assert!(why.contains("[\"begin_scenario\"]"), "{line}: {why}");
        }
        assert!(matches!(Request::read(b"[\"\xff\"]"), Err(NotARequest::Garbage(_))));
        let deep = "[".repeat(100_000);
        assert!(matches!(Request::read(deep.as_bytes()), Err(NotARequest::Garbage(_))));
        let cases = [
            (r#"["dance"]"#, "expected step_matches, invoke"),
            (r#"["step_matches"]"#, "lacks the text 'name_to_match'"),
            (r#"["invoke",{"id":7}]"#, "lacks the text 'id'"),
            (r#"["invoke",{"id":"x"}]"#, "no step has the id 'x'"),
            (r#"["invoke",{"id":"0","args":[7]}]"#, "neither a text nor a table"),
            (r#"["invoke",{"id":"0","args":[["a"]]}]"#, "neither a text nor a table"),
        ];
        for (line, expected) in cases {
            let found = Request::read(line.as_bytes());
            assert!(
                matches!(&found, Err(NotARequest::Unknown(why)) if why.contains(expected)),
                "{line}: {found:?}"
            );
        }
    }

    #[test]
    fn replies_are_lines_that_cucumber_reads() {
        let text = "the program \"\u{e9}\u{e9}\" is \"true\"";
        let line = Reply::matches(text, find(text)).line();
        let read: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read[1][0]["id"], "0");
        assert_eq!(read[1][0]["args"][1], json!({ "val": "true", "pos": 21 }));
        assert_eq!(read[1][0]["source"], "tiebreak wire --steps:1");
        assert_eq!(Reply::matches("x", find("x")).line(), "[\"success\",[]]\n");
        let line = Reply::Pending("a\nb".to_owned()).line();
        assert_eq!(line, "[\"pending\",\"a\\nb\"]\n");
    }
}
