//! Tests what may be staged, and which branch may begin, where edits are accepted.

use super::*;

/// The project with one more file in its repository.
struct Repository(&'static str, &'static str);

impl Machine for Repository {
    fn resolve(&self, path: &Path) -> PathBuf {
        world().resolve(path)
    }

    fn kind(&self, path: &Path) -> PathKind {
        let is_own = path == Path::new(self.0);
        if is_own { PathKind::File } else { Project::default().kind(path) }
    }

    fn program(&self, name: &str) -> Option<Program> {
        world().program(name)
    }

    fn read(&self, path: &Path, most: usize) -> Contents {
        if path == Path::new(self.0) {
            return Contents::Bytes(self.1.into());
        }
        Project::default().read(path, most)
    }

    fn takes_checkpoints(&self) -> bool {
        true
    }
}

#[test]
fn staging_and_beginning_a_branch_ask_where_a_program_would_run() {
    let policy = policy(ApprovalMode::Edits, SandboxStatus::Held);
    let asks = |file: &'static str, text: &'static str, line: &str| {
        let machine = Repository(file, text);
        let place = place();
        let policy_cx = PolicyContext { policy: &policy, place: &place, world: &machine };
        matches!(assess(step_of(line), policy_cx), Verdict::Ask(_))
    };
    let filter = "[filter \"a\"]\n\tclean = ./evil.sh\n";
    for (file, text, line, expected) in [
        ("/w/.git/config", filter, "git add -A", true),
        ("/w/.git/config", "[core]\n\tfsmonitor = ./evil.sh\n", "git add a.txt", true),
        ("/w/.git/config", filter, "git checkout -b x", true),
        ("/w/.git/config", "[user]\n\tname = a\n", "git add -A", false),
        ("/w/.git/hooks/post-checkout", "x", "git checkout -b x", true),
        ("/w/.git/hooks/post-checkout", "x", "git switch -c x", true),
        ("/w/.git/hooks/reference-transaction", "x", "git switch -c x", true),
        ("/w/.git/hooks/post-index-change", "x", "git add -A", true),
        ("/w/.git/hooks/pre-commit", "x", "git add -A", false),
        ("/w/.git/hooks/pre-push", "x", "git checkout -b x", false),
    ] {
        assert_eq!(asks(file, text, line), expected, "{file} {line}");
    }
}
