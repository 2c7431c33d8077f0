//! Commands that show information and change nothing.

use super::{ChatAction, CommandContext, CommandOutcome, PageRow, Surface, UiAction};
use avocet_core::i18n::{
    Localize, LocalizedText, PhraseValue, agents as agents_words, commands as w, common, mcp_pages,
    screen, session, worktrees,
};
use avocet_core::protocol::{
    AgentRequest, Effort, ExtensionOp, McpAction, Notice, Op, Report, RuleOp, SessionInfo,
    SessionOp, TurnOp, WorktreeRequest,
};

pub(super) fn help(_: &CommandContext<'_>, topic: &str) -> CommandOutcome {
    CommandOutcome::Do(UiAction::Help((!topic.is_empty()).then(|| topic.to_owned())))
}

pub(super) fn version(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Say(Notice::info(w::VERSION.with("version", env!("CARGO_PKG_VERSION"))))
}

pub(super) fn doctor(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Session(SessionOp::Report { report: Report::Doctor }))
}

pub(super) fn context(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Session(SessionOp::Report { report: Report::Context }))
}

pub(super) fn usage(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Session(SessionOp::Report { report: Report::Usage }))
}

pub(super) fn plugins(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Session(SessionOp::Report { report: Report::Plugins }))
}

pub(super) fn hooks(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Session(SessionOp::Report { report: Report::Hooks }))
}

pub(super) fn lsp(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Session(SessionOp::Report { report: Report::LanguageServers }))
}

/// The definitions, or what the user asks of an agent that runs.
pub(super) fn agents(_: &CommandContext<'_>, words: &str) -> CommandOutcome {
    let (verb, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let (number, text) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
    let request = match verb {
        "" => {
            let report = Report::Agents;
            return CommandOutcome::Send(Op::Session(SessionOp::Report { report }));
        }
        "stop" if text.is_empty() => Some(AgentRequest::Stop),
        "tell" if !text.is_empty() => Some(AgentRequest::Steer { text: text.to_owned() }),
        _ => None,
    };
    match request.filter(|_| !number.is_empty()) {
        Some(request) => {
            let number_or_name = number.parse::<u64>().map(|number| format!("cmd_{number:03}"));
            let agent = number_or_name.unwrap_or_else(|_| number.to_owned());
            CommandOutcome::Send(Op::Session(SessionOp::Agent { agent, request }))
        }
        None => {
            let say = agents_words::USAGE.with("found", super::shorten(words));
            CommandOutcome::Say(Notice::error(say))
        }
    }
}

pub(super) fn worktrees(_: &CommandContext<'_>, words: &str) -> CommandOutcome {
    match worktrees_op(words) {
        Some(op) => CommandOutcome::Send(op),
        None => {
            let say = worktrees::USAGE.with("found", super::shorten(words));
            CommandOutcome::Say(Notice::error(say))
        }
    }
}

/// What the words after `/worktrees` ask for; `None`: nothing that is understood.
pub fn worktrees_op(words: &str) -> Option<Op> {
    let (verb, name) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let name = name.trim().to_owned();
    let request = match (verb, name.is_empty()) {
        ("" | "list", true) => WorktreeRequest::List,
        ("show", false) => WorktreeRequest::Show { name },
        ("remove", false) => match name.strip_suffix(" --yes") {
            Some(name) => {
                WorktreeRequest::Remove { name: name.trim().to_owned(), with_files: true }
            }
            None => WorktreeRequest::Remove { name, with_files: false },
        },
        ("merge", false) => return Some(Op::Turn(TurnOp::MergeWorktree { name })),
        _ => return None,
    };
    Some(Op::Session(SessionOp::Worktrees { request }))
}

pub(super) fn mcp(_: &CommandContext<'_>, words: &str) -> CommandOutcome {
    match McpAction::parse(words) {
        Some(action) => CommandOutcome::Send(Op::Extension(ExtensionOp::Mcp { action })),
        None => CommandOutcome::Say(Notice::error(
            mcp_pages::USAGE.with("found", super::shorten(words)),
        )),
    }
}

pub(super) fn platforms(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Session(SessionOp::Report { report: Report::Platforms }))
}

pub(super) fn who_am_i(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Do(UiAction::Chat(ChatAction::WhoAmI))
}

pub(super) fn keys(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Do(UiAction::Keys)
}

pub(super) fn status(cx: &CommandContext<'_>, _: &str) -> CommandOutcome {
    let SessionInfo { model, provider, base_url, profile, mode, lang, bot, .. } = cx.facts;
    let SessionInfo { cwd, branch, turns, steps, usage, .. } = cx.facts;
    let session = format!("{}  {}", cx.facts.session, cx.facts.title);
    let rows = [
        (common::MODEL, PhraseValue::from(model.as_str())),
        (common::PROVIDER, provider.name().into()),
        (common::SERVER, base_url.as_str().into()),
        (w::STATUS_PROFILE, profile.as_str().into()),
        (w::STATUS_APPROVAL, cx.facts.approval.label().into()),
        (w::STATUS_MODE, mode.name().into()),
        (w::STATUS_EFFORT, cx.facts.effort.map_or("", Effort::name).into()),
        (w::STATUS_LANG, lang.code().into()),
        (common::BOT, bot.as_deref().unwrap_or_default().into()),
        (common::FOLDER, cwd.as_str().into()),
        (w::STATUS_BRANCH, branch.as_deref().unwrap_or_default().into()),
        (w::STATUS_SESSION, session.trim().into()),
        (w::STATUS_TURNS, (*turns).into()),
        (w::STATUS_STEPS, (*steps).into()),
        (common::TOKENS, usage.localized().into()),
    ];
    // The server may have changed since.
    let exposed = Some(cx.facts.exposed.as_str()).filter(|host| !host.is_empty());
    let exposed = exposed.filter(|host| base_url.starts_with("http:") && base_url.contains(*host));
    let exposed = exposed.map(|host| session::KEY_IN_THE_OPEN.with("host", host));
    let held = cx.facts.shelter.about();
    let filled = rows.into_iter().filter(|(_, value)| *value != PhraseValue::from(""));
    let mut rows: Vec<PageRow> = filled.map(|(label, value)| PageRow::pair(label, value)).collect();
    rows.extend(exposed.map(|exposed| PageRow::pair(common::NOT_ENCRYPTED, exposed)));
    rows.extend(folders(cx).into_iter().skip(1));
    let unsaved = cx.facts.unsaved.as_ref();
    rows.extend(unsaved.map(|unsaved| PageRow::pair(common::NOT_SAVED, unsaved.why.clone())));
    rows.extend(held.map(|held| PageRow::pair(w::STATUS_SANDBOX, held)));
    rows.extend(
        cx.facts.notes.iter().map(|note| PageRow::pair(common::INSTRUCTIONS, note.localized())),
    );
    CommandOutcome::Page { title: w::STATUS_TITLE.into(), rows }
}

/// The session's own folder, then those the user added.
pub(super) fn folders(cx: &CommandContext<'_>) -> Vec<PageRow> {
    let own = PageRow::pair(common::FOLDER, cx.facts.cwd.as_str());
    let added = cx.facts.added.iter().map(|path| PageRow::pair(w::STATUS_ADDED, path.as_str()));
    std::iter::once(own).chain(added).collect()
}

pub(super) fn tools(cx: &CommandContext<'_>, _: &str) -> CommandOutcome {
    let tools = cx.facts.tools.iter();
    let mut rows: Vec<PageRow> =
        tools.map(|tool| PageRow::pair(tool.name.as_str(), tool.about.clone())).collect();
    if rows.is_empty() {
        rows.push(PageRow::line(w::NO_TOOLS));
    }
    CommandOutcome::Page { title: w::TOOLS_TITLE.into(), rows }
}

/// Shows the page; `revoke N` removes the rule with that number. Anything but a number is refused
/// with the usage sentence.
pub(super) fn permissions(cx: &CommandContext<'_>, asked: &str) -> CommandOutcome {
    match asked.split_once(char::is_whitespace) {
        _ if asked.is_empty() => permissions_page(cx),
        Some(("revoke", number)) => revoke(cx, number.trim()),
        Some(_) | None => revoke(cx, asked),
    }
}

/// Removing a denial allows something, so only a local user may do it.
fn revoke(cx: &CommandContext<'_>, number: &str) -> CommandOutcome {
    let SessionInfo { allowed, denied, .. } = cx.facts;
    let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let rule = at.and_then(|at| allowed.iter().chain(denied).nth(at));
    match (cx.surface, rule) {
        (Surface::Gateway { .. }, _) => {
            CommandOutcome::Say(Notice::error(w::REVOKE_LOCAL).with_hint(w::ONLY_IN_THE_TERMINAL))
        }
        (Surface::Local | Surface::Plain, Some(rule)) => {
            CommandOutcome::Send(Op::Rules(RuleOp::Revoke { rule: rule.clone() }))
        }
        (Surface::Local | Surface::Plain, None) => CommandOutcome::Say(Notice::error(
            w::NO_RULE_NUMBER.with("number", super::shorten(number)),
        )),
    }
}

/// The page that `/allow` and `/deny` show without arguments.
pub(super) fn rules_page(cx: &CommandContext<'_>) -> CommandOutcome {
    CommandOutcome::Page { title: w::PERMISSIONS_TITLE.into(), rows: all_rules(cx.facts) }
}

/// The rules, numbered consecutively as `revoke` counts them.
pub fn permission_rows(info: &SessionInfo) -> Vec<PageRow> {
    let SessionInfo { allowed, allowed_covers, denied, .. } = info;
    let mut rows = rule_rows(w::PERMISSIONS_ALLOWED.into(), allowed, allowed_covers, 1);
    rows.extend(rule_rows(w::PERMISSIONS_DENIED.into(), denied, &[], 1 + allowed.len()));
    rows
}

fn all_rules(info: &SessionInfo) -> Vec<PageRow> {
    let mut rows = permission_rows(info);
    rows.push(PageRow::line(w::HOW_TO_RULE));
    rows
}

fn permissions_page(cx: &CommandContext<'_>) -> CommandOutcome {
    let SessionInfo { max_steps, .. } = cx.facts;
    let mut rows = vec![
        PageRow::heading(w::PERMISSIONS_TIERS),
        PageRow::pair(screen::TIER_L0, w::TIER_L0),
        PageRow::pair(screen::TIER_L1, w::TIER_L1),
        PageRow::pair(screen::TIER_L2, w::TIER_L2),
    ];
    rows.extend(all_rules(cx.facts));
    let limit = match max_steps {
        None => w::LIMIT_USUAL.into(),
        Some(0) => w::LIMIT_NONE.into(),
        Some(steps) => w::LIMIT_STEPS.with("steps", *steps),
    };
    rows.extend([PageRow::heading(w::PERMISSIONS_LIMITS), PageRow::line(limit)]);
    CommandOutcome::Page { title: w::PERMISSIONS_TITLE.into(), rows }
}

fn rule_rows(
    value: PhraseValue,
    rules: &[String],
    texts: &[Vec<LocalizedText>],
    first: usize,
) -> Vec<PageRow> {
    let mut rows = vec![PageRow::Heading(value)];
    for (at, rule) in rules.iter().enumerate() {
        rows.push(PageRow::line(format!("{}. {rule}", first + at)));
        let says = texts.get(at).into_iter().flatten();
        rows.extend(says.map(|say| PageRow::pair("", say.clone())));
    }
    if rules.is_empty() {
        rows.push(PageRow::line(w::NO_RULES));
    }
    rows
}
