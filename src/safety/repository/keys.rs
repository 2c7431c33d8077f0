//! The settings of a repository that make git start a program, and those of their values
//! that are known to be harmless.
//!
//! The subsection does not matter: anyone who can write `diff.x.command` can choose any `x`.

use super::settings::GitSetting;

/// A setting, by section and name; `*` is any name.
struct SettingRow(&'static str, &'static str, HarmlessValues);

/// Values that do not raise a step.
enum HarmlessValues {
    /// Exactly these.
    Values(&'static [&'static str]),
    /// A boolean in git's words, or an empty one.
    Switch,
    /// Values without this prefix.
    NotStartingWith(&'static str),
    /// Values that do not contain this.
    NotContaining(&'static str),
}

use HarmlessValues::{NotContaining, NotStartingWith, Switch, Values};

const NEVER: HarmlessValues = Values(&[]);

/// The settings with which git may start a program, each with its harmless values.
/// `extensions.worktreeConfig` is left out: the file that it makes git read, `config.worktree`,
/// is always read here. The folders of well-known hook managers are harmless for
/// `core.hooksPath`: no hooks run in steps that run without a question.
#[rustfmt::skip]
const ROWS: &[SettingRow] = &[
    SettingRow("core", "fsmonitor", Switch),
    SettingRow("core", "hookspath", Values(&["", "/dev/null", ".husky", ".husky/_", ".git/hooks"])),
    SettingRow("core", "pager", Values(&["", "cat", "less"])),
    SettingRow("core", "editor", NEVER),
    SettingRow("core", "sshcommand", Values(&["ssh"])),
    SettingRow("core", "gitproxy", NEVER),
    SettingRow("core", "askpass", Values(&[""])),
    SettingRow("core", "alternaterefscommand", NEVER),
    SettingRow("pager", "*", Switch),
    SettingRow("sequence", "editor", NEVER),
    SettingRow("diff", "external", NEVER),
    SettingRow("diff", "command", NEVER),
    SettingRow("diff", "textconv", NEVER),
    SettingRow("filter", "clean", Values(&["", "git-lfs clean -- %f"])),
    SettingRow("filter", "smudge", Values(&["", "git-lfs smudge -- %f", "git-lfs smudge --skip -- %f"])),
    SettingRow("filter", "process", Values(&["", "git-lfs filter-process", "git-lfs filter-process --skip"])),
    SettingRow("merge", "driver", NEVER),
    SettingRow("gpg", "format", Values(&["openpgp", "x509", "ssh"])),
    SettingRow("gpg", "mintrustlevel", NotStartingWith("!")),
    SettingRow("gpg", "*", NEVER),
    SettingRow("alias", "*", NotStartingWith("!")),
    SettingRow("credential", "username", NotStartingWith("!")),
    SettingRow("credential", "usehttppath", Switch),
    SettingRow("credential", "helper", Values(&["", "store", "cache", "osxkeychain", "manager", "manager-core", "libsecret", "wincred"])),
    SettingRow("credential", "*", NEVER),
    SettingRow("interactive", "difffilter", NEVER),
    SettingRow("trailer", "*", NEVER),
    SettingRow("uploadpack", "*", NEVER),
    SettingRow("protocol", "*", Values(&["never", "user"])),
    SettingRow("url", "insteadof", NEVER),
    SettingRow("url", "pushinsteadof", NEVER),
    SettingRow("remote", "uploadpack", Values(&["git-upload-pack"])),
    SettingRow("remote", "receivepack", Values(&["git-receive-pack"])),
    SettingRow("remote", "vcs", NEVER),
    SettingRow("remote", "url", NotContaining("::")),
    SettingRow("remote", "pushurl", NotContaining("::")),
    SettingRow("submodule", "update", NotStartingWith("!")),
    SettingRow("hook", "command", NEVER),
    SettingRow("mergetool", "cmd", NEVER),
    SettingRow("mergetool", "path", NEVER),
    SettingRow("difftool", "cmd", NEVER),
    SettingRow("difftool", "path", NEVER),
    SettingRow("browser", "cmd", NEVER),
    SettingRow("man", "cmd", NEVER),
    SettingRow("tar", "command", NEVER),
    SettingRow("lfs", "path", NEVER),
    SettingRow("lfs", "clean", NEVER),
    SettingRow("lfs", "smudge", NEVER),
];

/// Whether git may start a program because of this setting. `core.worktree` and
/// includes depend on where they lead, and are not answered here.
pub fn starts_program(setting: &GitSetting) -> bool {
    let row = ROWS.iter().find(|SettingRow(section, name, _)| {
        *section == setting.section && matches_pattern(name, &setting.name)
    });
    row.is_some_and(|SettingRow(.., harmless)| !harmless.allows(&setting.value))
}

fn matches_pattern(pattern: &str, name: &str) -> bool {
    pattern == "*" || pattern == name
}

impl HarmlessValues {
    fn allows(&self, value: &str) -> bool {
        match self {
            Values(known) => known.contains(&value),
            Switch => {
                let value = value.to_ascii_lowercase();
                ["true", "false", "yes", "no", "on", "off", "1", "0", ""].contains(&value.as_str())
            }
            NotStartingWith(start) => !value.starts_with(start),
            NotContaining(part) => !value.contains(part),
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
