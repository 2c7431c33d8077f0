//! The outcomes of typed commands.

use super::dispatch::{dispatch_in, find_in};
use super::*;
use avocet_core::i18n;
use avocet_core::i18n::{Lang, PhraseValue};
use avocet_core::protocol::{
    ArgumentValues, CommandArgument, CommandTraits, Effort, ExportFormat, Extension, ExtensionKind,
    ExtensionState, Extensions, Mode, ModelOp, Notice, OmittedSkills, Op, Report, RuleOp, SavedOp,
    SessionInfo, SessionOp, SettingOp, ToolInfo, TurnOp, Usage,
};

mod chat;
mod extensions;
mod prompts;
mod running;
mod scripts;

struct CommandFixture {
    facts: SessionInfo,
    models: Vec<String>,
    themes: Vec<String>,
    extensions: Extensions,
    folders: Vec<String>,
    values: Option<ArgumentValues>,
    busy: bool,
    surface: Surface<'static>,
}

fn fixture() -> CommandFixture {
    let base_url = "http://127.0.0.1:8080/v1".into();
    let facts = SessionInfo {
        model: "large".into(),
        base_url,
        max_steps: Some(25),
        ..SessionInfo::default()
    };
    let models = vec!["Large".to_owned(), "small".to_owned()];
    let themes = vec!["dark".to_owned(), "light".to_owned()];
    let kept = Extensions::default();
    let folders = Vec::new();
    CommandFixture {
        facts,
        models,
        themes,
        extensions: kept,
        folders,
        values: None,
        busy: false,
        surface: Surface::Local,
    }
}

fn busy() -> CommandFixture {
    CommandFixture { busy: true, ..fixture() }
}

fn from_gateway() -> CommandFixture {
    CommandFixture { surface: Surface::Gateway { open: &[] }, ..fixture() }
}

impl CommandFixture {
    fn call(&self) -> CommandContext<'_> {
        let CommandFixture {
            facts,
            models,
            themes,
            extensions: kept,
            folders,
            values,
            busy,
            surface,
        } = self;
        CommandContext {
            facts,
            models,
            themes,
            extensions: kept,
            folders,
            argument_values: values.as_ref(),
            surface: *surface,
            busy: *busy,
        }
    }

    fn dispatch_line(&self, line: &str) -> CommandOutcome {
        dispatch(&self.call(), line)
    }

    /// The sentence and the hint of the notice, in English.
    fn notice_for(&self, line: &str) -> String {
        notice_text(self.dispatch_line(line))
    }

    fn offers(&self, line: &str) -> Vec<String> {
        complete(&self.call(), line).into_iter().map(|candidate| candidate.text).collect()
    }
}

fn notice_text(outcome: CommandOutcome) -> String {
    match outcome {
        CommandOutcome::Say(Notice { say, hint, .. }) => {
            let hint = hint.map(|hint| format!(" {}", hint.text(Lang::En)));
            format!("{}{}", say.text(Lang::En), hint.unwrap_or_default())
        }
        other => format!("{other:?}"),
    }
}

/// A page as text, one line for each row.
fn page_rows(outcome: CommandOutcome) -> Vec<String> {
    let text =
        |value: &PhraseValue| i18n::commands::USAGE.with("usage", value.clone()).text(Lang::En);
    let text = |value: &PhraseValue| text(value).trim_start_matches("Usage: ").to_owned();
    let CommandOutcome::Page { rows, .. } = outcome else { return vec![notice_text(outcome)] };
    rows.iter()
        .map(|row| match row {
            PageRow::Heading(heading) => format!("# {}", text(heading)),
            PageRow::Pair { label, value } => format!("{}: {}", text(label), text(value)),
            PageRow::Line(line) => text(line),
        })
        .collect()
}

fn runs(script: &str, args: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Turn(TurnOp::RunScript { script: script.into(), args: args.into() }))
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn each_command_does_what_its_row_says() {
    let cases = [
        ("/new", CommandOutcome::Send(Op::Saved(SavedOp::New))),
        ("/clear", CommandOutcome::Send(Op::Saved(SavedOp::New))),
        ("/RESET", CommandOutcome::Send(Op::Saved(SavedOp::New))),
        (
            "/queue  then this\nand that ",
            CommandOutcome::Send(Op::Turn(TurnOp::Submit { text: "then this\nand that".into() })),
        ),
        (
            "/steer  this\nway ",
            CommandOutcome::Send(Op::Turn(TurnOp::Steer { text: "this\nway".into() })),
        ),
        ("/retry", CommandOutcome::Send(Op::Turn(TurnOp::Retry))),
        ("/run summary", runs("summary", "")),
        ("/run  a/b.ai.yaml  {who: Ann} ", runs("a/b.ai.yaml", "{who: Ann}")),
        ("/run 'my own.ai.yaml' two words", runs("my own.ai.yaml", "two words")),
        ("/diff", CommandOutcome::Send(Op::Session(SessionOp::Report { report: Report::Changes }))),
        ("/redo", CommandOutcome::Send(Op::Turn(TurnOp::Redo))),
        // The session takes it over, or says what is wrong with it.
        (
            "/config  vim on",
            CommandOutcome::Send(Op::Setting(SettingOp::Configure {
                key: Some("vim".into()),
                value: Some("on".into()),
            })),
        ),
        (
            "/config unset  vim",
            CommandOutcome::Send(Op::Setting(SettingOp::Configure {
                key: Some("unset vim".into()),
                value: None,
            })),
        ),
        ("/config", CommandOutcome::Do(UiAction::Settings(String::new()))),
        ("/config safety", CommandOutcome::Do(UiAction::Settings("safety".into()))),
        ("/rewind", CommandOutcome::Do(UiAction::Rewind)),
        ("/undo", CommandOutcome::Send(Op::Turn(TurnOp::Undo { turns: 1 }))),
        ("/undo 3", CommandOutcome::Send(Op::Turn(TurnOp::Undo { turns: 3 }))),
        (
            "/plugins",
            CommandOutcome::Send(Op::Session(SessionOp::Report { report: Report::Plugins })),
        ),
        (
            "/context",
            CommandOutcome::Send(Op::Session(SessionOp::Report { report: Report::Context })),
        ),
        ("/usage", CommandOutcome::Send(Op::Session(SessionOp::Report { report: Report::Usage }))),
        ("/copy", CommandOutcome::Do(UiAction::Copy(1))),
        ("/copy 3", CommandOutcome::Do(UiAction::Copy(3))),
        ("/model", CommandOutcome::Do(UiAction::Models)),
        (
            "/model large",
            CommandOutcome::Send(Op::Model(ModelOp::SetModel { name: "Large".into() })),
        ),
        ("/mode Low", CommandOutcome::Send(Op::Setting(SettingOp::SetMode { mode: Mode::Low }))),
        ("/effort", CommandOutcome::Do(UiAction::Efforts)),
        (
            "/effort High",
            CommandOutcome::Send(Op::Model(ModelOp::SetEffort { effort: Some(Effort::High) })),
        ),
        ("/reasoning auto", CommandOutcome::Send(Op::Model(ModelOp::SetEffort { effort: None }))),
        ("/theme", CommandOutcome::Do(UiAction::Theme(None))),
        ("/theme light", CommandOutcome::Do(UiAction::Theme(Some("light".into())))),
        (
            "/allow git  push *",
            CommandOutcome::Send(Op::Rules(RuleOp::Allow { rule: "git push *".into() })),
        ),
        (
            "/deny git push",
            CommandOutcome::Send(Op::Rules(RuleOp::Deny { rule: "git push".into() })),
        ),
        (
            "/forbid git push",
            CommandOutcome::Send(Op::Rules(RuleOp::Deny { rule: "git push".into() })),
        ),
        (
            "/platforms",
            CommandOutcome::Send(Op::Session(SessionOp::Report { report: Report::Platforms })),
        ),
        ("/bg", CommandOutcome::Send(Op::Session(SessionOp::Report { report: Report::Running }))),
        ("/help", CommandOutcome::Do(UiAction::Help(None))),
        ("/", CommandOutcome::Do(UiAction::Help(None))),
        ("/help model", CommandOutcome::Do(UiAction::Help(Some("model".into())))),
        (
            "/doctor",
            CommandOutcome::Send(Op::Session(SessionOp::Report { report: Report::Doctor })),
        ),
        ("/q", CommandOutcome::Do(UiAction::Quit)),
    ];
    for (line, expected) in cases {
        assert_eq!(fixture().dispatch_line(line), expected, "{line}");
    }
}

#[test]
fn a_language_is_changed_on_both_sides() {
    let expected = CommandOutcome::Many(vec![
        CommandOutcome::Do(UiAction::Lang(Lang::Zh)),
        CommandOutcome::Send(Op::Setting(SettingOp::SetLang { lang: Lang::Zh })),
    ]);
    assert_eq!(fixture().dispatch_line("/lang zh"), expected);
}

#[test]
fn an_export_finds_its_format_by_word_by_ending_or_by_custom() {
    let cases = [
        ("/export", ExportFormat::Md, None),
        ("/export json", ExportFormat::Json, None),
        ("/export html my notes.md", ExportFormat::Html, Some("my notes.md")),
        ("/export notes.json", ExportFormat::Json, Some("notes.json")),
        ("/export my notes", ExportFormat::Md, Some("my notes")),
    ];
    for (line, format, path) in cases {
        let path = path.map(str::to_owned);
        assert_eq!(
            fixture().dispatch_line(line),
            CommandOutcome::Send(Op::Saved(SavedOp::Export { format, path })),
            "{line}"
        );
    }
}

#[test]
fn mode_without_a_word_says_what_each_mode_is_and_which_is_in_use() {
    let mut fixture = fixture();
    fixture.facts.approval = avocet_core::protocol::ApprovalMode::Auto;
    let CommandOutcome::Page { rows, .. } = fixture.dispatch_line("/mode") else {
        panic!("a page")
    };
    for lang in [Lang::En, Lang::Zh] {
        let rows: Vec<(String, String)> = rows
            .iter()
            .filter_map(|row| match row {
                PageRow::Pair { label, value } => Some((label.text(lang), value.text(lang))),
                _ => None,
            })
            .collect();
        let names: Vec<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["ask", "edits", "auto", "plan", "low", "high"]);
        let used = i18n::common::ABOUT_IN_USE.with("about", "").text(lang);
        let in_use = rows.iter().filter(|(_, about)| about.ends_with(used.trim()));
        let in_use: Vec<&str> = in_use.map(|(name, _)| name.as_str()).collect();
        assert_eq!(in_use, ["auto", "high"]);
        assert!(rows.iter().all(|(_, about)| !about.contains('\n') && about.len() > 8));
    }
}

#[test]
fn mistakes_are_reported_with_the_usage() {
    let cases = [
        ("/stauts", "There is no command `/stauts`. Did you mean `/status`?"),
        ("/weather Beijing", "There is no command `/weather`. `/help` lists the commands."),
        ("/status now", "`/status` takes no arguments. Usage: /status"),
        ("/steer", "`/steer` needs <message>. Usage: /steer <message>"),
        (
            "/mode fast",
            "`/mode` takes one of ask, edits, auto, plan, low, high, not `fast`. Usage: /mode [ask|edits|auto|plan|low|high]",
        ),
        ("/theme lihgt", "There is no theme `lihgt`. Did you mean `light`?"),
        ("/theme neon", "There is no theme `neon`. Available: dark, light."),
        (
            "/rewind 1 all",
            "Cannot undo `all`. Use `chat`, `files` or `both`. Usage: /rewind [n] [chat|files|both]",
        ),
        (
            "/jobs stop",
            "`stop` names no job. To end or keep one: `/jobs stop N`, `/jobs keep N`. Usage: /jobs [n] [page]",
        ),
        ("/copy 0", "`0` is not an answer's number: 1 is the last one. Usage: /copy [n]"),
        ("/copy last", "`last` is not an answer's number: 1 is the last one. Usage: /copy [n]"),
        ("/vim maybe", "`/vim` takes `on` or `off`, not `maybe`. Usage: /vim [on|off]"),
        (
            "/allow *",
            "A rule begins with the name of a program. For example `git push *`, or just `git push`.",
        ),
        ("/stop", "Nothing is running."),
    ];
    for (line, expected) in cases {
        assert_eq!(fixture().notice_for(line), expected, "{line}");
    }
}

#[test]
fn a_model_the_server_does_not_list_is_tried_with_a_warning() {
    let CommandOutcome::Many(outcomes) = fixture().dispatch_line("/model huge") else {
        panic!("two outcomes")
    };
    assert_eq!(
        outcomes[1],
        CommandOutcome::Send(Op::Model(ModelOp::SetModel { name: "huge".into() }))
    );
    let mut alone = fixture();
    alone.facts.base_url.clear();
    let asked = CommandOutcome::Send(Op::Model(ModelOp::SetModel { name: "huge".into() }));
    assert_eq!(alone.dispatch_line("/model huge"), asked, "there is no server that could list it");
}

#[test]
fn during_a_turn_each_command_behaves_as_its_row_says() {
    assert_eq!(busy().dispatch_line("/stop"), CommandOutcome::Send(Op::Turn(TurnOp::Stop)));
    assert!(
        busy().notice_for("/new").starts_with("`/new` is not available while a turn is running.")
    );
    let CommandOutcome::Many(outcomes) = busy().dispatch_line("/mode low") else {
        panic!("two outcomes")
    };
    assert_eq!(outcomes[1], CommandOutcome::Do(UiAction::Later("/mode low".into())));
    assert_eq!(
        fixture().dispatch_line("/mode low"),
        CommandOutcome::Send(Op::Setting(SettingOp::SetMode { mode: Mode::Low }))
    );
    // A mistake is reported at once, not after the turn.
    assert!(busy().notice_for("/mode fast").contains("takes one of"));
}

#[test]
fn commands_that_must_run_at_once_do() {
    for name in ["stop", "queue", "help", "status", "copy", "exit"] {
        assert_eq!(find(name).map(|command| command.busy), Some(WhileBusy::Now), "{name}");
    }
}

#[test]
fn an_unavailable_command_is_neither_run_nor_offered() {
    assert_eq!(
        from_gateway().notice_for("/exit"),
        "`/exit` is not available here. It works only in the terminal."
    );
    assert!(fixture().notice_for("/whoami").contains("only in a chat"));
    assert!(from_gateway().notice_for("/bg").contains("`display.tool_progress_command` is true"));
    assert!(!from_gateway().offers("/").contains(&"/exit".to_owned()));
    assert!(fixture().offers("/").contains(&"/exit".to_owned()));
    let categories = by_category(from_gateway().surface);
    assert!(categories.iter().all(|(category, _)| *category != Category::Exit));
}

#[test]
fn a_setting_opens_a_local_command_to_a_gateway() {
    let gate = "display.tool_progress";
    let open = &["display.tool_progress"];
    assert!(!Availability::LocalUnless(gate).covers(Surface::Gateway { open: &[] }));
    assert!(Availability::LocalUnless(gate).covers(Surface::Gateway { open }));
    assert!(Availability::LocalUnless(gate).covers(Surface::Local));
    assert!(!Availability::<&str>::GatewayOnly.covers(Surface::Local));
}

#[test]
fn a_name_wins_over_an_alias() {
    let row = |name, aliases| SlashCommand { name, aliases, ..table::COMMANDS[0] };
    let table = [row("long", &["short"]), row("short", &[])];
    assert_eq!(find_in(&table, "/short").map(|command| command.name), Some("short"));
    assert_eq!(
        dispatch_in(&table, &fixture().call(), "/short"),
        CommandOutcome::Send(Op::Saved(SavedOp::New))
    );
}

#[test]
fn completion_is_ordered_from_prefix_to_scattered_matches() {
    assert_eq!(fixture().offers("/mode"), ["/mode", "/model"]);
    assert_eq!(fixture().offers("/clea"), ["/new"], "by its alias");
    assert_eq!(fixture().offers("/prm"), ["/permissions", "/platforms"]);
    assert_eq!(fixture().offers("/nothing like it"), [""; 0]);
    let local = table::COMMANDS.iter().filter(|command| command.reach.covers(Surface::Local));
    assert_eq!(fixture().offers("/").len(), local.count());
}

#[test]
fn arguments_are_completed_from_the_values_known_at_that_moment() {
    assert_eq!(
        fixture().offers("/mode "),
        ["ask", "edits", "auto", "plan", "low", "high"].map(|mode| format!("/mode {mode}"))
    );
    let folders = ["../lib/", "../.cache/", "../Tools/", "../../"].map(str::to_owned).to_vec();
    let desk_there = CommandFixture { folders, ..fixture() };
    let all = ["/add-dir ../lib/", "/add-dir ../Tools/"];
    assert_eq!(desk_there.offers("/add-dir ../"), all, "hidden ones are asked for");
    assert_eq!(desk_there.offers("/add-dir ../t"), ["/add-dir ../Tools/"]);
    assert_eq!(desk_there.offers("/add-dir ../.c"), ["/add-dir ../.cache/"]);
    assert_eq!(typed_folder("/add-dir ../li"), Some("../"));
    assert_eq!(typed_folder("/add-dir li"), Some(""));
    assert_eq!(typed_folder("/add-dir"), None);
    assert_eq!(typed_folder("/model ../li"), None);
    assert_eq!(fixture().offers("/model la"), ["/model Large"]);
    assert_eq!(fixture().offers("/theme l"), ["/theme light"]);
    assert_eq!(fixture().offers("/export j"), ["/export json"]);
    assert_eq!(fixture().offers("/help statu"), ["/help status"]);
    assert_eq!(fixture().offers("/lang "), ["/lang en", "/lang zh"]);
    assert_eq!(fixture().offers("/queue x"), [""; 0]);
}

#[test]
fn allow_completes_denied_rules_and_deny_allowed_ones() {
    let mut desk = fixture();
    desk.facts.allowed = vec!["git push *".into(), "touch *".into()];
    desk.facts.denied = vec!["npm install *".into()];
    assert_eq!(desk.offers("/deny git p"), ["/deny git push *"]);
    assert_eq!(desk.offers("/forbid git p"), ["/forbid git push *"]);
    assert_eq!(desk.offers("/allow "), ["/allow npm install *"]);
}

#[test]
fn the_current_value_is_shown() {
    let mut desk = fixture();
    desk.facts.mode = avocet_core::protocol::Mode::High;
    desk.facts.approval = avocet_core::protocol::ApprovalMode::Edits;
    let told: Vec<_> = complete(&desk.call(), "/mode ")
        .into_iter()
        .map(|candidate| (candidate.text, candidate.about.is_some()))
        .collect();
    let now: Vec<_> = told.iter().filter(|(_, now)| *now).map(|(text, _)| text.as_str()).collect();
    assert_eq!(now, ["/mode edits", "/mode high"]);
}

#[test]
fn the_status_page_omits_empty_lines() {
    let mut desk = fixture();
    desk.facts.usage = Usage { estimated: true, ..Usage::counted(10, 2) };
    let page = page_rows(desk.dispatch_line("/status"));
    assert!(page.contains(&"model: large".to_owned()), "{page:?}");
    assert!(page.contains(&"tokens: about 10 in, 2 out".to_owned()), "{page:?}");
    assert!(!page.iter().any(|line| line.starts_with("bot")), "{page:?}");
}

#[test]
fn the_permissions_page_shows_tiers_rules_and_limits() {
    let mut desk = fixture();
    desk.facts.allowed = vec!["git push *".into()];
    let page = page_rows(desk.dispatch_line("/permissions"));
    assert_eq!(page[4..8], ["# Run without asking", "1. git push *", "# Refused", "no rules"]);
    assert!(page.contains(&"A turn pauses and asks after 25 steps.".to_owned()), "{page:?}");
}

#[test]
fn rules_are_numbered_consecutively_and_revoked_by_number() {
    let mut desk = fixture();
    desk.facts.allowed = vec!["git add *".into()];
    desk.facts.denied = vec!["curl *".into()];
    for listed in ["/allow", "/deny", "/permissions"] {
        let page = page_rows(desk.dispatch_line(listed));
        assert!(page.contains(&"2. curl *".to_owned()), "{listed}: {page:?}");
    }
    let revoked =
        |rule: &str| CommandOutcome::Send(Op::Rules(RuleOp::Revoke { rule: rule.into() }));
    assert_eq!(desk.dispatch_line("/permissions revoke 1"), revoked("git add *"));
    assert_eq!(desk.dispatch_line("/permissions revoke 2"), revoked("curl *"));
    for wrong in ["revoke 0", "revoke 3", "revoke x", "revoke", "what"] {
        let said = notice_text(desk.dispatch_line(&format!("/permissions {wrong}")));
        assert!(said.starts_with("There is no rule number"), "{wrong}: {said}");
    }
}

#[test]
fn the_tools_page_lists_each_tool() {
    let mut desk = fixture();
    assert_eq!(page_rows(desk.dispatch_line("/tools")), ["None."]);
    let about = i18n::common::QUIT.into();
    desk.facts.tools = vec![ToolInfo { name: "exec".into(), about }];
    assert_eq!(page_rows(desk.dispatch_line("/tools")), ["exec: Quit"]);
}

#[test]
fn help_explains_one_command_or_lists_all() {
    let all = page_rows(help_page(None, Surface::Local, &Extensions::default()));
    let local = table::COMMANDS.iter().filter(|command| command.reach.covers(Surface::Local));
    let topics = super::TOPICS.len() + 1;
    assert_eq!(all.len(), local.count() + Category::ALL.len() + topics);
    let one = page_rows(help_page(Some("/quit"), Surface::Local, &Extensions::default()));
    assert_eq!(one, ["Quit", "usage: /exit", "also: /quit, /q", "category: Exit"]);
    let none = notice_text(help_page(Some("quite"), Surface::Local, &Extensions::default()));
    assert_eq!(none, "There is no help on `quite`. Did you mean `quit`?");
}
