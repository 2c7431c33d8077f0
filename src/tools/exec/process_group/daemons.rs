//! Processes that a step leaves running on purpose, so that the next one is faster: they are not
//! ended with it. They are recognised by the program that runs, which cannot be forged, and by the
//! command that it was given. Servers that run code of the project by their nature, in an
//! interpreter, are none: they end with their step.

use std::path::{Path, PathBuf};

/// Bytes of a command line that are looked at.
#[cfg(target_os = "linux")]
const COMMAND_LINE: u64 = 256 * 1024;

/// One kind of daemon.
#[derive(Debug)]
struct Daemon {
    /// As it is shown.
    name: &'static str,
    /// The file names of its program.
    programs: &'static [&'static str],
    /// Its command: the first arguments. Git runs others by the settings that may come before it.
    command: &'static [&'static str],
    /// Part of an argument, wherever it is.
    argument: &'static str,
}

#[rustfmt::skip]
const DAEMONS: &[Daemon] = &[
    row("git maintenance",         &["git"],         &["maintenance", "run"],      ""),
    row("git gc",                  &["git"],         &["gc", "--auto"],            ""),
    row("git fsmonitor",           &["git"],         &["fsmonitor--daemon"],       ""),
    row("git credential cache",    &["git"],         &["credential-cache--daemon"], ""),
    row("git credential cache",    &["git-credential-cache--daemon"], &[],         ""),
    row("ssh connection",          &["ssh"],         &[],                          "[mux]"),
    row("gpg-agent",               &["gpg-agent"],   &[],                          "--daemon"),
    row("keyboxd",                 &["keyboxd"],     &[],                          "--daemon"),
    row("scdaemon",                &["scdaemon"],    &[],                          "--multi-server"),
    row("dirmngr",                 &["dirmngr"],     &[],                          "--daemon"),
    row("sccache server",          &["sccache"],     &[],                          ""),
    row("adb server",              &["adb"],         &[],                          "fork-server"),
];

/// Whether git asks it for keys or for what changed. It is not paused with the steps: git would wait
/// for its answer.
#[cfg(target_os = "linux")]
pub(super) fn serves_git(name: &str) -> bool {
    [
        "git fsmonitor",
        "git credential cache",
        "ssh connection",
        "gpg-agent",
        "keyboxd",
        "scdaemon",
        "dirmngr",
    ]
    .contains(&name)
}

const fn row(
    name: &'static str,
    programs: &'static [&'static str],
    command: &'static [&'static str],
    argument: &'static str,
) -> Daemon {
    Daemon { name, programs, command, argument }
}

/// The daemons that a step may leave running.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct DaemonRule {
    /// `None`: none at all.
    distrusted: Option<Vec<PathBuf>>,
}

impl DaemonRule {
    /// Any whose program is not in one of these folders: a name is easily taken there.
    pub(in super::super) fn outside(distrusted: Vec<PathBuf>) -> DaemonRule {
        DaemonRule { distrusted: Some(distrusted) }
    }

    /// What this process is called, if it is one of them.
    pub(super) fn name_of(&self, program: &Path, command_line: &[u8]) -> Option<&'static str> {
        let file = self.program_name(program)?;
        let line = String::from_utf8_lossy(command_line);
        let arguments: Vec<&str> = line.split('\0').collect();
        let command = arguments.get(1..).unwrap_or_default();
        let is_it = |daemon: &&Daemon| {
            daemon.programs.contains(&file)
                && command.starts_with(daemon.command)
                && arguments.iter().any(|it| it.contains(daemon.argument))
        };
        DAEMONS.iter().find(is_it).map(|daemon| daemon.name)
    }

    /// The same for a process that runs, and for a child of a daemon which belongs to it: another
    /// program may be a hook of git.
    #[cfg(target_os = "linux")]
    pub(super) fn name_of_process(
        &self,
        pid: i32,
        parent: Option<&'static str>,
    ) -> Option<&'static str> {
        use std::io::Read as _;
        let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
        let file = self.program_name(&program)?;
        let is_its = |name: &&str| {
            DAEMONS.iter().any(|daemon| daemon.name == *name && daemon.programs.contains(&file))
        };
        let name = parent.filter(is_its).or_else(|| {
            let line = std::fs::File::open(format!("/proc/{pid}/cmdline")).ok()?;
            let mut bytes = Vec::new();
            line.take(COMMAND_LINE).read_to_end(&mut bytes).ok()?;
            self.name_of(&program, &bytes)
        })?;
        // A library of the step's own makes anything of a program.
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
        let mut code = maps.lines().filter_map(|line| {
            let (fields, _) = line.split_once('/')?;
            let is_code = fields.split(' ').nth(1)?.contains('x');
            is_code.then(|| Path::new(line.get(fields.len()..).unwrap_or_default()))
        });
        code.all(|file| !self.distrusts(file)).then_some(name)
    }

    /// Whether a file could have been put where it is by a step.
    fn distrusts(&self, file: &Path) -> bool {
        let distrusted = self.distrusted.as_ref();
        file.to_string_lossy().starts_with("/memfd:")
            || distrusted.is_none_or(|all| all.iter().any(|folder| file.starts_with(folder)))
    }

    fn program_name<'a>(&self, program: &'a Path) -> Option<&'a str> {
        let file = program.file_name()?.to_str()?;
        (!self.distrusts(program)).then(|| file.strip_suffix(" (deleted)").unwrap_or(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_is_known_by_its_program_and_its_arguments() {
        let rule = DaemonRule::outside(vec!["/work/app".into()]);
        let name = |program: &str, line: &str| {
            rule.name_of(Path::new(program), line.replace(' ', "\0").as_bytes())
        };
        let rows = [
            ("/usr/bin/git", "git maintenance run --auto --detach", Some("git maintenance")),
            ("/usr/bin/git", "git gc --auto --quiet", Some("git gc")),
            ("/usr/bin/git", "git -c alias.x=!./x x gc --auto", None),
            ("/usr/bin/git", "git x gc --auto", None),
            ("/usr/lib/git-core/git", "git repack -d -l -a", None),
            ("/usr/bin/git", "git daemon", None),
            ("/usr/bin/ssh", "ssh:\u{a0}/run/x\u{a0}[mux]", Some("ssh connection")),
            ("/home/u/.cargo/bin/sccache", "sccache", Some("sccache server")),
            // What an interpreter says of itself is up to what it runs.
            ("/opt/jdk/bin/java", "java x.GradleDaemon 8", None),
            ("/usr/bin/python3.12", "python3 -m mypy.dmypy --status-file x daemon", None),
            ("/usr/bin/node", "node /srv/tsserver.js", None),
            ("/usr/bin/sleep", "git maintenance run", None),
            ("/work/app/git", "git maintenance run", None),
            ("/memfd:x/git", "git maintenance run", None),
        ];
        for (program, line, wanted) in rows {
            assert_eq!(name(program, line), wanted, "{program} {line}");
        }
        assert_eq!(DaemonRule::default().name_of(Path::new("/usr/bin/sccache"), b"sccache"), None);
    }
}
