//! `avocet review`: one headless turn about a change, with tools that only read. What is found is
//! printed, and written to a code host only where the command line says so.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::key_source::user_command;
use super::runtime::runtime;
use super::startup::Startup;
use super::subcommands::print_text;
use super::task_turn::{TaskTurn, until_signal};
use crate::cli::args::ApprovalFlags;
use crate::cli::review::{
    FileDifference, ReviewFinding, ReviewFormat, ReviewOptions, answer_schema, checked_findings,
    diff_args, parse_diff, request,
};
use crate::cli::review_formats::{formatted, github_review, gitlab_note};
use crate::cli::schema::Schema;
use crate::cli::{Exit, output};
use avocet_config::diagnostic::io_reason;
use avocet_config::foreign_file::read_text;
use avocet_core::i18n::{LocalizedText, PhraseValue, cli, model as model_words, review as phrases};
use avocet_core::protocol::{ApprovalMode, Notice, Op, TurnOp};
use avocet_tools::exec::{run_git, run_git_into, run_user_program};

/// What the model may use.
const TOOLS: [&str; 3] = ["file.read", "file.list", "file.search"];
const TIMEOUT: Duration = Duration::from_secs(3600);
/// The largest change that is read, in bytes.
const MAX_CHANGE: u64 = 256 << 20;
const HOST_TIMEOUT: Duration = Duration::from_secs(60);

/// A review that failed.
struct ReviewError {
    why: LocalizedText,
    exit: Exit,
}

pub fn run(startup: Startup, options: &ReviewOptions) -> Exit {
    startup.report_problems();
    let can_comment = matches!(options.format, ReviewFormat::Github | ReviewFormat::Gitlab);
    if options.comment.is_some() && !can_comment {
        return startup.fail(&Notice::error(phrases::COMMENT_WHERE), Exit::WrongUse);
    }
    if startup.loaded.settings.connection.is_none() {
        let notice = Notice::error(cli::NO_MODEL).with_hint(model_words::HOW_TO_CONNECT);
        return startup.fail(&notice, Exit::Model);
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return startup.fail_io(&error),
    };
    let (done, signal) = runtime.block_on(until_signal(&startup, review(&startup, options)));
    runtime.shutdown_background();
    match (done, signal) {
        (_, Some(number)) => Exit::by_signal(number),
        (Some(Err(error)), _) => startup.fail(&Notice::error(error.why), error.exit),
        (Some(Ok(exit)), _) => exit,
        (None, None) => Exit::Failed,
    }
}

async fn review(startup: &Startup, options: &ReviewOptions) -> Result<Exit, ReviewError> {
    let (root, files) = change(startup, options).await?;
    let findings = if files.is_empty() {
        startup.fail(&Notice::info(phrases::NO_CHANGE), Exit::Done);
        Vec::new()
    } else {
        find(startup, &root, &files).await?
    };
    let printed = print_text(startup, &formatted(options.format, &findings));
    if let Some(number) = options.comment.filter(|_| !findings.is_empty()) {
        let failed = |why| ReviewError { why, exit: Exit::Failed };
        comment(startup, &root, options.format, number, &findings).await.map_err(failed)?;
    }
    let fails = |finding: &ReviewFinding| options.fail_on.is_some_and(|it| finding.severity <= it);
    let exit = if findings.iter().any(fails) { Exit::Failed } else { Exit::Done };
    Ok(if printed == Exit::Done { exit } else { printed })
}

/// The root of the working tree, and the change by its files.
async fn change(
    startup: &Startup,
    options: &ReviewOptions,
) -> Result<(PathBuf, Vec<FileDifference>), ReviewError> {
    let failed = |why: PhraseValue| {
        let why = phrases::NO_DIFF.with("why", why);
        ReviewError { why, exit: Exit::WrongUse }
    };
    let root = run_git(&startup.folder, &["rev-parse", "--show-toplevel"]).await;
    let root = root.map_err(|why| failed(why.into()))?;
    let root = PathBuf::from(root.trim_end_matches('\n'));
    let diff = read_change(startup, &root, options).await.map_err(failed)?;
    Ok((root, parse_diff(&diff)))
}

/// What git prints of it, by way of a file: it may be long.
async fn read_change(
    startup: &Startup,
    root: &Path,
    options: &ReviewOptions,
) -> Result<String, PhraseValue> {
    let folder = startup.shared.temp.create_folder("review").map_err(|error| error.say())?;
    let path = folder.path().join("change");
    let file = File::create(&path).map_err(|error| io_reason(&error))?;
    run_git_into(root, &diff_args(options), Some(&file)).await?;
    Ok(read_text(&path, MAX_CHANGE)?.unwrap_or_default())
}

/// Asks the model, whose answer counts where it fits the change.
async fn find(
    startup: &Startup,
    root: &Path,
    files: &[FileDifference],
) -> Result<Vec<ReviewFinding>, ReviewError> {
    let model = |why| ReviewError { why, exit: Exit::Model };
    let trusted = startup.trust.trusted_folder.as_deref();
    let mut inside = startup.in_folder(root.to_owned(), trusted, &startup.options);
    inside.run_options.mode = Some(ApprovalMode::Ask);
    inside.run_options.tools = TOOLS.map(str::to_owned).into();
    // What the command line allows is for sessions that work, not for this one.
    inside.run_options.allow.clear();
    let text = inside.redactor(true).mask(&request(files)).into_owned();
    let schema = Schema::parse("review", &answer_schema().to_string());
    let schema = schema.map_err(|_| model(phrases::NO_ANSWER.into()))?;
    let approved = ApprovalFlags::default();
    let turn = TaskTurn { startup: &inside, approved, schema: Some(schema), limit: TIMEOUT };
    let op = Op::Turn(TurnOp::Submit { text });
    let answer = turn.run(op, &mut output::stderr()).await.map_err(model)?;
    match answer.exit {
        // A step that did not run takes nothing from the answer.
        Exit::Done | Exit::Blocked => {}
        Exit::Limit => {
            return Err(ReviewError { why: phrases::NO_ANSWER.into(), exit: Exit::Limit });
        }
        _ => return Err(model(phrases::NO_ANSWER.into())),
    }
    let (findings, dropped) = checked_findings(&answer.text, files);
    if dropped > 0 {
        startup.fail(&Notice::warning(phrases::DROPPED.with("n", dropped)), Exit::Done);
    }
    Ok(findings)
}

/// Writes the findings into a pull or merge request.
async fn comment(
    startup: &Startup,
    root: &Path,
    format: ReviewFormat,
    number: u32,
    findings: &[ReviewFinding],
) -> Result<(), LocalizedText> {
    let (program, address, body) = if format == ReviewFormat::Gitlab {
        let address = format!("projects/:id/merge_requests/{number}/notes");
        ("glab", address, gitlab_note(findings))
    } else {
        let address = format!("repos/{{owner}}/{{repo}}/pulls/{number}/reviews");
        ("gh", address, github_review(findings))
    };
    let json = "content-type: application/json";
    let args = ["api", "--method", "POST", "--header", json, "--input", "-", &address];
    let args = args.map(str::to_owned);
    let command = user_command(&startup.environment, program, &args, HOST_TIMEOUT);
    let done = run_user_program(&command, root, body.to_string().as_bytes()).await?;
    done.success(program).map(drop)
}
