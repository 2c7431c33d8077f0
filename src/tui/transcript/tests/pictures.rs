//! One snapshot per situation, 80 columns, in both languages.

use ratatui::style::Modifier;

use super::*;
use avocet_core::i18n::{agent, common};
use avocet_core::protocol::{Ask, AskId, Notice, ParsedOutput, Question, StepQuestion};

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
    let mut screen = Screen::with_events(events);
    for lang in [Lang::En, Lang::Zh] {
        screen.lang = lang;
        insta::assert_snapshot!(format!("{name}_{}", lang.code()), screen.text());
    }
}

fn picture(name: &str, mut screen: Screen) {
    insta::assert_snapshot!(name, screen.text());
}

#[test]
fn markdown_answers_are_rendered() {
    let mut screen = Screen::new(80, 60);
    screen.apply_all([turn_started("Why is the parser slow?"), reply_finished(MARKDOWN)]);
    picture("markdown", screen);
}

#[test]
fn chinese_answers_are_rendered() {
    let mut screen = Screen::new(60, 40);
    screen.lang = Lang::Zh;
    screen.apply_all([turn_started("解析器为什么慢？请先看一下词法分析的部分，再告诉我应该从哪里改起，不要直接动手改代码。"), reply_finished(CHINESE)]);
    picture("markdown_zh", screen);
}

#[test]
fn answers_fit_narrow_screens() {
    let mut screen = Screen::new(28, 80);
    screen.apply_all([turn_started("Why is the parser slow?"), reply_finished(MARKDOWN)]);
    picture("markdown_narrow", screen);
}

#[test]
fn table_cells_wrap() {
    let mut screen = Screen::new(60, 40);
    screen.apply_all([reply_finished(
        "| option | meaning | default |\n|---|---|---|\n\
         | `--lang` | the language people are spoken to in; the model is not told | `auto` |\n\
         | `--theme` | colours by meaning, from a file or built in | `dark` |\n",
    )]);
    picture("table_wrapped", screen);
}

#[test]
fn a_rule_and_a_sentence_of_a_page_are_no_wider_than_prose() {
    let mut screen = Screen::new(180, 20);
    screen.apply_all([reply_finished("One.\n\n---\n\nTwo.\n")]);
    screen.transcript.add_page(common::FOLDER, vec![PageRow::line("many words ".repeat(20))]);
    let text = screen.text();
    let widths = text.lines().map(|row| crate::text::width(row.trim()));
    assert_eq!(widths.max(), Some(crate::draw::MEASURE), "{text}");
}

#[test]
fn long_columns_of_a_table_share_its_width() {
    let mut screen = Screen::new(60, 40);
    let cell = "the same words again and again ".repeat(3);
    let table = format!("| n | before | after |\n|---|---|---|\n| 1 | {cell} | {cell} |\n");
    screen.apply_all([reply_finished(&table)]);
    let text = screen.text();
    let row = text.lines().find(|line| line.contains("the same")).unwrap();
    let cells: Vec<&str> = row.split('╎').map(str::trim).collect();
    assert_eq!(cells[1], cells[2], "{text}");
    assert!(cells[1].starts_with("the same words again"), "{text}");
}

#[test]
fn steps_show_their_outcomes() {
    let found = ParsedOutput { kind: "search_matches".into(), total: 12, items: vec![] };
    let search = step("cmd_001", "rg", &["-n", "fn next", "src"]);
    let found = Observation {
        exit_code: Some(0),
        parsed: Some(found),
        ..observation(search.clone(), Tier::L0, Outcome::Ran)
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
            turn_started("Fix the lexer, please."),
            reasoning_delta("The person wants a fix. I should look first.\nThen run the tests."),
            reply_finished("I look for it first."),
            step_started(search, Tier::L0),
            step_finished(found),
            step_started(test.clone(), Tier::L0),
            step_ran(test, 101, "", errors),
            step_finished(observation(reset, Tier::L2, Outcome::Refused)),
            step_finished(Observation {
                note: Some(agent::DECLINED_WORD.with("word", "Not on a Friday.")),
                duration_ms: 0,
                ..observation(push, Tier::L1, Outcome::Declined)
            }),
            step_finished(Observation {
                note: Some(agent::SKIPPED.into()),
                duration_ms: 0,
                ..observation(step("cmd_007", "ls", &[]), Tier::L0, Outcome::Cancelled)
            }),
            step_finished(Observation {
                duration_ms: 30_000,
                ..observation(sleep, Tier::L1, Outcome::TimedOut)
            }),
            step_finished(Observation {
                exit_code: Some(0),
                note: Some(agent::EDITED.with("step", "cargo update")),
                ..observation(fetch, Tier::L1, Outcome::Edited)
            }),
            reply_finished("The lexer compared the wrong types. It is **fixed**."),
            turn_ended(TurnOutcome::Done),
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
            turn_started("Run the tests."),
            reply_finished("I run them all."),
            step_started(test, Tier::L1),
            output("cmd_001", &lines),
            output("cmd_001", "   Building [=====>   ] 40 %\r   Building [=======> ] 80 %"),
        ],
    );
}

#[test]
fn an_unfolded_step_shows_its_details() {
    let test = step("cmd_001", "cargo", &["test", "--quiet", "a test with 'quotes'"]);
    let lines: String = (1..300).map(|n| format!("test number_{n} ... ok\n")).collect();
    let mut events = vec![turn_started("Run the tests.")];
    events.push(step_started(test.clone(), Tier::L0));
    events.push(step_finished(Observation {
        exit_code: Some(0),
        stdout: "running 2 tests\n\tindented\ntest result: ok\n".into(),
        stderr: "warning: unused import\n".into(),
        note: Some(screen::STEP_EDITED.into()),
        ..observation(test.clone(), Tier::L0, Outcome::Ran)
    }));
    let mut screen = Screen::with_events(events);
    screen.transcript.toggle_steps();
    picture("step_open", screen);

    let mut screen =
        Screen::with_events([step_started(test.clone(), Tier::L0), step_ran(test, 0, &lines, "")]);
    screen.height = 200;
    screen.transcript.toggle_steps();
    let text = screen.text();
    assert!(text.contains("(119 lines left out)"), "{text}");
    assert!(text.contains("number_1 ") && text.contains("number_299 "));
}

#[test]
fn an_unfolded_step_keeps_its_labels_as_text_and_says_nothing_of_what_is_usual() {
    let list = step("cmd_001", "ls", &["nosuch"]);
    let mut screen = Screen::with_events([
        step_started(list.clone(), Tier::L0),
        step_ran(list, 2, "", "no such file\n"),
    ]);
    let text = screen.transcript.plain_text();
    assert!(text.lines().any(|line| line.starts_with("exit code")), "{text}");
    assert!(!text.lines().any(|line| line.starts_with("folder")), "that of the session: {text}");
    assert!(!text.lines().any(|line| line.starts_with("reason")), "it only reads: {text}");
    screen
        .transcript
        .add_page(common::FOLDER, vec![PageRow::pair(common::FOLDER, "/home/ana/avocet")]);
    let text = screen.transcript.plain_text();
    assert!(text.contains("folder  /home/ana/avocet"), "{text}");
}

#[test]
fn long_labels_move_only_the_column_of_their_section() {
    let mut screen = Screen::new(100, 30);
    let long = "steps that run by themselves, held";
    let longest = "a label that has no room at all beside it, whatever the width of the page is";
    screen.transcript.add_page(
        common::FOLDER,
        vec![
            PageRow::pair("model", "m-1"),
            PageRow::heading("Sandbox"),
            PageRow::pair(long, "one"),
            PageRow::pair("uses", "two"),
            PageRow::pair(longest, "three"),
        ],
    );
    let rows = screen.rows();
    let column = |value: &str| {
        let row = rows.iter().find(|row| row.trim_end().ends_with(value));
        row.and_then(|row| row.find(value)).unwrap_or_else(|| panic!("{value}: {rows:#?}"))
    };
    assert!(column("m-1") < 20, "{rows:#?}");
    assert_eq!(column("one"), column("two"));
    assert_eq!(column("one"), column("three"));
}

#[test]
fn a_shell_line_shows_its_output() {
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
                submit: None,
            },
            step_started(shell.clone(), Tier::L1),
            step_ran(shell, 0, "b7f03dc Set out the shelves\n0c1d2e3 Begin\n", ""),
            turn_ended(TurnOutcome::Done),
        ],
    );
}

#[test]
fn a_step_that_needs_approval_is_marked() {
    let push = step("cmd_001", "git", &["push"]);
    pictures(
        "asked",
        vec![
            turn_started("Push it."),
            Event::Asked(Box::new(Ask {
                id: AskId(1),
                question: Question::Step(StepQuestion {
                    pieces: vec![],
                    ..StepQuestion::new(push, risk(Tier::L1), "/home/ana")
                }),
            })),
        ],
    );
}

#[test]
fn reply_errors_are_shown() {
    let why = screen::CUT_BROKEN;
    let retrying = |attempt| Event::Retrying { attempt, of: 5, wait_ms: 2_000, why: why.into() };
    pictures(
        "faults",
        vec![
            turn_started("First."),
            delta("Half of an answ"),
            retrying(1),
            retrying(2),
            delta("An answer"),
            truncated_reply("An answer that was", Truncation::Length),
            turn_ended(TurnOutcome::Done),
            turn_started("Second."),
            delta("{\"type\": "),
            Event::Repairing { fault: screen::STEP_KILLED.into() },
            Event::Replied(ModelMessage {
                message: "I cannot read that file.".into(),
                error: true,
                ..ModelMessage::default()
            }),
            turn_ended(TurnOutcome::Error),
            turn_started("Third."),
            retrying(3),
            turn_ended(TurnOutcome::Failed { why: why.into() }),
            turn_started("Fourth."),
            delta("I begin"),
            turn_ended(TurnOutcome::Cancelled),
            turn_started("Fifth."),
            retrying(1),
        ],
    );
}

#[test]
fn notices_and_pages_are_rendered() {
    let mut screen = Screen::with_events([
        Event::Notice(Notice::info(common::STOPPED)),
        Event::Notice(
            Notice::error(screen::THEME_MISSING.with("name", "accent")).with_hint(
                screen::THEME_TOML
                    .with("why", "line 3 is odd and long enough to need another row here"),
            ),
        ),
        Event::Notice(Notice::warning(screen::STEP_TRUNCATED.with("n", 3))),
    ]);
    screen.transcript.add_page(
        common::FOLDER,
        vec![
            PageRow::pair(common::FOLDER, "/home/ana/avocet"),
            PageRow::pair(screen::STEP_EXIT_LABEL, screen::STEP_TRUNCATED.with("n", 3)),
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
fn streaming_reasoning_is_shown() {
    let long =
        "The lexer copies every token. I wonder whether the tree needs them at all. ".repeat(6);
    pictures("thinking", vec![turn_started("Why?"), reasoning_delta(&long)]);
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
fn diffs_in_answers_and_git_output_are_rendered() {
    let show = step("cmd_001", "git", &["diff"]);
    let printed = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-旧的一行\n+新的一行\n \u{1b}[31msame\n";
    let mut screen = Screen::with_events([
        turn_started("Round it."),
        reply_finished(DIFF),
        step_started(show.clone(), Tier::L0),
        step_ran(show, 0, printed, ""),
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
    let mut screen = Screen::with_events([reply_finished(DIFF)]);
    screen.theme = Theme::built_in("dark", Depth::None).unwrap();
    let buf = screen.buffer();
    let bold = |y: u16| -> String {
        let cells = (0..80).map(|x| &buf[(x, y)]);
        let marked = cells.filter(|cell| cell.modifier.contains(Modifier::UNDERLINED));
        marked.map(|cell| cell.symbol()).collect()
    };
    assert_eq!([8, 9].map(bold), ["10.0floor", "100.0round"].map(str::to_owned));
}

#[test]
fn a_change_is_shown_after_its_approval_and_unfolds() {
    let lines: String = (1..31).map(|n| format!("+line {n}\n")).collect();
    let edit = Step {
        work: StepAction::Tool {
            name: "file.write".into(),
            input: serde_json::json!({ "path": "a.txt", "content": "" }),
        },
        ..step("cmd_001", "", &[])
    };
    let change = avocet_core::protocol::Change {
        path: "/w/a.txt".into(),
        before: None,
        after: Some("00".into()),
        added: 30,
        removed: 0,
        diff: format!("--- a.txt\n+++ a.txt\n@@ -0,0 +1,30 @@\n{lines}"),
        ..avocet_core::protocol::Change::default()
    };
    let mut screen = Screen::with_events([step_finished(Observation {
        exit_code: Some(0),
        change: Some(change),
        ..observation(edit, Tier::L1, Outcome::Ran)
    })]);
    let text = screen.text();
    assert!(text.contains("12 +line 12") && !text.contains("line 13"), "{text}");
    assert!(text.contains("+18 lines  Ctrl-O"), "{text}");
    screen.transcript.toggle_steps();
    assert!(screen.text().contains("30 +line 30"), "{}", screen.text());
}

#[test]
fn a_message_of_the_user_is_a_panel_with_a_bar() {
    let mut screen =
        Screen::with_events([turn_started("Why?"), reply_finished("`a`\n\n```\nb\n```")]);
    let (bar, surface) =
        (screen.theme.bar.user.bg.unwrap(), screen.theme.panel.surface.bg.unwrap());
    let buf = screen.buffer();
    assert_eq!((buf[(0, 0)].bg, buf[(1, 0)].bg, buf[(79, 0)].bg), (bar, surface, surface));
    assert_eq!(buf[(2, 2)].bg, surface, "inline code");
    assert_eq!((buf[(2, 4)].bg, buf[(70, 4)].bg), (surface, surface), "a code block");
    screen.theme = Theme::built_in("dark", Depth::Sixteen).unwrap();
    let buf = screen.buffer();
    assert_eq!(buf[(79, 0)].bg, ratatui::style::Color::Reset, "lines, not panels");
    assert!(screen.text().contains("╎ b"), "{}", screen.text());
}
