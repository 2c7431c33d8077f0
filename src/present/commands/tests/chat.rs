//! Commands in a chat, and what files say of the user's own commands.

use super::extensions::{entry, invoked, with_extensions};
use super::*;
use avocet_core::protocol::JobRequest;
use avocet_safety::limits;

#[test]
fn a_chat_answers_its_question_and_names_its_folder_and_its_sender() {
    let chat = |action| CommandOutcome::Do(UiAction::Chat(action));
    let cases = [
        ("/approve", chat(ChatAction::Approve(ApprovalSpan::Once))),
        ("/approve Session", chat(ChatAction::Approve(ApprovalSpan::Session))),
        ("/deny", chat(ChatAction::Reject(None))),
        ("/deny too risky", chat(ChatAction::Reject(Some("too risky".into())))),
        ("/sethome", chat(ChatAction::SetHome(None))),
        ("/sethome ~/work", chat(ChatAction::SetHome(Some("~/work".into())))),
        ("/whoami", chat(ChatAction::WhoAmI)),
        ("/forbid curl *", CommandOutcome::Send(Op::Rules(RuleOp::Deny { rule: "curl *".into() }))),
    ];
    for (line, expected) in cases {
        assert_eq!(from_gateway().dispatch_line(line), expected, "{line}");
    }
    let wrong = from_gateway().notice_for("/approve forever");
    assert!(wrong.contains("Usage: /approve [once|session|project]"), "{wrong}");
    for line in ["/approve", "/deny", "/whoami", "/stop", "/status", "/queue x", "/steer x"] {
        let desk = CommandFixture { busy: true, ..from_gateway() };
        let outcome = dispatch_over_question(&desk.call(), line);
        assert!(!matches!(outcome, CommandOutcome::Say(_)), "{line}: {outcome:?}");
    }
}

#[test]
fn the_gate_opens_background_in_a_chat() {
    let open = &["display.tool_progress_command"];
    let opened = CommandFixture { surface: Surface::Gateway { open }, ..fixture() };
    let running = CommandOutcome::Send(Op::Session(SessionOp::Report { report: Report::Running }));
    assert_eq!(opened.dispatch_line("/bg list"), running);
    assert!(opened.offers("/").contains(&"/background".to_owned()));
    assert!(!from_gateway().offers("/").contains(&"/background".to_owned()));
}

#[test]
fn help_in_a_chat_shows_what_works_there_and_no_paths() {
    let keeper = CommandFixture { surface: Surface::Gateway { open: &[] }, ..with_extensions() };
    let all = page_rows(help_page(None, keeper.surface, &keeper.extensions)).join("\n");
    assert!(all.contains("/whoami") && !all.contains("/exit") && !all.contains("/bg"), "{all}");
    assert!(!all.contains("Unusable") && !all.contains("/x/"), "{all}");
    let hidden = notice_text(help_page(Some("theme"), keeper.surface, &keeper.extensions));
    assert!(hidden.contains("only in the terminal"), "{hidden}");
    assert!(!page_rows(keeper.dispatch_line("/commands")).join(" ").contains("torn"));
    assert!(keeper.notice_for("/torn").contains("file is broken"));
}

#[test]
fn help_explains_gateways_in_the_terminal_and_in_a_chat() {
    let keeper = with_extensions();
    let of = |topic, surface| page_rows(help_page(Some(topic), surface, &keeper.extensions));
    let here = of("gateways", Surface::Local).join("\n");
    for part in ["avocet gateway pair", "avocet gateway token", "/sethome", "/approve"] {
        assert!(here.contains(part), "{part} is not in {here}");
    }
    for other in ["Telegram", "slack", "discord", "gateway"] {
        assert_eq!(of(other, Surface::Local).join("\n"), here, "{other}");
    }
    let there = of("gateways", Surface::Gateway { open: &[] }).join("\n");
    assert!(there.contains("/whoami") && !there.contains("avocet gateway"), "{there}");
    let chinese = help_page(Some("gateways"), Surface::Local, &keeper.extensions);
    let CommandOutcome::Page { title, .. } = chinese else { panic!("{chinese:?}") };
    assert_eq!(title.text(Lang::Zh), "网关");
    let all = page_rows(help_page(None, Surface::Local, &keeper.extensions)).join("\n");
    assert!(all.contains("/help gateways"), "{all}");
    let offered = keeper.offers("/help gate");
    assert!(offered.iter().any(|line| line.contains("gateways")), "{offered:?}");
}

#[test]
fn help_says_what_the_sandbox_does_and_leaves_open_from_the_tables() {
    let page = |named: &str, lang: Lang| {
        let page = help_page(Some(named), Surface::Local, &Extensions::default());
        let CommandOutcome::Page { rows, .. } = page else { panic!("{page:?}") };
        let lines = rows.iter().map(|row| match row {
            PageRow::Heading(text) | PageRow::Line(text) => text.text(lang),
            PageRow::Pair { label, value } => format!("{}: {}", label.text(lang), value.text(lang)),
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    let english = page("sandbox", Lang::En);
    for limit in limits::KERNEL_LIMITS {
        assert!(english.contains(limit.without.text(Lang::En)), "{english}");
    }
    for open in limits::open_list(Lang::En).lines() {
        assert!(english.contains(open.trim_start_matches("- ")), "{english}");
    }
    assert!(english.contains("can run anything outside"), "{english}");
    assert_eq!(page("Landlock", Lang::En), english);
    let chinese = page("sandbox", Lang::Zh);
    assert!(chinese.contains("沙箱") && !chinese.contains("sandbox."), "{chinese}");
}

/// `/weather <city>` with the alias `wth`, as its file describes it.
fn with_weather(traits: CommandTraits) -> CommandFixture {
    let arguments = vec![CommandArgument {
        name: "city".into(),
        is_required: true,
        ..CommandArgument::default()
    }];
    let mut keeper = with_extensions();
    keeper.extensions.entries.push(Extension {
        hint: "<city>".into(),
        traits: CommandTraits { aliases: vec!["wth".into()], arguments, ..traits },
        ..entry(ExtensionKind::Command, "weather", "Show the weather", ExtensionState::Usable)
    });
    keeper
}

#[test]
fn a_command_of_the_user_follows_what_its_file_says() {
    let keeper = with_weather(CommandTraits::default());
    assert_eq!(keeper.dispatch_line("/wth Beijing"), invoked("weather", "Beijing"));
    assert_eq!(keeper.notice_for("/weather"), "`/weather` needs <city>. Usage: /weather <city>");
    assert_eq!(keeper.offers("/wth"), ["/weather"], "by its alias");
    let row = rows(&keeper.extensions, Lang::En).pop().unwrap();
    assert_eq!(row.names().collect::<Vec<_>>(), ["weather", "wth"]);
    assert!(row.needs_argument());

    let local =
        with_weather(CommandTraits { reach: Availability::LocalOnly, ..CommandTraits::default() });
    let local = CommandFixture { surface: Surface::Gateway { open: &[] }, ..local };
    assert!(local.notice_for("/weather Beijing").contains("only in the terminal"));
    assert!(!page_rows(local.dispatch_line("/commands")).join(" ").contains("weather"));

    let refusing =
        with_weather(CommandTraits { busy: WhileBusy::Refuse, ..CommandTraits::default() });
    let refusing = CommandFixture { busy: true, ..refusing };
    assert!(refusing.notice_for("/weather Beijing").contains("while a turn is running"));
}

#[test]
fn every_row_of_the_table_is_complete() {
    for command in table::COMMANDS {
        for option in command.options {
            for lang in [Lang::En, Lang::Zh] {
                let length = option.about.text(lang).chars().count();
                assert!((1..=100).contains(&length), "{} {}", command.name, option.name);
            }
            let of_name = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(option.name.chars().all(of_name), "{} {}", command.name, option.name);
        }
        if let Availability::LocalUnless(setting) = command.reach {
            let key = avocet_config::toml_schema::find(avocet_config::keys::KEYS, setting);
            assert!(key.is_some(), "{}: no setting `{setting}`", command.name);
        }
    }
}

#[test]
fn commands_allowed_during_a_question_never_wait() {
    for name in table::OVER_A_QUESTION {
        let row = find(name).expect("a row");
        assert_eq!((row.name, row.busy), (*name, WhileBusy::Now));
    }
    let desk = busy();
    let says = |line: &str| match dispatch_over_question(&desk.call(), line) {
        CommandOutcome::Say(notice) => notice.say.text(Lang::En),
        other => format!("{other:?}"),
    };
    for line in ["/new", "/allow git *", "/trust", "/run a.yaml"] {
        let said = says(line);
        let waits = said.contains("before using") || said.contains("Later");
        assert!(waits, "{line}: {said}");
    }
    assert!(says("/nope").contains("no command"), "it is not there after the question either");
}

#[test]
fn jobs_and_outputs_are_named_by_number() {
    let cases = [
        ("/jobs", JobRequest::List),
        ("/jobs 2", JobRequest::Show { id: 2, page: None }),
        ("/jobs stop 2", JobRequest::Stop { id: 2 }),
        ("/output cmd_012 3", JobRequest::Output { step: 12, page: Some(3) }),
    ];
    for (line, job) in cases {
        assert_eq!(
            fixture().dispatch_line(line),
            CommandOutcome::Send(Op::Session(SessionOp::Job { job })),
            "{line}"
        );
    }
    assert!(fixture().notice_for("/jobs stop all").contains("`/jobs stop N`"));
    assert!(fixture().notice_for("/output all").contains("no number"));
}
