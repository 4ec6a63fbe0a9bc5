//! A client: its scenario, its claims so far, and the races for them.

use super::inbox::{Inbox, Line, MAX_LINE_BYTES};
use super::message::{NotARequest, Reply, Request, failure};
use super::turns::Turns;
use crate::check::{Contest, LineUp, Rules};
use crate::claims_file;
use crate::commands::Commands;
use crate::error::{LabError, Result, data};
use crate::planning::{self, SECONDS_A_CLAIM};
use crate::request::ERROR;
use crate::session::{Book, Session};
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, sync_channel};
use tiebreak_core::plan::Budget;
use tiebreak_core::result::{CheckResult, ClaimOutcome, ClaimResult, Family};
use tiebreak_core::verdict::Verdict;
use tiebreak_input::ClaimsFile;
use tiebreak_input::steps::{self, Scenario, Task};
use tiebreak_measure as measure;
use tiebreak_report::check::sentence;
use tiebreak_stats::family;

/// The name by which a step fails that says something wrong.
const WRONG_STEP: &str = "WrongStep";
/// The name by which a step fails whose programs cannot be raced.
const NOT_RACED: &str = "NotRaced";
/// The name by which everything fails that is not of the protocol.
pub const PROTOCOL: &str = "ProtocolError";

/// What all clients share.
#[derive(Debug)]
pub struct Shared {
    /// The store of runs.
    pub book: Book,
    /// The seed, of which each client draws its own.
    pub seed: String,
    /// Who may race.
    pub turns: Turns,
}

/// A client of the server.
pub struct Client<'a> {
    shared: &'a Shared,
    number: u64,
    inbox: &'a Inbox,
    said: Sender<String>,
    scenario: Scenario,
    /// The number of claims that were raced for.
    claims: usize,
}

/// Answers all that a client sends, line by line, until it goes away or sends what is not of the
/// protocol. `stop` is its own, and ends its races; `said` gets a line for each thing of note.
pub fn serve(
    shared: &Shared,
    number: u64,
    mut stream: &TcpStream,
    stop: &'static AtomicBool,
    said: Sender<String>,
) {
    let inbox = &Inbox::new(stop);
    let scenario = Scenario::default();
    let mut client = Client { shared, number, inbox, said, scenario, claims: 0 };
    client.say("is here");
    std::thread::scope(|scope| {
        let _ends = EndsReading(stream);
        let (sender, lines) = sync_channel(1);
        scope.spawn(move || inbox.read(stream, &sender));
        for line in lines {
            inbox.taken();
            let (reply, goes_on) = client.answer(&line);
            let text = reply.map(|reply| reply.line()).unwrap_or_default();
            if stream.write_all(text.as_bytes()).is_err() || !goes_on {
                break;
            }
        }
    });
    client.say(&format!("is gone; claims raced for: {}", client.claims));
}

/// Ends the thread that reads a stream when it is dropped, whatever the reason.
struct EndsReading<'a>(&'a TcpStream);

impl Drop for EndsReading<'_> {
    fn drop(&mut self) {
        // A stream that is closed already needs no end.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

impl Client<'_> {
    /// Returns the answer to a line, if it wants one, and whether the conversation goes on.
    fn answer(&mut self, line: &Line) -> (Option<Reply>, bool) {
        let read = match line {
            Line::Whole(line) => Request::read(line),
            Line::TooLong => Err(NotARequest::Garbage(format!(
                "this line is too long: expected at most {MAX_LINE_BYTES} bytes"
            ))),
        };
        match read {
            Ok(request) => (self.reply(request), true),
            Err(NotARequest::Unknown(why)) => (Some(Reply::Fail(why, PROTOCOL)), true),
            Err(NotARequest::Garbage(why)) => {
                self.say(&format!("sent what is not of the protocol: {why}"));
                (Some(Reply::Fail(why, PROTOCOL)), false)
            }
        }
    }

    fn reply(&mut self, request: Request) -> Option<Reply> {
        Some(match request {
            Request::BeginScenario | Request::EndScenario => {
                self.scenario = Scenario::default();
                Reply::Success
            }
            Request::StepMatches(text) => Reply::matches(&text, steps::find(&text)),
            Request::SnippetText(text, below) => Reply::Snippet(steps::snippet(&text, below)),
            Request::Invoke(step, arguments) => match self.scenario.perform(step, &arguments) {
                Err(why) => Reply::Fail(why, WRONG_STEP),
                Ok(Task::Nothing) => Reply::Success,
                Ok(Task::Claims(file)) => self.race(*file, None)?,
                Ok(Task::Verdicts(file, table)) => self.race(*file, Some(table))?,
            },
        })
    }

    /// Races for the claims of a step, and returns the answer; `None` if nobody waits for it.
    fn race(&mut self, file: ClaimsFile, table: Option<Vec<Vec<String>>>) -> Option<Reply> {
        self.inbox.begin_race();
        let raced = self.raced(file);
        if let Ok(result) = &raced {
            for (contest, _, claim) in result.claims() {
                self.say(&sentence(result, &contest.run, claim));
            }
        }
        if !self.inbox.end_race() {
            self.say(
                "did not wait for the end of a race, which was ended: give its .wire file a \
                 'timeout:' with a longer 'invoke:' than the budget",
            );
            return None;
        }
        Some(match raced {
            Err(error) => Reply::Fail(error.render(false), NOT_RACED),
            Ok(result) => answer_of(&result, table),
        })
    }

    fn raced(&mut self, file: ClaimsFile) -> Result<CheckResult> {
        let claims = file.claims();
        let error = file.error.unwrap_or(ERROR);
        let seconds = Some(SECONDS_A_CLAIM * claims as f64);
        let rules = Rules {
            file: format!("client {}", self.number),
            family: Family::EBonferroni,
            error: family::open_ended_error(error, self.claims, claims),
            claims,
            budget: file.budget.unwrap_or(Budget { rounds: None, seconds }),
        };
        let seed = format!("{} {} {}", self.shared.seed, self.number, self.claims);
        let Some(contest) = file.contests.first() else { return data("there is no contest") };
        let request = planning::Request::new(Vec::new(), seed);
        let plan = claims_file::plan_one(contest, &rules, request, None)?;
        let problems: Vec<String> =
            measure::problems(&plan).iter().map(|e| e.to_string()).collect();
        if !problems.is_empty() {
            return data(problems.join("\n"));
        }
        let mut turn = self.shared.turns.take();
        if self.inbox.stop.load(Ordering::SeqCst) {
            return Err(LabError::Interrupted);
        }
        // The coins of these claims are drawn from here on.
        self.claims += claims;
        let sampler = Commands::new(&plan, self.inbox.stop)?;
        let session = Session::begin(&self.shared.book, plan, &sampler.files())?;
        let lines = vec![1; claims];
        let contests = vec![Contest { name: contest.name.clone(), lines, session, sampler }];
        let mut line_up = LineUp { contests, done: Vec::new(), rules };
        line_up.race(self.inbox.stop, |_| turn.pass())
    }

    fn say(&self, text: &str) {
        // The server ends after its clients.
        let _ = self.said.send(format!("client {}: {text}", self.number));
    }
}

/// Returns the answer to a step that raced: what its claims came to, or how their verdicts differ
/// from those of the table.
fn answer_of(result: &CheckResult, table: Option<Vec<Vec<String>>>) -> Reply {
    let claims: Vec<_> = result.claims().map(|(contest, _, claim)| (&contest.run, claim)).collect();
    let expected = |index: usize| table.as_ref().map(|rows| rows[index + 1][1].as_str());
    let unlike: Vec<_> = claims
        .iter()
        .enumerate()
        .filter(|(index, (_, claim))| match expected(*index) {
            Some(expected) => claim.verdict.name() != expected,
            None => claim.outcome() > ClaimOutcome::PassedUnproven,
        })
        .map(|(_, claim)| *claim)
        .collect();
    let Some((run, worst)) = unlike.iter().max_by_key(|(_, claim)| claim.outcome()) else {
        return Reply::Success;
    };
    let mut text: String =
        unlike.iter().map(|(run, claim)| sentence(result, run, claim) + "\n").collect();
    let run = &run.journal;
    text += &if result.interrupted {
        format!("interrupted: 'tiebreak resume {run}' goes on")
    } else {
        format!("'tiebreak show {run}' has the whole report")
    };
    let is_open = |claim: &ClaimResult| match table {
        None => claim.outcome() == ClaimOutcome::Unproven,
        Some(_) => matches!(claim.verdict, Verdict::TooClose | Verdict::Undecided),
    };
    if unlike.iter().all(|(_, claim)| is_open(claim)) {
        return Reply::Pending(text);
    }
    match table {
        Some(expected) if worst.verdict != Verdict::Void => {
            let mut found = expected.clone();
            for (row, (_, claim)) in found.iter_mut().skip(1).zip(&claims) {
                claim.verdict.name().clone_into(&mut row[1]);
            }
            Reply::Diff(expected, found)
        }
        _ => Reply::Fail(text, failure(worst.verdict)),
    }
}
