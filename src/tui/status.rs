//! The status line: the model, the folder, the cost, and the useful keys. On a narrow screen the
//! least important part is dropped first.

use std::cmp::Reverse;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::draw::{self, DrawContext};
use super::keymap::Keymap;
use super::keys::{KeyAction, KeyContext, ScrollAction};
use super::symbols::{GAUGE_FREE, GAUGE_FULL};
use super::text;
use avocet_core::i18n::{Lang, Phrase, common, goal as goals, screen as phrases};
use avocet_core::protocol::{ContextFill, Mode, Provider, SandboxStatus, SessionInfo};
use avocet_core::text::format_count;

const GAP: usize = 3;

/// Cells of the gauge of the context.
const GAUGE: usize = 8;

/// A key and what it does here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyHint {
    pub key: HintKey,
    pub action: Phrase,
}

impl KeyHint {
    /// A key that cannot be bound otherwise.
    pub const fn typed(key: &'static str, phrase: Phrase) -> KeyHint {
        KeyHint { key: HintKey::Typed(key), action: phrase }
    }

    pub const fn bound(context: KeyContext, action: KeyAction, phrase: Phrase) -> KeyHint {
        KeyHint { key: HintKey::Bound(context, action), action: phrase }
    }

    /// The keys that move in a list.
    pub const fn pair(context: KeyContext, phrase: Phrase) -> KeyHint {
        let key = HintKey::Pair(context, KeyAction::Previous, KeyAction::Next);
        KeyHint { key, action: phrase }
    }

    /// The keys that move by a page.
    pub const fn pages(context: KeyContext, phrase: Phrase) -> KeyHint {
        let up = ScrollAction::PageUp;
        let down = ScrollAction::PageDown;

        let key = HintKey::Pair(context, KeyAction::Scroll(up), KeyAction::Scroll(down));
        KeyHint { key, action: phrase }
    }
}

/// The key of a hint, by its place in the table of keys: users may have bound another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintKey {
    /// A character that is typed.
    Typed(&'static str),
    Bound(KeyContext, KeyAction),
    Pair(KeyContext, KeyAction, KeyAction),
}

impl HintKey {
    /// Empty if the action has no key.
    pub fn name(self, keymap: &Keymap) -> String {
        match self {
            HintKey::Typed(key) => key.to_owned(),
            HintKey::Bound(context, action) => keymap.key_of(context, action),
            HintKey::Pair(context, first, second) => {
                let names = [first, second].map(|action| keymap.key_of(context, action));
                let known = names.into_iter().filter(|name| !name.is_empty());
                known.collect::<Vec<_>>().join("/")
            }
        }
    }
}

/// One part of the line. Where the room is short, that of the lowest priority is left out.
struct StatusPart {
    /// As `screen.status` names it; empty for what is always shown.
    name: &'static str,
    priority: u8,
    /// Columns before it.
    gap: usize,
    text: String,
    style: Style,
}

/// Draws facts on the left and key hints on the right.
pub fn draw(
    area: Rect,
    buf: &mut Buffer,
    cx: &DrawContext<'_>,
    info: &SessionInfo,
    hints: &[KeyHint],
) {
    let width = usize::from(area.width).saturating_sub(3);
    let right = hint_line(hints, cx, width / 2);
    let room = width.saturating_sub(right.width() + GAP);
    let left = fit_parts(arranged(parts(info, cx), info), room);
    draw::line(area, buf, 2, width + 2, &left);
    let free = width.saturating_sub(left.width() + GAP);
    if right.width() <= free {
        draw::line(area, buf, width + 2 - right.width(), width + 2, &right);
    }
}

/// Only hints, while the keys matter more than the facts.
pub fn draw_hints(area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>, hints: &[KeyHint]) {
    let width = usize::from(area.width).saturating_sub(3);
    draw::line(area, buf, 2, width + 2, &hint_line(hints, cx, width));
}

/// The hints that fit, the first ones first.
pub fn hint_line(hints: &[KeyHint], cx: &DrawContext<'_>, room: usize) -> Line<'static> {
    let mut line = Line::default();
    let named = hints.iter().map(|hint| (hint.key.name(cx.keymap), hint.action));
    for (key, action) in named.filter(|(key, _)| !key.is_empty()) {
        let does = action.text(cx.lang);
        let gap = if line.spans.is_empty() { 0 } else { GAP };
        if line.width() + gap + text::width(&key) + 1 + text::width(does) > room {
            break;
        }
        line.spans.push(Span::raw(" ".repeat(gap)));
        line.spans.push(Span::styled(key, cx.theme.text));
        line.spans.push(Span::styled(format!(" {does}"), cx.theme.dim));
    }
    line
}

fn part(name: &'static str, priority: u8, text: String, style: Style) -> StatusPart {
    StatusPart { name, priority, gap: GAP, text, style }
}

/// Directly after the part before it.
fn close(part: StatusPart) -> StatusPart {
    StatusPart { gap: 1, ..part }
}

fn parts(info: &SessionInfo, cx: &DrawContext<'_>) -> Vec<StatusPart> {
    let theme = cx.theme;
    let mut parts = vec![part("model", 9, model(info, cx.lang), theme.text)];
    if let Some(effort) = info.effort {
        parts.push(close(part("effort", 5, effort.name().to_owned(), theme.dim)));
    }
    if info.unsaved.is_some() {
        parts.push(part("", 10, common::NOT_SAVED.text(cx.lang).to_owned(), theme.warn));
    }
    if !is_guide(info) && info.mode != Mode::default() {
        let mode = phrases::STATUS_MODE.with("mode", info.mode.name()).text(cx.lang);
        parts.push(part("mode", 5, mode, theme.dim));
    }
    if !info.approval.is_default() {
        parts.push(part("mode", 8, info.approval.label().text(cx.lang).to_owned(), theme.warn));
    }
    if let Some(goal) = &info.goal {
        let state = if goal.is_paused { goals::STATUS_PAUSED } else { goals::STATUS };
        let style = if goal.is_paused { theme.warn } else { theme.accent };
        parts.push(part("goal", 8, state.with("n", goal.turns).text(cx.lang), style));
    }
    if let Some(bot) = &info.bot {
        parts.push(part("bot", 6, text::single_line(bot), theme.dim));
    }
    parts.push(part("folder", 7, text::elide_middle(&folder(&info.cwd), 32), theme.dim));
    if matches!(info.shelter, SandboxStatus::Absent | SandboxStatus::Off) {
        parts.push(part(
            "sandbox",
            8,
            phrases::STATUS_NO_SANDBOX.text(cx.lang).to_owned(),
            theme.warn,
        ));
    }
    if let Some(branch) = &info.branch {
        parts.push(part("branch", 4, text::elide_middle(branch, 24), theme.accent));
        if let Some(files) = info.changed_files.filter(|files| *files > 0) {
            parts.push(close(part("changes", 3, format!("+{files}"), theme.warn)));
        }
    }
    parts.extend(usage_parts(info, cx));
    parts
}

/// How full the context is, what was used, and what the user's program says.
fn usage_parts(info: &SessionInfo, cx: &DrawContext<'_>) -> Vec<StatusPart> {
    let theme = cx.theme;
    let mut parts = Vec::new();
    if let Some(percent) = info.context.percent.filter(|percent| *percent > 0) {
        let is_nearly_full = percent >= ContextFill::NEARLY_FULL;
        let (worth, style) = if is_nearly_full { (8, theme.warn) } else { (4, theme.dim) };
        let say = phrases::STATUS_CONTEXT.with("gauge", gauge(percent)).with("percent", percent);
        parts.push(part("context", worth, say.text(cx.lang), style));
    }
    let usage = info.usage;
    // Where nothing is paid for, tokens are the cost.
    if usage.cost.is_zero() && usage.input_tokens + usage.output_tokens > 0 {
        let about = if usage.estimated { "~" } else { "" };
        let tokens = phrases::STATUS_TOKENS
            .with("in", format!("{about}{}", format_count(usage.input_tokens)))
            .with("out", format!("{about}{}", format_count(usage.output_tokens)));
        parts.push(part("tokens", 3, tokens.text(cx.lang), theme.dim));
    }
    if !usage.cost.is_zero() {
        parts.push(part("cost", 2, usage.cost.to_string(), theme.dim));
    }
    if !info.status_text.is_empty() {
        parts.push(part("command", 6, text::single_line(&info.status_text), theme.text));
    }
    parts
}

/// The parts that the user chose, in the user's order; without a choice all of them.
fn arranged(mut parts: Vec<StatusPart>, info: &SessionInfo) -> Vec<StatusPart> {
    let chosen = info.screen.iter().find(|(key, _)| *key == "screen.status");
    let Some((_, chosen)) = chosen.filter(|(_, words)| !words.is_empty()) else { return parts };
    let mut out: Vec<StatusPart> = parts.extract_if(.., |part| part.name.is_empty()).collect();
    let mut gap = GAP;
    for word in chosen.split_whitespace() {
        if word == "|" {
            gap = GAP;
        }
        for part in parts.extract_if(.., |part| part.name == word) {
            out.push(StatusPart { gap, ..part });
            gap = 1;
        }
    }
    out
}

/// The share as a bar.
pub fn gauge(percent: usize) -> String {
    let full = (percent * GAUGE).div_ceil(100).min(GAUGE);
    GAUGE_FULL.repeat(full) + &GAUGE_FREE.repeat(GAUGE - full)
}

/// The most important parts that fit, and in what is left of the room the less important ones.
fn fit_parts(parts: Vec<StatusPart>, room: usize) -> Line<'static> {
    let mut by_priority: Vec<usize> = (0..parts.len()).collect();
    by_priority.sort_by_key(|at| Reverse(parts[*at].priority));
    let mut kept = vec![false; parts.len()];
    let mut width = 0;
    for at in by_priority {
        let part = &parts[at];
        let needs = text::width(&part.text) + if width == 0 { 0 } else { part.gap };
        // `+3` belongs to the branch before it and is dropped with it.
        let is_alone = part.gap < GAP && at.checked_sub(1).is_none_or(|before| !kept[before]);
        if width == 0 || !is_alone && width + needs <= room {
            kept[at] = true;
            width += needs;
        }
    }
    let shown = kept.into_iter().zip(parts).filter(|(is_kept, _)| *is_kept);
    let mut line = Line::default();
    for (_, part) in shown {
        if !line.spans.is_empty() {
            line.spans.push(Span::raw(" ".repeat(part.gap)));
        }
        line.spans.push(Span::styled(text::elide_end(&part.text, room), part.style));
    }
    line
}

/// The model's name, or that there is none.
pub fn model(info: &SessionInfo, lang: Lang) -> String {
    if is_guide(info) {
        phrases::STATUS_GUIDE.text(lang).to_owned()
    } else {
        text::elide_middle(&info.model, 32)
    }
}

pub fn is_guide(info: &SessionInfo) -> bool {
    info.provider == Provider::Guide
}

/// The last two parts of a path.
pub fn folder(cwd: &str) -> String {
    let parts: Vec<_> = cwd.split('/').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [.., parent, name] => text::single_line(&format!("{parent}/{name}")),
        _ => text::single_line(cwd),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_short() {
        let cases = [(0, "0"), (812, "812"), (1_250, "1.2k"), (34_900, "34k"), (1_290_000, "1.2M")];
        for (n, text) in cases {
            assert_eq!(format_count(n), text);
        }
    }

    #[test]
    fn what_is_least_important_gives_way_and_what_still_fits_stays() {
        let part = |priority, gap, text: &str| StatusPart {
            name: "",
            priority,
            gap,
            text: text.to_owned(),
            style: Style::default(),
        };
        let shown = |room| {
            let parts = vec![
                part(9, GAP, "model"),
                part(7, GAP, "folder"),
                part(4, GAP, "main"),
                part(3, 1, "+1"),
                part(2, GAP, "a long one"),
                part(1, GAP, "$1"),
            ];
            fit_parts(parts, room).to_string()
        };
        let gap = " ".repeat(GAP);
        let join = |parts: &[&str]| parts.join(&gap);
        assert_eq!(shown(80), join(&["model", "folder", "main +1", "a long one", "$1"]));
        let five = join(&["model", "folder", "main +1", "$1"]);
        assert_eq!(shown(text::width(&five)), five, "the long one alone gives way");
        assert_eq!(shown(text::width(&join(&["model", "folder"])) + 2), join(&["model", "folder"]));
        assert_eq!(shown(3), "mo…");
    }

    #[test]
    fn a_context_that_is_nearly_full_is_shown_as_a_warning() {
        let theme = super::super::theme::Theme::default();
        let keymap = Keymap::default();
        let cx = DrawContext { theme: &theme, lang: Lang::En, now: 0, keymap: &keymap };
        let shown = |percent| {
            let context = ContextFill { percent, ..ContextFill::default() };
            let facts = SessionInfo { context, ..SessionInfo::default() };
            let mut all = parts(&facts, &cx).into_iter();
            all.find(|part| part.text.starts_with("context")).map(|part| (part.text, part.style))
        };
        assert_eq!(shown(None), None);
        assert_eq!(shown(Some(69)), Some(("context ▰▰▰▰▰▰▱▱ 69 %".to_owned(), theme.dim)));
        assert_eq!(shown(Some(70)), Some(("context ▰▰▰▰▰▰▱▱ 70 %".to_owned(), theme.warn)));
        assert_eq!([gauge(0), gauge(1), gauge(100)], ["▱▱▱▱▱▱▱▱", "▰▱▱▱▱▱▱▱", "▰▰▰▰▰▰▰▰"]);
    }

    #[test]
    fn the_user_chooses_the_parts_and_their_order() {
        let theme = super::super::theme::Theme::default();
        let keymap = Keymap::default();
        let cx = DrawContext { theme: &theme, lang: Lang::En, now: 0, keymap: &keymap };
        let shown = |words: &str| {
            let facts = SessionInfo {
                model: "gpt".to_owned(),
                cwd: "/code/shop".to_owned(),
                branch: Some("main".to_owned()),
                changed_files: Some(2),
                provider: Provider::Scripted,
                screen: vec![("screen.status", words.to_owned())],
                status_text: "12:30".to_owned(),
                ..SessionInfo::default()
            };
            fit_parts(arranged(parts(&facts, &cx), &facts), 100).to_string()
        };
        assert_eq!(shown(""), "gpt   code/shop   main +2   12:30");
        assert_eq!(shown("folder branch changes | model cost"), "code/shop main +2   gpt");
        assert_eq!(shown("command"), "12:30");
    }

    #[test]
    fn a_missing_sandbox_is_shown_and_a_present_one_is_not() {
        let theme = super::super::theme::Theme::default();
        let keymap = Keymap::default();
        let cx = DrawContext { theme: &theme, lang: Lang::En, now: 0, keymap: &keymap };
        let said = |shelter| {
            let facts = SessionInfo { shelter, ..SessionInfo::default() };
            parts(&facts, &cx).iter().any(|part| part.text == "no sandbox")
        };
        assert!(said(SandboxStatus::Absent) && said(SandboxStatus::Off));
        assert!(!said(SandboxStatus::Held) && !said(SandboxStatus::Unknown));
    }

    #[test]
    fn a_folder_is_named_by_its_last_two_parts() {
        assert_eq!(folder("/home/me/code/shop"), "code/shop");
        assert_eq!(folder("/srv"), "/srv");
        assert_eq!(folder(""), "");
    }

    #[test]
    fn a_short_part_fills_the_room_that_a_longer_one_does_not_find() {
        let part = |priority, gap, text: &str| StatusPart {
            name: "",
            priority,
            gap,
            text: text.into(),
            style: Style::default(),
        };
        let shown = |room| {
            let parts = vec![
                part(9, GAP, "model"),
                part(4, GAP, "main"),
                part(3, 1, "+1"),
                part(4, GAP, "context 9 %"),
                part(3, GAP, "3k in, 1k out"),
            ];
            fit_parts(parts, room).to_string()
        };
        for (room, line) in [
            (60, "model   main +1   context 9 %   3k in, 1k out"),
            (40, "model   main +1   context 9 %"),
            (28, "model   main   context 9 %"),
            (20, "model   main +1"),
            (11, "model"),
            (3, "mo…"),
        ] {
            assert_eq!(shown(room), line, "{room}");
        }
    }
}
