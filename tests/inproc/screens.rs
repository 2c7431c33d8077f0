//! What the screen looks like, one picture a situation: fed by events and keys alone.

use std::collections::BTreeSet;

use avocet::i18n::{
    Lang, LocalizedText, Phrase, agent, keys, library, rules, safety, sandbox, session,
};
use avocet::protocol::{
    Ask, AskId, AttachmentInfo, AttachmentSize, Change, Decision, Effect as May, Event, Extension,
    ExtensionKind, ExtensionOp, ExtensionState, Extensions, FormField, FormFieldKind, Mode,
    ModelMessage, ModelOffer, ModelOp, Money, Notice, Observation, Op, Outcome, PlanItem,
    PlanState, Question, QuestionOp, QueuedMessage, Reason, RemainingStep, Requires, Risk,
    SandboxDenial, SessionInfo, Step, StepAction, StepQuestion, SubCommand, SubmitId,
    TemplateCommand, Tier, TurnOrigin, TurnOutcome, UntrustedFile, Usage,
};
use avocet::tui::theme::{Depth, Theme};
use avocet::tui::{
    self, ConnectResult, ProviderOffer, ScreenConfig, ScreenEffect, ScreenInput, State,
};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

mod agents;
mod looks;

/// A screen with a clock of its own.
struct Screen {
    state: State,
    terminal: Terminal<TestBackend>,
    /// The last frame. Not what the backend kept: that has the cells that wide
    /// characters cover, too.
    frame: Buffer,
    now: u64,
    sent: Vec<Op>,
}

impl Screen {
    fn new(lang: Lang, size: (u16, u16)) -> Screen {
        Screen::of(
            ScreenConfig {
                lang,
                facts: facts(lang),
                theme: "dark".into(),
                ..ScreenConfig::default()
            },
            size,
        )
    }

    fn of(config: ScreenConfig, (width, height): (u16, u16)) -> Screen {
        let terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let mut screen = Screen {
            state: State::new(config),
            terminal,
            frame: Buffer::default(),
            now: 0,
            sent: Vec::new(),
        };
        screen.draw();
        screen
    }

    fn input(&mut self, input: ScreenInput) -> Vec<ScreenEffect> {
        let effects = tui::update(&mut self.state, tui::TimedInput { at: self.now, input });
        for effect in &effects {
            if let ScreenEffect::Send(op) = effect
                && *op != Op::Extension(ExtensionOp::RefreshExtensions)
            {
                self.sent.push(op.clone());
            }
        }
        effects
    }

    fn receives(&mut self, events: impl IntoIterator<Item = Event>) -> &mut Screen {
        let mut asked = false;
        for event in events {
            asked |= matches!(event, Event::Asked(_));
            self.input(ScreenInput::Session(Box::new(event)));
        }
        // A question takes keys after a while without any.
        self.now += if asked { tui::QUIET } else { 0 };
        self.draw();
        self
    }

    /// Each character is a key; `\n` is Enter, `\t` is Tab.
    fn types(&mut self, keys: &str) -> &mut Screen {
        for c in keys.chars() {
            let code = match c {
                '\n' => KeyCode::Enter,
                '\t' => KeyCode::Tab,
                c => KeyCode::Char(c),
            };
            self.press(code, KeyModifiers::NONE);
        }
        self
    }

    fn press(&mut self, code: KeyCode, modifiers: KeyModifiers) -> Vec<ScreenEffect> {
        let effects = self.input(ScreenInput::Key(KeyEvent::new(code, modifiers)));
        self.draw();
        effects
    }

    fn waits(&mut self, ms: u64) -> &mut Screen {
        self.now += ms;
        self.input(ScreenInput::Tick);
        self.draw();
        self
    }

    fn draw(&mut self) {
        let (state, now) = (&mut self.state, self.now);
        let drawn = self.terminal.draw(|frame| drop(tui::draw_frame(state, frame, now))).unwrap();
        self.frame = drawn.buffer.clone();
    }

    fn picture(&self) -> String {
        picture(&self.frame)
    }
}

/// The text of a frame, without the cells that wide characters cover.
fn picture(buf: &Buffer) -> String {
    let mut out = String::new();
    for y in 0..buf.area.height {
        let mut row = String::new();
        let mut skip = 0;
        for x in 0..buf.area.width {
            let symbol = buf[(x, y)].symbol();
            if skip == 0 {
                row.push_str(symbol);
                skip = ratatui::text::Span::raw(symbol).width().saturating_sub(1);
            } else {
                skip -= 1;
            }
        }
        out.push_str(row.trim_end());
        out.push('\n');
    }
    out
}

fn facts(lang: Lang) -> SessionInfo {
    SessionInfo {
        model: "qwen3-coder".into(),
        provider: avocet::protocol::Provider::OpenAi,
        base_url: "http://127.0.0.1:8080/v1".into(),
        profile: "default".into(),
        mode: Mode::High,
        lang,
        cwd: "/home/ada/code/shop".into(),
        branch: Some("main".into()),
        max_steps: Some(25),
        usage: Usage::counted(4_210, 912),
        ..SessionInfo::default()
    }
}

fn guide(lang: Lang) -> SessionInfo {
    SessionInfo {
        model: "guide".into(),
        provider: avocet::protocol::Provider::Guide,
        base_url: String::new(),
        usage: Usage::default(),
        ..facts(lang)
    }
}

fn started(text: &str) -> Event {
    Event::TurnStarted { turn: 1, text: text.into(), origin: TurnOrigin::Typed, submit: None }
}

fn ended() -> Event {
    let usage = Usage::counted(2_100, 320);
    Event::TurnEnded { turn: 1, ending: TurnOutcome::Done, usage, elapsed_ms: 4_200 }
}

fn delta(text: &str) -> Event {
    Event::Delta { text: text.into() }
}

fn says(message: &str) -> Event {
    Event::Replied(ModelMessage {
        message: message.into(),
        markdown: true,
        ..ModelMessage::default()
    })
}

fn step(id: &str, work: StepAction) -> Step {
    Step { id: id.into(), work, requires: Requires::default(), cwd: None }
}

fn reason(tier: Tier, rule: &str, word: Phrase, arg: Option<usize>) -> Reason {
    Reason { rule: rule.into(), tier, say: word.into(), arg }
}

const INSTALLS: Phrase = Phrase {
    key: "test.installs",
    en: "downloads a package and may run its scripts",
    zh: "会下载软件包并可能运行其脚本",
};
const WRITES: Phrase =
    Phrase { key: "test.writes", en: "writes into the project", zh: "会写入项目目录" };
const DELETES: Phrase = Phrase {
    key: "test.deletes",
    en: "deletes a folder and all that is in it",
    zh: "会删除目录及其全部内容",
};
const RUNS_CODE: Phrase = Phrase {
    key: "test.code",
    en: "`npm test` runs code or settings of the project.",
    zh: "`npm test` 会运行项目中的代码或设置。",
};
const SENDS: Phrase = Phrase {
    key: "test.sends",
    en: "`git push` sends commits to another machine",
    zh: "`git push` 会把提交发送到其他机器",
};
const PIPES: Phrase =
    Phrase { key: "test.pipes", en: "runs what it downloads", zh: "会运行下载的内容" };
const ONLY_READS: Phrase = Phrase { key: "test.reads", en: "only reads", zh: "只读取" };

fn risk(tier: Tier, reasons: Vec<Reason>, effects: &[May]) -> Risk {
    Risk {
        tier,
        rule: reasons.first().map(|reason| reason.rule.clone()).unwrap_or_default(),
        reasons,
        effects: effects.to_vec(),
        lifted: false,
    }
}

fn reads() -> Risk {
    risk(Tier::L0, vec![reason(Tier::L0, "git.status", ONLY_READS, None)], &[May::Read])
}

fn install_risk() -> Risk {
    risk(
        Tier::L1,
        vec![
            reason(Tier::L1, "npm.install", INSTALLS, Some(0)),
            reason(Tier::L1, "write.workspace", WRITES, None),
        ],
        &[May::Write, May::Exec, May::Network],
    )
}

fn ask(work: StepAction, risk: Risk, rule: Option<&str>, pieces: Vec<SubCommand>) -> Event {
    let resolved = match &work {
        StepAction::Exec { program, .. } => Some(format!("/usr/bin/{program}")),
        StepAction::Tool { .. } | StepAction::Shell { .. } => None,
    };
    Event::Asked(Box::new(Ask {
        id: AskId(7),
        question: Question::Step(StepQuestion {
            resolved,
            why: "The price column needs padding, and left-pad does exactly that.".into(),
            expected: "left-pad stands in package.json".into(),
            number: 2,
            of: 5,
            pieces,
            rule: rule.map(str::to_owned),
            ..StepQuestion::new(step("cmd_002", work), risk, "/home/ada/code/shop")
        }),
    }))
}

fn asks_to_install() -> Event {
    let work = StepAction::exec("npm", &["install", "left-pad", "--save"]);
    let mut risk = install_risk();
    risk.reasons.push(confined());
    ask(work, risk, Some("npm install *"), Vec::new())
}

/// What is said of a step that the sandbox confines.
fn confined() -> Reason {
    let network = LocalizedText::from(safety::SANDBOX_NETWORK_OPEN);
    let say = safety::SANDBOX_WORK.with("network", network);
    Reason { rule: "sandbox.work".into(), tier: Tier::L1, say, arg: None }
}

/// A question about a command of one line, with what its rule covers.
fn asks_about(command: &[&str], rule: Option<&str>, risk: Risk) -> Event {
    let (program, args) = command.split_first().unwrap();
    let Event::Asked(mut asked) = ask(StepAction::exec(*program, args), risk, rule, Vec::new())
    else {
        panic!("asks")
    };
    let Question::Step(question) = &mut asked.question else { panic!("a step") };
    (question.number, question.of) = (1, 1);
    let covers = rules::OPEN.with("what", LocalizedText::from(rules::OPERANDS_INSIDE));
    let covers = covers.with("command", rule.unwrap_or_default().trim_end_matches(" *"));
    question.rule_covers = vec![covers.with("folder", "/home/ada/code/shop"), rules::ASKS.into()];
    Event::Asked(asked)
}

fn asks_to_test() -> Event {
    let mut risk = risk(
        Tier::L1,
        vec![reason(Tier::L1, "npm.test", RUNS_CODE, None)],
        &[May::Write, May::Exec, May::Network],
    );
    risk.reasons.push(confined());
    asks_about(&["npm", "test"], Some("npm test *"), risk)
}

/// The same with steps behind it, the last one as risky as given.
fn asks_with_more_steps(last: Risk) -> Event {
    let Event::Asked(mut asked) = asks_to_install() else { panic!("asks") };
    let Question::Step(StepQuestion { rest, .. }) = &mut asked.question else { panic!("a step") };
    let ahead = |id: &str, work, risk| RemainingStep { id: id.into(), work, risk, change: None };
    rest.extend([
        ahead("cmd_003", StepAction::exec("npm", &["test"]), install_risk()),
        ahead("cmd_004", StepAction::exec("git", &["status"]), reads()),
        ahead("cmd_005", StepAction::exec("git", &["add", "package.json", "src/价格.ts"]), last),
    ]);
    Event::Asked(asked)
}

fn ran(id: &str, program: &str, args: &[&str], stdout: &str) -> [Event; 2] {
    let step = step(id, StepAction::exec(program, args));
    let mut seen = Observation::not_run(step.clone(), "/home/ada/code/shop", reads(), Outcome::Ran);
    seen.exit_code = Some(0);
    seen.duration_ms = 42;
    seen.stdout = stdout.into();
    [Event::StepStarted { step, risk: reads() }, Event::StepFinished(Box::new(seen))]
}

macro_rules! shows {
    ($name:expr, $screen:expr) => {
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!($name, $screen.picture());
        });
    };
}

const ANSWER: &str = "Two files changed since yesterday:\n\n- `src/price.rs` rounds to **cents** now\n- `tests/price.rs` has a case for *negative* prices\n\n```rust\nfn cents(price: f64) -> i64 {\n    (price * 100.0).round() as i64\n}\n```\n";

/// A conversation with something in it.
fn conversation() -> Vec<Event> {
    let mut events = vec![started("What changed here?"), Event::ReplyStarted];
    events.push(says("Let me look."));
    events.extend(ran(
        "cmd_001",
        "git",
        &["status", "--short"],
        " M src/price.rs\n M tests/price.rs\n",
    ));
    events.push(Event::ReplyStarted);
    events
}

#[test]
fn the_welcome_screen_shows_the_folder_and_suggestions() {
    for (lang, name) in [(Lang::En, "start_en"), (Lang::Zh, "start_zh")] {
        let config = ScreenConfig {
            lang,
            facts: guide(lang),
            theme: "dark".into(),
            ..ScreenConfig::default()
        };
        let screen = Screen::of(config, (80, 24));
        shows!(name, screen);
    }
}

#[test]
fn an_answer_is_shown_while_it_arrives() {
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen.receives(conversation()).receives([delta(ANSWER)]).waits(4_250);
    shows!("streaming_en", screen);
    let mut screen = Screen::new(Lang::Zh, (80, 24));
    screen.receives(conversation()).receives([delta("昨天以来有两个文件改动：\n\n- `src/price.rs` 现在按**分**取整\n- `tests/price.rs` 增加了负价格的用例")]).waits(4_250);
    shows!("streaming_zh", screen);
}

#[test]
fn an_answer_offers_suggestions() {
    let mut screen = Screen::new(Lang::En, (80, 24));
    let replied = ModelMessage {
        message: ANSWER.into(),
        markdown: true,
        suggestions: vec![
            "Show me the diff".into(),
            "Run the tests".into(),
            "Commit both files".into(),
        ],
        ..ModelMessage::default()
    };
    screen.receives(conversation()).receives([Event::Replied(replied), ended()]);
    screen.types("\t");
    shows!("suggestions_en", screen);
}

#[test]
fn a_risky_step_asks_in_a_dialog() {
    for (lang, name) in [(Lang::En, "approve_en"), (Lang::Zh, "approve_zh")] {
        let mut screen = Screen::new(lang, (80, 24));
        screen.receives(conversation()).receives([asks_to_install()]);
        shows!(name, screen);
    }
}

#[test]
fn a_question_says_where_keys_go() {
    for (lang, name, draft) in
        [(Lang::En, "en", "and then run the tests"), (Lang::Zh, "zh", "然后运行测试")]
    {
        for (size, at) in [((80, 24), ""), ((120, 40), "_wide")] {
            let mut screen = Screen::new(lang, size);
            screen.receives(conversation()).receives([asks_to_install()]);
            screen.now -= 1;
            screen.draw();
            shows!(format!("question_pause_{name}{at}"), screen);
            screen.types(draft).waits(tui::QUIET);
            shows!(format!("question_draft_{name}{at}"), screen);
            screen.types("\t");
            shows!(format!("question_beside_draft_{name}{at}"), screen);
            screen.types("/st");
            shows!(format!("question_line_{name}{at}"), screen);
        }
    }
}

/// A long command is gone through to its end: before that a yes is none.
#[test]
fn a_long_command_must_be_scrolled_to_its_end_before_approval() {
    let mut screen = Screen::new(Lang::En, (80, 50));
    let args: Vec<String> = (1..=500).map(|at| format!("argument-{at}")).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let writes = risk(Tier::L1, vec![reason(Tier::L1, "mkdir", WRITES, Some(499))], &[May::Write]);
    let question = ask(StepAction::exec("mkdir", &args), writes, None, Vec::new());
    screen.receives(conversation()).receives([question]).waits(1_000);
    let approves = |screen: &mut Screen| {
        screen.types("y").waits(1_000);
        screen.sent.iter().any(|op| matches!(op, Op::Question(QuestionOp::Decide { .. })))
    };
    let mut shown = BTreeSet::new();
    let mut pages = 0;
    loop {
        let picture = screen.picture();
        let numbers = picture.split_whitespace().filter_map(|word| word.strip_prefix("argument-"));
        shown.extend(numbers.filter_map(|number| number.parse::<usize>().ok()));
        if shown.len() == 500 {
            break;
        }
        assert!(picture.contains("Rows "), "{picture}");
        assert!(!approves(&mut screen), "after {} arguments", shown.len());
        screen.press(KeyCode::Char(' '), KeyModifiers::NONE);
        pages += 1;
        assert!(pages < 40, "{} arguments in {pages} pages", shown.len());
    }
    // What else stands on the sheet comes behind them.
    let is_approved = (0..3).any(|_| {
        let is_approved = approves(&mut screen);
        screen.press(KeyCode::Char(' '), KeyModifiers::NONE);
        is_approved
    });
    assert!(is_approved, "a yes after all of it is none\n{}", screen.picture());
}

#[test]
fn invisible_characters_are_shown_escaped() {
    let mut screen = Screen::new(Lang::En, (80, 30));
    let work = StepAction::exec(
        "git",
        &["commit", "-m", "fix: price\n\nrm -rf \u{202e}txt.exe", "--author=中文 <a@b>", ""],
    );
    let writes = risk(
        Tier::L1,
        vec![
            reason(Tier::L1, "git.commit", WRITES, Some(0)),
            reason(Tier::L1, "arg.unseen", ONLY_READS, Some(2)),
        ],
        &[May::Write],
    );
    screen.receives(conversation()).receives([ask(work, writes, None, Vec::new())]);
    shows!("approve_escaped", screen);
}

#[test]
fn an_edited_step_shows_its_new_verdict() {
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen.receives(conversation()).receives([asks_to_install()]).waits(300).types("e");
    screen.types("-dev");
    shows!("edit_judging", screen);
    let Some(Op::Question(QuestionOp::PreviewRisk { ask, work })) = screen.sent.last().cloned()
    else {
        panic!("judges")
    };
    assert_eq!(work, StepAction::exec("npm", &["install", "left-pad", "--save-dev"]));
    screen.receives([Event::Judged {
        ask,
        work: work.clone(),
        risk: install_risk(),
        change: None,
    }]);
    shows!("edit_judged", screen);
    screen.waits(1_000).types("\n");
    assert_eq!(
        screen.sent.last(),
        Some(&Op::Question(QuestionOp::Decide { ask, decision: Decision::Edit(work) }))
    );
}

#[test]
fn an_edit_that_is_denied_cannot_be_run() {
    let mut screen = Screen::new(Lang::Zh, (80, 24));
    screen.receives(conversation()).receives([asks_to_install()]).waits(300).types("e ;");
    shows!("edit_unreadable_zh", screen);
}

#[test]
fn a_shell_line_shows_each_of_its_commands() {
    for (lang, name) in [(Lang::En, "shell_en"), (Lang::Zh, "shell_zh")] {
        let mut screen = Screen::new(lang, (80, 24));
        let piece = |text: &str, risk: Risk| SubCommand { text: text.into(), risk };
        let grave = risk(
            Tier::L2,
            vec![
                reason(Tier::L2, "rm.recursive", DELETES, None),
                reason(Tier::L2, "shell.pipe", PIPES, None),
            ],
            &[May::Delete, May::Network, May::Irreversible],
        );
        let line = "git status && rm -rf build; curl -s https://x.example/i.sh | sh";
        let pieces = vec![
            piece("git status", reads()),
            piece("rm -rf build", grave.clone()),
            piece("curl -s https://x.example/i.sh", install_risk()),
            piece("sh", grave.clone()),
        ];
        screen.receives([ask(StepAction::Shell { line: line.into() }, grave, None, pieces)]);
        shows!(name, screen);
    }
}

/// The question about a template with a piece of each tier.
fn asks_about_pieces() -> Event {
    let piece = |id: &str, line: &str, risk: Risk, commands: &[(&str, Risk)]| TemplateCommand {
        id: id.into(),
        line: line.into(),
        risk,
        commands: commands
            .iter()
            .map(|(text, risk)| SubCommand { text: (*text).into(), risk: risk.clone() })
            .collect(),
    };
    let deletes = risk(
        Tier::L2,
        vec![reason(Tier::L2, "rm.recursive", DELETES, None)],
        &[May::Delete, May::Irreversible],
    );
    let pieces = vec![
        piece("cmd_001", "git diff --staged", reads(), &[("git diff --staged", reads())]),
        piece(
            "cmd_002",
            "npm install left-pad && git log -5 --oneline",
            install_risk(),
            &[("npm install left-pad", install_risk()), ("git log -5 --oneline", reads())],
        ),
        piece("cmd_003", "rm -rf build", deletes.clone(), &[("rm -rf build", deletes)]),
    ];
    let question =
        Question::Pieces { of: "/release".into(), cwd: "/home/ada/code/shop".into(), pieces };
    Event::Asked(Box::new(Ask { id: AskId(9), question }))
}

#[test]
fn all_template_commands_are_in_one_dialog() {
    for (lang, name) in [(Lang::En, "en"), (Lang::Zh, "zh")] {
        for (size, at) in [((80, 24), ""), ((120, 40), "_wide")] {
            let mut screen = Screen::new(lang, size);
            screen.receives([started("/release v2"), asks_about_pieces()]);
            shows!(format!("pieces_{name}{at}"), screen);
        }
    }
}

#[test]
fn one_command_can_be_rejected_and_high_risk_needs_a_capital_letter() {
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen.receives([started("/release v2"), asks_about_pieces()]).waits(400);
    // The second is left out; the third is not taken in by a digit.
    screen.types("23");
    shows!("pieces_marking", screen);
    screen.types("y").waits(400);
    let steps = |ids: &[&str]| {
        let steps = ids.iter().map(|id| (*id).to_owned()).collect();
        Some(Op::Question(QuestionOp::Decide {
            ask: AskId(9),
            decision: Decision::ApproveAll { steps },
        }))
    };
    assert_eq!(screen.sent.last().cloned(), steps(&["cmd_001"]));
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen.receives([started("/release v2"), asks_about_pieces()]).waits(400);
    screen.types("3Yy").waits(400);
    assert_eq!(screen.sent.last().cloned(), steps(&["cmd_001", "cmd_002", "cmd_003"]));
}

#[test]
fn enter_runs_no_template_command_and_an_empty_selection_does_not_answer() {
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen.receives([started("/release v2"), asks_about_pieces()]).waits(400);
    screen.types("\n");
    let none = Op::Question(QuestionOp::Decide {
        ask: AskId(9),
        decision: Decision::Reject { word: None },
    });
    assert_eq!(screen.sent.last(), Some(&none));
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen.receives([started("/release v2"), asks_about_pieces()]).waits(400);
    screen.types("12y");
    assert_eq!(screen.sent, [], "{}", screen.picture());
    // The digits left the cursor on the second; Space marks the one above it.
    screen.press(KeyCode::Up, KeyModifiers::NONE);
    screen.types(" y").waits(400);
    assert!(matches!(
        screen.sent.last(),
        Some(Op::Question(QuestionOp::Decide { decision: Decision::ApproveAll { steps }, .. })) if steps.len() == 1
    ));
}

const CLOSED: Phrase = Phrase {
    key: "test.closed",
    en: "may be used only with the user's approval",
    zh: "须经用户同意才能使用",
};

fn skill(id: &str, name: &str) -> Step {
    let input = serde_json::json!({ "name": name, "args": "" });
    step(id, StepAction::Tool { name: "skill".into(), input })
}

#[test]
fn the_screen_says_which_skill_was_chosen_and_why() {
    for (lang, name, words, why, what) in [
        (Lang::En, "en", "Please run the test suite", "`run-tests` is for this.", "Which one?"),
        (Lang::Zh, "zh", "请运行测试", "`run-tests` 适合这个请求。", "用哪一个？"),
    ] {
        for (size, at) in [((80, 24), ""), ((120, 40), "_wide")] {
            let mut screen = Screen::new(lang, size);
            let entered = skill("cmd_001", "run-tests");
            let mut seen = Observation::not_run(entered.clone(), "/w", reads(), Outcome::Ran);
            (seen.exit_code, seen.stdout) = (Some(0), "Skill run-tests.\n\nRun them.\n".into());
            let suggestions = vec!["run-tests".to_owned(), "bench".to_owned()];
            screen.receives([
                started(words),
                Event::ReplyStarted,
                says(why),
                Event::StepStarted { step: entered, risk: reads() },
                Event::StepFinished(Box::new(seen)),
                Event::ReplyStarted,
                Event::Replied(ModelMessage {
                    message: what.into(),
                    suggestions,
                    ..ModelMessage::default()
                }),
                ended(),
            ]);
            shows!(format!("skill_{name}{at}"), screen);
        }
    }
}

#[test]
fn a_sensitive_skill_asks_before_it_is_entered() {
    for (lang, name) in [(Lang::En, "en"), (Lang::Zh, "zh")] {
        for (size, at) in [((80, 24), ""), ((120, 40), "_wide")] {
            let mut screen = Screen::new(lang, size);
            let closed =
                risk(Tier::L1, vec![reason(Tier::L1, "skill.closed", CLOSED, None)], &[May::Read]);
            let work = skill("cmd_002", "deploy").work;
            screen.receives(conversation()).receives([ask(work, closed, None, vec![])]);
            shows!(format!("skill_asks_{name}{at}"), screen);
        }
    }
}

#[test]
fn attachments_are_listed_below_the_message() {
    for (lang, name) in [(Lang::En, "en"), (Lang::Zh, "zh")] {
        for (size, at) in [((80, 24), ""), ((120, 40), "_wide")] {
            let mut screen = Screen::new(lang, size);
            let item = |name: &str, size: AttachmentSize, cut: bool| AttachmentInfo {
                name: name.into(),
                size,
                cut,
            };
            let items = vec![
                item("@src/main.rs", AttachmentSize::Lines(120), false),
                item("@\"docs/a b.md\":10-40", AttachmentSize::Lines(31), false),
                item("@logs/very.log", AttachmentSize::Lines(20_000), true),
                item("@src/", AttachmentSize::Entries(14), false),
                item("@shot.png", AttachmentSize::Pixels { width: 1568, height: 882 }, false),
            ];
            screen.receives([
                started("compare @src/main.rs @\"docs/a b.md\":10-40 @logs/very.log @src/"),
                Event::Attached { items, images: Vec::new() },
                says("They agree."),
                ended(),
            ]);
            shows!(format!("attached_{name}{at}"), screen);
        }
    }
}

#[test]
fn a_pause_asks_whether_to_continue() {
    for (lang, name) in [(Lang::En, "pause_en"), (Lang::Zh, "pause_zh")] {
        let mut screen = Screen::new(lang, (80, 24));
        let question = Question::Pause { why: agent::LIMIT.with("n", 25) };
        screen
            .receives(conversation())
            .receives([Event::Asked(Box::new(Ask { id: AskId(9), question }))]);
        shows!(name, screen);
    }
}

#[test]
fn the_trust_question_lists_the_contents_of_the_folder() {
    let found =
        [(".avocet/config.toml", 120, true), ("AGENTS.md", 2048, false), (".env", 31, false)];
    let found =
        found.map(|(name, bytes, steers)| UntrustedFile { name: name.into(), bytes, steers });
    for (lang, name) in [(Lang::En, "trust_en"), (Lang::Zh, "trust_zh")] {
        let question = Question::Trust {
            folder: "/home/ada/code/shop".into(),
            above: Some("/home/ada/code".into()),
            because: session::TRUST_NEW.into(),
            found: found.to_vec(),
        };
        let mut screen = Screen::new(lang, (80, 24));
        screen.receives([Event::Asked(Box::new(Ask { id: AskId(1), question }))]);
        shows!(name, screen);
    }
}

#[test]
fn a_denied_step_is_shown_with_its_reason() {
    for (lang, name) in [(Lang::En, "refused_en"), (Lang::Zh, "refused_zh")] {
        let mut screen = Screen::new(lang, (80, 24));
        let grave = risk(
            Tier::L2,
            vec![reason(Tier::L2, "rm.recursive", DELETES, Some(0))],
            &[May::Delete, May::Irreversible],
        );
        let step = step("cmd_002", StepAction::exec("rm", &["-rf", "build"]));
        let seen = Observation::not_run(step, "/home/ada/code/shop", grave, Outcome::Refused);
        screen.receives(conversation()).receives([
            Event::StepFinished(Box::new(seen)),
            says("I may not delete it. Please do it yourself."),
            ended(),
        ]);
        shows!(name, screen);
    }
}

/// Somebody who keeps a few things.
fn kept() -> Event {
    use ExtensionKind::{Command, Skill};
    let entry = |kind, name: &str, about: &str, hint: &str, state| Extension {
        kind,
        name: name.into(),
        about: about.into(),
        hint: hint.into(),
        from: library::OF_USER.into(),
        state,
        traits: avocet::protocol::CommandTraits::default(),
    };
    let broken = library::REFUSED.with("why", library::FRONT_MENDED);
    let entries = vec![
        entry(
            Command,
            "commit-msg",
            "Write a commit message for what is staged",
            "",
            ExtensionState::Usable,
        ),
        entry(Command, "git:commit", "提交暂存的改动", "[scope]", ExtensionState::Usable),
        entry(
            Skill,
            "find-bug",
            "This skill should be used when something fails.",
            "[what goes wrong]",
            ExtensionState::Usable,
        ),
        entry(
            Skill,
            "deploy",
            "This skill should be used when a release goes out.",
            "",
            ExtensionState::Sensitive,
        ),
        entry(Skill, "torn", "/home/a/skills/torn/SKILL.md", "", ExtensionState::Broken(broken)),
        entry(
            Command,
            "help",
            "/home/a/commands/help.toml",
            "",
            ExtensionState::Hidden(library::SHADOWED_BUILT_IN.into()),
        ),
    ];
    let bots = vec![
        ("reviewer".into(), "Reviews code strictly".into()),
        ("翻译".into(), "中英互译".into()),
    ];
    Event::Catalogue(Box::new(Extensions { entries, bots, ..Extensions::default() }))
}

#[test]
fn custom_commands_and_skills_are_in_the_palette() {
    for (lang, name) in [(Lang::En, "palette_own_en"), (Lang::Zh, "palette_own_zh")] {
        let mut screen = Screen::new(lang, (110, 16));
        screen.receives([kept()]).types("/co");
        shows!(name, screen);
    }
}

#[test]
fn skills_and_commands_are_listed_with_their_problems() {
    for (lang, name) in [(Lang::En, "skills_en"), (Lang::Zh, "skills_zh")] {
        let mut screen = Screen::new(lang, (100, 30));
        screen.receives([kept()]).types("/skills\n").types("/commands\n").types("/help find-bug\n");
        shows!(name, screen);
    }
}

#[test]
fn a_bot_is_chosen_from_those_there_are() {
    for (lang, name) in [(Lang::En, "bot_en"), (Lang::Zh, "bot_zh")] {
        let mut screen = Screen::new(lang, (80, 24));
        screen.receives([kept()]).types("/bot\n");
        shows!(name, screen);
    }
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen.receives([kept()]).types("/bot\n\n");
    assert_eq!(
        screen.sent,
        [Op::Model(ModelOp::SetBot { name: None })],
        "nothing was moved: all is as it is"
    );
}

#[test]
fn a_user_without_extensions_is_offered_the_examples() {
    for (lang, name) in [(Lang::En, "start_offer_en"), (Lang::Zh, "start_offer_zh")] {
        let mut screen = Screen::new(lang, (80, 24));
        screen.receives([Event::Catalogue(Box::default())]);
        shows!(name, screen);
    }
    let mut screen = Screen::new(Lang::En, (80, 24));
    let before = screen.picture();
    screen.receives([kept()]);
    assert_eq!(screen.picture(), before);
}

#[test]
fn the_palette_highlights_the_typed_letters() {
    for (lang, name) in [(Lang::En, "palette_en"), (Lang::Zh, "palette_zh")] {
        let mut screen = Screen::new(lang, (80, 24));
        screen.types("/");
        shows!(name, screen);
    }
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen.types("/mo");
    shows!("palette_typed", screen);
    screen.press(KeyCode::Down, KeyModifiers::NONE);
    screen.types("\t");
    shows!("palette_argument", screen);
}

#[test]
fn help_is_drawn_from_the_tables() {
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen.types("?");
    shows!("help_en", screen);
    let mut screen = Screen::new(Lang::Zh, (160, 50));
    screen.types("?");
    shows!("help_zh_wide", screen);
}

fn queued(texts: [&str; 2]) -> Event {
    let message =
        |(id, text): (u64, &str)| QueuedMessage { id: SubmitId(id), text: text.to_owned() };
    Event::Queued { messages: (1..).zip(texts).map(message).collect() }
}

#[test]
fn the_queue_is_shown_above_the_input() {
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen
        .receives(conversation())
        .receives([queued(["Then fix the failing test", "and commit both\nwith a good message"])]);
    screen.types("one more th").waits(12_000);
    shows!("queue_en", screen);
}

#[test]
fn an_error_says_what_to_do() {
    const DOWN: Phrase = Phrase {
        key: "test.down",
        en: "The model at http://127.0.0.1:8080/v1 does not answer.",
        zh: "位于 http://127.0.0.1:8080/v1 的模型没有回应。",
    };
    const THEME: Phrase = Phrase {
        key: "test.theme",
        en: "config.toml has no `[profiles.work]`.",
        zh: "config.toml 中没有 `[profiles.work]`。",
    };
    const START: Phrase = Phrase {
        key: "test.start",
        en: "Add it, or choose another profile with --profile.",
        zh: "请补上，或用 --profile 选择其他配置。",
    };
    for (lang, name) in [(Lang::En, "error_en"), (Lang::Zh, "error_zh")] {
        let mut screen = Screen::new(lang, (80, 24));
        let usage = Usage::default();
        screen.receives([
            Event::Notice(Notice::warning(THEME).with_hint(START)),
            started("What changed here?"),
            Event::ReplyStarted,
            Event::TurnEnded {
                turn: 1,
                ending: TurnOutcome::Failed { why: DOWN.into() },
                usage,
                elapsed_ms: 900,
            },
        ]);
        shows!(name, screen);
    }
}

#[test]
fn a_narrow_screen_keeps_what_matters() {
    let mut screen = Screen::new(Lang::En, (40, 10));
    shows!("narrow_start", screen);
    screen
        .receives(conversation())
        .receives([delta("Two files changed since yesterday.")])
        .waits(4_000);
    shows!("narrow_streaming", screen);
    screen.receives([asks_to_install()]);
    shows!("narrow_approve", screen);
}

#[test]
fn a_huge_screen_stays_readable() {
    let mut screen = Screen::new(Lang::En, (200, 50));
    screen.receives(conversation()).receives([says(ANSWER), asks_to_install()]);
    shows!("huge_approve", screen);
}

#[test]
fn shell_lines_and_pastes_are_recognizable() {
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen.types("!cargo test 2>&1 | tail -3");
    shows!("input_shell", screen);
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen.types("explain this: ");
    screen.input(ScreenInput::Paste("a line of a log\n".repeat(132)));
    screen.types(" 请用中文回答，谢谢 🦀");
    shows!("input_paste", screen);
}

#[test]
fn a_history_search_shows_its_query_and_the_matches() {
    for (lang, name, query) in [(Lang::En, "search", "test"), (Lang::Zh, "search_zh", "测试")] {
        let history = vec!["cargo test --lib\nthen look".into(), "跑一下测试".into()];
        let config = ScreenConfig {
            lang,
            facts: facts(lang),
            theme: "dark".into(),
            history,
            ..ScreenConfig::default()
        };
        let mut screen = Screen::of(config, (80, 24));
        screen.press(KeyCode::Char('r'), KeyModifiers::CONTROL);
        screen.types(query);
        insta::assert_snapshot!(name, screen.picture());
        screen.types("没有");
        insta::assert_snapshot!(format!("{name}_none"), screen.picture());
    }
}

fn talked(lang: Lang) -> Screen {
    let mut screen = Screen::new(lang, (80, 24));
    let (asked, answer) = match lang {
        Lang::En => (
            "Where is the parser?",
            "The **parser** is in `src/parser.rs`.\n\n- It reads tokens.\n- It makes a tree.\n\n\
             ```rust\nfn parser() -> Parser {\n    Parser::new()\n}\n```\n",
        ),
        Lang::Zh => (
            "解析器在哪里？",
            "**解析器**在 `src/parser.rs` 中。\n\n- 解析器读取词法单元。\n- 然后生成语法树。\n",
        ),
    };
    let reply = ModelMessage { message: answer.into(), markdown: true, ..ModelMessage::default() };
    screen.receives([started(asked), Event::Replied(reply), ended()]);
    screen
}

#[test]
fn a_search_shows_its_text_and_the_number_of_matches() {
    for (lang, words) in [(Lang::En, "parser"), (Lang::Zh, "解析器")] {
        let mut screen = talked(lang);
        screen.press(KeyCode::Char('f'), KeyModifiers::CONTROL);
        screen.types(words);
        screen.waits(20);
        shows!(format!("search_typing_{}", lang.code()), screen);
        screen.types("\n");
        shows!(format!("search_found_{}", lang.code()), screen);
        screen.types("N");
        screen.press(KeyCode::Esc, KeyModifiers::NONE);
        assert!(screen.sent.is_empty(), "nothing of it reaches the session");
    }
}

#[test]
fn a_search_fits_a_small_screen() {
    let history = vec!["cargo test --lib then look closely at it".into()];
    let config = ScreenConfig { facts: facts(Lang::En), history, ..ScreenConfig::default() };
    let mut screen = Screen::of(config, (40, 10));
    screen.press(KeyCode::Char('r'), KeyModifiers::CONTROL);
    screen.types("look");
    insta::assert_snapshot!(screen.picture());
}

#[test]
fn a_search_by_command_begins_with_its_words() {
    let mut screen = talked(Lang::En);
    screen.types("/search reads tokens\n");
    screen.waits(20);
    assert!(screen.picture().contains("1 of 1"), "{}", screen.picture());
    screen.types("/");
    screen.input(ScreenInput::Paste("\nno".into()));
    screen.types("pe");
    screen.waits(20);
    assert!(screen.picture().contains("not found"), "{}", screen.picture());
}

impl Screen {
    fn mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) -> Vec<ScreenEffect> {
        let mouse = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
        let effects = self.input(ScreenInput::Mouse(mouse));
        self.draw();
        effects
    }
}

/// The frame with what is marked between brackets.
fn with_marks(buf: &Buffer, style: ratatui::style::Style) -> String {
    let mut out = String::new();
    for y in 0..buf.area.height {
        let mut inside = false;
        let mut skip = 0;
        for x in 0..buf.area.width {
            let cell = &buf[(x, y)];
            let marked = Some(cell.bg) == style.bg;
            if skip == 0 {
                if marked != inside {
                    out.push(if marked { '⟦' } else { '⟧' });
                    inside = marked;
                }
                out.push_str(cell.symbol());
                skip = ratatui::text::Span::raw(cell.symbol()).width().saturating_sub(1);
            } else {
                skip -= 1;
            }
        }
        out = out.trim_end_matches(' ').to_owned();
        out.push('\n');
    }
    out
}

#[test]
fn a_selection_is_highlighted_and_copied_on_button_release() {
    let theme = Theme::built_in("dark", Depth::True).unwrap();
    for (lang, expected) in [
        (
            Lang::En,
            "reads tokens.\n- It makes a tree.\n\nfn parser() -> Parser {\n    Parser::new()",
        ),
        (Lang::Zh, "词法单元。\n- 然后生成语法树。"),
    ] {
        let mut screen = talked(lang);
        let (down, up) =
            (MouseEventKind::Down(MouseButton::Left), MouseEventKind::Up(MouseButton::Left));
        let from = match lang {
            Lang::En => (7, 4),
            Lang::Zh => (14, 4),
        };
        screen.mouse(down, from.0, from.1);
        screen.mouse(MouseEventKind::Drag(MouseButton::Left), 20, 9);
        let effects = screen.mouse(up, 20, 9);
        assert_eq!(effects, [ScreenEffect::Copy(expected.into())]);
        let picture = with_marks(&screen.frame, theme.selection);
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(format!("selected_{}", lang.code()), picture);
        });
        let both = KeyModifiers::CONTROL | KeyModifiers::SHIFT;
        assert_eq!(screen.press(KeyCode::Char('c'), both), [ScreenEffect::Copy(expected.into())]);
        screen.press(KeyCode::Esc, KeyModifiers::NONE);
        assert_eq!(screen.press(KeyCode::Char('c'), both), []);
    }
}

#[test]
fn a_mention_offers_files() {
    use avocet::tui::files::{FileMatch, FileMatches, MatchCoverage};
    let hit =
        |path: &str, marks: &[u32]| FileMatch { path: path.into(), positions: marks.to_vec() };
    for (lang, name, size) in [
        (Lang::En, "files", (80, 24)),
        (Lang::Zh, "files_zh", (80, 24)),
        (Lang::En, "files_small", (40, 10)),
    ] {
        let mut screen = Screen::new(lang, size);
        screen.types("look at @lib");
        let found = FileMatches {
            query: "lib".into(),
            hits: vec![
                hit("src/lib.rs", &[4, 5, 6]),
                hit("docs/说明/library of things.md", &[8, 9, 10]),
                hit(
                    "vendor/some/very/deep/folder/in/a/tree/that/goes/on/and/on/and/on/for/ever/lib.rs",
                    &[],
                ),
            ],
            match_count: 3,
            names_read: 200_000,
            coverage: if name == "files" {
                MatchCoverage::Truncated
            } else {
                MatchCoverage::Complete
            },
        };
        screen.input(ScreenInput::FileMatches(found));
        screen.press(KeyCode::Down, KeyModifiers::NONE);
        insta::assert_snapshot!(name, screen.picture());
    }
}

#[test]
fn the_vi_mode_is_in_the_status_line() {
    for (lang, name) in [(Lang::En, "vim"), (Lang::Zh, "vim_zh")] {
        let config = ScreenConfig {
            lang,
            facts: facts(lang),
            theme: "dark".into(),
            preferences: avocet::tui::Preferences { vim: true, ..Default::default() },
            ..ScreenConfig::default()
        };
        let mut screen = Screen::of(config, (80, 24));
        screen.types("hello 世界");
        insta::assert_snapshot!(format!("{name}_insert"), screen.picture());
        screen.press(KeyCode::Esc, KeyModifiers::NONE);
        screen.types("v");
        insta::assert_snapshot!(format!("{name}_visual"), screen.picture());
    }
}

#[test]
fn choosing_a_theme_previews_it_on_the_screen() {
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen.receives(conversation()).receives([says(ANSWER), ended()]).types("/theme\n");
    screen.press(KeyCode::Down, KeyModifiers::NONE);
    shows!("theme_en", screen);
    let mut screen = Screen::new(Lang::Zh, (40, 10));
    screen.types("/theme\ncol");
    shows!("theme_zh_narrow", screen);
}

#[test]
fn a_model_is_chosen_from_those_the_server_has() {
    let mut screen = Screen::new(Lang::Zh, (80, 24));
    let names = ["qwen3-coder", "openrouter:qwen3-coder:480b", "模型-大", "llama-4"];
    let mut offers = names.map(ModelOffer::from).to_vec();
    offers[0] =
        ModelOffer { provider: "Ollama".into(), window: Some(262_144), ..offers[0].clone() };
    let price = Some((Money(220_000), Money(1_800_000)));
    let (provider, window) = ("OpenRouter".to_owned(), Some(262_144));
    offers[1] = ModelOffer { provider, window, price, ..offers[1].clone() };
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    screen.receives([Event::Models { names, offers }]).types("/model\n");
    shows!("model_zh", screen);
    screen.types("480");
    shows!("model_typed_zh", screen);
}

#[test]
fn a_provider_is_chosen_and_its_key_is_typed_unseen() {
    for (lang, name) in [(Lang::En, "connect"), (Lang::Zh, "connect_zh")] {
        let mut screen = Screen::new(lang, (80, 24));
        screen.types("/connect\n");
        let offer = |id: &str, name: &str, needs_key, about| ProviderOffer {
            id: id.into(),
            name: name.into(),
            url: format!("https://api.{id}.example/v1"),
            keys_at: format!("https://{id}.example/keys"),
            needs_key,
            about,
        };
        let here = keys::SERVER_HERE.with("n", 3_usize).with("url", "http://127.0.0.1:11434");
        let offers = vec![
            offer("ollama", "Ollama", false, here),
            offer("anthropic", "Anthropic", true, keys::KEY_NEEDED.into()),
        ];
        screen.input(ScreenInput::Connect(Box::new(ConnectResult::Providers(None, offers))));
        screen.draw();
        shows!(format!("{name}_providers"), screen);
        screen.types("anth\nsk-0123456789");
        shows!(format!("{name}_key"), screen);
        assert!(!screen.picture().contains("sk-"));
    }
}

#[test]
fn every_key_is_found_by_typing() {
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen.types("/keys\n");
    shows!("keys_en", screen);
    let mut screen = Screen::new(Lang::Zh, (80, 24));
    screen.types("/keys\nctrl 行");
    shows!("keys_searched_zh", screen);
    let mut narrow = Screen::new(Lang::En, (40, 10));
    narrow.types("/keys\nno such thing");
    shows!("keys_none_narrow", narrow);
    narrow.press(KeyCode::Esc, KeyModifiers::NONE);
    narrow.press(KeyCode::Esc, KeyModifiers::NONE);
    assert!(narrow.picture().contains("Avocet"), "closed by the second Esc");
}

#[test]
fn a_list_of_steps_can_be_approved_at_once_when_none_is_high_risk() {
    for (lang, name) in [(Lang::En, "approve_all_en"), (Lang::Zh, "approve_all_zh")] {
        let mut screen = Screen::new(lang, (80, 30));
        screen.receives(conversation()).receives([asks_with_more_steps(install_risk())]).waits(300);
        shows!(name, screen);
        screen.types("a").waits(400);
        let steps = ["cmd_003", "cmd_004", "cmd_005"].map(str::to_owned).to_vec();
        let decision = Decision::ApproveAll { steps };
        assert_eq!(
            screen.sent.last(),
            Some(&Op::Question(QuestionOp::Decide { ask: AskId(7), decision }))
        );
    }
    let grave = risk(
        Tier::L2,
        vec![reason(Tier::L2, "rm.recursive", DELETES, None)],
        &[May::Delete, May::Irreversible],
    );
    let mut screen = Screen::new(Lang::En, (80, 30));
    screen.receives(conversation()).receives([asks_with_more_steps(grave)]).waits(300);
    shows!("approve_not_all_en", screen);
    screen.types("a").waits(400);
    assert_eq!(screen.sent, []);
}

#[test]
fn steps_that_were_not_shown_are_not_approved() {
    let mut screen = Screen::new(Lang::En, (60, 11));
    screen.receives(conversation()).receives([asks_with_more_steps(install_risk())]).waits(300);
    screen.types("a");
    assert_eq!(screen.sent, []);
    screen.types(" ").types(" ").types("ａ").waits(400);
    assert!(matches!(
        screen.sent.last(),
        Some(Op::Question(QuestionOp::Decide { decision: Decision::ApproveAll { .. }, .. }))
    ));
}

/// The situations that matter most, each put before the person on a screen of its own.
type Situation = (&'static str, fn(&mut Screen));
const SITUATIONS: &[Situation] = &[
    ("start", |_| {}),
    ("streaming", |screen| {
        screen.receives(conversation()).receives([delta(ANSWER)]);
    }),
    ("approve", |screen| {
        screen.receives(conversation()).receives([asks_with_more_steps(install_risk())]);
    }),
    ("theme", |screen| {
        screen.types("/theme\n");
    }),
    ("palette", |screen| {
        screen.types("/");
    }),
    ("keys", |screen| {
        screen.types("/keys\n");
    }),
];

#[test]
fn the_main_screens_look_right_at_every_size() {
    for size in [(40, 10), (80, 24), (120, 40), (200, 50)] {
        let mut pictures = String::new();
        for (name, arrange) in SITUATIONS.iter().take(4) {
            for lang in [Lang::En, Lang::Zh] {
                let mut screen = Screen::new(lang, size);
                arrange(&mut screen);
                pictures += &format!("== {name} {} ==\n{}", lang.code(), screen.picture());
            }
        }
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(format!("size_{}x{}", size.0, size.1), pictures);
        });
    }
}

/// What else one meets: drawn at every size as well.
const MORE: &[Situation] = &[
    ("an answer", |screen| {
        screen.receives(told(WRITTEN)).types("/timestamps on\n");
    }),
    ("an answer in Chinese", |screen| {
        screen.receives(told(WRITTEN_ZH));
    }),
    ("a queued message is picked", |screen| {
        let texts = ["Then fix the failing test", "然后提交，写清楚说明"];
        screen.receives(conversation()).receives([queued(texts)]);
        screen.press(KeyCode::Up, KeyModifiers::NONE);
        screen.waits(12_000);
    }),
    ("a command", |screen| {
        screen.receives(conversation()).receives([asks_to_test()]);
    }),
    ("a rule is marked", |screen| {
        screen.receives(conversation()).receives([asks_to_test()]).waits(1_000).types("s");
    }),
    ("details", |screen| {
        screen.receives(conversation()).receives([asks_to_test()]).waits(1_000).types("d");
    }),
    ("a commit", |screen| {
        let writes = risk(
            Tier::L1,
            vec![reason(Tier::L1, "git.commit", WRITES, None), confined()],
            &[May::Write],
        );
        let command = ["git", "commit", "-m", "Pad the receipt and show two digits"];
        screen.receives(conversation()).receives([asks_about(&command, None, writes)]);
    }),
    ("an edit", |screen| {
        screen.receives(conversation()).receives([asks_for_change()]);
    }),
    ("a line with pieces", |screen| {
        let say = safety::SHELL_PIECE_ASKS.with("piece", "curl -d @a.txt h");
        let say = say.with("why", LocalizedText::from(safety::SANDBOX_WITHOUT));
        let reasons = vec![
            reason(Tier::L1, "npm.test", RUNS_CODE, Some(1)),
            Reason { rule: "curl".into(), tier: Tier::L1, say, arg: Some(1) },
            confined(),
        ];
        let risk = risk(Tier::L1, reasons, &[May::Exec, May::Send]);
        let line = "cd src && npm test 2>&1 | tail -15 && curl -d @a.txt h && git log -1";
        let asked = asks_about(&["bash", "-lc", line], Some("npm test *, curl *"), risk);
        screen.receives(conversation()).receives([asked]);
    }),
    ("a new file", |screen| {
        let Event::Asked(mut asked) = asks_for_change() else { panic!("asks") };
        let Question::Step(question) = &mut asked.question else { panic!("a step") };
        let change = question.change.as_mut().expect("a change");
        (change.before, change.added, change.removed) = (None, 2, 0);
        change.diff =
            "--- src/价格.rs\n+++ src/价格.rs\n@@ -0,0 +1,2 @@\n+// 价格\n+fn main() {}\n".into();
        screen.receives(conversation()).receives([Event::Asked(asked)]);
    }),
    ("a batch", |screen| {
        screen.receives(conversation()).receives([asks_with_more_steps(reads())]);
    }),
    ("high risk", |screen| {
        let reasons = vec![reason(Tier::L2, "rm.recursive", DELETES, Some(0))];
        let grave = risk(Tier::L1, reasons, &[May::Delete, May::Irreversible]);
        let work = StepAction::exec("rm", &["-rf", "build"]);
        let asked = ask(work, Risk { lifted: true, ..grave }, None, Vec::new());
        screen.receives(conversation()).receives([asked]);
    }),
    ("a plan", |screen| {
        let items = vec![
            PlanItem::parse("[x] read the code"),
            PlanItem::parse("写测试"),
            PlanItem::parse("pad the receipt"),
        ];
        let question = Question::Plan { step: "cmd_002".into(), items: items.clone() };
        screen.receives(conversation()).receives([Event::Plan { items }]);
        screen.receives([Event::Asked(Box::new(Ask { id: AskId(1), question }))]);
    }),
    ("the limit", |screen| {
        let question = Question::Pause { why: agent::LIMIT.with("n", 25) };
        screen.receives(conversation());
        screen.receives([Event::Asked(Box::new(Ask { id: AskId(1), question }))]);
    }),
    ("trust", |screen| {
        let question = Question::Trust {
            folder: "/home/ada/code/shop".into(),
            above: None,
            because: session::TRUST_NEW.into(),
            found: Vec::new(),
        };
        screen.receives([Event::Asked(Box::new(Ask { id: AskId(1), question }))]);
    }),
    ("a question of the model", |screen| {
        let question = Question::Choice {
            step: "cmd_002".into(),
            script: None,
            text: "How wide is the paper? 纸有多宽？".into(),
            choices: vec!["32 columns".into(), "四十列".into()],
            free: true,
            fallback: None,
        };
        screen.receives(conversation());
        screen.receives([Event::Asked(Box::new(Ask { id: AskId(1), question }))]);
    }),
    ("without the sandbox", |screen| {
        let rule = SandboxDenial::WITHOUT;
        let say = safety::SANDBOX_WITHOUT.into();
        let reasons = vec![Reason { rule: rule.into(), tier: Tier::L1, say, arg: None }];
        let risk = risk(Tier::L1, reasons, &[May::Secret, May::Outside]);
        screen.receives(conversation()).receives([asks_about(&["npm", "test"], None, risk)]);
    }),
    ("run again with a path", |screen| {
        let what = sandbox::DENIED_WRITE.with("path", "~/.config/configstore");
        let say = safety::SANDBOX_DENIED.with("what", what);
        let rule = SandboxDenial::RULE;
        let reasons = vec![Reason { rule: rule.into(), tier: Tier::L1, say, arg: None }];
        let risk = risk(Tier::L1, reasons, &[May::Write, May::Outside]);
        let asked = asks_about(&["npm", "test"], Some("npm test"), risk);
        screen.receives(conversation()).receives([asked]);
    }),
    ("credentials", |screen| {
        let say = safety::SANDBOX_CREDENTIALS.with("places", "~/.config/gh");
        let rule = "sandbox.credentials";
        let reasons = vec![
            reason(Tier::L1, "gh.write", WRITES, None),
            Reason { rule: rule.into(), tier: Tier::L1, say, arg: None },
            confined(),
        ];
        let risk = risk(Tier::L1, reasons, &[May::Network, May::Secret]);
        screen.receives(conversation()).receives([asks_about(&["gh", "pr", "create"], None, risk)]);
    }),
    ("a push", |screen| {
        let sends = risk(
            Tier::L1,
            vec![reason(Tier::L1, "git.push", SENDS, None), confined()],
            &[May::Send, May::Network],
        );
        let command = ["git", "push", "origin", "main"];
        screen.receives(conversation()).receives([asks_about(&command, None, sends)]);
    }),
    ("a tool of a server", |screen| {
        let calls = safety::MCP_CALLS.with("tool", "query").with("server", "ledger");
        let rule = "mcp.ledger.query";
        let reasons = vec![Reason { rule: rule.into(), tier: Tier::L1, say: calls, arg: None }];
        let input = serde_json::json!({"sql": "select total\nfrom 小票", "limit": 20});
        let work = StepAction::Tool { name: rule.into(), input };
        let risk = risk(Tier::L1, reasons, &[May::Network, May::Write]);
        screen.receives(conversation()).receives([ask(work, risk, Some(rule), Vec::new())]);
    }),
    ("a page", |screen| {
        let reads = avocet::i18n::web::FETCHES.with("host", "example.org");
        let rule = "web.fetch";
        let reasons = vec![Reason { rule: rule.into(), tier: Tier::L1, say: reads, arg: None }];
        let input = serde_json::json!({"url": "https://example.org/price"});
        let work = StepAction::Tool { name: rule.into(), input };
        let asked = ask(
            work,
            risk(Tier::L1, reasons, &[May::Network]),
            Some("web.fetch example.org"),
            vec![],
        );
        screen.receives(conversation()).receives([asked]);
    }),
    ("a step is edited", |screen| {
        screen.receives(conversation()).receives([asks_to_install()]).waits(1_000).types("e");
        screen.types(" --dry-run");
    }),
    ("a word to the model", |screen| {
        screen.receives(conversation()).receives([asks_to_install()]).waits(1_000).types("w");
        screen.types("用 pnpm, please");
    }),
    ("a search", |screen| {
        screen.receives(told(WRITTEN));
        screen.press(KeyCode::Char('f'), KeyModifiers::CONTROL);
        screen.types("price");
        screen.press(KeyCode::Enter, KeyModifiers::NONE);
    }),
    ("arguments of a command", |screen| {
        screen.receives(told(WRITTEN)).types("/lang ");
    }),
    ("help", |screen| {
        screen.types("?");
    }),
    ("a pause", |screen| {
        let why = session::TRUST_NEW.into();
        let question = Question::Pause { why };
        screen
            .receives(conversation())
            .receives([Event::Asked(Box::new(Ask { id: AskId(1), question }))]);
    }),
    ("the turn fails", |screen| {
        let why = session::TRUST_NEW.into();
        let (ending, usage) = (TurnOutcome::Failed { why }, Usage::default());
        screen.receives(conversation()).receives([delta("Half an ans")]);
        screen.receives([Event::TurnEnded { turn: 1, ending, usage, elapsed_ms: 31_000 }]);
    }),
];

const WRITTEN: &str = "Prices are **rounded** in `src/price.rs`, see [the notes](https://example.org/n).\n\n\
    | file | lines | what changed |\n|---|---:|---|\n| src/price.rs | 12 | rounds to cents |\n\
    | tests/price.rs | 4 | a case for negative prices |\n\n\
    1. run the tests\n2. commit\n   ```sh\n   cargo test price\n   ```\n\n\
    ```diff\n@@ -7,3 +7,3 @@\n fn cents(price: f64) -> i64 {\n-    (price * 100.0) as i64\n\
    +    (price * 100.0).round() as i64\n }\n```\n\n> Negative prices round away from zero.";
const WRITTEN_ZH: &str = "价格在 `src/price.rs` 中**四舍五入**到分，参见[说明](https://example.org/n)。\n\n\
    | 文件 | 行数 | 改动 |\n|---|---:|---|\n| src/price.rs | 12 | 四舍五入到分 |\n\
    | tests/price.rs | 4 | 增加负数价格的用例 |\n\n- 先运行测试\n- 再提交，并在说明里写清楚为什么“负数”要远离零取整\n\n\
    ```rust\n// 负数也要取整\nfn cents(price: f64) -> i64 {\n    (price * 100.0).round() as i64\n}\n```";

/// A turn that ended with this answer.
fn told(answer: &str) -> Vec<Event> {
    [conversation(), vec![says(answer), ended()]].concat()
}

#[test]
fn other_screens_look_right_at_every_size() {
    for size in [(40, 10), (80, 24), (100, 30), (120, 40), (200, 50)] {
        let mut pictures = String::new();
        for (name, arrange) in MORE {
            for lang in [Lang::En, Lang::Zh] {
                let mut screen = Screen::new(lang, size);
                arrange(&mut screen);
                screen.draw();
                pictures += &format!("== {name} {} ==\n{}", lang.code(), screen.picture());
            }
        }
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(format!("more_{}x{}", size.0, size.1), pictures);
        });
    }
}

#[test]
fn every_size_is_drawn_and_too_small_ones_say_so() {
    const WIDTHS: [u16; 11] = [5, 11, 12, 19, 20, 24, 39, 40, 60, 132, 300];
    const HEIGHTS: [u16; 11] = [1, 2, 3, 4, 5, 7, 10, 13, 14, 40, 100];
    for (at, (_, arrange)) in SITUATIONS.iter().chain(MORE).enumerate() {
        // Each situation in each width and each height, all situations together in all pairs.
        for shift in 0..3 {
            for (place, width) in WIDTHS.into_iter().enumerate() {
                let height = HEIGHTS[(place + 3 * at + shift) % HEIGHTS.len()];
                let mut screen = Screen::new(Lang::Zh, (width, height));
                arrange(&mut screen);
                screen.draw();
                assert!(!screen.picture().trim().is_empty(), "{width}x{height}");
            }
        }
    }
}

#[test]
fn changed_files_stand_beside_the_diff_of_the_chosen_one() {
    let change = |path: &str, diff: &str| Change {
        path: format!("/home/ada/code/shop/{path}"),
        before: Some("00".into()),
        after: Some("01".into()),
        added: 1,
        removed: 1,
        diff: format!("--- {path}\n+++ {path}\n@@ -1,2 +1,2 @@\n same\n{diff}"),
        ..Change::default()
    };
    let session =
        vec![change("src/lib.rs", "-old\n+new\n"), change("notes.md", "-before\n+after\n")];
    let uncommitted = vec![change("src/main.rs", "-mine\n+changed\n")];
    for (name, size) in [("diff_view_wide", (100, 16)), ("diff_view_narrow", (60, 18))] {
        let mut screen = Screen::new(Lang::En, size);
        let (session, uncommitted) = (session.clone(), uncommitted.clone());
        screen.receives([Event::Changes { session, uncommitted: Some(uncommitted) }]);
        screen.press(KeyCode::Down, KeyModifiers::NONE);
        shows!(name, screen);
    }
    let uncommitted = Some(uncommitted);
    for width in 12..=140 {
        let mut screen = Screen::new(Lang::En, (width, 16));
        screen.receives([Event::Changes {
            session: session.clone(),
            uncommitted: uncommitted.clone(),
        }]);
        assert!(!screen.picture().trim().is_empty(), "{width}");
    }
    // Beside the list there is room for the old and the new text.
    let mut screen = Screen::new(Lang::En, (200, 16));
    screen.receives([Event::Changes { session, uncommitted }]);
    let text = screen.picture();
    assert!(text.lines().any(|row| row.contains("-old") && row.contains("+new")), "{text}");
}

// Changes, questions, plans

const DIFF: &str = "--- src/price.rs\n+++ src/price.rs\n@@ -12,7 +12,8 @@ impl Price {\n     /// In cents.\n     pub fn total(&self) -> u64 {\n-        self.items.iter().map(|item| item.cents).sum()\n+        let sum: u64 = self.items.iter().map(|item| item.cents).sum();\n+        sum - self.discount(sum)\n     }\n \n     pub fn currency(&self) -> &str {\n";

fn change() -> Change {
    Change {
        path: "/home/ada/code/shop/src/price.rs".into(),
        before: Some("a".into()),
        after: Some("b".into()),
        added: 2,
        removed: 1,
        diff: DIFF.into(),
        ..Change::default()
    }
}

fn edits() -> StepAction {
    let input = serde_json::json!({"path": "src/price.rs", "edits": [{"old": "a", "new": "b"}]});
    StepAction::Tool { name: "file.edit".into(), input }
}

fn asks_for_change() -> Event {
    let risk = risk(Tier::L1, vec![reason(Tier::L1, "file.write", WRITES, None)], &[May::Write]);
    let question = Question::Step(StepQuestion {
        why: "The discount was never taken off.".into(),
        expected: "Totals are right.".into(),
        pieces: vec![],
        rule: Some("file.edit *".into()),
        change: Some(change()),
        rest: vec![],
        ..StepQuestion::new(step("cmd_002", edits()), risk, "/home/ada/code/shop")
    });
    Event::Asked(Box::new(Ask { id: AskId(7), question }))
}

fn plan(states: [PlanState; 3], lang: Lang) -> Event {
    let texts = match lang {
        Lang::En => ["Find where totals are made", "Take the discount off", "Run the tests"],
        Lang::Zh => ["找到计算总价的位置", "减去折扣", "运行测试"],
    };
    let items = texts.into_iter().zip(states);
    let items = items.map(|(text, state)| PlanItem { text: text.into(), state }).collect();
    Event::Plan { items }
}

#[test]
fn a_change_is_shown_as_a_diff_before_it_is_approved() {
    for (lang, size, name) in [
        (Lang::En, (80, 24), "change_en"),
        (Lang::Zh, (80, 24), "change_zh"),
        (Lang::En, (120, 40), "change_wide_en"),
        (Lang::Zh, (120, 40), "change_wide_zh"),
        (Lang::En, (44, 14), "change_narrow"),
    ] {
        let mut screen = Screen::new(lang, size);
        screen.receives([started("fix the total"), says("I fix it."), asks_for_change()]);
        insta::assert_snapshot!(name, screen.picture());
    }
}

#[test]
fn a_change_that_was_not_shown_completely_is_not_approved() {
    let mut screen = Screen::new(Lang::En, (44, 14));
    screen.receives([started("fix the total"), asks_for_change()]).waits(400).types("y");
    assert!(screen.sent.is_empty(), "a part was hidden");
    screen.types("      y").waits(400);
    assert_eq!(
        screen.sent,
        [Op::Question(QuestionOp::Decide { ask: AskId(7), decision: Decision::Approve })]
    );
}

#[test]
fn a_file_change_shows_its_size_and_expands_to_its_diff() {
    let mut seen = Observation::not_run(
        step("cmd_002", edits()),
        "/home/ada/code/shop",
        risk(Tier::L1, vec![reason(Tier::L1, "file.write", WRITES, None)], &[May::Write]),
        Outcome::Ran,
    );
    (seen.exit_code, seen.duration_ms, seen.change) = (Some(0), 3, Some(change()));
    for (lang, name) in [(Lang::En, "changed_en"), (Lang::Zh, "changed_zh")] {
        let mut screen = Screen::new(lang, (80, 24));
        screen.receives([
            started("fix the total"),
            Event::StepFinished(Box::new(seen.clone())),
            ended(),
        ]);
        assert!(screen.picture().contains("+2 -1"));
        screen.press(KeyCode::Char('o'), KeyModifiers::CONTROL);
        insta::assert_snapshot!(name, screen.picture());
    }
}

fn question(choices: &[&str], lang: Lang) -> Event {
    let text = match lang {
        Lang::En => "Prices are in cents in one place and in euros in another. Which one stays?",
        Lang::Zh => "有的地方价格以分为单位，有的以元为单位。保留哪一种？",
    };
    let choices = choices.iter().map(|text| (*text).to_owned()).collect();
    let question = Question::Choice {
        step: "cmd_003".into(),
        script: None,
        text: text.into(),
        choices,
        free: true,
        fallback: None,
    };
    Event::Asked(Box::new(Ask { id: AskId(9), question }))
}

#[test]
fn the_model_asks_and_choices_are_picked_by_letter_digit_or_arrow() {
    let choices = |lang| match lang {
        Lang::En => ["Cents, as whole numbers", "Euros"],
        Lang::Zh => ["分，用整数", "元"],
    };
    for (lang, size, name) in [
        (Lang::En, (80, 24), "ask_en"),
        (Lang::Zh, (80, 24), "ask_zh"),
        (Lang::En, (120, 40), "ask_wide_en"),
        (Lang::Zh, (120, 40), "ask_wide_zh"),
    ] {
        let mut screen = Screen::new(lang, size);
        screen.receives([started("clean up"), question(&choices(lang), lang)]);
        insta::assert_snapshot!(name, screen.picture());
    }
    let answer = |text: &str| Decision::Answer { text: text.into() };
    let [cents, euros] = choices(Lang::En);
    for (keys, decision) in [
        ("a", Decision::Choose { index: 0 }),
        ("2", Decision::Choose { index: 1 }),
        ("\t\n", Decision::Choose { index: 1 }),
        ("n", Decision::Reject { word: None }),
        ("wBoth\n", answer("Both")),
    ] {
        let mut screen = Screen::new(Lang::En, (80, 24));
        screen.receives([started("clean up"), question(&[cents, euros], Lang::En)]);
        screen.waits(400).types(keys).waits(400);
        assert_eq!(
            screen.sent,
            [Op::Question(QuestionOp::Decide { ask: AskId(9), decision })],
            "{keys:?}"
        );
    }
}

fn form(lang: Lang) -> Event {
    let field = |name: [&str; 2], about: [&str; 2], kind| FormField {
        name: name[usize::from(lang == Lang::Zh)].to_owned(),
        about: about[usize::from(lang == Lang::Zh)].to_owned(),
        kind,
        choices: Vec::new(),
        default: None,
        required: true,
        fault: None,
    };
    let fields = vec![
        field(["topic", "主题"], ["What the letter is about", "信件的内容"], FormFieldKind::Text),
        field(["words", "字数"], ["How long it may be", "最多多少字"], FormFieldKind::Number),
        FormField {
            choices: vec!["warm".into(), "dry".into(), "formal".into()],
            ..field(["tone", "语气"], ["", ""], FormFieldKind::Text)
        },
        FormField {
            default: Some("true".into()),
            ..field(["signed", "署名"], ["", ""], FormFieldKind::Confirm)
        },
    ];
    let question = Question::Form { script: "letter".into(), fields };
    Event::Asked(Box::new(Ask { id: AskId(9), question }))
}

#[test]
fn missing_inputs_of_a_script_are_filled_in_as_one_form() {
    for (lang, name) in [(Lang::En, "form_en"), (Lang::Zh, "form_zh")] {
        let mut screen = Screen::new(lang, (80, 24));
        screen.receives([started("/run letter"), form(lang)]);
        screen.waits(400).types("Rent\nlong\n");
        insta::assert_snapshot!(name, screen.picture());
        assert!(screen.sent.is_empty());
    }
    let values = |values: [&str; 4]| Decision::Fill { values: values.map(str::to_owned).to_vec() };
    let filled = values(["Rent", "200", "dry", "true"]);
    for (keys, decision) in [
        ("Rent\n200\nd\n\n", Some(filled.clone())),
        ("Rent\t200\t2\t\n", Some(filled.clone())),
        ("Rent\t200\t  \t\n", Some(filled)),
        ("\t200\td\tn\n", None),
        ("\t200\td\tn\nRent\t\t\t\n", Some(values(["Rent", "200", "dry", "false"]))),
        ("Rent\n2x\n", None),
    ] {
        let mut screen = Screen::new(Lang::En, (80, 24));
        screen.receives([started("/run letter"), form(Lang::En)]);
        screen.waits(400).types(keys);
        let decided: Vec<_> = decision
            .map(|decision| Op::Question(QuestionOp::Decide { ask: AskId(9), decision }))
            .into_iter()
            .collect();
        assert_eq!(screen.sent, decided, "{keys:?}");
    }
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen.receives([started("/run letter"), form(Lang::En)]);
    screen.waits(400).types("Rent");
    screen.press(KeyCode::Down, KeyModifiers::NONE);
    screen.press(KeyCode::Up, KeyModifiers::NONE);
    screen.types("al");
    assert!(screen.picture().contains("Rental"), "{}", screen.picture());
    screen.press(KeyCode::Esc, KeyModifiers::NONE);
    let decision = Decision::Reject { word: None };
    assert_eq!(screen.sent, [Op::Question(QuestionOp::Decide { ask: AskId(9), decision })]);
}

#[test]
fn a_plan_is_updated_in_place() {
    use PlanState::{Doing, Done, Pending};
    for (lang, size, name) in [
        (Lang::En, (80, 24), "plan_en"),
        (Lang::Zh, (80, 24), "plan_zh"),
        (Lang::En, (120, 40), "plan_wide_en"),
        (Lang::Zh, (120, 40), "plan_wide_zh"),
    ] {
        let mut screen = Screen::new(lang, size);
        screen.receives([started("fix the total"), plan([Doing, Pending, Pending], lang)]);
        screen.receives([says("Found it."), plan([Done, Doing, Pending], lang)]);
        insta::assert_snapshot!(name, screen.picture());
    }
}

/// Cells with their styles: the debug output of a buffer lists where each style begins.
#[test]
fn the_start_page_has_its_styles_in_every_theme_and_language() {
    let themes = ["dark", "light", "high-contrast", "colorblind", "16-colors"];
    let looks = themes.map(|theme| (theme, Lang::En, Depth::True));
    let others = [("dark", Lang::Zh, Depth::True), ("dark", Lang::En, Depth::None)];
    for (theme, lang, depth) in looks.into_iter().chain(others) {
        let terminal_caps = tui::TerminalCaps { depth, ..tui::TerminalCaps::default() };
        let config = ScreenConfig {
            lang,
            facts: SessionInfo { changed_files: Some(2), ..facts(lang) },
            theme: theme.into(),
            terminal_caps,
            ..ScreenConfig::default()
        };
        let screen = Screen::of(config, (120, 40));
        let name = format!("styles_start_{theme}_{}_{depth:?}", lang.code()).to_lowercase();
        insta::assert_debug_snapshot!(name, screen.frame);
    }
}
