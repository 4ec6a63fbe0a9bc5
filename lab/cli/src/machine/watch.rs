//! `tiebreak machine noise --watch`: what disturbs this machine, drawn while it goes on.

use super::{Pictures, ProbeOptions, chosen_cpus, code};
use crate::failure::Failure;
use crate::io::Io;
use crate::output::JsonTarget;
use crate::screen::Screen;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tiebreak::core::machine::{MachinePrint, Noise, Probe, Probed};
use tiebreak::measure::interrupt;
use tiebreak::probes::{self, NoiseWatch, Wish};
use tiebreak::report;

/// Watches until the user stops it, or the budget is spent, and leaves the page of the last minute.
pub fn run(options: &ProbeOptions, io: &mut Io) -> Result<u8, Failure> {
    let json = JsonTarget::open(options.json.as_ref())?;
    let wish = Wish {
        probes: vec![Probe::Noise],
        cpus: chosen_cpus(options)?,
        is_quick: false,
        each: options.budget.map(Duration::from_nanos),
    };
    let pictures = Pictures::open(Some(Probe::Noise), options)?;
    let print = match watch(&wish, options, io) {
        Ok(print) => print,
        Err(why) => MachinePrint {
            noise: Some(why),
            ..probes::take(&none(&wish), interrupt::flag(), &mut |_, _| ())
        },
    };
    let page = report::machine::page(&print, Probe::Noise, &io.out_look());
    pictures.write(&print)?;
    json.write_beside(&page, || report::machine::json(&print), io)?;
    Ok(code(&print, Probe::Noise))
}

/// The same wish without a probe: the print of a machine of which nothing is measured.
fn none(wish: &Wish) -> Wish {
    Wish { probes: Vec::new(), ..wish.clone() }
}

/// A second of watching, a frame, and so on: nothing is drawn while something is watched.
fn watch(wish: &Wish, options: &ProbeOptions, io: &mut Io) -> Result<MachinePrint, Probed<Noise>> {
    let stop = interrupt::flag();
    let end = wish.each.map(|length| Instant::now() + length);
    let mut watch = NoiseWatch::new(wish)?;
    let redraws = io.err_redraws();
    let mut screen = Screen::new(io, options.quiet || !redraws);
    while !stop.load(Ordering::Relaxed) {
        let left = end.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            break;
        }
        let found = watch.next(left, stop)?;
        if redraws {
            screen.show_as(|look, _| report::machine::noise::frame(&found, look));
        } else if !options.quiet {
            screen.io().err(&(report::machine::noise::line(&found) + "\n"));
        }
    }
    screen.clear();
    Ok(watch.finish(wish))
}
