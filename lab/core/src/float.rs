//! Floats in JSON, which has neither infinities nor NaN: those are written as text.
//!
//! For `#[serde(with = "crate::float")]`. A finite number is written as a number; the others as
//! `"inf"`, `"-inf"` and `"nan"` (`serde_json` alone would write `null` and could not read that
//! back).

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A float as JSON has it.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a float is a number, \"inf\", \"-inf\" or \"nan\"")]
enum Float {
    Finite(f64),
    Other(Other),
}

#[derive(Serialize, Deserialize)]
enum Other {
    #[serde(rename = "inf")]
    Infinite,
    #[serde(rename = "-inf")]
    NegativeInfinite,
    #[serde(rename = "nan")]
    NotANumber,
}

impl From<f64> for Float {
    fn from(value: f64) -> Float {
        match value {
            finite if finite.is_finite() => Float::Finite(finite),
            f64::INFINITY => Float::Other(Other::Infinite),
            f64::NEG_INFINITY => Float::Other(Other::NegativeInfinite),
            _ => Float::Other(Other::NotANumber),
        }
    }
}

impl From<Float> for f64 {
    fn from(value: Float) -> f64 {
        match value {
            Float::Finite(value) => value,
            Float::Other(Other::Infinite) => f64::INFINITY,
            Float::Other(Other::NegativeInfinite) => f64::NEG_INFINITY,
            Float::Other(Other::NotANumber) => f64::NAN,
        }
    }
}

/// Writes a float.
///
/// # Errors
/// Fails if the serializer fails.
pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Float::from(*value).serialize(serializer)
}

/// Reads a float from a number or from one of the three texts.
///
/// # Errors
/// Fails if it is anything else.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Float::deserialize(deserializer).map(f64::from)
}

/// The same form for an `Option<f64>`: `null` is `None`. Add `default` so that the field may be
/// absent.
pub mod option {
    use super::{Deserialize, Deserializer, Float, Serialize, Serializer};

    /// Writes an optional float.
    ///
    /// # Errors
    /// Fails if the serializer fails.
    pub fn serialize<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(Float::from).serialize(serializer)
    }

    /// Reads an optional float.
    ///
    /// # Errors
    /// Fails if it is neither `null` nor a float.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Float>::deserialize(deserializer)?.map(f64::from))
    }
}

/// The same form for a list.
pub mod list {
    use super::{Deserialize, Deserializer, Float, Serializer};

    /// Writes floats.
    ///
    /// # Errors
    /// Fails if the serializer fails.
    pub fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().copied().map(Float::from))
    }

    /// Reads floats.
    ///
    /// # Errors
    /// Fails if it is not a list of floats.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<Float>::deserialize(deserializer)?.into_iter().map(f64::from).collect())
    }
}

/// The form in results: a number that is not finite is written as `null`, which is read back as
/// NaN.
pub mod or_null {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes a float.
    ///
    /// # Errors
    /// Fails if the serializer fails.
    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        value.is_finite().then_some(*value).serialize(serializer)
    }

    /// Reads a float.
    ///
    /// # Errors
    /// Fails if it is neither `null` nor a number.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Serialize, Deserialize)]
    #[serde(tag = "kind")]
    enum Tagged {
        Pair {
            #[serde(with = "super")]
            one: f64,
            #[serde(with = "super::option", default)]
            maybe: Option<f64>,
        },
    }

    fn check(value: f64, json: &str) {
        let text = serde_json::to_string(&Tagged::Pair { one: value, maybe: Some(value) }).unwrap();
        assert_eq!(text, format!("{{\"kind\":\"Pair\",\"one\":{json},\"maybe\":{json}}}"));
        let Tagged::Pair { one, maybe } = serde_json::from_str(&text).unwrap();
        for back in [one, maybe.unwrap()] {
            assert!(back.to_bits() == value.to_bits() || back.is_nan() && value.is_nan());
        }
    }

    #[test]
    fn every_float_survives_json() {
        for (value, json) in [
            (1.5, "1.5"),
            (-0.0, "-0.0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::INFINITY, "\"inf\""),
            (f64::NEG_INFINITY, "\"-inf\""),
            (f64::NAN, "\"nan\""),
        ] {
            check(value, json);
        }
        let Tagged::Pair { one, maybe } =
            serde_json::from_str("{\"kind\":\"Pair\",\"one\":2}").unwrap();
        assert_eq!((one, maybe), (2.0, None));
        assert!(serde_json::from_str::<Tagged>("{\"kind\":\"Pair\",\"one\":\"x\"}").is_err());
        assert!(serde_json::from_str::<Tagged>("{\"kind\":\"Pair\",\"one\":null}").is_err());
    }
}
