//! What one line of input does. (Stand-in until the real one is merged.)

use crate::protocol::{Facts, Notice, Op};
use crate::words::{Lang, Say, Word, screen};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    Screen,
}

#[derive(Debug)]
pub struct Call<'a> {
    pub facts: &'a Facts,
    pub lang: Lang,
    pub reach: Surface,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub name: String,
    pub say: Say,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Send(Op),
    Say(Notice),
    Page { title: Say, rows: Vec<Row> },
    Do(Act),
    Many(Vec<Outcome>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    Quit,
    Help(Option<String>),
    Theme(String),
    Lang(Lang),
    Copy(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    Session,
    Configuration,
    Info,
    Exit,
}

#[derive(Clone, Copy, Debug)]
pub enum Args {
    None,
    Optional(&'static str),
    Required(&'static str),
    Choice(&'static [&'static str]),
}

#[derive(Debug)]
pub struct Command {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub about: Word,
    pub category: Category,
    pub args: Args,
}

#[rustfmt::skip]
pub const COMMANDS: &[Command] = &[
    Command { name: "help", aliases: &[], about: screen::KEY_HELP, category: Category::Info, args: Args::Optional("topic") },
    Command { name: "new", aliases: &["reset", "clear"], about: screen::KEY_HELP, category: Category::Session, args: Args::None },
    Command { name: "exit", aliases: &["quit", "q"], about: screen::KEY_LEAVE, category: Category::Exit, args: Args::None },
    Command { name: "mode", aliases: &[], about: screen::KEY_HELP, category: Category::Configuration, args: Args::Choice(&["low", "high"]) },
    Command { name: "theme", aliases: &[], about: screen::KEY_HELP, category: Category::Configuration, args: Args::Optional("name") },
    Command { name: "lang", aliases: &[], about: screen::KEY_HELP, category: Category::Configuration, args: Args::Choice(&["en", "zh"]) },
    Command { name: "copy", aliases: &[], about: screen::KEY_HELP, category: Category::Session, args: Args::Optional("n") },
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub text: String,
    pub hint: String,
    pub about: String,
    pub category: String,
}

pub fn complete(input: &str, call: &Call<'_>) -> Vec<Candidate> {
    let input = input.trim_start_matches('/');
    if let Some((name, _)) = input.split_once(' ') {
        let command = COMMANDS.iter().find(|command| command.name == name);
        let Some(Command { args: Args::Choice(choices), .. }) = command else { return vec![] };
        return choices
            .iter()
            .map(|choice| Candidate {
                text: (*choice).into(),
                hint: String::new(),
                about: String::new(),
                category: String::new(),
            })
            .collect();
    }
    COMMANDS
        .iter()
        .map(|command| Candidate {
            text: format!("/{}", command.name),
            hint: match command.args {
                Args::None => String::new(),
                Args::Optional(hint) => format!("[{hint}]"),
                Args::Required(hint) => format!("<{hint}>"),
                Args::Choice(choices) => choices.join("|"),
            },
            about: command.about.text(call.lang).into(),
            category: format!("{:?}", command.category),
        })
        .collect()
}

pub fn dispatch(name: &str, args: &str, _call: &Call<'_>) -> Outcome {
    match name {
        "help" => Outcome::Do(Act::Help(None)),
        "exit" => Outcome::Do(Act::Quit),
        "new" => Outcome::Send(Op::New),
        "theme" => Outcome::Do(Act::Theme(args.into())),
        "lang" => Outcome::Do(Act::Lang(Lang::parse(args).unwrap_or_default())),
        "copy" => Outcome::Do(Act::Copy(1)),
        _ => Outcome::Say(Notice::error(screen::KEY_HELP)),
    }
}
