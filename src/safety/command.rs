//! Judges one command: its name, then its row in the tables, then what it touches.
//!
//! Everything is collected and the highest tier wins. Wrappers, shell strings and `find
//! -exec` come back here with the command they hide, so a hidden command meets the same
//! tables. Anything a later rule looks at (the repository of a `git` step, say) is one more
//! function that adds findings in [`judge_command`].

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::{Effect, Tier};

use super::findings::{Findings, excerpt};
use super::rules::forms::CommandForm;
use super::spec::{
    ArgOrder, ArgPart, ArgPosition, ArgToken, JudgeContext, Judges, Operands, ProgramCall, Spec,
    Takes, ValueKind, is_doubtful, operands,
};
use super::{
    Launch, PathKind, PolicyContext, WriteOpening, args, checks, malformed, paths, rules,
    sensitive, shell, user_rules, wrappers,
};

mod identify;

pub use identify::own_program;

use identify::{ProgramOwner, check_allow_list, identify};

const MAX_DEPTH: usize = 8;

/// The judges that checks call back.
static JUDGES: Judges =
    Judges { find_row: rules::find, judge_row, judge_command, judge_line: shell::judge_line };

/// The context of a step in this folder.
pub fn judge_context(policy_cx: PolicyContext<'_>, cwd: PathBuf) -> JudgeContext<'_> {
    JudgeContext { policy_cx, cwd, in_line: false, judges: &JUDGES }
}

/// Judges `name` with `args`; `named` is the argument that contains the name, if one does.
pub fn judge_command(
    name: &str,
    named: Option<usize>,
    args: &[String],
    position: ArgPosition,
    depth: usize,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) {
    if depth > MAX_DEPTH || !findings.count_command() {
        findings.add("wrap.depth", Tier::L2, phrases::TOO_DEEP, named, &[Effect::Exec]);
        return;
    }
    if !malformed::check_program_name(name, named, findings) {
        return;
    }
    findings.record_program(name);
    if named.is_some() || position == ArgPosition::Line {
        findings.record_start(name);
    }
    user_rules::check_command(name, named, args, context, findings);
    if judge_shell_lookup(name, args, position, findings) {
        return;
    }
    let Some((short, whose)) = identify(name, named, context, findings) else { return };
    let row = rules::find(short);
    if whose == ProgramOwner::System {
        check_allow_list(short, name, named, row.is_some(), context, findings);
    }
    // A row that promises L0 as a whole reads no settings of the project.
    findings.of_folder |=
        whose == ProgramOwner::Project || row.is_none_or(|(spec, _)| spec.tier != Tier::L0);
    if let Some((spec, id)) = row {
        let call =
            ProgramCall { id: id.to_owned(), name: short, args, seat: position, depth, context };
        record_started_programs(spec, name, context, findings);
        match args {
            [only] if is_help(only) && prints_own_help(spec) => {
                findings.add(id, Tier::L0, spec.why.with("program", short), None, &[Effect::Read]);
            }
            _ if matches_harmless_form(short, &call, findings) => {}
            _ => judge_row(spec, &call, findings),
        }
    }
}

/// `type NAME` and `command -v NAME`, which a shell answers by itself: one is started for
/// it, with the words as its own arguments.
fn judge_shell_lookup(
    name: &str,
    args: &[String],
    position: ArgPosition,
    findings: &mut Findings,
) -> bool {
    let Some(line) =
        shell::shell_lookup_line(name, args).filter(|_| position == ArgPosition::From(0))
    else {
        return false;
    };
    let say = phrases::ONLY_READS.with("program", name.to_owned());
    findings.add("shell.lookup", Tier::L0, say, None, &[Effect::Read]);
    let first = ["-c", line, "sh"].map(|word| (0, word.to_owned()));
    findings.launch.inserted.extend(first);
    true
}

/// Whether the whole of a call is one of the harmless forms of its program, which then is
/// all there is to say.
fn matches_harmless_form(key: &str, call: &ProgramCall<'_>, findings: &mut Findings) -> bool {
    let given = if key == "jq" { checks::unnamed(call.args) } else { None };
    if let (Some(args), Some((spec, _))) = (given, rules::find(key)) {
        let mut found = Findings::default();
        judge_row(spec, &ProgramCall { args: &args, ..call.clone() }, &mut found);
        if found.tier_or(Tier::L1) == Tier::L0 && found.launch == Launch::default() {
            findings.merge(&found);
            return true;
        }
    }
    rules::forms::of(key).any(|form| matches_form(form, call, findings))
}

fn matches_form(form: &CommandForm, call: &ProgramCall<'_>, findings: &mut Findings) -> bool {
    // A shell line stays where it is, and takes no arguments from here.
    let (at, inserted) = form.inserted;
    let changed = form.empty_folder || !inserted.is_empty();
    if changed && !matches!(call.seat, ArgPosition::From(_)) {
        return false;
    }
    let tokens = args::parse(call.args, &form.spec);
    let mut found = Findings::default();
    if !form.needs.iter().all(|needed| args::find_flag(&tokens, needed).is_some()) {
        return false;
    }
    judge_row(&form.spec, call, &mut found);
    if found.tier_or(Tier::L1) > Tier::L0 {
        return false;
    }
    record_started_programs(&form.spec, call.name, call.context, &mut found);
    found.launch.empty_folder |= form.empty_folder;
    inserted.iter().for_each(|word| call.insert(at, word, &mut found));
    findings.merge(&found);
    true
}

/// Records the programs that a row says its program starts.
fn record_started_programs(
    spec: &Spec,
    name: &str,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) {
    spec.starts.iter().for_each(|name| findings.record_start(name));
    if spec.helpers.is_empty() {
        return;
    }
    let world = context.policy_cx.world;
    let Some(program) = world.program(name) else { return };
    let Some(above) = program.path.parent().and_then(Path::parent) else { return };
    let places = spec.helpers.iter().map(|place| above.join(place));
    let there = places.filter(|place| world.kind(place) != PathKind::Missing);
    findings.launch.helpers.extend(there);
}

/// The row's verdict on a call.
pub fn judge_row(spec: &Spec, call: &ProgramCall<'_>, findings: &mut Findings) {
    if let Some(form) = spec.quiet.iter().find(|form| same_words(form, call.args)) {
        // Many programs look into their current folder before they print their version.
        let version = VERSION.contains(form) && spec.quiet.contains(&VERSION[0]);
        match call.seat {
            ArgPosition::From(_) => findings.launch.empty_folder |= version,
            ArgPosition::Within(_) | ArgPosition::Line if version => call.mark_unguarded(findings),
            ArgPosition::Within(_) | ArgPosition::Line => {}
        }
        let say = phrases::ONLY_READS.with("program", call.name.to_owned());
        findings.add(call.id.clone(), Tier::L0, say, None, &[Effect::Read]);
        return;
    }
    findings.by_language |= spec.by_language;
    let tokens = args::parse(call.args, spec);
    if spec.argument_files {
        check_argument_files(call, findings);
    }
    check_dangers(spec, call, &tokens, findings);
    if let Some(check) = spec.check {
        check(call, &tokens, findings);
    }
    if !spec.subs.is_empty() {
        judge_sub_command(spec, call, &tokens, findings);
        return;
    }
    add_row_finding(spec, call, None, findings);
    if spec.tier == Tier::L0 {
        check_options(call, &tokens, findings);
    }
    check_operands(spec, call, &tokens, findings);
}

/// `@FILE` means arguments read from a file, wherever it appears.
fn check_argument_files(call: &ProgramCall<'_>, findings: &mut Findings) {
    for (at, arg) in call.args.iter().enumerate().filter(|(_, arg)| arg.starts_with('@')) {
        let say = phrases::READS_ARGUMENTS.with("arg", excerpt(arg));
        let say = say.with("program", call.name.to_owned());
        call.ask("arguments", say, at, &[Effect::Outside], findings);
    }
}

fn add_row_finding(
    spec: &Spec,
    call: &ProgramCall<'_>,
    arg: Option<usize>,
    findings: &mut Findings,
) {
    let say = spec.why.with("program", excerpt(&call.id.replace('.', " ")));
    let mut effects = Cow::Borrowed(spec.effects);
    if spec.tier > Tier::L0 && checks::sends(call, spec.effects) {
        effects.to_mut().extend([Effect::Network, Effect::Send]);
    }
    findings.add(call.id.clone(), spec.tier, say, arg, &effects);
}

fn check_dangers(
    spec: &Spec,
    call: &ProgramCall<'_>,
    tokens: &[ArgToken<'_>],
    findings: &mut Findings,
) {
    for danger in spec.dangers {
        let hits: Option<Vec<_>> =
            danger.all.iter().map(|spellings| args::find_flag(tokens, spellings)).collect();
        if let Some(first) = hits.as_ref().and_then(|hits| hits.first()) {
            let text = call.args.get(first.at).map_or("", String::as_str);
            let say = danger.why.with("arg", excerpt(text)).with("program", call.name.to_owned());
            call.add_finding(danger.id, danger.tier, say, first.at, danger.effects, findings);
        }
    }
}

/// Raises whatever option is not on the row's list, and looks at the files that
/// options name.
fn check_options(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    for token in tokens {
        let ArgPart::Flag { name, value, known } = &token.part else { continue };
        match (known, value) {
            (None | Some(Takes::Risky | Takes::Value(ValueKind::Danger)), _) => {
                if !findings.has_warning_at(call.seat.arg(token.at)) {
                    let say = phrases::OPTION_UNKNOWN.with("option", excerpt(name));
                    let say = say.with("program", call.name.to_owned());
                    call.ask("option", say, token.at, &[], findings);
                }
            }
            (Some(Takes::Value(kind) | Takes::Attached(kind)), Some(value)) => match kind {
                ValueKind::Path => call.check_read(value, token.at, findings),
                ValueKind::Glob if names_secrets(value) => {
                    call.ask_sensitive(value, token.at, findings);
                }
                // Another version of the program may take no value there.
                ValueKind::Text if token.separate && value.chars().count() > 1 => {
                    call.check_read(value, token.at + 1, findings);
                }
                ValueKind::Glob | ValueKind::Text | ValueKind::Sure | ValueKind::Danger => {}
            },
            // An argument added at the start would be taken for the value.
            (Some(Takes::Value(_)), None) => {
                let say = phrases::OPTION_LACKS_VALUE.with("option", excerpt(name));
                let say = say.with("program", call.name.to_owned());
                call.ask("value", say, token.at, &[], findings);
            }
            (Some(Takes::Nothing | Takes::Attached(_)), _) => {}
        }
    }
}

fn check_operands(
    spec: &Spec,
    call: &ProgramCall<'_>,
    tokens: &[ArgToken<'_>],
    findings: &mut Findings,
) {
    let words: Vec<(usize, &str)> = operands(tokens).collect();
    match spec.grammar.operands {
        Operands::Text => {}
        Operands::None => check_operand_count(call, &words, 0, findings),
        Operands::Reads(most) => {
            check_operand_count(call, &words, most, findings);
            words.iter().for_each(|(at, text)| call.check_read(text, *at, findings));
        }
        Operands::Lists => words.iter().for_each(|(at, text)| call.check_list(text, *at, findings)),
        Operands::PatternThenReads(givers) => {
            let skip = usize::from(args::find_flag(tokens, givers).is_none());
            words.iter().skip(skip).for_each(|(at, text)| call.check_read(text, *at, findings));
        }
        Operands::Writes => {
            for (at, text) in &words {
                let opening = call.written_argument(text, *at).unwrap_or(WriteOpening::Existing);
                call.check_output(text, *at, opening, findings);
            }
            check_unknown_options(call, tokens, findings);
        }
        Operands::ReadsThenWrites => {
            let (last, rest) = words.split_last().map_or((None, &[][..]), |(l, r)| (Some(l), r));
            for (at, text) in rest {
                // What is moved away from a place outside changes it.
                if ["mv", "gmv"].contains(&call.name) && call.is_outside(text) {
                    call.check_write(text, *at, findings);
                } else {
                    call.check_read(text, *at, findings);
                }
            }
            last.into_iter().for_each(|(at, text)| call.check_write(text, *at, findings));
            check_unknown_options(call, tokens, findings);
        }
        Operands::Named => {
            let mut check = |text: &str, at: usize| match call.id.as_str() {
                // It reads nothing of a file.
                "test" | "[" => call.check_list(text, at, findings),
                _ => call.check_read(text, at, findings),
            };
            words.iter().for_each(|(at, text)| check(text, *at));
            let parts = words.iter().flat_map(|(at, text)| {
                text.split([':', '=', ',']).filter(|part| !part.is_empty()).map(|part| (*at, part))
            });
            parts.for_each(|(at, part)| check(part, at));
        }
        Operands::Loose => {
            words.iter().for_each(|(at, text)| check_possible_paths(call, text, *at, findings));
            check_unknown_options(call, tokens, findings);
        }
        Operands::Command(own) => wrappers::judge_wrapped(call, tokens, own, findings),
    }
}

fn check_operand_count(
    call: &ProgramCall<'_>,
    words: &[(usize, &str)],
    most: usize,
    findings: &mut Findings,
) {
    if let Some((at, text)) = words.get(most) {
        call.ask_operand(text, *at, &[Effect::Write], findings);
    }
}

/// Looks at the values of options with an unknown meaning.
fn check_unknown_options(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    for token in tokens {
        if let ArgPart::Flag { value: Some(value), .. } = token.part {
            check_possible_paths(call, value, token.at, findings);
        } else if let (ArgPart::Flag { known: None, .. }, Some(text)) =
            (&token.part, call.args.get(token.at))
        {
            let attached = text.find(['/', '~']).and_then(|at| text.get(at..));
            attached
                .into_iter()
                .for_each(|text| check_possible_paths(call, text, token.at, findings));
        }
    }
}

fn check_possible_paths(call: &ProgramCall<'_>, text: &str, at: usize, findings: &mut Findings) {
    if text.contains("://") && !text.starts_with("file:") {
        return;
    }
    for part in text.split(['=', '@', ':', ',']).filter(|part| paths::looks_like_path(part)) {
        match call.written_argument(part, at).filter(|_| call.is_outside(part)) {
            Some(opening) => call.check_output(part, at, opening, findings),
            None => call.check_read(part, at, findings),
        }
    }
}

fn judge_sub_command(
    spec: &Spec,
    call: &ProgramCall<'_>,
    tokens: &[ArgToken<'_>],
    findings: &mut Findings,
) {
    let first = operands(tokens).next();
    match first.and_then(|(at, name)| Some((at, spec.sub(name)?))) {
        Some((at, (sub, id))) => {
            check_options(call, tokens, findings);
            let context =
                JudgeContext { cwd: call.folder_after_chdir(tokens), ..call.context.clone() };
            judge_sub_row(
                sub,
                id,
                &ProgramCall { context: &context, ..call.clone() },
                at,
                findings,
            );
        }
        None => {
            add_row_finding(spec, call, first.and_then(|(at, _)| call.seat.arg(at)), findings);
            operands(tokens).for_each(|(at, text)| check_possible_paths(call, text, at, findings));
            check_unknown_options(call, tokens, findings);
        }
    }
    // An unknown option may take the next argument, and then the sub-command comes later.
    if spec.grammar.order == ArgOrder::Posix && is_doubtful(tokens) {
        let from = first.map_or(0, |(at, _)| at);
        for (at, name) in call.args.iter().enumerate().skip(from) {
            if let Some((sub, id)) = spec.sub(name)
                && findings.count_command()
            {
                judge_sub_row(sub, id, call, at, findings);
            }
        }
    }
}

fn judge_sub_row(
    spec: &Spec,
    id: &str,
    call: &ProgramCall<'_>,
    at: usize,
    findings: &mut Findings,
) {
    let call = ProgramCall {
        id: format!("{}.{id}", call.id),
        args: call.args.get(at + 1..).unwrap_or_default(),
        seat: call.seat.offset_by(at + 1),
        ..call.clone()
    };
    if !matches_harmless_form(&call.id, &call, findings) {
        judge_row(spec, &call, findings);
    }
}

/// Questions for a version.
const VERSION: &[&str] = &["--version", "-V", "-v", "version", "--no-pager --version"];

fn is_help(arg: &str) -> bool {
    arg == "--help" || arg == "--version"
}

/// Programs of one row that print their help without starting another.
fn prints_own_help(spec: &Spec) -> bool {
    spec.tier == Tier::L0 && spec.subs.is_empty()
}

fn same_words(form: &str, args: &[String]) -> bool {
    form.split_ascii_whitespace().eq(args.iter().map(String::as_str))
}

/// A file that is left out is not read.
fn names_secrets(glob: &str) -> bool {
    !glob.starts_with('!') && sensitive::targets_credentials(glob)
}
