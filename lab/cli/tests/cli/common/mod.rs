//! The program as a user meets it: in a folder of its own, with a journal of its own.

mod broker;

pub use broker::{Broker, Manners};

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use tiebreak_cli::Io;

/// A folder with some text to work on; it goes when the test does.
pub struct Place {
    folder: tempfile::TempDir,
}

/// A text without its line breaks and indents.
pub fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a command printed and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub out: String,
    pub err: String,
    pub code: i32,
}

impl Place {
    pub fn new() -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        let line = "which of two programs is faster is a question that a coin can settle\n";
        std::fs::write(place.path("text.txt"), line.repeat(2000)).unwrap();
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// An executable shell script.
    pub fn script(&self, name: &str, text: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        let path = self.path(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    /// git in this place, with settings of its own, whoever runs the test; gives what it prints.
    pub fn git(&self, words: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=T", "-c", "user.email=t@localhost"]).args(words);
        git.current_dir(self.folder()).env("GIT_CONFIG_GLOBAL", "/dev/null").env_remove("GIT_DIR");
        let output = git.output().unwrap();
        assert!(output.status.success(), "git {words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The program as a process of its own, with this place's journal.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tiebreak"));
        command.args(words).current_dir(self.folder()).env("TIEBREAK_STORE", self.path("j.db"));
        command.env_remove("NO_COLOR").env("LC_ALL", "C.UTF-8");
        command.env("TIEBREAK_CACHE", self.path("cache"));
        command
    }

    pub fn run(&self, words: &[&str]) -> Ran {
        Ran::of(self.command(words).output().unwrap())
    }

    /// The program with these lines on standard input.
    pub fn pipe(&self, words: &[&str], input: &str) -> Ran {
        use std::process::Stdio;
        let mut command = self.command(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that has seen enough need not read the rest.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        Ran::of(child.wait_with_output().unwrap())
    }

    /// Finished rounds of the latest run, 0 while there is none.
    pub fn rounds(&self) -> u64 {
        let said = self.run(&["history", "--json", "--limit", "1"]);
        let runs: serde_json::Value = serde_json::from_str(&said.out).unwrap_or_default();
        runs[0]["rounds"].as_u64().unwrap_or(0)
    }

    /// Waits until the latest run has so many rounds, a minute at most; gives how many it has.
    pub fn wait_for_rounds(&self, rounds: u64) -> u64 {
        for _ in 0..1200 {
            let finished = self.rounds();
            if finished >= rounds {
                return finished;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("no {rounds} rounds within a minute");
    }

    /// The command line in this process: main is just another function.
    pub fn main(&self, words: &[&str]) -> Ran {
        let (out, err) = (Captured::default(), Captured::default());
        let mut io = Io::to(Box::new(out.clone()), Box::new(err.clone()));
        let store = self.path("j.db").display().to_string();
        let named = words.first().is_some_and(|word| *word != "completions");
        let mut all: Vec<String> = vec!["tiebreak".into()];
        all.extend(words.iter().map(|word| (*word).to_owned()));
        if named && !words.contains(&"--store") && !words.contains(&"--help") {
            all.extend(["--store".into(), store]);
        }
        let code = tiebreak_cli::main(all.into_iter().map(Into::into), &mut io).into();
        Ran { out: out.text(), err: err.text(), code }
    }
}

/// A server of HTTP/1.1 that answers each request with two bytes, as long as the test runs.
pub struct HttpServer {
    address: SocketAddr,
}

impl HttpServer {
    pub fn start() -> HttpServer {
        HttpServer::breaking_after(usize::MAX)
    }

    /// A server that says nonsense instead of an answer after so many answers on a connection.
    pub fn breaking_after(answers: usize) -> HttpServer {
        HttpServer::answering(move || Arc::new(AtomicUsize::new(answers)), b"nonsense\r\n\r\n")
    }

    /// A server that says nothing any more after so many answers.
    pub fn silent_after(answers: usize) -> HttpServer {
        let left = Arc::new(AtomicUsize::new(answers));
        HttpServer::answering(move || Arc::clone(&left), b"")
    }

    /// A server that gives a connection as many answers as these are, and then says something else.
    fn answering(
        left: impl Fn() -> Arc<AtomicUsize> + Send + 'static,
        then: &'static [u8],
    ) -> HttpServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let left = left();
                std::thread::spawn(move || answer(stream, &left, then));
            }
        });
        HttpServer { address }
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub fn address(&self) -> String {
        self.address.to_string()
    }
}

/// Answers requests until the client goes, so many of them well.
fn answer(mut stream: TcpStream, left: &AtomicUsize, then: &[u8]) {
    let _ = stream.set_nodelay(true);
    let (mut head, mut byte) = (Vec::new(), [0]);
    let mut reader = std::io::BufReader::new(stream.try_clone().unwrap());
    while matches!(reader.read(&mut byte), Ok(1)) {
        head.push(byte[0]);
        if head.ends_with(b"\r\n\r\n") {
            head.clear();
            let good: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
            let took = left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
            let text = if took.is_ok() { good } else { then };
            if stream.write_all(text).is_err() {
                return;
            }
        }
    }
}

/// The JSON of a result must be what its schema says.
pub fn validate(json: &serde_json::Value) {
    validate_by(include_str!("../../../../../docs/schema/result-1.schema.json"), json);
}

/// The JSON of a machine's print must be what its schema says.
pub fn validate_print(json: &serde_json::Value) {
    validate_by(include_str!("../../../../../docs/schema/machine-1.schema.json"), json);
}

fn validate_by(schema: &str, json: &serde_json::Value) {
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(json).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        Ran {
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code().unwrap_or(-1),
        }
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// What is written, shared with whoever asks.
#[derive(Clone, Default)]
pub struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl std::io::Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
