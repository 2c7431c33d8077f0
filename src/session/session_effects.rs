//! What a part of a session answers to an op: what the rest of the session does about it.

use super::state::Session;
use avocet_core::protocol::{Event, Notice};

pub type Effects = Vec<SessionEffect>;

/// What follows from an op, beside what the part of the session changed of its own.
#[derive(Debug)]
pub enum SessionEffect {
    /// The session info changed.
    InfoChanged,
    /// What MCP servers offer the user has changed.
    OffersChanged,
    /// The tools that later turns have may be others.
    ToolsChanged,
    /// Files may have changed.
    FilesChanged,
    /// Folders were added.
    FoldersChanged,
    /// Something else may be asked that belongs to no turn.
    QuestionWaits,
    /// Saved, and not shown.
    Record(Box<Event>),
    /// Shown.
    Event(Box<Event>),
}

impl SessionEffect {
    pub fn record(event: Event) -> SessionEffect {
        SessionEffect::Record(Box::new(event))
    }
}

impl From<Event> for SessionEffect {
    fn from(event: Event) -> SessionEffect {
        SessionEffect::Event(Box::new(event))
    }
}

impl From<Notice> for SessionEffect {
    fn from(notice: Notice) -> SessionEffect {
        Event::Notice(notice).into()
    }
}

impl Session {
    /// Carries them out, one after the other.
    pub(super) async fn follow(
        &mut self,
        effects: impl IntoIterator<Item = impl Into<SessionEffect>>,
    ) {
        for effect in effects {
            match effect.into() {
                SessionEffect::InfoChanged => self.send_info().await,
                // Before the first read of the extensions it goes with that.
                SessionEffect::OffersChanged if self.extensions.scan_number > 0 => {
                    let all = Box::new(self.extensions.all(&self.servers.offers));
                    self.outbox.send(Event::Catalogue(all)).await;
                }
                SessionEffect::OffersChanged => {}
                SessionEffect::ToolsChanged => {
                    let tools = self.toolbox().tool_infos();
                    if tools != self.info.tools {
                        self.info.tools = tools;
                        self.send_info().await;
                    }
                }
                SessionEffect::FilesChanged => {
                    let Session { security, tools, info, turn_messages, .. } = self;
                    self.changed_files.count(security.context(), tools, info, turn_messages).await;
                }
                SessionEffect::FoldersChanged => self.servers.set_folders(&self.security.place),
                SessionEffect::QuestionWaits => self.ask_for_server().await,
                SessionEffect::Record(event) => self.store.recorder().append(&event).await,
                SessionEffect::Event(event) => self.outbox.send(*event).await,
            }
        }
    }
}
