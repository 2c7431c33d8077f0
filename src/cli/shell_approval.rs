//! Without the screen, asks the user at the terminal about each shell command of a template.

use super::args::ApprovalFlags;
use avocet_core::i18n::{LocalizedText, linear, prompt as w};
use avocet_core::protocol::{AskId, Decision, TemplateCommand};
use avocet_core::text::escape;
use avocet_present::Severity;
use avocet_present::choices::{is_no, is_yes, normalize_width};
use avocet_present::question_lines::risk_phrase;

/// The shell commands of one template while the user is asked about them, one after the other.
#[derive(Debug)]
pub struct TemplateApproval {
    ask: AskId,
    pieces: Vec<TemplateCommand>,
    /// The command that is asked about.
    index: usize,
    /// The ids of the commands that may run.
    approved: Vec<String>,
}

/// The result of reading a line.
#[derive(Debug, PartialEq)]
pub enum ApprovalLine {
    /// The next question.
    Next(LocalizedText),
    /// Not an answer: a message, and the question again.
    AskAgain(LocalizedText, LocalizedText),
    Decided(AskId, Decision),
}

impl TemplateApproval {
    /// Starts the questions, about the commands that the command line does not approve; `None` if no
    /// question is needed.
    pub fn new(
        ask: AskId,
        pieces: &[TemplateCommand],
        approved: ApprovalFlags,
    ) -> Option<TemplateApproval> {
        let is_approved = |command: &&TemplateCommand| {
            approved.template_commands && command.can_preapprove(approved.secrets)
        };
        let (run, pieces): (Vec<&TemplateCommand>, Vec<&TemplateCommand>) =
            pieces.iter().partition(is_approved);
        let run = run.into_iter().map(|piece| piece.id.clone()).collect();
        let pieces: Vec<_> = pieces.into_iter().cloned().collect();
        (!pieces.is_empty()).then_some(TemplateApproval { ask, pieces, index: 0, approved: run })
    }

    /// The question that waits for a line.
    pub fn question(&self) -> LocalizedText {
        let Some(piece) = self.pieces.get(self.index) else { return w::PIECES_DECLINED.into() };
        let word = if piece.is_high_risk() { w::TERMINAL_GRAVE } else { w::TERMINAL_PIECE };
        let tier = LocalizedText::from(risk_phrase(&piece.risk));
        word.with("tier", tier).with("line", escape(&piece.line).text)
    }

    /// Reads a line as an answer; `None` is the end of the input, and then nothing may run.
    pub fn on_line(&mut self, typed: Option<&str>) -> ApprovalLine {
        let reject = Decision::Reject { word: None };
        let (Some(typed), Some(piece)) = (typed, self.pieces.get(self.index)) else {
            return ApprovalLine::Decided(self.ask, reject);
        };
        let typed = normalize_width(typed);
        let yes = is_yes(&typed);
        let no = is_no(&typed);

        if Severity::of(&piece.risk).is_confirmed(&typed, yes) {
            self.approved.push(piece.id.clone());
        } else if !no {
            let say = if piece.is_high_risk() { linear::NEEDS_YES } else { w::TERMINAL_Y_OR_N };
            return ApprovalLine::AskAgain(say.into(), self.question());
        }
        self.index += 1;
        if self.index < self.pieces.len() {
            return ApprovalLine::Next(self.question());
        }
        let steps = std::mem::take(&mut self.approved);
        ApprovalLine::Decided(
            self.ask,
            if steps.is_empty() { reject } else { Decision::ApproveAll { steps } },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::Lang;
    use avocet_core::protocol::{Risk, Tier};

    fn piece(id: &str, tier: Tier) -> TemplateCommand {
        let risk = Risk { tier, rule: "x".into(), reasons: vec![], effects: vec![], lifted: false };
        TemplateCommand {
            id: id.into(),
            line: format!("run {id}\u{1b}[2J"),
            risk,
            commands: vec![],
        }
    }

    fn asking(tiers: &[(&str, Tier)], yes: bool) -> Option<TemplateApproval> {
        let pieces: Vec<_> = tiers.iter().map(|(id, tier)| piece(id, *tier)).collect();
        let approved = ApprovalFlags { template_commands: yes, ..ApprovalFlags::default() };
        TemplateApproval::new(AskId(3), &pieces, approved)
    }

    fn runs(steps: &[&str]) -> ApprovalLine {
        let steps = steps.iter().map(|id| (*id).to_owned()).collect();
        ApprovalLine::Decided(AskId(3), Decision::ApproveAll { steps })
    }

    fn nothing() -> ApprovalLine {
        ApprovalLine::Decided(AskId(3), Decision::Reject { word: None })
    }

    #[test]
    fn each_command_is_decided_singly_and_enter_skips_it() {
        let mut all = asking(&[("a", Tier::L0), ("b", Tier::L1), ("c", Tier::L1)], false).unwrap();
        assert!(matches!(all.on_line(Some("")), ApprovalLine::Next(_)));
        assert!(matches!(all.on_line(Some("maybe")), ApprovalLine::AskAgain(..)));
        assert!(matches!(all.on_line(Some(" ｙ ")), ApprovalLine::Next(_)), "a wide letter");
        assert_eq!(all.on_line(Some("是")), runs(&["b", "c"]));
        let mut one = asking(&[("a", Tier::L0)], false).unwrap();
        assert_eq!(one.on_line(Some("n")), nothing());
    }

    #[test]
    fn only_the_word_in_capitals_approves_a_high_risk_command_even_with_yes() {
        for yes in [true, false] {
            let mut one = asking(&[("g", Tier::L2)], yes).unwrap();
            assert!(matches!(one.on_line(Some("y")), ApprovalLine::AskAgain(..)));
            assert!(matches!(one.on_line(Some("yes")), ApprovalLine::AskAgain(..)));
            assert_eq!(one.on_line(Some("YES")), runs(&["g"]));
        }
        let mut two = asking(&[("a", Tier::L1), ("g", Tier::L2)], true).unwrap();
        assert_eq!(two.on_line(Some("n")), runs(&["a"]), "what -y allowed runs");
        assert!(asking(&[("a", Tier::L1)], true).is_none());
    }

    #[test]
    fn the_end_of_the_input_allows_nothing() {
        let mut two = asking(&[("a", Tier::L0), ("b", Tier::L0)], false).unwrap();
        assert!(matches!(two.on_line(Some("y")), ApprovalLine::Next(_)));
        assert_eq!(two.on_line(None), nothing());
    }

    #[test]
    fn invisible_characters_are_escaped() {
        let one = asking(&[("a", Tier::L0)], false).unwrap();
        for lang in [Lang::En, Lang::Zh] {
            let said = one.question().text(lang);
            assert!(!said.contains('\u{1b}') && said.contains("run a"), "{said:?}");
        }
    }
}
