//! Commands that change the behaviour of this session.

use super::{Act, Call, Outcome, refusal};
use crate::protocol::{Mode, Notice, Op};
use crate::words::{Lang, commands as w};

pub(super) fn model(call: &Call<'_>, name: &str) -> Outcome {
    if name.is_empty() {
        return Outcome::Do(Act::Models);
    }
    let same = |known: &&String| known.to_lowercase() == name.to_lowercase();
    let known = call.models.iter().find(same);
    let set = Outcome::Send(Op::SetModel { name: known.map_or(name, |known| known).to_owned() });
    // Without a server there is no list to check; the session reports what is missing.
    if known.is_some() || call.models.is_empty() || call.facts.base_url.is_empty() {
        return set;
    }
    // The list may be outdated: the server is asked anyway, and will report it itself.
    let notice = Notice::warning(w::MODEL_NOT_LISTED.with("name", super::short(name)));
    Outcome::Many(vec![Outcome::Say(notice), set])
}

pub(super) fn mode(_: &Call<'_>, name: &str) -> Outcome {
    let mode = Mode::parse(&name.to_lowercase()).unwrap_or_default();
    Outcome::Send(Op::SetMode { mode })
}

pub(super) fn lang(_: &Call<'_>, name: &str) -> Outcome {
    let lang = Lang::parse(name).unwrap_or_default();
    Outcome::Many(vec![Outcome::Do(Act::Lang(lang)), Outcome::Send(Op::SetLang { lang })])
}

pub(super) fn theme(call: &Call<'_>, name: &str) -> Outcome {
    let name = name.to_lowercase();
    match name.as_str() {
        "" => Outcome::Do(Act::Theme(None)),
        known if call.themes.iter().any(|theme| theme == known) => {
            Outcome::Do(Act::Theme(Some(name)))
        }
        _ => {
            let themes = call.themes.join(", ");
            let known = call.themes.iter().map(String::as_str);
            refusal("", w::NO_THEME, &name, known, w::THEMES.with("themes", themes))
        }
    }
}

pub(super) fn vim(_: &Call<'_>, name: &str) -> Outcome {
    switch("vim", name, Act::Vim)
}

pub(super) fn timestamps(_: &Call<'_>, name: &str) -> Outcome {
    switch("timestamps", name, Act::Timestamps)
}

/// `on`, `off`, or nothing to toggle.
fn switch(command: &'static str, name: &str, act: fn(Option<bool>) -> Act) -> Outcome {
    Outcome::Do(act(match name.to_lowercase().as_str() {
        "" => None,
        "on" => Some(true),
        "off" => Some(false),
        _ => {
            let say = w::NO_SWITCH.with("name", command).with("found", super::short(name));
            return Outcome::Say(Notice::error(say));
        }
    }))
}

pub(super) fn allow(call: &Call<'_>, rule: &str) -> Outcome {
    rule_op(call, rule, |rule| Op::Allow { rule })
}

pub(super) fn deny(call: &Call<'_>, rule: &str) -> Outcome {
    rule_op(call, rule, |rule| Op::Deny { rule })
}

/// Without a path, shows the folders of the session.
pub(super) fn add_dir(call: &Call<'_>, path: &str) -> Outcome {
    if path.is_empty() {
        let rows = super::info::folders(call);
        return Outcome::Page { title: w::ADD_DIR_TITLE.into(), rows };
    }
    Outcome::Send(Op::AddFolder { path: path.to_owned() })
}

pub(super) fn trust(_: &Call<'_>, _: &str) -> Outcome {
    Outcome::Send(Op::Trust)
}

/// Without a rule, shows the existing ones. A rule names a program: `*` alone would match
/// everything.
fn rule_op(call: &Call<'_>, rule: &str, op: fn(String) -> Op) -> Outcome {
    if rule.is_empty() {
        return super::info::rules_page(call);
    }
    let program = rule.split_whitespace().next().unwrap_or("");
    match program.contains('*') {
        true => Outcome::Say(Notice::error(w::RULE_NEEDS_PROGRAM).hint(w::RULE_EXAMPLE)),
        false => Outcome::Send(op(rule.split_whitespace().collect::<Vec<_>>().join(" "))),
    }
}
