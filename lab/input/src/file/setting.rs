//! Settings: the range and the unit of a value, and what it stands for.

use crate::document::keys::Item;
use crate::document::log::Log;
use crate::document::value::{elements, quantity, share, string, whole, word, wrong, wrong_type};
use crate::suggest::closest;
use tiebreak_core::plan::{Adjust, Centre, Check, OutputPlan, Success};
use tiebreak_core::quantity::{self, SECONDS_MAX};
use tiebreak_core::result::Family;
use toml::de::DeValue;

/// Errors at or above this one are refused: a coin does as well.
const ERROR_LIMIT: f64 = 0.5;
/// The most runs that one block may have.
const BLOCK_MAX: u64 = 1_000_000_000;

/// Reads the error of a file: above 0 and below one half.
pub(crate) fn error(item: &Item<'_>, log: &mut Log<'_>) -> Option<f64> {
    let error = share(item, log)?;
    if !(error > 0.0 && error < ERROR_LIMIT) {
        wrong(item, "a share above 0 and below 50%, such as \"1%\"", log)
            .help("an error of 0 is never reached, and one of half is what a coin has");
        return None;
    }
    Some(error)
}

/// Reads a share of at least 0 and below 1.
pub(crate) fn fraction(item: &Item<'_>, log: &mut Log<'_>) -> Option<f64> {
    let fraction = share(item, log)?;
    if !(0.0..1.0).contains(&fraction) {
        wrong(item, "a share of at least 0 and below 100%, such as \"1%\"", log);
        return None;
    }
    Some(fraction)
}

pub(crate) fn family(item: &Item<'_>, log: &mut Log<'_>) -> Option<Family> {
    word(item, &[("e-bonferroni", Family::EBonferroni), ("e-bh", Family::EBh)], log)
}

/// Reads a seed: any text, or a whole number as its digits.
pub(crate) fn seed(item: &Item<'_>, log: &mut Log<'_>) -> Option<String> {
    match item.value {
        DeValue::Integer(integer) => Some(integer.to_string()),
        _ => string(item, "some text", log).map(str::to_owned),
    }
}

pub(crate) fn centre(item: &Item<'_>, log: &mut Log<'_>) -> Option<Centre> {
    let centres = [("factor", Centre::Factor), ("median", Centre::Median), ("mean", Centre::Mean)];
    word(item, &centres, log)
}

pub(crate) fn output(item: &Item<'_>, log: &mut Log<'_>) -> Option<OutputPlan> {
    word(item, &[("capture", OutputPlan::Capture), ("null", OutputPlan::Null)], log)
}

pub(crate) fn block(item: &Item<'_>, log: &mut Log<'_>) -> Option<u64> {
    whole(item, 1, BLOCK_MAX, log)
}

/// Reads how many builds run at the same time.
pub(crate) fn build_jobs(item: &Item<'_>, log: &mut Log<'_>) -> Option<u64> {
    whole(item, 1, 2, log)
}

pub(crate) fn warmup(item: &Item<'_>, log: &mut Log<'_>) -> Option<u32> {
    whole(item, 0, u64::from(u32::MAX), log).and_then(|runs| u32::try_from(runs).ok())
}

/// Reads a time above 0, in nanoseconds.
pub(crate) fn timeout(item: &Item<'_>, log: &mut Log<'_>) -> Option<u64> {
    let text = string(item, "10s", log)?;
    let ns = quantity(item, text, quantity::parse_duration_ns, log)?;
    if !(1.0..=SECONDS_MAX * 1e9).contains(&ns) {
        wrong(item, "a time after which a run can be ended, such as \"10s\"", log);
        return None;
    }
    Some(ns as u64)
}

/// Reads a size above 0, in bytes.
pub(crate) fn size(item: &Item<'_>, log: &mut Log<'_>) -> Option<u64> {
    if let DeValue::Integer(_) = item.value {
        return whole(item, 1, i64::MAX.cast_unsigned(), log);
    }
    let text = string(item, "256MiB", log)?;
    let bytes = quantity(item, text, quantity::parse_bytes, log)?;
    if bytes == 0 {
        wrong(item, "a size above 0, such as \"256MiB\"", log);
    }
    Some(bytes).filter(|bytes| *bytes > 0)
}

/// Reads `same-output`, `exit` or a program.
pub(crate) fn check(item: &Item<'_>, log: &mut Log<'_>) -> Option<Check> {
    let text = string(item, "same-output", log)?;
    let slip = |meant| {
        wrong(item, "\"same-output\", \"exit\" or a program", log).meant(Some(meant));
    };
    Check::asked(text).map_err(slip).ok()
}

/// Reads exit statuses other than 0: `[1, 2]`.
pub(crate) fn success(item: &Item<'_>, log: &mut Log<'_>) -> Option<Success> {
    let DeValue::Array(array) = item.value else {
        wrong_type(item, "an array of exit statuses such as [1, 2]", log);
        return None;
    };
    let status = |item: &Item<'_>| whole(item, 0, 255, log).and_then(|s| i32::try_from(s).ok());
    let statuses: Vec<Option<i32>> = elements(item, array).iter().map(status).collect();
    statuses.into_iter().collect::<Option<_>>().map(Success::Statuses)
}

/// Reads a list of CPUs: `"0,2-5"`.
pub(crate) fn cpus(item: &Item<'_>, log: &mut Log<'_>) -> Option<Vec<usize>> {
    match item.value {
        DeValue::String(text) => quantity(item, text, quantity::parse_cpus, log),
        _ => {
            wrong_type(item, "a list of CPUs such as \"1\" or \"0,2-5\"", log);
            None
        }
    }
}

/// Reads what is removed from the noise: `"slot,strata"`, `"none"`, or an array of such words.
pub(crate) fn adjust(item: &Item<'_>, log: &mut Log<'_>) -> Option<Adjust> {
    let words: Vec<(&str, Item<'_>)> = match item.value {
        DeValue::String(text) => text.split(',').map(|word| (word.trim(), item.clone())).collect(),
        DeValue::Array(array) => {
            let words = elements(item, array);
            words.into_iter().map(|word| (word.value.as_str().unwrap_or_default(), word)).collect()
        }
        _ => {
            wrong_type(item, "\"slot\", \"strata\", both with a comma, or \"none\"", log);
            return None;
        }
    };
    let mut adjust = Some(Adjust::NONE);
    let is_alone = words.len() == 1;
    for (word, item) in words {
        let with_word = Adjust::NONE.with(word).is_some();
        adjust = match (adjust, word) {
            (Some(adjust), word) if with_word => adjust.with(word),
            (None, "slot" | "strata") => None,
            (adjust, "none") if is_alone => adjust,
            _ => {
                let meant = closest(word, ["slot", "strata", "none"]);
                wrong(&item, "\"slot\", \"strata\" or \"none\"", log).meant(meant);
                None
            }
        };
    }
    adjust
}
