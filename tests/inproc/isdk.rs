//! The rows of the ISDK table that need more than a case of `tests/scripts` can say, one test each,
//! by number.

use crate::script_case::{Case, Ran, case};
use avocet::script::ErrorCause;
use serde_json::{Value, json};

// ---- messages ----

#[test]
fn isdk_006_text_above_the_first_separator_is_sent_but_not_shown() {
    let ran = case("system: S\nuser: hidden\n---\nuser: q\n").replies(&["a"]).run();
    assert_eq!(ran.sent(0), ["system: S", "user: hidden\n\nq"]);
    assert_eq!(ran.visible(), ["user: q", "assistant: a"]);
}

#[test]
fn isdk_009_a_name_with_a_dollar_is_not_a_role() {
    let ran = case("$set: {x: 1}\n$echo: \"?=x\"\n").run();
    assert_eq!((ran.value(), ran.calls(), ran.visible().len()), (json!(1), 0, 0));
    assert!(case("$tom: hello\n").run().error().contains("$tom"));
}

// ---- group ----

#[test]
fn isdk_019_roles_lead_to_scripts() {
    for head in ["roles: {bob: char_bob}", "character: {roles: {bob: char_bob}}"] {
        let ran =
            case(&format!("---\nname: g\n{head}\n---\n---\nuser: \"@bob, hi\"\n$echo: \"\"\n"))
                .file("char_bob.ai.yaml", BOB)
                .replies(&["hello"])
                .run();
        assert_eq!(ran.visible(), ["user: hi", "bob: hello"], "{head}");
    }
    let gone = case("---\nroles: {bob: nosuch}\n---\n---\nuser: \"@bob, hi\"\n").run();
    assert!(gone.error().contains("nosuch") && gone.error().contains(":5:"), "{}", gone.error());
}

const ELF: &str = "---\ntype: char\nname: Dobby\ndescription: a brave elf\n---\n---\n";
const BOB: &str = "---\ntype: char\nname: bob\ndescription: a builder\n---\nuser: Who are you?\n---\nassistant: I am Bob.\n";

fn group(body: &str) -> Case {
    let head = "---\nname: guide\nautoRunLLMIfPromptAvailable: false\nroles: {dobby: char-dobby, bob: char_bob}\n---\nsystem: You guide.\n---\n";
    case(&format!("{head}{body}")).file("char-dobby.ai.yaml", ELF).file("char_bob.ai.yaml", BOB)
}

#[test]
fn isdk_020_the_bracket_form_addresses_a_role() {
    let ran = group("user[@dobby]: go to the moon\n").replies(&["yes"]).run();
    assert_eq!(ran.calls(), 1);
    assert!(ran.system(0).contains("a brave elf") && !ran.system(0).contains("You guide"));
    assert!(ran.sent(0)[1].ends_with("go to the moon"), "{:?}", ran.sent(0));
}

#[test]
fn isdk_028_the_scripts_own_name_is_the_assistant() {
    let ran = group("user: q\nguide: \"@bob, help them\"\nuser: and now?\n$AI\n")
        .replies(&["helping", "end"])
        .run();
    assert!(ran.sent(0).iter().any(|it| it.contains("guide: help them")), "{:?}", ran.sent(0));
    assert_eq!(
        ran.sent(1),
        ["system: You guide.", "user: q", "assistant: help them", "user: bob: helping\n\nand now?"]
    );
}

#[test]
fn isdk_030_name_and_roles_may_be_under_character() {
    let ran = case("---\ntype: char\nname: x\ncharacter: {name: guide, roles: {bob: char_bob}}\n---\n---\nbob: \"[[AI]]\"\n")
        .file("char_bob.ai.yaml", BOB)
        .replies(&["Bob talks"])
        .run();
    assert_eq!(ran.value(), json!("Bob talks"));
    assert_eq!(ran.visible(), ["bob: Bob talks"]);
}

#[test]
fn an_at_sign_inside_a_text_addresses_no_role() {
    let ran = group("user: mail me @dobby now\n$AI\n").replies(&["r"]).run();
    assert_eq!(ran.sent(0)[1], "user: mail me @dobby now");
}

// ---- input and output ----

const SUM: &str = "output: {type: object, properties: {sum: {type: number}}, required: [sum]}\nparameters: {response_format: {type: json}}\n";

#[test]
fn isdk_046_json_object_means_json() {
    let script = "---\nparameters: {response_format: {type: json_object}}\n---\nuser: q\n";
    let ran = case(script).replies(&["{\"a\": [1]}"]).run();
    assert_eq!(ran.value(), json!({"a": [1]}));
    assert_eq!(ran.seen.calls[0].params.more["response_format"], json!({"type": "json_object"}));
}

#[test]
fn isdk_049_the_whole_result_can_be_requested() {
    let ran = case("---\nllmReturnResult: .\n---\nuser: q\n").replies(&["a"]).run();
    assert_eq!(ran.value()["content"], json!("a"));
}

#[test]
fn isdk_052_the_output_is_described_by_itself() {
    let ran = case(&format!("---\n{SUM}---\nsystem: S\nuser: q\n")).replies(&["{\"sum\":1}"]).run();
    assert!(
        ran.system(0).starts_with("S\n\n") && ran.system(0).contains("\"sum\""),
        "{}",
        ran.system(0)
    );
    assert_eq!(ran.seen.calls[0].schema.as_ref().unwrap()["type"], json!("object"));
}

// ---- templates ----

#[test]
fn isdk_050_json_can_be_forced_by_the_call() {
    let ran = case("user: q\n$AI: {forceJson: true}\n").replies(&["{\"a\": 1}"]).run();
    assert_eq!(ran.value(), json!({"a": 1}));
    let ran = case("---\nautoRunLLMIfPromptAvailable: false\n---\nuser: q\n$AI: {shouldAppendResponse: false}\n$AI: {pushMessage: false}\n").replies(&["1", "2"]).run();
    assert_eq!((ran.visible(), ran.value()), (vec!["user: q1".to_owned()], json!("2")));
}

// ---- marks ----

#[test]
fn isdk_065_the_model_continues_from_the_placeholder() {
    let ran = case("user: q\nassistant: \"A joke: [[JOKE]] Do you like it? [[ASK]].\"\n$echo: \"?=JOKE + '|' + ASK + '|' + prompt.JOKE\"\n").replies(&["ha", "yes"]).run();
    assert_eq!(ran.sent(0), ["user: q", "assistant: A joke:"]);
    assert_eq!(ran.sent(1), ["user: q", "assistant: A joke: ha Do you like it?"]);
    assert_eq!(ran.value(), json!("ha|yes|ha"));
    assert_eq!(ran.visible()[1], "assistant: A joke: ha Do you like it? yes.");
}

#[test]
fn isdk_067_a_placeholder_has_its_own_parameters() {
    let ran = case(
        "user: q\nassistant: \"[[A:temperature=0.01,top_p=0.8]]\"\nuser: p\nassistant: \"[[B]]\"\n",
    )
    .replies(&["a", "b"])
    .run();
    let params =
        |at: usize| (ran.seen.calls[at].params.temperature, ran.seen.calls[at].params.top_p);
    assert_eq!(params(0), (Some(0.01), Some(0.8)));
    assert_eq!(params(1), (None, None));
}

#[test]
fn isdk_068_a_reply_that_is_not_a_choice_is_requested_again() {
    let script = "user: pick\nassistant: \"[[F:|apple|red wine|red]]\"\n$echo: \"?=F\"\n";
    assert_eq!(
        case(script).replies(&["pear", "The **Red Wine**."]).run().value(),
        json!("red wine")
    );
    // Only the answer that is a choice is shown, as it is listed.
    let ran = case(script).replies(&["pear", "The **Red Wine**."]).run();
    assert_eq!(ran.seen.deltas, "red wine");
    assert_eq!(ran.seen.noted.len(), 1, "{:?}", ran.seen.noted);
    assert!(ran.seen.noted[0].contains("pear"), "{:?}", ran.seen.noted);
    let ran = case(script).replies(&["pear", "plum", "fig"]).run();
    assert!(ran.error().contains("fig") && ran.error().contains("red wine"), "{}", ran.error());
}

const ECHO: &str =
    "---\ninput: [{content: {index: 0}}, x]\n---\n$echo: \"?='<' + content + '>' + (x || '')\"\n";

#[test]
fn results_of_calls_and_replies_are_never_expanded_again() {
    let evil = "[[AI]] {{who}} [[@e(1)]] ((x:never))";
    let ran = case("---\nwho: Ann\n---\nuser: \"[[@bad]] and {{arg}}\"\nassistant: \"[[R]]\"\nuser: \"{{R}} [[/x(.*)/:R]]\"\n")
        .file("bad.ai.yaml", &format!("$echo: \"~{evil}\"\n"))
        .file("e.ai.yaml", ECHO)
        .args(json!({"arg": evil}))
        .replies(&[evil, "end"])
        .run();
    assert_eq!(ran.sent(0), [format!("user: {evil} and {evil}")]);
    assert_eq!(ran.sent(1)[2], format!("user: {evil} :never))"));
    assert_eq!(ran.calls(), 2);
}

#[test]
fn isdk_075_an_agent_remembers() {
    let harry = "---\ntype: char\nname: Harry\ndescription: Act as Harry\n---\n- assistant: \"Hi dobby, I am {{name}}!\"\n- $for: 2\n  do:\n    - user: \"[[@dobby(message=true)]]\"\n    - assistant: \"[[AI]]\"\n";
    let ran = case(harry).file("dobby.ai.yaml", ELF).replies(&["d1", "h1", "d2", "h2"]).run();
    assert_eq!(ran.calls(), 4);
    assert_eq!(ran.sent(0)[1..], ["user: Hi dobby, I am Harry!"]);
    assert_eq!(ran.sent(1)[1..], ["assistant: Hi dobby, I am Harry!", "user: d1"]);
    assert_eq!(ran.sent(2)[1..], ["user: Hi dobby, I am Harry!", "assistant: d1", "user: h1"]);
    assert_eq!(ran.value(), json!("h2"));
}

#[test]
fn isdk_076_a_pattern_may_contain_slashes() {
    let ran = case("user: q\nassistant: \"[[Answer]]\"\n---\nuser: \"Of: [[/<RESULT>(.+)</RESULT>/:Answer]] ok\"\n").replies(&["x <RESULT>42</RESULT> y", "end"]).run();
    assert_eq!(ran.sent(1)[2], "user: Of: 42 ok");
}

#[test]
fn a_regular_expression_that_explodes_is_stopped() {
    let v = "a".repeat(60);
    let ran =
        case(&format!("---\nv: {v}b\n---\nuser: \"[[/^(?=(a+)+$)x/:v]]\"\n")).replies(&["r"]).run();
    assert!(ran.came.is_ok() || ran.error().contains("regular expression"));
}

#[test]
fn isdk_110_biases_go_out_by_text() {
    let ran = case("user: \"Write ((!bad:false)) a ((happy:20%)) or ((sad:-1.5)) line\"\n")
        .replies(&["r"])
        .run();
    assert_eq!(ran.sent(0), ["user: Write a happy or sad line"]);
    let sent = ran.seen.calls[0].params.more["logit_bias"].clone();
    assert_eq!((&sent[0], &sent[2]), (&json!(["bad", false]), &json!(["sad", -1.5])));
    assert!((sent[1][1].as_f64().unwrap() - 1.2_f64.ln()).abs() < 1e-9);
    let own = case("---\nparameters: {logit_bias: {\"15\": 1}}\n---\nuser: \"((a:1)) b\"\n")
        .replies(&["r"])
        .run();
    assert_eq!(own.seen.calls[0].params.more["logit_bias"], json!({"15": 1}));
    let none = case("user: plain\n").replies(&["r"]).run();
    assert!(!none.seen.calls[0].params.more.contains_key("logit_bias"));
}

// ---- tools ----

const LOG: &str = "---\ntitle: log\ninput: [message, memory, operation]\n---\n$print: \"?=(operation || 'said') + ' ' + (memory ? memory.id : message)\"\n$echo: done\n";

#[test]
fn isdk_097_a_trigger_runs_on_memory_events() {
    let script = |trigger: &str| {
        format!(
            "---\ntools:\n  log: {{trigger: {trigger}}}\n---\n$remember: {{id: a, value: 1}}\n$remember: {{id: a, value: 1}}\n$remember: {{id: a, value: 2}}\n$forget: a\n$forget: a\n"
        )
    };
    let heard = |trigger: &str| {
        let ran = case(&script(trigger)).file("log.ai.yaml", LOG).run();
        ran.value();
        ran.seen.printed
    };
    assert_eq!(heard("MemoryChanged"), [json!("新增 a"), json!("修改 a"), json!("删除 a")]);
    assert_eq!(heard("MemoryAdded"), [json!("新增 a")]);
    assert_eq!(heard("MemoryUpdated"), [json!("修改 a")]);
    assert_eq!(heard("[MemoryRemoved]"), [json!("删除 a")]);
}

const SLOW: &str = "---\ntitle: slow\ninput: [n]\n---\nuser: \"think {{n}}\"\n";
const CALLS: &str = "@slow(n=1)\n@slow(n=2)\n@slow(n=3)";

fn modes(settings: &str, replies: &[&str]) -> Ran {
    case(&format!("---\ntools: [slow]\n{settings}\n---\nuser: q\n"))
        .file("slow.ai.yaml", SLOW)
        .replies(replies)
        .run()
}

#[test]
fn isdk_098_calls_run_one_by_one_or_together() {
    let ran = modes("run_mode: parallel", &[CALLS, "r1", "r2", "r3", "end"]);
    assert_eq!((ran.value(), ran.calls()), (json!("end"), 5));
    let last = ran.sent(4).join("\n");
    let at = |part: &str| last.find(part).unwrap_or_else(|| panic!("{part}: {last}"));
    assert!(at("r1") < at("r2") && at("r2") < at("r3"), "{last}");
    let one = modes("run_mode: sequential", &[CALLS, "r1", "@slow(n=2)", "r2", "none", "end"]);
    assert_eq!(one.value(), json!("end"));
    assert!(one.system(0).contains("one call only"), "{}", one.system(0));
    assert!(one.sent(2).join("\n").contains("r1") && !one.sent(5).join("\n").contains("n\":3"));
    let rounds =
        modes("run_mode: cascaded", &["@slow(n=1)", "r1", "@slow(n=2)", "r2", "none", "end"]);
    assert_eq!((rounds.value(), rounds.calls()), (json!("end"), 6));
    let planned =
        modes("run_mode: planer\nconcurrency_level: 99", &[CALLS, "r1", "r2", "r3", "none", "end"]);
    assert_eq!(planned.value(), json!("end"));
    assert!(modes("run_mode: magic", &[]).error().contains("magic"));
}

#[test]
fn isdk_093_the_programs_own_tools_are_tools_of_a_script() {
    let script = "---\ntools: [exec, file.read]\n---\nuser: q\n";
    let ran = case(script)
        .file("notes.txt", "remember the fig")
        .replies(&[
            "@exec(program=\"git\", args=[\"status\", \"-s\"])\n@file.read(path=\"{P}\")",
            "end",
        ])
        .run();
    assert!(
        ran.system(0).contains("@exec(program=\"git\"") && ran.system(0).contains("@file.read")
    );
    assert_eq!(ran.seen.steps[0], avocet::protocol::StepAction::exec("git", &["status", "-s"]));
    assert!(ran.sent(1).join("\n").contains("ran git status -s"), "{:?}", ran.sent(1));
    assert_eq!(ran.seen.steps[1].tool(), "file.read");
    let denied = case("---\ntools: [exec]\npermissions: {ai: {call: [\"!exec\"]}, defaultAction: allow}\n---\nuser: q\n")
        .replies(&["@exec(program=\"git\")", "never"])
        .run();
    assert!(denied.error().contains("MethodNotAllowed"), "{}", denied.error());
    assert_eq!(
        (denied.seen.calls.len(), denied.seen.steps.len()),
        (0, 0),
        "before a model is asked"
    );
    let asked = case("---\ntools: [exec]\npermissions: {ai: {call: [\"w*\"]}}\n---\nuser: q\n");
    let asked = asked.replies(&["@exec(program=\"git\")", "end"]).approve_all().run();
    assert_eq!(
        (asked.seen.asked.len(), asked.seen.steps.len(), asked.value()),
        (1, 1, json!("end"))
    );
    let direct = case("$exec: {id: exec, args: {program: ls, args: [-l]}}\n").run();
    assert_eq!(direct.value(), json!("ran ls -l"));
    let own = case("---\ntools: [exec]\n---\nuser: q\n")
        .file("exec.ai.yaml", "---\ntitle: mine\n---\n$echo: own\n")
        .replies(&["@exec()", "end"])
        .run();
    assert!(own.sent(1).join("\n").contains("exec: own") && own.seen.steps.is_empty());
    let ran = case(script).untrusted().replies(&["@exec(program=\"git\")"]).run();
    assert!(ran.error().contains("do not trust"), "{}", ran.error());
}

// ---- packages, imports, exports ----

#[test]
fn isdk_120_an_imported_script_is_a_function_with_a_memory() {
    let ran = case("---\nimport: ./dobby.ai.yaml\n---\n\"$dobby.interact({message: 'hi'})\"\n$dobby.interact(message=\"again\")\n").file("dobby.ai.yaml", ELF).replies(&["one", "two"]).run();
    assert_eq!(ran.value(), json!("two"));
    assert_eq!(ran.sent(1)[1..], ["user: hi", "assistant: one", "user: again"]);
}

#[test]
fn isdk_124_a_package_is_initialized_unless_it_opts_out() {
    let entry = "---\nexport: [\"$hi\"]\n---\n$print: started\n!fn |-\n  hi() { return 'hi' }\n";
    let with = |import: &str, entry: &str| {
        let ran = case(&format!("---\nimport: {import}\n---\n$hi\n"))
            .file("pkg/pkg.ai.yaml", entry)
            .run();
        assert_eq!(ran.value(), json!("hi"), "{import}");
        ran.seen.printed.len()
    };
    assert_eq!(with("ai:pkg", entry), 1);
    assert_eq!(with("{\"ai:pkg\": {$initializeExec: {disable: true}}}", entry), 0);
    assert_eq!(with("ai:pkg", &entry.replace("export:", "$initializeExec: false\nexport:")), 0);
}

#[test]
fn isdk_118_a_file_of_javascript_imports_nothing_from_outside_its_folder() {
    let said = |files: &[(&str, &str)]| {
        let script = case("user: q\n").file("sub/main.ai.yaml", "---\nimport: ./a.mjs\n---\n$a\n");
        let script = files.iter().fold(script, |script, (name, text)| script.file(name, text));
        script.file("script.ai.yaml", "-> ./sub/main\n").run().error()
    };
    let outside = ("sub/a.mjs", "import { b } from '../b.mjs'\nexport function a() { return b }");
    assert!(
        said(&[outside, ("b.mjs", "export const b = 1")]).contains("outside the script's folder")
    );
    let round = said(&[
        ("sub/a.mjs", "import './b.mjs'\nexport function a() {}"),
        ("sub/b.mjs", "import './a.mjs'"),
    ]);
    assert!(round.contains("imports itself") && round.contains("main.ai.yaml:2"), "{round}");
    let gone = said(&[("sub/a.mjs", "import './gone.mjs'\nexport function a() {}")]);
    assert!(gone.contains("gone.mjs"), "{gone}");
    let many: Vec<(String, String)> = (0..70)
        .map(|n| (format!("sub/m{n}.mjs"), format!("import './m{}.mjs'", n + 1)))
        .chain([("sub/a.mjs".to_owned(), "import './m0.mjs'".to_owned())])
        .collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert!(said(&many).contains("64 files"));
}

// ---- parameters ----

#[test]
fn isdk_116_a_model_the_script_is_not_for_is_named() {
    let noted = |pattern: &str| {
        let ran =
            case(&format!("---\nmodelPattern: {pattern}\n---\nuser: q\n")).replies(&["r"]).run();
        ran.value();
        ran.seen.noted.join(" ")
    };
    for fits in ["canned*", "\"CANNED-7B\"", "[gpt-*, \"*-7b\"]", "\"/^canned-\\\\d/\""] {
        assert_eq!(noted(fits), "", "{fits}");
    }
    assert!(noted("gpt-*").contains("canned-7b"));
}

#[test]
fn isdk_141_a_system_template_is_ignored_and_reported() {
    for template in ["qwen2.5", "{id: qwen2.5, version: 2}"] {
        let ran = case(&format!("---\nparameters: {{SystemTemplate: {template}}}\n---\nuser: q\n"))
            .replies(&["r"])
            .run();
        assert_eq!(ran.value(), json!("r"));
        assert!(ran.seen.noted.join(" ").contains("SystemTemplate"));
        assert!(!ran.seen.calls[0].params.more.contains_key("SystemTemplate"));
    }
}

#[test]
fn isdk_133_a_started_answer_is_continued() {
    let ran = case(
        "---\nprompt: {add_generation_prompt: false}\n---\nuser: q\nassistant: The sky\n$AI\n",
    )
    .replies(&[" is blue"])
    .run();
    assert_eq!(ran.visible(), ["user: q", "assistant: The sky is blue"]);
}

#[test]
fn isdk_139_the_whole_message_or_only_the_reply_is_read() {
    let script = |scope: &str| {
        format!(
            "---\nparameters: {{response_format: {{type: json{scope}}}}}\n---\nuser: q\nassistant: '{{\"sum\": [[R]]}}'\n"
        )
    };
    assert_eq!(case(&script("")).replies(&["4"]).run().value(), json!({"sum": 4}));
    assert_eq!(
        case(&script(", conversionScope: response")).replies(&["4"]).run().value(),
        json!(4)
    );
}

// ---- directives ----

#[test]
fn isdk_170_an_error_in_a_message_names_the_message() {
    let place = |script: &str| case(script).replies(&["r"]).run().error();
    assert!(place("user: ok\n\nuser: \"{% if %}\"\n").contains("script.ai.yaml:3:7"));
    let block = place("user: ok\nuser: |-\n  [[@nothing]]\n$AI\n");
    assert!(block.contains("script.ai.yaml:3:3"), "{block}");
    assert!(
        place("---\nv: x\n---\nuser: \"[[/(/:v]]\"\n$print: x\n").contains("script.ai.yaml:4:7")
    );
    let base =
        case("---\nextends: base\n---\nuser: q\n").file("base.ai.yaml", "\nsystem: \"{% x %}\"\n");
    assert!(base.replies(&["r"]).run().error().contains("base.ai.yaml:2:9"));
    let list = place("- $for: 1\n  do:\n    - user: \"{% if %}\"\n");
    assert!(list.contains("script.ai.yaml:3:13"), "{list}");
}

// ---- limits and trust ----

#[test]
fn an_endless_script_is_stopped_with_an_error() {
    let said = |case: Case| case.run().error();
    assert!(said(case("- $while: \"true\"\n  do: []\n")).contains("A loop ran more than"));
    assert!(said(case("- $for: 1000000000\n  do: []\n")).contains("A loop ran more than"));
    assert!(said(case("-> script\n")).contains("would nest"));
    assert!(said(case("!fn |-\n  f() { for(;;) {} }\n$f\n")).contains("JavaScript"));
    assert!(said(case("user: \"{% for i in range(99999) %}{% for j in range(99999) %}x{% endfor %}{% endfor %}\"\n").replies(&["r"])).contains("template"));
}

#[test]
fn the_built_in_scripts_are_valid() {
    for (id, _) in avocet::script::built_in::SCRIPTS {
        if !matches!(*id, "char" | "do-task" | "file" | "input" | "url" | "json" | "segment") {
            let ran = case(&format!("-> {id}(content=\"some text\")\n")).replies(&["made"]).run();
            assert_eq!(ran.value(), json!("made"), "{id}");
            assert!(ran.sent(0).join("\n").contains("some text"), "{id}");
        }
    }
    let ran = case("-> segment(content=\"a b\")\n").replies(&["[\"a\", \"b\"]"]).run();
    assert_eq!(ran.value(), json!(["a", "b"]));
    let ran = case("-> json(content=\"a b\")\n").replies(&["{\"a\": 1}"]).run();
    assert_eq!(ran.value(), json!({"a": 1}));
}

// ---- permissions ----

#[test]
fn a_forbidden_script_is_forbidden_under_all_its_names() {
    let rules = |rule: &str| {
        format!("---\npermissions: {{ai: {{call: [\"!{rule}\"]}}, defaultAction: allow}}\n---\n")
    };
    for (rule, call) in [
        ("t", "-> t"),
        ("t", "-> ./t"),
        ("t", "-> ./t.ai.yaml"),
        ("t", "-> sub/../t"),
        ("t", "$exec: {id: ./t.ai.yaml}"),
        ("t", "$exec: {filename: ./t}"),
        ("t", "$exec: {script: sub/../t.ai.yaml}"),
        ("t", "$tool: {name: ./t.ai.yaml}"),
        ("t", "$echo: \"[[@./t.ai.yaml(x=1)]]\""),
        ("t", "$pipe: {name: ./t}"),
        ("t", "-> child"),
        ("t", "-> other"),
        ("other", "-> t"),
        ("t", "- !fn |-\n  [js]go() { return this.$exec({id: './t'}) }\n- $go"),
        ("v", "-> sub/v"),
        ("pk", "-> ./pk"),
        ("sub/v", "-> ./sub/v.ai.yaml"),
    ] {
        let ran = case(&format!("{}{call}\n", rules(rule)))
            .file("t.ai.yaml", "---\n_id: other\ntitle: t\n---\n$print: RAN\n")
            .file("child.ai.yaml", "-> ./t\n")
            .file("sub/v.ai.yaml", "$print: RAN\n")
            .file("pk/pk.ai.yaml", "$print: RAN\n")
            .run();
        assert_eq!(ran.seen.printed, [] as [Value; 0], "!{rule} {call}");
        assert!(ran.error().contains("MethodNotAllowed"), "!{rule} {call}: {}", ran.error());
    }
}

#[test]
fn permissions_cover_what_directives_read_and_fetch() {
    let read = "$readFile: x.txt";
    let fetch = "$fetchUrl: \"http://127.0.0.1:9/\"";
    for (permissions, call) in [
        ("{ai: {call: [\"!file.read\"]}, defaultAction: allow}", read),
        ("{ai: {call: [\"!readFile\"]}, defaultAction: allow}", read),
        ("{ai: {call: [\"!file.*\"]}, defaultAction: allow}", read),
        ("{ai: {call: []}, defaultAction: deny}", read),
        (
            "{ai: {call: [{file.read: {parameters: {path: [\"!x.*\"]}}}]}, defaultAction: allow}",
            read,
        ),
        (
            "{ai: {call: [{file.read: {parameters: {path: [\"!*/x.txt\"]}}}]}, defaultAction: allow}",
            read,
        ),
        ("{ai: {call: [\"!file.read\"]}, defaultAction: allow}", "$echo: \"[[@file(x.txt)]]\""),
        ("{ai: {call: [\"!file.read\"]}, defaultAction: allow}", "-> child"),
        ("{ai: {call: [\"!exec\"]}, defaultAction: allow}", fetch),
        ("{ai: {call: [\"!url\"]}, defaultAction: allow}", fetch),
        ("{ai: {call: [\"!fetchUrl\"]}, defaultAction: allow}", fetch),
        ("{ai: {call: []}, defaultAction: deny}", fetch),
    ] {
        let ran = case(&format!("---\npermissions: {permissions}\n---\n{call}\n"))
            .file("x.txt", "SECRET")
            .file("child.ai.yaml", "$readFile: x.txt\n")
            .run();
        assert_eq!(ran.seen.steps, [], "{permissions} {call}");
        assert!(ran.error().contains("MethodNotAllowed"), "{permissions} {call}");
    }
}

#[test]
fn a_rule_that_allows_the_script_of_a_file_allows_its_step() {
    for permissions in [
        "{ai: {call: [file]}, defaultAction: deny}",
        "{ai: {call: [file.read, file]}}",
        "{ai: {call: [{file: {parameters: {path: [\"*.txt\"]}}}]}, defaultAction: deny}",
    ] {
        let call = "$echo: \"[[@file(path='x.txt')]]\"";
        let ran = case(&format!("---\npermissions: {permissions}\n---\n{call}\n"))
            .file("x.txt", "TEXT")
            .run();
        assert_eq!((ran.value(), ran.seen.asked.len()), (json!("TEXT"), 0), "{permissions}");
    }
}

// ---- limits ----

#[test]
fn every_limit_of_a_run_is_a_limit_for_the_exit_code() {
    let declare = |code: &str| format!("- !fn |-\n  [js]f() {{ {code} }}\n- $f\n");
    for script in [
        "- $for: 100001\n  do: [{$set: {a: 1}}]\n".to_owned(),
        "-> script\n".to_owned(),
        declare("return f2(); function f2() { return f2() + 1 }"),
        declare("const a = []; for (;;) a.push('x'.repeat(1000000) + a.length)"),
    ] {
        let failure = case(&script).run().came.unwrap_err();
        assert_eq!(failure.cause, ErrorCause::Limit, "{script}: {failure}");
        assert!(failure.location.is_some(), "{failure}");
    }
}

// ---- nesting ----

/// Whatever calls itself without end is stopped with a sentence, not by a full stack.
#[test]
fn what_calls_itself_endlessly_is_an_error_with_a_place() {
    let on_itself = |event: &str, body: &str| {
        format!(
            "!fn |-\n  [js]async f(e) {{ {body} }}\n$on: {{event: {event}, callback: $f}}\n$emit: my\nuser: q\n$AI\n"
        )
    };
    let asks_itself = "---\ntype: char\nname: A\nroles: {a: s}\n---\n---\nuser: \"@a, hi\"\n";
    let ping = "---\ntype: char\nname: A\nroles: {b: pong}\n---\n---\nuser: \"@b, hi\"\n";
    let pong = "---\ntype: char\nname: B\nroles: {a: script}\n---\n---\nuser: \"@a, hi\"\n";
    let imports = |other: &str, name: &str| {
        format!(
            "---\nimport: [\"{other}.ai.yaml\"]\nexport: [\"${name}\"]\n---\n!fn |-\n  {name}() {{ return 1 }}\n"
        )
    };
    let cases = [
        case(&on_itself("my", "await this.$emit('my')")),
        case(&on_itself("llmRequest", "return await this.$AI({})")),
        case(
            "!fn# |-\n  async tf(x) { return await this.$format(\"{{ tf(1) }}\") }\nuser: \"{{ tf(1) }}\"\n",
        ),
        case("!fn |-\n  async f(x) { return await this.$exec({id: 'script'}) }\n$f\n"),
        case("$on: {event: my, callback: \"?=$emit('my')\"}\n$emit: my\n"),
        case(&imports("sub", "a")).file("sub.ai.yaml", &imports("script", "b")),
        case("---\nroles: {a: s}\n---\nuser: \"@a, hi\"\n").file("s.ai.yaml", asks_itself),
        case(ping).file("pong.ai.yaml", pong),
        case("---\ntools: [script]\ntitle: t\n---\n- user: \"[[@script(message=true)]]\"\n"),
    ];
    for (at, case) in cases.into_iter().enumerate() {
        let ran = case.replies(&["a"; 100]).run();
        let failure = ran.came.unwrap_err();
        assert_eq!(failure.cause, ErrorCause::Limit, "{at}: {failure}");
        let text = failure.to_string();
        assert!(text.contains("would nest") && text.contains(".ai.yaml:"), "{at}: {text}");
        assert!(!text.contains("JavaScript failed"), "{at}: {text}");
    }
}

#[test]
fn a_model_that_only_calls_tools_has_to_answer_and_the_user_is_told() {
    let script = "---\ntools: [now]\n---\nuser: q\n";
    let tool = "---\ntitle: the time\n---\n$echo: noon\n";
    let calls: Vec<&str> = vec!["@now()"; 6].into_iter().chain(["noon it is"]).collect();
    let ran = case(script).file("now.ai.yaml", tool).replies(&calls).run();
    assert_eq!(ran.value(), json!("noon it is"));
    assert!(ran.seen.noted.join(" ").contains("6 times in a row"), "{:?}", ran.seen.noted);
    let few: Vec<&str> = vec!["@now()", "noon"];
    let ran = case(script).file("now.ai.yaml", tool).replies(&few).run();
    assert!(!ran.seen.noted.join(" ").contains("in a row"), "{:?}", ran.seen.noted);
}
