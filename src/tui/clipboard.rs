//! The clipboard: the ways to reach it from here, and which of them worked.
//!
//! The terminal is always asked, with OSC 52, and never answers. In addition a program of this
//! machine gets the text, unless the user sits at another machine: the clipboard here is then of no
//! use.

use std::future::pending;

use tokio::task::JoinHandle;

use avocet_core::i18n::{Lang, LocalizedText, screen as phrases};
use avocet_tools::exec::{
    HelperProgram, read_bytes_from_helper, read_from_helper, write_to_helper,
};
use avocet_tools::image::{self, PreparedImage};

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
            Some("tmux") if self.is_tmux_only => phrases::COPIED_TMUX_ONLY.with("n", self.chars),
            Some("tmux") => phrases::COPIED_TMUX.with("n", self.chars),
            Some(program) => phrases::COPIED.with("n", self.chars).with("program", program),
            None => phrases::COPIED_SENT.with("n", self.chars),
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
        self.reaching(WAYS)
    }

    fn reaching(
        &self,
        programs: &'static [ClipboardProgram],
    ) -> impl Iterator<Item = &'static ClipboardProgram> {
        let far = self.is_set("SSH_CONNECTION") || self.is_set("SSH_TTY");
        programs
            .iter()
            .filter(move |way| self.is_set(way.needs) && (way.reaches_remote_user || !far))
    }

    async fn copy(self, text: String) -> CopyResult {
        let chars = text.chars().count();
        for way in self.usable_programs() {
            let program = way.program;
            let args = way.args;

            let helper_program = HelperProgram { program, args, variables: self.variables.clone() };
            if write_to_helper(&helper_program, &encode(program, &text)).await.is_ok() {
                let held_back = program == "tmux" && self.is_tmux_clipboard_off().await;
                return CopyResult { chars, program: Some(program), is_tmux_only: held_back };
            }
        }
        CopyResult { chars, program: None, is_tmux_only: false }
    }

    /// Whether tmux is set to leave the terminal's clipboard alone.
    async fn is_tmux_clipboard_off(&self) -> bool {
        let args = &["show-options", "-sv", "set-clipboard"];
        let program = HelperProgram { program: "tmux", args, variables: self.variables.clone() };
        read_from_helper(&program).await.is_ok_and(|answer| answer.trim() == "off")
    }
}

/// Windows reads UTF-16, all other programs UTF-8.
fn encode(program: &str, text: &str) -> Vec<u8> {
    match program {
        "clip.exe" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        _ => text.as_bytes().to_vec(),
    }
}

/// What is pasted: an image, or why there is none.
pub type PastedResult = Result<PreparedImage, LocalizedText>;

/// Programs that give the image in the clipboard as PNG.
#[rustfmt::skip]
const IMAGE_WAYS: &[ClipboardProgram] = &[
    ClipboardProgram { needs: "WAYLAND_DISPLAY", program: "wl-paste", args: &["--type", "image/png"], reaches_remote_user: false },
    ClipboardProgram { needs: "DISPLAY", program: "xclip", args: &["-selection", "clipboard", "-t", "image/png", "-o"], reaches_remote_user: false },
    ClipboardProgram { needs: "HOME", program: "pngpaste", args: &["-"], reaches_remote_user: false },
    ClipboardProgram { needs: "HOME", program: "osascript", args: &["-e", "get the clipboard as «class PNGf»"], reaches_remote_user: false },
];

impl Clipboard {
    async fn read_image(self, lang: Lang) -> PastedResult {
        for way in self.reaching(IMAGE_WAYS) {
            let program = way.program;
            let args = way.args;

            let program = HelperProgram { program, args, variables: self.variables.clone() };
            // As text, two letters are a byte.
            let Ok(said) = read_bytes_from_helper(&program, image::MAX_LENGTH * 2).await else {
                continue;
            };
            let bytes = png_of_script(&said).unwrap_or(said);
            if image::is_image(&bytes) {
                let name = phrases::CLIPBOARD.text(lang);
                let work = tokio::task::spawn_blocking(move || image::prepare(bytes, name));
                return work.await.unwrap_or_else(|_| Err(phrases::NO_IMAGE_PASTED.into()));
            }
        }
        Err(phrases::NO_IMAGE_PASTED.into())
    }
}

/// The bytes in `«data PNGf89504E47…»`, as AppleScript writes them.
fn png_of_script(said: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(said).ok()?;
    let hex = text.trim().strip_prefix("«data PNGf")?.strip_suffix('»')?;
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// Takes an image out of the clipboard in the background.
#[derive(Debug)]
pub struct ImagePaster {
    clipboard: Clipboard,
    work: Option<JoinHandle<PastedResult>>,
}

impl ImagePaster {
    pub fn new(clipboard: Clipboard) -> ImagePaster {
        ImagePaster { clipboard, work: None }
    }

    /// Begins to read; while one is being read, nothing.
    pub fn paste(&mut self, lang: Lang) {
        if self.work.is_none() {
            self.work = Some(tokio::spawn(self.clipboard.clone().read_image(lang)));
        }
    }

    /// Waits for the result; for ever while nothing is being read.
    pub async fn next_result(&mut self) -> PastedResult {
        finished(&mut self.work).await
    }
}

/// The result of the work, once; for ever while there is none.
async fn finished<T>(work: &mut Option<JoinHandle<T>>) -> T {
    loop {
        let Some(running) = work else { return pending().await };
        let done = running.await;
        *work = None;
        if let Ok(result) = done {
            return result;
        }
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
        if self.clipboard.is_set("TMUX") { Multiplexer::Tmux } else { Multiplexer::None }
    }

    /// Begins to copy; a copy still in progress is abandoned.
    pub fn copy(&mut self, text: String) {
        if let Some(before) = self.work.replace(tokio::spawn(self.clipboard.clone().copy(text))) {
            before.abort();
        }
    }

    /// Waits for the result; for ever while nothing is being copied.
    pub async fn next_result(&mut self) -> CopyResult {
        finished(&mut self.work).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn an_image_that_a_script_writes_as_letters_is_read() {
        assert_eq!(png_of_script("«data PNGf89504E47»\n".as_bytes()).unwrap(), *b"\x89PNG");
        assert_eq!(png_of_script("«data PNGf8»".as_bytes()), Some(vec![8]));
        assert_eq!(png_of_script("«data PNGfzz»".as_bytes()), None);
        assert_eq!(png_of_script(b"\x89PNG"), None);
    }

    #[tokio::test]
    async fn without_a_program_that_gives_an_image_there_is_a_sentence() {
        let far = [("DISPLAY", ":9"), ("SSH_TTY", "x")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        let mut paster = ImagePaster::new(Clipboard { variables: far.into() });
        paster.paste(Lang::En);
        assert_eq!(paster.next_result().await.unwrap_err().phrase(), phrases::NO_IMAGE_PASTED);
    }

    #[test]
    fn windows_gets_utf_16() {
        assert_eq!(encode("clip.exe", "中"), [0x2d, 0x4e]);
        assert_eq!(encode("pbcopy", "中"), "中".as_bytes());
    }
}
