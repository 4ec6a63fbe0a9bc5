//! `tiebreak study`: contestants built from source, judged, raced and shown with the published
//! figures.

use crate::choice::{Names, one_of};
use crate::io::Io;
use crate::options::{CENTRES, Json, Reporting, Store};
use crate::output::{OutputFile, Targets};
use crate::quantities::{self, above_0};
use crate::screen::Screen;
use crate::{exit, here};
use clap::{Args, Subcommand, ValueHint};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use tiebreak_lab::core::plan::{Budget, Centre, Scope};
use tiebreak_lab::core::result::StudyResult;
use tiebreak_lab::core::study::{Placements, Study, Workload};
use tiebreak_lab::planning::seed_or_random;
use tiebreak_lab::report::{self, contents, json, resume_study_command};
use tiebreak_lab::studies::{
    self, Book, Environment, LineUp, Pinning, Progress, Step, StudyRequest,
};
use tiebreak_lab::{LabError, interrupt, prints, probes, source, study_view};

#[derive(Debug, Subcommand)]
pub enum StudyCommand {
    /// The studies that there are
    List(Place),

    /// What a study holds: workloads, contestants and their compilers, claims, published tables
    Show(Named),

    /// Build a study's contestants, judge their answers, race them, and show the table
    Run(Box<RunOptions>),

    /// Judge every answer on everything that the study can ask; nothing is timed
    Verify(VerifyOptions),

    /// Two results of one study: which ratios differ, who changed places, whose verdicts do
    Compare(CompareOptions),

    /// Where two contestants spend their time: their hot loops, instruction by instruction
    Why(WhyOptions),

    /// A study as one page of HTML to share: claims, tables, curves, sources, how to run it
    Publish(PublishOptions),

    /// A new study that works, to begin with
    New(NewOptions),
}

/// Where studies are.
#[derive(Debug, Args)]
pub struct Place {
    /// The folder of studies [default: 'studies' here or in a folder above]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub studies: Option<PathBuf>,
}

/// A study that exists.
#[derive(Debug, Args)]
pub struct Named {
    /// The study: its folder, its name, or the address of a repository with the path in it,
    /// https://...git#PATH
    #[arg(value_name = "NAME", value_hint = ValueHint::DirPath)]
    name: String,

    /// One more contestant: a source, built as the contestants with sources of its kind are; may be
    /// repeated
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    add: Vec<PathBuf>,

    #[command(flatten)]
    place: Place,
}

impl Named {
    fn read(&self) -> Result<Study, LabError> {
        study_view::read(&self.name, self.place.studies.as_deref(), &here()?, &self.add)
    }
}

#[derive(Debug, Args)]
pub struct NewOptions {
    /// Its name, or the path of a folder that is to be made
    #[arg(value_name = "NAME", value_hint = ValueHint::DirPath)]
    pub name: String,

    #[command(flatten)]
    pub place: Place,
}

#[derive(Debug, Args)]
pub struct RunOptions {
    #[command(flatten)]
    pub study: Named,

    /// Race on this workload only; may be repeated
    #[arg(long, value_name = "WORKLOAD")]
    pub only: Vec<String>,

    /// Race these contestants only
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub contestants: Vec<String>,

    /// Settle this claim in place of the study's and of its table; may be repeated
    #[arg(long = "claim", value_name = "SENTENCE")]
    pub claims: Vec<String>,

    /// Ask only which is faster, of each contestant and the reference, in place of the study's
    /// claims and of its table
    #[arg(long, conflicts_with_all = ["claims", "precision"])]
    pub order: bool,

    #[arg(long, value_parser = one_of(SCOPES))]
    pub scope: Option<Scope>,

    #[arg(long, value_parser = quantities::fraction)]
    pub precision: Option<f64>,

    /// Draw placements from so many, again and again. That is invalid: luck with one of them counts
    /// as often as it comes, and the option is here to show it
    #[arg(long, value_name = "N", value_parser = above_0::<u32>())]
    pub placements: Option<u32>,

    #[arg(long, allow_hyphen_values = true, value_parser = quantities::fraction)]
    pub error: f64,

    #[arg(long, allow_hyphen_values = true, value_parser = quantities::budget)]
    pub budget: Option<Budget>,

    /// How small a difference still matters to a claim; 0 for any
    #[arg(long, value_name = "SHARE", default_value = "1%", allow_hyphen_values = true,
          value_parser = quantities::fraction)]
    pub resolution: f64,

    #[arg(long, value_parser = one_of(CENTRES))]
    pub centre: Option<Centre>,

    #[arg(long)]
    pub seed: Option<String>,

    /// The CPU that functions run on, or 'any' for where the kernel puts them [default: the last
    /// one; of other runtimes any]
    #[arg(long, value_name = "CPU", value_parser = quantities::pinning)]
    pub cpus: Option<Pinning>,

    /// Do not wait for a quiet machine before a unit
    #[arg(long)]
    pub no_wait: bool,

    #[command(flatten)]
    pub targets: TargetOptions,

    #[command(flatten)]
    pub reporting: Reporting,

    #[command(flatten)]
    pub store: Store,

    /// Say what would be raced, and build nothing
    #[arg(long)]
    pub dry_run: bool,
}

const SCOPES: Names<Scope> = &[
    ("layout", "Nothing: rounds in one process", Scope::Layout),
    ("binary", "A process", Scope::Binary),
    ("code", "A process, and where its code and data lie", Scope::Code),
];

/// Files that a result is written into.
#[derive(Debug, Args)]
pub struct TargetOptions {
    /// Write the tables as Markdown
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,

    /// Write the result as a page of HTML; of several workloads a page each, FILE-WORKLOAD
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Draw how much the times spread
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,

    /// Draw the distribution function of each contestant's times, here and below the table
    #[arg(long, value_name = "FILE")]
    pub ecdf: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct VerifyOptions {
    #[command(flatten)]
    pub study: Named,

    /// What takes long, too
    #[arg(long)]
    pub full: bool,

    /// These workloads only, and none of what is only verified
    #[arg(long, value_name = "WORKLOAD")]
    pub only: Vec<String>,

    /// These contestants only
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub contestants: Vec<String>,

    /// Seed of the inputs that are drawn: any text [default: from the system]
    #[arg(long, value_name = "TEXT")]
    pub seed: Option<String>,

    /// No progress
    #[arg(long, short = 'q')]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct CompareOptions {
    /// The first result: a file that 'study run --json' wrote
    #[arg(value_name = "A", value_hint = ValueHint::FilePath)]
    a: PathBuf,

    /// The second result
    #[arg(value_name = "B", value_hint = ValueHint::FilePath)]
    b: PathBuf,

    /// Write the comparison as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Args)]
pub struct WhyOptions {
    #[command(flatten)]
    study: Named,

    /// A contestant
    #[arg(value_name = "A")]
    a: String,

    /// Another one
    #[arg(value_name = "B")]
    b: String,

    /// The workload [default: the first]
    #[arg(long, value_name = "WORKLOAD")]
    only: Option<String>,

    /// Seed of the input, if one is drawn: any text [default: from the system]
    #[arg(long, value_name = "TEXT")]
    seed: Option<String>,

    /// No progress
    #[arg(long, short = 'q')]
    quiet: bool,
}

#[derive(Debug, Args)]
pub struct PublishOptions {
    #[command(flatten)]
    study: Named,

    /// The result to show: a file that 'study run --json' wrote; of further ones, from other
    /// machines, the page says how they differ [default: the newest in the store]
    #[arg(long = "result", value_name = "FILE", value_hint = ValueHint::FilePath)]
    results: Vec<PathBuf>,

    /// Write the page into this file [default: NAME.html]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    html: Option<PathBuf>,

    #[command(flatten)]
    store: Store,
}

pub fn run(command: StudyCommand, io: &mut Io) -> Result<u8, LabError> {
    match command {
        StudyCommand::List(place) => list(&place, io),
        StudyCommand::Show(named) => show(&named, io),
        StudyCommand::Run(options) => start(*options, io),
        StudyCommand::Verify(options) => verify(options, io),
        StudyCommand::Compare(options) => compare(&options, io),
        StudyCommand::Why(options) => why(options, io),
        StudyCommand::Publish(options) => publish(&options, io),
        StudyCommand::New(options) => create(&options, io),
    }
}

/// Lists the studies.
fn list(place: &Place, io: &mut Io) -> Result<u8, LabError> {
    match study_view::list(place.studies.as_deref(), &here()?, &io.out_look()) {
        Some(table) => io.out(&table),
        None => io.err("there are no studies here: 'tiebreak study new demo' makes one\n"),
    }
    Ok(exit::HOLDS)
}

/// Shows what a study contains, and which of its compilers are installed.
fn show(named: &Named, io: &mut Io) -> Result<u8, LabError> {
    let study = named.read()?;
    let environment = Environment::here(interrupt::flag())?;
    io.out(&study_view::contents(&study, &environment, &io.out_look()));
    Ok(exit::HOLDS)
}

/// Creates a study that works as it is.
fn create(options: &NewOptions, io: &mut Io) -> Result<u8, LabError> {
    let here = here()?;
    let folder = studies::create(&options.name, options.place.studies.as_deref(), &here)?;
    let shown = folder.strip_prefix(&here).unwrap_or(&folder);
    io.out(&format!("made {}: study.toml says what it holds\n", shown.display()));
    Ok(exit::HOLDS)
}

/// Races the contestants of a study.
fn start(options: RunOptions, io: &mut Io) -> Result<u8, LabError> {
    let asked = asked(&options)?;
    if options.seed.is_none() {
        // So that a repeated race of the study has the same coins.
        io.typed.extend(["--seed".to_owned(), asked.seed.clone()]);
    }
    if options.dry_run {
        io.out(&study_view::describe(&asked)?);
        return Ok(exit::HOLDS);
    }
    let quiet = options.reporting.quiet;
    let store = source::store_path(options.store.path())?;
    let targets = options.targets.open(options.reporting.json.open(json::text)?, &asked, &store)?;
    let book = Book::here(store, io.typed.clone());
    let environment = Environment::here(interrupt::flag())?;
    let line_up = studies::line_up(&asked, &environment, &book, &mut |step| say(&step, quiet, io));
    clear(io);
    race(line_up?, targets, quiet, options.targets.ecdf.is_some(), io)
}

fn asked(options: &RunOptions) -> Result<StudyRequest, LabError> {
    Ok(StudyRequest {
        only: options.only.clone(),
        contestants: options.contestants.clone(),
        claims: options.claims.clone(),
        asks_order: options.order,
        scope: options.scope,
        centre: options.centre,
        precision: options.precision,
        error: options.error,
        resolution: options.resolution,
        budget: options.budget,
        pinning: options.cpus.unwrap_or_default(),
        wait_for_quiet: !options.no_wait,
        placements: options.placements.map_or(Placements::Fresh, Placements::Reused),
        ..StudyRequest::new(options.study.read()?, seed_or_random(options.seed.as_deref())?)
    })
}

/// Races the runs of a line-up, and delivers the result; with `letters`, the screen has the
/// distribution functions.
pub fn race(
    mut line_up: LineUp,
    targets: Targets<StudyResult>,
    quiet: bool,
    letters: bool,
    io: &mut Io,
) -> Result<u8, LabError> {
    let result = Screen::during(io, quiet, |screen| {
        studies::race(&mut line_up, interrupt::flag(), |standing| {
            screen.show_as(|look, is_frame| report::study::progress(&standing(), look, is_frame));
        })
    });
    let result = result.map_err(|error| match line_up.contests.first() {
        Some(contest) => {
            let command = resume_study_command(&contest.session.result_so_far());
            error.noted(format!("what came before it is kept: '{command}' goes on with the study"))
        }
        None => error,
    })?;
    let page = match (quiet, letters, io.out_look()) {
        (true, ..) => report::study::verdicts(&result),
        (false, false, look) => report::study::table(&result, &look),
        (false, true, look) => {
            report::study::table(&result, &look) + &report::study::ecdf(&result, &look)
        }
    };
    targets.deliver(&page, &result, io)?;
    if result.interrupted {
        io.err(&match result.runs.first().map(resume_study_command) {
            Some(command) => format!("interrupted: everything is kept; '{command}' goes on\n"),
            None => "interrupted before anything was raced\n".to_owned(),
        });
    }
    Ok(exit::of_runs(result.interrupted, &result.runs))
}

/// Compares every answer with the oracle's.
fn verify(options: VerifyOptions, io: &mut Io) -> Result<u8, LabError> {
    let study = options.study.read()?;
    let asked = StudyRequest {
        only: options.only,
        contestants: options.contestants,
        budget: Some(Budget { rounds: Some(1), seconds: None }),
        pinning: Pinning::Any,
        wait_for_quiet: false,
        ..StudyRequest::new(study, seed_or_random(options.seed.as_deref())?)
    };
    let quiet = options.quiet;
    let environment = Environment::here(interrupt::flag())?;
    let shared = RefCell::new(&mut *io);
    let rows = studies::verify(
        &asked,
        options.full,
        &environment,
        &mut |step| say(&step, quiet, &mut shared.borrow_mut()),
        &mut |progress| tell(&progress, quiet, &mut shared.borrow_mut()),
    );
    clear(io);
    let rows = rows?;
    io.out(&report::study::verify(&rows, &io.out_look()));
    io.out(&report::study::looked_for(&asked.study, &io.out_look()));
    let is_wrong = rows.iter().any(|row| row.fault.is_some());
    Ok(if is_wrong { exit::VOID } else { exit::HOLDS })
}

/// Compares two results.
fn compare(options: &CompareOptions, io: &mut Io) -> Result<u8, LabError> {
    let markdown = report::study::comparison_markdown;
    let targets =
        options.json.open(json::text)?.file("markdown", options.markdown.as_deref(), markdown)?;
    let comparison = study_view::compare([&options.a, &options.b])?;
    let page = report::study::comparison(&comparison, &io.out_look());
    targets.deliver(&page, &comparison, io)?;
    Ok(exit::HOLDS)
}

/// Shows where two contestants spend their time.
fn why(options: WhyOptions, io: &mut Io) -> Result<u8, LabError> {
    let asked = StudyRequest {
        only: options.only.into_iter().collect(),
        contestants: vec![options.a, options.b],
        budget: Some(Budget { rounds: Some(1), seconds: None }),
        wait_for_quiet: false,
        ..StudyRequest::new(options.study.read()?, seed_or_random(options.seed.as_deref())?)
    };
    let environment = Environment::here(interrupt::flag())?;
    let found = studies::why(&asked, &environment, &mut |step| say(&step, options.quiet, io));
    clear(io);
    io.out(&report::study::why(&found?, &io.out_look()));
    Ok(exit::HOLDS)
}

/// Writes a study's page.
fn publish(options: &PublishOptions, io: &mut Io) -> Result<u8, LabError> {
    let study = options.study.read()?;
    let path = options.html.clone().unwrap_or_else(|| format!("{}.html", study.name).into());
    let store = source::store_path(options.store.path())?;
    let page = study_view::publish(&study, &options.results, &store)?;
    let [whole, packed] = [page.len(), report::html::packed_bytes(&page)];
    if let Some(file) = OutputFile::open("html", Some(&path))? {
        file.write(&page, io)?;
    }
    io.out(&format!("wrote {}: {whole} bytes, {packed} as gzip sends them\n", path.display()));
    Ok(exit::HOLDS)
}

/// Prints a line for each workload, and for many parts a line from time to time.
fn tell(progress: &Progress<'_>, quiet: bool, io: &mut Io) {
    let Progress { workload, part, parts } = progress;
    let redraws = io.err_redraws();
    let is_due = redraws || *part == 1 || (parts / 8 > 0 && part % (parts / 8) == 0);
    if quiet || !is_due {
        return;
    }
    clear(io);
    let end = if redraws { "" } else { "\n" };
    match parts {
        1 => io.err(&format!("{workload}{end}")),
        _ => io.err(&format!("{workload}: part {part} of {parts}{end}")),
    }
}

/// Prints a line on standard error for a step; always for contestants that take no part. If lines
/// can be redrawn, the current step replaces the previous one.
fn say(step: &Step<'_>, quiet: bool, io: &mut Io) {
    let (line, passes) = match step {
        Step::NotRun(not_run) => (format!("{} is not run: {}", not_run.name, not_run.why), false),
        Step::Void { workload, contestant, fault } => {
            (format!("{contestant} is void on {workload}: it {fault}"), false)
        }
        _ if quiet => return,
        Step::Building(contestant) => (format!("building {contestant}"), true),
        Step::Checking(workload) => (format!("{workload}: judging the answers"), true),
        Step::Piloted { workload, pilot, rounds_a_unit, batch_ns } => {
            (contents::piloted(workload, pilot, *rounds_a_unit, *batch_ns), false)
        }
        Step::ShortBudget(warning) => (warning.to_string(), false),
    };
    let end = if passes && io.err_redraws() { "" } else { "\n" };
    clear(io);
    io.err(&(line + end));
}

/// Removes a line that the next one should replace.
fn clear(io: &mut Io) {
    if io.err_redraws() {
        io.err("\r\x1b[K");
    }
}

impl TargetOptions {
    /// Opens all targets, before anything is raced. Pages show the machine from the store.
    fn open(
        &self,
        json: Targets<StudyResult>,
        asked: &StudyRequest,
        store: &Path,
    ) -> Result<Targets<StudyResult>, LabError> {
        let workloads = asked.workloads()?;
        let mut targets = json
            .file("markdown", self.markdown.as_deref(), report::study::markdown)?
            .file("svg", self.svg.as_deref(), report::svg::study)?
            .file("ecdf", self.ecdf.as_deref(), report::svg::ecdf)?;
        for Workload { name, .. } in &workloads {
            let path = self.html.as_ref().map(|path| match workloads.len() {
                1 => path.clone(),
                _ => page_of(path, name),
            });
            let (name, store) = (name.clone(), store.to_owned());
            targets =
                targets.file("html", path.as_deref(), move |result| page(result, &name, &store))?;
        }
        Ok(targets)
    }
}

/// Returns a workload's page of HTML; `None` if it was not raced.
fn page(result: &StudyResult, workload: &str, store: &Path) -> Option<String> {
    let run = result
        .runs
        .iter()
        .find(|run| run.study.as_ref().is_some_and(|study| study.workload.name == workload))?;
    let print = prints::of_run(run, &[store]);
    Some(report::html::page(run, print.as_ref().map(probes::measured).as_ref()))
}

/// Returns the path of a workload's page, if there are several: `table.html` becomes
/// `table-random.html`.
fn page_of(path: &Path, workload: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = format!("{stem}-{workload}");
    match path.extension() {
        Some(extension) => path.with_file_name(name).with_extension(extension),
        None => path.with_file_name(name),
    }
}
