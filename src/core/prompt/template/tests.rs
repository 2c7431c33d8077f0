use proptest::prelude::*;

use super::*;

fn braces(text: &str, args: &str) -> Vec<PromptPart> {
    Template::parse(text, TemplateForm::Braces).unwrap().fill(&TemplateValues::new(args, None))
}

fn markdown(text: &str, args: &str) -> Vec<PromptPart> {
    let root = Some("/skills/my skill".to_owned());
    Template::parse(text, TemplateForm::Markdown).unwrap().fill(&TemplateValues::new(args, root))
}

fn text(text: &str) -> PromptPart {
    PromptPart::Text(text.into())
}

fn shell(line: &str) -> PromptPart {
    PromptPart::Shell(line.into())
}

fn mention(path: &str) -> Mention {
    Mention { path: path.into(), lines: None }
}

#[test]
fn the_arguments_replace_their_placeholders() {
    assert_eq!(braces("Sum up: {{args}}.", "focus on risks"), [text("Sum up: focus on risks.")]);
    assert_eq!(
        braces("See:\n!{git diff --staged}\nDone", ""),
        [text("See:\n"), shell("git diff --staged"), text("\nDone")]
    );
    assert_eq!(braces("@{src/a b.rs:2-3} x", "")[0], {
        let lines = Some(LineRange { first: 2, last: Some(3) });
        PromptPart::Insert(Mention { path: "src/a b.rs".into(), lines })
    });
    assert_eq!(braces("@{ docs/{{args}}.md }", "x"), [PromptPart::Insert(mention("docs/x.md"))]);
}

#[test]
fn r9s_differs_an_argument_is_inserted_before_shell_pieces_are_found_here_it_stays_text() {
    for args in ["!{id}", "!`id`", "{{args}}", "@{a}", "@a", "$1", "$ARGUMENTS"] {
        assert_eq!(braces("a {{args}} b", args), [text(&format!("a {args} b"))], "{args}");
        assert_eq!(markdown("a $ARGUMENTS b", args), [text(&format!("a {args} b"))], "{args}");
    }
    assert_eq!(braces("!{echo {{args}}}", "x; id"), [shell("echo 'x; id'")]);
    assert_eq!(braces("!{echo {{args}}}", "$(id) `id` }"), [shell("echo '$(id) `id` }'")]);
    assert_eq!(markdown("!`echo $1`", "'a;b'"), [shell("echo 'a;b'")]);
}

#[test]
fn r9s_differs_a_brace_in_quotes_ends_a_shell_piece_there_here_it_does_not() {
    for line in [
        "awk '{print $2}'",
        "echo \"}\" '}' \\}",
        "echo '}' {a,b}",
        "f() { echo x; }; f",
        "echo \"$(printf '}')\"",
        "echo ${HOME} ${#x} ${x:-'}'}",
        "echo $'\\'}'",
        "cat <<'E'\n}\ndon't\nE\necho",
        "ls # it's fine\npwd",
    ] {
        assert_eq!(braces(&format!("a !{{{line}}} b"), ""), [text("a "), shell(line), text(" b")]);
    }
}

#[test]
fn awk_works_in_both_forms() {
    assert_eq!(braces("!{awk '{print $2}' {{args}}}", "a b"), [shell("awk '{print $2}' 'a b'")]);
    assert_eq!(markdown("!`awk '{print $2}' $1`", "f"), [shell("awk '{print $2}' 'f'")]);
}

#[test]
fn an_argument_is_quoted_for_its_place() {
    let args = "a'b\"c$d`e\\";
    let cases = [
        ("echo {{args}}", r#"echo 'a'\''b"c$d`e\'"#),
        ("echo '{{args}}'", r#"echo 'a'\''b"c$d`e\'"#),
        ("echo \"{{args}}\"", r#"echo "a'b\"c\$d\`e\\""#),
        ("echo $'{{args}}'", r#"echo $'a\'b"c$d`e\\'"#),
        ("echo \"$(echo {{args}})\"", r#"echo "$(echo 'a'\''b"c$d`e\')""#),
        ("echo \"$(echo \"{{args}}\")\"", r#"echo "$(echo "a'b\"c\$d\`e\\")""#),
    ];
    for (line, filled) in cases {
        assert_eq!(braces(&format!("!{{{line}}}"), args), [shell(filled)], "{line}");
    }
}

#[test]
fn an_argument_that_no_quoting_can_hold_is_refused_with_the_line() {
    for line in [
        "echo `echo {{args}}`",
        "echo \\{{args}}",
        "echo $(( {{args}} ))",
        "echo ${x:-{{args}}}",
        "cat <<E\n{{args}}\nE",
        "ls # {{args}}",
        "echo $(case x in x) echo {{args}};; esac)",
    ] {
        let fault = Template::parse(&format!("a\n!{{{line}}}"), TemplateForm::Braces).unwrap_err();
        assert_eq!(fault.phrase(), phrases::TEMPLATE_ARG_PLACE, "{line}");
        assert!(fault.to_string().contains("Line 2"), "{fault}");
    }
}

#[test]
fn nothing_is_inserted_into_a_shell_line_without_an_argument() {
    assert_eq!(braces("!{git log {{args}}}", " "), [shell("git log")]);
}

#[test]
fn a_piece_without_its_end_is_an_error_with_its_line() {
    let fault = |text| Template::parse(text, TemplateForm::Braces).unwrap_err().phrase();
    assert_eq!(fault("a\nb !{echo 'x}"), phrases::TEMPLATE_SHELL_OPEN);
    assert_eq!(fault("!{ }"), phrases::TEMPLATE_SHELL_EMPTY);
    assert_eq!(fault("@{a\n}"), phrases::TEMPLATE_FILE_OPEN);
    assert_eq!(fault("@{ }"), phrases::TEMPLATE_FILE_EMPTY);
}

#[test]
fn a_backslash_makes_a_placeholder_plain_text() {
    assert_eq!(braces(r"\!{id} \@{a} \{{args}}", ""), [text("!{id} @{a} {{args}}")]);
}

#[test]
fn arguments_without_a_placeholder_follow_the_text() {
    assert_eq!(braces("Explain.", "this"), [text("Explain.\n\nthis")]);
    assert_eq!(markdown("Explain.", "this"), [text("Explain.\n\nthis")]);
    assert_eq!(braces("!{ls}", "x"), [shell("ls"), text("\n\nx")]);
    assert_eq!(markdown("Root ${SKILL_ROOT}", "x")[0], text("Root /skills/my skill\n\nx"));
}

#[test]
fn markdown_placeholders_are_recognised() {
    assert_eq!(
        markdown("Fix #$1 with $2, all: $ARGUMENTS", "12 \"high prio\" x"),
        [text("Fix #12 with high prio, all: 12 \"high prio\" x")]
    );
    assert_eq!(markdown("$3|", "a"), [text("|")]);
    assert_eq!(markdown("!`${SKILL_ROOT}/run $1`", "a b"), [shell("'/skills/my skill'/run 'a'")]);
    assert_eq!(
        markdown("See @src/a.rs, and @$1.", "b.rs"),
        [
            text("See "),
            PromptPart::Mention { text: "@src/a.rs".into(), mention: mention("src/a.rs") },
            text(", and "),
            PromptPart::Mention { text: "@b.rs".into(), mention: mention("b.rs") },
            text("."),
        ]
    );
    assert_eq!(
        markdown("@src/$1/mod.rs", "x")[0],
        PromptPart::Mention { text: "@src/x/mod.rs".into(), mention: mention("src/x/mod.rs") }
    );
}

#[test]
fn sums_of_money_code_and_addresses_are_text_in_markdown() {
    for plain in [
        "It costs $10 or $1.50 or $1,000.",
        "me@home.org and `@here`",
        "Wow!`not a command`",
        "```\n!`ls` @a\n```",
        "!`  `",
        "println!(\"x\") !{ls} {{args}} @{a}",
        "$ARGUMENTS_X ${OTHER}",
    ] {
        assert_eq!(markdown(plain, ""), [text(plain)], "{plain}");
    }
    assert_eq!(markdown("```\n$ARGUMENTS !`ls`\n```", "x"), [text("```\nx !`ls`\n```")]);
}

#[test]
fn a_model_gets_shell_lines_as_text() {
    let template = Template::parse("On $1: !`git log $1` @$1", TemplateForm::Markdown).unwrap();
    assert_eq!(
        template.fill_without_shell(&TemplateValues::new("x", None)),
        "On x: !`git log $1` @x"
    );
}

proptest! {
    #[test]
    fn any_text_is_parsed_without_a_panic(text in "[\\PC\n]{0,60}", args in "[\\PC\n]{0,20}") {
        for form in [TemplateForm::Braces, TemplateForm::Markdown] {
            if let Ok(template) = Template::parse(&text, form) {
                template.fill(&TemplateValues::new(&args, None));
            }
        }
    }

    #[test]
    fn placeholders_in_any_order_are_parsed_without_a_panic(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "!{", "}", "{{args}}", "@{", "'", "\"", "`", "$(", "(", ")", "${", "\\", "<<E", "\n",
                "E", "#", " ", "$1", "!`", "@a", "$'", "case ", "((", "中",
            ]),
            0..14,
        ),
    ) {
        let text = parts.concat();
        for form in [TemplateForm::Braces, TemplateForm::Markdown] {
            if let Ok(template) = Template::parse(&text, form) {
                template.fill(&TemplateValues::new("a b", None));
            }
        }
    }

    /// The shell lines of a filled template are those of its source, whatever is inserted.
    #[test]
    fn inserted_text_never_becomes_a_piece(args in "[!{}@$`'\"a-z0-9 \n]{0,24}") {
        let parts = braces("{{args}} !{echo \"{{args}}\"} @{x} {{args}}", &args);
        let shells = parts.iter().filter(|part| matches!(part, PromptPart::Shell(_))).count();
        let files = parts.iter().filter(|part| matches!(part, PromptPart::Insert(_))).count();
        prop_assert_eq!((shells, files), (1, 1));
        let parts = markdown("$ARGUMENTS !`echo $1` $1", &args);
        let shells = parts.iter().filter(|part| matches!(part, PromptPart::Shell(_))).count();
        prop_assert_eq!(shells, 1);
    }
}
