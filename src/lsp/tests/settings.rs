//! Tests `[lsp.NAME]` of the settings.

use super::*;

fn read(text: &str) -> LanguageDefinitions {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("config.toml");
    fs::write(&file, text).unwrap();
    read_languages(&file)
}

fn find<'a>(read: &'a LanguageDefinitions, name: &str) -> Option<&'a LanguageDefinition> {
    read.servers.iter().find(|server| server.name == name)
}

#[test]
fn settings_add_servers_before_the_known_ones_and_switch_them_off() {
    let read = read(concat!(
        "[lsp.pyright]\nenabled = false\n",
        "[lsp.mine]\ncommand = \"mine\"\nlanguages = { rs = \"rust\" }\n",
        "[lsp.rust-analyzer]\nmemory_mib = 100\noptions = { check = { command = \"clippy\" } }\n",
    ));
    assert!(read.faults.is_empty(), "{:?}", read.faults);
    assert!(!find(&read, "pyright").unwrap().is_enabled);
    assert!(find(&read, "basedpyright").unwrap().is_enabled);
    let mine = find(&read, "mine").unwrap();
    assert_eq!((mine.language_of(Path::new("/a.rs")), mine.memory), (Some("rust"), 4096));
    let analyzer = find(&read, "rust-analyzer").unwrap();
    assert_eq!(analyzer.memory, 100);
    assert_eq!(analyzer.options["check"]["command"], "clippy");
    assert_eq!(analyzer.command, ["rust-analyzer"]);
}

#[test]
fn what_is_not_understood_is_named() {
    let read = read("[lsp]\nx = 1\n[lsp.a]\ncommand = 3\n[lsp.zls]\nspeed = 1\n");
    let faults: Vec<String> = read.faults.iter().map(|fault| fault.text(Lang::En)).collect();
    for key in ["`lsp.x`", "`lsp.a.command`", "`[lsp.a]`", "`lsp.zls.speed`"] {
        assert!(faults.iter().any(|fault| fault.contains(key)), "{key}: {faults:?}");
    }
    assert!(find(&read, "zls").is_some());
}

#[test]
fn the_known_servers_have_names_commands_and_languages_of_their_own() {
    let read = read("");
    for server in &read.servers {
        assert!(!server.command.is_empty() && !server.languages.is_empty(), "{}", server.name);
        let same = read.servers.iter().filter(|other| other.name == server.name).count();
        assert_eq!(same, 1, "{}", server.name);
    }
}
