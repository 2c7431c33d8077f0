//! Custom commands and skills in addition to those of the table: runs, completes, explains and
//! lists them from the current catalogue.

use super::{
    Category, CommandContext, CommandOutcome, PageRow, Surface, UiAction, refusal, shorten,
};
use avocet_core::i18n::{LocalizedText, PhraseValue, commands as w, common};
use avocet_core::protocol::{
    Extension, ExtensionKind, ExtensionState, Extensions, ModelOp, Notice, OmittedSkills, Op,
    TurnOp,
};

/// Maximum number of rows in one list; the rest is counted.
const MAX_ROWS: usize = 200;

/// The command or skill of a name that is not in the table. An unknown name is answered with
/// similar names, and is never a message to the model.
pub(super) fn find<'c>(
    cx: &CommandContext<'c>,
    name: &str,
    built_in: &[&str],
) -> Result<&'c Extension, Box<CommandOutcome>> {
    if let Some(entry) = cx.extensions.find(name) {
        return Ok(entry);
    }
    if let Some(Extension { state: ExtensionState::Broken(why), .. }) =
        cx.extensions.find_broken(name)
    {
        // A sentence about a file names its path.
        let say = match cx.surface {
            Surface::Local | Surface::Plain => why.clone(),
            Surface::Gateway { .. } => w::UNUSABLE_HERE.with("name", shorten(name)),
        };
        return Err(Box::new(CommandOutcome::Say(Notice::error(say))));
    }
    let kept = typeable(cx.extensions, cx.surface).map(|entry| entry.name.as_str());
    let known = built_in.iter().copied().chain(kept);
    Err(Box::new(match &cx.extensions.waiting {
        Some(waiting) => {
            let unknown = w::UNKNOWN.with("name", shorten(name));
            CommandOutcome::Say(Notice::error(unknown).with_hint(waiting.clone()))
        }
        None => refusal("/", w::UNKNOWN, name, known, w::UNKNOWN_HINT),
    }))
}

/// Runs a script, or lets the session expand the file of a command or skill.
pub(super) fn run(extension: &Extension, args: &str) -> CommandOutcome {
    match extension.kind {
        ExtensionKind::Script => {
            CommandOutcome::Send(run_op(&format!("{} {args}", extension.name)))
        }
        _ => invoke(&extension.name, args),
    }
}

/// The session expands it from its file.
pub(super) fn invoke(name: &str, args: &str) -> CommandOutcome {
    let name = name.to_owned();
    let args = args.to_owned();
    CommandOutcome::Send(Op::Turn(TurnOp::Invoke { name, args, mentions: Vec::new() }))
}

/// The entries that can be typed on a surface, commands first.
pub(super) fn typeable<'k>(
    extensions: &'k Extensions,
    surface: Surface<'k>,
) -> impl Iterator<Item = &'k Extension> {
    let reachable = move |extension: &&Extension| extension.traits.reach.covers(surface);
    extensions.entries.iter().filter(|entry| entry.can_be_typed()).filter(reachable)
}

/// The usage line: `/commit-msg [scope]`.
pub fn usage(extension: &Extension) -> String {
    match extension.hint.as_str() {
        "" => format!("/{}", extension.name),
        hint => format!("/{} {hint}", extension.name),
    }
}

/// The sections of help below the table, each with its heading; empty ones are omitted.
pub fn sections(
    extensions: &Extensions,
    surface: Surface<'_>,
) -> Vec<(PhraseValue, Vec<(String, PhraseValue)>)> {
    let shown = super::help::by_category(surface);
    let has_place = |entry: &Extension| shown.iter().any(|(category, _)| is_in(entry, *category));
    let rows = |kind| listed(extensions, surface, |entry| entry.kind == kind && !has_place(entry));
    // Their reasons name paths, which do not belong in a chat.
    let is_local = surface.is_local();
    let unusable = extensions.entries.iter().filter_map(|entry| match &entry.state {
        ExtensionState::Hidden(why) | ExtensionState::Broken(why) if is_local => {
            Some((format!("/{}", entry.name), PhraseValue::from(why.clone())))
        }
        _ => None,
    });
    let bots = extensions.broken_bots.iter().filter(|_| is_local);
    let bots = bots.map(|(name, why)| (format!("/bot {name}"), PhraseValue::from(why.clone())));
    let sections = [
        (w::OWN_COMMANDS, rows(ExtensionKind::Command)),
        (w::SKILLS, rows(ExtensionKind::Skill)),
        (w::SCRIPTS, rows(ExtensionKind::Script)),
        (w::SERVER_PROMPTS, rows(ExtensionKind::Prompt)),
        (w::UNUSABLE, capped(unusable.chain(bots).collect())),
    ];
    let filled = sections.into_iter().filter(|(_, rows)| !rows.is_empty());
    filled.map(|(heading, rows)| (heading.into(), rows)).collect()
}

/// Whether its file names a category of the table in place of that of all own commands.
pub(super) fn is_in(entry: &Extension, category: Category) -> bool {
    entry.kind == ExtensionKind::Command
        && entry.traits.category == category
        && category != Category::default()
}

/// The rows of those that can be typed.
pub(super) fn listed(
    extensions: &Extensions,
    surface: Surface<'_>,
    is_meant: impl Fn(&Extension) -> bool,
) -> Vec<(String, PhraseValue)> {
    let typed = typeable(extensions, surface).filter(|entry| is_meant(entry));
    let about = |extension: &Extension| {
        super::help::with_aliases(extension.about.as_str().into(), &extension.traits.aliases)
    };
    capped(typed.map(|entry| (usage(entry), about(entry))).collect())
}

fn capped(mut rows: Vec<(String, PhraseValue)>) -> Vec<(String, PhraseValue)> {
    let more = rows.len().saturating_sub(MAX_ROWS);
    if more > 0 {
        rows.truncate(MAX_ROWS);
        rows.push((String::new(), w::AND_MORE.with("n", more).into()));
    }
    rows
}

/// Help about one entry.
pub(super) fn help(
    extensions: &Extensions,
    surface: Surface<'_>,
    name: &str,
) -> Option<CommandOutcome> {
    let name = name.strip_prefix('/').unwrap_or(name);
    let entry = extensions.find(name).filter(|entry| entry.traits.reach.covers(surface))?;
    let (title, category) = match entry.kind {
        ExtensionKind::Command => (w::HELP_ABOUT, w::OWN_COMMANDS),
        ExtensionKind::Skill => (w::HELP_ABOUT_SKILL, w::SKILLS),
        ExtensionKind::Script => (w::HELP_ABOUT_SCRIPT, w::SCRIPTS),
        ExtensionKind::Prompt => (w::HELP_ABOUT, w::SERVER_PROMPTS),
    };
    let own = Category::ALL.into_iter().find(|of| is_in(entry, *of));
    let category = own.map_or(category, Category::name);
    let mut rows =
        vec![PageRow::line(entry.about.as_str()), PageRow::pair(w::HELP_USAGE, usage(entry))];
    if !entry.traits.aliases.is_empty() {
        let aliases = entry.traits.aliases.iter().map(|alias| format!("/{alias}"));
        rows.push(PageRow::pair(w::HELP_ALIASES, aliases.collect::<Vec<_>>().join(", ")));
    }
    let described = entry.traits.arguments.iter().filter(|argument| !argument.about.is_empty());
    rows.extend(
        described.map(|argument| PageRow::pair(argument.name.as_str(), argument.about.as_str())),
    );
    rows.extend([
        PageRow::pair(w::HELP_CATEGORY, category),
        PageRow::pair(w::HELP_FROM, entry.from.clone()),
    ]);
    if entry.state == ExtensionState::Sensitive {
        rows.push(PageRow::line(w::ONLY_TYPED));
    }
    Some(CommandOutcome::Page { title: title.with("name", entry.name.as_str()), rows })
}

pub(super) fn commands(cx: &CommandContext<'_>, _: &str) -> CommandOutcome {
    let mut rows = list(cx, ExtensionKind::Command, w::NO_OWN_COMMANDS.into());
    rows.extend(cx.extensions.waiting.clone().map(PageRow::line));
    CommandOutcome::Page { title: w::OWN_COMMANDS.into(), rows }
}

pub(super) fn skills(cx: &CommandContext<'_>, _: &str) -> CommandOutcome {
    let mut rows = list(cx, ExtensionKind::Skill, w::NO_SKILLS.into());
    rows.extend(omitted_skill_rows(&cx.extensions.untold));
    rows.extend(cx.extensions.waiting.clone().map(PageRow::line));
    CommandOutcome::Page { title: w::SKILLS.into(), rows }
}

/// The skills that the model's list omits or shortens, and why.
pub fn omitted_skill_rows(skills: &OmittedSkills) -> Vec<PageRow> {
    let OmittedSkills { of, count, names, cut, names_only, most } = skills;
    let most = most / 1024;
    if *count == 0 {
        let say = if *names_only { w::SKILLS_BY_NAME } else { w::SKILLS_CUT };
        let say = say.with("of", *of).with("most", most);
        return cut.then(|| vec![PageRow::line(say)]).unwrap_or_default();
    }
    let say = w::SKILLS_UNTOLD.with("count", *count).with("of", *of).with("most", most);
    let names_say = w::SKILLS_UNTOLD_NAMES.with("names", names.join(", "));
    let more = count.saturating_sub(names.len());
    let more = (more > 0).then(|| PageRow::line(w::AND_MORE.with("n", more)));
    [PageRow::line(say), PageRow::line(names_say)].into_iter().chain(more).collect()
}

/// Grouped by owner; unusable entries with the reason.
fn list(cx: &CommandContext<'_>, kind: ExtensionKind, value: PhraseValue) -> Vec<PageRow> {
    let mut rows: Vec<PageRow> = Vec::new();
    let mut heading = None;
    let is_local = cx.surface.is_local();
    let shown = |extension: &&Extension| {
        is_local || extension.can_be_typed() && extension.traits.reach.covers(cx.surface)
    };
    let extensions: Vec<&Extension> = cx.extensions.of_kind(kind).filter(shown).collect();
    for entry in extensions.iter().take(MAX_ROWS) {
        if heading != Some(&entry.from) {
            heading = Some(&entry.from);
            rows.push(PageRow::heading(entry.from.clone()));
        }
        let phrase_value: PhraseValue = match &entry.state {
            ExtensionState::Usable => entry.about.as_str().into(),
            ExtensionState::Sensitive => w::SENSITIVE.with("about", entry.about.as_str()).into(),
            ExtensionState::Hidden(why) | ExtensionState::Broken(why) => why.clone().into(),
        };
        rows.push(PageRow::pair(usage(entry), phrase_value));
    }
    match extensions.len() {
        0 => rows.push(PageRow::Line(value)),
        count if count > MAX_ROWS => {
            rows.push(PageRow::line(w::AND_MORE.with("n", count - MAX_ROWS)))
        }
        _ => {}
    }
    rows
}

/// `/bot`: without a name, lists the bots; `none` continues without one. The session, which reads
/// the files, checks whether a bot exists.
pub(super) fn bot(cx: &CommandContext<'_>, name: &str) -> CommandOutcome {
    let known = cx.extensions.bots.iter().any(|(bot, _)| bot == name);
    match name {
        "" => CommandOutcome::Do(UiAction::Bots),
        NO_BOT if !known => CommandOutcome::Send(Op::Model(ModelOp::SetBot { name: None })),
        name => CommandOutcome::Send(Op::Model(ModelOp::SetBot { name: Some(shorten(name)) })),
    }
}

/// `/run`: the session, which reads the files, checks whether a script exists.
pub(super) fn script(_: &CommandContext<'_>, args: &str) -> CommandOutcome {
    CommandOutcome::Send(run_op(args))
}

/// The script and its arguments. A path with spaces is quoted.
pub fn run_op(typed: &str) -> Op {
    let typed = typed.trim();
    let quoted =
        typed.chars().next().filter(|first| matches!(first, '"' | '\'')).and_then(|quote| {
            let (script, rest) = typed.strip_prefix(quote)?.split_once(quote)?;
            (!script.is_empty()).then_some((script, rest))
        });
    let (script, args) =
        quoted.or_else(|| typed.split_once(char::is_whitespace)).unwrap_or((typed, ""));
    Op::Turn(TurnOp::RunScript { script: script.to_owned(), args: args.trim().to_owned() })
}

/// The argument that means no bot.
pub const NO_BOT: &str = "none";

/// The bots as a page, for surfaces without a selection list. Those that cannot be used come last,
/// with the reason.
pub fn bots_page(
    extensions: &Extensions,
    now: Option<&str>,
    surface: Surface<'_>,
) -> CommandOutcome {
    let mark = |name: &str, about: &str| {
        if now == Some(name) {
            common::ABOUT_IN_USE.with("about", about).into()
        } else {
            PhraseValue::from(about)
        }
    };
    let bots = extensions.bots.iter();
    let mut rows: Vec<PageRow> =
        bots.map(|(name, about)| PageRow::pair(name.as_str(), mark(name, about))).collect();
    // A reason names the path of its file, which does not belong in a chat.
    let reason =
        |why: &LocalizedText| if surface.is_local() { why.clone() } else { w::UNUSABLE_BOT.into() };
    let broken = extensions.broken_bots.iter();
    rows.extend(broken.map(|(name, because)| PageRow::pair(name.as_str(), reason(because))));
    if rows.is_empty() {
        rows.push(PageRow::line(w::NO_BOTS));
    }
    CommandOutcome::Page { title: w::BOTS.into(), rows }
}
