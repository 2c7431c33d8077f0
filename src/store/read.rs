//! Reads from the database. Nothing here changes the file.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use super::write::to_sql_integer;
use super::{
    Database, EventPage, Listed, Remembered, SessionHit, StoreError, StoredEvent, event_row,
};
use avocet_core::protocol::{ApprovalMode, Event, Goal, Money, Usage};

/// The number of characters of a preview, and of the text around a hit.
const PREVIEW: usize = 120;
/// The number of characters shown before a hit.
const BEFORE: usize = 24;
/// The size of a part in bytes, and how much more of a turn is read so that the part begins with
/// the turn.
const PIECE: i64 = 8 << 20;
const TURN: i64 = 16 << 20;
/// The trigram index finds nothing shorter, in characters.
const INDEXED: usize = 3;

/// The data of a session, apart from its events.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRecord {
    pub key: i64,
    pub id: String,
    pub folder: String,
    pub title: String,
    pub updated: i64,
    /// The next numbers to use.
    pub next_step: u64,
    pub next_ask: u64,
    pub turn: u64,
    pub steps: u64,
    pub usage: Usage,
}

/// What the user set for a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionChoices {
    /// The folders that were added to it, each once, in order.
    pub folders: Vec<String>,
    /// The mode that was set last.
    pub approval: Option<ApprovalMode>,
    pub goal: Option<Box<Goal>>,
}

impl Database {
    /// The latest sessions first; only those of one folder, if given.
    pub fn list(&self, folder: Option<&str>, most: usize) -> Result<Vec<Listed>, StoreError> {
        let mut found = self.db.prepare_cached(
            "SELECT id, folder, title, created, updated,
                 (SELECT count(DISTINCT turn) FROM events
                  WHERE session = key AND turn IS NOT NULL AND undone IS NULL),
                 parent, key, model
             FROM sessions WHERE ?1 IS NULL OR folder = ?1 ORDER BY touched DESC LIMIT ?2",
        )?;
        let rows = found.query_map(params![folder, to_sql_integer(most as u64)], |row| {
            Ok(Listed {
                id: row.get(0)?,
                folder: row.get(1)?,
                title: row.get(2)?,
                created: row.get(3)?,
                updated: row.get(4)?,
                turns: column_u64(row, 5)?,
                parent: row.get(6)?,
                preview: event_row::first_line(&last_message(&self.db, row.get(7)?)?, PREVIEW),
                model: row.get(8)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The session with this id, or with an id that begins like this.
    pub fn find(&self, id: &str) -> Result<SessionRecord, StoreError> {
        let id = id.trim().to_lowercase();
        let none = || StoreError::NoSession { id: id.clone() };
        if id.is_empty() || !id.chars().all(|c| c.is_ascii_alphanumeric()) {
            return Err(none());
        }
        let mut found = self.db.prepare_cached(
            "SELECT key, id = ?1 FROM sessions WHERE substr(id, 1, length(?1)) = ?1
             ORDER BY id = ?1 DESC LIMIT 2",
        )?;
        let keys: Vec<(i64, bool)> = found
            .query_map([&id], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        match keys.as_slice() {
            [] => Err(none()),
            [(key, _)] | [(key, true), _] => self.session_record(*key),
            _ => Err(StoreError::Several { id }),
        }
    }

    /// The session that was last used in a folder.
    pub fn last_in_folder(&self, folder: &str) -> Result<Option<SessionRecord>, StoreError> {
        let key: Option<i64> = self
            .db
            .query_row(
                "SELECT key FROM sessions WHERE folder = ?1 ORDER BY touched DESC LIMIT 1",
                [folder],
                |row| row.get(0),
            )
            .optional()?;
        key.map(|key| self.session_record(key)).transpose()
    }

    pub fn session_record(&self, key: i64) -> Result<SessionRecord, StoreError> {
        let known = self.db.query_row(
            "SELECT key, id, folder, title, updated, next_step, next_ask, steps, input, output,
                 estimated,
                 (SELECT coalesce(max(turn), 0) FROM events
                  WHERE session = key AND turn IS NOT NULL AND undone IS NULL),
                 cached, written, reasoning, cost
             FROM sessions WHERE key = ?1",
            [key],
            |row| {
                Ok(SessionRecord {
                    key: row.get(0)?,
                    id: row.get(1)?,
                    folder: row.get(2)?,
                    title: row.get(3)?,
                    updated: row.get(4)?,
                    next_step: column_u64(row, 5)?.max(1),
                    next_ask: column_u64(row, 6)?.max(1),
                    steps: column_u64(row, 7)?,
                    usage: Usage {
                        input_tokens: column_u64(row, 8)?,
                        output_tokens: column_u64(row, 9)?,
                        estimated: row.get(10)?,
                        cached_tokens: column_u64(row, 12)?,
                        cache_write_tokens: column_u64(row, 13)?,
                        reasoning_tokens: column_u64(row, 14)?,
                        cost: Money(column_u64(row, 15)?),
                    },
                    turn: column_u64(row, 11)?,
                })
            },
        )?;
        Ok(known)
    }

    /// About `most` events before `before`, or the last ones, from the start of a turn; fewer if
    /// they are long.
    pub fn event_page(
        &self,
        key: i64,
        before: Option<i64>,
        most: usize,
    ) -> Result<EventPage, StoreError> {
        let before = before.unwrap_or(i64::MAX);
        // Never half a turn, unless it is a very long one: the first event of a block must be
        // included.
        let from: i64 = match page_start(&self.db, key, before, most)? {
            None => 0,
            Some(edge) => {
                let start: Option<i64> = self
                    .db
                    .prepare_cached(
                        "SELECT id FROM events
                         WHERE session = ?1 AND id <= ?2 AND turn IS NOT NULL AND undone IS NULL
                         ORDER BY id DESC LIMIT 1",
                    )?
                    .query_row(params![key, edge], |row| row.get(0))
                    .optional()?;
                let start = start.unwrap_or(0);
                if events_size(&self.db, key, start, edge)? > TURN { edge } else { start }
            }
        };
        let mut piece = self.events(key, from, before)?;
        piece.more = from > 0
            && self
                .db
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM events
                     WHERE session = ?1 AND id < ?2 AND undone IS NULL)",
                )?
                .query_row(params![key, from], |row| row.get(0))?;
        Ok(piece)
    }

    /// Reads all events of a session after one of them, one by one; returns how many could not be
    /// read.
    pub fn for_each_event<E>(
        &self,
        key: i64,
        after: i64,
        mut take: impl FnMut(i64, Event) -> Result<(), E>,
    ) -> Result<Result<usize, E>, StoreError> {
        let mut read = self.db.prepare_cached(
            "SELECT id, at, body FROM events
             WHERE session = ?1 AND id > ?2 AND undone IS NULL ORDER BY id",
        )?;
        let mut found = read.query([key, after])?;
        let mut unreadable = 0;
        while let Some(row) = found.next()? {
            let mut page = EventPage::default();
            self::push_row(row, &mut page)?;
            unreadable += page.unreadable;
            for kept in page.events {
                if let Err(error) = take(kept.seq, kept.event) {
                    return Ok(Err(error));
                }
            }
        }
        Ok(Ok(unreadable))
    }

    /// The number of sessions; only of one folder, if given.
    pub fn count(&self, folder: Option<&str>) -> Result<usize, StoreError> {
        let mut read = self
            .db
            .prepare_cached("SELECT count(*) FROM sessions WHERE ?1 IS NULL OR folder = ?1")?;
        Ok(read.query_row([folder], |row| column_u64(row, 0))?.try_into().unwrap_or(usize::MAX))
    }

    /// All events from one up to another.
    pub fn events(&self, key: i64, from: i64, before: i64) -> Result<EventPage, StoreError> {
        self.events_limited(key, from, before, usize::MAX)
    }

    /// The first of those events, up to a size in bytes.
    fn events_limited(
        &self,
        key: i64,
        from: i64,
        before: i64,
        most: usize,
    ) -> Result<EventPage, StoreError> {
        let mut read = self.db.prepare_cached(
            "SELECT id, at, body FROM events
             WHERE session = ?1 AND id >= ?2 AND id < ?3 AND undone IS NULL ORDER BY id",
        )?;
        let mut found = read.query(params![key, from, before])?;
        let mut piece = EventPage::default();
        let mut size = 0;

        while size < most
            && let Some(row) = found.next()?
        {
            size += push_row(row, &mut piece)?;
        }
        piece.bytes = size;
        Ok(piece)
    }

    /// The events of the turn of this number.
    pub fn turn(&self, key: i64, turn: u64) -> Result<EventPage, StoreError> {
        self.turn_limited(key, turn, usize::MAX)
    }

    /// Its first events, up to a size in bytes.
    pub fn turn_limited(&self, key: i64, turn: u64, most: usize) -> Result<EventPage, StoreError> {
        let start = |number: &str| {
            self.db
                .prepare_cached(&format!(
                    "SELECT min(id) FROM events WHERE session = ?1 AND turn {number} ?2
                     AND undone IS NULL"
                ))?
                .query_row(params![key, to_sql_integer(turn)], |row| row.get::<_, Option<i64>>(0))
        };
        match start("=")? {
            None => Ok(EventPage::default()),
            Some(from) => self.events_limited(key, from, start(">")?.unwrap_or(i64::MAX), most),
        }
    }

    /// The result of the step with this id, the last one if several have it.
    pub fn step(&self, key: i64, id: &str) -> Result<EventPage, StoreError> {
        // Steps have no index of their own: this checks each one while the user waits.
        let mut read = self.db.prepare_cached(
            "SELECT id, at, body FROM events
             WHERE session = ?1 AND kind = 'seen' AND undone IS NULL
                 AND instr(substr(body, 1, 512), ?2) > 0
             ORDER BY id DESC",
        )?;
        let named = format!("\"id\":{}", serde_json::Value::from(id));
        let mut found = read.query(params![key, named])?;
        while let Some(row) = found.next()? {
            let mut page = EventPage::default();
            push_row(row, &mut page)?;
            // The id may appear elsewhere in it.
            let is_it = |event: &StoredEvent| matches!(&event.event, Event::StepFinished(seen) if seen.step.id == id);
            if page.events.iter().any(is_it) {
                return Ok(page);
            }
        }
        Ok(EventPage::default())
    }

    /// What was set for a session.
    pub fn choices(&self, key: i64) -> Result<SessionChoices, StoreError> {
        let mut read = self.db.prepare_cached(
            "SELECT id, at, body FROM events WHERE session = ?1 AND kind = 'folder' ORDER BY id",
        )?;
        let mut found = read.query([key])?;
        let mut piece = EventPage::default();
        let mut choices = SessionChoices::default();

        while let Some(row) = found.next()? {
            push_row(row, &mut piece)?;
        }
        for kept in piece.events {
            match kept.event {
                Event::FolderAdded { path } if !choices.folders.contains(&path) => {
                    choices.folders.push(path);
                }
                Event::ApprovalModeSet { mode } => choices.approval = Some(mode),
                Event::GoalSet { goal } => choices.goal = goal,
                _ => {}
            }
        }
        Ok(choices)
    }

    /// The first and the last turn, and the first and the last finished step.
    pub fn first_and_last(&self, key: i64) -> Result<EventPage, StoreError> {
        let mut page = EventPage::default();
        for (kind, order) in [("turn", "ASC"), ("turn", "DESC"), ("seen", "ASC"), ("seen", "DESC")]
        {
            let mut read = self.db.prepare_cached(&format!(
                "SELECT id, at, body FROM events
                 WHERE session = ?1 AND kind = ?2 AND undone IS NULL ORDER BY id {order} LIMIT 1"
            ))?;
            let mut found = read.query(params![key, kind])?;
            if let Some(row) = found.next()? {
                push_row(row, &mut page)?;
            }
        }
        Ok(page)
    }

    /// The history for the model, oldest first, up to a size in bytes. It begins at the last saved
    /// whole history, or with the first turn that a summary there does not replace.
    pub fn history(&self, key: i64, most: usize) -> Result<Vec<Remembered>, StoreError> {
        let mut read = self.db.prepare_cached(
            "SELECT turn, whole, body FROM history WHERE session = ?1 AND undone IS NULL
             ORDER BY turn DESC, whole DESC, id DESC",
        )?;
        let mut rows = read.query([key])?;
        let mut found = Vec::new();
        let mut size = 0;

        // Set once the whole history was found: the first turn that belongs to it.
        let mut since = None;
        while let Some(row) = rows.next()? {
            let (turn, whole): (u64, bool) = (column_u64(row, 0)?, row.get(1)?);
            match since {
                Some(since) if turn < since => break,
                Some(_) if whole => continue,
                Some(_) | None => {}
            }
            let body: Option<String> = row.get(2)?;
            size += body.as_deref().map_or(0, history_weight);
            match (whole, body) {
                (true, Some(history)) => {
                    since = read_since(&history);
                    found.push(Remembered::Whole { turn, history });
                    if since.is_none() {
                        break;
                    }
                }
                (_, left) => found.push(Remembered::Turn { turn, left }),
            }
            if size > most {
                break;
            }
        }
        found.reverse();
        Ok(found)
    }

    /// Sessions that contain all of these words, the latest first. The index only says where to
    /// look: it has no words of one or two characters, and of longer ones only their trigrams.
    pub fn search(&self, words: &str, most: usize) -> Result<Vec<SessionHit>, StoreError> {
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        let Some(first) = words.first() else { return Ok(Vec::new()) };
        let long = || words.iter().filter(|word| word.chars().count() >= INDEXED);
        let mut values: Vec<Value> = Vec::new();
        let mut wanted =
            String::from("undone IS NULL AND kind IN ('turn', 'whole', 'seen', 'other')");
        if long().next().is_some() {
            wanted += " AND events.id IN (SELECT rowid FROM words WHERE words MATCH ?
                 UNION SELECT rowid FROM found WHERE found MATCH ?)";
            let joined = |parts: Vec<String>| Value::from(parts.join(" "));
            values.push(joined(long().flat_map(|word| trigrams(word)).collect()));
            values.push(joined(long().map(|word| quoted(word)).collect()));
        }
        let mut read = self.db.prepare(&format!(
            "SELECT sessions.id, title, folder, events.at, body FROM events
             JOIN sessions ON sessions.key = events.session
             WHERE {wanted} ORDER BY events.id DESC"
        ))?;
        let mut rows = read.query(params_from_iter(values))?;
        let mut hits = Vec::new();
        while hits.len() < most
            && let Some(row) = rows.next()?
        {
            let text =
                row.get_ref(4)?.as_str().map(event_row::searchable_text_in).unwrap_or_default();
            let lower = text.to_lowercase();
            if !words.iter().all(|word| lower.contains(word)) {
                continue;
            }
            hits.push(SessionHit {
                id: row.get(0)?,
                title: row.get(1)?,
                folder: row.get(2)?,
                at: row.get(3)?,
                around: snippet(&text, first),
            });
        }
        Ok(hits)
    }
}

/// The last message of a session, not yet shortened.
fn last_message(connection: &Connection, key: i64) -> rusqlite::Result<String> {
    let mut read = connection.prepare_cached(
        "SELECT body FROM events WHERE session = ?1 AND kind IN ('turn', 'whole', 'seen', 'other')
         ORDER BY id DESC",
    )?;
    let mut rows = read.query([key])?;
    while let Some(row) = rows.next()? {
        let said = row.get_ref(0)?.as_str().map(event_row::searchable_text_in).unwrap_or_default();
        if !said.is_empty() {
            return Ok(said);
        }
    }
    Ok(String::new())
}

/// The first of the last events before `before`, limited by count and by bytes; `None` if there
/// are no more than those.
fn page_start(
    connection: &Connection,
    key: i64,
    before: i64,
    most: usize,
) -> Result<Option<i64>, StoreError> {
    let mut read = connection.prepare_cached(
        "SELECT id, octet_length(body) FROM events
         WHERE session = ?1 AND id < ?2 AND undone IS NULL ORDER BY id DESC",
    )?;
    let mut rows = read.query(params![key, before])?;
    let mut left = most.max(1);
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        left -= 1;
        bytes += row.get::<_, i64>(1)?;
        if left == 0 || bytes > PIECE {
            return Ok(Some(row.get(0)?));
        }
    }
    Ok(None)
}

/// The size in bytes of the events from one up to another.
fn events_size(
    connection: &Connection,
    key: i64,
    from: i64,
    before: i64,
) -> Result<i64, StoreError> {
    let mut read = connection.prepare_cached(
        "SELECT coalesce(sum(octet_length(body)), 0) FROM events
         WHERE session = ?1 AND id >= ?2 AND id < ?3 AND undone IS NULL",
    )?;
    Ok(read.query_row(params![key, from, before], |row| row.get(0))?)
}

/// All trigrams of a word, quoted for the index.
fn trigrams(word: &str) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    chars.windows(INDEXED).map(|three| quoted(&three.iter().collect::<String>())).collect()
}

fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('"', "\"\""))
}

/// The size of a turn for what a session resumes with. Images are large, and few: they count less.
fn history_weight(body: &str) -> usize {
    if body.contains("\"mime\":\"image/") { body.len() / 16 } else { body.len() }
}

/// The first turn that is saved apart from the whole history; `None`: that includes its turns.
fn read_since(history: &str) -> Option<u64> {
    #[derive(serde::Deserialize)]
    struct Outline {
        since: u64,
    }
    serde_json::from_str(history).ok().map(|outline: Outline| outline.since)
}

/// Adds a row of number, time and body to a part; returns its size.
fn push_row(row: &Row<'_>, page: &mut EventPage) -> Result<usize, StoreError> {
    let seq = row.get(0)?;
    let at = row.get(1)?;

    let text = row.get_ref(2)?.as_str().ok();
    match text.and_then(|text| Event::from_json(text).ok()) {
        Some(event) => page.events.push(StoredEvent { seq, at, event }),
        None => page.unreadable += 1,
    }
    Ok(text.map_or(0, str::len))
}

fn column_u64(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(at)?).unwrap_or(0))
}

/// The line that first contains a word, from shortly before it.
fn snippet(text: &str, word: &str) -> String {
    let lower = |text: &str| text.to_ascii_lowercase();
    let wanted = lower(word);
    let line = text.lines().find(|line| lower(line).contains(&wanted)).unwrap_or(text);
    let at = lower(line).find(&wanted).unwrap_or(0);
    let before = line.get(..at).unwrap_or_default().chars().count().saturating_sub(BEFORE);
    let cut: String = line.chars().skip(before).collect();
    let shown = event_row::first_line(&cut, PREVIEW);
    if before > 0 { format!("…{shown}") } else { shown }
}
