//! Honest work: the same steps with the sandbox and without it end alike.

use super::*;

const FILES: &[(&str, &str)] = &[
    (
        "Makefile",
        "all: hello\n\t./hello\nhello: hello.c\n\t$(CC) -o $@ $<\ntest:\n\ttest -s hello.c & wait\n",
    ),
    ("hello.c", "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n"),
    ("lib.rs", "pub fn one() -> u8 { 1 }\n#[test]\nfn is_one() { assert_eq!(one(), 1); }\n"),
    (
        "package.json",
        "{\"name\":\"x\",\"version\":\"1.0.0\",\"scripts\":{\"test\":\"node app.js\",\"build\":\"mkdir -p dist && cp app.js dist\"}}\n",
    ),
    (
        "app.js",
        "const {execSync} = require('child_process'); const net = require('net');\nnet.createServer().listen(0, '127.0.0.1', function () { execSync('true'); this.close(); });\n",
    ),
    (
        "app.py",
        "import multiprocessing as m, os, socket, sqlite3, tempfile, threading\ndef f(x): return x * x\n\
        if __name__ == '__main__':\n    assert m.Pool(2).map(f, [1, 2]) == [1, 4]\n    s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()\n\
        \x20   u = socket.socket(socket.AF_UNIX); u.bind(tempfile.mkdtemp() + '/s')\n    sqlite3.connect('x.db').execute('create table t (a)')\n\
        \x20   os.openpty; os.mkfifo('pipe'); os.symlink('a.txt', 'link'); os.chmod('a.txt', 0o600); os.utime('a.txt')\n",
    ),
    (
        "test_app.py",
        "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertTrue(open('a.txt').read())\n",
    ),
    ("A.java", "class A { public static void main(String[] a) { System.out.println(1); } }\n"),
    (
        "job.sh",
        "#!/bin/bash\nset -eu\ntrap 'rm -f x.tmp' EXIT\nexec 9> lock; flock 9\nulimit -n 200\ncoproc cat; kill $COPROC_PID\n\
        t=$(mktemp); echo x > \"$t\"; mv \"$t\" moved\n(sleep 0.05; echo y > later) & wait\ndiff <(echo a) <(echo a)\n[ -s later ]\n",
    ),
    ("fix.patch", "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-hello\n+bye\n"),
];

/// In this order, each on what those before it left.
#[rustfmt::skip]
const STEPS: &[&str] = &[
    "git status", "git add -A", "git commit -qm two", "git log -p -S hello", "git grep -n hello", "git blame a.txt", "git branch side",
    "git checkout -q side", "git commit -q --allow-empty -m three", "git switch -q main", "git merge -q --no-ff -m merged side",
    "git tag v1", "git tag -a v2 -m x", "git notes add -m x", "git describe --tags", "git format-patch -1 v1~1", "git archive -o a.tar HEAD",
    "git bundle create b.bundle HEAD", "git clone -q . copy", "git -C copy pull -q", "git -C copy log --oneline", "git worktree add -q inner side",
    "git -C inner status", "git -C inner commit -q --allow-empty -m four", "git worktree remove inner", "git rebase -q side", "git rebase -q -x true HEAD~1",
    "git revert --no-edit HEAD", "git cherry-pick v1", "git reset -q --hard v1", "git bisect start", "git bisect reset", "git mv a.txt c.txt",
    "git mv c.txt a.txt", "git stash", "git stash list", "git gc -q", "git fsck", "git pack-refs --all", "git clean -fdq copy",
    "git config user.email y@z", "git remote add other ../other", "git submodule status", "git sparse-checkout list", "git maintenance run --task=gc",
    "git hash-object -w a.txt", "git update-index --refresh", "git commit -q --amend --no-edit --allow-empty", "git push -q copy2 main",
    "make", "make -j2 test", "cc -c hello.c -o hello.o", "./hello", "gdb -batch -nx -ex run ./hello", "strace -f -o trace ./hello", "ltrace ./hello",
    "valgrind -q ./hello", "rustc --edition 2021 --crate-type lib lib.rs", "rustc --edition 2021 --test lib.rs -o libtest", "./libtest",
    "cargo init -q --lib sub", "cargo build -q --offline --manifest-path sub/Cargo.toml", "cargo test -q --offline --manifest-path sub/Cargo.toml",
    "node app.js", "node --test", "npm test", "npm run build", "npm pack", "npm install --offline", "npx --no-install nothing",
    "python3 app.py", "python3 -m unittest", "python3 -m venv --without-pip venv", "venv/bin/python -c print(1)", "python3 -m py_compile app.py",
    "python3 -m compileall -q .", "go build ./...", "go vet ./...", "javac A.java", "java A", "mvn -o -q --version", "gradle --offline --version",
    "perl -e print(1)", "ruby -e 1", "bash job.sh", "sh -c true", "tar czf x.tgz a.txt", "tar xzf x.tgz", "zip -q x.zip a.txt", "unzip -qo x.zip",
    "cp -a a.txt b.txt", "mv b.txt d.txt", "mkdir -p deep/er", "ln -s a.txt l", "ln a.txt hard", "touch -d 2001-01-01 a.txt", "chmod 755 a.txt", "install -m 600 a.txt e.txt",
    "patch -s -p0 -i fix.patch", "sed -i s/bye/hello/ a.txt", "sort -o a.txt a.txt", "split -b 2 a.txt part-", "truncate -s 0 e.txt",
    "dd if=/dev/zero of=z bs=1k count=1", "mkfifo fifo", "rm -rf deep", "find . -name part-* -delete", "xargs -a a.txt echo", "timeout 5 make",
    "nice -n 5 make", "env A=1 make", "openssl genrsa -out k.pem 2048", "sqlite3 y.db .tables",
];

impl Wall {
    async fn prepare_honest_work(&self) {
        self.identity();
        let root = self.repository("code/shop");
        for (name, text) in FILES {
            self.write(&root.join(name), text);
        }
        self.git(&root, &["init", "-q", "--bare", "copy2"]);
        self.git(&root, &["remote", "add", "copy2", "./copy2"]);
    }

    async fn exit_code(&self, line: &str) -> (Option<i32>, String) {
        let words: Vec<&str> = line.split(' ').collect();
        let Some(cleared) = self.cleared(&Policy::default(), &words) else {
            return (None, "refused".to_owned());
        };
        let seen = self.run_cleared(cleared).await;
        (seen.exit_code, format!("{}{}", seen.stdout, seen.stderr))
    }
}

#[tokio::test]
async fn honest_work_ends_alike_with_the_sandbox_and_without() {
    let (Some(inside), Some(outside)) = (Wall::new(), Wall::in_mode(SandboxMode::Off)) else {
        return skip(Reason::NoSandbox);
    };
    inside.prepare_honest_work().await;
    outside.prepare_honest_work().await;
    let (mut worked, mut broke) = (0, Vec::new());
    for line in STEPS {
        let (free, held) = (outside.exit_code(line).await, inside.exit_code(line).await);
        worked += usize::from(free.0 == Some(0));
        if free.0 != held.0 {
            broke.push(format!("{line}: {:?}, inside {:?}: {}", free.0, held.0, held.1));
        }
    }
    println!("{} of {} steps work, {} of them differ inside", worked, STEPS.len(), broke.len());
    assert!(broke.is_empty(), "{}", broke.join("\n"));
    assert!(worked >= 70, "{worked}");
}
