//! The targets of the result of a study.

use crate::failure::Failure;
use crate::io::Io;
use crate::machine::prints;
use crate::output::JsonTarget;
use crate::output_file::OutputFile;
use clap::{Args, ValueHint};
use std::path::{Path, PathBuf};
use tiebreak_lab::core::result::{RunResult, StudyResult};
use tiebreak_lab::report;
use tiebreak_lab::studies::StudyRequest;

/// Files that a result is written into.
#[derive(Debug, Args)]
pub struct TargetOptions {
    /// Write the result as JSON; - for standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,

    /// Write the tables as Markdown
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub markdown: Option<PathBuf>,

    /// Write the result as a page of HTML; of several workloads a page each, FILE-WORKLOAD
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,

    /// Draw how much the times spread
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub svg: Option<PathBuf>,

    /// Draw the distribution function of each contestant's times, here and below the table
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub ecdf: Option<PathBuf>,
}

impl TargetOptions {
    /// Opens all targets.
    pub fn open(
        &self,
        asked: &StudyRequest,
        store: &Path,
        quiet: bool,
    ) -> Result<StudyTargets, Failure> {
        let workloads = asked.workloads()?;
        let mut pages = Vec::new();
        for workload in workloads.iter().filter(|_| self.html.is_some()) {
            let path = self.html.as_ref().map(|path| match workloads.len() {
                1 => path.clone(),
                _ => page_of(path, &workload.name),
            });
            let page = OutputFile::open("html", path.as_ref())?;
            pages.extend(page.map(|page| (workload.name.clone(), page)));
        }
        Ok(StudyTargets {
            json: JsonTarget::open(self.json.as_ref())?,
            markdown: OutputFile::open("markdown", self.markdown.as_ref())?,
            pages,
            svg: OutputFile::open("svg", self.svg.as_ref())?,
            ecdf: OutputFile::open("ecdf", self.ecdf.as_ref())?,
            store: store.to_owned(),
            quiet,
        })
    }
}

/// The targets of the result: files are opened before anything is raced.
pub struct StudyTargets {
    json: JsonTarget,
    markdown: Option<OutputFile>,
    /// A page for each workload.
    pages: Vec<(String, OutputFile)>,
    svg: Option<OutputFile>,
    ecdf: Option<OutputFile>,
    /// The store with the print of the machine.
    store: PathBuf,
    /// Whether to print no progress, and only the verdicts of the report.
    pub quiet: bool,
}

impl StudyTargets {
    /// Returns standard output, and JSON if it was requested.
    pub fn plain(json: JsonTarget, quiet: bool) -> StudyTargets {
        let store = PathBuf::new();
        let (pages, svg, ecdf) = (Vec::new(), None, None);
        StudyTargets { json, markdown: None, pages, svg, ecdf, store, quiet }
    }

    /// Prints first, and then writes every file that can be written.
    pub fn deliver(self, result: &StudyResult, io: &mut Io) -> Result<(), Failure> {
        let page = if self.quiet {
            report::study::verdicts(result)
        } else {
            report::study::table(result, &io.out_look()) + &self.letters(result, io)
        };
        let json = self.json.write_beside(&page, || report::json::text(result), io);
        let write = |file: Option<OutputFile>, text: &dyn Fn() -> String| {
            file.map_or(Ok(()), |file| file.write(&text()))
        };
        let markdown = write(self.markdown, &|| report::study::markdown(result));
        let svg = write(self.svg, &|| report::svg::study(result));
        let ecdf = write(self.ecdf, &|| report::svg::ecdf(result));
        let mut written = json.and(markdown).and(svg).and(ecdf);
        for (workload, file) in self.pages {
            let is_its = |run: &&RunResult| {
                run.study.as_ref().is_some_and(|study| study.workload.name == workload)
            };
            if let Some(run) = result.runs.iter().find(is_its) {
                let print = prints::of_run(run, &self.store);
                let measured = print.as_ref().map(tiebreak_lab::probes::measured);
                written = written.and(file.write(&report::html::page(run, measured.as_ref())));
            }
        }
        written
    }

    /// Returns the distribution functions as text, if they were requested.
    fn letters(&self, result: &StudyResult, io: &Io) -> String {
        match self.ecdf {
            Some(_) => report::study::ecdf(result, &io.out_look()),
            None => String::new(),
        }
    }
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
