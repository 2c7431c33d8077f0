//! Parses one typed line into its intent, before any model sees it (002 §2.1).
//!
//! | typed | meaning |
//! |---|---|
//! | `/name args…` | a command; the name decides later which kind |
//! | `!cmd`, `! cmd`, `` !`cmd` `` | a line for the user's shell |
//! | `!!cmd` | the same, and its output is kept out of the context |
//! | `` text !`cmd` text `` | is replaced by the output of the line |
//! | `@path`, `@"a b"`, `@dir/`, `@file:10-40` | a file that is sent with the message |
//! | `exit`, `quit`, `:q`, `help`, alone | `/exit`, `/help` |
//! | `\/`, `\!`, `\@` | the plain character |
//! | anything else | a message |
//!
//! `/` begins a command only if a name follows at once and that name contains no second `/`, so
//! `/usr/bin/env is missing` is a message. Only the first line is checked: a pasted text that has
//! `/x` or `!x` further down is a message as a whole.

use std::ops::Range;

use super::{args, mention};
use crate::protocol::{Mention, Op, PastedImage, Prompt, PromptPart, TurnOp};

/// The intent of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intent {
    Empty,
    /// Text for the model, and the files mentioned in it.
    Message {
        parts: Vec<PromptPart>,
    },
    /// A slash command, a user's command or a skill. `args` is the rest as typed, with the files
    /// mentioned in it.
    Command {
        name: String,
        args: String,
        mentions: Vec<Mention>,
    },
    /// A line for the shell. `keep`: its output goes into the context.
    Shell {
        line: String,
        keep: bool,
    },
}

/// A line split into instructions and the remaining text (002 §2.1). The files it mentions are read
/// later, elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreprocessingResult {
    pub cleaned_content: String,
    pub commands: Vec<CommandInstruction>,
    /// In order of appearance, including those in the arguments of a command.
    pub mentions: Vec<Mention>,
    /// True if no text is left for the model.
    pub should_halt: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandInstruction {
    /// The skill or command, or the first word of the shell line.
    pub name: String,
    /// The other words, without their quotes.
    pub args: Vec<String>,
    pub kind: InstructionKind,
    /// The line as typed.
    pub original: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionKind {
    Skill,
    Shell,
}

/// Splits a typed text. Never fails: anything else is a message.
pub fn preprocess(content: &str) -> PreprocessingResult {
    let instruction = |name, args, kind| CommandInstruction {
        name,
        args,
        kind,
        original: content.trim().to_owned(),
    };
    match parse(content) {
        Intent::Empty => PreprocessingResult::default(),
        Intent::Message { parts } => PreprocessingResult {
            cleaned_content: text_of(&parts),
            mentions: mentions_of(&parts),
            ..PreprocessingResult::default()
        },
        Intent::Command { name, args, mentions } => PreprocessingResult {
            commands: vec![instruction(name, args::split(&args), InstructionKind::Skill)],
            mentions,
            should_halt: true,
            ..PreprocessingResult::default()
        },
        Intent::Shell { line, .. } => {
            let mut words = args::split(&line).into_iter();
            let name = words.next().unwrap_or_default();
            PreprocessingResult {
                commands: vec![instruction(name, words.collect(), InstructionKind::Shell)],
                should_halt: true,
                ..PreprocessingResult::default()
            }
        }
    }
}

/// Words of other programs that are a command if nothing else is in the line.
const BARE_COMMANDS: [(&str, &str); 7] = [
    ("exit", "exit"),
    ("quit", "exit"),
    (":q", "exit"),
    (":q!", "exit"),
    (":wq", "exit"),
    (":x", "exit"),
    ("help", "help"),
];

/// Parses typed text.
pub fn parse(typed: &str) -> Intent {
    parse_with_pastes(typed, &[])
}

/// Parses text of which parts were pasted: in a pasted text `@` is a plain character.
pub fn parse_with_pastes(typed: &str, pasted: &[String]) -> Intent {
    let line = typed.trim();
    if line.is_empty() {
        return Intent::Empty;
    }
    command(line, pasted)
        .or_else(|| shell(line))
        .unwrap_or_else(|| Intent::Message { parts: message_parts(line, pasted) })
}

/// The text of a message, with the mentions and the shell lines as they were typed.
pub fn text_of(parts: &[PromptPart]) -> String {
    let typed = |part: &PromptPart| match part {
        PromptPart::Text(text) | PromptPart::Mention { text, .. } => text.clone(),
        PromptPart::Shell(line) => format!("!`{line}`"),
        PromptPart::Insert(_)
        | PromptPart::File { .. }
        | PromptPart::Image(_)
        | PromptPart::ServerPrompt(_)
        | PromptPart::Program(_) => String::new(),
    };
    parts.iter().map(typed).collect()
}

fn mentions_of(parts: &[PromptPart]) -> Vec<Mention> {
    let mention = |part: &PromptPart| match part {
        PromptPart::Mention { mention, .. } => Some(mention.clone()),
        PromptPart::Text(_)
        | PromptPart::Insert(_)
        | PromptPart::File { .. }
        | PromptPart::Shell(_)
        | PromptPart::Image(_)
        | PromptPart::ServerPrompt(_)
        | PromptPart::Program(_) => None,
    };
    parts.iter().filter_map(mention).collect()
}

/// The operation that submits a message. `whole` restores folded pastes in a text; the restored
/// text is not parsed.
pub fn submit_op(parts: Vec<PromptPart>, whole: impl Fn(&str) -> String) -> Op {
    let shown = whole(&text_of(&parts));
    if parts.iter().all(|part| matches!(part, PromptPart::Text(_))) {
        return Op::Turn(TurnOp::Submit { text: shown });
    }
    let unfolded = parts.into_iter().map(|part| match part {
        PromptPart::Text(text) => PromptPart::Text(whole(&text)),
        other => other,
    });
    let prompt = Prompt { shown, parts: unfolded.collect(), ..Prompt::default() };
    Op::Turn(TurnOp::SubmitPrompt { prompt: Box::new(prompt) })
}

/// The same message with these images.
pub fn with_images(op: Op, images: Vec<PastedImage>) -> Op {
    let mut prompt = match op {
        Op::Turn(TurnOp::Submit { text }) if !images.is_empty() => {
            let parts = vec![PromptPart::Text(text.clone())];
            Box::new(Prompt { shown: text, parts, ..Prompt::default() })
        }
        Op::Turn(TurnOp::SubmitPrompt { prompt }) => prompt,
        other => return other,
    };
    prompt.parts.extend(images.into_iter().map(PromptPart::Image));
    Op::Turn(TurnOp::SubmitPrompt { prompt })
}

fn command(line: &str, pasted: &[String]) -> Option<Intent> {
    let bare = BARE_COMMANDS.iter().find(|(word, _)| *word == line);
    let rest = match bare.map(|(_, name)| *name).or_else(|| line.strip_prefix('/'))? {
        "" | "?" => "help",
        rest => rest,
    };
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (name, args) = rest.split_at_checked(end)?;
    let args = args.trim();
    is_command_name(name).then(|| Intent::Command {
        name: name.to_owned(),
        args: args.to_owned(),
        mentions: mentions_in(args, pasted).into_iter().map(|found| found.mention).collect(),
    })
}

/// A letter or digit first, in any script, or `?`; then also `.`, `_`, `-` and `:`.
fn is_command_name(name: &str) -> bool {
    name.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '?')
        && name.chars().all(|c| c.is_alphanumeric() || "._-:?".contains(c))
}

fn shell(line: &str) -> Option<Intent> {
    let rest = line.strip_prefix('!')?;
    let (rest, keep) = match rest.strip_prefix('!') {
        Some(rest) => (rest, false),
        None => (rest, true),
    };
    let rest = rest.trim();
    let rest = rest
        .strip_prefix('`')
        .and_then(|inner| inner.strip_suffix('`'))
        .filter(|inner| !inner.contains('`'))
        .unwrap_or(rest)
        .trim();
    (!rest.is_empty()).then(|| Intent::Shell { line: rest.to_owned(), keep })
}

/// Splits a message into text, mentions of files and shell lines. What was `pasted` is text only.
fn message_parts(line: &str, pasted: &[String]) -> Vec<PromptPart> {
    let line = line.strip_prefix('\\').filter(|rest| rest.starts_with(['/', '!'])).unwrap_or(line);
    let mut parts = Vec::new();
    let mut done = 0;
    let words = |from: usize, to: usize| unescape(line.get(from..to).unwrap_or_default());
    let mentions = mentions_in(line, pasted).into_iter().map(|found| {
        let text = line.get(found.from..found.to).unwrap_or_default().to_owned();
        (found.from..found.to, PromptPart::Mention { text, mention: found.mention })
    });
    let mut found: Vec<_> = inline_shell(line, pasted).into_iter().chain(mentions).collect();
    found.sort_by_key(|(span, _)| span.start);
    for (span, part) in found {
        // A mention in a shell line belongs to that.
        if span.start < done {
            continue;
        }
        if span.start > done {
            parts.push(PromptPart::Text(words(done, span.start)));
        }
        parts.push(part);
        done = span.end;
    }
    if done < line.len() {
        parts.push(PromptPart::Text(words(done, line.len())));
    }
    parts
}

/// The shell lines in a message, `` !`cmd` ``: outside of a pasted text and of fenced code.
fn inline_shell(line: &str, pasted: &[String]) -> Vec<(Range<usize>, PromptPart)> {
    let mut found: Vec<(Range<usize>, PromptPart)> = Vec::new();
    for (from, mark) in line.match_indices("!`") {
        let before = line.get(..from).unwrap_or_default();
        let is_inside = found.last().is_some_and(|(span, _)| from < span.end)
            || is_pasted(line, pasted, from)
            || before.matches("```").count() % 2 == 1;
        let inner = from + mark.len();
        let rest = line.get(inner..).unwrap_or_default();
        let Some((command, _)) = rest.split_once('`') else { break };
        let runs = !command.trim().is_empty() && !command.contains('\n');
        if runs && !is_inside && mention::can_begin_after(before.chars().next_back()) {
            let span = from..inner + command.len() + 1;
            found.push((span, PromptPart::Shell(command.trim().to_owned())));
        }
    }
    found
}

/// Whether a place of the line is in a pasted text.
fn is_pasted(line: &str, pasted: &[String], at: usize) -> bool {
    pasted.iter().filter(|text| !text.is_empty()).any(|text| {
        line.match_indices(text.as_str()).any(|(from, _)| (from..from + text.len()).contains(&at))
    })
}

/// The mentions that are not in a pasted text.
fn mentions_in(line: &str, pasted: &[String]) -> Vec<mention::MentionSpan> {
    mention::find(line).into_iter().filter(|found| !is_pasted(line, pasted, found.from)).collect()
}

/// Removes the escapes: `\@` and `` \!` `` anywhere.
fn unescape(text: &str) -> String {
    text.replace(r"\@", "@").replace(r"\!`", "!`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Intent {
        Intent::Message { parts: vec![PromptPart::Text(text.into())] }
    }

    fn command(name: &str, args: &str) -> Intent {
        Intent::Command { name: name.into(), args: args.into(), mentions: Vec::new() }
    }

    fn shell(line: &str, keep: bool) -> Intent {
        Intent::Shell { line: line.into(), keep }
    }

    fn mention_texts(mentions: &[Mention]) -> Vec<String> {
        mentions.iter().map(Mention::as_typed).collect()
    }

    #[test]
    fn each_form_means_what_the_table_says() {
        let cases = [
            ("hello world", message("hello world")),
            ("  \n ", Intent::Empty),
            ("/help", command("help", "")),
            ("/", command("help", "")),
            ("/?", command("help", "")),
            ("help", command("help", "")),
            (" exit ", command("exit", "")),
            (":q", command("exit", "")),
            ("help me", message("help me")),
            ("\nexit\nnow", message("exit\nnow")),
            ("/commit -m 'wip'", command("commit", "-m 'wip'")),
            ("/summarize focus\non risks", command("summarize", "focus\non risks")),
            ("/创建 新的", command("创建", "新的")),
            ("!ls -la", shell("ls -la", true)),
            ("! npm test", shell("npm test", true)),
            ("!`ls -la`", shell("ls -la", true)),
            ("!!env", shell("env", false)),
            ("!echo `date` `pwd`", shell("echo `date` `pwd`", true)),
        ];
        for (typed, meant) in cases {
            assert_eq!(parse(typed), meant, "{typed:?}");
        }
    }

    #[test]
    fn a_path_at_the_start_is_a_message() {
        assert_eq!(parse("/usr/bin/env is missing"), message("/usr/bin/env is missing"));
        assert_eq!(parse("/ what is this"), message("/ what is this"));
        assert_eq!(parse("//comment"), message("//comment"));
    }

    #[test]
    fn a_shell_line_in_a_message_is_a_part_of_it() {
        let shell = |line: &str| PromptPart::Shell(line.into());
        let text = |words: &str| PromptPart::Text(words.into());
        let parts = |typed: &str| match parse(typed) {
            Intent::Message { parts } => parts,
            other => panic!("{other:?}"),
        };
        let typed = "Look at !`git status --short @x` please";
        let expected = [text("Look at "), shell("git status --short @x"), text(" please")];
        assert_eq!(parts(typed), expected);
        assert_eq!(text_of(&expected), typed);
        assert!(matches!(
            submit_op(parts(typed), str::to_owned),
            Op::Turn(TurnOp::SubmitPrompt { .. })
        ));
        for plain in ["a !`` b", "a !`open", "x!`y`", "see\n```\n!`ls`\n```", "a !b` c`"] {
            assert_eq!(parts(plain), [text(plain)], "{plain}");
        }
        assert_eq!(parts(r"a \!`ls`"), [text("a !`ls`")]);
        let pasted = parse_with_pastes("see !`rm x`", &["!`rm x`".into()]);
        assert_eq!(pasted, message("see !`rm x`"));
    }

    #[test]
    fn an_escape_gives_the_plain_character() {
        assert_eq!(parse(r"\/help is a command"), message("/help is a command"));
        assert_eq!(parse(r"\!important"), message("!important"));
        assert_eq!(parse(r"write to me\@example.org"), message("write to me@example.org"));
        assert_eq!(parse(r"\d is a digit"), message(r"\d is a digit"));
    }

    #[test]
    fn a_prefix_without_text_is_a_message() {
        assert_eq!(parse("!"), message("!"));
        assert_eq!(parse("!!"), message("!!"));
    }

    #[test]
    fn plain_text_is_a_message_without_instructions() {
        let read = preprocess("hello world");
        assert_eq!(read.cleaned_content, "hello world");
        assert!(read.commands.is_empty() && !read.should_halt);
    }

    #[test]
    fn a_slash_command_is_an_instruction_and_nothing_is_left_for_the_model() {
        let read = preprocess("/commit -m 'wip'");
        let [only] = &read.commands[..] else { panic!("{read:?}") };
        assert_eq!((only.name.as_str(), only.kind), ("commit", InstructionKind::Skill));
        assert_eq!(only.args, ["-m", "wip"]);
        assert_eq!(only.original, "/commit -m 'wip'");
        assert!(read.should_halt && read.cleaned_content.is_empty());
    }

    #[test]
    fn a_shell_line_is_an_instruction_in_each_of_its_spellings() {
        for typed in ["!ls -la", "! ls -la", "!`ls -la`"] {
            let read = preprocess(typed);
            let [only] = &read.commands[..] else { panic!("{read:?}") };
            assert_eq!((only.name.as_str(), only.kind), ("ls", InstructionKind::Shell));
            assert_eq!(only.args, ["-la"]);
            assert!(read.should_halt);
        }
    }

    #[test]
    fn a_file_mentioned_in_the_arguments_of_a_command_is_found() {
        let read = preprocess("/review @src/index.ts");
        assert_eq!(read.commands[0].args, ["@src/index.ts"]);
        assert_eq!(mention_texts(&read.mentions), ["@src/index.ts"]);
    }

    #[test]
    fn a_file_mentioned_in_a_message_is_separated_from_its_text() {
        let Intent::Message { parts } = parse("check this @file, please") else { panic!() };
        let mention = Mention { path: "file".into(), lines: None };
        let expected = [
            PromptPart::Text("check this ".into()),
            PromptPart::Mention { text: "@file".into(), mention },
            PromptPart::Text(", please".into()),
        ];
        assert_eq!(parts, expected);
        assert_eq!(preprocess("check this @file").cleaned_content, "check this @file");
    }

    #[test]
    fn chinese_punctuation_ends_a_path() {
        let read = preprocess("看看@src/main.rs，谢谢");
        assert_eq!(mention_texts(&read.mentions), ["@src/main.rs"]);
        assert_eq!(read.cleaned_content, "看看@src/main.rs，谢谢");
    }

    #[test]
    fn in_a_pasted_text_an_at_sign_is_a_character() {
        let pasted = ["see @a.rs".to_owned()];
        let Intent::Message { parts } = parse_with_pastes("@b.rs and see @a.rs", &pasted) else {
            panic!()
        };
        assert_eq!(mention_texts(&mentions_of(&parts)), ["@b.rs"]);
        assert_eq!(text_of(&parts), "@b.rs and see @a.rs");
    }

    #[test]
    fn the_contents_of_a_folded_paste_are_not_parsed() {
        let Intent::Message { parts } = parse("@a.rs [pasted]") else { panic!() };
        let Op::Turn(TurnOp::SubmitPrompt { prompt }) =
            submit_op(parts, |text| text.replace("[pasted]", "@b.rs"))
        else {
            panic!()
        };
        assert_eq!(prompt.shown, "@a.rs @b.rs");
        assert_eq!(prompt.parts[1], PromptPart::Text(" @b.rs".into()));
    }

    #[test]
    fn a_shell_line_mentions_no_files() {
        assert!(preprocess("!cat @a").mentions.is_empty());
    }
}
