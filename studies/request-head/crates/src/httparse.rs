//! The crate httparse.

use crate::{HEADERS, Parse, Places};
use std::mem::MaybeUninit;

pub struct Parser;

impl Parse for Parser {
    fn new() -> Option<Parser> {
        Some(Parser)
    }

    #[inline(always)]
    fn head(&self, input: &[u8], places: &mut Places<'_>) -> Option<usize> {
        let mut headers = [const { MaybeUninit::uninit() }; HEADERS];
        let mut request = httparse::Request::new(&mut []);
        let bytes = match request.parse_with_uninit_headers(input, &mut headers).ok()? {
            httparse::Status::Complete(bytes) => bytes,
            httparse::Status::Partial => return None,
        };
        places.give(request.method?.as_bytes());
        places.give(request.path?.as_bytes());
        for header in request.headers {
            places.give(header.name.as_bytes());
            places.give(header.value);
        }
        Some(bytes)
    }
}
