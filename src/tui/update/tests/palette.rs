//! The list of commands: what its rows show, and what Enter does with the user's own commands.

use super::*;
use avocet_core::protocol::ModelOp;

fn own(name: &str, hint: &str) -> protocol::Extension {
    let required = hint.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let argument = |name: &str| protocol::CommandArgument {
        name: name.into(),
        is_required: true,
        ..protocol::CommandArgument::default()
    };
    let arguments = required.map(argument).into_iter().collect();
    protocol::Extension {
        kind: protocol::ExtensionKind::Command,
        name: name.into(),
        about: "Does it".into(),
        hint: hint.into(),
        from: avocet_core::i18n::library::OF_USER.into(),
        state: protocol::ExtensionState::Usable,
        traits: protocol::CommandTraits { arguments, ..protocol::CommandTraits::default() },
    }
}

fn with_commands(entries: Vec<protocol::Extension>) -> State {
    let mut state = screen();
    let extensions = protocol::Extensions { entries, ..protocol::Extensions::default() };
    receive(&mut state, protocol::Event::Catalogue(Box::new(extensions)));
    state
}

/// The rows of a screen of this size.
fn rows_at(state: &mut State, (width, height): (u16, u16)) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| drop(draw_frame(state, frame, 10_000))).unwrap();
    let cells = &terminal.backend().buffer().content;
    let row = |cells: &[ratatui::buffer::Cell]| cells.iter().map(|cell| cell.symbol()).collect();
    cells.chunks(width.into()).map(row).collect()
}

#[test]
fn names_that_begin_alike_are_whole_at_80_columns() {
    let names = ["temporal-python-testing", "temporal-python-testing-with-replay"];
    let mut state = with_commands(names.map(|name| own(name, "[file]")).to_vec());
    press(&mut state, "/temporal");
    let rows = rows_at(&mut state, (80, 24));
    for name in names {
        assert!(rows.iter().any(|row| row.contains(&format!("/{name} "))), "{name}: {rows:#?}");
    }
    assert!(rows.iter().any(|row| row.contains("Does it")), "{rows:#?}");
}

#[test]
fn the_list_takes_up_to_half_the_height() {
    let mut state = with_commands(Vec::new());
    press(&mut state, "/");
    let shown = |rows: &[String]| rows.iter().filter(|row| row.contains("  /")).count();
    let (low, high) = (rows_at(&mut state, (100, 24)), rows_at(&mut state, (100, 60)));
    assert!((8..=12).contains(&shown(&low)), "{low:#?}");
    assert!((20..=30).contains(&shown(&high)), "{high:#?}");
}

#[test]
fn an_own_command_that_takes_arguments_shows_its_hint_before_it_runs_without_them() {
    let mut state =
        with_commands(vec![own("explain", "[arguments]"), own("tests", "<file>"), own("tidy", "")]);
    assert_eq!(press(&mut state, "/expl\n"), []);
    assert_eq!(state.composer.display_text(), "/explain ");
    let runs = |name: &str, args: &str| {
        let (name, args) = (name.into(), args.into());
        ScreenEffect::Send(Op::Turn(TurnOp::Invoke { name, args, mentions: vec![] }))
    };
    assert_eq!(press(&mut state, "a.rs\n"), [runs("explain", "a.rs")]);
    assert_eq!(press(&mut state, "/explain\n"), [runs("explain", "")], "its whole name is typed");
    assert_eq!(press(&mut state, "/tests\n"), []);
    assert_eq!(state.composer.display_text(), "/tests ");
    press(&mut state, "\n");
    assert!(state.transcript.plain_text().contains("<file>"), "it needs an argument");
    assert_eq!(press(&mut state, "/tid\n"), [runs("tidy", "")]);
}

#[test]
fn a_bot_that_cannot_be_used_is_in_the_list_and_the_help_with_the_reason() {
    let mut state = screen();
    let why: avocet_core::i18n::LocalizedText =
        avocet_core::i18n::library::RENAME_SKILL.with("file", "/x/bad.toml");
    let extensions = protocol::Extensions {
        broken_bots: vec![("bad".to_owned(), why)],
        ..protocol::Extensions::default()
    };
    receive(&mut state, protocol::Event::Catalogue(Box::new(extensions)));
    press(&mut state, "/bot\n");
    let rows = rows_at(&mut state, (100, 30)).join("\n");
    assert!(rows.contains("bad") && rows.contains("cannot be used: /x/bad.toml"), "{rows}");
    let chosen = press(&mut state, "bad\n");
    let set = Op::Model(ModelOp::SetBot { name: Some("bad".into()) });
    assert_eq!(chosen, [ScreenEffect::Send(set)], "the session says what is wrong");
    press(&mut state, "/help\n");
    let rows = rows_at(&mut state, (120, 200)).join("\n");
    assert!(rows.contains("/bot bad"), "{rows}");
}
