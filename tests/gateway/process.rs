//! `avocet gateway run` as a process, with a model of its own.

use std::io::Read as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::fakes::service::PATIENCE;
use crate::support::bench::TestDir;
use crate::support::server::{ReceivedRequest, Reply, Server};

pub struct GatewayProcess {
    pub dir: TestDir,
    pub model: Server,
    tokens: Vec<(&'static str, String)>,
    process: Option<Child>,
}

impl GatewayProcess {
    /// Runs with these settings of a service, and with its tokens in these variables.
    pub fn start(
        replies: Vec<Reply>,
        settings: &str,
        tokens: &[(&'static str, &str)],
    ) -> GatewayProcess {
        GatewayProcess::start_in(TestDir::new(), replies, settings, tokens)
    }

    pub fn start_in(
        dir: TestDir,
        replies: Vec<Reply>,
        settings: &str,
        tokens: &[(&'static str, &str)],
    ) -> GatewayProcess {
        dir.settings(settings);
        let tokens = tokens.iter().map(|(name, token)| (*name, (*token).to_owned())).collect();
        let mut gateway =
            GatewayProcess { dir, model: Server::start(replies), tokens, process: None };
        gateway.run();
        gateway
    }

    pub fn run(&mut self) {
        let url = self.model.base_url();
        let mut command = self.dir.command(&["--base-url", &url, "--model", "m", "gateway", "run"]);
        command.envs(self.tokens.iter().cloned()).stderr(Stdio::piped()).stdout(Stdio::piped());
        self.process = Some(command.spawn().unwrap());
    }

    /// As a power cut would end it.
    pub fn kill(&mut self) {
        let mut process = self.process.take().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }

    /// Ends it by `TERM`; returns its exit code and what it wrote.
    pub fn stop(&mut self) -> (Option<i32>, String) {
        let process = self.process.as_ref().unwrap();
        let pid = rustix::process::Pid::from_child(process);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.wait()
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> (Option<i32>, String) {
        let mut process = self.process.take().unwrap();
        let status = process.wait().unwrap();
        let mut text = String::new();
        process.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        process.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        (status.code(), text)
    }

    pub fn id(&self) -> u32 {
        self.process.as_ref().unwrap().id()
    }

    /// Waits until the journal of a service has such a line.
    pub fn wait_for_record(&self, service: &str, mut fits: impl FnMut(&str) -> bool) {
        let journal = self.dir.path(&format!("avocet/data/gateway/{service}.jsonl"));
        let patience = Instant::now() + PATIENCE;
        loop {
            let lines = std::fs::read_to_string(&journal).unwrap_or_default();
            if lines.lines().any(&mut fits) {
                return;
            }
            assert!(Instant::now() < patience, "no such record: {lines}");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    /// Waits for the end of the turn of a message: its reply is shown a moment earlier.
    pub fn wait_for_turn_end(&self, service: &str, message: &str) {
        let delivery_of = |line: &str, record: &str| {
            let line: serde_json::Value = serde_json::from_str(line).ok()?;
            let fits = line["record"] == record
                && line["text"].as_str().is_none_or(|text| text.contains(message));
            fits.then(|| line["delivery"].clone())
        };
        let mut begun = None;
        self.wait_for_record(service, |line| {
            begun = begun.take().or_else(|| delivery_of(line, "begun"));
            begun.is_some() && delivery_of(line, "done") == begun
        });
    }

    pub fn has_file(&self, name: &str) -> bool {
        self.dir.work().join(name).exists()
    }
}

impl Drop for GatewayProcess {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// The model proposes to make a file.
pub fn touch() -> Reply {
    Reply::cmd("I will make a file.", "touch", &["made.txt"])
}

/// The data of the button for this answer.
pub fn data(buttons: &[(String, String)], choice: &str) -> String {
    let found = buttons.iter().find(|(_, data)| data.ends_with(&format!(".{choice}")));
    found.unwrap_or_else(|| panic!("no {choice} in {buttons:?}")).1.clone()
}

/// A service in which one user talks to the gateway.
pub trait Conversation {
    /// The user writes to the bot.
    fn ask(&self, words: &str);
    /// Waits until the bot says that.
    fn wait_until_said(&self, words: &str);
    /// How many messages of the bot have these words.
    fn times_said(&self, words: &str) -> usize;
}

/// So many replies, numbered.
pub fn answers(count: usize) -> Vec<Reply> {
    (0..count).map(|n| Reply::chat(&format!("Answer {n}."))).collect()
}

/// Asks once for each of these replies.
pub fn ask_for_each(server: &impl Conversation, count: usize) {
    (0..count).for_each(|number| server.ask(&format!("question {number}")));
}

/// The last message of a request.
fn last_words(request: &ReceivedRequest) -> String {
    let messages = &request.json()["messages"];
    messages.as_array().and_then(|all| all.last()).map(ToString::to_string).unwrap_or_default()
}

/// Each of the replies was said once, and the model was asked once for each.
pub fn expect_each_once(server: &impl Conversation, gateway: &GatewayProcess, count: usize) {
    server.wait_until_said(&format!("Answer {}.", count - 1));
    for number in 0..count {
        let answer = format!("Answer {number}.");
        server.wait_until_said(&answer);
        assert_eq!(server.times_said(&answer), 1, "{number}");
    }
    let asked: Vec<String> = gateway.model.requests().iter().map(last_words).collect();
    assert_eq!(asked.len(), count, "{asked:#?}");
}

/// The gateway is killed with one message answered, one question open and one message waiting,
/// gets another message and runs again. Returns the question.
pub fn kill_in_the_middle<Question>(
    server: &impl Conversation,
    gateway: &mut GatewayProcess,
    wait_for_question: impl Fn() -> Question,
) -> Question {
    server.ask("one");
    server.wait_until_said("One.");
    server.ask("two");
    let question = wait_for_question();
    server.ask("three");
    server.wait_until_said("Queued: 1");
    gateway.kill();
    server.ask("four");
    gateway.run();
    question
}

/// What those messages were answered, each once.
pub fn expect_the_answers_after_a_kill(server: &impl Conversation) {
    let answers = ["One.", "Three.", "Four."];
    // An edit of one message may come after the next message.
    answers.iter().for_each(|answer| server.wait_until_said(answer));
    for answer in answers {
        assert_eq!(server.times_said(answer), 1, "{answer}");
    }
}
