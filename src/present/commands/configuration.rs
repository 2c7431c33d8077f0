//! Commands that change the behaviour of this session.

use super::{ChatAction, CommandContext, CommandOutcome, Surface, UiAction, refusal};
use avocet_core::i18n::{Lang, Phrase, PhraseValue, commands as w, common};
use avocet_core::protocol::{
    ApprovalMode, Effort, HOSTED, Hosted, Mode, ModelOffer, ModelOp, Notice, Op, PageRow, Provider,
    RuleOp, SessionInfo, SettingOp, effort_names,
};

pub(super) fn model(cx: &CommandContext<'_>, name: &str) -> CommandOutcome {
    if name.is_empty() {
        return CommandOutcome::Do(UiAction::Models);
    }
    let same = |known: &&String| known.to_lowercase() == name.to_lowercase();
    let known = cx.models.iter().find(same);
    let set = CommandOutcome::Send(Op::Model(ModelOp::SetModel {
        name: known.map_or(name, |known| known).to_owned(),
    }));
    // Without a server there is no list to check; the session reports what is missing.
    if known.is_some() || cx.models.is_empty() || cx.facts.base_url.is_empty() {
        return set;
    }
    // The list may be outdated: the server is asked anyway, and will report it itself.
    let notice = Notice::warning(w::MODEL_NOT_LISTED.with("name", super::shorten(name)));
    CommandOutcome::Many(vec![CommandOutcome::Say(notice), set])
}

/// A key is never an argument: that would be in the history.
pub(super) fn connect(_: &CommandContext<'_>, provider: &str) -> CommandOutcome {
    let known = |hosted: &&Hosted<'_>| !provider.is_empty() && hosted.is_named(provider);
    let name = HOSTED.iter().find(known).map(|hosted| hosted.id.to_owned());
    let typed = || Some(provider.to_owned()).filter(|name| !name.is_empty());
    CommandOutcome::Do(UiAction::Connect(name.or_else(typed)))
}

/// Which steps ask changes at once; another model answers after the turn.
pub(super) fn mode(cx: &CommandContext<'_>, name: &str) -> CommandOutcome {
    let name = name.to_lowercase();
    if name.is_empty() {
        return modes_page(cx.facts);
    }
    if let Some(mode) = ApprovalMode::parse(&name) {
        return CommandOutcome::Many(vec![
            CommandOutcome::Say(Notice::info(mode.about())),
            CommandOutcome::Send(Op::Rules(RuleOp::SetApprovalMode { mode })),
        ]);
    }
    let Some(mode) = Mode::parse(&name) else {
        let models = [Mode::Low, Mode::High].map(Mode::name);
        let choices = [ApprovalMode::NAMES, &models].concat().join(", ");
        let say = w::NO_CHOICE.with("name", "mode").with("choices", choices);
        return CommandOutcome::Say(Notice::error(say.with("found", super::shorten(&name))));
    };
    if cx.busy {
        return CommandOutcome::after_the_turn("mode", format!("/mode {name}"));
    }
    CommandOutcome::Send(Op::Setting(SettingOp::SetMode { mode }))
}

/// What each mode is, in a line, and which are in use.
fn modes_page(info: &SessionInfo) -> CommandOutcome {
    let row = |name: &'static str, about: Phrase, is_now: bool| {
        let about = PhraseValue::from(about);
        let about = if is_now { common::ABOUT_IN_USE.with("about", about).into() } else { about };
        PageRow::pair(name, about)
    };
    let asking = ApprovalMode::ALL.iter();
    let asking = asking.map(|mode| row(mode.name(), mode.about(), *mode == info.approval));
    let models = [(Mode::Low, w::MODE_LOW_ABOUT), (Mode::High, w::MODE_HIGH_ABOUT)];
    let models = models.map(|(mode, about)| row(mode.name(), about, mode == info.mode));
    let mut rows: Vec<PageRow> = asking.collect();
    if info.provider != Provider::Guide {
        rows.push(PageRow::heading(common::MODEL));
        rows.extend(models);
    }
    CommandOutcome::Page { title: w::STATUS_MODE.into(), rows }
}

/// The session takes over what is set, and shows the frontends what is in force.
pub(super) fn config(cx: &CommandContext<'_>, words: &str) -> CommandOutcome {
    let (key, value) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let key = key.trim();
    let value = value.trim();

    if key == "unset" && !value.is_empty() {
        let key = Some(format!("unset {value}"));
        return CommandOutcome::Send(Op::Setting(SettingOp::Configure { key, value: None }));
    }
    if value.is_empty() && cx.surface == Surface::Local {
        return CommandOutcome::Do(UiAction::Settings(key.to_owned()));
    }
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    CommandOutcome::Send(Op::Setting(SettingOp::Configure { key: given(key), value: given(value) }))
}

/// The models, on a surface without a picker.
pub fn model_rows(offers: &[ModelOffer], now: &str) -> Vec<PageRow> {
    let row = |offer: &ModelOffer| {
        let about = offer.about(offer.name == now);
        PageRow::pair(offer.name.as_str(), about.map_or("".into(), PhraseValue::from))
    };
    offers.iter().map(row).collect()
}

/// The name that leaves it to the model how much it reasons.
const AUTO: &str = "auto";

/// The levels to choose from, as they are typed; all of them where none are known.
pub fn effort_choices(info: &SessionInfo) -> Vec<&'static str> {
    let levels = if info.effort_levels.is_empty() { &Effort::ALL[..] } else { &info.effort_levels };
    std::iter::once(AUTO).chain(levels.iter().map(|level| level.name())).collect()
}

/// The level in use, as it is typed.
pub fn effort_in_use(info: &SessionInfo) -> &'static str {
    info.effort.map_or(AUTO, Effort::name)
}

/// The levels, on a surface without a picker.
pub fn efforts_page(info: &SessionInfo) -> CommandOutcome {
    let now = effort_in_use(info);
    let mark = |level| if level == now { common::IN_USE.into() } else { PhraseValue::from("") };
    let rows = effort_choices(info).into_iter().map(|level| PageRow::pair(level, mark(level)));
    CommandOutcome::Page { title: w::STATUS_EFFORT.into(), rows: rows.collect() }
}

/// The session says what the model makes of a level that it lacks.
pub(super) fn effort(_: &CommandContext<'_>, name: &str) -> CommandOutcome {
    let name = name.to_lowercase();
    match Effort::from_name(&name) {
        _ if name.is_empty() => CommandOutcome::Do(UiAction::Efforts),
        None if name != AUTO => {
            let levels = w::EFFORTS.with("levels", effort_names(&Effort::ALL));
            let known = Effort::ALL.map(Effort::name);
            refusal("/effort ", w::NO_EFFORT, &name, known, levels)
        }
        effort => CommandOutcome::Send(Op::Model(ModelOp::SetEffort { effort })),
    }
}

pub(super) fn lang(_: &CommandContext<'_>, name: &str) -> CommandOutcome {
    let lang = Lang::parse(name).unwrap_or_default();
    CommandOutcome::Many(vec![
        CommandOutcome::Do(UiAction::Lang(lang)),
        CommandOutcome::Send(Op::Setting(SettingOp::SetLang { lang })),
    ])
}

pub(super) fn theme(cx: &CommandContext<'_>, name: &str) -> CommandOutcome {
    let name = name.to_lowercase();
    if cx.themes.is_empty() {
        // There are no colours here: it is set for the screen.
        let value = Some(name).filter(|name| !name.is_empty());
        return CommandOutcome::Send(Op::Setting(SettingOp::Configure {
            key: Some("theme".into()),
            value,
        }));
    }
    match name.as_str() {
        "" => CommandOutcome::Do(UiAction::Theme(None)),
        known if cx.themes.iter().any(|theme| theme == known) => {
            CommandOutcome::Do(UiAction::Theme(Some(name)))
        }
        _ => {
            let themes = cx.themes.join(", ");
            let known = cx.themes.iter().map(String::as_str);
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

pub(super) fn allow(cx: &CommandContext<'_>, rule: &str) -> CommandOutcome {
    rule_op(cx, rule, |rule| Op::Rules(RuleOp::Allow { rule }))
}

/// `/deny RULE` in the terminal is the same.
pub(super) fn forbid(cx: &CommandContext<'_>, rule: &str) -> CommandOutcome {
    rule_op(cx, rule, |rule| Op::Rules(RuleOp::Deny { rule }))
}

/// Without a path, shows the folders of the session.
pub(super) fn add_dir(cx: &CommandContext<'_>, path: &str) -> CommandOutcome {
    if path.is_empty() {
        let rows = super::info::folders(cx);
        return CommandOutcome::Page { title: w::ADD_DIR_TITLE.into(), rows };
    }
    CommandOutcome::Send(Op::Rules(RuleOp::AddFolder { path: path.to_owned() }))
}

pub(super) fn set_home(_: &CommandContext<'_>, path: &str) -> CommandOutcome {
    let path = (!path.is_empty()).then(|| path.to_owned());
    CommandOutcome::Do(UiAction::Chat(ChatAction::SetHome(path)))
}

pub(super) fn send_file(_: &CommandContext<'_>, path: &str) -> CommandOutcome {
    let unmasked = path.strip_suffix(" masked");
    let masked = unmasked.is_some();
    let path = unmasked.unwrap_or(path).trim_end().to_owned();
    CommandOutcome::Do(UiAction::Chat(ChatAction::SendFile { path, masked }))
}

pub(super) fn trust(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Rules(RuleOp::Trust))
}

/// Without a rule, shows the existing ones. A rule names a program: `*` alone would match
/// everything.
fn rule_op(cx: &CommandContext<'_>, rule: &str, op: fn(String) -> Op) -> CommandOutcome {
    if rule.is_empty() {
        return super::info::rules_page(cx);
    }
    let program = rule.split_whitespace().next().unwrap_or("");
    if program.contains('*') {
        CommandOutcome::Say(Notice::error(w::RULE_NEEDS_PROGRAM).with_hint(w::RULE_EXAMPLE))
    } else {
        CommandOutcome::Send(op(avocet_core::text::one_line(rule)))
    }
}
