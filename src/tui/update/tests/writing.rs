//! Typing: history, search, draft, mentions.

use super::*;
use crate::files::{FileMatch, FileMatches, MatchCoverage};
use avocet_config::draft::SavedDraft;
use avocet_core::prompt::input;
use avocet_core::protocol::{
    AttachmentSize, ExtensionOp, Image, ModelOp, PastedImage, Prompt, PromptPart,
};
use avocet_tools::image::PreparedImage;

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
        assert!(state.composer.history.search.is_none());
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
    let pastes = vec![avocet_config::draft::Paste { mark: "[m]".into(), text: "long".into() }];
    let draft = SavedDraft { shown: "see [m]\n好 👋".into(), pastes, ..SavedDraft::default() };
    let mut state = State::new(ScreenConfig { draft: draft.clone(), ..ScreenConfig::default() });
    assert_eq!(state.draft(), draft);
    assert!(state.transcript.plain_text().contains("not sent when Avocet last ended"));
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
    vec![ScreenEffect::Send(Op::Turn(TurnOp::SubmitPrompt { prompt: Box::new(prompt) }))]
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

#[test]
fn a_pasted_path_to_an_image_becomes_a_mention_of_it() {
    let mut state = screen();
    press(&mut state, "see");
    paste(&mut state, "/tmp/my\\ shot.png");
    press(&mut state, "now");
    assert_eq!(state.composer.display_text(), "see @\"/tmp/my shot.png\" now");
    let [ScreenEffect::Send(Op::Turn(TurnOp::SubmitPrompt { prompt }))] =
        &press(&mut state, "\n")[..]
    else {
        panic!("a prompt")
    };
    let mention = |part: &PromptPart| match part {
        PromptPart::Mention { mention, .. } => Some(mention.path.clone()),
        _ => None,
    };
    let paths: Vec<_> = prompt.parts.iter().filter_map(mention).collect();
    assert_eq!(paths, ["/tmp/my shot.png"]);
}

#[test]
fn an_image_out_of_the_clipboard_goes_with_the_message_that_names_it() {
    let mut state = screen();
    assert_eq!(
        hold(&mut state, KeyCode::Char('v'), KeyModifiers::CONTROL),
        [ScreenEffect::PasteImage]
    );
    assert_eq!(paste(&mut state, ""), [ScreenEffect::PasteImage], "a terminal has no text for it");
    let image = Image { mime: "image/png".into(), data: "AAAA".into() };
    let size = AttachmentSize::Pixels { width: 4, height: 3 };
    let prepared = PreparedImage { image: image.clone(), size };
    let pasted = ScreenInput::ImagePasted(Box::new(Ok(prepared)));
    update(&mut state, TimedInput { at: 10_000, input: pasted });
    press(&mut state, "what is it?");
    let shown = "[image 1] what is it?";
    assert_eq!(state.composer.display_text(), shown);
    let named = PastedImage { name: "[image 1]".into(), size, image };
    let parts = vec![PromptPart::Text(shown.into()), PromptPart::Image(named)];
    let prompt = Prompt { shown: shown.into(), parts, ..Prompt::default() };
    let sent = ScreenEffect::Send(Op::Turn(TurnOp::SubmitPrompt { prompt: Box::new(prompt) }));
    assert!(press(&mut state, "\n").contains(&sent));
    // It comes back with the line that named it.
    hold(&mut state, KeyCode::Up, KeyModifiers::NONE);
    assert!(press(&mut state, "\n").contains(&sent));
    press(&mut state, "without");
    assert_eq!(press(&mut state, "\n"), sends("without"));
}

fn prompt_with_paste(shown: &str, pasted: &str) -> Vec<ScreenEffect> {
    let input::Intent::Message { parts } = input::parse_with_pastes(shown, &[pasted.into()]) else {
        panic!("{shown}")
    };
    assert_eq!(parts.len(), 2, "{parts:?}");
    let prompt = Prompt { shown: shown.into(), parts, ..Prompt::default() };
    vec![ScreenEffect::Send(Op::Turn(TurnOp::SubmitPrompt { prompt: Box::new(prompt) }))]
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
    let failed = Err(avocet_core::i18n::input::NO_EDITOR.into());
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
        [ScreenEffect::Send(Op::Turn(TurnOp::Stop))],
        "then what it always does"
    );
    assert_eq!(press(&mut state, "\n"), sends("bye 世界"), "Enter sends in every mode");
    press(&mut state, "x");
    assert_eq!(state.composer.display_text(), "x", "and one writes again");
    press(&mut state, "\x08/vim\ndd");
    assert_eq!(state.composer.display_text(), "dd", "off again");
}

#[test]
fn a_slash_or_a_colon_begins_a_command_in_an_empty_input_in_normal_mode() {
    for begins in ["/", ":"] {
        let mut state = screen();
        press(&mut state, "/vim on\n\x1b");
        press(&mut state, &format!("{begins}vim\ndd"));
        assert_eq!(state.composer.display_text(), "dd", "{begins}: off again");
    }
}

#[test]
fn vi_undoes_a_change_with_what_was_typed_for_it() {
    let mut state = screen();
    press(&mut state, "/vim on\n");
    press(&mut state, "one two\x1b0cwab cd\x1b");
    assert_eq!(state.composer.display_text(), "ab cd two");
    press(&mut state, "u");
    assert_eq!(state.composer.display_text(), "one two");
    hold(&mut state, KeyCode::Char('r'), KeyModifiers::CONTROL);
    assert_eq!(state.composer.display_text(), "ab cd two");
    press(&mut state, "2u");
    assert_eq!(state.composer.display_text(), "", "the first text was one change too");
    hold(&mut state, KeyCode::Char('r'), KeyModifiers::CONTROL);
    hold(&mut state, KeyCode::Char('r'), KeyModifiers::CONTROL);
    assert_eq!(state.composer.display_text(), "ab cd two");
    // Another change after an undo leaves nothing to redo.
    press(&mut state, "ux");
    let left = state.composer.display_text();
    hold(&mut state, KeyCode::Char('r'), KeyModifiers::CONTROL);
    assert_eq!(state.composer.display_text(), left);
}

#[test]
fn only_two_escapes_in_a_row_open_the_conversation() {
    let mut state = screen();
    receive(&mut state, started());
    receive(&mut state, ended(10));
    press(&mut state, "\x1b/version\n\x1b");
    assert!(state.modals.is_empty(), "a command between them");
    press(&mut state, "\x1b");
    assert!(!state.modals.is_empty());
}

#[test]
fn the_keys_of_the_palette_do_not_offer_to_run_a_guess() {
    let mut state = screen();
    let foot = |state: &mut State| {
        let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).expect("a terminal");
        let drawn = terminal.draw(|frame| drop(draw_frame(state, frame, 10_000))).expect("a frame");
        (0..SIZE.0).map(|x| drawn.buffer[(x, SIZE.1 - 1)].symbol()).collect::<String>()
    };
    press(&mut state, "/rsum");
    assert!(!foot(&mut state).contains("Enter run"));
    press(&mut state, "\x08\x08\x08esum");
    assert!(foot(&mut state).contains("Enter run"));
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
        let refresh = ScreenEffect::Send(Op::Extension(ExtensionOp::RefreshExtensions));
        keys.chars().flat_map(key).filter(|effect| *effect == refresh).count()
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
        from: avocet_core::i18n::library::OF_USER.into(),
        state: protocol::ExtensionState::Usable,
        traits: protocol::CommandTraits::default(),
    };
    let kept = protocol::Extensions { entries: vec![entry], ..protocol::Extensions::default() };
    receive(&mut state, protocol::Event::Catalogue(Box::new(kept)));
    assert!(state.palette.is_open());
    let invoked = Op::Turn(TurnOp::Invoke {
        name: "summarize".into(),
        args: String::new(),
        mentions: vec![],
    });
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
            from: avocet_core::i18n::library::OF_USER.into(),
            state: protocol::ExtensionState::Usable,
            traits: protocol::CommandTraits::default(),
        }],
        bots: vec![],
        ..protocol::Extensions::default()
    };
    receive(&mut state, protocol::Event::Catalogue(Box::new(kept)));
    let sent = press(&mut state, "/explain @src/router.ts \n");
    let [ScreenEffect::Send(Op::Turn(TurnOp::Invoke { name, args, mentions }))] = &sent[..] else {
        panic!("{sent:?}")
    };
    assert_eq!((name.as_str(), args.as_str()), ("explain", "@src/router.ts"));
    assert_eq!(mentions[0].path, "src/router.ts");
}

fn click(state: &mut State, column: u16, row: u16) -> Vec<ScreenEffect> {
    let kind = MouseEventKind::Down(MouseButton::Left);
    let mouse = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
    visible_effects(update(state, TimedInput { at: 10_000, input: ScreenInput::Mouse(mouse) }))
}

/// The rows of the screen.
pub(super) fn rows_of(state: &mut State) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).unwrap();
    terminal.draw(|frame| drop(draw_frame(state, frame, 10_000))).unwrap();
    let cells = &terminal.backend().buffer().content;
    let row = |cells: &[ratatui::buffer::Cell]| cells.iter().map(|cell| cell.symbol()).collect();
    cells.chunks(SIZE.0.into()).map(row).collect()
}

fn row_with(state: &mut State, text: &str) -> u16 {
    let rows = rows_of(state);
    let at = rows.iter().position(|row| row.contains(text));
    u16::try_from(at.unwrap_or_else(|| panic!("{rows:#?}"))).unwrap()
}

#[test]
fn a_click_on_a_row_of_the_palette_runs_it() {
    let mut state = screen();
    press(&mut state, "/");
    let row = row_with(&mut state, "/undo");
    assert_eq!(
        click(&mut state, 5, row),
        [ScreenEffect::Send(Op::Turn(TurnOp::Undo { turns: 1 }))]
    );
    press(&mut state, "/");
    let head = row_with(&mut state, "commands");
    assert_eq!(click(&mut state, 5, head), []);
    assert_eq!(state.composer.display_text(), "/", "the head is no row");
}

#[test]
fn a_click_on_a_suggestion_inserts_it() {
    let mut state = screen();
    let row = row_with(&mut state, "Alt-2");
    let column = rows_of(&mut state)[usize::from(row)].find("Alt-2").unwrap();
    click(&mut state, u16::try_from(column + 1).unwrap(), row);
    let second = crate::suggestions::first_steps(&state.facts, &[], Lang::En)[1].clone();
    assert_eq!(state.composer.display_text(), second);
}

#[test]
fn enter_never_runs_a_command_that_was_only_guessed() {
    let mut state = screen();
    receive(&mut state, protocol::Event::Catalogue(Box::default()));
    for typed in ["/staus", "/whatever", "/edit"] {
        assert_eq!(press(&mut state, &format!("{typed}\n")), [], "{typed}");
        assert!(state.composer.is_empty());
    }
    assert_eq!(state.transcript.plain_text().matches("Did you mean").count(), 2);
    let before = state.transcript.plain_text();
    press(&mut state, "/statu\n");
    let shown = state.transcript.plain_text().replace(&before, "");
    assert!(shown.contains("This session"), "{shown}");
}

#[test]
fn a_command_stands_above_its_answer_and_not_where_a_dialog_or_the_status_line_is_the_answer() {
    let mut state = screen();
    receive(&mut state, protocol::Event::Catalogue(Box::default()));
    press(&mut state, "/status\n");
    press(&mut state, "/context\n");
    let rows = rows_of(&mut state);
    let at = rows.iter().position(|row| row.trim_end().ends_with("/status")).expect("the command");
    assert!(rows[at + 1].contains("This session"), "{rows:#?}");
    let text = state.transcript.plain_text();
    assert!(text.trim_end().ends_with("/context"), "{text}");
    for silent in ["/theme\n", "/model gpt-5\n", "/new\n"] {
        press(&mut state, silent);
        state.modals = crate::modal::Modals::default();
    }
    assert_eq!(state.transcript.plain_text(), text);
}

#[test]
fn a_command_that_waits_for_the_turn_is_shown_when_it_runs() {
    let mut state = screen();
    receive(&mut state, protocol::Event::Catalogue(Box::default()));
    receive(&mut state, started());
    press(&mut state, "/compress the names\n");
    assert!(!state.transcript.plain_text().contains("the names"));
    receive(&mut state, ended(1_000));
    assert!(state.transcript.plain_text().contains("/compress the names"));
}

#[test]
fn a_slash_and_enter_open_the_help_and_nothing_else() {
    let mut state = screen();
    assert_eq!(press(&mut state, "/\n"), []);
    assert!(!state.modals.is_empty());
}

#[test]
fn enter_runs_the_marked_value_of_a_closed_list() {
    let mut state = screen();
    press(&mut state, "/theme hi\n");
    assert_eq!(state.appearance.theme_name, "high-contrast");
    let effects = press(&mut state, "/model so\n");
    assert_eq!(effects, [ScreenEffect::Send(Op::Model(ModelOp::SetModel { name: "so".into() }))]);
}

#[test]
fn commands_used_last_are_offered_first() {
    let mut state = screen();
    press(&mut state, "/status\n");
    press(&mut state, "/");
    let rows = rows_of(&mut state);
    let at = |text: &str| rows.iter().position(|row| row.contains(text));
    assert!(at("/status") < at("/model"), "{rows:#?}");
    assert!(at("/model") < at("/resume"));
}

#[test]
fn a_typed_alias_is_shown_beside_its_command() {
    let mut state = screen();
    press(&mut state, "/qui");
    let row = row_with(&mut state, "/exit");
    assert!(rows_of(&mut state)[usize::from(row)].contains("/quit"));
}

#[test]
fn a_key_of_the_user_works_and_is_shown_with_the_keys() {
    let keymap = "[input]\n\"ctrl-s\" = \"send\"\n[anywhere]\n\"ctrl-x\" = \"nonsense\"\n".into();
    let mut state = State::new(ScreenConfig { keymap, ..ScreenConfig::default() });
    assert!(state.transcript.plain_text().contains("nonsense"));
    press(&mut state, "hello");
    let sent = hold(&mut state, KeyCode::Char('s'), KeyModifiers::CONTROL);
    assert_eq!(sent, [ScreenEffect::Send(Op::Turn(TurnOp::Submit { text: "hello".into() }))]);
    press(&mut state, "/keys\n");
    press(&mut state, "send");
    assert!(rows_of(&mut state).iter().any(|row| row.contains("Ctrl-S, Enter")));
}

#[test]
fn hints_and_sentences_name_the_keys_of_the_user() {
    let keymap = "[anywhere]\n\"f7\" = \"stop\"\n\"f8\" = \"bottom\"\n\"ctrl-o\" = \"none\"\n\
                  \"f6\" = \"steps\"\n[input]\n\"ctrl-s\" = \"send\"\n[question]\n\"f9\" = \"details\"\n\
                  [page]\n\"x\" = \"close\"\n[diff]\n\"w\" = \"next\"\n\"n\" = \"none\"\n";
    let mut state = State::new(ScreenConfig { keymap: keymap.into(), ..ScreenConfig::default() });
    assert_eq!(state.keys.keymap.problems, []);
    receive(&mut state, started());
    let rows = rows_of(&mut state).join("\n");
    assert!(rows.contains("F7 stops") && rows.contains("Ctrl-S steers"), "{rows}");
    receive(&mut state, step_question(StepAction::exec("make", &["all"]), risk(Tier::L1)));
    let rows = rows_of(&mut state).join("\n");
    assert!(rows.contains("F9 details"), "{rows}");
    receive(&mut state, SessionEvent::QuestionClosed { ask: AskId(7) });
    receive(&mut state, ended(1));
    press(&mut state, "/help\n");
    let rows = rows_of(&mut state).join("\n");
    assert!(rows.contains("x close"), "{rows}");
    press(&mut state, "x");
    assert!(!rows_of(&mut state).join("\n").contains("x close"));
}
