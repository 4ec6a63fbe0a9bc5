//! Converts commands, names and parameters to contestants.

use crate::error::{LabError, usage};
use crate::request::Request;
use tiebreak_core::plan::{Contestant, Hooks};

/// More contestants than this are a mistake in a parameter list.
const CONTESTANTS_MAX: usize = 1000;

/// Returns every command with every combination of the parameters that it uses.
pub(crate) fn contestants(request: &Request) -> Result<Vec<Contestant>, LabError> {
    let commands = &request.commands;
    if request.names.len() > commands.len() {
        return usage(format!(
            "{} names for {} commands: give at most one --name a command",
            request.names.len(),
            commands.len()
        ));
    }
    check_parameters(request)?;
    check_number(request)?;
    let mut contestants: Vec<Contestant> = Vec::new();
    for (index, command) in commands.iter().enumerate() {
        let hooks = hooks(request, index)?;
        let used =
            hooks.each_ref().into_iter().flatten().fold(command.clone(), |text, hook| text + hook);
        for values in combinations(&request.parameters, &used) {
            let name = match request.names.get(index) {
                Some(name) => fill(name, &values),
                None => letters(contestants.len()),
            };
            let filled = hooks.each_ref().map(|hook| Some(fill(hook.as_ref()?, &values)));
            let [setup, prepare, conclude, cleanup] = filled;
            contestants.push(Contestant {
                name,
                command: fill(command, &values),
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

/// Checks that the values of all parameters do not make more contestants than any user intends.
fn check_number(request: &Request) -> Result<(), LabError> {
    let values = request.parameters.iter().map(|(_, values)| values.len());
    let most = values.fold(request.commands.len(), usize::saturating_mul);
    if most > CONTESTANTS_MAX {
        return usage(format!(
            "these commands and values make {most} contestants, and {CONTESTANTS_MAX} are the most"
        ));
    }
    Ok(())
}

fn check_parameters(request: &Request) -> Result<(), LabError> {
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

fn check_names(contestants: &[Contestant]) -> Result<(), LabError> {
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

/// Returns the hooks of a command: those before all runs, before each, after each, after all.
fn hooks(request: &Request, index: usize) -> Result<[Option<String>; 4], LabError> {
    let commands = request.commands.len();
    let options = [
        ("setup", &request.hooks.setup),
        ("prepare", &request.hooks.prepare),
        ("conclude", &request.hooks.conclude),
        ("cleanup", &request.hooks.cleanup),
    ];
    let mut hooks = [const { None }; 4];
    for (hook, (option, given)) in hooks.iter_mut().zip(options) {
        *hook = match given.len() {
            0 | 1 => given.first().cloned(),
            n if n == commands => given.get(index).cloned(),
            n => {
                return usage(format!(
                    "{n} times --{option} for {commands} commands: give it once, or once a command"
                ));
            }
        };
    }
    Ok(hooks)
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

fn fill(text: &str, values: &[(String, String)]) -> String {
    values
        .iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
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
