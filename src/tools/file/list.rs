//! `file.list`: the names below a folder.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use tokio_util::sync::CancellationToken;

use super::{FileToolResult, cancelled, reason};
use avocet_core::i18n::{LocalizedText, tools as phrases};
use avocet_core::protocol::ParsedOutput;
use avocet_core::text::path_text;
use avocet_safety::tools::ListTask;

/// Names that are given, and that are counted.
const NAMES: usize = 600;
const COUNTED: usize = 200_000;
const BYTES: usize = 32 * 1024;

pub fn run(list: &ListTask, cancel: &CancellationToken) -> FileToolResult {
    let spot = &list.spot;
    let meta = match std::fs::symlink_metadata(&spot.path) {
        Ok(meta) => meta,
        Err(error) => return FileToolResult::failed(reason(&spot.shown, &spot.path, &error)),
    };
    if !meta.is_dir() {
        let size = phrases::SIZE.with("path", spot.shown.as_str()).with("bytes", meta.len());
        return FileToolResult {
            note: Some(size),
            ..file_list(1, spot.shown.clone() + "\n", false)
        };
    }
    let glob = match list.glob.as_deref().map(matcher).transpose() {
        Ok(glob) => glob,
        Err(say) => return FileToolResult::failed(say),
    };
    let (mut out, mut total, mut cut) = (String::new(), 0_usize, false);
    for entry in walk(&spot.path, list.all, &list.closed)
        .max_depth(list.depth)
        .build()
        .filter_map(Result::ok)
    {
        if cancel.is_cancelled() {
            return cancelled();
        }
        if entry.depth() == 0 {
            continue;
        }
        let Ok(inner) = entry.path().strip_prefix(&spot.path) else { continue };
        if glob.as_ref().is_some_and(|glob| !glob_matches(glob, inner)) {
            continue;
        }
        total += 1;
        if total > COUNTED {
            break;
        }
        let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let link = entry.path_is_symlink();
        let name = path_text(inner);
        if total > NAMES || out.len() + name.len() > BYTES {
            cut = true;
            continue;
        }
        out.push_str(&name);
        out.push_str(match (folder, link) {
            (_, true) => "@\n",
            (true, _) => "/\n",
            (false, _) => "\n",
        });
    }
    let mut done = file_list(total, out, cut);
    if cut {
        done.note = Some(phrases::LIST_CUT.with("total", total));
    } else if total == 0 {
        done.note = Some(phrases::LIST_NOTHING.into());
    }
    done
}

fn file_list(total: usize, stdout: String, truncated: bool) -> FileToolResult {
    let parsed = ParsedOutput { kind: "file_list".to_owned(), total, items: Vec::new() };
    FileToolResult { stdout, truncated, parsed: Some(parsed), ..FileToolResult::default() }
}

/// The names below a folder: ignore files count, links are not followed. `all`: hidden and
/// ignored names as well, except git's own folder. What is closed is passed over.
pub(super) fn walk(root: &Path, all: bool, closed: &[PathBuf]) -> WalkBuilder {
    let closed = closed.to_vec();
    let mut walk = WalkBuilder::new(root);
    walk.follow_links(false)
        .require_git(false)
        .hidden(!all)
        .ignore(!all)
        .git_ignore(!all)
        .git_exclude(!all)
        .parents(!all)
        .git_global(false)
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .filter_entry(move |entry| {
            entry.depth() == 0
                || (entry.file_name() != ".git" && !closed.iter().any(|own| own == entry.path()))
        });
    walk
}

pub(super) fn matcher(glob: &str) -> Result<GlobMatcher, LocalizedText> {
    let built = GlobBuilder::new(glob.trim_start_matches("./")).literal_separator(true).build();
    built.map(|glob| glob.compile_matcher()).map_err(|error| {
        phrases::GLOB_WRONG.with("glob", glob).with("why", error.kind().to_string())
    })
}

/// A glob without a folder is about names, as `*.rs`.
pub(super) fn glob_matches(glob: &GlobMatcher, inner: &Path) -> bool {
    let bare = !glob.glob().glob().contains('/');
    glob.is_match(inner) || (bare && inner.file_name().is_some_and(|name| glob.is_match(name)))
}
