//! Questions at a terminal without a screen: a question on standard error, then a line of standard
//! input.

use std::io::{self, BufRead, Read, Write};
use std::time::Instant;

use crate::cli::messages::{self, Printer};
use crate::cli::output;
use crate::cli::print::QUIET;
use avocet_core::i18n::{LocalizedText, common, linear, prompt, script_run};
use avocet_core::protocol::{Notice, Question};
use avocet_core::terminal_modes::discard_typed;
use avocet_present::Severity;
use avocet_present::choices::{is_no, is_yes, normalize_width};
use avocet_present::question_lines::question_lines;
use avocet_script::host::{InputAnswer, InputForm, InputQuestion};
use avocet_session::script_host::ScriptAnswer;
use avocet_session::script_turn::input_choices;

/// The longest line that is read, in bytes.
const MAX_LINE: u64 = 16 << 20;

/// Writes a question, and a prompt sign once it could be read. What was typed before it could be read does not answer it: the question is
/// written again. Blocks.
pub fn write_question(text: &LocalizedText, printer: Printer) {
    loop {
        let _ = write!(output::stderr(), "{} ", (printer.clean)(&text.text(printer.lang)));
        let shown = Instant::now();
        while let Some(left) = QUIET.checked_sub(shown.elapsed()) {
            std::thread::park_timeout(left);
        }
        if !discard_typed() {
            let _ = write!(output::stderr(), "> ");
            return;
        }
        let _ = writeln!(output::stderr());
        messages::notice(&mut output::stderr(), &Notice::info(prompt::TERMINAL_TOO_SOON), printer);
    }
}

/// A question of a script.
#[derive(Debug)]
pub enum TerminalQuestion {
    Input(InputQuestion),
    /// May it make this call?
    Call(LocalizedText),
    /// May it run this step?
    Step(Severity, Box<Question>),
}

impl TerminalQuestion {
    /// Asks until the answer is one; the end of the input declines.
    pub async fn answer(self, printer: Printer) -> ScriptAnswer {
        let ask = move || match self {
            TerminalQuestion::Input(question) => type_answer(&question, printer),
            TerminalQuestion::Call(text) => {
                let asks = [common::SCRIPT_ASKS.with("text", text)];
                confirm(&asks, Severity::Plain, printer)
            }
            TerminalQuestion::Step(severity, question) => {
                confirm(&question_lines(&question), severity, printer)
            }
        };
        tokio::task::spawn_blocking(ask).await.unwrap_or(ScriptAnswer::No)
    }
}

fn confirm(lines: &[LocalizedText], severity: Severity, printer: Printer) -> ScriptAnswer {
    let say = |text: &LocalizedText| {
        let _ = writeln!(output::stderr(), "{}", (printer.clean)(&text.text(printer.lang)));
    };
    lines.iter().for_each(say);
    let (ask, again) = match severity {
        Severity::Plain => (prompt::TERMINAL_STEP, prompt::TERMINAL_Y_OR_N),
        Severity::HighRisk => (prompt::TERMINAL_STEP_GRAVE, linear::NEEDS_YES),
    };
    loop {
        write_question(&ask.into(), printer);
        let Ok(Some(line)) = read_line() else { return ScriptAnswer::No };
        let typed = normalize_width(&line);
        if severity.is_confirmed(&typed, is_yes(&typed)) {
            return ScriptAnswer::Yes;
        } else if is_no(&typed) {
            return ScriptAnswer::No;
        }
        say(&again.into());
    }
}

/// Asks for a value on the terminal: the question and its choices, then a line. Without a line
/// the question stays unanswered.
fn type_answer(question: &InputQuestion, printer: Printer) -> ScriptAnswer {
    let (choices, free) = input_choices(&question.form, printer.lang);
    let numbered = choices.iter().enumerate();
    let numbered = numbered.map(|(at, choice)| format!("\n  {} {choice}", at + 1));
    let text = question.text.text(printer.lang) + &numbered.collect::<String>();
    let mut prompt = format!("{}\n> ", (printer.clean)(&text));
    loop {
        let _ = write!(output::stderr(), "{prompt}").and_then(|()| output::stderr().flush());
        let Ok(Some(line)) = read_line() else { return ScriptAnswer::No };
        let typed = line.trim();
        let number = typed.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let named = choices.iter().position(|choice| choice.eq_ignore_ascii_case(typed));
        let number = number.filter(|at| *at < choices.len());
        let picked = named.or_else(|| match &question.form {
            InputForm::Confirm => position_of_letter(typed).or(number),
            InputForm::Text { .. } => None,
            InputForm::Choice { .. } => number,
        });
        match picked {
            Some(at) => return ScriptAnswer::Input(InputAnswer::Picked(at)),
            None if free => return ScriptAnswer::Input(InputAnswer::Text(typed.to_owned())),
            None => {
                let what = script_run::INPUT_ONE_OF.with("list", choices.join(", "));
                prompt = format!("{}\n> ", (printer.clean)(&what.text(printer.lang)));
            }
        }
    }
}

/// `y` is the first choice of a confirmation, `n` the second.
fn position_of_letter(typed: &str) -> Option<usize> {
    let letters = [["y", "yes", "是"], ["n", "no", "否"]];
    letters.iter().position(|words| words.iter().any(|word| word.eq_ignore_ascii_case(typed)))
}

/// One line of the terminal; `None` at its end.
fn read_line() -> io::Result<Option<String>> {
    let mut line = String::new();
    let read = io::stdin().lock().take(MAX_LINE).read_line(&mut line)?;
    Ok((read > 0).then_some(line))
}
