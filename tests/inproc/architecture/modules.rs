//! Which file a path leads to, and the circles between files. `avocet_tui` is the crate in `src/tui`;
//! `src/app` and `src/cli` belong to the crate in `src`.

use std::collections::{BTreeMap, BTreeSet};

use super::syntax::{Code, NamedPath};

type Name = Vec<String>;

/// How often a name may be passed on by `pub use`.
const MAX_REEXPORTS: usize = 8;

pub struct Modules<'a> {
    files: BTreeMap<Name, &'a Code>,
    members: BTreeSet<&'a str>,
}

/// `src/tui/mod.rs` is `tui`, `src/tui/view.rs` is `tui::view`, `src/lib.rs` is the root.
pub fn name_of(path: &str) -> Name {
    let path = path.trim_start_matches("src/").trim_end_matches(".rs");
    path.split('/')
        .filter(|part| !["mod", "lib", "main"].contains(part))
        .map(str::to_owned)
        .collect()
}

impl<'a> Modules<'a> {
    pub fn new(files: impl IntoIterator<Item = (&'a str, &'a Code)>) -> Modules<'a> {
        let mut modules = Modules { files: BTreeMap::new(), members: BTreeSet::new() };
        for (path, code) in files {
            let member = path.strip_prefix("src/").and_then(|path| path.strip_suffix("/lib.rs"));
            modules.members.extend(member);
            modules.files.entry(name_of(path)).or_insert(code);
        }
        modules
    }

    fn root_of(&self, module: &[String]) -> Name {
        let top = module.first().filter(|top| self.members.contains(top.as_str()));
        top.cloned().into_iter().collect()
    }

    /// The file that defines what a path of `from` names, through what others pass on.
    pub fn defines(&self, from: &[String], path: &NamedPath) -> Option<Name> {
        self.resolve(from, &path.inside, &path.segments, MAX_REEXPORTS)
    }

    fn resolve(
        &self,
        from: &[String],
        inside: &[String],
        path: &[String],
        depth: usize,
    ) -> Option<Name> {
        // A module inside a file is part of it, but `super` counts it.
        let mut at = [from, inside].concat();
        let mut rest = path;
        let head = rest.first()?;
        if let Some(member) = head.strip_prefix("avocet_") {
            (at, rest) = (vec![member.to_owned()], &rest[1..]);
        } else {
            while let Some((head, tail)) = rest.split_first() {
                match head.as_str() {
                    "crate" => at = self.root_of(from),
                    "super" => drop(at.pop()),
                    "self" => {}
                    _ => break,
                }
                rest = tail;
            }
        }
        let is_below = rest.first().is_some_and(|head| self.files.contains_key(&below(&at, head)));
        if rest.len() == path.len() && !is_below {
            return None;
        }
        while let Some((head, tail)) = rest.split_first() {
            let deeper = below(&at, head);
            if !self.files.contains_key(&deeper) {
                break;
            }
            (at, rest) = (deeper, tail);
        }
        while !at.is_empty() && !self.files.contains_key(&at) {
            at.pop();
        }
        let passed_on = rest.split_first().filter(|_| depth > 0).and_then(|(head, tail)| {
            let code = self.files.get(&at)?;
            let import = code.imported_as(head).find(|import| import.is_public)?;
            let target = [&*import.path.segments, tail].concat();
            self.resolve(&at, &import.path.inside, &target, depth - 1)
        });
        passed_on.or(Some(at))
    }

    /// The files that a file uses, with the lines where it does.
    pub fn uses(&self, name: &Name, code: &Code) -> BTreeSet<(usize, Name)> {
        let imports = code.imports.iter().filter(|import| !import.is_public);
        let imports = imports.map(|import| import.path.clone());
        let paths =
            code.paths.iter().filter(|path| path.segments.len() > 1 || is_import(code, path));
        let paths = paths.map(|path| NamedPath { segments: code.expand(path), ..path.clone() });
        // Each of them once, where it comes first: most are named many times.
        let mut seen = BTreeSet::new();
        imports
            .chain(paths)
            .filter(|path| seen.insert((path.inside.clone(), path.segments.clone())))
            .filter_map(|path| Some((path.line, self.defines(name, &path)?)))
            .filter(|(_, to)| to != name && !to.is_empty())
            .collect()
    }

    fn used_by(&self, name: &Name, code: &Code) -> BTreeSet<Name> {
        self.uses(name, code).into_iter().map(|(_, to)| to).collect()
    }

    /// Files that use each other, directly or through others.
    pub fn circles(&self) -> BTreeSet<Vec<String>> {
        let edges: BTreeMap<&Name, BTreeSet<Name>> =
            self.files.iter().map(|(name, code)| (name, self.used_by(name, code))).collect();
        let reached: BTreeMap<&Name, BTreeSet<&Name>> = edges
            .keys()
            .map(|from| {
                let (mut seen, mut open) = (BTreeSet::new(), vec![*from]);
                while let Some(at) = open.pop() {
                    let next = edges.get(at).into_iter().flatten();
                    open.extend(next.filter(|to| seen.insert(*to)));
                }
                (*from, seen)
            })
            .collect();
        let circle = |name: &Name| -> Vec<String> {
            let others = reached[name].iter().filter(|other| reached[**other].contains(name));
            others.map(|other| other.join("::")).collect()
        };
        edges.keys().map(|name| circle(name)).filter(|circle| circle.len() > 1).collect()
    }
}

/// A name by itself leads elsewhere only if it was imported.
fn is_import(code: &Code, path: &NamedPath) -> bool {
    path.segments.first().is_some_and(|name| code.imported_as(name).next().is_some())
}

fn below(at: &[String], head: &String) -> Name {
    [at, std::slice::from_ref(head)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let codes: Vec<(&str, Code)> = files
            .iter()
            .map(|(path, text)| (*path, Code::of(&syn::parse_file(text).unwrap())))
            .collect();
        let modules = Modules::new(codes.iter().map(|(path, code)| (*path, code)));
        modules.circles().into_iter().collect()
    }

    #[test]
    fn a_circle_through_a_path_without_an_import_is_found() {
        let files = [
            ("src/lib.rs", "mod a;"),
            ("src/a/mod.rs", "mod b; mod c;"),
            ("src/a/b.rs", "pub fn f() { super::c::g() }"),
            ("src/a/c.rs", "pub fn g() { crate::a::b::f() }"),
        ];
        assert_eq!(circles(&files), [["a::b", "a::c"]]);
    }

    #[test]
    fn a_circle_through_a_macro_and_a_reexport_is_found() {
        let files = [
            ("src/a/mod.rs", "mod b; mod c; pub use b::f;"),
            ("src/a/b.rs", "pub fn f() { println!(\"{}\", super::c::g()) }"),
            ("src/a/c.rs", "use super::f; pub fn g() { f() }"),
        ];
        assert_eq!(circles(&files), [["a::b", "a::c"]]);
    }

    #[test]
    fn unit_tests_make_no_circle() {
        let files = [
            ("src/a/b.rs", "pub fn f() { super::c::g() }"),
            (
                "src/a/c.rs",
                "pub fn g() {}\n#[cfg(test)]\nmod tests { use crate::a::b::f; }\nfn h() {}",
            ),
        ];
        assert_eq!(circles(&files), Vec::<Vec<String>>::new());
    }

    #[test]
    fn who_may_see_an_item_makes_no_circle() {
        let files = [
            ("src/a/mod.rs", "mod b; pub fn f() { b::g() }"),
            ("src/a/b.rs", "pub(in crate::a) fn g() {}"),
        ];
        assert_eq!(circles(&files), Vec::<Vec<String>>::new());
    }

    #[test]
    fn a_circle_inside_a_member_of_a_workspace_is_found() {
        let files = [
            ("src/core/lib.rs", "pub mod protocol; pub mod text;"),
            ("src/core/protocol.rs", "pub fn f() { crate::text::g() }"),
            ("src/core/text.rs", "pub fn g() { avocet_core::protocol::f() }"),
        ];
        assert_eq!(circles(&files), [["core::protocol", "core::text"]]);
    }
}
