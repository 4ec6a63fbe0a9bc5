//! `tiebreak study list`: lists the studies.

use super::details::with_notes;
use super::{ListOptions, here};
use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use tiebreak_lab::core::study::Study;
use tiebreak_lab::report::table::{Align, Column, render};
use tiebreak_lab::studies::{self, Listed};

pub fn run(options: &ListOptions, io: &mut Io) -> Result<u8, Failure> {
    let listed = studies::list(options.place.studies.as_deref(), &here()?);
    if listed.is_empty() {
        io.err("there are no studies here: 'tiebreak study new demo' makes one\n");
        return Ok(exit::HOLDS);
    }
    let cells = |of: fn(&Study) -> String| {
        let cell = |one: &Listed| one.study.as_ref().map_or("-".to_owned(), of);
        listed.iter().map(cell).collect::<Vec<_>>()
    };
    let published =
        |study: &Study| if study.published.is_empty() { "-".to_owned() } else { "yes".to_owned() };
    let names = listed.iter().map(|one| one.name.clone()).collect();
    let columns = vec![
        Column::new("study", Align::Left, names),
        Column::new("workloads", Align::Right, cells(|study| study.workloads.len().to_string())),
        Column::new("contestants", Align::Right, cells(|s| s.contestants.len().to_string())),
        Column::new("published", Align::Left, cells(published)),
    ];
    let titles = listed.iter().map(|one| match &one.study {
        Ok(study) => study.title.clone(),
        Err(_) => format!("is broken: 'tiebreak study show {}' says why", one.name),
    });
    io.out(&with_notes(&render(columns, &io.out_look()), titles));
    Ok(exit::HOLDS)
}
