//! Loading from all folders, and the state of the files that are not loaded.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::Paths;
use avocet_core::i18n::{Lang, Localize};
use avocet_core::protocol::{Availability, Category, ExtensionState, WhileBusy};

struct LibraryFixture {
    root: tempfile::TempDir,
}

impl LibraryFixture {
    fn new() -> LibraryFixture {
        let desk = LibraryFixture { root: tempfile::tempdir().unwrap() };
        fs::create_dir_all(desk.path("work/.git")).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn skill(&self, folder: &str, about: &str) {
        let name = Path::new(folder).file_name().unwrap().to_str().unwrap();
        let text = format!("---\nname: {name}\ndescription: {about}\n---\nBody of {folder}\n");
        self.write(&format!("{folder}/SKILL.md"), &text);
    }

    fn load(&self, trusted: bool) -> ExtensionLibrary {
        let paths = Paths::with_root(&self.path("own"), self.path("home"));
        let work = self.path("work");
        let project = trusted.then_some(work.as_path());
        ExtensionLibrary::load(&SearchPath::new(&paths, project, &["help", "Diff"]))
    }

    /// `command review: loaded`, one line for each file, with paths relative to the root.
    fn file_states(&self, library: &ExtensionLibrary) -> Vec<String> {
        let root = format!("{}/", self.root.path().display());
        let line = |file: &LoadedFile| {
            let state = file.state.localized().text(Lang::En);
            format!("{} {}: {state}", file.kind.code(), file.name).replace(&root, "")
        };
        let is_file = |file: &&LoadedFile| file.owner.maker != ExtensionSource::BuiltIn;
        library.files.iter().filter(is_file).map(line).collect()
    }
}

#[test]
fn agents_of_all_programs_are_read_in_place_and_a_broken_one_is_named() {
    let desk = LibraryFixture::new();
    let markdown = |name: &str| format!("---\nname: {name}\ndescription: d\n---\nDo it.\n");
    let own = "description = \"d\"\nprompt = \"Do it.\"\n";
    desk.write("work/.avocet/agents/tester.toml", own);
    desk.write("own/agents/tester.toml", own);
    desk.write("own/agents/explore.toml", own);
    desk.write("work/.claude/agents/finder.md", &markdown("finder"));
    desk.write("work/.opencode/agent/builder.md", &markdown("builder"));
    desk.write("work/.gemini/agents/scout.md", &markdown("scout"));
    desk.write("home/.gemini/agents/broken.md", "no head");
    let library = desk.load(true);
    assert_eq!(
        desk.file_states(&library),
        [
            "agent tester: loaded",
            "agent explore: loaded",
            "agent tester: not used: work/.avocet/agents/tester.toml has the same name and takes precedence",
            "agent finder: loaded",
            "agent builder: loaded",
            "agent scout: loaded",
            "agent broken: refused: home/.gemini/agents/broken.md: it does not begin with `---`, so it has neither name nor description.",
        ]
    );
    let names: Vec<&str> = library.agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, ["tester", "explore", "finder", "builder", "scout", "review", "general"]);
    let rows = format!("{:?}", library.rows(ExtensionFileKind::Agent));
    assert!(rows.contains("broken.md") && rows.contains("Reviews a change"), "{rows}");
    let untrusted: Vec<String> =
        desk.load(false).agents.into_iter().map(|agent| agent.name).collect();
    assert_eq!(untrusted, ["explore", "tester", "review", "general"]);
}

const SAY: &str = "prompt = \"say\"\n";

#[test]
fn the_project_wins_over_the_user_and_both_over_other_agents() {
    let desk = LibraryFixture::new();
    for (file, about) in [
        ("work/.avocet/commands/x.toml", "project"),
        ("own/commands/x.toml", "own"),
        ("home/.r9s/commands/x.toml", "r9s"),
        ("home/.r9s/commands/y.toml", "r9s"),
    ] {
        desk.write(file, &format!("description = \"{about}\"\n{SAY}"));
    }
    desk.write("work/.claude/commands/x.md", "claude");
    let about = |trusted: bool, name: &str| {
        desk.load(trusted).command(name).map(|command| command.description.clone())
    };
    assert_eq!(about(true, "x").unwrap(), "project");
    assert_eq!(about(false, "x").unwrap(), "own", "nobody trusted the folder");
    assert_eq!(about(true, "y").unwrap(), "r9s");
    assert_eq!(
        desk.file_states(&desk.load(true)),
        [
            "command x: loaded",
            "command x: not used: work/.avocet/commands/x.toml has the same name and takes precedence",
            "command x: not used: work/.avocet/commands/x.toml has the same name and takes precedence",
            "command x: not used: work/.avocet/commands/x.toml has the same name and takes precedence",
            "command y: loaded",
        ]
    );
}

#[test]
fn nothing_is_read_from_an_untrusted_folder() {
    let desk = LibraryFixture::new();
    desk.write("work/.avocet/bots/b.toml", "");
    desk.write("work/.claude/commands/c.md", "x");
    desk.write("work/.gemini/commands/d.toml", SAY);
    desk.skill("work/.agents/skills/s", "This skill should be used when trusted.");
    assert_eq!(desk.file_states(&desk.load(false)), [""; 0]);
    assert_eq!(desk.file_states(&desk.load(true)).len(), 4);
}

#[test]
fn files_of_other_agents_work_in_place() {
    let desk = LibraryFixture::new();
    desk.write("home/.r9s/bots/reviewer.toml", "system_prompt = \"Be strict.\"\n");
    desk.write("home/.r9s/commands/commit-msg.toml", SAY);
    desk.write("work/.gemini/commands/git/commit.toml", "prompt = \"{{args}}\"\n");
    desk.write("work/.claude/commands/front/fix.md", "Fix $ARGUMENTS");
    desk.skill("work/.claude/skills/pdf", "This skill should be used when a PDF is read.");
    desk.skill("work/.agents/skills/xlsx", "This skill should be used when a table is read.");
    let library = desk.load(true);
    assert_eq!(library.bot("reviewer").unwrap().system_prompt, "Be strict.");
    assert_eq!(library.command("commit-msg").unwrap().form, TemplateMarks::Toml);
    assert_eq!(library.command("git:commit").unwrap().form, TemplateMarks::Gemini);
    assert_eq!(library.command("front:fix").unwrap().form, TemplateMarks::Markdown);
    assert_eq!(library.command("fix").unwrap().name, "front:fix", "the last part is enough");
    assert_eq!(library.skill("pdf").unwrap().owner.maker, ExtensionSource::Claude);
    assert_eq!(
        library.skill("xlsx").unwrap().body().unwrap(),
        "Body of work/.agents/skills/xlsx\n"
    );
}

#[test]
fn the_last_part_of_a_name_is_enough_only_if_it_is_unique() {
    let desk = LibraryFixture::new();
    desk.write("work/.claude/commands/a/fix.md", "x");
    desk.write("work/.claude/commands/b/fix.md", "x");
    let library = desk.load(true);
    assert!(library.command("fix").is_err() && library.extensions().find("fix").is_none());
    assert_eq!(library.extensions().find("b:fix").unwrap().name, "b:fix");
}

#[test]
fn a_command_may_not_hide_a_built_in_one() {
    let desk = LibraryFixture::new();
    desk.write("own/commands/help.toml", SAY);
    desk.write("own/commands/DIFF.toml", SAY);
    desk.skill("own/skills/help", "This skill should be used when help is wanted.");
    let library = desk.load(true);
    assert!(library.commands.is_empty());
    let said = library.command("help").unwrap_err().localized().text(Lang::En);
    assert!(said.contains("`/help`"), "{said}");
    let skill =
        library.extensions().entries.into_iter().find(|entry| entry.name == "help").unwrap();
    assert!(matches!(skill.state, ExtensionState::Hidden(_)) && !skill.can_be_typed());
    assert!(library.skill("help").is_ok(), "the model can enter it all the same");
}

#[test]
fn a_command_comes_before_a_skill_of_its_name() {
    let desk = LibraryFixture::new();
    desk.write("own/commands/pdf.toml", SAY);
    desk.skill("own/skills/pdf", "This skill should be used when a PDF is read.");
    let library = desk.load(true);
    let found = library.extensions().find("pdf").unwrap().kind;
    assert_eq!(found, avocet_core::protocol::ExtensionKind::Command);
    assert!(
        desk.file_states(&library)[1].contains("runs a command"),
        "{:?}",
        desk.file_states(&library)
    );
}

#[test]
fn a_broken_file_keeps_its_name_and_gives_the_reason() {
    let desk = LibraryFixture::new();
    desk.write("work/.avocet/commands/x.toml", "prompt = ");
    desk.write("own/commands/x.toml", SAY);
    let library = desk.load(true);
    assert!(library.commands.is_empty());
    let said = library.command("x").unwrap_err().localized().text(Lang::En);
    assert!(said.contains("work/.avocet/commands/x.toml, line 1"), "{said}");
    let broken = library.extensions();
    assert!(matches!(broken.find_broken("x").unwrap().state, ExtensionState::Broken(_)));
    assert!(desk.file_states(&library)[1].starts_with("command x: not used"));
}

#[test]
fn a_missing_name_names_the_closest_match() {
    let desk = LibraryFixture::new();
    desk.write("own/commands/commit-msg.toml", SAY);
    let said = |name: &str| desk.load(false).command(name).unwrap_err().localized().text(Lang::En);
    assert!(said("comit-msg").contains("`commit-msg`"), "{}", said("comit-msg"));
    assert!(said("weather").contains("own/commands"), "{}", said("weather"));
    assert!(said("../x").contains("`../x` is not a usable name"), "{}", said("../x"));
}

#[test]
fn hostile_text_is_made_safe_before_it_is_shown() {
    let desk = LibraryFixture::new();
    desk.write(
        "own/commands/x.toml",
        "description = \"a\\u001b[2Jb\\nc\\u202e\"\nprompt = \"p\"\n",
    );
    let about = desk.load(false).extensions().entries[0].about.clone();
    assert!(!about.contains(['\u{1b}', '\n', '\u{202e}']), "{about:?}");
}

#[test]
fn loaded_files_are_current_until_something_changes() {
    let desk = LibraryFixture::new();
    desk.write("own/commands/x.toml", SAY);
    let before = desk.load(true);
    assert!(before.is_current());
    desk.write("own/commands/x.toml", "prompt = \"new\"\n");
    assert!(!before.is_current());
    let before = desk.load(true);
    assert_eq!(before.command("x").unwrap().prompt, "new");
    desk.skill("work/.claude/skills/late", "This skill should be used when late.");
    assert!(!before.is_current(), "a folder that was not there came");
}

#[test]
fn five_thousand_skills_are_loaded_within_the_limits_and_the_rest_is_named() {
    let desk = LibraryFixture::new();
    for number in 0..5_000 {
        desk.skill(&format!("own/skills/s{number:04}"), "This skill should be used when counted.");
    }
    let library = desk.load(false);
    assert_eq!(library.skills.len(), 2_000);
    assert!(library.cut[0].text(Lang::En).contains("2000 folders"), "{:?}", library.cut);
    let prompt = library.skills.skills_prompt(skill_list::BUDGET);
    assert!(prompt.len() <= skill_list::BUDGET && prompt.contains("more skills are left out"));
    assert!(library.is_current());
}

// Where r9s differs from its own specification, we follow the specification.

#[test]
fn unlike_r9s_a_name_that_leaves_its_folder_is_refused_everywhere() {
    let desk = LibraryFixture::new();
    desk.write("own/secret.toml", "system_prompt = \"x\"\n");
    desk.write("own/commands/in/x.toml", SAY);
    let library = desk.load(true);
    for name in ["../secret", "/etc/passwd", "in/x", "..", "x\0"] {
        assert!(matches!(library.bot(name), Err(LookupError::BadName { .. })), "{name:?}");
        assert!(matches!(library.command(name), Err(LookupError::BadName { .. })), "{name:?}");
        assert!(matches!(bot::find(library.places(), name), Err(LookupError::BadName { .. })));
    }
}

#[test]
fn unlike_r9s_an_unknown_key_is_an_error_and_not_ignored() {
    let desk = LibraryFixture::new();
    desk.write("home/.r9s/commands/x.toml", "prompt = \"p\"\nsystem_prompt = \"q\"\n");
    let said = desk.load(false).command("x").unwrap_err().localized().text(Lang::En);
    assert!(said.contains("line 2, column 1") && said.contains("`system_prompt`"), "{said}");
}

#[test]
fn a_file_says_what_its_command_is_called_and_where_it_works() {
    let desk = LibraryFixture::new();
    let weather = "prompt = \"x\"\nargument_hint = \"<city> [fast|slow]\"\naliases = [\"/wth\"]\ncategory = \"info\"\nreach = \"gateway\"\nbusy = \"refuse\"\npriority = 3\n[arguments]\ncity = \"The city\"\n";
    desk.write("own/commands/weather.toml", weather);
    desk.write("own/commands/gated.toml", "prompt = \"x\"\nsetting = \"display.x\"\n");
    desk.write(
        "own/skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Reads\nargument-hint: <file>\naliases: [p, q]\nreach: terminal\narguments:\n  file: The file\n---\nx\n",
    );
    let extensions = desk.load(false).extensions();
    let traits = |name: &str| extensions.find(name).unwrap().traits.clone();
    let weather = traits("wth");
    assert_eq!((weather.category, weather.priority), (Category::Info, 3));
    assert_eq!((weather.reach, weather.busy), (Availability::GatewayOnly, WhileBusy::Refuse));
    assert_eq!(weather.arguments[0].about, "The city");
    assert_eq!(weather.arguments[1].choices, ["fast", "slow"]);
    assert_eq!(traits("gated").reach, Availability::LocalUnless("display.x".to_owned()));
    assert_eq!(traits("p").reach, Availability::LocalOnly);
    assert_eq!(traits("q").arguments[0].about, "The file");
    assert_eq!(extensions.find("weather").unwrap().about, "x", "not the path of the file");
}

#[test]
fn names_and_aliases_that_clash_are_dropped_and_reported() {
    let desk = LibraryFixture::new();
    desk.write("own/commands/help.toml", SAY);
    desk.write("own/commands/one.toml", "prompt = \"x\"\naliases = [\"two\", \"diff\", \"o\"]\n");
    desk.write("own/commands/two.toml", "prompt = \"x\"\naliases = [\"o\"]\n");
    desk.write("home/.r9s/commands/two.toml", SAY);
    let extensions = desk.load(false).extensions();
    let clashes: Vec<String> = extensions.clashes.iter().map(|say| say.text(Lang::En)).collect();
    for part in ["`/help`", "`/two` not used", "`/two` is taken", "`/diff` is taken", "`/o` is"] {
        assert!(clashes.iter().any(|clash| clash.contains(part)), "{part}: {clashes:?}");
    }
    assert_eq!(clashes.len(), 5, "{clashes:?}");
    assert_eq!(extensions.find("two").unwrap().name, "two");
    assert_eq!(extensions.find("o").unwrap().name, "one");
    assert!(extensions.find("diff").is_none());
}

#[test]
fn a_plugin_brings_commands_and_skills_of_its_own() {
    let desk = LibraryFixture::new();
    desk.write("plug/commands/count.toml", SAY);
    desk.skill("plug/skills/counting", "Counts");
    desk.write("own/commands/other.toml", SAY);
    let paths = Paths::with_root(&desk.path("own"), desk.path("home"));
    let places = SearchPath::new(&paths, None, &[]).with_plugins([desk.path("plug")]);
    let extensions = ExtensionLibrary::load(&places).extensions();
    for name in ["count", "counting"] {
        let from = extensions.find(name).unwrap().from.text(Lang::En);
        assert_eq!(from, "a plugin", "{name}");
    }
    assert!(extensions.find("other").is_some());
}
