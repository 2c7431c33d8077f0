//! `avocet login` and `avocet logout`: checks a key with its server, saves it, and remembers a
//! model of that server in a profile.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::path::Path;

use super::startup::Startup;
use super::{key_source, runtime};
use crate::cli::args::LoginOptions;
use crate::cli::login::{self, LoginTarget, ModelAnswer};
use crate::cli::{Exit, output};
use avocet_config::key_store::{KeyPlace, KeyStore};
use avocet_config::{Secret, bedrock_url, edit};
use avocet_core::i18n::{Localize, LocalizedText, keys as phrases};
use avocet_core::protocol::Notice;
use avocet_core::terminal_modes;
use avocet_model::{Endpoint, ModelError, default_chat_model, display_address, list_models};

/// How many models are listed to choose from.
const SHOWN: usize = 30;

/// The longest key that is read from standard input.
const MAX_KEY: u64 = 64 * 1024;

/// A key to log in with.
pub enum GivenKey {
    Typed(Secret),
    /// The key stays where other programs have it.
    OfVariable(&'static str),
    /// None is needed, or it is saved already.
    None,
}

type LoginError = (Notice, Exit);

pub fn login(startup: &Startup, options: &LoginOptions) -> Exit {
    match try_login(startup, options) {
        Ok(said) => {
            said.into_iter().for_each(|say| {
                startup.fail(&Notice::info(say), Exit::Done);
            });
            Exit::Done
        }
        Err(failed) => startup.fail(&failed.0, failed.1),
    }
}

fn try_login(
    startup: &Startup,
    options: &LoginOptions,
) -> Result<Vec<LocalizedText>, Box<LoginError>> {
    let settings = &startup.loaded.settings;
    let target = choose_provider(startup, options)?;
    let target = target.in_region(|| bedrock_url(&startup.environment));
    // Before the key is typed, and before anything is sent.
    if let Some(why) = key_source::refusal(&target.base_url, &settings.models.plain_http_hosts) {
        return Err(wrong(why));
    }
    let (given, key) = read_key(startup, &target, options.key_stdin)?;
    let key_name = match &given {
        GivenKey::OfVariable(name) => *name,
        GivenKey::Typed(_) | GivenKey::None => target.name.as_str(),
    };
    let models = offered_models(&target, &key, key_name)?;
    let model = choose_model(startup, &target, &models)?;
    let places = (startup.paths.settings(), key_source::key_store(startup));
    remember(&target, &given, &model, startup.named_profile(), (&places.0, &places.1))
        .map_err(|why| failed(why, Exit::Failed))
}

/// The provider that was named, or is chosen from the list in a terminal.
fn choose_provider(
    startup: &Startup,
    options: &LoginOptions,
) -> Result<LoginTarget, Box<LoginError>> {
    if let Some(name) = &options.provider {
        return login::target(name).map_err(wrong);
    }
    if options.key_stdin || !io::stdin().is_terminal() {
        return Err(wrong(phrases::NAME_PROVIDER.with("known", login::provider_ids().join(", "))));
    }
    let known = login::providers();
    let names = known.iter().map(|hosted| hosted.label(startup.lang()).to_owned());
    show_names(&names.collect::<Vec<_>>());
    loop {
        prompt(startup, &phrases::ASK_PROVIDER.into());
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line).map_err(unread)?;
        let line = line.trim();
        if read == 0 || line.is_empty() {
            return Err(failed(phrases::NOT_SAVED.into(), Exit::Failed));
        }
        let at = line.parse::<usize>().ok().and_then(|number| known.get(number.checked_sub(1)?));
        match login::target(at.map_or(line, |hosted| hosted.id)) {
            Ok(target) => return Ok(target),
            Err(why) => {
                prompt(startup, &why);
                let _ = writeln!(output::stderr());
            }
        }
    }
}

/// Saves the key, and the server with its model in a profile, which is the one that starts from
/// now on. Says what was done.
pub fn remember(
    target: &LoginTarget,
    given: &GivenKey,
    model: &str,
    profile: Option<&str>,
    (settings, store): (&Path, &KeyStore),
) -> Result<Vec<LocalizedText>, LocalizedText> {
    let mut said = Vec::new();
    let name = target.name.as_str();
    let profile = profile.unwrap_or(&target.profile);
    let set =
        |key: &str, value: &str| edit::set(settings, key, value).map_err(|error| error.localized());
    match given {
        GivenKey::Typed(key) => {
            let saved = store.save(&target.server, key);
            said.push(match saved.map_err(|error| error.localized())? {
                KeyPlace::Keyring => phrases::SAVED_KEYRING.with("name", name),
                KeyPlace::File => {
                    let file = store.file().display().to_string();
                    phrases::SAVED_FILE.with("name", name).with("file", file)
                }
            });
        }
        GivenKey::OfVariable(variable) => {
            set(&format!("profiles.{profile}.api_key_env"), variable)?;
            said.push(phrases::USES_VARIABLE.with("variable", *variable).with("name", name));
        }
        GivenKey::None => {}
    }
    set(&format!("profiles.{profile}.base_url"), &target.base_url)?;
    set(&format!("profiles.{profile}.high"), model)?;
    set("profile", profile)?;
    let url = display_address(&target.base_url);
    let set = phrases::PROFILE_SET.with("profile", profile).with("model", model).with("url", url);
    said.push(set);
    Ok(said)
}

pub fn logout(startup: &Startup, provider: &str) -> Exit {
    let target = match login::target(provider) {
        Ok(target) => target.in_region(|| bedrock_url(&startup.environment)),
        Err(why) => return startup.fail(&Notice::error(why), Exit::WrongUse),
    };
    let name = target.name.as_str();
    let removed = match key_source::key_store(startup).remove(&target.server) {
        Ok(removed) => removed,
        Err(error) => return startup.fail(&Notice::error(error.localized()), Exit::Failed),
    };
    let say = if removed.is_some() { phrases::LOGGED_OUT } else { phrases::NOT_LOGGED_IN };
    let mut notice = Notice::info(say.with("name", name));
    if let Some(variable) = target.variable.filter(|name| startup.environment.get(name).is_some()) {
        notice = notice.with_hint(phrases::VARIABLE_STAYS.with("variable", variable));
    }
    startup.fail(&notice, if removed.is_some() { Exit::Done } else { Exit::Failed })
}

fn read_key(
    startup: &Startup,
    target: &LoginTarget,
    from_stdin: bool,
) -> Result<(GivenKey, Secret), Box<LoginError>> {
    let set = target.variable.and_then(|name| Some((name, startup.environment.get(name)?)));
    let of_variable = set.map(|(name, key)| (GivenKey::OfVariable(name), Secret::new(key)));
    let text = if from_stdin {
        let mut text = String::new();
        io::stdin().lock().take(MAX_KEY).read_to_string(&mut text).map_err(unread)?;
        text
    } else if io::stdin().is_terminal() {
        let url = display_address(&target.base_url);
        let ask = match set {
            Some((name, _)) => phrases::ASK_KEY_VARIABLE.with("variable", name),
            None => phrases::ASK_KEY.into(),
        };
        prompt(startup, &ask.with("name", target.name.as_str()).with("url", url));
        let line = terminal_modes::read_hidden_line().map_err(unread)?;
        // The line break was not shown either.
        let _ = writeln!(output::stderr());
        line
    } else {
        String::new()
    };
    match (login::read_key(&text), of_variable) {
        (Some(key), _) => Ok((GivenKey::Typed(Secret::new(key)), Secret::new(key))),
        (None, Some(given)) if text.trim().is_empty() && !from_stdin => Ok(given),
        (None, _) if text.trim().is_empty() => Err(wrong(phrases::NO_KEY_GIVEN.into())),
        (None, _) => Err(wrong(phrases::KEY_ODD.into())),
    }
}

/// The models that the server lists for this key; none if it lists nothing to anyone.
fn offered_models(
    target: &LoginTarget,
    secret: &Secret,
    key_name: &str,
) -> Result<Vec<String>, Box<LoginError>> {
    let runtime = runtime().map_err(unread)?;
    let listed = list_models(Endpoint {
        api_key: Some(secret.expose().to_owned()),
        key_name: key_name.to_owned(),
        ..Endpoint::at(&target.base_url)
    });
    match runtime.block_on(listed) {
        Ok(models) => Ok(models),
        Err(ModelError::NoEndpoint { .. }) => Ok(Vec::new()),
        Err(error) => {
            let refused =
                matches!(error, ModelError::KeyWrong { .. } | ModelError::KeyUnusable { .. });
            let hint = if refused { phrases::KEY_REFUSED_HINT } else { phrases::NOT_SAVED };
            Err(Box::new((Notice::error(error.localized()).with_hint(hint), Exit::Model)))
        }
    }
}

fn choose_model(
    startup: &Startup,
    target: &LoginTarget,
    models: &[String],
) -> Result<String, Box<LoginError>> {
    let url = display_address(&target.base_url);
    if let Some(named) = &startup.named_model() {
        return match login::unknown_model(named, models, &url) {
            None => Ok((*named).to_owned()),
            Some(why) => {
                let notice = Notice::error(why);
                let near = login::near_models(named, models);
                let hint = near.unwrap_or_else(|| phrases::NOT_SAVED.into());
                Err(Box::new((notice.with_hint(hint), Exit::WrongUse)))
            }
        };
    }
    let first = default_chat_model(models);
    let first = first.ok_or_else(|| wrong(phrases::MODEL_NEEDED.with("url", url)))?;
    if !io::stdin().is_terminal() {
        return Ok(first);
    }
    let mut shown = models.to_vec();
    loop {
        show_names(&shown);
        if shown.len() > SHOWN {
            prompt(startup, &phrases::MORE_MODELS.with("n", shown.len() - SHOWN));
            let _ = writeln!(output::stderr());
        }
        prompt(startup, &phrases::ASK_MODEL.with("model", first.as_str()));
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line).map_err(unread)? == 0 {
            return Ok(first);
        }
        match login::read_model(&line, &shown, models, &first) {
            ModelAnswer::Chosen(model) => return Ok(model),
            ModelAnswer::Several(fitting) => shown = fitting,
            ModelAnswer::None => shown = models.to_vec(),
        }
    }
}

fn show_names(names: &[String]) {
    let mut out = output::stderr();
    for (at, name) in names.iter().take(SHOWN).enumerate() {
        let _ = writeln!(out, "{:>3}  {name}", at + 1);
    }
}

fn prompt(startup: &Startup, text: &LocalizedText) {
    let mut out = output::stderr();
    let _ = write!(out, "{}", text.text(startup.lang()));
    let _ = out.flush();
}

fn wrong(why: LocalizedText) -> Box<LoginError> {
    failed(why, Exit::WrongUse)
}

fn failed(why: LocalizedText, exit: Exit) -> Box<LoginError> {
    Box::new((Notice::error(why), exit))
}

fn unread(error: io::Error) -> Box<LoginError> {
    failed(avocet_config::diagnostic::io_reason(&error), Exit::Failed)
}
