//! The interface between a check and the command it looks at: adds findings about its
//! arguments, judges commands inside it, and collects arguments to insert at its start.

use std::path::{Path, PathBuf};

use avocet_core::i18n::{LocalizedText, safety as phrases};
use avocet_core::protocol::{Effect, Tier};

use super::findings::{Findings, excerpt};
use super::paths::{self, PathClass};
use super::repository::{self, Tracked};
use super::spec::{ArgPosition, ArgToken, ProgramCall, flag_values};
use super::user_rules::{self, FileAccess};
use super::{Contents, PathKind, WriteOpening};

/// A part of a line that is harmless only with arguments added at its start.
pub const UNGUARDED: &str = "shell.unguarded";

impl<'a> ProgramCall<'a> {
    /// Judges the arguments from `at` on as a command of its own.
    pub fn judge_inner(&self, at: usize, findings: &mut Findings) {
        self.judge_words(self.args.get(at..).unwrap_or_default(), at, findings);
    }

    /// Judges a name and its arguments, where the name is the argument `at`.
    pub fn judge_words(&self, words: &[String], at: usize, findings: &mut Findings) {
        if let Some((name, rest)) = words.split_first() {
            let named = self.seat.arg(at);
            let seat = self.seat.offset_by(at + 1);

            let judge = self.context.judges.judge_command;
            judge(name, named, rest, seat, self.depth + 1, self.context, findings);
        }
    }

    /// Judges a line for a shell inside the argument `at`.
    pub fn judge_line(&self, line: &str, at: usize, findings: &mut Findings) {
        let say = phrases::SHELL_STRING.with("program", self.name.to_owned());
        findings.add("shell.string", Tier::L1, say, self.seat.arg(at), &[Effect::Exec]);
        let seat = self.seat.within(at);
        (self.context.judges.judge_line)(line, seat, self.depth + 1, self.context, findings);
    }

    /// Adds an argument in front of `at` when the step is started.
    pub fn insert(&self, at: usize, arg: &str, findings: &mut Findings) {
        match self.seat {
            ArgPosition::From(first) => findings.launch.inserted.push((first + at, arg.to_owned())),
            ArgPosition::Within(_) | ArgPosition::Line => self.mark_unguarded(findings),
        }
    }

    /// A part of a shell line starts as it is written, so only the user may run the line.
    pub fn mark_unguarded(&self, findings: &mut Findings) {
        let say = phrases::LINE_UNGUARDED.with("program", self.name.to_owned());
        findings.add(UNGUARDED, Tier::L0, say, self.seat.arg(0), &[]);
    }

    /// Whether the program is a part of a small system in one file, which knows few of
    /// the usual options.
    pub fn is_busybox(&self) -> bool {
        let world = self.context.policy_cx.world;
        let real = world.program(self.name).map(|program| world.resolve(&program.path));
        let name = real.as_deref().and_then(Path::file_name);
        name.is_some_and(|name| name == "busybox" || name == "toybox")
    }

    /// Whether the program that would run has this long option: whether its file holds
    /// the name. Asked of GNU's tools only, where older versions lack some.
    pub fn supports_option(&self, option: &str) -> bool {
        const MAX_BYTES: usize = 1024 * 1024;
        let name = option.trim_start_matches('-').as_bytes();
        let world = self.context.policy_cx.world;
        let gnu = cfg!(target_os = "linux") || self.name.starts_with('g');
        let program = gnu.then(|| world.program(self.name)).flatten();
        program.is_some_and(|program| match world.read(&program.path, MAX_BYTES) {
            Contents::Bytes(bytes) => bytes.windows(name.len()).any(|part| part == name),
            Contents::Missing | Contents::Unreadable => false,
        })
    }

    /// Adds that an argument of this command makes it a question.
    pub fn ask(
        &self,
        suffix: &str,
        say: impl Into<LocalizedText>,
        at: usize,
        effects: &[Effect],
        findings: &mut Findings,
    ) {
        self.add_finding(suffix, Tier::L1, say, at, effects, findings);
    }

    /// Adds that an argument of this command makes it refused.
    pub fn refuse(
        &self,
        suffix: &str,
        say: impl Into<LocalizedText>,
        at: usize,
        effects: &[Effect],
        findings: &mut Findings,
    ) {
        self.add_finding(suffix, Tier::L2, say, at, effects, findings);
    }

    /// Adds that an operand at `at` is not one that is known to be harmless.
    pub fn ask_operand(&self, text: &str, at: usize, effects: &[Effect], findings: &mut Findings) {
        let say = phrases::OPERAND_UNKNOWN.with("arg", excerpt(text));
        self.ask("operand", say.with("program", self.name.to_owned()), at, effects, findings);
    }

    /// Adds that a name or a pattern at `at` is one of credentials.
    pub fn ask_sensitive(&self, text: &str, at: usize, findings: &mut Findings) {
        let say = phrases::PATH_SENSITIVE.with("path", excerpt(text));
        findings.add("path.sensitive", Tier::L1, say, self.seat.arg(at), &[Effect::Secret]);
    }

    /// The folder it runs in after `-C FOLDER` in front of a sub-command.
    pub fn folder_after_chdir(&self, tokens: &[ArgToken<'_>]) -> PathBuf {
        flag_values(tokens, "-C").fold(self.context.cwd.clone(), |cwd, (_, to)| cwd.join(to))
    }

    /// What the repository it runs in tracks; `None`: that is not known.
    pub fn tracked_files(&self) -> Option<Tracked> {
        let world = self.context.policy_cx.world;
        repository::read(world, &world.resolve(&self.context.cwd)).classify_tracked(world)
    }

    /// Adds a finding about an argument of this command.
    pub fn add_finding(
        &self,
        suffix: &str,
        tier: Tier,
        say: impl Into<LocalizedText>,
        at: usize,
        effects: &[Effect],
        findings: &mut Findings,
    ) {
        findings.add(format!("{}.{suffix}", self.id), tier, say, self.seat.arg(at), effects);
    }

    /// Adds what reading `text` as a file means.
    pub fn check_read(&self, text: &str, at: usize, findings: &mut Findings) {
        // Most programs read what comes in for `-`; some open a file of that name.
        let policy_cx = self.context.policy_cx;
        let cwd = &self.context.cwd;

        let text = match text {
            "-" if policy_cx.world.kind(&cwd.join("-")) == PathKind::Missing => return,
            "-" => "./-",
            text => text,
        };
        user_rules::check_path(FileAccess::Reads, text, self.seat.arg(at), self.context, findings);
        let class = paths::classify(text, cwd, policy_cx);
        if let Some((rule, why, effects)) = class.read_risk() {
            let path = policy_cx.resolve(text, cwd);
            if class == PathClass::Outside && paths::is_system_program(&path, policy_cx) {
                findings.launch.readable.push(path);
                return;
            }
            findings.launch.reads.push(path);
            let say = why.with("path", self.display_path(text));
            findings.add(rule, Tier::L1, say, self.seat.arg(at), effects);
        }
    }

    /// Asks where a rule of the user denies files in a folder that it goes through.
    pub fn check_folder(&self, folder: &Path, at: usize, findings: &mut Findings) {
        user_rules::check_folder(folder, self.seat.arg(at), self.context, findings);
    }

    /// The patterns of files in the workspace that rules of the user deny.
    pub fn denied_patterns(&self) -> Vec<PathBuf> {
        let found =
            user_rules::patterns_below(&self.context.policy_cx.place.workspace, self.context);
        found.into_iter().map(|(pattern, _)| pattern).collect()
    }

    pub fn is_outside(&self, text: &str) -> bool {
        let class = paths::classify(text, &self.context.cwd, self.context.policy_cx);
        matches!(class, PathClass::Outside | PathClass::Public)
    }

    /// Adds what listing the names in `text` means: less than reading what is there.
    pub fn check_list(&self, text: &str, at: usize, findings: &mut Findings) {
        let policy_cx = self.context.policy_cx;
        let cwd = &self.context.cwd;

        let folder = policy_cx.resolve(text, cwd);
        let is_outside = paths::classify(text, cwd, policy_cx) == PathClass::Outside;
        // That of a program says no more than the names around it.
        let is_entry = || {
            let is_file = policy_cx.world.kind(&folder) != PathKind::Folder;
            is_file && folder.parent().is_some_and(|above| policy_cx.place.can_list(above))
        };
        if is_outside && policy_cx.place.can_list(&folder) {
            findings.launch.lists.push(folder);
        } else if !is_outside || !is_entry() {
            self.check_read(text, at, findings);
        }
    }

    /// A path as a sentence names it: one of dots alone says too little.
    fn display_path(&self, text: &str) -> String {
        if !text.bytes().all(|byte| matches!(byte, b'.' | b'/')) {
            return excerpt(text);
        }
        let home = &self.context.policy_cx.place.home;
        let path = paths::normalize(&paths::absolute(text, &self.context.cwd, home));
        excerpt(&path.to_string_lossy())
    }

    /// Adds what writing to `text` means beyond the write itself.
    pub fn check_write(&self, text: &str, at: usize, findings: &mut Findings) {
        self.check_output(text, at, WriteOpening::Existing, findings);
    }

    /// The same for a place that is opened in this way.
    pub fn check_output(
        &self,
        text: &str,
        at: usize,
        opening: WriteOpening,
        findings: &mut Findings,
    ) {
        let policy_cx = self.context.policy_cx;
        let cwd = &self.context.cwd;

        user_rules::check_path(FileAccess::Writes, text, self.seat.arg(at), self.context, findings);
        let class = paths::classify(text, cwd, policy_cx);
        let is_of_folders = ["mkdir", "rmdir"].contains(&self.id.as_str());
        let steers = || {
            let path = policy_cx.resolve(text, cwd);
            let kind = if is_of_folders { PathKind::Folder } else { policy_cx.world.kind(&path) };
            policy_cx.steers_as(&path, kind)
        };
        let Some((rule, tier, why)) = class.write_risk(is_in_repository(text), steers) else {
            return;
        };
        let effects: &[Effect] = match class {
            PathClass::Inside | PathClass::Sensitive => &[Effect::Write],
            PathClass::Public | PathClass::Outside | PathClass::Secret => {
                &[Effect::Write, Effect::Outside]
            }
        };
        if matches!(class, PathClass::Public | PathClass::Outside) {
            self.name_written(text, opening, findings);
        }
        let say = why.with("path", self.display_path(text));
        findings.add(rule, tier, say, self.seat.arg(at), effects);
    }
}

fn is_in_repository(path: &str) -> bool {
    path.split('/').any(|part| part == ".git")
}
