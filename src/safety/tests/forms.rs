//! Tests that harmless forms of programs that otherwise ask contain nothing else.

use super::*;

mod machine_questions;

fn assess_line(line: &str) -> Assessment {
    let words = words_of(line);
    let (program, args) = words.split_first().unwrap();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    verdict(program, &args).assessment().clone()
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn anything_but_exactly_a_harmless_form_asks() {
    for asked in [
        // Versions, and arguments that only look like one.
        "cargo --version build",
        "cargo build --version",
        "npm --version x",
        "rustc --version main.rs",
        "npm version patch",
        "go version -m ./x",
        "kubectl version",
        "docker version",
        // Which cluster it asks is set by the user's settings.
        "argocd version --short",
        "istioctl version --short",
        // Without the variables that keep them from going online.
        "env -i terraform version",
        "env -u COREPACK_ENABLE_NETWORK yarn --version",
        "env -u LESSSECURE less a.txt",
        "timeout 3 env -i man ls",
        // An address, where a file is expected.
        "openssl x509 -noout -in http://127.0.0.1:9/x",
        "openssl x509 -noout -in file:/etc/x",
        "openssl crl -noout -in http://127.0.0.1:9/x",
        "mvn --version -f x",
        "pip --version install x",
        "python -m pip list",
        "cargo",
        "rustc --print link-args main.rs",
        // What is installed.
        "pip list --outdated",
        "pip list --path /etc",
        "pip freeze -r .env",
        "pip install x",
        "pip --python x list",
        "pip list --log x",
        "pip config list",
        "pip download x",
        "go env -w GOFLAGS=-x",
        "go env -u GOFLAGS",
        "go env ./x",
        "go list",
        // Archives.
        "tar xf x.tar",
        "tar cf x.tar src",
        "tar tf host:x.tar",
        "tar tf",
        "tar t",
        "tar tf a.tar -f b.tar",
        "tar tf x.tar --to-command=id",
        "tar tf x.tar --checkpoint=1",
        "tar -tf x.tar -I ./evil",
        "tar tf .env",
        "tar tf /etc/x.tar",
        "tar -tf x.tar -T list",
        "tar tfx a.tar",
        "tar xtf a.tar",
        "tar --list --file=host:x",
        "tar --list",
        "tar tf x.tar -C /",
        "tar tf x.tar --use-compress-program=./evil",
        "tar tvf ../x.tar",
        "unzip x.zip",
        "unzip -p x.zip .env",
        "unzip -lo x.zip",
        "unzip -l -d /x x.zip",
        "unzip -l .env",
        "unzip -l @list",
        "zipinfo ../x.zip",
        "gzip a.txt",
        "gzip -d a.gz",
        "gzip -l -d a.gz -f",
        "gunzip a.gz",
        "gzip -dcS .x a.gz",
        "gzip -dcr src",
        "zcat .env",
        "zcat /etc/shadow.gz",
        "xz -d a.xz",
        "xz -l --files=x",
        "7z x a.7z",
        "7z l a.7z @list",
        "7z l -i@list a.7z",
        "7z l -o/x a.7z",
        "ar x a.a",
        "ar t @list",
        "ar t a.a --plugin x",
        "ar tx a.a",
        "ar t .env",
        "zgrep -r x .",
        "zstd -d a.zst",
        "bzip2 -d a.bz2",
        "zstd -dc -o x a.zst",
        // What linters and checks would change, run, or read elsewhere.
        "yamllint -c x.yml .",
        "yamllint -d @x .",
        "shfmt -w a.sh",
        "shfmt -dw a.sh",
        "codespell -w src",
        "codespell -I .env src",
        "codespell --config x src",
        "ruff check --fix .",
        "ruff format .",
        "ruff format src --check --config x.toml",
        "ruff format --check --extension x:y .",
        "npm run build",
        "npm run --prefix ../x",
        "cargo install --list x",
        "ruff check --fix-only .",
        "ruff check --unsafe-fixes .",
        "ruff check --add-noqa .",
        "ruff check -o x .",
        "ruff check --output-file x .",
        "ruff --config x check .",
        "ruff format .",
        "black .",
        "black --check --config x .",
        "bash -n -c id",
        "bash -nc id",
        "bash a.sh -n",
        "node a.js --check",
        "ruby a.rb -c",
        "php a.php -l",
        "bash -n a.sh b.sh",
        "bash -n --rcfile x a.sh",
        "bash -n .env",
        "bash -nx a.sh",
        "node --check -r ./x a.js",
        "node a.js --check",
        "node --check -e 1",
        "ruby -c -r ./x a.rb",
        "ruby -e 1 -c",
        "ruby -cS x",
        "php -l -d a=b x.php",
        "php -r 1 -l",
        "php -n x.php",
        "php -l -f x.php -- -r 1",
        "terraform fmt",
        "terraform fmt -check -write=true",
        "terraform fmt -check=false",
        "terraform validate",
        // Counts, documents and tables.
        "tokei -i .env",
        "tokei --input x",
        "scc -o x",
        "scc --format-multi json:x",
        "scc --output=x src",
        "cloc --config x src",
        "cloc --out=x src",
        "cloc --vcs=git",
        "cloc --exclude-list-file=.env src",
        "cloc --extract-with=./x a.zip",
        "xmllint --output x a.xml",
        "xmllint -o x a.xml",
        "xmllint --noent a.xml",
        "xmllint --xinclude a.xml",
        "xmllint --loaddtd a.xml",
        "xmllint --schema http://x/y a.xml",
        "xmllint --path / a.xml",
        "xmllint --shell a.xml",
        "xmllint .env",
        "tidy -m a.html",
        "tidy -qm a.html",
        "tidy -config .env a.html",
        "tidy -o x a.html",
        "pdfinfo .env",
        "pdftotext a.pdf",
        "pdftotext a.pdf x.txt",
        "pdftotext a.pdf - x",
        "pdftotext -listenc",
        "qpdf a.pdf b.pdf",
        "qpdf --check a.pdf b.pdf",
        "qpdf --check --replace-input a.pdf",
        "qpdf @args",
        "qpdf --check @args",
        "exiftool -o x a.jpg",
        "exiftool -Artist=x a.jpg",
        "exiftool -all= a.jpg",
        "exiftool -@ args",
        "exiftool -config x a.jpg",
        "exiftool -if x a.jpg",
        "exiftool -overwrite_original a.jpg",
        "exiftool -w txt a.jpg",
        "exiftool -p fmt a.jpg",
        "ffprobe -f concat -i list",
        "ffprobe -report a.mp4",
        "ffprobe -protocol_whitelist http a.mp4",
        "ffprobe -o x a.mp4",
        "identify @list",
        "identify -write x a.png",
        "identify -define a=b a.png",
        "csvgrep -f .env a.csv",
        "csvcut .env",
        "csvsql --query x a.csv",
        "gron .env",
        "htmlq -o x -f a.html h1",
        "htmlq -f .env h1",
        "pup -f .env h1",
        "colordiff -r a b",
        "difft --override x:y a.txt b.txt",
        "sqlite3 app.db",
        "sqlite3 app.db 'insert into x values (1)'",
        "sqlite3 app.db 'select 1; delete from x'",
        "sqlite3 app.db '.output x'",
        "sqlite3 app.db '.read x.sql'",
        "sqlite3 app.db '.once x'",
        "sqlite3 app.db '.tables\n.shell id'",
        "sqlite3 app.db 'pragma writable_schema=1'",
        "sqlite3 -init x app.db .tables",
        "sqlite3 -cmd '.shell id' app.db .tables",
        "sqlite3 'file:app.db?mode=rw' .tables",
        "sqlite3 .env .tables",
        "pandoc a.md",
        "pandoc --sandbox -o x a.md",
        "pandoc --sandbox --filter ./x a.md",
        "pandoc --sandbox --lua-filter=x a.md",
        "pandoc --sandbox -t ./x.lua a.md",
        "getfacl -R .",
        "getfacl --restore=x",
        "lsattr -R .",
        "getent shadow",
        "getent gshadow",
        "getent hosts example.com",
        "getent -s files passwd",
        "gem install x",
        "gem list -r",
        "gem list --both",
        "gem list --config-file x",
        "gem contents ./x",
        "gem environment",
        "dust -X .env .",
        "git var -l",
        "git var GIT_EDITOR",
        // Pagers.
        "less +!id a.txt",
        "less -o out a.txt",
        "less -O out a.txt",
        "less .env",
        "less -k keys a.txt",
        "less /etc/shadow",
        "less --lesskey-src=x a.txt",
        "more +/x a.txt",
        "more .env",
        "bat cache --build",
        "bat --pager=./x a.txt",
        "bat .env",
        "bat --map-syntax x a.txt",
        "bat --config-file",
        "bat ../x",
        "man ./evil.1",
        "man -P ./x ls",
        "man -H ls",
        "man -l evil.1",
        "man --pager=x ls",
        "man -C x ls",
        "man -M . ls",
        "man /etc/passwd",
        "man ../x",
        "apropos -C x y",
        // The machine.
        "lsof",
        "lsof +m x",
        "lsof -i +r5",
        "lsof -r 1 -i",
        "lsof -D b -i",
        "lsof -k x -i",
        "lsof /etc/shadow",
        "netstat -c",
        "netstat x",
        "top",
        "top -b",
        "top -n 1",
        "top -bcn1",
        "journalctl -f",
        "journalctl --vacuum-time=1d",
        "journalctl --file x",
        "journalctl -D x",
        "journalctl _PID=1",
        "dmesg -C",
        "dmesg -c",
        "dmesg -w",
        "dmesg -n 1",
        "dmesg -F .env",
        "who .env",
        "last -f .env",
        "lspci -Q",
        "lspci -i .env",
        "w root",
        // Certificates.
        "openssl x509 -in server.pem -noout",
        "openssl x509 -in a.crt -out b.crt",
        "openssl x509 -in a.crt -signkey k",
        "openssl req -new -x509",
        "openssl req -noout -text",
        "openssl s_client x",
        "openssl rand -out x 16",
        "openssl rand -hex /x",
        "openssl dgst -sign k a",
        "openssl dgst -sha256 .env",
        "openssl genrsa",
        "openssl enc -d -in a",
        "openssl x509 -engine ./x -in a.crt",
        "openssl list -provider ./x -commands",
        "openssl x509 -inform der -in /etc/x",
        // Data.
        "yq -i .a=1 a.yaml",
        "yq .env",
        "yq 'load(\"/etc/shadow\")'",
        "yq env(HOME) a.yaml",
        "yq -s .a a.yaml",
        "yq eval .a a.yaml",
        "yq a.yaml",
        "yq",
        "yq . .env",
        "yq -o json . a.yaml",
        "yq -I env .",
        "yq --from-file x a.yaml",
        "jq --arg a",
        "jq --arg a b env",
        "jq --arg ENV x $ENV",
        "jq --arg a b . .env",
        "jq --rawfile a x .",
        "jq --arg a b -f x",
        "jq --args . a",
        "jq --arg a b --rawfile c /etc/shadow $c",
        "jq -- --arg a b",
        "jq --arg a b -L x .",
        "jq --arg $__prog_args x .",
        "jq '\"\\(env)\"' a.json",
        // git.
        "git config --get x.y --unset z",
        "git config user.name x",
        "git config --global user.name x",
        "git config --list --file x",
        "git config -f x --list",
        "git config --blob HEAD:x --list",
        "git config --includes --list",
        "git config --get http.extraheader",
        "git config --get-regexp token",
        "git config credential.helper",
        "git config --edit",
        "git config",
        "git config --list --edit",
        "git config --unset a.b",
        "git config get credential.helper",
        "git config get user.name --file x",
        "git config set a.b c",
        "git -C src help status",
        "git help -w status",
        "git help -i status",
        "git help ./x",
        "git range-diff --ext-diff a b c",
        "git range-diff a b .env",
        // Names a shell knows.
        "command rm a.txt",
        "command -p rm",
        "command ls",
        "command -v",
        "command -v ./x",
        "command -v '$(id)'",
        "command -vx git",
        "type '$(id)'",
        "type -a git",
        "type",
        "type ./x",
        "type 'a;b'",
        "env type git",
    ] {
        assert!(assess_line(asked).risk.tier > Tier::L0, "{asked} runs by itself");
    }
}

#[test]
fn a_version_query_runs_in_an_empty_folder() {
    for line in [
        "cargo --version",
        "npm -v",
        "pip list",
        "go env",
        "timeout 5 rustc -V",
        "man ls",
        "git help status",
    ] {
        let judged = assess_line(line);
        assert_eq!(judged.risk.tier, Tier::L0, "{line}: {:?}", judged.risk.reasons);
        assert!(judged.launch.empty_folder, "{line}");
    }
    for line in ["tar tf x.tar", "less a.txt", "git config --list", "env"] {
        assert!(!assess_line(line).launch.empty_folder, "{line}");
    }
}

#[test]
fn a_line_for_a_shell_keeps_its_folder_and_has_the_users_environment() {
    for line in ["env", "printenv", "cargo --version", "go env"] {
        let verdict = shell_verdict(line);
        assert!(verdict.assessment().risk.tier > Tier::L0, "{line}");
    }
}

fn launch_arguments(line: &str) -> Vec<String> {
    let judged = assess_line(line);
    assert_eq!(judged.risk.tier, Tier::L0, "{line}: {:?}", judged.risk.reasons);
    let StepAction::Exec { args, .. } = &judged.step.work else { panic!() };
    judged.launch.arguments(args)
}

#[test]
fn arguments_that_keep_a_form_harmless_are_added_at_the_start() {
    assert_eq!(launch_arguments("lsof -i :80"), ["-n", "-i", ":80"]);
    assert_eq!(launch_arguments("git config --list"), ["config", "--no-includes", "--list"]);
    assert_eq!(
        launch_arguments("git config remote.origin.url"),
        ["config", "--no-includes", "remote.origin.url"]
    );
    assert_eq!(
        launch_arguments("git config get remote.origin.url"),
        ["config", "get", "--no-includes", "remote.origin.url"]
    );
    assert_eq!(launch_arguments("pip list")[..2], ["--disable-pip-version-check", "--no-input"]);
    assert_eq!(launch_arguments("command -v git"), ["-c", "command \"$@\"", "sh", "-v", "git"]);
    assert_eq!(launch_arguments("type git"), ["-c", "type \"$@\"", "sh", "git"]);
    let judged = assess_line("type git");
    assert_eq!(judged.program.unwrap().path, Path::new("/bin/sh"));
}

#[test]
fn find_passes_on_neither_links_nor_credentials() {
    let args = launch_arguments("find . -name *.md -exec cat {} ;");
    let at = args.iter().position(|arg| arg == "-exec").unwrap();
    assert_eq!(args[..3], [".", "-name", "*.md"]);
    let tests = &args[3..at];
    assert_eq!(tests[..3], ["!", "-type", "l"]);
    assert!(tests.windows(3).any(|three| three == ["!", "-iname", ".env"]));
    assert!(tests.windows(3).any(|three| three == ["!", "-ipath", "*/.ssh/*"]));
    assert!(tests.windows(3).any(|three| three == ["!", "-ipath", "*/.git/config"]));
    assert_eq!(args[at..], ["-exec", "cat", "{}", ";"]);
    let judged = assess_line("find . -exec wc -l {} +");
    assert!(judged.launch.starts.iter().any(|program| program.path.ends_with("wc")));
}
