//! Lines of every form, and the commands they fall into.

use super::*;

/// The commands of a line, words joined by `|`; `?` in front: opaque.
fn commands(line: &str) -> String {
    let script = read(line);
    let commands: Vec<String> = script
        .commands
        .iter()
        .map(|simple| {
            let words: Vec<_> = simple.words.iter().map(|word| word.text.as_str()).collect();
            let mut out = words.join("|");
            for word in &simple.writes {
                out += &format!(" >{}", word.text);
            }
            for word in &simple.reads {
                out += &format!(" <{}", word.text);
            }
            out
        })
        .collect();
    format!("{}{}", if script.opaque.is_some() { "? " } else { "" }, commands.join(" ; "))
}

#[test]
fn operators_part_commands_and_quotes_keep_words_together() {
    for (line, expected) in [
        ("ls -la src", "ls|-la|src"),
        ("a && b || c; d | e & f", "a ; b ; c ; d ; e ; f"),
        ("a |& b", "a ; b"),
        ("a\nb", "a ; b"),
        ("echo 'a; b' \"c && d\" e\\ f", "echo|a; b|c && d|e f"),
        ("r\\\nm -rf x", "rm|-rf|x"),
        ("r''m -r\"f\" x", "rm|-rf|x"),
        ("ls # rm -rf /", "ls"),
        ("ls a#b", "ls|a#b"),
        ("  git status  ", "git|status"),
        ("(cd x; rm y)", "cd|x ; rm|y"),
        ("{ a; b; }", "a ; b"),
        ("if a; then b; else c; fi", "a ; b ; c"),
        ("while read f; do rm -rf \"$f\"; done < list", "read|f ; rm|-rf|$f ;  <list"),
        ("for f in a b; do rm $f; done", "rm|$f"),
        ("! grep x y", "grep|x|y"),
        ("A=1 B=2 cmd x", "cmd|x"),
    ] {
        assert_eq!(commands(line), expected, "{line}");
    }
}

#[test]
fn redirections_are_seen_as_reads_and_writes() {
    for (line, expected) in [
        ("echo x > out", "echo|x >out"),
        ("echo x>>out", "echo|x >out"),
        ("echo x >| out", "echo|x >out"),
        ("a 2>err <in", "a >err <in"),
        ("a 2>&1", "a"),
        ("a &> out", "a >out"),
        ("a >& out", "a >out"),
        ("a 2>/dev/null", "a >/dev/null"),
        ("> out", " >out"),
        ("a <<< text b", "a|b"),
    ] {
        assert_eq!(commands(line), expected, "{line}");
    }
}

#[test]
fn substitutions_are_found_wherever_they_stand() {
    for line in [
        "echo $(rm -rf x)",
        "echo \"a $(rm -rf x) b\"",
        "echo `rm -rf x`",
        "echo \"`rm -rf x`\"",
        "echo ${y:-$(rm -rf x)}",
        "echo $((1 + $(rm -rf x)))",
        "cat <(rm -rf x)",
        "echo $(echo $(rm -rf x))",
        "x=$(rm -rf x)",
        "git log --format=$(rm -rf x)",
        "cat <<E\n$(rm -rf x)\nE",
        "echo > $(rm -rf x)",
        "[[ -n $(rm -rf x) ]]",
    ] {
        assert!(commands(line).contains("rm|-rf|x"), "{line}: {}", commands(line));
    }
    assert_eq!(commands("echo '$(rm -rf x)'"), "echo|$(rm -rf x)");
    assert_eq!(commands("cat <<'E'\nrm -rf x\nE\nls"), "? cat ; ls");
}

#[test]
fn what_is_not_understood_is_opaque() {
    for line in [
        "echo 'a",
        "echo \"a",
        "echo $(a",
        "f() { a; }",
        "case x in a) b;; esac",
        "a)",
        "$'rm' x",
        "a \\",
    ] {
        assert!(read(line).opaque.is_some(), "{line}");
    }
}

#[test]
fn deep_nesting_ends_in_an_opaque_line() {
    let line = format!("{}rm -rf x{}", "$(".repeat(5000), ")".repeat(5000));
    assert!(read(&line).opaque.is_some());
    assert!(read(&"`".repeat(3000)).opaque.is_none() || read("`").opaque.is_some());
    assert!(read(&"(".repeat(5000)).opaque.is_some());
    assert!(read(&"${".repeat(5000)).opaque.is_some());
}
