//! What a step plants beside the files themselves: pointers, links, pipes, programs that git runs.

use super::*;

#[test]
fn other_repositories_that_a_step_names_or_links_to_are_left_alone() {
    type Plant = fn(&Path, &Path);
    let plants: [Plant; 5] = [
        |root, other| {
            fs::write(root.join("sub/.git"), format!("gitdir: {}\n", other.display())).unwrap();
        },
        |root, _| fs::write(root.join("sub/.git"), "gitdir: ../src\n").unwrap(),
        |root, other| symlink(other, root.join("sub/.git")).unwrap(),
        |root, other| symlink(other, root.join(".git/modules/new")).unwrap(),
        |root, other| {
            fs::remove_dir_all(root.join(".git/modules/lib")).unwrap();
            symlink(other, root.join(".git/modules/lib")).unwrap();
        },
    ];
    for plant in plants {
        let (_temp, root) = repository();
        let other = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
        let names = ["config", "hooks/pre-push", "info/attributes"];
        for folder in [other.path(), &root.join("src")] {
            for name in names {
                fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
                fs::write(folder.join(name), "own").unwrap();
            }
        }
        fs::create_dir(root.join("sub")).unwrap();
        fs::write(root.join("lib.git"), "gitdir: .git/modules/lib\n").unwrap();
        let guarded = begin(&root);
        plant(&root, other.path());
        assert!(!guarded.names().is_empty());
        for folder in [other.path(), &root.join("src")] {
            for name in names {
                let text = fs::read_to_string(folder.join(name)).ok();
                assert_eq!(text.as_deref(), Some("own"), "{folder:?} {name}");
            }
        }
    }
}

#[test]
fn a_repository_behind_a_link_is_guarded() {
    let (_temp, root) = repository();
    fs::rename(root.join(".git"), root.join("real")).unwrap();
    symlink("real", root.join(".git")).unwrap();
    let guarded = begin(&root);
    fs::write(root.join("real/hooks/pre-push"), "x").unwrap();
    assert_eq!(guarded.names(), ["real/hooks/pre-push"]);
}

#[test]
fn programs_that_a_stopped_rebase_runs_are_those_that_were_in_its_list() {
    let (_temp, root) = repository();
    let list = root.join(".git/rebase-merge/git-rebase-todo");
    fs::create_dir(root.join(".git/rebase-merge")).unwrap();
    fs::write(&list, "pick 1 a\nexec make test\npick 2 b\n").unwrap();
    let guarded = begin(&root);
    fs::write(&list, "exec make test\npick 2 b\n").unwrap();
    assert_eq!(guarded.names(), [""; 0], "git went on");
    for evil in ["exec ./evil", "x ./evil", "\texec make test; ./evil"] {
        fs::write(&list, format!("{evil}\npick 2 b\n")).unwrap();
        assert_eq!(guarded.names(), [".git/rebase-merge/git-rebase-todo"], "{evil}");
    }
    fs::remove_dir_all(root.join(".git/rebase-merge")).unwrap();
    for (guarded_files, stays) in
        [(GuardedFiles::Repositories, true), (GuardedFiles::Followed, false)]
    {
        let guarded = begin(&root);
        fs::create_dir_all(root.join(".git/rebase-merge")).unwrap();
        fs::write(&list, "exec make test\n").unwrap();
        guarded.put_back(&guarded_files);
        assert_eq!(list.exists(), stays, "{guarded_files:?}");
        let _ = fs::remove_dir_all(root.join(".git/rebase-merge"));
    }
}

#[test]
fn programs_of_the_project_that_settings_of_git_name_are_put_back() {
    let (_temp, root) = repository();
    let settings = "[filter \"a\"]\nclean = python3 tools/clean.py --x\n[alias]\nx = !./tools/x.sh\n\
        [core]\nfsmonitor = tools/watch\n[remote \"o\"]\nurl = tools/other\n";
    fs::write(root.join(".git/config"), settings).unwrap();
    for name in ["clean.py", "x.sh", "other", "plain"] {
        fs::write(root.join("tools").join(name), "x").unwrap();
    }
    let guarded = begin(&root);
    for name in ["clean.py", "x.sh", "other", "plain", "watch"] {
        fs::write(root.join("tools").join(name), "new").unwrap();
    }
    assert_eq!(guarded.names(), ["tools/clean.py", "tools/watch", "tools/x.sh"]);
}

#[test]
fn a_pipe_in_the_place_of_a_file_holds_nothing_up() {
    let (_temp, root) = repository();
    let guarded = begin(&root);
    fs::create_dir(root.join("sub")).unwrap();
    fs::create_dir_all(root.join("other/.git")).unwrap();
    let pipes = ["sub/.git", "other/.git/config", ".git/commondir", ".git/hooks/x", ".envrc"];
    for name in pipes {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, root.join(name), rustix::fs::FileType::Fifo, mode, 0)
            .unwrap();
    }
    assert_eq!(guarded.names().len(), pipes.len());
}

#[test]
fn a_step_names_no_folder_as_the_remote_of_a_push() {
    let (_temp, root) = repository();
    let config = root.join(".git/config");
    let settings = "[remote \"origin\"]\n\turl = https://x.example/y\n";
    fs::write(&config, settings).unwrap();
    let guarded = begin(&root);
    for folder in ["remotes", "branches"] {
        fs::create_dir_all(root.join(".git").join(folder)).unwrap();
        fs::write(root.join(".git").join(folder).join("up"), "URL: ./evil\n").unwrap();
    }
    fs::write(&config, format!("{settings}[branch \"main\"]\n\tremote = evil\n")).unwrap();
    assert_eq!(guarded.names(), [".git/branches/up", ".git/config", ".git/remotes/up"]);
    // As a push does that remembers where it went.
    let tracks = "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
    fs::write(&config, format!("{settings}{tracks}")).unwrap();
    assert_eq!(guarded.names(), [""; 0]);
}

#[test]
fn a_repository_in_a_folder_of_built_files_is_none_again_and_one_that_was_fetched_stays() {
    let (_temp, root) = repository();
    for name in ["target/debug", "node_modules/a", "web/.venv/lib", "target/own/.git/objects"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    for n in 0..300 {
        fs::create_dir(root.join(format!("node_modules/p{n}"))).unwrap();
    }
    let origin = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://x.example/y\n";
    fs::write(root.join("target/own/.git/config"), origin).unwrap();
    let evil = "[core]\n\tfsmonitor = ./evil\n";
    let guarded = begin(&root);
    let planted = ["target", "target/debug", "node_modules/new", "web/.venv/lib", "target/own"];
    for name in planted {
        fs::create_dir_all(root.join(name).join(".git/hooks")).unwrap();
        fs::write(root.join(name).join(".git/config"), evil).unwrap();
        fs::write(root.join(name).join(".git/hooks/pre-commit"), "x").unwrap();
    }
    // Without a folder of its own, and by a pointer.
    for name in
        ["target/bare/objects", "target/bare/refs", "target/fetched/.git", "node_modules/by"]
    {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    fs::write(root.join("target/bare/HEAD"), "ref: refs/heads/x\n").unwrap();
    fs::write(root.join("target/bare/config"), evil).unwrap();
    fs::write(root.join("node_modules/by/.git"), "gitdir: ../../target/bare\n").unwrap();
    fs::write(root.join("target/fetched/.git/config"), origin).unwrap();
    let names = guarded.names();
    assert_eq!(names.len(), 2 * planted.len() + 2, "{names:?}");
    for name in planted {
        let text = fs::read_to_string(root.join(name).join(".git/config")).ok();
        assert_eq!(text.as_deref(), (name == "target/own").then_some(origin), "{name}");
        assert!(!root.join(name).join(".git/hooks/pre-commit").exists(), "{name}");
    }
    assert!(!root.join("node_modules/by/.git").exists() && !root.join("target/bare/HEAD").exists());
    assert!(root.join("target/fetched/.git/config").exists());
}

#[test]
fn a_repository_whose_objects_are_elsewhere_is_none_again() {
    let evil = "[core]\n\tpager = ./evil\n[alias]\n\tst = !./evil\n";
    for (names, links) in [
        (&["x/commondir", "evil/config"][..], &[][..]),
        (&["x/config"], &[("x/objects", "../evil/objects"), ("x/refs", "../evil/refs")]),
        (&["x/config", "x/commondir"], &[("x/objects", "../evil/objects")]),
    ] {
        let (_temp, root) = repository();
        for name in ["x", "evil/objects", "evil/refs"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let guarded = begin(&root);
        fs::write(root.join("x/HEAD"), "ref: refs/heads/main\n").unwrap();
        for name in names {
            let text = if name.ends_with("config") { evil } else { "../evil\n" };
            fs::write(root.join(name), text).unwrap();
        }
        links.iter().for_each(|(link, to)| symlink(to, root.join(link)).unwrap());
        assert!(guarded.names().contains(&"x/HEAD".to_owned()), "{names:?}");
        assert!(!root.join("x/HEAD").exists(), "{names:?}");
    }
    // The repository of a submodule.
    let (_temp, root) = repository();
    fs::rename(root.join(".git/modules/lib/objects"), root.join("objects")).unwrap();
    symlink("../../../objects", root.join(".git/modules/lib/objects")).unwrap();
    let guarded = begin(&root);
    fs::write(root.join(".git/modules/lib/config"), evil).unwrap();
    assert_eq!(guarded.names(), [".git/modules/lib/config"]);
}
