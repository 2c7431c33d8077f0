//! `avocet import`: finds the conversations and settings of another client, shows what would be
//! copied, asks, and saves them.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::mpsc::unbounded_channel;

use super::import_settings::{SettingsImport, when_wanted};
use super::startup::Startup;
use super::subcommands::print_rows;
use crate::cli::Exit;
use crate::cli::import::{
    ImportClient, ImportOptions, ImportedSession, LostParts, OpencodeMessage, add_lost, lost_rows,
};
use avocet_config::foreign_file::read_text;
use avocet_core::i18n::{Localize, LocalizedText, import as phrases};
use avocet_core::protocol::{Notice, PageRow};
use avocet_store::{
    Database, OpencodeDatabase, SessionHeader, SessionWriter, StoreError, record_at,
};

/// Larger files are not read.
const MAX_FILE: u64 = 256 << 20;

/// The most files that are looked at, and how deep folders are.
const MAX_FILES: usize = 20_000;
const MAX_DEPTH: usize = 6;

pub fn run(startup: &Startup, options: &ImportOptions, json: bool, yes: bool) -> Exit {
    let client = options.client;
    let mut source = ImportSource::new(startup, client);
    let mut sessions = source.sessions();
    let total = sessions.len();
    let name = client.name();
    let settings = match SettingsImport::find(startup, client) {
        Ok(settings) => settings,
        Err(error) => return startup.fail(&Notice::error(error.localized()), Exit::Failed),
    };
    let has_unread = source.unread > 0 || source.unread_database.is_some();
    if total == 0 && !has_unread && settings.is_empty() {
        let shown = source.folder.display().to_string();
        let say = phrases::NOTHING.with("client", name).with("folder", shown);
        return startup.fail(&Notice::info(say), Exit::Done);
    }
    match known_sessions(startup) {
        Ok(known) => sessions.retain(|session| !known.contains(&session.id)),
        Err(error) => return startup.fail(&Notice::error(error.localized()), Exit::Failed),
    }
    let mut rows = rows(&sessions, total - sessions.len());
    rows.extend(settings.rows());
    let mut left = left_out(&sessions, &source);
    left.extend(settings.left_out());
    if !left.is_empty() {
        rows.push(PageRow::heading(phrases::NOT_COPIED));
        rows.extend(left);
    }
    let shown = print_rows(startup, &rows, json);
    if options.dry_run || shown != Exit::Done {
        return shown;
    }
    if sessions.is_empty() && total > 0 {
        let say = phrases::NOTHING_NEW.with("client", name).with("count", total);
        startup.fail(&Notice::info(say), Exit::Done);
    }
    let count = sessions.len();
    let asked = (count > 0).then(|| phrases::ASK.with("count", count));
    let saved =
        asked.map(|ask| when_wanted(startup, ask, yes, || save(startup, &mut source, &sessions)));
    match saved.unwrap_or(Exit::Done) {
        Exit::Done => settings.write(startup, yes),
        other => other,
    }
}

/// What would be copied, and how many conversations were before.
fn rows(sessions: &[FoundSession], known: usize) -> Vec<PageRow> {
    let mut rows = Vec::new();
    if !sessions.is_empty() || known > 0 {
        rows.push(PageRow::heading(phrases::TO_COPY));
    }
    rows.extend(sessions.iter().map(|session| session.row.clone()));
    if known > 0 {
        rows.push(PageRow::pair(phrases::KNOWN, known.to_string()));
    }
    rows
}

fn left_out(sessions: &[FoundSession], source: &ImportSource) -> Vec<PageRow> {
    let mut lost = LostParts::default();
    for session in sessions {
        add_lost(&mut lost, &session.lost);
    }
    let mut rows = lost_rows(&lost);
    if source.unread > 0 {
        let say = phrases::LOST_FILES.with("count", source.unread).with("mib", MAX_FILE >> 20);
        rows.push(PageRow::line(say));
    }
    rows.extend(source.unread_database.clone().map(PageRow::line));
    rows
}

/// Where the client keeps its conversations.
fn folder_of(startup: &Startup, client: ImportClient) -> PathBuf {
    let home = startup.paths.home.clone();
    let moved =
        |variable: &str, usual: PathBuf| startup.environment.path(variable).unwrap_or(usual);
    match client {
        ImportClient::Claude => moved("CLAUDE_CONFIG_DIR", home.join(".claude")).join("projects"),
        ImportClient::Codex => moved("CODEX_HOME", home.join(".codex")).join("sessions"),
        ImportClient::Gemini => home.join(".gemini/tmp"),
        ImportClient::Opencode => {
            moved("XDG_DATA_HOME", home.join(".local/share")).join("opencode/storage")
        }
    }
}

/// Newer versions of opencode write a database beside the folder.
fn newer_store(client: ImportClient, folder: &Path) -> Option<PathBuf> {
    let file = folder.parent()?.join("opencode.db");
    // A pipe would be waited for.
    (client == ImportClient::Opencode && file.is_file()).then_some(file)
}

/// Where the conversations of a client are.
struct ImportSource {
    client: ImportClient,
    folder: PathBuf,
    /// The folder of conversations that name none.
    here: PathBuf,
    /// Files that are too large or cannot be read.
    unread: usize,
    database: Option<OpencodeDatabase>,
    /// Why it cannot be read, if it cannot.
    unread_database: Option<LocalizedText>,
}

/// Where one conversation is.
enum SessionPlace {
    File(PathBuf),
    /// Its id and its description in the database of opencode.
    Database([String; 2]),
}

/// A conversation, read for the list; its events are read again when it is saved, because all at
/// once may be too much.
struct FoundSession {
    /// Its id here.
    id: String,
    place: SessionPlace,
    began: i64,
    row: PageRow,
    lost: LostParts,
}

impl ImportSource {
    fn new(startup: &Startup, client: ImportClient) -> ImportSource {
        let folder = folder_of(startup, client);
        let here = startup.folder.clone();
        let mut source =
            ImportSource { client, folder, here, unread: 0, database: None, unread_database: None };
        if let Some(file) = newer_store(client, &source.folder) {
            match OpencodeDatabase::open(&file) {
                Ok(None) => source.unread_database = Some(phrases::DATABASE_UNKNOWN.into()),
                Ok(database) => source.database = database,
                Err(error) => source.lose_database(&error),
            }
        }
        source
    }

    fn lose_database(&mut self, error: &StoreError) {
        let say = phrases::DATABASE_UNREAD.with("why", error.localized());
        self.unread_database = Some(say);
    }

    /// All that have something to say, the oldest first.
    fn sessions(&mut self) -> Vec<FoundSession> {
        let mut sessions = Vec::new();
        for place in self.places() {
            let Some(session) = self.read(&place) else { continue };
            if !session.events.is_empty() {
                let id = self.client.session_id(&session.id);
                let row = session.row(&id);
                let began = session.times.first().copied().unwrap_or_default();
                sessions.push(FoundSession { id, place, began, row, lost: session.lost });
            }
        }
        sessions.sort_by_key(|session| session.began);
        let mut seen = HashSet::new();
        sessions.retain(|session| seen.insert(session.id.clone()));
        sessions
    }

    /// Those of the database first: files of the same conversations are older.
    fn places(&mut self) -> Vec<SessionPlace> {
        let root = match self.client {
            ImportClient::Opencode => self.folder.join("session"),
            _ => self.folder.clone(),
        };
        let rows = match self.database.as_ref().map(OpencodeDatabase::sessions) {
            Some(Ok(rows)) => rows,
            Some(Err(error)) => {
                self.lose_database(&error);
                Vec::new()
            }
            None => Vec::new(),
        };
        let files = files_below(&root).into_iter().filter(|path| self.is_session(path));
        let rows = rows.into_iter().map(SessionPlace::Database);
        rows.chain(files.map(SessionPlace::File)).collect()
    }

    fn is_session(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match self.client {
            ImportClient::Claude => {
                // Deeper ones are of subagents.
                let below = path.strip_prefix(&self.folder);
                name.ends_with(".jsonl") && below.is_ok_and(|path| path.components().count() == 2)
            }
            ImportClient::Codex => name.starts_with("rollout-") && name.ends_with(".jsonl"),
            ImportClient::Gemini => {
                let is_chat = path.parent().is_some_and(|parent| parent.ends_with("chats"));
                name.ends_with(".json") && is_chat
            }
            ImportClient::Opencode => name.ends_with(".json"),
        }
    }

    fn read(&mut self, place: &SessionPlace) -> Option<ImportedSession> {
        match place {
            SessionPlace::File(path) => self.read_file(path),
            SessionPlace::Database([id, about]) => match self.database.as_ref()?.messages(id) {
                Ok(messages) => {
                    let messages = messages.into_iter().map(OpencodeMessage::of_texts);
                    let messages: Vec<_> = messages.collect();
                    Some(ImportedSession::of_opencode(about.as_bytes(), &messages))
                }
                Err(error) => {
                    self.lose_database(&error);
                    None
                }
            },
        }
    }

    fn read_file(&mut self, path: &Path) -> Option<ImportedSession> {
        let bytes = self.bytes(path)?;
        let mut session = match self.client {
            ImportClient::Opencode => {
                let messages = self.messages(path.file_stem().unwrap_or_default().as_ref());
                ImportedSession::of_opencode(&bytes, &messages)
            }
            client => client.read(&bytes),
        };
        if session.id.is_empty() {
            session.id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        }
        if session.folder.is_empty() {
            let folder = gemini_folder(path).unwrap_or_else(|| self.here.clone());
            session.folder = folder.display().to_string();
        }
        Some(session)
    }

    /// The messages of a session of opencode.
    fn messages(&mut self, session: &Path) -> Vec<OpencodeMessage> {
        let mut messages = Vec::new();
        let mut left = MAX_FILE as usize;
        for path in files_below(&self.folder.join("message").join(session)) {
            let Some(message) = self.bytes(&path) else { continue };
            let parts = self.folder.join("part").join(path.file_stem().unwrap_or_default());
            let mut files = files_below(&parts).into_iter();
            let mut parts = Vec::new();
            left = left.saturating_sub(message.len());
            while let Some(part) = files.next().filter(|_| left > 0) {
                parts.extend(self.bytes(&part));
                left = left.saturating_sub(parts.last().map_or(0, Vec::len));
            }
            messages.push(OpencodeMessage { message, parts });
            if left == 0 {
                self.unread += 1;
                break;
            }
        }
        messages
    }

    fn bytes(&mut self, path: &Path) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let read =
            File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes));
        if read.is_err() || bytes.len() as u64 > MAX_FILE {
            self.unread += 1;
            return None;
        }
        Some(bytes)
    }
}

/// The longest name of a folder, in bytes.
const MAX_ROOT: u64 = 4096;

/// The folder of a chat of Gemini CLI, where it says which.
fn gemini_folder(chat: &Path) -> Option<PathBuf> {
    let root = chat.parent()?.parent()?.join(".project_root");
    let text = read_text(&root, MAX_ROOT).ok()??;
    Some(PathBuf::from(text.trim())).filter(|folder| folder.is_absolute())
}

/// The files below a folder, in the order of their names; links are not followed.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < MAX_DEPTH => {
                    open.push((entry.path(), depth + 1))
                }
                Ok(kind) if kind.is_file() && files.len() < MAX_FILES => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

fn known_sessions(startup: &Startup) -> Result<HashSet<String>, StoreError> {
    let store = &startup.shared.store;
    if store.file().is_none_or(|file| !file.exists()) {
        return Ok(HashSet::new());
    }
    let (database, _) = Database::open(store)?;
    let count = database.count(None)?;
    let listed = database.list(None, count)?;
    Ok(listed.into_iter().map(|session| session.id).collect())
}

fn save(startup: &Startup, source: &mut ImportSource, sessions: &[FoundSession]) -> Exit {
    let mut saved = 0;
    let now = Timestamp::now().as_millisecond();
    for FoundSession { id, place, .. } in sessions {
        let Some(session) = source.read(place) else { continue };
        let folder = Path::new(&session.folder);
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let header = SessionHeader {
            id: id.clone(),
            folder: folder.display().to_string(),
            bot: None,
            title: session.title,
        };
        let (errors, _received) = unbounded_channel();
        let redactor = Arc::new(startup.redactor(true));
        let store = startup.shared.store.clone();
        let mut writer = SessionWriter::new(store, header, redactor, errors);
        for (event, at) in session.events.into_iter().zip(session.times) {
            record_at(&mut writer, event, if (1..now).contains(&at) { at } else { now });
        }
        writer.close();
        let store = &startup.shared.store;
        let placed = Database::open(store).and_then(|(mut database, _)| database.place_by_time(id));
        let failed = placed.err().map(|error| error.localized());
        if let Some(why) = writer.unsaved_reason().or(failed) {
            let say = phrases::UNSAVED.with("id", id.as_str()).with("why", why);
            return startup.fail(&Notice::error(say), Exit::Failed);
        }
        saved += 1;
    }
    startup.fail(&Notice::info(phrases::DONE.with("count", saved)), Exit::Done)
}
