//! A step as a text that a person changes: each change is judged anew, and only what
//! was judged, and is not refused, can be run.

use crate::protocol::{Change, Risk, Tier, Work};
use crate::safety::written::{self, Form};
use crate::tui::composer::Composer;
use crate::words::{Lang, Say};

#[derive(Debug)]
pub struct Editor {
    pub field: Composer,
    /// What the text means now.
    work: Result<Work, Say>,
    form: Form,
    /// The last answer, and the work it was about.
    judged: Option<(Work, Risk)>,
    /// What that work would do to a file.
    change: Option<Change>,
}

/// Where the judgement of what stands there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Judgement<'a> {
    /// It cannot be read.
    Unreadable(&'a Say),
    /// Not yet; what was found of the text before stays in view meanwhile.
    Awaited(Option<&'a Risk>),
    Here(&'a Risk),
}

impl Editor {
    /// Begins with the step as it was proposed, which has been judged already.
    pub fn new(work: &Work, risk: Option<&Risk>, lang: Lang) -> Editor {
        let mut field = Composer::new(Vec::new());
        field.paste(&written::text(work), lang);
        let judged = risk.map(|risk| (work.clone(), risk.clone()));
        let form = Form::of(work);
        Editor { field, work: Ok(work.clone()), form, judged, change: None }
    }

    /// Reads the text again; the work, when it is another one that must be judged.
    pub fn changed(&mut self) -> Option<Work> {
        let now = self.form.read(&self.field.whole());
        if now == self.work {
            return None;
        }
        self.work = now;
        let work = self.work.as_ref().ok()?;
        let known = self.judged.as_ref().is_some_and(|(judged, _)| judged == work);
        (!known).then(|| work.clone())
    }

    /// Takes an answer. One about an earlier text that comes late must not push out
    /// the one about what stands there now: nobody would ask for that again.
    pub fn judged(&mut self, work: Work, risk: Risk, change: Option<Change>) {
        let late = matches!(self.judgement(), Judgement::Here(_)) && self.work() != Some(&work);
        if !late {
            (self.judged, self.change) = (Some((work, risk)), change);
        }
    }

    /// What the step as it stands there does to a file, where that is known.
    pub fn change(&self) -> Option<&Change> {
        self.change.as_ref().filter(|_| matches!(self.judgement(), Judgement::Here(_)))
    }

    pub fn judgement(&self) -> Judgement<'_> {
        match (&self.work, &self.judged) {
            (Err(fault), _) => Judgement::Unreadable(fault),
            (Ok(work), Some((judged, risk))) if judged == work => Judgement::Here(risk),
            (Ok(_), last) => Judgement::Awaited(last.as_ref().map(|(_, risk)| risk)),
        }
    }

    /// What would run.
    pub fn work(&self) -> Option<&Work> {
        self.work.as_ref().ok()
    }

    /// The work, when a yes to it counts: judged, exactly this, and not refused.
    pub fn ready(&self) -> Option<&Work> {
        match self.judgement() {
            Judgement::Here(risk) if risk.tier < Tier::L2 => self.work(),
            Judgement::Here(_) | Judgement::Awaited(_) | Judgement::Unreadable(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn risk(tier: Tier) -> Risk {
        Risk { tier, rule: String::new(), reasons: vec![], effects: vec![], lifted: false }
    }

    fn typed(editor: &mut Editor, text: &str) -> Option<Work> {
        editor.field.set(text, Lang::En);
        editor.changed()
    }

    #[test]
    fn a_late_answer_about_an_earlier_text_does_not_undo_the_judgement() {
        let log = Work::exec("git", &["log"]);
        let mut editor = Editor::new(&log, Some(&risk(Tier::L0)), Lang::En);
        let earlier = typed(&mut editor, "git lo").expect("it must be judged");
        assert_eq!(typed(&mut editor, "git log"), None, "its judgement is known");
        editor.judged(earlier, risk(Tier::L1), None);
        assert_eq!(editor.ready(), Some(&log));
    }
}
