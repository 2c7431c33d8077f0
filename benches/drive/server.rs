//! The model server of the driver: on loopback, in threads of its own. What is asked
//! for decides the answer, and when things came and went is written down.
//!
//! Each event is a piece of its own in the answer's body, as servers send them.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Words in a question that choose what is answered; anything else is a short reply.
pub const FLOOD: &str = "flood";
pub const PACED: &str = "paced";
pub const LOOP: &str = "loop";
pub const STEP: &str = "step";
/// Four agents, of which each gets a paced answer.
pub const AGENTS: &str = "agents";

/// Tokens of a flood, and steps of a loop.
pub const TOKENS: usize = 20_000;
const STEPS: usize = 10;
/// A paced answer: so many tokens, one each ten milliseconds.
const PACED_TOKENS: usize = 900;
const PACE: Duration = Duration::from_millis(10);

/// A request and its answer.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// When the last byte of the request was here.
    pub asked: Instant,
    /// Bytes of the request's body.
    pub bytes: usize,
    /// Just before the first byte of the answer was written.
    pub answered: Instant,
}

pub struct Server {
    address: SocketAddr,
    log: Arc<Mutex<Vec<Exchange>>>,
}

impl Server {
    pub fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&log);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let log = Arc::clone(&shared);
                std::thread::spawn(move || serve(&client, &log));
            }
        });
        Server { address, log }
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The newest exchange.
    pub fn last(&self) -> Exchange {
        *self.log.lock().unwrap().last().unwrap()
    }

    pub fn count(&self) -> usize {
        self.log.lock().unwrap().len()
    }
}

/// Answers one connection until the other side goes.
fn serve(client: &TcpStream, log: &Mutex<Vec<Exchange>>) -> Option<()> {
    client.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(client);
    loop {
        let body = request(&mut reader)?;
        let asked = Instant::now();
        let asked_for: Value = serde_json::from_slice(&body).ok()?;
        if let Some(summary) = summary(&asked_for) {
            // No turn of its own: what is measured counts turns.
            answer(client, &summary).ok()?;
            continue;
        }
        let number = log.lock().unwrap().len() + 1;
        let reply = Reply::to(&asked_for, number);
        let answered = Instant::now();
        log.lock().unwrap().push(Exchange { asked, bytes: body.len(), answered });
        answer(client, &reply).ok()?;
    }
}

fn request(reader: &mut BufReader<&TcpStream>) -> Option<Vec<u8>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().to_ascii_lowercase().split_once(':') {
            Some(("content-length", value)) => length = value.trim().parse().ok()?,
            Some(_) => {}
            None if line.trim_end().is_empty() => break,
            None => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(body)
}

/// What answers a request to sum up earlier turns.
fn summary(body: &Value) -> Option<Reply> {
    let prompt = body["messages"][0]["content"].as_str()?;
    let text = json!({ "summary": "They talked.", "keyFacts": [], "openTasks": [] }).to_string();
    let wanted = prompt.starts_with("You summarize");
    wanted.then(|| Reply { pieces: vec![text], pause: Duration::ZERO })
}

struct Reply {
    pieces: Vec<String>,
    pause: Duration,
}

impl Reply {
    fn to(body: &Value, number: usize) -> Reply {
        let empty = Vec::new();
        let messages = body["messages"].as_array().unwrap_or(&empty);
        let said = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
        let last = messages.last().map(said).unwrap_or_default();
        let at_once = |pieces| Reply { pieces, pause: Duration::ZERO };
        if last.ends_with(STEP) {
            let command = json!({ "program": "touch", "args": ["made"], "requires": {} });
            return at_once(vec![commands(&[command], "a file")]);
        }
        if last.ends_with(AGENTS) {
            let input = json!({ "description": "Look", "prompt": PACED });
            let task = json!({ "tool": "task", "input": input });
            return at_once(vec![commands(&vec![task; 4], "their words")]);
        }
        if last.contains("\"_event\"") || last.ends_with(LOOP) {
            return at_once(step(messages, number));
        }
        if last.ends_with(FLOOD) {
            return at_once(chat(&tokens(TOKENS), number));
        }
        if last.ends_with(PACED) {
            return Reply { pieces: chat(&tokens(PACED_TOKENS), number), pause: PACE };
        }
        at_once(chat(&[], number))
    }
}

/// The next `ls` of a loop, or its end.
fn step(messages: &[Value], number: usize) -> Vec<String> {
    let is_new = |message: &&Value| {
        !message["content"].as_str().is_some_and(|content| content.ends_with(LOOP))
    };
    let turn = messages.iter().rev().take_while(is_new);
    let done = turn.filter(|message| message["role"] == "assistant").count();
    if done >= STEPS {
        return chat(&[], number);
    }
    // The same step three times in a row would be a question.
    let args = if done % 2 == 0 { json!([]) } else { json!(["-a"]) };
    let command = json!({ "program": "ls", "args": args, "requires": {} });
    vec![commands(&[command], "names")]
}

fn commands(commands: &[Value], effect: &str) -> String {
    let data = json!({ "cwd": null, "commands": commands, "expected_effect": effect });
    json!({ "type": "cmd", "message": "Looking.", "data": data }).to_string()
}

/// A chat reply in pieces: `reply N`, the tokens, `end N`.
fn chat(tokens: &[String], number: usize) -> Vec<String> {
    let mut pieces = vec![format!(r#"{{"type":"chat","message":"reply {number} "#)];
    pieces.extend(tokens.iter().map(|token| {
        let quoted = json!(token).to_string();
        quoted.trim_matches('"').to_owned()
    }));
    if !tokens.is_empty() {
        pieces.push(format!("\\n\\nend {number}"));
    }
    pieces.push(r#"","data":{"format":"markdown"}}"#.to_owned());
    pieces
}

/// Words of a plausible answer: prose, lists, code, tables, again and again.
fn tokens(count: usize) -> Vec<String> {
    let answer = "\n\n## Step\n\nThe parser spends **most** of its time in `next`, not in the tree. \
        It is called for each token, and each time it looks at the whole of the line.\n\n\
        - one thing\n- another thing, which is longer than the first\n\n\
        ```rust\nfn next(&mut self) -> Option<Token<'_>> {\n    let start = self.at;\n    \
        self.bump_while(|c| c.is_alphanumeric());\n    Some(self.token(start))\n}\n```\n\n\
        | file | lines | share |\n|---|---:|---:|\n| lexer.rs | 120 | 70 % |\n| tree.rs | 400 | 30 % |";
    let words = answer.split_inclusive([' ', '\n']).map(str::to_owned);
    words.collect::<Vec<_>>().into_iter().cycle().take(count).collect()
}

fn answer(mut client: &TcpStream, reply: &Reply) -> io::Result<()> {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut out = head.as_bytes().to_vec();
    for piece in &reply.pieces {
        let delta = json!({ "choices": [{ "index": 0, "delta": { "content": piece } }] });
        chunk(&mut out, &format!("data: {delta}\n\n"));
        if !reply.pause.is_zero() {
            client.write_all(&out)?;
            out.clear();
            std::thread::sleep(reply.pause);
        }
    }
    let stop = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    chunk(&mut out, &format!("data: {stop}\n\n"));
    chunk(&mut out, "data: [DONE]\n\n");
    out.extend_from_slice(b"0\r\n\r\n");
    client.write_all(&out)
}

fn chunk(out: &mut Vec<u8>, data: &str) {
    out.extend_from_slice(format!("{:x}\r\n{data}\r\n", data.len()).as_bytes());
}
