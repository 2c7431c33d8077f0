//! The tools dialect: the model calls tools in its wire format's own way.

use pretty_assertions::assert_eq;

use super::*;
use avocet_core::protocol::{ContentBlock, TextBlock, ToolCall};

fn native() -> Bench {
    let mut bench = Bench::new(25, Dialect::Tools);
    bench.next(TurnInput::Begin);
    bench
}

fn call(id: &str, name: &str, arguments: &str) -> ContentBlock {
    ContentBlock::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        opaque: None,
    })
}

fn exec(id: &str, program: &str, args: &[&str]) -> ContentBlock {
    call(id, "exec", &json!({ "program": program, "args": args }).to_string())
}

fn replies(bench: &mut Bench, blocks: Vec<ContentBlock>) -> TurnAction {
    bench.next(TurnInput::Replied(Ok(ModelReply { blocks, ..ModelReply::default() })))
}

/// The results of the newest message, each with the id of its call.
fn results(bench: &Bench) -> Vec<(String, String, bool)> {
    let last = bench.history().pop().expect("messages");
    let results = last.blocks.into_iter().filter_map(|block| match block {
        ContentBlock::ToolResult(result) => Some((result.call, result.content, result.is_error)),
        _ => None,
    });
    results.collect()
}

fn result(id: &str, content: &str, is_error: bool) -> (String, String, bool) {
    (id.into(), content.into(), is_error)
}

#[test]
fn calls_run_as_steps_and_each_gets_its_result() {
    let mut bench = native();
    let blocks = vec![
        ContentBlock::Reasoning(TextBlock { text: "hm".into(), opaque: None }),
        ContentBlock::text("I look."),
        exec("a", "git", &["status"]),
        exec("b", "ls", &[]),
    ];
    let action = replies(&mut bench, blocks.clone());
    assert_eq!(line(&action), "run git status");
    let action = bench.exits(action, 0);
    assert_eq!(line(&action), "run ls");
    let action = bench.exits(action, 2);
    assert_eq!(line(&action), "call");
    assert_eq!(results(&bench), [result("a", "(no output)", false), result("b", "exit 2", true)]);
    assert_eq!(bench.history()[1], Message { role: Role::Assistant, blocks });
    assert_eq!(bench.replied()[0].message, "I look.");
    let action = replies(&mut bench, vec![ContentBlock::text("Done, see {x}.")]);
    assert_eq!(line(&action), "end Done");
    assert_eq!(bench.replied()[1].message, "Done, see {x}.");
}

#[test]
fn tools_are_called_by_the_names_that_wire_formats_allow() {
    let mut bench = native();
    let action = replies(&mut bench, vec![call("a", "file_read", r#"{"path":"src/a.rs"}"#)]);
    assert_eq!(line(&action), "run file.read src/a.rs");
}

#[test]
fn a_rejected_call_goes_back_to_the_model_as_declined() {
    let mut bench = native();
    let action = replies(&mut bench, vec![exec("a", "touch", &["x"]), exec("b", "ls", &[])]);
    assert_eq!(line(&action), "ask 1/1 L1 touch x");
    let action = bench.decides(Decision::Reject { word: Some("use y".into()) });
    assert_eq!(line(&action), "call");
    let results = results(&bench);
    assert!(results[0].1.starts_with("declined") && results[0].1.contains("use y"), "{results:?}");
    assert!(results[1].1.starts_with("cancelled") && results[1].2, "{results:?}");
}

#[test]
fn a_program_that_fails_does_not_stop_the_other_calls_of_its_reply_and_a_failed_change_does() {
    let mut bench = native();
    let action = replies(&mut bench, vec![exec("a", "touch", &["x"]), exec("b", "ls", &[])]);
    assert_eq!(line(&action), "ask 1/1 L1 touch x");
    let action = bench.decides(Decision::Approve);
    let action = bench.exits(action, 1);
    assert_eq!(line(&action), "run ls");
    bench.exits(action, 0);
    assert_eq!(results(&bench), [result("a", "exit 1", true), result("b", "(no output)", false)]);
    let write = call("c", "file_write", r#"{"path":"x/y","content":"z"}"#);
    let action = replies(&mut bench, vec![write, exec("d", "ls", &[])]);
    assert!(line(&action).starts_with("ask 1/1 L1"), "{}", line(&action));
    let action = bench.decides(Decision::Approve);
    assert_eq!(line(&bench.exits(action, 2)), "call");
    assert!(results(&bench)[1].1.starts_with("cancelled"), "{:?}", results(&bench));
}

#[test]
fn a_program_that_fails_stops_what_was_approved_together_with_it_and_nothing_else() {
    let mut bench = native();
    let calls = [("make", "test"), ("ls", "src"), ("git", "add"), ("git", "status")];
    let ids = ["a", "b", "c", "d"];
    let blocks = ids.iter().zip(calls).map(|(id, (program, arg))| exec(id, program, &[arg]));
    let action = replies(&mut bench, blocks.collect());
    assert_eq!(line(&action), "ask 1/2 L1 make test");
    let steps = ["cmd_002", "cmd_003", "cmd_004"].map(str::to_owned).to_vec();
    let action = bench.decides(Decision::ApproveAll { steps });
    let action = bench.exits(action, 2);
    assert_eq!(line(&action), "run ls src");
    let action = bench.exits(action, 0);
    assert_eq!(line(&action), "run git status");
    assert_eq!(line(&bench.exits(action, 0)), "call");
    let (_, add, is_error) = &results(&bench)[2];
    let said = "cancelled\nNot run: it was approved together with `make test`, which failed.";
    assert_eq!((add.as_str(), *is_error), (said, true));
}

#[test]
fn a_read_that_fails_stops_nothing_that_was_approved() {
    let mut bench = native();
    let blocks =
        vec![exec("a", "make", &["x"]), exec("b", "ls", &["no"]), exec("c", "make", &["y"])];
    replies(&mut bench, blocks);
    let steps = vec!["cmd_002".to_owned(), "cmd_003".to_owned()];
    let action = bench.decides(Decision::ApproveAll { steps });
    let action = bench.exits(action, 0);
    let action = bench.exits(action, 2);
    assert_eq!(line(&action), "run make y");
}

#[test]
fn one_value_in_place_of_arguments_is_understood_and_goes_back_as_an_object() {
    let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
    for (name, arguments, expected, goes_back) in [
        ("apply_patch", json!(patch).to_string(), "file.edit", json!({ "patch": patch })),
        ("apply_patch", patch.to_owned(), "file.edit", json!({ "patch": patch })),
        ("bash", json!("ls -l").to_string(), "bash -lc 'ls -l'", json!({ "command": "ls -l" })),
        ("shell", json!(["ls", "-l"]).to_string(), "ls -l", json!({ "command": ["ls", "-l"] })),
        ("Read", json!("a").to_string(), "file.read a", json!({ "path": "a" })),
        ("file_list", json!("src").to_string(), "file.list src", json!({ "path": "src" })),
        ("Grep", json!("x|y").to_string(), "file.search", json!({ "query": "x|y" })),
        ("job_read", "3".to_owned(), "job.read", json!({ "id": 3 })),
        ("exec", json!(r#"{"program":"ls"}"#).to_string(), "ls", json!({ "program": "ls" })),
    ] {
        let mut bench = native();
        let action = replies(&mut bench, vec![call("a", name, &arguments)]);
        assert!(line(&action).contains(expected), "{name} {arguments}: {}", line(&action));
        let sent = bench.history()[1].calls().next().expect("a call").arguments.clone();
        assert_eq!(serde_json::from_str::<Value>(&sent).unwrap(), goes_back, "{name}");
    }
    for (name, arguments) in
        [("bash", "ls -l"), ("file_write", "\"a\""), ("apply_patch", "*** Begin Patch\n*** Del")]
    {
        let mut bench = native();
        let action = replies(&mut bench, vec![call("a", name, arguments)]);
        assert_eq!(line(&action), "call", "{name} {arguments}");
        assert!(results(&bench)[0].2, "{name} {arguments}");
    }
}

#[test]
fn a_cancel_leaves_no_call_without_a_result() {
    let mut bench = native();
    let action = replies(&mut bench, vec![exec("a", "touch", &["x"]), exec("b", "ls", &[])]);
    assert!(matches!(action, TurnAction::Ask(_)));
    assert_eq!(line(&bench.next(TurnInput::Cancelled)), "end Cancelled");
    assert_eq!(results(&bench).len(), 2);
}

#[test]
fn arguments_that_cannot_be_read_are_reported_and_the_others_run() {
    let mut bench = native();
    let broken = call("a", "exec", r#"{"program":"ls","#);
    let action = replies(&mut bench, vec![broken.clone(), exec("b", "ls", &[])]);
    let action = bench.exits(action, 0);
    assert_eq!(line(&action), "call");
    let seen = results(&bench);
    assert!(seen[0].2 && !seen[1].2, "{seen:?}");
    for id in ["c", "d"] {
        let broken = call(id, "exec", r#"{"program":"ls","#);
        assert_eq!(line(&replies(&mut bench, vec![broken])), "call");
    }
    assert!(line(&replies(&mut bench, vec![broken])).starts_with("pause: "));
}

#[test]
fn faults_of_form_are_answered_with_the_form_and_an_example_and_stop_nothing() {
    for (name, arguments, expected) in [
        ("exec", r#"{"args":["x"]}"#, "{\"program\":\"PROGRAM\",\"args\":[\"ARGS\"]}"),
        ("exec", r#"{"program":"ls","args":3}"#, "\"program\":\"PROGRAM\""),
        ("file_read", "{}", "{\"path\":\"PATH\"}"),
        ("file_read", r#"{"path":7}"#, "{\"path\":\"PATH\"}"),
        ("browser_open", r#"{"url":"x"}"#, "exec, file_read"),
        ("", "{}", "exec, file_read"),
    ] {
        let mut bench = native();
        let blocks = vec![call("a", name, arguments), exec("b", "ls", &[])];
        let action = replies(&mut bench, blocks);
        assert_eq!(line(&action), "run ls", "{name}");
        assert_eq!(line(&bench.exits(action, 0)), "call");
        let seen = results(&bench);
        assert!(seen[0].2 && seen[0].1.contains(expected), "{name}: {seen:?}");
        assert!(!seen[1].2, "{name}: {seen:?}");
    }
}

#[test]
fn many_faults_in_a_row_bring_nothing_and_pause() {
    let mut bench = native();
    let mut faulty = |n: usize| {
        let arguments = format!("{{\"n\":{n}}}");
        line(&replies(&mut bench, vec![call(&format!("c{n}"), "exec", &arguments)]))
    };
    assert!((0..5).all(|n| faulty(n) == "call"));
    assert!((5..10).any(|n| faulty(n).starts_with("pause: ")));
    // A tool that does not exist brings nothing either, with whatever arguments.
    let mut bench = native();
    let mut unknown = |n: usize| {
        let arguments = format!("{{\"n\":{n}}}");
        line(&replies(&mut bench, vec![call(&format!("c{n}"), "browser_open", &arguments)]))
    };
    assert!((0..5).all(|n| unknown(n) == "call"));
    assert!((5..11).any(|n| unknown(n).starts_with("pause: ")));
}

#[test]
fn after_a_lost_event_every_call_asks() {
    let mut bench = native();
    let blocks = vec![exec("a", "ls", &[])];
    let reply = ModelReply { blocks, gaps: 1, ..ModelReply::default() };
    let action = bench.next(TurnInput::Replied(Ok(reply)));
    assert!(line(&action).starts_with("ask 1/1"), "{}", line(&action));
}

#[test]
fn a_reply_that_broke_off_runs_none_of_its_calls() {
    for cut in [Truncation::Broken, Truncation::Length, Truncation::Filtered] {
        let mut bench = native();
        let blocks = vec![ContentBlock::text("I"), exec("a", "ls", &[])];
        let reply = ModelReply { blocks, cut: Some(cut), ..ModelReply::default() };
        if cut == Truncation::Length {
            let action = bench.next(TurnInput::Replied(Ok(reply.clone())));
            assert_eq!(line(&action), "call again", "it goes on in smaller pieces");
        }
        let action = bench.next(TurnInput::Replied(Ok(reply)));
        assert!(line(&action).starts_with("failed: "), "{cut:?}: {}", line(&action));
        assert!(bench.history().iter().all(|message| message.calls().next().is_none()));
    }
}

#[test]
fn steps_in_the_other_dialect_are_understood_and_ask_unless_they_are_whole_json() {
    let mut bench = native();
    let action = bench.says(&cmd(&["ls"]));
    assert_eq!(line(&action), "run ls");
    assert_eq!(line(&native().says(HI)), "end Done");
    let mut bench = begun();
    let action = replies(&mut bench, vec![exec("a", "ls", &[])]);
    assert!(line(&action).starts_with("ask 1/1"), "{}", line(&action));
    let action = bench.decides(Decision::Approve);
    assert_eq!(line(&bench.exits(action, 0)), "call");
    // What was not offered as tools goes back as text: servers refuse calls without tools.
    let is_text = |block: &ContentBlock| matches!(block, ContentBlock::Text(_));
    assert!(bench.history().iter().all(|message| message.blocks.iter().all(is_text)));
}

#[test]
fn calls_that_are_written_as_text_run_like_others_and_stay_calls() {
    for text in [
        r#"{"name":"file_read","arguments":{"path":"src/a.rs","from":0,"to":-1}}"#,
        "I look.\n<tool_call>\n<function=file_read>\n<parameter=path>\nsrc/a.rs\n</parameter>\n</function>\n</tool_call>",
    ] {
        let mut bench = native();
        let action = bench.says(text);
        assert!(line(&action).starts_with("run file.read"), "{text}: {}", line(&action));
        assert_eq!(line(&bench.exits(action, 0)), "call");
        assert_eq!(bench.history()[1].calls().count(), 1, "{text}");
        assert_eq!(results(&bench).len(), 1, "{text}");
    }
    let mut bench = native();
    let risky = r#"{"name":"exec","arguments":{"program":"git","args":["push"]}}"#;
    assert!(line(&bench.says(risky)).starts_with("ask 1/1 L1"), "it is judged like any other");
    let unknown = r#"{"name":"launch","arguments":{"program":"x"}}"#;
    assert_eq!(line(&native().says(unknown)), "call", "a fault is not worth a question");
}

/// The ways in which models write calls into their text, each with one of this program.
fn calls_as_text(program: &str) -> Vec<(&'static str, String)> {
    let input = json!({ "program": program, "args": ["-l"] });
    let json = format!(r#"{{"name":"exec","arguments":{input}}}"#);
    let parameters = format!(
        "<parameter=program>\n{program}\n</parameter>\n<parameter=args>\n[\"-l\"]\n</parameter>"
    );
    let named = format!(
        r#"<parameter name="program">{program}</parameter><parameter name="args">["-l"]</parameter>"#
    );
    let keys = format!(
        "<arg_key>program</arg_key><arg_value>{program}</arg_value>\
         <arg_key>args</arg_key><arg_value>[\"-l\"]</arg_value>"
    );
    let line = format!("{program} -l");
    vec![
        ("words before", format!("I look.\n<tool_call>{json}</tool_call>")),
        (
            "tags of Qwen3-Coder",
            format!("<tool_call>\n<function=exec>\n{parameters}\n</function>\n</tool_call>"),
        ),
        ("Mistral", format!("[TOOL_CALLS][{json}]")),
        (
            "DeepSeek",
            format!(
                "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>exec\n```json\n{input}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
            ),
        ),
        ("GLM", format!("<tool_call>exec\n{keys}</tool_call>")),
        (
            "MiniMax",
            format!(
                "<minimax:tool_call>\n<invoke name=\"exec\">{named}</invoke>\n</minimax:tool_call>"
            ),
        ),
        (
            "Kimi",
            format!(
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.exec:0<|tool_call_argument_begin|>{input}<|tool_call_end|><|tool_calls_section_end|>"
            ),
        ),
        ("a list", format!("[{json}]")),
        (
            "tool_code",
            format!("```tool_code\nprint(exec(program='{program}', args=[\"-l\"]))\n```"),
        ),
        ("fenced JSON", format!("```json\n{json}\n```")),
        ("ReAct", format!("Thought: I look.\nAction: exec\nAction Input: {input}")),
        ("functools", format!("functools[{json}]")),
        (
            "FunctionGemma",
            format!(
                "<start_function_call>call:exec{{program:<escape>{program}<escape>,args:[<escape>-l<escape>]}}<end_function_call>"
            ),
        ),
        ("Cline", format!("<execute_command>\n<command>{line}</command>\n</execute_command>")),
        ("the JSON protocol", cmd(&[&line])),
        ("the JSON protocol, fenced", format!("```json\n{}\n```", cmd(&[&line]))),
    ]
}

#[test]
fn a_harmless_call_in_each_way_to_write_it_as_text_runs_and_another_one_asks() {
    for ((form, text), (_, risky)) in calls_as_text("ls").into_iter().zip(calls_as_text("make")) {
        let mut bench = native();
        let action = bench.says(&text);
        let runs = ["run ls -l", "run bash -lc 'ls -l'"];
        assert!(runs.contains(&line(&action).as_str()), "{form}: {}", line(&action));
        assert_eq!(line(&bench.exits(action, 0)), "call", "{form}");
        let action = native().says(&risky);
        assert!(line(&action).starts_with("ask 1/1 L1 "), "{form}: {}", line(&action));
    }
    let two = "<tool_call>{\"name\":\"exec\",\"arguments\":{\"program\":\"ls\"}}</tool_call>";
    let mut bench = native();
    let action = bench.says(&format!("{two}\n{two}"));
    assert_eq!(line(&bench.exits(action, 0)), "run ls");
}

#[test]
fn a_model_that_goes_on_after_its_call_has_made_it() {
    let json = r#"{"name":"exec","arguments":{"program":"ls"}}"#;
    for text in [
        format!("<tool_call>{json}</tool_call>\nI will wait for the result."),
        format!("<tool_call>{json}</tool_call>\n<tool_response>a.txt</tool_response>\nOne file."),
        format!("```json\n{json}\n```\nThis will list the files."),
        "Action: exec\nAction Input: {\"program\":\"ls\"}\nObservation: a.txt\nThought: done"
            .into(),
    ] {
        assert_eq!(line(&native().says(&text)), "run ls", "{text}");
    }
}

#[test]
fn an_answer_as_a_call_ends_the_turn_and_a_thought_as_a_call_goes_on() {
    for (name, arguments) in [
        ("attempt_completion", r#"{"result":"All done."}"#),
        ("finish", r#"{"message":"All done."}"#),
        ("final_answer", r#""All done.""#),
    ] {
        let mut bench = native();
        let blocks = vec![ContentBlock::text("So:"), call("a", name, arguments)];
        assert_eq!(line(&replies(&mut bench, blocks)), "end Done", "{name}");
        assert_eq!(bench.replied()[0].message, "So:\n\nAll done.");
    }
    let mut bench = native();
    let text = "<attempt_completion>\n<result>\nAll done.\n</result>\n</attempt_completion>";
    assert_eq!(line(&bench.says(text)), "end Done");
    assert_eq!(bench.replied()[0].message, "All done.");
    let mut bench = native();
    let thought = call("a", "think", r#"{"thought":"hm"}"#);
    let action = replies(&mut bench, vec![thought.clone(), exec("b", "ls", &[])]);
    assert_eq!(line(&action), "run ls");
    bench.exits(action, 0);
    assert_eq!(results(&bench)[0], result("a", "(noted)", false));
    let alone = (0..12).map(|_| line(&replies(&mut bench, vec![thought.clone()])));
    let ends: Vec<String> = alone.take_while(|line| line == "call").collect();
    assert!(ends.len() < 5, "a model that only thinks is stopped");
}

#[test]
fn the_first_line_that_needs_no_shell_is_answered_with_the_call_that_does_the_same() {
    let mut bench = native();
    let run = |bench: &mut Bench, name: &str, command: &str| {
        let action =
            replies(bench, vec![call("a", name, &json!({ "command": command }).to_string())]);
        bench.exits(action, 0);
        results(bench)[0].1.clone()
    };
    assert_eq!(run(&mut bench, "bash", "ls | wc -l"), "(no output)");
    let form =
        "(no output)\n[Without a shell: exec {\"program\":\"ls\",\"args\":[\"-l\",\"src\"]}]";
    assert_eq!(run(&mut bench, "bash", "ls -l src"), form);
    assert_eq!(run(&mut bench, "bash", "ls -l tests"), "(no output)");
    assert_eq!(run(&mut native(), "shell", "ls -l src"), "(no output)", "a shell may be offered");
}

#[test]
fn a_call_as_text_that_the_model_quotes_from_what_it_read_is_its_answer() {
    for (form, text) in calls_as_text("ls") {
        let file = text.lines().enumerate().map(|(at, line)| format!("{}\t{line}\n", at + 1));
        let mut bench = native();
        let read = call("a", "file_read", r#"{"path":"notes.md"}"#);
        let action = replies(&mut bench, vec![read]);
        let mut seen = ran(action, Some(0), Outcome::Ran);
        seen.stdout = file.collect();
        bench.next(TurnInput::Observed(seen));
        assert_eq!(line(&bench.says(&text)), "end Done", "{form}");
        assert_eq!(bench.replied().last().unwrap().message, text, "{form}");
        let with_words = format!("The file holds this:\n````\n{text}\n````\nNothing else.");
        assert_eq!(line(&native().says(&with_words)), "end Done", "{form}");
        let explained = format!("{text}\nThat is how a call looks.");
        assert_eq!(line(&native().says(&explained)), "end Done", "{form}");
    }
}

#[test]
fn prose_that_shows_an_example_of_json_proposes_nothing() {
    for text in [
        "Use `{\"program\": \"ls\"}` there.",
        "Set:\n```json\n{\"type\":\"node\",\"program\":\"app.js\"}\n```\nDone.",
        "{\"message\":\"asked for\"}",
    ] {
        let mut bench = native();
        assert_eq!(line(&bench.says(text)), "end Done", "{text}");
        assert_eq!(bench.replied()[0].message, text);
    }
}

#[test]
fn an_empty_reply_is_asked_for_once_more_and_named() {
    let thought = ContentBlock::Reasoning(TextBlock { text: "hm".into(), opaque: None });
    for (blocks, expected) in
        [(vec![], "returned an empty answer"), (vec![thought], "only reasoned")]
    {
        let mut bench = native();
        assert_eq!(line(&replies(&mut bench, blocks.clone())), "call again");
        let end = line(&replies(&mut bench, blocks));
        assert!(end.starts_with("failed: ") && end.contains(expected), "{end}");
        assert_eq!(bench.history(), [Message::user("do it")]);
    }
}

#[test]
fn a_call_in_a_text_that_breaks_off_is_asked_for_once_more() {
    let half = "I look.\n<tool_call>{\"name\":\"exec\",\"arguments\":{\"program\":\"l";
    let mut bench = native();
    assert_eq!(line(&bench.says(half)), "call again");
    assert!(bench.replied().is_empty(), "nothing of it is shown as an answer");
    let whole = format!("{half}s\"}}}}</tool_call>");
    assert_eq!(line(&bench.says(&whole)), "run ls");
    let mut bench = native();
    assert_eq!(line(&bench.says(half)), "call again");
    assert_eq!(line(&bench.says(half)), "end Done");
    assert_eq!(bench.replied()[0].message, half);
}

#[test]
fn a_server_without_tools_gets_the_json_dialect() {
    let mut bench = native();
    let error = || ModelError::NoTools { url: "u".into(), model: "m".into(), said: String::new() };
    let action = bench.next(TurnInput::Replied(Err(error())));
    assert!(matches!(&action, TurnAction::Call(call) if call.dialect == Dialect::Json));
    assert_eq!(line(&bench.says(HI)), "end Done");
    let mut bench = begun();
    assert!(line(&bench.next(TurnInput::Replied(Err(error())))).starts_with("failed: "));
}

#[test]
fn the_users_words_in_the_middle_follow_the_results() {
    let mut bench = native();
    let action = replies(&mut bench, vec![exec("a", "ls", &[]), exec("b", "ls", &["-l"])]);
    bench.turn.steer(Steering { submit: None, text: "stop, look at b".into() });
    assert_eq!(line(&bench.exits(action, 0)), "call");
    let last = bench.history().pop().expect("messages");
    assert!(matches!(last.blocks[0], ContentBlock::ToolResult(_)));
    assert!(matches!(last.blocks[1], ContentBlock::ToolResult(_)));
    assert_eq!(last.text(), "stop, look at b");
}

#[test]
fn a_result_costs_little_beside_its_output() {
    let mut bench = native();
    let action = replies(&mut bench, vec![exec("call_0001", "ls", &[])]);
    let mut seen = ran(action, Some(0), Outcome::Ran);
    seen.stdout = "a\nb\n".into();
    bench.next(TurnInput::Observed(seen));
    assert_eq!(results(&bench), [result("call_0001", "a\nb", false)]);
    let bytes: usize = bench.history()[1..].iter().map(Message::len).sum();
    assert!(bytes < 60, "{bytes}");
}
