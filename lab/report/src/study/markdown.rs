//! The table of a study as Markdown.

use super::block::{Block, Reason};
use super::claims::{claims, sentence_on};
use super::facts::{facts, notes};
use super::{Spread, built_with, footer, metrics, promise, scaling, summary};
use crate::footer::{machine_model, repeat_line};
use crate::look::Look;
use crate::look::NO_BREAK;
use crate::markdown::{self, Place, aligned, code, fenced, list, strong};
use crate::number::seconds;
use crate::table::{Align, Column};
use crate::text::plain;
use tiebreak_core::result::{StudyResult, StudyRow};

/// Columns of the pictures of distributions.
const STRIP: usize = 20;
const LOOK: Look = Look { width: 100, color: false, unicode: true };

/// See [`super::markdown`].
pub(super) fn markdown(study: &StudyResult) -> String {
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
    let about = match workload.about.as_str() {
        "" => String::new(),
        about => format!(": {}", escaped(about)),
    };
    let facts = escaped(&facts(block).join(" "));
    *out += &format!("{}{about}. {facts}\n\n", strong(&escaped(&workload.name)));
    if !block.rows.is_empty() {
        let columns = columns(block);
        *out += &table(block, &columns);
        let others = metrics::table(block);
        if !others.is_empty() {
            let per = escaped(&metrics::per_item(block));
            *out += &format!("Beside wall time, {per}:\n\n{}", table(block, &others));
        }
        let threads = scaling::table(block);
        if let Some((names, others)) = threads.split_first() {
            let of = escaped(&scaling::per_second(block)).replacen("on", "On", 1);
            *out += &format!("{of}:\n\n{}", named(&names.cells, others));
        }
        let chart = scaling::chart(block).map(|chart| chart.text(&LOOK)).unwrap_or_default();
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

/// All columns but the names.
fn columns(block: &Block) -> Vec<Column> {
    use Align::{Decimal, Left};
    let cells = |text: &dyn Fn(&StudyRow) -> String| {
        block.rows.iter().map(|row| text(row)).collect::<Vec<_>>()
    };
    let open = |row: &StudyRow| if block.is_open(row) { " ?" } else { "" };
    let spread = Spread::of(block);
    let strip = |row: &StudyRow| match (&row.distribution, &spread) {
        // Blanks at the front of a code span may be taken away, and several become one.
        (Some(histogram), Some(spread)) => {
            let bars = spread.bars(histogram, STRIP, LOOK);
            bars.trim_end().replace(' ', &NO_BREAK.to_string())
        }
        _ => String::new(),
    };
    let times = |index: usize| cells(&|row| block.times(row)[index].clone());
    let mut columns = Vec::new();
    if block.is_ranked() {
        columns.push(Column::new("rank", Left, cells(&|row| block.rank(row))));
    }
    columns.extend([
        Column::new("language", Left, cells(&|row| row.language.map_or("", |l| l.name()).into())),
        Column::new(&block.title(), Decimal, times(0)),
        Column::new("p10", Decimal, times(1)),
        Column::new("p90", Decimal, times(2)),
        Column::new(
            &format!("vs {}", plain(&block.of.reference)),
            Decimal,
            cells(&|row| block.ratio(row)[0].clone()),
        ),
        Column::new(
            "interval",
            Left,
            cells(&|row| format!("{}{}", block.ratio(row)[1], open(row))),
        ),
    ]);
    if block.rows.iter().any(|row| !row.published.is_empty()) {
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        columns.extend([
            Column::new("published", Decimal, cells(&|row| or_none(block.published(row)))),
            Column::new("here", Decimal, cells(&|row| or_none(block.in_published_unit(row)))),
            Column::new("its ratio", Decimal, cells(&|row| or_none(block.published_ratio(row)))),
        ]);
    }
    if spread.is_some() {
        columns.push(Column::new("spread", Left, cells(&strip)));
    }
    columns
}

/// A table with a row a contestant, and an empty line after it.
fn table(block: &Block, columns: &[Column]) -> String {
    let names: Vec<String> = block.rows.iter().map(|row| block.marked(row)).collect();
    named(&names, columns)
}

/// The same with these names.
fn named(names: &[String], columns: &[Column]) -> String {
    let aligns = columns.iter().map(|column| match column.align {
        Align::Left => Align::Left,
        _ => Align::Decimal,
    });
    let aligns: Vec<Align> = [Align::Left].into_iter().chain(aligns).collect();
    let titles = columns.iter().map(|column| escaped(&column.title));
    let head: Vec<String> = ["contestant".to_owned()].into_iter().chain(titles).collect();
    let row = |(index, name): (usize, &String)| {
        let cell = |column: &Column| match column.cells[index].as_str() {
            "" => " ".to_owned(),
            strip if column.title == "spread" => code(strip),
            text => escaped(text),
        };
        [escaped(name)].into_iter().chain(columns.iter().map(cell)).collect::<Vec<_>>()
    };
    aligned(&head, &aligns, names.iter().enumerate().map(row)) + "\n"
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
