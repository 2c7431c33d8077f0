//! The subcommands about chat platforms: menus, pairing, users, tokens.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::process::{Output, Stdio};

use crate::support::bench::TestDir;
use serde_json::Value;

fn run(bench: &TestDir, args: &[&str]) -> Output {
    bench.command(args).env("AVOCET_KEY_STORE", "file").output().unwrap()
}

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

fn write_users(bench: &TestDir, text: &str) {
    fs::create_dir_all(bench.path("avocet/data")).unwrap();
    fs::write(bench.path("avocet/data/gateway_users.json"), text).unwrap();
}

fn menu(bench: &TestDir, platform: &str) -> Value {
    let output = run(bench, &["gateway", "menu", platform, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn reason<'m>(menu: &'m Value, name: &str) -> &'m str {
    let left_out = menu["left_out"].as_array().unwrap();
    let left = left_out.iter().find(|left| left["name"] == name);
    left.and_then(|left| left["reason"].as_str()).unwrap_or("in the menu")
}

#[test]
fn a_menu_is_printed_with_what_it_leaves_out_and_why() {
    let bench = TestDir::new();
    let telegram = menu(&bench, "telegram");
    assert_eq!(telegram["menu"][0]["commands"][0]["command"], "stop");
    assert_eq!(reason(&telegram, "steer"), "in the menu");
    assert_eq!(reason(&telegram, "theme"), "terminal_only");
    assert_eq!(reason(&telegram, "background"), "setting_closed");
    let slack = menu(&bench, "slack");
    assert_eq!(slack["menu"]["features"]["slash_commands"][0]["command"], "/avocet");
    assert_eq!(reason(&slack, "status"), "reserved");
    let discord = menu(&bench, "discord");
    assert_eq!(discord["menu"][0]["name"], "avocet");
    assert_eq!(reason(&discord, "status"), "in the menu");
    let page = text(&run(&bench, &["gateway", "menu", "telegram"]));
    assert!(page.contains("whoami") && page.contains("works only in the terminal"), "{page}");
}

#[test]
fn slack_gets_one_command_for_all_of_them_if_the_settings_say_so() {
    let bench = TestDir::new();
    bench.settings("[gateway.slack]\ncommands = \"avocet\"\n");
    let slack = menu(&bench, "slack");
    let commands = slack["menu"]["features"]["slash_commands"].as_array().unwrap();
    let names: Vec<&Value> = commands.iter().map(|one| &one["command"]).collect();
    assert_eq!(names, ["/avocet"]);
}

#[test]
fn one_file_puts_a_command_into_every_menu_and_its_gate_keeps_it_out() {
    let bench = TestDir::new();
    let folder = bench.path("avocet/commands");
    fs::create_dir_all(&folder).unwrap();
    let weather = "prompt = \"Weather in {{args}}\"\ndescription = \"Show the weather\"\naliases = [\"wth\"]\nargument_hint = \"<city>\"\n[arguments]\ncity = \"The city\"\n";
    fs::write(folder.join("weather.toml"), weather).unwrap();
    fs::write(folder.join("secret.toml"), "prompt = \"x\"\nreach = \"terminal\"\n").unwrap();
    let telegram = menu(&bench, "telegram");
    let commands = telegram["menu"][0]["commands"].as_array().unwrap();
    assert!(commands.iter().any(|one| one["command"] == "weather"), "{telegram}");
    assert_eq!(reason(&telegram, "secret"), "terminal_only");
    let slack = menu(&bench, "slack");
    let commands = slack["menu"]["features"]["slash_commands"].as_array().unwrap();
    assert!(commands.iter().any(|one| one["command"] == "/wth"), "an alias");
    let discord = menu(&bench, "discord");
    let weather = discord["menu"].as_array().unwrap().iter().find(|one| one["name"] == "weather");
    assert_eq!(weather.unwrap()["options"][0]["description"], "The city");
}

#[test]
fn what_a_file_says_and_no_menu_can_show_is_reported() {
    let bench = TestDir::new();
    let folder = bench.path("avocet/commands");
    fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| {
        let text = format!("prompt = \"x\"\n{text}\n");
        fs::write(folder.join(format!("{name}.toml")), text).unwrap();
    };
    write("odd", "aliases = [\"-x\", \"fine\"]");
    let skill = bench.path("avocet/skills/greet");
    fs::create_dir_all(&skill).unwrap();
    let text = "---\nname: greet\ndescription: Greets someone\naliases: git:x\n---\nHello.\n";
    fs::write(skill.join("SKILL.md"), text).unwrap();
    write("shut", "setting = \"nosuch.key\"");
    write("open", "setting = \"vim\"");
    bench.settings("vim = true\n");
    let shown = menu(&bench, "slack");
    let unusable = shown["unusable"].to_string();
    for named in ["`/-x` cannot", "`/git:x` cannot", "`nosuch.key`"] {
        assert!(unusable.contains(named), "{named}: {unusable}");
    }
    assert_eq!(reason(&shown, "open"), "reserved", "Slack's name, and open by its setting");
    assert_eq!(reason(&menu(&bench, "discord"), "open"), "in the menu");
    assert_eq!(reason(&shown, "shut"), "setting_closed");
}

#[test]
fn what_the_menu_of_one_language_leaves_out_is_reported() {
    let bench = TestDir::new();
    let folder = bench.path("avocet/commands");
    fs::create_dir_all(&folder).unwrap();
    for number in 0..45 {
        let text = format!("prompt = \"x\"\ndescription = \"Own command number {number} does\"\n");
        fs::write(folder.join(format!("my-command-{number:02}.toml")), text).unwrap();
    }
    for lang in ["en", "zh"] {
        let output = run(&bench, &["--lang", lang, "gateway", "menu", "telegram", "--json"]);
        let menu: Value = serde_json::from_slice(&output.stdout).unwrap();
        for call in menu["menu"].as_array().unwrap() {
            for number in 0..45 {
                let (shown, name) =
                    (format!("my_command_{number:02}"), format!("my-command-{number:02}"));
                let commands = call["commands"].as_array().unwrap();
                let is_shown = commands.iter().any(|one| one["command"] == shown.as_str());
                assert!(is_shown || reason(&menu, &name) == "no_room", "{lang}: {name}");
            }
        }
    }
}

#[test]
fn commands_of_a_folder_that_is_not_trusted_are_named_as_such() {
    let bench = TestDir::new();
    let folder = bench.work().join(".avocet/commands");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("deploy.toml"), "prompt = \"x\"\n").unwrap();
    let output =
        bench.untrusted_command(&["gateway", "menu", "telegram", "--json"]).output().unwrap();
    let menu: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(menu["unusable"].to_string().contains("trust"), "{}", menu["unusable"]);
}

#[test]
fn a_code_is_printed_and_only_its_hash_is_stored_for_the_user_alone() {
    let bench = TestDir::new();
    let paired = text(&run(&bench, &["gateway", "pair"]));
    let code = paired.split_whitespace().find(|word| word.len() == 9 && word.contains('-'));
    let code = code.unwrap_or_else(|| panic!("{paired}"));
    let file = bench.path("avocet/data/gateway_users.json");
    let stored = fs::read_to_string(&file).unwrap();
    assert!(!stored.contains(code) && !stored.contains(&code.replace('-', "")), "{stored}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_ne!(text(&run(&bench, &["gateway", "pair"])), paired, "another code");
}

#[test]
fn users_are_listed_and_paired_ones_are_removed() {
    let bench = TestDir::new();
    bench.settings("[gateway.slack]\nadmins = [\"U1\"]\n");
    let users =
        r#"{"users": [{"platform": "telegram", "id": "42", "role": "user", "paired_at": 1}]}"#;
    write_users(&bench, users);
    let listed = text(&run(&bench, &["gateway", "users"]));
    assert!(listed.contains("42") && listed.contains("U1"), "{listed}");
    let removed = run(&bench, &["gateway", "users", "--remove", "telegram", "42"]);
    assert_eq!(removed.status.code(), Some(0), "{}", text(&removed));
    assert!(!text(&run(&bench, &["gateway", "users"])).contains("42"));
    let again = run(&bench, &["gateway", "users", "--remove", "telegram", "42"]);
    assert_ne!(again.status.code(), Some(0));
}

#[test]
fn a_broken_list_of_users_admits_none_of_them_and_is_not_overwritten() {
    let bench = TestDir::new();
    write_users(&bench, "{ torn");
    let output = run(&bench, &["gateway", "pair"]);
    assert_ne!(output.status.code(), Some(0), "{}", text(&output));
    let stored = fs::read_to_string(bench.path("avocet/data/gateway_users.json")).unwrap();
    assert_eq!(stored, "{ torn");
}

#[test]
fn a_token_is_saved_for_the_user_alone_and_never_shown() {
    let bench = TestDir::new();
    let mut command = bench.command(&["gateway", "token", "telegram"]);
    command.env("AVOCET_KEY_STORE", "file").stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"123:quarz-zwerg\n").unwrap();
    let saved = child.wait_with_output().unwrap();
    assert_eq!(saved.status.code(), Some(0), "{}", text(&saved));
    assert!(!text(&saved).contains("quarz"), "{}", text(&saved));
    let keys = bench.path("avocet/data/keys.toml");
    assert!(fs::read_to_string(&keys).unwrap().contains("gateway/telegram/token"));
    assert_eq!(fs::metadata(&keys).unwrap().permissions().mode() & 0o777, 0o600);
    let config = text(&run(&bench, &["config", "get"]));
    assert!(!config.contains("quarz"), "{config}");
    let removed = run(&bench, &["gateway", "token", "telegram", "--remove"]);
    assert_eq!(removed.status.code(), Some(0));
    assert!(!fs::read_to_string(&keys).unwrap().contains("quarz"));
}

#[test]
fn a_token_in_the_place_of_a_variables_name_is_said_and_never_shown() {
    let bench = TestDir::new();
    for (key, token) in [
        ("gateway.telegram.token_env", "123456789:AAquarz-zwerg_x"),
        ("gateway.slack.token_env", "xoxb-quarz-zwerg"),
        ("gateway.slack.app_token_env", "xapp-quarz-zwerg"),
        ("gateway.discord.token_env", "MTIz.quarz.zwerg"),
    ] {
        bench.settings(&format!("gateway.telegram.enabled = true\n{key} = \"{token}\"\n"));
        let commands: [&[&str]; 3] = [&["gateway", "run"], &["config", "get"], &["doctor"]];
        for command in commands {
            let said = text(&run(&bench, command));
            assert!(!said.contains("quarz"), "{key}: {command:?}: {said}");
        }
        let said = text(&run(&bench, &["gateway", "run"]));
        let sentence = format!("`{key}` must be the name of a variable that holds it");
        let found = said.lines().filter(|line| line.contains(&sentence));
        assert_eq!(found.filter(|line| line.contains("token itself")).count(), 1, "{said}");
        bench.settings("");
        let refused = run(&bench, &["config", "set", key, token]);
        assert_ne!(refused.status.code(), Some(0));
        assert!(!text(&refused).contains("quarz"), "{}", text(&refused));
    }
    let named = run(&bench, &["config", "set", "gateway.telegram.token_env", "MY_BOT_2"]);
    assert_eq!(named.status.code(), Some(0), "{}", text(&named));
}

#[test]
fn the_doctor_shows_the_platforms_that_are_enabled() {
    let bench = TestDir::new();
    let doctor = || String::from_utf8(run(&bench, &["doctor"]).stdout).unwrap();
    assert!(!doctor().contains("Telegram"));
    bench.settings("[gateway.telegram]\nenabled = true\nallow = [\"7\"]\n");
    let shown = doctor();
    for part in ["Telegram", "TELEGRAM_BOT_TOKEN", "1 user and 0 admins in the settings"] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    assert!(!shown.contains("Discord"), "{shown}");
}
