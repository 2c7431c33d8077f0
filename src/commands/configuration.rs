//! Commands that change the behaviour of this session.

use super::{CommandContext, CommandOutcome, UiAction, refusal};
use crate::i18n::{Lang, commands as w, keys};
use crate::protocol::{HOSTED, Hosted, Mode, Notice, Op};

pub(super) fn model(call: &CommandContext<'_>, name: &str) -> CommandOutcome {
    if name.is_empty() {
        return CommandOutcome::Do(UiAction::Models);
    }
    let same = |known: &&String| known.to_lowercase() == name.to_lowercase();
    let known = call.models.iter().find(same);
    let set =
        CommandOutcome::Send(Op::SetModel { name: known.map_or(name, |known| known).to_owned() });
    // Without a server there is no list to check; the session reports what is missing.
    if known.is_some() || call.models.is_empty() || call.facts.base_url.is_empty() {
        return set;
    }
    // The list may be outdated: the server is asked anyway, and will report it itself.
    let notice = Notice::warning(w::MODEL_NOT_LISTED.with("name", super::shorten(name)));
    CommandOutcome::Many(vec![CommandOutcome::Say(notice), set])
}

/// Says how to log in: a key that is typed into the conversation would be in its history.
pub(super) fn connect(_: &CommandContext<'_>, provider: &str) -> CommandOutcome {
    let known = |hosted: &&Hosted<'_>| hosted.simple_name() == provider.to_lowercase();
    let name = match HOSTED.iter().find(known) {
        _ if provider.is_empty() => "PROVIDER".to_owned(),
        Some(hosted) => hosted.simple_name(),
        None => super::shorten(provider),
    };
    CommandOutcome::Say(Notice::info(keys::CONNECT_HOW.with("name", name)))
}

pub(super) fn mode(_: &CommandContext<'_>, name: &str) -> CommandOutcome {
    let mode = Mode::parse(&name.to_lowercase()).unwrap_or_default();
    CommandOutcome::Send(Op::SetMode { mode })
}

pub(super) fn lang(_: &CommandContext<'_>, name: &str) -> CommandOutcome {
    let lang = Lang::parse(name).unwrap_or_default();
    CommandOutcome::Many(vec![
        CommandOutcome::Do(UiAction::Lang(lang)),
        CommandOutcome::Send(Op::SetLang { lang }),
    ])
}

pub(super) fn theme(call: &CommandContext<'_>, name: &str) -> CommandOutcome {
    let name = name.to_lowercase();
    match name.as_str() {
        "" => CommandOutcome::Do(UiAction::Theme(None)),
        known if call.themes.iter().any(|theme| theme == known) => {
            CommandOutcome::Do(UiAction::Theme(Some(name)))
        }
        _ => {
            let themes = call.themes.join(", ");
            let known = call.themes.iter().map(String::as_str);
            refusal("", w::NO_THEME, &name, known, w::THEMES.with("themes", themes))
        }
    }
}

pub(super) fn vim(_: &CommandContext<'_>, name: &str) -> CommandOutcome {
    switch("vim", name, UiAction::Vim)
}

pub(super) fn timestamps(_: &CommandContext<'_>, name: &str) -> CommandOutcome {
    switch("timestamps", name, UiAction::Timestamps)
}

/// `on`, `off`, or nothing to toggle.
fn switch(command: &'static str, name: &str, act: fn(Option<bool>) -> UiAction) -> CommandOutcome {
    CommandOutcome::Do(act(match name.to_lowercase().as_str() {
        "" => None,
        "on" => Some(true),
        "off" => Some(false),
        _ => {
            let say = w::NO_SWITCH.with("name", command).with("found", super::shorten(name));
            return CommandOutcome::Say(Notice::error(say));
        }
    }))
}

pub(super) fn allow(call: &CommandContext<'_>, rule: &str) -> CommandOutcome {
    rule_op(call, rule, |rule| Op::Allow { rule })
}

pub(super) fn deny(call: &CommandContext<'_>, rule: &str) -> CommandOutcome {
    rule_op(call, rule, |rule| Op::Deny { rule })
}

/// Without a path, shows the folders of the session.
pub(super) fn add_dir(call: &CommandContext<'_>, path: &str) -> CommandOutcome {
    if path.is_empty() {
        let rows = super::info::folders(call);
        return CommandOutcome::Page { title: w::ADD_DIR_TITLE.into(), rows };
    }
    CommandOutcome::Send(Op::AddFolder { path: path.to_owned() })
}

pub(super) fn trust(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Trust)
}

/// Without a rule, shows the existing ones. A rule names a program: `*` alone would match
/// everything.
fn rule_op(call: &CommandContext<'_>, rule: &str, op: fn(String) -> Op) -> CommandOutcome {
    if rule.is_empty() {
        return super::info::rules_page(call);
    }
    let program = rule.split_whitespace().next().unwrap_or("");
    match program.contains('*') {
        true => {
            CommandOutcome::Say(Notice::error(w::RULE_NEEDS_PROGRAM).with_hint(w::RULE_EXAMPLE))
        }
        false => CommandOutcome::Send(op(crate::text::one_line(rule))),
    }
}
