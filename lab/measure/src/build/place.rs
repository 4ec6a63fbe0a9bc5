//! Placements without a linker: from objects that were read once to a shared library at the
//! addresses that a seed determines.
//!
//! [`Placer::of`] reads the objects, the pads, what else the linker read, and the library that it
//! made with nothing drawn, the *reference*. [`Placer::place`] then does what the linker does for a
//! seed: it puts the same files in the same order, lays their sections out as the reference has
//! them, and applies relocations. The system's linker loads the file, as it loads a linked one, so
//! everything that happens at load or later (constructors, thread-local data, calls of libraries,
//! exceptions) happens in the same way.
//!
//! What it does not know, it refuses, and says so: the linker is then used. The rules are those of
//! the ELF specification and of the processors' supplements to it.

mod aarch64;
mod frames;
mod image;
mod layout;
mod machine;
mod parts;
mod relocate;
mod template;
mod words;
mod x86_64;

use super::link::order;
use super::locked;
use frames::index_bytes;
use image::Image;
use layout::{Layout, Planned};
use machine::Machine;
use object::read::elf::SectionHeader;
use parts::{ENDIAN, Parts, Place};
use relocate::{Bound, Names, Tables};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use template::{Role, Template};
use tiebreak_core::study::BuiltForm;

/// Why the linker has to do it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub(crate) String);

/// Places the objects of a contestant.
#[derive(Debug)]
pub struct Placer {
    form: BuiltForm,
    parts: Parts,
    template: Template,
    machine: &'static dyn Machine,
    /// The files that come before the objects, and those that come after them.
    around: [Vec<usize>; 2],
    /// By input section, the output section, and its rank there.
    outputs: Vec<Option<(usize, u32)>>,
    /// By name, if the placement or the system's linker defines it.
    dynamic: Vec<Option<(u32, bool)>>,
    /// The names of the sections with symbols and with strings, for debuggers.
    tables: [u32; 2],
}

/// A form, and what places it.
type Read = (BuiltForm, Result<Arc<Placer>, Refusal>);

impl Placer {
    /// Returns what places a form, which is read once in a process. Costs some milliseconds then.
    ///
    /// # Errors
    /// Says what the objects have that only the linker can place.
    pub fn of(form: &BuiltForm) -> Result<Arc<Placer>, Refusal> {
        static READ: Mutex<Vec<Read>> = Mutex::new(Vec::new());
        if let Some((_, placer)) = locked(&READ).iter().find(|(read, _)| read == form) {
            return placer.clone();
        }
        let placer = Placer::read(form).map(Arc::new);
        locked(&READ).push((form.clone(), placer.clone()));
        placer
    }

    /// Reads what placements of a form are made of, and places it once.
    fn read(form: &BuiltForm) -> Result<Placer, Refusal> {
        let BuiltForm::Objects {
            objects,
            linker,
            libraries,
            reference,
            code_padding,
            data_padding,
        } = form
        else {
            return Err(Refusal("a process".to_owned()));
        };
        let reference =
            reference.as_ref().ok_or_else(|| Refusal("no linked library".to_owned()))?;
        words::check(linker.iter().chain(libraries))?;
        let path = &reference.library;
        let data = fs::read(path).map_err(|error| Refusal(format!("'{path}': {error}")))?;
        let mut template = Template::parse(&data)?;
        let mut parts = Parts::default();
        parts.string(b"");
        parts.read_all(objects)?;
        let around = [parts.read_all(&reference.before)?, parts.read_all(&reference.after)?];
        let own = parts.sections.len();
        for (pad, _) in code_padding.iter().chain(data_padding) {
            parts.read(pad)?;
        }
        let machine = machine::of(parts.machine)
            .ok_or_else(|| Refusal(format!("a processor with the number {}", parts.machine)))?;
        let outputs = outputs(&parts, &template, own)?;
        let names = parts.names.iter();
        let dynamic = names.map(|name| template.symbols.get(&name.text).copied()).collect();
        for output in &mut template.outputs {
            output.header.sh_name.set(ENDIAN, parts.string(output.name.as_bytes()));
        }
        let tables = [".symtab", ".strtab"].map(|name| parts.string(name.as_bytes()));
        let form = form.clone();
        let placer = Placer { form, parts, template, machine, around, outputs, dynamic, tables };
        placer.place(0)?;
        Ok(placer)
    }

    /// Returns the bytes of the shared library in which code and data lie as the seed says. Equal
    /// seeds give equal bytes. Costs 10 microseconds to a millisecond.
    ///
    /// # Errors
    /// Says what only the linker can place. What was placed with one seed can almost always be
    /// placed with another.
    pub fn place(&self, seed: u64) -> Result<Vec<u8>, Refusal> {
        self.draft(seed).and_then(|draft| draft.image()).map_err(Refusal)
    }

    /// Writes the shared library of a seed into a file.
    ///
    /// # Errors
    /// As [`Placer::place`], and if the file cannot be written.
    pub(super) fn write(&self, seed: u64, out: &Path) -> Result<(), Refusal> {
        let image = self.place(seed)?;
        fs::write(out, image).map_err(|error| Refusal(format!("writing: {error}")))
    }

    fn draft(&self, seed: u64) -> Result<Draft<'_>, String> {
        let BuiltForm::Objects { objects, code_padding, data_padding, .. } = &self.form else {
            return Err("a process".to_owned());
        };
        let drawn = order(objects, code_padding, data_padding, seed);
        let drawn = drawn.into_iter().filter_map(|path| self.parts.file(path));
        let [before, after] = &self.around;
        let files = before.iter().copied().chain(drawn).chain(after.iter().copied());
        let files: Vec<usize> = files.collect();
        let is_live = self.live(&files);
        let bound = self.bound(&files, &is_live);
        let names = Names { parts: &self.parts, machine: self.machine, bound, is_live };
        let mut inputs = vec![Vec::new(); self.template.outputs.len()];
        let mut tables = Tables::default();
        for section in files.iter().flat_map(|file| self.parts.files[*file].sections.clone()) {
            if let Some((output, _)) = self.outputs[section].filter(|_| names.is_live[section]) {
                inputs[output].push(section);
                tables.scan(&names, section)?;
            }
        }
        for list in &mut inputs {
            list.sort_by_key(|section| self.outputs[*section].map(|(_, rank)| rank));
        }
        Ok(Draft { placer: self, files, names, inputs, tables })
    }

    /// Returns by section whether it is linked: of groups with one name, the first.
    fn live(&self, files: &[usize]) -> Vec<bool> {
        let mut is_live = vec![true; self.parts.sections.len()];
        let mut is_known = vec![false; self.parts.groups];
        for file in files {
            for (group, members) in &self.parts.files[*file].groups {
                if std::mem::replace(&mut is_known[*group], true) {
                    members.iter().for_each(|section| is_live[*section] = false);
                }
            }
        }
        is_live
    }

    /// Returns what each name stands for: its first definition that is not weak, else its first.
    fn bound(&self, files: &[usize], is_live: &[bool]) -> Vec<Bound> {
        let mut rank = vec![usize::MAX; self.parts.files.len()];
        files.iter().enumerate().for_each(|(at, file)| rank[*file] = at);
        let names = self.parts.names.iter().zip(&self.dynamic);
        let bound = names.map(|(name, dynamic)| {
            let linked = name.definitions.iter().filter(|one| match one.place {
                Place::InSection(section, _) => is_live[section] && rank[one.file] != usize::MAX,
                _ => rank[one.file] != usize::MAX,
            });
            let own = linked.min_by_key(|one| (one.is_weak, rank[one.file])).map(|one| one.place);
            match (own.or_else(|| self.made(&name.text)), dynamic) {
                (Some(place), Some((symbol, true))) => Bound::Exported(*symbol, place),
                (Some(place), _) => Bound::Here(place),
                (None, Some((symbol, _))) => Bound::Elsewhere(*symbol),
                (None, None) if name.is_weak && !is_of_linker(&name.text) => Bound::Zero,
                (None, None) => Bound::Unknown,
            }
        });
        bound.collect()
    }

    /// Returns what a name stands for that a linker defines: the beginning or the end of a section.
    fn made(&self, name: &str) -> Option<Place> {
        let (begin, end) = (name.strip_prefix("__start_"), name.strip_prefix("__stop_"));
        let output = self.template.named(begin.or(end)?)?;
        Some(Place::Edge { output, is_end: end.is_some() })
    }
}

/// Returns whether linkers define a name that is not known here.
fn is_of_linker(name: &str) -> bool {
    let names = ["DYNAMIC", "bss_start", "edata", "ehdr_start", "end", "etext", "executable_start"];
    names.contains(&name.trim_start_matches('_'))
}

/// Returns by input section the output section and the rank in it; `None` for an empty one that no
/// output section is for, and for pads of what the contestant does not have. Pads begin at the
/// section `own`.
fn outputs(
    parts: &Parts,
    template: &Template,
    own: usize,
) -> Result<Vec<Option<(usize, u32)>>, Refusal> {
    let outputs = parts.sections.iter().enumerate().map(|(index, section)| {
        let found = template.output_of(&section.name);
        let fits = |output: &usize| {
            let output = &template.outputs[*output];
            let is_zero = section.bytes.iter().all(|byte| *byte == 0);
            output.role == Role::Inputs
                && output.access() == section.access
                && (!output.is_zeroed() || is_zero && section.relocations.is_empty())
        };
        match found.filter(fits) {
            Some(output) => Ok(Some((output, rank(&section.name)))),
            None if section.size == 0 || index >= own => Ok(None),
            None => Err(Refusal(format!("an unusual section '{}'", section.name))),
        }
    });
    outputs.collect()
}

/// Returns the rank of an input section in its output section: the linker sorts code by how often
/// it runs, and constructors by their priority.
fn rank(name: &str) -> u32 {
    let code = [".text.unlikely", ".text.exit", ".text.startup", ".text.hot"];
    let is_of = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if let Some(rank) = code.iter().position(|prefix| is_of(prefix)) {
        return rank as u32;
    }
    let priority = [".init_array.", ".fini_array."]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix).and_then(|priority| priority.parse().ok()));
    priority.unwrap_or(u32::MAX)
}

/// A placement before its sections have addresses.
struct Draft<'a> {
    placer: &'a Placer,
    files: Vec<usize>,
    names: Names<'a>,
    /// By output section, the input sections in order.
    inputs: Vec<Vec<usize>>,
    tables: Tables,
}

/// The number of words at the beginning of those for calls, which belong to the system's linker.
const OWN_WORDS: u64 = 3;
const WORD_BYTES: u64 = 8;
const RELOCATION_BYTES: u64 = 24;
const SYMBOL_BYTES: u64 = 24;

impl Draft<'_> {
    fn image(self) -> Result<Vec<u8>, String> {
        let Placer { parts, template, .. } = self.placer;
        let frames = self.frames();
        let made = self.made(frames.len());
        let layout = Layout::of(&Planned { parts, template, inputs: &self.inputs, made });
        let mut image = Image { draft: &self, bytes: vec![0; layout.end as usize], layout };
        image.copy();
        image.relocate()?;
        image.write_tables()?;
        image.write_frames(&frames).ok_or("frames without an index")?;
        image.write_symbols().ok_or("an exported name that is not there")?;
        image.write_dynamic()?;
        image.write_headers();
        Ok(image.bytes)
    }

    /// Returns the descriptions of functions that are linked, as (section, offset).
    fn frames(&self) -> Vec<(usize, u64)> {
        let mut frames = Vec::new();
        for section in self.inputs.iter().flatten() {
            for frame in &self.placer.parts.sections[*section].frames {
                if let Bound::Here(place) | Bound::Exported(_, place) = self.names.bound(frame.of)
                    && let Place::InSection(of, _) = place
                    && self.names.is_live[of]
                {
                    frames.push((*section, frame.at));
                }
            }
        }
        frames
    }

    /// Returns by output section the size of what the linker makes itself.
    fn made(&self, frames: usize) -> Vec<u64> {
        let Placer { machine, template, .. } = self.placer;
        let calls = self.tables.calls.len() as u64;
        let words = (OWN_WORDS + calls) * WORD_BYTES;
        let got = self.tables.got_words * WORD_BYTES;
        let has_own = template.find(Role::CallGot).is_some();
        let has_own_relocations = template.find(Role::CallRelocations).is_some();
        let made = template.outputs.iter().map(|output| match output.role {
            Role::Copied | Role::Symbols => output.bytes.len() as u64,
            Role::Relocations => {
                let others = if has_own_relocations { 0 } else { calls };
                (self.tables.dynamics.len() as u64 + others) * RELOCATION_BYTES
            }
            Role::CallRelocations => calls * RELOCATION_BYTES,
            Role::Calls => machine.calls_bytes(calls),
            Role::Got if has_own => got,
            Role::Got => words + got,
            Role::CallGot => words,
            Role::FrameIndex => index_bytes(frames),
            Role::Dynamic | Role::Blank => output.header.sh_size(ENDIAN),
            Role::Inputs | Role::Dropped => 0,
        });
        made.collect()
    }
}
