//! Contestants that are libraries, each in a process of its own: next to runners.

use super::error::BuildError;
use super::library::kit;
use super::steps::Task;
use super::toolchain::surroundings;
use crate::clients::Clients;
use std::path::Path;
use tiebreak_core::study::BuiltForm;

/// The program in which a library runs, by the C compiler that links contestants.
const COMMAND: [&str; 8] =
    ["cc", "-O2", "-I", "{kit}", "{sdk}/tiebreak_process.c", "-o", "{out}/process", "-ldl"];

/// Makes the program, unless the cache has it, and returns the process of a contestant.
pub(super) fn form(
    task: Task<'_>,
    clients: &Clients,
    library: &Path,
) -> Result<BuiltForm, BuildError> {
    let include = kit(task.cache)?.join("include");
    let places = task.places().with_path("kit", &include).with_path("sdk", &clients.0);
    let command = COMMAND.map(str::to_owned);
    let key = surroundings().with("process").with_all(&command);
    let key = key.with_all(task.environment().flat_map(|(name, value)| [name, value]));
    let key = key.with(clients.0.as_os_str().as_encoded_bytes());
    let key = key.with(include.as_os_str().as_encoded_bytes());
    let place = task
        .cache
        .entry(key, |out| task.run_words(&places.clone().with_path("out", out), &command, out))?;
    let files = [place.join("process"), library.to_owned()];
    let files: Vec<String> = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
    Ok(BuiltForm::Runner {
        command: files.clone(),
        environment: task.recipe.environment.clone(),
        directory: task.study.folder.clone(),
        files,
    })
}
