//! The error of an invalid argument.

use std::fmt;

/// An argument outside the domain of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassicError {
    /// The name of the argument in the function's documentation.
    pub argument: &'static str,
    /// Its value, as text.
    pub value: String,
    /// The valid values, after "must be".
    pub expected: &'static str,
}

impl fmt::Display for ClassicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}, but must be {}", self.argument, self.value, self.expected)
    }
}

impl std::error::Error for ClassicError {}

/// Returns an error unless the condition is met.
pub(super) fn require(
    is_met: bool,
    argument: &'static str,
    value: impl fmt::Display,
    expected: &'static str,
) -> Result<(), ClassicError> {
    if is_met { Ok(()) } else { Err(ClassicError { argument, value: value.to_string(), expected }) }
}

/// Checks that a rate lies strictly between 0 and 1, so that a test can be about it.
pub(super) fn require_rate(argument: &'static str, rate: f64) -> Result<(), ClassicError> {
    require(rate > 0.0 && rate < 1.0, argument, rate, "above 0 and below 1")
}

/// Checks that the logarithm of an error rate is at most 0.
pub(super) fn require_log_eps(log_eps: f64) -> Result<(), ClassicError> {
    require(log_eps <= 0.0, "log_eps", log_eps, "at most 0: the natural logarithm of an error rate")
}
