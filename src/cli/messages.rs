//! Writes messages to standard error: `error: …`, a blank line, `hint: …`.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr as _;

use super::{Clean, Exit, output};
use avocet_core::i18n::{Lang, cli as w};
use avocet_core::protocol::{Notice, NoticeLevel};
use avocet_tui::text::wrap_ranges;

/// How to write sentences: their language, and what makes them safe.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    pub lang: Lang,
    pub clean: Clean,
    /// In columns; `None`: lines are not broken.
    pub width: Option<usize>,
}

impl Printer {
    /// Appends a text that follows `begin`, in lines that are not too wide. Those that continue one
    /// are indented.
    pub fn append(self, page: &mut String, begin: &str, text: &str) {
        let indent = " ".repeat(begin.width());
        for (at, line) in text.split('\n').enumerate() {
            let width = self.width.map_or(usize::MAX, |width| width.saturating_sub(indent.len()));
            for (row, range) in wrap_ranges(line, width).into_iter().enumerate() {
                *page += if (at, row) == (0, 0) { begin } else { &indent };
                *page += line.get(range).unwrap_or_default();
                page.truncate(page.trim_end_matches(' ').len());
                page.push('\n');
            }
        }
    }
}

/// Writes a notice. A closed stream is not an error: it cannot be reported anywhere else.
pub fn notice(out: &mut impl Write, notice: &Notice, printer: Printer) {
    let label = match notice.level {
        NoticeLevel::Info => None,
        NoticeLevel::Warning => Some(w::WARNING),
        NoticeLevel::Error => Some(w::ERROR),
    };
    let label = label.map(|label| format!("{}: ", label.text(printer.lang))).unwrap_or_default();
    let sentence = (printer.clean)(&notice.say.text(printer.lang));
    let mut page = String::new();
    printer.append(&mut page, "", &format!("{label}{sentence}"));
    if let Some(hint) = &notice.hint {
        let hint = (printer.clean)(&hint.text(printer.lang));
        page.push('\n');
        printer.append(&mut page, "", &format!("{}: {hint}", w::HINT.text(printer.lang)));
    }
    let _ = out.write_all(page.as_bytes());
}

/// Writes clap's page instead of a parsed command line: help to standard output, wrong use to
/// standard error.
pub fn usage(page: &clap::Error) -> Exit {
    // Only a closed pipe can make this fail.
    let text = page.render().to_string();
    match page.exit_code() {
        0 => {
            let _ = write_text(&mut output::stdout(), text);
            Exit::Done
        }
        _ => {
            let _ = write_text(&mut output::stderr(), text);
            Exit::WrongUse
        }
    }
}

/// Writes an answer. A closed pipe is not an error; the caller reports any other error.
pub fn write_text(out: &mut impl Write, text: impl AsRef<[u8]>) -> io::Result<()> {
    match out.write_all(text.as_ref()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(notice_: &Notice, lang: Lang) -> String {
        let mut out = Vec::new();
        notice(
            &mut out,
            notice_,
            Printer { lang, clean: |text| text.replace('\x1b', "␛"), width: None },
        );
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_error_and_its_hint_are_on_separate_lines() {
        let notice = Notice::error(w::NO_PROMPT).with_hint(w::NO_PROMPT_HINT);
        let text = written(&notice, Lang::En);
        assert!(text.starts_with("error: ") && text.contains("\n\nhint: "), "{text}");
        assert!(written(&notice, Lang::Zh).starts_with("错误: "));
    }

    #[test]
    fn foreign_text_in_a_sentence_is_made_safe() {
        let notice = Notice::error(w::SCHEMA_UNREADABLE.with("file", "\x1b[2J").with("why", "x"));
        assert!(!written(&notice, Lang::En).contains('\x1b'));
    }
}
