//! `avocet gateway run` as a process, with a model of its own.

use std::io::Read as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::fakes::service::PATIENCE;
use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server};

pub struct GatewayProcess {
    pub dir: TestDir,
    pub model: Server,
    tokens: Vec<(&'static str, String)>,
    process: Option<Child>,
}

impl GatewayProcess {
    /// Runs with these settings of a service, and with its tokens in these variables.
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
