//! The start page, the column of wide screens, the panel at the right and the card of the exit.

use super::*;
use crate::{TerminalCaps, exit_card};
use avocet_core::protocol::{
    Change, ModelOffer, ModelOp, Money, Notice, Observation, Outcome, PlanItem, PlanState,
    Provider, SessionInfo,
};

fn facts() -> SessionInfo {
    SessionInfo {
        model: "qwen3-coder".into(),
        provider: Provider::OpenAi,
        cwd: "/home/ada/shop".into(),
        branch: Some("main".into()),
        changed_files: Some(2),
        ..SessionInfo::default()
    }
}

fn without_model() -> SessionInfo {
    SessionInfo { model: "guide".into(), provider: Provider::Guide, ..facts() }
}

fn screen_with(facts: SessionInfo) -> State {
    State::new(ScreenConfig { facts, ..ScreenConfig::default() })
}

/// The rows of a frame.
fn rows(state: &mut State, (width, height): (u16, u16)) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a test terminal");
    let frame = terminal.draw(|frame| drop(draw_frame(state, frame, 10_000))).expect("a frame");
    let row = |y: u16| (0..width).map(|x| frame.buffer[(x, y)].symbol()).collect::<String>();
    (0..height).map(|y| row(y).trim_end().to_owned()).collect()
}

fn shows(state: &mut State, size: (u16, u16), text: &str) -> bool {
    rows(state, size).iter().any(|row| row.contains(text))
}

fn offers() -> protocol::Event {
    let of = |provider: &str, name: &str| ModelOffer { provider: provider.into(), ..name.into() };
    let offers = vec![of("Ollama", "qwen3:8b"), of("Ollama", "tiny"), of("Groq", "groq")];
    let names = offers.iter().map(|offer| offer.name.clone()).collect();
    protocol::Event::Models { names, offers }
}

fn finished(path: &str, added: usize) -> protocol::Event {
    let step = Step {
        id: "cmd_001".into(),
        work: StepAction::exec("x", &[]),
        requires: Requires::default(),
        cwd: None,
    };
    let seen = Observation::not_run(step, "/", risk(Tier::L1), Outcome::Ran);
    let change = Change { path: path.into(), added, removed: 1, ..Change::default() };
    protocol::Event::StepFinished(Box::new(Observation { change: Some(change), ..seen }))
}

fn plan() -> protocol::Event {
    let item = |text: &str, state| PlanItem { text: text.into(), state };
    protocol::Event::Plan {
        items: vec![item("Read it", PlanState::Done), item("Pad by cells", PlanState::Doing)],
    }
}

#[test]
fn notices_are_rows_of_the_start_page_which_goes_when_a_turn_begins() {
    let mut state = screen_with(facts());
    state.transcript.add_notice(Notice::warning(phrases::NOTHING_TO_COPY));
    press(&mut state, "hel");
    let page = rows(&mut state, SIZE).join("\n");
    for text in ["It proposes.", "main   2 files changed", "What changed here?", "no answer"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    receive(&mut state, started());
    assert!(!shows(&mut state, SIZE, "It proposes."));
    receive(&mut state, ended(10));
    assert!(!shows(&mut state, SIZE, "It proposes."));
}

#[test]
fn notices_that_do_not_fit_on_the_start_page_take_its_place() {
    let mut state = screen_with(facts());
    for _ in 0..20 {
        state.transcript.add_notice(Notice::warning(phrases::NOTHING_TO_COPY));
    }
    state.transcript.add_notice(Notice::error(phrases::NO_SUCH_THEME.with("name", "last")));
    assert!(shows(&mut state, SIZE, "no theme last"));
}

#[test]
fn without_a_model_one_that_was_found_is_two_keys_away() {
    let mut state = screen_with(without_model());
    for size in [SIZE, (100, 30), (200, 50)] {
        assert!(
            shows(&mut state, size, "/connect   a provider and a key, or a server"),
            "{size:?}"
        );
    }
    receive(&mut state, offers());
    let page = rows(&mut state, SIZE).join("\n");
    assert!(page.contains("/model qwen3:8b") && page.contains("a model of Ollama"), "{page}");
    assert!(!page.contains("tiny") && page.contains("/model groq"), "{page}");
    let effects = press(&mut state, "\t\n");
    let chosen = Op::Model(ModelOp::SetModel { name: "qwen3:8b".into() });
    assert_eq!(effects, [ScreenEffect::Send(chosen)]);
    receive(&mut state, protocol::Event::Facts(Box::new(facts())));
    assert!(shows(&mut state, SIZE, "Find every TODO"));
}

#[test]
fn a_click_on_a_command_of_the_start_page_runs_it_and_on_a_question_inserts_it() {
    let mut state = screen_with(without_model());
    let mut click = |text: &str| {
        let row = rows(&mut state, SIZE).iter().position(|row| row.contains(text)).expect("a row");
        let kind = MouseEventKind::Down(MouseButton::Left);
        let place = MouseEvent { kind, column: 12, row: row as u16, modifiers: KeyModifiers::NONE };
        let effects =
            update(&mut state, TimedInput { at: 10_000, input: ScreenInput::Mouse(place) });
        (visible_effects(effects), state.composer.display_text())
    };
    assert_eq!(click("What changed here?"), (vec![], "What changed here?".to_owned()));
    let (effects, _) = click("/connect");
    assert!(matches!(effects.as_slice(), [ScreenEffect::Connect(_)]), "{effects:?}");
}

#[test]
fn the_bird_is_on_screens_that_have_room_for_it() {
    let mut state = screen_with(facts());
    for (size, fits) in [((100, 24), true), ((99, 40), false), ((120, 22), false)] {
        draw(&mut state, size);
        assert_eq!(shows(&mut state, size, "⣿⣿"), fits, "{size:?}");
    }
}

#[test]
fn a_wide_screen_has_one_column_in_its_middle() {
    let mut state = screen_with(facts());
    receive(&mut state, started());
    for (width, margin) in [(140, 0), (150, 5), (200, 22)] {
        let rows = rows(&mut state, (width, 40));
        let message = rows.iter().find(|row| row.contains("› go")).expect("the message");
        assert_eq!(message.chars().take_while(|c| *c == ' ').count(), margin, "{width}");
    }
}

#[test]
fn the_side_panel_shows_the_plan_the_changed_files_and_what_undone_turns_left() {
    let mut state = screen_with(facts());
    let events = [started(), plan(), finished("/home/ada/shop/a.rs", 2), ended(5)];
    events.into_iter().for_each(|event| drop(receive(&mut state, event)));
    let wide = (140, 40);
    draw(&mut state, wide);
    hold(&mut state, KeyCode::F(3), KeyModifiers::NONE);
    for text in ["▸ Pad by cells", "a.rs +2 -1", "Jobs"] {
        assert!(shows(&mut state, wide, text), "{text}");
    }
    receive(
        &mut state,
        protocol::Event::Undone { turns: vec![1], kept_files_of: vec![], except: vec![] },
    );
    assert!(!shows(&mut state, wide, "a.rs"));
    hold(&mut state, KeyCode::F(3), KeyModifiers::NONE);
    assert!(!shows(&mut state, wide, "Jobs"));
}

#[test]
fn a_screen_too_narrow_for_the_side_panel_says_what_it_needs() {
    let mut state = screen_with(facts());
    draw(&mut state, SIZE);
    hold(&mut state, KeyCode::Char('p'), KeyModifiers::ALT);
    assert!(!state.display.side_panel.is_open && shows(&mut state, SIZE, "needs 120 columns"));
}

#[test]
fn the_plan_is_pinned_while_a_turn_follows_it() {
    let mut state = screen_with(facts());
    receive(&mut state, started());
    receive(&mut state, plan());
    assert!(shows(&mut state, SIZE, "Plan 1/2  ▸ Pad by cells"));
    receive(&mut state, ended(5));
    assert!(!shows(&mut state, SIZE, "Plan 1/2  ▸"));
}

#[test]
fn the_status_line_shows_changed_files_and_the_keys_of_the_user() {
    let keymap = "[empty-input]\n\"f9\" = \"help\"\n".to_owned();
    let mut state = State::new(ScreenConfig { facts: facts(), keymap, ..ScreenConfig::default() });
    let status = rows(&mut state, SIZE).pop().expect("a row");
    assert!(status.contains("main +2") && status.contains("F9 help"), "{status}");
    assert!(!status.contains("mode"), "the usual mode is not named: {status}");
}

#[test]
fn leaving_says_what_was_done_and_how_to_go_on() {
    let mut state = screen_with(facts());
    assert_eq!(exit_card::lines(&state), [], "there is nothing to go on with");
    [started(), finished("/a", 1), ended(5)]
        .into_iter()
        .for_each(|event| drop(receive(&mut state, event)));
    state.facts.turns = 1;
    state.facts.session = "k7m2".into();
    state.facts.title = "go".into();
    let lines: Vec<_> = exit_card::lines(&state).iter().map(|line| line.text(Lang::En)).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[1].starts_with("1 file changed, "), "{lines:?}");
    assert!(
        lines[2].contains("`avocet -c`") && lines[2].contains("avocet resume k7m2"),
        "{lines:?}"
    );
}

#[test]
fn the_start_page_names_the_folder_from_home_on_and_the_server_by_its_host() {
    let named = |home: &str, url: &str| {
        let terminal_caps = TerminalCaps { home: home.into(), ..TerminalCaps::default() };
        let facts = SessionInfo { base_url: url.into(), ..facts() };
        let mut state =
            State::new(ScreenConfig { facts, terminal_caps, ..ScreenConfig::default() });
        rows(&mut state, (120, 40)).join("\n")
    };
    let page = named("/home/ada", "https://api.openai.com/v1");
    assert!(page.contains(" ~/shop   main") && page.contains("   api.openai.com"), "{page}");
    assert!(!page.contains("https"), "{page}");
    assert!(named("/home/ada/shop", "").contains(" ~   main"));
    for home in ["/home/a", "/", ""] {
        let page = named(home, "http://10.0.0.7:8080/v1");
        assert!(page.contains(" /home/ada/shop   main"), "{home}: {page}");
        assert!(page.contains("http://10.0.0.7:8080/v1"), "what is not usual is said: {page}");
    }
}

#[test]
fn the_start_page_says_what_the_model_costs_where_that_is_known() {
    let tokens = |input, output| protocol::TokenPrices {
        input: Money(input),
        output: Money(output),
        cached: Money(0),
        written: Money(0),
    };
    let prices = Some(tokens(1_250_000, 10_000_000).into());
    let mut state = screen_with(SessionInfo { prices, ..facts() });
    assert!(shows(&mut state, (100, 30), "$1.25 in, $10.00 out per million tokens"));
    let mut unpriced = screen_with(facts());
    assert!(!shows(&mut unpriced, (100, 30), "per million"));
    // The model itself is never cut for it.
    let mut narrow = screen_with(SessionInfo { prices, ..facts() });
    assert!(shows(&mut narrow, (44, 20), "qwen3-coder"));
}

#[test]
fn without_a_model_the_list_of_models_is_the_way_to_connect_one() {
    let mut state = screen_with(without_model());
    let sent = press(&mut state, "/model\n");
    assert!(matches!(sent.as_slice(), [.., ScreenEffect::Connect(_)]), "{sent:?}");
    let mut state = screen_with(facts());
    let sent = press(&mut state, "/model\n");
    assert!(!sent.iter().any(|effect| matches!(effect, ScreenEffect::Connect(_))), "{sent:?}");
}
