//! What placements of a contestant are made of: the sections, symbols and relocations of its
//! objects, read once.

use super::Refusal;
use super::frames::{self, Frame};
use object::LittleEndian as Endian;
use object::elf;
use object::read::archive::ArchiveFile;
use object::read::elf::{FileHeader, Rela, SectionHeader, SectionTable, Sym, SymbolTable};
use std::collections::HashMap;
use std::fs;
use std::ops::Range;

pub(super) type Header = elf::FileHeader64<Endian>;
pub(super) const ENDIAN: Endian = Endian;

/// What may be done with a section, and whether each thread has its own.
pub(super) type Access = elf::SectionFlags;

pub(super) fn access(header: &elf::SectionHeader64<Endian>) -> Access {
    header.sh_flags(ENDIAN) & (elf::SHF_WRITE | elf::SHF_EXECINSTR | elf::SHF_TLS)
}

/// The objects of a contestant, and the pads.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) machine: elf::Machine,
    pub(super) files: Vec<File>,
    /// Of all files.
    pub(super) sections: Vec<Section>,
    /// The global names of all files.
    pub(super) names: Vec<Name>,
    /// How many groups have a name of their own.
    pub(super) groups: usize,
    /// The names of symbols and sections, for debuggers, each with a zero at its end; the first one
    /// is empty.
    pub(super) strings: Vec<u8>,
    by_path: HashMap<String, usize>,
    by_name: HashMap<Vec<u8>, u32>,
    by_group: HashMap<Vec<u8>, usize>,
}

/// An object, or a pad.
#[derive(Debug)]
pub(super) struct File {
    /// Its sections that are loaded.
    pub(super) sections: Range<usize>,
    /// Its section groups: the number of the name, and the members. Of the groups of one name only
    /// that of the first file is linked.
    pub(super) groups: Vec<(usize, Vec<usize>)>,
    /// What debuggers are told.
    pub(super) symbols: Vec<Symbol>,
}

/// A function or a variable, or a place in code that has a name.
#[derive(Debug)]
pub(super) struct Symbol {
    pub(super) entry: elf::Sym64<Endian>,
    /// The section that it is in, at the entry's value.
    pub(super) section: usize,
}

/// A section that is loaded.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) access: Access,
    pub(super) align: u64,
    pub(super) size: u64,
    /// Its bytes; none if it is zeroed at load.
    pub(super) bytes: Vec<u8>,
    pub(super) relocations: Vec<Relocation>,
    /// What it says of functions, if it describes how their frames are unwound.
    pub(super) frames: Vec<Frame>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Relocation {
    pub(super) offset: u64,
    /// As the processor's ABI numbers it.
    pub(super) kind: elf::RelocationType,
    pub(super) target: Target,
    pub(super) addend: i64,
}

/// What a relocation refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Target {
    /// A place of this file.
    Local(Place),
    /// A global name, by its index.
    Name(u32),
}

/// An address, before sections have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    InSection(usize, u64),
    Absolute(u64),
    /// The beginning, or the end, of an output section.
    Edge {
        output: usize,
        is_end: bool,
    },
    /// In a section that is not loaded, or nowhere.
    Nowhere,
}

/// A global name.
#[derive(Debug)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) definitions: Vec<Definition>,
    /// Whether an undefined reference to it is no error.
    pub(super) is_weak: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Definition {
    pub(super) file: usize,
    pub(super) place: Place,
    pub(super) is_weak: bool,
}

impl Parts {
    /// Adds a name for debuggers, and returns where it is.
    pub(super) fn string(&mut self, text: &[u8]) -> u32 {
        let at = self.strings.len() as u32;
        self.strings.extend(text);
        self.strings.push(0);
        at
    }

    /// Reads a file, unless it was read already, and returns its index.
    pub(super) fn read(&mut self, path: &str) -> Result<usize, Refusal> {
        if let Some(&file) = self.by_path.get(path) {
            return Ok(file);
        }
        let (on_disk, member) = split_member(path);
        let data = fs::read(on_disk);
        let data = data.map_err(|error| Refusal(format!("'{on_disk}': {error}")))?;
        let file = match member {
            None => self.parse(&data),
            Some(member) => self.parse_member(&data, member),
        };
        let file = file.map_err(|why| Refusal(format!("{why}, in '{path}'")))?;
        self.by_path.insert(path.to_owned(), file);
        Ok(file)
    }

    pub(super) fn read_all(&mut self, paths: &[String]) -> Result<Vec<usize>, Refusal> {
        paths.iter().map(|path| self.read(path)).collect()
    }

    /// Returns the index of a file that was read.
    pub(super) fn file(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// Returns the index of a name, whether anything refers to it or not.
    pub(super) fn name(&self, text: &str) -> Option<u32> {
        self.by_name.get(text.as_bytes()).copied()
    }

    /// Parses the only member of an archive with this name.
    fn parse_member(&mut self, data: &[u8], name: &str) -> Result<usize, String> {
        let archive = ArchiveFile::parse(data).map_err(text)?;
        let mut found = None;
        for member in archive.members() {
            let member = member.map_err(text)?;
            if member.name() == name.as_bytes() {
                let twice = found.replace(member.data(data).map_err(text)?);
                if twice.is_some() {
                    return Err("two members of that name".to_owned());
                }
            }
        }
        self.parse(found.ok_or("no member of that name")?)
    }

    fn parse(&mut self, data: &[u8]) -> Result<usize, String> {
        let header = Header::parse(data).map_err(|_| "no ELF object of a 64-bit machine")?;
        let is_little = header.e_ident().data == elf::ELFDATA2LSB;
        if !is_little || header.e_type(ENDIAN) != elf::ET_REL {
            return Err("no relocatable object of a little-endian machine".to_owned());
        }
        let machine = header.e_machine(ENDIAN);
        if self.machine != elf::EM_NONE && self.machine != machine {
            return Err("an object of another machine".to_owned());
        }
        self.machine = machine;
        let tables = header.sections(ENDIAN, data).map_err(text)?;
        let symbols = tables.symbols(ENDIAN, data, elf::SHT_SYMTAB).map_err(text)?;
        let file = self.files.len();
        let begin = self.sections.len();
        let mut reader = Reader { file, data, tables, symbols, places: HashMap::new() };
        self.read_sections(&mut reader)?;
        let (targets, symbols) = self.read_symbols(&reader)?;
        self.read_relocations(&reader, &targets)?;
        for section in &mut self.sections[begin..] {
            if section.name == ".eh_frame" {
                section.frames = frames::read(section)?;
            }
        }
        let groups = self.read_groups(&reader)?;
        self.files.push(File { sections: begin..self.sections.len(), groups, symbols });
        Ok(file)
    }

    fn read_sections(&mut self, reader: &mut Reader<'_>) -> Result<(), String> {
        for (index, section) in reader.tables.enumerate() {
            let (flags, kind) = (section.sh_flags(ENDIAN), section.sh_type(ENDIAN));
            let name = reader.tables.section_name(ENDIAN, section).map_err(text)?;
            let size = section.sh_size(ENDIAN);
            if name.starts_with(b".gnu.lto_") {
                return Err("code that is compiled when it is linked (-flto)".to_owned());
            }
            let is_loaded = flags.contains(elf::SHF_ALLOC);
            // The notes say nothing that a library of functions needs. Symbols may be in a section
            // that is empty.
            if !is_loaded || kind == elf::SHT_NOTE {
                continue;
            }
            let bytes = section.data(ENDIAN, reader.data).map_err(text)?;
            reader.places.insert(index.0, self.sections.len());
            self.sections.push(Section {
                name: String::from_utf8_lossy(name).into_owned(),
                access: access(section),
                align: section.sh_addralign(ENDIAN).max(1),
                size,
                bytes: bytes.to_vec(),
                relocations: Vec::new(),
                frames: Vec::new(),
            });
        }
        Ok(())
    }

    /// Returns what each symbol of the file refers to, and those for debuggers.
    fn read_symbols(&mut self, reader: &Reader<'_>) -> Result<(Vec<Target>, Vec<Symbol>), String> {
        let mut targets = Vec::with_capacity(reader.symbols.len());
        let mut symbols = Vec::new();
        for (index, symbol) in reader.symbols.enumerate() {
            let place = reader.place(symbol, index)?;
            let name = reader.symbols.symbol_name(ENDIAN, symbol).map_err(text)?;
            let is_told = matches!(
                symbol.st_type(),
                elf::STT_FUNC | elf::STT_OBJECT | elf::STT_NOTYPE if !name.is_empty()
            );
            if let (true, Place::InSection(section, _)) = (is_told, place) {
                let mut entry = *symbol;
                entry.set_st_info(elf::STB_LOCAL, symbol.st_type());
                entry.st_name.set(ENDIAN, self.string(name));
                symbols.push(Symbol { entry, section });
            }
            if symbol.is_local() {
                targets.push(Target::Local(place));
                continue;
            }
            let is_weak = symbol.st_bind() == elf::STB_WEAK;
            let own = self.named(name);
            let entry = &mut self.names[own as usize];
            if symbol.is_undefined(ENDIAN) {
                entry.is_weak &= is_weak;
            } else {
                entry.definitions.push(Definition { file: reader.file, place, is_weak });
            }
            targets.push(Target::Name(own));
        }
        Ok((targets, symbols))
    }

    fn named(&mut self, name: &[u8]) -> u32 {
        if let Some(&index) = self.by_name.get(name) {
            return index;
        }
        let index = self.names.len() as u32;
        let text = String::from_utf8_lossy(name).into_owned();
        self.names.push(Name { text, definitions: Vec::new(), is_weak: true });
        self.by_name.insert(name.to_vec(), index);
        index
    }

    fn read_relocations(&mut self, reader: &Reader<'_>, targets: &[Target]) -> Result<(), String> {
        for section in reader.tables.iter() {
            if section.sh_type(ENDIAN) == elf::SHT_REL {
                return Err("relocations without addends".to_owned());
            }
            let found = section.rela(ENDIAN, reader.data).map_err(text)?;
            let changed = section.sh_info(ENDIAN) as usize;
            let Some(((entries, _), &place)) = found.zip(reader.places.get(&changed)) else {
                continue;
            };
            let mut relocations = Vec::with_capacity(entries.len());
            for entry in entries {
                let symbol = entry.r_sym(ENDIAN, false) as usize;
                let target = targets.get(symbol).copied().ok_or("a relocation of no symbol")?;
                let (offset, kind) = (entry.r_offset(ENDIAN), entry.r_type(ENDIAN, false));
                // Nothing is written, though there may be another one for the same place.
                if kind.0 == 0 {
                    continue;
                }
                let addend = entry.r_addend(ENDIAN);
                relocations.push(Relocation { offset, kind, target, addend });
            }
            self.sections[place].relocations = relocations;
        }
        Ok(())
    }

    fn read_groups(&mut self, reader: &Reader<'_>) -> Result<Vec<(usize, Vec<usize>)>, String> {
        let mut groups = Vec::new();
        for section in reader.tables.iter() {
            let Some((flag, members)) = section.group(ENDIAN, reader.data).map_err(text)? else {
                continue;
            };
            if !flag.contains(elf::GRP_COMDAT) {
                continue;
            }
            let signature = object::SymbolIndex(section.sh_info(ENDIAN) as usize);
            let symbol = reader.symbols.symbol(signature).map_err(text)?;
            let name = reader.symbols.symbol_name(ENDIAN, symbol).map_err(text)?;
            let next = self.by_group.len();
            let group = *self.by_group.entry(name.to_vec()).or_insert(next);
            let members = members.iter().map(|member| member.get(ENDIAN) as usize);
            let members = members.filter_map(|member| reader.places.get(&member).copied());
            groups.push((group, members.collect()));
        }
        self.groups = self.by_group.len();
        Ok(groups)
    }
}

/// A file while it is read.
struct Reader<'a> {
    file: usize,
    data: &'a [u8],
    tables: SectionTable<'a, Header>,
    symbols: SymbolTable<'a, Header>,
    /// By the index of a section in the file, its index among all.
    places: HashMap<usize, usize>,
}

impl Reader<'_> {
    fn place(
        &self,
        symbol: &elf::Sym64<Endian>,
        index: object::SymbolIndex,
    ) -> Result<Place, String> {
        if symbol.st_type() == elf::STT_GNU_IFUNC {
            return Err("a function that is chosen at load (IFUNC)".to_owned());
        }
        let value = symbol.st_value(ENDIAN);
        match symbol.st_shndx(ENDIAN) {
            elf::SHN_COMMON => Err("a variable without a section (COMMON)".to_owned()),
            elf::SHN_ABS => Ok(Place::Absolute(value)),
            _ => {
                let section = self.symbols.symbol_section(ENDIAN, symbol, index).map_err(text)?;
                let section = section.and_then(|section| self.places.get(&section.0));
                Ok(section.map_or(Place::Nowhere, |section| Place::InSection(*section, value)))
            }
        }
    }
}

/// Splits `archive(member)`, as gold writes it, or `(archive)member`, as the other linker does.
fn split_member(path: &str) -> (&str, Option<&str>) {
    if let Some((archive, member)) = path.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        return (archive, Some(member));
    }
    let split = path.strip_suffix(')').and_then(|rest| rest.rsplit_once('('));
    split.map_or((path, None), |(archive, member)| (archive, Some(member)))
}

pub(super) fn text(error: object::Error) -> String {
    error.to_string()
}
