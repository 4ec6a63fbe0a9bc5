//! Where each section of a placement lies.

use super::parts::Parts;
use super::template::{Role, Segment, Template};
use object::elf;
use std::ops::Range;

/// The size of the header of a 64-bit file, and of an entry of its segments.
const HEADER_BYTES: usize = 64;
const SEGMENT_BYTES: usize = 56;

/// The addresses of a placement. The file has each byte at its address, except zeroed ones.
#[derive(Debug)]
pub(super) struct Layout {
    /// By input section.
    pub(super) sections: Vec<u64>,
    /// By output section, the address and the size.
    pub(super) outputs: Vec<(u64, u64)>,
    /// The end of what the file holds.
    pub(super) end: u64,
}

/// The sizes of what the linker makes itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) relocations: u64,
    pub(super) call_relocations: u64,
    pub(super) calls: u64,
    pub(super) got: u64,
    pub(super) call_got: u64,
    pub(super) frame_index: u64,
}

impl Sizes {
    fn of(&self, template: &Template, output: usize) -> u64 {
        let output = &template.outputs[output];
        match output.role {
            Role::Copied | Role::Symbols => output.bytes.len() as u64,
            Role::Relocations => self.relocations,
            Role::CallRelocations => self.call_relocations,
            Role::Calls => self.calls,
            Role::Got => self.got,
            Role::CallGot => self.call_got,
            Role::FrameIndex => self.frame_index,
            Role::Dynamic | Role::Blank => output.size,
            Role::Inputs | Role::Dropped => 0,
        }
    }
}

/// What a layout is made from.
pub(super) struct Planned<'a> {
    pub(super) parts: &'a Parts,
    pub(super) template: &'a Template,
    /// By output section, the input sections in the order in which they are linked.
    pub(super) inputs: &'a [Vec<usize>],
    pub(super) sizes: Sizes,
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
        let mut cursor = (HEADER_BYTES + template.segments.len() * SEGMENT_BYTES) as u64;
        let protected = template.segments.iter().find(|segment| segment.kind == elf::PT_GNU_RELRO);
        let protected = protected.map_or(0..0, |segment| segment.outputs.clone());
        let loads = template.segments.iter().filter(|segment| segment.kind == elf::PT_LOAD);
        for (number, load) in loads.enumerate() {
            let page = load.align.max(1);
            let (begin, end) = (load.outputs.start, load.outputs.end);
            let is_protected = protected.start == begin && !protected.is_empty();
            if number > 0 {
                let offset = if is_protected { cursor % page } else { 0 };
                cursor = cursor.next_multiple_of(page) + offset;
            }
            if is_protected {
                let until = layout.place_all(planned, begin..protected.end, cursor);
                let align = protected.clone().map(|output| planned.align(output)).max();
                let left = until.next_multiple_of(page) - until;
                let from = cursor + left / align.unwrap_or(1) * align.unwrap_or(1);
                cursor = layout.place_all(planned, begin..protected.end, from);
                cursor = cursor.next_multiple_of(page);
                cursor = layout.place_all(planned, protected.end..end, cursor);
            } else {
                cursor = layout.place_all(planned, begin..end, cursor);
            }
        }
        layout
    }

    /// Places output sections from an address on, and returns where the last one ends.
    fn place_all(&mut self, planned: &Planned<'_>, outputs: Range<usize>, from: u64) -> u64 {
        let mut cursor = from;
        for index in outputs {
            let output = &planned.template.outputs[index];
            let begin = cursor.next_multiple_of(planned.align(index));
            let mut end = begin + planned.sizes.of(planned.template, index);
            for &input in &planned.inputs[index] {
                let section = &planned.parts.sections[input];
                let address = end.next_multiple_of(section.align);
                self.sections[input] = address;
                end = address + section.size;
            }
            self.outputs[index] = (begin, end - begin);
            // Zeroed thread-local data have no place in memory.
            if !(output.is_zeroed && output.is_thread_local) {
                cursor = end;
            }
            if !output.is_zeroed {
                self.end = end;
            }
        }
        cursor
    }

    /// Returns the address and the size of what a segment covers in memory, and of that in the
    /// file.
    pub(super) fn covered(&self, template: &Template, segment: &Segment) -> (u64, u64, u64) {
        let begin = match segment.kind {
            // The first one has the headers, too.
            elf::PT_LOAD if segment.outputs.start == 0 => 0,
            _ => self.outputs.get(segment.outputs.start).map_or(0, |(address, _)| *address),
        };
        let (mut in_memory, mut in_file) = (begin, begin);
        for index in segment.outputs.clone() {
            let (output, (address, size)) = (&template.outputs[index], self.outputs[index]);
            if output.is_thread_local && output.is_zeroed && segment.kind != elf::PT_TLS {
                continue;
            }
            in_memory = address + size;
            if !output.is_zeroed {
                in_file = address + size;
            }
        }
        (begin, in_memory - begin, in_file - begin)
    }
}

impl Planned<'_> {
    /// Returns the alignment of an output section.
    fn align(&self, output: usize) -> u64 {
        let template = self.template;
        let inputs = self.inputs[output].iter().map(|input| self.parts.sections[*input].align);
        let own = match template.outputs[output].role {
            Role::Inputs => 1,
            _ => template.outputs[output].align,
        };
        // Thread-local data begin where the alignment of all of them allows it.
        let others = template.outputs.iter().enumerate();
        let others = others.filter(|(index, other)| {
            template.outputs[output].is_thread_local && other.is_thread_local && *index > output
        });
        let others = others.map(|(index, _)| self.align(index));
        inputs.chain(others).max().unwrap_or(1).max(own)
    }
}
