//! The menu that a service shows, kept in step with the files of the user's commands.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc::Receiver;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::menu::MenuRows;
use super::platform::{Platform, PlatformError};

/// Tries to register a menu, before it is left as it is.
const TRIES: usize = 12;

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LAST_PAUSE: Duration = Duration::from_secs(60);

/// The longest pause that the service may ask for.
const MAX_PAUSE: Duration = Duration::from_secs(3600);

/// A menu, as it is or will be registered.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownMenu {
    pub rows: MenuRows,
    /// The commands that there are by now: a manifest that was pasted does not change with them.
    pub known: MenuRows,
    /// The bodies of the calls that register it.
    pub calls: Vec<Value>,
}

/// Reads the files of the user's commands, which may take a while.
pub type ReadMenu = Arc<dyn Fn() -> ShownMenu + Send + Sync>;

/// The menu of a service.
#[derive(Clone)]
pub struct ServiceMenu {
    /// What the service shows.
    pub shown: watch::Sender<ShownMenu>,
    pub read: ReadMenu,
}

/// Registers the menu, and again when a chat says that the files may have changed and they have.
pub async fn keep(platform: Arc<dyn Platform>, menu: ServiceMenu, mut changed: Receiver<()>) {
    let first = menu.shown.borrow().calls.clone();
    // A service without a menu works: commands can be typed.
    register(&*platform, &first).await;
    while changed.recv().await.is_some() {
        let read = Arc::clone(&menu.read);
        let Ok(found) = spawn_blocking(move || read()).await else { continue };
        let is_new = |shown: &ShownMenu| (found != *shown, found.calls != shown.calls);
        let (has_changed, is_unregistered) = is_new(&menu.shown.borrow());
        if !has_changed {
            continue;
        }
        if found.calls.is_empty() {
            menu.shown.send_modify(|shown| shown.known = found.known);
        } else if !is_unregistered || register(&*platform, &found.calls).await {
            menu.shown.send_replace(found);
        }
    }
}

/// Whether the service has taken it.
async fn register(platform: &dyn Platform, calls: &[Value]) -> bool {
    let mut pause = FIRST_PAUSE;
    for _ in 0..TRIES {
        let Err(error) = platform.set_menu(calls).await else { return true };
        tracing::warn!(%error, "the menu was not registered");
        let after = match &error {
            PlatformError::RateLimited { after } => (*after).min(MAX_PAUSE),
            PlatformError::Network(_) => pause,
            _ => return false,
        };
        sleep(after).await;
        pause = (pause * 2).min(LAST_PAUSE);
    }
    false
}
