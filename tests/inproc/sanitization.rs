//! Draws hostile bytes from every source on a real screen: none may control the terminal, and no
//! text may be lost.

use std::fs;
use std::path::PathBuf;

use avocet::i18n::{Lang, screen};
use avocet::protocol::{
    Event, ModelMessage, Notice, Observation, Outcome, Requires, Risk, Step, StepAction, Tier,
    TurnOrigin,
};
use avocet::tui::theme::{Depth, Theme};
use avocet::tui::transcript::{DrawOptions, Scroll, Transcript};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::Value;

/// Longer files are not cut at every character.
const SHORT: usize = 1_000;

struct Payload {
    file: String,
    text: String,
    proposal: bool,
    raw_never: Vec<String>,
    must_show: Vec<String>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/inject")
}

fn payloads() -> Vec<Payload> {
    let expect = fs::read_to_string(folder().join("expect.json")).unwrap();
    let expect: Value = serde_json::from_str(&expect).unwrap();
    let strings = |value: &Value| -> Vec<String> {
        let list = value.as_array().cloned().unwrap_or_default();
        list.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    let payload = |entry: &Value| {
        let file = entry["file"].as_str().unwrap().to_owned();
        let bytes = fs::read(folder().join(&file)).unwrap();
        let raw = |hex: String| {
            let bytes = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
            let bytes = bytes.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
            String::from_utf8(bytes).unwrap()
        };
        Payload {
            text: String::from_utf8_lossy(&bytes).into_owned(),
            proposal: strings(&entry["channels"]).contains(&"proposal".to_owned()),
            raw_never: strings(&entry["raw_never"]).into_iter().map(raw).collect(),
            must_show: strings(&entry["must_show"]),
            file,
        }
    };
    expect["payloads"].as_array().unwrap().iter().map(payload).collect()
}

/// All of a transcript, screen by screen; fails on a cell that could control anything.
fn drawn(transcript: &mut Transcript, width: u16) -> String {
    let area = Rect::new(0, 0, width, 50);
    let theme = Theme::built_in("dark", Depth::True).unwrap();
    let look = DrawOptions {
        theme: &theme,
        lang: Lang::En,
        steps_key: "Ctrl-O",
        elapsed_ms: 0,
        clock: None,
        cell: None,
    };
    let mut out = String::new();
    transcript.fit(area, &look);
    transcript.scroll(Scroll::Top);
    loop {
        let mut buf = Buffer::empty(area);
        transcript.fit(area, &look);
        transcript.draw(&mut buf);
        for cell in &buf.content {
            for c in cell.symbol().chars() {
                let hides = matches!(
                    c,
                    '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{feff}'
                        | '\u{2028}' | '\u{2029}' | '\u{e0000}'..='\u{e0fff}'
                );
                assert!(!c.is_control() && !hides, "{c:?} in {:?}", cell.symbol());
            }
            let marks = cell.symbol().chars().count();
            assert!(marks <= 20, "{marks} characters in one cell");
        }
        for row in buf.content.chunks(usize::from(width)) {
            row.iter().for_each(|cell| out.push_str(cell.symbol()));
            out.push('\n');
        }
        if transcript.is_following() || out.len() > 2_000_000 {
            return out;
        }
        transcript.scroll(Scroll::Pages(1));
    }
}

fn step(work: StepAction) -> Step {
    Step { id: "cmd_001".into(), work, requires: Requires::default(), cwd: None }
}

fn risk() -> Risk {
    Risk { tier: Tier::L1, rule: "r".into(), reasons: vec![], effects: vec![], lifted: false }
}

fn streamed(chunks: &[&str]) -> Transcript {
    let mut transcript = Transcript::default();
    for chunk in chunks {
        transcript.apply(&Event::Delta { text: (*chunk).to_owned() });
    }
    transcript
}

fn printed(chunks: &[&str]) -> Transcript {
    let mut transcript = Transcript::default();
    let step = step(StepAction::exec("cat", &["file"]));
    transcript.apply(&Event::StepStarted { step: step.clone(), risk: risk() });
    for chunk in chunks {
        let text = (*chunk).to_owned();
        transcript.apply(&Event::StepOutput { id: "cmd_001".into(), text });
    }
    transcript
}

/// Every other way into the transcript.
fn ways(text: &str) -> Vec<(&'static str, Transcript)> {
    let mut whole = Transcript::default();
    let reply =
        |markdown| ModelMessage { message: text.into(), markdown, ..ModelMessage::default() };
    whole.apply(&Event::Replied(reply(true)));
    let mut plain = Transcript::default();
    plain.apply(&Event::Replied(reply(false)));
    let mut said = Transcript::default();
    said.apply(&Event::TurnStarted {
        turn: 1,
        text: text.into(),
        origin: TurnOrigin::Queue,
        submit: None,
    });
    let mut thought = Transcript::default();
    thought.apply(&Event::ReasoningDelta { text: text.into() });
    thought.toggle_steps();
    let mut observed = printed(&[]);
    let seen = Observation {
        stdout: text.into(),
        stderr: text.into(),
        exit_code: Some(1),
        ..Observation::not_run(step(StepAction::exec("cat", &["file"])), text, risk(), Outcome::Ran)
    };
    observed.apply(&Event::StepFinished(Box::new(seen)));
    observed.toggle_steps();
    let mut notice = Transcript::default();
    notice.add_notice(Notice::error(screen::THEME_TOML.with("why", text)));
    let mut page = Transcript::default();
    page.add_page(
        screen::HINT,
        vec![
            avocet::protocol::PageRow::line(text),
            avocet::protocol::PageRow::pair(screen::HINT, text),
        ],
    );
    vec![
        ("a whole reply", whole),
        ("a plain reply", plain),
        ("words", said),
        ("a thought", thought),
        ("an observation", observed),
        ("a notice", notice),
        ("a page", page),
    ]
}

fn check(payload: &Payload, way: &str, shown: &str) {
    for raw in &payload.raw_never {
        assert!(!shown.contains(raw.as_str()), "{} by {way}: {raw:?} is there", payload.file);
    }
    for text in &payload.must_show {
        assert!(
            shown.contains(text.as_str()),
            "{} by {way}: no {text:?} in\n{shown}",
            payload.file
        );
    }
}

#[test]
fn hostile_bytes_are_neutralized_without_losing_text() {
    for payload in payloads().iter().filter(|payload| !payload.proposal) {
        for (way, mut transcript) in ways(&payload.text) {
            check(payload, way, &drawn(&mut transcript, 80));
            drawn(&mut transcript, 7);
        }
    }
}

#[test]
fn cleaning_does_not_depend_on_where_a_stream_is_split() {
    for payload in payloads().iter().filter(|payload| !payload.proposal) {
        let text = &payload.text;
        let cuts: Vec<usize> = match text.len() {
            0..SHORT => text.char_indices().map(|(at, _)| at).collect(),
            _ => text.char_indices().map(|(at, _)| at).take(8).collect(),
        };
        for cut in cuts {
            let (first, second) = text.split_at(cut);
            check(payload, "a stream", &drawn(&mut streamed(&[first, second]), 80));
            if text.len() < SHORT && text.lines().count() < 4 {
                check(payload, "an output", &drawn(&mut printed(&[first, second]), 120));
            }
        }
    }
}

#[test]
fn a_proposed_step_shows_its_hidden_characters() {
    let hides = |payload: &&Payload| payload.proposal && !payload.raw_never.is_empty();
    for payload in payloads().iter().filter(hides) {
        let reply: Value = serde_json::from_str(&payload.text).unwrap();
        let command = &reply["data"]["commands"][0];
        let args: Vec<&str> =
            command["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let work = StepAction::exec(command["program"].as_str().unwrap(), &args);
        let mut transcript = Transcript::default();
        transcript.apply(&Event::StepStarted { step: step(work), risk: risk() });
        // A NUL may be written in any of the usual forms.
        let shown = drawn(&mut transcript, 100).replace("\\x00", "\\0");
        check(payload, "a proposal", &shown);
    }
}

#[test]
fn characters_spelled_out_in_markdown_are_cleaned_as_well() {
    let text =
        "a&#27;[2Jb &#x202e;c `\u{1b}[31m` [d](http://x/&#8238;&#27;) <e\u{9b}> ![f](g&#10;h)";
    let shown = drawn(&mut streamed(&[text]), 80);
    assert!(shown.contains("\\u{202e}c"), "{shown}");
}

/// How long this thread has run: what else the machine does takes no part in it.
fn time_of_this_thread() -> std::time::Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    std::time::Duration::new(now.tv_sec.try_into().unwrap(), now.tv_nsec.try_into().unwrap())
}

#[test]
fn masking_takes_time_in_proportion_to_the_text() {
    let redactor = avocet::safety::redact::Redactor::new([("", ""); 0], [7; 16]);
    for unit in [
        "token=",
        "password:",
        "a=\"",
        "--password ",
        "<password>",
        "=",
        ":",
        "x",
        "pass_",
        "login x password ",
        "curl -u a:",
        "‹secret:",
        "-----BEGIN ",
        "password=\"a\\",
        "key: ",
        "::",
    ] {
        let best = |len: usize| {
            let text = unit.repeat(len / unit.len());
            let once = || {
                let began = time_of_this_thread();
                let _ = redactor.mask(&text);
                time_of_this_thread() - began
            };
            (0..3).map(|_| once()).min().unwrap()
        };
        best(1_000);
        let (short, long) = (best(16 << 10), best(64 << 10));
        // Four times the text: in proportion it takes four times as long, squared sixteen
        // times. What takes no time to speak of is not compared.
        let short = short.max(std::time::Duration::from_millis(2));
        assert!(long < short * 10, "{unit}: {short:?}, then {long:?}");
    }
}
