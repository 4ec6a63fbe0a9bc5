//! Ours: 256 bytes are looked up once in three sets, and what is looked for next is a shift and a
//! count of zeros away.

use crate::{HEADERS, Parse, Places};
use std::mem::MaybeUninit;
use tiebreak_simd::byte_set::{ByteSet, Classes, Cursor};

/// What a method and the name of a header are made of.
const TOKEN: ByteSet = ByteSet::of(b"!#$%&'*+-.^_`|~")
    .with(ByteSet::range(b'0', b'9'))
    .with(ByteSet::range(b'A', b'Z'))
    .with(ByteSet::range(b'a', b'z'));
/// What a target is made of.
const TARGET: ByteSet = ByteSet::range(b'!', b'~');
/// What the value of a header is made of.
const VALUE: ByteSet =
    ByteSet::of(b"\t").with(ByteSet::range(b' ', b'~')).with(ByteSet::range(128, 255));

/// The numbers of the sets in which a byte is that ends something.
const TOKEN_END: usize = 0;
const TARGET_END: usize = 1;
const VALUE_END: usize = 2;

pub struct Parser(Classes<3>);

#[derive(Clone, Copy)]
struct Header<'input> {
    name: &'input [u8],
    value: &'input [u8],
}

impl Parse for Parser {
    fn new() -> Option<Parser> {
        let ends = [TOKEN.others(), TARGET.others(), VALUE.others()];
        Some(Parser(Classes::new(&ends).ok()?))
    }

    fn heads(&self, input: &[u8], places: &mut Places<'_>) -> Option<()> {
        let mut cursor = self.0.cursor(input);
        let mut at = 0;
        while at < input.len() {
            let mut headers = [const { MaybeUninit::uninit() }; HEADERS];
            let head = head(&mut cursor, input, at, &mut headers)?;
            places.give(head.method);
            places.give(head.target);
            for header in head.headers {
                places.give(header.name);
                places.give(header.value);
            }
            at = head.end;
        }
        Some(())
    }
}

struct Head<'input, 'headers> {
    method: &'input [u8],
    target: &'input [u8],
    headers: &'headers [Header<'input>],
    /// Where the next one begins.
    end: usize,
}

/// Parses the head that begins at a place.
#[inline]
fn head<'input, 'headers>(
    cursor: &mut Cursor<'_, 'input, 3>,
    input: &'input [u8],
    begin: usize,
    headers: &'headers mut [MaybeUninit<Header<'input>>],
) -> Option<Head<'input, 'headers>> {
    let method_end = cursor.find(TOKEN_END, begin)?;
    let target_end = cursor.find(TARGET_END, method_end + 1)?;
    let (method, target) = (&input[begin..method_end], &input[method_end + 1..target_end]);
    let is_spaced = input[method_end] == b' ' && input[target_end] == b' ';
    if method.is_empty() || target.is_empty() || !is_spaced {
        return None;
    }
    let mut at = target_end + 1;
    if !matches!(input.get(at..at + 8)?, b"HTTP/1.1" | b"HTTP/1.0") {
        return None;
    }
    at += 8 + line_end(&input[at + 8..])?;
    let mut count = 0;
    loop {
        let name_end = cursor.find(TOKEN_END, at)?;
        if name_end == at {
            // No name: the empty line at the end.
            let end = at + line_end(&input[at..])?;
            // SAFETY: so many were written.
            let headers = unsafe { headers[..count].assume_init_ref() };
            return Some(Head { method, target, headers, end });
        }
        if input[name_end] != b':' {
            return None;
        }
        let mut value = name_end + 1;
        while matches!(input.get(value)?, b' ' | b'\t') {
            value += 1;
        }
        let mut value_end = cursor.find(VALUE_END, value)?;
        let next = value_end + line_end(&input[value_end..])?;
        while value_end > value && matches!(input[value_end - 1], b' ' | b'\t') {
            value_end -= 1;
        }
        let header = Header { name: &input[at..name_end], value: &input[value..value_end] };
        headers.get_mut(count)?.write(header);
        count += 1;
        at = next;
    }
}

/// Returns how many bytes the end of a line has, at the start of these.
#[inline(always)]
fn line_end(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'\r', b'\n', ..] => Some(2),
        [b'\n', ..] => Some(1),
        _ => None,
    }
}
