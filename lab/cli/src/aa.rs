//! `tiebreak aa`: how often does this machine give false alarms, and what could it detect?

use crate::compare::{from_measuring, judged};
use crate::failure::Failure;
use crate::io::Io;
use crate::options::{Judging, Measuring};
use crate::race;
use clap::{Args, ValueHint};
use tiebreak_lab::core::plan::Budget;
use tiebreak_lab::planning;

#[derive(Debug, Args)]
pub struct AaOptions {
    /// The program [default: some milliseconds of tiebreak's own work]
    #[arg(value_name = "COMMAND", value_hint = ValueHint::CommandString)]
    pub command: Option<String>,

    /// How many comparisons to make
    #[arg(long, value_name = "N", default_value_t = 200,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub comparisons: u32,

    /// The most rounds of one comparison
    #[arg(long, value_name = "N", default_value_t = 60,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds_each: u32,

    #[command(flatten)]
    pub judging: Judging,

    #[command(flatten)]
    pub measuring: Measuring,
}

/// The default budget of all comparisons together, in seconds.
const SECONDS: f64 = 300.0;

pub fn run(options: AaOptions, typed: Vec<String>, io: &mut Io) -> Result<u8, Failure> {
    let mut request = judged(from_measuring(&options.measuring)?, &options.judging);
    let command = match options.command {
        Some(command) => command,
        None => own_work()?,
    };
    request.commands = vec![command.clone(), command];
    request.names = vec!["A".into(), "A again".into()];
    request.budget =
        Some(request.budget.unwrap_or(Budget { rounds: None, seconds: Some(SECONDS) }));
    let plan = planning::self_check(&request, options.comparisons, options.rounds_each)?;
    race::start(plan, &options.measuring, typed, io)
}

/// Returns a command that every machine has and that takes some milliseconds: this program's own
/// work.
pub fn own_work() -> Result<String, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::data(format!("cannot find this program itself: {error}")))?;
    Ok(tiebreak_lab::report::shell_line(&[program.display().to_string(), "__work".into()]))
}
