//! The options of a contest, which override the file's for all of them.

use super::Options;
use crate::document::{Item, Table};
use crate::quantity::{parse_size, parse_timeout_ns, with_adjustment};
use crate::suggest::closest;
use tiebreak_core::plan::{
    Adjust, Centre, Check, Hooks, OutputPlan, ProgramPlan, Success, workload_of,
};
use toml::de::DeValue;

/// The options of a table and of those around it, which it overrides.
#[derive(Clone, Debug, Default)]
pub(super) struct Layer {
    /// How a contest is run, except for its workload.
    options: Options,
    /// The workload of the contestants, if it is given.
    workload: Option<String>,
    /// The input, as it was given.
    input: Option<String>,
    pub(super) hooks: Hooks,
    /// Whether claims are gates.
    pub(super) gate: Option<bool>,
    /// Whether a gate opens only if its claim holds.
    pub(super) strict: Option<bool>,
}

impl Layer {
    /// Returns these options, overridden by those of a table in them.
    pub(super) fn with(&self, table: &Table<'_>) -> Layer {
        let mut layer = self.clone();
        for item in &table.items {
            layer.set(item);
            set_program(&mut layer.options.program, item);
        }
        layer.hooks = hooks(table, &layer.hooks);
        layer.check_conflicts(table);
        layer
    }

    /// Sets an option, unless it is only about how programs run.
    fn set(&mut self, item: &Item<'_>) {
        let options = &mut self.options;
        match item.key {
            "resolution" => replace(&mut options.resolution, item.fraction()),
            "centre" => replace(&mut options.centre, item.word()),
            "adjust" => replace(&mut options.adjust, adjust(item)),
            "block" => replace(&mut options.block_runs, item.whole()),
            "workload" => replace(&mut self.workload, item.string()),
            "input" => replace(&mut self.input, item.string()),
            "gate" => replace(&mut self.gate, item.boolean()),
            "strict" => replace(&mut self.strict, item.boolean()),
            _ => {}
        }
    }

    /// Logs an error for contradicting options, at the one that this table contains.
    fn check_conflicts(&self, table: &Table<'_>) {
        let Options { program, adjust, centre, .. } = &self.options;
        if program.check.needs_output()
            && program.output == OutputPlan::Null
            && let Some(item) = table.get("check").or(table.get("output"))
        {
            item.key_error("there is no output to judge")
                .label("'check' looks at outputs, which output = \"null\" throws away")
                .help("leave one of the two out");
        }
        let centre = match centre {
            Some(Centre::Median) => Some("median"),
            Some(Centre::Mean) => Some("mean"),
            Some(Centre::Factor) | None => None,
        };
        if let Some(centre) = centre.filter(|_| adjust.is_some_and(|adjust| !adjust.is_none()))
            && let Some(item) = table.get("adjust").or(table.get("centre"))
        {
            let message = format!("'adjust' does not go with centre = \"{centre}\"");
            item.key_error(message)
                .label(format!("an adjusted round has another {centre}"))
                .help("write centre = \"factor\" or adjust = \"none\"");
        }
        if let Some((item, _)) = table.get("ignore-failure").zip(table.get("success")) {
            item.key_error("both 'success' and 'ignore-failure' are given")
                .label("it says that any exit status is success")
                .help("leave one of the two out");
        }
    }

    /// Returns the workload of the contestants: as given, or the name of the input, or empty.
    pub(super) fn workload(&self) -> String {
        self.workload.clone().unwrap_or_else(|| workload_of(self.input.as_deref()))
    }

    /// Returns the options of a contest.
    pub(super) fn options(&self) -> Options {
        let mut options = Options { workload: self.workload(), ..self.options.clone() };
        options.program.input = self.input.as_deref().and_then(ProgramPlan::input_asked);
        options
    }
}

/// Sets an option about how programs run.
fn set_program(program: &mut ProgramPlan, item: &Item<'_>) {
    match item.key {
        "shell" => {
            if let Some(word) = item.string() {
                program.shell = ProgramPlan::shell_asked(&word);
            }
        }
        "output" => set(&mut program.output, item.word()),
        "output-limit" => set(&mut program.output_limit_bytes, size(item)),
        "directory" => replace(&mut program.directory, item.string()),
        "check" => set(&mut program.check, check(item)),
        "success" => set(&mut program.success, success(item)),
        "ignore-failure" => set(&mut program.success, item.boolean().map(ignored_failure)),
        "timeout" => replace(&mut program.timeout_ns, item.quantity(parse_timeout_ns)),
        "warmup" => set(&mut program.warmup_runs, item.whole()),
        "cpus" => set(&mut program.cpus, item.cpus()),
        "wait-for-quiet" => set(&mut program.wait_for_quiet, item.boolean()),
        _ => {}
    }
}

fn set<T>(option: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *option = value;
    }
}

fn replace<T>(option: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *option = value;
    }
}

/// Returns the hooks of a table, which override those around it.
pub(super) fn hooks(table: &Table<'_>, around: &Hooks) -> Hooks {
    let mut hooks = around.clone();
    for (key, hook) in [
        ("setup", &mut hooks.setup),
        ("prepare", &mut hooks.prepare),
        ("conclude", &mut hooks.conclude),
        ("cleanup", &mut hooks.cleanup),
    ] {
        replace(hook, table.read(key, Item::string));
    }
    hooks
}

/// Reads a size above 0, in bytes.
fn size(item: &Item<'_>) -> Option<u64> {
    match item.value {
        DeValue::Integer(_) => item.whole(),
        _ => item.quantity(parse_size),
    }
}

/// Reads `same-output`, `exit` or a program.
fn check(item: &Item<'_>) -> Option<Check> {
    let check = Check::asked(&item.string()?);
    if let Err(meant) = check {
        item.wrong("\"same-output\", \"exit\" or a program").meant(Some(meant));
    }
    check.ok()
}

/// Reads exit statuses other than 0: `[1, 2]`.
fn success(item: &Item<'_>) -> Option<Success> {
    let Some(statuses) = item.elements() else {
        return item.wrong_type("an array of exit statuses such as [1, 2]").none();
    };
    let statuses: Vec<Option<u64>> = statuses.iter().map(|status| status.whole()).collect();
    let statuses = statuses.into_iter().map(|status| i32::try_from(status?).ok());
    statuses.collect::<Option<_>>().map(Success::Statuses)
}

fn ignored_failure(is_ignored: bool) -> Success {
    if is_ignored { Success::Any } else { Success::Statuses(Vec::new()) }
}

/// Reads what is removed from the noise: `"slot,strata"`, `"none"`, or an array of such words.
fn adjust(item: &Item<'_>) -> Option<Adjust> {
    let words: Vec<(&str, Item<'_>)> = match (item.value.as_str(), item.elements()) {
        (Some(text), _) => text.split(',').map(|word| (word.trim(), item.clone())).collect(),
        (None, Some(words)) => {
            let words = words.into_iter();
            words.map(|word| (word.value.as_str().unwrap_or_default(), word)).collect()
        }
        (None, None) => {
            return item.wrong_type("\"slot\", \"strata\", both with a comma, or \"none\"").none();
        }
    };
    let mut adjust = Adjust::NONE;
    let before = item.log.count();
    for (word, item) in &words {
        match with_adjustment(adjust, word, words.len() == 1) {
            Ok(with_word) => adjust = with_word,
            Err(error) => {
                let meant = closest(word, ["slot", "strata", "none"]);
                item.wrong(error.expected).meant(meant.filter(|meant| meant != word));
            }
        }
    }
    (item.log.count() == before).then_some(adjust)
}
