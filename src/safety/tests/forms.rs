//! Tests that harmless forms of programs that otherwise ask contain nothing else.

use super::*;

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

const ONLY_ASKS_THE_MACHINE: &[&str] = &[
    "journalctl -n 50",
    "journalctl -u nginx -n 100",
    "journalctl -n100 --no-pager",
    "systemctl is-active docker",
    "systemctl is-enabled ssh",
    "systemctl list-units --type=service --no-pager",
    "systemctl cat getty@tty1.service",
    "systemctl show -p MainPID nginx",
    "ip addr",
    "ip a",
    "ip -br a",
    "ip -4 addr show dev eth0",
    "ip route",
    "ip route show 10.0.0.0/8",
    "ip -s link show",
    "ip neigh",
    "sysctl -a",
    "sysctl kernel.hostname",
    "sysctl -n vm.swappiness",
    "dpkg -l",
    "dpkg -L bash",
    "dpkg -S /bin/ls",
    "dpkg -s bash",
    "dpkg-query -W -f ${Version} bash",
    "apt list --installed",
    "apt show bash",
    "apt-cache policy bash",
    "apt-cache search editor",
    "crontab -l",
    "stty -a",
    "tput cols",
    "tmux ls",
    "sleep 5",
    "sleep 0.5",
    "sleep 2s",
    "id root",
    "groups root",
    "lsblk -o NAME,SIZE",
    "git --help",
    "git -h",
    "git commit -h",
    "git push -h",
    "git diff --submodule",
    "git apply --stat a.txt",
    "git apply --check a.txt",
    "git hash-object a.txt",
    "git sparse-checkout list",
    "git fsck",
    "cargo help",
    "npm root -g",
    "zgrep -n x a.txt",
    "lsof -iTCP:8080",
    "lsof -i@127.0.0.1:80",
    "bat --paging=never a.txt",
];

const CHANGES_OR_LOOKS_ELSEWHERE: &[&str] = &[
    "systemctl status nginx",
    "w",
    "systemctl restart nginx",
    "systemctl stop x",
    "systemctl show nginx",
    "systemctl show -p Environment nginx",
    "systemctl show-environment",
    "systemctl -H host status",
    "systemctl edit x",
    "systemctl status ./x",
    "systemctl daemon-reload",
    "ip link set eth0 up",
    "ip l s eth0",
    "ip addr add 10.0.0.1/8 dev eth0",
    "ip a a 10.0.0.1/8",
    "ip route flush",
    "ip -batch a.txt",
    "ip -b a.txt",
    "ip -n ns addr",
    "ip netns exec x ls",
    "ip addr save",
    "ip -r route",
    "dpkg -i x.deb",
    "dpkg -P bash",
    "dpkg -lP bash",
    "dpkg --admindir=x -l",
    "dpkg-query --admindir=x -l",
    "apt install bash",
    "apt list -o Dir=x",
    "apt show ./x.deb",
    "apt update",
    "apt-cache gencaches",
    "apt-cache -o x=y policy bash",
    "crontab a.txt",
    "crontab -l -u root",
    "crontab -e",
    "stty raw",
    "tput reset",
    "tmux kill-server",
    "tmux -f x ls",
    "sleep 61",
    "sleep infinity",
    "iptables -L -n",
    "ufw status",
    "sleep 1h",
    "sleep 1 x",
    "id ./x",
    "git x -h",
    "git --help x",
    "git ls-remote -h",
    "git commit -h x",
    "git diff --submodule=diff",
    "git apply a.txt",
    "git apply --stat --apply a.txt",
    "git apply --check --index a.txt",
    "git hash-object -w a.txt",
    "git hash-object --stdin-paths",
    "git sparse-checkout set x",
    "git fsck --lost-found",
    "git merge-tree a b",
    "git submodule status --recursive",
    "cargo help build",
    "npm --prefix /x root",
    "npm root x y:z",
    "zgrep x .env",
    "zgrep -f .env x",
    "zgrep x a|b",
    "lsof -i@host.example",
    "lsof -iTCP@host.example:80",
    "lsof -i @host.example",
    "lsof -i-Db",
    "lsof -p-Db",
    "bat --paging=always a.txt",
    "bat --paging always a.txt",
    "git log --format=%+G?",
    "git log --format=%-GK",
    "docker ps",
];

const CHANGES_THE_MACHINE: &[&str] =
    &["sysctl a=b", "sysctl -w a.b=c", "sysctl -p", "crontab -r", "crontab -lr"];

#[test]
fn questions_about_the_machine_run_and_what_changes_it_asks() {
    for (lines, tier) in [
        (ONLY_ASKS_THE_MACHINE, Tier::L0),
        (CHANGES_OR_LOOKS_ELSEWHERE, Tier::L1),
        (CHANGES_THE_MACHINE, Tier::L2),
    ] {
        for line in lines {
            assert_eq!(assess_line(line).risk.tier, tier, "{line}");
        }
    }
    assert_eq!(shell_verdict("sleep 5").assessment().risk.tier, Tier::L1);
}
