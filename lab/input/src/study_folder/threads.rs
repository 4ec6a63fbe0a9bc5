//! The numbers of threads on which a contestant runs.

use super::MAX_ENTRIES;
use super::recipe::StatedLanguage;
use super::table::Table;
use crate::document::keys::Item;
use crate::document::log::Log;
use crate::document::value;
use crate::suggest::closest;
use tiebreak_core::study::ThreadCount;
use toml::de::DeValue;

/// More threads than any machine has CPUs.
const THREADS_MAX: u64 = 8192;
/// The allowed values of `threads`.
const EXPECTED: &str = "a number of threads, \"all\", or several of these such as [1, 2, \"all\"]";

/// Numbers of threads, each with its suffix of the name.
pub(super) type Counts = Vec<(ThreadCount, String)>;

/// Reads `threads`: none if it is missing, one without a suffix, or a list in which each makes a
/// separate contestant.
pub(super) fn threads(table: &Table<'_>, said: &StatedLanguage, log: &mut Log<'_>) -> Counts {
    let Some(item) = table.get("threads") else { return Vec::new() };
    if let Some((language, _)) = said.as_ref().filter(|(language, _)| language.is_runner()) {
        let message = format!("a contestant in {} runs on one thread", language.name());
        log.error(item.key_span.clone(), message)
            .label("threads are those of a worker, which loads libraries")
            .help("leave 'threads' out");
        return Vec::new();
    }
    match item.value {
        DeValue::Array(array) => several(item, &value::elements(item, array), log),
        _ => count(item, EXPECTED, log).into_iter().map(|count| (count, String::new())).collect(),
    }
}

/// Reads several numbers, each once.
fn several(item: &Item<'_>, elements: &[Item<'_>], log: &mut Log<'_>) -> Counts {
    if elements.is_empty() || elements.len() > MAX_ENTRIES {
        value::wrong(item, EXPECTED, log);
    }
    let mut counts = Counts::new();
    for element in elements.iter().take(MAX_ENTRIES) {
        let Some(count) = count(element, "a number of threads or \"all\"", log) else { continue };
        if counts.iter().any(|(other, _)| *other == count) {
            log.error(element.span.clone(), "this number of threads stands here twice")
                .help("two contestants would have the same name: leave one of them out");
            continue;
        }
        counts.push((count, suffix(count)));
    }
    counts
}

/// Returns the suffix of a contestant's name for a number of threads.
fn suffix(count: ThreadCount) -> String {
    match count {
        ThreadCount::Number(number) => format!("-x{number}"),
        ThreadCount::All => "-xall".to_owned(),
    }
}

fn count(item: &Item<'_>, expected: &str, log: &mut Log<'_>) -> Option<ThreadCount> {
    match item.value {
        DeValue::Integer(_) => {
            let number = value::whole(item, 1, THREADS_MAX, log)?;
            Some(ThreadCount::Number(u32::try_from(number).unwrap_or(u32::MAX)))
        }
        DeValue::String(text) if text == "all" => Some(ThreadCount::All),
        DeValue::String(text) => {
            let meant = closest(text, ["all"]);
            value::wrong(item, expected, log).meant(meant);
            None
        }
        _ => {
            value::wrong_type(item, expected, log);
            None
        }
    }
}
