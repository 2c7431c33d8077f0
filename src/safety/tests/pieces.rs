//! Tests lines for a shell that are judged by their pieces.

use proptest::sample::select;

use super::*;
use crate::{Launch, ShellScriptPart, suggest_grants};
use avocet_core::i18n::Lang;
use avocet_core::protocol::{ApprovalMode, SandboxStatus};
use avocet_core::text::quote_visible;

mod questions;

const DAY: &str = include_str!("../../../tests/fixtures/day.txt");
const READING: &str = include_str!("../../../tests/fixtures/reading.txt");

fn bash(line: &str) -> Step {
    step("bash", &["-lc", line])
}

fn line_verdict(line: &str) -> Verdict {
    assess_with(bash(line), &Policy::default(), &place())
}

fn line_tier(line: &str) -> Tier {
    line_verdict(line).judgement().risk.tier
}

fn launch_of(line: &str) -> Launch {
    line_verdict(line).judgement().launch.clone()
}

/// What the shell is given, without what is added to the commands.
fn script_of(line: &str) -> String {
    let script = launch_of(line).script.unwrap_or_default();
    let part = |part: &ShellScriptPart| match part {
        ShellScriptPart::Text(text) => text.clone(),
        ShellScriptPart::Command(command) => {
            let words = std::iter::once(&command.program).chain(&command.args);
            let words: Vec<&str> = words.map(String::as_str).collect();
            format!("{}<{}>{}", command.sets, words.join("|"), command.redirects)
        }
    };
    script.0.iter().map(part).collect()
}

/// A command as it is typed: quotes only where a shell would see more than letters.
fn typed(command: &str) -> String {
    let word = |word: &String| match word.strip_prefix('~') {
        Some(rest) => format!("~{rest}"),
        None => quote_visible(word),
    };
    words_of(command).iter().map(word).collect::<Vec<_>>().join(" ")
}

/// The commands of a file in which each follows its kind, and the folder they run in.
fn commands_of(text: &'static str, place: Workspace) -> Vec<(&'static str, Workspace)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let commands = lines.filter_map(|line| Some(line.split_once(' ')?.1.trim()));
    commands.map(|command| (command, place.clone())).collect()
}

#[test]
fn a_command_runs_in_a_shell_as_it_runs_alone() {
    let day = Workspace { readable: vec!["/m".into()], ..Workspace::new("/m/apps/shop", "/h") };
    let mut commands = commands_of(DAY, day);
    commands.extend(commands_of(READING, Workspace::new("/h/code/shop", "/h")));
    let (mut alone, mut differing) = (0, Vec::new());
    for (command, place) in &commands {
        let words = words_of(command);
        let (program, args) = words.split_first().unwrap();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let tier = |step| assess_with(step, &Policy::default(), place).judgement().risk.tier;
        let (bare, wrapped) = (tier(step(program, &args)), tier(bash(&typed(command))));
        alone += usize::from(bare == Tier::L0);
        if (bare == Tier::L0) != (wrapped == Tier::L0) {
            differing.push(format!("{bare:?} {wrapped:?} {command}"));
        }
    }
    assert!(alone > 700, "{alone}");
    assert!(differing.is_empty(), "{}:\n{}", differing.len(), differing.join("\n"));
}

/// Pieces that run by themselves, whatever is in front of them or reads what they write.
const HARMLESS: &[&str] = &[
    "ls -la",
    "cat a.txt",
    "git status",
    "git log --oneline -5",
    "git diff",
    "rg -n foo src",
    "grep -rn 'a|b' src",
    "find . -name '*.rs'",
    "sed -n 1,5p a.txt",
    "head -5",
    "sort -u",
    "wc -l",
    "echo \"a; b\"",
    "pwd",
    "true",
    "[ -f a.txt ]",
    "jq .a x.json",
    "awk '{print $1}'",
    "node --version",
    "LC_ALL=C sort a.txt",
    "cat a.txt 2>/dev/null",
    "ls >/dev/null 2>&1",
    "x=1",
    "if ls; then ls; fi",
    "if [ -f a.txt ]; then cat a.txt; else pwd; fi",
    "[[ -f a.txt ]]",
    "for f in a b; do cat \"$f\"; done",
    "z=$(ls)",
    "echo \"$(git status) `pwd`\"",
    "ls | while read -r g; do echo \"$g\"; done",
    "find . -name a | xargs wc -l",
    "cat <<< x",
    "export NO_COLOR=1",
    "(cd src && ls)",
    "ls [ab]* {1..3}",
    "[ -n \"$(git diff)\" ]",
    "cat <(ls)",
    "diff <(sort a.txt) <(git show HEAD:a.txt)",
    "ls | xargs cat",
    "git ls-files | head -5 | xargs grep -n foo",
    "git ls-files | xargs -n1 wc -l",
    "ls | xargs -I{} echo a{}b",
    "ls | while read -r g; do cat $g; done",
    "for g in $(git ls-files); do echo $g; wc -l < \"$g\"; done",
    "git show --stat $(git rev-parse HEAD)",
    "head -n $((1 + 2)) a.txt",
    "sed -n \"$(grep -c x a.txt)p\" a.txt",
    "case a in a|b*) ls ;; *) pwd ;; esac",
    "[[ -f a.txt && a == a* ]]",
    "ls | tee /dev/null",
    "bash -c 'ls | head'",
    "for ((i=1; i<=3; i++)); do echo $i; done",
    "while ls; do ls; break; done",
    "until [ -f a.txt ]; do ls; done",
    "for f in a b; do [ -f $f ] || continue; cat $f; done",
    "[[ a =~ ^b|c$ ]]",
    "[[ $(git diff) ]]",
    "ls | while read -r g; do [ -f \"$g\" ] && echo $g; done",
    "cat <<< \"$(ls) $HOME\"",
    "timeout 5 bash -c 'ls | head'",
    "ls | xargs -I{} sh -c 'head -1 {}'",
    "head -n \"$(cat a.txt)\" b.txt",
    "echo ${CI:-no} ${PIPESTATUS[0]}",
];

/// Pieces that ask or are refused wherever they are.
const OTHERS: &[&str] = &[
    "npm test",
    "cat .env",
    "rm a.txt",
    "touch x",
    "rm -rf /",
    "./evil.sh",
    "PATH=. ls",
    "LD_PRELOAD=x ls",
    "GIT_DIR=x git status",
    "ls > x",
    "ls $(cat x)",
    "cat <(npm test)",
    "cat >(ls)",
    "eval ls",
    "exec ls",
    "source x",
    "PATH=.",
    "export PATH=a",
    "x=$(cat .env)",
    "echo $(npm test)",
    "cat a.txt | xargs cat",
    "ls | xargs rm",
    "ls | xargs uniq",
    "ls | xargs sh",
    "cat a.txt | while read -r g; do cat $g; done",
    "ls | while read -r g; do rm $g; done",
    "for g in $(cat a.txt); do cat $g; done",
    "for g in $(ls); do sort $g > x; done",
    "for g in $(ls); do $g; done",
    "git show $(cat a.txt)",
    "git checkout $(git rev-parse HEAD)",
    "echo $((a[$(x)]))",
    "echo $((PATH=1))",
    "case a in a) npm test;; esac",
    "case a in $(x)) ls;; esac",
    "tee /dev/null x",
    "cat <<< $(npm test)",
    "f() { ls; }; f > x",
    "while npm test; do ls; done",
    "while :; do ls; done",
    "for f in a; do break; rm $f; done",
    "[[ a =~ $x ]]",
    "((a[$(x)]++))",
    "timeout 5 bash -c 'ls > x'",
    "ls | xargs -I{} sh -c 'rm {}'",
    "cat <<< $KEY",
    "cat ~/.ssh/id_rsa",
    "curl https://a.b",
    "python3 -c 1",
    "ls $y",
    "for f in a .env; do cat $f; done",
    "for f in a; do rm $f; done",
    "cd .. && ls",
    "test -v 'a[$(x)]'",
    "printf -v a b",
    "read a",
    "trap ls EXIT",
    "if ls; then npm test; fi",
    "sudo ls",
    "git push",
    "bash -c 'ls > x'",
    "bash -ic ls",
    "sh <<< ls",
    "$'ls'",
    "ls 3>&1",
];

/// Operators between commands.
const JOINTS: &[&str] = &[" | ", " && ", " || ", "; ", "\n", "|", "&&", ";", " \\\n && ", " |\n "];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]
    #[test]
    fn a_line_runs_exactly_if_all_of_its_pieces_do(
        pieces in proptest::collection::vec((select(HARMLESS), select(JOINTS)), 1..6),
        odd in select(OTHERS),
        at in any::<proptest::sample::Index>(),
        joint in select(JOINTS),
        in_group in any::<bool>(),
    ) {
        let joined = |pieces: &[(&str, &str)]| {
            let mut line = String::new();
            for (at, (piece, joint)) in pieces.iter().enumerate() {
                line += if at == 0 { "" } else { joint };
                line += piece;
            }
            if in_group { format!("( {line} )") } else { line }
        };
        let line = joined(&pieces);
        prop_assert!(line_tier(&line) == Tier::L0, "{line}: {:?}", line_verdict(&line).judgement().risk.reasons);
        let mut mixed = pieces.clone();
        mixed.insert(at.index(mixed.len() + 1), (odd, joint));
        let line = joined(&mixed);
        prop_assert!(line_tier(&line) > Tier::L0, "{line}");
    }
}

/// Forms around a command, whose output is shown, compared or kept.
const FORMS: &[&str] = &[
    "echo $(#)",
    "echo \"a $(#) b\"",
    "printf '%s\\n' \"$(#)\"",
    "echo $(echo \"$(#)\")",
    "q=$(#); echo \"$q\"",
    "q=$(#) && echo $q | head",
    "[ -n \"$(#)\" ] && ls",
    "[[ -z \"$(#)\" ]] || ls",
    "if [ \"$(#)\" = a ]; then ls; fi",
    "( # )",
    "( #\n) | head",
    "if true; then #\nfi",
    "for i in 1 2; do #\ndone",
    "ls | while read -r g; do #\ndone",
    "cat a.txt && { #\n}",
    "cat <<'E'\nx\nE\n#",
    "export NO_COLOR=1; #",
    "ls; (#)",
    "ls [ab]* {1..2}; #",
    "cat <(#)",
    "diff <(ls) <(#)",
    "while read -r h; do echo \"$h\"; done < <(#)",
    "case $(#) in a) ls;; esac",
    "case a in a) #\n;; b|c*) ls;; esac",
    "case a in b) ls;; *) #\n;; esac",
    "for g in $(#); do echo $g; done",
    "for g in $(git ls-files); do #\ndone",
    "for ((i=0;i<2;i++)); do #\ndone",
    "[[ -f a.txt && -n $(#) ]]",
    "# | xargs echo",
    "# | xargs -n1 echo",
    "ls | xargs wc -l; #",
    "n=$((1+2)); #",
    "bash -c ls; #",
];

#[test]
fn no_form_hides_what_asks_in_it_and_each_runs_with_what_runs() {
    let fill = |form: &str, piece: &str| form.replace('#', piece);
    let mut wrong = Vec::new();
    for form in FORMS {
        let asking = OTHERS.iter().map(|piece| (piece, false));
        // Beside the parenthesis of a form another would be arithmetic.
        let is_plain = |piece: &&&str| !piece.contains('=') && !piece.starts_with('(');
        let running = HARMLESS.iter().filter(is_plain).map(|piece| (piece, true));
        for (piece, runs) in asking.chain(running) {
            let line = fill(form, piece);
            if (line_tier(&line) == Tier::L0) != runs {
                wrong.push(format!("{runs} {line}"));
            }
        }
        for hostile in ["rm -rf src", "sudo ls", "git push --force"] {
            let tier = line_tier(&fill(form, hostile));
            wrong.extend((tier != Tier::L2).then(|| format!("{tier:?} {form} {hostile}")));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_shell_gets_the_words_that_were_judged_and_expands_none() {
    for (line, expected) in [
        ("ls  -la 'a b'", "</bin/ls|-la|a b>"),
        ("r\"g\" \"x y\" | head", "</bin/rg|x y> | </bin/head>"),
        ("cd src && ls # x", "{ 'cd' 'src' || exit 1\n} && </bin/ls>"),
        ("ls 2>&1 >/dev/null", "</bin/ls> 2>&1 >/dev/null"),
        ("echo \"$HOME is $?\"; ls", "'echo' '/h'' is '\"${?}\"\n</bin/ls>"),
        ("ls $PWD/x", "</bin/ls|/w/x>"),
        ("echo $USER a", "'echo' \"${USER}\" 'a'"),
        ("LC_ALL=C sort a", "LC_ALL='C' </bin/sort|a>"),
        ("(ls; pwd) | wc", "( </bin/ls>\n'pwd' ) | </bin/wc>"),
        ("ls |& wc", "</bin/ls> 2>&1 | </bin/wc>"),
        ("ls &>/dev/null", "</bin/ls> >/dev/null 2>&1"),
        ("for f in a 'b c'; do cat \"$f\"; done", "{ </bin/cat|a>\n\n</bin/cat|b c>\n\n}"),
        (
            "for f in ab.c; do echo ${#f} ${f/b/x} ${f//./-}; done",
            "{ 'echo' '4' 'ax.c' 'ab-c'\n\n}",
        ),
        ("if [[ -f a ]]; then ls; fi", "if [[ -f 'a' ]]\nthen </bin/ls>\nfi"),
        ("n=5; head -$n a", ":\n</bin/head|-5|a>"),
        ("sort < a.txt", "</bin/sort> <'a.txt'"),
        ("cat <<'E' | wc\n$x\nE\nls", "printf '%s' '$x\n' | </bin/cat> | </bin/wc>\n\n</bin/ls>"),
        ("wc <<< 'a b'", "printf '%s\\n' 'a b' | </bin/wc>"),
        (
            "echo \"a $(ls)\"",
            "( avocet_0=\"$( </bin/ls> )\" || :\nset -f\n'echo' 'a '\"${avocet_0}\" )",
        ),
        (
            "x=$(ls); echo $x",
            "avocet_0=\"$( </bin/ls> )\" avocet_x=''\"${avocet_0}\" \n( set -f\n'echo' ${avocet_x} )",
        ),
        ("ls $(pwd)/a", "</bin/ls|/w/a>"),
        ("ls; rc=$?; exit $rc", "</bin/ls>\navocet_rc=''\"${?}\" \n'exit' \"${avocet_rc}\""),
        (
            "ls | while read -r a; do echo $a; done",
            "</bin/ls> | while read -r avocet_a\ndo ( set -f\n'echo' ${avocet_a} )\ndone",
        ),
        ("find . -name a | xargs wc -l", "</bin/find|.|(|-name|a|)|-exec|wc|-l|{}|+>"),
        ("find . -print0 | xargs -0 -n1 cat", "</bin/find|.|-exec|cat|{}|;>"),
    ] {
        assert_eq!(script_of(line), expected, "{line}");
    }
    for asks in ["2>&1 ls", "ls $x", "ls '~/x'", "cat ~/.ssh/x"] {
        assert_eq!(script_of(asks), "", "{asks}");
    }
}

#[test]
fn a_line_needs_exactly_what_its_pieces_need() {
    let launch = launch_of("rg foo | head; node --version");
    let started: Vec<&str> =
        launch.starts.iter().filter_map(|program| program.path.to_str()).collect();
    assert_eq!(started, ["/bin/rg", "/bin/head", "/bin/node"]);
    assert!(launch.inserted.is_empty() && !launch.empty_folder && launch.git.is_none());
    let commands: Vec<_> = launch.script.iter().flat_map(|script| script.commands()).collect();
    assert!(commands[0].searches && !commands[0].launch.inserted.is_empty());
    assert!(!commands[1].searches && commands[2].launch.empty_folder);
    assert!(!launch_of("ls | head").needs.netlink && launch_of("ss -l | head").needs.netlink);
    // What a filter would leave out of the step's own output is not printed at all.
    let diff = launch_of("git diff | grep x");
    let git = diff.script.iter().flat_map(|script| script.commands()).next().unwrap();
    assert!(!diff.filters_diffs && !git.launch.filters_diffs);
    assert!(git.launch.inserted.iter().any(|(_, word)| word.contains("exclude")));
}

#[test]
fn a_folder_that_may_not_have_been_entered_is_judged_with_the_one_before() {
    for (line, tier) in [
        ("cd src && git status", Tier::L0),
        ("cd src; git status", Tier::L0),
        ("cd src && cd lib && git status; git log", Tier::L0),
        ("ls && cd src && git status", Tier::L0),
        ("cd src && cat ../a", Tier::L0),
        // It may run in either of them.
        ("true || cd src && git status", Tier::L1),
        ("ls | cd src && git status", Tier::L1),
        ("ls && cd src; git status", Tier::L1),
        ("(cd src) && cat ../a", Tier::L1),
        ("{ cd src; } && cat ../a", Tier::L1),
        ("cd src && cat ../../a", Tier::L1),
        ("cd .. && ls", Tier::L1),
    ] {
        assert_eq!(line_tier(line), tier, "{line}");
    }
}

#[test]
fn only_the_plain_options_of_sh_and_bash_are_understood() {
    let tier = |program, args: &[&str]| tier(program, args);
    for (program, option) in
        [("bash", "-c"), ("sh", "-c"), ("/bin/bash", "-lc"), ("bash", "-cl"), ("sh", "-lc")]
    {
        assert_eq!(tier(program, &[option, "ls | head"]), Tier::L0, "{program} {option}");
    }
    for args in [
        &["-ic", "ls"][..],
        &["-c", "ls", "x"],
        &["-O", "extglob", "-c", "ls"],
        &["--rcfile", "x", "-c", "ls"],
        &["--init-file", "x", "-lc", "ls"],
        &["-s", "-c", "ls"],
        &["-xc", "ls"],
        &["ls"],
    ] {
        assert!(tier("bash", args) > Tier::L0, "{args:?}");
    }
    for shell in ["zsh", "fish", "./bash", "/w/bash", "busybox"] {
        assert!(tier(shell, &["-c", "ls"]) > Tier::L0, "{shell}");
    }
    // Only bash has these.
    for line in ["ls |& head", "ls &>/dev/null", "time ls"] {
        assert_eq!(tier("sh", &["-c", line]), Tier::L1, "{line}");
    }
    assert!(tier("timeout", &["5", "bash", "-c", "ls"]) > Tier::L0);
    assert!(tier("env", &["bash", "-c", "ls"]) > Tier::L0);
}

#[test]
fn what_the_user_forbids_asks_or_refuses_inside_a_line() {
    let denied = |rule: &str| policy(|p| p.denied = vec![PolicyRule::parse(rule).unwrap()]);
    let verdict = |policy: &Policy| assess_with(bash("ls | head"), policy, &place());
    for rule in ["ls *", "head", "bash *"] {
        assert!(matches!(verdict(&denied(rule)), Verdict::Refuse(_)), "{rule}");
    }
    let taken = policy(|p| p.allowed_programs = vec!["-bash".into()]);
    assert!(matches!(verdict(&taken), Verdict::Refuse(_)));
    let absent = policy(|p| p.shelter = SandboxStatus::Absent);
    assert!(matches!(verdict(&absent), Verdict::Ask(_)));
    let plan = policy(|p| p.approval = ApprovalMode::Plan);
    assert!(matches!(verdict(&plan), Verdict::Run(_)));
}

#[test]
fn an_untrusted_folder_is_only_read() {
    let place = Workspace { trusted: false, ..place() };
    let verdict = |line: &str| assess_with(bash(line), &Policy::default(), &place);
    assert!(matches!(verdict("ls | head"), Verdict::Run(_)));
    let asked = step("git", &["status"]);
    let alone = matches!(assess_with(asked, &Policy::default(), &place), Verdict::Run(_));
    assert_eq!(matches!(verdict("git status | head"), Verdict::Run(_)), alone);
}

/// The rules that a question about a line offers.
fn offered(line: &str) -> Vec<Grant> {
    let (policy, place, world) = (Policy::default(), place(), world());
    let policy_cx = PolicyContext { policy: &policy, place: &place, world: &world };
    suggest_grants(line_verdict(line).judgement(), policy_cx)
}

#[test]
fn a_question_about_a_line_offers_the_rules_of_the_pieces_that_ask() {
    let rules = |line: &str| -> Vec<String> {
        offered(line).iter().map(|grant| grant.rule.to_string()).collect()
    };
    let alone = |program, args: &[&str]| suggested_rule(&verdict(program, args)).unwrap();
    assert_eq!(rules("npm test 2>&1 | tail -5"), [alone("npm", &["test"])]);
    assert_eq!(rules("ls && git commit -m x"), [alone("git", &["commit", "-m", "x"])]);
    assert_eq!(rules("npm test; npm test"), [alone("npm", &["test"])]);
    for never in [
        "ls | head",
        "npm test > x",
        "npm test $(x)",
        "cat .env | head",
        "npm test && cat ~/.ssh/id_rsa",
        "rm -rf / && npm test",
        "npm test & ls",
        "npm test && ./evil.sh",
        "npm test | xargs rm",
    ] {
        assert!(rules(never).is_empty(), "{never}: {:?}", rules(never));
    }
}

#[test]
fn a_line_whose_pieces_run_or_are_allowed_runs_in_every_mode() {
    let granted = offered("npm test | tail -5");
    for approval in [ApprovalMode::Ask, ApprovalMode::Edits] {
        let allowed = policy(|p| {
            p.granted = granted.clone();
            p.approval = approval;
        });
        let verdict = |line: &str| assess_with(bash(line), &allowed, &place());
        for runs in ["npm test", "npm test | head", "ls && npm test 2>&1 | grep x", "npm test; ls"]
        {
            let verdict = verdict(runs);
            assert!(matches!(verdict, Verdict::Run(_)), "{runs}");
            let launch = &verdict.judgement().launch;
            assert!(launch.script.is_some(), "{runs}");
            assert!(launch.needs.credentials.is_empty() && !launch.needs.system, "{runs}");
        }
        for asks in [
            "npm test > x",
            "npm test && npm run other",
            "npm test && cat .env",
            "npm test; node --version",
            "cd src && npm test",
            "PATH=. npm test",
            "npm test &",
            "npm test $(ls)",
        ] {
            assert!(matches!(verdict(asks), Verdict::Ask(_)), "{asks}");
        }
        assert!(matches!(verdict("npm test; rm -rf /"), Verdict::Refuse(_)));
    }
    let plan = policy(|p| {
        p.granted = granted;
        p.approval = ApprovalMode::Plan;
    });
    assert!(matches!(assess_with(bash("npm test | head"), &plan, &place()), Verdict::Refuse(_)));
}

#[test]
fn the_pieces_of_a_line_that_asks_say_which_of_them_ask() {
    let verdict = line_verdict("ls | head && npm test");
    let pieces: Vec<_> =
        verdict.judgement().pieces.iter().map(|p| (p.text.as_str(), p.risk.tier)).collect();
    assert_eq!(pieces, [("ls", Tier::L0), ("head", Tier::L0), ("npm test", Tier::L1)]);
    let first = |line: &str| {
        let verdict = line_verdict(line);
        verdict.judgement().risk.reasons[0].say.text(Lang::En)
    };
    let named = "`npm test` runs code or settings of the project.";
    for line in ["ls | head && npm test", "npm test", "cd src && npm test 2>&1 | tail -5"] {
        assert_eq!(first(line), named, "a reason that names the command is not led by it again");
    }
    let verdict = line_verdict("for f in a; do npm test; done");
    assert!(verdict.judgement().pieces.iter().any(|piece| piece.text == "npm test"));
    assert!(verdict.judgement().launch.script.is_none());
}

#[test]
fn a_line_that_was_approved_runs_as_it_is() {
    let Verdict::Ask(held) = line_verdict("ls && npm test") else { panic!("it asks") };
    assert!(held.approve().judgement().launch.script.is_none());
}

#[test]
fn a_line_that_would_be_longer_than_the_system_takes_asks() {
    let line = |count: usize| vec!["rg foo src"; count].join("; ");
    assert_eq!(line_tier(&line(3)), Tier::L0);
    assert_eq!(line_tier(&line(60)), Tier::L1);
    assert!(line_tier(&"x".repeat(300 * 1024)) > Tier::L0);
}

#[test]
fn a_variable_of_a_line_is_known_only_where_it_must_have_been_set() {
    for (line, tier) in [
        ("f=a; cat $f", Tier::L0),
        ("f=a && cat $f", Tier::L0),
        ("f='a b'; cat \"$f\"", Tier::L0),
        ("d=src; f=$d/a; cat ${f}", Tier::L0),
        ("f=a; sort < $f", Tier::L0),
        ("f=a; cat ${f/a/b}", Tier::L0),
        // Its value is what is judged.
        ("f=a; cat ${f/a/.env}", Tier::L1),
        ("f=.env; cat $f", Tier::L1),
        ("f=.env; sort < $f", Tier::L1),
        ("f=-delete; find . $f", Tier::L1),
        ("f='a .env'; cat $f", Tier::L1),
        ("f='*'; cat $f", Tier::L1),
        ("c=ls; $c", Tier::L1),
        // It may have been set or not.
        ("false && f=a; cat $f", Tier::L1),
        ("f=a | cat $f", Tier::L1),
        ("(f=a); cat $f", Tier::L1),
        ("f=a; { f=.env; }; cat $f", Tier::L1),
        ("f=a; if ls; then f=b; fi; cat $f", Tier::L1),
        ("f=a; ls && f=b; cat $f", Tier::L1),
        ("for f in a; do ls; done; cat $f", Tier::L1),
        ("for f in a; do ls && f=.env; cat $f; done", Tier::L1),
        // The shell and programs have a use for these.
        ("PATH=.; ls", Tier::L1),
        ("IFS=/; ls", Tier::L1),
        ("GIT_DIR=x; git status", Tier::L1),
        ("RANDOM=1; ls $RANDOM", Tier::L1),
        ("for HOME in a; do ls ~; done", Tier::L1),
        ("LANG=(if) ls", Tier::L1),
    ] {
        assert_eq!(line_tier(line), tier, "{line}");
    }
}

#[test]
fn a_loop_of_loops_ends_with_a_question() {
    let values = vec!["a"; 40].join(" ");
    let line = format!(
        "for a in {values}; do for b in {values}; do for c in {values}; do x=1; done; done; done"
    );
    assert_eq!(line_tier(&line), Tier::L1);
}
