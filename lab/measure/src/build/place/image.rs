//! The bytes of a placement, after its sections have addresses.

use super::layout::Layout;
use super::layout::{HEADER_BYTES, SEGMENT_BYTES};
use super::machine::put;
use super::parts::{ENDIAN, Place, Relocation, Target};
use super::relocate::{At, AtLoad, Bound, Dynamic, Fixup, Need, Slot};
use super::template::{Role, Segment};
use super::{Draft, OWN_WORDS, Placer, RELOCATION_BYTES, SYMBOL_BYTES, WORD_BYTES, frames};
use object::elf;
use object::endian::{I64, LittleEndian, U32, U64};
use object::pod::{bytes_of, bytes_of_slice};
use object::read::elf::Sym;
use std::ops::Range;

/// A file that is being written, in which each byte lies at its address.
pub(super) struct Image<'a> {
    pub(super) draft: &'a Draft<'a>,
    pub(super) layout: Layout,
    pub(super) bytes: Vec<u8>,
}

impl Image<'_> {
    fn put(&mut self, at: u64, bytes: &[u8]) -> Option<()> {
        put(&mut self.bytes, at as usize, bytes)
    }

    /// Returns the address and the size of the output section with a role; zeroes if there is none.
    fn of_role(&self, role: Role) -> (u64, u64) {
        let found = self.draft.placer.template.find(role);
        found.map_or((0, 0), |output| self.layout.outputs[output])
    }

    fn address(&self, place: Place) -> u64 {
        match place {
            Place::InSection(section, offset) => self.layout.sections[section].wrapping_add(offset),
            Place::Absolute(value) => value,
            Place::Edge { output, is_end } => {
                let (address, size) = self.layout.outputs[output];
                if is_end { address + size } else { address }
            }
            Place::Nowhere => 0,
        }
    }

    /// Returns the address where thread-local data begin.
    fn thread_local(&self) -> u64 {
        let mut outputs = self.draft.placer.template.outputs.iter().zip(&self.layout.outputs);
        outputs.find(|(output, _)| output.is_thread_local()).map_or(0, |(_, (address, _))| *address)
    }

    /// Returns the address of the words of the procedure linkage table, and that of the GOT.
    fn words(&self) -> (u64, u64) {
        let (got, _) = self.of_role(Role::Got);
        let calls = OWN_WORDS + self.draft.tables.calls.len() as u64;
        match self.draft.placer.template.find(Role::CallGot) {
            Some(output) => (self.layout.outputs[output].0, got),
            None => (got, got + calls * WORD_BYTES),
        }
    }

    /// Copies the sections, and what is the same in each placement.
    pub(super) fn copy(&mut self) {
        let draft = self.draft;
        for (index, output) in draft.placer.template.outputs.iter().enumerate() {
            let (address, _) = self.layout.outputs[index];
            self.put(address, &output.bytes);
            for &input in &draft.inputs[index] {
                let address = self.layout.sections[input];
                if !output.is_zeroed() {
                    self.put(address, &draft.placer.parts.sections[input].bytes);
                }
            }
        }
    }

    /// Applies the relocations of all sections.
    pub(super) fn relocate(&mut self) -> Result<(), String> {
        let draft = self.draft;
        for &input in draft.inputs.iter().flatten() {
            let section = &draft.placer.parts.sections[input];
            for one in &section.relocations {
                let need = draft.names.need(section, one)?;
                let Some((value, is_direct)) = self.value(need, one) else { continue };
                let at = (self.layout.sections[input] + one.offset) as usize;
                let (kind, addend) = (one.kind, one.addend);
                let fixup = Fixup { at, kind, value, addend, is_direct };
                let fixed = draft.placer.machine.fix(&mut self.bytes, &fixup);
                fixed.ok_or_else(|| format!("an address too far away, in '{}'", section.name))?;
            }
        }
        Ok(())
    }

    /// Returns the value of a relocation, and whether it is written in place of an entry of the
    /// GOT; `None` if nothing is to be written.
    fn value(&self, need: Need, one: &Relocation) -> Option<(u64, bool)> {
        let bound = self.draft.names.bound(one.target);
        let own = match bound {
            Bound::Here(place) | Bound::Exported(_, place) => Some(self.address(place)),
            Bound::Zero => Some(0),
            Bound::Elsewhere(_) | Bound::Unknown => None,
        };
        match need {
            Need::Nothing => None,
            Need::Address => own.map(|value| (value, false)),
            Need::Call => match own {
                Some(value) => Some((value, false)),
                None => self.call(one.target).map(|value| (value, false)),
            },
            Need::Word => match bound {
                Bound::Here(Place::Absolute(value)) => Some((value, false)),
                _ => None,
            },
            Need::InModule => own.map(|value| (value.wrapping_sub(self.thread_local()), false)),
            Need::Got { slot, .. } => match self.slot(slot, one.target) {
                Some(entry) => Some((entry, false)),
                None => own.map(|value| (value, true)),
            },
        }
    }

    /// Returns the address of an entry of the GOT.
    fn slot(&self, slot: Slot, target: Target) -> Option<u64> {
        let (_, got) = self.words();
        self.draft.tables.word_of(slot, target).map(|word| got + word * WORD_BYTES)
    }

    /// Returns the address of a function's entry in the procedure linkage table.
    fn call(&self, target: Target) -> Option<u64> {
        let (table, _) = self.of_role(Role::Calls);
        let number = self.draft.tables.call(target)?;
        Some(self.draft.placer.machine.call(table, number))
    }

    /// Writes the tables of the linker: words, calls, and what is done at load.
    pub(super) fn write_tables(&mut self) -> Result<(), String> {
        let draft = self.draft;
        let (machine, tables) = (draft.placer.machine, &draft.tables);
        let (words, got) = self.words();
        let (calls, count) = (self.of_role(Role::Calls), tables.calls.len() as u64);
        let (dynamic, _) = self.of_role(Role::Dynamic);
        let has_calls = calls.1 == machine.calls_bytes(count);
        if !has_calls || (tables.got_words > 0 || count > 0) && (words == 0 || got == 0) {
            return Err("no table for calls or addresses in the linked library".to_owned());
        }
        if words != 0 {
            self.put(words, &dynamic.to_le_bytes());
        }
        if count > 0 {
            let written = machine.write_calls(&mut self.bytes, calls.0, words, count);
            written.ok_or("no room for calls")?;
        }
        for (word, place) in &tables.offsets {
            let base = match place {
                Place::Absolute(_) => 0,
                _ => self.thread_local(),
            };
            let value = self.address(*place).wrapping_sub(base);
            self.put(got + word * WORD_BYTES, &value.to_le_bytes());
        }
        let calls = tables.calls.iter().enumerate().map(|(number, symbol)| {
            let at = words + (OWN_WORDS + number as u64) * WORD_BYTES;
            (at, machine.number(AtLoad::Call), *symbol, 0)
        });
        let mut entries: Vec<_> = tables.dynamics.iter().map(|one| self.entry(one, got)).collect();
        if draft.placer.template.find(Role::CallRelocations).is_some() {
            self.write_entries(Role::CallRelocations, &calls.collect::<Vec<_>>())
                .ok_or("no relocations of calls")?;
        } else {
            entries.extend(calls);
        }
        // Those that only add where the library lies come first, as the system's linker expects.
        let relative = machine.number(AtLoad::Relative);
        entries.sort_by_key(|(at, kind, symbol, _)| (*kind != relative, *symbol, *at));
        self.write_entries(Role::Relocations, &entries).ok_or("no relocations at load".to_owned())
    }

    /// Returns a relocation at load as (address, kind, symbol, addend).
    fn entry(&self, dynamic: &Dynamic, got: u64) -> (u64, elf::RelocationType, u32, u64) {
        let at = match dynamic.at {
            At::Input(section, offset) => self.layout.sections[section] + offset,
            At::Got(word) => got + word * WORD_BYTES,
        };
        let (place, number) = dynamic.addend;
        let mut addend = self.address(place).wrapping_add(number as u64);
        let is_thread_local =
            matches!(dynamic.what, AtLoad::ThreadOffset | AtLoad::ThreadDescriptor);
        if is_thread_local && dynamic.symbol == 0 {
            addend = addend.wrapping_sub(self.thread_local());
        }
        (at, self.draft.placer.machine.number(dynamic.what), dynamic.symbol, addend)
    }

    fn write_entries(
        &mut self,
        role: Role,
        entries: &[(u64, elf::RelocationType, u32, u64)],
    ) -> Option<()> {
        let (begin, size) = self.of_role(role);
        if size != entries.len() as u64 * RELOCATION_BYTES {
            return None;
        }
        for (number, &(at, kind, symbol, addend)) in (0..).zip(entries) {
            let entry = elf::Rela64 {
                r_offset: U64::new(ENDIAN, at),
                r_info: elf::Rela64::r_info(ENDIAN, false, symbol, kind),
                r_addend: I64::new(ENDIAN, addend as i64),
            };
            self.put(begin + number * RELOCATION_BYTES, bytes_of(&entry))?;
        }
        Some(())
    }

    /// Writes the index of frames, which are given as (section, offset).
    pub(super) fn write_frames(&mut self, frames: &[(usize, u64)]) -> Option<()> {
        let template = &self.draft.placer.template;
        let Some(index) = template.find(Role::FrameIndex) else { return Some(()) };
        let begin = template.named(".eh_frame").map_or(0, |output| self.layout.outputs[output].0);
        let addresses = frames.iter().map(|(section, at)| self.layout.sections[*section] + at);
        let addresses: Vec<_> = addresses.collect();
        frames::write_index(&mut self.bytes, self.layout.outputs[index].0, begin, &addresses)
    }

    /// Writes the addresses of the dynamic symbols that the library defines.
    pub(super) fn write_symbols(&mut self) -> Option<()> {
        let draft = self.draft;
        let (begin, _) = self.of_role(Role::Symbols);
        for (name, (symbol, is_own)) in &draft.placer.template.symbols {
            if !is_own {
                continue;
            }
            let name = draft.placer.parts.name(name)?;
            let Bound::Exported(_, place) = draft.names.bound[name as usize] else { return None };
            let value = self.address(place).to_le_bytes();
            self.put(begin + u64::from(*symbol) * SYMBOL_BYTES + 8, &value)?;
        }
        Some(())
    }

    /// Writes the dynamic section, as in the reference, with the addresses of this placement.
    pub(super) fn write_dynamic(&mut self) -> Result<(), String> {
        let template = &self.draft.placer.template;
        let named = |name: &str| template.named(name).map(|output| self.layout.outputs[output]);
        let tables = &self.draft.tables;
        let relative = tables.dynamics.iter().filter(|one| one.what == AtLoad::Relative).count();
        let mut entries = Vec::new();
        for &(tag, value) in &template.dynamic {
            // Descriptors of thread-local variables are made at load, and need no table.
            if matches!(tag, elf::DT_TLSDESC_PLT | elf::DT_TLSDESC_GOT) {
                continue;
            }
            let name = SECTION_OF_TAG.iter().find(|(other, ..)| *other == tag);
            let value = match name {
                Some((_, name, is_size)) => {
                    let (address, size) = named(name).ok_or(format!("no section '{name}'"))?;
                    if *is_size { size } else { address }
                }
                None if tag == elf::DT_PLTGOT => self.words().0,
                None if tag == elf::DT_RELACOUNT => relative as u64,
                None if tag == elf::DT_TEXTREL => {
                    return Err("code that is changed at load".to_owned());
                }
                None => value,
            };
            let (d_tag, d_val) = (I64::new(ENDIAN, tag), U64::new(ENDIAN, value));
            entries.push(elf::Dyn64 { d_tag, d_val });
        }
        let (begin, size) = self.of_role(Role::Dynamic);
        let bytes = bytes_of_slice(&entries);
        if bytes.len() as u64 >= size {
            return Err("a dynamic section without an end".to_owned());
        }
        self.put(begin, bytes).ok_or("a dynamic section")?;
        Ok(())
    }

    /// Writes the header of the file and those of the segments; and those of the sections, with
    /// the symbols that debuggers look for, after what is loaded.
    pub(super) fn write_headers(&mut self) {
        let template = &self.draft.placer.template;
        for (number, segment) in (0..).zip(&template.segments) {
            let header = self.segment(segment);
            self.put(HEADER_BYTES + number * SEGMENT_BYTES, bytes_of(&header));
        }
        let sections = self.sections();
        let begin = self.bytes.len() as u64;
        let mut header = template.header;
        header.e_shoff.set(ENDIAN, begin);
        header.e_shnum.set(ENDIAN, sections.len() as u16);
        header.e_shstrndx.set(ENDIAN, elf::SymbolSection(sections.len() as u16 - 1));
        self.bytes.extend(bytes_of_slice(&sections));
        self.put(0, bytes_of(&header));
    }

    fn segment(&self, segment: &Segment) -> elf::ProgramHeader64<LittleEndian> {
        let template = &self.draft.placer.template;
        let (mut header, kind) = (segment.header, segment.kind());
        let (mut address, mut in_memory, mut in_file) = (0, 0, 0);
        if matches!(kind, elf::PT_NOTE | elf::PT_GNU_PROPERTY) {
            header.p_type.set(ENDIAN, elf::PT_NULL);
        } else if kind == elf::PT_PHDR {
            in_memory = SEGMENT_BYTES * template.segments.len() as u64;
            (address, in_file) = (HEADER_BYTES, in_memory);
        } else if !segment.outputs.is_empty() {
            (address, in_memory, in_file) = self.layout.covered(template, segment);
        }
        for field in [&mut header.p_offset, &mut header.p_vaddr, &mut header.p_paddr] {
            field.set(ENDIAN, address);
        }
        header.p_filesz.set(ENDIAN, in_file);
        header.p_memsz.set(ENDIAN, in_memory);
        header
    }

    /// Appends symbols and strings, and returns the headers of all sections.
    fn sections(&mut self) -> Vec<Section> {
        let Placer { parts, template, tables, .. } = self.draft.placer;
        let mut sections = vec![section(0, elf::SHT_NULL, 0..0)];
        for (output, (address, size)) in template.outputs.iter().zip(&self.layout.outputs) {
            let mut header = output.header;
            header.sh_addr.set(ENDIAN, *address);
            header.sh_offset.set(ENDIAN, *address);
            header.sh_size.set(ENDIAN, *size);
            if output.role == Role::Blank {
                header.sh_type.set(ENDIAN, elf::SHT_PROGBITS);
            }
            sections.push(header);
        }
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let begin = self.bytes.len();
        let count = self.append_symbols();
        let end = self.bytes.len();
        self.bytes.extend(&parts.strings);
        let mut symbols = section(tables[0], elf::SHT_SYMTAB, begin..end);
        symbols.sh_link.set(ENDIAN, sections.len() as u32 + 1);
        symbols.sh_info.set(ENDIAN, count);
        symbols.sh_entsize.set(ENDIAN, SYMBOL_BYTES);
        sections.extend([symbols, section(tables[1], elf::SHT_STRTAB, end..self.bytes.len())]);
        sections
    }

    /// Appends a table of symbols, all of them local, and returns how many there are.
    fn append_symbols(&mut self) -> u32 {
        let Draft { placer, files, names, .. } = self.draft;
        self.bytes.extend([0; SYMBOL_BYTES as usize]);
        let mut count = 1;
        for symbol in files.iter().flat_map(|file| &placer.parts.files[*file].symbols) {
            let output = placer.outputs[symbol.section].filter(|_| names.is_live[symbol.section]);
            let Some((output, _)) = output else { continue };
            let mut entry = symbol.entry;
            let address = self.layout.sections[symbol.section] + entry.st_value(ENDIAN);
            entry.st_value.set(ENDIAN, address);
            entry.st_shndx.set(ENDIAN, elf::SymbolSection(output as u16 + 1));
            self.bytes.extend(bytes_of(&entry));
            count += 1;
        }
        count
    }
}

type Section = elf::SectionHeader64<LittleEndian>;

/// Returns the header of a section that is not loaded.
fn section(name: u32, kind: elf::SectionType, within: Range<usize>) -> Section {
    let word = |value: u64| U64::new(ENDIAN, value);
    elf::SectionHeader64 {
        sh_name: U32::new(ENDIAN, name),
        sh_type: U32::new(ENDIAN, kind),
        sh_flags: U64::new(ENDIAN, elf::SectionFlags(0)),
        sh_addr: word(0),
        sh_offset: word(within.start as u64),
        sh_size: word(within.len() as u64),
        sh_link: U32::new(ENDIAN, 0),
        sh_info: U32::new(ENDIAN, 0),
        sh_addralign: word(8),
        sh_entsize: word(0),
    }
}

/// The dynamic entries that have an address, or a size, by the section that they are of.
const SECTION_OF_TAG: [(elf::DynamicTag, &str, bool); 18] = [
    (elf::DT_INIT, ".init", false),
    (elf::DT_FINI, ".fini", false),
    (elf::DT_INIT_ARRAY, ".init_array", false),
    (elf::DT_INIT_ARRAYSZ, ".init_array", true),
    (elf::DT_FINI_ARRAY, ".fini_array", false),
    (elf::DT_FINI_ARRAYSZ, ".fini_array", true),
    (elf::DT_HASH, ".hash", false),
    (elf::DT_GNU_HASH, ".gnu.hash", false),
    (elf::DT_STRTAB, ".dynstr", false),
    (elf::DT_SYMTAB, ".dynsym", false),
    (elf::DT_VERSYM, ".gnu.version", false),
    (elf::DT_VERNEED, ".gnu.version_r", false),
    (elf::DT_VERDEF, ".gnu.version_d", false),
    (elf::DT_JMPREL, ".rela.plt", false),
    (elf::DT_PLTRELSZ, ".rela.plt", true),
    (elf::DT_RELA, ".rela.dyn", false),
    (elf::DT_RELASZ, ".rela.dyn", true),
    (elf::DT_PREINIT_ARRAY, ".preinit_array", false),
];
