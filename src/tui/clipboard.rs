//! The clipboard: which ways lead to it from here, and which one worked.
//!
//! The terminal is always asked, with OSC 52, and never answers. Beside that a program
//! of this machine is given the text, unless this machine is not the one the person
//! sits at: then its clipboard is nobody's.

use std::future::pending;

use tokio::task::JoinHandle;

use crate::tools::exec::{Feed, ask, feed};
use crate::words::{Say, screen as words};

/// What is known of the surroundings: plain data, gathered by the caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clipboard {
    /// Of [`Clipboard::VARIABLES`], those that are set.
    pub variables: Vec<(String, String)>,
}

/// A program that takes a text.
#[derive(Debug)]
struct Way {
    /// The variable without which it is of no use.
    needs: &'static str,
    program: &'static str,
    args: &'static [&'static str],
    /// It reaches the person also from another machine.
    far: bool,
}

#[rustfmt::skip]
const WAYS: &[Way] = &[
    Way { needs: "WSL_DISTRO_NAME", program: "clip.exe", args: &[], far: false },
    Way { needs: "WAYLAND_DISPLAY", program: "wl-copy", args: &[], far: false },
    Way { needs: "DISPLAY", program: "xclip", args: &["-selection", "clipboard"], far: false },
    Way { needs: "DISPLAY", program: "xsel", args: &["--clipboard", "--input"], far: false },
    Way { needs: "HOME", program: "pbcopy", args: &[], far: false },
    Way { needs: "TMUX", program: "tmux", args: &["load-buffer", "-w", "-"], far: true },
];

/// What lies between here and the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    Nothing,
    /// It hands a sequence on only when that is wrapped, and it may be told not to.
    Tmux,
}

/// What was copied, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    pub chars: usize,
    /// The program that took it; `None`: only the terminal was asked.
    pub program: Option<&'static str>,
    /// What took it keeps it to itself.
    pub held_back: bool,
}

impl Copied {
    /// How it went, for the person.
    pub fn say(self) -> Say {
        match self.program {
            Some("tmux") if self.held_back => words::COPIED_TMUX_ONLY.with("n", self.chars),
            Some("tmux") => words::COPIED_TMUX.with("n", self.chars),
            Some(program) => words::COPIED.with("n", self.chars).with("program", program),
            None => words::COPIED_SENT.with("n", self.chars),
        }
    }
}

impl Clipboard {
    /// What it has to know of the environment.
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
    fn ways(&self) -> impl Iterator<Item = &'static Way> {
        let far = self.is_set("SSH_CONNECTION") || self.is_set("SSH_TTY");
        WAYS.iter().filter(move |way| self.is_set(way.needs) && (way.far || !far))
    }

    async fn copy(self, text: String) -> Copied {
        let chars = text.chars().count();
        for way in self.ways() {
            let (program, args) = (way.program, way.args);
            let with = Feed { program, args, variables: self.variables.clone() };
            if feed(&with, &encoded(program, &text)).await.is_ok() {
                let held_back = program == "tmux" && self.tmux_keeps_it().await;
                return Copied { chars, program: Some(program), held_back };
            }
        }
        Copied { chars, program: None, held_back: false }
    }

    /// Whether tmux was told to leave the terminal's clipboard alone.
    async fn tmux_keeps_it(&self) -> bool {
        let args = &["show-options", "-sv", "set-clipboard"];
        let with = Feed { program: "tmux", args, variables: self.variables.clone() };
        ask(&with).await.is_ok_and(|answer| answer.trim() == "off")
    }
}

/// Windows reads UTF-16, all others UTF-8.
fn encoded(program: &str, text: &str) -> Vec<u8> {
    match program {
        "clip.exe" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        _ => text.as_bytes().to_vec(),
    }
}

/// Has texts copied, one at a time, while the screen goes on.
#[derive(Debug)]
pub struct Copier {
    clipboard: Clipboard,
    work: Option<JoinHandle<Copied>>,
}

impl Copier {
    pub fn new(clipboard: Clipboard) -> Copier {
        Copier { clipboard, work: None }
    }

    /// What a sequence for the terminal has to pass.
    pub fn through(&self) -> Through {
        match self.clipboard.is_set("TMUX") {
            true => Through::Tmux,
            false => Through::Nothing,
        }
    }

    /// Begins to copy; what was still being copied is given up.
    pub fn copy(&mut self, text: String) {
        if let Some(before) = self.work.replace(tokio::spawn(self.clipboard.clone().copy(text))) {
            before.abort();
        }
    }

    /// Waits until it is done; for ever while there is nothing to do.
    pub async fn copied(&mut self) -> Copied {
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
    use crate::words::Lang;

    fn programs(variables: &[&str]) -> Vec<&'static str> {
        let set = variables.iter().map(|name| ((*name).to_owned(), "x".to_owned()));
        let clipboard = Clipboard { variables: set.collect() };
        clipboard.ways().map(|way| way.program).collect()
    }

    #[test]
    fn only_programs_that_can_reach_the_person_are_tried() {
        assert_eq!(programs(&["DISPLAY"]), ["xclip", "xsel"]);
        assert_eq!(programs(&["DISPLAY", "WAYLAND_DISPLAY", "TMUX"])[0], "wl-copy");
        assert_eq!(programs(&["HOME", "TMUX"]), ["pbcopy", "tmux"]);
        assert_eq!(programs(&["HOME", "DISPLAY", "SSH_TTY", "TMUX"]), ["tmux"]);
        assert!(programs(&[]).is_empty());
    }

    #[test]
    fn what_a_program_or_the_terminal_got_is_told_apart() {
        let say = |program| Copied { chars: 3, program, held_back: false }.say().text(Lang::En);
        let kept = Copied { chars: 3, program: Some("tmux"), held_back: true };
        assert!(kept.say().text(Lang::En).contains("set-clipboard"));
        assert_eq!(say(Some("xclip")), "Copied 3 characters with xclip.");
        assert!(say(Some("tmux")).contains("tmux"));
        assert!(say(None).contains("OSC 52"));
    }

    #[test]
    fn windows_gets_its_own_encoding() {
        assert_eq!(encoded("clip.exe", "中"), [0x2d, 0x4e]);
        assert_eq!(encoded("pbcopy", "中"), "中".as_bytes());
    }
}
