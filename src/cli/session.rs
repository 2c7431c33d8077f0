//! `avocet session …`: saved conversations from the shell. Texts to write and sentences
//! to say; nothing is drawn in here.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::{Value, json};

use crate::protocol::{Event, ExportFormat, Page};
use crate::safety::redact::Redactor;
use crate::session::export;
use crate::session::saved::{hits_page, list_page};
use crate::store::{Disk, Hit, Listed, Piece, Store, StoreError};
use crate::words::{Lang, Say, Spoken, cli as words};

/// Conversations that are listed, and hits.
const LISTED: usize = 1_000;
const HITS: usize = 200;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Session {
    /// List them, the latest first.
    #[command(after_help = "Example:\n  avocet session list --here")]
    List {
        /// Only those of this folder.
        #[arg(long)]
        here: bool,
    },
    /// Show one, as text.
    #[command(after_help = "Example:\n  avocet session show k7m2")]
    Show {
        /// Its id, or the start of it.
        id: String,
    },
    /// Find those in which all of these words stand.
    #[command(after_help = "Example:\n  avocet session search login 错误")]
    Search {
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Write one to a file, or to standard output; secrets are masked.
    #[command(after_help = "Example:\n  avocet session export k7m2 talk.html")]
    Export {
        /// Its id, or the start of it.
        id: String,
        /// A file that is not there yet; its ending says which format.
        file: Option<PathBuf>,
        /// The format, where the file's ending does not say it.
        #[arg(long, value_name = "md|json|html", value_parser = ["md", "json", "html"], hide_possible_values = true)]
        format: Option<String>,
    },
    /// Delete some, with all that was kept of them.
    #[command(after_help = "Example:\n  avocet session delete k7m2")]
    Delete {
        /// Their ids, or the starts of them.
        #[arg(required = true)]
        ids: Vec<String>,
    },
}

/// What comes of it.
#[derive(Debug)]
pub enum Answer {
    Page(Page),
    /// For standard output.
    Out(String),
    /// For standard error.
    Told(Vec<Say>),
}

/// Where it looks and how it speaks.
#[derive(Debug)]
pub struct Desk<'a> {
    pub store: &'a Store,
    pub folder: &'a Path,
    pub redactor: &'a Redactor,
    pub json: bool,
    pub lang: Lang,
}

/// Does what was asked; beside it what is to be said about the file.
///
/// # Errors
/// The sentence that says why it could not be done.
pub fn run(asked: &Session, desk: &Desk<'_>) -> Result<(Answer, Option<Say>), Say> {
    let (mut disk, fault) = Disk::open(desk.store).map_err(|error| error.say())?;
    let answer = match asked {
        Session::List { here } => {
            let folder = desk.folder.display().to_string();
            let listed = disk.list(here.then_some(folder.as_str()), LISTED).map_err(said)?;
            match desk.json {
                true => Answer::Out(lines(listed.iter().map(listed_json))),
                false => Answer::Page(list_page(listed)),
            }
        }
        Session::Search { words } => {
            let words = words.join(" ");
            let hits = disk.search(&words, HITS).map_err(said)?;
            match desk.json {
                true => Answer::Out(lines(hits.iter().map(hit_json))),
                false => Answer::Page(hits_page(&words, hits)),
            }
        }
        Session::Show { id } => {
            let format = if desk.json { ExportFormat::Json } else { ExportFormat::Md };
            Answer::Out(text(&disk, id, format, desk).map_err(said)?)
        }
        Session::Export { id, file, format } => {
            let format = format_of(format.as_deref(), file.as_deref(), desk.json);
            let text = text(&disk, id, format, desk).map_err(said)?;
            match file {
                None => Answer::Out(text),
                Some(file) => {
                    create(&desk.folder.join(file), &text)?;
                    let file = file.display().to_string();
                    Answer::Told(vec![words::SESSION_EXPORTED.with("file", file)])
                }
            }
        }
        Session::Delete { ids } => delete(&mut disk, ids, desk)?,
    };
    Ok((answer, fault.map(|fault| fault.say())))
}

fn said(error: StoreError) -> Say {
    error.say()
}

/// One JSON object a line.
fn lines(values: impl Iterator<Item = Value>) -> String {
    values.map(|value| format!("{value}\n")).collect()
}

fn listed_json(one: &Listed) -> Value {
    json!({
        "id": one.id,
        "title": one.title,
        "folder": one.folder,
        "created": time(one.created),
        "updated": time(one.updated),
        "turns": one.turns,
        "parent": one.parent,
        "preview": one.preview,
    })
}

fn hit_json(hit: &Hit) -> Value {
    json!({
        "id": hit.id,
        "title": hit.title,
        "folder": hit.folder,
        "at": time(hit.at),
        "around": hit.around,
    })
}

fn time(milliseconds: i64) -> String {
    jiff::Timestamp::from_millisecond(milliseconds).map(|at| at.to_string()).unwrap_or_default()
}

fn text(
    disk: &Disk,
    id: &str,
    format: ExportFormat,
    desk: &Desk<'_>,
) -> Result<String, StoreError> {
    let known = disk.find(id)?;
    let Piece { events, .. } = disk.events(known.key, 0, i64::MAX)?;
    let events: Vec<Event> =
        events.into_iter().map(|kept| kept.event).filter(export::is_told).collect();
    let text = export::render(&events, format, desk.lang);
    // It was masked when it was kept; other secrets may be known by now.
    let mut text = desk.redactor.mask(&text).into_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

fn format_of(named: Option<&str>, file: Option<&Path>, json: bool) -> ExportFormat {
    let ending = file.and_then(|file| file.extension()).and_then(|ending| ending.to_str());
    match named.or(ending) {
        Some("json") => ExportFormat::Json,
        Some("html" | "htm") => ExportFormat::Html,
        None if json => ExportFormat::Json,
        _ => ExportFormat::Md,
    }
}

/// Follows no link and overwrites nothing.
fn create(file: &Path, text: &str) -> Result<(), Say> {
    let shown = file.display().to_string();
    let opened = OpenOptions::new().write(true).create_new(true).open(file);
    match opened.and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
    {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(words::SESSION_EXISTS.with("file", shown))
        }
        Err(error) => {
            Err(words::SESSION_UNWRITTEN.with("file", shown).with("why", error.to_string()))
        }
    }
}

/// All of them, or none when one cannot be found.
fn delete(disk: &mut Disk, ids: &[String], desk: &Desk<'_>) -> Result<Answer, Say> {
    let known = ids.iter().map(|id| disk.find(id).map_err(said)).collect::<Result<Vec<_>, _>>()?;
    let mut told = Vec::new();
    for one in known {
        // The same one may be named twice.
        match disk.delete(desk.store, &one.id) {
            Err(StoreError::NoSession { .. }) => continue,
            done => done.map_err(said)?,
        }
        told.push(words::SESSION_DELETED.with("id", one.id).with("title", one.title));
    }
    Ok(Answer::Told(told))
}
