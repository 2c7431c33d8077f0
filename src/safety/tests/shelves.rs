//! Tests that programs from a project or a toolchain manager are asked about as what they
//! are.

use super::*;

/// A machine where `/w/.venv/bin` is a Python environment, and where it is activated.
#[derive(Default)]
struct VenvMachine {
    activated: bool,
}

impl Machine for VenvMachine {
    fn resolve(&self, path: &Path) -> PathBuf {
        let path = paths::normalize(path);
        if path == Path::new("/w/.venv/bin/python") { "/usr/bin/python3".into() } else { path }
    }

    fn kind(&self, _: &Path) -> PathKind {
        PathKind::Folder
    }

    fn program(&self, name: &str) -> Option<Program> {
        Fake::default().program(name)
    }

    fn own_program(&self, name: &str) -> Option<OwnProgram> {
        let path = match Path::new(name).strip_prefix("/w/.venv/bin") {
            Ok(_) => PathBuf::from(name),
            Err(_) if self.activated && ["python", "pytest", "ls", "rm"].contains(&name) => {
                Path::new("/w/.venv/bin").join(name)
            }
            Err(_) => return None,
        };
        let program = Program { path, ..self.program("python")? };
        Some(OwnProgram { program, folder: "/w/.venv/bin".into(), kind: Shelf::Venv })
    }

    fn read(&self, _: &Path, _: usize) -> Contents {
        Contents::Missing
    }
}

fn assess_in(world: &VenvMachine, program: &str, args: &[&str]) -> Judgement {
    let (policy, place) = (Policy::default(), place());
    let policy_cx = PolicyContext { policy: &policy, place: &place, world };
    assess(step(program, args), policy_cx).judgement().clone()
}

#[test]
fn a_program_of_an_environment_asks_and_runs_as_itself() {
    let world = VenvMachine::default();
    for (program, args) in [
        (".venv/bin/python", &["-m", "pytest"][..]),
        ("./.venv/bin/python", &["--version"]),
        ("/w/.venv/bin/pytest", &["-q"]),
        (".venv/bin/ruff-of-nobody", &["check"]),
        (".venv/bin/ls", &[]),
    ] {
        let judged = assess_in(&world, program, args);
        assert_eq!(judged.risk.tier, Tier::L1, "{program}: {:?}", judged.risk.reasons);
        assert!(rules_of(&judged.risk).contains(&"program.folder"), "{program}");
        let path = judged.program.as_ref().map(|program| program.path.clone()).unwrap();
        assert!(path.starts_with("/w/.venv/bin"), "{program}: {path:?}");
        let (policy, place) = (Policy::default(), place());
        let policy_cx = PolicyContext { policy: &policy, place: &place, world: &world };
        assert!(suggest_grant(&judged, policy_cx).is_some(), "{program} can be remembered");
    }
    let outside = assess_in(&world, "/other/bin/python", &[]);
    assert_eq!(outside.risk.rule, "program.outside");
}

#[test]
fn a_bare_name_means_the_program_of_an_activated_environment() {
    let plain = assess_in(&VenvMachine::default(), "python", &["x.py"]);
    assert_eq!(plain.program.unwrap().path, Path::new("/bin/python"));
    let world = VenvMachine { activated: true };
    let own = assess_in(&world, "python", &["x.py"]);
    assert_eq!(own.program.unwrap().path, Path::new("/w/.venv/bin/python"));
    assert!(own.risk.reasons.iter().any(|reason| reason.rule == "program.folder"));
}

#[test]
fn no_bundled_program_runs_unasked_or_escapes_its_row() {
    let world = VenvMachine { activated: true };
    assert_eq!(assess_in(&world, "ls", &[]).risk.tier, Tier::L1);
    assert_eq!(assess_in(&world, "timeout", &["5", "ls"]).risk.tier, Tier::L1);
    assert_eq!(assess_in(&world, "rm", &["-rf", "/"]).risk.tier, Tier::L2);
    assert_eq!(assess_in(&world, ".venv/bin/rm", &["-rf", "/"]).risk.tier, Tier::L2);
}
