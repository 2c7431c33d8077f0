//! Tests shell lines inside settings, options and variables: what a shell would be refused
//! is refused there, too.

use super::*;

/// The words of a line, quotes as a shell has them.
fn words_of(line: &str) -> Vec<String> {
    let words = super::super::policy::split(line).unwrap();
    words.into_iter().map(|(word, _)| word).collect()
}

fn line(line: &str) -> Risk {
    let words = words_of(line);
    let (program, args) = words.split_first().unwrap();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    risk(program, &args)
}

/// A machine whose user has aliases of their own.
struct Aliases;

impl Machine for Aliases {
    fn resolve(&self, path: &Path) -> PathBuf {
        paths::normalize(path)
    }

    fn kind(&self, _: &Path) -> PathKind {
        PathKind::Folder
    }

    fn program(&self, name: &str) -> Option<Program> {
        world().program(name)
    }

    fn read(&self, path: &Path, _: usize) -> Contents {
        match path.to_str() {
            Some("/h/.gitconfig") => {
                Contents::Bytes("[alias]\n\tout = push\n\twipe = !rm -rf /\n\tst = status\n".into())
            }
            Some("/w/.git/config") => {
                Contents::Bytes("[alias]\n\tup = push --quiet\n\tdrop = reset --hard\n".into())
            }
            Some(_) | None => Contents::Missing,
        }
    }
}

fn with_aliases(line: &str, denied: &[&str]) -> Tier {
    let words = words_of(line);
    let (program, args) = words.split_first().unwrap();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let denied = denied.iter().map(|rule| PolicyRule::parse(rule).unwrap()).collect();
    let (policy, place) = (Policy { denied, ..Policy::default() }, place());
    let policy_cx = PolicyContext { policy: &policy, place: &place, world: &Aliases };
    assess(step(program, &args), policy_cx).judgement().risk.tier
}

#[test]
fn a_line_inside_a_setting_of_git_is_judged_as_a_line() {
    for refused in [
        "git -c alias.x='!rm -rf /' x",
        "git -c 'alias.x=!rm -rf build' x",
        "git -c 'alias.x=!rm' x -rf /",
        "git -c 'alias.X=push --force' x",
        "git -c alias.x=push x --force",
        "git -c 'alias.x=!sudo ls' x",
        "git -c 'core.pager=rm -rf ~' log",
        "git -c 'pager.log=less; rm -rf x' log",
        "git -c 'core.editor=rm -rf x' commit",
        "git -c 'sequence.editor=rm -rf x' rebase -i HEAD~1",
        "git -c 'core.sshCommand=rm -rf x' fetch",
        "git -c 'diff.external=rm -rf x' diff",
        "git -c 'diff.a.textconv=rm -rf x' diff",
        "git -c 'filter.a.clean=rm -rf x' add .",
        "git -c 'filter.a.process=sh -c \"rm -rf x\"' add .",
        "git -c 'credential.helper=!rm -rf x' fetch",
        "git -c 'credential.https://a.b.helper=!rm -rf x' fetch",
        "git -c 'merge.a.driver=rm -rf x' merge y",
        "git -c 'core.fsmonitor=rm -rf x' status",
        "git -c 'remote.o.url=ext::rm -rf x' fetch o",
        "git -c 'submodule.a.update=!rm -rf x' submodule update",
        "git config alias.x '!rm -rf /'",
        "git config --global alias.x '!rm -rf /'",
        "git config --add alias.x '!rm -rf /'",
        "git config set core.pager 'rm -rf x'",
        "git config core.editor --replace-all 'rm -rf x'",
        "git config --file f core.pager 'cat; rm -rf x'",
        "git -C sub config diff.external 'rm -rf x'",
        "git clone -c 'core.sshCommand=rm -rf x' a@b:c",
        "git clone --config=core.sshCommand='rm -rf x' a@b:c",
        "git fetch --upload-pack 'rm -rf x' o",
        "git push --receive-pack='rm -rf x' o",
        "git clone 'ext::rm -rf x' y",
        "git filter-branch --tree-filter 'rm -rf x' HEAD",
    ] {
        assert_eq!(line(refused).tier, Tier::L2, "{refused}");
    }
}

#[test]
fn a_line_inside_a_variable_is_judged_as_a_line() {
    for refused in [
        "env GIT_PAGER='rm -rf x' git log",
        "env 'GIT_EDITOR=rm -rf x' git commit",
        "env GIT_SEQUENCE_EDITOR='rm -rf x' git rebase -i",
        "env GIT_SSH_COMMAND='sh -c \"rm -rf x\"' git fetch",
        "env GIT_EXTERNAL_DIFF='rm -rf x' git diff",
        "env GIT_ASKPASS='rm -rf x' git fetch",
        "env PAGER='rm -rf x' man ls",
        "env LESSOPEN='|rm -rf x' less a",
        "env VISUAL='rm -rf x' git commit",
        "env RSYNC_RSH='rm -rf x' rsync a b:c",
        "env GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!rm -rf x' git x",
        "env GIT_CONFIG_PARAMETERS=\\'core.pager=rm\\ -rf\\ x\\' git log",
        "env PROMPT_COMMAND='rm -rf x' bash",
        "sh -c 'GIT_PAGER=\"rm -rf x\" git log'",
        "bash -c 'export GIT_EDITOR=\"rm -rf x\"; git commit'",
    ] {
        assert_eq!(line(refused).tier, Tier::L2, "{refused}");
    }
}

#[test]
fn ordinary_settings_still_ask_and_no_more() {
    for asks in [
        "git config core.editor vim",
        "git config --global core.editor 'code --wait'",
        "git config core.pager 'delta --dark'",
        "git config alias.st status",
        "git config --global alias.undo 'reset --hard HEAD~1'",
        "git config credential.helper store",
        "git config filter.lfs.clean 'git-lfs clean -- %f'",
        "git config remote.origin.url git@github.com:a/b.git",
        "git config user.name 'Ann Lee'",
        "git -c user.name=x commit -m y",
        "git -c core.pager=cat log",
        "git -c core.editor=true rebase --continue",
        "git -c sequence.editor=: rebase -i HEAD~2",
        "env GIT_EDITOR=true git rebase --continue",
        "env GIT_PAGER=less git log",
        "env EDITOR=vim git commit",
        "env GIT_SSH_COMMAND='ssh -i key' git fetch",
        "git clone -c core.autocrlf=input https://a.b/c",
        "git fetch --upload-pack git-upload-pack origin",
    ] {
        assert_eq!(line(asks).tier, Tier::L1, "{asks}");
    }
}

#[test]
fn an_alias_of_the_repository_or_of_the_user_is_judged_as_its_value() {
    for refused in ["git wipe", "git WIPE", "git drop", "git -C . drop", "git out --force"] {
        assert_eq!(with_aliases(refused, &[]), Tier::L2, "{refused}");
    }
    for asks in ["git out", "git up", "git st", "git nobody"] {
        assert_eq!(with_aliases(asks, &[]), Tier::L1, "{asks}");
    }
}

#[test]
fn a_rule_that_refuses_sees_through_aliases_and_global_options() {
    for refused in [
        "git out",
        "git up origin",
        "git -c alias.x=push x",
        "git -c alias.x=push -C . x origin",
        "git -c 'alias.x=!git push' x",
        "git --no-pager -c a.b=c out",
        "git -C sub out",
        "sh -c 'git out'",
        "env GIT_DIR=x git out",
    ] {
        assert_eq!(with_aliases(refused, &["git push *"]), Tier::L2, "{refused}");
    }
    assert_eq!(with_aliases("git st", &["git push *"]), Tier::L1);
}
