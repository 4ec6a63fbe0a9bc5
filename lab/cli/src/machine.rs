//! `tiebreak machine`: measures what this machine is.

mod compare;
mod keeper;
pub mod prints;
mod show;
mod tune;
mod watch;

use self::keeper::Keeper;
use crate::aa;
use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::output::JsonTarget;
use crate::output_file::OutputFile;
use crate::quantities;
use crate::screen::Screen;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand, ValueHint};
use std::path::PathBuf;
use std::time::Duration;
use tiebreak_lab::machine::cpus;
use tiebreak_lab::measure::interrupt;
use tiebreak_lab::probes::{self, MachinePrint, Options, Probe};
use tiebreak_lab::probing::Laboratory;

pub const EXAMPLES: &str = "\
Examples:
  tiebreak machine --budget 500ms --html machine.html
  tiebreak machine timers --budget 1s
  tiebreak machine --budget 200ms --json here.json --quiet
  tiebreak machine compare here.json here.json
  tiebreak machine tune

Without a probe's name every probe has a short look, half a minute in all without --budget, and what
was found is kept: verdicts name it, 'tiebreak machine show' shows it again. By its name a probe
takes the time that it needs. The exit code is 0, or 2 if a probe that was asked for by name found
nothing.";

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
    #[command(after_help = compare::EXAMPLES)]
    Compare(compare::CompareOptions),
    /// What makes this machine noisy, and the command that would change it; changes nothing
    #[command(after_help = tune::EXAMPLES)]
    Tune(tune::TuneOptions),
    /// A print that was kept
    #[command(after_help = show::EXAMPLES)]
    Show(show::ShowOptions),
}

/// Options of every probe.
#[derive(Clone, Debug, Args)]
pub struct ProbeOptions {
    /// How long each probe may take [default: what it needs]
    #[arg(long, value_name = "TIME", value_parser = quantities::duration_ns)]
    budget: Option<u64>,

    /// Use these CPUs only, and keep nothing [default: all that this process may use]
    #[arg(long, value_name = "LIST", value_parser = quantities::cpus)]
    cpus: Option<quantities::CpuList>,

    /// Write the print as JSON; - for standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    json: Option<PathBuf>,

    /// Write the picture of the probe as SVG; of all probes, into a folder
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    svg: Option<PathBuf>,

    /// Write the print as one page of HTML, with its pictures
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    html: Option<PathBuf>,

    /// Where the print is kept [default: the user's data folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    store: Option<PathBuf>,

    /// No progress
    #[arg(long, short = 'q')]
    quiet: bool,
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
        Probe::ALL.iter().any(|probe| probe.name() == name)
    }
}

impl FromArgMatches for ProbeCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let asked = matches.subcommand().and_then(|(name, options)| {
            let probe = Probe::ALL.into_iter().find(|probe| probe.name() == name)?;
            Some((probe, options))
        });
        let (probe, options) =
            asked.ok_or_else(|| clap::Error::new(clap::error::ErrorKind::InvalidSubcommand))?;
        let is_watched = matches!(options.try_get_one(WATCH), Ok(Some(true)));
        Ok(ProbeCommand { probe, options: ProbeOptions::from_arg_matches(options)?, is_watched })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

pub fn run(arguments: MachineArguments, io: &mut Io) -> Result<u8, Failure> {
    match arguments.command {
        None => print(None, &arguments.options, io),
        Some(MachineCommand::Probe(asked)) if asked.is_watched => watch::run(&asked.options, io),
        Some(MachineCommand::Probe(asked)) => print(Some(asked.probe), &asked.options, io),
        Some(MachineCommand::Compare(options)) => compare::run(&options, io),
        Some(MachineCommand::Tune(options)) => tune::run(&options, io),
        Some(MachineCommand::Show(options)) => show::run(&options, io),
    }
}

/// Measures one probe, or all of them briefly.
fn print(probe: Option<Probe>, options: &ProbeOptions, io: &mut Io) -> Result<u8, Failure> {
    let json = JsonTarget::open(options.json.as_ref())?;
    let lab = laboratory()?;
    let wanted = Options {
        lab: &lab,
        probes: probe.map_or(Probe::ALL.to_vec(), |probe| vec![probe]),
        cpus: chosen_cpus(options)?,
        is_quick: probe.is_none(),
        each: options.budget.map(Duration::from_nanos),
    };
    let pictures = Pictures::open(probe, options.svg.as_ref())?;
    let html = OutputFile::open("html", options.html.as_ref())?;
    let keeper = keeper(probe, options)?;
    let print = take(&wanted, options, io);
    let name = keeper.keep(&print, wanted.each, io);
    let look = io.out_look();
    let page = match probe {
        Some(probe) => probes::page(&print, probe, &look),
        None => probes::screen(&print, name.as_deref(), &look),
    };
    let shown = json.write_beside(&page, || probes::json(&print), io);
    let html =
        html.map_or(Ok(()), |file| file.write(&probes::machine_page(&print, name.as_deref())));
    shown.and(pictures.write(&print)).and(html)?;
    Ok(match probe {
        _ if print.interrupted => exit::INTERRUPTED,
        Some(probe) => code(&print, probe),
        None => exit::HOLDS,
    })
}

/// Returns the exit code: a probe that was requested by name and not measured is not a success.
fn code(print: &MachinePrint, probe: Probe) -> u8 {
    match print.state(probe) {
        Some("measured" | "degraded") => exit::HOLDS,
        _ => exit::OPEN,
    }
}

fn chosen_cpus(options: &ProbeOptions) -> Result<Vec<usize>, Failure> {
    let allowed = cpus::allowed();
    let Some(wanted) = &options.cpus else { return Ok(allowed) };
    match wanted.0.iter().find(|cpu| !allowed.contains(cpu)) {
        Some(cpu) => Err(Failure::usage(format!(
            "--cpus: CPU {cpu} is not one that this process may use: {} are",
            cpus::format_list(&allowed)
        ))),
        None => Ok(wanted.0.clone()),
    }
}

/// Returns the laboratory, which can run this program's own work.
fn laboratory() -> Result<Laboratory, Failure> {
    Ok(Laboratory { own_work: Some(aa::own_work()?) })
}

fn take(wanted: &Options<'_>, options: &ProbeOptions, io: &mut Io) -> MachinePrint {
    let mut screen = Screen::new(io, options.quiet);
    let print = probes::take(wanted, interrupt::flag(), &mut |probe, share| {
        screen.show_as(|look, _| vec![probes::progress(&wanted.probes, probe, share, look)]);
    });
    screen.clear();
    print
}

/// Returns the keeper of a complete print; a print of one probe, or of some CPUs, is not kept as
/// the machine's.
fn keeper(probe: Option<Probe>, options: &ProbeOptions) -> Result<Keeper, Failure> {
    if probe.is_some() || options.cpus.is_some() {
        Ok(Keeper::nowhere())
    } else {
        Keeper::open(options.store.as_ref())
    }
}

/// The targets of the pictures.
enum Pictures {
    None,
    One(Probe, OutputFile),
    Folder(PathBuf),
}

impl Pictures {
    fn open(probe: Option<Probe>, path: Option<&PathBuf>) -> Result<Pictures, Failure> {
        let Some(path) = path else { return Ok(Pictures::None) };
        if let Some(probe) = probe {
            let file = OutputFile::open("svg", Some(path))?;
            return Ok(file.map_or(Pictures::None, |file| Pictures::One(probe, file)));
        }
        std::fs::create_dir_all(path).map_err(|error| {
            Failure::data(format!("--svg: cannot make the folder {}: {error}", path.display()))
        })?;
        Ok(Pictures::Folder(path.clone()))
    }

    fn write(self, print: &MachinePrint) -> Result<(), Failure> {
        match self {
            Pictures::None => Ok(()),
            Pictures::One(probe, file) => {
                file.write(&probes::svg(print, probe).unwrap_or_default())
            }
            Pictures::Folder(folder) => {
                for probe in Probe::ALL {
                    let Some(picture) = probes::svg(print, probe) else { continue };
                    let path = folder.join(format!("{}.svg", probe.name()));
                    std::fs::write(&path, picture).map_err(|error| {
                        Failure::data(format!("cannot write {}: {error}", path.display()))
                    })?;
                }
                Ok(())
            }
        }
    }
}
