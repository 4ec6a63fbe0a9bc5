//! A worker as the oracle: it makes inputs and knows answers.

use super::library::Oracle;
use super::memory::Mapping;
use super::message::{Question, Reply, Sizes};
use super::sink::Sink;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use tiebreak_abi::RawRequest;

/// Makes an input into the file if `is_made` is set, and measures it.
///
/// # Errors
/// Fails if a system call fails; a refusal of the oracle is a reply.
pub(super) fn input(
    oracle: &Oracle,
    question: &Question,
    file: OwnedFd,
    is_made: bool,
) -> io::Result<Reply> {
    let asked = QuestionText::new(question)?;
    let raw = asked.raw();
    if is_made {
        let mut sink = Sink::new(Some(file.try_clone()?));
        let raw_sink = sink.raw();
        // SAFETY: the table determines what it takes; request and sink outlive the call.
        let status = unsafe { (oracle.generate)(&raw const raw, &raw const raw_sink) };
        sink.finish()?;
        if status != 0 {
            return Ok(failed("generate", status));
        }
    }
    let bytes = File::from(file.try_clone()?).metadata()?.len();
    let mapping = Mapping::input(&file, bytes as usize, 0)?;
    let input = mapping.start().as_ptr();
    // SAFETY: the table determines what they take; the input has that many bytes.
    let (items, output_bytes) = unsafe {
        let count = |count: super::library::Count| count(&raw const raw, input, bytes);
        (count(oracle.items), oracle.output_bytes.map_or(0, count))
    };
    Ok(Reply::Sized(Sizes { bytes, items, output_bytes }))
}

/// Answers, and writes the text to the file if there is one.
///
/// # Errors
/// Fails if a system call fails; a refusal of the oracle is a reply.
pub(super) fn answer(
    oracle: &Oracle,
    question: &Question,
    input: &OwnedFd,
    input_bytes: u64,
    text: Option<OwnedFd>,
) -> io::Result<Reply> {
    let asked = QuestionText::new(question)?;
    let raw = asked.raw();
    let mapping = Mapping::input(input, input_bytes as usize, 0)?;
    let mut sink = Sink::new(text);
    let raw_sink = sink.raw();
    let mut checksum = 0;
    // SAFETY: the table determines what it takes; everything that it points to outlives the call.
    let status = unsafe {
        let input = mapping.start().as_ptr();
        let sink = &raw const raw_sink;
        (oracle.answer)(&raw const raw, input, input_bytes, sink, &raw mut checksum)
    };
    sink.finish()?;
    Ok(if status == 0 { Reply::Checksum(checksum) } else { failed("answer", status) })
}

fn failed(function: &str, status: i32) -> Reply {
    Reply::Failed(format!("its '{function}' gave {status}"))
}

/// A question whose texts end with zero bytes.
struct QuestionText<'a> {
    workload: CString,
    distribution: CString,
    contract: CString,
    question: &'a Question,
}

impl QuestionText<'_> {
    fn new(question: &Question) -> io::Result<QuestionText<'_>> {
        let text = |text: &String| CString::new(text.as_str()).map_err(io::Error::from);
        Ok(QuestionText {
            workload: text(&question.workload)?,
            distribution: text(&question.distribution)?,
            contract: text(&question.contract)?,
            question,
        })
    }

    /// Returns the question for the C side; it must not outlive `self`.
    fn raw(&self) -> RawRequest {
        RawRequest {
            struct_bytes: size_of::<RawRequest>() as u32,
            reserved: 0,
            workload: self.workload.as_ptr(),
            distribution: self.distribution.as_ptr(),
            contract: self.contract.as_ptr(),
            size: self.question.size,
            seed: self.question.seed,
            part: self.question.part,
            parts: self.question.parts,
        }
    }
}
