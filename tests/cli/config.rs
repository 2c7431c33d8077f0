//! Reads settings from real files: which apply, which win, and what is reported about the rest.

use std::fs;
use std::path::{Path, PathBuf};

use avocet::config::toml_schema::TomlValue;
use avocet::config::{
    Environment, Loaded, Paths, ProviderSetting, SettingsLayer, Sources, edit, load,
    paths::project_files,
};
use avocet::i18n::{Lang, Localize};
use avocet::protocol::{ChatPlatform, Mode, Money};
use avocet::safety::{Limit, PolicyRule, Unknown};

/// A person with a home and a project, each in a folder of its own.
struct ConfigFixture {
    root: tempfile::TempDir,
}

impl ConfigFixture {
    fn new() -> ConfigFixture {
        let root = crate::support::temp_dir();
        fs::create_dir_all(root.path().join("project/.avocet")).unwrap();
        fs::create_dir(root.path().join("config")).unwrap();
        ConfigFixture { root }
    }

    fn with(text: &str) -> ConfigFixture {
        let desk = ConfigFixture::new();
        fs::write(desk.file(), text).unwrap();
        desk
    }

    fn paths(&self) -> Paths {
        Paths::with_root(&self.root.path().join("config"), self.root.path().join("home"))
    }

    fn file(&self) -> PathBuf {
        self.paths().settings()
    }

    fn project(&self, text: &str) -> &ConfigFixture {
        fs::write(self.root.path().join("project/.avocet/config.toml"), text).unwrap();
        self
    }

    fn load(&self) -> Loaded {
        self.load_with(&[], &[])
    }

    fn load_with(&self, variables: &[(&str, &str)], line: &[(&'static str, String)]) -> Loaded {
        let environment = Environment::from_pairs(variables.iter().copied());
        load(Sources {
            paths: &self.paths(),
            environment: &environment,
            options: line,
            project: &[],
        })
    }

    fn load_trusted(&self) -> Loaded {
        let project = project_files(&self.root.path().join("project"));
        let environment = Environment::default();
        let paths = self.paths();
        load(Sources { paths: &paths, environment: &environment, options: &[], project: &project })
    }
}

fn problem_texts(loaded: &Loaded) -> Vec<String> {
    loaded.problems.iter().map(|problem| problem.localized().text(Lang::En)).collect()
}

fn option(key: &'static str, value: &str) -> (&'static str, String) {
    (key, value.to_owned())
}

const WHOLE: &str = r#"
profile = "work"
mode = "low"
lang = "zh"
theme = "light"

[profiles.work]
base_url = "https://models.example/v1/"
api_key_env = "WORK_KEY"
low = "small"
high = "large"

[safety]
allowed_programs = ["+just", "-curl"]
unknown_program = "confirm"
allow_network = false
allow_sudo = true
lift = ["git.reset.hard"]
allow = ["git push *"]
deny = ["git push"]
max_auto_steps_per_turn = 7

[limits]
idle_timeout_s = 5
"#;

#[test]
fn models_are_described_by_patterns_and_prices_have_a_file_of_their_own() {
    let desk = ConfigFixture::with(
        "[models.\"qwen3.5*\"]\nwindow = 8192\ntools = false\nprice_input = 2\n[limits.cost]\nturn = 0.5\n",
    );
    fs::write(
        desk.paths().prices(),
        "[models.\"qwen3.5*\"]\nprice_input = 1\nprice_output = 4.5\n[models.mine]\nwindow = 9000\n",
    )
    .unwrap();
    let loaded = desk.load();
    let problems = problem_texts(&loaded);
    assert!(matches!(&problems[..], [one] if one.contains("models.mine.window")), "{problems:?}");
    let [qwen] = &loaded.settings.models.overrides[..] else {
        panic!("{:?}", loaded.settings.models.overrides)
    };
    assert_eq!(
        (qwen.pattern.as_str(), qwen.window, qwen.tools),
        ("qwen3.5*", Some(8192), Some(false))
    );
    let prices = qwen.prices.unwrap().usual;
    assert_eq!((prices.input, prices.output), (Money(2_000_000), Money(4_500_000)));
    assert_eq!(loaded.settings.spend_limits.turn.cost, Some(Money(500_000)));
    let key = "models.\"qwen3.5*\".window";
    edit::set(&desk.file(), key, "4096").unwrap();
    assert_eq!(desk.load().get(key), Some(TomlValue::Count(4096)));
    assert_eq!(
        desk.load().settings.models.overrides.len(),
        1,
        "{}",
        fs::read_to_string(desk.file()).unwrap()
    );
    assert_eq!(edit::unset(&desk.file(), key), Ok(true));
}

#[test]
fn a_complete_file_is_parsed() {
    let loaded = ConfigFixture::with(WHOLE).load_with(&[("WORK_KEY", "sk-work")], &[]);
    assert_eq!(problem_texts(&loaded), [""; 0]);
    let settings = &loaded.settings;
    assert_eq!((settings.models.mode, settings.lang), (Mode::Low, Lang::Zh));
    assert_eq!(settings.look.theme, "light");
    let connection = settings.connection.clone().unwrap();
    assert_eq!(connection.base_url, "https://models.example/v1");
    assert_eq!(connection.api_key.unwrap().expose(), "sk-work");
    assert_eq!((connection.low.as_str(), connection.high.as_str()), ("small", "large"));
    let policy = settings.policy();
    assert_eq!(policy.allowed_programs, ["+just", "-curl"]);
    assert_eq!(policy.unknown_program, Unknown::Confirm);
    assert_eq!(
        (policy.limits.network, policy.limits.write, policy.limits.elevate),
        (Limit::Refuse, Limit::Ask, Limit::Ask)
    );
    assert_eq!(policy.lift, ["git.reset.hard"]);
    let rule = |open| PolicyRule { program: "git".into(), args: vec!["push".into()], open };
    assert_eq!((policy.allowed, policy.denied), (vec![rule(true)], vec![rule(false)]));
    assert_eq!(settings.limits.max_auto_steps, Some(7));
    assert_eq!(settings.limits.idle_timeout.as_secs(), 5);
}

#[test]
fn an_empty_configuration_is_valid() {
    let loaded = ConfigFixture::new().load();
    assert_eq!(problem_texts(&loaded), [""; 0]);
    assert_eq!(loaded.settings.connection, None);
    assert_eq!(loaded.settings.limits.max_auto_steps, None);
    assert_eq!(loaded.settings.policy(), avocet::safety::Policy::default());
}

#[test]
fn the_command_line_wins_over_the_environment_over_the_file() {
    let desk = ConfigFixture::with(
        "mode = \"low\"\n[profiles.default]\nbase_url = \"http://file/v1\"\nhigh = \"of-file\"",
    );
    let file = desk.file();
    let variables = [("AVOCET_MODEL", "of-environment"), ("AVOCET_BASE_URL", "http://env/v1")];
    let line = [option("model", "of-line")];

    let loaded = desk.load();
    assert_eq!(loaded.settings.connection.unwrap().high, "of-file");
    let loaded = desk.load_with(&variables, &[]);
    let connection = loaded.settings.connection.clone().unwrap();
    assert_eq!(
        (connection.high.as_str(), connection.base_url.as_str()),
        ("of-environment", "http://env/v1")
    );
    assert_eq!(loaded.layer_of("model"), SettingsLayer::Variable("AVOCET_MODEL".into()));
    let loaded = desk.load_with(&variables, &line);
    assert_eq!(loaded.settings.connection.clone().unwrap().low, "of-line");
    assert_eq!(loaded.layer_of("model"), SettingsLayer::CommandLine);
    assert_eq!(loaded.layer_of("base_url"), SettingsLayer::Variable("AVOCET_BASE_URL".into()));
    assert_eq!(loaded.layer_of("mode"), SettingsLayer::User(file));
    assert_eq!(loaded.layer_of("theme"), SettingsLayer::BuiltIn);
}

#[test]
fn an_api_key_is_never_shown() {
    let variables = [("AVOCET_API_KEY", "sk-secret"), ("AVOCET_BASE_URL", "http://x/v1")];
    let loaded = ConfigFixture::new().load_with(&variables, &[]);
    assert_eq!(loaded.layer_of("api_key"), SettingsLayer::Variable("AVOCET_API_KEY".into()));
    assert!(!format!("{loaded:?} {:?}", loaded.all()).contains("sk-secret"));
    assert_eq!(loaded.settings.connection.unwrap().api_key.unwrap().expose(), "sk-secret");
}

#[test]
fn our_own_variables_take_precedence() {
    let all = [
        ("OPENAI_BASE_URL", "http://openai"),
        ("R9S_BASE_URL", "http://r9s"),
        ("AVOCET_BASE_URL", "http://own"),
    ];
    for (count, expected) in [(1, "http://openai"), (2, "http://r9s"), (3, "http://own")] {
        let loaded = ConfigFixture::new().load_with(&all[..count], &[]);
        assert_eq!(loaded.settings.connection.unwrap().base_url, expected);
    }
    let loaded =
        ConfigFixture::new().load_with(&[("R9S_BASE_URL", "http://r9s"), ("R9S_MODEL", "m")], &[]);
    assert_eq!(loaded.settings.connection.unwrap().high, "m");
}

/// Which key goes to which server: `(file, variables, server, key)`.
#[test]
fn a_key_for_other_programs_is_never_sent_to_a_configured_server() {
    let named = "[profiles.default]\nbase_url = \"http://own/v1\"\napi_key_env = \"OWN\"";
    let bare = "[profiles.default]\nbase_url = \"http://own/v1\"";
    let openai = "https://api.openai.com/v1";
    let claude = "[profiles.default]\nprovider = \"anthropic\"";
    let anthropic = "https://api.anthropic.com/v1";
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], Option<&'a str>, Option<&'a str>);
    let cases: &[Case<'_>] = &[
        ("", &[], None, None),
        ("", &[("OPENAI_API_KEY", "k")], Some(openai), Some("k")),
        ("", &[("R9S_API_KEY", "k")], None, None),
        ("", &[("R9S_API_KEY", "k"), ("R9S_BASE_URL", "http://r")], Some("http://r"), Some("k")),
        (
            "",
            &[("OPENAI_API_KEY", "k"), ("AVOCET_BASE_URL", "http://a")],
            Some("http://a"),
            Some("k"),
        ),
        (bare, &[("OPENAI_API_KEY", "k")], Some("http://own/v1"), None),
        (bare, &[("AVOCET_API_KEY", "a")], Some("http://own/v1"), Some("a")),
        (named, &[("OPENAI_API_KEY", "k")], Some("http://own/v1"), None),
        (named, &[("OPENAI_API_KEY", "k"), ("OWN", "o")], Some("http://own/v1"), Some("o")),
        (named, &[("AVOCET_API_KEY", "a"), ("OWN", "o")], Some("http://own/v1"), Some("a")),
        (named, &[("AVOCET_BASE_URL", "http://a"), ("OWN", "o")], Some("http://a"), None),
        (
            claude,
            &[("ANTHROPIC_API_KEY", "c"), ("OPENAI_API_KEY", "k")],
            Some(anthropic),
            Some("c"),
        ),
        (
            claude,
            &[("ANTHROPIC_API_KEY", "c"), ("AVOCET_API_KEY", "a")],
            Some(anthropic),
            Some("a"),
        ),
        (claude, &[("OPENAI_API_KEY", "k")], Some(anthropic), None),
        (
            "",
            &[("AVOCET_BASE_URL", anthropic), ("ANTHROPIC_API_KEY", "c"), ("OPENAI_API_KEY", "k")],
            Some(anthropic),
            Some("c"),
        ),
        (
            "",
            &[("AVOCET_BASE_URL", "http://api.anthropic.com"), ("ANTHROPIC_API_KEY", "c")],
            Some("http://api.anthropic.com"),
            None,
        ),
    ];
    for (file, variables, server, key) in cases {
        let connection = ConfigFixture::with(file).load_with(variables, &[]).settings.connection;
        let found = connection.as_ref().map(|connection| connection.base_url.as_str());
        assert_eq!(found, *server, "{file} {variables:?}");
        let found =
            connection.as_ref().and_then(|connection| Some(connection.api_key.as_ref()?.expose()));
        assert_eq!(found, *key, "{file} {variables:?}");
    }
}

#[test]
fn the_format_is_that_of_the_profile_or_of_the_address() {
    let provider = |file: &str, variables: &[_]| {
        let connection = ConfigFixture::with(file).load_with(variables, &[]).settings.connection;
        connection.map(|connection| connection.provider.kind().name())
    };
    let profile = |lines: &str| format!("[profiles.default]\n{lines}");
    let named = profile("provider = \"gemini\"\nbase_url = \"http://proxy/v1\"");
    assert_eq!(provider(&named, &[]), Some("gemini"));
    let auto = profile("base_url = \"http://proxy/v1/messages\"");
    assert_eq!(provider(&auto, &[]), Some("anthropic"));
    let old = profile("provider = \"openai\"\nbase_url = \"http://127.0.0.1:11434\"");
    assert_eq!(provider(&old, &[]), Some("openai"));
    // Another address is not spoken to as the profile's own.
    assert_eq!(provider(&named, &[("AVOCET_BASE_URL", "http://other/v1")]), Some("openai"));
    assert_eq!(provider(&profile("provider = \"ollama\""), &[]), Some("ollama"));
}

#[test]
fn a_built_in_model_is_named_like_any_other() {
    let provider = |file: &str, line: &[_]| {
        ConfigFixture::with(file)
            .load_with(&[], line)
            .settings
            .connection
            .map(|found| found.provider)
    };
    assert_eq!(provider("", &[option("model", "guide")]), Some(ProviderSetting::Guide));
    let scripted = Some(ProviderSetting::Scripted("a/b.txt".into()));
    assert_eq!(provider("", &[option("model", "scripted:a/b.txt")]), scripted);
    let file = "[profiles.default]\nprovider = \"scripted\"\nhigh = \"a/b.txt\"";
    assert_eq!(provider(file, &[]), scripted);
    assert_eq!(
        provider("[profiles.default]\nprovider = \"guide\"", &[]),
        Some(ProviderSetting::Guide)
    );
}

#[test]
fn an_error_names_file_line_column_key_and_expected_value() {
    let cases = [
        ("mode = \"medium\"", "line 1, column 8: `mode` must be one of low, high, not `medium`."),
        ("\n\ntheme = 3", "line 3, column 9: `theme` must be a quoted string, not `3`."),
        ("them = \"dark\"", "line 1, column 1: there is no key `them`. Did you mean `theme`?"),
        ("weather = 1", "line 1, column 1: there is no key `weather`."),
        (
            "model = \"x\"",
            "line 1, column 1: `model` does not belong here. In the settings file a model is the `low` or `high` of a profile; for one run use `--model`.",
        ),
        (
            "[profiles.a]\nhihg = \"x\"",
            "line 2, column 1: there is no key `profiles.a.hihg`. Did you mean `profiles.a.high`?",
        ),
        (
            "[profiles.\"a.b\"]\nhigh = \"x\"",
            "line 1, column 11: `profiles.a.b` is not a usable name. Use letters, digits, `-` and `_`.",
        ),
        (
            "profiles = 3",
            "line 1, column 12: `profiles` must be a table, as in `[profiles]`, not `3`.",
        ),
        (
            "[safety]\nallow_sudo = \"yes\"",
            "line 2, column 14: `safety.allow_sudo` must be `true` or `false`, not `yes`.",
        ),
        (
            "[safety]\nallowed_programs = [\"*\"]",
            "line 2, column 20: `safety.allowed_programs` must be a list of programs, as in `[\"+just\", \"-curl\"]`, not `*`.",
        ),
        (
            "# 中文\n[limits]\nidle_timeout_s = 0",
            "line 3, column 18: `limits.idle_timeout_s` must be a whole number from 1 to 3600, not `0`.",
        ),
        (
            "profile = \"x\"",
            "there is no profile `x`. Define it in the settings file under `[profiles.x]`.",
        ),
    ];
    for (text, expected) in cases {
        let desk = ConfigFixture::with(text);
        let said = problem_texts(&desk.load());
        assert_eq!(said.len(), 1, "{text}: {said:?}");
        assert!(said[0].starts_with(&desk.file().display().to_string()), "{}", said[0]);
        assert!(said[0].ends_with(expected), "{text}\n{}", said[0]);
    }
}

#[test]
fn one_invalid_key_does_not_affect_the_rest() {
    let loaded = ConfigFixture::with(
        "mode = 3\ntheme = \"light\"\n[nope]\na = 1\n[limits]\nidle_timeout_s = 9",
    )
    .load();
    assert_eq!(loaded.problems.len(), 2);
    assert_eq!(loaded.settings.look.theme, "light");
    assert_eq!(loaded.settings.limits.idle_timeout.as_secs(), 9);
    assert_eq!(loaded.settings.models.mode, Mode::High);
}

#[test]
fn an_invalid_safety_key_falls_back_to_its_own_strictest_value() {
    let desk = ConfigFixture::with(
        "[safety]\nallow_network = \"no\"\nalow_write = false\nlift = \"git.reset.hard\"",
    );
    let loaded = desk.load();
    let policy = loaded.settings.policy();
    assert_eq!(policy.limits.network, Limit::Refuse);
    assert_eq!(
        policy.limits.write,
        Limit::Refuse,
        "a misspelt key was meant to be the one it nearly is"
    );
    assert_eq!(policy.lift, [""; 0]);
    assert_eq!(loaded.settings.limits.max_auto_steps, None);
    assert_eq!(loaded.layer_of("safety.allow_network"), SettingsLayer::Strictest(desk.file()));
}

#[test]
fn an_unreadable_deny_list_makes_all_of_safety_strict() {
    for text in [
        "[safety]\nallowed_programs = \"-curl\"",
        "[safety]\ndeny = [3]",
        "safety = 3",
        "[safty]\nallow_network = false",
    ] {
        let policy = ConfigFixture::with(text).load().settings.policy();
        assert_eq!(
            (policy.limits.network, policy.limits.write),
            (Limit::Refuse, Limit::Refuse),
            "{text}"
        );
    }
}

#[test]
fn an_unreadable_file_makes_safety_strict_and_is_left_unchanged() {
    for bytes in [&b"mode = \"low\"\n[safety\n"[..], b"\xff\xfe", b"a = 1\na = 2\n"] {
        let desk = ConfigFixture::new();
        fs::write(desk.file(), bytes).unwrap();
        let loaded = desk.load();
        assert_eq!(loaded.problems.len(), 1);
        assert!(loaded.problems[0].hint().is_some());
        assert_eq!(loaded.settings.policy().limits.network, Limit::Refuse);
        assert_eq!(loaded.settings.limits.max_auto_steps, Some(1));
        assert!(edit::set(&desk.file(), "mode", "low").is_err());
        assert!(edit::unset(&desk.file(), "mode").is_err());
        assert_eq!(fs::read(desk.file()).unwrap(), bytes);
    }
}

#[test]
fn a_folder_in_place_of_the_file_is_reported() {
    let desk = ConfigFixture::new();
    fs::create_dir(desk.file()).unwrap();
    assert!(problem_texts(&desk.load())[0].contains("not a regular file"));
}

#[test]
fn a_project_may_only_tighten_safety() {
    let desk = ConfigFixture::with(
        "[safety]\nallow_write = false\ndeny = [\"make\"]\nallowed_programs = [\"+just\"]\nlift = [\"git.reset.hard\"]",
    );
    desk.project("[safety]\nallow_network = false\nunknown_program = \"refuse\"\nmax_auto_steps_per_turn = 3\ndeny = [\"git push *\"]\nallowed_programs = [\"-curl\"]");
    let loaded = desk.load_trusted();
    assert_eq!(problem_texts(&loaded), [""; 0]);
    let policy = loaded.settings.policy();
    assert_eq!((policy.limits.network, policy.limits.write), (Limit::Refuse, Limit::Refuse));
    assert_eq!(policy.denied.len(), 2);
    assert_eq!(policy.allowed_programs, ["+just", "-curl"]);
    assert_eq!(policy.lift, ["git.reset.hard"]);
    assert_eq!(loaded.settings.limits.max_auto_steps, Some(3));
}

#[test]
fn project_settings_that_loosen_or_are_not_safety_are_ignored_and_reported() {
    let desk = ConfigFixture::with("[safety]\nallow_write = false\nmax_auto_steps_per_turn = 5");
    for text in [
        "[safety]\nallow_write = true",
        "[safety]\nallow_sudo = true",
        "[safety]\nunknown_program = \"confirm\"",
        "[safety]\nlift = [\"git.reset.hard\"]",
        "[safety]\nallow = [\"git push *\"]",
        "[safety]\nallowed_programs = [\"+nc\"]",
        "[safety]\nallowed_programs = [\"nc\"]",
        "[safety]\nmax_auto_steps_per_turn = 6",
        "theme = \"light\"",
        "[gateway.telegram]\nenabled = true",
        "[gateway.slack]\nallow = [\"U1\"]",
        "[gateway.discord]\nadmins = [1]",
        "[display]\ntool_progress_command = true",
        "[profiles.default]\nbase_url = \"http://evil/v1\"",
        "[web]\nsearch = \"searxng\"",
        "[web]\nsearch = \"provider\"",
        "[web]\nsearch_url = \"https://evil.test\"",
    ] {
        let before = desk.load();
        let loaded = desk.project(text).load_trusted();
        assert_eq!(loaded.problems.len(), 1, "{text}");
        assert_eq!(loaded.settings.policy(), before.settings.policy(), "{text}");
        assert_eq!(loaded.settings.connection, before.settings.connection, "{text}");
        assert_eq!(loaded.settings.limits, before.settings.limits, "{text}");
        assert_eq!(loaded.settings.gateway, before.settings.gateway, "{text}");
        assert_eq!(loaded.settings.look.theme, before.settings.look.theme, "{text}");
    }
}

#[test]
fn a_gateway_is_closed_and_admits_nobody_until_the_user_says_so() {
    let closed = ConfigFixture::new().load().settings.gateway;
    for platform in ChatPlatform::ALL {
        let settings = closed.platform(platform);
        assert!(!settings.enabled && settings.mention_required, "{platform:?}");
        assert!(settings.allow.is_empty() && settings.admins.is_empty(), "{platform:?}");
        assert_eq!(settings.token.value, None, "{platform:?}");
        assert!(settings.api_url.starts_with("https://"), "{platform:?}");
    }
    // A command's file may name any switch: these are on by themselves.
    assert_eq!(closed.open, ["motion", "safety.allow_network", "safety.allow_write", "web.fetch"]);
}

#[test]
fn the_settings_of_a_gateway_are_read_and_its_token_comes_from_the_variable() {
    let file = "[gateway.slack]\nenabled = true\ntoken_env = \"MY_BOT\"\nallow = [\"U1\", \"U2\"]\nmention = \"optional\"\napi_url = \"http://127.0.0.1:1/\"\n[gateway.telegram]\nallow = [42, \"43\"]\n[gateway]\nuser_commands = [\"/status\", \"stop\"]\nmax_file_mb = 2\n[display]\ntool_progress_command = true";
    let loaded = ConfigFixture::with(file)
        .load_with(&[("MY_BOT", "xoxb-1"), ("SLACK_APP_TOKEN", "xapp-1")], &[]);
    assert_eq!(problem_texts(&loaded), [""; 0]);
    let gateway = &loaded.settings.gateway;
    let slack = &gateway.slack;
    assert_eq!((slack.enabled, slack.mention_required), (true, false));
    assert_eq!(slack.token.value.as_ref().map(|token| token.expose()), Some("xoxb-1"));
    let app = slack.app_token.as_ref().and_then(|token| token.value.as_ref());
    assert_eq!(app.map(|token| token.expose()), Some("xapp-1"));
    assert_eq!(slack.allow, ["U1", "U2"]);
    assert_eq!(slack.api_url, "http://127.0.0.1:1");
    assert_eq!(gateway.telegram.allow, ["42", "43"]);
    assert_eq!(gateway.user_commands, ["status", "stop"]);
    assert_eq!(gateway.bounds.file_bytes, 2 * 1024 * 1024);
    assert_eq!(gateway.open[4..], ["gateway.slack.enabled", "display.tool_progress_command"]);
}

#[test]
fn a_token_in_the_settings_file_is_refused_and_not_repeated() {
    for key in ["telegram.token", "slack.app_token", "discord.token"] {
        let (table, key) = key.split_once('.').unwrap();
        let text = format!("[gateway.{table}]\n{key} = \"123:secret\"");
        let problems = problem_texts(&ConfigFixture::with(&text).load());
        assert_eq!(problems.len(), 1, "{text}");
        assert!(problems[0].contains("token_env") && !problems[0].contains("secret"));
    }
}

#[test]
fn users_are_admitted_by_their_ids_and_not_by_a_name_that_anyone_can_take() {
    for name in ["@ann", "ann", "*", ""] {
        let text = format!("[gateway.telegram]\nallow = [\"{name}\"]");
        let loaded = ConfigFixture::with(&text).load();
        assert_eq!(loaded.problems.len(), 1, "{text}");
        assert!(loaded.settings.gateway.telegram.allow.is_empty(), "{text}");
    }
}

#[test]
fn an_unreadable_project_file_makes_safety_strict() {
    let desk = ConfigFixture::new();
    let loaded = desk.project("[safety").load_trusted();
    assert_eq!(loaded.settings.policy().limits.write, Limit::Refuse);
    assert!(problem_texts(&loaded)[0].contains("not valid TOML"), "{:?}", problem_texts(&loaded));
}

#[test]
fn an_invalid_variable_is_named() {
    let loaded = ConfigFixture::new().load_with(&[("AVOCET_MODE", "fast")], &[]);
    let expected = "The variable `AVOCET_MODE`: `mode` must be one of low, high, not `fast`.";
    assert_eq!(problem_texts(&loaded), [expected]);
}

#[test]
fn the_language_follows_the_locale_unless_it_is_set() {
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], Lang);
    let cases: [Case<'_>; 5] = [
        ("", &[], Lang::En),
        ("", &[("LANG", "zh_CN.UTF-8")], Lang::Zh),
        ("", &[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "C")], Lang::En),
        ("", &[("LANG", "en_US"), ("AVOCET_LANG", "zh")], Lang::Zh),
        ("lang = \"en\"", &[("LANG", "zh_CN.UTF-8")], Lang::En),
    ];
    for (file, variables, expected) in cases {
        let loaded = ConfigFixture::with(file).load_with(variables, &[]);
        assert_eq!(loaded.settings.lang, expected, "{file} {variables:?}");
    }
}

const COMMENTED: &str = "# mine\nmode = \"low\" # for now\n\n[profiles.default] # the one\nhigh = 'a'\nunknown_to_us = 1\n";

#[test]
fn an_edit_changes_its_key_and_nothing_else() {
    let desk = ConfigFixture::with(COMMENTED);
    edit::set(&desk.file(), "mode", "high").unwrap();
    edit::set(&desk.file(), "profiles.default.high", "b").unwrap();
    let expected = COMMENTED.replace("\"low\"", "\"high\"").replace("'a'", "\"b\"");
    assert_eq!(fs::read_to_string(desk.file()).unwrap(), expected);
}

#[test]
fn a_key_is_added_with_its_tables_and_removed_again() {
    let desk = ConfigFixture::new();
    fs::remove_dir(desk.root.path().join("config")).unwrap();
    edit::set(&desk.file(), "profiles.work.base_url", "http://x/v1").unwrap();
    edit::set(&desk.file(), "safety.deny", "git push *, make").unwrap();
    edit::set(&desk.file(), "safety.max_auto_steps_per_turn", "3").unwrap();
    let text = fs::read_to_string(desk.file()).unwrap();
    let expected = "[profiles.work]\nbase_url = \"http://x/v1\"\n\n[safety]\ndeny = [\"git push *\", \"make\"]\nmax_auto_steps_per_turn = 3\n";
    assert_eq!(text, expected);
    assert_eq!(desk.load().get("safety.max_auto_steps_per_turn"), Some(TomlValue::Count(3)));
    assert!(edit::unset(&desk.file(), "safety.deny").unwrap());
    assert!(!edit::unset(&desk.file(), "safety.deny").unwrap());
    assert_eq!(desk.load().settings.policy().denied, []);
}

/// `ROUNDS` says how often; 10 by itself.
#[test]
fn concurrent_changes_to_settings_are_all_kept() {
    let rounds = std::env::var("ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(10);
    let desk = ConfigFixture::new();
    let home = desk.root.path().join("avocet");
    let changes =
        [("mode", "low"), ("theme", "light"), ("lang", "en"), ("limits.idle_timeout_s", "7")];
    for round in 0..rounds {
        let _ = fs::remove_dir_all(&home);
        let set = |(key, value): (&str, &str)| {
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_avocet"));
            command.args(["config", "set", key, value]).current_dir(desk.root.path());
            command.env_clear().env("HOME", desk.root.path()).env("AVOCET_HOME", &home);
            command.stderr(std::process::Stdio::null()).spawn().unwrap()
        };
        let running = changes.map(set);
        for mut child in running {
            assert!(child.wait().unwrap().success(), "round {round}");
        }
        let text = fs::read_to_string(home.join("config.toml")).unwrap();
        for (key, value) in changes {
            let name = key.rsplit('.').next().unwrap();
            let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
            assert!(line.contains(value), "round {round}: `{key}` was lost:\n{text}");
        }
    }
}

#[test]
fn a_relative_home_folder_is_refused_and_named() {
    let refused = Paths::find(&Environment::from_pairs([("HOME", "rel/home")])).unwrap_err();
    assert!(refused.localized().text(Lang::En).contains("rel/home"));
    let named = Environment::from_pairs([("HOME", "rel/home"), ("AVOCET_HOME", "/srv/avocet")]);
    assert_eq!(Paths::find(&named).unwrap().home, Path::new("/srv/avocet"));
}

#[test]
fn an_invalid_edit_is_refused_with_a_reason() {
    let cases = [
        ("mdoe", "low", "There is no setting `mdoe`. Did you mean `mode`?"),
        ("mode", "fast", "`mode` must be one of low, high, not `fast`."),
        (
            "api_key",
            "sk-1",
            "`api_key` cannot be set in the file. Keys belong in the environment: name the variable with `api_key_env` in a profile.",
        ),
        (
            "safety.allow_sudo",
            "maybe",
            "`safety.allow_sudo` must be `true` or `false`, not `maybe`.",
        ),
        (
            "safety.allowed_programs",
            "*",
            "`safety.allowed_programs` must be a list of programs, as in `[\"+just\", \"-curl\"]`, not `*`.",
        ),
    ];
    let desk = ConfigFixture::with(COMMENTED);
    for (key, value, expected) in cases {
        let error = edit::set(&desk.file(), key, value).unwrap_err();
        assert_eq!(error.localized().text(Lang::En), expected);
    }
    assert_eq!(fs::read_to_string(desk.file()).unwrap(), COMMENTED);
}

#[cfg(unix)]
#[test]
fn an_unwritable_file_is_reported() {
    let file = Path::new("/dev/null/config.toml");
    let error = edit::set(file, "mode", "low").unwrap_err();
    assert!(error.localized().text(Lang::En).contains("/dev/null/config.toml"));
}
