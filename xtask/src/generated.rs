//! Blocks of pages that programs write, and the check that they are not stale.
//!
//! A block starts with a comment that names the command that makes it and ends with another. What
//! was measured cannot be measured again by a check, so a measuring command leaves its data in
//! `docs/measured`, and the block must be what the data gives.

use crate::finding::Finding;
use crate::programs::{self, Made as OfPrograms};
use crate::study;
use crate::tree::{self, Source};
use crate::{
    aa, gallery, gate, load_peers, machine, own, peers, placements, rounds, scopes, shares, sooner,
    truth,
};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use tiebreak_core::metric::Metric;
use tiebreak_core::sample::Mark;
use tiebreak_input::inputs;
use tiebreak_probes::Probe;
use tiebreak_report::markdown::fenced;
use tiebreak_report::text::wrap_plain;

const START: &str = "<!-- generated: ";
const END: &str = "<!-- end -->";

/// A block of a page.
#[derive(Debug, PartialEq, Eq)]
struct Block<'a> {
    /// Line of its first comment, counted from 1.
    line: usize,
    /// What makes it.
    command: &'a str,
    /// What stands between the comments; none if the second one is missing.
    body: Option<String>,
}

/// The text of the block that this command makes.
///
/// # Errors
/// The command makes no block, or its data is missing or broken.
fn render(root: &Path, command: &str) -> Result<String> {
    if let Some((_, path, render)) = MADE.iter().find(|(made, ..)| *made == command) {
        return render(&data(root, path)?);
    }
    if let Some(name) = study_of(command) {
        return study::render(&data(root, &study::data(name)?)?, name);
    }
    if let Some(name) = command.strip_prefix(ELSEWHERE) {
        let [here, there] = [study::data(name)?, study::data_elsewhere(name)?];
        return study::elsewhere(&data(root, &here)?, &data(root, &there)?, name);
    }
    if let Some(made) = OfPrograms::by(command) {
        return made.render(&data(root, &made.data()?)?);
    }
    match command {
        "make studies" => gallery::rows(|path| data(root, path)),
        "make studies # in short" => {
            gallery::in_short(|path| data(root, path), &study::names(root)?)
        }
        "make machine # the probes" => Ok(machine::probes()),
        "make machine" => {
            machine::render(&data(root, machine::CORES)?, &data(root, machine::BANDWIDTH)?)
        }
        "make truth" => {
            let real = fs::read_to_string(root.join(truth::REAL)).ok();
            truth::render(&data(root, truth::VIRTUAL)?, real.as_deref())
        }
        _ => match command.strip_prefix("tiebreak ") {
            Some(arguments) => transcript(root, arguments),
            None => bail!("no block is made by '{command}'"),
        },
    }
}

/// Blocks that come from one file of data: the command, the path, and what renders it.
type Made = (&'static str, &'static str, fn(&str) -> Result<String>);
const MADE: [Made; 15] = [
    ("make aa", aa::DATA, aa::render),
    ("make bench", own::DATA, own::render),
    ("make gate", gate::DATA, gate::render),
    ("make load-cost", "docs/measured/load-cost.json", programs::claims),
    ("make load-peers", load_peers::DATA, load_peers::render),
    ("make load-peers # in short", load_peers::DATA, load_peers::in_short),
    ("make load-truth", "docs/measured/load-truth.csv", programs::of_csv),
    ("make peers", peers::DATA, peers::render),
    ("make peers # in short", peers::DATA, peers::in_short),
    ("make placements", placements::DATA, placements::render),
    ("make rounds", rounds::DATA, rounds::render),
    ("make scopes", scopes::DATA, scopes::render),
    ("make shares", shares::DATA, shares::render),
    ("make sooner", sooner::DATA, sooner::render),
    ("make truth # on another machine", truth::OTHER, truth::other_machine),
];

/// The start of the command that makes a block of two machines; the study's name follows.
const ELSEWHERE: &str = "make elsewhere # ";

/// Takes over what `make studies` has measured on another machine from the folder of its data, and
/// writes the blocks in which it stands next to ours; returns the paths of what was written.
///
/// # Errors
/// A file cannot be read or written, or is no data of the study after which it is called.
pub fn take_elsewhere(root: &Path, sources: &[Source], from: &Path) -> Result<Vec<String>> {
    let mut written = Vec::new();
    for name in study::names(root)? {
        let file = from.join(format!("study-{name}.json"));
        if !file.is_file() {
            continue;
        }
        let text =
            fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
        let place = study::data_elsewhere(&name)?;
        if let Some(folder) = root.join(&place).parent() {
            fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        }
        written.extend(write(root, vec![(place, study::to_compare(&text, &name)?)])?);
        written.extend(splice(root, sources, &format!("{ELSEWHERE}{name}"))?);
    }
    if written.is_empty() {
        bail!("{} has no study-NAME.json of a study that was measured here", from.display());
    }
    Ok(written)
}

/// The study whose block this command makes.
fn study_of(command: &str) -> Option<&str> {
    command.strip_prefix("tiebreak study run ")
}

fn data(root: &Path, path: &str) -> Result<String> {
    fs::read_to_string(root.join(path)).with_context(|| format!("reading {path}"))
}

/// What the program of this checkout prints, as a block of text.
fn transcript(root: &Path, arguments: &str) -> Result<String> {
    let mut words = vec!["run", "--quiet", "--package", "tiebreak", "--"];
    words.extend(arguments.split(' '));
    let text = tree::cargo(root, &words)?;
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    Ok(fenced("text", &lines.join("\n")))
}

/// The pictures that stand next to the block of a study, with their paths: those that are there.
fn pictures(root: &Path, name: &str) -> Result<Vec<(String, String)>> {
    let mut pictures = Vec::new();
    for (file, draw) in study::PICTURES {
        let place = format!("studies/{name}/{file}");
        if root.join(&place).is_file() {
            pictures.push((place, draw(&study::read(&data(root, &study::data(name)?)?, name)?)));
        }
    }
    Ok(pictures)
}

/// Finds pictures of studies and schemas that are not as their data gives them.
///
/// # Errors
/// The data of a picture or a schema cannot be read.
pub fn stale_files(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = stale(root, schemas(root)?, "schema", "run cargo xtask schema");
    for name in study::names(root)? {
        let remedy = format!("run cargo xtask splice tiebreak study run {name}");
        findings.extend(stale(root, pictures(root, &name)?, "picture", &remedy));
    }
    Ok(findings)
}

fn stale(root: &Path, files: Vec<(String, String)>, kind: &str, remedy: &str) -> Vec<Finding> {
    let stale = files
        .into_iter()
        .filter(|(path, fresh)| fs::read_to_string(root.join(path)).ok().as_ref() != Some(fresh));
    stale.map(|(path, _)| Finding::new(&path, 1, format!("a stale {kind}"), remedy)).collect()
}

/// Writes files, and returns their paths.
fn write(root: &Path, files: Vec<(String, String)>) -> Result<Vec<String>> {
    let written = files.into_iter().map(|(path, fresh)| {
        fs::write(root.join(&path), fresh).with_context(|| format!("writing {path}"))?;
        Ok(path)
    });
    written.collect()
}

/// The command that leaves the data of a block.
fn remedy(command: &str) -> String {
    match study_of(command).or_else(|| OfPrograms::by(command).map(OfPrograms::name)) {
        Some(name) => format!("scripts/study.sh {name}"),
        None => command.to_owned(),
    }
}

/// Blocks whose command is unknown, whose data is missing, or that are stale.
pub fn check(root: &Path, source: &Source) -> Vec<Finding> {
    check_with(source, |command| render(root, command))
}

fn check_with(source: &Source, render: impl Fn(&str) -> Result<String>) -> Vec<Finding> {
    if source.ending() != "md" {
        return Vec::new();
    }
    let findings = blocks(&source.text).into_iter().filter_map(|block| {
        let (what, remedy) = match (&block.body, render(block.command)) {
            (None, _) => ("a generated block without an end".to_owned(), format!("add {END}")),
            (_, Err(error)) => (format!("{error:#}"), format!("run {}", remedy(block.command))),
            (Some(body), Ok(fresh)) if *body == fresh => return None,
            _ => {
                let remedy = format!("run cargo xtask splice {}", block.command);
                ("a stale generated block".to_owned(), remedy)
            }
        };
        Some(Finding::new(&source.path, block.line, what, remedy))
    });
    findings.collect()
}

/// Writes the block of a command afresh in every page that has one; gives the pages' paths.
///
/// # Errors
/// The command makes no block, a page cannot be written, or no page has such a block.
pub fn splice(root: &Path, sources: &[Source], command: &str) -> Result<Vec<String>> {
    let fresh = render(root, command)?;
    let pages = sources.iter().filter(|source| source.ending() == "md");
    let mut files: Vec<(String, String)> = pages
        .filter_map(|page| Some((page.path.clone(), spliced(&page.text, command, &fresh)?)))
        .collect();
    if let Some(name) = study_of(command) {
        files.extend(pictures(root, name)?);
    }
    if files.is_empty() {
        bail!("no page has a block '{START}{command} -->' ... '{END}'");
    }
    write(root, files)
}

/// The schema of a run's result, which is written by hand but for its lists of words.
const RESULT: &str = "docs/schema/result-1.schema.json";
/// The schema of a print of a machine, which is written by hand but for its probes.
const PRINT: &str = "docs/schema/machine-1.schema.json";
/// What stands before the probes in it, and what behind them.
const AROUND_PROBES: [&str; 2] =
    ["{ \"type\": [\"integer\", \"boolean\", \"string\"] }\n    }", "\n  },\n  \"$defs\""];

/// The JSON schemas that follow from the code, with their paths: those of files that users write,
/// that of a run's result, in which lists of words are replaced, and that of a print, in which the
/// probes are.
///
/// # Errors
/// One of the last two cannot be read, or what is to be replaced is missing in it.
fn schemas(root: &Path) -> Result<Vec<(String, String)>> {
    let path = |file: &str| format!("docs/schema/{file}-1.schema.json");
    let mut schemas: Vec<_> =
        inputs::FILES.into_iter().map(|file| (path(file), inputs::schema(file))).collect();
    let metrics = Metric::ALL.into_iter().chain([Metric::Value]).map(|metric| metric.key().into());
    let marks = Mark::ALL.into_iter().map(|mark| mark.name().replace(' ', "_"));
    let result = with_words(&data(root, RESULT)?, "metric", metrics)?;
    schemas.push((RESULT.to_owned(), with_words(&result, "mark", marks)?));
    let probes: String = Probe::ALL.into_iter().map(property).collect();
    let print = with_fresh(&data(root, PRINT)?, AROUND_PROBES, &probes);
    schemas.push((PRINT.to_owned(), print.with_context(|| format!("{PRINT} has no probes"))?));
    Ok(schemas)
}

/// Returns a probe's property of a print, behind the others.
fn property(probe: Probe) -> String {
    let (name, help) = (probe.name(), probe.help());
    let found = r##""$ref": "#/$defs/probed""##;
    format!(",\n    \"{name}\": {{\n      \"description\": \"{help}.\",\n      {found}\n    }}")
}

/// Replaces what stands between two texts of a schema; none if it has them not.
fn with_fresh(schema: &str, [start, end]: [&str; 2], fresh: &str) -> Option<String> {
    let from = schema.find(start)? + start.len();
    let to = from + schema[from..].find(end)?;
    Some(format!("{}{fresh}{}", &schema[..from], &schema[to..]))
}

/// Replaces the words that a definition of a schema allows.
fn with_words(
    schema: &str,
    definition: &str,
    words: impl Iterator<Item = String>,
) -> Result<String> {
    let start = format!("\n    \"{definition}\": {{\n      \"enum\": [\n");
    let words: Vec<String> = words.map(|word| format!("\"{word}\"")).collect();
    let lines = wrap_plain(&words.join(", "), 92).into_iter().map(|line| format!("        {line}"));
    let lines: Vec<String> = lines.collect();
    with_fresh(schema, [&start, "\n      ]"], &lines.join("\n"))
        .with_context(|| format!("{RESULT} has no list '{definition}'"))
}

/// Writes the JSON schemas that follow from the code.
///
/// # Errors
/// A file cannot be read or written.
pub fn write_schemas(root: &Path) -> Result<Vec<String>> {
    write(root, schemas(root)?)
}

/// The page with the block's text replaced; none if it has no such block.
fn spliced(page: &str, command: &str, fresh: &str) -> Option<String> {
    let start = format!("{START}{command} -->\n");
    let from = page.find(&start)? + start.len();
    let to = from + page[from..].find(END)?;
    Some(format!("{}\n{fresh}\n{}", &page[..from], &page[to..]))
}

/// The blocks of a page. An empty line after the first comment and before the last one is part of
/// the frame, not of the block.
fn blocks(page: &str) -> Vec<Block<'_>> {
    let lines: Vec<&str> = page.lines().collect();
    let mut found = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let Some(command) = line.strip_prefix(START).and_then(|rest| rest.strip_suffix(" -->"))
        else {
            continue;
        };
        let rest = &lines[i + 1..];
        let next = |text: &str| rest.iter().position(|line| line.starts_with(text));
        let end = next(END).filter(|end| next(START).is_none_or(|start| *end < start));
        let body = end.map(|end| {
            let body: String = rest[..end].iter().map(|line| format!("{line}\n")).collect();
            let body = body.strip_prefix('\n').unwrap_or(&body);
            body.strip_suffix("\n\n").map_or(body.to_owned(), |body| format!("{body}\n"))
        });
        found.push(Block { line: i + 1, command, body });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# T
<!-- generated: make peers -->

| old |

<!-- end -->
rest
";

    #[track_caller]
    fn check_page(page: &str, expected: &[&str]) {
        let render = |command: &str| match command {
            "make peers" => Ok("| new |\n".to_owned()),
            _ => bail!("no block is made by '{command}'"),
        };
        let found = check_with(&Source::of("a.md", page), render);
        let found: Vec<_> = found.iter().map(Finding::to_string).collect();
        assert_eq!(found, expected, "{page}");
    }

    #[test]
    fn a_stale_block_is_found_and_a_spliced_one_is_not_stale() {
        check_page(PAGE, &["a.md:2: a stale generated block: run cargo xtask splice make peers"]);
        let page = spliced(PAGE, "make peers", "| new |\n").unwrap();
        assert_eq!(page, PAGE.replace("old", "new"));
        check_page(&page, &[]);
        let empty = "# T\n<!-- generated: make peers -->\n<!-- end -->\n";
        check_page(&spliced(empty, "make peers", "| new |\n").unwrap(), &[]);
        assert_eq!(spliced(PAGE, "make other", ""), None);
    }

    #[test]
    fn a_picture_is_what_its_data_gives() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let files = pictures(&root, "barriers").unwrap();
        let [(place, fresh)] = &files[..] else { panic!() };
        assert_eq!(place, "studies/barriers/ecdf.svg");
        assert!(fresh.starts_with("<svg ") && fresh.contains("unexpedited"), "{fresh}");
        assert_eq!(stale(&root, files.clone(), "picture", "draw it"), []);
        let other = vec![(place.clone(), "<svg/>".to_owned())];
        let found = stale(&root, other, "picture", "draw it")[0].to_string();
        assert!(found.ends_with("ecdf.svg:1: a stale picture: draw it"), "{found}");
        // Most studies have none, and other blocks neither.
        assert_eq!(pictures(&root, "python").unwrap(), []);
        assert_eq!(study_of("make peers"), None);
    }

    #[test]
    fn the_words_of_a_definition_are_replaced() {
        let schema = |words: &str| {
            format!("{{\n    \"mark\": {{\n      \"enum\": [\n{words}\n      ]\n    }}\n}}\n")
        };
        let words = ["steal", "not_quiet"].map(str::to_owned).into_iter();
        let fresh = with_words(&schema("        \"old\""), "mark", words.clone()).unwrap();
        assert_eq!(fresh, schema("        \"steal\", \"not_quiet\""));
        assert!(with_words("{}", "mark", words).is_err());
    }

    #[test]
    fn blocks_without_a_maker_or_an_end_are_found() {
        check_page(
            "<!-- generated: make tea -->\n<!-- end -->\n",
            &["a.md:1: no block is made by 'make tea': run make tea"],
        );
        check_page(
            "<!-- generated: make peers -->\n| new |\n",
            &["a.md:1: a generated block without an end: add <!-- end -->"],
        );
        check_page(
            "<!-- generated: tiebreak study run one -->\n<!-- end -->\n",
            &["a.md:1: no block is made by 'tiebreak study run one': run scripts/study.sh one"],
        );
        let open = "<!-- generated: make peers -->\n";
        check_page(
            &format!("{open}{open}| new |\n<!-- end -->\n"),
            &["a.md:1: a generated block without an end: add <!-- end -->"],
        );
    }
}
