//! The instructions of a contestant's hot loop, by Debian's `objdump`, and what a model of the
//! processor's ports says about it, by `llvm-mca`.

use crate::workers::Place;
use object::{Object, ObjectSegment};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use tiebreak_core::result::{Hot, Instruction, Model, Part};

/// A loop is hot from this share of its function's time on; the innermost such loop is shown.
const HOT: f64 = 0.5;
/// The passes of a loop that the model simulates.
const PASSES: &str = "100";

/// A function of a file.
struct Function {
    name: String,
    lines: Vec<(u64, String)>,
}

/// Finds the hot loop among the places where a timer found a contestant.
///
/// Cost: a disassembly of each file in which more than a hundredth of the looks fell: for the C
/// library about a second.
///
/// # Errors
/// Fails if there was no look, or if `objdump` is missing or fails, in words.
pub fn hot(places: &[Place]) -> Result<Hot, String> {
    let looks: u64 = places.iter().map(|place| place.count).sum();
    if looks == 0 {
        return Err("the timer never found it running".to_owned());
    }
    let mut files: BTreeMap<&str, Vec<&Place>> = BTreeMap::new();
    for place in places {
        files.entry(&place.file).or_default().push(place);
    }
    let share = |count: u64| count as f64 / looks as f64;
    let mut parts = Vec::new();
    let mut hottest: Option<(u64, Hot)> = None;
    for (file, places) in files {
        let count: u64 = places.iter().map(|place| place.count).sum();
        let is_file = file.starts_with('/') && Path::new(file).is_file();
        if !is_file || share(count) < 0.01 {
            let name = if file.is_empty() { "memory without a file" } else { file };
            parts.push(Part { name: name.to_owned(), share: share(count) });
            continue;
        }
        let seen = addresses(Path::new(file), &places)?;
        for function in disassemble(Path::new(file))? {
            let count = function.looks(&seen);
            if count == 0 {
                continue;
            }
            parts.push(Part { name: function.shown(file), share: share(count) });
            if hottest.as_ref().is_none_or(|(most, _)| count > *most) {
                hottest = Some((count, hot_part(&function, &seen, share)));
            }
        }
    }
    parts.sort_by(|a, b| b.share.total_cmp(&a.share));
    let (_, hot) = hottest.ok_or("none of its functions was found")?;
    Ok(Hot { parts, looks, ..hot })
}

impl Function {
    /// Returns how many of the looks at these addresses fell into it.
    fn looks(&self, seen: &BTreeMap<u64, u64>) -> u64 {
        let addresses = self.lines.iter().map(|(address, _)| address);
        addresses.filter_map(|address| seen.get(address)).sum()
    }

    /// Returns its name, with that of its file if this is one of the system's: these name what they
    /// export, and what stands behind it has no name.
    fn shown(&self, file: &str) -> String {
        let is_of_system = ["/lib", "/usr"].iter().any(|folder| file.starts_with(folder));
        let library = file.rsplit('/').next().filter(|_| is_of_system);
        library
            .map_or(self.name.clone(), |library| format!("{library}, {} or behind it", self.name))
    }
}

/// Returns the addresses of places in a file, as its disassembly counts them.
fn addresses(file: &Path, places: &[&Place]) -> Result<BTreeMap<u64, u64>, String> {
    let cannot = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", file.display());
    let bytes = fs::read(file).map_err(|error| cannot(&error))?;
    let parsed = object::File::parse(&*bytes).map_err(|error| cannot(&error))?;
    let segments: Vec<(u64, u64, u64)> = parsed
        .segments()
        .map(|segment| (segment.file_range().0, segment.file_range().1, segment.address()))
        .collect();
    let mut seen = BTreeMap::new();
    for place in places {
        let within = segments
            .iter()
            .find(|(start, bytes, _)| (*start..start + bytes).contains(&place.offset));
        if let Some((start, _, address)) = within {
            *seen.entry(place.offset - start + address).or_default() += place.count;
        }
    }
    Ok(seen)
}

/// Disassembles a file.
fn disassemble(file: &Path) -> Result<Vec<Function>, String> {
    let mut command = Command::new("objdump");
    command.args(["--disassemble", "--no-show-raw-insn", "--demangle"]).arg(file);
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| missing("objdump", "binutils", &error))?;
    if !output.status.success() {
        return Err(format!("objdump: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(functions(&String::from_utf8_lossy(&output.stdout)))
}

/// Says which package has a program that cannot be run.
fn missing(program: &str, package: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            format!("there is no {program}; 'apt-get install {package}' brings it")
        }
        _ => format!("cannot run {program}: {error}"),
    }
}

/// Reads the functions of a disassembly.
fn functions(text: &str) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
            functions.push(Function { name: name.1.to_owned(), lines: Vec::new() });
            continue;
        }
        let Some((address, text)) = line.trim_start().split_once(":\t") else { continue };
        let (Ok(address), Some(function)) =
            (u64::from_str_radix(address, 16), functions.last_mut())
        else {
            continue;
        };
        function.lines.push((address, text.trim_end().to_owned()));
    }
    functions
}

/// Returns the hot loop of a function, or else all of it.
fn hot_part(function: &Function, seen: &BTreeMap<u64, u64>, share: impl Fn(u64) -> f64) -> Hot {
    let lines = &function.lines;
    let of = |from: usize, to: usize| -> u64 {
        lines[from..=to].iter().filter_map(|(address, _)| seen.get(address)).sum()
    };
    let last = lines.len() - 1;
    let all = of(0, last);
    let mut loops: Vec<(usize, usize, u64)> = Vec::new();
    for (end, (address, text)) in lines.iter().enumerate() {
        let Some(target) = jump(text).filter(|target| target <= address) else { continue };
        let start = lines.binary_search_by_key(&target, |(address, _)| *address);
        if let Some(start) = start.ok().filter(|start| is_loop(&lines[*start..=end])) {
            loops.push((start, end, of(start, end)));
        }
    }
    loops.retain(|(.., count)| *count as f64 >= HOT * all as f64);
    let inner = loops.iter().min_by_key(|(start, end, _)| end - start);
    let (start, end) = inner.map_or((0, last), |(start, end, _)| (*start, *end));
    let shown = lines[start..=end].iter().map(|(address, text)| Instruction {
        address: *address,
        text: text.clone(),
        share: share(seen.get(address).copied().unwrap_or(0)),
    });
    Hot {
        parts: Vec::new(),
        function: function.name.clone(),
        is_loop: inner.is_some(),
        lines: shown.collect(),
        looks: 0,
    }
}

/// Returns whether a stretch of instructions gets from its first to its last, which jumps back to
/// the first, without leaving it: others share an end of their function.
fn is_loop(lines: &[(u64, String)]) -> bool {
    let mut reached = vec![false; lines.len()];
    let mut open = vec![0];
    while let Some(index) = open.pop() {
        let Some((_, text)) =
            lines.get(index).filter(|_| !std::mem::replace(&mut reached[index], true))
        else {
            continue;
        };
        let name = text.split_whitespace().next().unwrap_or_default();
        if let Some(target) = jump(text)
            && let Ok(place) = lines.binary_search_by_key(&target, |(address, _)| *address)
        {
            open.push(place);
        }
        let ends =
            name.starts_with("ret") || name.starts_with("jmp") || name == "b" || name == "hlt";
        if !ends && index + 1 < lines.len() {
            open.push(index + 1);
        }
    }
    reached.last() == Some(&true)
}

/// Returns the address to which an instruction jumps, if it is a jump to one.
fn jump(text: &str) -> Option<u64> {
    let mut words = text.split_whitespace();
    let name = words.next()?;
    let is_jump = match name.chars().next()? {
        'j' => true,
        'b' => name == "b" || name.starts_with("b."),
        'c' => ["cbz", "cbnz"].contains(&name),
        't' => ["tbz", "tbnz"].contains(&name),
        _ => false,
    };
    let operand = text.split('<').next()?.split_whitespace().last()?;
    let number = operand.strip_prefix("0x").unwrap_or(operand);
    u64::from_str_radix(number, 16).ok().filter(|_| is_jump)
}

/// Asks the model of this machine's processor about a loop.
///
/// # Errors
/// Fails if `llvm-mca` is missing, or does not know an instruction, in words.
pub fn model(hot: &Hot) -> Result<Model, String> {
    let mut command = Command::new("llvm-mca");
    command.args(["-mcpu=native", "--iterations", PASSES, "--instruction-info=false"]);
    command.args(["--resource-pressure=false", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| missing("llvm-mca", "llvm", &error))?;
    let written = child.stdin.take().map(|mut input| input.write_all(assembly(hot).as_bytes()));
    let output = child.wait_with_output().map_err(|error| format!("llvm-mca: {error}"))?;
    drop(written);
    let said = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8_lossy(&output.stdout);
    let model = summary(&text).map(|model| Model { cpu: modelled_cpu(), ..model });
    model.ok_or_else(|| {
        let why = said.lines().find(|line| line.contains("error")).unwrap_or("it said nothing");
        format!("llvm-mca: {why}")
    })
}

/// What begins a comment; on ARM '#' begins a number.
const COMMENT: &str = if cfg!(target_arch = "aarch64") { "//" } else { "#" };

/// Writes a loop for an assembler: jumps out of it go to its end.
fn assembly(hot: &Hot) -> String {
    let label = |address: u64| format!(".L{address:x}");
    let is_inside = |address: u64| hot.lines.iter().any(|one| one.address == address);
    let mut text = String::new();
    for one in &hot.lines {
        let plain = one.text.split(COMMENT).next().unwrap_or_default();
        let plain = plain.split('<').next().unwrap_or_default().trim_end();
        let name = plain.split_whitespace().next().unwrap_or_default();
        let is_call = name.starts_with("call") || name == "bl";
        let plain = match jump(&one.text) {
            Some(target) => {
                let (before, _) = plain.rsplit_once(char::is_whitespace).unwrap_or((plain, ""));
                let to = if is_inside(target) { label(target) } else { ".Lend".to_owned() };
                format!("{} {to}", before.trim_end())
            }
            None if is_call && !plain.contains('*') => format!("{name} .Lend"),
            None => plain.to_owned(),
        };
        text += &format!("{}:\n{plain}\n", label(one.address));
    }
    text + ".Lend:\n"
}

/// Reads what the model found.
fn summary(text: &str) -> Option<Model> {
    let number = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line?.trim().parse::<f64>().ok()
    };
    let passes = number("Iterations").filter(|passes| *passes > 0.0)?;
    Some(Model {
        cpu: String::new(),
        instructions: number("Instructions")? / passes,
        micro_ops: number("Total uOps")? / passes,
        cycles: number("Total Cycles")? / passes,
    })
}

/// Returns the processor that the model takes this machine's for; empty if it does not say.
fn modelled_cpu() -> String {
    let output = Command::new("llvm-mca").arg("--version").stdin(Stdio::null()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let text = text.unwrap_or_default();
    let cpu = text.lines().find_map(|line| line.trim().strip_prefix("Host CPU: "));
    cpu.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
libsum.so:     file format elf64-x86-64

Disassembly of section .text:

0000000000001100 <sum>:
    1100:\txor    %eax,%eax
    1102:\ttest   %rsi,%rsi
    1105:\tje     1120 <sum+0x20>
    1107:\tadd    %rdi,%rsi
    110a:\tnopw   0x0(%rax,%rax,1)
    1110:\tmovzbl (%rdi),%edx
    1113:\tadd    $0x1,%rdi
    1117:\tadd    %rdx,%rax
    111a:\tcmp    %rsi,%rdi
    111d:\tjne    1110 <sum+0x10>
    111f:\tret
    1120:\tret

0000000000001130 <other(int)>:
    1130:\tcall   1040 <strlen@plt>
    1135:\tjmp    1130 <other(int)>
";

    fn seen(places: &[(u64, u64)]) -> BTreeMap<u64, u64> {
        places.iter().copied().collect()
    }

    #[test]
    fn the_innermost_loop_with_most_of_the_time_is_the_hot_one() {
        let functions = functions(TEXT);
        let names: Vec<&str> = functions.iter().map(|function| &*function.name).collect();
        assert_eq!(names, ["sum", "other(int)"]);
        let seen = seen(&[(0x1110, 30), (0x1117, 60), (0x1100, 10)]);
        let hot = hot_part(&functions[0], &seen, |count| count as f64 / 100.0);
        assert!(hot.is_loop);
        let lines: Vec<(u64, f64)> = hot.lines.iter().map(|one| (one.address, one.share)).collect();
        assert_eq!(
            lines,
            [(0x1110, 0.3), (0x1113, 0.0), (0x1117, 0.6), (0x111a, 0.0), (0x111d, 0.0)]
        );
    }

    #[test]
    fn a_jump_back_to_an_end_of_the_function_is_no_loop() {
        let lines = |texts: &[&str]| -> Vec<(u64, String)> {
            (0x10..).zip(texts).map(|(at, text)| (at, (*text).to_owned())).collect()
        };
        assert!(!is_loop(&lines(&["sete %al", "ret", "cmp $1,%dl", "ja 10 <f>"])));
        assert!(is_loop(&lines(&["je 12 <f>", "ret", "cmp $1,%dl", "ja 10 <f>"])));
        assert!(is_loop(&lines(&["jmp 12 <f>", "nop", "jne 10 <f>"])));
        assert!(is_loop(&lines(&["jmp 10 <f>"])));
    }

    #[test]
    fn without_a_hot_loop_the_function_is_shown() {
        let functions = functions(TEXT);
        let seen = seen(&[(0x1100, 80), (0x1110, 20)]);
        let hot = hot_part(&functions[0], &seen, |count| count as f64 / 100.0);
        assert!(!hot.is_loop && hot.lines.len() == 12);
    }

    #[test]
    fn jumps_become_labels_for_the_model() {
        let functions = functions(TEXT);
        let hot = hot_part(&functions[0], &seen(&[(0x1117, 1)]), |count| count as f64);
        let text = assembly(&hot);
        assert!(text.starts_with(".L1110:\nmovzbl (%rdi),%edx\n"), "{text}");
        assert!(text.ends_with("jne .L1110\n.Lend:\n"), "{text}");
        let hot = hot_part(&functions[1], &seen(&[(0x1130, 1)]), |count| count as f64);
        assert!(assembly(&hot).contains("call .Lend\n"), "{}", assembly(&hot));
    }

    #[test]
    fn what_the_model_says_is_for_one_pass() {
        let text = "Iterations:        100\nInstructions:      500\nTotal Cycles:      206\n\
                    Total uOps:        600\n\nDispatch Width:    4\n";
        let model = summary(text).unwrap();
        assert_eq!((model.instructions, model.micro_ops, model.cycles), (5.0, 6.0, 2.06));
        assert_eq!(summary("error: unknown"), None);
    }
}
