//! Typing: history, search, draft, mentions.

use super::*;
use crate::config::draft::SavedDraft;
use crate::prompt::input;
use crate::protocol::{Prompt, PromptPart};
use crate::tui::files::{FileMatch, FileMatches, MatchCoverage};

#[test]
fn a_sent_message_is_saved_at_once() {
    let mut state = screen();
    for (typed, kept) in [("hello\n", "hello"), ("/version\n", "/version"), ("!ls\n", "!ls")] {
        let mut effects: Vec<ScreenEffect> = Vec::new();
        for c in typed.chars() {
            let code = if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) };
            effects.extend(update(&mut state, TimedInput::key(10_000, code)));
        }
        assert!(effects.contains(&ScreenEffect::SaveHistory(kept.into())), "{effects:?}");
    }
}

fn searched(keys: &str) -> State {
    let history = ["cargo test", "运行 测试", "git status", "cargo build"];
    let history = history.map(String::from).to_vec();
    let mut state = State::new(ScreenConfig { history, ..ScreenConfig::default() });
    press(&mut state, "a draft");
    hold(&mut state, KeyCode::Char('r'), KeyModifiers::CONTROL);
    press(&mut state, keys);
    state
}

#[test]
fn a_search_finds_the_newest_entry_with_the_letters() {
    let mut state = searched("cargo");
    assert_eq!(state.composer.display_text(), "a draft", "until it is taken");
    hold(&mut state, KeyCode::Char('r'), KeyModifiers::CONTROL);
    assert_eq!(press(&mut state, "\n"), [], "taken, not sent");
    assert_eq!(state.composer.display_text(), "cargo test");
    assert_eq!(press(&mut state, "\n"), sends("cargo test"));
}

#[test]
fn a_search_in_chinese_finds_chinese() {
    let mut state = searched("测试\n");
    assert_eq!(state.composer.display_text(), "运行 测试");
    hold(&mut state, KeyCode::Char('_'), KeyModifiers::CONTROL);
    assert_eq!(state.composer.display_text(), "", "undone as one");
}

#[test]
fn a_cancelled_search_changes_nothing() {
    for leave in
        [KeyEvent::from(KeyCode::Esc), KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)]
    {
        let mut state = searched("cargo");
        update(&mut state, TimedInput::key(10_000, leave));
        assert_eq!(state.composer.display_text(), "a draft");
        assert!(state.composer.active_search().is_none());
        assert_eq!(state.presence.confirm_quit_until, None);
    }
}

#[test]
fn another_key_accepts_the_hit_and_applies_to_it() {
    let mut state = searched("build");
    hold(&mut state, KeyCode::Char('a'), KeyModifiers::CONTROL);
    press(&mut state, "x");
    assert_eq!(state.composer.display_text(), "xcargo build");
}

#[test]
fn a_search_without_a_hit_leaves_the_draft() {
    let state = searched("nowhere\n");
    assert_eq!(state.composer.display_text(), "a draft");
}

#[test]
fn a_draft_is_restored_and_a_first_message_leaves_it() {
    let pastes = vec![crate::config::draft::Paste { mark: "[m]".into(), text: "long".into() }];
    let draft = SavedDraft { shown: "see [m]\n好 👋".into(), pastes, ..SavedDraft::default() };
    let mut state = State::new(ScreenConfig { draft: draft.clone(), ..ScreenConfig::default() });
    assert_eq!(state.draft(), draft);
    let effects =
        update(&mut state, TimedInput { at: 0, input: ScreenInput::FirstMessage("go".into()) });
    assert_eq!(visible_effects(effects), sends("go"));
    assert_eq!(state.draft(), draft);
    hold(&mut state, KeyCode::Char('p'), KeyModifiers::CONTROL);
    assert_eq!(
        state.draft(),
        SavedDraft::from_text("see long\n好 👋"),
        "below the list of commands"
    );
}

/// A message with the files it names.
fn prompt_with_files(shown: &str, files: &[&str]) -> Vec<ScreenEffect> {
    let input::Intent::Message { parts } = input::parse(shown) else { panic!("{shown}") };
    let named = parts.iter().filter_map(|part| match part {
        PromptPart::Mention { mention, .. } => Some(mention.path.as_str()),
        _ => None,
    });
    assert!(named.eq(files.iter().copied()), "{parts:?}");
    let prompt = Prompt { shown: shown.into(), parts, ..Prompt::default() };
    vec![ScreenEffect::Send(Op::SubmitPrompt { prompt: Box::new(prompt) })]
}

#[test]
fn a_file_named_in_a_paste_is_plain_text() {
    let mut state = screen();
    update(&mut state, TimedInput { at: 10_000, input: ScreenInput::Paste("see @a.rs".into()) });
    assert_eq!(press(&mut state, "\n"), sends("see @a.rs"));
    press(&mut state, "@b.rs: ");
    update(&mut state, TimedInput { at: 10_000, input: ScreenInput::Paste("not @a.rs".into()) });
    assert_eq!(press(&mut state, "\n"), prompt_with_paste("@b.rs: not @a.rs", "not @a.rs"));
}

fn prompt_with_paste(shown: &str, pasted: &str) -> Vec<ScreenEffect> {
    let input::Intent::Message { parts } = input::parse_with_pastes(shown, &[pasted.into()]) else {
        panic!("{shown}")
    };
    assert_eq!(parts.len(), 2, "{parts:?}");
    let prompt = Prompt { shown: shown.into(), parts, ..Prompt::default() };
    vec![ScreenEffect::Send(Op::SubmitPrompt { prompt: Box::new(prompt) })]
}

/// Answers like the finder, whatever the query.
fn finds(state: &mut State, paths: &[&str]) {
    let query = state.file_query().0.expect("a mention is being written").to_owned();
    let hits: Vec<_> =
        paths.iter().map(|path| FileMatch { path: (*path).into(), positions: vec![] }).collect();
    let (fits, seen) = (hits.len(), hits.len());
    let found = FileMatches {
        query,
        hits,
        match_count: fits,
        names_read: seen,
        coverage: MatchCoverage::Complete,
    };
    update(state, TimedInput { at: 10_000, input: ScreenInput::FileMatches(found) });
}

#[test]
fn a_mention_is_inserted_and_deleted_as_one() {
    let mut state = screen();
    press(&mut state, "看看@li");
    assert_eq!(state.file_query().0, Some("li"));
    finds(&mut state, &["src/lib.rs", "list"]);
    assert_eq!(press(&mut state, "\n"), [], "picked, not sent");
    assert_eq!(state.composer.display_text(), "看看@src/lib.rs ");
    assert_eq!(state.file_query().0, None);
    press(&mut state, "\x08");
    assert_eq!(state.file_query().0, None, "a unit is not written any more");
    press(&mut state, "\x08");
    assert_eq!(state.composer.display_text(), "看看");
}

#[test]
fn a_path_with_spaces_is_quoted_and_sent_as_shown() {
    let mut state = screen();
    press(&mut state, "see @a");
    finds(&mut state, &["a b.rs"]);
    press(&mut state, "\tplease");
    assert_eq!(press(&mut state, "\n"), prompt_with_files("see @\"a b.rs\" please", &["a b.rs"]));
}

#[test]
fn tab_enters_a_folder_and_continues_there() {
    let mut state = screen();
    press(&mut state, "@m");
    finds(&mut state, &["my files/"]);
    press(&mut state, "\t");
    assert_eq!(state.composer.display_text(), "@\"my files/");
    assert_eq!(state.file_query().0, Some("my files/"));
    finds(&mut state, &["my files/a.rs"]);
    press(&mut state, "\t");
    assert_eq!(state.composer.display_text(), "@\"my files/a.rs\" ");
}

#[test]
fn an_enter_before_any_result_sends() {
    let mut state = screen();
    assert_eq!(
        press(&mut state, "look at @nobody\n"),
        prompt_with_files("look at @nobody", &["nobody"])
    );
    assert_eq!(state.file_query().0, None);
}

#[test]
fn esc_closes_the_file_list_and_keeps_the_text() {
    let mut state = screen();
    press(&mut state, "@l");
    finds(&mut state, &["lib.rs"]);
    press(&mut state, "\x1b");
    assert!(!state.composer.files.is_open());
    assert_eq!(press(&mut state, "\n"), prompt_with_files("@l", &["l"]));
}

#[test]
fn shell_lines_and_commands_have_no_mentions() {
    let mut state = screen();
    press(&mut state, "!git show @");
    assert_eq!(state.file_query().0, None);
}

#[test]
fn a_mention_in_the_middle_keeps_the_text_around_it() {
    let mut state = screen();
    press(&mut state, "compare  now");
    for _ in 0..4 {
        hold(&mut state, KeyCode::Left, KeyModifiers::NONE);
    }
    press(&mut state, "@x");
    finds(&mut state, &["x.rs"]);
    press(&mut state, "\n");
    assert_eq!(state.composer.display_text(), "compare @x.rs now");
    hold(&mut state, KeyCode::Char('_'), KeyModifiers::CONTROL);
    hold(&mut state, KeyCode::Char('_'), KeyModifiers::CONTROL);
    assert_eq!(state.composer.display_text(), "compare @x now", "undone in steps");
}

#[test]
fn the_editor_gets_the_whole_text_and_its_result_is_one_step_of_undo() {
    let mut state = screen();
    let paste = "x\n".repeat(50);
    press(&mut state, "see ");
    update(&mut state, TimedInput { at: 0, input: ScreenInput::Paste(paste.clone()) });
    let effects = hold(&mut state, KeyCode::Char('g'), KeyModifiers::CONTROL);
    assert_eq!(effects, [ScreenEffect::Editor(format!("see {paste}"))]);
    let twenty = "一行\n".repeat(20);
    let edited = Ok(format!("{twenty}look at {paste}"));
    update(&mut state, TimedInput { at: 0, input: ScreenInput::EditorClosed(edited) });
    assert_eq!(state.composer.display_text(), format!("{twenty}look at [pasted 50 lines]"));
    assert_eq!(state.composer.full_text(), format!("{twenty}look at {paste}"));
}

#[test]
fn a_failed_editor_leaves_the_text_and_says_why() {
    let mut state = screen();
    press(&mut state, "a draft");
    let failed = Err(crate::i18n::input::NO_EDITOR.into());
    update(&mut state, TimedInput { at: 0, input: ScreenInput::EditorClosed(failed) });
    assert_eq!(state.composer.display_text(), "a draft");
    assert!(!state.transcript.is_empty(), "it is said");
}

#[test]
fn vi_keys_edit_and_escape_keeps_its_meaning_in_normal_mode() {
    let mut state = screen();
    press(&mut state, "/vim on\n");
    press(&mut state, "hello 世界 world\x1bbdwx");
    assert_eq!(state.composer.display_text(), "hello 世界");
    press(&mut state, "u0cwbye");
    assert_eq!(state.composer.display_text(), "bye 世界 ");
    receive(&mut state, started());
    assert_eq!(press(&mut state, "\x1b"), [], "first out of writing");
    assert_eq!(
        press(&mut state, "\x1b"),
        [ScreenEffect::Send(Op::Stop)],
        "then what it always does"
    );
    assert_eq!(press(&mut state, "\n"), sends("bye 世界"), "Enter sends in every mode");
    press(&mut state, "x");
    assert_eq!(state.composer.display_text(), "x", "and one writes again");
    press(&mut state, "\x08/vim\ndd");
    assert_eq!(state.composer.display_text(), "dd", "off again");
}

#[test]
fn vi_deletes_a_folded_paste_whole() {
    let mut state = screen();
    press(&mut state, "/vim\na ");
    update(&mut state, TimedInput { at: 0, input: ScreenInput::Paste("x\n".repeat(50)) });
    press(&mut state, "\x1bx");
    assert_eq!(state.composer.display_text(), "a ");
    press(&mut state, "u");
    assert_eq!(state.composer.full_text(), format!("a {}", "x\n".repeat(50)));
}

#[test]
fn extensions_are_read_once_when_the_list_opens() {
    let mut state = screen();
    let mut type_ = |keys: &str| {
        let key = |c: char| update(&mut state, TimedInput::key(1, KeyCode::Char(c)));
        let looks =
            keys.chars().flat_map(key).filter(|effect| *effect == ScreenEffect::RefreshExtensions);
        looks.count()
    };
    assert_eq!(type_("/sum"), 1);
    assert_eq!(type_("marize"), 0);
    assert_eq!(type_(" x"), 0);
}

#[test]
fn a_new_command_joins_the_open_list() {
    let mut state = screen();
    press(&mut state, "/summ");
    assert!(!state.palette.is_open());
    let entry = protocol::Extension {
        kind: protocol::ExtensionKind::Command,
        name: "summarize".into(),
        about: "Summarise".into(),
        hint: String::new(),
        from: crate::i18n::library::OF_USER.into(),
        state: protocol::ExtensionState::Usable,
    };
    let kept = protocol::Extensions { entries: vec![entry], ..protocol::Extensions::default() };
    receive(&mut state, protocol::Event::Catalogue(Box::new(kept)));
    assert!(state.palette.is_open());
    let invoked = Op::Invoke { name: "summarize".into(), args: String::new(), mentions: vec![] };
    assert_eq!(press(&mut state, "\n"), [ScreenEffect::Send(invoked)]);
}

#[test]
fn files_named_after_a_command_go_with_it() {
    let mut state = screen();
    let kept = protocol::Extensions {
        entries: vec![protocol::Extension {
            kind: protocol::ExtensionKind::Skill,
            name: "explain".into(),
            about: "Explain".into(),
            hint: String::new(),
            from: crate::i18n::library::OF_USER.into(),
            state: protocol::ExtensionState::Usable,
        }],
        bots: vec![],
        ..protocol::Extensions::default()
    };
    receive(&mut state, protocol::Event::Catalogue(Box::new(kept)));
    let sent = press(&mut state, "/explain @src/router.ts \n");
    let [ScreenEffect::Send(Op::Invoke { name, args, mentions })] = &sent[..] else {
        panic!("{sent:?}")
    };
    assert_eq!((name.as_str(), args.as_str()), ("explain", "@src/router.ts"));
    assert_eq!(mentions[0].path, "src/router.ts");
}
