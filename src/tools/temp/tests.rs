//! Where temporary files are, and what is left of them.

use rustix::process::getpid;

use super::*;

fn names(place: &Path) -> Vec<String> {
    let names = fs::read_dir(place).unwrap().flatten();
    let mut names: Vec<String> =
        names.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn place() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn run_folder(place: &tempfile::TempDir) -> RunFolder {
    RunFolder::new([place.path().to_owned()])
}

/// A number no process has.
const NO_PROCESS: i32 = i32::MAX - 7;

fn leftover(place: &Path, pid: i32, start: u64) -> PathBuf {
    let path = place.join(format!("avocet-{}-{pid}-{start}", getuid().as_raw()));
    fs::create_dir_all(path.join("step-1/deep")).unwrap();
    fs::write(path.join("step-1/deep/file"), "x").unwrap();
    path
}

#[test]
fn all_temporary_files_of_a_run_are_in_one_private_folder_removed_with_it() {
    let place = place();
    let run = run_folder(&place);
    assert!(names(place.path()).is_empty(), "nothing is made before it is needed");
    let (one, two) = (run.create_folder("step").unwrap(), run.create_folder("edit").unwrap());
    fs::write(one.path().join("file"), "x").unwrap();
    let inside = names(place.path());
    assert_eq!(inside.len(), 1);
    let expected = format!("avocet-{}-{}", getuid().as_raw(), owner::this_process());
    assert_eq!(inside[0], expected);
    for folder in [place.path().join(&inside[0]), one.path().to_owned()] {
        assert_eq!(fs::metadata(folder).unwrap().mode() & 0o777, 0o700);
    }
    drop(one);
    assert_eq!(names(&place.path().join(expected)).len(), 1);
    run.close();
    assert!(names(place.path()).is_empty());
    assert!(run.create_folder("late").is_err(), "nothing is made after the end");
    drop(two);
}

#[test]
fn folders_a_step_closed_are_removed_too() {
    let place = place();
    let run = run_folder(&place);
    let folder = run.create_folder("step").unwrap();
    let deep = folder.path().join("a/b");
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("file"), "x").unwrap();
    for path in [&deep, deep.parent().unwrap()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    }
    let path = folder.path().to_owned();
    drop(folder);
    assert!(!path.exists());
}

#[test]
fn leftovers_of_dead_runs_are_removed_and_nothing_else() {
    let place = place();
    let own = getpid().as_raw_nonzero().get();
    let dead = leftover(place.path(), NO_PROCESS, 5);
    let reused = leftover(place.path(), own, owner::start_time(own).unwrap_or(9) + 1);
    let alive = leftover(place.path(), own, owner::start_time(own).unwrap_or(0));
    let foreign = place.path().join(format!("avocet-{}-{NO_PROCESS}-5", getuid().as_raw() + 1));
    let other = place.path().join("avocet-notes");
    fs::create_dir_all(&foreign).unwrap();
    fs::create_dir_all(&other).unwrap();
    sweep(&[place.path().to_owned()]);
    assert!(!dead.exists() && !reused.exists());
    assert!(alive.exists() && foreign.exists() && other.exists());
}

#[test]
fn links_planted_where_folders_are_made_or_swept_lead_nowhere() {
    let place = place();
    let victim = tempfile::tempdir().unwrap();
    fs::write(victim.path().join("file"), "mine").unwrap();
    let link = |name: String| {
        std::os::unix::fs::symlink(victim.path(), place.path().join(name)).unwrap();
    };
    let user = getuid().as_raw();
    link(format!("avocet-{user}-{NO_PROCESS}-5"));
    link(format!("avocet-{user}-{}", owner::this_process()));
    let dead = leftover(place.path(), NO_PROCESS - 1, 5);
    std::os::unix::fs::symlink(victim.path(), dead.join("step-1/link")).unwrap();
    // Before the run's own thread sweeps, which holds the lock while it removes.
    sweep(&[place.path().to_owned()]);
    assert!(!dead.exists());
    let run = run_folder(&place);
    let own = run.create_folder("step");
    if let Ok(own) = &own {
        assert!(!own.path().canonicalize().unwrap().starts_with(victim.path()));
        fs::write(own.path().join("file"), "ours").unwrap();
    }
    drop(own);
    run.close();
    assert_eq!(names(victim.path()), ["file"]);
    assert_eq!(fs::read_to_string(victim.path().join("file")).unwrap(), "mine");
}

#[test]
fn a_locked_folder_is_not_swept() {
    let place = place();
    let held = leftover(place.path(), NO_PROCESS, 5);
    let lock = lock(&held).unwrap();
    sweep(&[place.path().to_owned()]);
    assert!(held.exists(), "a run in another container lives");
    drop(lock);
    sweep(&[place.path().to_owned()]);
    assert!(!held.exists());
}

#[test]
fn links_are_not_followed() {
    let (place, outside) = (place(), place());
    fs::write(outside.path().join("precious"), "x").unwrap();
    let planted = place.path().join(format!("avocet-{}-{NO_PROCESS}-5", getuid().as_raw()));
    std::os::unix::fs::symlink(outside.path(), &planted).unwrap();
    let dead = leftover(place.path(), NO_PROCESS, 6);
    std::os::unix::fs::symlink(outside.path(), dead.join("link")).unwrap();
    sweep(&[place.path().to_owned()]);
    assert!(!dead.exists());
    assert!(outside.path().join("precious").exists());
    // Where the run's own name is taken, another is found.
    let own = place.path().join(format!("avocet-{}-{}", getuid().as_raw(), owner::this_process()));
    std::os::unix::fs::symlink(outside.path(), own).unwrap();
    let run = run_folder(&place);
    let folder = run.create_folder("step").unwrap();
    assert!(folder.path().starts_with(place.path()));
    assert_eq!(names(outside.path()), ["precious"]);
}

#[test]
fn an_unusable_folder_is_reported_and_the_next_one_is_used() {
    let good = place();
    let missing = good.path().join("missing");
    let run = RunFolder::new([missing.clone(), good.path().to_owned()]);
    let said = run.fallback_warning().unwrap().text(avocet_core::i18n::Lang::En);
    assert!(said.contains(&missing.display().to_string()), "{said}");
    assert!(said.contains(&good.path().display().to_string()), "{said}");
    assert!(run.create_folder("step").unwrap().path().starts_with(good.path()));
    assert!(run_folder(&good).fallback_warning().is_none());
    let said = RunFolder::new([missing.clone()]).create_folder("step").unwrap_err().say();
    assert!(said.text(avocet_core::i18n::Lang::En).contains(&missing.display().to_string()));
}

#[test]
fn a_deleted_folder_is_created_again() {
    let place = place();
    let run = run_folder(&place);
    let first = run.create_folder("step").unwrap();
    fs::remove_dir_all(first.path().parent().unwrap()).unwrap();
    assert!(run.create_folder("step").unwrap().path().exists());
}

#[test]
fn a_folder_left_to_the_run_lasts_as_long_as_the_run() {
    let place = place();
    let run = run_folder(&place);
    let left = run.create_folder("outputs").unwrap().into_run();
    fs::write(left.join("long.txt"), "x").unwrap();
    assert!(left.exists());
    drop(run);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn a_kept_folder_outlives_the_run() {
    let place = place();
    let run = run_folder(&place);
    let folder = run.create_folder("edit").unwrap();
    fs::write(folder.path().join("message.md"), "x").unwrap();
    let kept = folder.keep();
    drop(run);
    assert!(kept.join("message.md").exists());
    sweep(&[place.path().to_owned()]);
    assert!(kept.join("message.md").exists());
}
