//! The models and the strategies, and how a model is put together from the two.

use crate::parse::{Result, parse};
use crate::program::Model;

/// A text with its name.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! texts {
    ($($constant:ident = $folder:literal / $name:literal;)*) => {
        $(pub const $constant: Text = Text {
            name: $name,
            text: include_str!(concat!($folder, "/", $name, ".tso")),
        };)*
    };
}

texts! {
    MEMBARRIER = "strategies" / "membarrier";
    MPROTECT = "strategies" / "mprotect";
    BARRIERD = "strategies" / "barrierd";
    BARRIERD_COUNTS = "strategies" / "barrierd_counts";
    BARRIERD_SKEW = "strategies" / "barrierd_skew";
    SEQ_CST = "strategies" / "seq_cst";
    BARRIER = "models" / "barrier";
    BARRIER_RIVALS = "models" / "barrier_rivals";
    EVENT_COUNT_SINGLE = "models" / "event_count_single";
    EVENT_COUNT_ONE_WORD = "models" / "event_count_one_word";
    EVENT_COUNT_MULTI = "models" / "event_count_multi";
    EVENT_COUNT_MULTI_ONE_WORD = "models" / "event_count_multi_one_word";
    ONE_SECOND = "models" / "one_second";
    ONE_SECOND_ONE_WORD = "models" / "one_second_one_word";
    EVENT_COUNT_APPENDIX = "models" / "event_count_appendix";
    EVENT_COUNT_TWO_WORDS = "models" / "event_count_two_words";
    EPOCH = "models" / "epoch";
    HAZARD = "models" / "hazard";
    IDLE = "models" / "idle";
}

/// For models that name neither `light` nor `heavy`.
pub const NONE: Text = Text { name: "-", text: "" };

/// A change of a model or of its strategy: wherever these lines are, and they must be somewhere,
/// they become those. Indentation does not matter to find them; the new lines get that of the
/// first.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    pub from: &'static [&'static str],
    pub to: &'static [&'static str],
}

/// The model under a strategy, changed.
pub fn build(model: Text, strategy: Text, change: Option<Change>) -> Result<Model> {
    let (mut model_text, mut strategy_text) = (model.text.to_owned(), strategy.text.to_owned());
    if let Some(change) = change
        && replace(&mut model_text, change) + replace(&mut strategy_text, change) == 0
    {
        return Err(format!("{:?} is not in {}", change.from, model.name));
    }
    parse(&joined(&model_text, &strategy_text))
        .map_err(|error| format!("{} with {}: {error}", model.name, strategy.name))
}

/// How many places were changed.
fn replace(text: &mut String, change: Change) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let mut replaced: Vec<String> = Vec::new();
    let mut places = 0;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let found = lines[at..].iter().zip(change.from).filter(|(a, b)| a.trim() == **b).count();
        if found == change.from.len() {
            let indentation = &line[..line.len() - line.trim_start().len()];
            replaced.extend(change.to.iter().map(|new| format!("{indentation}{new}")));
            places += 1;
            at += found;
        } else {
            replaced.push((*line).to_owned());
            at += 1;
        }
    }
    *text = replaced.join("\n");
    places
}

/// The model's lines with `light` and `heavy` written out.
fn joined(model: &str, strategy: &str) -> String {
    let mut joined = String::new();
    let mut blocks: [Vec<&str>; 2] = Default::default();
    let mut block = None;
    for line in strategy.lines() {
        match line {
            "light:" => block = Some(0),
            "heavy:" => block = Some(1),
            _ if line.starts_with(' ') => {
                blocks[block.expect("a block is open")].push(&line[4..]);
            }
            _ => joined += &format!("{line}\n"),
        }
    }
    for line in model.lines() {
        let trimmed = line.trim();
        let indentation = &line[..line.len() - line.trim_start().len()];
        match ["light", "heavy"].iter().position(|name| *name == trimmed) {
            Some(which) => {
                for inserted in &blocks[which] {
                    joined += &format!("{indentation}{inserted}\n");
                }
            }
            None => joined += &format!("{line}\n"),
        }
    }
    joined
}
