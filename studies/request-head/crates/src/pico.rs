//! picohttpparser, through its crate.

use crate::{HEADERS, Parse, Places};
use picohttpparser_sys::{phr_header, phr_parse_request};
use std::mem::MaybeUninit;
use std::ptr;
use std::slice;

pub struct Parser;

impl Parse for Parser {
    fn new() -> Option<Parser> {
        Some(Parser)
    }

    fn heads(&self, input: &[u8], places: &mut Places<'_>) -> Option<()> {
        let mut at = 0;
        while at < input.len() {
            at += head(&input[at..], places)?;
        }
        Some(())
    }
}

/// Parses the head at the start of the input; returns how many bytes it has.
#[inline(always)]
fn head(input: &[u8], places: &mut Places<'_>) -> Option<usize> {
    let mut headers = [const { MaybeUninit::<phr_header>::uninit() }; HEADERS];
    let (mut method, mut method_bytes) = (ptr::null(), 0);
    let (mut target, mut target_bytes) = (ptr::null(), 0);
    let (mut version, mut count) = (0, HEADERS);
    // SAFETY: all is as long as is said, and what is found lies in the input.
    unsafe {
        let bytes = phr_parse_request(
            input.as_ptr().cast(),
            input.len(),
            &mut method,
            &mut method_bytes,
            &mut target,
            &mut target_bytes,
            &mut version,
            headers.as_mut_ptr().cast(),
            &mut count,
            0,
        );
        let bytes = usize::try_from(bytes).ok()?;
        places.give(slice::from_raw_parts(method.cast(), method_bytes));
        places.give(slice::from_raw_parts(target.cast(), target_bytes));
        for header in &headers[..count] {
            let header = header.assume_init_ref();
            // A line that goes on the one before has no name.
            if header.name.is_null() {
                return None;
            }
            places.give(slice::from_raw_parts(header.name.cast(), header.name_len));
            places.give(slice::from_raw_parts(header.value.cast(), header.value_len));
        }
        Some(bytes)
    }
}
