//! Tests which commands lines of every form fall into.

use super::*;

/// The commands of a line, words joined by `|`; `?` in front: opaque.
fn commands(line: &str) -> String {
    let script = parse(line);
    let commands: Vec<String> = script
        .commands
        .iter()
        .map(|simple| {
            let words: Vec<_> = simple.words.iter().map(|word| word.text.as_str()).collect();
            let mut out = words.join("|");
            for redirect in &simple.redirects {
                let sign = match redirect.way {
                    RedirectKind::Read => '<',
                    RedirectKind::Write => '>',
                    RedirectKind::Both => '&',
                };
                out += &format!(" {sign}{}", redirect.target.text);
            }
            if let Some(fed) = &simple.fed {
                out += &format!(" «{fed}»");
            }
            out
        })
        .collect();
    format!("{}{}", if script.opaque.is_some() { "? " } else { "" }, commands.join(" ; "))
}

#[test]
fn operators_separate_commands_and_quotes_keep_words_together() {
    for (line, expected) in [
        ("ls -la src", "ls|-la|src"),
        ("a && b || c; d | e & f", "a ; b ; c ; d ; e ; f"),
        ("a |& b", "a ; b"),
        ("a &&\nb", "a ; b"),
        ("a\nb", "a ; b"),
        ("echo 'a; b' \"c && d\" e\\ f", "echo|a; b|c && d|e f"),
        ("r\\\nm -rf x", "rm|-rf|x"),
        ("r''m -r\"f\" x", "rm|-rf|x"),
        ("a &\\\n& b", "a ; b"),
        ("ls # rm -rf /", "ls"),
        ("ls a#b", "ls|a#b"),
        ("  git status  ", "git|status"),
        ("A=1 B=2 cmd x", "cmd|x"),
        ("$'r\\x6d' $'\\055f'", "rm|-f"),
    ] {
        assert_eq!(commands(line), expected, "{line}");
    }
}

#[test]
fn commands_inside_compound_forms_are_found() {
    for (line, expected) in [
        ("(cd x; rm y)", "cd|x ; rm|y"),
        ("{ a; b; }", "a ; b"),
        ("if a; then b; elif c; then d; else e; fi", "a ; b ; c ; d ; e"),
        ("while read f; do rm \"$f\"; done < list", "read|f ; rm|$f ;  <list"),
        ("for f in a b; do rm $f; done", "rm|$f"),
        ("for ((i=0; i<3; i++)); do a; done", "a"),
        ("for f; do a; done", "a"),
        ("select x in a b; do c; done", "c"),
        ("case x in a|b) c;; (d) e;& *) f;; esac; g", "c ; e ; f ; g"),
        ("f() { a; }; g", "a ; g"),
        ("function f { a; }", "a"),
        ("f () ( a )", "a"),
        ("! time -p grep x y", "grep|x|y"),
        ("coproc N { a; }", "a"),
        ("[[ a < b && ( c ) ]] && d", "[[|a|b|&&|c ; d"),
        ("x=(a $(b) c) d", "d ; b"),
        ("((i++)); a", "a"),
        ("if a; then { b; } fi; while c; do if d; then e; fi done", "a ; b ; c ; d ; e"),
    ] {
        assert_eq!(commands(line), expected, "{line}");
    }
}

#[test]
fn redirections_are_recorded_as_reads_and_writes() {
    for (line, expected) in [
        ("echo x > out", "echo|x >out"),
        ("echo x>>out", "echo|x >out"),
        ("echo x >| out", "echo|x >out"),
        ("a 2>err <in", "a >err <in"),
        ("a 2>&1", "a"),
        ("a 3>&- {n}>out", "a >out"),
        ("a &> out", "a >out"),
        ("a >& out", "a >out"),
        ("a 1<> out", "a &out"),
        ("a 2>/dev/null", "a >/dev/null"),
        ("> out", " >out"),
        ("a <<< text b", "a|b «text»"),
        ("a <<E b\none\nE\nc", "a|b «one\n» ; c"),
        ("a <<-'E'; b\n\tone\n\tE", "a «one\n» ; b"),
        ("a <<A; b <<B\n1\nA\n2\nB", "a «1\n» ; b «2\n»"),
    ] {
        assert_eq!(commands(line), expected, "{line}");
    }
}

#[test]
fn substitutions_are_found_anywhere_in_a_line() {
    for line in [
        "echo $(rm -rf x)",
        "echo \"a $(rm -rf x) b\"",
        "echo `rm -rf x`",
        "echo \"`rm -rf x`\"",
        "echo ${y:-$(rm -rf x)}",
        "echo \"${y:-'$(rm -rf x)'}\"",
        "echo $((1 + $(rm -rf x)))",
        "echo $((rm -rf x); ls)",
        "cat <(rm -rf x)",
        "echo $(echo $(rm -rf x))",
        "x=$(rm -rf x)",
        "x[$(rm -rf x)]=1",
        "git log --format=$(rm -rf x)",
        "cat <<E\n$(rm -rf x)\nE",
        "echo > $(rm -rf x)",
        "[[ -n $(rm -rf x) ]]",
        "case $(rm -rf x) in a) ;; esac",
        "for i in $(rm -rf x); do :; done",
    ] {
        assert!(commands(line).contains("rm|-rf|x"), "{line}: {}", commands(line));
    }
    assert_eq!(commands("echo '$(rm -rf x)'"), "echo|$(rm -rf x)");
    assert_eq!(commands("cat <<'E'\n$(rm -rf x)\nE\nls"), "cat «$(rm -rf x)\n» ; ls");
}

#[test]
fn a_line_that_is_not_understood_is_opaque() {
    for line in [
        "echo 'a",
        "echo \"a",
        "echo $(a",
        "a)",
        "a \\",
        "if a; then b",
        "fi",
        "a ;; b",
        "a && ",
        "| a",
        "a && || b",
        "cat <<E\nx",
        "a (b)",
        "case x in",
        "${x@P} a",
        "[[ a",
        "a <",
    ] {
        assert!(parse(line).opaque.is_some(), "{line}");
    }
}

#[test]
fn deep_nesting_ends_in_an_opaque_line() {
    for open in ["$(", "(", "${", "$((", "((", "<(", "\"$(", "\"${x:-", "`", "{ ", "[[ ", "x=("] {
        let line = open.repeat(5000);
        assert!(parse(&line).opaque.is_some() || open == "`", "{open}");
    }
    let line = format!("{}rm -rf x{}", "$(".repeat(5000), ")".repeat(5000));
    assert!(parse(&line).opaque.is_some());
}
