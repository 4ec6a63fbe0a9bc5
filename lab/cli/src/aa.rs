//! `tiebreak aa`: how often does this machine cry wolf, and what could it find?

use crate::args::AaOptions;
use crate::compare::{from_measuring, judged};
use crate::failure::Failure;
use crate::io::Io;
use crate::race;
use tiebreak_lab::core::plan::Budget;
use tiebreak_lab::planning;

/// Seconds that the comparisons may take together if nothing was said.
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

/// A command that every machine has and that takes some milliseconds: this program's own work.
pub fn own_work() -> Result<String, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::data(format!("cannot find this program itself: {error}")))?;
    Ok(tiebreak_lab::report::shell_line(&[program.display().to_string(), "__work".into()]))
}
