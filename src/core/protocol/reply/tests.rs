use super::strict::MAX_DEPTH;
use super::*;
use crate::i18n::Lang;

fn valid(text: &str) -> (Reply, ReplyRepair) {
    match read(text) {
        ParsedReply::Valid { reply, found } => (reply, found),
        other => panic!("{text}: {other:?}"),
    }
}

fn error_text(text: &str) -> String {
    match read(text) {
        ParsedReply::Invalid { fault, .. } => fault.text(Lang::En),
        other => panic!("{text}: {other:?}"),
    }
}

fn chat(message: &str) -> Reply {
    Reply::Chat { message: message.to_owned(), markdown: true, suggestions: vec![] }
}

const HI: &str = r#"{"type":"chat","message":"hi"}"#;

#[test]
fn a_reply_is_found_by_each_attempt() {
    let cases = [
        (HI.to_owned(), ReplyRepair::Whole),
        (format!("\u{feff}\n {HI} \n"), ReplyRepair::Whole),
        (format!("Here:\n```json\n{HI}\n```\nDone."), ReplyRepair::Fenced),
        (format!("Run `{{x}}`:\n```\ncode\n```\n```json\n{HI}\n```"), ReplyRepair::Fenced),
        (format!("Here: {HI} I hope {{this}} helps, {{}}."), ReplyRepair::Braces),
        (format!("[{HI}]"), ReplyRepair::Braces),
        (format!("<think>or {{\"type\":\"cmd\"}}?</think>\n{HI}"), ReplyRepair::Whole),
        ("{'type': 'chat', 'message': 'hi',}".to_owned(), ReplyRepair::Repaired),
        ("{\"type\":\"chat\",\"message\":\"hi".to_owned(), ReplyRepair::Repaired),
        ("```json\n{\"type\":\"chat\",\"message\":\"hi\",\n```".to_owned(), ReplyRepair::Repaired),
    ];
    for (text, found) in cases {
        assert_eq!(valid(&text), (chat("hi"), found), "{text}");
    }
}

#[test]
fn a_chat_may_omit_everything_but_its_message() {
    let full = r#"{"type":"chat","message":"m","data":{"format":"plain","suggestions":["a","b"]}}"#;
    let (reply, _) = valid(full);
    let suggestions = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!(reply, Reply::Chat { message: "m".into(), markdown: false, suggestions });
    for data in ["null", "{}", r#"{"format":null,"suggestions":null}"#, r#"{"more":1}"#] {
        let text = format!(r#"{{"type":"chat","message":"m","data":{data}}}"#);
        assert_eq!(valid(&text).0, chat("m"), "{text}");
    }
}

#[test]
fn a_cmd_reply_becomes_proposals() {
    let text = r#"{"type":"cmd","message":"why","data":{"cwd":"/w","expected_effect":"e","commands":[
        {"program":"git","args":["commit","-m","a b"],"requires":{"confirm":true,"write":true}},
        {"tool":"file.read","input":{"path":"a"}},
        {"tool":"exec","input":{"program":"ls"}}]}}"#;
    let (reply, found) = valid(text);
    assert_eq!(found, ReplyRepair::Whole);
    let requires = Requires { confirm: true, write: true, ..Requires::default() };
    let tool = StepAction::Tool { name: "file.read".into(), input: json!({"path": "a"}) };
    let commands = vec![
        Proposal { work: StepAction::exec("git", &["commit", "-m", "a b"]), requires, cwd: None },
        Proposal { work: tool, requires: Requires::default(), cwd: None },
        Proposal { work: StepAction::exec("ls", &[]), requires: Requires::default(), cwd: None },
    ];
    let cwd = Some("/w".to_owned());
    assert_eq!(reply, Reply::Cmd { message: "why".into(), cwd, commands, expected: "e".into() });
}

#[test]
fn a_program_keeps_its_folder_and_runs_on_however_that_is_written() {
    for (written, is_background, folder) in [
        (r#"{"program":"ls","background":true}"#, true, None),
        (
            r#"{"tool":"exec","input":{"program":"ls","background":true,"cwd":"sub"}}"#,
            true,
            Some("sub"),
        ),
        (r#"{"tool":"exec","background":true,"input":{"program":"ls"}}"#, true, None),
        (r#"{"tool":"job.start","input":{"program":"ls"}}"#, true, None),
        (r#"{"program":"ls","requires":{"background":true},"background":false}"#, true, None),
        (r#"{"program":"ls","cwd":"sub"}"#, false, Some("sub")),
    ] {
        let text = format!(r#"{{"type":"cmd","message":"m","data":{{"commands":[{written}]}}}}"#);
        let (Reply::Cmd { commands, .. }, _) = valid(&text) else { panic!("{written}") };
        let requires = Requires { background: is_background, ..Requires::default() };
        let cwd = folder.map(str::to_owned);
        assert_eq!(
            commands,
            [Proposal { work: StepAction::exec("ls", &[]), requires, cwd }],
            "{written}"
        );
    }
    for tool in ["job.start", "job.list", "job.read", "job.stop"] {
        assert_eq!(tool_name(&wire_name(tool)), tool);
    }
}

#[test]
fn a_line_of_another_agent_is_read_by_bash() {
    let line = StepAction::exec("bash", &["-lc", "ls | head"]);
    for (name, arguments) in [
        ("bash", r#"{"command":"ls | head"}"#),
        ("run_shell_command", r#"{"command":"ls | head","description":"d"}"#),
        ("exec_command", r#"{"cmd":"ls | head"}"#),
        ("exec", r#"{"command":"ls | head"}"#),
        ("local_shell", r#"{"command":["bash","-lc","ls | head"]}"#),
        ("local_shell", r#"{"action":{"type":"exec","command":["bash","-lc","ls | head"]}}"#),
        ("exec", r#"{"program":"ls | head"}"#),
        ("exec", r#"{"program":"ls | head","args":[]}"#),
        ("exec", r#"{"program":"bash","args":"[\"-lc\",\"ls | head\"]"}"#),
        ("run_command", r#"{"CommandLine":"ls | head","Blocking":true}"#),
    ] {
        let call = ToolCall {
            id: "1".into(),
            name: name.into(),
            arguments: arguments.into(),
            opaque: None,
        };
        assert_eq!(read_call(&call).map(|step| step.work), Ok(line.clone()), "{name}");
    }
    let text = cmd(r#"{"tool":"Bash","input":{"command":"ls | head","run_in_background":true}}"#);
    let (Reply::Cmd { commands, .. }, _) = valid(&text) else { panic!("a step") };
    assert_eq!(commands[0].work, line);
    assert!(commands[0].requires.background);
}

/// The step of a call with these arguments.
fn step(name: &str, arguments: &str) -> Option<StepAction> {
    let (id, name) = ("1".into(), name.into());
    let call = ToolCall { id, name, arguments: arguments.into(), opaque: None };
    read_call(&call).ok().map(|step| step.work)
}

#[test]
fn no_argument_of_a_program_is_lost_whatever_form_it_has() {
    for (expected, written) in [
        ("cat a", r#"{"command":"cat","args":["a"]}"#),
        ("cat a", r#"{"cmd":"cat","arguments":["a"]}"#),
        ("cat a", r#"{"program":"cat","args":"a"}"#),
        ("cat a", r#"{"program":["cat","a"]}"#),
        ("cat a", r#"{"program":["cat"],"args":["a"]}"#),
        ("cat a", r#"{"program":" cat ","args":["a"]}"#),
        ("cat a", r#"{"program":"cat","args":["a"],"background":"false"}"#),
        ("cat a", r#"{"arguments":{"program":"cat","args":["a"]}}"#),
        ("cat a", r#"{"name":"exec","arguments":{"program":"cat","args":["a"]}}"#),
        ("git log -5", r#"{"command":"git log","args":["-5"]}"#),
        ("sh -c 'cat a'", r#"{"program":"sh -c","args":["cat a"]}"#),
        ("sh -c 'cat a'", r#"{"program":"sh","args":"-c 'cat a'"}"#),
        ("bash -lc 'cat a'", r#"{"command":["cat a"]}"#),
        ("bash -lc 'cat a'", r#"{"script":"cat a"}"#),
    ] {
        let step = step("exec", written).expect(written);
        assert_eq!(step.command_line(), expected, "{written}");
    }
    for written in [
        r#"{"command":""}"#,
        r#"{"program":"cat","args":"a | wc"}"#,
        r#"{"program":"cat","args":"['a']"}"#,
        r#"{"program":"cat","args":[["a"]]}"#,
        r#"{"program":"cat","args":{"0":"a"}}"#,
    ] {
        assert_eq!(step("exec", written), None, "{written}");
    }
    let backslash = step("exec", r#"{"program":"a\\b","args":["c"]}"#);
    assert_eq!(backslash, Some(StepAction::exec("a\\b", &["c"])));
    let of_server = step("mcp__x__y", r#"{"arguments":{"a":1}}"#);
    let input = json!({ "arguments": { "a": 1 } });
    assert_eq!(of_server, Some(StepAction::Tool { name: "mcp.x.y".into(), input }));
}

#[test]
fn arguments_with_marks_around_them_are_one_object() {
    let meant = |arguments: &str| object_arguments(arguments, Some("path"));
    for arguments in [
        "```json\n{\"path\":\"a\"}\n```",
        "{\"path\":\"a\"}\n</tool_call>",
        r#"{"path":"a"}{"path":"a"}"#,
        r#""{\"path\":\"a\"}""#,
        r#""\"{\\\"path\\\":\\\"a\\\"}\"""#,
        r#""a""#,
    ] {
        assert_eq!(meant(arguments).as_deref(), Some(r#"{"path":"a"}"#), "{arguments}");
    }
    for arguments in [
        r#"{"path":"a"}{"path":"b"}"#,
        r#"{"path":"a"} and so on"#,
        r#"{"path":"a"}{"path":"#,
        r#"{"path":"a""#,
        "{'path':'a'}",
        "a",
    ] {
        assert_eq!(meant(arguments), None, "{arguments}");
    }
    assert_eq!(object_arguments("[1]", None), None);
}

#[test]
fn a_number_among_arguments_is_one() {
    let arguments = r#"{"program":"head","args":["-n",3]}"#.to_owned();
    let call = ToolCall { id: "1".into(), name: "exec".into(), arguments, opaque: None };
    let step = read_call(&call).map(|step| step.work);
    assert_eq!(step, Ok(StepAction::exec("head", &["-n", "3"])));
}

#[test]
fn a_patch_by_any_program_is_an_edit() {
    let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
    let edit = |name: &str, arguments: Value| {
        let (name, arguments) = (name.to_owned(), arguments.to_string());
        let call = ToolCall { id: "1".into(), name, arguments, opaque: None };
        let step = read_call(&call).expect("it is read");
        assert!(matches!(&step.work, StepAction::Tool { name, .. } if name == "file.edit"));
        step.cwd
    };
    edit("exec", json!({ "program": "apply_patch", "args": [patch] }));
    edit("shell", json!({ "command": ["apply_patch", patch] }));
    edit("apply_patch", json!({ "input": patch }));
    let line = format!("cd sub && apply_patch <<'EOF'\n{patch}\nEOF");
    assert_eq!(edit("bash", json!({ "command": line, "cwd": "x" })).as_deref(), Some("x/sub"));
}

#[test]
fn a_cmd_reply_may_omit_what_small_models_forget() {
    let (reply, _) = valid(r#"{"type":"cmd","data":{"commands":[{"program":"ls","args":null}]}}"#);
    let commands = vec![Proposal {
        work: StepAction::exec("ls", &[]),
        requires: Requires::default(),
        cwd: None,
    }];
    let expected = String::new();
    assert_eq!(reply, Reply::Cmd { message: String::new(), cwd: None, commands, expected });
}

fn cmd(command: &str) -> String {
    format!(r#"{{"type":"cmd","message":"","data":{{"commands":[{command}]}}}}"#)
}

#[test]
fn each_error_names_its_field() {
    #[rustfmt::skip]
    let cases = [
        (r#"{"data":{}}"#, "`type` is missing."),
        (r#"{"type":1}"#, "`type` must be a string, but it is a number."),
        (r#"{"type":"tool","message":""}"#, "`type` is `tool`; it must be `chat`, `cmd` or `error`."),
        (r#"{"type":"chat"}"#, "`message` is missing."),
        (r#"{"type":"chat","message":null}"#, "`message` must be a string, but it is null."),
        (r#"{"type":"chat","message":"","data":[]}"#, "`data` must be an object, but it is a list."),
        (r#"{"type":"chat","message":"","data":{"suggestions":"x"}}"#, "`data.suggestions` must be a list of strings, but it is a string."),
        (r#"{"type":"cmd","message":""}"#, "`data` is missing."),
        (r#"{"type":"cmd","data":{}}"#, "`data.commands` is missing."),
        (r#"{"type":"chat","message":"a","message":"b"}"#, "Duplicate key `message`."),
    ];
    for (text, expected) in cases {
        assert_eq!(error_text(text), expected, "{text}");
    }
}

#[test]
fn each_error_in_a_command_names_the_command() {
    #[rustfmt::skip]
    let cases = [
        ("", "`data.commands` is empty; a `cmd` reply must propose at least one step."),
        ("1", "`data.commands[0]` must be an object, but it is a number."),
        ("{}", "`data.commands[0]` has neither a `program` nor a `tool`."),
        (r#"{"program":"a","tool":"b"}"#, "`data.commands[0]` has both a `program` and a `tool`; it must have exactly one of them."),
        (r#"{"program":" "}"#, "`data.commands[0].program` must not be empty."),
        (r#"{"program":"a"},{"program":"head","args":["-n",true]}"#, "`data.commands[1].args` must be a list of strings, but `data.commands[1].args[1]` is a boolean."),
        (r#"{"program":"a","requires":{"confirm":"yes"}}"#, "`data.commands[0].requires.confirm` must be true or false, but it is a string."),
        (r#"{"tool":"shell","input":{}}"#, "`data.commands[0].input.command` is missing."),
        (r#"{"tool":"exec"}"#, "`data.commands[0].input.program` is missing."),
        (r#"{"program":"a","args":[],"args":["b"]}"#, "Duplicate key `data.commands[0].args`."),
    ];
    for (command, expected) in cases {
        assert_eq!(error_text(&cmd(command)), expected, "{command}");
    }
    let many = cmd(&vec![r#"{"program":"ls"}"#; 65].join(","));
    assert_eq!(error_text(&many), "`data.commands` has 65 steps; at most 64 are allowed.");
}

#[test]
fn a_second_object_is_never_silently_ignored() {
    let both = "The reply contains more than one JSON object; it must be exactly one.";
    let ls = r#"{"type":"cmd","data":{"commands":[{"program":"ls"}]}}"#;
    assert_eq!(error_text(&format!("{ls} {HI}")), both);
    assert_eq!(error_text(&format!("{ls}\n```json\n{HI}\n```")), both);
    assert_eq!(error_text(&format!("```json\n{ls}\n```\nand\n```json\n{HI}\n```")), both);
}

#[test]
fn a_duplicate_key_is_named_even_after_prose() {
    assert_eq!(
        error_text(r#"So: {"type":"chat","message":"a","type":"cmd"}"#),
        "Duplicate key `type`."
    );
}

#[test]
fn exceeded_limits_are_reported() {
    let deep = |levels: usize| {
        let nest = "[".repeat(levels) + &"]".repeat(levels);
        format!(r#"{{"type":"chat","message":"m","data":{{"x":{nest}}}}}"#)
    };
    assert_eq!(valid(&deep(MAX_DEPTH - 2)).0, chat("m"));
    assert_eq!(error_text(&deep(MAX_DEPTH - 1)), "The reply is nested deeper than 64 levels.");
    let long = format!(r#"{{"type":"chat","message":"{}"}}"#, "é".repeat(MAX_LENGTH / 2));
    assert!(error_text(&long).contains("the limit is 4194304"));
    let broken = format!("{{'a':{}", "[".repeat(100_000));
    assert_eq!(error_text(&broken), "The reply is nested deeper than 64 levels.");
}

#[test]
fn text_without_an_object_falls_back_to_prose() {
    for text in [
        "Hello!",
        "",
        "null",
        "[1,2]",
        "\"{}\"",
        "if (a) { b(); }",
        "a } b {",
        "struct X {}",
        "Set {\"a\":1} there",
        "```json\n{\"name\":\"x\"}\n```",
        "<think>{",
    ] {
        assert_eq!(read(text), ParsedReply::Fallback { text: text.to_owned() }, "{text}");
    }
    let wrapped = fallback_json("Hello!").to_string();
    assert_eq!(
        wrapped,
        r#"{"result":"Hello!","_fallback":true,"_reason":"model_output_was_not_valid_json"}"#
    );
    assert_eq!(read(&wrapped), ParsedReply::Fallback { text: "Hello!".to_owned() });
}

#[test]
fn numbers_out_of_range_do_not_panic() {
    let _ = read(
        r#"{"type":"chat","message":"x","data":{"n":1e999,"m":123456789012345678901234567890}}"#,
    );
    assert_eq!(
        valid(r#"{"type":"chat","message":"m","data":{"n":123456789012345678901234567890}}"#).0,
        chat("m")
    );
}

#[test]
fn the_schema_is_small_and_accepts_valid_replies() {
    let schema = schema();
    assert!(schema.to_string().len() <= 1400, "{} bytes", schema.to_string().len());
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("reply.json", schema).unwrap();
    let index = compiler.compile("reply.json", &mut schemas).unwrap();
    let fits = |text: &str| schemas.validate(&serde_json::from_str(text).unwrap(), index).is_ok();
    assert!(fits(r#"{"type":"chat","message":"m","data":{"suggestions":[]}}"#));
    assert!(fits(
        r#"{"type":"cmd","message":"m","data":{"cwd":null,"commands":[{"program":"ls","args":[]},{"tool":"t","input":{"a":1}}]}}"#
    ));
    assert!(!fits(r#"{"type":"cmd","message":"m","data":{"commands":["ls"]}}"#));
    assert!(!fits(r#"{"type":"cmd","message":"m","data":{"commands":[]}}"#));
    assert!(!fits(
        r#"{"type":"chat","message":"m","data":{"commands":[{"program":"ls","args":[]}]}}"#
    ));
    assert!(!fits(r#"{"type":"shell","message":"m","data":{}}"#));
}
