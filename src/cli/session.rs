//! Answers `avocet session …`: saved conversations from the shell. Returns text and messages to
//! write; nothing is drawn here.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::{Value, json};

use super::Clean;
use avocet_core::i18n::{Lang, Localize, LocalizedText, cli as phrases};
use avocet_core::protocol::{ExportFormat, Page};
use avocet_safety::redact::Redactor;
use avocet_safety::sanitize::{self, CarriageReturnMode};
use avocet_session::export::Pages;
use avocet_session::listing::{hits_page, list_page};
use avocet_store::{Database, Listed, SessionHit, Store, StoreError};

/// The maximum number of listed conversations, and of hits.
const LISTED: usize = 1_000;
const HITS: usize = 200;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum SessionCommand {
    /// List conversations, latest first.
    #[command(after_help = "Example:\n  avocet session list --here")]
    List {
        /// Only conversations of this folder.
        #[arg(long)]
        here: bool,
    },
    /// Show a conversation as text.
    #[command(after_help = "Example:\n  avocet session show k7m2")]
    Show {
        /// Its id, or the beginning of it.
        id: String,
    },
    /// Find conversations containing all these words.
    #[command(after_help = "Example:\n  avocet session search login failed")]
    Search {
        /// Words to find.
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Write a conversation to a file or to standard output; secrets are masked.
    #[command(after_help = "Example:\n  avocet session export k7m2 talk.html")]
    Export {
        /// Its id, or the beginning of it.
        id: String,
        /// A file that does not exist yet; its extension sets the format.
        file: Option<PathBuf>,
        /// The format, if the file's extension does not set it.
        #[arg(long, value_name = "md|json|html", value_parser = ["md", "json", "html"], hide_possible_values = true)]
        format: Option<String>,
    },
    /// Delete conversations and everything saved for them.
    #[command(after_help = "Example:\n  avocet session delete k7m2")]
    Delete {
        /// Their ids, or the beginnings of them.
        #[arg(required = true)]
        ids: Vec<String>,
    },
}

/// The result of a subcommand.
#[derive(Debug)]
pub enum SessionAnswer {
    Page(Page),
    /// Text for standard output.
    Out(String),
    /// Everything is written.
    Written,
    /// Writing failed.
    WriteFailed(io::Error),
    /// A message for standard error.
    Messages(Vec<LocalizedText>),
}

/// Where to read conversations and how to write about them.
#[derive(Debug)]
pub struct SessionQuery<'a> {
    pub store: &'a Store,
    pub folder: &'a Path,
    pub redactor: &'a Redactor,
    pub json: bool,
    pub lang: Lang,
    /// Makes the text safe for standard output; a pipe gets it unchanged.
    pub clean: Clean,
}

/// Runs the subcommand, and returns what to report about the file as well. A shown conversation is
/// written to `out` in parts: it may be larger than memory. If it turns out to be damaged, it is
/// repaired and read once more.
///
/// # Errors
/// The sentence that says why it failed.
pub fn run(
    command: &SessionCommand,
    query: &SessionQuery<'_>,
    out: &mut dyn Write,
) -> Result<(SessionAnswer, Option<LocalizedText>), LocalizedText> {
    let (mut disk, mut fault) = Database::open(query.store).map_err(store_message)?;
    let mut output = ExportOutput { out, pages: None, last_written: 0 };
    let answer = match answer_query(command, &mut disk, query, &mut output) {
        Err(QueryError::Store(error)) if error.is_damage() => {
            (disk, fault) = disk.salvage(query.store).map_err(store_message)?;
            answer_query(command, &mut disk, query, &mut output)
        }
        answer => answer,
    };
    disk.close();
    match answer {
        Ok(answer) => Ok((answer, fault.map(|fault| fault.localized()))),
        Err(QueryError::Store(error)) => Err(error.localized()),
        Err(QueryError::Message(say)) => Err(say),
        Err(QueryError::Output(error)) => {
            Ok((SessionAnswer::WriteFailed(error), fault.map(|fault| fault.localized())))
        }
    }
}

/// Why a subcommand failed.
enum QueryError {
    Store(StoreError),
    Message(LocalizedText),
    /// The reader closed the pipe.
    Output(io::Error),
}

impl From<StoreError> for QueryError {
    fn from(error: StoreError) -> QueryError {
        QueryError::Store(error)
    }
}

/// Where a conversation is written, and how far that has come.
struct ExportOutput<'o> {
    out: &'o mut dyn Write,
    /// Set once writing has begun.
    pages: Option<Pages>,
    /// The number of the last written event.
    last_written: i64,
}

fn answer_query(
    command: &SessionCommand,
    database: &mut Database,
    query: &SessionQuery<'_>,
    output: &mut ExportOutput<'_>,
) -> Result<SessionAnswer, QueryError> {
    match command {
        SessionCommand::List { here } => list(database, query, *here),
        SessionCommand::Search { words } => {
            let words = words.join(" ");
            // A program gets all of them, a user the latest.
            if query.json {
                Ok(SessionAnswer::Out(json_lines(
                    database.search(&words, usize::MAX)?.iter().map(hit_json),
                )))
            } else {
                Ok(SessionAnswer::Page(hits_page(&words, database.search(&words, HITS + 1)?, HITS)))
            }
        }
        SessionCommand::Show { id } => {
            let format = if query.json { ExportFormat::Json } else { ExportFormat::Md };
            write_conversation(database, id, format, (query, query.clean), output)?;
            Ok(SessionAnswer::Written)
        }
        SessionCommand::Export { id, file, format } => {
            let format = choose_format(format.as_deref(), file.as_deref(), query.json);
            let Some(file) = file else {
                write_conversation(database, id, format, (query, query.clean), output)?;
                return Ok(SessionAnswer::Written);
            };
            export(database, id, format, query, file)?;
            let file = file.display().to_string();
            Ok(SessionAnswer::Messages(vec![phrases::SESSION_EXPORTED.with("file", file)]))
        }
        SessionCommand::Delete { ids } => delete(database, ids, query),
    }
}

fn list(
    database: &Database,
    query: &SessionQuery<'_>,
    here: bool,
) -> Result<SessionAnswer, QueryError> {
    let folder = query.folder.display().to_string();
    let folder = here.then_some(folder.as_str());
    let listed = database.list(folder, LISTED)?;
    if query.json {
        // The reader of this format reads all of it.
        let all = if listed.len() < LISTED { listed } else { database.list(folder, usize::MAX)? };
        return Ok(SessionAnswer::Out(json_lines(all.iter().map(listed_json))));
    }
    let more = database.count(folder)?.saturating_sub(listed.len());
    Ok(SessionAnswer::Page(list_page(listed, more)))
}

fn store_message(error: StoreError) -> LocalizedText {
    error.localized()
}

/// One JSON object per line.
fn json_lines(values: impl Iterator<Item = Value>) -> String {
    values.map(|value| format!("{value}\n")).collect()
}

fn listed_json(listed: &Listed) -> Value {
    json!({
        "id": listed.id,
        "title": listed.title,
        "folder": listed.folder,
        "created": format_time(listed.created),
        "updated": format_time(listed.updated),
        "turns": listed.turns,
        "parent": listed.parent,
        "preview": listed.preview,
        "model": listed.model,
    })
}

fn hit_json(hit: &SessionHit) -> Value {
    json!({
        "id": hit.id,
        "title": hit.title,
        "folder": hit.folder,
        "at": format_time(hit.at),
        "around": hit.around,
    })
}

fn format_time(milliseconds: i64) -> String {
    jiff::Timestamp::from_millisecond(milliseconds).map(|at| at.to_string()).unwrap_or_default()
}

/// Writes a conversation, event by event, from where it stopped.
fn write_conversation(
    database: &Database,
    id: &str,
    format: ExportFormat,
    (query, clean): (&SessionQuery<'_>, Clean),
    output: &mut ExportOutput<'_>,
) -> Result<(), QueryError> {
    let known = database.find(id)?;
    let mut out = BufWriter::new(&mut *output.out);
    // It was masked when it was saved; other secrets may be known by now.
    let mut put = |text: &str| {
        let masked = query.redactor.mask(text);
        // What controls a terminal is not text; JSON writes it by its number.
        let plain = match format {
            ExportFormat::Json => masked.into_owned(),
            ExportFormat::Md | ExportFormat::Html => {
                sanitize::clean(&masked, CarriageReturnMode::EndsLine)
            }
        };
        out.write_all(clean(&plain).as_bytes())
    };
    if output.pages.is_none() {
        let pages = output.pages.insert(Pages::new(&known.title, format, query.lang));
        put(&pages.begin()).map_err(QueryError::Output)?;
    }
    let Some(pages) = &mut output.pages else { return Ok(()) };
    let read = database.for_each_event(known.key, output.last_written, |seq, event| {
        if event.is_transcript() {
            put(&pages.event(&event))?;
        }
        output.last_written = seq;
        Ok(())
    });
    read?.map_err(QueryError::Output)?;
    put(pages.end()).map_err(QueryError::Output)?;
    if format == ExportFormat::Json {
        put("\n").map_err(QueryError::Output)?;
    }
    out.flush().map_err(QueryError::Output)
}

fn choose_format(named: Option<&str>, file: Option<&Path>, json: bool) -> ExportFormat {
    let ending = file.and_then(|file| file.extension()).and_then(|ending| ending.to_str());
    match named.or(ending) {
        Some("json") => ExportFormat::Json,
        Some("html" | "htm") => ExportFormat::Html,
        None if json => ExportFormat::Json,
        _ => ExportFormat::Md,
    }
}

/// Follows no links and overwrites nothing.
fn export(
    database: &Database,
    id: &str,
    format: ExportFormat,
    query: &SessionQuery<'_>,
    file: &Path,
) -> Result<(), QueryError> {
    let shown = file.display().to_string();
    let unwritten = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            QueryError::Message(phrases::SESSION_EXISTS.with("file", shown.as_str()))
        }
        _ => QueryError::Message(
            phrases::SESSION_UNWRITTEN.with("file", shown.as_str()).with("why", error.to_string()),
        ),
    };
    // A wrong name must not leave a file.
    database.find(id)?;
    let path = query.folder.join(file);
    // The conversation is private to the user.
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut to = options.open(&path).map_err(unwritten)?;
    let mut paged = ExportOutput { out: &mut to, pages: None, last_written: 0 };
    let written = write_conversation(database, id, format, (query, str::to_owned), &mut paged);
    let written = written.and_then(|()| to.sync_all().map_err(QueryError::Output));
    written.map_err(|wrong| {
        // Half of a conversation is useless; the file was created just now.
        let _ = std::fs::remove_file(&path);
        match wrong {
            QueryError::Output(error) => unwritten(error),
            other => other,
        }
    })
}

/// All of them, or none if one cannot be found.
fn delete(
    database: &mut Database,
    ids: &[String],
    query: &SessionQuery<'_>,
) -> Result<SessionAnswer, QueryError> {
    let known = ids.iter().map(|id| database.find(id)).collect::<Result<Vec<_>, _>>()?;
    let mut told = Vec::new();
    for one in known {
        // The same conversation may be named twice.
        match database.delete(query.store, &one.id) {
            Err(StoreError::NoSession { .. }) => continue,
            done => done?,
        }
        told.push(phrases::SESSION_DELETED.with("id", one.id).with("title", one.title));
    }
    Ok(SessionAnswer::Messages(told))
}
