//! The map of the pairs in letters.

use super::*;

/// Shades of the steps, from the nearest; two letters a cell where there is room.
const SHADES: [char; STEPS] = ['\u{b7}', '\u{2591}', '\u{2592}', '\u{2593}', '\u{2588}'];
const ASCII_SHADES: [char; STEPS] = ['.', ':', 'o', 'O', '#'];
/// Columns of a cell that holds a number, its shade and its mark.
const NUMBER: usize = 7;

/// How the cells of a map are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// With the number.
    Numbers,
    /// As a shade of so many letters.
    Shades(usize),
}

/// Draws the map, as large as it can be: with numbers, with shades, or of each so many-th CPU.
pub(super) fn draw(map: &Map<'_>, page: &mut Page, look: &Look) {
    let names = map.cpus.iter().map(|cpu| cpu.to_string().len()).max().unwrap_or(1).max(3) + 2;
    let room = look.columns() - names;
    let count = map.cpus.len();
    let form = match count {
        _ if count * NUMBER <= room => Form::Numbers,
        _ if count * 2 <= room => Form::Shades(2),
        _ => Form::Shades(1),
    };
    let cell = if form == Form::Numbers { NUMBER } else { 1 };
    let each = (count * cell).div_ceil(room).max(1);
    let shown: Vec<usize> = (0..count).step_by(each).collect();
    heads(map, &shown, form, names, page, look);
    for &row in &shown {
        let name = format!("{:>width$}", map.cpus[row], width = names - 2);
        let mut line: Spans = vec![span(Tone::Dim, name + "  ")];
        for &column in &shown {
            let (tone, text) = cell_text(map, row, column, form, look);
            line.push(span(tone, text));
        }
        page.line(&line);
    }
    legend(map, form, each, page, look);
}

/// The numbers of the columns; where cells are narrow, of every tenth column.
fn heads(map: &Map<'_>, shown: &[usize], form: Form, names: usize, page: &mut Page, look: &Look) {
    let mut head = " ".repeat(names);
    for (at, &column) in shown.iter().enumerate() {
        let name = map.cpus[column].to_string();
        let (from, width) = match form {
            Form::Numbers => (names + at * NUMBER, NUMBER - 2),
            Form::Shades(wide) => (names + at * wide, 0),
        };
        let is_free = form == Form::Numbers || at % 10 == 0;
        if is_free && from + name.len() <= look.columns() {
            head = format!("{head:<from$}{name:>width$}");
        }
    }
    page.line(&[span(Tone::Dim, head)]);
}

fn cell_text(map: &Map<'_>, row: usize, column: usize, form: Form, look: &Look) -> (Tone, String) {
    let cell = map.cell(row, column);
    let shade = cell.and_then(|cell| cell.step).map(|step| shades(look)[step]);
    let has_modes = cell.is_some_and(|cell| cell.has_modes);
    let unknown = if row == column { ' ' } else { '?' };
    match form {
        Form::Numbers => {
            let text = cell.map_or(if row == column { "-" } else { "?" }.to_owned(), |cell| {
                ns(cell.latency_ns)
            });
            let mark = if has_modes { '*' } else { ' ' };
            let tone = if cell.is_none() { Tone::Dim } else { Tone::Plain };
            (tone, format!("{text:>5}{}{mark}", shade.unwrap_or(' ')))
        }
        Form::Shades(wide) => {
            let flat = if cell.is_some() { shades(look)[0] } else { unknown };
            let letter = shade.unwrap_or(flat);
            let second = if has_modes { '*' } else { letter };
            let text: String = [letter, second].into_iter().take(wide).collect();
            (Tone::Plain, text)
        }
    }
}

fn shades(look: &Look) -> [char; STEPS] {
    look.pick(SHADES, ASCII_SHADES)
}

fn legend(map: &Map<'_>, form: Form, each: usize, page: &mut Page, look: &Look) {
    let mut parts = Vec::new();
    if map.has_steps() {
        for (step, shade) in shades(look).into_iter().enumerate() {
            let [from, to] = map.ends_ns(step).map(ns);
            parts.push(format!("{shade}{NO_BREAK}{from}{NO_BREAK}to{NO_BREAK}{to}{NO_BREAK}ns"));
        }
    }
    let mut text = if parts.is_empty() { String::new() } else { parts.join(", ") + ". " };
    text += "The CPU of the row timed";
    if map.has_modes() && form != Form::Shades(1) {
        text += "; * several values";
    }
    if each > 1 {
        text += &format!("; one of {each} CPUs is shown, JSON and SVG have all");
    }
    page.paragraph("", &[span(Tone::Dim, text + ".")]);
}
