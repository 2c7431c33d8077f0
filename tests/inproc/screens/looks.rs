//! The look of the main screens with their styles: at every size, in both languages, in every
//! theme, and with few colours or none.

use std::fmt::Write as _;

use crate::support::picture;
use avocet::tui::{LineStyle, TerminalCaps};
use ratatui::style::{Color, Modifier};

use super::*;

const SIZES: [(u16, u16); 4] = [(80, 24), (100, 30), (120, 40), (200, 50)];
/// The themes, and the number of colours of the terminal.
const LOOKS: [(&str, Depth); 7] = [
    ("dark", Depth::True),
    ("light", Depth::True),
    ("high-contrast", Depth::True),
    ("colorblind", Depth::True),
    ("16-colors", Depth::Sixteen),
    ("dark", Depth::Sixteen),
    ("dark", Depth::None),
];
const SCENES: [&str; 5] = ["conversation", "question", "high_risk", "change", "palette"];

fn scene(scene: &str, lang: Lang, size: (u16, u16), (theme, depth): (&str, Depth)) -> Screen {
    let terminal_caps = TerminalCaps { depth, ..TerminalCaps::default() };
    let facts = facts(lang);
    let theme = theme.to_owned();
    let config = ScreenConfig { lang, facts, theme, terminal_caps, ..ScreenConfig::default() };
    let mut screen = Screen::of(config, size);
    match scene {
        "question" => screen.receives(conversation()).receives([asks_with_more_steps(reads())]),
        "high_risk" => {
            let reasons = vec![reason(Tier::L2, "rm.recursive", DELETES, Some(0))];
            let grave = risk(Tier::L2, reasons, &[May::Delete, May::Irreversible]);
            let risk = Risk { lifted: true, tier: Tier::L1, ..grave };
            let work = StepAction::exec("rm", &["-rf", "build"]);
            screen.receives(conversation()).receives([ask(work, risk, None, Vec::new())])
        }
        "change" => screen.receives(conversation()).receives([asks_for_change()]),
        "palette" => screen.types("/"),
        _ => screen.receives(told(lang)),
    };
    screen
}

/// A turn that read, edited and failed.
fn told(lang: Lang) -> Vec<Event> {
    let word = |en: &str, zh: &str| match lang {
        Lang::En => en.to_owned(),
        Lang::Zh => zh.to_owned(),
    };
    let mut events = vec![
        started(&word("why do the columns not line up?", "为什么各列没有对齐？")),
        Event::ReplyStarted,
        says(&word("I look at how the receipt is built.", "我看看收据是怎么生成的。")),
    ];
    let file = step(
        "cmd_001",
        StepAction::Tool {
            name: "file.read".into(),
            input: serde_json::json!({"path": "src/cart.rs"}),
        },
    );
    let mut read = Observation::not_run(file.clone(), "/home/ada/code/shop", reads(), Outcome::Ran);
    (read.exit_code, read.duration_ms) = (Some(0), 12);
    events.push(Event::StepStarted { step: file, risk: reads() });
    events.push(Event::StepFinished(Box::new(read)));
    events.extend(ran("cmd_002", "rg", &["format!", "src"], "src/cart.rs:28\n"));
    events.extend(ran("cmd_003", "git", &["log", "-1", "--oneline"], "1a2b3c4 first\n"));
    events.push(Event::ReplyStarted);
    events.push(says(&word(
        "The receipt **misaligns**: `{:<10}` counts characters, not cells.\n\n## The smallest fix\n\n```rust\nfn pad(name: &str) -> String {\n    name.into()\n}\n```",
        "收据**没有对齐**：`{:<10}` 数的是字符，不是列宽。\n\n## 最小的修改\n\n```rust\nfn pad(name: &str) -> String {\n    name.into()\n}\n```",
    )));
    let edit = risk(Tier::L1, vec![reason(Tier::L1, "file.write", WRITES, None)], &[May::Write]);
    let mut edited =
        Observation::not_run(step("cmd_004", edits()), "/home/ada/code/shop", edit, Outcome::Ran);
    (edited.exit_code, edited.duration_ms, edited.change) = (Some(0), 3, Some(change()));
    events.push(Event::StepFinished(Box::new(edited)));
    let mut failed = Observation::not_run(
        step("cmd_005", StepAction::exec("cargo", &["test"])),
        "/home/ada/code/shop",
        install_risk(),
        Outcome::Ran,
    );
    (failed.exit_code, failed.duration_ms) = (Some(101), 640);
    failed.stdout = "running 3 tests\ntest price::tests::adds ... ok\ntest price::tests::rounds ... FAILED\n\nfailures:\n\n---- price::tests::rounds stdout ----\nthread 'price::tests::rounds' panicked at src/price.rs:14:9:\nassertion `left == right` failed\n  left: \"1.5\"\n right: \"1.50\"\n\ntest result: FAILED. 2 passed; 1 failed\n".into();
    failed.stderr = "   Compiling shop v0.1.0\nerror: test failed, to rerun pass `--lib`\n".into();
    events.push(Event::StepFinished(Box::new(failed)));
    let why = session::INTERRUPTED.into();
    events.push(Event::TurnEnded {
        turn: 1,
        ending: TurnOutcome::Failed { why },
        usage: Usage::counted(2_100, 320),
        elapsed_ms: 4_200,
    });
    events
}

/// Each row as text; below, the styles by letter, and which cells of a row have which.
fn styled_picture(buf: &Buffer) -> String {
    let mut known: Vec<(Color, Color, Modifier)> = Vec::new();
    let (mut out, mut styles) = (picture(buf), String::new());
    for y in 0..buf.area.height {
        let mut runs: Vec<(usize, u16)> = Vec::new();
        for x in 0..buf.area.width {
            let cell = &buf[(x, y)];
            // On a blank only the background counts.
            let fg = if cell.symbol() == " " { Color::Reset } else { cell.fg };
            let style = (fg, cell.bg, cell.modifier);
            let at = known.iter().position(|other| *other == style).unwrap_or_else(|| {
                known.push(style);
                known.len() - 1
            });
            match runs.last_mut() {
                Some((last, count)) if *last == at => *count += 1,
                _ => runs.push((at, 1)),
            }
        }
        let run = |(at, count): (usize, u16)| format!("{}{count}", letter(at));
        writeln!(styles, "{}", runs.into_iter().map(run).collect::<String>()).unwrap();
    }
    for (at, (fg, bg, modifier)) in known.iter().enumerate() {
        writeln!(out, "{} {fg} on {bg} {modifier:?}", letter(at)).unwrap();
    }
    out + &styles
}

fn letter(at: usize) -> char {
    ('a'..='z').chain('A'..='Z').nth(at).unwrap_or('?')
}

#[test]
fn the_main_screens_have_their_colours_in_every_theme() {
    for (theme, depth) in LOOKS {
        let mut pictures = String::new();
        for lang in [Lang::En, Lang::Zh] {
            for name in SCENES {
                let screen = scene(name, lang, (100, 30), (theme, depth));
                pictures += &format!(
                    "== {name} {} {theme} {depth:?}\n{}",
                    lang.code(),
                    styled_picture(&screen.frame)
                );
            }
        }
        let name = format!("look_{theme}_{depth:?}");
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name.to_lowercase().replace('-', "_"), pictures);
        });
    }
}

#[test]
fn a_theme_changes_colours_and_no_text_and_lines_stand_where_no_panels_are() {
    let text = |name, lang, size, look| scene(name, lang, size, look).picture();
    for size in SIZES {
        for lang in [Lang::En, Lang::Zh] {
            for name in SCENES {
                for look @ (_, depth) in LOOKS {
                    let shown = text(name, lang, size, look);
                    let usual = text(name, lang, size, ("dark", depth));
                    assert_eq!(shown, usual, "{name} {size:?} {look:?}");
                    let has_lines = shown.contains(['╌', '╍']);
                    assert!(has_lines || depth == Depth::True, "{look:?}\n{shown}");
                }
            }
        }
    }
}

#[test]
fn lines_are_solid_where_the_terminal_draws_them_narrow_and_nothing_else_changes() {
    for name in SCENES {
        for lang in [Lang::En, Lang::Zh] {
            for look in [("16-colors", Depth::Sixteen), ("dark", Depth::None)] {
                let mut screen = scene(name, lang, (100, 30), look);
                let dashed = screen.picture();
                screen.input(ScreenInput::Lines(LineStyle::Solid));
                screen.draw();
                let solid = screen.picture();
                let drawn = [('╌', '─'), ('╍', '━'), ('╎', '│'), ('╷', '╭')];
                let expected = drawn
                    .iter()
                    .fold(dashed, |text, (dash, line)| text.replace(*dash, &line.to_string()));
                assert_eq!(solid, expected, "{name} {look:?}");
                assert!(solid.contains(['─', '━']), "{name} {look:?}");
            }
        }
    }
}

/// To be looked at after a change of a theme: start page, conversation, questions and palette in
/// each look, below the folder for what tests write.
#[test]
#[ignore = "writes pictures to look at"]
fn every_look_is_drawn_as_pictures() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("looks");
    std::fs::create_dir_all(&folder).unwrap();
    for look @ (theme, depth) in LOOKS {
        let terminal = if theme == "light" { picture::LIGHT } else { picture::DARK };
        for name in SCENES.iter().chain(&["start"]) {
            let mut screen = scene(name, Lang::En, (100, 30), look);
            if *name == "start" {
                screen = start_page(look);
            }
            if !Theme::built_in(theme, depth).unwrap().has_surfaces() {
                screen.input(ScreenInput::Lines(LineStyle::Solid));
                screen.draw();
            }
            while let Some(snippet) = screen.state.next_unhighlighted() {
                let painted = avocet::tui::transcript::Highlighter::default().highlight(&snippet);
                screen.input(ScreenInput::Highlighted(Box::new(painted)));
                screen.draw();
            }
            let file = folder.join(format!("{theme}-{depth:?}-{name}.svg").to_lowercase());
            std::fs::write(file, picture::svg(&screen.frame, terminal)).unwrap();
        }
    }
}

fn start_page((theme, depth): (&str, Depth)) -> Screen {
    let terminal_caps = TerminalCaps { depth, ..TerminalCaps::default() };
    let facts = SessionInfo { changed_files: Some(2), usage: Usage::default(), ..facts(Lang::En) };
    let theme = theme.to_owned();
    Screen::of(ScreenConfig { facts, theme, terminal_caps, ..ScreenConfig::default() }, (110, 30))
}
