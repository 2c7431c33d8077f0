//! What a key costs in the lists over the input: the palette over 10,000 entries, the
//! list of files over 100,000 names.

#![allow(clippy::unwrap_used, reason = "benches")]

use avocet::commands::{CommandContext, Surface};
use avocet::i18n::Lang;
use avocet::protocol::{Extensions, SessionInfo};
use avocet::tui::draw::DrawContext;
use avocet::tui::files::{FileMatcher, MatchCoverage};
use avocet::tui::keymap::Keymap;
use avocet::tui::palette::Palette;
use avocet::tui::theme::{Depth, Theme};
use divan::{Bencher, black_box};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const AREA: Rect = Rect { x: 0, y: 0, width: 120, height: 40 };

fn names(count: usize, name: impl Fn(usize) -> String) -> Vec<String> {
    (0..count).map(name).collect()
}

#[divan::bench(args = ["/model ", "/model qwen", "/model q3c", "/model 通义", "/model nothing fits"])]
fn a_key_over_ten_thousand_entries(bencher: Bencher<'_, '_>, line: &str) {
    let models = names(10_000, |n| format!("vendor-{}/qwen3-coder-{n}b-通义", n % 97));
    let facts = SessionInfo::default();
    let kept = Extensions::default();
    let call = CommandContext {
        facts: &facts,
        models: &models,
        themes: &[],
        extensions: &kept,
        folders: &[],

        argument_values: None,
        surface: Surface::Local,
        busy: false,
    };
    let theme = Theme::built_in("dark", Depth::True).unwrap();
    let mut buf = Buffer::empty(AREA);
    let keymap = Keymap::default();
    let mut palette = Palette::default();
    bencher.bench_local(|| {
        palette.refresh(black_box(line), &call, &[]);
        let pen = DrawContext { theme: &theme, lang: Lang::En, now: 0, keymap: &keymap };
        palette.draw(AREA, &mut buf, &pen, &keymap);
    });
}

#[divan::bench(args = ["", "l", "lib", "srclib2", "文件"])]
fn a_query_over_a_hundred_thousand_files(bencher: Bencher<'_, '_>, query: &str) {
    let names = names(100_000, |n| format!("crates/part{}/src/文件/lib_{n}.rs", n % 301));
    bencher.bench_local(|| {
        let mut sieve = FileMatcher::new(query.to_owned());
        sieve.match_next(&names, usize::MAX);
        sieve.matches(&names, MatchCoverage::Complete)
    });
}
