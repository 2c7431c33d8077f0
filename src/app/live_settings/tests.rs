//! Every setting, set and removed in a running session.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::sync::mpsc;

use super::*;
use crate::app::session_builder;
use crate::cli::Cli;
use avocet_config::Environment;
use avocet_config::keys::KEYS;
use avocet_config::setting_timing::SettingTiming;
use avocet_config::toml_schema::{self, ListKind, SettingKey, TomlKind};
use avocet_config::trust::{self, TrustLevel, TrustStore};
use avocet_core::protocol::{Event, ModelOp, Op, SessionInfo, SettingOp, Submission};
use avocet_session::{self as session, Connected};

/// What the session took over that its facts do not show.
#[derive(Clone, Debug, Default)]
struct Parts {
    policy: String,
    exec: String,
    scripts: String,
    model: String,
    effort: String,
    log: String,
    connects: usize,
}

/// The settings of a session, with a look at what it takes over.
struct WatchedSettings {
    inner: SettingsFiles,
    parts: Arc<Mutex<Parts>>,
}

impl WatchedSettings {
    fn watch(&self, live: Option<ReloadedSettings>) -> Option<ReloadedSettings> {
        let mut live = live?;
        let mut parts = self.parts.lock().unwrap();
        parts.policy = format!("{:?}", live.policy);
        parts.exec = format!("{:?}", self.inner.runner.exec);
        parts.scripts = format!("{:?}", (live.find_scripts)(true));
        parts.log = format!("{:?}", self.inner.startup.shared.log);
        if let Some(models) = &mut live.models {
            parts.effort = format!("{:?}", models.effort);
            let (connect, parts) = (Arc::clone(&models.connect), Arc::clone(&self.parts));
            models.connect = Arc::new(move |wanted, lang| {
                let connected = connect(wanted, lang);
                let mut parts = parts.lock().unwrap();
                parts.connects += 1;
                parts.model = connected.as_ref().map(describe).unwrap_or_default();
                connected
            });
        }
        Some(live)
    }
}

fn describe(connected: &Connected) -> String {
    let model = &connected.model;
    let others: Vec<&str> = connected.fallbacks.iter().map(|other| other.name.as_str()).collect();
    let (dialect, prompt) = (model.dialect(), model.prompt_size());
    format!("{dialect:?} {prompt:?} {:?} {} {others:?}", model.window(), model.takes_images())
}

impl SettingsAccess for WatchedSettings {
    fn reload(&mut self) -> Option<ReloadedSettings> {
        let live = self.inner.reload();
        self.watch(live)
    }

    fn set_trusted(&mut self, is_trusted: bool) -> Option<ReloadedSettings> {
        let live = self.inner.set_trusted(is_trusted);
        self.watch(live)
    }

    fn trust_prompt(&mut self) -> Option<TrustPrompt> {
        self.inner.trust_prompt()
    }

    fn editable(&self) -> Vec<SettingRow> {
        self.inner.editable()
    }

    fn policy(&self) -> Policy {
        self.inner.policy()
    }

    fn rows(&self, beginning: &str, lang: Lang) -> Vec<PageRow> {
        self.inner.rows(beginning, lang)
    }

    fn overridden_by(&self, key: &str) -> Option<LocalizedText> {
        self.inner.overridden_by(key)
    }

    fn set(&mut self, key: &str, value: Option<&str>) -> Result<LocalizedText, LocalizedText> {
        self.inner.set(key, value)
    }
}

struct Running {
    ops: mpsc::Sender<Submission>,
    events: mpsc::Receiver<Event>,
    facts: SessionInfo,
    parts: Arc<Mutex<Parts>>,
    file: PathBuf,
    _root: tempfile::TempDir,
}

/// A start in a folder of its own.
fn prepared(root: &std::path::Path, more: &[&str], variables: &[(&str, &str)]) -> Startup {
    let (work, home) = (root.join("work"), root.join("home"));
    fs::create_dir_all(&work).unwrap();
    fs::create_dir_all(&home).unwrap();
    let place = work.display().to_string();
    let args = ["avocet", "--no-save", "--cwd", &place].into_iter().chain(more.iter().copied());
    let cli = Cli::parse_from_args(args).unwrap();
    let own = [("HOME", home), ("AVOCET_HOME", root.join("avocet"))];
    let own = own.map(|(name, path)| (name, path.display().to_string()));
    let more = variables.iter().map(|(name, value)| (*name, (*value).to_owned()));
    let environment = Environment::from_pairs(own.into_iter().chain(more));
    Startup::with_environment(&cli, environment).unwrap_or_else(|_| panic!("no start"))
}

/// The settings of a session that was built and does not run.
fn settings_of(startup: &Startup) -> SettingsFiles {
    let redactor = Arc::new(startup.redactor(false));
    let read_tracker = avocet_tools::read_tracker::ReadTracker::default();
    let world = step_runner::machine(startup, &read_tracker, &redactor);
    let setup = step_runner::exec_setup(startup, &world, &redactor);
    let exec = avocet_tools::exec::Exec::new(setup);
    SettingsFiles::new(
        startup,
        SessionPurpose::Print,
        StepRunner { exec, read_tracker, redactor, checkpoints: None },
    )
}

impl Running {
    fn start(variables: &[(&str, &str)]) -> Running {
        let root = tempfile::tempdir().unwrap();
        let work = root.path().join("work").display().to_string();
        let startup = prepared(root.path(), &["--trust", &work], variables);
        let file = startup.paths.settings();
        let mut built = session_builder::build(&startup, None, SessionPurpose::Print)
            .unwrap_or_else(|_| panic!("not built"));
        let facts = built.info.clone();
        let parts = Arc::new(Mutex::new(Parts::default()));
        let mut watched =
            WatchedSettings { inner: settings_of(&startup), parts: Arc::clone(&parts) };
        // What counts before anything is changed.
        let unchanged = watched.inner.set_trusted(true);
        watched.watch(unchanged);
        built.access.settings = Some(Box::new(watched));
        let session::Handle { ops, events, .. } = session::start(built);
        Running { ops, events, facts, parts, file, _root: root }
    }

    async fn event(&mut self) -> Event {
        let event = self.events.recv().await.expect("an event");
        if let Event::Facts(facts) = &event {
            self.facts = (**facts).clone();
        }
        event
    }

    /// Sets a setting, or removes it, and answers with how it is described.
    async fn configure(&mut self, key: &str, value: Option<&str>) -> Notice {
        let words = value.map_or_else(|| format!("unset {key}"), |_| key.to_owned());
        let value = value.map(str::to_owned);
        self.ops
            .send(Op::Setting(SettingOp::Configure { key: Some(words), value }).into())
            .await
            .unwrap();
        loop {
            if let Event::Notice(notice) = self.event().await
                && notice.say.text(Lang::En).contains(&format!("`{key}`"))
            {
                return notice;
            }
        }
    }

    /// The row of a setting in `/config`.
    async fn row(&mut self, key: &str) -> String {
        self.ops
            .send(
                Op::Setting(SettingOp::Configure { key: Some(key.to_owned()), value: None }).into(),
            )
            .await
            .unwrap();
        loop {
            let Event::Page(page) = self.event().await else { continue };
            let text = |value: &avocet_core::i18n::PhraseValue| value.text(Lang::En);
            let rows = page.rows.iter().filter_map(|row| match row {
                PageRow::Pair { label, value } if text(label) == key => Some(text(value)),
                _ => None,
            });
            return rows.collect();
        }
    }

    fn part(&self, of: fn(&Parts) -> String) -> String {
        of(&self.parts.lock().unwrap())
    }
}

/// Where the value that is in force can be seen.
enum Probe {
    Facts(fn(&SessionInfo) -> String),
    Parts(fn(&Parts) -> String),
    /// The model is reached anew, by a connector of the new settings.
    Reached,
}

use Probe::{Facts, Parts as Part, Reached};

/// A model that is named but not called.
const NAMED: &[(&str, &str)] =
    &[("profiles.default.provider", "ollama"), ("profiles.default.high", "qwen")];
const SEARCHED: &[(&str, &str)] = &[("web.search", "brave")];
const OTHER: &[(&str, &str)] = &[("profiles.two.provider", "ollama"), ("profiles.two.high", "two")];

fn screen(facts: &SessionInfo) -> String {
    format!("{:?}", facts.screen)
}

fn spending(facts: &SessionInfo) -> String {
    format!("{:?}", facts.spend_limits)
}

fn policy(parts: &Parts) -> String {
    parts.policy.clone()
}

fn exec(parts: &Parts) -> String {
    parts.exec.clone()
}

fn model(parts: &Parts) -> String {
    parts.model.clone()
}

type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)], Probe);

/// Each setting that counts at once, with a value, what it needs, and where it is seen.
#[rustfmt::skip]
const CASES: &[Case] = &[
    ("profile", "two", OTHER, Facts(|facts| format!("{} {}", facts.profile, facts.model))),
    ("mode", "low", NAMED, Facts(|facts| format!("{:?}", facts.mode))),
    ("lang", "zh", &[], Facts(|facts| format!("{:?}", facts.lang))),
    ("theme", "light", &[], Facts(screen)),
    ("vim", "on", &[], Facts(screen)),
    ("motion", "false", &[], Facts(screen)),
    ("timestamps", "true", &[], Facts(screen)),
    ("show_thinking", "full", &[], Facts(screen)),
    ("show_pictures", "true", &[], Facts(screen)),
    ("enter_while_busy", "queue", &[], Facts(screen)),
    ("color", "never", &[], Facts(screen)),
    ("screen.status", "model | cost", &[], Facts(screen)),
    ("notify", "off", &[], Facts(screen)),
    ("log", "debug", &[], Part(|parts| parts.log.clone())),
    ("models.\"qw*\".window", "4096", NAMED, Part(model)),
    ("models.\"qw*\".output", "100", NAMED, Reached),
    ("models.\"qw*\".tools", "false", NAMED, Part(model)),
    ("models.\"qw*\".images", "true", NAMED, Part(model)),
    ("models.\"qw*\".price_input", "1.5", NAMED, Reached),
    ("models.\"qw*\".price_output", "2.5", NAMED, Reached),
    ("models.\"qw*\".price_cached", "0.5", NAMED, Reached),
    ("models.\"qw*\".price_written", "0.5", NAMED, Reached),
    ("profiles.default.provider", "ollama", &[], Facts(|facts| format!("{:?}", facts.provider))),
    ("profiles.default.dialect", "json", NAMED, Part(model)),
    ("profiles.default.effort", "high", NAMED, Part(|parts| parts.effort.clone())),
    ("profiles.default.prompt", "short", NAMED, Part(model)),
    ("profiles.default.shell_tool", "true", NAMED, Reached),
    ("profiles.default.base_url", "http://127.0.0.1:9/v1", NAMED, Facts(|facts| facts.base_url.clone())),
    ("profiles.default.api_key_env", "SOME_VARIABLE", NAMED, Reached),
    ("profiles.default.api_key_command", "echo, key", NAMED, Reached),
    ("profiles.default.headers", "{ x-team = 'web' }", NAMED, Reached),
    ("profiles.default.extra_body", "{ top_k = 20 }", NAMED, Reached),
    ("profiles.default.temperature", "0.5", NAMED, Reached),
    ("profiles.default.top_p", "0.5", NAMED, Reached),
    ("profiles.default.max_output", "500", NAMED, Reached),
    ("profiles.default.service_tier", "flex", NAMED, Reached),
    ("profiles.default.low", "small", NAMED, Reached),
    ("profiles.default.high", "large", &[("profiles.default.provider", "ollama")], Facts(|facts| facts.model.clone())),
    ("profiles.default.fallback", "another", NAMED, Part(model)),
    ("key_store", "file", NAMED, Reached),
    ("plain_http_hosts", "box.example.com", NAMED, Reached),
    ("safety.allowed_programs", "-curl", &[], Part(policy)),
    ("safety.unknown_program", "confirm", &[], Part(policy)),
    ("safety.allow_network", "false", &[], Part(policy)),
    ("safety.allow_write", "false", &[], Part(policy)),
    ("safety.allow_sudo", "true", &[], Part(policy)),
    ("safety.lift", "git.push", &[], Part(policy)),
    ("safety.allow", "touch *", &[], Facts(|facts| facts.allowed.join(","))),
    ("safety.deny", "touch *", &[], Facts(|facts| facts.denied.join(","))),
    ("safety.sandbox", "off", &[], Facts(|facts| format!("{:?}", facts.shelter))),
    ("safety.max_auto_steps_per_turn", "3", &[], Facts(|facts| format!("{:?}", facts.max_steps))),
    ("safety.program_folders", "/usr/lib", &[], Part(exec)),
    ("safety.config_files", "/etc/x.toml", &[], Part(policy)),
    ("web.fetch", "false", &[], Part(policy)),
    ("web.hosts", "box.test", &[], Part(policy)),
    ("web.search", "brave", &[], Part(policy)),
    ("web.search_url", "https://box.test", SEARCHED, Part(policy)),
    ("web.search_key_env", "SOME_KEY", SEARCHED, Part(policy)),
    ("scripts.environment", "SOME_VARIABLE", &[], Part(|parts| parts.scripts.clone())),
    ("project.check", "true", &[], Facts(|facts| facts.check.join(" "))),
    ("limits.idle_timeout_s", "7", NAMED, Reached),
    ("limits.piece_timeout_s", "7", &[], Part(exec)),
    ("limits.cost.turn", "0.5", &[], Facts(spending)),
    ("limits.cost.session", "0.5", &[], Facts(spending)),
    ("limits.cost.run", "0.5", &[], Facts(spending)),
    ("limits.tokens.turn", "5000", &[], Facts(spending)),
    ("limits.tokens.session", "5000", &[], Facts(spending)),
    ("limits.tokens.run", "5000", &[], Facts(spending)),
    ("limits.script_timeout_s", "7", &[], Part(|parts| parts.scripts.clone())),
    ("limits.step_timeout_s", "7", &[], Part(exec)),
    ("limits.subagents", "2", &[], Facts(|facts| facts.max_subagents.to_string())),
];

fn seen(running: &Running, probe: &Probe) -> String {
    match probe {
        Facts(of) => of(&running.facts),
        Part(of) => running.part(*of),
        Reached => running.part(|parts| parts.connects.to_string()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_setting_counts_at_once_and_returns_when_it_is_removed() {
    let mut running = Running::start(&[("SOME_VARIABLE", "some value"), ("TERM", "xterm")]);
    for (key, value, given, probe) in CASES {
        for (key, value) in *given {
            running.configure(key, Some(value)).await;
        }
        let row = running.row(key).await;
        let before = seen(&running, probe);
        let notice = running.configure(key, Some(value)).await;
        assert!(notice.hint.is_none(), "{key}: {notice:?}");
        assert_ne!(seen(&running, probe), before, "{key} is not in force");
        let shown = running.row(key).await;
        assert!(shown != row && shown.contains("config.toml"), "{key}: {shown}");
        let with_it = seen(&running, probe);
        running.configure(key, None).await;
        match probe {
            Reached => assert_ne!(seen(&running, probe), with_it, "{key}"),
            // Removed, what it is is told as a change too.
            Part(_) if key.ends_with(".effort") => assert_ne!(seen(&running, probe), with_it),
            _ => assert_eq!(seen(&running, probe), before, "{key} did not return"),
        }
        assert_eq!(running.row(key).await, row, "{key}");
        for (key, _) in given.iter().rev() {
            running.configure(key, None).await;
        }
    }
    for key in KEYS {
        let covers = |path: &str| toml_schema::find(KEYS, path).is_some_and(|k| k.path == key.path);
        if CASES.iter().any(|(path, ..)| covers(path)) {
            continue;
        }
        let path = key.path.replace('*', "default");
        match key.elsewhere {
            // Of the command line and the environment, and nowhere else.
            Some(_) => {
                let notice = running.configure(&path, Some("x")).await;
                assert_eq!(notice.level, avocet_core::protocol::NoticeLevel::Error, "{path}");
            }
            // A running session keeps the mode that it was given, and what it was started with.
            None if key.timing == SettingTiming::NextStart => {
                let notice = running.configure(&path, Some("edits")).await;
                let hint = notice.hint.map(|hint| hint.text(Lang::En)).unwrap_or_default();
                assert!(hint.contains("next start"), "{path}: {hint}");
                running.configure(&path, None).await;
            }
            None => of_the_gateway(&mut running, key).await,
        }
    }
    let left = fs::read_to_string(&running.file).unwrap();
    assert!(!left.contains('='), "{left}");
}

/// It is shown at once, and counts when the gateway starts next unless it is looked up each time.
async fn of_the_gateway(running: &mut Running, key: &SettingKey) {
    assert!(key.path.starts_with("gateway.") || key.path.starts_with("display."), "{}", key.path);
    let value = match key.kind {
        TomlKind::Flag => "true",
        TomlKind::Count { .. } => "17",
        TomlKind::Choice(choices) => choices.last().unwrap(),
        TomlKind::List(ListKind::Ids) => "12345",
        TomlKind::List(_) => "help",
        TomlKind::Variable => "SOME_VARIABLE",
        _ => "http://127.0.0.1:9",
    };
    let row = running.row(key.path).await;
    let notice = running.configure(key.path, Some(value)).await;
    let hint = notice.hint.map(|hint| hint.text(Lang::En)).unwrap_or_default();
    // Who may talk is looked up for each message.
    let at_once = [".allow", ".admins", ".mention"].iter().any(|end| key.path.ends_with(end));
    assert_eq!(hint.contains("gateway starts"), !at_once, "{}: {hint}", key.path);
    assert!(running.row(key.path).await.contains(value), "{}", key.path);
    running.configure(key.path, None).await;
    assert_eq!(running.row(key.path).await, row, "{}", key.path);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_command_line_or_the_environment_decides_is_said() {
    let mut running = Running::start(&[("AVOCET_THEME", "dark")]);
    let notice = running.configure("theme", Some("light")).await;
    let hint = notice.hint.unwrap().text(Lang::En);
    assert!(hint.contains("Not in force") && hint.contains("AVOCET_THEME"), "{hint}");
    assert!(screen(&running.facts).contains("\"dark\""), "{:?}", running.facts.screen);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_was_chosen_in_the_session_stays_until_the_settings_name_another() {
    let mut running = Running::start(&[]);
    for (key, value) in NAMED {
        running.configure(key, Some(value)).await;
    }
    running.ops.send(Op::Model(ModelOp::SetModel { name: "chosen".into() }).into()).await.unwrap();
    running.configure("limits.idle_timeout_s", Some("7")).await;
    assert_eq!(running.facts.model, "chosen");
    running.configure("profiles.default.fallback", Some("another")).await;
    assert_eq!(running.facts.model, "chosen");
    running.configure("profiles.default.high", Some("large")).await;
    assert_eq!(running.facts.model, "large");
}

#[tokio::test]
async fn a_half_saved_file_leaves_the_last_good_settings_until_the_next_good_save() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("avocet/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let good = "[safety]\nmax_auto_steps_per_turn = 7\nallow = [\"cargo build *\"]\n";
    fs::write(&file, good).unwrap();
    let mut files = settings_of(&prepared(root.path(), &[], &[]));
    assert!(files.reload().is_none(), "nothing changed");
    fs::write(&file, "[safety]\nmax_auto_steps_per_turn = 7\nallow = [\"cargo bu").unwrap();
    let live = files.reload().unwrap();
    assert_eq!((live.max_steps, live.policy.allowed.len()), (Some(7), 1));
    let [problem] = &live.notices[..] else { panic!("{:?}", live.notices) };
    let said = problem.say.text(Lang::En);
    assert!(said.contains("The settings that were read last stay."), "{said}");
    assert_eq!(problem.hint, None, "it would say that the strictest settings apply");
    assert!(files.reload().is_none(), "it is said once");
    fs::write(&file, "[safety]\nmax_auto_steps_per_turn = 9\n").unwrap();
    let live = files.reload().unwrap();
    assert_eq!((live.max_steps, live.policy.allowed.len()), (Some(9), 0));
    assert!(live.notices.is_empty(), "{:?}", live.notices);
}

#[tokio::test]
async fn a_file_that_changes_between_the_start_and_the_session_is_noticed() {
    let root = tempfile::tempdir().unwrap();
    let startup = prepared(root.path(), &[], &[]);
    let file = startup.paths.settings();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "[safety]\nmax_auto_steps_per_turn = 7\n").unwrap();
    assert_eq!(settings_of(&startup).reload().unwrap().max_steps, Some(7));
}

fn trust_as_it_is(paths: &avocet_config::Paths, work: &std::path::Path) {
    let (mut kept, _) = TrustStore::open(paths.trust());
    kept.set(work, &trust::survey(work), TrustLevel::Trusted).unwrap();
}

/// The folder is trusted as it is at the start, with these settings of its own.
fn with_project(root: &std::path::Path, settings: &str) -> (SettingsFiles, PathBuf) {
    let work = root.join("work");
    let own = work.join(".avocet/config.toml");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(&own, settings).unwrap();
    let work = work.canonicalize().unwrap();
    let paths = avocet_config::Paths::with_root(&root.join("avocet"), root.join("home"));
    fs::create_dir_all(&paths.data).unwrap();
    trust_as_it_is(&paths, &work);
    let startup = prepared(root, &[], &[]);
    assert!(startup.trusted);
    (settings_of(&startup), own)
}

/// At a start, changed files of the project count only after a question; so they do in a session.
#[tokio::test]
async fn changed_settings_of_the_project_loosen_nothing_before_it_is_trusted_again() {
    let root = tempfile::tempdir().unwrap();
    let strict = "[safety]\nallow_network = false\ndeny = [\"git push *\"]\n";
    let (mut files, own) = with_project(root.path(), strict);
    let is_strict = |policy: &Policy| {
        policy.limits.network == avocet_safety::Limit::Refuse && policy.denied.len() == 1
    };
    assert!(is_strict(&files.policy()));
    fs::write(&own, "").unwrap();
    let live = files.reload().unwrap();
    assert!(is_strict(&live.policy), "emptied");
    let said = live.notices.first().expect("a notice").say.text(Lang::En);
    assert!(said.contains("until you trust the folder again"), "{said}");
    fs::remove_file(&own).unwrap();
    assert!(is_strict(&files.reload().unwrap().policy), "removed");
    // What the user's own file says counts meanwhile, beside it.
    let user = files.startup.paths.settings();
    fs::write(&user, "[safety]\nsandbox = \"off\"\nallow_network = true\n").unwrap();
    let live = files.reload().unwrap();
    assert!(is_strict(&live.policy) && live.tools.is_some());
    // The same as before is trusted as before.
    fs::write(&own, strict).unwrap();
    let live = files.reload().unwrap();
    assert!(is_strict(&live.policy) && live.notices.is_empty(), "{:?}", live.notices);
}

#[tokio::test]
async fn settings_of_the_project_count_once_the_folder_is_trusted_and_no_longer_when_it_is_not() {
    let root = tempfile::tempdir().unwrap();
    let (mut files, _) = with_project(root.path(), "[safety]\nmax_auto_steps_per_turn = 3\n");
    assert_eq!(files.set_trusted(false).unwrap().max_steps, None);
    assert_eq!(files.set_trusted(true).unwrap().max_steps, Some(3));
}

#[test]
fn a_check_of_the_project_is_offered_once_the_user_trusts_the_folder() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let cargo = root.path().join("home/.cargo/bin/cargo");
    fs::create_dir_all(cargo.parent().unwrap()).unwrap();
    fs::write(&cargo, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    let mut files = settings_of(&prepared(root.path(), &[], &[]));
    fs::write(root.path().join("work/Cargo.toml"), "[package]\n").unwrap();
    for (purpose, is_trusted, offers) in [
        (SessionPurpose::Chat, true, 0),
        (SessionPurpose::Screen, false, 0),
        (SessionPurpose::Screen, true, 1),
        (SessionPurpose::Screen, true, 0),
    ] {
        files.purpose = purpose;
        let live = files.set_trusted(is_trusted).unwrap();
        let said = live.notices.iter().map(|notice| notice.say.text(Lang::En));
        let count = said.filter(|said| said.contains("`cargo check` could check")).count();
        assert_eq!(count, offers, "{purpose:?} {is_trusted}");
    }
}

#[tokio::test]
async fn a_sandbox_is_never_turned_off_by_a_file_of_the_project() {
    let root = tempfile::tempdir().unwrap();
    let (mut files, own) = with_project(root.path(), "[safety]\nmax_auto_steps_per_turn = 3\n");
    let work = root.path().join("work").canonicalize().unwrap();
    fs::write(&own, "[safety]\nsandbox = \"off\"\n").unwrap();
    trust_as_it_is(&files.startup.paths, &work);
    let live = files.reload().unwrap();
    assert!(live.tools.is_none(), "even where it is trusted");
    assert!(!live.notices.is_empty());
}

/// A key that a step must not see stays hidden, whichever profile answers.
#[tokio::test]
async fn keys_of_another_profile_are_hidden_from_steps_and_masked_at_once() {
    let root = tempfile::tempdir().unwrap();
    let startup =
        prepared(root.path(), &[], &[("FIRST", "first-Key-77"), ("SECOND", "2nd-Key-88")]);
    let mut files = settings_of(&startup);
    let file = startup.paths.settings();
    let profile = |variable: &str| {
        let text = "[profiles.default]\nprovider = \"openai\"\napi_key_env = ";
        fs::write(&file, format!("{text}\"{variable}\"\n")).unwrap();
    };
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    profile("FIRST");
    files.reload().unwrap();
    profile("SECOND");
    assert!(files.reload().unwrap().tools.is_some());
    let shown = format!("{:?}", files.runner.exec);
    let (_, hidden) = shown.split_once("own_keys").unwrap();
    let (hidden, _) = hidden.split_once(']').unwrap();
    assert!(hidden.contains("\"FIRST\"") && hidden.contains("\"SECOND\""), "{hidden}");
    let masked = files.runner.redactor.mask("first-Key-77 and 2nd-Key-88").into_owned();
    assert!(!masked.contains("first-Key") && !masked.contains("2nd-Key"), "{masked}");
}
