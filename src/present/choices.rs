//! The choices of a question: what each is called, and the letter, the words and the digit that
//! choose it; once for every frontend.

use super::{ChoicePick, QuestionKind, QuestionOffer, Severity};
use avocet_core::i18n::{LocalizedText, Phrase, common, linear, prompt, screen as words, session};
use avocet_core::text::escape;

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
                ('n', words::PICK_READ_ONLY, words::PICK_READ_ONLY_SHORT)
            }
            (Pick::Reject, Kind::Plan) => ('n', words::PLAN_REFUSE, common::NO),
            (Pick::Reject, Kind::Script) => ('n', session::SCRIPT_MAY_NOT, common::NO),
            (Pick::Reject, Kind::Model) => ('n', words::CHOICE_NOTHING, common::NO),
            (Pick::Reject, _) => ('n', common::NO, common::NO),
            (Pick::RejectWithReason, Kind::Plan) => ('w', words::PLAN_OTHER, words::PLAN_OTHER),
            (Pick::RejectWithReason, Kind::Model) => ('w', words::CHOICE_OWN, words::CHOICE_OWN),
            (Pick::RejectWithReason, _) => ('w', words::PICK_WORD, words::PICK_WORD_SHORT),
            (Pick::Stop, Kind::Pause) => ('n', words::PICK_HALT, words::PICK_STOP_SHORT),
            (Pick::Stop, Kind::Trust) => ('x', words::PICK_LEAVE, common::QUIT),
            (Pick::Stop, _) => ('x', words::PICK_STOP, words::PICK_STOP_SHORT),
            (Pick::Edit, Kind::Plan) => ('e', words::PLAN_EDIT, words::PICK_EDIT_SHORT),
            (Pick::Edit, _) => ('e', words::PICK_EDIT, words::PICK_EDIT_SHORT),
            (Pick::Run, Kind::Template) => (run, prompt::LINE_ALL, words::PICK_RUN_SHORT),
            (Pick::Run, Kind::Change) if run == 'Y' => {
                (run, words::PICK_APPLY_GRAVE, words::PICK_APPLY)
            }
            (Pick::Run, Kind::Change) => (run, words::PICK_APPLY, words::PICK_APPLY),
            (Pick::Run, Kind::Unconfined) => (run, words::PICK_FREE, words::PICK_WITHOUT_SHORT),
            (Pick::Run, _) if run == 'Y' => (run, words::PICK_RUN_GRAVE, words::PICK_RUN_SHORT),
            (Pick::Run, Kind::Denied) => (run, words::PICK_AGAIN, words::PICK_AGAIN_SHORT),
            (Pick::Run, _) => (run, words::PICK_RUN, words::PICK_RUN_SHORT),
            (Pick::All, _) => ('a', words::PICK_ALL, words::PICK_ALL_SHORT),
            (Pick::AcceptEdits, Kind::Plan) => {
                ('s', words::PLAN_ACCEPT_EDITS, words::PICK_APPLY_EDITS_SHORT)
            }
            (Pick::AcceptEdits, _) => ('s', words::PICK_APPLY_EDITS, words::PICK_APPLY_EDITS_SHORT),
            (Pick::Session, Kind::Denied) => {
                ('s', words::PICK_AGAIN_SESSION, words::PICK_AGAIN_SESSION_SHORT)
            }
            (Pick::Session, _) => ('s', words::PICK_SESSION, words::PICK_SESSION_SHORT),
            (Pick::Project, _) => ('p', words::PICK_PROJECT, words::PICK_PROJECT_SHORT),
            (Pick::WithoutSandbox, _) => ('u', words::PICK_WITHOUT, words::PICK_WITHOUT_SHORT),
            (Pick::TrustFirst, _) => ('t', words::PICK_TRUST_FIRST, words::PICK_TRUST_SHORT),
            (Pick::Trust, _) => ('t', words::PICK_TRUST, words::PICK_TRUST_SHORT),
            (Pick::TrustAbove, _) => ('a', words::PICK_TRUST_ABOVE, words::PICK_TRUST_ABOVE_SHORT),
            (Pick::Continue, Kind::Script) => ('y', session::SCRIPT_MAY, session::SCRIPT_MAY),
            (Pick::Continue, Kind::Plan) => ('y', words::PLAN_ACCEPT, words::PLAN_ACCEPT),
            (Pick::Continue, _) => ('y', words::PICK_GO_ON, words::PICK_GO_ON),
            (Pick::Each, _) => ('y', prompt::PICK_MARKED, prompt::PICK_MARKED_SHORT),
            (Pick::Answer(at), _) => (answer_letter(at), words::PLAN_LINE, words::PLAN_LINE),
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
            Pick::Stop
            | Pick::Continue
            | Pick::Trust
            | Pick::TrustAbove
            | Pick::Each
            | Pick::Answer(_) => {
                return None;
            }
        };
        Some(word.into())
    }

    /// The words that choose it in a typed line, besides its letter.
    fn words(&self) -> &'static [&'static str] {
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
            Pick::Stop => &["stop", "停止"],
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

impl QuestionOffer {
    pub fn choice(&self, pick: ChoicePick) -> Option<&QuestionChoice> {
        self.choices.iter().find(|choice| choice.pick == pick)
    }

    pub fn offers(&self, pick: ChoicePick) -> bool {
        self.choice(pick).is_some()
    }

    /// The choices with a row, which are numbered.
    pub fn rows(&self) -> impl Iterator<Item = &QuestionChoice> {
        self.choices.iter().filter(|choice| choice.has_row(self.kind))
    }

    /// What a choice is called here: its full label or its short one, with the rule and the number
    /// of steps that it is about.
    pub fn named(&self, choice: &QuestionChoice, label: Phrase) -> LocalizedText {
        if let ChoicePick::Answer(at) = choice.pick {
            let text = self.answers.get(at).map_or("", String::as_str);
            return label.with("line", escape(text).text);
        }
        let rule = self.rule.as_deref().unwrap_or_default();
        label.with("rule", escape(rule).text).with("n", self.batch.len() + 1)
    }

    /// The choice of a typed letter or digit, and whether it is exactly that letter: a high-risk
    /// step takes only the capital one.
    pub fn by_key(&self, typed: char) -> Option<(QuestionChoice, bool)> {
        if let Some(digit) = typed.to_digit(10) {
            let at = usize::try_from(digit).ok()?.checked_sub(1)?;
            return self.rows().nth(at).map(|choice| (*choice, false));
        }
        let is_typed = |choice: &&QuestionChoice| choice.letter.eq_ignore_ascii_case(&typed);
        let is_why =
            |choice: &&QuestionChoice| choice.pick == ChoicePick::RejectWithReason && typed == 'w';
        let found = self.choices.iter().find(is_typed);
        let choice = found.or_else(|| self.choices.iter().find(is_why))?;
        Some((*choice, choice.letter == typed))
    }

    /// The choice of a typed line: a letter, a digit or a word. The model's own choices are chosen
    /// by number or by their text, so that every other line can be an answer.
    pub fn by_line(&self, line: &str) -> Option<QuestionChoice> {
        let typed = normalize_width(line).to_lowercase();
        if let Ok(number) = typed.parse::<usize>() {
            return self.rows().nth(number.checked_sub(1)?).copied();
        }
        if self.kind == QuestionKind::Model {
            let is_text = |text: &String| text.trim().to_lowercase() == typed;
            let at = self.answers.iter().position(is_text)?;
            return self.choice(ChoicePick::Answer(at)).copied();
        }
        let is_word = |choice: &&QuestionChoice| choice.words().contains(&typed.as_str());
        let mut letters = typed.chars();
        match (self.choices.iter().find(is_word), letters.next(), letters.next()) {
            (Some(choice), ..) => Some(*choice),
            (None, Some(letter), None) => self.by_key(letter).map(|(choice, _)| choice),
            (None, ..) => None,
        }
    }
}
