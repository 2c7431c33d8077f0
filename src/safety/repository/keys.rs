//! The settings of a repository that make git start a program, and those of their values
//! that are known to be harmless.
//!
//! The subsection does not matter: whoever can write `diff.x.command` can choose any `x`.

use super::settings::GitSetting;

/// A setting, by section and name; `*` is any name.
struct Row(&'static str, &'static str, Harmless);

/// Values that do not raise a step.
enum Harmless {
    /// Exactly these.
    Values(&'static [&'static str]),
    /// A boolean in git's words, or an empty one.
    Switch,
    /// Values without this prefix.
    Unless(&'static str),
    /// Values that do not contain this.
    Without(&'static str),
}

use Harmless::{Switch, Unless, Values, Without};

const NEVER: Harmless = Values(&[]);

/// `extensions.worktreeConfig` is not among them: the file it names is read as well.
/// Neither is `core.hooksPath` of a well-known hook manager: hooks do not run in steps that
/// run by themselves, wherever they are.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row("core", "fsmonitor", Switch),
    Row("core", "hookspath", Values(&["", "/dev/null", ".husky", ".husky/_", ".git/hooks"])),
    Row("core", "pager", Values(&["", "cat", "less"])),
    Row("core", "editor", NEVER),
    Row("core", "sshcommand", Values(&["ssh"])),
    Row("core", "gitproxy", NEVER),
    Row("core", "askpass", Values(&[""])),
    Row("core", "alternaterefscommand", NEVER),
    Row("pager", "*", Switch),
    Row("sequence", "editor", NEVER),
    Row("diff", "external", NEVER),
    Row("diff", "command", NEVER),
    Row("diff", "textconv", NEVER),
    Row("filter", "clean", Values(&["", "git-lfs clean -- %f"])),
    Row("filter", "smudge", Values(&["", "git-lfs smudge -- %f", "git-lfs smudge --skip -- %f"])),
    Row("filter", "process", Values(&["", "git-lfs filter-process", "git-lfs filter-process --skip"])),
    Row("merge", "driver", NEVER),
    Row("gpg", "format", Values(&["openpgp", "x509", "ssh"])),
    Row("gpg", "mintrustlevel", Unless("!")),
    Row("gpg", "*", NEVER),
    Row("alias", "*", Unless("!")),
    Row("credential", "username", Unless("!")),
    Row("credential", "usehttppath", Switch),
    Row("credential", "helper", Values(&["", "store", "cache", "osxkeychain", "manager", "manager-core", "libsecret", "wincred"])),
    Row("credential", "*", NEVER),
    Row("interactive", "difffilter", NEVER),
    Row("trailer", "*", NEVER),
    Row("uploadpack", "*", NEVER),
    Row("protocol", "*", Values(&["never", "user"])),
    Row("url", "insteadof", NEVER),
    Row("url", "pushinsteadof", NEVER),
    Row("remote", "uploadpack", Values(&["git-upload-pack"])),
    Row("remote", "receivepack", Values(&["git-receive-pack"])),
    Row("remote", "vcs", NEVER),
    Row("remote", "url", Without("::")),
    Row("remote", "pushurl", Without("::")),
    Row("submodule", "update", Unless("!")),
    Row("hook", "command", NEVER),
    Row("mergetool", "cmd", NEVER),
    Row("mergetool", "path", NEVER),
    Row("difftool", "cmd", NEVER),
    Row("difftool", "path", NEVER),
    Row("browser", "cmd", NEVER),
    Row("man", "cmd", NEVER),
    Row("tar", "command", NEVER),
];

/// Whether git may start a program because of this setting. `core.worktree` and
/// includes depend on where they lead, and are not answered here.
pub fn starts_program(entry: &GitSetting) -> bool {
    let row = ROWS
        .iter()
        .find(|Row(section, name, _)| *section == entry.section && covers(name, &entry.name));
    row.is_some_and(|Row(.., harmless)| !harmless.covers(&entry.value))
}

fn covers(pattern: &str, name: &str) -> bool {
    pattern == "*" || pattern == name
}

impl Harmless {
    fn covers(&self, value: &str) -> bool {
        match self {
            Values(known) => known.contains(&value),
            Switch => {
                let value = value.to_ascii_lowercase();
                ["true", "false", "yes", "no", "on", "off", "1", "0", ""].contains(&value.as_str())
            }
            Unless(start) => !value.starts_with(start),
            Without(part) => !value.contains(part),
        }
    }
}

/// Drivers that git brings along: naming one of them starts nothing.
pub const BUILT_IN: &[&str] = &[
    "ada", "bash", "bibtex", "cpp", "csharp", "css", "default", "dts", "elixir", "fortran",
    "fountain", "golang", "html", "ini", "java", "kotlin", "markdown", "matlab", "objc", "pascal",
    "perl", "php", "python", "r", "ruby", "rust", "scheme", "tex", "binary", "text", "union",
];

#[cfg(test)]
mod tests {
    use super::super::settings::parse;
    use super::*;

    fn raised(text: &str) -> Vec<String> {
        let entries = parse(text.as_bytes()).unwrap();
        entries.iter().filter(|entry| starts_program(entry)).map(GitSetting::key).collect()
    }

    #[test]
    fn settings_that_start_programs_are_known_whatever_their_subsection() {
        let text = "[core]\nfsmonitor=./x\nhooksPath=h\npager=x\neditor=x\nsshCommand=x\n[diff]\nexternal=x\n\
                    [diff \"a\"]\ntextconv=x\ncommand=x\n[filter \"b\"]\nclean=x\nprocess=x\n[gpg]\nprogram=x\n\
                    [gpg \"ssh\"]\nprogram=x\n[alias]\nst=!x\n[remote \"o\"]\nurl=ext::sh -c x\n[pager]\nlog=x\n";
        assert_eq!(raised(text).len(), 15, "{:?}", raised(text));
    }

    #[test]
    fn an_ordinary_repository_starts_nothing() {
        let text = "[core]\nrepositoryformatversion=0\nfilemode=true\nbare=false\nlogallrefupdates=true\n\
                    fsmonitor=true\nhooksPath=.husky/_\nautocrlf=input\n[remote \"origin\"]\n\
                    url=git@github.com:a/b.git\nfetch=+refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\
                    remote=origin\nmerge=refs/heads/main\n[filter \"lfs\"]\nclean=git-lfs clean -- %f\n\
                    process=git-lfs filter-process\nrequired=true\n[user]\nemail=a@b\n[alias]\nst=status\n\
                    [submodule \"x\"]\nactive=true\nurl=https://example.com/x\n[pull]\nrebase=true\n[pager]\nbranch=false\n";
        assert_eq!(raised(text), [""; 0]);
    }

    #[test]
    fn a_value_that_only_looks_like_a_harmless_one_raises() {
        for text in [
            "[filter \"lfs\"]\nclean=git-lfs clean -- %f && x",
            "[core]\nfsmonitor=true x",
            "[core]\npager=cat x",
            "[filter \"lfs\"]\nprocess=./git-lfs filter-process",
        ] {
            assert_eq!(raised(text).len(), 1, "{text}");
        }
    }
}
