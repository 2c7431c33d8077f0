//! Exports a conversation as Markdown to read, JSON to process, or HTML to publish. Returns text;
//! the session writes it.

use super::export_html::{self, escape};
use avocet_core::i18n::{Lang, session as phrases};
use avocet_core::protocol::{Change, Event, ExportFormat, Observation, PlanItem, TurnOutcome};
use avocet_core::text;

/// The whole conversation in one format. The caller masks secrets.
pub fn render(title: &str, events: &[Event], format: ExportFormat, lang: Lang) -> String {
    let mut pages = Pages::new(title, format, lang);
    let mut out = pages.begin();
    events.iter().for_each(|event| out.push_str(&pages.event(event)));
    out.push_str(pages.end());
    out
}

/// A conversation written in parts, however long it is.
#[derive(Debug)]
pub struct Pages {
    format: ExportFormat,
    lang: Lang,
    title: String,
    /// Nothing was written yet.
    is_first: bool,
}

impl Pages {
    /// Without a title of its own, the conversation has a common one.
    pub fn new(title: &str, format: ExportFormat, lang: Lang) -> Pages {
        let title = match title {
            "" => phrases::EXPORT_TITLE.text(lang),
            title => title,
        };
        Pages { format, lang, title: text::one_line(title), is_first: true }
    }

    /// The text before the first event.
    pub fn begin(&self) -> String {
        match self.format {
            ExportFormat::Md => format!("# {}\n", self.title),
            ExportFormat::Json => "[".to_owned(),
            ExportFormat::Html => html_head(&self.title, self.lang),
        }
    }

    pub fn event(&mut self, event: &Event) -> String {
        let is_first = std::mem::replace(&mut self.is_first, false);
        match self.format {
            ExportFormat::Md => markdown(event, self.lang),
            ExportFormat::Json => {
                let comma = if is_first { "" } else { "," };
                let json = format!("{:#}", event.to_value().unwrap_or_default());
                // A JSON text contains no line breaks.
                format!("{comma}\n  {}", json.replace('\n', "\n  "))
            }
            ExportFormat::Html => html(event, self.lang),
        }
    }

    /// The text after the last event.
    pub fn end(&self) -> &'static str {
        match self.format {
            ExportFormat::Md => "",
            ExportFormat::Json if self.is_first => "]",
            ExportFormat::Json => "\n]",
            ExportFormat::Html => "</html>\n",
        }
    }
}

/// The file name extension of this format.
pub fn file_extension(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Md => "md",
        ExportFormat::Json => "json",
        ExportFormat::Html => "html",
    }
}

fn markdown(event: &Event, lang: Lang) -> String {
    match event {
        Event::TurnStarted { text, .. } | Event::Steered { text, .. } => {
            format!("\n## {}\n\n{text}\n", phrases::EXPORT_YOU.text(lang))
        }
        Event::Replied(replied) if !replied.message.is_empty() => {
            format!("\n{}\n", replied.message)
        }
        Event::StepFinished(observation) => step_markdown(observation),
        Event::Plan { items } => {
            let lines = items.iter().map(|item| format!("- {}\n", item.line()));
            format!("\n{}", lines.collect::<String>())
        }
        event => change_sentence(event, lang).map_or(String::new(), |text| format!("\n*{text}*\n")),
    }
}

/// A change of the conversation itself, in one sentence.
fn change_sentence(event: &Event, lang: Lang) -> Option<String> {
    let say = match event {
        Event::Undone { .. } => phrases::EXPORT_UNDONE.into(),
        Event::FilesKept { files, .. } => phrases::EXPORT_LEFT.with("n", files.len()),
        Event::FilesChanged { files, .. } => Change::summary(files)?,
        Event::Redone { .. } => phrases::EXPORT_REDONE.into(),
        Event::Compacted(receipt) => receipt.localized(),
        Event::TurnEnded { ending, .. } => match ending {
            TurnOutcome::Done | TurnOutcome::Error => return None,
            TurnOutcome::Cancelled | TurnOutcome::Stopped => phrases::EXPORT_STOPPED.into(),
            TurnOutcome::Interrupted => phrases::INTERRUPTED.into(),
            TurnOutcome::Limit { why }
            | TurnOutcome::Unsent { why }
            | TurnOutcome::Failed { why } => phrases::EXPORT_BROKE.with("why", why.clone()),
        },
        _ => return None,
    };
    Some(say.text(lang))
}

fn step_markdown(observation: &Observation) -> String {
    let text = printed_output(observation);
    let diff = observation.change.as_ref().map(|change| change.diff.trim_end()).unwrap_or_default();
    let ticks = longest_run_of_ticks(&text).max(longest_run_of_ticks(diff));
    let fence = "`".repeat(ticks.max(2) + 1);
    let line = observation.step.work.command_line();
    let tier = observation.risk.tier.name();
    let outcome = outcome_text(observation);

    let mut out = format!("\n{fence}\n$ {line}\n{text}[{tier} {outcome}]\n{fence}\n");
    if !diff.is_empty() {
        out.push_str(&format!("\n{fence}diff\n{diff}\n{fence}\n"));
    }
    out
}

/// How a step came out, with the exit code of one that failed.
fn outcome_text(observation: &Observation) -> String {
    let outcome = observation.outcome.name();
    match observation.shown_exit_code() {
        Some(code) if code != 0 => format!("{outcome}, exit {code}"),
        _ => outcome.to_owned(),
    }
}

/// Printed output, followed by a line break; nothing if it is empty.
fn printed_output(observation: &Observation) -> String {
    let streams = [observation.stdout.trim_end(), observation.stderr.trim_end()];
    streams.iter().filter(|text| !text.is_empty()).map(|text| format!("{text}\n")).collect()
}

fn longest_run_of_ticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

fn html_head(title: &str, lang: Lang) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"{}\">\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n<h1>{title}</h1>\n",
        lang.code()
    )
}

fn html(event: &Event, lang: Lang) -> String {
    match event {
        Event::TurnStarted { text, .. } | Event::Steered { text, .. } => format!(
            "<h2>{}</h2>\n<pre class=\"you\">{}</pre>\n",
            phrases::EXPORT_YOU.text(lang),
            escape(text)
        ),
        Event::Replied(replied) if !replied.message.is_empty() => {
            format!(
                "<div class=\"answer\">\n{}</div>\n",
                export_html::from_markdown(&replied.message)
            )
        }
        Event::StepFinished(observation) => step_html(observation),
        Event::Plan { items } => {
            let lines: Vec<String> = items.iter().map(PlanItem::line).collect();
            format!("<pre class=\"plan\">{}</pre>\n", escape(&lines.join("\n")))
        }
        event => change_sentence(event, lang)
            .map_or(String::new(), |text| format!("<p><em>{}</em></p>\n", escape(&text))),
    }
}

fn step_html(observation: &Observation) -> String {
    let text = printed_output(observation);
    let diff = observation.change.as_ref().map(|change| change.diff.as_str()).unwrap_or_default();
    let mut inside = String::new();
    for (class, text) in [("output", text.as_str()), ("diff", diff)] {
        if !text.is_empty() {
            inside.push_str(&format!("<pre class=\"{class}\">{}</pre>", escape(text)));
        }
    }
    format!(
        "<details><summary><code>{}</code> {} {}</summary>{inside}</details>\n",
        escape(&observation.step.work.command_line()),
        observation.risk.tier.name(),
        outcome_text(observation),
    )
}

const STYLE: &str = "body{max-width:50rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 sans-serif}\
pre{white-space:pre-wrap}.you{border-left:3px solid #47c;padding-left:1rem}\
details{margin:.5rem 0;color:#555}";

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::protocol::{
        Change, ModelMessage, Outcome, PlanState, Risk, Step, StepAction, Tier, TurnOrigin,
    };

    fn record() -> Vec<Event> {
        vec![
            Event::TurnStarted {
                turn: 1,
                text: "<b>hi</b>".into(),
                origin: TurnOrigin::Typed,
                submit: None,
            },
            Event::Replied(ModelMessage {
                message: "1 < 2 & done".into(),
                ..ModelMessage::default()
            }),
        ]
    }

    #[test]
    fn the_name_of_the_conversation_failures_and_broken_turns_are_in_an_export() {
        let work = StepAction::Exec { program: "make".into(), args: vec![] };
        let step = Step { id: "cmd_001".into(), work, requires: Default::default(), cwd: None };
        let (reasons, effects) = (Vec::new(), Vec::new());
        let risk = Risk { tier: Tier::L1, rule: "x".into(), reasons, effects, lifted: false };
        let failed = Observation {
            exit_code: Some(2),
            ..Observation::not_run(step, "/w", risk, Outcome::Ran)
        };
        let end = |ending| Event::TurnEnded {
            turn: 1,
            ending,
            usage: avocet_core::protocol::Usage::default(),
            elapsed_ms: 0,
        };
        let record = [
            Event::StepFinished(Box::new(failed)),
            end(TurnOutcome::Failed { why: phrases::NO_MODELS.into() }),
            end(TurnOutcome::Cancelled),
            end(TurnOutcome::Done),
        ];
        for format in [ExportFormat::Md, ExportFormat::Html] {
            let text = render("Fix the build", &record, format, Lang::En);
            let broke = phrases::EXPORT_BROKE.with("why", phrases::NO_MODELS).text(Lang::En);
            let stopped = phrases::EXPORT_STOPPED.text(Lang::En);
            for part in ["Fix the build", "L1", "ran, exit 2", broke.as_str(), stopped] {
                assert!(text.contains(part), "{part}: {text}");
            }
        }
    }

    #[test]
    fn html_shows_markup_as_text() {
        let page = render("", &record(), ExportFormat::Html, Lang::En);
        assert!(page.contains("&lt;b&gt;hi&lt;/b&gt;"), "{page}");
        assert!(page.contains("<p>1 &lt; 2 &amp; done</p>"), "{page}");
    }

    #[test]
    fn markdown_uses_the_configured_language() {
        assert!(render("", &record(), ExportFormat::Md, Lang::Zh).contains("## 你"));
        assert!(render("", &record(), ExportFormat::Md, Lang::En).contains("## You"));
    }

    #[test]
    fn json_can_be_read_back() {
        let text = render("", &record(), ExportFormat::Json, Lang::En);
        assert_eq!(serde_json::from_str::<Vec<Event>>(&text).expect("valid JSON"), record());
    }

    #[test]
    fn a_change_is_shown_with_its_diff() {
        let work = StepAction::Tool { name: "file.edit".into(), input: serde_json::json!({}) };
        let step = Step { id: "cmd_001".into(), work, requires: Default::default(), cwd: None };
        let (reasons, effects) = (Vec::new(), Vec::new());
        let risk = Risk { tier: Tier::L1, rule: "x".into(), reasons, effects, lifted: false };
        let observation = Observation::not_run(step, "/w", risk, Outcome::Ran);
        let change = Change { diff: "@@ -1 +1 @@\n-a\n+<b>\n".into(), ..Change::default() };
        let observation = Observation { change: Some(change), ..observation };
        let record = [Event::StepFinished(Box::new(observation))];
        let text = render("", &record, ExportFormat::Md, Lang::En);
        assert!(text.contains("[L1 ran]\n```\n\n```diff\n@@ -1 +1 @@\n-a\n+<b>\n```\n"), "{text}");
        let page = render("", &record, ExportFormat::Html, Lang::En);
        assert!(page.contains("<pre class=\"diff\">@@ -1 +1 @@\n-a\n+&lt;b&gt;"), "{page}");
        assert!(!page.contains("class=\"output\""), "{page}");
    }

    #[test]
    fn a_plan_and_an_undo_appear_in_readable_formats() {
        let item = PlanItem { text: "write <it>".into(), state: PlanState::Doing };
        let record = [
            Event::Plan { items: vec![item] },
            Event::Undone { turns: vec![1], kept_files_of: vec![], except: vec![] },
            Event::FilesKept { turn: 2, files: vec![Default::default()] },
        ];
        assert!(record.iter().all(Event::is_transcript));
        let text = render("", &record, ExportFormat::Md, Lang::En);
        assert!(
            text.contains("- [>] write <it>") && text.contains("The files were restored"),
            "{text}"
        );
        assert!(text.contains("stay changed: 1"), "{text}");
        let page = render("", &record, ExportFormat::Html, Lang::En);
        assert!(
            page.contains("[&gt;] write &lt;it&gt;") && page.contains("The files were restored"),
            "{page}"
        );
    }
}
