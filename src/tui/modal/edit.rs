//! Lets the user edit a step as text: each change is assessed again, and only text that was
//! assessed and not denied can run.

use crossterm::event::KeyEvent;

use crate::composer::Composer;
use crate::keys::{self, KeyAction, KeyContext};
use avocet_core::i18n::{Lang, LocalizedText};
use avocet_core::protocol::{Change, Risk, StepAction, Tier};
use avocet_safety::editable::{self, EditableForm};

#[derive(Debug)]
pub struct Editor {
    pub field: Composer,
    /// The meaning of the current text.
    work: Result<StepAction, LocalizedText>,
    form: EditableForm,
    /// The last judgement, and the work it was about.
    last_assessment: Option<(StepAction, Risk)>,
    /// The change that this work would make to a file.
    change: Option<Change>,
}

/// The state of the judgement of the current text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EditAssessment<'a> {
    /// It cannot be parsed.
    Unreadable(&'a LocalizedText),
    /// Not assessed yet; the judgement of the text before stays in view meanwhile.
    Pending(Option<&'a Risk>),
    Current(&'a Risk),
}

impl Editor {
    /// Begins with the step as proposed, which has been assessed already.
    pub fn new(action: &StepAction, risk: Option<&Risk>, lang: Lang) -> Editor {
        let mut composer = Composer::new(Vec::new());
        composer.paste(&editable::to_text(action), lang);
        let judged = risk.map(|risk| (action.clone(), risk.clone()));
        let form = EditableForm::from_action(action);
        Editor {
            field: composer,
            work: Ok(action.clone()),
            form,
            last_assessment: judged,
            change: None,
        }
    }

    /// Parses the text again; returns the work if it changed and must be assessed.
    pub fn reparse(&mut self) -> Option<StepAction> {
        let now = self.form.parse(&self.field.full_text());
        if now == self.work {
            return None;
        }
        self.work = now;
        let work = self.work.as_ref().ok()?;
        let known = self.last_assessment.as_ref().is_some_and(|(judged, _)| judged == work);
        (!known).then(|| work.clone())
    }

    /// Takes an judgement. A late one for an earlier text must not replace the one for the current
    /// text: nothing would request that again.
    pub fn set_assessment(&mut self, action: StepAction, risk: Risk, change: Option<Change>) {
        let late =
            matches!(self.judgement(), EditAssessment::Current(_)) && self.work() != Some(&action);
        if !late {
            (self.last_assessment, self.change) = (Some((action, risk)), change);
        }
    }

    /// The change that the edited step makes to a file, where that is known.
    pub fn change(&self) -> Option<&Change> {
        self.change.as_ref().filter(|_| matches!(self.judgement(), EditAssessment::Current(_)))
    }

    pub fn judgement(&self) -> EditAssessment<'_> {
        match (&self.work, &self.last_assessment) {
            (Err(fault), _) => EditAssessment::Unreadable(fault),
            (Ok(work), Some((judged, risk))) if judged == work => EditAssessment::Current(risk),
            (Ok(_), last) => EditAssessment::Pending(last.as_ref().map(|(_, risk)| risk)),
        }
    }

    /// The work that would run.
    pub fn work(&self) -> Option<&StepAction> {
        self.work.as_ref().ok()
    }

    /// The work, if it can be approved: assessed as it is, and not denied.
    pub fn approvable_work(&self) -> Option<&StepAction> {
        match self.judgement() {
            EditAssessment::Current(risk) if risk.tier < Tier::L2 => self.work(),
            EditAssessment::Current(_)
            | EditAssessment::Pending(_)
            | EditAssessment::Unreadable(_) => None,
        }
    }
}

/// What is written in a question.
#[derive(Debug)]
pub enum QuestionField {
    Step(Box<Editor>),
    Text(Box<Composer>),
}

impl QuestionField {
    pub fn empty() -> QuestionField {
        QuestionField::Text(Box::new(Composer::new(Vec::new())))
    }

    pub fn composer(&mut self) -> &mut Composer {
        match self {
            QuestionField::Step(editor) => &mut editor.field,
            QuestionField::Text(field) => field,
        }
    }
}

/// The effect of a key in a field of a question.
pub enum Field {
    Changed,
    Submitted,
    Cancelled,
    Unhandled,
}

pub fn handle_field_key(composer: &mut Composer, key: &KeyEvent, lang: Lang) -> Field {
    match keys::action(KeyContext::Input, key) {
        Some(KeyAction::Send) => Field::Submitted,
        Some(KeyAction::Edit(edit)) => {
            composer.edit(edit);
            Field::Changed
        }
        Some(KeyAction::Up) => {
            composer.up(lang);
            Field::Changed
        }
        Some(KeyAction::Down) => {
            composer.down(lang);
            Field::Changed
        }
        Some(_) => Field::Unhandled,
        None if keys::action(KeyContext::Anywhere, key) == Some(KeyAction::Stop) => {
            Field::Cancelled
        }
        None if composer.type_key(key) => Field::Changed,
        None => Field::Unhandled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn risk(tier: Tier) -> Risk {
        Risk { tier, rule: String::new(), reasons: vec![], effects: vec![], lifted: false }
    }

    fn typed(editor: &mut Editor, text: &str) -> Option<StepAction> {
        editor.field.set_text(text, Lang::En);
        editor.reparse()
    }

    #[test]
    fn a_late_assessment_of_an_earlier_text_is_ignored() {
        let log = StepAction::exec("git", &["log"]);
        let mut editor = Editor::new(&log, Some(&risk(Tier::L0)), Lang::En);
        let earlier = typed(&mut editor, "git lo").expect("it must be judged");
        assert_eq!(typed(&mut editor, "git log"), None, "its judgement is known");
        editor.set_assessment(earlier, risk(Tier::L1), None);
        assert_eq!(editor.approvable_work(), Some(&log));
    }
}
