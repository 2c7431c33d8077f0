//! Processes that a step leaves running on purpose, so that the next one is faster: they are not
//! ended with it. They are recognised by the program that runs and by what its command line names.

use std::path::{Path, PathBuf};

/// One kind of daemon.
#[derive(Debug)]
struct Daemon {
    /// As it is shown.
    name: &'static str,
    /// The file names of its program. A version may follow: `python3.12`.
    programs: &'static [&'static str],
    /// Each is part of an argument.
    arguments: &'static [&'static str],
}

#[rustfmt::skip]
const DAEMONS: &[Daemon] = &[
    row("git maintenance",         &["git"],             &["maintenance", "run"]),
    row("git gc",                  &["git"],             &["gc", "--auto"]),
    row("git fsmonitor",           &["git"],             &["fsmonitor--daemon"]),
    row("git credential cache",    &["git", "git-credential-cache--daemon"], &["credential-cache--daemon"]),
    row("ssh connection",          &["ssh"],             &["[mux]"]),
    row("gpg-agent",               &["gpg-agent"],       &["--daemon"]),
    row("keyboxd",                 &["keyboxd"],         &["--daemon"]),
    row("scdaemon",                &["scdaemon"],        &["--multi-server"]),
    row("dirmngr",                 &["dirmngr"],         &["--daemon"]),
    row("Gradle daemon",           &["java"],            &["GradleDaemon"]),
    row("Kotlin daemon",           &["java"],            &["KotlinCompileDaemon"]),
    row("Maven daemon",            &["java", "mvnd"],    &["mvndaemon"]),
    row("sbt server",              &["java"],            &["sbt-launch"]),
    row("Bloop server",            &["java", "bloop"],   &["bloop.Bloop"]),
    row("Mill server",             &["java"],            &["mill.", "Server"]),
    row("Nailgun server",          &["java"],            &["com.martiansoftware.nailgun"]),
    row("Bazel server",            &["java", "bazel"],   &["A-server.jar"]),
    row("Buck2 daemon",            &["buck2"],           &["buck2d"]),
    row("sccache server",          &["sccache"],         &[]),
    row("watchman",                &["watchman"],        &[]),
    row("adb server",              &["adb"],             &["fork-server"]),
    row("compiler server of .NET", &["dotnet"],          &["VBCSCompiler"]),
    row("build node of .NET",      &["dotnet"],          &["nodeReuse:true"]),
    row("build server of Razor",   &["dotnet"],          &["rzc.dll", "server"]),
    row("TypeScript server",       &["node"],            &["tsserver"]),
    row("Nx daemon",               &["node"],            &["nx/src/daemon"]),
    row("eslint_d",                &["node"],            &["eslint_d"]),
    row("prettierd",               &["node"],            &["prettierd"]),
    row("Turborepo daemon",        &["turbo"],           &["daemon"]),
    row("Flow server",             &["flow"],            &["server"]),
    row("Hack server",             &["hh_server"],       &[]),
    row("mypy daemon",             &["python"],          &["dmypy", "daemon"]),
    row("Pants daemon",            &["python", "pants"], &["pantsd"]),
    row("Spring server",           &["ruby"],            &["spring server"]),
];

/// Whether git asks it for keys or for what changed: without it git would wait.
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
        "watchman",
    ]
    .contains(&name)
}

const fn row(
    name: &'static str,
    programs: &'static [&'static str],
    arguments: &'static [&'static str],
) -> Daemon {
    Daemon { name, programs, arguments }
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
        let distrusted = self.distrusted.as_ref()?;
        if distrusted.iter().any(|folder| program.starts_with(folder)) {
            return None;
        }
        let file = program.file_name()?.to_str()?;
        let file = file.strip_suffix(" (deleted)").unwrap_or(file);
        let line = String::from_utf8_lossy(command_line);
        let arguments: Vec<&str> = line.split('\0').collect();
        let is_it = |daemon: &&Daemon| {
            daemon.programs.iter().any(|name| is_program(file, name))
                && daemon.arguments.iter().all(|part| arguments.iter().any(|it| it.contains(part)))
        };
        DAEMONS.iter().find(is_it).map(|daemon| daemon.name)
    }
}

fn is_program(file: &str, name: &str) -> bool {
    let version = |c: char| c.is_ascii_digit() || c == '.';
    file.strip_prefix(name).is_some_and(|rest| rest.chars().all(version))
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
            (
                "/usr/bin/git",
                "git maintenance run --auto --quiet --detach",
                Some("git maintenance"),
            ),
            ("/usr/bin/git", "git gc --auto --quiet", Some("git gc")),
            ("/usr/lib/git-core/git", "git repack -d -l -a", None),
            ("/usr/bin/git", "git daemon", None),
            (
                "/opt/jdk/bin/java",
                "java -cp x org.gradle.launcher.daemon.bootstrap.GradleDaemon 8",
                Some("Gradle daemon"),
            ),
            ("/opt/jdk/bin/java", "java -jar server.jar", None),
            (
                "/opt/jdk/bin/java",
                "bazel(app) -jar /home/u/.cache/A-server.jar",
                Some("Bazel server"),
            ),
            ("/home/u/.cargo/bin/sccache", "sccache", Some("sccache server")),
            (
                "/usr/bin/python3.12",
                "python3 -m mypy.dmypy --status-file x daemon",
                Some("mypy daemon"),
            ),
            ("/usr/bin/node", "node /srv/tsserver.js", Some("TypeScript server")),
            ("/usr/bin/nodejs-like", "node /srv/tsserver.js", None),
            ("/usr/bin/sleep", "git maintenance run", None),
            ("/work/app/git", "git maintenance run", None),
        ];
        for (program, line, wanted) in rows {
            assert_eq!(name(program, line), wanted, "{program} {line}");
        }
        assert_eq!(DaemonRule::default().name_of(Path::new("/usr/bin/sccache"), b"sccache"), None);
    }
}
