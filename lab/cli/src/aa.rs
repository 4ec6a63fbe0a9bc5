//! `tiebreak aa`: how often does this machine give false alarms, and what could it detect?

use crate::compare::{ServerOptions, from_measuring, judged, loaded};
use crate::io::Io;
use crate::options::{Judging, Measuring};
use crate::quantities::above_0;
use crate::race;
use clap::{Args, ValueHint};
use tiebreak_lab::{LabError, planning, probing};

#[derive(Debug, Args)]
pub struct AaOptions {
    /// The program [default: some milliseconds of tiebreak's own work]
    #[arg(value_name = "COMMAND", value_hint = ValueHint::CommandString)]
    pub command: Option<String>,

    /// How many comparisons to make
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = above_0::<u32>())]
    pub comparisons: u32,

    /// The most rounds of one comparison
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = above_0::<u32>())]
    pub rounds_each: u32,

    #[command(flatten)]
    pub servers: ServerOptions,

    #[command(flatten)]
    pub judging: Judging,

    #[command(flatten)]
    pub measuring: Measuring,
}

pub fn run(options: AaOptions, io: &mut Io) -> Result<u8, LabError> {
    let AaOptions { command, comparisons, rounds_each, servers, judging, measuring } = options;
    let request = loaded(judged(from_measuring(&measuring)?, &judging), &servers);
    let command = command.map_or_else(probing::own_work, Ok)?;
    let plan = planning::against_itself(command, request, comparisons, rounds_each)?;
    race::start(plan, &measuring, None, io)
}
