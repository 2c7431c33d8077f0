//! Ways past what is looked at after a step: programs that outlive it, attacks on Avocet itself, and
//! files that others follow by settings of the user.

use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;

use super::*;

/// Waits for what a program of the step does.
async fn wait_for(path: &Path) {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !path.exists() {
        assert!(std::time::Instant::now() < until, "{path:?}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_runs_below_a_daemon_or_only_names_one_ends_with_its_step() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    wall.identity();
    let root = wall.repository("code/shop");
    let evil = "#!/bin/sh\ntouch started; while ! test -e go; do sleep 0.05; done\n\
        touch planted; while test -d .git; do sleep 0.05; done\n";
    wall.write(&root.join("evil.sh"), evil);
    for line in [
        "git -c 'alias.x=!./evil.sh' x gc --auto",
        "exec -a 'sccache' bash ./evil.sh sccache",
        "GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=gc.autoPackLimit GIT_CONFIG_VALUE_0=1 \
         GIT_CONFIG_KEY_1=core.hooksPath GIT_CONFIG_VALUE_1=hooks git gc --auto",
    ] {
        wall.write(&root.join("hooks/pre-auto-gc"), "#!/bin/sh\n./evil.sh\n");
        let _ = fs::remove_file(root.join("started"));
        let seen = wall
            .script(&format!(
                "for n in 1 2 3; do git commit -qm $n --allow-empty; git repack -dq; done\n\
                 chmod +x hooks/* evil.sh\n({line}) > /dev/null 2>&1 &\n\
                 while ! test -e started; do sleep 0.05; done\n"
            ))
            .await;
        let note = seen.note.map(|note| note.text(Lang::En)).unwrap_or_default();
        assert!(note.contains("ended with the step"), "{line}: {note} {}", seen.stderr);
        let all = fs::read_dir("/proc").unwrap().flatten();
        let lines = all.filter_map(|it| fs::read_to_string(it.path().join("cmdline")).ok());
        let here = lines.filter(|it| it.contains("./evil.sh")).count();
        assert_eq!(here, 0, "{line}");
    }
}

#[tokio::test]
async fn a_daemon_that_outlives_its_step_cannot_leave_a_hook() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    wall.identity();
    let root = wall.repository("code/shop");
    // It stands for one that was made to do something else.
    let server = wall.home(".cargo/bin/sccache");
    fs::create_dir_all(server.parent().unwrap()).unwrap();
    fs::copy("/bin/bash", &server).unwrap();
    let evil = "exec 9<> pipe; : > started; while ! test -e go; do read -t 0.05 -u 9; done\n\
        echo evil > .git/hooks/pre-push; : > planted\n\
        while test -d .git && ! test -e stop; do read -t 0.05 -u 9; done\n";
    wall.write(&root.join("evil.sh"), evil);
    let seen = wall
        .script(&format!(
            "mkfifo pipe; {} evil.sh > /dev/null 2>&1 &\n\
             while ! test -e started; do sleep 0.05; done\n",
            server.display()
        ))
        .await;
    assert_eq!((seen.exit_code, seen.put_back), (Some(0), Vec::new()), "{}", seen.stderr);
    assert!(seen.note.is_some(), "it says what was left running");
    fs::write(root.join("go"), "").unwrap();
    wait_for(&root.join("planted")).await;
    // What the user changes elsewhere meanwhile is theirs.
    fs::write(root.join(".envrc"), "own").unwrap();
    let seen = wall.run(&["git", "commit", "--allow-empty", "-qm", "two"]).await;
    assert_eq!(seen.exit_code, Some(0), "{}", seen.stderr);
    assert!(seen.note.is_some() && !root.join(".git/hooks/pre-push").exists());
    let seen = wall.run(&["git", "config", "user.name", "other"]).await;
    assert_eq!((seen.exit_code, seen.note), (Some(0), None));
    let seen = wall.run(&["git", "tag", "x"]).await;
    assert_eq!((seen.exit_code, seen.note), (Some(0), None), "what was asked for stays");
    assert_eq!(fs::read_to_string(root.join(".envrc")).unwrap(), "own");
    assert!(fs::read_to_string(root.join(".git/config")).unwrap().contains("other"));
    fs::write(root.join("stop"), "").unwrap();
}

#[tokio::test]
async fn a_server_that_runs_beside_the_steps_cannot_leave_a_hook() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    wall.identity();
    let root = wall.repository("code/shop");
    // As a build script that the server of a language runs.
    let evil = "while ! test -e go; do sleep 0.05; done; echo evil > .git/hooks/pre-push\n\
        touch planted; while test -d .git; do sleep 0.05; done\n";
    wall.write(&root.join("evil.sh"), evil);
    let server = wall.approved(&["bash", "evil.sh"]);
    let server = wall.exec.start_server(&server, BTreeMap::new()).await.ok().unwrap();
    fs::write(root.join("go"), "").unwrap();
    wait_for(&root.join("planted")).await;
    let seen = wall.run(&["git", "commit", "--allow-empty", "-qm", "two"]).await;
    assert!(seen.note.is_some() && !root.join(".git/hooks/pre-push").exists(), "{}", seen.stderr);
    drop(server);
    let seen = wall.run(&["git", "tag", "x"]).await;
    assert_eq!((seen.exit_code, seen.note), (Some(0), None));
}

#[tokio::test]
async fn a_step_beside_it_cannot_hand_git_a_hook_that_meets_credentials() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    wall.identity();
    let root = wall.repository("code/shop");
    wall.write(&wall.home(".gnupg/x"), "SECRET");
    wall.write(&root.join("evil.sh"), "#!/bin/sh\ncat ~/.gnupg/x >> stolen\nexit 1\n");
    let racer = "while :; do cp evil.sh .git/t; mv .git/t .git/hooks/pre-commit; done\n";
    wall.write(&root.join("racer.sh"), racer);
    let cancel = CancellationToken::new();
    let (output, _live) = unbounded_channel();
    let watch = RunControl::new(cancel.clone(), output);
    let job = wall.exec.run(wall.approved(&["bash", "racer.sh"]), watch);
    let attacked = async {
        let mut put_back = 0;
        for _ in 0..3 {
            wait_for(&root.join(".git/hooks/pre-commit")).await;
            let seen = wall.run(&["git", "commit", "-S", "--allow-empty", "-qm", "x"]).await;
            put_back += usize::from(seen.note.is_some());
        }
        cancel.cancel();
        put_back
    };
    let (_, put_back) = tokio::join!(job, attacked);
    let stolen = fs::read_to_string(root.join("stolen")).unwrap_or_default();
    assert_eq!((stolen.as_str(), put_back), ("", 3), "what the job changed is put back first");
}

#[tokio::test]
async fn no_step_starts_beside_one_whose_git_has_credentials() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    wall.identity();
    let root = wall.repository("code/shop");
    wall.write(&wall.home(".gnupg/x"), "SECRET");
    let hook = "#!/bin/sh\ntouch begun\n\
        for n in 1 2 3 4 5 6 7 8 9 10; do test -e other && touch raced; sleep 0.1; done\n";
    wall.write(&root.join(".git/hooks/pre-commit"), hook);
    let signed = wall.run(&["git", "commit", "-S", "--allow-empty", "-qm", "x"]);
    let beside = async {
        wait_for(&root.join("begun")).await;
        wall.script("touch other").await
    };
    let (_, beside) = tokio::join!(signed, beside);
    assert_eq!((beside.exit_code, root.join("raced").exists()), (Some(0), false));
}

#[tokio::test]
async fn no_step_sets_limits_of_other_processes() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    if !Path::new("/usr/bin/python3").exists() {
        return skip(Reason::NotInstalled("python3"));
    }
    // As it is, so that nothing happens where it can be set.
    let code = format!(
        "import resource as r\nown = r.getrlimit(r.RLIMIT_CPU)\nr.setrlimit(r.RLIMIT_CPU, own)\n\
         for pid in ({}, 1):\n  try:\n    r.prlimit(pid, r.RLIMIT_CPU, r.prlimit(pid, r.RLIMIT_CPU))\n    print('SET', pid)\n  except OSError:\n    pass\nprint('done')\n",
        std::process::id()
    );
    wall.write(&wall.workspace().join("limits.py"), &code);
    let seen = wall.run(&["/usr/bin/python3", "limits.py"]).await;
    assert_eq!(seen.stdout, "done\n", "{}", seen.stderr);
    let seen = wall.script("ulimit -n 64; ulimit -n").await;
    assert_eq!(seen.stdout, "64\n");
    // By this one a process that left its step's session is found.
    let seen = wall.script("ulimit -R 5 2> /dev/null && echo shed; echo done").await;
    assert_eq!(seen.stdout, "done\n");
}

#[tokio::test]
async fn a_pipe_among_the_files_of_a_repository_holds_no_step_up() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    let root = wall.repository("code/shop");
    let seen = wall.script("mkdir -p a/.git b; mkfifo a/.git/config b/.git; echo done").await;
    assert_eq!(seen.stdout, "done\n");
    fs::create_dir_all(root.join("c/.git")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(root.join("c/.git/config")).status();
    assert!(pipe.unwrap().success());
    for words in [&["ls"][..], &["git", "status"], &["bash", "-c", "true"]] {
        assert_eq!(wall.run(words).await.exit_code, Some(0), "{words:?}");
    }
}

#[tokio::test]
async fn files_of_the_project_that_settings_of_the_user_lead_to_are_put_back() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    let root = wall.repository("code/shop");
    for name in ["dot/bashrc", "dot/nvim/init.lua", "dot/shared", "src/main.rs"] {
        wall.write(&root.join(name), "own");
    }
    fs::create_dir_all(wall.home(".config")).unwrap();
    for (link, target) in
        [(".bashrc", "dot/bashrc"), (".config/nvim", "dot/nvim"), ("sources", "src")]
    {
        symlink(root.join(target), wall.home(link)).unwrap();
    }
    let settings = format!(
        "[core]\nhooksPath = ~/code/shop/dot/hooks\n[include]\npath = {}/dot/shared\n",
        root.display()
    );
    fs::write(wall.home(".gitconfig"), settings).unwrap();
    let seen = wall
        .script(
            "mkdir dot/hooks; for f in dot/bashrc dot/nvim/init.lua dot/shared dot/hooks/pre-commit src/main.rs\n\
             do echo evil > $f; done; echo done",
        )
        .await;
    assert_eq!(seen.stdout, "done\n", "{}", seen.stderr);
    for (name, text) in [
        ("dot/bashrc", Some("own")),
        ("dot/nvim/init.lua", Some("own")),
        ("dot/shared", Some("own")),
        ("dot/hooks/pre-commit", None),
        ("src/main.rs", Some("evil\n")),
    ] {
        assert_eq!(fs::read_to_string(root.join(name)).ok().as_deref(), text, "{name}");
    }
    assert_eq!(seen.put_back.len(), 4, "{:?}", seen.put_back);
}
