//! Checks that every file of `tests` belongs to one of the targets: one that no `mod` reaches is
//! never compiled, and its tests pass by never running. And that no test ends early without saying
//! that it did.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, ExprAsync, ExprClosure, ExprLit, ExprReturn, Item, ItemFn, ItemMod, Lit, Meta,
};

const TARGETS: [&str; 5] = ["cli", "gateway", "inproc", "screen", "system"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize().unwrap()
}

fn rust_files(folder: &Path) -> BTreeSet<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                return rust_files(&path);
            }
            let is_rust = path.extension().is_some_and(|end| end == "rs");
            BTreeSet::from_iter(is_rust.then_some(path))
        })
        .collect()
}

/// The `#[path = "…"]` of a module.
fn path_attribute(module: &ItemMod) -> Option<String> {
    module.attrs.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}

/// Adds a file and all that its modules name. `below` is where a `mod name;` in it looks.
fn reach(file: &Path, below: &Path, reached: &mut BTreeSet<PathBuf>) {
    let file = file.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let text = fs::read_to_string(&file).unwrap();
    let tree = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    reach_modules(&tree.items, file.parent().unwrap(), below, reached);
    reached.insert(file);
}

/// `beside` is where a `#[path]` of these items looks, `below` where their `mod name;` looks.
fn reach_modules(items: &[Item], beside: &Path, below: &Path, reached: &mut BTreeSet<PathBuf>) {
    let modules = items.iter().filter_map(|item| match item {
        Item::Mod(module) => Some(module),
        _ => None,
    });
    for module in modules {
        let name = module.ident.to_string();
        match (&module.content, path_attribute(module)) {
            (Some((_, inside)), path) => {
                let folder = below.join(path.unwrap_or(name));
                reach_modules(inside, &folder, &folder, reached);
            }
            (None, Some(path)) => {
                let file = beside.join(path);
                reach(&file, file.parent().unwrap(), reached);
            }
            (None, None) => {
                let (single, folder) = (below.join(format!("{name}.rs")), below.join(&name));
                let file = if single.exists() { single } else { folder.join("mod.rs") };
                reach(&file, &folder, reached);
            }
        }
    }
}

#[test]
fn every_file_of_tests_is_in_a_target() {
    let tests = root().join("tests");
    let mut reached = BTreeSet::new();
    for target in TARGETS {
        let folder = tests.join(target);
        reach(&folder.join("main.rs"), &folder, &mut reached);
    }
    let files = rust_files(&tests);
    assert!(files.len() > 80, "{} files", files.len());
    let lost: Vec<_> = files.difference(&reached).collect();
    assert!(lost.is_empty(), "no `mod` reaches these: {lost:#?}");
}

#[test]
fn there_are_no_targets_beside_the_five() {
    let tests = root().join("tests");
    let is_target = |path: &Path| {
        path.extension().is_some_and(|end| end == "rs") || path.join("main.rs").exists()
    };
    let paths = fs::read_dir(&tests).unwrap().map(|entry| entry.unwrap().path());
    let found: BTreeSet<String> = paths
        .filter(|path| is_target(path))
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(found, TARGETS.map(str::to_owned).into());
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(!manifest.contains("[[test]]"), "a target of tests is a folder with a `main.rs`");
}

/// The gate builds for tests alone: what it has built is what a release is made of.
#[test]
fn no_code_knows_whether_it_is_built_for_release() {
    for file in rust_files(&root().join("src")) {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("debug_assertions"), "{}", file.display());
    }
}

#[test]
fn a_file_that_no_module_names_is_found() {
    let folder = crate::support::temp_dir();
    let root = folder.path().canonicalize().unwrap();
    let write = |name: &str, text: &str| {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), text).unwrap();
    };
    write("main.rs", "#[path = \"other/shared.rs\"] mod shared; mod a { mod deep; }\nmod b;");
    write("other/shared.rs", "mod beside; // mod lost;");
    write("other/beside.rs", "");
    write("a/deep.rs", "");
    write("b.rs", "#[cfg(unix)] mod c;\n#[path = \"b/named.rs\"] mod d;");
    write("b/c/mod.rs", "");
    write("b/named.rs", "");
    write("lost.rs", "");
    let mut reached = BTreeSet::new();
    reach(&root.join("main.rs"), &root, &mut reached);
    let lost: Vec<_> = rust_files(&root).difference(&reached).cloned().collect();
    assert_eq!(lost, [root.join("lost.rs")]);
}

/// The tests of a file that return before their end without [`crate::support::skip::skip`].
#[derive(Default)]
struct EarlyReturns {
    /// The test whose own body is read.
    test: Option<String>,
    tests: usize,
    found: Vec<String>,
}

fn is_test(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "test")
}

impl EarlyReturns {
    /// What a part does whose `return` is not the test's.
    fn inside(&mut self, test: Option<String>, part: impl FnOnce(&mut EarlyReturns)) {
        let outer = std::mem::replace(&mut self.test, test);
        part(self);
        self.test = outer;
    }
}

impl<'a> Visit<'a> for EarlyReturns {
    fn visit_item_fn(&mut self, function: &'a ItemFn) {
        let is_test = function.attrs.iter().any(is_test);
        self.tests += usize::from(is_test);
        let test = is_test.then(|| function.sig.ident.to_string());
        self.inside(test, |own| visit::visit_item_fn(own, function));
    }

    fn visit_expr_closure(&mut self, closure: &'a ExprClosure) {
        self.inside(None, |own| visit::visit_expr_closure(own, closure));
    }

    fn visit_expr_async(&mut self, block: &'a ExprAsync) {
        self.inside(None, |own| visit::visit_expr_async(own, block));
    }

    fn visit_expr_return(&mut self, expression: &'a ExprReturn) {
        let skips = match expression.expr.as_deref() {
            Some(Expr::Call(call)) => match &*call.func {
                Expr::Path(path) => path.path.segments.last().is_some_and(|s| s.ident == "skip"),
                _ => false,
            },
            _ => false,
        };
        let test = self.test.clone().filter(|_| !skips);
        self.found.extend(test);
        visit::visit_expr_return(self, expression);
    }
}

fn early_returns(text: &str) -> EarlyReturns {
    let mut early = EarlyReturns::default();
    early.visit_file(&syn::parse_file(text).unwrap());
    early
}

#[test]
fn no_test_ends_early_without_saying_what_is_not_run() {
    let (mut tests, mut found) = (0, Vec::new());
    for path in rust_files(&root().join("tests")).into_iter().chain(rust_files(&root().join("src")))
    {
        let text = fs::read_to_string(&path).unwrap();
        if text.contains("test]") || text.contains("::test(") {
            let early = early_returns(&text);
            tests += early.tests;
            let place = path.strip_prefix(root()).unwrap().display().to_string();
            found.extend(early.found.into_iter().map(|test| format!("{place}: {test}")));
        }
    }
    assert!(tests > 2_500, "{tests} tests were read");
    assert!(found.is_empty(), "say it with `support::skip::skip`:\n{}", found.join("\n"));
}

#[test]
fn a_return_of_a_test_is_told_from_those_of_what_is_inside_it() {
    let text = "
        #[test] fn silent() { let Some(_) = here() else { return }; }
        #[tokio::test(flavor = \"multi_thread\")] async fn nested() { if true { for _ in 0..2 { return; } } }
        #[test] fn prints() { return println!(\"SKIPPED\"); }
        #[test] fn says() { if no() { return skip(Reason::Root); } return super::skip::skip(Reason::Root); }
        #[test] fn inner() { let f = || { return; }; fn g() { return; } let a = async { return; }; }
        fn helper() { return; }
    ";
    let early = early_returns(text);
    assert_eq!(
        (early.tests, early.found),
        (5, ["silent", "nested", "prints"].map(str::to_owned).into())
    );
}

/// The tests of a file that `#[ignore = "strain: …"]` leaves out.
fn strain_tests(text: &str) -> Vec<String> {
    let file = syn::parse_file(text).unwrap();
    let functions = file.items.iter().filter_map(|item| match item {
        Item::Fn(function) => Some(function),
        _ => None,
    });
    let is_strain = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("ignore") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => text.value().starts_with("strain"),
            _ => false,
        },
        _ => false,
    };
    let found = functions.filter(|function| function.attrs.iter().any(is_strain));
    found.map(|function| function.sig.ident.to_string()).collect()
}

#[test]
fn the_script_for_the_group_strain_runs_all_of_it() {
    let mut tests = BTreeSet::new();
    for target in TARGETS {
        let folder = root().join("tests").join(target);
        for path in rust_files(&folder) {
            let module = path.strip_prefix(&folder).unwrap().with_extension("");
            let module = module.to_str().unwrap().replace('/', "::");
            let names = strain_tests(&fs::read_to_string(&path).unwrap());
            tests.extend(names.iter().map(|name| format!("{target} {module}::{name}")));
        }
    }
    assert!(!tests.is_empty());
    let script = fs::read_to_string(root().join("tests/strain.sh")).unwrap();
    let run = script.lines().filter_map(|line| line.strip_prefix("strain "));
    assert_eq!(run.map(str::to_owned).collect::<BTreeSet<_>>(), tests);
}
