//! What relocations need: entries of the tables that a linker makes, and their own values.

use super::machine::Machine;
use super::parts::{Parts, Place, Relocation, Section, Target};
use object::elf;
use std::collections::HashMap;

/// What a relocation needs besides its own bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Nothing,
    /// The address of its target, which must be in the same library.
    Address,
    /// The address of a function, or of its entry in the procedure linkage table.
    Call,
    /// An address of 64 bits, which the system's linker writes.
    Word,
    /// The offset among the thread-local data of the library.
    InModule,
    /// An entry of the GOT; or the address itself, if it may be and is known.
    Got {
        slot: Slot,
        or_address: bool,
    },
}

/// What an entry of the GOT holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    Address,
    /// The offset of a variable from the thread's pointer.
    ThreadOffset,
    /// The number of a module, and an offset in it.
    ThreadPair,
    /// The number of the own module, and 0.
    OwnModule,
    /// A function that returns the offset of a variable from the thread's pointer, and what it is
    /// given.
    ThreadDescriptor,
}

impl Slot {
    fn words(self) -> u64 {
        match self {
            Slot::Address | Slot::ThreadOffset => 1,
            Slot::ThreadPair | Slot::OwnModule | Slot::ThreadDescriptor => 2,
        }
    }
}

/// A relocation of which everything is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixup {
    /// The place in the file, which is the address.
    pub(super) at: usize,
    pub(super) kind: elf::RelocationType,
    /// The address that it refers to.
    pub(super) value: u64,
    pub(super) addend: i64,
    /// Whether an entry of the GOT was needed, and the address itself is written.
    pub(super) is_direct: bool,
}

/// What a name stands for in a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Here(Place),
    /// A dynamic symbol that the library defines itself.
    Exported(u32, Place),
    /// A dynamic symbol of another library.
    Elsewhere(u32),
    /// Nothing defines it, and nothing has to.
    Zero,
    /// Nothing defines it, though something has to.
    Unknown,
}

/// What the system's linker does at load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtLoad {
    /// Adds the address at which the library lies.
    Relative,
    /// Writes the address of a symbol, plus an addend.
    Word,
    /// Writes the address of a symbol.
    Address,
    /// Writes the address of a function into its word for calls.
    Call,
    Module,
    OffsetInModule,
    ThreadOffset,
    ThreadDescriptor,
}

/// A relocation at load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dynamic {
    pub(super) at: At,
    pub(super) what: AtLoad,
    /// The dynamic symbol; 0 for none.
    pub(super) symbol: u32,
    /// The addend is the address of this place plus a number.
    pub(super) addend: (Place, i64),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    Input(usize, u64),
    Got(u64),
}

/// The tables that a linker makes for the sections that are linked.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// By content, the index of the first word.
    got: HashMap<(Slot, Target), u64>,
    pub(super) got_words: u64,
    /// The offsets of variables in the own module, by word.
    pub(super) offsets: Vec<(u64, Place)>,
    /// The dynamic symbols of called functions, in order; and the index of each by name.
    pub(super) calls: Vec<u32>,
    call_of: HashMap<u32, u64>,
    pub(super) dynamics: Vec<Dynamic>,
}

/// What is fixed before any address is: the objects, and what their names stand for.
pub(super) struct Names<'a> {
    pub(super) parts: &'a Parts,
    pub(super) machine: &'static dyn Machine,
    /// By name.
    pub(super) bound: Vec<Bound>,
    /// Whether an input section is linked.
    pub(super) is_live: Vec<bool>,
}

impl Names<'_> {
    pub(super) fn bound(&self, target: Target) -> Bound {
        match target {
            Target::Local(place) => Bound::Here(place),
            Target::Name(name) => self.bound[name as usize],
        }
    }

    fn is_nowhere(&self, bound: Bound) -> bool {
        match bound {
            Bound::Here(Place::InSection(section, _)) => !self.is_live[section],
            Bound::Here(Place::Nowhere) => true,
            _ => false,
        }
    }

    /// Returns what a relocation needs; nothing if it describes code that is not linked.
    ///
    /// # Errors
    /// Says why a placement cannot have it.
    pub(super) fn need(&self, section: &Section, one: &Relocation) -> Result<Need, String> {
        let need = self.machine.need(section, one);
        let need =
            need.ok_or_else(|| format!("a relocation of kind {} in '{}'", one.kind, section.name))?;
        let bound = self.bound(one.target);
        if need == Need::Nothing {
            return Ok(need);
        }
        if self.is_nowhere(bound)
            && need != (Need::Got { slot: Slot::OwnModule, or_address: false })
        {
            // Frames and tables of exceptions describe it.
            let describes = [".eh_frame", ".gcc_except_table"];
            if describes.iter().any(|name| section.name.starts_with(name)) {
                return Ok(Need::Nothing);
            }
            return Err(format!("a reference to what is not linked, in '{}'", section.name));
        }
        match (need, bound) {
            (_, Bound::Unknown) => {
                Err(format!("the name '{}', which no object defines", self.text(one.target)))
            }
            (Need::Address, Bound::Elsewhere(_)) => {
                Err(format!("the distance to another library's '{}'", self.text(one.target)))
            }
            (Need::Address | Need::Call, Bound::Here(Place::Absolute(_))) => {
                Err(format!("the distance to an absolute address, in '{}'", section.name))
            }
            (Need::Word, _) if !section.access.contains(elf::SHF_WRITE) => {
                Err(format!("an address in read-only data, in '{}'", section.name))
            }
            _ => Ok(need),
        }
    }

    fn text(&self, target: Target) -> &str {
        match target {
            Target::Name(name) => &self.parts.names[name as usize].text,
            Target::Local(_) => "a local name",
        }
    }
}

/// Returns whether a place of the GOT is not needed, because the address is known.
fn is_direct(or_address: bool, bound: Bound) -> bool {
    or_address && matches!(bound, Bound::Here(Place::InSection(..) | Place::Edge { .. }))
}

impl Tables {
    /// Adds what the relocations of an input section need.
    pub(super) fn scan(&mut self, names: &Names<'_>, index: usize) -> Result<(), String> {
        let section = &names.parts.sections[index];
        for one in &section.relocations {
            let bound = names.bound(one.target);
            match names.need(section, one)? {
                Need::Call => {
                    if let (Bound::Elsewhere(symbol), Target::Name(name)) = (bound, one.target)
                        && !self.call_of.contains_key(&name)
                    {
                        self.call_of.insert(name, self.calls.len() as u64);
                        self.calls.push(symbol);
                    }
                }
                Need::Word => self.word(index, one, bound),
                Need::Got { slot, or_address } if !is_direct(or_address, bound) => {
                    self.slot(slot, one.target, bound);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn word(&mut self, section: usize, one: &Relocation, bound: Bound) {
        let at = At::Input(section, one.offset);
        let (what, symbol, place) = match bound {
            Bound::Here(place @ Place::Absolute(_)) => (None, 0, place),
            Bound::Here(place) => (Some(AtLoad::Relative), 0, place),
            Bound::Exported(symbol, _) | Bound::Elsewhere(symbol) => {
                (Some(AtLoad::Word), symbol, Place::Absolute(0))
            }
            Bound::Zero | Bound::Unknown => (None, 0, Place::Nowhere),
        };
        if let Some(what) = what {
            self.dynamics.push(Dynamic { at, what, symbol, addend: (place, one.addend) });
        }
    }

    /// Makes an entry of the GOT, unless there is one.
    fn slot(&mut self, slot: Slot, target: Target, bound: Bound) {
        let key = key(slot, target);
        if self.got.contains_key(&key) {
            return;
        }
        let word = self.got_words;
        self.got.insert(key, word);
        self.got_words += slot.words();
        let (symbol, place) = match bound {
            Bound::Here(place) => (0, place),
            Bound::Exported(symbol, _) | Bound::Elsewhere(symbol) => (symbol, Place::Absolute(0)),
            Bound::Zero | Bound::Unknown => return,
        };
        let mut at_load = |word: u64, what: AtLoad, place: Place| {
            self.dynamics.push(Dynamic { at: At::Got(word), what, symbol, addend: (place, 0) });
        };
        match slot {
            Slot::Address if symbol != 0 => at_load(word, AtLoad::Address, place),
            Slot::Address => match place {
                Place::Absolute(_) => self.offsets.push((word, place)),
                _ => at_load(word, AtLoad::Relative, place),
            },
            Slot::ThreadOffset => at_load(word, AtLoad::ThreadOffset, place),
            Slot::ThreadDescriptor => at_load(word, AtLoad::ThreadDescriptor, place),
            Slot::OwnModule => at_load(word, AtLoad::Module, Place::Absolute(0)),
            Slot::ThreadPair => {
                at_load(word, AtLoad::Module, Place::Absolute(0));
                if symbol == 0 {
                    self.offsets.push((word + 1, place));
                } else {
                    at_load(word + 1, AtLoad::OffsetInModule, place);
                }
            }
        }
    }

    /// Returns the first word of an entry that was made.
    pub(super) fn word_of(&self, slot: Slot, target: Target) -> Option<u64> {
        self.got.get(&key(slot, target)).copied()
    }

    /// Returns the number of a function's entry in the procedure linkage table.
    pub(super) fn call(&self, target: Target) -> Option<u64> {
        match target {
            Target::Name(name) => self.call_of.get(&name).copied(),
            Target::Local(_) => None,
        }
    }
}

/// All references to the own module share one entry.
fn key(slot: Slot, target: Target) -> (Slot, Target) {
    match slot {
        Slot::OwnModule => (slot, Target::Local(Place::Nowhere)),
        _ => (slot, target),
    }
}
