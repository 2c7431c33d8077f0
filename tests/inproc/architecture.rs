//! Checks that the source follows the rules stated in `src/lib.rs`: layers, the modules that may do
//! I/O, circles, and the sizes of files and types. What a file names is read from its syntax tree:
//! inline paths, other names and the tokens of macros count like a `use`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use unicode_width::UnicodeWidthChar as _;

mod bindings;
mod doors;
mod modules;
mod syntax;
mod type_sizes;

use bindings::{Bindings, types_of};
use doors::lines_naming;
use modules::{Modules, name_of};
use syn::spanned::Spanned as _;
use syntax::Code;
use type_sizes::{TypeParts, type_sizes};

/// Files that may be longer than [`LONGEST`], because they are tables.
const TABLES: &[&str] = &["src/safety/rules/", "src/core/i18n/", "src/present/commands/table.rs"];
const LONGEST: usize = 600;

/// Paths that may be named only below the folders behind them.
const DOORS: &[(&[&str], &[&str])] = &[
    (&["std::process::Command", "tokio::process", "process_wrap"], &["src/tools/exec"]),
    (&["reqwest"], &["src/model", "src/mcp/"]),
    (&["eventsource_stream"], &["src/model"]),
    (&["rmcp"], &["src/mcp/"]),
    (&["tokio_tungstenite"], &["src/model/net/"]),
    (&["ratatui", "ratatui_image", "crossterm", "tui_textarea"], &["src/tui", "src/app/tests.rs"]),
    (
        &["std::env::var", "std::env::vars", "std::env::var_os", "std::env::vars_os"],
        &["src/config"],
    ),
    (&["std::env::set_var", "std::env::remove_var", "std::env::set_current_dir"], &[]),
    (&["keyring_core", "dbus_secret_service_keyring_store"], &["src/config/key_store.rs"]),
    (&["std::process::exit"], &[]),
    // What is printed is made safe for a terminal there; the screen does it cell by cell.
    (
        &[
            "std::io::stdout",
            "std::io::stderr",
            "rustix::stdio::stdout",
            "rustix::stdio::stderr",
            "tokio::io::stdout",
            "tokio::io::stderr",
        ],
        // The watchdog restores a terminal when nothing else can; the keeper reads pipes.
        &[
            "src/cli/output.rs",
            "src/tui/",
            "src/tools/exec/watchdog.rs",
            "src/tools/exec/keeper.rs",
        ],
    ),
];
const PRINTS: &[&str] = &["print", "println", "eprint", "eprintln"];

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
    "tokio",
    "rustix",
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "std::time::Instant::now",
    "std::time::SystemTime::now",
];

/// Bindings of the program's own types whose name shares no word with the type, of a thousand.
const UNRELATED_PER_MILLE: usize = 90;

const MAX_METHODS: usize = 40;
const MAX_FIELDS: usize = 15;

/// The circles of files by the first of each, and how many files it has: what a parent names of its
/// own modules counts. A circle that gets smaller or goes is changed here; none may grow.
#[rustfmt::skip]
const CIRCLES: &[(&str, usize)] = &[
    ("app::gateway", 5), ("core::prompt::template", 2), ("core::protocol::reply", 3),
    ("gateway::menu", 4), ("present::commands", 8),
    ("safety::repository", 3), ("safety::shell", 2), ("safety::tools", 8),
    ("script::directive", 6), ("session", 2),
    ("session::agent::turn", 2), ("tools::exec", 3),
    ("tools::exec::process_group", 2), ("tools::file", 6),
    ("tools::sandbox", 6), ("tui::theme", 2), ("tui::update", 3),
];

#[derive(Debug)]
struct Source {
    path: String,
    text: String,
    /// Without its unit tests, like the bindings.
    syntax: Code,
    bindings: Bindings,
    types: Vec<String>,
    type_parts: TypeParts,
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

    /// A file of unit tests, which its parent declares for tests alone.
    fn is_test(&self) -> bool {
        self.is_unit_test() || self.path.contains("/tests/")
    }
}

fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(read_sources)
}

fn read_sources() -> Vec<Source> {
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
    let mut paths = Vec::new();
    walk(&root().join("src"), &mut paths);
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let path = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut bindings = Bindings::default();
        bindings.read(&file);
        let syntax = Code::of(&file);
        let type_parts = TypeParts::of(&file);
        Source { path, text, syntax, bindings, types: types_of(&file), type_parts }
    };
    // Half a second for each thread instead of more than one for all.
    std::thread::scope(|scope| {
        let parts: Vec<_> = paths
            .chunks(paths.len().div_ceil(2))
            .map(|part| scope.spawn(move || part.iter().cloned().map(read).collect::<Vec<_>>()))
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
}

fn all_modules() -> Modules<'static> {
    let ours = sources().iter().filter(|source| !source.is_test());
    Modules::new(ours.map(|source| (source.path.as_str(), &source.syntax)))
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
            &["secret", "text"],
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
    let (all, mut wrong) = (all_modules(), Vec::new());
    for source in sources().iter().filter(|source| !source.is_test()) {
        let (member, module) = source.place();
        let Some((_, layers)) = LAYERS.iter().find(|(name, _)| *name == member) else { continue };
        let own = layer(layers, module);
        let name = name_of(&source.path);
        for (line, used) in all.uses(&name, &source.syntax) {
            let (its_member, other) = match used.first().map(String::as_str) {
                Some(top @ ("app" | "cli")) => ("", top),
                Some(top) => (top, used.get(1).map_or("", String::as_str)),
                None => continue,
            };
            if its_member != member {
                continue;
            }
            // Modules of one layer do not know each other, but for those that have no name here.
            let beside = layers[own].contains(&"") || other == module || other.is_empty();
            let place = layer(layers, other);
            if place < own || place == own && !beside {
                wrong.push(format!("{}:{line}: {module} uses {other}", source.path));
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
    for source in sources().iter().filter(|source| !source.is_test()) {
        for (paths, doors) in DOORS {
            if !doors.iter().any(|door| source.path.starts_with(door)) {
                let named = lines_naming(&source.syntax, paths).into_iter();
                wrong.extend(named.map(|(line, path)| format!("{}:{line}: {path}", source.path)));
            }
        }
        for (name, line) in &source.syntax.macros {
            if PRINTS.contains(&name.as_str()) {
                wrong.push(format!("{}:{line}: {name}!", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "past a door:\n{}", wrong.join("\n"));
}

#[test]
fn decision_modules_are_pure() {
    let pure = |source: &&Source| {
        !source.is_test() && PURE.iter().any(|pure| source.path.starts_with(pure))
    };
    let mut wrong = Vec::new();
    for source in sources().iter().filter(pure) {
        let named = lines_naming(&source.syntax, IMPURE).into_iter();
        wrong.extend(named.map(|(line, path)| format!("{}:{line}: {path}", source.path)));
        let waits = source.syntax.waits.iter();
        wrong.extend(waits.map(|line| format!("{}:{line}: async", source.path)));
    }
    assert!(wrong.is_empty(), "not pure:\n{}", wrong.join("\n"));
}

/// A machine that wraps another one answers as that one does, unless it says otherwise.
#[test]
fn what_a_machine_does_not_answer_the_machine_that_it_wraps_does() {
    let source = sources().iter().find(|source| source.path == "src/safety/machine.rs").unwrap();
    let file = syn::parse_file(&source.text).unwrap();
    let machine = file.items.iter().find_map(|item| match item {
        syn::Item::Trait(item) if item.ident == "Machine" => Some(item),
        _ => None,
    });
    for item in &machine.unwrap().items {
        let syn::TraitItem::Fn(function) = item else { continue };
        if let Some(body) = function.default.as_ref().filter(|_| function.sig.ident != "base") {
            let span = body.span();
            let mut lines = source.text.lines().take(span.end().line).skip(span.start().line - 1);
            assert!(lines.any(|line| line.contains("self.base()")), "{}", function.sig.ident);
        }
    }
}

/// Drawing only reads the state of the screen.
#[test]
fn only_update_and_its_helpers_change_the_state_of_the_screen() {
    const MAY: [&str; 8] = [
        "tui/update",
        "tui/screen_settings.rs",
        "tui/submit.rs",
        "tui/pickers.rs",
        "tui/connecting.rs",
        "tui/settings_editor.rs",
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
                let made = line.contains("ClearedStep(") && !line.contains("Event::");
                assert!(!made, "{}:{number} makes a cleared step", source.path);
            }
        }
    }
}

#[test]
fn every_phrase_is_used() {
    let speakers: Vec<(&Source, BTreeSet<&str>)> = sources()
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

#[test]
fn circles_of_files_only_shrink() {
    let found = all_modules().circles();
    let now: Vec<(String, usize)> =
        found.iter().map(|circle| (circle[0].clone(), circle.len())).collect();
    let held: Vec<(String, usize)> =
        CIRCLES.iter().map(|(first, files)| ((*first).to_owned(), *files)).collect();
    let list: Vec<String> =
        found.iter().map(|circle| format!("{} {}", circle.len(), circle.join(" "))).collect();
    assert_eq!(now, held, "the circles now:\n{}", list.join("\n"));
}

#[test]
fn the_share_of_bindings_that_do_not_say_what_they_are_only_falls() {
    let sources = sources().iter().filter(|source| !source.is_test());
    let own: BTreeSet<String> = sources.clone().flat_map(|source| source.types.clone()).collect();
    let (mut all, mut worst) = (0, BTreeMap::<_, usize>::new());
    for source in sources {
        let (count, unrelated) = source.bindings.unrelated(&own);
        all += count;
        for (binding, times) in unrelated {
            *worst.entry(binding).or_default() += times;
        }
    }
    let unrelated: usize = worst.values().sum();
    let per_mille = unrelated * 1000 / all;
    let mut worst: Vec<_> = worst.into_iter().collect();
    worst.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    worst.truncate(40);
    assert!(
        (UNRELATED_PER_MILLE - 5..=UNRELATED_PER_MILLE).contains(&per_mille),
        "{unrelated} of {all} bindings, {per_mille} per mille: if it fell, lower the limit; if it \
         rose, take the noun of the type. Most often: {worst:?}"
    );
}

/// A larger type has more than one job.
#[test]
fn no_type_has_more_than_forty_methods_or_fifteen_fields() {
    let sources = sources().iter().filter(|source| !source.is_test());
    let parts = sources.map(|source| (source.path.as_str(), &source.syntax, &source.type_parts));
    let mut sizes = type_sizes(&all_modules(), parts);
    sizes.retain(|_, size| size.methods > MAX_METHODS || size.fields > MAX_FIELDS);
    assert!(sizes.is_empty(), "too large: {sizes:?}");
}
