//! Option values with units, and parameter lists.

use tiebreak_lab::core::metric::Metric;
use tiebreak_lab::core::plan::{Adjust, Budget};
use tiebreak_lab::core::quantity;

/// Parses a share such as `1%` or `0.01`.
pub fn fraction(text: &str) -> Result<f64, String> {
    quantity::parse_fraction(text).map_err(|error| error.to_string())
}

/// Parses the head of a chain of hashes: from 8 to 64 hexadecimal digits, the beginning of its last
/// hash.
pub fn chain_head(text: &str) -> Result<String, String> {
    let is_hexadecimal = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if (8..=64).contains(&text.len()) && is_hexadecimal {
        Ok(text.to_owned())
    } else {
        Err("a head has 8 to 64 digits, each of 0-9 and a-f".to_owned())
    }
}

/// Parses a duration above 0, in nanoseconds.
pub fn duration_ns(text: &str) -> Result<u64, String> {
    match quantity::parse_duration_ns(text) {
        Ok(ns) if (1.0..=quantity::SECONDS_MAX * 1e9).contains(&ns) => Ok(ns as u64),
        Ok(_) => Err(format!("'{text}' is not a time that anything can be ended after")),
        Err(error) => Err(error.to_string()),
    }
}

/// Parses a size above 0, in bytes.
pub fn bytes(text: &str) -> Result<u64, String> {
    match quantity::parse_bytes(text) {
        Ok(0) => Err("nothing fits into 0 bytes".to_owned()),
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(error.to_string()),
    }
}

/// Parses a budget: `30s`, `500 rounds`, or both with a comma.
pub fn budget(text: &str) -> Result<Budget, String> {
    quantity::parse_budget(text).map_err(|error| error.to_string())
}

/// Parses the additional budget of a run. The value is optional, so a run's name after the option
/// is taken for it; the error says so.
pub fn more(text: &str) -> Result<Budget, String> {
    let hint = "the name of a run goes first: tiebreak resume RUN --more";
    budget(text).map_err(|error| format!("{error}; {hint}"))
}

/// Parses a rate that can be proven: above 0 and below 1.
pub fn rate(text: &str) -> Result<f64, String> {
    match fraction(text)? {
        rate if rate > 0.0 && rate < 1.0 => Ok(rate),
        _ => Err(format!("'{text}' cannot be proven: a rate is above 0 and below 100%")),
    }
}

/// A value, in the unit of its metric, and the unit of plain numbers with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// The value in the unit of the metric.
    pub value: f64,
    /// The size of the typed unit in the unit of the metric.
    pub scale: f64,
    /// Wall time for times, otherwise a plain value.
    pub metric: Metric,
}

/// Parses a time such as `5ms`, or a plain number.
pub fn bar(text: &str) -> Result<Bar, String> {
    let text = text.trim();
    if let Ok(value) = text.parse::<f64>() {
        if !(value.is_finite() && value >= 0.0) {
            return Err(format!("'{text}' is not a finite number of at least 0"));
        }
        return Ok(Bar { value, scale: 1.0, metric: Metric::Value });
    }
    let value = quantity::parse_duration_ns(text).map_err(|error| error.to_string())?;
    let unit = text.trim_start_matches(|c: char| !c.is_alphabetic() || c == 'e' || c == 'E');
    let scale = quantity::parse_duration_ns(&format!("1{unit}")).unwrap_or(1.0);
    Ok(Bar { value, scale, metric: Metric::WallTime })
}

/// Parses what is removed from noise: `slot`, `strata`, both with a comma, or `none`.
pub fn adjust(text: &str) -> Result<Adjust, String> {
    let mut adjust = Adjust::NONE;
    for word in text.split(',').map(str::trim) {
        adjust = match (adjust.with(word), word) {
            (Some(adjust), _) => adjust,
            (None, "none") if text.trim() == "none" => adjust,
            (None, "none") => return Err("'none' stands alone".to_owned()),
            (None, _) => return Err(format!("'{word}' is neither slot nor strata, nor none")),
        };
    }
    Ok(adjust)
}

/// Parses the name of a metric.
pub fn metric(text: &str) -> Result<Metric, String> {
    let name = text.replace(['-', '_'], " ").to_ascii_lowercase();
    let name = if name == "memory" { "peak memory".to_owned() } else { name };
    Metric::from_name(&name).ok_or_else(|| {
        let names: Vec<_> = Metric::ALL.iter().map(|metric| metric.name()).collect();
        format!("'{text}' is not a metric; these are: {}", names.join(", "))
    })
}

/// Parses a list of CPUs in the kernel's format: `0,2-5`.
pub fn cpus(text: &str) -> Result<CpuList, String> {
    let cpus = quantity::parse_cpus(text).map_err(|error| error.to_string())?;
    Ok(CpuList(cpus))
}

/// CPUs by number, each once, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuList(pub Vec<usize>);

/// Where functions run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuChoice {
    /// Wherever the kernel puts them.
    Any,
    /// On this CPU.
    To(usize),
}

/// Parses the number of a CPU, or `any`.
pub fn cpu_choice(text: &str) -> Result<CpuChoice, String> {
    if text == "any" {
        return Ok(CpuChoice::Any);
    }
    match cpus(text).as_ref().map(|list| list.0.as_slice()) {
        Ok([cpu]) => Ok(CpuChoice::To(*cpu)),
        Ok(_) => Err(format!("'{text}' are many, and one function runs at a time: name one")),
        Err(error) => Err(error.clone()),
    }
}

/// Parses `name=a,b,c`, or `name=1..10` and `name=1..10..3` for a range of whole numbers.
pub fn parameter(text: &str) -> Result<Parameter, String> {
    let wrong = || format!("'{text}' is not a parameter such as level=1,6,9 or threads=1..8");
    let (name, values) = text.split_once('=').ok_or_else(wrong)?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(is_word) {
        return Err(wrong());
    }
    let values = match range(values) {
        Some(range) => range?,
        None => values.split(',').map(|value| value.trim().to_owned()).collect(),
    };
    Ok(Parameter { name: name.to_owned(), values })
}

/// A parameter and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, which commands contain between braces.
    pub name: String,
    /// Its values in order.
    pub values: Vec<String>,
}

fn range(text: &str) -> Option<Result<Vec<String>, String>> {
    let parts: Vec<i64> =
        text.split("..").map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
    let (first, last, step) = match parts.as_slice() {
        [first, last] => (*first, *last, 1),
        [first, last, step] => (*first, *last, *step),
        _ => return None,
    };
    let steps = last.checked_sub(first).filter(|length| *length >= 0 && step > 0);
    let Some(length) = steps.filter(|length| length / step < 1000) else {
        return Some(Err(format!("'{text}' is not a range such as 1..8 or 10..100..10")));
    };
    Some(Ok((0..=length / step).map(|i| (first + i * step).to_string()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_ranges() {
        let values = |text: &str| parameter(text).map(|parameter| parameter.values);
        assert_eq!(values("level=1,6"), Ok(vec!["1".into(), "6".into()]));
        assert_eq!(values("n=1..3"), Ok(vec!["1".into(), "2".into(), "3".into()]));
        assert_eq!(values("n=10..40..15"), Ok(vec!["10".into(), "25".into(), "40".into()]));
        assert_eq!(values("flag=-O2"), Ok(vec!["-O2".into()]));
        for text in ["", "level", "=1", "a b=1", "n=3..1", "n=1..1000000"] {
            assert!(parameter(text).is_err(), "{text}");
        }
    }

    #[test]
    fn cpu_lists() {
        assert_eq!(cpus("0,2-4,3"), Ok(CpuList(vec![0, 2, 3, 4])));
        for text in ["", "a", "3-1", "1,", "99999999"] {
            assert!(cpus(text).is_err(), "{text}");
        }
    }
}
