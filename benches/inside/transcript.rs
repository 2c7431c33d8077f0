//! What a long conversation costs: 20,000 tokens at once, and a frame at any length.

#![allow(clippy::unwrap_used, reason = "benches")]

use avocet::i18n::Lang;
use avocet::protocol::{Event, ModelMessage, TurnOrigin};
use avocet::tui::theme::{Depth, Theme};
use avocet::tui::transcript::{DrawOptions, Highlighter, Scroll, Transcript};
use divan::Bencher;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const AREA: Rect = Rect { x: 0, y: 0, width: 120, height: 40 };

/// Tokens of a plausible answer: prose, lists, code, a table, again and again.
fn tokens(count: usize) -> Vec<Event> {
    let answer = "## Step\n\nThe parser spends **most** of its time in `next`, not in the tree.\n\n\
        - one thing\n- another thing, which is longer than the first\n\n\
        ```rust\nfn next(&mut self) -> Option<Token<'_>> {\n    self.bump();\n}\n```\n\n\
        | a | b |\n|---|---|\n| 1 | 2 |\n\n解析器的大部分时间花在词法分析上，而不是语法树。\n\n";
    let words: Vec<&str> = answer.split_inclusive([' ', '\n']).collect();
    let delta = |text: &&str| Event::Delta { text: (*text).to_owned() };
    words.iter().cycle().take(count).map(delta).collect()
}

fn theme() -> Theme {
    Theme::built_in("dark", Depth::True).unwrap()
}

fn frame(transcript: &mut Transcript, theme: &Theme, buf: &mut Buffer) {
    let look = DrawOptions {
        theme,
        lang: Lang::En,
        steps_key: "Ctrl-O",
        elapsed_ms: 1_000,
        clock: None,
        cell: None,
    };
    transcript.fit(AREA, &look);
    transcript.draw(buf);
}

fn stream(events: &[Event], each: usize) -> Transcript {
    let (theme, mut buf) = (theme(), Buffer::empty(AREA));
    let mut transcript = Transcript::default();
    for chunk in events.chunks(each) {
        chunk.iter().for_each(|event| transcript.apply(event));
        frame(&mut transcript, &theme, &mut buf);
    }
    transcript
}

/// Sent at once: the loop draws when nothing more waits, here every 500 deltas.
#[divan::bench]
fn stream_20_000_tokens_at_once(bencher: Bencher<'_, '_>) {
    let events = tokens(20_000);
    bencher.bench(|| stream(&events, 500));
}

/// The worst loop: a frame for each delta.
#[divan::bench(sample_count = 5)]
fn stream_20_000_tokens_a_frame_each(bencher: Bencher<'_, '_>) {
    let events = tokens(20_000);
    bencher.bench(|| stream(&events, 1));
}

/// One open block of code that never ends.
#[divan::bench(sample_count = 10)]
fn stream_20_000_tokens_of_code(bencher: Bencher<'_, '_>) {
    let mut events = vec![Event::Delta { text: "```\n".into() }];
    let line = Event::Delta { text: "let x = 1;\n".into() };
    events.extend(std::iter::repeat_n(line, 20_000));
    bencher.bench(|| stream(&events, 20));
}

/// The next delta and its frame behind so many tokens.
#[divan::bench(args = [1_000, 10_000, 100_000])]
fn one_more_delta_after(bencher: Bencher<'_, '_>, count: usize) {
    let (theme, mut buf) = (theme(), Buffer::empty(AREA));
    let mut transcript = stream(&tokens(count), 500);
    let event = Event::Delta { text: "word ".into() };
    bencher.bench_local(|| {
        transcript.apply(&event);
        frame(&mut transcript, &theme, &mut buf);
    });
}

fn page_up(bencher: Bencher<'_, '_>, mut transcript: Transcript) {
    let (theme, mut buf) = (theme(), Buffer::empty(AREA));
    frame(&mut transcript, &theme, &mut buf);
    bencher.bench_local(|| {
        transcript.scroll(Scroll::Pages(-1));
        frame(&mut transcript, &theme, &mut buf);
        if transcript.unseen_rows() > 1_000 {
            transcript.scroll(Scroll::Bottom);
        }
    });
}

/// A page up and its frame in a conversation of so many turns.
#[divan::bench(args = [100, 1_000, 10_000])]
fn a_page_up_in(bencher: Bencher<'_, '_>, turns: u64) {
    let mut transcript = Transcript::default();
    for turn in 0..turns {
        let text = format!("question {turn}");
        transcript.apply(&Event::TurnStarted {
            turn,
            text,
            origin: TurnOrigin::Typed,
            submit: None,
        });
        let message = "Some **words**.\n\n- one\n- two\n\n```rust\nfn main() {}\n```\n".to_owned();
        transcript.apply(&Event::Replied(ModelMessage {
            message,
            markdown: true,
            ..ModelMessage::default()
        }));
    }
    page_up(bencher, transcript);
}

/// Held after so many tokens: the "max alloc" beside it.
#[divan::bench(args = [1_000, 10_000, 100_000], sample_count = 1)]
fn memory_after(bencher: Bencher<'_, '_>, count: usize) {
    let events = tokens(count);
    bencher.bench_local(|| stream(&events, 500));
}

/// A page up and its frame in a diff of so many rows.
#[divan::bench(args = [50, 5_000])]
fn a_page_up_in_a_diff_of(bencher: Bencher<'_, '_>, rows: usize) {
    let mut transcript = Transcript::default();
    let lines: String = (0..rows).map(|at| format!("+    let value_{at} = {at};\n")).collect();
    let message = format!("```diff\n@@ -0,0 +1,{rows} @@\n{lines}```\n");
    transcript.apply(&Event::Replied(ModelMessage {
        message,
        markdown: true,
        ..ModelMessage::default()
    }));
    page_up(bencher, transcript);
}

/// One frame while a long conversation is searched: a slice is read.
#[divan::bench(args = [1_000, 100_000], sample_count = 40)]
fn a_frame_of_a_search_in(bencher: Bencher<'_, '_>, count: usize) {
    let (theme, mut buf) = (theme(), Buffer::empty(AREA));
    let mut transcript = stream(&tokens(count), 500);
    transcript.search("of its time");
    bencher.bench_local(|| {
        if !transcript.is_searching() {
            transcript.search("of its time");
        }
        frame(&mut transcript, &theme, &mut buf);
    });
}

/// A frame at the end of so many lines.
#[divan::bench(args = [10, 1_000, 100_000])]
fn a_frame_behind_lines(bencher: Bencher<'_, '_>, lines: usize) {
    let (theme, mut buf) = (theme(), Buffer::empty(AREA));
    let mut transcript = Transcript::default();
    let message = "A line of the answer that is of a usual length.\n\n".repeat(lines / 2);
    transcript.apply(&Event::Replied(ModelMessage {
        message,
        markdown: true,
        ..ModelMessage::default()
    }));
    frame(&mut transcript, &theme, &mut buf);
    bencher.bench_local(|| frame(&mut transcript, &theme, &mut buf));
}

/// The first piece of code in a run: the syntax set is unpacked for it.
#[divan::bench(sample_count = 10)]
fn first_highlight(bencher: Bencher<'_, '_>) {
    let (theme, mut buf) = (theme(), Buffer::empty(AREA));
    let mut transcript = Transcript::default();
    let message = "```rust\nfn main() {\n    println!(\"hi\");\n}\n```\n".to_owned();
    transcript.apply(&Event::Replied(ModelMessage {
        message,
        markdown: true,
        ..ModelMessage::default()
    }));
    frame(&mut transcript, &theme, &mut buf);
    let snippet = transcript.next_unhighlighted().unwrap();
    bencher.bench(|| Highlighter::default().highlight(&snippet));
}
