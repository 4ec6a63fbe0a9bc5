//! Which messages have arrived: tells duplicates and messages out of order from others, in a few
//! bytes for each sender.

/// How a message arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It is the latest one so far.
    Latest,
    /// One that was sent later has arrived before it.
    Reordered,
    /// It has arrived before.
    Duplicated,
}

/// What has arrived of one sender.
///
/// Representation: the highest number and which of the 63 below it have arrived. Of one further
/// below it is not known whether it arrived before. It counts as duplicated: an arrival that is
/// counted twice would hide one that is lost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// Bit `i` is that of `highest - i`; 0 before the first arrival.
    seen: u64,
    highest: u64,
}

impl Window {
    /// Takes the message of this number among those of the sender.
    pub(super) fn take(&mut self, number: u64) -> Arrival {
        if self.seen == 0 || number > self.highest {
            let rise = number.saturating_sub(self.highest);
            self.seen = if rise < 64 { self.seen << rise | 1 } else { 1 };
            self.highest = number;
            return Arrival::Latest;
        }
        let below = self.highest - number;
        if below >= 64 {
            return Arrival::Duplicated;
        }
        let bit = 1 << below;
        let is_there = self.seen & bit != 0;
        self.seen |= bit;
        if is_there { Arrival::Duplicated } else { Arrival::Reordered }
    }
}

/// What has arrived at one connection, of each sender that it has heard of.
#[derive(Debug, Default)]
pub(super) struct Arrivals(Vec<(u32, Window)>);

impl Arrivals {
    /// Takes the message of this number among those of the sender. Cost: a binary search among the
    /// senders.
    pub(super) fn take(&mut self, sender: u32, number: u64) -> Arrival {
        let found = self.0.binary_search_by_key(&sender, |(sender, _)| *sender);
        let at = found.unwrap_or_else(|at| {
            // Most connections hear of one sender. Room for four would cost 10 000 of them 1 MB.
            if self.0.is_empty() {
                self.0.reserve_exact(1);
            }
            self.0.insert(at, (sender, Window::default()));
            at
        });
        self.0[at].1.take(number)
    }
}

#[cfg(test)]
mod tests {
    use super::Arrival::{Duplicated, Latest, Reordered};
    use super::*;
    use crate::random::Words;
    use std::collections::HashSet;

    #[test]
    fn every_arrival_of_a_few() {
        for (numbers, expected) in [
            (&[0, 1, 2][..], &[Latest, Latest, Latest][..]),
            (&[0, 0, 0][..], &[Latest, Duplicated, Duplicated][..]),
            (&[5, 3, 3, 5, 4][..], &[Latest, Reordered, Duplicated, Duplicated, Reordered][..]),
            (&[0, 63, 0][..], &[Latest, Latest, Duplicated][..]),
            (&[0, 64, 0, 1][..], &[Latest, Latest, Duplicated, Reordered][..]),
            (&[9, 1_000_000, 9, 999_999][..], &[Latest, Latest, Duplicated, Reordered][..]),
        ] {
            let mut window = Window::default();
            let found: Vec<Arrival> = numbers.iter().map(|number| window.take(*number)).collect();
            assert_eq!(found, expected, "{numbers:?}");
        }
    }

    /// A set of all numbers says the same, as long as they stay within the window.
    #[test]
    fn windows_agree_with_a_set() {
        let mut words = Words::new(11);
        let (mut window, mut all, mut highest) = (Window::default(), HashSet::new(), None);
        for step in 0..10_000 {
            let number = step + words.next_u64() % 60;
            let expected = match (all.insert(number), highest < Some(number)) {
                (false, _) => Duplicated,
                (true, true) => Latest,
                (true, false) => Reordered,
            };
            highest = highest.max(Some(number));
            assert_eq!(window.take(number), expected, "{step}: {number}");
        }
    }

    #[test]
    fn senders_are_told_apart() {
        let mut arrivals = Arrivals::default();
        for sender in [3, 0, u32::MAX, 7] {
            assert_eq!(arrivals.take(sender, 5), Latest);
        }
        for sender in [0, 3, 7, u32::MAX] {
            assert_eq!(arrivals.take(sender, 5), Duplicated);
            assert_eq!(arrivals.take(sender, 4), Reordered);
        }
    }
}
