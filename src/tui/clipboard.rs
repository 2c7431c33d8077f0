//! The clipboard: the ways to reach it from here, and which of them worked.
//!
//! The terminal is always asked, with OSC 52, and never answers. In addition a program of this
//! machine gets the text, unless the user sits at another machine: the clipboard here is then of no
//! use.

use std::future::pending;

use tokio::task::JoinHandle;

use crate::i18n::{LocalizedText, screen as words};
use crate::tools::exec::{HelperProgram, read_from_helper, write_to_helper};

/// Facts about the environment: plain data, gathered by the caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clipboard {
    /// Those of [`Clipboard::VARIABLES`] that are set.
    pub variables: Vec<(String, String)>,
}

/// A program that copies a text.
#[derive(Debug)]
struct ClipboardProgram {
    /// The variable that it requires.
    needs: &'static str,
    program: &'static str,
    args: &'static [&'static str],
    /// It also reaches the user on another machine.
    reaches_remote_user: bool,
}

#[rustfmt::skip]
const WAYS: &[ClipboardProgram] = &[
    ClipboardProgram { needs: "WSL_DISTRO_NAME", program: "clip.exe", args: &[], reaches_remote_user: false },
    ClipboardProgram { needs: "WAYLAND_DISPLAY", program: "wl-copy", args: &[], reaches_remote_user: false },
    ClipboardProgram { needs: "DISPLAY", program: "xclip", args: &["-selection", "clipboard"], reaches_remote_user: false },
    ClipboardProgram { needs: "DISPLAY", program: "xsel", args: &["--clipboard", "--input"], reaches_remote_user: false },
    ClipboardProgram { needs: "HOME", program: "pbcopy", args: &[], reaches_remote_user: false },
    ClipboardProgram { needs: "TMUX", program: "tmux", args: &["load-buffer", "-w", "-"], reaches_remote_user: true },
];

/// The program between here and the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiplexer {
    None,
    /// Passes a sequence on only when it is wrapped, and only if its settings allow that.
    Tmux,
}

/// The copied text, and how it was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyResult {
    pub chars: usize,
    /// The program that took it; `None`: only the terminal was asked.
    pub program: Option<&'static str>,
    /// The program keeps the text to itself.
    pub is_tmux_only: bool,
}

impl CopyResult {
    /// A message about the result.
    pub fn message(self) -> LocalizedText {
        match self.program {
            Some("tmux") if self.is_tmux_only => words::COPIED_TMUX_ONLY.with("n", self.chars),
            Some("tmux") => words::COPIED_TMUX.with("n", self.chars),
            Some(program) => words::COPIED.with("n", self.chars).with("program", program),
            None => words::COPIED_SENT.with("n", self.chars),
        }
    }
}

impl Clipboard {
    /// The environment variables it needs.
    pub const VARIABLES: &[&str] = &[
        "DISPLAY",
        "HOME",
        "LANG",
        "SSH_CONNECTION",
        "SSH_TTY",
        "TMUX",
        "WAYLAND_DISPLAY",
        "WSL_DISTRO_NAME",
        "XAUTHORITY",
        "XDG_RUNTIME_DIR",
    ];

    fn is_set(&self, name: &str) -> bool {
        self.variables.iter().any(|(set, _)| set == name)
    }

    /// The programs worth trying, in order.
    fn usable_programs(&self) -> impl Iterator<Item = &'static ClipboardProgram> {
        let far = self.is_set("SSH_CONNECTION") || self.is_set("SSH_TTY");
        WAYS.iter().filter(move |way| self.is_set(way.needs) && (way.reaches_remote_user || !far))
    }

    async fn copy(self, text: String) -> CopyResult {
        let chars = text.chars().count();
        for way in self.usable_programs() {
            let (program, args) = (way.program, way.args);
            let with = HelperProgram { program, args, variables: self.variables.clone() };
            if write_to_helper(&with, &encode(program, &text)).await.is_ok() {
                let held_back = program == "tmux" && self.is_tmux_clipboard_off().await;
                return CopyResult { chars, program: Some(program), is_tmux_only: held_back };
            }
        }
        CopyResult { chars, program: None, is_tmux_only: false }
    }

    /// Whether tmux is set to leave the terminal's clipboard alone.
    async fn is_tmux_clipboard_off(&self) -> bool {
        let args = &["show-options", "-sv", "set-clipboard"];
        let with = HelperProgram { program: "tmux", args, variables: self.variables.clone() };
        read_from_helper(&with).await.is_ok_and(|answer| answer.trim() == "off")
    }
}

/// Windows reads UTF-16, all other programs UTF-8.
fn encode(program: &str, text: &str) -> Vec<u8> {
    match program {
        "clip.exe" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        _ => text.as_bytes().to_vec(),
    }
}

/// Copies texts in the background, one at a time.
#[derive(Debug)]
pub struct Copier {
    clipboard: Clipboard,
    work: Option<JoinHandle<CopyResult>>,
}

impl Copier {
    pub fn new(clipboard: Clipboard) -> Copier {
        Copier { clipboard, work: None }
    }

    /// The program that a sequence for the terminal passes through.
    pub fn multiplexer(&self) -> Multiplexer {
        match self.clipboard.is_set("TMUX") {
            true => Multiplexer::Tmux,
            false => Multiplexer::None,
        }
    }

    /// Begins to copy; a copy still in progress is abandoned.
    pub fn copy(&mut self, text: String) {
        if let Some(before) = self.work.replace(tokio::spawn(self.clipboard.clone().copy(text))) {
            before.abort();
        }
    }

    /// Waits for the result; for ever while nothing is being copied.
    pub async fn next_result(&mut self) -> CopyResult {
        loop {
            let Some(work) = &mut self.work else { return pending().await };
            let done = work.await;
            self.work = None;
            if let Ok(copied) = done {
                return copied;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::i18n::Lang;

    fn programs(variables: &[&str]) -> Vec<&'static str> {
        let set = variables.iter().map(|name| ((*name).to_owned(), "x".to_owned()));
        let clipboard = Clipboard { variables: set.collect() };
        clipboard.usable_programs().map(|way| way.program).collect()
    }

    #[test]
    fn only_programs_that_reach_the_user_are_tried() {
        assert_eq!(programs(&["DISPLAY"]), ["xclip", "xsel"]);
        assert_eq!(programs(&["DISPLAY", "WAYLAND_DISPLAY", "TMUX"])[0], "wl-copy");
        assert_eq!(programs(&["HOME", "TMUX"]), ["pbcopy", "tmux"]);
        assert_eq!(programs(&["HOME", "DISPLAY", "SSH_TTY", "TMUX"]), ["tmux"]);
        assert!(programs(&[]).is_empty());
    }

    #[test]
    fn the_message_names_the_program_or_the_terminal() {
        let say = |program| {
            CopyResult { chars: 3, program, is_tmux_only: false }.message().text(Lang::En)
        };
        let kept = CopyResult { chars: 3, program: Some("tmux"), is_tmux_only: true };
        assert!(kept.message().text(Lang::En).contains("set-clipboard"));
        assert_eq!(say(Some("xclip")), "Copied 3 characters with xclip.");
        assert!(say(Some("tmux")).contains("tmux"));
        assert!(say(None).contains("OSC 52"));
    }

    #[test]
    fn windows_gets_utf_16() {
        assert_eq!(encode("clip.exe", "中"), [0x2d, 0x4e]);
        assert_eq!(encode("pbcopy", "中"), "中".as_bytes());
    }
}
