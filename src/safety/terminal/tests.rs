use super::*;
use avocet_core::protocol::StepAction;

fn name_in(line: &str) -> Option<String> {
    terminal_program(&StepAction::Shell { line: line.to_owned() }).map(|found| found.name)
}

#[test]
fn programs_that_want_the_terminal_are_found_in_a_line() {
    for (line, name) in [
        ("vim", "vim"),
        ("vim src/main.rs", "vim"),
        ("cd src && nvim +12 lib.rs", "nvim"),
        ("sudo -u root nano /etc/hosts", "nano"),
        ("EDITOR=vi sudo -E /usr/bin/vim.basic x", "vim.basic"),
        ("env TERM=xterm vi x", "vi"),
        ("git ls-files | xargs vim", "vim"),
        ("git log | vim -", "vim"),
        ("$EDITOR notes.md", "$EDITOR"),
        ("less README.md", "less"),
        ("git diff | less -R", "less"),
        ("man 3 printf", "man"),
        ("top", "top"),
        ("htop -d 5", "htop"),
        ("python3", "python3"),
        ("python3.12 -q", "python3.12"),
        ("python3 -X dev", "python3"),
        ("python3 -i tool.py", "python3"),
        ("node", "node"),
        ("sqlite3 shop.db", "sqlite3"),
        ("psql -h localhost shop", "psql"),
        ("bash", "bash"),
        ("zsh -i", "zsh"),
        ("sudo -i", "sudo"),
        ("ssh build.example.org", "ssh"),
        ("ssh -p 22 -i key ada@build.example.org", "ssh"),
        ("ssh -t build.example.org top", "ssh"),
        ("docker run --rm -it debian bash", "docker run"),
        ("docker exec -ti shop sh", "docker exec"),
        ("kubectl exec -it shop-0 -- sh", "kubectl exec"),
        ("git commit", "git commit"),
        ("git -C shop commit -a -v", "git commit"),
        ("git commit --amend", "git commit"),
        ("git rebase -i HEAD~3", "git rebase"),
        ("git rebase --continue", "git rebase"),
        ("git add -p", "git add"),
        ("git stash push --patch", "git stash"),
        ("git stash -p", "git stash"),
        ("git commit --interactive", "git commit"),
        ("k9s -n shop", "k9s"),
        ("mc", "mc"),
        ("git tag -a v1", "git tag"),
        ("crontab -e", "crontab"),
        ("watch -n 1 date", "watch"),
    ] {
        assert_eq!(name_in(line).as_deref(), Some(name), "{line}");
    }
}

/// Lines that need no terminal.
const WITHOUT: &[&str] = &[
    "vim --version",
    "nvim --headless +q",
    "emacs --batch -f x",
    "git diff | less > out",
    "top -b -n 1",
    "top -bn1",
    "python3 tool.py",
    "python3 tool.py -i",
    "python3 -c 'print(1)'",
    "python3 -m http.server",
    "echo 'print(1)' | python3",
    "python3 < tool.py",
    "python3 <<'E'\nprint(1)\nE",
    "node -e 1",
    "sqlite3 shop.db 'select 1'",
    "psql -c 'select 1' shop",
    "bash -c 'ls'",
    "bash -lc ls",
    "bash build.sh",
    "sudo -i apt-get update",
    "sudo ls",
    "ssh build.example.org uptime",
    "ssh build.example.org ls -t",
    "ssh -N -L 8080:localhost:80 build.example.org",
    "gdb -batch -ex bt core",
    "gh auth login --with-token",
    "ssh -lroot build.example.org uptime",
    "docker run --rm -v /a:/b debian tar -tf x",
    "docker ps",
    "git commit -m x",
    "git commit -am x",
    "git commit --message=x",
    "git commit --amend --no-edit",
    "git commit --fixup HEAD",
    "GIT_EDITOR=true git commit --amend",
    "env EDITOR=true git commit",
    "git -c core.editor=true rebase --continue",
    "git rebase main",
    "git add .",
    "git tag v1",
    "git tag -a v1 -m x",
    "git log -p",
    "git stash show -p",
    "git stash list -p",
    "git -C shop stash show --patch stash@{1}",
    "git commit -i src/lib.rs -m x",
    "git diff -p",
    "node --test",
    "node --run build",
    "redis-cli --scan",
    "visudo -c",
    "passwd --status ada",
    "printf 'x\n' | ex note.txt",
    "ftp -n host < commands",
    "echo hi | mutt -s x ada@example.org",
    "mc cp play/a play/b .",
    "k9s version",
    "hx --health rust",
    "R CMD build .",
    "crontab -l",
    "echo vim",
    "which vim",
    "grep -rn vim .",
    "",
];

#[test]
fn the_same_programs_run_without_it_where_they_can() {
    for line in WITHOUT {
        assert_eq!(name_in(line), None, "{line}");
    }
}

#[test]
fn pagers_work_without_a_terminal_and_editors_of_git_are_the_users_own() {
    let found = |program: &str, args: &[&str]| {
        terminal_program(&StepAction::exec(program, args)).expect(program)
    };
    assert!(found("less", &["README.md"]).works_without);
    assert!(!found("vim", &["README.md"]).works_without);
    for certain in ["vim", "nano", "htop"] {
        assert!(found(certain, &[]).is_certain, "{certain}");
    }
    for (perhaps, args) in [("git", &["add", "-p"][..]), ("python3", &[]), ("ssh", &["host"])] {
        assert!(!found(perhaps, args).is_certain, "{perhaps}");
    }
    assert!(found("git", &["commit"]).is_editor && !found("git", &["add", "-p"]).is_editor);
    assert!(edits_in_terminal("vim") && edits_in_terminal("/usr/bin/nano -w"));
    for editor in ["code --wait", "true", "gedit", ""] {
        assert!(!edits_in_terminal(editor), "{editor}");
    }
}

#[test]
fn names_of_the_table_are_unique_where_nothing_else_tells_their_rows_apart() {
    let plain = |row: &&TerminalRow| {
        row.subcommands.is_empty() && row.with.is_empty() && row.operands.is_none()
    };
    let names: Vec<&str> = ROWS.iter().filter(plain).flat_map(|row| row.names.split(' ')).collect();
    for (at, name) in names.iter().enumerate() {
        assert!(
            !name.is_empty() && !names.iter().skip(at + 1).any(|other| other == name),
            "{name}"
        );
    }
}
