//! Places outside that the question about a step named as written: open to that step once the user
//! answered it, and to nothing else.

use super::*;

/// `HOME` is a folder with credentials in it; the workspace is two folders below.
#[rustfmt::skip]
const NAMED: &[&str] = &[
    "touch ../new", "touch HOME/new", "touch ../old.txt", "touch ../a1 ../a2", "touch AWAY/new",
    "mkdir ../made", "mkdir -p ../made/deep/er", "mkdir HOME/made", "mkdir -p HOME/.config/app", "mkdir ../old", "rmdir ../empty",
    "cp run.sh ../run2.sh", "cp run.sh HOME/run2.sh", "cp -p run.sh AWAY/run2.sh", "cp run.sh ..", "cp run.sh ../old", "cp run.sh ../old.txt",
    "cp -r tree ../copied", "cp -r tree HOME/copied", "cp -r tree ../old", "cp -a tree ../old", "cp run.sh tree/b.txt ../old", "cp -n run.sh ../old.txt", "cp -n run.sh ../new",
    "mv run.sh ../moved", "mv run.sh HOME/moved", "mv tree ../moved", "mv run.sh ../old.txt", "mv tree ../old", "mv ../old.txt .", "mv ../old inside", "mv ../old.txt ../renamed",
    "ln -s run.sh ../link", "ln -s run.sh HOME/link", "rm ../old.txt", "rm -r ../old", "rm HOME/plain.txt", "rm ../missing",
    "tee ../new", "tee -a ../old.txt", "truncate -s 3 ../new", "sort -o ../sorted run.sh",
    "tar -cf ../new.tar tree", "tar -czf HOME/new.tgz tree", "tar -xf tree.tar -C ../old", "tar --extract --file tree.tar --directory ../empty",
    "cc hello.c -o ../hello", "cc -c hello.c -o HOME/hello.o", "cargo build -q --offline --manifest-path sub/Cargo.toml --target-dir ../built", "cargo init -q --lib ../lib",
    "git clone -q . ../clone", "git worktree add -q ../side -b side", "git init -q ../fresh", "git archive -o ../a.tar HEAD",
    "bash -c 'echo x > ../log'", "bash -c 'cat run.sh >> ../old.txt'", "bash -c 'printf x > HOME/log'", "bash -c './run.sh > ../out'", "bash -c 'true > ../none'",
    "bash -c 'mkdir -p ../two && cp run.sh ../two/run.sh'", "bash -c 'cd ../old && touch x'", "bash -lc 'cp -r tree ../t2 && ls ../t2'",
];

impl Wall {
    async fn prepare_named(&self) {
        self.identity();
        let root = self.repository("code/shop");
        for (name, text) in [
            ("run.sh", "#!/bin/sh\necho ran\n"),
            ("hello.c", "int main(void) { return 0; }\n"),
            ("tree/a/c.txt", "c\n"),
            ("tree/b.txt", "b\n"),
            ("sub/Cargo.toml", "[package]\nname = \"sub\"\nedition = \"2021\"\n[workspace]\n"),
            ("sub/src/lib.rs", ""),
            ("../old.txt", "old\n"),
            ("../old/x.txt", "x\n"),
            ("../../plain.txt", "plain\n"),
            ("../../.ssh/id_rsa", "SECRET"),
            ("../../.config/gh/hosts.yml", "SECRET"),
        ] {
            self.write(&root.join(name), text);
        }
        for folder in ["home/code/empty", "away"] {
            fs::create_dir_all(self.at(folder)).unwrap();
        }
        self.run(&["tar", "-cf", "tree.tar", "tree"]).await;
        self.git(&root, &["add", "-A"]);
        self.git(&root, &["commit", "-qm", "all"]);
    }

    /// A line as its words, with the places of this fixture.
    fn words(&self, line: &str) -> Vec<String> {
        let line = line.replace("HOME", self.at("home").to_str().unwrap());
        let line = line.replace("AWAY", self.at("away").to_str().unwrap());
        let mut words = Vec::new();
        for (at, part) in line.split('\'').enumerate() {
            match at % 2 {
                0 => words.extend(part.split_whitespace().map(str::to_owned)),
                _ => words.push(part.to_owned()),
            }
        }
        words
    }

    /// Runs it as the user who answers its question does; `None`: it is refused.
    async fn try_answer(&self, line: &str) -> Option<Observation> {
        let words = self.words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let held = self.cleared(&Policy::default(), &words)?.into_needs_approval();
        Some(self.run_cleared(held.approve_named()).await)
    }

    async fn answer(&self, line: &str) -> Observation {
        self.try_answer(line).await.unwrap_or_else(|| panic!("refused: {line}"))
    }

    /// Every file with its mode and its length.
    fn tree(&self) -> BTreeMap<String, (u32, u64)> {
        let (mut found, mut left) = (BTreeMap::new(), vec![self.at("")]);
        while let Some(path) = left.pop() {
            let meta = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(self.at("")).unwrap().display().to_string();
            // What builds and git keep for themselves differs from run to run.
            if ["target", "built", ".git", ".cargo", ".cache"]
                .iter()
                .any(|part| name.ends_with(part))
            {
                found.insert(name, (0, 0));
                continue;
            }
            if meta.is_dir() {
                left.extend(fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
            }
            // A packed one has times in it.
            let is_counted = meta.is_file() && !name.ends_with(".tgz");
            let length = if is_counted { meta.len() } else { 0 };
            found.insert(name, (meta.permissions().mode(), length));
        }
        found
    }
}

#[tokio::test]
async fn what_the_question_names_outside_is_written_at_the_first_run_as_without_the_sandbox() {
    let mut differing = Vec::new();
    for line in NAMED {
        let (Some(inside), Some(outside)) = (Wall::new(), Wall::in_mode(SandboxMode::Off)) else {
            return skip(Reason::NoSandbox);
        };
        inside.prepare_named().await;
        outside.prepare_named().await;
        let bare = outside.answer(line).await.exit_code;
        let seen = inside.answer(line).await;
        let (left, right) = (inside.tree(), outside.tree());
        if seen.exit_code != bare || left != right {
            let more: Vec<_> =
                left.iter().filter(|(name, meta)| right.get(*name) != Some(*meta)).collect();
            let less: Vec<_> =
                right.iter().filter(|(name, meta)| left.get(*name) != Some(*meta)).collect();
            differing.push(format!(
                "{line}: {:?} and not {bare:?}, {more:?} for {less:?}, {}",
                seen.exit_code, seen.stderr
            ));
        }
    }
    assert_eq!(differing, [""; 0]);
}

#[tokio::test]
async fn nothing_is_opened_that_the_question_did_not_name_or_that_no_user_answered() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    wall.prepare_named().await;
    let evil = "#!/bin/bash\nfor f in ../other ../old.txt ../old/x ~/.ssh/id_rsa ~/new ~/.config/gh/hosts.yml AWAY/x; do\n\
                (echo evil > \"$f\") 2>/dev/null && echo \"WROTE $f\"; cat \"$f\" 2>/dev/null\ndone\nrm -r ../old ../log 2>/dev/null && echo REMOVED\necho done\n";
    wall.write(
        &wall.workspace().join("evil.sh"),
        &evil.replace("AWAY", wall.at("away").to_str().unwrap()),
    );
    for line in [
        "bash -c './evil.sh > ../log'",
        "bash -c './evil.sh | tee ../log'",
        "bash -c 'touch ../log; ./evil.sh | cat > ../log'",
        "bash -c 'mkdir -p ../log2 && ./evil.sh > ../log'",
    ] {
        wall.answer(line).await;
        let text = fs::read_to_string(wall.home("code/log")).unwrap_or_default();
        assert!(text.is_empty() || text == "done\n", "{line}: {text}");
        assert_eq!(fs::read_to_string(wall.home("code/old.txt")).unwrap(), "old\n", "{line}");
    }
    for line in NAMED.iter().filter(|line| !line.contains("rm ../missing")) {
        let Some(wall) = Wall::new() else { continue };
        wall.prepare_named().await;
        let outside = |wall: &Wall| {
            let mut tree = wall.tree();
            tree.retain(|name, _| !name.starts_with("home/code/shop"));
            tree
        };
        let before = outside(&wall);
        let words = wall.words(line);
        wall.run(&words.iter().map(String::as_str).collect::<Vec<_>>()).await;
        assert_eq!(outside(&wall), before, "{line}");
    }
}

#[tokio::test]
async fn credentials_and_homes_of_programs_are_no_places_that_a_question_opens() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    wall.prepare_named().await;
    wall.write(&wall.home(".codex/config.toml"), "old");
    wall.write(&wall.workspace().join("d/.ssh/authorized_keys"), "evil");
    wall.write(&wall.workspace().join("d/.codex/config.toml"), "evil");
    let root = wall.workspace();
    std::os::unix::fs::symlink(wall.home(".ssh/id_rsa"), root.join("tree/key")).unwrap();
    let before = wall.tree();
    for line in [
        "cp run.sh HOME/.codex/config.toml",
        "touch HOME/.codex/new",
        "rm -r HOME/.codex",
        "mv HOME/.codex inside",
        "mv run.sh HOME/.config",
        "cp -r d/.codex HOME",
        "cp -r d/. HOME",
        "cp -r d/.ssh HOME",
        "rm -r HOME/.config",
        "mkdir -p HOME/.codex/new",
        "bash -c 'echo x > HOME/.codex/config.toml'",
        "mv HOME/.config ../x",
        "ln -s run.sh HOME/.codex/x",
        "cp run.sh ~/.codex/config.toml",
        "tee HOME/.codex/config.toml",
        "tar -xf tree.tar -C HOME",
    ] {
        wall.try_answer(line).await;
        assert_eq!(wall.tree(), before, "{line}");
    }
    // A link that one copy brings is not followed by the next.
    for _ in 0..2 {
        wall.answer("cp -r tree ../old").await;
        fs::remove_file(root.join("tree/key")).unwrap();
        wall.write(&root.join("tree/key"), "evil");
    }
    assert_eq!(fs::read_to_string(wall.home(".ssh/id_rsa")).unwrap(), "SECRET");
}
