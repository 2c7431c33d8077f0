//! Settings chosen from a list: themes and models.

use super::writing::rows_of;
use super::*;
use crate::connect::{ConnectRequest, ConnectResult, ListError, ProviderOffer, SavedProvider};
use crate::picture::PictureSupport;
use crate::terminal_caps::TerminalCaps;
use crate::theme::Depth;
use avocet_config::{BusyInput, Secret};
use avocet_core::protocol::{
    ApprovalMode, ExtensionOp, ModelOp, PlanItem, SandboxStatus, SavedOp, SessionInfo,
};

#[test]
fn ctrl_b_sends_a_running_step_to_the_background_and_moves_the_caret_otherwise() {
    let mut state = screen();
    press(&mut state, "ab");
    assert_eq!(hold(&mut state, KeyCode::Char('b'), KeyModifiers::CONTROL), []);
    receive(&mut state, started());
    let step = Step {
        id: "cmd_001".into(),
        work: StepAction::exec("npm", &["run", "dev"]),
        requires: Requires::default(),
        cwd: None,
    };
    receive(&mut state, SessionEvent::StepStarted { step, risk: risk(Tier::L1) });
    let effects = hold(&mut state, KeyCode::Char('b'), KeyModifiers::CONTROL);
    let job = avocet_core::protocol::JobRequest::Background;
    assert_eq!(effects, [ScreenEffect::Send(Op::Session(SessionOp::Job { job }))]);
}

#[test]
fn a_line_that_begins_with_a_number_sign_is_noted_where_the_user_chooses() {
    use avocet_core::protocol::NotePlace;
    let mut state = screen();
    assert_eq!(press(&mut state, "# use tabs\n"), []);
    hold(&mut state, KeyCode::Down, KeyModifiers::NONE);
    let op =
        Op::Extension(ExtensionOp::AddNote { place: NotePlace::Local, text: "use tabs".into() });
    assert_eq!(press(&mut state, "\n"), [ScreenEffect::Send(op)]);
    assert_eq!(press(&mut state, "#12 is fixed\n"), sends("#12 is fixed"));
}

#[test]
fn shift_tab_goes_through_the_modes() {
    use ApprovalMode::{Ask, Auto, Edits, Plan};
    use SandboxStatus::{Absent, Held, Off, Unknown};
    for (shelter, trusted, modes) in [
        (Held, true, &[Edits, Auto, Plan, Ask][..]),
        (Unknown, true, &[Edits, Auto, Plan, Ask]),
        // There the session would refuse it.
        (Absent, true, &[Edits, Plan, Ask]),
        (Off, true, &[Edits, Plan, Ask]),
        (Held, false, &[Edits, Plan, Ask]),
    ] {
        let mut state = screen();
        (state.facts.shelter, state.facts.trusted) = (shelter, trusted);
        for mode in modes.iter().copied() {
            let effects = hold(&mut state, KeyCode::BackTab, KeyModifiers::SHIFT);
            assert_eq!(effects, [ScreenEffect::Send(Op::Rules(RuleOp::SetApprovalMode { mode }))]);
            assert_eq!(state.facts.approval, mode);
        }
    }
}

#[test]
fn the_third_question_of_a_session_says_how_modes_are_changed() {
    let mut state = screen();
    for number in 1..=3 {
        let message = &state.presence.temporary_message;
        assert!(message.is_none(), "not before question {number}: {message:?}");
        crate::update::asking::open_question(&mut state, 0);
    }
    let (say, _) = state.presence.temporary_message.clone().unwrap();
    let say = say.text(avocet_core::i18n::Lang::En);
    assert!(say.contains("Shift-Tab") && say.contains("/mode"), "{say}");
}

#[test]
fn a_plan_is_accepted_edited_or_refused_in_its_dialog() {
    let item = |text: &str| PlanItem::parse(text);
    let cases: [(&str, Decision); 4] = [
        ("y", Decision::AcceptPlan { mode: ApprovalMode::Ask, items: None }),
        ("s", Decision::AcceptPlan { mode: ApprovalMode::Edits, items: None }),
        (
            "e and tests\n",
            Decision::AcceptPlan {
                mode: ApprovalMode::Ask,
                items: Some(vec![item("write it and tests")]),
            },
        ),
        ("n", Decision::Reject { word: None }),
    ];
    for (keys, decision) in cases {
        let mut state = screen();
        receive(&mut state, started());
        let question = Question::Plan { step: "cmd_001".into(), items: vec![item("write it")] };
        receive(&mut state, SessionEvent::Asked(Box::new(Ask { id: AskId(7), question })));
        draw(&mut state, SIZE);
        assert_eq!(answer_at(&mut state, keys, 60_000), decides(decision), "{keys}");
    }
}

#[test]
fn a_theme_is_previewed_while_it_is_selected_and_restored_by_esc() {
    let mut state = screen();
    press(&mut state, "/theme\n");
    let before = state.appearance.theme.clone();
    hold(&mut state, KeyCode::Down, KeyModifiers::NONE);
    hold(&mut state, KeyCode::Down, KeyModifiers::NONE);
    assert_ne!(state.appearance.theme, before);
    assert_eq!(state.appearance.theme_name, "auto");
    assert_eq!(press(&mut state, "\x1b"), []);
    assert_eq!(state.appearance.theme, before);
    assert!(state.modals.is_empty());
}

#[test]
fn a_confirmed_theme_stays_and_is_saved() {
    let mut state = screen();
    press(&mut state, "/theme\nhigh");
    let seen = state.appearance.theme.clone();
    let kept = ScreenEffect::SaveSetting { key: "theme", value: "high-contrast".into() };
    assert_eq!(press(&mut state, "\n"), [kept]);
    assert_eq!(
        (state.appearance.theme_name.as_str(), &state.appearance.theme),
        ("high-contrast", &seen)
    );
}

#[test]
fn a_broken_theme_says_why_and_the_current_one_stays() {
    let own = crate::theme::ThemeSource { name: "torn".into(), toml: "text = 3".into() };
    let mut state = State::new(ScreenConfig { themes: vec![own], ..ScreenConfig::default() });
    let before = state.appearance.theme.clone();
    press(&mut state, "/theme\ntorn");
    let said =
        state.modals.picker_mut().and_then(|choose| choose.note.clone()).expect("a sentence");
    assert!(said.text(Lang::En).contains("line 1"), "{}", said.text(Lang::En));
    assert_eq!(press(&mut state, "\n"), []);
    assert_eq!((state.appearance.theme_name.as_str(), &state.appearance.theme), ("auto", &before));
    assert!(!state.transcript.is_empty(), "it is told as well");
}

#[test]
fn models_are_requested_and_listed_when_they_arrive() {
    let mut state = screen();
    let asked =
        ScreenEffect::Send(Op::Session(SessionOp::Report { report: protocol::Report::Models }));
    assert_eq!(press(&mut state, "/model\n"), [asked]);
    let offers = || vec!["large".into(), "small".into()];
    let names = || vec!["large".to_owned(), "small".to_owned()];
    receive(&mut state, protocol::Event::Models { names: names(), offers: offers() });
    let set = ScreenEffect::Send(Op::Model(ModelOp::SetModel { name: "small".into() }));
    assert_eq!(press(&mut state, "sm\n"), [set]);
    assert!(state.modals.is_empty());
    // The list is asked for again, and what was selected meanwhile stays selected.
    press(&mut state, "/model\n");
    hold(&mut state, KeyCode::Down, KeyModifiers::NONE);
    let more = std::iter::once("first".into()).chain(offers()).collect();
    receive(&mut state, protocol::Event::Models { names: names(), offers: more });
    let set = ScreenEffect::Send(Op::Model(ModelOp::SetModel { name: "small".into() }));
    assert_eq!(press(&mut state, "\n"), [set]);
}

fn setup(id: &str, needs_key: bool) -> ProviderOffer {
    let about = avocet_core::i18n::keys::KEY_NEEDED.into();
    let url = "https://api.example.com/v1".to_owned();
    let (id, name, keys_at) = (id.into(), id.to_uppercase(), String::new());
    ProviderOffer { id, name, url, keys_at, needs_key, about }
}

fn result(state: &mut State, result: ConnectResult) -> Vec<ScreenEffect> {
    let input = ScreenInput::Connect(Box::new(result));
    update(state, TimedInput { at: 20_000, input })
}

fn request(request: ConnectRequest) -> Vec<ScreenEffect> {
    vec![ScreenEffect::Connect(request)]
}

#[test]
fn a_provider_is_connected_to_by_its_key_and_one_of_its_models() {
    let mut state = screen();
    let asked = request(ConnectRequest::Providers(None));
    assert_eq!(press(&mut state, "/connect\n"), asked);
    let offers = vec![setup("near", false), setup("far", true)];
    assert_eq!(result(&mut state, ConnectResult::Providers(None, offers)), []);
    assert_eq!(press(&mut state, "fa\n"), [], "the key comes first");
    press(&mut state, "sk 1\n");
    let key = |key: &str| Some(Secret::new(key));
    let models = |key| request(ConnectRequest::Models { provider: "far".into(), key });
    let entry = state.modals.key_entry_mut().unwrap();
    assert!(entry.note.take().is_some(), "a key has no blank");
    hold(&mut state, KeyCode::Char('u'), KeyModifiers::CONTROL);
    paste(&mut state, " sk-wrong\n");
    assert!(!format!("{state:?}").contains("sk-wrong"), "it is in no state that is written down");
    assert_eq!(press(&mut state, "\n"), models(key("sk-wrong")));
    let why = avocet_core::i18n::keys::NOT_SAVED;
    result(&mut state, ConnectResult::Models(Err(ListError::WantsKey(why.into()))));
    assert!(state.modals.key_entry_mut().unwrap().note.is_some());
    assert_eq!(press(&mut state, "sk-right\n"), models(key("sk-right")));
    let listed = vec!["small".into(), "large".into()];
    result(&mut state, ConnectResult::Models(Ok(listed)));
    let save = ConnectRequest::Save { provider: "far".into(), model: "large".into() };
    assert_eq!(press(&mut state, "lar\n"), request(save));
    let op = Op::Saved(SavedOp::New);
    let saved = SavedProvider { said: vec![why.into()], op: op.clone() };
    let sent = result(&mut state, ConnectResult::Saved(Ok(saved)));
    assert_eq!(sent, [ScreenEffect::Send(op)]);
    assert!(state.modals.is_empty() && state.composer.is_empty());
}

#[test]
fn a_server_that_is_not_in_the_list_is_typed_by_its_address() {
    let mut state = screen();
    let offers = || ConnectResult::Providers(None, vec![setup("near", false), setup("far", true)]);
    press(&mut state, "/connect\n");
    result(&mut state, offers());
    hold(&mut state, KeyCode::End, KeyModifiers::NONE);
    assert_eq!(press(&mut state, "\n"), []);
    assert_eq!(state.composer.display_text(), "/connect https://");
    press(&mut state, "box.lan/v1");
    let named = || Some("https://box.lan/v1".to_owned());
    assert_eq!(press(&mut state, "\n"), request(ConnectRequest::Providers(named())));
    hold(&mut state, KeyCode::Esc, KeyModifiers::NONE);
    press(&mut state, "/connect\n");
    result(&mut state, offers());
    let typed = press(&mut state, "https://box.lan/v1\n");
    assert_eq!(typed, request(ConnectRequest::Providers(named())), "in the filter, too");
}

#[test]
fn a_server_without_a_key_is_asked_for_its_models_at_once_and_leaving_ends_it() {
    let mut state = screen();
    let named = || Some("near".to_owned());
    assert_eq!(press(&mut state, "/connect near\n"), request(ConnectRequest::Providers(named())));
    let asked = result(&mut state, ConnectResult::Providers(named(), vec![setup("near", false)]));
    assert_eq!(asked, request(ConnectRequest::Models { provider: "near".into(), key: None }));
    hold(&mut state, KeyCode::Esc, KeyModifiers::NONE);
    result(&mut state, ConnectResult::Models(Ok(vec!["late".into()])));
    assert!(state.modals.is_empty(), "what comes after that opens nothing");
}

#[test]
fn times_are_switched_with_a_sentence() {
    let mut state = screen();
    for (line, said) in [("/timestamps on\n", "show their times"), ("/times off\n", "not shown")] {
        let effects = press(&mut state, line);
        assert!(matches!(effects[..], [ScreenEffect::SaveSetting { key: "timestamps", .. }]));
        assert!(state.transcript.plain_text().contains(said), "{line}");
    }
}

/// The session says that a setting has this value now.
fn set(state: &mut State, key: &'static str, value: &str) -> Vec<ScreenEffect> {
    let mut facts = state.facts.clone();
    facts.screen.retain(|(known, _)| *known != key);
    facts.screen.push((key, value.to_owned()));
    receive(state, SessionEvent::Facts(Box::new(facts)))
}

/// A screen whose session has said which settings it began with.
fn screen_with_settings(caps: TerminalCaps) -> State {
    let facts =
        SessionInfo { screen: vec![("theme", "auto".to_owned())], ..SessionInfo::default() };
    State::new(ScreenConfig { terminal_caps: caps, facts, ..ScreenConfig::default() })
}

#[test]
fn what_the_session_takes_over_for_the_screen_counts_at_once() {
    let mut state = screen_with_settings(TerminalCaps::default());
    let thinks = |state: &mut State| {
        receive(state, started());
        let text = "First I look.\nThen I know.".to_owned();
        receive(state, SessionEvent::ReasoningDelta { text });
        receive(state, SessionEvent::Replied(ModelMessage::default()));
        receive(state, ended(1));
    };
    thinks(&mut state);
    let folded = |state: &mut State| !rows_of(state).iter().any(|row| row.contains("Then I know"));
    assert!(folded(&mut state));
    set(&mut state, "show_thinking", "full");
    assert!(!folded(&mut state), "what is there unfolds");
    set(&mut state, "show_thinking", "off");
    assert!(folded(&mut state));
    let before = rows_of(&mut state).iter().filter(|row| row.contains("First I look")).count();
    thinks(&mut state);
    let after = rows_of(&mut state).iter().filter(|row| row.contains("First I look")).count();
    assert_eq!(before, after, "no more is added");
    set(&mut state, "enter_while_busy", "queue");
    assert_eq!(state.keys.enter_while_busy, BusyInput::Queue);
    set(&mut state, "enter_while_busy", "steer");
    assert_eq!(state.keys.enter_while_busy, BusyInput::Steer, "and returns");
    set(&mut state, "motion", "false");
    assert_eq!(state.activity.spinner(900), 0);
    set(&mut state, "theme", "light");
    assert_eq!(state.appearance.theme_name, "light");
    set(&mut state, "timestamps", "true");
    assert!(state.appearance.timestamps);
    set(&mut state, "notify", "off");
    assert_eq!(state.presence.notify_method, NotifyMethod::Off);
    set(&mut state, "notify", "auto");
    assert_eq!(state.presence.notify_method, NotifyMethod::Bell);
    set(&mut state, "color", "never");
    assert_eq!(state.appearance.depth, Depth::None);
    assert_eq!(state.appearance.theme_name, "light");
    set(&mut state, "color", "auto");
    assert_eq!(state.appearance.depth, Depth::True);
    set(&mut state, "vim", "true");
    assert!(state.composer.vim_mode().is_some());
}

#[test]
fn what_the_user_changed_on_the_screen_stays_while_its_setting_is_the_same() {
    let mut state = screen_with_settings(TerminalCaps::default());
    set(&mut state, "timestamps", "false");
    press(&mut state, "/timestamps on\n");
    set(&mut state, "vim", "false");
    assert!(state.appearance.timestamps);
}

#[test]
fn vi_keys_that_another_window_turned_on_are_announced_once() {
    let mut state = screen_with_settings(TerminalCaps::default());
    set(&mut state, "vim", "false");
    set(&mut state, "vim", "true");
    set(&mut state, "motion", "false");
    let said =
        |state: &mut State| rows_of(state).iter().filter(|row| row.contains("Vim mode on")).count();
    assert_eq!(said(&mut state), 1);
    press(&mut state, "/vim off\n");
    set(&mut state, "vim", "false");
    assert_eq!(rows_of(&mut state).iter().filter(|row| row.contains("Vim mode off")).count(), 1);
}

#[test]
fn pictures_that_are_turned_on_ask_the_terminal_then() {
    let caps = TerminalCaps { pictures: PictureSupport::Unknown, ..TerminalCaps::default() };
    let mut state = screen_with_settings(caps);
    let queries = |effects: &[ScreenEffect]| {
        effects.iter().filter(|effect| matches!(effect, ScreenEffect::Query(_))).count()
    };
    let on = set(&mut state, "show_pictures", "true");
    assert_eq!((queries(&on), state.display.graphics.is_on()), (1, true), "{on:?}");
    set(&mut state, "color", "never");
    assert!(!state.display.graphics.is_on(), "without colours there are none");
    set(&mut state, "color", "auto");
    let off = set(&mut state, "show_pictures", "false");
    assert_eq!((queries(&off), state.display.graphics.is_on()), (0, false), "{off:?}");
}

#[test]
fn the_key_of_the_background_says_what_tmux_makes_of_it() {
    let mut state = screen();
    press(&mut state, "/keys\n");
    press(&mut state, "tmux");
    let shown = rows_of(&mut state).join("\n");
    assert!(shown.contains("Ctrl-B") && shown.contains("press it twice"), "{shown}");
}

#[test]
fn the_row_below_the_saved_conversations_says_what_it_is() {
    let mut state = screen();
    press(&mut state, "/resume\n");
    let row = protocol::SessionRow {
        id: "s1".into(),
        title: "The receipt".into(),
        folder: String::new(),
        when: "today".into(),
        preview: "pad it".into(),
        turns: 1,
        model: None,
    };
    receive(&mut state, protocol::Event::Sessions { rows: vec![row], more: 0 });
    let shown = rows_of(&mut state).join("\n");
    assert!(shown.contains("Last message: pad it"), "{shown}");
}
