//! `tiebreak machine`: measures what this machine is.

use crate::exit;
use crate::io::Io;
use crate::options::{Json, Store};
use crate::output::Targets;
use crate::quantities::{self, Cpus};
use crate::screen::Screen;
use clap::error::ErrorKind::InvalidSubcommand;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand, ValueHint};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tiebreak_lab::prints::{self, Keeper, Loaded};
use tiebreak_lab::probes::compare::{self, Named};
use tiebreak_lab::probes::{self, Noise, Options, Probe, tune};
use tiebreak_lab::probing::{Laboratory, chosen_cpus, own_work};
use tiebreak_lab::{LabError, interrupt, source};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct MachineArguments {
    #[command(subcommand)]
    command: Option<MachineCommand>,

    #[command(flatten)]
    options: ProbeOptions,
}

#[derive(Debug, Subcommand)]
enum MachineCommand {
    #[command(flatten)]
    Probe(ProbeCommand),
    /// Two machines side by side, also per unit of price
    Compare(CompareOptions),
    /// What makes this machine noisy, and the command that would change it; changes nothing
    Tune(Json),
    /// A print that was kept
    Show(ShowOptions),
}

/// Options of every probe.
#[derive(Debug, Args)]
pub struct ProbeOptions {
    /// How long each probe may take [default: what it needs]
    #[arg(long, value_name = "TIME", value_parser = quantities::duration_ns)]
    budget: Option<u64>,

    /// Use these CPUs only, and keep nothing [default: all that this process may use]
    #[arg(long, value_name = "LIST", value_parser = quantities::cpus)]
    cpus: Option<Cpus>,

    #[command(flatten)]
    files: PrintFiles,

    /// No progress
    #[arg(long, short = 'q')]
    quiet: bool,
}

/// The files of a print.
#[derive(Debug, Args)]
struct PrintFiles {
    #[command(flatten)]
    json: Json,

    /// Write the picture of the probe as SVG; of all probes, into a folder
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Write the print as one page of HTML, with its pictures
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    #[command(flatten)]
    store: Store,
}

#[derive(Debug, Args)]
struct CompareOptions {
    /// The first machine: a file, or the name of a print that was kept
    #[arg(value_name = "A")]
    a: PathBuf,

    /// The second machine
    #[arg(value_name = "B")]
    b: PathBuf,

    /// What they cost, in one unit: by A and B, or by the names of the files without their ending
    #[arg(long, value_name = "A=PRICE,B=PRICE")]
    price: Option<String>,

    #[command(flatten)]
    json: Json,

    #[command(flatten)]
    store: Store,
}

#[derive(Debug, Args)]
struct ShowOptions {
    /// The print: its name, the beginning of it, or a file that --json wrote [default: the latest]
    #[arg(value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    print: Option<String>,

    /// List the prints that were kept
    #[arg(long, conflicts_with_all = ["print", "probe", "json", "svg", "html"])]
    list: bool,

    /// Show everything that this probe found
    #[arg(long, value_name = "PROBE", value_parser = probe)]
    probe: Option<Probe>,

    #[command(flatten)]
    files: PrintFiles,
}

/// A probe by its name. The names come from the registry of probes, so another probe needs no line
/// here.
#[derive(Debug)]
struct ProbeCommand {
    probe: Probe,
    options: ProbeOptions,
    /// Whether to draw it live until Ctrl-C.
    is_watched: bool,
}

const WATCH: &str = "watch";

impl Subcommand for ProbeCommand {
    fn augment_subcommands(command: Command) -> Command {
        Probe::ALL.into_iter().fold(command, |command, probe| {
            let one = ProbeOptions::augment_args(Command::new(probe.name())).about(probe.help());
            let watch = Arg::new(WATCH)
                .long(WATCH)
                .action(ArgAction::SetTrue)
                .help("Draw it live until Ctrl-C");
            command.subcommand(if probe == Probe::Noise { one.arg(watch) } else { one })
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        named(name).is_some()
    }
}

impl FromArgMatches for ProbeCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let asked = matches.subcommand().and_then(|(name, options)| Some((named(name)?, options)));
        let (probe, options) = asked.ok_or_else(|| clap::Error::new(InvalidSubcommand))?;
        let is_watched = matches!(options.try_get_one(WATCH), Ok(Some(true)));
        Ok(ProbeCommand { probe, options: ProbeOptions::from_arg_matches(options)?, is_watched })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn named(name: &str) -> Option<Probe> {
    Probe::ALL.into_iter().find(|probe| probe.name() == name)
}

fn probe(text: &str) -> Result<Probe, String> {
    named(text).ok_or_else(|| {
        let names = Probe::ALL.map(Probe::name).join(", ");
        format!("no probe is called '{text}': there are {names}")
    })
}

pub fn run(arguments: MachineArguments, io: &mut Io) -> Result<u8, LabError> {
    match arguments.command {
        None => measure(None, false, &arguments.options, io),
        Some(MachineCommand::Probe(ProbeCommand { probe, options, is_watched })) => {
            measure(Some(probe), is_watched, &options, io)
        }
        Some(MachineCommand::Compare(options)) => compare(&options, io),
        Some(MachineCommand::Tune(options)) => tune(&options, io),
        Some(MachineCommand::Show(options)) => show(&options, io),
    }
}

/// Measures one probe, or all of them briefly. What disturbs this machine can be watched: it is
/// then drawn live until the user stops it or the budget is spent, and leaves the page of the last
/// minute.
fn measure(
    probe: Option<Probe>,
    is_watched: bool,
    options: &ProbeOptions,
    io: &mut Io,
) -> Result<u8, LabError> {
    let targets = options.files.open(probe)?;
    let wanted = Options {
        lab: &Laboratory { own_work: if is_watched { None } else { Some(own_work()?) } },
        cpus: chosen_cpus(options.cpus.as_deref())?,
        is_quick: probe.is_none(),
        each: options.budget.map(Duration::from_nanos),
    };
    // A print of one probe, or of some CPUs, is not the machine's.
    let keeper = match (probe, &options.cpus) {
        (None, None) => Keeper::open(options.files.store.path())?,
        _ => Keeper::Nowhere,
    };
    let redraws = io.err_redraws();
    let asked = probe.map_or(Probe::ALL.to_vec(), |probe| vec![probe]);
    let print = Screen::during(io, options.quiet, |screen| {
        if !is_watched {
            return probes::take(&asked, &wanted, interrupt::flag(), &mut |probe, share| {
                screen.show_as(|look, _| vec![probes::progress(&asked, probe, share, look)]);
            });
        }
        probes::watch_noise(&wanted, interrupt::flag(), &mut |found: &Noise| {
            if redraws {
                screen.show_as(|look, _| probes::frame(found, look))
            } else {
                screen.say(&probes::line(found))
            }
        })
    });
    let name = keeper.keep(&print, wanted.each).unwrap_or_else(|why| {
        io.err(&format!("not kept: {why}\n"));
        None
    });
    let found = Loaded { name, print };
    targets.deliver(&page(&found, probe, io), &found, io)?;
    let state = probe.and_then(|probe| found.print.state(probe));
    Ok(match state {
        _ if found.print.interrupted => exit::INTERRUPTED,
        // A probe that was requested by name and found nothing is not a success.
        Some("measured" | "degraded") => exit::HOLDS,
        _ if probe.is_some() => exit::OPEN,
        _ => exit::HOLDS,
    })
}

impl PrintFiles {
    /// Opens the files of a print: the picture is that of the probe, or there is a folder for those
    /// of all probes.
    fn open(&self, probe: Option<Probe>) -> Result<Targets<Loaded>, LabError> {
        let targets = self.json.open(|found: &Loaded| probes::json(&found.print))?;
        let mut targets = targets.file("html", self.html.as_deref(), |found| {
            probes::machine_page(&found.print, found.name.as_deref())
        })?;
        let pictures = match (&self.svg, probe) {
            (None, _) => Vec::new(),
            (Some(file), Some(probe)) => vec![(file.clone(), probe)],
            (Some(folder), None) => {
                std::fs::create_dir_all(folder).map_err(|error| {
                    let folder = folder.display();
                    LabError::Data(format!("--svg: cannot make the folder {folder}: {error}"))
                })?;
                let file = |probe: Probe| folder.join(format!("{}.svg", probe.name()));
                Probe::ALL.map(|probe| (file(probe), probe)).to_vec()
            }
        };
        for (path, probe) in pictures {
            targets =
                targets.file("svg", Some(&path), move |found| probes::svg(&found.print, probe))?;
        }
        Ok(targets)
    }
}

/// Shows a print from the store.
fn show(options: &ShowOptions, io: &mut Io) -> Result<u8, LabError> {
    let ShowOptions { print, list, probe, files } = options;
    if *list {
        let rows = prints::list(files.store.path())?;
        io.out(&probes::list(&rows, &io.out_look()));
        return Ok(exit::HOLDS);
    }
    let found = prints::load(print.as_deref().unwrap_or(source::LATEST), files.store.path())?;
    files.open(*probe)?.deliver(&page(&found, *probe, io), &found, io)?;
    match probe {
        Some(probe) if found.print.state(*probe).is_none() => {
            Err(LabError::Data(format!("this print has no {}: it was not asked for", probe.name())))
        }
        _ => Ok(exit::HOLDS),
    }
}

/// Shows two machines side by side.
fn compare(options: &CompareOptions, io: &mut Io) -> Result<u8, LabError> {
    let targets = options.json.open(compare::comparison_json)?;
    let names = [name(&options.a), name(&options.b)];
    let prices = match &options.price {
        None => [None; 2],
        Some(text) => compare::prices(text, [&names[0], &names[1]])
            .map_err(|error| LabError::Usage(format!("--price: {error}")))?
            .map(Some),
    };
    let store = options.store.path();
    let a = prints::load(&options.a.to_string_lossy(), store)?.print;
    let b = prints::load(&options.b.to_string_lossy(), store)?.print;
    let comparison = compare::compare(
        Named { print: &a, name: &names[0], price: prices[0] },
        Named { print: &b, name: &names[1], price: prices[1] },
    );
    let page = compare::comparison(&comparison, &io.out_look());
    targets.deliver(&page, &comparison, io)?;
    Ok(exit::HOLDS)
}

/// Returns the name of a file without its extension.
fn name(path: &Path) -> String {
    path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Shows what makes this machine noisy.
fn tune(options: &Json, io: &mut Io) -> Result<u8, LabError> {
    let targets = options.open(tune::tuning_json)?;
    let tuning = tune::read();
    targets.deliver(&tune::tuning(&tuning, &io.out_look()), &tuning, io)?;
    Ok(exit::HOLDS)
}

/// Returns the page of a print, or of one probe of it.
fn page(found: &Loaded, probe: Option<Probe>, io: &Io) -> String {
    match probe {
        Some(probe) => probes::page(&found.print, probe, &io.out_look()),
        None => probes::screen(&found.print, found.name.as_deref(), &io.out_look()),
    }
}
