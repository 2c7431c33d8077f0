//! The reports of a session about itself: models, usage, exports.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use tokio::io::AsyncWriteExt;

use super::state::Session;
use super::{Connected, FoundServer, export};
use crate::context::request;
use crate::context::window::{ContextUsage, RequestParts, Section};
use crate::i18n::{Localize, Phrase, common, context as said, session as words};
use crate::model::ModelError;
use crate::protocol::{Event, ExportFormat, Notice, Page, PageRow, Usage};
use crate::safety::Machine;
use crate::safety::tools::{PluginEntry, Registry};
use crate::text;

/// The maximum number of model names in a notice.
const NAMED: usize = 6;

/// The models of a server as a page, and as names to complete; after them, what a search found
/// elsewhere.
pub fn models(
    connected: &Connected,
    answer: Result<Vec<String>, ModelError>,
    found: &[FoundServer],
) -> Vec<Event> {
    let mut names = match answer {
        Ok(names) if names.is_empty() => {
            return vec![Event::Notice(Notice::info(words::NO_MODELS))];
        }
        Ok(names) => names,
        Err(error) => return vec![Event::Notice(Notice::error(error.localized()))],
    };
    let current = connected.model.name();
    let mut rows: Vec<PageRow> = names
        .iter()
        .map(|name| match name == current {
            true => PageRow::pair(name.as_str(), common::IN_USE),
            false => PageRow::pair(name.as_str(), ""),
        })
        .collect();
    for one in found.iter().filter(|one| one.base_url != connected.base_url) {
        rows.extend(one.models.iter().map(|name| PageRow::pair(name.as_str(), one.name.as_str())));
        names.extend(one.models.iter().cloned());
    }
    let title = match connected.base_url.as_str() {
        "" => words::MODELS_HERE.into(),
        url => words::MODELS.with("url", url),
    };
    vec![Event::Page(Box::new(Page { title, rows })), Event::Models { names }]
}

/// The result of a search, as a sentence with what to type; `None` if none of it can be used.
pub fn found_server_notice(found: &FoundServer) -> Option<Notice> {
    let model = found.models.first()?;
    let notice = match &found.key_env {
        Some(key) => words::FOUND_KEY.with("key", key.as_str()).with("name", found.name.as_str()),
        None => words::FOUND.with("name", found.name.as_str()).with("url", found.base_url.as_str()),
    };
    let notice = Notice::info(notice.with("model", model.as_str()));
    if found.models.len() == 1 {
        return Some(notice);
    }
    let names: Vec<&str> = found.models.iter().take(NAMED).map(String::as_str).collect();
    Some(
        notice.with_hint(
            words::FOUND_MORE.with("n", found.models.len()).with("names", names.join(", ")),
        ),
    )
}

/// The parts of the next request as bars; while a turn runs, of the last request.
pub fn context(session: &Session, sent: Option<&ContextUsage>) -> Page {
    let next = || {
        let system = session.system_prompt();
        let notes = &session.instructions.notes.text;
        let history = &session.conversation.history;
        request::build(
            RequestParts { system: &system, notes, history, turn: &[] },
            session.request_bounds(),
        )
        .1
    };
    let ledger = sent.cloned().unwrap_or_else(next);
    let (room, taken) = (ledger.room, ledger.total_size());
    let mut rows: Vec<PageRow> = ledger
        .sections
        .iter()
        .map(|share| PageRow::pair(section_name(share.section), bar(share.size.bytes, room.bytes)))
        .collect();
    let free = room.bytes.saturating_sub(taken.bytes);
    rows.push(PageRow::pair(said::LEDGER_FREE, bar(free, room.bytes)));
    let tokens = said::LEDGER_TOKENS_ARE.with("taken", taken.tokens).with("room", room.tokens);
    rows.push(PageRow::pair(common::TOKENS, tokens));
    let bound =
        said::LEDGER_BOUND_IS.with("bytes", text::size(room.bytes)).with("tokens", room.tokens);
    rows.push(PageRow::pair(said::LEDGER_BOUND, bound));
    rows.extend(
        session.info.notes.iter().map(|note| PageRow::pair(common::INSTRUCTIONS, note.localized())),
    );
    for share in ledger.sections.iter().filter(|share| share.omitted_bytes > 0) {
        let cut = said::LEDGER_CUT
            .with("part", section_name(share.section))
            .with("bytes", text::size(share.omitted_bytes));
        rows.push(PageRow::line(cut));
    }
    rows.push(PageRow::line(
        said::LEDGER_FULL.with("bytes", text::size(session.bounds.compact_above)),
    ));
    let turns = said::LEDGER_TURNS.with("n", ledger.turns).with("out", ledger.omitted_turns);
    rows.push(PageRow::line(turns));
    let title = if sent.is_some() { said::LEDGER_NOW } else { said::LEDGER };
    Page { title: title.into(), rows }
}

/// What to say of the first request of a turn: it holds the user's own words and no results
/// yet, so what is cut there is theirs.
pub fn truncation_notice(ledger: &ContextUsage) -> Option<Notice> {
    let cut = ledger.omitted_bytes(Section::Turn);
    let say = said::MESSAGE_CUT.with("bytes", text::size(cut));
    (cut > 0).then(|| Notice::warning(say).with_hint(said::MESSAGE_CUT_HINT))
}

fn section_name(part: Section) -> Phrase {
    match part {
        Section::System => said::PART_SYSTEM,
        Section::Notes => common::INSTRUCTIONS,
        Section::Summary => said::PART_SUMMARY,
        Section::Recalled => said::PART_RECALLED,
        Section::Results => said::PART_RESULTS,
        Section::History => said::PART_HISTORY,
        Section::Turn => said::PART_TURN,
    }
}

/// The width of a full bar, in cells.
const BAR: usize = 24;

/// A share of the whole as a bar, in bytes and in percent. A share above zero is never invisible.
fn bar(part: usize, whole: usize) -> String {
    let filled = (part * BAR).div_ceil(whole.max(1)).min(BAR);
    let percent = part * 100 / whole.max(1);
    let (full, empty) = ("█".repeat(filled), "░".repeat(BAR - filled));
    format!("{full}{empty} {:>9} {percent:>3} %", text::size(part))
}

/// The current registry of slothtool.
pub fn plugins(home: &Path, world: &dyn Machine) -> Page {
    let rows = match Registry::read(home, world) {
        Err(why) => vec![PageRow::line(why)],
        Ok(registry) => {
            let entries = registry.unwrap_or_default().entries;
            let row = |entry: &PluginEntry| {
                let about = words::PLUGIN_ROW.with("name", entry.name.as_str());
                PageRow::pair(entry.alias.as_str(), about.with("version", entry.version.as_str()))
            };
            match entries.is_empty() {
                true => vec![PageRow::line(words::PLUGINS_NONE)],
                false => entries.iter().map(row).collect(),
            }
        }
    };
    Page { title: words::PLUGINS.into(), rows }
}

/// Token counts of the latest turns, and their total.
pub fn usage(turns: &VecDeque<(u64, Usage)>, all: Usage) -> Page {
    let row = |(turn, usage): &(u64, Usage)| {
        PageRow::pair(words::USAGE_TURN.with("n", *turn), usage.localized())
    };
    let spent = |(_, usage): &&(u64, Usage)| usage.input_tokens + usage.output_tokens > 0;
    let mut rows: Vec<PageRow> = turns.iter().filter(spent).map(row).collect();
    rows.push(PageRow::pair(words::USAGE_ALL, all.localized()));
    Page { title: words::USAGE.into(), rows }
}

/// Writes the conversation; never changes an existing file.
pub async fn export(session: &mut Session, format: ExportFormat, path: Option<String>) -> Notice {
    if session.conversation.record().is_empty() {
        return Notice::info(words::EXPORT_EMPTY);
    }
    let path = export_path(Path::new(&session.info.cwd), format, path);
    let text = export::render(session.conversation.record(), format, session.info.lang);
    let text = session.security.redactor.mask(&text).into_owned();
    let shown = path.display().to_string();
    match create(&path, &text).await {
        Ok(()) => Notice::info(words::EXPORTED.with("path", shown)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Notice::error(words::EXPORT_EXISTS.with("path", shown))
        }
        Err(error) => {
            Notice::error(words::EXPORT_FAILED.with("path", shown).with("why", error.to_string()))
        }
    }
}

fn export_path(cwd: &Path, format: ExportFormat, path: Option<String>) -> PathBuf {
    match path {
        Some(path) => cwd.join(path),
        None => {
            let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
            cwd.join(format!("avocet-{now}.{}", export::file_extension(format)))
        }
    }
}

async fn create(path: &Path, text: &str) -> io::Result<()> {
    // `create_new` follows no links and overwrites nothing.
    let mut options = tokio::fs::OpenOptions::new();
    options.write(true).create_new(true);
    // The conversation is private to the user.
    #[cfg(unix)]
    options.mode(0o600);
    let mut file = options.open(path).await?;
    file.write_all(text.as_bytes()).await?;
    file.sync_all().await
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::FutureExt;

    use super::*;
    use crate::i18n::Lang;
    use crate::model::Guide;

    #[test]
    fn found_models_are_listed_after_the_guide() {
        let guide = Connected {
            model: Arc::new(Guide::new(Lang::En)),
            provider: crate::protocol::Provider::Guide,
            base_url: String::new(),
            list: Arc::new(|| async { Ok(Vec::new()) }.boxed()),
        };
        let found = FoundServer {
            name: "Ollama".into(),
            base_url: "http://127.0.0.1:11434/v1".into(),
            key_env: None,
            models: vec!["qwen".into()],
        };
        let events = models(&guide, Ok(vec!["guide".into()]), &[found]);
        let rows = vec![PageRow::pair("guide", common::IN_USE), PageRow::pair("qwen", "Ollama")];
        let page = Page { title: words::MODELS_HERE.into(), rows };
        let names = vec!["guide".to_owned(), "qwen".to_owned()];
        assert_eq!(events, [Event::Page(Box::new(page)), Event::Models { names }]);
    }
}
