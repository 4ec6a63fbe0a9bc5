//! Option values with units, and parameter lists.

use clap::builder::RangedU64ValueParser;
use tiebreak_lab::core::metric::Metric;
use tiebreak_lab::core::plan::Budget;
use tiebreak_lab::core::quantity::parse_duration_ns;
pub use tiebreak_lab::input::quantity::{
    parse_adjust as adjust, parse_budget as budget, parse_cpus as cpus, parse_fraction as fraction,
    parse_size as bytes, parse_timeout_ns as duration_ns,
};
use tiebreak_lab::slo::Bar;
use tiebreak_lab::studies::Pinning;

/// Returns a parser of whole numbers above 0.
pub fn above_0<T: TryFrom<u64>>() -> RangedU64ValueParser<T> {
    RangedU64ValueParser::new().range(1..)
}

/// Returns a parser of whole numbers from `least` to `most`, which its error names.
pub fn whole<T: TryFrom<u64>>(least: u64, most: u64) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        let number = number.and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| format!("give a whole number from {least} to {most}"))
    }
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

/// Parses the additional budget of a run. The value is optional, so a run's name after the option
/// is taken for it; the error says so.
pub fn more(text: &str) -> Result<Budget, String> {
    let hint = "the name of a run goes first: tiebreak resume RUN --more";
    budget(text).map_err(|error| format!("{error}; {hint}"))
}

/// Parses a rate that can be proven: above 0 and below 1.
pub fn rate(text: &str) -> Result<f64, String> {
    match fraction(text).map_err(|error| error.to_string())? {
        rate if rate > 0.0 && rate < 1.0 => Ok(rate),
        _ => Err(format!("'{text}' cannot be proven: a rate is above 0 and below 100%")),
    }
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
    let value = parse_duration_ns(text).map_err(|error| error.to_string())?;
    let unit = text.trim_start_matches(|c: char| !c.is_alphabetic() || c == 'e' || c == 'E');
    let scale = parse_duration_ns(&format!("1{unit}")).unwrap_or(1.0);
    Ok(Bar { value, scale, metric: Metric::WallTime })
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

/// CPUs by number, each once, in order: a type of its own, as clap takes a `Vec` for many values.
pub type Cpus = Vec<usize>;

/// Parses the number of a CPU, or `any`.
pub fn pinning(text: &str) -> Result<Pinning, String> {
    if text == "any" {
        return Ok(Pinning::Any);
    }
    match cpus(text).map_err(|error| error.to_string())?[..] {
        [cpu] => Ok(Pinning::To(cpu)),
        _ => Err(format!("'{text}' are many, and one function runs at a time: name one")),
    }
}

/// A parameter, which commands contain between braces, and its values in order.
pub type Parameter = (String, Vec<String>);

/// Parses `name=a,b,c`, or `name=1..10` and `name=1..10..3` for a range of whole numbers.
pub fn parameter(text: &str) -> Result<Parameter, String> {
    let is_other = |c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-';
    let parts = text.split_once('=');
    let parts = parts.filter(|(name, _)| !name.is_empty() && !name.contains(is_other));
    let Some((name, values)) = parts else {
        return Err(format!("'{text}' is not a parameter such as level=1,6,9 or threads=1..8"));
    };
    let values = match range(values) {
        Some(range) => range?,
        None => values.split(',').map(|value| value.trim().to_owned()).collect(),
    };
    Ok((name.to_owned(), values))
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
        let values = |text: &str| parameter(text).map(|(_, values)| values);
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
        assert_eq!(cpus("0,2-4,3"), Ok(vec![0, 2, 3, 4]));
        for text in ["", "a", "3-1", "1,", "99999999"] {
            assert!(cpus(text).is_err(), "{text}");
        }
    }
}
