//! What became of a probe: never a silent zero.

use serde::{Deserialize, Serialize};

/// What a probe came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Probed<T> {
    /// As it should be.
    Measured {
        /// What was found.
        value: T,
    },
    /// Something was found, by less than the probe would have liked.
    Degraded {
        /// What was found.
        value: T,
        /// Why it is worth less, a sentence each.
        reasons: Vec<String>,
    },
    /// This machine, or this user, does not have it.
    Unavailable {
        /// What is not available, in words: `energy`.
        what: String,
        /// Each way that was tried, in this order.
        tried: Vec<Tried>,
    },
    /// The probe ran, and what it saw does not say enough.
    Inconclusive {
        /// Why, in a sentence.
        why: String,
    },
}

/// A way to get at something, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// The way, in words or as a path.
    pub way: String,
    /// What the machine said.
    pub error: String,
}

impl<T> Probed<T> {
    /// Measured if nothing speaks against it, else degraded.
    pub fn of(value: T, reasons: Vec<String>) -> Probed<T> {
        if reasons.is_empty() {
            Probed::Measured { value }
        } else {
            Probed::Degraded { value, reasons }
        }
    }

    /// Inconclusive, and why.
    pub fn inconclusive(why: impl Into<String>) -> Probed<T> {
        Probed::Inconclusive { why: why.into() }
    }

    /// Returns what was found, if anything was.
    pub fn value(&self) -> Option<&T> {
        match self {
            Probed::Measured { value } | Probed::Degraded { value, .. } => Some(value),
            Probed::Unavailable { .. } | Probed::Inconclusive { .. } => None,
        }
    }

    /// Returns the same outcome of something that is made from what was found, which may add
    /// reasons.
    pub fn map<U>(self, change: impl FnOnce(T, &mut Vec<String>) -> U) -> Probed<U> {
        let (value, mut reasons) = match self {
            Probed::Measured { value } => (value, Vec::new()),
            Probed::Degraded { value, reasons } => (value, reasons),
            Probed::Unavailable { what, tried } => return Probed::Unavailable { what, tried },
            Probed::Inconclusive { why } => return Probed::Inconclusive { why },
        };
        let changed = change(value, &mut reasons);
        Probed::of(changed, reasons)
    }

    /// `measured`, `degraded`, `unavailable` or `inconclusive`.
    pub fn state(&self) -> &'static str {
        match self {
            Probed::Measured { .. } => "measured",
            Probed::Degraded { .. } => "degraded",
            Probed::Unavailable { .. } => "unavailable",
            Probed::Inconclusive { .. } => "inconclusive",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl<T> Probed<T> {
        /// Whether it is as it should be.
        pub(crate) fn is_measured(&self) -> bool {
            matches!(self, Probed::Measured { .. })
        }
    }

    #[test]
    fn a_reason_degrades_and_a_missing_value_stays_missing() {
        let doubled = |probed: Probed<u32>| probed.map(|value, _| value * 2);
        assert_eq!(doubled(Probed::of(2, Vec::new())), Probed::Measured { value: 4 });
        let reasons = vec!["short".to_owned()];
        let degraded = Probed::of(2, reasons.clone());
        assert_eq!(degraded.state(), "degraded");
        assert_eq!(doubled(degraded), Probed::Degraded { value: 4, reasons: reasons.clone() });
        let added = Probed::of(2, Vec::new()).map(|value, all| {
            all.extend(reasons.clone());
            value
        });
        assert_eq!(added, Probed::Degraded { value: 2, reasons });
        let open = doubled(Probed::inconclusive("nothing survived"));
        assert_eq!((open.value(), open.is_measured()), (None, false));
    }

    #[test]
    fn json_names_the_state() {
        let tried = vec![Tried { way: "perf".into(), error: "no such file".into() }];
        let probed: Probed<u32> = Probed::Unavailable { what: "energy".into(), tried };
        let text = serde_json::to_string(&probed).unwrap();
        let tried = r#"[{"way":"perf","error":"no such file"}]"#;
        let expected = format!(r#"{{"state":"unavailable","what":"energy","tried":{tried}}}"#);
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Probed<u32>>(&text).unwrap(), probed);
    }
}
