//! Checks that the source follows the rules stated in `src/lib.rs`: layers, the modules that may do
//! I/O, and file sizes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use unicode_width::UnicodeWidthChar as _;

/// Files that may be longer than [`LONGEST`], because they are tables.
const TABLES: &[&str] = &["src/safety/rules/", "src/core/i18n/", "src/present/commands/table.rs"];
const LONGEST: usize = 600;

/// Words that may stand only below the folders behind them.
const DOORS: &[(&[&str], &[&str])] = &[
    (&["process::Command", "process_wrap"], &["src/tools/exec"]),
    (&["reqwest", "eventsource_stream"], &["src/model"]),
    (&["tungstenite"], &["src/model/net/"]),
    (&["ratatui", "crossterm", "tui_textarea"], &["src/tui", "src/app/tests.rs"]),
    (&["env::var", "env::vars", "env::var_os"], &["src/config"]),
    (&["keyring::"], &["src/config/key_store.rs"]),
    (&["process::exit"], &[]),
    // What is printed is made safe for a terminal there; the screen does it cell by cell.
    (
        &["io::stdout", "io::stderr", "stdio::stdout", "stdio::stderr"],
        // The watchdog gives a terminal back that nobody else can any more; the keeper's are pipes
        // that it reads.
        &[
            "src/cli/output.rs",
            "src/tui/",
            "src/tools/exec/watchdog.rs",
            "src/tools/exec/keeper.rs",
        ],
    ),
    (&[" print!(", "println!(", " eprint!(", "eprintln!("], TESTS),
];

/// Unit tests in files of their own.
const TESTS: &[&str] =
    &["src/core/prompt/template/tests.rs", "src/store/tests/", "src/tools/exec/tests/"];

/// Modules that only decide: no waiting, no I/O, no clock.
const PURE: &[&str] = &[
    "src/core/text",
    "src/core/protocol/",
    "src/core/i18n/",
    "src/core/prompt/",
    "src/safety/",
    "src/session/context/",
    "src/session/agent/turn",
    "src/tui/update.rs",
];
const IMPURE: &[&str] = &[
    "async fn",
    ".await",
    "tokio::",
    "std::fs",
    "std::net",
    "std::process",
    "Instant::now",
    "SystemTime::now",
    "File::open",
];

#[derive(Debug)]
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The lines before the unit tests.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .take_while(|(_, line)| !line.starts_with("#[cfg(test)]"))
            .map(|(number, line)| (number + 1, line))
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// Its member and the module there: `src/core/text/sgr.rs` is `core` and `text`, and
    /// `src/app/run.rs` the program, `""`, and `app`.
    fn place(&self) -> (&str, &str) {
        let inside = self.path.strip_prefix("src/").unwrap();
        let (first, rest) = inside.split_once('/').unwrap_or((inside, ""));
        let (member, rest) = match first {
            "app" | "cli" => ("", inside),
            name if name.ends_with(".rs") => ("", inside),
            member => (member, rest),
        };
        (member, rest.split('/').next().unwrap().trim_end_matches(".rs"))
    }

    fn is_unit_test(&self) -> bool {
        self.path.ends_with("/tests.rs")
    }
}

fn sources() -> Vec<Source> {
    fn walk(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|end| end == "rs") {
                out.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    walk(&root.join("src"), &mut paths);
    paths.sort();
    paths
        .into_iter()
        .map(|path| Source {
            text: fs::read_to_string(&path).unwrap(),
            path: path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/"),
        })
        .collect()
}

/// The layers inside a member, from the top; `""` is whatever the others do not name. A module uses
/// its own and those of lower layers.
const LAYERS: &[(&str, &[&[&str]])] = &[
    (
        "core",
        &[
            &["deadline", "private_dir", "signals", "terminal_modes"],
            &["prompt"],
            &["protocol"],
            &["i18n"],
            &["text"],
        ],
    ),
    ("model", &[&[""], &["net"]]),
    ("config", &[&["extensions"], &[""]]),
    ("session", &[&[""], &["agent"], &["context"]]),
    ("present", &[&[""], &["commands"]]),
    ("", &[&["app"], &["cli"]]),
];

fn layer(layers: &[&[&str]], module: &str) -> usize {
    let of = |name: &str| layers.iter().position(|layer| layer.contains(&name));
    of(module).or_else(|| of("")).unwrap_or_default()
}

/// The members, from the bottom up, as `Cargo.toml` lists them.
fn members() -> Vec<String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let list = manifest.split_once("members = [").unwrap().1.split_once(']').unwrap().0;
    list.lines()
        .filter_map(|line| line.trim().strip_prefix("\"src/")?.strip_suffix("\","))
        .map(str::to_owned)
        .collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The modules of its crate that a line names: `crate::x`, `use crate::{x, y::z}`.
fn named(line: &str) -> Vec<String> {
    line.split("crate::")
        .skip(1)
        .flat_map(|rest| match rest.strip_prefix('{') {
            Some(list) => list
                .split([',', '}'])
                .map(|part| part.trim().split("::").next().unwrap_or("").to_owned())
                .collect::<Vec<_>>(),
            None => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
                vec![rest.split_at(end.unwrap_or(rest.len())).0.to_owned()]
            }
        })
        .filter(|name| name.starts_with(char::is_lowercase))
        .collect()
}

/// Marks that some terminals draw two columns wide tear a frame apart. Of the files that
/// name them, one says where foreign text may break, the other has lines for terminals
/// that were found to draw them narrow.
#[test]
fn the_screen_draws_no_characters_of_ambiguous_width() {
    let ours = |source: &&Source| {
        source.path.starts_with("src/tui/")
            && !source.path.contains("tests")
            && !["src/tui/text/wrap.rs", "src/tui/symbols.rs"].contains(&source.path.as_str())
    };
    for source in sources().iter().filter(ours) {
        for (number, line) in source.code() {
            for mark in line.chars().filter(|c| !c.is_ascii()) {
                let same = mark.width() == mark.width_cjk();
                assert!(same, "{}:{number}: `{mark}`: take one of `glyph`", source.path);
            }
        }
    }
}

#[test]
fn a_module_uses_only_lower_layers() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| !source.is_unit_test()) {
        let (member, module) = source.place();
        let Some((_, layers)) = LAYERS.iter().find(|(name, _)| *name == member) else { continue };
        for (number, line) in source.code() {
            let own = layer(layers, module);
            for other in named(line) {
                // Modules of one layer do not know each other, but for those that have no name here.
                let beside = layers[own].contains(&"") || other == module;
                let place = layer(layers, &other);
                if place < own || place == own && !beside {
                    wrong.push(format!("{}:{number}: {module} uses {other}", source.path));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "not on a lower layer:\n{}", wrong.join("\n"));
}

#[test]
fn a_member_uses_only_members_below_it() {
    let members = members();
    assert!(members.len() > 10, "Cargo.toml lists the members");
    for (place, member) in members.iter().enumerate() {
        let path = root().join("src").join(member).join("Cargo.toml");
        let manifest = fs::read_to_string(&path).unwrap();
        let used = manifest.split_once("[dependencies]").unwrap().1;
        let used = used.split("[dev-dependencies]").next().unwrap();
        assert!(!used.contains("test-support"), "{member} is built with what only tests may have");
        for name in used.lines().filter_map(|line| line.strip_prefix("avocet-")) {
            let name = name.split(['.', ' ']).next().unwrap();
            assert!(members[..place].iter().any(|below| below == name), "{member} uses {name}");
        }
    }
}

#[test]
fn every_file_has_a_module_comment() {
    for source in sources() {
        if !source.is_unit_test() {
            assert!(source.text.starts_with("//!"), "{} has no `//!`", source.path);
        }
    }
}

#[test]
fn no_file_exceeds_the_line_limit() {
    for source in sources() {
        let table = TABLES.iter().any(|table| source.path.starts_with(table));
        let lines = source.text.lines().count();
        assert!(table || lines <= LONGEST, "{} has {lines} lines", source.path);
    }
}

#[test]
fn each_kind_of_io_is_confined_to_its_modules() {
    let mut wrong = Vec::new();
    for source in sources() {
        for (words, doors) in DOORS {
            if doors.iter().any(|door| source.path.starts_with(door)) {
                continue;
            }
            for (number, line) in source.code() {
                if words.iter().any(|word| line.contains(word)) {
                    wrong.push(format!("{}:{number}: {}", source.path, line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "past a door:\n{}", wrong.join("\n"));
}

#[test]
fn decision_modules_are_pure() {
    let mut wrong = Vec::new();
    for source in sources() {
        if PURE.iter().any(|pure| source.path.starts_with(pure)) {
            for (number, line) in source.code() {
                if IMPURE.iter().any(|word| line.contains(word)) {
                    wrong.push(format!("{}:{number}: {}", source.path, line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "not pure:\n{}", wrong.join("\n"));
}

/// What a trait answers by itself is easily forgotten where one world wraps another.
#[test]
fn a_machine_wrapper_forwards_every_trait_method() {
    let sources = sources();
    let text = |path: &str| &sources.iter().find(|source| source.path == path).unwrap().text;
    let functions = |text: &str, block: &str| -> BTreeSet<String> {
        let begins = text.find(block).unwrap();
        let block = text.split_at(begins).1;
        let block = block.split_at(block.find("\n}\n").unwrap()).0;
        let heads = block.lines().filter_map(|line| line.trim().strip_prefix("fn "));
        heads.map(|head| head.split('(').next().unwrap().to_owned()).collect()
    };
    let asked = functions(text("src/safety/machine.rs"), "pub trait Machine");
    for (path, block) in [
        ("src/session/skill_tool.rs", "impl Machine for MachineWithSkills"),
        ("src/safety/snapshot.rs", "impl Machine for MachineSnapshot"),
    ] {
        assert_eq!(asked, functions(text(path), block), "{path}");
    }
}

/// Drawing only reads the state of the screen.
#[test]
fn only_update_and_its_helpers_change_the_state_of_the_screen() {
    const MAY: [&str; 7] = [
        "tui/update",
        "tui/screen_settings.rs",
        "tui/submit.rs",
        "tui/pickers.rs",
        "tui/connecting.rs",
        "tui/title.rs",
        "tui/run.rs",
    ];
    for source in sources().iter().filter(|source| source.path.starts_with("src/tui/")) {
        if !MAY.iter().any(|may| source.path.starts_with(&format!("src/{may}"))) {
            for (number, line) in source.code() {
                assert!(!line.contains("&mut State"), "{}:{number} {line}", source.path);
            }
        }
    }
}

#[test]
fn only_safety_creates_a_cleared_step() {
    for source in sources() {
        if !source.path.starts_with("src/safety/") {
            for (number, line) in source.code() {
                let made = line.contains("Cleared(") && !line.contains("Event::");
                assert!(!made, "{}:{number} makes a cleared step", source.path);
            }
        }
    }
}

#[test]
fn every_phrase_is_used() {
    let sources = sources();
    let speakers: Vec<(&Source, BTreeSet<&str>)> = sources
        .iter()
        .filter(|source| {
            let area =
                source.path.starts_with("src/core/i18n/") && source.path != "src/core/i18n/mod.rs";
            !area && !source.is_unit_test()
        })
        .map(|source| (source, names(&source.text)))
        .collect();
    let silent = |key: &str| {
        let (area, name) = key.split_once('.').unwrap();
        !speakers.iter().any(|(source, names)| names.contains(name) && source.text.contains(area))
    };
    let silent: Vec<&str> =
        avocet::i18n::all().map(|word| word.key).filter(|key| silent(key)).collect();
    assert!(silent.is_empty(), "nothing says these: {}", silent.join(", "));
}

fn names(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect()
}

/// One file of `src` as a module: what it imports, and the names in the rest of it.
#[derive(Debug, Default)]
struct Module {
    imports: Vec<Import>,
    names: BTreeSet<String>,
}

#[derive(Debug)]
struct Import {
    path: Vec<String>,
    name: String,
    passed_on: bool,
}

type Modules = BTreeMap<Vec<String>, Module>;

fn modules(sources: &[(String, String)]) -> Modules {
    let files = sources.iter().filter(|(path, _)| !path.contains("tests"));
    files
        .map(|(path, text)| {
            let path = path.strip_prefix("src/").unwrap().trim_end_matches(".rs");
            let parts = path.split('/').filter(|part| !["mod", "lib"].contains(part));
            (parts.map(str::to_owned).collect(), module(text))
        })
        .collect()
}

fn module(text: &str) -> Module {
    let mut module = Module::default();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let code = line.trim_start();
        if line.starts_with("#[cfg(test)]") {
            // To the end of the item below.
            let item = lines.find(|line| !line.starts_with("#[")).unwrap_or_default();
            if !item.ends_with([';', '}']) {
                lines.find(|line| ["}", ");", "];"].contains(line));
            }
            continue;
        }
        let visible = code.split_once("use ").filter(|(before, _)| {
            before.is_empty() || before.starts_with("pub") && before.ends_with([' ', ')'])
        });
        let Some((before, tree)) = visible.filter(|_| !code.starts_with("//")) else {
            let code = code.split("//").next().unwrap_or_default();
            module.names.extend(names(code).into_iter().map(str::to_owned));
            continue;
        };
        let mut tree = tree.to_owned();
        while !tree.ends_with(';') {
            tree.push_str(lines.next().unwrap_or(";").trim());
        }
        for (path, name) in expand(tree.trim_end_matches(';')) {
            module.imports.push(Import { path, name, passed_on: !before.is_empty() });
        }
    }
    module
}

/// `a::{b, c as d}` is `a::b` under the name `b` and `a::c` under the name `d`.
fn expand(tree: &str) -> Vec<(Vec<String>, String)> {
    let words = |path: &str| path.split("::").map(|part| part.trim().to_owned()).collect();
    let Some((before, list)) = tree.split_once('{') else {
        let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
        let mut path: Vec<String> = words(path);
        if path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let name =
            if name.is_empty() { path.last().cloned().unwrap_or_default() } else { name.into() };
        return vec![(path, name)];
    };
    let list = list.trim().strip_suffix('}').unwrap();
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in list.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            c => parts.last_mut().unwrap().push(c),
        }
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| expand(&format!("{before}{}", part.trim()))).collect()
}

/// The module that defines what `path` names in `from`, also through what others pass on.
fn defined_in(
    modules: &Modules,
    from: &[String],
    path: &[String],
    depth: usize,
) -> Option<Vec<String>> {
    let mut at = from.to_vec();
    let mut rest = path;
    while let Some((head, tail)) = rest.split_first() {
        match head.as_str() {
            "crate" => at.truncate(usize::from(
                from.first().is_some_and(|first| !["app", "cli"].contains(&first.as_str())),
            )),
            "super" => drop(at.pop()),
            "self" => {}
            member => match member.strip_prefix("avocet_") {
                Some(member) => at = vec![member.to_owned()],
                None => break,
            },
        }
        rest = tail;
    }
    let inside = rest
        .first()
        .is_some_and(|head| modules.contains_key(&[&*at, std::slice::from_ref(head)].concat()));
    if rest.len() == path.len() && !inside {
        return None;
    }
    while let Some((head, tail)) = rest.split_first() {
        let below = [&*at, std::slice::from_ref(head)].concat();
        if !modules.contains_key(&below) {
            break;
        }
        (at, rest) = (below, tail);
    }
    let passed = rest.split_first().filter(|_| depth < 8).and_then(|(head, tail)| {
        let import = modules.get(&at)?.imports.iter().find(|import| import.name == *head)?;
        defined_in(modules, &at, &[&*import.path, tail].concat(), depth + 1)
    });
    passed.or(Some(at))
}

/// Files that import each other, directly or through others.
fn circles(sources: &[(String, String)]) -> Vec<Vec<String>> {
    let modules = modules(sources);
    let places: BTreeMap<&Vec<String>, usize> = modules.keys().zip(0..).collect();
    let mut reached = vec![vec![false; modules.len()]; modules.len()];
    let edges: Vec<BTreeSet<usize>> = modules
        .iter()
        .map(|(from, module)| {
            let used = |import: &&Import| !import.passed_on || module.names.contains(&import.name);
            let to = module.imports.iter().filter(used);
            let to = to.filter_map(|import| defined_in(&modules, from, &import.path, 0));
            to.filter(|to| to != from && !to.is_empty())
                .filter_map(|to| places.get(&to).copied())
                .collect()
        })
        .collect();
    for (from, reached) in reached.iter_mut().enumerate() {
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            open.extend(edges[at].iter().filter(|to| !std::mem::replace(&mut reached[**to], true)));
        }
    }
    let mut found: BTreeSet<Vec<String>> = BTreeSet::new();
    for (from, forth) in reached.iter().enumerate() {
        let circle: Vec<String> = modules
            .keys()
            .enumerate()
            .filter(|(to, _)| forth[*to] && reached[*to][from])
            .map(|(_, name)| name.join("::"))
            .collect();
        found.extend((circle.len() > 1).then_some(circle));
    }
    found.into_iter().collect()
}

#[test]
fn no_imports_run_in_circles() {
    let sources: Vec<_> = sources().into_iter().map(|source| (source.path, source.text)).collect();
    let list: Vec<String> = circles(&sources).iter().map(|circle| circle.join(" ")).collect();
    assert!(list.is_empty(), "files import each other:\n{}", list.join("\n"));
}

#[test]
fn a_circle_of_imports_is_found_through_what_a_module_passes_on() {
    let file = |path: &str, text: &str| (format!("src/{path}"), text.to_owned());
    let mut sources = vec![
        file("m/lib.rs", "mod a;\nmod b;"),
        file("m/a/mod.rs", "mod deep;\npub use deep::Deep;\nuse crate::b::Other;"),
        file(
            "m/a/deep.rs",
            "pub struct Deep;\n#[cfg(test)]\nmod tests {\n    use crate::b::Other;\n}\n",
        ),
        file("m/b.rs", "use super::a::{self as first, Deep};\npub struct Other;"),
    ];
    assert_eq!(circles(&sources), [["m::a", "m::b"]]);
    sources[3].1 = "use super::a::{\n    Deep,\n};\npub struct Other;".to_owned();
    assert_eq!(circles(&sources), Vec::<Vec<String>>::new());
    sources[2].1.push_str("use crate::b::Other;\n");
    assert_eq!(circles(&sources), [["m::a::deep", "m::b"]]);
}
