//! A conversation as a file: Markdown to read, JSON to work with, HTML to show.
//! Pure text; writing it is the session's.

use crate::protocol::{Event, ExportFormat, Observation, PlanItem, PlanState, Work};
use crate::words::{Lang, session as words};

/// The whole conversation in one format. Secrets are masked by the caller.
pub fn render(record: &[Event], format: ExportFormat, lang: Lang) -> String {
    match format {
        ExportFormat::Md => markdown(record, lang),
        ExportFormat::Json => json(record),
        ExportFormat::Html => html(record, lang),
    }
}

/// The ending a file of this format has.
pub fn ending(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Md => "md",
        ExportFormat::Json => "json",
        ExportFormat::Html => "html",
    }
}

/// Whether an event is part of what is written.
pub fn is_told(event: &Event) -> bool {
    matches!(
        event,
        Event::TurnStarted { .. }
            | Event::Steered { .. }
            | Event::Replied(_)
            | Event::Observed(_)
            | Event::Plan { .. }
            | Event::Undone { .. }
            | Event::StillChanged { .. }
            | Event::Compacted(_)
            | Event::TurnEnded { .. }
    )
}

fn markdown(record: &[Event], lang: Lang) -> String {
    let mut out = format!("# {}\n", words::EXPORT_TITLE.text(lang));
    for event in record {
        match event {
            Event::TurnStarted { text, .. } | Event::Steered { text } => {
                out.push_str(&format!("\n## {}\n\n{text}\n", words::EXPORT_YOU.text(lang)));
            }
            Event::Replied(replied) if !replied.message.is_empty() => {
                out.push_str(&format!("\n{}\n", replied.message));
            }
            Event::Observed(seen) => out.push_str(&step_markdown(seen)),
            Event::Plan { items } => {
                out.push('\n');
                items.iter().for_each(|item| out.push_str(&format!("- {}\n", planned(item))));
            }
            event => out.extend(aside(event, lang).map(|text| format!("\n*{text}*\n"))),
        }
    }
    out
}

fn planned(item: &PlanItem) -> String {
    let mark = match item.state {
        PlanState::Pending => "[ ]",
        PlanState::Doing => "[>]",
        PlanState::Done => "[x]",
    };
    format!("{mark} {}", item.text)
}

/// What happened to the conversation itself, in one sentence.
fn aside(event: &Event, lang: Lang) -> Option<String> {
    let say = match event {
        Event::Undone { .. } => words::EXPORT_UNDONE.into(),
        Event::StillChanged { files, .. } => words::EXPORT_LEFT.with("n", files.len()),
        Event::Compacted(receipt) => receipt.say(),
        _ => return None,
    };
    Some(say.text(lang))
}

fn step_markdown(seen: &Observation) -> String {
    let output = [seen.stdout.as_str(), seen.stderr.as_str()].join("\n");
    let fence = "`".repeat(longest_run_of_ticks(&output).max(2) + 1);
    format!(
        "\n{fence}\n$ {}\n{}\n[{} {}]\n{fence}\n",
        one_line(&seen.step.work),
        output.trim_end(),
        seen.risk.tier.name(),
        seen.outcome.name(),
    )
}

fn longest_run_of_ticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

fn json(record: &[Event]) -> String {
    serde_json::to_string_pretty(record).unwrap_or_else(|_| "[]".to_owned())
}

fn html(record: &[Event], lang: Lang) -> String {
    let title = escape(words::EXPORT_TITLE.text(lang));
    let mut body = String::new();
    for event in record {
        match event {
            Event::TurnStarted { text, .. } | Event::Steered { text } => {
                body.push_str(&format!("<h2>{}</h2>\n", words::EXPORT_YOU.text(lang)));
                body.push_str(&format!("<pre class=\"you\">{}</pre>\n", escape(text)));
            }
            Event::Replied(replied) if !replied.message.is_empty() => {
                body.push_str(&format!(
                    "<pre class=\"answer\">{}</pre>\n",
                    escape(&replied.message)
                ));
            }
            Event::Observed(seen) => body.push_str(&format!(
                "<details><summary><code>{}</code> {} {}</summary><pre>{}</pre></details>\n",
                escape(&one_line(&seen.step.work)),
                seen.risk.tier.name(),
                seen.outcome.name(),
                escape(&[seen.stdout.as_str(), seen.stderr.as_str()].join("\n")),
            )),
            Event::Plan { items } => {
                let lines: Vec<String> = items.iter().map(planned).collect();
                let text = escape(&lines.join("\n"));
                body.push_str(&format!("<pre class=\"plan\">{text}</pre>\n"));
            }
            event => body.extend(
                aside(event, lang).map(|text| format!("<p><em>{}</em></p>\n", escape(&text))),
            ),
        }
    }
    format!(
        "<!doctype html>\n<html lang=\"{}\">\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n<h1>{title}</h1>\n{body}</html>\n",
        lang.code()
    )
}

const STYLE: &str = "body{max-width:50rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 sans-serif}\
pre{white-space:pre-wrap}.you{border-left:3px solid #47c;padding-left:1rem}\
details{margin:.5rem 0;color:#555}";

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A step on one line, for reading only: what ran was never a line.
pub fn one_line(work: &Work) -> String {
    match work {
        Work::Exec { program, args } => {
            let mut words = vec![program.clone()];
            words.extend(args.iter().map(|arg| quoted(arg)));
            words.join(" ")
        }
        Work::Tool { name, input } => Work::brief(name, input),
        Work::Shell { line } => line.clone(),
    }
}

fn quoted(arg: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@+%".contains(c);
    if !arg.is_empty() && arg.chars().all(plain) {
        arg.to_owned()
    } else {
        format!("'{}'", arg.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Origin, Replied};

    fn record() -> Vec<Event> {
        vec![
            Event::TurnStarted { turn: 1, text: "<b>hi</b>".into(), origin: Origin::Typed },
            Event::Replied(Replied { message: "1 < 2 & done".into(), ..Replied::default() }),
        ]
    }

    #[test]
    fn html_shows_markup_as_text() {
        let page = render(&record(), ExportFormat::Html, Lang::En);
        assert!(page.contains("&lt;b&gt;hi&lt;/b&gt;"), "{page}");
        assert!(page.contains("1 &lt; 2 &amp; done"), "{page}");
    }

    #[test]
    fn markdown_speaks_the_language_that_is_set() {
        assert!(render(&record(), ExportFormat::Md, Lang::Zh).contains("## 你"));
        assert!(render(&record(), ExportFormat::Md, Lang::En).contains("## You"));
    }

    #[test]
    fn json_can_be_read_back() {
        let text = render(&record(), ExportFormat::Json, Lang::En);
        assert_eq!(serde_json::from_str::<Vec<Event>>(&text).expect("valid JSON"), record());
    }

    #[test]
    fn a_plan_and_what_was_taken_back_stand_in_what_is_read() {
        let item = PlanItem { text: "write <it>".into(), state: PlanState::Doing };
        let record = [
            Event::Plan { items: vec![item] },
            Event::Undone { turns: vec![1], left: vec![] },
            Event::StillChanged { turn: 2, files: vec![Default::default()] },
        ];
        assert!(record.iter().all(is_told));
        let text = render(&record, ExportFormat::Md, Lang::En);
        assert!(text.contains("- [>] write <it>") && text.contains("put back"), "{text}");
        assert!(text.contains("stay changed: 1"), "{text}");
        let page = render(&record, ExportFormat::Html, Lang::En);
        assert!(page.contains("[&gt;] write &lt;it&gt;") && page.contains("put back"), "{page}");
    }

    #[test]
    fn a_step_with_spaces_is_quoted_for_reading() {
        let work = Work::exec("git", &["commit", "-m", "it's done"]);
        assert_eq!(one_line(&work), r"git commit -m 'it'\''s done'");
    }
}
