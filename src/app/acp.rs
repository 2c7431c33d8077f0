//! `avocet acp` and `avocet serve`: the sessions of an editor or a program, each in the folder that
//! it names.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::gateway_service::GivenOptions;
use super::rescue;
use super::runtime::runtime;
use super::session_builder;
use super::startup::Startup;
use super::step_runner::SessionPurpose;
use crate::cli::{Exit, output};
use avocet_acp::op_server::serve_ops;
use avocet_acp::serve::serve;
use avocet_acp::services::{EditorRequest, EditorServices};
use avocet_core::i18n::{Localize as _, LocalizedText, cli as phrases};
use avocet_core::signals;
use avocet_session::SessionConfig;
use avocet_session::persistence::{Replay, ResumeTarget};
use avocet_store::{Database, Listed, StoreError};

/// What is spoken with the other program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedProtocol {
    /// The Agent Client Protocol.
    Acp,
    /// Ops and events.
    Ops,
}

pub fn run(startup: Startup, options: GivenOptions, protocol: ServedProtocol) -> Exit {
    startup.report_problems();
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return startup.fail_io(&error),
    };
    let startup = Arc::new(startup);
    let served = runtime.block_on(async {
        let mut signals = signals::listen_ending();
        let leaving = startup.shared.leaving.clone();
        let services = services(&startup, options);
        let served = async {
            match protocol {
                ServedProtocol::Acp => serve(io::stdin(), output::stdout(), services).await,
                ServedProtocol::Ops => serve_ops(io::stdin(), output::stdout(), services).await,
            }
        };
        tokio::pin!(served);
        tokio::select! {
            rescues = &mut served => (rescues, Exit::Done),
            Some(number) = signals.recv() => {
                leaving.cancel();
                (served.await, Exit::by_signal(number))
            }
        }
    });
    runtime.shutdown_background();
    match served {
        (Ok(rescues), exit) if rescues.is_empty() => exit,
        (Ok(rescues), _) => {
            rescues.iter().for_each(|rescue| rescue::write(&startup, rescue));
            Exit::Failed
        }
        (Err(error), _) => startup.fail_io(&error),
    }
}

fn services(startup: &Arc<Startup>, options: GivenOptions) -> EditorServices {
    let opener = Arc::clone(startup);
    let lister = Arc::clone(startup);
    let deleter = Arc::clone(startup);
    let reporter = Arc::clone(startup);
    EditorServices {
        open: Arc::new(move |request| open_session(&opener, &options, &request)),
        list: Arc::new(move |folder, most| {
            list_saved(&lister, folder, most).map_err(|error| error.localized())
        }),
        delete: Arc::new(move |id| delete_saved(&deleter, id).map_err(|error| error.localized())),
        report: Arc::new(move |notice| {
            reporter.fail(notice, Exit::Done);
        }),
        lang: startup.lang(),
        leaving: startup.shared.leaving.clone(),
    }
}

fn open_session(
    startup: &Startup,
    options: &GivenOptions,
    request: &EditorRequest,
) -> Result<SessionConfig, LocalizedText> {
    let folder = request.folder.canonicalize().ok().filter(|folder| folder.is_dir());
    let folder = folder
        .ok_or_else(|| phrases::NO_FOLDER.with("folder", request.folder.display().to_string()))?;
    let own = if folder == startup.folder {
        startup.for_session()
    } else {
        startup.in_folder(folder, startup.trust.trusted_folder.as_deref(), options)
    };
    if own.loaded.settings.connection.is_none() {
        return Err(phrases::NO_MODEL.into());
    }
    if let Some(id) = &request.resume {
        check_saved(&own, id).map_err(|error| error.localized())?;
    }
    let offers = request.offers.clone();
    let built = session_builder::build_with(&own, None, SessionPurpose::Editor, offers);
    let mut config = built.map_err(|failure| failure.notice.say.clone())?;
    config.persistence.resume = request.resume.clone().map(ResumeTarget::Id);
    if !request.replays {
        config.persistence.replay = Replay::Nothing;
    }
    Ok(config)
}

/// Whether a session is there and not open elsewhere: no user would see a failure later.
fn check_saved(startup: &Startup, id: &str) -> Result<(), StoreError> {
    let known = Database::open(&startup.shared.store)?.0.find(id)?;
    match startup.shared.store.lock(&known.id).map_err(StoreError::from)? {
        Some(_) if known.id == id => Ok(()),
        Some(_) => Err(StoreError::NoSession { id: id.to_owned() }),
        None => Err(StoreError::Held { id: known.id }),
    }
}

fn list_saved(
    startup: &Startup,
    folder: Option<&Path>,
    most: usize,
) -> Result<Vec<Listed>, StoreError> {
    if !startup.shared.store.is_persistent() {
        return Ok(Vec::new());
    }
    let folder = folder.map(|folder| {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        real.display().to_string()
    });
    Database::open(&startup.shared.store)?.0.list(folder.as_deref(), most)
}

fn delete_saved(startup: &Startup, id: &str) -> Result<(), StoreError> {
    check_saved(startup, id)?;
    Database::open(&startup.shared.store)?.0.delete(&startup.shared.store, id)
}
