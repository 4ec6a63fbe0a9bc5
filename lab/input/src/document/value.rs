//! Values of the expected types.

use super::{FileError, Item};
use crate::error::shown;
use crate::quantity;
use crate::suggest::closest;

use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use std::cell::RefMut;
use tiebreak_core::plan::Budget;
use tiebreak_core::quantity::NotAQuantity;
use toml::de::DeValue;

/// Returns what a value is, in words.
pub fn kind(value: &DeValue<'_>) -> &'static str {
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

impl<'a> Item<'a> {
    /// Logs an error for a value whose type is not the expected one.
    pub fn wrong_type(&self, expected: &str) -> RefMut<'_, FileError> {
        self.expected(format!("'{}' cannot be {}", shown(self.key), kind(self.value)), expected)
    }

    /// Returns a value if it has the expected type, or else logs an error.
    pub fn typed<T>(&self, value: Option<T>, expected: &str) -> Option<T> {
        value.or_else(|| self.wrong_type(expected).none())
    }

    /// Logs an error for a value that is out of its range, or otherwise invalid.
    pub fn wrong(&self, expected: &str) -> RefMut<'_, FileError> {
        let value = shown(self.log.raw(&self.span));
        self.expected(format!("invalid value {value} for '{}'", shown(self.key)), expected)
    }

    fn expected(&self, message: String, expected: &str) -> RefMut<'_, FileError> {
        let mut found = self.error(message);
        found.label(format!("expected {expected}"));
        found
    }

    /// Returns the example of the table of inputs.
    pub fn example(&self) -> &'static str {
        self.input.map_or("", |input| &input.example)
    }

    /// Reads a string that is not blank, and has no NUL, which no argument can contain.
    pub fn string(&self) -> Option<String> {
        self.string_as(self.example()).map(str::to_owned)
    }

    /// Reads a string as [`Item::string`] does, with an example for errors.
    pub fn string_as(&self, example: &str) -> Option<&'a str> {
        let expected = format!("a string such as \"{example}\"");
        let text = self.typed(self.value.as_str(), &expected)?;
        if text.trim().is_empty() {
            let message = format!("'{}' is empty", shown(self.key));
            return self.error(message).label(format!("expected {expected}")).none();
        }
        if text.contains('\0') {
            let message = format!("'{}' contains a NUL", shown(self.key));
            return self.error(message).label("a program cannot be given one").none();
        }
        Some(text)
    }

    pub fn boolean(&self) -> Option<bool> {
        self.typed(self.value.as_bool(), "true or false")
    }

    /// Reads a whole number within the limits of the table of inputs.
    pub fn whole<T: TryFrom<u64>>(&self) -> Option<T> {
        let integer = self.typed(self.value.as_integer(), "a whole number")?;
        let (low, high) = self.input.map_or((0, u64::MAX), |input| input.limits);
        let value = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
        match value.filter(|value| (low..=high).contains(value)) {
            Some(value) => T::try_from(value).ok(),
            None => self.wrong(&format!("a whole number from {low} to {high}")).none(),
        }
    }

    /// Parses a text, or logs an error that says what would be right.
    fn parsed<T>(&self, text: &str, parse: fn(&str) -> Result<T, NotAQuantity>) -> Option<T> {
        parse(text).map_err(|error| drop(self.wrong(error.expected))).ok()
    }

    /// Reads a share: `"1%"`, `"0.01"` or `0.01`.
    pub fn share(&self) -> Option<f64> {
        let text = match self.value {
            DeValue::String(text) => text.as_ref(),
            // The sign and other notations of a number are parsed as written.
            DeValue::Float(float) => float.as_str(),
            DeValue::Integer(integer) => integer.as_str(),
            _ => return self.wrong_type("a share such as \"1%\" or 0.01").none(),
        };
        self.parsed(text, quantity::parse_fraction)
    }

    /// Reads a share in these bounds, which an error expects in words.
    pub fn share_where(&self, is_right: impl FnOnce(f64) -> bool, expected: &str) -> Option<f64> {
        let share = self.share()?;
        if is_right(share) { Some(share) } else { self.wrong(expected).none() }
    }

    /// Reads a share of at least 0 and below 1.
    pub fn fraction(&self) -> Option<f64> {
        let expected = "a share of at least 0 and below 100%, such as \"1%\"";
        self.share_where(|share| (0.0..1.0).contains(&share), expected)
    }

    /// Reads a string by the parser of its kind.
    pub fn quantity<T>(&self, parse: fn(&str) -> Result<T, NotAQuantity>) -> Option<T> {
        let text = self.string_as(self.example())?;
        self.parsed(text, parse)
    }

    /// Reads a budget: a time, a number of rounds, or both.
    pub fn budget(&self) -> Option<Budget> {
        self.quantity(quantity::parse_budget)
    }

    /// Reads a list of CPUs: `"0,2-5"`.
    pub fn cpus(&self) -> Option<Vec<usize>> {
        let text = self.typed(self.value.as_str(), "a list of CPUs such as \"1\" or \"0,2-5\"")?;
        self.parsed(text, quantity::parse_cpus)
    }

    /// Reads one of the words of the table of inputs, as the name that the type has in JSON.
    pub fn word<T: DeserializeOwned>(&self) -> Option<T> {
        let words = self.input.map_or(&[][..], |input| &input.words);
        let names: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let expected = names.join(" or ");
        let text = self.typed(self.value.as_str(), &expected)?;
        if !words.iter().any(|word| word == text) {
            let meant = closest(text, words.iter().map(String::as_str));
            return self.wrong(&expected).meant(meant).none();
        }
        let word: StrDeserializer<'_, Error> = text.into_deserializer();
        T::deserialize(word).ok()
    }

    /// Reads the strings of an array, each with its item.
    pub fn strings(&self, example: &str) -> Vec<(&'a str, Item<'a>)> {
        let expected = format!("an array of strings such as [\"{example}\"]");
        let elements = self.typed(self.elements(), &expected).unwrap_or_default();
        let strings = elements.into_iter();
        strings.filter_map(|item| Some((item.string_as(example)?, item))).collect()
    }
}
