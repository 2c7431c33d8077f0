//! Every limit of every platform, over generated registries.

use proptest::prelude::*;
use regex::Regex;

use super::limits::{DISCORD, SLACK, TELEGRAM};
use super::*;
use avocet_core::i18n::Lang;
use avocet_core::protocol::{Category, Extensions};
use avocet_present::commands::{CommandRowArgument, RowOrigin, rows};

const NOTHING: MenuOptions<'static> = MenuOptions { open: &[], first: &[] };

/// The line of a command in a chat whose service shows the menu of these rows.
fn typed_line(
    platform: ChatPlatform,
    sent: &SentCommand,
    rows: &[CommandRow],
    options: MenuOptions<'_>,
) -> String {
    MenuNames { platform, rows, shown: rows, options }.typed_line(sent)
}

fn sent(name: &str, args: &str) -> SentCommand {
    SentCommand { name: name.to_owned(), args: args.to_owned(), options: Vec::new() }
}

fn option() -> impl Strategy<Value = CommandRowArgument> {
    // Some names are as long as a name may be, and end in a number.
    let name = prop_oneof![9 => "\\PC{0,40}", 1 => "x{31}[0-2]"];
    let texts = (name, "\\PC{0,150}", prop::collection::vec("\\PC{0,110}", 0..30));
    (texts, any::<[bool; 3]>()).prop_map(
        |((name, about, choices), [required, completed, named])| CommandRowArgument {
            name,
            about,
            is_required: required,
            choices,
            is_completed: completed,
            is_named: named,
        },
    )
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z][a-z0-9-]{0,20}",
        2 => "[a-zA-Z0-9][a-zA-Z0-9._:-]{0,63}",
        1 => "[a-c]{30,36}",
        1 => "[\\p{L}\\p{N}]{1,64}",
        1 => prop::sample::select(SLACK.reserved).prop_map(str::to_owned),
    ]
}

fn row() -> impl Strategy<Value = CommandRow> {
    let reach = prop_oneof![
        8 => Just(Availability::Everywhere),
        1 => Just(Availability::LocalOnly),
        1 => Just(Availability::GatewayOnly),
        1 => Just(Availability::LocalUnless("display.x".to_owned())),
    ];
    let origin =
        prop::sample::select(vec![RowOrigin::BuiltIn, RowOrigin::Command, RowOrigin::Skill]);
    let texts = (name(), prop::collection::vec(name(), 0..3), "\\PC{0,280}", "\\PC{0,120}");
    let rest = (reach, any::<u8>(), origin, prop::collection::vec(option(), 0..3));
    (texts, rest).prop_map(|((name, aliases, about, hint), (reach, priority, origin, options))| {
        let category = Category::Tools;
        CommandRow { name, aliases, about, hint, category, reach, priority, origin, options }
    })
}

fn registry() -> impl Strategy<Value = Vec<CommandRow>> {
    prop::collection::vec(row(), 0..140).prop_map(|mut rows| {
        let mut seen = BTreeSet::new();
        rows.retain(|row| seen.insert(row.name.clone()));
        rows
    })
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Every row is either shown or left out with a reason, and no two have one name.
fn accounted(rows: &[CommandRow], shown: &[String], left_out: &[LeftOut], more: usize) {
    let names: BTreeSet<&String> = shown.iter().collect();
    assert_eq!(names.len(), shown.len(), "a name stands twice: {shown:?}");
    let canonical = left_out.iter().filter(|left| rows.iter().any(|row| row.name == left.name));
    let canonical: BTreeSet<&str> = canonical.map(|left| left.name.as_str()).collect();
    assert!(rows.len() <= shown.len() - more + canonical.len(), "a row is lost");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn a_telegram_menu_keeps_every_limit(rows in registry()) {
        let menu = telegram::menu(&rows, NOTHING);
        let shown: Vec<String> = menu.commands.iter().map(|one| one.command.clone()).collect();
        accounted(&rows, &shown, &menu.left_out, 0);
        prop_assert!(shown.len() <= TELEGRAM.commands);
        let name = Regex::new("^[a-z0-9_]{1,32}$").unwrap();
        for one in &menu.commands {
            prop_assert!(name.is_match(&one.command), "{}", one.command);
            prop_assert!((1..=256).contains(&units(&one.description).max(1)));
        }
        let body = serde_json::to_string(&menu.commands).unwrap();
        prop_assert!(body.len() <= 4_000, "{} bytes", body.len());
    }

    #[test]
    fn a_slack_manifest_keeps_every_limit(rows in registry()) {
        let menu = slack::menu(&rows, NOTHING, Lang::Zh);
        let shown: Vec<String> = menu.commands.iter().map(|one| one.command.clone()).collect();
        prop_assert!(shown.len() <= SLACK.commands);
        let names: BTreeSet<&String> = shown.iter().collect();
        prop_assert_eq!(names.len(), shown.len());
        let name = Regex::new("^/[a-z0-9_-]{1,31}$").unwrap();
        for one in &menu.commands {
            prop_assert!(name.is_match(&one.command), "{}", one.command);
            prop_assert!(!SLACK.reserved.contains(&one.command.trim_start_matches('/')), "{}", one.command);
            prop_assert!(units(&one.description) <= 140 && units(&one.usage_hint) <= 100);
            prop_assert!(!one.should_escape);
        }
    }

    #[test]
    fn a_discord_menu_keeps_every_limit(rows in registry()) {
        let menu = discord::menu(&rows, &rows, NOTHING);
        let shown: Vec<String> = menu.commands.iter().map(|one| one.name.clone()).collect();
        accounted(&rows, &shown, &menu.left_out, 1);
        prop_assert!(shown.len() <= DISCORD.commands);
        let name = Regex::new(r"^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$").unwrap();
        for one in &menu.commands {
            prop_assert!(name.is_match(&one.name), "{}", one.name);
            prop_assert_eq!(one.name.to_lowercase(), one.name.clone());
            prop_assert!((1..=100).contains(&units(&one.description)));
            prop_assert!((1..=100).contains(&units(&one.description_localizations.chinese)));
            prop_assert!(one.options.len() <= 25);
            prop_assert!(discord::command_size(one) <= 4_000);
            let mut names = BTreeSet::new();
            let mut is_optional = false;
            for option in &one.options {
                prop_assert!(name.is_match(&option.name), "{}", option.name);
                prop_assert!(names.insert(&option.name), "{} stands twice", option.name);
                prop_assert!((1..=100).contains(&units(&option.description)));
                prop_assert!(option.choices.len() <= 25);
                prop_assert!(option.choices.is_empty() || !option.autocomplete);
                prop_assert!(!(is_optional && option.required), "required after optional");
                is_optional |= !option.required;
                for choice in &option.choices {
                    prop_assert!((1..=100).contains(&units(&choice.name)));
                }
            }
        }
    }

    #[test]
    fn what_a_menu_shows_leads_back_to_its_row(rows in registry()) {
        for platform in ChatPlatform::ALL {
            for shown in shown_rows(platform, &rows, NOTHING, &mut Vec::new()) {
                let line = typed_line(platform, &sent(&shown.name, "x"), &rows, NOTHING);
                prop_assert_eq!(line, format!("/{} x", shown.row.name), "{:?} {}", platform, shown.name);
            }
        }
        for one in &slack::menu(&rows, NOTHING, Lang::En).commands[1..] {
            let line = typed_line(ChatPlatform::Slack, &sent(&one.command, "x"), &rows, NOTHING);
            let name = line.trim_start_matches('/').split(' ').next().unwrap();
            prop_assert!(rows.iter().any(|row| row.name == name), "{} -> {line}", one.command);
        }
    }

    #[test]
    fn what_is_typed_whole_is_the_command_that_is_called_so(rows in registry()) {
        for platform in ChatPlatform::ALL {
            for name in rows.iter().flat_map(CommandRow::names) {
                // A built-in name in other letters than small ones is not one of the table.
                let Some(meant) = CalledRows::new(&rows).find(name) else { continue };
                let is_umbrella = name.eq_ignore_ascii_case(UMBRELLA);
                let has_umbrella = MenuLetters::of(platform).limits.has_umbrella;
                if !is_umbrella || !has_umbrella {
                    let line = typed_line(platform, &sent(name, ""), &rows, NOTHING);
                    prop_assert_eq!(line, format!("/{}", meant.name), "{:?} {}", platform, name);
                }
                if has_umbrella {
                    let line = typed_line(platform, &sent(UMBRELLA, name), &rows, NOTHING);
                    prop_assert_eq!(line, format!("/{}", meant.name), "{:?} {}", platform, name);
                }
            }
        }
    }

    #[test]
    fn arguments_that_are_chosen_are_the_arguments_of_the_command(
        values in prop::collection::vec(prop::option::of("[^\\r\\n]{0,12}"), 2..6),
    ) {
        let option = |at: usize| CommandRowArgument { name: format!("o{at}"), ..CommandRowArgument::default() };
        let row = CommandRow { options: (0..values.len()).map(option).collect(), ..own("fly") };
        let given = values.iter().enumerate().filter_map(|(at, value)| {
            Some(ChosenOption { name: format!("o{at}"), value: value.clone()? })
        });
        let mut chosen: Vec<ChosenOption> = given.collect();
        chosen.reverse();
        let line = discord::arguments(Some(&row), &chosen);
        let last = values.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        let meant: Vec<String> = values[..last].iter().map(|one| one.clone().unwrap_or_default()).collect();
        prop_assert_eq!(avocet_core::prompt::args::split(&line), meant, "{}", line);
    }
}

fn reason(left_out: &[LeftOut], name: &str) -> Option<OmissionReason> {
    left_out.iter().find(|left| left.name == name).map(|left| left.reason.clone())
}

fn own(name: &str) -> CommandRow {
    CommandRow {
        name: name.to_owned(),
        aliases: Vec::new(),
        about: "x".to_owned(),
        hint: String::new(),
        category: Category::Tools,
        reach: Availability::Everywhere,
        priority: 100,
        origin: RowOrigin::Command,
        options: Vec::new(),
    }
}

#[test]
fn the_registry_itself_fits_every_menu_in_both_languages() {
    for lang in [Lang::En, Lang::Zh] {
        let rows = rows(&Extensions::default(), lang);
        let left = telegram::menu(&rows, NOTHING).left_out;
        let odd = |left: &&LeftOut| {
            matches!(left.reason, OmissionReason::NoRoom(_) | OmissionReason::NoPlace(_))
        };
        assert_eq!(left.iter().find(odd), None);
        assert_eq!(reason(&left, "steer"), None);
        assert_eq!(reason(&left, "theme"), Some(OmissionReason::TerminalOnly));
        let closed = OmissionReason::SettingClosed("display.tool_progress_command".to_owned());
        assert_eq!(reason(&left, "background"), Some(closed));
        let slack = slack::menu(&rows, NOTHING, lang);
        assert_eq!(reason(&slack.left_out, "status"), Some(OmissionReason::Reserved));
        assert_eq!(reason(&slack.left_out, "steer"), None);
    }
}

#[test]
fn the_inputs_of_a_script_are_options_and_come_back_by_their_names() {
    let option = |name: &str, is_required| CommandRowArgument {
        name: name.to_owned(),
        is_required,
        ..CommandRowArgument::default()
    };
    let options = vec![option("text", true), option("Ziel", false)];
    let row = CommandRow { origin: RowOrigin::Script, options, ..own("tr") };
    let menu = telegram::menu(std::slice::from_ref(&row), NOTHING);
    assert!(menu.commands.iter().any(|one| one.command == "tr"), "it asks for what is missing");
    let chosen = |name: &str, value: &str| ChosenOption { name: name.into(), value: value.into() };
    let line = |all: &[ChosenOption]| discord::arguments(Some(&row), all);
    assert_eq!(line(&[]), "");
    let both = [chosen("ziel", "zh"), chosen("text", "a \"b\"")];
    assert_eq!(line(&both), r#"{"text":"a \"b\"","Ziel":"zh"}"#);
}

#[test]
fn a_setting_that_is_true_puts_its_command_into_the_menus() {
    let rows = rows(&Extensions::default(), Lang::En);
    let open = MenuOptions { open: &["display.tool_progress_command"], first: &[] };
    let menu = telegram::menu(&rows, open);
    assert!(menu.commands.iter().any(|one| one.command == "background"));
}

#[test]
fn the_names_that_the_user_wants_first_come_first() {
    let rows = rows(&Extensions::default(), Lang::En);
    let first = ["usage".to_owned(), "diff".to_owned()];
    let menu = telegram::menu(&rows, MenuOptions { open: &[], first: &first });
    let names: Vec<&str> = menu.commands.iter().map(|one| one.command.as_str()).collect();
    assert_eq!(names[..3], ["usage", "diff", "stop"]);
}

#[test]
fn names_are_spelt_as_the_platform_writes_them_and_back() {
    let long = format!("{}-b", "a".repeat(40));
    let longer = format!("{}-c", "a".repeat(40));
    let mut rows = rows(&Extensions::default(), Lang::En);
    rows.extend(["reload-mcp", "git:commit", "提交", &long, &longer, "Status"].map(own));
    let menu = telegram::menu(&rows, NOTHING);
    let names: Vec<&str> = menu.commands.iter().map(|one| one.command.as_str()).collect();
    let (cut, numbered) = ("a".repeat(32), format!("{}0", "a".repeat(31)));
    for name in ["reload_mcp", "git_commit", &cut, &numbered] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert_eq!(reason(&menu.left_out, "提交"), Some(OmissionReason::NoName));
    assert_eq!(
        reason(&menu.left_out, "Status"),
        Some(OmissionReason::NameTaken("status".to_owned()))
    );
    let line =
        |platform, name: &str, args: &str| typed_line(platform, &sent(name, args), &rows, NOTHING);
    assert_eq!(line(ChatPlatform::Telegram, "reload_mcp@MyBot", " a  b "), "/reload-mcp a  b");
    assert_eq!(line(ChatPlatform::Telegram, &numbered, ""), format!("/{longer}"));
    assert_eq!(line(ChatPlatform::Telegram, "提交", ""), "/提交");
    assert_eq!(line(ChatPlatform::Discord, "git-commit", "x"), "/git:commit x");
    assert_eq!(line(ChatPlatform::Telegram, "nothing", "x"), "/nothing x");
}

#[test]
fn one_command_takes_every_name_and_alias_that_a_menu_has_no_room_for() {
    let rows = rows(&Extensions::default(), Lang::En);
    for platform in [ChatPlatform::Slack, ChatPlatform::Discord] {
        let line = |args: &str| typed_line(platform, &sent("avocet", args), &rows, NOTHING);
        assert_eq!(line("status"), "/status");
        assert_eq!(line(" /mode low"), "/mode low");
        assert_eq!(line(""), "/help");
        for name in rows.iter().flat_map(CommandRow::names) {
            let canonical = rows.iter().find(|row| row.names().any(|known| known == name));
            assert_eq!(line(name), format!("/{}", canonical.unwrap().name));
        }
    }
}

#[test]
fn options_are_put_in_the_order_of_their_command_whatever_the_order_they_were_chosen_in() {
    let option =
        |name: &str| CommandRowArgument { name: name.to_owned(), ..CommandRowArgument::default() };
    let mut rows = rows(&Extensions::default(), Lang::En);
    rows.push(CommandRow {
        options: vec![
            option("city"),
            option("days"),
            CommandRowArgument { is_named: true, ..option("unit") },
        ],
        ..own("weather")
    });
    let chosen = |name: &str, args: &str, options: &[(&str, &str)]| {
        let option = |(name, value): &(&str, &str)| ChosenOption {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        };
        let options = options.iter().map(option).collect();
        let sent = SentCommand { options, ..sent(name, args) };
        typed_line(ChatPlatform::Discord, &sent, &rows, NOTHING)
    };
    let given = [("unit", "C"), ("days", "3"), ("city", "New York")];
    assert_eq!(chosen("weather", "", &given), "/weather \"New York\" 3 unit C");
    assert_eq!(chosen("weather", "", &given[1..2]), "/weather \"\" 3", "it is not the city");
    assert_eq!(chosen("jobs", "", &[("page", "2")]), "/jobs", "a page of no job");
    assert_eq!(chosen("jobs", "", &[("page", "2"), ("n", "1")]), "/jobs 1 2");
    assert_eq!(
        chosen("weather", "set", &[("other", "x"), ("city", "Rome")]),
        "/weather set Rome x"
    );
    assert_eq!(chosen("avocet", "", &[("command", "weather Rome 3")]), "/weather Rome 3");
    assert_eq!(chosen("nothing", "", &[("b", "2"), ("a", "1")]), "/nothing 2 1");
    // A command that is called like the one that takes all others does not change that one.
    rows.push(CommandRow { options: vec![option("command"), option("x")], ..own("avocet") });
    let sent = SentCommand {
        options: vec![ChosenOption { name: "command".into(), value: "model m 2".into() }],
        ..sent("avocet", "")
    };
    assert_eq!(typed_line(ChatPlatform::Discord, &sent, &rows, NOTHING), "/model m 2");
}

#[test]
fn a_telegram_menu_is_registered_for_everyone_and_for_each_language() {
    let menus = [Lang::En, Lang::Zh]
        .map(|lang| (lang, telegram::menu(&rows(&Extensions::default(), lang), NOTHING)));
    let calls = telegram::calls(Lang::Zh, &menus);
    let codes: Vec<&serde_json::Value> = calls.iter().map(|call| &call["language_code"]).collect();
    assert_eq!(codes, [&serde_json::Value::Null, &"en".into(), &"zh".into()]);
    assert_eq!(calls[0]["commands"], calls[2]["commands"]);
    assert!(calls[2]["commands"][0]["description"].as_str().unwrap().contains("停止"));
}

#[test]
fn a_manifest_is_for_socket_mode_and_escapes_nothing() {
    let rows = rows(&Extensions::default(), Lang::En);
    let manifest = slack::menu(&rows, NOTHING, Lang::En).manifest();
    assert_eq!(manifest["settings"]["socket_mode_enabled"], true);
    let commands = manifest["features"]["slash_commands"].as_array().unwrap();
    assert_eq!(commands[0]["command"], "/avocet");
    assert!(commands.iter().all(|command| command["should_escape"] == false));
    assert!(commands.iter().any(|command| command["command"] == "/interrupt"), "an alias");
}

#[test]
fn discord_options_have_choices_or_complete_what_is_typed() {
    let [english, chinese] = [Lang::En, Lang::Zh].map(|lang| rows(&Extensions::default(), lang));
    let menu = discord::menu(&english, &chinese, NOTHING);
    let command = |name: &str| menu.commands.iter().find(|one| one.name == name).unwrap();
    let mode = &command("mode").options[0];
    assert_eq!((mode.required, mode.choices.len(), mode.autocomplete), (false, 6, false));
    let model = &command("model").options[0];
    assert_eq!((model.required, model.choices.len(), model.autocomplete), (false, 0, true));
    assert_eq!(command("stop").description_localizations.chinese, "停止本轮");
    let many = discord::suggestions((0..40).map(|n| n.to_string()));
    assert_eq!(many.len(), 25);
}

#[test]
fn no_menu_gives_a_command_what_another_one_is_called() {
    let mut rows = rows(&Extensions::default(), Lang::En);
    let exact = "report-weekly-for-the-whole-team";
    let long = format!("{exact}-draft");
    rows.extend(["interrupt*", "theme*", &long, exact, "Deploy", "deploy", "git:commit"].map(own));
    rows.push(CommandRow { aliases: vec!["git_commit".to_owned()], ..own("other") });
    let line = |platform, name: &str| typed_line(platform, &sent(name, ""), &rows, NOTHING);
    for platform in ChatPlatform::ALL {
        let shown = shown_rows(platform, &rows, NOTHING, &mut Vec::new());
        let name_of = |row: &str| shown.iter().find(|one| one.row.name == row).map(|one| &one.name);
        for taken in ["interrupt*", "theme*", "Deploy"] {
            assert_eq!(name_of(taken), None, "{platform:?}");
        }
        assert_eq!(line(platform, "interrupt"), "/stop");
        assert_eq!(line(platform, "git_commit"), "/other");
        for whole in [exact, &long, "Deploy", "deploy", "interrupt*"] {
            assert_eq!(line(platform, whole), format!("/{whole}"), "{platform:?}");
        }
        assert_eq!(line(platform, "DEPLOY"), "/deploy");
    }
    let menu = discord::menu(&rows, &rows, NOTHING);
    assert!(menu.commands.iter().any(|one| one.name == exact));
    assert_eq!(line(ChatPlatform::Telegram, &exact.replace('-', "_")), format!("/{exact}"));
    let slack = slack::menu(&rows, NOTHING, Lang::En);
    assert_eq!(reason(&slack.left_out, "interrupt"), None, "the alias of /stop has its name");
}

#[test]
fn an_alias_that_a_platform_writes_like_its_command_is_not_left_out() {
    let mut rows = rows(&Extensions::default(), Lang::En);
    rows.push(CommandRow { aliases: vec!["git-commit".to_owned()], ..own("git.commit") });
    let menu = slack::menu(&rows, NOTHING, Lang::En);
    assert_eq!(reason(&menu.left_out, "git-commit"), None);
    assert!(menu.commands.iter().any(|one| one.command == "/git-commit"));
}

#[test]
fn an_entry_of_a_menu_that_is_older_than_the_files_means_what_it_showed() {
    let red = "summarize-the-open-pull-requests-of-team-red";
    let blue = "summarize-the-open-pull-requests-of-team-blue";
    let entry = "summarize_the_open_pull_requests";
    let [old, both, new] = [&[red][..], &[blue, red], &[blue]]
        .map(|names| names.iter().map(|name| own(name)).collect::<Vec<_>>());
    let meant = |rows: &[CommandRow], shown: &[CommandRow]| {
        let names = MenuNames { platform: ChatPlatform::Telegram, rows, shown, options: NOTHING };
        names.typed_line(&sent(entry, ""))
    };
    assert_eq!(meant(&both, &old), format!("/{red}"));
    assert_eq!(meant(&both, &both), format!("/{blue}"));
    assert_eq!(meant(&new, &old), format!("/{red}"), "which is not there any more");
    assert_eq!(meant(&new, &[]), format!("/{blue}"));
    let alias = CommandRow { aliases: vec!["git-commit".to_owned()], ..own("other") };
    let old = [own("git.commit")];
    let names = MenuNames {
        platform: ChatPlatform::Telegram,
        rows: std::slice::from_ref(&alias),
        shown: &old,
        options: NOTHING,
    };
    assert_eq!(names.typed_line(&sent("git_commit", "")), "/git.commit", "which is gone");
    // The options are those that were shown.
    let fly = |names: [&str; 2]| {
        let option = |name: &str| CommandRowArgument {
            name: name.to_owned(),
            ..CommandRowArgument::default()
        };
        [CommandRow { options: names.map(option).to_vec(), ..own("fly") }]
    };
    let (rows, shown) = (fly(["origin", "to"]), fly(["from", "to"]));
    let names =
        MenuNames { platform: ChatPlatform::Discord, rows: &rows, shown: &shown, options: NOTHING };
    let chosen = |name: &str, value: &str| ChosenOption { name: name.into(), value: value.into() };
    let options = vec![chosen("from", "New York"), chosen("to", "Rome")];
    let line = names.typed_line(&SentCommand { options, ..sent("fly", "") });
    assert_eq!(line, "/fly \"New York\" Rome");
    // Another folder may have a command that its menu would write so.
    let here = [own("git-commit")];
    let names = MenuNames {
        platform: ChatPlatform::Telegram,
        rows: &here,
        shown: &[own("git:commit")],
        options: NOTHING,
    };
    assert_eq!(names.typed_line(&sent("git_commit", "")), "/git-commit");
}

#[test]
fn every_option_is_shown_and_a_list_that_would_forbid_a_value_is_none() {
    let option = |name: &str, choices: Vec<String>| CommandRowArgument {
        name: name.to_owned(),
        about: "x".repeat(300),
        is_required: true,
        choices,
        ..CommandRowArgument::default()
    };
    let many: Vec<String> = (0..25).map(|n| format!("{n}{}", "c".repeat(76))).collect();
    let long = vec!["short".to_owned(), "l".repeat(101)];
    let twice = ["a", "b", "a"].map(str::to_owned).to_vec();
    let mut options = vec![option("first", many), option("city", Vec::new())];
    options.extend([option("long", long), option("twice", twice)]);
    options.extend((4..25).map(|n| option(&format!("more{n}"), Vec::new())));
    let row = CommandRow { options, ..own("fly") };
    let rows = [row.clone()];
    let menu = discord::menu(&rows, &rows, NOTHING);
    let shown = &menu.commands[1];
    assert_eq!(shown.options.len(), 25);
    assert!(discord::command_size(shown) <= 4_000);
    let of = |name: &str| shown.options.iter().find(|one| one.name == name).unwrap();
    assert_eq!(
        (of("first").choices.len(), of("first").autocomplete),
        (0, true),
        "there is no room"
    );
    assert_eq!((of("long").choices.len(), of("long").autocomplete), (0, true));
    assert_eq!((of("twice").choices.len(), of("twice").autocomplete), (2, false));
    assert_eq!(discord::own_choices(&row, "first", "7c").len(), 2);
    assert_eq!(discord::own_choices(&row, "city", ""), Vec::<String>::new());
}

#[test]
fn discord_keeps_the_letters_that_it_takes() {
    let kept = [
        ("กิน", "กิน"),
        ("שלום", "שלום"),
        ("١٢٣", "١٢٣"),
        ("Łódź", "łódź"),
        ("サーバー", "サーバー"),
        ("git:commit", "git-commit"),
        ("a*b", "ab"),
        ("👋", ""),
    ];
    for (name, spelt) in kept {
        assert_eq!(discord::spell(name), spelt);
    }
}
