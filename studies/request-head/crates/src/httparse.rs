//! The crate httparse.

use crate::{HEADERS, Parse, Places};
use std::mem::MaybeUninit;

pub struct Parser;

impl Parse for Parser {
    fn new() -> Option<Parser> {
        Some(Parser)
    }

    fn heads(&self, input: &[u8], places: &mut Places<'_>) -> Option<()> {
        let mut at = 0;
        while at < input.len() {
            let mut headers = [const { MaybeUninit::uninit() }; HEADERS];
            let mut request = httparse::Request::new(&mut []);
            let parsed = request.parse_with_uninit_headers(&input[at..], &mut headers);
            let httparse::Status::Complete(bytes) = parsed.ok()? else { return None };
            places.give(request.method?.as_bytes());
            places.give(request.path?.as_bytes());
            for header in request.headers {
                places.give(header.name.as_bytes());
                places.give(header.value);
            }
            at += bytes;
        }
        Some(())
    }
}
