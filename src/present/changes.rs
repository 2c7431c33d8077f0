//! Changed files, for frontends without a view of their own.

use super::question_lines::diff_lines;
use avocet_core::i18n::{Phrase, session as phrases};
use avocet_core::protocol::{Change, Page, PageRow};

/// A path as it is shown in a folder.
pub fn relative_path<'a>(path: &'a str, cwd: &str) -> &'a str {
    let inner = path.strip_prefix(cwd).and_then(|rest| rest.strip_prefix('/'));
    inner.unwrap_or(path)
}

/// All changes with their diffs, for frontends without a view of their own.
pub fn changes_page(cwd: &str, changes: &[Change], uncommitted: Option<&[Change]>) -> Page {
    let is_known = uncommitted.is_some();
    let uncommitted = uncommitted.unwrap_or_default();
    let mut rows = Vec::new();
    for change in changes {
        push_change(cwd, change, &mut rows);
    }
    if !uncommitted.is_empty() {
        rows.push(PageRow::heading(phrases::UNCOMMITTED));
    }
    for change in uncommitted {
        push_change(cwd, change, &mut rows);
    }
    if rows.is_empty() {
        rows.push(PageRow::line(no_changes(!is_known)));
    }
    Page { title: phrases::CHANGED_FILES.into(), rows }
}

/// The sentence where nothing is shown.
pub fn no_changes(has_unknown: bool) -> Phrase {
    if has_unknown { phrases::CHANGED_NOTHING_KNOWN } else { phrases::CHANGED_NOTHING }
}

fn push_change(cwd: &str, change: &Change, rows: &mut Vec<PageRow>) {
    let sum = format!("+{} -{}", change.added, change.removed);
    rows.push(PageRow::pair(relative_path(&change.path, cwd).to_owned(), sum));
    rows.extend(diff_lines(change).into_iter().skip(1).map(PageRow::line));
}
