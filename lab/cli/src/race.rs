//! What `compare`, `aa`, `slo` and `resume` share: a run, a screen and a result.

use crate::io::Io;
use crate::options::Measuring;
use crate::output::{Targets, page};
use crate::screen::Screen;
use crate::{exit, github};
use std::path::Path;
use tiebreak_lab::core::journal::StopReason;
use tiebreak_lab::core::plan::Plan;
use tiebreak_lab::core::result::RunResult;
use tiebreak_lab::report::{announcement, contents, json, resume_command, svg};
use tiebreak_lab::run::{Ready, Run};
use tiebreak_lab::{LabError, interrupt};

/// Makes a new run of this plan. Finds the programs before anything is written.
pub fn start(
    plan: Plan,
    options: &Measuring,
    svg: Option<&Path>,
    io: &mut Io,
) -> Result<u8, LabError> {
    let ready = Ready::new(plan, interrupt::flag())?;
    if options.dry_run {
        io.out(&contents::planned(&ready.plan));
        return Ok(exit::HOLDS);
    }
    let targets = options.reporting.json.open(json::text)?;
    let targets = targets.file("svg", svg, |result| svg::slo(result).unwrap_or_default())?;
    let run = ready.begin(options.store.path(), io.typed.clone())?;
    go(run, targets, options.reporting.quiet, io)
}

/// Runs to the end and delivers the result.
pub fn go(run: Run, targets: Targets<RunResult>, quiet: bool, io: &mut Io) -> Result<u8, LabError> {
    let so_far = run.result_so_far();
    if !quiet {
        announce(&so_far, run.arrivals_per_second(), io);
    }
    let input = io.take_input();
    let result = Screen::during(io, quiet, |screen| {
        if !run.is_stream() {
            screen.show(|| so_far);
        }
        run.go(input, |standing| screen.show(standing))
    })?;
    targets.print(&page(&result, quiet, io), io);
    github::tell_of_gate(&result, io);
    targets.write(&result, io)?;
    if result.stopped == Some(StopReason::Interrupted) {
        let command = resume_command(&result);
        io.err(&format!("interrupted: everything is kept; '{command}' goes on\n"));
    }
    Ok(exit::of_result(&result))
}

/// Prints, before anything is observed, the least number of observations that is needed.
fn announce(so_far: &RunResult, a_second: Option<f64>, io: &mut Io) {
    let claims = so_far.verdicts.iter();
    for text in claims.filter_map(|claim| announcement(claim, &so_far.budget, a_second)) {
        io.err(&(text + "\n"));
    }
}
