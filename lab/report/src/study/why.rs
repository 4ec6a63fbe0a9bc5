//! Where two contestants spend their time, side by side.

use crate::number::Scale;
use crate::prelude::*;
use tiebreak_core::result::{Hot, Instruction, Model, Why, WhySide};

/// The most functions that are named.
const PARTS: usize = 5;
/// The most instructions that are shown.
const LINES_MAX: usize = 64;
/// A share of the time from which it is written.
const SHARE_MIN: f64 = 0.01;

/// Renders where two contestants spend their time: what a call takes, in which functions, the
/// instructions of both hot loops next to each other, and what the model of the ports says.
pub fn why(of: &Why, look: &Look) -> String {
    let mut page = Page::new(*look);
    let names = of.sides.each_ref().map(|side| plain(&side.name));
    let title = format!("{} and {} on {}", names[0], names[1], plain(&of.workload));
    page.say(Tone::Strong, title);
    page.gap();
    page.wide_table(summary(of));
    for side in &of.sides {
        page.gap();
        let looks = count(side.hot.looks, "look");
        let parts = parts(&side.hot);
        page.note(format!("{} spends its time in {parts}, by {looks}.", plain(&side.name)));
    }
    page.gap();
    for (title, columns) in listings(of, look) {
        page.note(title);
        page.gap();
        page.wide_table(columns);
        page.gap();
    }
    let models: Vec<&Model> = of.sides.iter().filter_map(|side| side.model.as_ref().ok()).collect();
    let mut notes = vec![
        "Each share is that of the looks of a timer that found the contestant at the instruction, \
         or at the one after a slow one. Both are as they were built, in one place: times compare \
         only by 'tiebreak study run'."
            .to_owned(),
    ];
    if let Some(model) = models.first() {
        notes.push(format!(
            "A pass of the loop, by llvm-mca for {}: every load is found in the first cache, and \
             no branch is mispredicted.",
            plain(&model.cpu)
        ));
    }
    for side in &of.sides {
        if let Err(why) = &side.model {
            notes.push(format!("No model of {}: {}.", plain(&side.name), short(why)));
        }
    }
    if of.sides.iter().any(|side| side.cycles.is_none()) {
        notes.push("There are no hardware counters here, so cycles are not counted.".to_owned());
    }
    page.notes(notes);
    page.finish()
}

/// Makes the columns of what a call and a pass cost.
fn summary(of: &Why) -> Vec<Column> {
    let sides = &of.sides;
    let items = of.items.max(1) as f64;
    let item = if of.items > 1 { plain(&of.item) } else { "call".to_owned() };
    let number = |value: Option<f64>| or_none(value.map(|value| format!("{value:.2}")));
    let model = |of: fn(&Model) -> f64| {
        cells(sides, |side: &WhySide| number(side.model.as_ref().ok().map(of)))
    };
    let time = |side: &WhySide| {
        let ns = side.call_ns / items;
        Scale::of(Unit::Nanoseconds, ns).write(ns)
    };
    let columns = vec![
        Column::left("", cells(sides, |side| plain(&side.name))),
        Column::decimal(&format!("a {item}"), cells(sides, time)),
        Column::decimal(
            &format!("cycles/{item}"),
            cells(sides, |side| number(side.cycles.map(|count| count / items))),
        ),
        Column::decimal(
            &format!("instructions/{item}"),
            cells(sides, |side| number(side.instructions.map(|count| count / items))),
        ),
        Column::decimal("instructions/pass", model(|model| model.instructions)),
        Column::decimal("micro-ops/pass", model(|model| model.micro_ops)),
        Column::decimal("cycles/pass", model(|model| model.cycles)),
    ];
    columns.into_iter().filter(|column| column.title.is_empty() || column.has_values()).collect()
}

/// Names the functions with most of the time.
fn parts(hot: &Hot) -> String {
    let parts = hot.parts.iter().filter(|part| part.share >= SHARE_MIN).take(PARTS);
    let parts: Vec<String> = parts
        .map(|part| format!("{} ({})", short(&part.name), percent(part.share, Rounding::Nearest)))
        .collect();
    parts.join(", ")
}

/// Returns the listings, each with its title: both next to each other if the screen is wide enough,
/// else one below the other.
fn listings(of: &Why, look: &Look) -> Vec<(String, Vec<Column>)> {
    let [one, other] = of.sides.each_ref().map(|side| (title(side), listing(side)));
    let widths = [&one, &other].map(|(_, lines)| {
        let texts = lines.iter().map(|(_, text)| text.width());
        texts.max().unwrap_or(0)
    });
    let columns = |lines: &[(String, String)], length: usize| {
        let padded = |of: fn(&(String, String)) -> &String| {
            let texts = lines.iter().map(|line| of(line).clone());
            texts.chain(std::iter::repeat(String::new())).take(length).collect::<Vec<_>>()
        };
        [padded(|(share, _)| share), padded(|(_, text)| text)]
    };
    let all = |name: &str, lines: &[(String, String)], length: usize| {
        let [shares, texts] = columns(lines, length);
        [Column::right("time", shares), Column::left(name, texts)]
    };
    let names = of.sides.each_ref().map(|side| plain(&side.name));
    if widths[0] + widths[1] + 20 > look.table_columns() {
        let below = [(one, &names[0]), (other, &names[1])];
        return below
            .into_iter()
            .map(|((title, lines), name)| {
                (title, all(name, &lines, lines.len()).into_iter().collect())
            })
            .collect();
    }
    let length = one.1.len().max(other.1.len());
    let both = [all(&names[0], &one.1, length), all(&names[1], &other.1, length)].concat();
    vec![(format!("{} {}", one.0, other.0), both)]
}

/// Returns the instructions that are shown: of many those around the hottest.
fn shown(hot: &Hot) -> &[Instruction] {
    let lines = &hot.lines;
    if lines.len() <= LINES_MAX {
        return lines;
    }
    let by_share = |a: &usize, b: &usize| lines[*a].share.total_cmp(&lines[*b].share);
    let hottest = (0..lines.len()).max_by(by_share).unwrap_or(0);
    let start = hottest.saturating_sub(LINES_MAX / 2).min(lines.len() - LINES_MAX);
    &lines[start..start + LINES_MAX]
}

/// Says what the instructions of a contestant are.
fn title(side: &WhySide) -> String {
    let Hot { function, is_loop, .. } = &side.hot;
    let what = if *is_loop { "the hot loop" } else { "the instructions" };
    let more = match side.hot.lines.len() - shown(&side.hot).len() {
        0 => String::new(),
        more => format!(", without {} more", count(more as u64, "instruction")),
    };
    format!("{}: {what} of {}{more}.", plain(&side.name), short(function))
}

/// Returns the instructions of a contestant, each with its share of the time.
fn listing(side: &WhySide) -> Vec<(String, String)> {
    let lines = shown(&side.hot).iter().map(|line| {
        let share = match line.share {
            share if share >= SHARE_MIN / 2.0 => percent(share, Rounding::Nearest),
            _ => String::new(),
        };
        let words: Vec<&str> = line.text.split_whitespace().collect();
        (share, shorten_middle(&plain(&words.join(" ")), 56, Look::PAPER))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_core::result::Part;

    fn side(name: &str, texts: &[&str]) -> WhySide {
        let share = 1.0 / texts.len() as f64;
        let line = |(index, text): (usize, &&str)| {
            let (address, text) = (0x1000 + 4 * index as u64, (*text).to_owned());
            Instruction { address, text, share }
        };
        WhySide {
            name: name.to_owned(),
            call_ns: 20_000.0,
            cycles: None,
            instructions: None,
            hot: Hot {
                parts: vec![Part { name: "sum".to_owned(), share: 0.98 }],
                function: "sum".to_owned(),
                is_loop: true,
                lines: texts.iter().enumerate().map(line).collect(),
                looks: 1000,
            },
            model: Ok(Model {
                cpu: "skylake-avx512".to_owned(),
                instructions: texts.len() as f64,
                micro_ops: texts.len() as f64,
                cycles: 1.25,
            }),
        }
    }

    #[test]
    fn loops_stand_side_by_side_where_there_is_room() {
        let one = side("plain", &["movzbl (%rdi),%edx", "add    %rdx,%rax", "jne    1000 <sum>"]);
        let other = side("unrolled", &["movzbl (%rdi),%edx", "jne 1000 <sum>"]);
        let of = Why {
            study: "sums".to_owned(),
            workload: "small".to_owned(),
            item: "byte".to_owned(),
            items: 20_000,
            sides: [one, other],
        };
        let wide = why(&of, &Look { width: 120, ..Look::PAPER });
        insta::assert_snapshot!(wide);
        let narrow = why(&of, &Look { width: 40, ..Look::PAPER });
        assert!(narrow.lines().filter(|line| line.contains("movzbl")).count() == 2, "{narrow}");
        assert!(wide.lines().filter(|line| line.contains("movzbl")).count() == 1, "{wide}");
    }
}
