//! The dialog that asks whether a step may run: the exact command or diff, and the steps after it
//! that one answer may include; a key shows everything else that is known. Each simple command of a
//! shell line that the user typed has its own judgement.

use ratatui::text::{Line, Span};

use super::dialog::{QuestionContent, QuestionDialog};
use super::dialog_frame::DialogPage;
use super::file_change;
use super::question::QuestionState;
use super::rows::{DiffViewCache, Rows};
use super::step_details::{self, StepDetails};
use super::subject::Subject;
use crate::draw::DrawContext;
use crate::{draw, text};
use avocet_core::i18n::{LocalizedText, agents, common, screen as phrases};
use avocet_core::protocol::{AskId, Change, RemainingStep, Risk, StepAction, StepQuestion, Tier};
use avocet_present::QuestionKind;
use avocet_present::flow::QuestionFlow;
use avocet_present::outcome::{VerbForm, step_name};
use avocet_present::question_lines::rule_summary;

#[derive(Debug)]
struct ApproveQuestion {
    asked: StepQuestion,
    /// The folder of the session: another one is named.
    home: String,
}

/// Columns before each simple command.
const INDENT: usize = 2;

/// `2 of 5`; nothing for a single step.
fn count(question: &StepQuestion, cx: &DrawContext<'_>) -> Vec<Span<'static>> {
    let say = phrases::ASK_COUNT.with("n", question.number).with("of", question.of).text(cx.lang);
    (question.of > 1).then(|| Span::styled(say, cx.theme.dim)).into_iter().collect()
}

fn program(action: &StepAction) -> Option<&str> {
    match action {
        StepAction::Exec { program, .. } => Some(program),
        StepAction::Tool { .. } | StepAction::Shell { .. } => None,
    }
}

impl QuestionContent for ApproveQuestion {
    fn step(&self) -> Option<(&StepAction, &Risk)> {
        Some((&self.asked.step.work, &self.asked.risk))
    }

    fn body(&mut self, question: &QuestionState, width: usize, cx: &DrawContext<'_>) -> DialogPage {
        if question.choices.flow.offer.kind == QuestionKind::Shell {
            return self.shell_page(question, width, cx);
        }
        let change = self.asked.change.as_ref();
        let subject = question.subject(&self.asked.step.work, &self.asked.risk, change);
        let prompt = if self.asked.rest.is_empty() {
            step_details::PROMPT
        } else {
            step_details::MARKED_PROMPT
        };
        let states_reason = !self.asked.risk.is_high_risk();
        let kind = question.choices.flow.offer.kind;
        let title = self.title(kind, width);
        let mut counts = self.count(cx);
        let titled =
            change.filter(|change| !subject.is_edited() && self.names(kind, change, width));
        counts.extend(titled.into_iter().flat_map(|change| file_change::counts(change, cx)));
        let mut page = subject.page(title, counts, prompt, states_reason, (width, cx));
        let head = titled.map_or(0, |change| file_change::head_rows(change, width, cx).len());
        // An empty file has no other row that could be seen.
        if head < page.required.len() {
            page.required = page.required.split_off(head);
        }
        let reason = step_details::stated_reason(subject.risk, cx);
        let is_said = !subject.is_edited() && reason.is_some_and(|reason| reason == page.badge);
        // The end of a very long diff need not be seen if the diff is read page by page.
        let paged = subject.change.is_some() && self.asked.risk.is_high_risk();
        let most = if paged { file_change::MUST } else { usize::MAX };
        page.optional = page.required.split_off(page.required.len().min(most));
        for step in &self.asked.rest {
            page.optional.append(upcoming_step_rows(step, width, cx, &question.diffs));
        }
        let detailed = question.is_detailed();
        page.optional.extend(self.condition_rows(&subject, detailed, is_said, (width, cx)));
        if let Some(trust) = &self.asked.trust {
            page.optional.push(Line::default());
            page.optional.extend(super::trust::offer_rows(trust, width, cx));
        }
        if !detailed && !subject.is_edited() && subject.change.is_none() {
            page.facts.extend(step_details::sandbox_rows(subject.risk, width, cx));
        }
        if detailed {
            let rule = question.choices.flow.offer.rule.is_some();
            page.keeps_facts = true;
            page.facts.push(Line::default());
            page.facts.extend(self.detail_rows(&subject, rule, width, cx));
        }
        page
    }
}

pub fn dialog(id: AskId, flow: QuestionFlow, question: StepQuestion, home: &str) -> QuestionDialog {
    let slight = question.change.is_some()
        && question.risk.tier == Tier::L1
        && question.risk.can_batch_approve();
    let mut asking = QuestionState::new(id, flow).with_skippable_rest(slight);
    let note = match question.change {
        Some(_) => vec![phrases::ACCEPT_EDITS_NOTE.into()],
        None => rule_summary(&question.rule_covers).cloned().collect(),
    };
    asking.choices = asking.choices.with_note(note);
    QuestionDialog::new(asking, ApproveQuestion { asked: question, home: home.to_owned() })
}

impl ApproveQuestion {
    fn shell_page(
        &self,
        question: &QuestionState,
        width: usize,
        cx: &DrawContext<'_>,
    ) -> DialogPage {
        let subject = question.subject(&self.asked.step.work, &self.asked.risk, None);
        let title = phrases::SHELL_TITLE.into();
        let counts = count(&self.asked, cx);
        let mut page = subject.page(title, counts, step_details::PROMPT, false, (width, cx));
        if !subject.is_edited() {
            page.optional.extend(self.command_rows(width, cx));
        }
        let mut details = StepDetails::new(width, question.is_detailed(), cx);
        details.push_reasons(subject.work, subject.risk, cx);
        details.push_effects(&subject.risk.effects, cx);
        details.push_text(common::FOLDER, &self.asked.cwd, cx.theme.text, cx);
        page.optional.extend(details.into_rows());
        page
    }

    /// Each simple command after its tier; a high-risk one gives its reasons below.
    fn command_rows(&self, width: usize, cx: &DrawContext<'_>) -> Vec<Line<'static>> {
        if self.asked.pieces.is_empty() {
            return Vec::new();
        }
        let mut rows = vec![Line::styled(phrases::SHELL_PIECES.text(cx.lang), cx.theme.dim)];
        let room = width.saturating_sub(INDENT);
        for piece in &self.asked.pieces {
            let text = step_details::full_rows(&piece.text, cx.theme.text, room, cx);
            let text = step_details::with_tier(text, &piece.risk, room, cx);
            rows.extend(draw::label_lines("", cx.theme.dim, INDENT, text));
        }
        rows.push(Line::default());
        rows
    }

    /// The question, after the name of the subagent that asks.
    fn title(&self, kind: QuestionKind, width: usize) -> LocalizedText {
        let title = self.plain_title(kind, width);
        match &self.asked.agent {
            Some(name) => agents::OF_AGENT.with("name", name.as_str()).with("text", title),
            None => title,
        }
    }

    fn plain_title(&self, kind: QuestionKind, width: usize) -> LocalizedText {
        let text: LocalizedText = match kind {
            QuestionKind::Change => {
                let Some(change) = &self.asked.change else {
                    return phrases::ASK_TITLE.with("where", "");
                };
                let name = text::elide_middle(&text::single_line(&change.name()), name_room(width));
                return file_change::title(change).with("name", name);
            }
            QuestionKind::Denied => phrases::ASK_AGAIN_TITLE.into(),
            QuestionKind::Unconfined if self.asked.risk.leaves_sandbox() => {
                phrases::ASK_AGAIN_FREE_TITLE.into()
            }
            QuestionKind::Unconfined => phrases::ASK_FREE_TITLE.into(),
            _ => match step_name(&self.asked.step.work, VerbForm::NotDone).0 {
                Some(verb) if verb != phrases::VERB_TASK => {
                    phrases::ASK_TOOL_TITLE.with("verb", LocalizedText::from(verb))
                }
                _ => phrases::ASK_TITLE.into(),
            },
        };
        if self.asked.step.requires.background {
            return text.with("where", LocalizedText::from(phrases::ASK_IN_BACKGROUND));
        }
        text.with("where", "")
    }

    /// Whether the title has the whole name of the changed file.
    fn names(&self, kind: QuestionKind, change: &Change, width: usize) -> bool {
        kind == QuestionKind::Change
            && change.others.is_empty()
            && text::width(&text::single_line(&change.name())) <= name_room(width)
    }

    /// Its number, unless it asks again about a step that has run.
    fn count(&self, cx: &DrawContext<'_>) -> Vec<Span<'static>> {
        let asks_again = self.asked.risk.opens_sandbox();
        if asks_again { Vec::new() } else { count(&self.asked, cx) }
    }

    /// What must be known to answer: why a question is unusual, and where the program and the
    /// folder are others than it seems.
    fn condition_rows(
        &self,
        subject: &Subject<'_>,
        is_detailed: bool,
        is_said: bool,
        (width, cx): (usize, &DrawContext<'_>),
    ) -> Vec<Line<'static>> {
        let mut details = StepDetails::new(width, false, cx);
        if !is_detailed || subject.is_edited() {
            details.push_gravest_reasons((subject.work, subject.risk), is_said, cx);
        }
        if is_detailed {
            return details.into_rows();
        }
        if let Some(path) = self.resolved(subject).filter(|(name, _)| name.contains('/')) {
            details.push_text(common::PROGRAM, path.1, cx.theme.text, cx);
        }
        if self.asked.cwd != self.home {
            details.push_text(common::FOLDER, &self.asked.cwd, cx.theme.text, cx);
        }
        details.into_rows()
    }

    /// All that is known: the effects, the rules, the program, what a lasting approval covers, and
    /// the words of the model.
    fn detail_rows(
        &self,
        subject: &Subject<'_>,
        has_rule: bool,
        width: usize,
        cx: &DrawContext<'_>,
    ) -> Vec<Line<'static>> {
        let mut details = StepDetails::new(width, true, cx);
        details.push_reasons(subject.work, subject.risk, cx);
        details.push_effects(&subject.risk.effects, cx);
        if let Some((_, path)) = self.resolved(subject) {
            details.push_text(common::PROGRAM, path, cx.theme.text, cx);
        }
        details.push_text(common::FOLDER, &self.asked.cwd, cx.theme.text, cx);
        if !subject.is_edited() && has_rule {
            details.push_coverage(&self.asked.rule_covers, cx);
        }
        details.push_model_text(common::MODEL, &self.asked.why, cx);
        details.push_model_text(phrases::ASK_EXPECTED, &self.asked.expected, cx);
        details.into_rows()
    }

    /// The program by the name that the step has for it, and its path, which is known only for the
    /// program of the question.
    fn resolved<'a>(&'a self, subject: &Subject<'a>) -> Option<(&'a str, &'a str)> {
        let name = program(subject.work)?;
        let is_same = Some(name) == program(&self.asked.step.work);
        is_same.then_some((name, self.asked.resolved.as_deref()?))
    }
}

/// Columns of a title for the name of a file, next to its other words.
fn name_room(width: usize) -> usize {
    (width / 2).min(width.saturating_sub(28)).max(6)
}

/// A step after this one: its whole command, and its tier unless that is the usual one.
fn upcoming_step_rows(
    step: &RemainingStep,
    width: usize,
    cx: &DrawContext<'_>,
    diffs: &DiffViewCache,
) -> Rows {
    match &step.change {
        Some(change) => file_change::rows(change, width, cx, diffs),
        None => {
            let work = &step.work;
            let risk = &step.risk;

            let rows = step_details::prompt_rows(step_details::PROMPT, work, risk, width, cx);
            step_details::with_tier(rows, risk, width, cx).into()
        }
    }
}
