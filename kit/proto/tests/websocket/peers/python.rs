//! The package `websockets` of Python, where it is installed (`scripts/setup.sh load`).

use super::{ALIVE, CLOSE, CLOSED, CODES, IN_PIECES, PIECES, PING, REASON, SIZES, ask, serve};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

const PYTHON: &str = "/usr/bin/python3";

/// Serves, and writes a line for its port, and one for what each connection was closed with.
const SERVER: &str = r#"
import asyncio, sys, websockets
ping, alive, in_pieces, one, two, three, close, code, reason = sys.argv[1:]
async def serve(socket, path=None):
    try:
        async for message in socket:
            if message == ping:
                await (await socket.ping(b"there?"))
                await socket.send(alive)
            elif message == in_pieces:
                await socket.send([one, two, three])
            elif message == close:
                await socket.close(int(code), reason)
            else:
                await socket.send(message)
    except websockets.ConnectionClosed:
        pass
    print(socket.close_code, socket.close_reason, flush=True)
async def main():
    options = {"max_size": None, "ping_interval": None}
    async with websockets.serve(serve, "127.0.0.1", 0, **options) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.Future()
asyncio.run(main())
"#;

/// Asks a server for all that it must do.
const CLIENT: &str = r#"
import asyncio, sys, websockets
ping, alive, in_pieces, one, two, three, close, code, reason, port, sizes, codes, end = sys.argv[1:]
def connect():
    options = {"max_size": None, "ping_interval": None}
    return websockets.connect(f"ws://127.0.0.1:{port}/chat", **options)
async def check(socket, message, answer):
    await socket.send(message)
    heard = await socket.recv()
    assert heard == answer, (message, heard)
async def main():
    async with connect() as socket:
        for size in map(int, sizes.split(",")):
            text = "\u00e9" * (size // 2) + "x" * (size % 2)
            for message in text, text.encode():
                await check(socket, message, message)
                third = len(message) // 3
                pieces = message[:third], message[third:-third or None], message[-third:]
                if third:
                    await check(socket, list(pieces), message)
        await asyncio.wait_for(await socket.ping(b"there?"), 60)
        await check(socket, ping, alive)
        await check(socket, in_pieces, one + two + three)
        await socket.send(close)
        try:
            raise Exception(await socket.recv())
        except websockets.ConnectionClosed:
            closed = socket.close_code, socket.close_reason
            assert closed == (int(code), reason), closed
    for number in map(int, codes.split(",")):
        async with connect() as socket:
            await socket.close(number, end)
            assert (socket.close_code, socket.close_reason) == (number, end), socket.close_code
asyncio.run(main())
"#;

/// Ends a process with its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn python(script: &str) -> Command {
    let mut command = Command::new(PYTHON);
    command.args(["-c", script, PING, ALIVE, PIECES]).args(IN_PIECES).arg(CLOSE);
    command.arg(CLOSED.0.to_string()).arg(CLOSED.1);
    command
}

fn is_installed() -> bool {
    let mut command = Command::new(PYTHON);
    command.args(["-c", "import websockets"]).stderr(Stdio::null());
    let is_installed = command.status().is_ok_and(|status| status.success());
    if !is_installed {
        println!("skipped: Python's websockets are not installed");
    }
    is_installed
}

#[test]
fn our_client_and_the_server_of_python() {
    if !is_installed() {
        return;
    }
    let mut server = Running(python(SERVER).stdout(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(server.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    ask(lines.next().unwrap().parse().unwrap());
    let mut expected = vec![format!("{} {}", CLOSED.0, CLOSED.1)];
    // 1005 says that there was no code.
    expected.extend(CODES.map(|code| match code {
        None => "1005 ".to_owned(),
        Some(code) => format!("{code} {REASON}"),
    }));
    // Connections end at the same time, in any order.
    let mut closed: Vec<String> = lines.take(expected.len()).collect();
    closed.sort();
    expected.sort();
    assert_eq!(closed, expected);
}

#[test]
fn our_server_and_the_client_of_python() {
    if !is_installed() {
        return;
    }
    let sizes = SIZES.map(|size| size.to_string()).join(",");
    let codes: Vec<String> = CODES.into_iter().flatten().map(|code| code.to_string()).collect();
    let words = [serve().to_string(), sizes, codes.join(","), REASON.to_owned()];
    let said = python(CLIENT).args(words).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
}
