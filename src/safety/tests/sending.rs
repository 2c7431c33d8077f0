//! Tests that what is sent to other machines is distinguished from what is fetched.

use super::*;

/// Lines after which something is on another machine.
const SENT: &[&str] = &[
    "git push",
    "git push origin main",
    "git push -u origin fix/x",
    "git push --tags",
    "git push --force",
    "git send-email 0001-x.patch",
    "git lfs push origin main",
    "git svn dcommit",
    "git subtree push --prefix x origin main",
    "npm publish",
    "pnpm publish",
    "yarn npm publish",
    "npm dist-tag add x@1 beta",
    "npm run deploy",
    "npm run deploy:prod",
    "pnpm deploy",
    "npx vercel deploy",
    "npx lerna publish",
    "cargo publish",
    "twine upload dist/x.whl",
    "poetry publish",
    "uv publish",
    "gem push x.gem",
    "dotnet nuget push x.nupkg",
    "mvn deploy",
    "gradle publish",
    "make deploy",
    "make publish",
    "just release",
    "python3 deploy.py",
    "curl -d a=b https://example.com",
    "curl -F file=@a.txt https://example.com",
    "curl -T a.txt https://example.com",
    "curl --data-binary @a.txt https://example.com",
    "curl --json '{}' https://example.com",
    "curl -X POST https://example.com",
    "curl -sXPUT https://example.com",
    "curl --request=DELETE https://example.com",
    "curl -X PATCH https://example.com",
    "wget --post-data=a https://example.com",
    "wget --method=PUT https://example.com",
    "scp a.txt host:",
    "sftp host",
    "ssh host ls",
    "rsync -a src host:src",
    "rsync -a src rsync://host/src",
    "nc host 80",
    "gh pr create",
    "gh pr merge 1",
    "gh pr comment 1 -b x",
    "gh issue create -t x",
    "gh release create v1",
    "gh gist create a.txt",
    "gh secret set X",
    "gh workflow run ci.yml",
    "gh api -X POST repos/a/b",
    "gh api repos/a/b -f a=b",
    "glab mr create",
    "docker push x",
    "podman push x",
    "kubectl apply -f x.yaml",
    "helm install x y",
    "terraform apply",
    "aws s3 cp a.txt s3://x",
    "gsutil cp a.txt gs://x",
    "svn commit -m x",
    "hg push",
    "jj git push",
    "sendmail a@b.c",
    "mailx a@b.c",
    "psql -c 'insert into x values (1)'",
    "redis-cli set a b",
    "python3 -c 'import requests; requests.post(1)'",
    "node -e 'fetch(x, {method: \"POST\"})'",
    "bash -c 'echo x > /dev/tcp/1.2.3.4/80'",
    "bash -c 'git add . && git push'",
    "timeout 5 git push",
    "env A=b npm publish",
];

/// Lines that fetch, or use the network for what the project does.
const FETCHED: &[&str] = &[
    "npm install",
    "npm ci",
    "npm install left-pad",
    "npm test",
    "npm run build",
    "npm outdated",
    "npm audit",
    "pnpm install",
    "yarn",
    "yarn add x",
    "npx tsc --noEmit",
    "npx create-react-app x",
    "bun add x",
    "pip install x",
    "pip install -r requirements.txt",
    "pip3 install -e .",
    "uv sync",
    "poetry install",
    "python3 -m pip install x",
    "python3 -m pytest",
    "cargo fetch",
    "cargo build",
    "cargo test",
    "cargo add serde",
    "cargo install x",
    "cargo update",
    "go get x",
    "go mod tidy",
    "go build ./...",
    "bundle install",
    "composer install",
    "mvn package",
    "gradle build",
    "dotnet restore",
    "git fetch",
    "git fetch origin",
    "git fetch --all",
    "git pull",
    "git clone https://example.com/x",
    "git ls-remote",
    "git submodule update --init",
    "git lfs pull",
    "git commit -m 'Push it'",
    "git checkout release",
    "git stash push",
    "curl https://example.com",
    "curl -sSL https://example.com",
    "curl -I https://example.com",
    "curl -X GET https://example.com",
    "curl -o x https://example.com/x",
    "curl -H 'Accept: a/b' https://example.com",
    "wget https://example.com/x",
    "rsync -a src/ dst/",
    "rsync -a host:src dst",
    "gh pr list",
    "gh pr view 1",
    "gh pr checks 1",
    "gh run list",
    "gh run view 1",
    "gh issue list",
    "gh repo clone a/b",
    "gh api repos/a/b",
    "docker pull x",
    "docker build .",
    "ping -c 1 example.com",
    "dig example.com",
    "svn update",
    "hg pull",
    "sqlite3 app.db .tables",
    "make",
    "make test",
    "node server.js",
    "node -e 'fetch(x)'",
    "python3 -c 'import urllib.request'",
    "python3 x.py",
    "bash -c 'npm install && npm test'",
    "timeout 60 npm ci",
];

fn sends(line: &str) -> bool {
    let words = words_of(line);
    let (program, args) = words.split_first().unwrap();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let effects = risk(program, &args).effects;
    // What sends uses the network, too.
    assert!(!effects.contains(&Effect::Send) || effects.contains(&Effect::Network), "{line}");
    effects.contains(&Effect::Send)
}

#[test]
fn what_a_command_sends_is_told_from_what_it_fetches() {
    let wrong = |lines: &[&'static str], expected: bool| -> Vec<&str> {
        lines.iter().copied().filter(|line| sends(line) != expected).collect()
    };
    assert_eq!(wrong(SENT, true), [""; 0]);
    assert_eq!(wrong(FETCHED, false), [""; 0]);
}

#[test]
fn every_row_that_sends_uses_the_network() {
    let rows = rules::all().flat_map(|spec| std::iter::once(spec).chain(spec.subs));
    for spec in rows {
        let dangers = spec.dangers.iter().map(|danger| danger.effects);
        for effects in std::iter::once(spec.effects).chain(dangers) {
            let sends = effects.contains(&Effect::Send);
            assert!(!sends || effects.contains(&Effect::Network), "{}", spec.names);
        }
    }
}
