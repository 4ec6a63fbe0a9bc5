//! The options of a contest, which override the file's for all of them.

use super::{Options, setting};
use crate::document::keys::Item;
use crate::document::log::Log;
use crate::document::value;
use tiebreak_core::plan::{
    Adjust, Centre, Check, Hooks, OutputPlan, ProgramPlan, Success, workload_of,
};

/// The options of one table, which override those of the tables around it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layer {
    resolution: Option<f64>,
    centre: Option<Centre>,
    adjust: Option<Adjust>,
    block_runs: Option<u64>,
    shell: Option<String>,
    input: Option<String>,
    output: Option<OutputPlan>,
    output_limit_bytes: Option<u64>,
    directory: Option<String>,
    workload: Option<String>,
    check: Option<Check>,
    success: Option<Success>,
    timeout_ns: Option<u64>,
    warmup_runs: Option<u32>,
    cpus: Option<Vec<usize>>,
    wait_for_quiet: Option<bool>,
    pub(crate) hooks: Hooks,
    /// Whether claims are gates.
    pub(crate) gate: Option<bool>,
    /// Whether a gate opens only if its claim holds.
    pub(crate) strict: Option<bool>,
}

impl Layer {
    /// Reads the options of a table, which override those around it.
    pub(crate) fn read(items: &[Item<'_>], around: &Layer, log: &mut Log<'_>) -> Layer {
        let mut layer = around.clone();
        for item in items {
            layer.set(item, log);
            layer.set_program(item, log);
            layer.hooks = hooks(std::slice::from_ref(item), &layer.hooks, log);
        }
        layer.check_conflicts(items, log);
        layer
    }

    /// Sets an option that is not about how programs run.
    fn set(&mut self, item: &Item<'_>, log: &mut Log<'_>) {
        match item.key {
            "resolution" => replace(&mut self.resolution, setting::fraction(item, log)),
            "centre" => replace(&mut self.centre, setting::centre(item, log)),
            "adjust" => replace(&mut self.adjust, setting::adjust(item, log)),
            "block" => replace(&mut self.block_runs, setting::block(item, log)),
            "workload" => replace(&mut self.workload, text(item, "random", log)),
            "gate" => replace(&mut self.gate, value::boolean(item, log)),
            "strict" => replace(&mut self.strict, value::boolean(item, log)),
            _ => {}
        }
    }

    /// Sets an option about how programs run.
    fn set_program(&mut self, item: &Item<'_>, log: &mut Log<'_>) {
        match item.key {
            "shell" => replace(&mut self.shell, text(item, "sh", log)),
            "input" => replace(&mut self.input, text(item, "numbers.txt", log)),
            "output" => replace(&mut self.output, setting::output(item, log)),
            "output-limit" => replace(&mut self.output_limit_bytes, setting::size(item, log)),
            "directory" => replace(&mut self.directory, text(item, "build", log)),
            "check" => replace(&mut self.check, setting::check(item, log)),
            "success" => replace(&mut self.success, setting::success(item, log)),
            "ignore-failure" => {
                let success =
                    |ignore| if ignore { Success::Any } else { Success::Statuses(Vec::new()) };
                replace(&mut self.success, value::boolean(item, log).map(success));
            }
            "timeout" => replace(&mut self.timeout_ns, setting::timeout(item, log)),
            "warmup" => replace(&mut self.warmup_runs, setting::warmup(item, log)),
            "cpus" => replace(&mut self.cpus, setting::cpus(item, log)),
            "wait-for-quiet" => replace(&mut self.wait_for_quiet, value::boolean(item, log)),
            _ => {}
        }
    }

    /// Logs an error for contradicting options, at the one that this table contains.
    fn check_conflicts(&self, items: &[Item<'_>], log: &mut Log<'_>) {
        let find = |key: &str| items.iter().find(|item| item.key == key);
        if self.check.as_ref().is_some_and(Check::needs_output)
            && self.output == Some(OutputPlan::Null)
            && let Some(item) = find("check").or(find("output"))
        {
            log.error(item.key_span.clone(), "there is no output to judge")
                .label("'check' looks at outputs, which output = \"null\" throws away")
                .help("leave one of the two out");
        }
        let adjusts = self.adjust.is_some_and(|adjust| adjust != Adjust::NONE);
        let centre = match self.centre {
            Some(Centre::Median) => Some("median"),
            Some(Centre::Mean) => Some("mean"),
            Some(Centre::Factor) | None => None,
        };
        if let Some(centre) = centre.filter(|_| adjusts)
            && let Some(item) = find("adjust").or(find("centre"))
        {
            let message = format!("'adjust' does not go with centre = \"{centre}\"");
            log.error(item.key_span.clone(), message)
                .label(format!("an adjusted round has another {centre}"))
                .help("write centre = \"factor\" or adjust = \"none\"");
        }
        if let Some((item, _)) = find("ignore-failure").zip(find("success")) {
            log.error(item.key_span.clone(), "both 'success' and 'ignore-failure' are given")
                .label("it says that any exit status is success")
                .help("leave one of the two out");
        }
    }

    /// Returns the workload of the contestants: as given, or the name of the input, or empty.
    pub(crate) fn workload(&self) -> String {
        self.workload.clone().unwrap_or_else(|| workload_of(self.input.as_deref()))
    }

    /// Returns how a ratio is defined, if given.
    pub(crate) fn centre(&self) -> Option<Centre> {
        self.centre
    }

    /// Returns the time-out, if given.
    pub(crate) fn timeout_ns(&self) -> Option<u64> {
        self.timeout_ns
    }

    /// Returns the options of a contest.
    pub(crate) fn options(&self) -> Options {
        let plain = ProgramPlan::default();
        let program = ProgramPlan {
            shell: self.shell.as_deref().and_then(ProgramPlan::shell_asked),
            input: self.input.as_deref().and_then(ProgramPlan::input_asked),
            output: self.output.unwrap_or(plain.output),
            directory: self.directory.clone(),
            timeout_ns: self.timeout_ns,
            check: self.check.clone().unwrap_or(plain.check),
            success: self.success.clone().unwrap_or(plain.success),
            cpus: self.cpus.clone().unwrap_or_default(),
            warmup_runs: self.warmup_runs.unwrap_or(plain.warmup_runs),
            wait_for_quiet: self.wait_for_quiet.unwrap_or(plain.wait_for_quiet),
            output_limit_bytes: self.output_limit_bytes.unwrap_or(plain.output_limit_bytes),
        };
        Options {
            resolution: self.resolution,
            centre: self.centre,
            adjust: self.adjust,
            block_runs: self.block_runs,
            workload: self.workload(),
            program,
        }
    }
}

fn replace<T>(option: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *option = value;
    }
}

fn text(item: &Item<'_>, example: &str, log: &mut Log<'_>) -> Option<String> {
    value::string(item, example, log).map(str::to_owned)
}

/// Returns the hooks of a table, which override those around it.
pub(crate) fn hooks(items: &[Item<'_>], around: &Hooks, log: &mut Log<'_>) -> Hooks {
    let mut hooks = around.clone();
    for item in items {
        let hook = match item.key {
            "setup" => &mut hooks.setup,
            "prepare" => &mut hooks.prepare,
            "conclude" => &mut hooks.conclude,
            "cleanup" => &mut hooks.cleanup,
            _ => continue,
        };
        replace(hook, text(item, "make clean", log));
    }
    hooks
}
