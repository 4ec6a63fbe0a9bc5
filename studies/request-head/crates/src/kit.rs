//! Ours: each 64 bytes are looked up once in three sets, and what is looked for next is a shift and
//! a count of zeros away.

use crate::{HEADERS, Parse, Places};
use std::mem::MaybeUninit;
use tiebreak_simd::byte_set::{ByteSet, Classes};

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

    #[inline(always)]
    fn head(&self, input: &[u8], places: &mut Places<'_>) -> Option<usize> {
        let mut headers = [const { MaybeUninit::uninit() }; HEADERS];
        let (method, target, headers, bytes) = head(&self.0, input, &mut headers)?;
        places.give(method);
        places.give(target);
        for header in headers {
            places.give(header.name);
            places.give(header.value);
        }
        Some(bytes)
    }
}

type Found<'input, 'headers> =
    (&'input [u8], &'input [u8], &'headers [Header<'input>], usize);

#[inline]
fn head<'input, 'headers>(
    classes: &Classes<3>,
    input: &'input [u8],
    headers: &'headers mut [MaybeUninit<Header<'input>>],
) -> Option<Found<'input, 'headers>> {
    let mut cursor = classes.cursor(input);
    let method_end = cursor.find(TOKEN_END, 0)?;
    let target_end = cursor.find(TARGET_END, method_end + 1)?;
    let is_named = method_end > 0 && input[method_end] == b' ' && target_end > method_end + 1;
    if !is_named || input[target_end] != b' ' {
        return None;
    }
    let mut at = target_end + 1;
    if !matches!(input.get(at..at + 8)?, b"HTTP/1.1" | b"HTTP/1.0") {
        return None;
    }
    at += 8 + line_end(input.get(at + 8..)?)?;
    let mut count = 0;
    loop {
        let name_end = cursor.find(TOKEN_END, at)?;
        if input[name_end] != b':' || name_end == at {
            // No name: the empty line at the end.
            let end = if name_end == at { line_end(&input[at..])? } else { return None };
            // SAFETY: so many were written.
            let headers = unsafe { headers[..count].assume_init_ref() };
            let target = &input[method_end + 1..target_end];
            return Some((&input[..method_end], target, headers, at + end));
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
