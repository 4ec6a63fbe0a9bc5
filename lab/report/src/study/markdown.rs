//! The table of a study as Markdown.

use super::block::{Block, Reason};
use super::footer::{about, facts, notes};
use super::rows::spread_of;
use super::{
    Sweep, built_with, claims, footer, metrics, promise_of, rows, scaling, sentence_on, summary,
};
use crate::chart::Chart;
use crate::command::repeat_line;
use crate::footer::machine_model;
use crate::markdown::{self, Place, aligned, code, fenced, list, strong};
use crate::prelude::*;
use crate::property::capitalised;

/// Columns of the pictures of distributions.
const STRIP: usize = 20;

/// Writes the table of a study as Markdown, as the README of the study has it: everything in it is
/// in the JSON of the study too, so that the one is made from the other, always in the same way.
pub fn markdown(study: &StudyResult) -> String {
    let blocks: Vec<Block> = study.runs.iter().filter_map(Block::of).collect();
    let mut out: String = blocks.iter().map(workload).collect();
    for sweep in Sweep::all(&blocks) {
        out += &chart(sweep.chart().as_ref());
        let crossings = list(sweep.crossings().iter().map(|text| escaped(text)));
        out += &if crossings.is_empty() { crossings } else { crossings + "\n" };
    }
    out += &format!("{}. {}\n", escaped(&summary(study)), promise_of(study.error, "study"));
    let said = study.runs.iter().flat_map(|run| claims(run).map(move |claim| (run, claim)));
    let said = list(said.map(|(run, claim)| escaped(&sentence_on(run, claim))));
    if !said.is_empty() {
        out += &format!("\n{said}");
    }
    if let (Some(run), Some(block)) = (study.runs.first(), blocks.first()) {
        let mut meaning = footer::columns_mean(&blocks);
        meaning.push(footer::not_covered_by(&blocks));
        out += &format!("\n{}\n", escaped(&meaning.join(" ")));
        out += &format!("\nSource: {}. ", escaped(&block.of.source));
        let built = built_with(&blocks);
        if !built.is_empty() {
            out += &format!("Built with {}. ", escaped(&built.join("; ")));
        }
        let model = machine_model(run).map(|model| format!(" on {}", escaped(&model)));
        let (model, time) = (model.unwrap_or_default(), seconds(study.seconds));
        let command = repeat_line(run).map(|line| format!(" by {}", code(&plain(&line))));
        let command = command.unwrap_or_default();
        out += &format!("Measured{model} in {time}{command}.\n");
    }
    out
}

fn workload(block: &Block) -> String {
    let workload = &block.of.workload;
    let [about, facts] = [about(workload), facts(block).join(" ")].map(|text| escaped(&text));
    let mut out = format!("{}{about}. {facts}\n\n", strong(&escaped(&workload.name)));
    if !block.rows.is_empty() {
        out += &table(columns(block));
        let others = metrics::table(block);
        if !others.is_empty() {
            let per = escaped(&metrics::per_item(block));
            let table = table([vec![rows::names(block, None)], others].concat());
            out += &format!("Other metrics, {per}:\n\n{table}");
        }
        let threads = scaling::table(block);
        if !threads.is_empty() {
            let of = capitalised(&escaped(&scaling::per_second(block)));
            out += &format!("{of}:\n\n{}", table(threads));
        }
        out += &chart(scaling::chart(block).as_ref());
    }
    let reasons = block.reasons();
    let said =
        list(reasons.iter().map(Reason::sentence).chain(notes(block)).map(|text| escaped(&text)));
    out + &if said.is_empty() { said } else { said + "\n" }
}

/// A chart in letters; empty without one.
fn chart(chart: Option<&Chart>) -> String {
    let text = chart.map_or(String::new(), |chart| chart.text(&Look::PAPER));
    if text.is_empty() { text } else { format!("{}\n", fenced("text", text.trim_end())) }
}

fn columns(block: &Block) -> Vec<Column> {
    let mut columns = rows::columns(block, None);
    columns.retain(|column| column.title != "rank" || block.is_ranked());
    for column in columns.iter_mut().filter(|column| column.title == "in") {
        column.title = "language".to_owned();
        column.cells.iter_mut().filter(|cell| *cell == "-").for_each(String::clear);
    }
    let Some(spread) = spread_of(block) else { return columns };
    let mut strips = rows::strips(block, spread, STRIP, Look::PAPER);
    for cell in &mut strips.cells {
        // Blanks at the front of a code span may be taken away, and several become one.
        *cell = cell.trim_end().replace(' ', &NO_BREAK.to_string());
    }
    columns.push(strips);
    columns
}

/// A table with a row a contestant, whose names come first, and an empty line after it.
pub(super) fn table(columns: Vec<Column>) -> String {
    let aligns: Vec<Align> = columns.iter().map(|column| column.align).collect();
    let mut head: Vec<String> = columns.iter().map(|column| escaped(&column.title)).collect();
    head[0] = "contestant".to_owned();
    let rows = (0..columns[0].cells.len()).map(|row| {
        cells(&columns, |column| match column.cells[row].as_str() {
            "" => " ".to_owned(),
            strip if column.title == "spread" => code(strip),
            text => escaped(text),
        })
    });
    aligned(&head, &aligns, rows) + "\n"
}

pub(super) fn escaped(text: &str) -> String {
    markdown::escaped(text, Place::File)
}
