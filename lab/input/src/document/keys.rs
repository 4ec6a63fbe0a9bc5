//! The keys of tables, and unknown keys.

use super::log::Log;
use crate::error::shown;
use crate::suggest::closest;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A key with its value.
#[derive(Clone)]
pub(crate) struct Item<'a> {
    pub(crate) key: &'a str,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: &'a DeValue<'a>,
    pub(crate) span: Range<usize>,
}

/// Returns the entries of a table, in the order of the file.
pub(crate) fn items<'a>(table: &'a DeTable<'_>) -> Vec<Item<'a>> {
    let item = |(key, value): (&'a Spanned<_>, &'a Spanned<DeValue<'_>>)| -> Item<'a> {
        let key_text: &std::borrow::Cow<'a, str> = key.get_ref();
        Item { key: key_text, key_span: key.span(), value: value.get_ref(), span: value.span() }
    };
    let mut items: Vec<Item<'a>> = table.iter().map(item).collect();
    items.sort_by_key(|item| item.key_span.start);
    items
}

/// The kind of a table in a file: its keys, and its name in errors.
pub(crate) trait Place: Copy + 'static {
    /// Every table of such a file. A key of several tables belongs to the first of them.
    const ALL: &'static [Self];
    /// The help about the keys of a table with many keys.
    const HELP: &'static str;

    /// Returns the keys that it may have.
    fn keys(self) -> Vec<&'static str>;

    /// Returns its name in errors.
    fn name(self) -> &'static str;

    /// Returns where its keys are written.
    fn where_to(self) -> &'static str;
}

/// Logs an error for each key that does not belong to this table, with what was probably meant, or
/// where the key belongs.
pub(crate) fn check<P: Place>(items: &[Item<'_>], place: P, log: &mut Log<'_>) {
    let keys = place.keys();
    for item in items.iter().filter(|item| !keys.contains(&item.key)) {
        let message = format!("unknown key '{}' in {}", shown(item.key), place.name());
        let found = log.error(item.key_span.clone(), message);
        let home = P::ALL.iter().find(|place| place.keys().contains(&item.key));
        let dashed = item.key.replace('_', "-");
        let meant = closest(&dashed, keys.iter().copied());
        // A slip between singular and plural is likelier than a wrong table.
        let is_number = |meant: &str| meant.starts_with(item.key) || item.key.starts_with(meant);
        if meant.is_some_and(is_number) {
            found.meant(meant);
        } else if let Some(home) = home {
            found.help(format!(
                "'{}' belongs to {}: write it {}",
                item.key,
                home.name(),
                home.where_to()
            ));
        } else if meant.is_some() {
            found.meant(meant);
        } else if keys.len() < 10 {
            let keys: Vec<String> = keys.iter().map(|key| format!("'{key}'")).collect();
            found.label(format!("expected {}", keys.join(", ")));
        } else {
            found.help(P::HELP);
        }
    }
}
