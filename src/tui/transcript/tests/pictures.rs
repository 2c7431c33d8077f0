//! One snapshot per situation, 80 columns, in both languages.

use ratatui::style::Modifier;

use super::*;
use crate::protocol::{Ask, AskId, Notice, ParsedOutput, Question};
use crate::words::agent;

const MARKDOWN: &str = "# Where the time goes

The parser spends **most** of its time in `Lexer::next`, *not* in the tree. It was \
measured with [perf](https://perf.wiki.kernel.org) on <https://example.org>.

## What to do

1. Keep the source as one string.
2. Borrow tokens instead of copying them, which is the larger part of the work and does not fit into a line.
   - only the lexer changes
   - no public type changes
10. Measure again.

- [x] profile
- [ ] borrow

```rust
fn next(&mut self) -> Option<Token<'_>> {
    let start = self.at;
    self.bump();
}
```

> Premature optimisation is the root of all evil,
> said someone once.

| function | calls | share |
|:---------|------:|:-----:|
| `next` | 1204 | 61 % |
| `peek` | 88 | 4 % |

---

That is ~~nothing~~ all.";

const CHINESE: &str = "# 时间花在哪里

解析器的大部分时间花在 `Lexer::next` 上，而不是语法树。下面的数字来自
[perf](https://perf.wiki.kernel.org)，在同一台机器上测了三次，取中位数，误差不超过百分之二。

1. 源码只保留一份。
2. 词法单元只借用、不复制：这是最大的一部分工作，一行放不下，需要换行，但是标点不会出现在行首。
   - 只改词法分析器

> 过早优化是万恶之源。

| 函数 | 次数 | 占比 |
|------|-----:|:----:|
| `next` | 1204 | 61 % |
| 向前看 | 88 | 4 % |
";

fn pictures(name: &str, events: Vec<Event>) {
    let mut screen = Screen::shown(events);
    for lang in [Lang::En, Lang::Zh] {
        screen.lang = lang;
        insta::assert_snapshot!(format!("{name}_{}", lang.code()), screen.text());
    }
}

fn picture(name: &str, mut screen: Screen) {
    insta::assert_snapshot!(name, screen.text());
}

#[test]
fn an_answer_in_markdown() {
    let mut screen = Screen::new(80, 60);
    screen.take([said("Why is the parser slow?"), replied(MARKDOWN)]);
    picture("markdown", screen);
}

#[test]
fn an_answer_in_chinese() {
    let mut screen = Screen::new(60, 40);
    screen.lang = Lang::Zh;
    screen.take([said("解析器为什么慢？请先看一下词法分析的部分，再告诉我应该从哪里改起，不要直接动手改代码。"), replied(CHINESE)]);
    picture("markdown_zh", screen);
}

#[test]
fn an_answer_on_a_narrow_screen() {
    let mut screen = Screen::new(28, 80);
    screen.take([said("Why is the parser slow?"), replied(MARKDOWN)]);
    picture("markdown_narrow", screen);
}

#[test]
fn a_table_whose_cells_wrap() {
    let mut screen = Screen::new(60, 40);
    screen.take([replied(
        "| option | meaning | default |\n|---|---|---|\n\
         | `--lang` | the language people are spoken to in; the model is not told | `auto` |\n\
         | `--theme` | colours by meaning, from a file or built in | `dark` |\n",
    )]);
    picture("table_wrapped", screen);
}

#[test]
fn a_turn_with_steps() {
    let found = ParsedOutput { kind: "search_matches".into(), total: 12, items: vec![] };
    let search = step("cmd_001", "rg", &["-n", "fn next", "src"]);
    let found = Observation {
        exit_code: Some(0),
        parsed: Some(found),
        ..seen(search.clone(), Tier::L0, Outcome::Ran)
    };
    let test = step("cmd_002", "cargo", &["test", "-p", "parser"]);
    let errors = "error[E0308]: mismatched types\n  --> src/lexer.rs:42:9\n\nerror: could not compile `parser`\n";
    let reset = step("cmd_003", "git", &["reset", "--hard"]);
    let push = step("cmd_004", "git", &["push", "origin", "main"]);
    let sleep = step("cmd_005", "sleep", &["600"]);
    let fetch = step("cmd_006", "cargo", &["fetch"]);
    pictures(
        "steps",
        vec![
            said("Fix the lexer, please."),
            thought("The person wants a fix. I should look first.\nThen run the tests."),
            replied("I look for it first."),
            started(search, Tier::L0),
            observed(found),
            started(test.clone(), Tier::L0),
            ran(test, 101, "", errors),
            observed(seen(reset, Tier::L2, Outcome::Refused)),
            observed(Observation {
                note: Some(agent::DECLINED_WORD.with("word", "Not on a Friday.")),
                duration_ms: 0,
                ..seen(push, Tier::L1, Outcome::Declined)
            }),
            observed(Observation {
                note: Some(agent::SKIPPED.into()),
                duration_ms: 0,
                ..seen(step("cmd_007", "ls", &[]), Tier::L0, Outcome::Cancelled)
            }),
            observed(Observation {
                duration_ms: 30_000,
                ..seen(sleep, Tier::L1, Outcome::TimedOut)
            }),
            observed(Observation {
                exit_code: Some(0),
                note: Some(agent::EDITED.with("step", "cargo update")),
                ..seen(fetch, Tier::L1, Outcome::Edited)
            }),
            replied("The lexer compared the wrong types. It is **fixed**."),
            ended(TurnOutcome::Done),
        ],
    );
}

#[test]
fn a_running_step_shows_the_end_of_its_output() {
    let test = step(
        "cmd_001",
        "cargo",
        &["test", "--workspace", "--all-features", "--no-fail-fast", "--", "--nocapture", "lexer"],
    );
    let lines: String = (1..9).map(|n| format!("   Compiling crate-{n} v0.{n}.0\n")).collect();
    pictures(
        "running",
        vec![
            said("Run the tests."),
            replied("I run them all."),
            started(test, Tier::L1),
            output("cmd_001", &lines),
            output("cmd_001", "   Building [=====>   ] 40 %\r   Building [=======> ] 80 %"),
        ],
    );
}

#[test]
fn a_step_opened() {
    let test = step("cmd_001", "cargo", &["test", "--quiet", "a test with 'quotes'"]);
    let lines: String = (1..300).map(|n| format!("test number_{n} ... ok\n")).collect();
    let mut events = vec![said("Run the tests.")];
    events.push(started(test.clone(), Tier::L0));
    events.push(observed(Observation {
        exit_code: Some(0),
        stdout: "running 2 tests\n\tindented\ntest result: ok\n".into(),
        stderr: "warning: unused import\n".into(),
        note: Some(screen::STEP_EDITED.into()),
        ..seen(test.clone(), Tier::L0, Outcome::Ran)
    }));
    let mut screen = Screen::shown(events);
    screen.transcript.toggle_steps();
    picture("step_open", screen);

    let mut screen = Screen::shown([started(test.clone(), Tier::L0), ran(test, 0, &lines, "")]);
    screen.height = 200;
    screen.transcript.toggle_steps();
    let text = screen.text();
    assert!(text.contains("(119 lines left out)"), "{text}");
    assert!(text.contains("number_1 ") && text.contains("number_299 "));
}

#[test]
fn a_line_for_the_shell() {
    let shell = Step {
        work: StepAction::Shell { line: "git log --oneline | head -2".into() },
        ..step("cmd_001", "", &[])
    };
    pictures(
        "shell",
        vec![
            Event::TurnStarted {
                turn: 1,
                text: "!git log --oneline | head -2".into(),
                origin: TurnOrigin::Shell,
            },
            started(shell.clone(), Tier::L1),
            ran(shell, 0, "b7f03dc Set out the shelves\n0c1d2e3 Begin\n", ""),
            ended(TurnOutcome::Done),
        ],
    );
}

#[test]
fn a_step_that_waits_for_an_answer() {
    let push = step("cmd_001", "git", &["push"]);
    pictures(
        "asked",
        vec![
            said("Push it."),
            Event::Asked(Box::new(Ask {
                id: AskId(1),
                question: Question::Step {
                    step: push,
                    risk: risk(Tier::L1),
                    resolved: None,
                    cwd: "/home/ana".into(),
                    why: String::new(),
                    expected: String::new(),
                    number: 1,
                    of: 1,
                    pieces: vec![],
                    rule: None,
                    rule_covers: Vec::new(),
                    trust: None,
                    change: None,
                    rest: Vec::new(),
                },
            })),
        ],
    );
}

#[test]
fn what_goes_wrong_with_a_reply() {
    let why = screen::CUT_BROKEN;
    let retrying = |attempt| Event::Retrying { attempt, of: 5, wait_ms: 2_000, why: why.into() };
    pictures(
        "faults",
        vec![
            said("First."),
            delta("Half of an answ"),
            retrying(1),
            retrying(2),
            delta("An answer"),
            cut("An answer that was", Truncation::Length),
            ended(TurnOutcome::Done),
            said("Second."),
            delta("{\"type\": "),
            Event::Repairing { fault: screen::STEP_KILLED.into() },
            Event::Replied(ModelMessage {
                message: "I cannot read that file.".into(),
                error: true,
                ..ModelMessage::default()
            }),
            ended(TurnOutcome::Error),
            said("Third."),
            retrying(3),
            ended(TurnOutcome::Failed { why: why.into() }),
            said("Fourth."),
            delta("I begin"),
            ended(TurnOutcome::Cancelled),
            said("Fifth."),
            retrying(1),
        ],
    );
}

#[test]
fn notices_and_pages() {
    let mut screen = Screen::shown([
        Event::Notice(Notice::info(screen::ENDED_STOPPED)),
        Event::Notice(
            Notice::error(screen::THEME_MISSING.with("name", "accent")).with_hint(
                screen::THEME_TOML
                    .with("why", "line 3 is odd and long enough to need another row here"),
            ),
        ),
        Event::Notice(Notice::warning(screen::STEP_TRUNCATED)),
    ]);
    screen.transcript.page(
        screen::STEP_FOLDER,
        vec![
            PageRow::pair(screen::STEP_FOLDER, "/home/ana/avocet"),
            PageRow::pair(screen::STEP_EXIT_LABEL, screen::STEP_TRUNCATED),
            PageRow::heading(screen::STEP_NOTE),
            PageRow::line(screen::REPAIRING.with("fault", "x.")),
            PageRow::line("    as it is\tand a tab"),
        ],
    );
    for lang in [Lang::En, Lang::Zh] {
        screen.lang = lang;
        insta::assert_snapshot!(format!("notices_{}", lang.code()), screen.text());
    }
}

#[test]
fn a_thought_while_it_comes() {
    let long =
        "The lexer copies every token. I wonder whether the tree needs them at all. ".repeat(6);
    pictures("thinking", vec![said("Why?"), thought(&long)]);
}

const DIFF: &str = "Rounding in cents:

```diff
--- a/src/price.rs
+++ b/src/price.rs
@@ -97,6 +97,7 @@ impl Price {
     /// In cents.
     pub fn rounded(&self) -> i64 {
-        (self.value * 10.0).floor() as i64
+        (self.value * 100.0).round() as i64
+        // A comment that is long enough to be broken where the columns of the screen end.
     }
 }
-
```
";

#[test]
fn a_diff_in_an_answer_and_one_of_git() {
    let show = step("cmd_001", "git", &["diff"]);
    let printed = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-旧的一行\n+新的一行\n \u{1b}[31msame\n";
    let mut screen = Screen::shown([
        said("Round it."),
        replied(DIFF),
        started(show.clone(), Tier::L0),
        ran(show, 0, printed, ""),
    ]);
    screen.transcript.toggle_steps();
    for lang in [Lang::En, Lang::Zh] {
        screen.lang = lang;
        insta::assert_snapshot!(format!("diff_{}", lang.code()), screen.text());
    }
    screen.width = 24;
    picture("diff_narrow", screen);
}

#[test]
fn changed_words_of_a_diff_are_marked_without_any_colour() {
    let mut screen = Screen::shown([replied(DIFF)]);
    screen.theme = Theme::built_in("dark", Depth::None).unwrap();
    let buf = screen.buffer();
    let bold = |y: u16| -> String {
        let cells = (0..80).map(|x| &buf[(x, y)]);
        let marked = cells.filter(|cell| cell.modifier.contains(Modifier::UNDERLINED));
        marked.map(|cell| cell.symbol()).collect()
    };
    assert_eq!([8, 9].map(bold), ["10.0floor", "100.0round"].map(str::to_owned));
}
