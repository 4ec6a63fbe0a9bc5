//! Where the interval of a share lies, as one sign, after the report of Khuong (2020).

use crate::look::Look;
use crate::presented::Presented;

/// Where the interval of a share lies among its thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// Above all of them.
    Above,
    /// Below all of them.
    Below,
    /// Between the bad rate and the good one.
    Inside,
    /// Above the bad one, and on both sides of the good one.
    AtLeast,
    /// Below the good one, and on both sides of the bad one.
    AtMost,
    /// On both sides of all of them.
    Open,
}

impl Sign {
    /// The sign of a share; none of other quantities, and where nothing is known.
    pub(crate) fn of(told: &Presented) -> Option<Sign> {
        let (bad, good) = match told.bars.as_slice() {
            [only] => (*only, *only),
            [bad, good] => (*bad, *good),
            _ => return None,
        };
        if !told.is_share() || !told.is_known() {
            return None;
        }
        let (low, high) = (told.low.unwrap_or(0.0), told.high.unwrap_or(1.0));
        Some(match () {
            () if low > good => Sign::Above,
            () if high < bad => Sign::Below,
            () if low > bad && high < good => Sign::Inside,
            () if low > bad => Sign::AtLeast,
            () if high < good => Sign::AtMost,
            () => Sign::Open,
        })
    }

    /// The sign in two columns at most.
    pub(crate) fn symbol(self, look: Look) -> &'static str {
        match self {
            Sign::Above => ">>",
            Sign::Below => "<<",
            Sign::Inside => "~=",
            Sign::AtLeast => ">=",
            Sign::AtMost => "<=",
            Sign::Open => look.pick("\u{bf}", "?"),
        }
    }

    /// The same as one character of mathematics, for pictures.
    pub(crate) fn glyph(self) -> char {
        match self {
            Sign::Above => '\u{226b}',
            Sign::Below => '\u{226a}',
            Sign::Inside => '\u{2248}',
            Sign::AtLeast => '\u{2265}',
            Sign::AtMost => '\u{2264}',
            Sign::Open => '\u{bf}',
        }
    }

    /// The sign in a word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Sign::Above => "above",
            Sign::Below => "below",
            Sign::Inside => "inside",
            Sign::AtLeast => "not bad",
            Sign::AtMost => "not good",
            Sign::Open => "open",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presented::Subject;

    #[test]
    fn the_sign_says_where_the_interval_lies() {
        for (low, high, bars, expected) in [
            (Some(0.985), Some(0.999), vec![0.96, 0.98], Sign::Above),
            (Some(0.9), Some(0.959), vec![0.96, 0.98], Sign::Below),
            (Some(0.961), Some(0.979), vec![0.96, 0.98], Sign::Inside),
            (Some(0.961), Some(0.99), vec![0.96, 0.98], Sign::AtLeast),
            (Some(0.95), Some(0.979), vec![0.96, 0.98], Sign::AtMost),
            (Some(0.95), Some(0.99), vec![0.96, 0.98], Sign::Open),
            (None, Some(0.97), vec![0.98], Sign::Below),
            (Some(0.99), None, vec![0.98], Sign::Above),
            (None, Some(0.99), vec![0.98], Sign::Open),
        ] {
            let subject = Subject::Rate("A");
            let told = Presented { subject, estimate: None, low, high, bars };
            assert_eq!(Sign::of(&told), Some(expected), "{told:?}");
            let unknown = Presented { low: None, high: None, ..told };
            assert_eq!(Sign::of(&unknown), None);
        }
    }
}
