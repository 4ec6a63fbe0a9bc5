//! The reference: what the linker made of the same objects with nothing drawn. A placement has its
//! output sections in their order, its segments, its dynamic symbols with their versions, and the
//! libraries that it names.

use super::Refusal;
use super::parts::{Access, ENDIAN, Header, access, text};
use object::LittleEndian as Endian;
use object::elf;
use object::read::elf::{Dyn, FileHeader, ProgramHeader, SectionHeader, Sym};
use std::collections::HashMap;
use std::ops::Range;

/// What the reference says of every placement.
#[derive(Debug)]
pub(super) struct Template {
    pub(super) header: Header,
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
    /// Its header in the reference.
    pub(super) header: elf::SectionHeader64<Endian>,
    /// For [`Role::Copied`] and [`Role::Symbols`].
    pub(super) bytes: Vec<u8>,
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
    /// What no placement needs: stubs of another kind, if there are those that it has.
    Dropped,
}

/// A segment: its header in the reference, and the output sections in it.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) header: elf::ProgramHeader64<Endian>,
    pub(super) outputs: Range<usize>,
}

impl Segment {
    pub(super) fn kind(&self) -> elf::ProgramType {
        self.header.p_type(ENDIAN)
    }
}

impl Output {
    pub(super) fn is_zeroed(&self) -> bool {
        self.header.sh_type(ENDIAN) == elf::SHT_NOBITS
    }

    pub(super) fn access(&self) -> Access {
        access(&self.header)
    }

    pub(super) fn is_thread_local(&self) -> bool {
        self.access().contains(elf::SHF_TLS)
    }

    /// Returns whether it has no place of its own in memory: it is copied for each thread.
    pub(super) fn is_unplaced(&self) -> bool {
        self.is_zeroed() && self.is_thread_local()
    }
}

impl Template {
    pub(super) fn parse(data: &[u8]) -> Result<Template, Refusal> {
        Template::read(data).map_err(|why| Refusal(format!("{why}, in the linked library")))
    }

    fn read(data: &[u8]) -> Result<Template, String> {
        let header = Header::parse(data).map_err(text)?;
        let mut outputs = outputs(header, data)?;
        if !outputs.iter().any(|output| output.role == Role::Calls)
            && let Some(other) = outputs.iter_mut().find(|output| output.name == ".plt.got")
        {
            other.role = Role::Calls;
        }
        let segments = header.program_headers(ENDIAN, data).map_err(text)?;
        let mut segments: Vec<_> =
            segments.iter().map(|header| segment(header, &outputs)).collect();
        // A section that is empty in the reference may lie at the end of its segment.
        let mut end = outputs.len();
        for segment in segments.iter_mut().rev().filter(|segment| segment.kind() == elf::PT_LOAD) {
            if segment.header.p_flags(ENDIAN).contains(elf::PF_W | elf::PF_X) {
                return Err("pages that are writable and executable".to_owned());
            }
            segment.outputs.end = end;
            end = segment.outputs.start;
        }
        let mut by_name = HashMap::new();
        for (index, output) in outputs.iter().enumerate() {
            if by_name.insert(output.name.clone(), index).is_some() {
                return Err(format!("two sections '{}'", output.name));
            }
        }
        let (dynamic, symbols) = (dynamic(header, data)?, symbols(header, data)?);
        Ok(Template { header: *header, segments, outputs, dynamic, symbols, by_name })
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
    for section in sections.iter().filter(|one| one.sh_flags(ENDIAN).contains(elf::SHF_ALLOC)) {
        let name = sections.section_name(ENDIAN, section).map_err(text)?;
        let name = String::from_utf8_lossy(name).into_owned();
        let role = role(&name, section.sh_type(ENDIAN))?;
        let is_kept = matches!(role, Role::Copied | Role::Symbols);
        let bytes = if is_kept { section.data(ENDIAN, data).map_err(text)? } else { &[] };
        outputs.push(Output { name, role, header: *section, bytes: bytes.to_vec() });
    }
    if !outputs.is_sorted_by_key(|output| output.header.sh_addr(ENDIAN)) {
        return Err("sections in an unusual order".to_owned());
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

fn segment(header: &elf::ProgramHeader64<Endian>, outputs: &[Output]) -> Segment {
    let kind = header.p_type(ENDIAN);
    let begin = header.p_vaddr(ENDIAN);
    let within = begin..begin + header.p_memsz(ENDIAN);
    let is_in = |output: &Output| {
        let (address, size) = (output.header.sh_addr(ENDIAN), output.header.sh_size(ENDIAN));
        let is_of_kind = match kind {
            elf::PT_TLS => output.is_thread_local(),
            _ => !output.is_unplaced(),
        };
        is_of_kind && within.contains(&address) && address + size <= within.end
    };
    let first = outputs.iter().position(is_in).unwrap_or(0);
    let end = outputs.iter().rposition(is_in).map_or(first, |last| last + 1);
    Segment { header: *header, outputs: first..end }
}

fn dynamic(header: &Header, data: &[u8]) -> Result<Vec<(elf::DynamicTag, u64)>, String> {
    for segment in header.program_headers(ENDIAN, data).map_err(text)? {
        if let Some(entries) = segment.dynamic(ENDIAN, data).map_err(text)? {
            let entries = entries.iter().map(|entry| (entry.d_tag(ENDIAN), entry.d_val(ENDIAN)));
            return Ok(entries.take_while(|(tag, _)| *tag != elf::DT_NULL).collect());
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
