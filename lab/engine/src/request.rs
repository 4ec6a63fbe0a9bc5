//! A user's request, and the contestants that it names.

use crate::error::{LabError, Result, usage};
use std::fs::File;
use std::io::Read;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{
    Adjust, Budget, Centre, Check, Contestant, Gate, Hooks, OutputPlan, ProgramPlan,
};
use tiebreak_core::server::ServerPlan;
use tiebreak_input::fill;
use tiebreak_machine::clock;

/// The default of the smallest ratio that matters.
pub const RESOLUTION: f64 = 0.01;
/// The default error.
pub const ERROR: f64 = 0.01;

/// More contestants than this are a mistake in a parameter list.
const CONTESTANTS_MAX: usize = 1000;

/// A user's request, as typed.
#[derive(Clone, Debug)]
pub struct Request {
    /// One command a contestant, with `{parameter}` where values go.
    pub commands: Vec<String>,
    /// Their names, in the same order; missing ones become A, B, C, ...
    pub names: Vec<String>,
    /// The folders in which they run: none, or one for each command.
    pub directories: Vec<String>,
    /// Parameters and their values.
    pub parameters: Vec<(String, Vec<String>)>,
    /// Claim sentences; without any, the question is which contestant is faster.
    pub claims: Vec<String>,
    /// Without a claim: whether to compare every pair, and not only each with the first.
    pub all_pairs: bool,
    /// The metric that questions are about.
    pub metric: Metric,
    /// The error of the whole run.
    pub error: f64,
    /// The resolution, as a fraction.
    pub resolution: f64,
    /// The budget, if there is one.
    pub budget: Option<Budget>,
    /// How the ratio is defined.
    pub centre: Centre,
    /// What is removed from the noise of ratios.
    pub adjust: Adjust,
    /// The number of runs in one observation of a share or a mean.
    pub block_runs: u64,
    /// Whether the claims are gates.
    pub gate: Gate,
    /// The seed.
    pub seed: String,
    /// The workload of the contestants, in a few words.
    pub workload: String,
    /// Hooks: one value for all commands, or one for each command.
    pub hooks: HookRequest,
    /// How programs are run.
    pub program: ProgramPlan,
    /// How they are loaded, if they are servers.
    pub servers: Option<Box<ServerPlan>>,
    /// The step of the wall clock in nanoseconds.
    pub clock_step_ns: f64,
}

impl Request {
    /// Returns a request to compare these commands by their wall time, at the default error and
    /// resolution, with these coins; everything else is a field to change.
    pub fn new(commands: Vec<String>, seed: String) -> Request {
        Request {
            commands,
            names: Vec::new(),
            directories: Vec::new(),
            parameters: Vec::new(),
            claims: Vec::new(),
            all_pairs: false,
            metric: Metric::WallTime,
            error: ERROR,
            resolution: RESOLUTION,
            budget: None,
            centre: Centre::unless_said(Adjust::NONE),
            adjust: Adjust::NONE,
            block_runs: 1,
            gate: Gate::None,
            seed,
            workload: String::new(),
            hooks: HookRequest::default(),
            program: ProgramPlan::default(),
            servers: None,
            clock_step_ns: clock::step_ns() as f64,
        }
    }
}

/// Returns the seed that the user gave, or else a random one.
///
/// # Errors
/// Fails if the system has no source of randomness.
pub fn seed_or_random(given: Option<&str>) -> Result<String> {
    given.map_or_else(drawn_seed, |seed| Ok(seed.to_owned())).map_err(LabError::Data)
}

/// Returns sixteen hexadecimal digits from the system's generator: short enough to type again.
///
/// # Errors
/// Fails if the system has no `/dev/urandom`; the text says what to do.
pub(crate) fn drawn_seed() -> Result<String, String> {
    let mut bytes = [0; 8];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| format!("cannot draw a seed from /dev/urandom ({error}): give --seed"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Reads how outputs are judged: `same-output`, `exit`, or a program; by default outputs that agree
/// in the first round must go on agreeing.
///
/// # Errors
/// Fails if the rule is empty or misspelt, or needs outputs that are not kept.
pub fn check_rule(rule: Option<&str>, output: OutputPlan) -> Result<Check> {
    let check = match rule {
        None => Check::Default,
        Some(judge) if judge.trim().is_empty() => {
            return usage(
                "--check is empty: say same-output, exit, or a program that judges an output",
            );
        }
        Some(rule) => match Check::asked(rule) {
            Ok(check) => check,
            Err(meant) => return usage(format!("--check '{rule}': did you mean '{meant}'?")),
        },
    };
    if check.needs_output() && output == OutputPlan::Null {
        return usage("--check looks at outputs, which --output null throws away: leave one out");
    }
    Ok(check)
}

/// Hook commands as typed: none, one for all contestants, or one for each command.
#[derive(Clone, Debug, Default)]
pub struct HookRequest {
    /// `--setup`.
    pub setup: Vec<String>,
    /// `--prepare`.
    pub prepare: Vec<String>,
    /// `--conclude`.
    pub conclude: Vec<String>,
    /// `--cleanup`.
    pub cleanup: Vec<String>,
}

/// Returns every command with every combination of the parameters that it uses.
pub(crate) fn contestants(request: &Request) -> Result<Vec<Contestant>> {
    let commands = &request.commands;
    if request.names.len() > commands.len() {
        return usage(format!(
            "{} names for {} commands: give at most one --name a command",
            request.names.len(),
            commands.len()
        ));
    }
    check_parameters(request)?;
    let values = request.parameters.iter().map(|(_, values)| values.len());
    let most = values.fold(commands.len(), usize::saturating_mul);
    if most > CONTESTANTS_MAX {
        return usage(format!(
            "these commands and values make {most} contestants, and {CONTESTANTS_MAX} are the most"
        ));
    }
    let mut contestants: Vec<Contestant> = Vec::new();
    for (index, command) in commands.iter().enumerate() {
        let HookRequest { setup, prepare, conclude, cleanup } = &request.hooks;
        let hooks = [
            hook("setup", setup, index, commands.len())?,
            hook("prepare", prepare, index, commands.len())?,
            hook("conclude", conclude, index, commands.len())?,
            hook("cleanup", cleanup, index, commands.len())?,
        ];
        let used = hooks.iter().flatten().fold(command.clone(), |text, hook| text + hook);
        for values in combinations(&request.parameters, &used) {
            let filled = |text: &str| fill(text, &values, usize::MAX);
            let name = match request.names.get(index) {
                Some(name) => filled(name),
                None => letters(contestants.len()),
            };
            let [setup, prepare, conclude, cleanup] =
                hooks.each_ref().map(|hook| Some(filled(hook.as_ref()?)));
            contestants.push(Contestant {
                name,
                command: filled(command),
                workload: request.workload.clone(),
                hooks: Hooks { setup, prepare, conclude, cleanup },
                parameters: values,
                directory: request.directories.get(index).cloned(),
            });
        }
    }
    check_names(&contestants)?;
    Ok(contestants)
}

fn check_parameters(request: &Request) -> Result<()> {
    let hooks = &request.hooks;
    let lists = [&request.commands, &hooks.setup, &hooks.prepare, &hooks.conclude, &hooks.cleanup];
    for (name, values) in &request.parameters {
        let placeholder = format!("{{{name}}}");
        if values.is_empty() || values.iter().any(String::is_empty) {
            return usage(format!("the parameter {name} has an empty value: {name}=a,b,c"));
        }
        if request.parameters.iter().filter(|(other, _)| other == name).count() > 1 {
            return usage(format!(
                "the parameter {name} is given twice: join its values by commas"
            ));
        }
        if !lists.iter().any(|list| list.iter().any(|text| text.contains(&placeholder))) {
            return usage(format!(
                "nothing uses the parameter {name}: write {placeholder} where its values go"
            ));
        }
    }
    Ok(())
}

fn check_names(contestants: &[Contestant]) -> Result<()> {
    for (index, contestant) in contestants.iter().enumerate() {
        let name = &contestant.name;
        if name.trim().is_empty() || name.contains(['\n', '\r', '\'', '"']) {
            return usage(format!(
                "'{name}' is not a valid name: use letters, digits and the like, no quotes"
            ));
        }
        if contestants[..index].iter().any(|other| other.name == *name) {
            return usage(format!(
                "two contestants are called '{name}': names must differ (with parameters, write \
                 {{parameter}} in --name)"
            ));
        }
    }
    Ok(())
}

/// Returns the hook of a command, given as an option for all commands or once for each.
fn hook(option: &str, given: &[String], index: usize, commands: usize) -> Result<Option<String>> {
    match given.len() {
        0 | 1 => Ok(given.first().cloned()),
        n if n == commands => Ok(given.get(index).cloned()),
        n => usage(format!(
            "{n} times --{option} for {commands} commands: give it once, or once a command"
        )),
    }
}

/// Returns all combinations of the values of the parameters that `text` uses, the last varying
/// fastest.
fn combinations(parameters: &[(String, Vec<String>)], text: &str) -> Vec<Vec<(String, String)>> {
    let used = parameters.iter().filter(|(name, _)| text.contains(&format!("{{{name}}}")));
    used.fold(vec![Vec::new()], |combinations, (name, values)| {
        let mut longer = Vec::with_capacity(combinations.len() * values.len());
        for combination in &combinations {
            for value in values {
                longer.push([&combination[..], &[(name.clone(), value.clone())]].concat());
            }
        }
        longer
    })
}

/// Returns A, B, ..., Z, AA, AB, ...
fn letters(index: usize) -> String {
    let letter = char::from(b'A' + (index % 26) as u8);
    if index < 26 { letter.into() } else { letters(index / 26 - 1) + &letter.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([0, 25, 26, 51, 52, 702].map(letters), ["A", "Z", "AA", "AZ", "BA", "AAA"]);
    }
}
