//! Values of the expected types.

use super::{Found, Item, Log};
use crate::error::shown;
use crate::quantity;
use crate::suggest::closest;

use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use tiebreak_core::plan::Budget;
use tiebreak_core::quantity::NotAQuantity;
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

impl<'a> Item<'a> {
    /// Logs an error for a value whose type is not the expected one.
    pub(crate) fn wrong_type<'l>(&self, expected: &str, log: &'l mut Log<'_>) -> &'l mut Found {
        let message = format!("'{}' cannot be {}", shown(self.key), kind(self.value));
        log.error(self.span.clone(), message).label(format!("expected {expected}"))
    }

    /// Logs an error for a value that is out of its range, or otherwise invalid.
    pub(crate) fn wrong<'l>(&self, expected: &str, log: &'l mut Log<'_>) -> &'l mut Found {
        let value = shown(log.raw(&self.span));
        let message = format!("invalid value {value} for '{}'", shown(self.key));
        log.error(self.span.clone(), message).label(format!("expected {expected}"))
    }

    /// Returns the example of the table of inputs.
    pub(crate) fn example(&self) -> &'static str {
        self.input.map_or("", |input| &input.example)
    }

    /// Reads a string that is not blank, and has no NUL, which no argument can contain.
    pub(crate) fn string(&self, log: &mut Log<'_>) -> Option<String> {
        self.string_as(self.example(), log).map(str::to_owned)
    }

    /// Reads a string as [`Item::string`] does, with an example for errors.
    pub(crate) fn string_as(&self, example: &str, log: &mut Log<'_>) -> Option<&'a str> {
        let DeValue::String(text) = self.value else {
            self.wrong_type(&format!("a string such as \"{example}\""), log);
            return None;
        };
        if text.trim().is_empty() {
            log.error(self.span.clone(), format!("'{}' is empty", shown(self.key)))
                .label(format!("expected a string such as \"{example}\""));
            return None;
        }
        if text.contains('\0') {
            let message = format!("'{}' contains a NUL", shown(self.key));
            log.error(self.span.clone(), message).label("a program cannot be given one");
            return None;
        }
        Some(text)
    }

    pub(crate) fn boolean(&self, log: &mut Log<'_>) -> Option<bool> {
        let value = self.value.as_bool();
        if value.is_none() {
            self.wrong_type("true or false", log);
        }
        value
    }

    /// Reads a whole number within the limits of the table of inputs.
    pub(crate) fn whole<T: TryFrom<u64>>(&self, log: &mut Log<'_>) -> Option<T> {
        let DeValue::Integer(integer) = self.value else {
            self.wrong_type("a whole number", log);
            return None;
        };
        let (low, high) = self.input.map_or((0, u64::MAX), |input| input.limits);
        let value = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
        let value = value.filter(|value| (low..=high).contains(value));
        if value.is_none() {
            self.wrong(&format!("a whole number from {low} to {high}"), log);
        }
        value.and_then(|value| T::try_from(value).ok())
    }

    /// Parses a text, or logs an error that says what would be right.
    fn parsed<T>(
        &self,
        text: &str,
        parse: fn(&str) -> Result<T, NotAQuantity>,
        log: &mut Log<'_>,
    ) -> Option<T> {
        let value = parse(text);
        if let Err(error) = &value {
            self.wrong(error.expected, log);
        }
        value.ok()
    }

    /// Reads a share: `"1%"`, `"0.01"` or `0.01`.
    pub(crate) fn share(&self, log: &mut Log<'_>) -> Option<f64> {
        let text = match self.value {
            DeValue::String(text) => text.as_ref(),
            // The sign and other notations of a number are parsed as written.
            DeValue::Float(float) => float.as_str(),
            DeValue::Integer(integer) => integer.as_str(),
            _ => {
                self.wrong_type("a share such as \"1%\" or 0.01", log);
                return None;
            }
        };
        self.parsed(text, quantity::parse_fraction, log)
    }

    /// Reads a share of at least 0 and below 1.
    pub(crate) fn fraction(&self, log: &mut Log<'_>) -> Option<f64> {
        let fraction = self.share(log)?;
        if !(0.0..1.0).contains(&fraction) {
            self.wrong("a share of at least 0 and below 100%, such as \"1%\"", log);
            return None;
        }
        Some(fraction)
    }

    /// Reads a string by the parser of its kind.
    pub(crate) fn quantity<T>(
        &self,
        parse: fn(&str) -> Result<T, NotAQuantity>,
        log: &mut Log<'_>,
    ) -> Option<T> {
        let text = self.string_as(self.example(), log)?;
        self.parsed(text, parse, log)
    }

    /// Reads a budget: a time, a number of rounds, or both.
    pub(crate) fn budget(&self, log: &mut Log<'_>) -> Option<Budget> {
        self.quantity(quantity::parse_budget, log)
    }

    /// Reads a list of CPUs: `"0,2-5"`.
    pub(crate) fn cpus(&self, log: &mut Log<'_>) -> Option<Vec<usize>> {
        let Some(text) = self.value.as_str() else {
            self.wrong_type("a list of CPUs such as \"1\" or \"0,2-5\"", log);
            return None;
        };
        self.parsed(text, quantity::parse_cpus, log)
    }

    /// Reads one of the words of the table of inputs, as the name that the type has in JSON.
    pub(crate) fn word<T: DeserializeOwned>(&self, log: &mut Log<'_>) -> Option<T> {
        let words = self.input.map_or(&[][..], |input| &input.words);
        let names: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let expected = names.join(" or ");
        let Some(text) = self.value.as_str() else {
            self.wrong_type(&expected, log);
            return None;
        };
        if !words.iter().any(|word| word == text) {
            let meant = closest(text, words.iter().map(String::as_str));
            self.wrong(&expected, log).meant(meant);
            return None;
        }
        let word: StrDeserializer<'_, Error> = text.into_deserializer();
        T::deserialize(word).ok()
    }

    /// Reads the strings of an array, each with its item.
    pub(crate) fn strings(&self, example: &str, log: &mut Log<'_>) -> Vec<(&'a str, Item<'a>)> {
        let DeValue::Array(array) = self.value else {
            self.wrong_type(&format!("an array of strings such as [\"{example}\"]"), log);
            return Vec::new();
        };
        let elements = self.elements(array).into_iter();
        elements.filter_map(|item| Some((item.string_as(example, log)?, item))).collect()
    }

    /// Returns the elements of an array, each under the array's key.
    pub(crate) fn elements(&self, array: &'a DeArray<'_>) -> Vec<Item<'a>> {
        let elements = array.iter();
        elements
            .map(|value| Item { value: value.get_ref(), span: value.span(), ..self.clone() })
            .collect()
    }
}
