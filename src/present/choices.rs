//! The choices of a question: what each is called, and the letter, the words and the digit that
//! choose it; once for every frontend.

use avocet_core::i18n::{
    LocalizedText, Phrase, common, linear, prompt, screen as phrases, session,
};
use avocet_core::protocol::Risk;

/// The word that approves high risk where lines are typed, so that no habit approves it.
pub const YES: &str = "YES";

/// The possible answers of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChoicePick {
    Reject,
    RejectWithReason,
    Stop,
    Edit,
    Run,
    /// Run this step and the ones after it.
    All,
    Session,
    Project,
    /// Trust the folder, then judge the step again.
    TrustFirst,
    Continue,
    /// Carry the plan out, or apply the change, and from then on change files without asking.
    AcceptEdits,
    Trust,
    /// Trust the folder above, too.
    TrustAbove,
    /// Decide about each command of a template.
    Each,
    /// Ask whether the step runs again without the sandbox.
    WithoutSandbox,
    /// One of the answers that the model or a script offers.
    Answer(usize),
}

impl ChoicePick {
    /// It has effect beyond this question.
    pub fn is_lasting(self) -> bool {
        use ChoicePick as Pick;
        matches!(
            self,
            Pick::AcceptEdits
                | Pick::Session
                | Pick::Project
                | Pick::TrustFirst
                | Pick::Trust
                | Pick::TrustAbove
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionKind {
    Step,
    /// A step whose change of a file is known.
    Change,
    /// A step that the sandbox denied something.
    Denied,
    /// A step that would run without the sandbox.
    Unconfined,
    Shell,
    Template,
    Pause,
    Trust,
    /// The model proposes a plan.
    Plan,
    /// A script wants to make a call.
    Script,
    /// The model asks, with answers of its own.
    Model,
}

impl QuestionKind {
    pub fn is_about_step(self) -> bool {
        use QuestionKind as Kind;
        matches!(self, Kind::Step | Kind::Change | Kind::Denied | Kind::Unconfined | Kind::Shell)
    }
}

/// The care that an approval takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Plain,
    /// Only the capital letter, or the word [`YES`], runs it.
    HighRisk,
}

impl Severity {
    pub fn of(risk: &Risk) -> Severity {
        if risk.is_high_risk() { Severity::HighRisk } else { Severity::Plain }
    }

    /// Whether a typed line approves; `usual`: it would where the risk is not high.
    pub fn is_confirmed(self, typed: &str, usual: bool) -> bool {
        match self {
            Severity::HighRisk => typed == YES,
            Severity::Plain => usual,
        }
    }
}

/// One way to answer: its letter, its label, and a short label for narrow dialogs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuestionChoice {
    pub pick: ChoicePick,
    pub letter: char,
    pub label: Phrase,
    pub short: Phrase,
}

impl QuestionChoice {
    pub fn new(kind: QuestionKind, severity: Severity, pick: ChoicePick) -> QuestionChoice {
        use ChoicePick as Pick;
        use QuestionKind as Kind;
        // A high-risk step takes a capital letter, so that habit cannot answer it.
        let run = if severity == Severity::HighRisk { 'Y' } else { 'y' };
        let (letter, label, short) = match (pick, kind) {
            (Pick::Reject, Kind::Template) => ('n', prompt::PICK_NONE, common::NO),
            (Pick::Reject, Kind::Trust) => {
                ('n', phrases::PICK_READ_ONLY, phrases::PICK_READ_ONLY_SHORT)
            }
            (Pick::Reject, Kind::Plan) => ('n', phrases::PLAN_REFUSE, common::NO),
            (Pick::Reject, Kind::Script) => ('n', session::SCRIPT_MAY_NOT, common::NO),
            (Pick::Reject, Kind::Model) => ('n', phrases::CHOICE_NOTHING, common::NO),
            (Pick::Reject, _) => ('n', common::NO, common::NO),
            (Pick::RejectWithReason, Kind::Plan) => ('w', phrases::PLAN_OTHER, phrases::PLAN_OTHER),
            (Pick::RejectWithReason, Kind::Model) => {
                ('w', phrases::CHOICE_OWN, phrases::CHOICE_OWN)
            }
            (Pick::RejectWithReason, _) => ('w', phrases::PICK_WORD, phrases::PICK_WORD_SHORT),
            (Pick::Stop, Kind::Pause) => ('n', phrases::PICK_HALT, phrases::PICK_STOP_SHORT),
            (Pick::Stop, Kind::Trust) => ('x', phrases::PICK_LEAVE, common::QUIT),
            (Pick::Stop, _) => ('x', phrases::PICK_STOP, phrases::PICK_STOP_SHORT),
            (Pick::Edit, Kind::Plan) => ('e', phrases::PLAN_EDIT, phrases::PICK_EDIT_SHORT),
            (Pick::Edit, _) => ('e', phrases::PICK_EDIT, phrases::PICK_EDIT_SHORT),
            (Pick::Run, Kind::Template) => (run, prompt::LINE_ALL, phrases::PICK_RUN_SHORT),
            (Pick::Run, Kind::Change) if run == 'Y' => {
                (run, phrases::PICK_APPLY_GRAVE, phrases::PICK_APPLY)
            }
            (Pick::Run, Kind::Change) => (run, phrases::PICK_APPLY, phrases::PICK_APPLY),
            (Pick::Run, Kind::Unconfined) => (run, phrases::PICK_FREE, phrases::PICK_WITHOUT_SHORT),
            (Pick::Run, _) if run == 'Y' => (run, phrases::PICK_RUN_GRAVE, phrases::PICK_RUN_SHORT),
            (Pick::Run, Kind::Denied) => (run, phrases::PICK_AGAIN, phrases::PICK_AGAIN_SHORT),
            (Pick::Run, _) => (run, phrases::PICK_RUN, phrases::PICK_RUN_SHORT),
            (Pick::All, _) => ('a', phrases::PICK_ALL, phrases::PICK_ALL_SHORT),
            (Pick::AcceptEdits, Kind::Plan) => {
                ('s', phrases::PLAN_ACCEPT_EDITS, phrases::PICK_APPLY_EDITS_SHORT)
            }
            (Pick::AcceptEdits, _) => {
                ('s', phrases::PICK_APPLY_EDITS, phrases::PICK_APPLY_EDITS_SHORT)
            }
            (Pick::Session, Kind::Denied) => {
                ('s', phrases::PICK_AGAIN_SESSION, phrases::PICK_AGAIN_SESSION_SHORT)
            }
            (Pick::Session, _) => ('s', phrases::PICK_SESSION, phrases::PICK_SESSION_SHORT),
            (Pick::Project, _) => ('p', phrases::PICK_PROJECT, phrases::PICK_PROJECT_SHORT),
            (Pick::WithoutSandbox, _) => ('u', phrases::PICK_WITHOUT, phrases::PICK_WITHOUT_SHORT),
            (Pick::TrustFirst, _) => ('t', phrases::PICK_TRUST_FIRST, phrases::PICK_TRUST_SHORT),
            (Pick::Trust, _) => ('t', phrases::PICK_TRUST, phrases::PICK_TRUST_SHORT),
            (Pick::TrustAbove, _) => {
                ('a', phrases::PICK_TRUST_ABOVE, phrases::PICK_TRUST_ABOVE_SHORT)
            }
            (Pick::Continue, Kind::Script) => ('y', session::SCRIPT_MAY, session::SCRIPT_MAY),
            (Pick::Continue, Kind::Plan) => ('y', phrases::PLAN_ACCEPT, phrases::PLAN_ACCEPT),
            (Pick::Continue, _) => ('y', phrases::PICK_GO_ON, phrases::PICK_GO_ON),
            (Pick::Each, _) => ('y', prompt::PICK_MARKED, prompt::PICK_MARKED_SHORT),
            (Pick::Answer(at), _) => (answer_letter(at), phrases::PLAN_LINE, phrases::PLAN_LINE),
        };
        QuestionChoice { pick, letter, label, short }
    }

    /// Whether it has a row; the others are named beside the keys.
    pub fn has_row(&self, kind: QuestionKind) -> bool {
        !kind.is_about_step() || !matches!(self.pick, ChoicePick::Edit | ChoicePick::Stop)
    }

    /// Its word where lines are typed, with the letter that is enough in brackets.
    pub fn bracketed(&self, kind: QuestionKind) -> Option<LocalizedText> {
        use ChoicePick as Pick;
        let word = match self.pick {
            Pick::Reject if kind == QuestionKind::Trust => linear::WORD_DISTRUST,
            Pick::Stop if kind == QuestionKind::Trust => linear::WORD_QUIT,
            Pick::Trust => linear::WORD_TRUST,
            Pick::TrustAbove => linear::WORD_PARENT,
            Pick::Run if kind == QuestionKind::Change => linear::WORD_APPLY,
            Pick::Run => linear::WORD_YES,
            Pick::All => linear::WORD_ALL,
            Pick::AcceptEdits => linear::WORD_EDITS,
            Pick::Session => linear::WORD_SESSION,
            Pick::Project => linear::WORD_PROJECT,
            Pick::TrustFirst => linear::WORD_TRUST,
            Pick::WithoutSandbox => linear::WORD_UNCONFINED,
            Pick::RejectWithReason if self.letter != 'n' => linear::WORD_WHY,
            Pick::Reject | Pick::RejectWithReason => linear::WORD_NO,
            Pick::Edit => linear::WORD_EDIT,
            // The line has no room for it, but the word is taken.
            Pick::Stop | Pick::Continue | Pick::Each | Pick::Answer(_) => return None,
        };
        Some(word.into())
    }

    /// The words that choose it in a typed line, besides its letter.
    pub fn words(&self) -> &'static [&'static str] {
        use ChoicePick as Pick;
        match self.pick {
            Pick::Run | Pick::Continue => YES_WORDS,
            Pick::Reject => NO_WORDS,
            Pick::RejectWithReason if self.letter == 'n' => NO_WORDS,
            Pick::RejectWithReason => &["why", "w"],
            Pick::All => &["all", "全部"],
            Pick::AcceptEdits => &["edits", "accept edits", "接受修改"],
            Pick::Session => &["session", "本次会话", "会话"],
            Pick::Project => &["project", "本项目", "项目"],
            Pick::TrustFirst | Pick::Trust => &["trust", "信任"],
            Pick::TrustAbove => &["parent", "上级"],
            Pick::WithoutSandbox => &["unconfined", "without"],
            Pick::Edit => &["edit", "修改"],
            Pick::Stop => &["stop", "quit", "停止", "退出"],
            Pick::Each => &["each", "逐条"],
            Pick::Answer(_) => &[],
        }
    }
}

/// The letters of the choices that the model offers.
fn answer_letter(at: usize) -> char {
    u8::try_from(at).map_or('?', |at| char::from(b'a' + at.min(8)))
}

const YES_WORDS: &[&str] = &["yes", "once", "run", "apply", "ok", "是", "好", "运行"];
const NO_WORDS: &[&str] = &["no", "reject", "否", "不"];

/// The typed text without surrounding blanks, and with wide letters and digits made narrow: a
/// Chinese input method types wide ones.
pub fn normalize_width(typed: &str) -> String {
    let narrow = |c: char| match u32::from(c) {
        wide @ 0xFF01..=0xFF5E => char::from_u32(wide - 0xFEE0).unwrap_or(c),
        _ => c,
    };
    typed.trim().chars().map(narrow).collect()
}

/// Whether a typed line says yes.
pub fn is_yes(typed: &str) -> bool {
    let typed = normalize_width(typed).to_lowercase();
    typed == "y" || YES_WORDS.contains(&typed.as_str())
}

/// Whether a typed line says no. An empty one does not approve.
pub fn is_no(typed: &str) -> bool {
    let typed = normalize_width(typed).to_lowercase();
    ["", "n"].contains(&typed.as_str()) || NO_WORDS.contains(&typed.as_str())
}
