//! The report of `slo` as SVG.

use super::*;
use crate::svg;

fn picture(claim: ClaimResult) -> String {
    svg::slo(&judged(vec![claim])).unwrap()
}

/// Pictures at which something could be ugly, by name.
fn pictures() -> Vec<(&'static str, ClaimResult)> {
    use Verdict::{Holds, Undecided};
    let tight = share(999_880, 1_000_000, [Some(0.99985), Some(0.99991)]);
    let close = share(9_799, 10_000, [Some(0.9763), Some(0.983)]);
    let mut pictures: Vec<_> =
        properties().into_iter().filter(|(_, claim)| claim.share.is_some()).collect();
    pictures.push(("extreme", succeeds(Holds, 0.9999, 0.9998, tight)));
    pictures.push(("all close", succeeds(Undecided, 0.9801, 0.98, close)));
    pictures.push(("no failure", {
        succeeds(Holds, 0.98, 0.98, share(400, 400, [Some(0.9884), None]))
    }));
    pictures.push(("no success", {
        succeeds(Verdict::Refuted, 0.98, 0.98, share(0, 3, [None, Some(0.83)]))
    }));
    pictures
}

#[test]
fn pictures_look_as_they_were_approved() {
    for name in ["rate holds", "two rates between", "rate nothing", "no failure", "extreme"] {
        let claim = pictures().into_iter().find(|(other, _)| *other == name).unwrap().1;
        insta::assert_snapshot!(name.replace(' ', "_"), picture(claim));
    }
}

#[test]
fn only_a_share_has_a_picture() {
    assert_eq!(svg::slo(&three()), None);
    assert_eq!(svg::slo(&empty()), None);
}

#[test]
fn every_picture_is_well_formed_and_has_no_strange_numbers() {
    for (name, claim) in pictures() {
        let text = picture(claim);
        assert!(!text.contains("NaN") && !text.contains("inf\""), "{name}: {text}");
        assert_eq!(text.matches("<text").count(), text.matches("</text>").count(), "{name}");
        assert!(text.is_char_boundary(0) && text.ends_with("</svg>\n"), "{name}");
    }
}

#[test]
fn names_in_a_picture_are_escaped() {
    let mut claim = succeeds(Verdict::Holds, 0.98, 0.98, share(400, 400, [Some(0.99), None]));
    claim.claim = "<script>alert(1)</script> & \u{1b}[31m".to_owned();
    let text = picture(claim);
    assert!(!text.contains("<script") && !text.contains('\u{1b}'), "{text}");
    assert!(text.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; ?[31m"), "{text}");
}
