//! The reports of a session about itself: models, usage, exports.

use std::io;
use std::path::{Path, PathBuf};

use tokio::io::AsyncWriteExt;

use super::state::Session;
use super::{Connected, FoundModelServer, export};
use crate::context::window::{ContextUsage, Section};
use avocet_config::extensions::{ExtensionFileKind, ExtensionLibrary};
use avocet_core::i18n::{
    Localize, LocalizedText, Phrase, agents as phrases, common, context as said, screen,
    session as words,
};
use avocet_core::protocol::{Event, ExportFormat, ModelOffer, Notice, NoticeLevel, Page, PageRow};
use avocet_core::text;
use avocet_model::ModelError;
use avocet_safety::Machine;
use avocet_safety::sanitize::{self, CarriageReturnMode};
use avocet_safety::tools::{PluginEntry, PluginRegistry};

/// The models of a server; after them, what a search found elsewhere.
pub fn models(
    connected: &Connected,
    answer: Result<Vec<ModelOffer>, ModelError>,
    found: &[FoundModelServer],
) -> Event {
    let mut offers = match answer {
        Ok(offers) if offers.is_empty() => return Event::Notice(Notice::info(words::NO_MODELS)),
        Ok(offers) => offers,
        Err(error) => return Event::Notice(Notice::error(error.localized())),
    };
    for one in found.iter().filter(|one| one.base_url != connected.base_url) {
        let provider = one.name.clone();
        let row = |name: &String| ModelOffer { provider: provider.clone(), ..name.as_str().into() };
        offers.extend(one.models.iter().map(row));
    }
    Event::Models { names: offers.iter().map(|offer| offer.name.clone()).collect(), offers }
}

/// The parts of the next request as bars; while a turn runs, of the last request.
pub fn context(session: &Session, usage: Option<&ContextUsage>) -> Page {
    let ledger = usage.cloned().unwrap_or_else(|| {
        let Session { info, conversation, security, instructions, .. } = session;
        let notes = &instructions.current.notes.text;
        session.resources.next_request(info, conversation, security, notes)
    });
    let (room, taken) = (ledger.room, ledger.total_size());
    let mut rows: Vec<PageRow> = ledger
        .sections
        .iter()
        .map(|share| {
            let percent = share.size.percent_of(room);
            PageRow::pair(section_name(share.section), bar(percent, share.size.bytes))
        })
        .collect();
    let full = taken.percent_of(room);
    let free = room.bytes.saturating_sub(taken.bytes);
    rows.push(PageRow::pair(said::LEDGER_FREE, bar(100_usize.saturating_sub(full), free)));
    let tokens = said::LEDGER_TOKENS_ARE
        .with("taken", taken.tokens)
        .with("room", room.tokens)
        .with("percent", full);
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
        said::LEDGER_FULL
            .with("bytes", text::size(session.resources.model.request_bounds().compact_above)),
    ));
    let turns = said::LEDGER_TURNS.with("n", ledger.turns).with("out", ledger.omitted_turns);
    rows.push(PageRow::line(turns));
    let title = if usage.is_some() { said::LEDGER_NOW } else { said::LEDGER };
    Page { title: title.into(), rows }
}

fn section_name(section: Section) -> Phrase {
    match section {
        Section::System => said::PART_SYSTEM,
        Section::Tools => said::PART_TOOLS,
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
fn bar(percent: usize, bytes: usize) -> LocalizedText {
    let filled = (percent * BAR).div_ceil(100).clamp(usize::from(bytes > 0), BAR);
    let full = "█".repeat(filled);
    let empty = "░".repeat(BAR - filled);

    let bar = format!("{full}{empty} {:>9}", text::size(bytes));
    said::LEDGER_BAR.with("bar", bar).with("percent", format!("{percent:>3}"))
}

/// The current registry of slothtool.
pub fn plugins(home: &Path, world: &dyn Machine) -> Page {
    let rows = match PluginRegistry::read(home, world) {
        Err(why) => vec![PageRow::line(why)],
        Ok(registry) => {
            let entries = registry.unwrap_or_default().entries;
            let row = |entry: &PluginEntry| {
                let about = words::PLUGIN_ROW.with("name", entry.name.as_str());
                PageRow::pair(entry.alias.as_str(), about.with("version", entry.version.as_str()))
            };
            if entries.is_empty() {
                vec![PageRow::line(words::PLUGINS_NONE)]
            } else {
                entries.iter().map(row).collect()
            }
        }
    };
    Page { title: words::PLUGINS.into(), rows }
}

/// The agents that tasks may be handed to, and why a file is not used.
pub fn agents(library: &ExtensionLibrary) -> Page {
    Page { title: phrases::TITLE.into(), rows: library.rows(ExtensionFileKind::Agent) }
}

/// The running turn, the question that it waits for, and the messages after it.
pub fn running(session: &Session) -> Page {
    let turn = session.running.as_ref().filter(|turn| !turn.is_over);
    let mut rows: Vec<PageRow> = Vec::new();
    if let Some(turn) = turn {
        let state = match turn.open_question {
            Some(_) => words::RUNNING_ASKS,
            None => words::RUNNING_WORKS,
        };
        rows.push(PageRow::pair(words::USAGE_TURN.with("n", turn.turn), state));
    }
    let waiting =
        session.queue.inputs().iter().map(|queued| text::one_line(&queued.input.as_typed()));
    rows.extend(waiting.map(|line| PageRow::pair(screen::QUEUE_LABEL, text::cut(&line, 80))));
    if rows.is_empty() {
        rows.push(PageRow::line(words::RUNNING_NOTHING));
    }
    Page { title: words::RUNNING.into(), rows }
}

pub async fn export(session: &mut Session, format: ExportFormat, path: Option<String>) {
    let notice = write_export(session, format, path).await;
    // A conversation that was written elsewhere is not lost.
    if let Some(unsaved) = &mut session.info.unsaved
        && notice.level == NoticeLevel::Info
        && !session.conversation.record().is_empty()
    {
        unsaved.elsewhere = true;
        session.send_info().await;
    }
    session.notify(notice).await;
}

/// Writes the conversation; never changes an existing file.
async fn write_export(session: &mut Session, format: ExportFormat, path: Option<String>) -> Notice {
    if session.conversation.record().is_empty() {
        return Notice::info(words::EXPORT_EMPTY);
    }
    let path = export_path(Path::new(&session.info.cwd), format, path);
    let title = session.info.title.clone();
    let lang = session.info.lang;

    let text = export::render(&title, session.conversation.record(), format, lang);
    let text = session.security.redactor.mask(&text).into_owned();
    let text = match format {
        ExportFormat::Json => text,
        ExportFormat::Md | ExportFormat::Html => {
            sanitize::clean(&text, CarriageReturnMode::EndsLine)
        }
    };
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
    use avocet_core::i18n::Lang;
    use avocet_model::Guide;

    #[test]
    fn found_models_are_listed_after_the_guide() {
        let guide = Connected {
            model: Arc::new(Guide::new(Lang::En)),
            provider: avocet_core::protocol::Provider::Guide,
            base_url: String::new(),
            fallbacks: vec![],
            list: Arc::new(|| async { Ok(Vec::new()) }.boxed()),
        };
        let found = FoundModelServer {
            name: "Ollama".into(),
            base_url: "http://127.0.0.1:11434/v1".into(),
            key_env: None,
            models: vec!["qwen".into()],
        };
        let event = models(&guide, Ok(vec!["guide".into()]), &[found]);
        let qwen = ModelOffer { provider: "Ollama".into(), ..ModelOffer::from("qwen") };
        let names = vec!["guide".to_owned(), "qwen".to_owned()];
        assert_eq!(event, Event::Models { names, offers: vec!["guide".into(), qwen] });
    }
}
