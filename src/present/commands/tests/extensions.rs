//! What users add to the commands: their own commands, skills and bots.

use super::*;

pub(super) fn entry(
    kind: ExtensionKind,
    name: &str,
    about: &str,
    state: ExtensionState,
) -> Extension {
    let from = i18n::commands::SKILLS.into();
    let (name, about, hint) = (name.into(), about.into(), String::new());
    Extension { kind, name, about, hint, from, state, traits: CommandTraits::default() }
}

/// A user with a few custom commands, skills and bots.
pub(super) fn with_extensions() -> CommandFixture {
    use ExtensionKind::{Command, Skill};
    let hidden = || ExtensionState::Hidden(i18n::commands::NO_RULES.into());
    let broken = ExtensionState::Broken(i18n::commands::NO_TOOLS.into());
    let entries = vec![
        entry(Command, "summarize", "Summarise", ExtensionState::Usable),
        entry(Command, "git:commit", "Commit", ExtensionState::Usable),
        entry(Command, "pdf", "The command", ExtensionState::Usable),
        entry(Skill, "pdf", "The skill", hidden()),
        entry(Skill, "find-bug", "Find it", ExtensionState::Usable),
        entry(Skill, "deploy", "Deploy it", ExtensionState::Sensitive),
        entry(Command, "help", "/x/help.toml", hidden()),
        entry(Command, "torn", "/x/torn.toml", broken),
    ];
    let bots = vec![("reviewer".to_owned(), "Reviews".to_owned())];
    CommandFixture {
        extensions: Extensions { entries, bots, ..Extensions::default() },
        ..fixture()
    }
}

pub(super) fn invoked(name: &str, args: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Turn(TurnOp::Invoke {
        name: name.into(),
        args: args.into(),
        mentions: vec![],
    }))
}

#[test]
fn a_built_in_wins_over_a_command_and_a_command_over_a_skill() {
    let keeper = with_extensions();
    assert_eq!(keeper.dispatch_line("/help"), CommandOutcome::Do(UiAction::Help(None)));
    assert_eq!(
        keeper.dispatch_line("/summarize focus on  risks"),
        invoked("summarize", "focus on  risks")
    );
    assert_eq!(keeper.dispatch_line("/pdf x"), invoked("pdf", "x"));
    assert_eq!(keeper.dispatch_line("/find-bug"), invoked("find-bug", ""));
    assert_eq!(keeper.dispatch_line("/deploy now"), invoked("deploy", "now"));
    assert_eq!(
        keeper.dispatch_line("/commit"),
        invoked("git:commit", ""),
        "the last part is enough"
    );
}

#[test]
fn unlike_r9s_an_unknown_name_is_answered_with_similar_names_of_all_kinds() {
    let keeper = with_extensions();
    assert_eq!(
        keeper.notice_for("/sumarize x"),
        "There is no command `/sumarize`. Did you mean `/summarize`?"
    );
    assert_eq!(keeper.notice_for("/torn"), "None.", "why it cannot be used");
    assert!(keeper.notice_for("/weather").contains("`/help` lists"));
}

#[test]
fn custom_commands_and_skills_are_completed_and_explained_like_the_rest() {
    let keeper = with_extensions();
    assert_eq!(keeper.offers("/summ"), ["/summarize"]);
    assert_eq!(keeper.offers("/commit"), ["/git:commit"]);
    assert_eq!(keeper.offers("/pdf"), ["/pdf"], "once");
    assert_eq!(keeper.offers("/torn"), [""; 0]);
    assert_eq!(keeper.offers("/help find"), ["/help find-bug"]);
    let page = |topic: &str| page_rows(help_page(Some(topic), Surface::Local, &keeper.extensions));
    assert_eq!(page("/summarize")[..2], ["Summarise", "usage: /summarize"]);
    assert!(page("deploy").iter().any(|line| line.contains("only when you type it")));
    let all = page_rows(help_page(None, Surface::Local, &keeper.extensions));
    for line in [
        "# Your commands",
        "/summarize: Summarise",
        "# Skills",
        "/find-bug: Find it",
        "# Unusable",
        "/torn: None.",
    ] {
        assert!(all.contains(&line.to_owned()), "{line}: {all:?}");
    }
}

#[test]
fn commands_and_skills_are_listed_with_their_problems() {
    let keeper = with_extensions();
    let commands = page_rows(keeper.dispatch_line("/commands"));
    assert!(commands.contains(&"/summarize: Summarise".to_owned()), "{commands:?}");
    assert!(commands.contains(&"/torn: None.".to_owned()), "{commands:?}");
    let skills = page_rows(keeper.dispatch_line("/skills"));
    assert!(
        skills.contains(&"/deploy: Deploy it (only when you type it)".to_owned()),
        "{skills:?}"
    );
    assert!(page_rows(fixture().dispatch_line("/skills"))[0].contains("avocet init-home"));
    assert!(page_rows(fixture().dispatch_line("/commands"))[0].contains("avocet command new"));
}

#[test]
fn skills_over_the_limit_are_counted() {
    let mut keeper = with_extensions();
    keeper.extensions.entries = (0..5_000)
        .map(|number| {
            entry(ExtensionKind::Skill, &format!("s{number}"), "x", ExtensionState::Usable)
        })
        .collect();
    let page = page_rows(keeper.dispatch_line("/skills"));
    assert_eq!(page.last().unwrap(), "… and 4800 more");
    let help = page_rows(help_page(None, Surface::Local, &keeper.extensions));
    assert_eq!(help.last().unwrap(), ": … and 4800 more");
}

#[test]
fn skills_omitted_from_the_models_list_are_reported_with_the_limit() {
    let mut keeper = with_extensions();
    let names = vec!["s3".to_owned(), "s4".to_owned()];
    let cut = OmittedSkills { of: 6, cut: true, most: 8 * 1024, ..OmittedSkills::default() };
    keeper.extensions.untold = OmittedSkills { count: 3, names, ..cut.clone() };
    let page = page_rows(keeper.dispatch_line("/skills"));
    let [.., say, named, more] = &page[..] else { panic!("{page:?}") };
    assert!(say.contains("8 KiB") && say.contains("3 of 6 are left out"), "{say}");
    assert_eq!((named.as_str(), more.as_str()), ("Left out: s3, s4", "… and 1 more"));
    keeper.extensions.untold = cut.clone();
    let page = page_rows(keeper.dispatch_line("/skills"));
    assert!(page.last().unwrap().contains("all 6 are in it, with"), "{page:?}");
    keeper.extensions.untold = OmittedSkills { names_only: true, ..cut };
    let page = page_rows(keeper.dispatch_line("/skills"));
    assert!(page.last().unwrap().contains("by name alone"), "{page:?}");
}

#[test]
fn bot_selects_a_bot_by_name_or_from_a_list_or_leaves_it() {
    let mut keeper = with_extensions();
    let set = |name: Option<&str>| {
        CommandOutcome::Send(Op::Model(ModelOp::SetBot { name: name.map(str::to_owned) }))
    };
    assert_eq!(keeper.dispatch_line("/bot"), CommandOutcome::Do(UiAction::Bots));
    assert_eq!(keeper.dispatch_line("/bot reviewer"), set(Some("reviewer")));
    assert_eq!(
        keeper.dispatch_line("/bot reviwer"),
        set(Some("reviwer")),
        "the session says what is wrong"
    );
    assert_eq!(keeper.dispatch_line("/bot none"), set(None));
    assert_eq!(keeper.offers("/bot "), ["/bot reviewer"]);
    keeper.facts.bot = Some("reviewer".into());
    assert_eq!(keeper.offers("/bot "), ["/bot reviewer", "/bot none"]);
}
