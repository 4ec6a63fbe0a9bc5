//! Values of the expected types.

use super::keys::Item;
use super::log::{Found, Log};
use crate::error::shown;
use crate::suggest::closest;
use tiebreak_core::plan::Budget;
use tiebreak_core::quantity::{self, NotAQuantity};
use toml::de::{DeArray, DeValue};

/// Returns what a value is, in words.
pub(crate) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}

/// Logs an error for a value whose type is not the expected one.
pub(crate) fn wrong_type<'l>(
    item: &Item<'_>,
    expected: &str,
    log: &'l mut Log<'_>,
) -> &'l mut Found {
    let message = format!("'{}' cannot be {}", shown(item.key), kind(item.value));
    log.error(item.span.clone(), message).label(format!("expected {expected}"))
}

/// Logs an error for a value that is out of its range, or otherwise invalid.
pub(crate) fn wrong<'l>(item: &Item<'_>, expected: &str, log: &'l mut Log<'_>) -> &'l mut Found {
    let value = log.text().get(item.span.clone()).unwrap_or_default();
    let message = format!("invalid value {} for '{}'", shown(value), shown(item.key));
    log.error(item.span.clone(), message).label(format!("expected {expected}"))
}

/// Reads a string that is not blank, and has no NUL, which no argument can contain.
pub(crate) fn string<'a>(item: &Item<'a>, example: &str, log: &mut Log<'_>) -> Option<&'a str> {
    let DeValue::String(text) = item.value else {
        wrong_type(item, &format!("a string such as \"{example}\""), log);
        return None;
    };
    if text.trim().is_empty() {
        log.error(item.span.clone(), format!("'{}' is empty", shown(item.key)))
            .label(format!("expected a string such as \"{example}\""));
        return None;
    }
    if text.contains('\0') {
        let message = format!("'{}' contains a NUL", shown(item.key));
        log.error(item.span.clone(), message).label("a program cannot be given one");
        return None;
    }
    Some(text)
}

pub(crate) fn boolean(item: &Item<'_>, log: &mut Log<'_>) -> Option<bool> {
    match item.value {
        DeValue::Boolean(value) => Some(*value),
        _ => {
            wrong_type(item, "true or false", log);
            None
        }
    }
}

/// Reads a whole number from `low` to `high`.
pub(crate) fn whole(item: &Item<'_>, low: u64, high: u64, log: &mut Log<'_>) -> Option<u64> {
    let DeValue::Integer(integer) = item.value else {
        wrong_type(item, "a whole number", log);
        return None;
    };
    let value = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
    let value = value.filter(|value| (low..=high).contains(value));
    if value.is_none() {
        wrong(item, &format!("a whole number from {low} to {high}"), log);
    }
    value
}

/// Reads a share: `"1%"`, `"0.01"` or `0.01`.
pub(crate) fn share(item: &Item<'_>, log: &mut Log<'_>) -> Option<f64> {
    let text = match item.value {
        DeValue::String(text) => text.as_ref(),
        DeValue::Float(float) => float.as_str(),
        DeValue::Integer(integer) => integer.as_str(),
        _ => {
            wrong_type(item, "a share such as \"1%\" or 0.01", log);
            return None;
        }
    };
    // The sign and other notations of a number are parsed as written.
    quantity(item, text, quantity::parse_fraction, log)
}

/// Parses a quantity, or logs an error that says what would be right.
pub(crate) fn quantity<T>(
    item: &Item<'_>,
    text: &str,
    parse: fn(&str) -> Result<T, NotAQuantity>,
    log: &mut Log<'_>,
) -> Option<T> {
    match parse(text) {
        Ok(value) => Some(value),
        Err(error) => {
            wrong(item, error.expected, log);
            None
        }
    }
}

/// Reads a budget: a time, a number of rounds, or both.
pub(crate) fn budget(item: &Item<'_>, log: &mut Log<'_>) -> Option<Budget> {
    let text = string(item, "5min", log)?;
    quantity(item, text, quantity::parse_budget, log)
}

/// Reads one of several words.
pub(crate) fn word<T: Copy>(item: &Item<'_>, words: &[(&str, T)], log: &mut Log<'_>) -> Option<T> {
    let names: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
    let expected = names.join(" or ");
    let DeValue::String(text) = item.value else {
        wrong_type(item, &expected, log);
        return None;
    };
    let value = words.iter().find(|(word, _)| word == text).map(|(_, value)| *value);
    if value.is_none() {
        let meant = closest(text, words.iter().map(|(word, _)| *word));
        wrong(item, &expected, log).meant(meant);
    }
    value
}

/// Returns the elements of an array, each under the array's key.
pub(crate) fn elements<'a>(item: &Item<'a>, array: &'a DeArray<'_>) -> Vec<Item<'a>> {
    let element = |value: &'a toml::Spanned<DeValue<'_>>| -> Item<'a> {
        Item { value: value.get_ref(), span: value.span(), ..item.clone() }
    };
    array.iter().map(element).collect()
}
