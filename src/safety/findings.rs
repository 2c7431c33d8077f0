//! Collects the findings of a judgement and turns them into a [`Risk`].

use std::collections::HashMap;

use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::{Effect, Reason, Risk, Tier};

use super::warning::Warning;
use super::{Launch, NamedWrite};

/// Everything that was found about a step, in the order it was found.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    /// Where in the list those of an argument are: a step may have a hundred thousand.
    by_arg: HashMap<Option<usize>, Vec<usize>>,
    effects: Vec<Effect>,
    commands: usize,
    programs: Vec<String>,
    warnings: Vec<Warning>,
    /// A command reads settings of the folder it runs in.
    pub of_folder: bool,
    /// What the code that starts the step must know.
    pub launch: Launch,
    /// What the line that was judged last opens in place of what it names, if all of its commands
    /// change exactly that, or print.
    pub entries: Option<Vec<NamedWrite>>,
    /// Programs that are started besides the step's own, as they are written.
    pub started: Vec<String>,
    /// Whether the proof that it is harmless rests on a language in an argument.
    pub by_language: bool,
}

/// The names of the forms in a line for a shell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeenPrograms {
    /// Every program that would run, also inside wrappers and texts, as it is written; one
    /// with a path is listed by its last part too.
    pub programs: Vec<String>,
    /// In order, each once.
    pub warnings: Vec<Warning>,
    /// Whether a part of it cannot be analysed.
    pub opaque: bool,
}

#[derive(Clone, Debug)]
pub struct Finding {
    pub reason: Reason,
    pub effects: Vec<Effect>,
}

/// Effects of what is lost for good.
pub const DELETES: &[Effect] = &[Effect::Delete, Effect::Irreversible];
/// Effects of what changes the machine itself.
pub const POWER: &[Effect] = &[Effect::Elevate, Effect::Irreversible];
/// Effects of what is lost on another machine.
pub const REMOTE: &[Effect] = &[Effect::Network, Effect::Send, Effect::Irreversible];
/// Effects of what is on another machine afterwards.
pub const SENDS: &[Effect] = &[Effect::Network, Effect::Send];
/// The effect of what leaves the workspace.
pub const OUT: &[Effect] = &[Effect::Outside];

/// How many commands one step may hide in wrappers and shell strings.
const MAX_COMMANDS: usize = 256;

impl Findings {
    pub fn add(
        &mut self,
        rule: impl Into<String>,
        tier: Tier,
        say: impl Into<LocalizedText>,
        arg: Option<usize>,
        effects: &[Effect],
    ) {
        self.add_effects(effects);
        let reason = Reason { rule: rule.into(), tier, say: say.into(), arg };
        let same = |at: &usize| self.list.get(*at).is_some_and(|f| f.reason.rule == reason.rule);
        let known = self.by_arg.get(&arg).and_then(|all| all.iter().copied().find(same));
        match known.and_then(|at| self.list.get_mut(at)) {
            Some(known) if known.reason.tier >= tier => {}
            Some(known) => *known = Finding { reason, effects: effects.to_vec() },
            None => self.push(Finding { reason, effects: effects.to_vec() }),
        }
    }

    fn push(&mut self, finding: Finding) {
        self.by_arg.entry(finding.reason.arg).or_default().push(self.list.len());
        self.list.push(finding);
    }

    fn add_effects(&mut self, effects: &[Effect]) {
        for effect in effects {
            if !self.effects.contains(effect) {
                self.effects.push(*effect);
            }
        }
    }

    /// Adds one of several reasons that share a rule, up to a few of them.
    pub fn add_repeated(
        &mut self,
        rule: &str,
        tier: Tier,
        text: LocalizedText,
        effects: &[Effect],
    ) {
        const MAX_REASONS: usize = 8;
        let before = self.list.iter().filter(|f| f.reason.rule == rule);
        let known = before.clone().any(|f| f.reason.say == text);
        if known || before.count() >= MAX_REASONS {
            return;
        }
        self.add_effects(effects);
        let reason = Reason { rule: rule.to_owned(), tier, say: text, arg: None };
        self.push(Finding { reason, effects: effects.to_vec() });
    }

    /// The highest tier found, or `tier` if nothing was found.
    pub fn tier_or(&self, tier: Tier) -> Tier {
        self.list.iter().map(|finding| finding.reason.tier).max().unwrap_or(tier)
    }

    pub fn tier(&self) -> Tier {
        self.tier_or(Tier::L1)
    }

    /// Whether this argument already has a finding above L0.
    pub fn has_warning_at(&self, arg: Option<usize>) -> bool {
        let mut found = self.by_arg.get(&arg).into_iter().flatten();
        arg.is_some()
            && found.any(|at| self.list.get(*at).is_some_and(|f| f.reason.tier > Tier::L0))
    }

    pub fn has(&self, effect: Effect) -> bool {
        self.effects.contains(&effect)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Finding> {
        self.list.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Finding> {
        self.list.iter_mut()
    }

    /// The ids of the rules that found something.
    pub fn rule_ids(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|finding| finding.reason.rule.as_str())
    }

    /// Records a form that the user is warned of by its name.
    pub fn warn(&mut self, warning: Warning) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Notes a program that would run.
    pub fn record_program(&mut self, name: &str) {
        self.programs.push(name.to_owned());
        if let Some((_, short)) = name.rsplit_once('/') {
            self.programs.push(short.to_owned());
            self.warn(Warning::PathProgram);
        }
    }

    /// How many programs were seen.
    pub fn program_count(&self) -> usize {
        self.programs.len()
    }

    /// Forgets the programs that were seen after the first `kept`.
    pub fn truncate_programs(&mut self, kept: usize) {
        self.programs.truncate(kept);
    }

    /// Takes over the findings about a part.
    pub fn merge(&mut self, findings: &Findings) {
        for finding in &findings.list {
            let Finding { reason, effects } = finding.clone();
            self.add(reason.rule, reason.tier, reason.say, reason.arg, &effects);
        }
        self.add_effects(&findings.effects);
        self.programs.extend_from_slice(&findings.programs);
        findings.warnings.iter().for_each(|warning| self.warn(*warning));
        self.of_folder |= findings.of_folder;
        findings.started.iter().for_each(|name| self.record_start(name));
        self.launch.helpers.extend_from_slice(&findings.launch.helpers);
        self.launch.inserted.extend_from_slice(&findings.launch.inserted);
        self.launch.git = self.launch.git.or(findings.launch.git);
        self.launch.empty_folder |= findings.launch.empty_folder;
        self.launch.filters_diffs |= findings.launch.filters_diffs;
        self.launch.reads.extend_from_slice(&findings.launch.reads);
        self.launch.readable.extend_from_slice(&findings.launch.readable);
        self.launch.lists.extend_from_slice(&findings.launch.lists);
        self.launch.writes.extend_from_slice(&findings.launch.writes);
        self.by_language |= findings.by_language;
    }

    /// Notes a program that is started besides the step's own.
    pub fn record_start(&mut self, name: &str) {
        if !self.started.iter().any(|known| known == name) {
            self.started.push(name.to_owned());
        }
    }

    /// The names of the forms in the line.
    pub fn seen_programs(&self) -> SeenPrograms {
        let mut warnings = self.warnings.clone();
        warnings.extend(self.effects.iter().copied().filter_map(Warning::from_effect));
        warnings.sort_unstable();
        warnings.dedup();
        let opaque = self.list.iter().any(|finding| finding.reason.rule == "shell.opaque");
        SeenPrograms { programs: self.programs.clone(), warnings, opaque }
    }

    /// Counts one more command; false when there are too many of them to look at.
    pub fn count_command(&mut self) -> bool {
        self.commands += 1;
        self.commands <= MAX_COMMANDS
    }

    /// The risk: reasons gravest first, otherwise as they were found.
    pub fn into_risk(mut self, lifted: bool) -> Risk {
        self.list.sort_by_key(|finding| std::cmp::Reverse(finding.reason.tier));
        self.effects.sort_unstable();
        self.effects.dedup();
        let tier = self.tier();
        let reasons: Vec<Reason> = self.list.into_iter().map(|finding| finding.reason).collect();
        let rule = reasons.first().map_or_else(|| "unjudged".to_owned(), |r| r.rule.clone());
        Risk { tier, rule, reasons, effects: self.effects, lifted }
    }
}

/// A text of the step as it appears in a reason: whole, or its start.
pub fn excerpt(text: &str) -> String {
    avocet_core::text::cut(text, 120)
}
