//! Where each section of a placement lies.

use super::parts::{ENDIAN, Parts};
use super::template::{Role, Segment, Template};
use object::elf;
use object::read::elf::{ProgramHeader, SectionHeader};
use std::ops::Range;

/// The size of the header of a 64-bit file, and of an entry of its segments.
pub(super) const HEADER_BYTES: u64 = 64;
pub(super) const SEGMENT_BYTES: u64 = 56;
/// The smallest page of a processor that is known.
const PAGE: u64 = 4096;

/// The addresses of a placement. The file has each byte at its address, except zeroed ones.
#[derive(Debug)]
pub(super) struct Layout {
    /// By input section.
    pub(super) sections: Vec<u64>,
    /// By output section, the address and the size.
    pub(super) outputs: Vec<(u64, u64)>,
    /// The end of what is loaded from the file.
    pub(super) end: u64,
}

/// What a layout is made from.
pub(super) struct Planned<'a> {
    pub(super) parts: &'a Parts,
    pub(super) template: &'a Template,
    /// By output section, the input sections in the order in which they are linked.
    pub(super) inputs: &'a [Vec<usize>],
    /// By output section, the size of what the linker makes itself.
    pub(super) made: Vec<u64>,
}

impl Layout {
    /// Lays out the sections one after the other, as the reference has them. What is read-only
    /// after the load begins a page later or more, so that no page of the file is in two segments.
    /// It ends near the end of a page, and what follows begins at the next one.
    pub(super) fn of(planned: &Planned<'_>) -> Layout {
        let template = planned.template;
        let mut layout = Layout {
            sections: vec![0; planned.parts.sections.len()],
            outputs: vec![(0, 0); template.outputs.len()],
            end: 0,
        };
        let mut cursor = HEADER_BYTES + template.segments.len() as u64 * SEGMENT_BYTES;
        let protected = template.segments.iter().find(|one| one.kind() == elf::PT_GNU_RELRO);
        let protected = protected.map_or(0..0, |segment| segment.outputs.clone());
        let loads = template.segments.iter().filter(|one| one.kind() == elf::PT_LOAD);
        for (number, load) in loads.enumerate() {
            let page = load.header.p_align(ENDIAN).max(1);
            let (begin, end) = (load.outputs.start, load.outputs.end);
            let is_protected = protected.start == begin && !protected.is_empty();
            if number > 0 {
                let offset = if is_protected { cursor % page } else { 0 };
                cursor = cursor.next_multiple_of(page) + offset;
            }
            let mut rest = begin;
            if is_protected {
                rest = protected.end;
                let until = layout.place_all(planned, begin..rest, cursor);
                let align = protected.clone().map(|output| planned.align(output)).max();
                let left = until.next_multiple_of(page) - until;
                let from = cursor + left / align.unwrap_or(1) * align.unwrap_or(1);
                cursor = layout.place_all(planned, begin..rest, from).next_multiple_of(page);
            }
            cursor = layout.place_all(planned, rest..end, cursor);
        }
        layout
    }

    /// Places output sections from an address on, and returns where the last one ends.
    fn place_all(&mut self, planned: &Planned<'_>, outputs: Range<usize>, from: u64) -> u64 {
        let mut cursor = from;
        for index in outputs {
            let output = &planned.template.outputs[index];
            let begin = cursor.next_multiple_of(planned.align(index));
            let mut end = begin + planned.made[index];
            for &input in &planned.inputs[index] {
                let section = &planned.parts.sections[input];
                let address = end.next_multiple_of(section.align);
                self.sections[input] = address;
                end = address + section.size;
            }
            self.outputs[index] = (begin, end - begin);
            if !output.is_unplaced() {
                cursor = end;
            }
            if !output.is_zeroed() {
                self.end = end;
            }
        }
        cursor
    }

    /// Returns the address and the size of what a segment covers in memory, and of that in the
    /// file.
    pub(super) fn covered(&self, template: &Template, segment: &Segment) -> (u64, u64, u64) {
        let kind = segment.kind();
        let begin = match kind {
            // The first one has the headers, too.
            elf::PT_LOAD if segment.outputs.start == 0 => 0,
            _ => self.outputs.get(segment.outputs.start).map_or(0, |(address, _)| *address),
        };
        let (mut in_memory, mut in_file) = (begin, begin);
        for index in segment.outputs.clone() {
            let (output, (address, size)) = (&template.outputs[index], self.outputs[index]);
            if output.is_unplaced() && kind != elf::PT_TLS {
                continue;
            }
            in_memory = address + size;
            if !output.is_zeroed() {
                in_file = address + size;
            }
        }
        if kind == elf::PT_GNU_RELRO {
            // The system's linker protects whole pages only.
            in_memory = in_memory.next_multiple_of(PAGE);
        }
        (begin, in_memory - begin, in_file - begin)
    }
}

impl Planned<'_> {
    /// Returns the alignment of an output section.
    fn align(&self, output: usize) -> u64 {
        let outputs = &self.template.outputs;
        let inputs = self.inputs[output].iter().map(|input| self.parts.sections[*input].align);
        let own = match outputs[output].role {
            Role::Inputs => 1,
            _ => outputs[output].header.sh_addralign(ENDIAN).max(1),
        };
        // Thread-local data begin where the alignment of all of them allows it.
        let others = (output + 1..outputs.len())
            .filter(|other| outputs[output].is_thread_local() && outputs[*other].is_thread_local());
        let others = others.map(|other| self.align(other));
        inputs.chain(others).max().unwrap_or(1).max(own)
    }
}
