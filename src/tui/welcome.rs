//! The start page: the bird, what this is, the folder, the model or how to connect one, what to
//! try, and the notices of the start. It goes when the first turn begins.

use std::ops::Range;
use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::bird;
use super::draw::{self, DrawContext};
use super::keys::{KeyAction, KeyContext};
use super::state::State;
use super::suggestions::{self, Suggestion};
use super::symbols::FAILED;
use super::{status, text};
use avocet_core::i18n::{Lang, input, library, plural, screen as phrases};
use avocet_core::protocol::{ApprovalMode, Notice, NoticeLevel, SessionInfo};

/// The bird is shown in areas of this size.
const BIRD_FROM: (u16, u16) = (100, 18);
/// Columns of the page, and those between the bird and the text.
const WIDTH: u16 = 84;
const APART: u16 = 6;

/// Where the page has what.
#[derive(Debug)]
pub struct StartPage {
    bird: Rect,
    text: Rect,
    lines: Vec<Line<'static>>,
    /// What to try: a row each.
    pub first_steps: Rect,
    below: Rect,
    notices: Vec<Line<'static>>,
}

/// The page in this area; `None`: the notices do not fit below it.
pub fn compose(state: &State, area: Rect, cx: &DrawContext<'_>) -> Option<StartPage> {
    let has_bird = area.width >= BIRD_FROM.0 && area.height >= BIRD_FROM.1;
    let margin = if has_bird { area.width.saturating_sub(WIDTH) / 2 } else { 2.min(area.width) };
    let inner =
        Rect { x: area.x + margin, width: area.width - 2 * margin.min(area.width / 2), ..area };
    let beside = if has_bird { bird::SIZE.0 + APART } else { 0 };
    // What is long may reach into the right margin.
    let to = (area.right().saturating_sub(2)).max(inner.right());
    let text = Rect { x: inner.x + beside, width: to.saturating_sub(inner.x + beside), ..inner };
    let (mut lines, mut steps) = lines(state, cx, usize::from(text.width));
    let mut notices = notices(state, cx, usize::from(inner.width));
    let count = |lines: &[Line<'_>]| u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let needed = |lines: &[Line<'_>], notices: &[Line<'_>]| {
        let beside = if has_bird { bird::SIZE.1 } else { 0 };
        count(lines).max(beside).saturating_add(count(notices))
    };
    if needed(&lines, &notices) > area.height {
        let blank = |line: &Line<'_>| line.width() == 0;
        let before = lines.iter().take(steps.start).filter(|line| blank(line)).count();
        steps = steps.start - before..steps.end - before;
        lines.retain(|line| !blank(line));
        notices.retain(|line| !blank(line));
    }
    let rows = needed(&lines, &notices);
    if !notices.is_empty() && rows > area.height {
        return None;
    }
    let above = area.height.saturating_sub(rows) / if has_bird { 3 } else { 4 };
    let top = area.y + if has_bird { above } else { above.min(2) };
    let text = Rect { y: top, height: area.bottom() - top, ..text };
    let page = rows.saturating_sub(count(&notices));
    let below = Rect { y: (top + page).min(area.bottom()), ..inner };
    let at = |row: usize| text.y.saturating_add(u16::try_from(row).unwrap_or(0)).min(area.bottom());
    let first_steps = Rect { y: at(steps.start), height: at(steps.end) - at(steps.start), ..text };
    let bird = if has_bird {
        Rect { y: top, width: bird::SIZE.0, height: bird::SIZE.1, ..inner }
    } else {
        Rect::default()
    };
    let below = Rect { height: area.bottom() - below.y, ..below };
    Some(StartPage { bird, text, lines, first_steps, below, notices })
}

impl StartPage {
    pub fn draw(&self, buf: &mut Buffer, cx: &DrawContext<'_>) {
        let bird = bird::BIRD.map(|row| Line::styled(row, cx.theme.text));
        draw::lines(self.bird, buf, &bird);
        draw::lines(self.text, buf, &self.lines);
        draw::lines(self.below, buf, &self.notices);
    }
}

/// The text of the page, and which of its lines are the first steps.
fn lines(state: &State, cx: &DrawContext<'_>, width: usize) -> (Vec<Line<'static>>, Range<usize>) {
    let theme = cx.theme;
    let facts = &state.facts;

    let bold = theme.text.add_modifier(Modifier::BOLD);
    let mut lines = vec![Line::from(vec![
        Span::styled("Avocet", bold),
        Span::styled(concat!(" ", env!("CARGO_PKG_VERSION")), theme.dim),
    ])];
    let about = text::wrap(phrases::START_ABOUT.text(cx.lang), width);
    lines.extend(about.into_iter().map(|line| Line::styled(line, theme.text)));
    lines.push(Line::default());
    lines.push(folder_line(facts, &state.presence.home, cx, width));
    lines.push(model_line(facts, cx, width));
    lines.push(Line::default());
    let heading =
        if status::is_guide(facts) { phrases::START_NO_MODEL } else { phrases::START_TRY };
    lines.push(Line::styled(heading.text(cx.lang), theme.dim));
    let from = lines.len();
    lines.extend(first_steps(state, cx, width));
    let steps = from..lines.len();
    lines.push(Line::default());
    lines.push(key_line(state, cx, width));
    lines.push(mode_line(state, cx, width));
    (lines, steps)
}

/// The key that changes which steps ask.
fn mode_line(state: &State, cx: &DrawContext<'_>, width: usize) -> Line<'static> {
    let key = state.keymap.key_of(KeyContext::Input, KeyAction::NextMode);
    let modes = ApprovalMode::ALL
        .map(|mode| mode.label().text(cx.lang))
        .join(phrases::ASK_COMMA.text(cx.lang));
    let does = format!(" {}   {modes}", phrases::START_MODE.text(cx.lang));
    if key.is_empty() || text::width(&key) + text::width(&does) > width {
        return Line::default();
    }
    let spans = [Span::styled(key, cx.theme.accent), Span::styled(does, cx.theme.dim)];
    Line::from(spans.to_vec())
}

fn folder_line(
    info: &SessionInfo,
    home: &Path,
    cx: &DrawContext<'_>,
    width: usize,
) -> Line<'static> {
    let branch = info.branch.as_ref().map(|branch| text::elide_middle(branch, 24));
    let changed = info.changed_files.filter(|files| *files > 0).map(|files| {
        plural(files, phrases::START_CHANGED_ONE, phrases::START_CHANGED).text(cx.lang)
    });
    let of_git = branch.as_ref().map_or(0, |branch| text::width(branch) + 3)
        + changed.as_ref().map_or(0, |changed| text::width(changed) + 3);
    let folder = text::single_line(&from_home(&info.cwd, home));
    let folder = text::elide_middle(&folder, width.saturating_sub(of_git).max(12));
    let mut spans = vec![Span::styled(folder, cx.theme.text)];
    if let Some(branch) = branch {
        spans.push(Span::styled(format!("   {branch}"), cx.theme.accent));
    }
    if let Some(changed) = changed {
        spans.push(Span::styled(format!("   {changed}"), cx.theme.dim));
    }
    Line::from(spans)
}

/// A folder as users write it: `~/shop`.
fn from_home(folder: &str, home: &Path) -> String {
    let below = Path::new(folder).strip_prefix(home).ok();
    match below.filter(|_| home.parent().is_some()).and_then(Path::to_str) {
        Some("") => "~".to_owned(),
        Some(below) => format!("~/{below}"),
        None => folder.to_owned(),
    }
}

/// The model, how much it reasons, where it is, and what it costs.
fn model_line(info: &SessionInfo, cx: &DrawContext<'_>, width: usize) -> Line<'static> {
    let mut line = Line::styled(status::model(info, cx.lang), cx.theme.text);
    let effort = info.effort.map(|level| level.name().to_owned());
    // What is usual needs no words: the encryption, and the version in the path.
    let url = text::single_line(&info.base_url);
    let host = url.strip_prefix("https://").map(|url| url.trim_end_matches("/v1").to_owned());
    let host = Some(host.unwrap_or(url)).filter(|host| !host.is_empty());
    let price = info.prices.map(|prices| {
        let input = prices.usual.input.to_string();
        let output = prices.usual.output.to_string();

        phrases::START_PRICE.with("input", input).with("output", output).text(cx.lang)
    });
    for said in effort.into_iter().chain(host).chain(price) {
        let room = width.saturating_sub(line.width() + 3);
        line.spans
            .push(Span::styled(format!("   {}", text::elide_middle(&said, room)), cx.theme.dim));
    }
    line
}

/// A row for each suggestion: its key, its text, and what a command does.
fn first_steps(state: &State, cx: &DrawContext<'_>, width: usize) -> Vec<Line<'static>> {
    let entries: Vec<_> = state.suggestions.entries(&state.keymap).collect();
    let keys = entries.iter().map(|entry| text::width(&entry.key)).max().unwrap_or(0);
    // Only what is explained needs a column for that beside it.
    let explained = entries.iter().filter(|entry| !about(state, entry.text, cx.lang).is_empty());
    let texts = explained.map(|entry| text::width(entry.text)).max().unwrap_or(0);
    let row = |suggestion: Suggestion<'_>| {
        let room = width.saturating_sub(keys + 4);
        let said = text::elide_end(suggestion.text, room);
        let about = about(state, suggestion.text, cx.lang);
        let about = if texts + 3 < room {
            text::elide_end(&about, room - texts - 3)
        } else {
            String::new()
        };
        let style = if suggestion.is_inserted { cx.theme.selection } else { cx.theme.text };
        let gap = |columns: usize, of: &str| " ".repeat(columns.saturating_sub(text::width(of)));
        Line::from(vec![
            Span::raw("  "),
            Span::styled(suggestion.key.clone(), cx.theme.accent),
            Span::raw(gap(keys + 2, &suggestion.key)),
            Span::styled(said, style),
            Span::raw(gap(texts + 3, suggestion.text)),
            Span::styled(about, cx.theme.dim),
        ])
    };
    entries.into_iter().map(row).collect()
}

/// What a suggested command does; empty for a question.
fn about(state: &State, suggested: &str, lang: Lang) -> String {
    if suggested == suggestions::CONNECT {
        return phrases::START_CONNECT.text(lang).to_owned();
    }
    let offers = &state.completions.offers;
    let model = suggested.strip_prefix("/model ");
    let offer = model.and_then(|name| offers.iter().find(|offer| offer.name == name));
    let say = offer.map(|offer| phrases::START_USE.with("provider", offer.provider.as_str()));
    say.map(|say| say.text(lang)).unwrap_or_default()
}

fn key_line(state: &State, cx: &DrawContext<'_>, width: usize) -> Line<'static> {
    let bound = |context, action| state.keymap.key_of(context, action);
    let keys = [
        ("/".to_owned(), phrases::PALETTE_TITLE),
        ("@".to_owned(), input::FILES_TITLE),
        ("!".to_owned(), phrases::START_SHELL),
        (bound(KeyContext::Anywhere, KeyAction::Stop), phrases::START_STOP),
        (bound(KeyContext::EmptyInput, KeyAction::Help), phrases::HINT_HELP),
    ];
    let mut line = Line::default();
    for (key, does) in keys.into_iter().filter(|(key, _)| !key.is_empty()) {
        let gap = if line.spans.is_empty() { "" } else { "   " };
        let does = does.text(cx.lang);
        if line.width() + gap.len() + text::width(&key) + 1 + text::width(does) > width {
            break;
        }
        line.spans.push(Span::raw(gap));
        line.spans.push(Span::styled(key, cx.theme.accent));
        line.spans.push(Span::styled(format!(" {does}"), cx.theme.dim));
    }
    line
}

/// The notices of the start, a blank line before the first.
fn notices(state: &State, cx: &DrawContext<'_>, width: usize) -> Vec<Line<'static>> {
    let examples = Notice::info(library::EXAMPLES_OFFERED);
    let examples = Some(&examples).filter(|_| state.completions.has_no_extensions());
    let mut lines = Vec::new();
    for notice in state.transcript.notices().chain(examples) {
        let (sign, style) = match notice.level {
            NoticeLevel::Info => ("  ", cx.theme.dim),
            NoticeLevel::Warning => ("! ", cx.theme.warn),
            NoticeLevel::Error => (FAILED, cx.theme.danger),
        };
        let mut sign = Some(Span::styled(format!("{sign:<2}"), style));
        let body = if notice.level == NoticeLevel::Info { cx.theme.dim } else { cx.theme.text };
        let said =
            [Some((&notice.say, body)), notice.hint.as_ref().map(|hint| (hint, cx.theme.dim))];
        for (say, style) in said.into_iter().flatten() {
            for row in text::wrap(&say.text(cx.lang), width.saturating_sub(2).max(1)) {
                let sign = sign.take().unwrap_or_else(|| Span::raw("  "));
                lines.push(Line::from(vec![sign, Span::styled(row, style)]));
            }
        }
    }
    if !lines.is_empty() {
        lines.insert(0, Line::default());
    }
    lines
}
