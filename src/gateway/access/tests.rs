//! Who is admitted, by which way, and what each may do.

use super::*;
use crate::platform::{ChatAddress, Sender};
use avocet_config::{gateway::GatewaySettings, settings::Settings};

const NOW: u64 = 1_000;
const TELEGRAM: ChatPlatform = ChatPlatform::Telegram;

fn settings(allow: &[&str], admins: &[&str]) -> PlatformSettings {
    let GatewaySettings { telegram, .. } = Settings::built_in().gateway;
    let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
    PlatformSettings { allow: owned(allow), admins: owned(admins), ..telegram }
}

fn text(id: &str, text: &str) -> Incoming {
    Incoming {
        id: "1".into(),
        at: ChatAddress { chat: "c".into(), thread: None, user: None },
        message: None,
        sender: Sender { id: id.into(), name: "Ann".into(), language: None, is_bot: false },
        is_group: false,
        is_addressed: true,
        quote: None,
        album: None,
        kind: IncomingKind::Text { text: text.to_owned() },
    }
}

fn admit(roster: &mut Roster, settings: &PlatformSettings, incoming: &Incoming) -> Admission {
    roster.admit(TELEGRAM, settings, incoming, NOW)
}

fn paired_roster() -> (Roster, String) {
    let (pairing, code) = Pairing::open([7; 24], None, AccessRole::User, NOW);
    (Roster { pairing: Some(pairing), ..Roster::default() }, code)
}

#[test]
fn an_empty_list_admits_nobody() {
    let refused = Admission::Refused(AccessRefusal::Unknown);
    let mut roster = Roster::default();
    for id in ["1", "", "*", "Ann"] {
        assert_eq!(admit(&mut roster, &settings(&[], &[]), &text(id, "hi")), refused, "{id:?}");
    }
    assert_eq!(admit(&mut roster, &settings(&[""], &[]), &text("", "hi")), refused);
}

#[test]
fn a_user_is_known_by_the_id_and_never_by_the_name() {
    let mut roster = Roster::default();
    let known = settings(&["1"], &["2"]);
    assert_eq!(admit(&mut roster, &known, &text("1", "hi")), Admission::Admitted(AccessRole::User));
    assert_eq!(
        admit(&mut roster, &known, &text("2", "hi")),
        Admission::Admitted(AccessRole::Admin)
    );
    let mut imitator = text("3", "hi");
    imitator.sender.name = "1".to_owned();
    assert_eq!(admit(&mut roster, &known, &imitator), Admission::Refused(AccessRefusal::Unknown));
}

#[test]
fn a_group_is_heard_only_when_it_speaks_to_the_bot() {
    let mut roster = Roster::default();
    let mut known = settings(&["1"], &[]);
    let mut message = Incoming { is_group: true, is_addressed: false, ..text("1", "hi") };
    let overheard = Admission::Overheard(AccessRole::User);
    assert_eq!(admit(&mut roster, &known, &message), overheard, "only as an answer");
    let of_stranger = Incoming { is_group: true, is_addressed: false, ..text("9", "hi") };
    assert_eq!(admit(&mut roster, &known, &of_stranger), Admission::Ignored);
    message.kind = IncomingKind::typed("status", "");
    assert_eq!(admit(&mut roster, &known, &message), Admission::Admitted(AccessRole::User));
    let mentioned = Incoming { is_group: true, ..text("1", "hi") };
    assert_eq!(admit(&mut roster, &known, &mentioned), Admission::Admitted(AccessRole::User));
    let stranger = Incoming { is_group: true, ..text("9", "hi") };
    let refused = Admission::Refused(AccessRefusal::Unknown);
    assert_eq!(admit(&mut roster, &known, &stranger), refused);
    known.mention_required = false;
    let overheard = Incoming { is_group: true, is_addressed: false, ..text("1", "hi") };
    assert_eq!(admit(&mut roster, &known, &overheard), Admission::Admitted(AccessRole::User));
}

#[test]
fn another_program_is_never_answered() {
    let mut bot = text("1", "hi");
    bot.sender.is_bot = true;
    let known = settings(&["1"], &[]);
    assert_eq!(admit(&mut Roster::default(), &known, &bot), Admission::Ignored);
}

#[test]
fn a_code_pairs_one_user_once() {
    let (mut roster, code) = paired_roster();
    let empty = settings(&[], &[]);
    let typed = format!("/start {}", code.to_lowercase());
    assert_eq!(admit(&mut roster, &empty, &text("5", &typed)), Admission::Paired(AccessRole::User));
    assert_eq!(admit(&mut roster, &empty, &text("5", "hi")), Admission::Admitted(AccessRole::User));
    assert_eq!(
        admit(&mut roster, &empty, &text("6", &typed)),
        Admission::Refused(AccessRefusal::Unknown)
    );
    assert_eq!(roster.role(ChatPlatform::Slack, &empty, "5"), None, "on that platform only");
    assert!(roster.remove(TELEGRAM, "5") && !roster.remove(TELEGRAM, "5"));
    assert_eq!(roster.role(TELEGRAM, &empty, "5"), None);
}

#[test]
fn a_code_ends_after_five_wrong_ones_or_ten_minutes() {
    let empty = settings(&[], &[]);
    let (mut roster, code) = paired_roster();
    for left in (0..CODE_TRIES).rev() {
        let wrong = AccessRefusal::WrongCode { tries_left: left };
        let sender = left.to_string();
        assert_eq!(
            admit(&mut roster, &empty, &text(&sender, "AAAA-AAAA")),
            Admission::Refused(wrong)
        );
    }
    let refused = Admission::Refused(AccessRefusal::Unknown);
    assert_eq!(admit(&mut roster, &empty, &text("5", &code)), refused);

    let (mut roster, code) = paired_roster();
    let late = roster.admit(TELEGRAM, &empty, &text("5", &code), NOW + CODE_LIFE);
    assert_eq!(late, refused);
}

#[test]
fn a_code_is_not_taken_in_a_group_or_on_another_platform() {
    let empty = settings(&[], &[]);
    let (mut roster, code) = paired_roster();
    let refused = Admission::Refused(AccessRefusal::Unknown);
    let group = Incoming { is_group: true, ..text("5", &code) };
    assert_eq!(admit(&mut roster, &empty, &group), refused);
    let of_slack = Some(ChatPlatform::Slack);
    roster.pairing.as_mut().unwrap().platform = of_slack;
    assert_eq!(admit(&mut roster, &empty, &text("5", &code)), refused);
    assert_eq!(roster.pairing.as_ref().unwrap().tries_left, CODE_TRIES, "no try was used");
}

#[test]
fn words_are_no_tries_and_the_code_itself_is_not_stored() {
    let empty = settings(&[], &[]);
    let (mut roster, code) = paired_roster();
    for words in ["hello there", "1234567", "O0O0-O0O0", &"A".repeat(1_000_000)] {
        admit(&mut roster, &empty, &text("5", words));
    }
    assert_eq!(roster.pairing.as_ref().unwrap().tries_left, CODE_TRIES);
    let stored = serde_json::to_string(&roster).unwrap();
    assert!(!stored.contains(&code) && !stored.contains(&code.replace('-', "")), "{stored}");
}

#[test]
fn users_change_no_settings_and_approve_nothing_of_high_risk() {
    let all: &[&str] = &[];
    for name in FLOOR {
        assert!(may_use(AccessRole::User, name, Category::Info, &["x"]), "{name}");
    }
    assert!(may_use(AccessRole::User, "status", Category::Info, all));
    assert!(!may_use(AccessRole::User, "model", Category::Configuration, all));
    assert!(may_use(AccessRole::Admin, "model", Category::Configuration, all));
    let listed = ["model"];
    assert!(may_use(AccessRole::User, "model", Category::Configuration, &listed));
    assert!(!may_use(AccessRole::User, "status", Category::Info, &listed));

    let yes = |is_high_risk, span| GivenAnswer::Yes { is_high_risk, span };
    let once = yes(false, ApprovalSpan::Once);
    assert!(may_answer(AccessRole::User, true, once), "their own question");
    assert!(!may_answer(AccessRole::User, false, once), "of another user");
    assert!(!may_answer(AccessRole::User, true, yes(true, ApprovalSpan::Once)), "of high risk");
    assert!(!may_answer(AccessRole::User, true, yes(false, ApprovalSpan::Session)), "for longer");
    assert!(may_answer(AccessRole::User, true, GivenAnswer::No), "saying no");
    assert!(may_answer(AccessRole::Admin, false, yes(true, ApprovalSpan::Project)));
}

#[test]
fn codes_differ_and_are_easy_to_read_out() {
    let code = |first: u8| {
        let mut random = [3; 24];
        random[0] = first;
        Pairing::open(random, None, AccessRole::Admin, NOW).1
    };
    assert_ne!(code(1), code(2));
    assert!(code(1).chars().all(|c| c == '-' || LETTERS.contains(&(c as u8))), "{}", code(1));
}

#[test]
fn a_code_raises_who_talks_already_and_lowers_nobody() {
    let known = settings(&["7"], &[]);
    let (pairing, code) = Pairing::open([7; 24], None, AccessRole::Admin, NOW);
    let mut roster = Roster { pairing: Some(pairing), ..Roster::default() };
    let admitted = Admission::Admitted(AccessRole::User);
    assert_eq!(admit(&mut roster, &known, &text("7", "AAAA-AAAA")), admitted, "a word like a code");
    assert_eq!(roster.pairing.as_ref().unwrap().tries_left, CODE_TRIES, "no try of the code");
    let in_group = Incoming { is_group: true, ..text("7", &code) };
    assert_eq!(admit(&mut roster, &known, &in_group), admitted, "others would read it");
    assert_eq!(admit(&mut roster, &known, &text("7", &code)), Admission::Paired(AccessRole::Admin));
    assert!(roster.pairing.is_none(), "no other user can use it");
    assert_eq!(roster.role(TELEGRAM, &known, "7"), Some(AccessRole::Admin));
    let (pairing, code) = Pairing::open([8; 24], None, AccessRole::User, NOW);
    roster.pairing = Some(pairing);
    assert_eq!(admit(&mut roster, &known, &text("7", &code)), Admission::Paired(AccessRole::Admin));
    assert_eq!(roster.users.len(), 1);
}
