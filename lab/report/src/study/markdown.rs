//! The table of a study as Markdown.

use super::block::{Block, Reason};
use super::footer::{about, facts, notes};
use super::rows::spread_of;
use super::{built_with, claims, footer, metrics, promise, rows, scaling, sentence_on, summary};
use crate::footer::{machine_model, repeat_line};
use crate::markdown::{self, Place, aligned, code, fenced, list, strong};
use crate::prelude::*;

/// Columns of the pictures of distributions.
const STRIP: usize = 20;

/// Writes the table of a study as Markdown, as the README of the study has it: everything in it is
/// in the JSON of the study too, so that the one is made from the other, always in the same way.
pub fn markdown(study: &StudyResult) -> String {
    let blocks: Vec<Block> = study.runs.iter().filter_map(Block::of).collect();
    let mut out = String::new();
    for block in &blocks {
        workload(&mut out, block);
    }
    out += &format!("{}. {}\n", escaped(&summary(study)), promise(study));
    let said = study.runs.iter().flat_map(|run| claims(run).map(move |claim| (run, claim)));
    let said = list(said.map(|(run, claim)| escaped(&sentence_on(run, claim))));
    if !said.is_empty() {
        out += &format!("\n{said}");
    }
    if let Some(block) = blocks.first() {
        out += "\n";
        let mut meaning = footer::columns_mean(block, &blocks);
        meaning.push(footer::not_covered_by(&blocks));
        out += &format!("{}\n", escaped(&meaning.join(" ")));
        out += &last_lines(study, &blocks);
    }
    out
}

fn workload(out: &mut String, block: &Block) {
    let workload = &block.of.workload;
    let about = escaped(&about(workload));
    let facts = escaped(&facts(block).join(" "));
    *out += &format!("{}{about}. {facts}\n\n", strong(&escaped(&workload.name)));
    if !block.rows.is_empty() {
        *out += &table(columns(block));
        let others = metrics::table(block);
        if !others.is_empty() {
            let names = rows::names(block, None);
            let per = escaped(&metrics::per_item(block));
            let table = table([vec![names], others].concat());
            *out += &format!("Beside wall time, {per}:\n\n{table}");
        }
        let threads = scaling::table(block);
        if !threads.is_empty() {
            let of = escaped(&scaling::per_second(block)).replacen("on", "On", 1);
            *out += &format!("{of}:\n\n{}", table(threads));
        }
        let chart = scaling::chart(block).map(|chart| chart.text(&Look::PAPER)).unwrap_or_default();
        if !chart.is_empty() {
            *out += &format!("{}\n", fenced("text", chart.trim_end()));
        }
    }
    let reasons = block.reasons();
    let said = reasons.iter().map(Reason::sentence).chain(notes(block));
    let said = list(said.map(|text| escaped(&text)));
    if !said.is_empty() {
        *out += &format!("{said}\n");
    }
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
fn table(columns: Vec<Column>) -> String {
    let aligns: Vec<Align> = columns.iter().map(|column| column.align).collect();
    let mut head: Vec<String> = columns.iter().map(|column| escaped(&column.title)).collect();
    head[0] = "contestant".to_owned();
    let rows = (0..columns[0].cells.len())
        .map(|row| columns.iter().map(|column| cell(column, row)).collect::<Vec<_>>());
    aligned(&head, &aligns, rows) + "\n"
}

fn cell(column: &Column, row: usize) -> String {
    match column.cells[row].as_str() {
        "" => " ".to_owned(),
        strip if column.title == "spread" => code(strip),
        text => escaped(text),
    }
}

/// The source, the builds, the machine, and the command that makes the same again.
fn last_lines(study: &StudyResult, blocks: &[Block]) -> String {
    let mut out = String::new();
    let (Some(run), Some(block)) = (study.runs.first(), blocks.first()) else { return out };
    out += &format!("\nSource: {}. ", escaped(&block.of.source));
    let built = built_with(blocks);
    if !built.is_empty() {
        out += &format!("Built with {}. ", escaped(&built.join("; ")));
    }
    let model =
        machine_model(run).map_or(String::new(), |model| format!(" on {}", escaped(&model)));
    let command = code(&plain(&repeat_line(run)));
    out += &format!("Measured{model} in {} by {command}.\n", seconds(study.seconds));
    out
}

fn escaped(text: &str) -> String {
    markdown::escaped(text, Place::File)
}
