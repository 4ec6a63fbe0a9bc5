//! The reference: what the linker made of the same objects with nothing drawn. A placement has its
//! output sections in their order, its segments, its dynamic symbols with their versions, and the
//! libraries that it names.

use super::Refusal;
use super::parts::text;
use object::LittleEndian as Endian;
use object::elf;
use object::pod::bytes_of;
use object::read::elf::{Dyn, FileHeader, ProgramHeader, SectionHeader, Sym};
use std::collections::HashMap;
use std::ops::Range;

type Header = elf::FileHeader64<Endian>;
const ENDIAN: Endian = Endian;

/// What the reference says of every placement.
#[derive(Debug)]
pub(super) struct Template {
    pub(super) header: Vec<u8>,
    pub(super) segments: Vec<Segment>,
    /// The sections that are loaded, by address.
    pub(super) outputs: Vec<Output>,
    /// The entries of the dynamic section, as (tag, value).
    pub(super) dynamic: Vec<(elf::DynamicTag, u64)>,
    /// The dynamic symbols by name: the index, and whether the library defines it.
    pub(super) symbols: HashMap<String, (u32, bool)>,
    by_name: HashMap<String, usize>,
}

/// An output section.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) is_writable: bool,
    pub(super) is_zeroed: bool,
    pub(super) is_thread_local: bool,
    pub(super) align: u64,
    /// For [`Role::Copied`] and [`Role::Symbols`].
    pub(super) bytes: Vec<u8>,
    /// Its address in the reference.
    pub(super) address: u64,
    pub(super) size: u64,
}

/// What an output section holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Sections of the objects.
    Inputs,
    /// The same bytes in every placement.
    Copied,
    Symbols,
    Relocations,
    CallRelocations,
    Calls,
    Got,
    CallGot,
    FrameIndex,
    Dynamic,
    /// What would be untrue of a placement, as the note that identifies the file: room, with
    /// zeroes.
    Blank,
    /// What no placement needs: stubs of another kind.
    Dropped,
}

/// A program header.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) kind: elf::ProgramType,
    pub(super) flags: elf::ProgramFlags,
    pub(super) align: u64,
    /// The output sections in it; empty if it has none.
    pub(super) outputs: Range<usize>,
}

impl Template {
    pub(super) fn parse(data: &[u8]) -> Result<Template, Refusal> {
        Template::read(data).map_err(|why| Refusal(format!("{why}, in the linked library")))
    }

    fn read(data: &[u8]) -> Result<Template, String> {
        let header = Header::parse(data).map_err(text)?;
        let mut outputs = outputs(header, data)?;
        outputs.sort_by_key(|output| output.address);
        let segments = header.program_headers(ENDIAN, data).map_err(text)?;
        let mut segments: Vec<_> = segments.iter().map(|entry| segment(entry, &outputs)).collect();
        // A section that is empty in the reference may lie at the end of its segment.
        let mut end = outputs.len();
        for segment in segments.iter_mut().rev().filter(|segment| segment.kind == elf::PT_LOAD) {
            segment.outputs.end = end;
            end = segment.outputs.start;
        }
        let names = outputs.iter().map(|output| output.name.clone());
        let by_name = names.enumerate().map(|(index, name)| (name, index)).collect();
        let (dynamic, symbols) = (dynamic(header, data)?, symbols(header, data)?);
        let header = bytes_of(header).to_vec();
        Ok(Template { header, segments, outputs, dynamic, symbols, by_name })
    }

    /// Returns the index of the output section that the linker puts an input section into: that of
    /// its name, or else of the longest beginning of the name up to a dot.
    pub(super) fn output_of(&self, mut name: &str) -> Option<usize> {
        loop {
            if let Some(&index) = self.by_name.get(name) {
                return Some(index);
            }
            name = &name[..name.rfind('.').filter(|at| *at > 0)?];
        }
    }

    /// Returns the index of the output section with this name.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Returns the index of the first output section with this role.
    pub(super) fn find(&self, role: Role) -> Option<usize> {
        self.outputs.iter().position(|output| output.role == role)
    }
}

fn outputs(header: &Header, data: &[u8]) -> Result<Vec<Output>, String> {
    let sections = header.sections(ENDIAN, data).map_err(text)?;
    let mut outputs = Vec::new();
    for section in sections.iter() {
        let flags = section.sh_flags(ENDIAN);
        if !flags.contains(elf::SHF_ALLOC) {
            continue;
        }
        let name = sections.section_name(ENDIAN, section).map_err(text)?;
        let (name, kind) = (String::from_utf8_lossy(name).into_owned(), section.sh_type(ENDIAN));
        let role = role(&name, kind)?;
        let is_kept = matches!(role, Role::Copied | Role::Symbols);
        let bytes = section.data(ENDIAN, data).map_err(text)?;
        outputs.push(Output {
            name,
            role,
            is_writable: flags.contains(elf::SHF_WRITE),
            is_zeroed: kind == elf::SHT_NOBITS,
            is_thread_local: flags.contains(elf::SHF_TLS),
            align: section.sh_addralign(ENDIAN).max(1),
            bytes: if is_kept { bytes.to_vec() } else { Vec::new() },
            address: section.sh_addr(ENDIAN),
            size: section.sh_size(ENDIAN),
        });
    }
    Ok(outputs)
}

fn role(name: &str, kind: elf::SectionType) -> Result<Role, String> {
    Ok(match (kind, name) {
        (elf::SHT_DYNSYM, _) => Role::Symbols,
        (elf::SHT_STRTAB | elf::SHT_HASH | elf::SHT_GNU_HASH, _) => Role::Copied,
        (elf::SHT_GNU_VERSYM | elf::SHT_GNU_VERNEED | elf::SHT_GNU_VERDEF, _) => Role::Copied,
        (elf::SHT_RELA, ".rela.plt") => Role::CallRelocations,
        (elf::SHT_RELA, _) => Role::Relocations,
        (elf::SHT_RELR, _) => return Err("packed relocations".to_owned()),
        (elf::SHT_DYNAMIC, _) => Role::Dynamic,
        (elf::SHT_NOTE, _) => Role::Blank,
        (_, ".plt.got" | ".plt.sec") => Role::Dropped,
        (_, ".plt") => Role::Calls,
        (_, ".got") => Role::Got,
        (_, ".got.plt") => Role::CallGot,
        (_, ".eh_frame_hdr") => Role::FrameIndex,
        _ => Role::Inputs,
    })
}

fn segment(entry: &elf::ProgramHeader64<Endian>, outputs: &[Output]) -> Segment {
    let kind = entry.p_type(ENDIAN);
    let begin = entry.p_vaddr(ENDIAN);
    let within = begin..begin + entry.p_memsz(ENDIAN);
    // Zeroed thread-local data have no place of their own in memory.
    let is_in = |output: &Output| {
        let has_place = !(output.is_thread_local && output.is_zeroed) || kind == elf::PT_TLS;
        has_place
            && (kind != elf::PT_TLS || output.is_thread_local)
            && within.contains(&output.address)
            && output.address + output.size <= within.end
    };
    let first = outputs.iter().position(is_in).unwrap_or(0);
    let end = outputs.iter().rposition(is_in).map_or(first, |last| last + 1);
    let (flags, align) = (entry.p_flags(ENDIAN), entry.p_align(ENDIAN));
    Segment { kind, flags, align, outputs: first..end }
}

fn dynamic(header: &Header, data: &[u8]) -> Result<Vec<(elf::DynamicTag, u64)>, String> {
    for segment in header.program_headers(ENDIAN, data).map_err(text)? {
        if let Some(entries) = segment.dynamic(ENDIAN, data).map_err(text)? {
            let entries = entries.iter().map(|entry| (entry.d_tag(ENDIAN), entry.d_val(ENDIAN)));
            let mut entries: Vec<_> = entries.collect();
            let end = entries.iter().position(|(tag, _)| *tag == elf::DT_NULL);
            entries.truncate(end.unwrap_or(entries.len()));
            return Ok(entries);
        }
    }
    Err("no dynamic section".to_owned())
}

fn symbols(header: &Header, data: &[u8]) -> Result<HashMap<String, (u32, bool)>, String> {
    let sections = header.sections(ENDIAN, data).map_err(text)?;
    let symbols = sections.symbols(ENDIAN, data, elf::SHT_DYNSYM).map_err(text)?;
    let mut found = HashMap::new();
    // Local ones, which the linker makes for thread-local variables, are not asked for by name.
    for (index, symbol) in symbols.enumerate().filter(|(_, symbol)| !symbol.is_local()) {
        let name = symbols.symbol_name(ENDIAN, symbol).map_err(text)?;
        let is_own = !symbol.is_undefined(ENDIAN);
        found.insert(String::from_utf8_lossy(name).into_owned(), (index.0 as u32, is_own));
    }
    Ok(found)
}
