//! Pages of HTML: small, escaped, and in a browser as they should be.

use super::*;
use crate::html;
use crate::tests::fixture::study::*;
use std::path::Path;
use std::process::Command;

/// Every kind of result, and those that are too large or too bad.
pub(super) fn pages() -> Vec<(&'static str, RunResult)> {
    let mut pages = all_results();
    pages.push(("study", studied().runs[0].clone()));
    pages.push(("study of one item", studied().runs[1].clone()));
    pages.push(("study begun", unstudied().runs[0].clone()));
    pages.push(("hostile study", hostile_study().runs[0].clone()));
    pages.push(("large study", large_study()));
    pages.push(("large comparison", large(&|index| format!("contestant-{index}"))));
    let bad = "<img src=x onerror=alert(1)> \"'&amp;</style></title></pre>\u{1b}[31m\u{fffe}\n";
    pages.push(("hostile comparison", large(&|index| format!("{bad}{index}").repeat(40))));
    pages
}

/// A study's run with 30 contestants and 60 claims whose texts are as people write them.
fn large_study() -> RunResult {
    let mut run = workload("random-20k", "the published size: a predictor may learn it", true);
    let names: Vec<String> = (0..30).map(|index| format!("contestant-{index}")).collect();
    let claims = run.verdicts.split_off(3);
    run.verdicts.extend((0..60).map(|index| {
        let mut claim = claims[index % 3].clone();
        claim.claim = format!("{} is at least 1.5x faster than naive", names[index % 30]);
        claim.left.clone_from(&names[index % 30]);
        claim
    }));
    let study = run.study.as_mut().unwrap();
    let row = study.rows[2].clone();
    study.rows.extend(names.into_iter().map(|name| {
        let mut row = row.clone();
        row.name = name;
        row
    }));
    run
}

fn large(name: &dyn Fn(usize) -> String) -> RunResult {
    let mut run = three();
    let [first, second, third] = [0, 1, 2].map(|index| run.contestants[index].clone());
    for index in 0..30 {
        let mut contestant = [&first, &second, &third][index % 3].clone();
        contestant.name = name(index);
        contestant.command = format!("{} --with 'an argument'", name(index));
        run.contestants.push(contestant);
    }
    let claims = sentences::claims();
    run.verdicts = (0..60)
        .map(|index| {
            let mut claim = claims[index % claims.len()].clone();
            claim.left = name(index % 30);
            claim.right = Some(name(29 - index % 30));
            claim.claim = format!("{} is faster than {}", name(index % 30), name(29));
            claim
        })
        .collect();
    (run.seed, run.journal) = (name(1), name(2));
    run.command = (0..200).map(name).collect();
    run
}

/// Bytes before what is folded.
pub(super) fn first_bytes(page: &str) -> usize {
    page.find("<details>").unwrap_or(page.len())
}

#[test]
fn every_page_fits_and_nothing_leaves_its_element() {
    for (what, run) in pages() {
        let page = html::page(&run, None);
        let first = first_bytes(&page);
        assert!(first < html::FIRST_BYTES, "{what}: {first} bytes");
        let text = page.to_lowercase();
        for bad in ["<script", "<img", "onerror=alert(1)>", "\u{1b}", "\u{fffe}", "nan", "inf\""] {
            let is_name = bad == "nan" && !text.contains("nan\"") && !text.contains(">nan");
            assert!(is_name || !text.contains(bad), "{what}: {bad}");
        }
        for tag in
            ["style", "title", "pre", "table", "tr", "td", "h2", "p", "details", "div", "ul", "svg"]
        {
            let ends = text.matches(&format!("</{tag}>")).count();
            let starts = text.matches(&format!("<{tag}>")).count()
                + text.matches(&format!("<{tag} ")).count();
            assert_eq!(starts, ends, "{what}: {tag}");
        }
        assert_eq!(page.matches("://").count(), 0, "{what}");
    }
}

#[test]
fn large_results_fold_what_does_not_fit() {
    let page = html::page(&large_study(), None);
    let (first, folded) = page.split_at(first_bytes(&page));
    // Every claim and every contestant is there: as many as fit at once, the others folded.
    let count = |page: &str, part: &str| page.matches(part).count();
    let claims = [first, folded].map(|part| count(part, "class=\"v "));
    assert_eq!((claims.iter().sum::<usize>(), claims[0] >= 20), (60, true), "{claims:?}");
    assert!(folded.contains(&format!("<summary>{} more claims<", claims[1])), "{page}");
    let rows = [first, folded].map(|part| count(part, "<tr class=\"s\">"));
    assert!(rows[0] >= 3 && rows[0] + rows[1] >= 30, "{rows:?}");
    assert!(folded.contains(" more contestants</summary>"), "{page}");
    // What did not pass comes first.
    let first = page.find("\u{2717}</b>").unwrap();
    assert!(page.find("\u{2713}</b>").is_none_or(|holds| first < holds), "{page}");
    let small = html::page(&studied().runs[0], None);
    assert!(!small.contains(" more "), "{small}");
    for text in [
        "8-bit integers from text",
        "naive / swar is 1.93x",
        "425 M/s",
        "no such file",
        "wrong is at most 0.5%",
        "tiebreak study run parse-uint8 --seed 8c1f03d2",
        "ldc2 is not here",
    ] {
        assert!(small.contains(text), "{text}: {small}");
    }
}

#[test]
fn a_page_looks_as_it_was_approved() {
    insta::assert_snapshot!("page_of_a_comparison", html::page(&three(), None));
}

/// A program that shows pages, if there is one.
fn browser() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let is_there = |name: &&str| {
        let started = Command::new(name).arg("--version").output();
        started.is_ok_and(|output| output.status.success())
    };
    names.into_iter().find(is_there)
}

/// Runs a browser without a window; gives what it prints.
fn browse(program: &str, page: &Path, is_dark: bool, arguments: &[&str]) -> String {
    let folder = page.parent().unwrap();
    let theme = if is_dark { 0 } else { 1 };
    let output = Command::new(program)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("--blink-settings=preferredColorScheme={theme}"))
        .args(arguments)
        .arg(format!("file://{}", page.display()))
        .env("HOME", folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A page that shows another one in a frame as wide as a phone and says how wide that one became,
/// and which colours it has.
fn framed(page: &str) -> String {
    let page = page.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!doctype html><meta charset=utf-8><iframe width=390 height=800 style=\"border:0\" \
         srcdoc=\"{page}\"></iframe><script>onload=()=>{{let f=document.querySelector('iframe');\
         let d=f.contentDocument,s=f.contentWindow.getComputedStyle(d.body);let o=[\
         d.documentElement.scrollWidth,d.querySelectorAll('.v').length,\
         d.querySelectorAll('script').length,s.backgroundColor,s.color].join('|');f.remove();\
         document.body.textContent='found:'+o+':'}}</script>"
    )
}

/// How bright a colour is that a browser writes as `rgb(1, 2, 3)`, from 0 to 255.
fn brightness(color: &str) -> u32 {
    let digits: String = color.chars().filter(|c| c.is_ascii_digit() || *c == ',').collect();
    let parts: Vec<u32> = digits.split(',').map(|part| part.parse().unwrap()).collect();
    assert_eq!(parts.len(), 3, "{color}");
    parts.iter().sum::<u32>() / 3
}

#[test]
fn a_browser_shows_pages_on_light_and_dark_ground_and_on_a_phone() {
    let Some(program) = browser() else {
        println!("skipped: no Chromium is here; 'apt-get install chromium' brings one");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let blank = screenshot(program, folder.path(), "<!doctype html><title>x</title>", false);
    let shown = ["study", "three", "bias", "hostile study"];
    for (what, run) in pages().into_iter().filter(|(what, _)| shown.contains(what)) {
        let page = html::page(&run, None);
        let path = folder.path().join("page.html");
        std::fs::write(&path, framed(&page)).unwrap();
        let mut pictures = Vec::new();
        for is_dark in [false, true] {
            let dom = browse(program, &path, is_dark, &["--dump-dom"]);
            let found = dom.split("found:").nth(1).and_then(|rest| rest.split(':').next());
            let found: Vec<&str> = found.unwrap_or_else(|| panic!("{dom}")).split('|').collect();
            let [width, verdicts, scripts, ground, ink] = found[..] else { panic!("{dom}") };
            assert!(width.parse::<u32>().unwrap() <= 390, "{what} is {width} wide");
            let expected = page.matches("class=\"v ").count();
            assert_eq!((verdicts, scripts), (expected.to_string().as_str(), "0"), "{what}");
            let [ground, ink] = [ground, ink].map(brightness);
            let (dark, light) = if is_dark { (ground, ink) } else { (ink, ground) };
            assert!(dark < 60 && light > 200, "{what} dark {is_dark}: {ground} on {ink}");
            pictures.push(screenshot(program, folder.path(), &page, is_dark));
        }
        for picture in &pictures {
            assert!(picture.len() > 5 * blank.len(), "{what} is blank");
        }
        assert_ne!(pictures[0], pictures[1], "{what} looks the same on dark ground");
    }
}

/// The page as a PNG picture of 1200 by 900 pixels.
fn screenshot(program: &str, folder: &Path, page: &str, is_dark: bool) -> Vec<u8> {
    let (path, picture) = (folder.join("shown.html"), folder.join("shown.png"));
    std::fs::write(&path, page).unwrap();
    let screenshot = format!("--screenshot={}", picture.display());
    browse(program, &path, is_dark, &["--window-size=1200,900", &screenshot]);
    std::fs::read(picture).unwrap()
}
