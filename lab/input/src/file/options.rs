//! The options of a contest, which override the file's for all of them.

use super::Options;
use crate::document::{Item, Table};
use crate::quantity::{parse_size, parse_timeout_ns, with_adjustment};
use crate::suggest::closest;
use tiebreak_core::plan::{
    Adjust, Centre, Check, Hooks, OutputPlan, Primer, ProgramPlan, Success, workload_of,
};
use toml::de::DeValue;

/// The options of a table and of those around it, which it overrides.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    pub options: Options,
    pub hooks: Hooks,
    /// Whether claims are gates.
    pub gate: Option<bool>,
    /// Whether a gate opens only if its claim holds.
    pub strict: bool,
    /// The workload of the contestants, if it is given.
    workload: Option<String>,
    /// The input, as it was given.
    input: Option<String>,
}

impl Layer {
    /// Returns these options, overridden by those of a table in them.
    pub fn with(&self, table: &Table<'_>) -> Layer {
        let mut layer = self.clone();
        layer.read(table);
        read_program(table, &mut layer.options.program);
        layer.check_conflicts(table);
        let Layer { workload, input, options, .. } = &mut layer;
        options.workload = workload.clone().unwrap_or_else(|| workload_of(input.as_deref()));
        options.program.input = input.as_deref().and_then(ProgramPlan::input_asked);
        layer
    }

    fn read(&mut self, table: &Table<'_>) {
        let Layer { options, hooks, gate, strict, workload, input } = self;
        table.update("resolution", &mut options.resolution, Item::fraction);
        table.update("centre", &mut options.centre, Item::word::<Centre>);
        table.update("adjust", &mut options.adjust, adjust);
        table.update("block", &mut options.block_runs, Item::whole::<u64>);
        table.update("load", &mut options.load, Item::string);
        table.update("ready-within", &mut options.ready_within_ns, |item| {
            item.quantity(parse_timeout_ns)
        });
        table.update("gate", gate, Item::boolean);
        table.update("strict", strict, Item::boolean);
        table.update("workload", workload, Item::string);
        table.update("input", input, Item::string);
        read_hooks(table, hooks);
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
}

/// Reads the options about how programs run.
fn read_program(table: &Table<'_>, program: &mut ProgramPlan) {
    table.update("shell", &mut program.shell, |item| {
        item.string().map(|word| ProgramPlan::shell_asked(&word))
    });
    table.update("output", &mut program.output, Item::word::<OutputPlan>);
    table.update("output-limit", &mut program.output_limit_bytes, size);
    table.update("directory", &mut program.directory, Item::string);
    table.update("check", &mut program.check, check);
    table.update("success", &mut program.success, success);
    table.update("ignore-failure", &mut program.success, |item| {
        let is_ignored = item.boolean()?;
        Some(if is_ignored { Success::Any } else { Success::Statuses(Vec::new()) })
    });
    table.update("timeout", &mut program.timeout_ns, |item| item.quantity(parse_timeout_ns));
    table.update("warmup", &mut program.warmup_runs, Item::whole::<u32>);
    table.update("cpus", &mut program.cpus, Item::cpus);
    table.update("wait-for-quiet", &mut program.wait_for_quiet, Item::boolean);
    table.update("primer", &mut program.primer, Item::word::<Primer>);
}

/// Reads the hooks of a table, which override those around it.
pub fn read_hooks(table: &Table<'_>, hooks: &mut Hooks) {
    table.update("setup", &mut hooks.setup, Item::string);
    table.update("prepare", &mut hooks.prepare, Item::string);
    table.update("conclude", &mut hooks.conclude, Item::string);
    table.update("cleanup", &mut hooks.cleanup, Item::string);
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
    let statuses = item.typed(item.elements(), "an array of exit statuses such as [1, 2]")?;
    let before = item.log.count();
    let statuses = statuses.iter().filter_map(Item::whole::<u8>).map(i32::from).collect();
    (item.log.count() == before).then_some(Success::Statuses(statuses))
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
