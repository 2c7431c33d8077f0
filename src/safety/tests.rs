use std::collections::BTreeMap;

use proptest::prelude::*;

use super::policy::Rule;
use super::*;

/// A machine of the imagination: `/w` is the workspace, `/h` the home.
#[derive(Default)]
struct Fake {
    links: BTreeMap<&'static str, &'static str>,
}

impl World for Fake {
    fn real(&self, path: &Path) -> PathBuf {
        let path = paths::normal(path);
        for (link, target) in &self.links {
            if let Ok(rest) = path.strip_prefix(link) {
                return paths::normal(&Path::new(target).join(rest));
            }
        }
        path
    }

    fn kind(&self, path: &Path) -> Kind {
        if path.starts_with("/missing") { Kind::Missing } else { Kind::Folder }
    }

    fn program(&self, name: &str) -> Option<Program> {
        let path = match Path::new(name).strip_prefix("/bin") {
            Ok(_) => PathBuf::from(name),
            Err(_) if name.contains('/') => return None,
            Err(_) => Path::new("/bin").join(name),
        };
        Some(Program { path, device: 1, inode: 1, modified: 1 })
    }
}

fn world() -> Fake {
    let links = [
        ("/w/link_ssh", "/h/.ssh"),
        ("/w/link_key", "/h/.ssh/id_rsa"),
        ("/w/notes_link.txt", "/outside/secret.txt"),
        ("/w/link_etc", "/etc"),
    ];
    Fake { links: links.into_iter().collect() }
}

fn place() -> Place {
    Place { workspace: "/w".into(), home: "/h".into(), cwd: "/w".into(), trusted: true }
}

fn step(program: &str, args: &[&str]) -> Step {
    let work = Work::exec(program, args);
    Step { id: String::new(), work, requires: Requires::default(), cwd: None }
}

fn judged_with(step: Step, policy: &Policy, place: &Place) -> Verdict {
    assess(step, Scene { policy, place, world: &world() })
}

fn verdict(program: &str, args: &[&str]) -> Verdict {
    judged_with(step(program, args), &Policy::default(), &place())
}

fn risk(program: &str, args: &[&str]) -> Risk {
    verdict(program, args).judged().risk.clone()
}

fn tier(program: &str, args: &[&str]) -> Tier {
    risk(program, args).tier
}

/// The words of an example; single quotes keep blanks together.
fn words_of(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            out.push(part.to_owned());
        } else {
            out.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    out
}

fn line(line: &str) -> Risk {
    let words = words_of(line);
    let (program, args) = words.split_first().unwrap();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    risk(program, &args)
}

fn check_examples(spec: &table::Spec, wrong: &mut Vec<String>) {
    for keeps in spec.examples.keeps {
        let found = line(keeps);
        if found.tier != spec.tier {
            wrong.push(format!(
                "keeps {:?}: `{keeps}` is {:?} by {}",
                spec.tier, found.tier, found.rule
            ));
        }
    }
    for raised in spec.examples.raised {
        let found = line(raised);
        if found.tier <= spec.tier {
            wrong.push(format!("raised: `{raised}` is only {:?} by {}", found.tier, found.rule));
        }
    }
    if spec.tier == Tier::L0 && spec.examples.keeps.is_empty() {
        wrong.push(format!("`{}` has no example", spec.names));
    }
    spec.subs.iter().for_each(|sub| check_examples(sub, wrong));
}

#[test]
fn every_row_keeps_its_examples() {
    let mut wrong = Vec::new();
    rules::all().for_each(|spec| check_examples(spec, &mut wrong));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_name_stands_in_two_rows() {
    fn names(specs: &[&table::Spec], wrong: &mut Vec<String>) {
        let mut seen = std::collections::BTreeSet::new();
        for spec in specs {
            for name in spec.names.split_ascii_whitespace() {
                if !seen.insert(name) {
                    wrong.push(name.to_owned());
                }
            }
            names(&spec.subs.iter().collect::<Vec<_>>(), wrong);
        }
    }
    let mut wrong = Vec::new();
    names(&rules::all().collect::<Vec<_>>(), &mut wrong);
    assert!(wrong.is_empty(), "{wrong:?}");
}
