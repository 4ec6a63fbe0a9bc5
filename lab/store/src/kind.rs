//! The two kinds of things with names in a store.

/// The words for runs, or for prints, in queries and errors.
#[derive(Debug)]
pub struct Kind {
    /// The noun: the key of its table, which is called by the plural.
    pub(crate) noun: &'static str,
    /// The noun, in full.
    pub(crate) full: &'static str,
    /// The order in which names are searched: `ASC` from the earliest.
    pub(crate) order: &'static str,
    /// What a store holds none of, and what makes one.
    pub(crate) none: &'static str,
    /// The command that lists them.
    pub(crate) list: &'static str,
    /// What to do if one cannot be read.
    pub(crate) if_unreadable: &'static str,
}

pub(crate) const RUN: Kind = Kind {
    noun: "run",
    full: "run",
    order: "ASC",
    none: "runs yet: 'tiebreak compare' makes one",
    list: "tiebreak history",
    if_unreadable: "the other runs are not touched by this: 'tiebreak history' lists them",
};

pub(crate) const PRINT: Kind = Kind {
    noun: "print",
    full: "print of a machine",
    order: "DESC",
    none: "print of a machine yet: 'tiebreak machine' makes one in half a minute",
    list: "tiebreak machine show --list",
    if_unreadable: "'tiebreak machine' makes a new one, --store FILE names another store",
};
