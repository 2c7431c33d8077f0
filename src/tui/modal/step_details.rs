//! Shows a step in rows that can be reviewed: every argument separate, nothing removed, the parts
//! that reasons point at highlighted; then its folder, its possible effects, and the reasons.

use std::ops::Range;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use serde_json::Value;

use crate::draw::{DrawContext, MEASURE};
use crate::{draw, text};
use avocet_core::i18n::safety::{ELEVATES, ELEVATES_ASKED, EXPLAIN_ASKS, TOOL_WRITES};
use avocet_core::i18n::{LocalizedText, Phrase, common, screen as phrases};
use avocet_core::protocol::{Effect, Reason, Risk, StepAction, Tier};
use avocet_core::text::{QuotedWord, escape, quote};

/// A text with this many line breaks is shown line by line, even if it fits on one row.
const BROKEN: usize = 3;
/// In front of the later rows of a command.
const INDENT: &str = "  ";
/// In front of a command, and in front of the one of a list that is asked about.
pub const PROMPT: &str = "  $ ";
pub const MARKED_PROMPT: &str = "› $ ";
/// Those of the effects that leave the folder or cannot be undone.
const LEAVING: usize = 6;
/// What a step may do, the gravest first.
const GRAVEST: [Effect; 12] = [
    Effect::Irreversible,
    Effect::Delete,
    Effect::Elevate,
    Effect::Secret,
    Effect::Outside,
    Effect::Send,
    Effect::Exec,
    Effect::Network,
    Effect::Write,
    Effect::Terminal,
    Effect::Resource,
    Effect::Read,
];

/// A text with styled parts, on its way into rows.
#[derive(Debug, Default)]
struct StyledText {
    text: String,
    marks: Vec<Range<usize>>,
    style: Style,
}

/// The rows of a step's work.
pub fn action_rows(
    action: &StepAction,
    risk: &Risk,
    width: usize,
    cx: &DrawContext<'_>,
) -> Vec<Line<'static>> {
    match action {
        StepAction::Exec { program, args } => exec(program, args, risk, width, cx),
        StepAction::Shell { line } => escaped_text(line, cx.theme.text).rows(width, cx),
        StepAction::Tool { name, input } => tool(name, input, width, cx),
    }
}

/// The rows of a command after its prompt; of a tool, just its rows.
pub fn prompt_rows(
    prompt: &str,
    action: &StepAction,
    risk: &Risk,
    width: usize,
    cx: &DrawContext<'_>,
) -> Vec<Line<'static>> {
    let column = match action {
        StepAction::Exec { .. } | StepAction::Shell { .. } => text::width(prompt),
        StepAction::Tool { .. } => return action_rows(action, risk, width, cx),
    };
    let rows = action_rows(action, risk, width.saturating_sub(column), cx);
    draw::label_lines(prompt, cx.theme.dim, column, rows)
}

/// Ends the rows of a step with its tier in words; the usual case needs none.
pub fn with_tier(
    mut lines: Vec<Line<'static>>,
    risk: &Risk,
    width: usize,
    cx: &DrawContext<'_>,
) -> Vec<Line<'static>> {
    let word = match risk.tier {
        Tier::L0 => return lines,
        Tier::L1 if !risk.lifted => phrases::TIER_L1,
        Tier::L1 | Tier::L2 => phrases::ASK_TIER_L2,
    };
    let word = Span::styled(format!("  {}", word.text(cx.lang)), tone(risk, cx));
    match lines.last_mut() {
        Some(last) if last.width() + word.width() <= width => last.spans.push(word),
        _ => lines.push(Line::from(word)),
    }
    lines
}

/// As many whole words in a row as fit: their quotes keep them apart.
fn exec(
    program: &str,
    args: &[String],
    risk: &Risk,
    width: usize,
    cx: &DrawContext<'_>,
) -> Vec<Line<'static>> {
    let bold = cx.theme.text.add_modifier(Modifier::BOLD);
    let tokens =
        std::iter::once(token(program, bold)).chain(args.iter().enumerate().map(|(at, arg)| {
            let pointed = argument_tier(risk, at);
            token(arg, pointed.map_or(cx.theme.text, |tier| pointed_style(tier, cx)))
        }));
    let room = width.saturating_sub(INDENT.len());
    let mut lines: Vec<Line<'static>> = Vec::new();
    // Whether the last row takes another word.
    let mut is_open = false;
    for token in tokens {
        let is_whole = text::width(&token.text) <= room && token.breaks().count() < BROKEN;
        let taken = 1 + text::width(&token.text);
        match lines.last_mut() {
            Some(row) if is_open && is_whole && row.width() + taken <= width => {
                row.spans.push(Span::raw(" "));
                row.spans.extend(token.spans(0..token.text.len(), cx));
            }
            _ => {
                let first = lines.is_empty();
                let words = token.rows(if first { width } else { room }, cx);
                lines.extend(words.into_iter().map(|row| if first { row } else { indented(row) }));
            }
        }
        is_open = is_whole;
    }
    lines
}

/// The tier of the worst reason that points at an argument.
fn argument_tier(risk: &Risk, arg: usize) -> Option<Tier> {
    risk.reasons
        .iter()
        .filter(|reason| reason.arg == Some(arg) && reason.tier > Tier::L0)
        .map(|reason| reason.tier)
        .max()
}

fn pointed_style(tier: Tier, cx: &DrawContext<'_>) -> Style {
    cx.theme.tier(tier).add_modifier(Modifier::UNDERLINED)
}

fn token(word: &str, style: Style) -> StyledText {
    let QuotedWord { text, marks } = quote(word);
    StyledText { text, marks, style }
}

/// A text with every character visible.
fn escaped_text(text: &str, style: Style) -> StyledText {
    let escaped = escape(text);
    StyledText { text: escaped.text, marks: escaped.marks, style }
}

/// The fields of a tool's input, one below the other; long texts line by line.
fn tool(name: &str, input: &Value, width: usize, cx: &DrawContext<'_>) -> Vec<Line<'static>> {
    let bold = cx.theme.text.add_modifier(Modifier::BOLD);
    let mut rows = escaped_text(name, bold).rows(width, cx);
    let Some(fields) = input.as_object() else {
        rows.extend(escaped_text(&input.to_string(), cx.theme.text).rows(width, cx));
        return rows;
    };
    let column = fields.keys().map(|key| text::width(key) + 2).max().unwrap_or(0).min(width / 3);
    for (key, value) in fields {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let lines: Vec<_> = text
            .split('\n')
            .flat_map(|line| {
                escaped_text(line, cx.theme.text).rows(width.saturating_sub(column + 2), cx)
            })
            .collect();
        let key = escaped_text(key, cx.theme.dim);
        if text::width(&key.text) + 2 > column {
            rows.extend(key.rows(width.saturating_sub(2), cx).into_iter().map(indented));
            rows.extend(draw::label_lines("", cx.theme.dim, column + 2, lines));
        } else {
            let label = format!("  {}", key.text);
            rows.extend(draw::label_lines(&label, cx.theme.dim, column + 2, lines));
        }
    }
    rows
}

fn indented(mut line: Line<'static>) -> Line<'static> {
    line.spans.insert(0, Span::raw(INDENT));
    line
}

/// A text cut into rows without leaving anything out.
pub fn full_rows(
    text: &str,
    style: Style,
    width: usize,
    cx: &DrawContext<'_>,
) -> Vec<Line<'static>> {
    escaped_text(text, style).rows(width, cx)
}

/// The same of a text that is escaped already.
pub fn escaped_rows(
    text: String,
    style: Style,
    width: usize,
    cx: &DrawContext<'_>,
) -> Vec<Line<'static>> {
    StyledText { text, marks: Vec::new(), style }.rows(width, cx)
}

/// The facts under the command, each with a label, in one column.
pub struct StepDetails {
    column: usize,
    width: usize,
    /// Whether each reason ends with the id of its rule.
    with_rules: bool,
    rows: Vec<Line<'static>>,
}

impl StepDetails {
    pub fn new(width: usize, with_rules: bool, cx: &DrawContext<'_>) -> StepDetails {
        let labels = [
            common::PROGRAM,
            common::FOLDER,
            phrases::ASK_EFFECTS,
            phrases::ASK_REASONS,
            phrases::ASK_RULE,
            common::MODEL,
            phrases::ASK_EXPECTED,
        ];
        let widest = labels.iter().map(|label| text::width(label.text(cx.lang))).max();
        let column = (widest.unwrap_or(0) + 2).min(width / 2);
        let width = width.saturating_sub(column);
        StepDetails { column, width, with_rules, rows: Vec::new() }
    }

    pub fn into_rows(self) -> Vec<Line<'static>> {
        self.rows
    }

    /// A text of the application or a path, with every character visible.
    pub fn push_text(&mut self, phrase: Phrase, text: &str, style: Style, cx: &DrawContext<'_>) {
        let rows = escaped_text(text, style).rows(self.width, cx);
        self.push_labelled(phrase, rows, cx);
    }

    /// What a rule would cover.
    pub fn push_coverage(&mut self, texts: &[LocalizedText], cx: &DrawContext<'_>) {
        let rows = texts.iter().flat_map(|say| text::wrap(&say.text(cx.lang), self.width));
        let rows = rows.map(|row| Line::styled(row, cx.theme.dim)).collect();
        self.push_labelled(phrases::ASK_RULE, rows, cx);
    }

    /// Words of the model: shown for information, never trusted, and in a few rows at most.
    pub fn push_model_text(&mut self, phrase: Phrase, text: &str, cx: &DrawContext<'_>) {
        if text.trim().is_empty() {
            return;
        }
        let quoted = phrases::ASK_QUOTE.with("text", text.trim()).text(cx.lang);
        let mut rows = text::wrap(&quoted, self.width);
        if rows.len() > 4 {
            rows.truncate(4);
            if let Some(last) = rows.last_mut() {
                *last =
                    text::elide_end(&format!("{last} {}", crate::symbols::ELLIPSIS), self.width);
            }
        }
        let style = cx.theme.text.patch(cx.theme.markup.emph);
        let rows = rows.into_iter().map(|row| Line::styled(row, style)).collect();
        self.push_labelled(phrase, rows, cx);
    }

    pub fn push_effects(&mut self, effects: &[Effect], cx: &DrawContext<'_>) {
        let comma = phrases::ASK_COMMA.text(cx.lang);
        let named: Vec<_> =
            effects.iter().map(|effect| effect_phrase(*effect).text(cx.lang)).collect();
        if !named.is_empty() {
            let rows = text::wrap(&named.join(comma), self.width);
            let rows = rows.into_iter().map(|row| Line::styled(row, cx.theme.text)).collect();
            self.push_labelled(phrases::ASK_EFFECTS, rows, cx);
        }
    }

    /// The gravest reason, unless it is shown already, and what the step is given beyond the
    /// sandbox; the others are details.
    pub fn push_gravest_reasons(
        &mut self,
        (work, risk): (&StepAction, &Risk),
        is_said: bool,
        cx: &DrawContext<'_>,
    ) {
        let main = main_reason(risk);
        let opens = reasons(risk)
            .filter(|reason| reason.rule.starts_with(SANDBOX) && !is_confinement(reason));
        let mut reasons: Vec<&Reason> = main.filter(|_| !is_said).into_iter().collect();
        reasons.extend(opens.filter(|reason| Some(*reason) != main));
        let rows = reasons.into_iter().flat_map(|reason| self.reason_rows(work, reason, cx));
        let rows = rows.collect();
        self.push_labelled(phrases::ASK_REASONS, rows, cx);
    }

    /// Each reason with the argument it points at and the id of its rule.
    pub fn push_reasons(&mut self, action: &StepAction, risk: &Risk, cx: &DrawContext<'_>) {
        let rows = reasons(risk).flat_map(|reason| self.reason_rows(action, reason, cx)).collect();
        self.push_labelled(phrases::ASK_REASONS, rows, cx);
    }

    fn reason_rows(
        &self,
        action: &StepAction,
        reason: &Reason,
        cx: &DrawContext<'_>,
    ) -> Vec<Line<'static>> {
        let say = reason_for_question(&reason.say).text(cx.lang);
        let style = cx.theme.tier(reason.tier);
        let mut lines: Vec<Line<'static>> =
            match argument_of(action, reason).filter(|arg| !say.contains(*arg)) {
                Some(arg) => {
                    let arg = text::elide_middle(&quote(arg).text, self.width / 3);
                    let text = format!("{arg}  {say}");
                    let mut rows: Vec<_> =
                        text::wrap(&text, self.width).into_iter().map(Line::from).collect();
                    if let Some(first) = rows.first_mut()
                        && let Some(rest) = first.to_string().strip_prefix(&arg)
                    {
                        *first = Line::from(vec![
                            Span::styled(arg, style.add_modifier(Modifier::UNDERLINED)),
                            Span::styled(rest.to_owned(), cx.theme.text),
                        ]);
                    }
                    rows
                }
                None => text::wrap(&say, self.width).into_iter().map(Line::from).collect(),
            };
        if !self.with_rules {
            return lines;
        }
        let rule = format!("  {}", text::single_line(&reason.rule));
        match lines.last_mut() {
            Some(last) if last.width() + text::width(&rule) <= self.width => {
                last.spans.push(Span::styled(rule, cx.theme.dim));
            }
            _ => lines.push(Line::styled(rule, cx.theme.dim)),
        }
        lines
    }

    pub fn push_labelled(
        &mut self,
        label: Phrase,
        lines: Vec<Line<'static>>,
        cx: &DrawContext<'_>,
    ) {
        let label = text::elide_end(label.text(cx.lang), self.column.saturating_sub(1));
        self.rows.extend(draw::label_lines(&label, cx.theme.dim, self.column, lines));
    }
}

fn argument_of<'a>(action: &'a StepAction, reason: &Reason) -> Option<&'a str> {
    match action {
        // The question shows the line of a shell already.
        StepAction::Exec { args, .. } => {
            let arg = args.get(reason.arg?)?;
            let before = reason.arg?.checked_sub(1).and_then(|at| args.get(at));
            let is_line = before.is_some_and(|before| ["-c", "-lc"].contains(&before.as_str()));
            (!is_line).then_some(arg.as_str())
        }
        StepAction::Tool { .. } | StepAction::Shell { .. } => None,
    }
}

/// An effect, as it reads after "may".
fn effect_phrase(effect: Effect) -> Phrase {
    match effect {
        Effect::Read => phrases::EFFECT_READ,
        Effect::Write => phrases::EFFECT_WRITE,
        Effect::Delete => phrases::EFFECT_DELETE,
        Effect::Exec => phrases::EFFECT_EXEC,
        Effect::Network => phrases::EFFECT_NETWORK,
        Effect::Send => phrases::EFFECT_SEND,
        Effect::Elevate => phrases::EFFECT_ELEVATE,
        Effect::Secret => phrases::EFFECT_SECRET,
        Effect::Outside => phrases::EFFECT_OUTSIDE,
        Effect::Resource => phrases::EFFECT_RESOURCE,
        Effect::Terminal => phrases::EFFECT_TERMINAL,
        Effect::Irreversible => phrases::EFFECT_IRREVERSIBLE,
    }
}

/// Why it asks, for the head of a question that has so much room: its main reason. One that is
/// longer has rows of its own, and the head names only what leaves the folder or cannot be undone.
pub fn stated_badge(risk: &Risk, room: usize, cx: &DrawContext<'_>) -> String {
    let leaves = GRAVEST.iter().take(LEAVING).any(|effect| risk.effects.contains(effect));
    match stated_reason(risk, cx) {
        Some(reason) if text::width(&reason) <= room => reason,
        Some(_) if !leaves => String::new(),
        None if !leaves && risk.deciding_reason().is_some_and(is_shown_already) => String::new(),
        Some(_) | None => badge(risk, cx),
    }
}

/// How high the risk is and its gravest effect, for the head of a question.
pub fn badge(risk: &Risk, cx: &DrawContext<'_>) -> String {
    let gravest = GRAVEST.iter().find(|effect| risk.effects.contains(effect));
    let badge = match (risk.is_high_risk(), gravest) {
        (true, Some(effect)) => phrases::ASK_TIER_LIFTED.with("effect", named(*effect)),
        (true, None) => phrases::ASK_TIER_L2.into(),
        (false, Some(effect)) if risk.tier == Tier::L1 => {
            phrases::ASK_TIER_L1.with("effect", named(*effect))
        }
        (false, _) => EXPLAIN_ASKS.into(),
    };
    badge.text(cx.lang)
}

/// The main reason as a badge.
pub fn stated_reason(risk: &Risk, cx: &DrawContext<'_>) -> Option<String> {
    let main = main_reason(risk).filter(|reason| !reason.rule.starts_with(SANDBOX))?;
    let say = reason_for_question(&main.say).text(cx.lang);
    Some(text::single_line(say.trim_end_matches(['.', '。'])))
}

fn main_reason(risk: &Risk) -> Option<&Reason> {
    let reason = risk.deciding_reason().filter(|reason| reason.tier > Tier::L0)?;
    (!is_confinement(reason) && !is_shown_already(reason)).then_some(reason)
}

/// Whether a reason only names the file that the question shows.
fn is_shown_already(reason: &Reason) -> bool {
    reason.say.phrase() == TOOL_WRITES
}

/// What confines the step, in its own rows.
pub fn sandbox_rows(risk: &Risk, width: usize, cx: &DrawContext<'_>) -> Vec<Line<'static>> {
    // Why the network is open to code of the project is one of the details.
    let said = reasons(risk).filter(|reason| reason.rule == "sandbox.work");
    let rows = said.flat_map(|reason| text::wrap(&reason.say.text(cx.lang), width.min(MEASURE)));
    rows.map(|row| Line::styled(row, cx.theme.dim)).collect()
}

/// The reasons for asking.
fn reasons(risk: &Risk) -> impl Iterator<Item = &Reason> {
    risk.distinct_reasons().filter(|reason| reason.tier > Tier::L0)
}

/// Whether a reason only says how the sandbox confines the step.
fn is_confinement(reason: &Reason) -> bool {
    ["sandbox.work", "sandbox.network"].contains(&reason.rule.as_str())
}

/// The rules about the sandbox around a step.
const SANDBOX: &str = "sandbox.";

fn named(effect: Effect) -> LocalizedText {
    effect_phrase(effect).into()
}

/// The colour of a judgement: all that takes a deliberate approval has the colour of L2.
pub fn tone(risk: &Risk, cx: &DrawContext<'_>) -> Style {
    cx.theme.tier(if risk.is_high_risk() { Tier::L2 } else { risk.tier })
}

impl StyledText {
    /// Rows of at most `width` columns, cut at the edge: nothing is left out. A text of several
    /// lines that is longer than a row is also cut after each line break, which stays visible.
    fn rows(self, width: usize, cx: &DrawContext<'_>) -> Vec<Line<'static>> {
        let width = width.max(1);
        let breaks = self.breaks().count();
        let parts = if breaks >= BROKEN || breaks > 0 && text::width(&self.text) > width {
            self.lines()
        } else {
            std::iter::once(0..self.text.len()).collect()
        };
        let row = |part: &Range<usize>| {
            let text = self.text.get(part.clone()).unwrap_or_default();
            let start = part.start;
            text::cut_ranges(text, width)
                .into_iter()
                .map(move |row| row.start + start..row.end + start)
        };
        parts.iter().flat_map(row).map(|row| Line::from(self.spans(row, cx))).collect()
    }

    /// The ends of the line breaks, which are spelt out.
    fn breaks(&self) -> impl Iterator<Item = usize> + '_ {
        let is_break = |mark: &&Range<usize>| self.text.get((*mark).clone()) == Some("\\n");
        self.marks.iter().filter(is_break).map(|mark| mark.end)
    }

    fn lines(&self) -> Vec<Range<usize>> {
        let mut start = 0;
        let mut lines = Vec::new();
        for end in self.breaks().chain([self.text.len()]) {
            if start < end {
                lines.push(start..end);
            }
            start = end;
        }
        lines
    }

    /// One part of it, with invisible characters set apart.
    fn spans(&self, part: Range<usize>, cx: &DrawContext<'_>) -> Vec<Span<'static>> {
        // Lines and indentation are ordinary in code.
        let odd = |mark: &str| match mark {
            "\\n" | "\\t" => cx.theme.dim,
            _ => cx.theme.danger.add_modifier(Modifier::REVERSED),
        };
        let mut spans = Vec::new();
        let mut done = part.start;
        let mut put = |from: usize, to: usize, style: Style| {
            if let Some(text) = self.text.get(from..to).filter(|text| !text.is_empty()) {
                spans.push(Span::styled(text.to_owned(), style));
            }
        };
        for mark in &self.marks {
            let from = mark.start.max(part.start);
            let to = mark.end.min(part.end);

            if from < to {
                put(done, from, self.style);
                put(from, to, odd(self.text.get(mark.clone()).unwrap_or_default()));
                done = to;
            }
        }
        put(done, part.end, self.style);
        spans
    }
}

/// A reason worded for the question: advice on how to be asked is out of place there.
fn reason_for_question(text: &LocalizedText) -> LocalizedText {
    match (text.phrase(), text.value("program")) {
        (ELEVATES, Some(program)) => ELEVATES_ASKED.with("program", program.clone()),
        _ => text.clone(),
    }
}
