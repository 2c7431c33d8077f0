//! Rhythms of typing while questions come and go: no key that was not meant for a question
//! decides it, and no letter is lost.

use proptest::prelude::*;

use super::*;
use crate::guard::QUIET;
use avocet_core::protocol::{QuestionOp, RemainingStep, StepQuestion, TemplateCommand};

/// One event.
#[derive(Clone, Debug)]
enum Beat {
    Letter(char),
    /// A key that is held down.
    Repeated(char, usize),
    Key(KeyCode),
    Paste(&'static str),
    Click,
    Wheel,
    Focus(bool),
    Resize,
    /// The session receives the decisions, and the turn may ask again.
    DecisionsReceived,
    QuestionOpened(Kind),
    /// A picker opens over everything.
    Picker,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Step,
    Batch,
    HighRisk,
    Line,
    Pause,
    Trust,
    TemplateCommands,
    Choices,
    Field,
}

fn question(kind: Kind) -> Question {
    let step = |work, risk| match step_question(work, risk) {
        protocol::Event::Asked(ask) => ask.question,
        other => panic!("{other:?}"),
    };
    let touch = || StepAction::exec("touch", &["a"]);
    let choice = |choices: &[&str]| Question::Choice {
        script: None,
        text: "Which one?".into(),
        choices: choices.iter().map(|text| (*text).to_owned()).collect(),
        free: true,
        fallback: None,
        step: "cmd_001".into(),
    };
    match kind {
        Kind::Step => step(touch(), risk(Tier::L1)),
        Kind::HighRisk => step(touch(), Risk { lifted: true, ..risk(Tier::L1) }),
        Kind::Line => step(StepAction::Shell { line: "touch a && touch b".into() }, risk(Tier::L1)),
        Kind::Batch => {
            let mut question = step(touch(), risk(Tier::L1));
            if let Question::Step(StepQuestion { rest, .. }) = &mut question {
                let (id, work) = ("cmd_002".to_owned(), StepAction::exec("touch", &["b"]));
                rest.push(RemainingStep { id, work, risk: risk(Tier::L1), change: None });
            }
            question
        }
        Kind::Pause => Question::Pause { why: WHY.into() },
        Kind::Trust => {
            let (folder, above) = ("/w".to_owned(), Some("/".to_owned()));
            Question::Trust { folder, above, because: WHY.into(), found: Vec::new() }
        }
        Kind::TemplateCommands => {
            let (id, line) = ("cmd_001".to_owned(), "touch a".to_owned());
            let piece = TemplateCommand { id, line, risk: risk(Tier::L1), commands: Vec::new() };
            Question::Pieces { of: "/x".into(), cwd: "/w".into(), pieces: vec![piece] }
        }
        Kind::Choices => choice(&["tabs", "spaces"]),
        Kind::Field => choice(&[]),
    }
}

fn kind() -> impl Strategy<Value = Kind> {
    use Kind::*;
    prop::sample::select(vec![
        Step,
        Batch,
        HighRisk,
        Line,
        Pause,
        Trust,
        TemplateCommands,
        Choices,
        Field,
    ])
}

fn beat() -> impl Strategy<Value = Beat> {
    let letter = || prop::char::ranges(vec!['a'..='z', 'Y'..='Y', '1'..='4', '中'..='中'].into());
    let keys = vec![
        KeyCode::Enter,
        KeyCode::Enter,
        KeyCode::Tab,
        KeyCode::Down,
        KeyCode::Up,
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Esc,
        KeyCode::End,
        KeyCode::PageDown,
        KeyCode::Char(' '),
    ];
    prop_oneof![
        16 => prop::sample::select(vec!['y', 'a', 's', 'p', 'n', 'w', 'e', 't', '1', '2', 'Y'])
            .prop_map(Beat::Letter),
        16 => letter().prop_map(Beat::Letter),
        2 => (letter(), 2usize..30).prop_map(|(c, n)| Beat::Repeated(c, n)),
        9 => prop::sample::select(keys).prop_map(Beat::Key),
        1 => prop::sample::select(vec!["so\n", "yes\ny\n", "", "Y"]).prop_map(Beat::Paste),
        1 => Just(Beat::Click),
        1 => Just(Beat::Wheel),
        1 => any::<bool>().prop_map(Beat::Focus),
        1 => Just(Beat::Resize),
        4 => Just(Beat::DecisionsReceived),
        5 => kind().prop_map(Beat::QuestionOpened),
        1 => Just(Beat::Picker),
    ]
}

/// Bursts, ordinary typing, and pauses for thought.
fn gap() -> impl Strategy<Value = Millis> {
    prop_oneof![4 => 0u64..60, 8 => 60u64..400, 2 => 400u64..QUIET, 3 => QUIET..4_000]
}

struct TypingHarness {
    state: State,
    now: Millis,
    next: u64,
    /// Open questions, and those whose decision was sent.
    open: Vec<AskId>,
    sent: Vec<AskId>,
    /// The last key, click or paste, or change of the question.
    last: Millis,
    /// The pause has passed since the question became visible, and nothing was typed since.
    is_quiet: bool,
    /// Tab or an arrow was pressed since the last typing.
    has_moved_focus: bool,
    /// The letters that the question received.
    question_letters: String,
    /// The letter that decided a question, as long as no other key follows it.
    decided: Option<char>,
    /// The letters of each message sent, and of each draft that Up or Down replaced by one.
    recalled: Vec<Vec<char>>,
    /// The letters of messages that the running turn has not read.
    steered: Vec<char>,
}

fn letters(text: &str) -> Vec<char> {
    let mut letters: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    letters.sort_unstable();
    letters
}

impl TypingHarness {
    fn new(busy: bool) -> TypingHarness {
        let mut state = State::new(ScreenConfig::default());
        state.suggestions.set::<&str>(&[]);
        if busy {
            receive(&mut state, started());
        }
        TypingHarness {
            state,
            now: 5_000,
            next: 1,
            open: Vec::new(),
            sent: Vec::new(),
            last: 0,
            is_quiet: false,
            has_moved_focus: false,
            question_letters: String::new(),
            decided: None,
            recalled: Vec::new(),
            steered: Vec::new(),
        }
    }

    fn draw(&mut self) {
        let backend = TestBackend::new(SIZE.0, SIZE.1);
        let mut terminal = Terminal::new(backend).expect("a test terminal");
        terminal.draw(|frame| drop(draw_frame(&mut self.state, frame, self.now))).expect("a frame");
    }

    fn draft_letters(&self) -> Vec<char> {
        let kept = self.state.palette.draft().unwrap_or_default();
        letters(&format!("{}{kept}", self.state.composer.full_text()))
    }

    /// What the question ignored just now.
    fn ignored_letters(&self) -> Vec<char> {
        let keys = self.state.guard.clone().take_ignored(self.now);
        keys.iter().filter_map(|key| key.code.as_char()).collect()
    }

    /// The question changed: earlier keys are not for it. If there was none in the second before,
    /// the next one is.
    fn question_changed(&mut self) {
        (self.is_quiet, self.has_moved_focus) = (self.now > self.last + 1_000, false);
        if !self.is_quiet {
            self.last = self.now;
        }
        self.question_letters.clear();
        self.draw();
    }

    fn session(&mut self, event: protocol::Event) {
        let before = self.draft_letters();
        let effects =
            visible_effects(update(&mut self.state, TimedInput::session(self.now, event)));
        assert!(find_decision(&effects).is_none(), "an event of the session decides nothing");
        assert_eq!(self.draft_letters(), before, "nor does it take a letter");
    }

    fn receive_decisions(&mut self) {
        if self.sent.is_empty() {
            return;
        }
        for ask in std::mem::take(&mut self.sent) {
            self.session(protocol::Event::QuestionClosed { ask });
            self.open.retain(|open| *open != ask);
        }
        self.question_changed();
    }

    fn open_question(&mut self, kind: Kind) {
        let id = AskId(self.next);
        self.next += 1;
        self.open.push(id);
        let ask = Ask { id, question: question(kind) };
        self.session(protocol::Event::Asked(Box::new(ask)));
        self.question_changed();
    }

    /// The letters of the draft and of what was sent, and those that came back from the queue.
    fn letters_after(&mut self, effects: &[ScreenEffect]) -> (Vec<char>, Vec<char>) {
        let mut after = self.draft_letters();
        let mut returned = Vec::new();
        for effect in effects {
            if let ScreenEffect::Send(Op::Turn(TurnOp::Submit { text } | TurnOp::Steer { text })) =
                effect
            {
                after.extend(letters(text));
                after.sort_unstable();
                self.recalled.push(letters(text));
            }
            match effect {
                ScreenEffect::Send(Op::Turn(TurnOp::Steer { text })) => {
                    self.steered.extend(letters(text))
                }
                ScreenEffect::Send(Op::Turn(TurnOp::SetQueue { .. })) => {
                    returned.append(&mut self.steered)
                }
                _ => {}
            }
        }
        (after, returned)
    }

    /// A key; `types`: the letter it types.
    fn key(&mut self, event: KeyEvent, types: Option<char>) {
        let asking = self.state.modals.is_question_on_top();
        let listed = !asking && !self.state.modals.is_empty();
        let blank = self.state.composer.is_blank();
        let (before, field) = (self.draft_letters(), self.state.modals.has_text_field());
        let ignored = self.ignored_letters();
        if self.now >= self.last + QUIET || self.decided != types {
            self.decided = None;
        }
        self.is_quiet |= self.now >= self.last + QUIET;
        self.last = self.now;
        let effects = visible_effects(update(&mut self.state, TimedInput::key(self.now, event)));
        if let Some((ask, decision)) = find_decision(&effects) {
            self.check(ask, decision, blank, types);
            self.decided = types;
        }
        let (after, returned) = self.letters_after(&effects);
        let mut unchanged = before.clone();
        unchanged.extend(returned);
        unchanged.sort_unstable();
        let wrote = after != unchanged;
        let mut expected = unchanged;
        expected.extend(types);
        expected.sort_unstable();
        let is_text = types.is_some() || event.code == KeyCode::Char(' ');
        if wrote && is_text && asking && after != expected {
            // What the question ignored just before is the beginning of the text.
            expected.extend(ignored);
            expected.sort_unstable();
        }
        if listed {
            // In a list, typing filters.
        } else if types.is_some() && self.decided == types && !wrote {
            // The key that decided, held down.
        } else if types.is_some() && asking && self.is_quiet && !wrote {
            if field {
                self.question_letters.extend(types);
            }
        } else if asking
            && !wrote
            && types.is_some()
            && self.ignored_letters().last() == types.as_ref()
        {
            // The letter of a choice is held: more text brings it back.
        } else if matches!(event.code, KeyCode::Up | KeyCode::Down) && wrote {
            // It brings an earlier message into the input, or the draft back.
            assert!(self.recalled.contains(&after), "{event:?} brings {after:?}");
            self.recalled.push(before);
        } else {
            assert_eq!(after, expected, "{event:?} loses or invents a letter");
        }
        match event.code {
            KeyCode::Tab | KeyCode::Up | KeyCode::Down | KeyCode::Left | KeyCode::Right => {
                self.has_moved_focus = true;
            }
            KeyCode::Esc if field && self.is_quiet && !wrote => self.question_letters.clear(),
            _ => {}
        }
        if wrote {
            (self.is_quiet, self.has_moved_focus) = (false, false);
        }
        if listed && self.state.modals.is_question_on_top() {
            self.question_changed();
        }
    }

    fn check(&mut self, ask: AskId, decision: &Decision, blank: bool, types: Option<char>) {
        assert_eq!(Some(&ask), self.open.last(), "the question that is seen is answered");
        assert!(!self.sent.contains(&ask), "and once");
        assert!(self.is_quiet, "{decision:?} without a pause");
        assert!(blank || self.has_moved_focus, "{decision:?} past a draft");
        let word = match decision {
            Decision::Answer { text } => Some(text.as_str()).filter(|_| types.is_none()),
            Decision::Reject { word } => word.as_deref(),
            _ => None,
        };
        if let Some(word) = word.filter(|_| !self.question_letters.is_empty()) {
            for letter in letters(&self.question_letters) {
                assert!(word.contains(letter), "{letter} is not in {word:?}");
            }
        }
        self.sent.push(ask);
    }

    fn paste(&mut self, text: &str) {
        let field = self.state.modals.has_text_field();
        let (asking, listed) =
            (self.state.modals.is_question_on_top(), !self.state.modals.is_empty());
        let before = self.draft_letters();
        let input = ScreenInput::Paste(text.into());
        let effects = visible_effects(update(&mut self.state, TimedInput { at: self.now, input }));
        // A step that is edited is judged again with each change; that decides nothing.
        assert!(find_decision(&effects).is_none(), "a paste decides nothing: {effects:?}");
        let mut expected = before.clone();
        expected.extend(letters(text));
        expected.sort_unstable();
        let after = self.draft_letters();
        if after != before {
            (self.is_quiet, self.has_moved_focus) = (false, false);
        } else if !field && (asking || !listed) {
            assert_eq!(after, expected, "{text:?} is lost");
        }
        self.last = self.now;
    }

    fn other(&mut self, input: ScreenInput) {
        let before = self.draft_letters();
        let effects = visible_effects(update(&mut self.state, TimedInput { at: self.now, input }));
        assert!(find_decision(&effects).is_none(), "only a key decides: {effects:?}");
        assert_eq!(self.draft_letters(), before);
    }

    fn beat(&mut self, beat: &Beat) {
        let mouse = |kind| MouseEvent { kind, column: 3, row: 20, modifiers: KeyModifiers::NONE };
        match beat {
            Beat::Letter(c) => self.key(KeyCode::Char(*c).into(), Some(*c)),
            Beat::Repeated(c, times) => {
                self.key(KeyCode::Char(*c).into(), Some(*c));
                for _ in 0..*times {
                    self.now += 33;
                    let mut event = KeyEvent::from(KeyCode::Char(*c));
                    event.kind = KeyEventKind::Repeat;
                    self.key(event, Some(*c));
                }
            }
            Beat::Key(code) => self.key((*code).into(), None),
            Beat::Paste(text) => self.paste(text),
            Beat::Click => {
                let was_asking = self.state.modals.is_question_on_top();
                self.other(ScreenInput::Mouse(mouse(MouseEventKind::Down(MouseButton::Left))));
                // A click before the question opened does not count as a key.
                match (was_asking, self.state.modals.is_question_on_top()) {
                    (true, true) => self.last = self.now,
                    (false, true) => self.question_changed(),
                    (_, false) => {}
                }
            }
            Beat::Wheel => self.other(ScreenInput::Mouse(mouse(MouseEventKind::ScrollDown))),
            Beat::Focus(true) => self.other(ScreenInput::FocusGained),
            Beat::Focus(false) => self.other(ScreenInput::FocusLost),
            Beat::Resize => {
                self.other(ScreenInput::Resized);
                self.draw();
            }
            Beat::DecisionsReceived => self.receive_decisions(),
            Beat::QuestionOpened(kind) => self.open_question(*kind),
            Beat::Picker => {
                // The question below the list changes only when the list closes.
                self.session(protocol::Event::RewindAsked { turn: 1, files: 2 });
                self.draw();
            }
        }
    }
}

fn find_decision(effects: &[ScreenEffect]) -> Option<(AskId, &Decision)> {
    effects.iter().find_map(|effect| match effect {
        ScreenEffect::Send(Op::Question(QuestionOp::Decide { ask, decision })) => {
            Some((*ask, decision))
        }
        _ => None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]
    #[test]
    fn typing_never_answers_a_question_by_accident_or_loses_a_letter(
        beats in prop::collection::vec((gap(), beat()), 1..60),
        first in kind(),
        busy in any::<bool>(),
        opens in 0usize..12,
    ) {
        let mut desk = TypingHarness::new(busy);
        for (at, (gap, beat)) in beats.iter().enumerate() {
            if at == opens {
                desk.open_question(first);
            }
            desk.now += gap;
            desk.beat(beat);
        }
    }
}
