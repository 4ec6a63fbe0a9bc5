//! Claims in a file.

use super::keys::Item;
use super::log::Log;
use super::string::Located;
use super::value;
use crate::grammar::{Words, parse_spanned};
use tiebreak_core::claim::Claim;
use toml::de::DeValue;

/// Reads a sentence, with the bytes of its words in the file.
pub(crate) fn sentence(
    item: &Item<'_>,
    contestants: &[&str],
    log: &mut Log<'_>,
) -> Option<(Claim, Words)> {
    let DeValue::String(text) = item.value else {
        value::wrong_type(item, "a sentence such as \"a is faster than b\"", log);
        return None;
    };
    let raw = log.text().get(item.span.clone()).unwrap_or_default();
    let located = Located { raw, at: item.span.start, value: text };
    match parse_spanned(text, contestants) {
        Err(error) => {
            log.claim(located.span(&error.span), &error);
            None
        }
        Ok((claim, words)) => Some((claim, words.map(|span| located.span(&span)))),
    }
}

/// Returns whether two claims mean the same, in any words.
pub(crate) fn is_same(a: &Claim, b: &Claim) -> bool {
    let said = |claim: &Claim| (claim.statement, claim.metric);
    said(a) == said(b) && a.left == b.left && a.right == b.right && a.workload == b.workload
}
