//! The help of the script language through the real program: every example of a chapter runs and
//! prints what the chapter says; `avocet script` lists, shows and begins scripts; the JSON Schema
//! accepts every script that is known to be right.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::bench::TestDir;
use crate::support::script_cases::script_cases_of;
use avocet::script::manifest::Manifest;
use avocet::script::reference::{CHAPTERS, EXAMPLES, MARKS, PREFIXES, schema};
use avocet::script::run::params::parameter_names;
use avocet::script::settings::{PARAMETERS, SETTINGS};
use avocet::script::source::ScriptLibrary;
use avocet::script::text::prefix::{self, PrefixPosition, TextPrefix};
use avocet::script::text::{MessageText, TextSpan};
use avocet::script::{built_in, directive, syntax, template};
use avocet::session::script_places::DiskFiles;

fn out(ran: &Output) -> String {
    String::from_utf8(ran.stdout.clone()).unwrap()
}

fn err(ran: &Output) -> String {
    String::from_utf8(ran.stderr.clone()).unwrap()
}

fn write_examples(folder: &Path) {
    for (name, text) in EXAMPLES.iter().flat_map(|example| example.files) {
        fs::write(folder.join(name), text).unwrap();
    }
}

#[test]
fn every_example_prints_what_its_chapter_says_and_passes_the_check() {
    let bench = TestDir::new();
    write_examples(&bench.work());
    for example in EXAMPLES {
        let model = bench.script(example.replies);
        let args = [&["--model", &model, "run", example.chapter], example.args].concat();
        let ran = bench.command(&args).output().unwrap();
        assert_eq!(out(&ran), example.output, "{}: {}", example.chapter, err(&ran));
        assert_eq!(err(&ran), "", "{}", example.chapter);
        assert!(ran.status.success(), "{}", example.chapter);
        for (file, _) in example.files {
            let ran = bench.command(&["run", file, "--check"]).output().unwrap();
            assert!(ran.status.success(), "{file}: {}", err(&ran));
        }
    }
}

#[test]
fn every_chapter_is_a_page_in_both_languages_with_its_example() {
    let bench = TestDir::new();
    let contents = out(&bench.command(&["help", "scripts"]).output().unwrap());
    for chapter in CHAPTERS {
        assert!(contents.contains(&format!("\n  `{}`", chapter.name)), "{contents}");
        let example = EXAMPLES.iter().find(|it| it.chapter == chapter.name).unwrap();
        for lang in ["en", "zh"] {
            let args = ["--lang", lang, "help", "scripts", chapter.name];
            let ran = bench.untrusted_command(&args).output().unwrap();
            let page = out(&ran);
            assert!(ran.status.success(), "{}", err(&ran));
            for line in example.files.iter().flat_map(|(_, text)| text.lines()) {
                assert!(page.contains(line), "{} {lang}: {line}\n{page}", chapter.name);
            }
            let is_chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
            assert_eq!(page.contains(is_chinese), lang == "zh", "{page}");
            let widest = page.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= 112, "{} {lang}: {widest}", chapter.name);
        }
    }
    let ran = bench.command(&["help", "scripts", "nosuch"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert!(err(&ran).contains("`nosuch`") && err(&ran).contains("templates"), "{}", err(&ran));
}

#[test]
fn the_parameters_of_the_help_are_known_to_the_program() {
    for row in PARAMETERS {
        assert!(parameter_names().any(|name| name == row.name), "{} goes to the server", row.name);
    }
}

#[test]
fn the_tables_of_the_language_stand_whole_in_its_help() {
    let bench = TestDir::new();
    let page = |chapter: &str| {
        let ran = bench.command(&["help", "scripts", chapter]).output().unwrap();
        out(&ran)
    };
    // What a row is about may be above its text.
    let has_row = |page: &str, name: &str| {
        let mut rests = page.lines().filter_map(|line| line.strip_prefix("  ")?.strip_prefix(name));
        rests.any(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let directives = page("directives");
    for row in directive::TABLE {
        assert!(has_row(&directives, &row.signature()), "{}", row.name);
    }
    let settings = page("settings");
    for row in SETTINGS.iter().chain(PARAMETERS) {
        assert!(has_row(&settings, row.name), "{}", row.name);
    }
    let templates = page("templates");
    assert!(template::FILTERS.iter().all(|name| templates.contains(name)), "{templates}");
}

#[test]
fn help_of_commands_is_what_their_own_option_prints() {
    let bench = TestDir::new();
    for words in [&["run"][..], &["bot", "new"], &[]] {
        let by_word = bench.command(&[&["help"], words].concat()).output().unwrap();
        let by_option = bench.command(&[words, &["--help"]].concat()).output().unwrap();
        assert_eq!(out(&by_word), out(&by_option), "{words:?}");
        assert!(!out(&by_word).is_empty());
    }
    let inner = bench.untrusted_command(&["bot", "help", "new"]).output().unwrap();
    let outer = bench.untrusted_command(&["help", "bot", "new"]).output().unwrap();
    assert_eq!(out(&inner), out(&outer));
    let ran = bench.command(&["help", "nosuch"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
    let said = err(&ran);
    assert!(said.contains("no help on `nosuch`") && said.contains("sandbox"), "{said}");
}

#[test]
fn the_forms_of_the_help_are_read_as_it_says() {
    use avocet::script::text::PlaceholderMark::{Call, Placeholder, Regex};
    for (at, mark) in MARKS.iter().enumerate() {
        let text = MessageText::read(mark.form);
        let read = text.spans().iter().find_map(|span| match span {
            TextSpan::Mark { mark, .. } => Some(mark.clone()),
            _ => None,
        });
        let is_read = match (at, &read) {
            (0, Some(Placeholder(ask))) => ask.params.is_empty() && ask.choices.is_empty(),
            (1, Some(Placeholder(ask))) => ask.params.len() == 1,
            (2, Some(Placeholder(ask))) => ask.choices.len() == 2 && !ask.pick.random,
            (3, Some(Placeholder(ask))) => ask.choices.len() == 2 && ask.pick.random,
            (4, Some(Call(call))) => !call.directive,
            (5, Some(Call(call))) => call.directive,
            (6, Some(Regex(found))) => found.group.is_some() && found.flags == "i",
            (7 | 8, None) => true,
            _ => false,
        };
        assert!(is_read, "{}: {read:?}", mark.form);
    }
    let read = |form| prefix::parse_prefix(form, PrefixPosition::Message).0;
    let kinds: Vec<_> = PREFIXES.iter().map(|row| read(row.form)).collect();
    assert!(matches!(
        kinds.as_slice(),
        [
            TextPrefix::Expression,
            TextPrefix::Raw,
            TextPrefix::Now,
            TextPrefix::Replace(_),
            TextPrefix::Insert(_)
        ]
    ));
}

#[test]
fn scripts_are_listed_with_their_titles_and_shown() {
    let bench = TestDir::new();
    fs::create_dir_all(bench.path("avocet/scripts/deep")).unwrap();
    let text =
        "---\ntitle: Greet somebody\ninput: [{name: {required: true}}]\n---\n\"Hi {{name}}\"\n";
    fs::write(bench.path("avocet/scripts/deep/greet.ai.yaml"), text).unwrap();
    fs::write(bench.work().join("broken.ai.yaml"), "user: [\n").unwrap();
    let ran = bench.command(&["script", "list", "--json"]).output().unwrap();
    let listed: Value = serde_json::from_str(&out(&ran)).unwrap();
    let folder = bench.path("avocet/scripts/deep").canonicalize().unwrap();
    let of = |folder: &Path| listed.get(folder.display().to_string()).unwrap();
    assert_eq!(of(&folder)["greet"], "Greet somebody", "{listed:#}");
    let broken = &of(&bench.work().canonicalize().unwrap())["broken"];
    assert!(broken.as_str().unwrap().contains("cannot be read"), "{listed:#}");
    assert_eq!(listed["built in"]["translator"], "Translate a text");

    let shown = bench.command(&["script", "show", "greet"]).output().unwrap();
    assert_eq!(out(&shown), text);
    assert!(err(&shown).contains("name (required)"), "{}", err(&shown));
    let built_in = bench.command(&["script", "show", "translator"]).output().unwrap();
    assert!(out(&built_in).starts_with("---\n_id: translator"), "{}", out(&built_in));
    let missing = bench.command(&["script", "show", "nosuch"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(1));
}

#[test]
fn a_new_script_passes_the_check_and_never_replaces_a_file() {
    let bench = TestDir::new();
    let run = |args: &[&str]| bench.command(args).output().unwrap();
    let first = run(&["script", "new", "mine"]);
    assert!(first.status.success(), "{}", err(&first));
    assert!(bench.path("avocet/scripts/mine.ai.yaml").is_file());
    assert!(run(&["run", "mine", "--check"]).status.success());
    let model = bench.script(&["yes"]);
    assert_eq!(out(&run(&["--model", &model, "run", "mine", "a question"])), "yes\n");
    let again = run(&["script", "new", "mine", "--like", "marks"]);
    assert_eq!(again.status.code(), Some(1), "{}", err(&again));

    let here = run(&["script", "new", "./near.ai.yaml", "--like", "groups"]);
    assert!(here.status.success(), "{}", err(&here));
    let ran = run(&["run", "near", "--check"]);
    assert!(ran.status.success(), "{}", err(&ran));
    for (args, part) in [
        (&["script", "new", "a b"][..], "`a b`"),
        (&["script", "new", ".hidden"], ".hidden"),
        (&["script", "new", "."], "`.`"),
        (&["script", "new", ".."], "`..`"),
        (&["script", "new", "a/.."], "`a/..`"),
        (&["script", "new", ""], "cannot be the name"),
        (&["script", "new", "folder/"], "`folder/`"),
        (&["script", "new", "x", "--like", "nosuch"], "`nosuch`"),
    ] {
        let ran = run(args);
        assert_eq!(ran.status.code(), Some(2), "{}", err(&ran));
        assert!(err(&ran).contains(part), "{}", err(&ran));
    }
    let plain = run(&["script", "new", "plain.yaml"]);
    assert!(
        plain.status.success() && bench.work().join("plain.ai.yaml").is_file(),
        "{}",
        err(&plain)
    );
    let ran = run(&["script", "new", "summary"]);
    assert!(ran.status.success() && err(&ran).contains("built-in"), "{}", err(&ran));
    let ran = run(&["script", "new", "made", "--json"]);
    let row: serde_json::Value = serde_json::from_str(&out(&ran)).unwrap();
    assert!(row["file"].as_str().unwrap().ends_with("made.ai.yaml"), "{row}");
    let ran = run(&["script", "show", "made", "--json"]);
    let row: serde_json::Value = serde_json::from_str(&out(&ran)).unwrap();
    assert_eq!(row["id"], "made");
    assert!(row["text"].as_str().unwrap().starts_with("---\ntitle: "), "{row}");
    for chapter in CHAPTERS {
        let name = format!("like-{}", chapter.name);
        assert!(run(&["script", "new", &name, "--like", chapter.name]).status.success());
    }
}

#[test]
fn example_scripts_are_copied_with_the_others_and_run_by_their_id() {
    let bench = TestDir::new();
    let ran = bench.command(&["init-home"]).output().unwrap();
    assert!(out(&ran).contains("scripts/examples/marks.ai.yaml"), "{}", out(&ran));
    let model = bench.script(&["A joke.", "Une blague."]);
    let ran = bench.command(&["--model", &model, "run", "chains"]).output().unwrap();
    assert_eq!(out(&ran), "A joke. / Une blague.\n", "{}", err(&ran));
}

/// The scripts of the cases and of the examples, and those built in.
fn right_scripts() -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = built_in::SCRIPTS
        .iter()
        .chain(EXAMPLES.iter().flat_map(|example| example.files))
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    for case in script_cases_of("reference.md") {
        let scripts = case.files().filter(|(name, _)| name.ends_with(".ai.yaml"));
        let named =
            scripts.map(|(name, text)| (format!("{}: {name}", case.place), text.to_owned()));
        out.extend(named);
    }
    out
}

#[test]
fn the_schema_accepts_right_scripts_and_rejects_wrong_ones() {
    let bench = TestDir::new();
    let printed = bench.command(&["script", "schema"]).output().unwrap();
    let printed: Value = serde_json::from_str(&out(&printed)).unwrap();
    assert_eq!(printed, schema::json_schema());

    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("mem:/script.json", printed).unwrap();
    let head = compiler.compile("mem:/script.json", &mut schemas).unwrap();
    let line = compiler.compile("mem:/script.json#/$defs/instruction", &mut schemas).unwrap();

    let scripts = right_scripts();
    assert!(scripts.len() > 100, "{}", scripts.len());
    for (name, text) in scripts {
        // Some cases are about errors of the syntax itself.
        let Ok(document) = syntax::parse(&name, &text) else { continue };
        let front = document.front_matter.to_value();
        let valid = schemas.validate(&front, head);
        assert!(valid.is_ok(), "{name}: {}", valid.unwrap_err());
        for node in &document.body {
            let value = node.to_value();
            let valid = schemas.validate(&value, line);
            assert!(valid.is_ok(), "{name}: {value}: {}", valid.unwrap_err());
        }
    }
    for wrong in [
        json!({ "run_mode": "both" }),
        json!({ "input": 5 }),
        json!({ "input": [{ "name": { "required": "yes" } }] }),
        json!({ "parameters": { "max_tokens": "many" } }),
        json!({ "shouldThink": "forward" }),
        json!({ "templateFormat": "mustache" }),
    ] {
        assert!(schemas.validate(&wrong, head).is_err(), "{wrong}");
    }
    for wrong in [json!({ "user": ["a"] }), json!({}), json!([1])] {
        assert!(schemas.validate(&wrong, line).is_err(), "{wrong}");
    }
}

#[test]
fn the_example_scripts_load_as_tools_and_roles_where_they_are_meant_as_such() {
    let bench = TestDir::new();
    write_examples(&bench.work());
    let files = DiskFiles::default();
    let library = ScriptLibrary::new(std::sync::Arc::new(files), Vec::new(), built_in::SCRIPTS);
    let load =
        |name: &str| Manifest::load(library.find(name, &bench.work()).unwrap(), &library).unwrap();
    assert!(load("tools-weather").help().is_some());
    assert!(load("groups-ana").has_type("char"));
    let names = library.paths(&bench.work());
    assert_eq!(names.len(), EXAMPLES.iter().map(|example| example.files.len()).sum::<usize>());
}

#[test]
fn help_has_a_page_about_the_sandbox_in_both_languages() {
    let bench = TestDir::new();
    let help = |lang: &str| {
        let ran = bench.command(&["help", "sandbox"]).env("LANG", lang).output().unwrap();
        assert!(ran.status.success(), "{}", err(&ran));
        out(&ran).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(help("en_US.UTF-8").contains("can run anything outside"));
    assert!(help("zh_CN.UTF-8").contains("沙箱"));
}
