//! `git`, sub-command by sub-command.
//!
//! A sub-command that is not here may be an alias that runs a program. What the
//! repository itself configures is looked at once for all rows, by the check of `git`.

use super::super::spec::Operands::{Named, None, PatternThenReads, Text};
use super::super::spec::{Danger, Spec};
use super::super::{checks, wrappers};
use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect::{
    Delete, Exec, Irreversible, Network, Outside, Secret, Send, Write,
};

/// Flags of everything that shows a difference.
macro_rules! diff_flags {
    () => {
        "-p -u -s --patch --no-patch --raw --patch-with-raw --patch-with-stat --minimal --patience --histogram --indent-heuristic --no-indent-heuristic \
         --compact-summary --numstat --shortstat --summary --name-only --name-status --no-renames --no-rename-empty --rename-empty --check --full-index --binary -z -R -a --text \
         --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines -b -w -W --function-context \
         --no-function-context --exit-code --quiet -q --no-ext-diff --no-textconv --pickaxe-all --pickaxe-regex --find-copies-harder --no-prefix \
         --default-prefix --ita-invisible-in-index --cached --staged --merge-base --no-color --no-color-moved --no-relative --cumulative -0 -1 -2 -3 --base --ours --theirs \
         --irreversible-delete -D --cc -t --submodule "
    };
}
macro_rules! diff_values {
    () => {
        "-U=?text --unified=?text --stat=?text --stat-width=text --stat-name-width=text --stat-count=text --dirstat=?text -X=?text --color=?text \
         --color-moved=?text --color-moved-ws=text --word-diff=?text --word-diff-regex=sure --color-words=?text --ws-error-highlight=text \
         --abbrev=?text -B=?text --break-rewrites=?text -M=?text --find-renames=?text -C=?text --find-copies=?text --diff-filter=text -S=sure -G=sure \
         --relative=?text --inter-hunk-context=text --ignore-submodules=?text --src-prefix=text --dst-prefix=text --line-prefix=text --anchored=sure \
         --diff-algorithm=text -l=text --output-indicator-new=text --output-indicator-old=text --output-indicator-context=text --find-object=text \
         -I=sure --ignore-matching-lines=sure --skip-to=text --rotate-to=text --diff-merges=text -O=path "
    };
}
/// Flags of everything that walks history.
macro_rules! log_flags {
    () => {
        "-NUM --oneline --graph --all --branches --tags --remotes --decorate --no-decorate --merges --no-merges --first-parent --reverse --date-order \
         --author-date-order --topo-order --follow --full-history --simplify-merges --simplify-by-decoration --no-walk  --cherry --cherry-pick --cherry-mark \
         --left-right --left-only --right-only --boundary --abbrev-commit --no-abbrev-commit --no-abbrev --relative-date --parents --children -g --walk-reflogs \
         --source --log-size --no-notes --no-mailmap --mailmap --use-mailmap --no-use-mailmap --no-expand-tabs --not --all-match --invert-grep -i --regexp-ignore-case \
         -E --extended-regexp -F --fixed-strings -P --perl-regexp --basic-regexp --sparse --dense --show-pulls --ancestry-path --exclude-first-parent-only \
         --remove-empty --count --clear-decorations --no-graph --show-linear-break -c -m --no-diff-merges --dd --remerge-diff --unpacked --ignore-missing --objects --timestamp --header --no-commit-header --commit-header "
    };
}
macro_rules! log_values {
    () => {
        "-n=text --max-count=text --skip=text --since=text --after=text --until=text --before=text --author=sure --committer=sure --grep=sure \
         --grep-reflog=sure --min-parents=text --max-parents=text --format=text --pretty=?text --date=text --decorate=?text --decorate-refs=text \
         --decorate-refs-exclude=text --encoding=text --notes=?text --show-notes=?text --exclude=sure --glob=text -L=text --no-walk=?text \
         --branches=?text --tags=?text --remotes=?text --since-as-filter=text --expand-tabs=?text --exclude-hidden=text --ancestry-path=?text "
    };
}

const DIFF_DANGERS: &[Danger] = &[
    Danger::ask("ext_diff", &["--ext-diff"], phrases::STARTS_PROGRAM, &[Exec]),
    Danger::ask("textconv", &["--textconv"], phrases::STARTS_PROGRAM, &[Exec]),
    Danger::ask("output", &["--output="], phrases::WRITES_A_FILE, &[Write]),
    Danger::ask("no_index", &["--no-index"], phrases::READS_ELSEWHERE, &[Outside]),
    Danger::ask("signature", &["--show-signature"], phrases::GIT_SIGNATURE, &[Exec]),
];
#[rustfmt::skip]
const CONFIG_QUIET: &[&str] = &[
    "--list --name-only", "-l --name-only", "--name-only --list", "--name-only -l", "list --name-only", "--local --list --name-only",
    "--global --list --name-only", "--list --local --name-only", "--list --global --name-only",
    "user.name", "user.email", "--get user.name", "--get user.email", "get user.name", "get user.email", "--global user.name", "--global user.email",
    "--get init.defaultBranch", "init.defaultBranch", "--get core.autocrlf", "core.autocrlf", "--get core.editor", "core.editor",
    "--get core.filemode", "--get core.ignorecase", "--get core.eol", "--get core.bare", "--get core.hooksPath", "core.hooksPath",
    "--get pull.rebase", "pull.rebase", "--get push.default", "push.default", "--get commit.gpgsign", "commit.gpgsign",
    "--get merge.conflictstyle", "--get diff.algorithm", "--get fetch.prune", "--get rerere.enabled",
];
const FORCE: &[&str] = &["-f|--force"];

#[rustfmt::skip]
pub(super) const ROWS: &[Spec] = &[
    Spec::ask("git", phrases::GIT_UNKNOWN, &[Exec]).by_language()
        .posix()
        .flags("--no-pager --no-optional-locks --glob-pathspecs --icase-pathspecs --no-replace-objects --no-lazy-fetch --no-advice -P")
        .values("-C=path")
        .dangers(&[
            Danger::ask("config", &["-c=|--config-env="], phrases::GIT_CONFIGURED, &[Exec]),
            Danger::ask("elsewhere", &["--git-dir=|--work-tree=|--namespace=|--attr-source=|--super-prefix=|--bare"], phrases::GIT_ELSEWHERE, &[Outside]),
            Danger::ask("program", &["--exec-path|-p|--paginate"], phrases::STARTS_PROGRAM, &[Exec]),
        ])
        .subs(SUBS)
        .check(checks::git_repository)
        .helpers(&["lib/git-core", "libexec/git-core"])
        .quiet(&["--version", "-v", "version", "--exec-path", "--no-pager --version", "--help", "-h"])
        .keeps(&["git", "git nobody", "git -c alias.x=!id x", "git --help x"])
        .raised(&["git reset --hard"]),
];

#[rustfmt::skip]
const SUBS: &[Spec] = &[
    // Reading.
    Spec::read("status")
        .flags("-s -b -z -uno -unormal -uall --short --branch --show-stash --long --no-ahead-behind --ahead-behind --renames --no-renames --no-column --null -u --ignored --porcelain")
        .values("--porcelain=?text --untracked-files=?text --ignored=?text --ignore-submodules=?text --find-renames=?text --column=?text")
        .operands(Named)
        // It shows every change that is staged, whatever paths are given.
        .dangers(&[Danger::ask("verbose", &["-v|--verbose"], phrases::READS_SECRETS, &[Secret])])
        .keeps(&["git status", "git status -sb", "git status --short src", "git --no-pager status", "git status --porcelain=v2 -z", "git -C src status"])
        .raised(&["git -c a=b status", "git --config-env a=B status", "git status --nobody", "git status -v", "git status -vv", "git status --verb", "git -C .. status", "git --git-dir=x status", "git -p status",
                  "git --git-dir x status", "git --exec-path=/x status", "git -C /etc status", "git --work-tree / status", "git --nobody status", "git status --ignore-submodules=none"]),
    Spec::read("diff").flags(diff_flags!()).values(diff_values!()).operands(Named).dangers(DIFF_DANGERS).check(checks::git_diff)
        .keeps(&["git diff", "git diff --stat", "git diff -w -U10", "git diff -U5 --unified=3", "git diff HEAD~1 -- src", "git diff main..feat/x", "git diff --cached --name-only", "git diff -- --output=x", "git diff @~3", "git diff --submodule"])
        .raised(&["git diff --output=x.patch", "git diff --outp=x", "git diff --textconv", "git diff --ext-diff", "git diff --no-index /dev/null x", "git diff --no-ind a b", "git diff --nobody", "git diff --submodule=diff", "git diff --output x", "git diff -O/etc/passwd", "git diff -U /etc/passwd /dev/null", "git diff --unified /etc/passwd /dev/null", "git diff --skip-to /etc/passwd a.txt", "git diff --stat-width .env /dev/null"]),
    Spec::read("log whatchanged").flags(concat!(diff_flags!(), log_flags!())).values(concat!(diff_values!(), log_values!())).operands(Named).dangers(DIFF_DANGERS).check(checks::git_format)
        .keeps(&["git log", "git log --oneline -n 5", "git log -5", "git log -n5 --stat", "git log --author=$(id)", "git log -- reset", "git log --format=%H", "git log --graph --all --decorate", "git log -p -S foo", "git log -L1,5:src/main.rs"])
        .raised(&["git log --format=%G?", "git log --format=%+G?", "git log --format=%-GK", "git log '--format=% GS'", "git log --pretty=tformat:%h%+GF", "git log --pretty=format:%GK", "git log --show-signature", "git log --output=x", "git log --textconv", "git log --show-sig", "git log HEAD:.env", "git log --ext-diff -p", "git log -L1,5:.env", "git log -L :main:.env", "git log -p -- *env", "git log -p *nv", "git log --follow -p -- src", "git log --follow -p -- :(top)id_rsa", "git log --follow -p", "git --noglob-pathspecs log -p"]),
    Spec::read("show").flags(concat!(diff_flags!(), log_flags!())).values(concat!(diff_values!(), log_values!())).operands(Named).dangers(DIFF_DANGERS).check(checks::git_format)
        .keeps(&["git show", "git show HEAD --stat", "git show HEAD:README.md", "git show 4bcfe98e", "git show --stat 4bcfe98e"]).raised(&["git show --textconv HEAD", "git show HEAD:.env", "git show 4bcfe98e 5bcfe98e", "git show --no-walk 4bcfe98e", "git show --format=%GS", "git show HEAD -- :(top)*.pem"]),
    Spec::read("branch")
        .flags("-a -r -v -vv -l -q --all --remotes --verbose --list --show-current --no-column --no-color --contains --no-contains --merged --no-merged --ignore-case -i --no-abbrev --omit-empty")
        .values("--sort=text --format=text --points-at=text --color=?text --abbrev=?text --column=?text --contains=?text --no-contains=?text --merged=?text --no-merged=?text")
        .operands(Text)
        .dangers(&[
            Danger::refuse("delete_force", &["-D"], phrases::GIT_DELETES_BRANCH, &[Delete, Irreversible]),
            Danger::refuse("delete_force", &["-d|--delete", "-f|--force"], phrases::GIT_DELETES_BRANCH, &[Delete, Irreversible]),
            Danger::ask("delete", &["-d|--delete"], phrases::GIT_DELETES, &[Delete]),
            Danger::ask("write", &["-m|-M|-c|-C|-f|-u|-t|--move|--copy|--force|--set-upstream-to|--unset-upstream|--edit-description|--track|--no-track|--create-reflog|--recurse-submodules"], phrases::GIT_WRITES, &[Write]),
        ])
        .check(checks::git_branch)
        .keeps(&["git branch", "git branch -a", "git branch -vv", "git branch --contains HEAD", "git branch --list feat/*", "git branch --show-current", "git branch --sort=-committerdate"])
        .raised(&["git branch x", "git branch -D x", "git branch --delete --force x", "git branch -d x", "git branch -m a b", "git branch -v x", "git branch -a --nobody", "git branch --format=%(signature)", "git branch --delet -f x"]),
    Spec::read("tag")
        .flags("-l --list --contains --no-contains --merged --no-merged -i --ignore-case --no-column --omit-empty").values("-n=?text --sort=text --format=text --points-at=text --color=?text --column=?text --contains=?text --merged=?text")
        .operands(Text)
        .dangers(&[Danger::ask("delete", &["-d|--delete"], phrases::GIT_DELETES, &[Delete]), Danger::ask("sign", &["-s|-u|-v|--sign|--verify|--local-user"], phrases::GIT_SIGNATURE, &[Exec])])
        .check(checks::git_tag)
        .keeps(&["git tag", "git tag -l v1.*", "git tag --list", "git tag -n"]).raised(&["git tag v1", "git tag -d v1", "git tag -v v1", "git tag -a v1 -m x", "git tag -s v1"]),
    Spec::read("rev-parse")
        .flags("--abbrev-ref --short --verify --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir --absolute-git-dir --is-inside-work-tree \
                --is-inside-git-dir --is-bare-repository --is-shallow-repository --all --branches --tags --remotes --quiet -q --revs-only --no-revs --flags --no-flags --show-superproject-working-tree --show-object-format --local-env-vars --not --sq")
        .values("--short=?text --default=text --since=text --until=text --disambiguate=text --git-path=text --path-format=text --abbrev-ref=?text --glob=text --exclude=sure --show-object-format=?text")
        .operands(Text).keeps(&["git rev-parse HEAD", "git rev-parse --abbrev-ref HEAD", "git rev-parse --show-toplevel"]).raised(&["git rev-parse --nobody"]),
    Spec::read("ls-files")
        .flags("-c -d -m -o -i -s -k -u -v -f -t -z --cached --deleted --modified --others --ignored --stage --killed --unmerged --directory --no-empty-directory --eol --full-name --exclude-standard --error-unmatch --deduplicate --debug --sparse --resolve-undo")
        .values("-x=sure --exclude=sure -X=path --exclude-from=path --exclude-per-directory=text --with-tree=text --abbrev=?text --format=text").operands(Named)
        .keeps(&["git ls-files", "git ls-files -o --exclude-standard", "git ls-files src"]).raised(&["git ls-files --nobody", "git ls-files -X .env"]),
    Spec::read("ls-tree").flags("-d -r -t -l -z --long --name-only --name-status --object-only --full-name --full-tree").values("--abbrev=?text --format=text").operands(Named).keeps(&["git ls-tree -r HEAD"]).raised(&["git ls-tree --nobody HEAD"]),
    Spec::read("blame annotate")
        .flags("-b -c -e -f -k -l -n -p -s -t -w -M -C --root --show-stats --show-name --show-number --porcelain --line-porcelain --incremental --show-email --first-parent --progress --no-progress --score-debug --color-lines --color-by-age --minimal")
        .values("-L=sure --since=text --abbrev=text --date=text --ignore-rev=text --ignore-revs-file=path -S=path --reverse=?text --diff-algorithm=text").operands(Named)
        .dangers(&[Danger::ask("contents", &["--contents="], phrases::READS_ELSEWHERE, &[Outside]), Danger::ask("textconv", &["--textconv"], phrases::STARTS_PROGRAM, &[Exec])])
        .keeps(&["git blame README.md", "git blame -L 1,5 README.md", "git blame -L '/fn main/,+5' README.md"]).raised(&["git blame --contents .env a", "git blame .env", "git blame --content=/etc/shadow a"]),
    Spec::read("shortlog").flags(concat!(log_flags!(), "-s -n -e -c --summary --numbered --email --committer")).values(concat!(log_values!(), "-w=?text --group=text")).operands(Named).check(checks::git_format)
        .keeps(&["git shortlog -sn", "git shortlog -sne HEAD"]).raised(&["git shortlog --nobody", "git shortlog --format=%GS", "git shortlog --committer .env"]),
    Spec::read("describe name-rev").flags("--dirty --broken --all --tags --contains --debug --long --always --first-parent --exact-match --name-only --no-undefined --undefined")
        .values("--abbrev=text --candidates=text --match=text --exclude=sure --refs=text --dirty=?text --broken=?text").operands(Text)
        .check(checks::git_dirty)
        .keeps(&["git describe --tags --always", "git name-rev HEAD", "git describe --dirty", "git describe --tags --dirty=-changed --always"]).raised(&["git describe --nobody", "git describe --dirt"]),
    Spec::read("merge-base").flags("-a --all --octopus --independent --is-ancestor --fork-point").operands(Text).keeps(&["git merge-base main HEAD"]).raised(&["git merge-base --nobody"]),
    Spec::read("rev-list").flags(log_flags!()).values(concat!(log_values!(), "--disk-usage=?text --filter=text")).operands(Named).check(checks::git_format).keeps(&["git rev-list --count HEAD"]).raised(&["git rev-list --use-bitmap-index HEAD", "git rev-list --format=%G? HEAD"]),
    Spec::read("for-each-ref").flags("-s -p --shell --perl --python --tcl --ignore-case --omit-empty").values("--count=text --sort=text --format=text --points-at=text --merged=?text --no-merged=?text --contains=?text --no-contains=?text --exclude=sure --color=?text").operands(Text).check(checks::git_format)
        .keeps(&["git for-each-ref --format=%(refname) refs/heads"]).raised(&["git for-each-ref --format=%(signature)", "git for-each-ref --sort=signature:grade"]),
    Spec::read("show-ref").flags("-q -d -s --quiet --head --heads --branches --tags --dereference --verify --exists").values("--hash=?text --abbrev=?text").operands(Text).keeps(&["git show-ref --tags"]).raised(&["git show-ref --exclude-existing"]),
    Spec::read("symbolic-ref").flags("-q --quiet --short --recurse --no-recurse").operands(Text).check(checks::git_symbolic_ref).keeps(&["git symbolic-ref --short HEAD"]).raised(&["git symbolic-ref HEAD refs/heads/x", "git symbolic-ref -d HEAD"]),
    Spec::read("cat-file").flags("-p -t -s -e --allow-unknown-type --batch-all-objects --unordered").values("--batch-check=?text").operands(Named).dangers(&[Danger::ask("textconv", &["--textconv|--filters"], phrases::STARTS_PROGRAM, &[Exec])]).check(checks::git_object)
        .keeps(&["git cat-file -p HEAD", "git cat-file -t 4bcfe98e", "git cat-file commit 4bcfe98e"]).raised(&["git cat-file --textconv HEAD:a.txt", "git cat-file --filters HEAD:a.txt", "git cat-file -p HEAD:.env", "git cat-file --filt HEAD:a", "git cat-file -p 4bcfe98e", "git cat-file blob 4bcfe98e^{}"]),
    Spec::read("count-objects").flags("-v -H --verbose --human-readable").keeps(&["git count-objects -vH"]).raised(&["git count-objects x"]),
    Spec::read("diff-tree diff-index diff-files").flags(concat!(diff_flags!(), log_flags!(), "-r --root --no-commit-id")).values(concat!(diff_values!(), log_values!())).operands(Named).dangers(DIFF_DANGERS).check(checks::git_format)
        .keeps(&["git diff-tree --no-commit-id --name-only -r HEAD"]).raised(&["git diff-index --textconv HEAD", "git diff-tree --output=x HEAD"]),
    Spec::read("cherry").flags("-v").values("--abbrev=text").operands(Text).keeps(&["git cherry -v main"]).raised(&["git cherry --nobody"]),
    Spec::read("check-ignore check-attr").flags("-q -v -n -z -a --quiet --verbose --non-matching --no-index --all --cached").operands(Named).keeps(&["git check-ignore -v target"]).raised(&["git check-ignore --stdin x"]),
    Spec::read("show-branch").flags("-a -r --all --remotes --current --topo-order --date-order --sparse --more --list --merge-base --independent --no-name --sha1-name --topics").operands(Text).keeps(&["git show-branch"]).raised(&["git show-branch --nobody"]),
    Spec::read("grep")
        .flags("-a -I -i -w -v -h -H -E -G -F -P -n -c -l -L -z -o -q -p -W -r --text --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --fixed-strings --perl-regexp \
                --line-number --column --files-with-matches --name-only --files-without-match --null --only-matching --count --break --heading --show-function --function-context --quiet --cached --untracked \
                --no-exclude-standard --exclude-standard --recursive --no-recursive --all-match --and --or --not ( ) --no-color --no-textconv")
        .values("-e=sure -m=text --max-count=text -A=text -B=text -C=text --after-context=text --before-context=text --context=text --max-depth=text --threads=text --color=?text -f=path")
        .operands(PatternThenReads("-e|-f"))
        .check(checks::git_grep)
        .dangers(&[
            Danger::ask("pager", &["-O|--open-files-in-pager"], phrases::STARTS_PROGRAM, &[Exec]),
            Danger::ask("textconv", &["--textconv"], phrases::STARTS_PROGRAM, &[Exec]),
            Danger::ask("no_index", &["--no-index"], phrases::READS_ELSEWHERE, &[Outside]),
        ])
        .keeps(&["git grep -n TODO", "git grep -e a -- src", "git grep x -- *.json", "git grep x -- :!docs"]).raised(&["git grep -O./x a", "git grep -nO./x a", "git grep --open=./x a", "git grep --no-index x /etc", "git grep --textconv a", "git grep --open-files-in-pager=./x a", "git grep x .env", "git grep --untracked --no-exclude-standard -e . -- *nv", "git grep -o . src", "git --literal-pathspecs grep x", "git grep . HEAD:id_rsa", "git grep . 4bcfe98e", "git grep -e . 4bcfe98e -- src", "git grep x -- :(icase)*ENV"]),
    Spec::read("var").operands(Text).quiet(&["GIT_DEFAULT_BRANCH", "GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT", "GIT_SHELL_PATH", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"]).flags("").check(checks::needs_quiet).keeps(&["git var GIT_DEFAULT_BRANCH"]).raised(&["git var -l", "git var GIT_EDITOR"]),
    Spec::read("rerere").operands(None).quiet(&["status", "remaining"]).check(checks::needs_quiet).keeps(&["git rerere status"]).raised(&["git rerere", "git rerere clear", "git rerere diff"]),

    // Reading or writing, depending on the next argument.
    Spec::ask("stash", phrases::GIT_WRITES, &[Write]).posix().subs(&[
        Spec::read("list").flags(concat!(diff_flags!(), log_flags!())).values(concat!(diff_values!(), log_values!())).operands(Named).dangers(DIFF_DANGERS).check(checks::git_format).keeps(&["git stash list"]).raised(&["git stash list --format=%GS", "git stash list -p -- .env"]),
        Spec::read("show").flags(concat!(diff_flags!(), "--include-untracked --only-untracked")).values(diff_values!()).operands(Text).dangers(DIFF_DANGERS).check(checks::git_stash).keeps(&["git stash show", "git stash show -p stash@{0}"]).raised(&["git stash show --ext-diff"]),
        Spec::ask("drop", phrases::GIT_DELETES_STASH, &[Delete, Irreversible]).keeps(&["git stash drop"]),
        Spec::refuse("clear", phrases::GIT_DELETES_STASH, &[Delete, Irreversible]).keeps(&["git stash clear"]),
    ]).keeps(&["git stash", "git stash pop", "git stash -u"]),
    Spec::ask("remote", phrases::GIT_WRITES, &[Write, Network]).posix().flags("-v --verbose").quiet(&["", "-v", "--verbose", "show"]).subs(&[
        Spec::read("get-url").flags("--push --all").operands(Text).keeps(&["git remote get-url origin"]).raised(&["git remote get-url --nobody"]),
    ]).keeps(&["git remote add up https://example.com/x.git", "git remote set-url origin x"]),
    Spec::ask("worktree", phrases::GIT_WRITES, &[Write]).posix().subs(&[
        Spec::read("list").flags("-v -z --verbose --porcelain").keeps(&["git worktree list"]).raised(&["git worktree list x"]),
        Spec::ask("remove", phrases::GIT_DELETES, &[Delete]).dangers(&[Danger::refuse("force", FORCE, phrases::GIT_DISCARDS, &[Delete, Irreversible])]).keeps(&["git worktree remove x"]).raised(&["git worktree remove --force x"]),
    ]).keeps(&["git worktree add ../x"]),
    Spec::read("reflog").flags(concat!(diff_flags!(), log_flags!())).values(concat!(diff_values!(), log_values!())).operands(Named).dangers(DIFF_DANGERS).check(checks::git_reflog)
        .keeps(&["git reflog", "git reflog -n 5", "git reflog show HEAD"]).raised(&["git reflog expire --all", "git reflog delete x", "git reflog -p --textconv", "git reflog show -p HEAD -- .env", "git reflog -p -- *nv", "git reflog show --output=x -p", "git reflog HEAD --output=x -p", "git reflog show -p --textconv", "git reflog show --ext-diff -p"]),
    Spec::ask("submodule", phrases::GIT_RUNS, &[Write, Network, Exec]).posix().flags("-q --quiet").subs(&[
        Spec::ask("deinit", phrases::GIT_DELETES, &[Delete]).dangers(&[Danger::refuse("force", FORCE, phrases::GIT_DISCARDS, &[Delete, Irreversible])]).raised(&["git submodule deinit -f x"]),
        Spec::ask("foreach", phrases::GIT_RUNS, &[Write, Exec]).posix().flags("-q --quiet --recursive").check(wrappers::judge_joined_operands).keeps(&["git submodule foreach ls"]).raised(&["git submodule foreach 'rm -rf x'", "git submodule foreach --recursive rm -rf x"]),
    ]).keeps(&["git submodule update", "git submodule foreach ls", "git submodule status --recursive"]),
    // Names are harmless; a value may be a password, so each is asked about but those that cannot
    // be.
    Spec::ask("config", phrases::GIT_CONFIGURES, &[Write, Exec]).quiet(CONFIG_QUIET).check(checks::git_config)
        .keeps(&["git config user.name x", "git config --add a.b c", "git config --get x.y --unset z", "git config --file x --list", "git config list --file x", "git config --get http.extraheader", "git config --edit", "git config alias.st status", "git config core.editor vim"])
        .raised(&["git config alias.x '!rm -rf /'", "git config --global core.pager 'less; rm -rf ~'", "git config set credential.helper '!rm -rf x'"]),
    Spec::ask("bisect", phrases::GIT_RUNS, &[Write, Exec]).posix().subs(&[Spec::read("log").keeps(&["git bisect log"]).raised(&["git bisect log x"])]).check(checks::git_bisect).keeps(&["git bisect run ./test.sh", "git bisect start"]).raised(&["git bisect run rm -rf x"]),
    Spec::ask("notes", phrases::GIT_WRITES, &[Write]).posix().subs(&[Spec::read("list show").operands(Text).keeps(&["git notes list"]).raised(&["git notes list --nobody"])]).keeps(&["git notes add -m x"]),

    // Writing.
    Spec::ask("add stage", phrases::GIT_WRITES, &[Write]).keeps(&["git add .", "git add -A"]),
    Spec::ask("commit merge cherry-pick revert am rebase", phrases::GIT_RUNS, &[Write, Exec])
        .dangers(&[Danger::ask("exec", &["-x=|--exec="], phrases::STARTS_PROGRAM, &[Exec])]).check(wrappers::git_exec).keeps(&["git commit -m x", "git rebase main", "git rebase -x id main"]),
    Spec::ask("pull", phrases::GIT_RUNS, &[Write, Exec, Network])
        .dangers(&[Danger::ask("program", &["--upload-pack="], phrases::STARTS_PROGRAM, &[Exec])]).check(wrappers::git_exec).keeps(&["git pull"]),
    Spec::ask("mv apply init update-index read-tree write-tree hash-object mktree merge-file merge-index commit-tree pack-refs repack format-patch replace \
               sparse-checkout bundle archive mergetool maintenance credential interpret-trailers fast-import index-pack unpack-objects request-pull checkout-index mailinfo mailsplit stripspace pack-objects fmt-merge-msg merge-tree commit-graph multi-pack-index bugreport diagnose", phrases::GIT_WRITES, &[Write, Exec])
        .check(checks::output).keeps(&["git mv a b", "git apply x.patch", "git init", "git archive HEAD"]),
    Spec::ask("help instaweb gui gitk citool web--browse", phrases::OPENS_PAGER, &[Exec]).keeps(&["git help -w status", "git -C src help status"]),
    Spec::ask("fsck verify-pack", phrases::TAKES_LONG, &[Write]).keeps(&["git fsck --lost-found"]),
    Spec::ask("verify-commit verify-tag", phrases::GIT_SIGNATURE, &[Exec]).keeps(&["git verify-commit HEAD"]),
    Spec::ask("rm", phrases::GIT_DELETES, &[Delete, Write]).dangers(&[Danger::refuse("force", &["-r", "-f|--force"], phrases::DELETES_FORCED, &[Delete, Irreversible])]).keeps(&["git rm a.txt"]).raised(&["git rm -rf src"]),
    Spec::ask("reset", phrases::GIT_WRITES, &[Write]).dangers(&[Danger::refuse("hard", &["--hard"], phrases::GIT_DISCARDS, &[Delete, Irreversible])])
        .keeps(&["git reset", "git reset --soft HEAD~1", "git reset -- a.txt"]).raised(&["git reset --hard", "git reset HEAD~1 --hard", "git reset --har", "git -C src reset --hard", "git --nobody x reset --hard", "git -c a=b reset --hard"]),
    Spec::ask("clean", phrases::GIT_DELETES, &[Delete]).values("-e=text --exclude=sure").dangers(&[Danger::refuse("force", FORCE, phrases::GIT_CLEANS, &[Delete, Irreversible])])
        .keeps(&["git clean -i", "git clean -e -f", "git clean -e -n"]).raised(&["git clean -fd", "git clean -xdf", "git clean --force", "git clean --forc", "git clean -d -f", "git clean -e -- -f"]),
    Spec::ask("checkout", phrases::GIT_SWITCHES, &[Write, Exec]).dangers(&[Danger::refuse("force", FORCE, phrases::GIT_DISCARDS, &[Delete, Irreversible])]).check(checks::git_discard)
        .keeps(&["git checkout main", "git checkout -b x", "git checkout -- a.txt"]).raised(&["git checkout -- .", "git checkout .", "git checkout -f", "git checkout HEAD -- .", "git checkout --for main"]),
    Spec::ask("restore", phrases::GIT_DISCARDS_FILE, &[Write, Delete]).values("-s=text --source=text").check(checks::git_discard)
        .keeps(&["git restore a.txt", "git restore --staged .", "git restore -S ."]).raised(&["git restore .", "git restore :/", "git restore --staged --worktree .", "git restore -SW ."]),
    Spec::ask("switch", phrases::GIT_SWITCHES, &[Write, Exec]).dangers(&[Danger::refuse("force", &["-f|--force|--discard-changes"], phrases::GIT_DISCARDS, &[Delete, Irreversible])]).keeps(&["git switch main", "git switch -c x"]).raised(&["git switch -f main", "git switch --discard-changes main"]),
    Spec::ask("fetch clone ls-remote fetch-pack http-fetch remote-https remote-http", phrases::USES_NETWORK, &[Network, Write])
        .dangers(&[Danger::ask("program", &["--upload-pack=|-u=|--exec=|--receive-pack="], phrases::STARTS_PROGRAM, &[Exec])]).keeps(&["git fetch", "git clone https://example.com/x", "git ls-remote origin"]),
    Spec::ask("difftool", phrases::GIT_WRITES, &[Write, Exec]).dangers(&[Danger::ask("program", &["-x=|--extcmd="], phrases::STARTS_PROGRAM, &[Exec])]).check(wrappers::git_exec).keeps(&["git difftool", "git difftool -x id"]).raised(&["git difftool -x 'rm -rf x'"]),
    Spec::ask("push send-pack", phrases::GIT_PUSHES, &[Network, Send, Write]).values("-o=text --push-option=text --repo=text --receive-pack=text --exec=text --recurse-submodules=text")
        .flags("--follow-tags --force-if-includes")
        .dangers(&[
            Danger::refuse("force", &["-f|--force|--force-with-lease"], phrases::GIT_FORCES, &[Network, Send, Irreversible]),
            Danger::refuse("mirror", &["--mirror|--prune"], phrases::GIT_MIRRORS, &[Network, Send, Irreversible]),
            Danger::refuse("delete", &["-d|--delete"], phrases::GIT_DELETES_REMOTE, &[Network, Send, Irreversible]),
        ])
        .check(checks::git_push)
        .keeps(&["git push", "git push origin main", "git push --follow-tags", "git push -u origin x"])
        .raised(&["git push -f", "git push --force", "git push --force-with-lease", "git push --forc", "git push --mirror", "git push origin +main", "git push origin :main", "git push -d origin x", "git push origin main -f"]),
    Spec::refuse("filter-branch filter-repo prune", phrases::GIT_DISCARDS, &[Delete, Irreversible]).keeps(&["git filter-branch"]),
    Spec::ask("gc", phrases::GIT_WRITES, &[Write]).dangers(&[Danger::refuse("prune", &["--prune="], phrases::GIT_DISCARDS, &[Delete, Irreversible])]).keeps(&["git gc"]).raised(&["git gc --prune=now"]),
    Spec::ask("update-ref", phrases::GIT_WRITES, &[Write]).dangers(&[Danger::refuse("delete", &["-d|--delete"], phrases::GIT_DELETES, &[Delete, Irreversible])]).keeps(&["git update-ref HEAD x"]).raised(&["git update-ref -d refs/heads/x"]),
    Spec::ask("send-email imap-send", phrases::GIT_RUNS, &[Exec, Network, Send, Write]).keeps(&["git send-email x.patch"]),
    Spec::ask("lfs svn p4 range-diff daemon http-backend shell annex flow cvsimport cvsexportcommit cvsserver archimport subtree", phrases::GIT_RUNS, &[Exec, Network, Write]).keeps(&["git lfs pull"]),
];
