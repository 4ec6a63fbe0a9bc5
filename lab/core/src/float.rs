//! Floats in JSON, which has neither infinities nor NaN: those are written as text.
//!
//! For `#[serde(with = "crate::float")]`. A finite number is written as a number; the others as
//! `"inf"`, `"-inf"` and `"nan"` (`serde_json` alone would write `null` and could not read that
//! back).

use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;
use std::fmt;

/// Writes a float.
///
/// # Errors
/// Fails if the serializer fails.
pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match *value {
        finite if finite.is_finite() => serializer.serialize_f64(finite),
        f64::INFINITY => serializer.serialize_str("inf"),
        f64::NEG_INFINITY => serializer.serialize_str("-inf"),
        _ => serializer.serialize_str("nan"),
    }
}

/// Reads a float from a number or from one of the three texts.
///
/// # Errors
/// Fails if it is anything else.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    deserializer.deserialize_any(FloatVisitor)
}

struct FloatVisitor;

impl Visitor<'_> for FloatVisitor {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, \"inf\", \"-inf\" or \"nan\"")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<f64, E> {
        Ok(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<f64, E> {
        match text {
            "inf" => Ok(f64::INFINITY),
            "-inf" => Ok(f64::NEG_INFINITY),
            "nan" => Ok(f64::NAN),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
        }
    }
}

/// The same form for an `Option<f64>`: `null` is `None`. Add `default` so that the field may be
/// absent.
pub mod option {
    use serde::de::{Deserialize, Deserializer};
    use serde::ser::{Serialize, Serializer};

    pub(super) struct Float(pub(super) f64);

    impl Serialize for Float {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            super::serialize(&self.0, serializer)
        }
    }

    impl<'de> Deserialize<'de> for Float {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            super::deserialize(deserializer).map(Float)
        }
    }

    /// Writes an optional float.
    ///
    /// # Errors
    /// Fails if the serializer fails.
    pub fn serialize<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(Float).serialize(serializer)
    }

    /// Reads an optional float.
    ///
    /// # Errors
    /// Fails if it is neither `null` nor a float.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Float>::deserialize(deserializer)?.map(|float| float.0))
    }
}

/// The same form for a list.
pub mod list {
    use super::option::Float;
    use serde::de::{Deserialize, Deserializer};
    use serde::ser::Serializer;

    /// Writes floats.
    ///
    /// # Errors
    /// Fails if the serializer fails.
    pub fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(|value| Float(*value)))
    }

    /// Reads floats.
    ///
    /// # Errors
    /// Fails if it is not a list of floats.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<Float>::deserialize(deserializer)?.into_iter().map(|float| float.0).collect())
    }
}

/// The form in results: a number that is not finite is written as `null`, which is read back as
/// NaN.
pub mod or_null {
    use serde::de::{Deserialize, Deserializer};
    use serde::ser::Serializer;

    /// Writes a float.
    ///
    /// # Errors
    /// Fails if the serializer fails.
    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() {
            serializer.serialize_f64(*value)
        } else {
            serializer.serialize_none()
        }
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
