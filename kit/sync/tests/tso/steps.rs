//! The steps in the documentation of event counts are the lines of the models that are explored.

use crate::catalogue::{EVENT_COUNT_SINGLE, EVENT_COUNT_TWO_WORDS, Text};

const STEPS: &str = include_str!("../../src/event_count/steps.md");

/// A section of the documentation, and its model.
const SECTIONS: [(&str, Text, usize); 2] = [
    ("The flag in the word", EVENT_COUNT_SINGLE, 10),
    ("The flag in a second", EVENT_COUNT_TWO_WORDS, 11),
];

/// The lines of the model with which the steps of a section begin.
fn lines_of_steps(section: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    for step in section.lines() {
        let Some((number, mut rest)) = step.split_once(". `") else { continue };
        if number.parse::<u32>().is_err() {
            continue;
        }
        while let Some((line, after)) = rest.split_once('`') {
            lines.push(line);
            let Some(next) = after.strip_prefix(", `") else { break };
            rest = next;
        }
    }
    lines
}

#[test]
fn the_steps_are_those_of_the_models() {
    for (title, model, count) in SECTIONS {
        let mut sections = STEPS.split("\n## ").filter(|section| section.starts_with(title));
        let section = sections.next().unwrap_or_else(|| panic!("no section {title}"));
        assert!(section.contains(&format!("tests/tso/models/{}.tso", model.name)), "{title}");
        let steps = lines_of_steps(section);
        assert_eq!(steps.len(), count, "{title}: {steps:?}");
        let mut lines = model.text.lines().map(str::trim);
        for step in steps {
            assert!(
                lines.any(|line| line == step),
                "{title}: `{step}` is not in {}, or not there",
                model.name
            );
        }
    }
}

/// Whatever model the documentation names is there.
#[test]
fn the_models_that_are_named_exist() {
    let models = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tso/models"));
    let mut names = 0;
    for word in STEPS.split(['`', '/']).filter(|word| word.ends_with(".tso")) {
        assert!(models.join(word).is_file(), "there is no {word}");
        names += 1;
    }
    assert!(names >= 5, "{names} models are named");
}
