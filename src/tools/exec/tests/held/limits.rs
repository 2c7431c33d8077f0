//! Tests what bounds a step: memory, processes, and what runtimes need within them.

use super::*;

#[tokio::test]
async fn an_automatic_step_is_limited_and_one_that_only_reserves_memory_starts() {
    let Some(field) = SandboxFixture::sandboxed(SandboxMode::Read) else {
        return skip(Reason::NoSandbox);
    };
    // The bounds are put on it right after it has begun.
    let look = "bound() { while read -r row; do case $row in 'Max data size'*unlimited* | \
                'Max file size'*unlimited*) return 1 ;; esac; done < /proc/self/limits; }; \
                n=0; until bound; do n=$((n+1)); [ $n -lt 200000 ] || exit 1; done; echo bound";
    let seen = field.run_automatic(look).await;
    assert_eq!(seen.stdout, "bound\n", "{}", seen.stderr);
    let double = ["-n", "1{:a;s/.*/&&/;ba}", "a.txt"];
    let seen = field.reads("/usr/bin/sed", &double).await;
    assert_ne!(seen.exit_code, Some(0));
    assert_eq!(seen.outcome, Outcome::Ran, "memory ended it, and not its time");
    if Path::new("/usr/bin/python3").exists() {
        let reserve = "import mmap; mmap.mmap(-1, 1 << 36, flags=mmap.MAP_PRIVATE | \
                       mmap.MAP_ANONYMOUS | 0x4000, prot=0); print('reserved')";
        let seen = field.reads("/usr/bin/python3", &["-c", reserve]).await;
        assert_eq!(seen.stdout, "reserved\n", "{}", seen.stderr);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_step_with_too_many_processes_is_ended_for_every_user() {
    let field = SandboxFixture::new(SandboxMode::Off);
    let many = "i=0; while [ $i -lt 1500 ]; do sleep 61.5 & i=$((i+1)); done; echo all; wait";
    let seen = field.run_automatic(many).await;
    assert!(seen.exit_code != Some(0), "{}", seen.stdout);
    if rustix::process::geteuid().is_root() {
        // No limit binds root.
        let said = avocet_core::i18n::exec::OUTGREW.with("most", 512_u64).to_string();
        assert_eq!(super::super::note_of(&seen), said);
    }
    assert_ne!(seen.outcome, Outcome::TimedOut);
    // The same in a step the user approved is theirs to do.
    let few = "i=0; while [ $i -lt 20 ]; do sleep 0.01 & i=$((i+1)); done; wait; echo all";
    assert_eq!(field.run_automatic(few).await.stdout, "all\n");
}

/// How many processes there are with this word in their command.
#[cfg(target_os = "linux")]
fn count_processes(word: &str) -> usize {
    let entries = std::fs::read_dir("/proc").expect("a list").flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(word)).count()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_forks_into_new_sessions_ends_with_its_step_and_at_the_limit_of_processes() {
    let field = SandboxFixture::new(SandboxMode::Off);
    // Each round leaves the session, clears the environment and starts two more.
    let rounds = |depth: u32, rest: &str| {
        let fork = "exec setsid env -i PATH=/usr/bin:/bin sh bomb.sh $((n-1)) &";
        let script = format!("n=$1; [ $n -gt 0 ] && {{ {fork} }} && {{ {fork} }}; {rest}\n");
        let script = script.replace("exec setsid", "setsid");
        std::fs::write(field.at("ws/bomb.sh"), script).expect("a script");
        format!("sh bomb.sh {depth}; sleep 0.5; echo over")
    };
    let behind = rounds(4, "sleep 67.25").replace("; sleep", " & sleep");
    let seen = field.run_automatic(&behind).await;
    assert_eq!(count_processes("67.25"), 0, "{}", seen.stderr);
    // 2,047 processes, were they let.
    let seen = field.run_automatic(&rounds(10, "sleep 67.75")).await;
    assert_eq!(count_processes("67.75"), 0, "{}", seen.stderr);
    assert!(!seen.stdout.contains("over") || seen.stderr.contains("fork"), "{}", seen.stdout);
    assert_ne!(seen.outcome, Outcome::TimedOut);
}

/// Runtimes that reserve much and start many threads.
#[tokio::test]
async fn runtimes_start_within_the_limits_of_an_automatic_step() {
    let Some(field) = SandboxFixture::sandboxed(SandboxMode::Read) else {
        return skip(Reason::NoSandbox);
    };
    std::fs::write(field.at("ws/a.json"), "{\"a\": [1, 2]}").expect("a file");
    let lines: &[(&str, &[&str], &str)] = &[
        ("/usr/bin/jq", &["-c", ".a", "a.json"], "[1,2]\n"),
        ("/usr/bin/node", &["-e", "console.log(new Array(1e6).fill(1).length)"], "1000000\n"),
        ("/usr/bin/java", &["-Xshare:auto", "-version"], ""),
        ("/usr/bin/go", &["env", "GOOS"], "linux\n"),
        (
            "/usr/bin/python3",
            &[
                "-c",
                "import threading as t; a=[t.Thread(target=lambda: None) for _ in range(50)]; [x.start() for x in a]; print(len(a))",
            ],
            "50\n",
        ),
    ];
    for (program, args, said) in lines {
        if !Path::new(program).exists() {
            skip(Reason::OneOfMany(program));
            continue;
        }
        let seen = field.reads(program, args).await;
        assert_eq!(
            (seen.exit_code, seen.stdout.as_str()),
            (Some(0), *said),
            "{program}: {}",
            seen.stderr
        );
    }
}
