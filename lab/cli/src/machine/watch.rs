//! `tiebreak machine noise --watch`: draws live what disturbs this machine.

use super::{Pictures, ProbeOptions, chosen_cpus, code};
use crate::failure::Failure;
use crate::io::Io;
use crate::output::JsonTarget;
use crate::output_file::OutputFile;
use crate::screen::Screen;
use std::time::Duration;
use tiebreak_lab::measure::interrupt;
use tiebreak_lab::probes::{self, Noise, Options, Probe};
use tiebreak_lab::probing::Laboratory;

/// Watches until the user stops it, or the budget is spent, and leaves the page of the last minute.
pub fn run(options: &ProbeOptions, io: &mut Io) -> Result<u8, Failure> {
    let json = JsonTarget::open(options.json.as_ref())?;
    let lab = Laboratory::default();
    let wanted = Options {
        lab: &lab,
        probes: vec![Probe::Noise],
        cpus: chosen_cpus(options)?,
        is_quick: false,
        each: options.budget.map(Duration::from_nanos),
    };
    let pictures = Pictures::open(Some(Probe::Noise), options.svg.as_ref())?;
    let html = OutputFile::open("html", options.html.as_ref())?;
    let redraws = io.err_redraws();
    let mut screen = Screen::new(io, options.quiet);
    let mut show = |found: &Noise| {
        if redraws {
            screen.show_as(|look, _| probes::frame(found, look))
        } else {
            screen.say(&probes::line(found))
        }
    };
    let print = probes::watch_noise(&wanted, interrupt::flag(), &mut show);
    screen.clear();
    let page = probes::page(&print, Probe::Noise, &io.out_look());
    pictures.write(&print)?;
    json.write_beside(&page, || probes::json(&print), io)?;
    html.map_or(Ok(()), |file| file.write(&probes::machine_page(&print, None)))?;
    Ok(code(&print, Probe::Noise))
}
