//! The rows of the ISDK table that no case folder covers, one test each, by number.

use crate::script_case::{Case, Ran, case};
use avocet::script::ErrorCause;
use serde_json::{Value, json};

// ---- messages ----

#[test]
fn isdk_003_lines_and_list_items_may_be_mixed() {
    let ran =
        case("- system: S\nuser: a\n- \"b\"\nassistant: c\n- user: d\n").replies(&["r"]).run();
    assert_eq!(ran.sent(0), ["system: S", "user: a\n\nb", "assistant: c", "user: d"]);
}

#[test]
fn isdk_006_text_above_the_first_separator_is_sent_but_not_shown() {
    let ran = case("system: S\nuser: hidden\n---\nuser: q\n").replies(&["a"]).run();
    assert_eq!(ran.sent(0), ["system: S", "user: hidden\n\nq"]);
    assert_eq!(ran.visible(), ["user: q", "assistant: a"]);
}

#[test]
fn isdk_011_comments_are_ignored_everywhere() {
    let ran = case("# top\nuser: a # tail\n# between\n--- # sep\n\"b # no\" # yes\n")
        .replies(&["r"])
        .run();
    assert_eq!(ran.sent(0), ["user: a\n\nb # no"]);
}

#[test]
fn isdk_012_any_yaml_text_style_is_accepted() {
    let ran = case("user: |-\n  one\n   two\nassistant: >-\n  three\n  four\nuser: 'it''s'\nassistant: \"a\\nb\"\nuser: plain\n  more\n")
        .replies(&["r"])
        .run();
    assert_eq!(
        ran.sent(0),
        [
            "user: one\n two",
            "assistant: three four",
            "user: it's",
            "assistant: a\nb",
            "user: plain more"
        ]
    );
}

#[test]
fn isdk_014_the_output_part_precedes_the_notes() {
    let ran = case("system:\n  background: B\n  content: C {{1+1}}\n  output: [o1, o2]\n  notes: n1\nuser: q\n").replies(&["r"]).run();
    assert_eq!(ran.system(0), "B\n\nC 2\n\nOutput (text):\n* o1\n* o2\n\nNotes:\n* n1");
}

#[test]
fn isdk_017_the_title_of_the_notes_can_be_replaced() {
    let ran = case("---\nSystemNotesTitle: Mind\n---\nsystem: {content: C, notes: [n]}\nuser: q\n")
        .replies(&["r"])
        .run();
    assert_eq!(ran.system(0), "C\n\nMind:\n* n");
}

#[test]
fn isdk_018_the_title_of_the_output_must_contain_its_placeholder() {
    let with = |title: &str| {
        let script = format!(
            "---\nSystemOutputTitle: \"{title}\"\n---\nsystem: {{content: C, output: [o]}}\nuser: q\n"
        );
        case(&script).replies(&["r"]).run().system(0)
    };
    assert_eq!(with("As {{type}}"), "C\n\nAs text:\n* o");
    assert_eq!(with("No gap"), "C\n\nOutput (text):\n* o");
}

#[test]
fn isdk_008_a_role_may_speak_any_number_of_times() {
    let ran = case("user: a\nassistant: b\nuser: c\nassistant: d\nuser: e\n").replies(&["r"]).run();
    assert_eq!(ran.sent(0), ["user: a", "assistant: b", "user: c", "assistant: d", "user: e"]);
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
fn isdk_022_a_public_answer_is_seen_by_later_roles() {
    let ran = group("user: \"@dobby, hello\"\nuser: \"@bob, and you?\"\n")
        .replies(&["Dobby: hi from elf", "ok"])
        .run();
    let second = ran.sent(1).join("\n");
    assert!(second.contains("hello") && second.contains("dobby: hi from elf"), "{second}");
    assert!(!second.contains("@dobby") && second.contains("assistant: I am Bob."), "{second}");
}

#[test]
fn isdk_024_several_roles_answer_in_order() {
    for body in
        ["user[@dobby, @bob]: hi\n", "user: \"@dobby @bob hi\"\n", "user: '@dobby，@bob hi'\n"]
    {
        let ran = group(body).replies(&["one", "two"]).run();
        assert_eq!(ran.calls(), 2, "{body}");
        assert!(ran.sent(1).join(" ").contains("dobby: one"), "{body}");
    }
    let ran = group("user: \"@dobby(PM), @bob secret\"\nbob: \"[[AI]]\"\n")
        .replies(&["one", "two", "three"])
        .run();
    assert_eq!(ran.calls(), 3);
}

#[test]
fn isdk_027_a_role_must_be_of_type_char() {
    let ran =
        group("user: \"@bob, hi\"\n").file("char_bob.ai.yaml", "---\nname: bob\n---\n---\n").run();
    assert!(ran.error().contains("type: char"), "{}", ran.error());
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
fn isdk_029_an_empty_echo_is_an_empty_result() {
    assert_eq!(group("user: \"@bob, hi\"\n$echo: \"\"\n").replies(&["x"]).run().value(), json!(""));
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

#[test]
fn isdk_032_an_input_is_a_name_or_a_name_with_settings() {
    let script = "---\ninput:\n  - a\n  - b: {default: 2}\n  - c: what it is for\n---\nuser: \"{{a}}{{b}}{{c}}\"\n";
    let ran = case(script).args(json!({"a": 1, "c": 3})).replies(&["r"]).run();
    assert_eq!(ran.sent(0), ["user: 123"]);
    let wrong = case("---\ninput: 7\n---\nuser: q\n").run();
    assert!(wrong.error().contains("`input`"), "{}", wrong.error());
}

#[test]
fn isdk_039_the_callers_value_replaces_the_default() {
    let asked = "---\ninput: [{a: {default: own}}]\n---\n$echo: \"?=a\"\n";
    let ran =
        case("---\nimport: ./e.ai.yaml\n---\n$set: {x: $e, y: {$e: {a: given}}}\n$get: [x, y]\n")
            .file("e.ai.yaml", asked)
            .run();
    assert_eq!(ran.value(), json!({"x": "own", "y": "given"}));
    assert_eq!(case(asked).args(json!({"a": "line"})).run().value(), json!("line"));
}

#[test]
fn isdk_034_a_front_matter_key_is_a_default_too() {
    let script = "---\ninput:\n  - a: {default: 1}\n  - b\n  - c: {default: 3}\nb: two\nc: own\n---\nuser: \"{{a}} {{b}} {{c}}\"\n";
    assert_eq!(case(script).replies(&["r"]).run().sent(0), ["user: 1 two own"]);
    let ran = case(script).args(json!({"a": 9, "b": "x"})).replies(&["r"]).run();
    assert_eq!(ran.sent(0), ["user: 9 x own"]);
}

#[test]
fn isdk_035_a_plain_text_goes_to_the_input_with_the_index() {
    let script = "---\ninput:\n  - lang\n  - content: {index: 0}\n---\nuser: \"<{{content}}>\"\n";
    assert_eq!(case(script).args(json!("hi")).replies(&["r"]).run().sent(0), ["user: <hi>"]);
    let free = case("system: S\n").args(json!("hello {{x}} [[Y]]")).replies(&["r"]).run();
    assert_eq!(free.sent(0), ["system: S", "user: hello {{x}} [[Y]]"]);
}

#[test]
fn isdk_037_only_listed_values_are_accepted() {
    let script = "---\ninput:\n  - size: {enum: [s, m]}\n---\nuser: \"{{size}}\"\n";
    let ran = case(script).args(json!({"size": "xl"})).replies(&["r"]).run();
    assert!(ran.error().contains("size") && ran.error().contains("s, m"), "{}", ran.error());
    assert_eq!(ran.seen.calls.len(), 0);
    assert_eq!(case(script).args(json!({"size": "m"})).replies(&["r"]).run().calls(), 1);
}

const SUM: &str = "output: {type: object, properties: {sum: {type: number}}, required: [sum]}\nparameters: {response_format: {type: json}}\n";

#[test]
fn isdk_042_the_original_never_hides_a_field() {
    let script = "---\noutput: {type: object}\nkeepOriginal: true\nparameters: {response_format: {type: json}}\n---\nuser: q\n$AI\n$echo: \"?=LatestResult._original\"\n";
    assert_eq!(case(script).replies(&["{\"a\":1}"]).run().value(), json!("{\"a\":1}"));
    assert_eq!(case(script).replies(&["{\"_original\":1}"]).run().value(), json!(1));
    let whole = case(&script.replace("$echo: \"?=LatestResult._original\"\n", ""))
        .replies(&["{\"a\":1}"])
        .run();
    assert_eq!(whole.value(), json!({"a": 1}));
}

#[test]
fn isdk_043_the_thinking_can_be_kept() {
    let script = "---\nkeepThinking: true\noutput: {type: object}\nparameters: {response_format: {type: json}, shouldThink: first}\n---\nuser: q\n$AI\n$echo: \"?=LatestResult._thinking\"\n";
    assert_eq!(
        case(script).replies(&["<Think>hm</Think><Answer>{\"a\":1}</Answer>"]).run().value(),
        json!("hm")
    );
}

#[test]
fn isdk_045_invalid_json_is_an_error() {
    let ran = case(&format!("---\n{SUM}---\nuser: q\n")).replies(&["no json"]).run();
    assert!(ran.error().contains("JSON"), "{}", ran.error());
    let ran = case(&format!("---\n{SUM}---\nuser: q\n")).replies(&["{\"total\": 1}"]).run();
    assert!(ran.error().contains("sum"), "{}", ran.error());
}

#[test]
fn isdk_046_json_object_means_json() {
    let script = "---\nparameters: {response_format: {type: json_object}}\n---\nuser: q\n";
    let ran = case(script).replies(&["{\"a\": [1]}"]).run();
    assert_eq!(ran.value(), json!({"a": [1]}));
    assert_eq!(ran.seen.calls[0].params.more["response_format"], json!({"type": "json_object"}));
}

#[test]
fn isdk_047_yaml_is_read() {
    let script = "---\nparameters: {response_format: {type: yaml}}\n---\nuser: q\n";
    assert_eq!(
        case(script).replies(&["```yaml\na: 1\nb: [x, y]\n```"]).run().value(),
        json!({"a": 1, "b": ["x", "y"]})
    );
    let ran = case(script).replies(&["a: [1"]).run();
    assert!(ran.error().contains("YAML"), "{}", ran.error());
}

#[test]
fn isdk_048_a_natural_object_is_read_with_the_help_of_output() {
    let script = "---\noutput: {type: object, properties: {full_name: {type: string}, age: {type: number}}}\nparameters: {response_format: {type: nobj}}\n---\nuser: q\n";
    assert_eq!(
        case(script).replies(&["Full Name: Ann Lee\nage: 7"]).run().value(),
        json!({"full_name": "Ann Lee", "age": 7})
    );
}

#[test]
fn isdk_049_the_whole_result_can_be_requested() {
    let ran = case("---\nllmReturnResult: .\n---\nuser: q\n").replies(&["a"]).run();
    assert_eq!(ran.value()["content"], json!("a"));
}

#[test]
fn isdk_050_a_number_is_a_result() {
    let script =
        "---\nparameters: {response_format: {type: json}}\noutput: {type: number}\n---\nuser: q\n";
    assert_eq!(case(script).replies(&["8"]).run().value(), json!(8));
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

#[test]
fn isdk_055_templates_have_conditions_and_loops() {
    let ran = case("---\nlist: [a, b]\nflag: true\n---\nuser: \"{% for x in list %}{{loop.index}}{{x}} {% endfor %}{{list}} {{flag}} {{'x'|upper}}{{nothing}}\"\n").replies(&["r"]).run();
    assert_eq!(ran.sent(0), ["user: 1a 2b a,b true X"]);
}

#[test]
fn isdk_057_format_strings() {
    let ran =
        case("---\ntemplateFormat: fstring\nname: Bob\n---\nuser: \"Hi {name}, {{literal}}\"\n")
            .replies(&["r"])
            .run();
    assert_eq!(ran.sent(0), ["user: Hi Bob, {literal}"]);
}

#[test]
fn isdk_058_rendering_waits_until_the_message_is_sent() {
    let ran = case("---\nw: one\n---\nuser: \"{{w}}\"\nuser: \"#{{w}}\"\nuser: \"~{{w}}\"\n$prompt: {w: two}\n").replies(&["r"]).run();
    assert_eq!(ran.sent(0), ["user: two\n\none\n\n{{w}}"]);
}

#[test]
fn isdk_060_a_script_can_turn_off_rendering() {
    let ran = case(
        "---\nformatStringStrategy: Raw\nw: one\n---\nuser: \"{{w}}\"\nassistant: \"[[A]]\"\n",
    )
    .replies(&["r"])
    .run();
    assert_eq!(ran.sent(0), ["user: {{w}}"]);
    assert_eq!(ran.value(), json!("r"));
}

#[test]
fn isdk_062_set_renders_the_messages_above_it() {
    let ran = case("---\nw: one\n---\nuser: \"{{w}}\"\n$set: {w: two}\nuser: \"{{w}}\"\n")
        .replies(&["r"])
        .run();
    assert_eq!(ran.sent(0), ["user: one\n\ntwo"]);
}

#[test]
fn isdk_063_the_prompt_adds_messages() {
    let ran = case("---\nname: Dobby\nprompt:\n  description: an elf\n  messages:\n    - {role: system, content: \"You are {{{name}}. {{description}}\"}\n---\nuser: q\n").replies(&["r"]).run();
    assert_eq!(ran.sent(0), ["system: You are Dobby. an elf", "user: q"]);
}

#[test]
fn isdk_064_call_arguments_take_precedence() {
    let ran = case("---\nprompt: {description: Dobby}\nparameters: {temperature: 0.1}\n---\n- system: \"You are {{description}}\"\n- $AI:\n    description: Harry\n    temperature: 0.7\n").replies(&["r"]).run();
    assert_eq!(ran.sent(0), ["system: You are Harry"]);
    assert_eq!(ran.seen.calls[0].params.temperature, Some(0.7));
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

#[test]
fn isdk_069_chance_asks_no_model() {
    let ran = case("---\nautoRunLLMIfPromptAvailable: false\n---\nassistant: \"[[F:|a|b:random]]\"\n$echo: \"?=F\"\n").run();
    assert!([json!("a"), json!("b")].contains(&ran.value()));
    assert_eq!(ran.calls(), 0);
}

#[test]
fn isdk_070_several_choices_can_be_picked() {
    let ran = case("user: q\nassistant: \"[[F:|a1|b2|c3:2]]\"\n").replies(&["c3 and a1"]).run();
    assert_eq!(ran.value(), json!("c3, a1"));
}

const ECHO: &str =
    "---\ninput: [{content: {index: 0}}, x]\n---\n$echo: \"?='<' + content + '>' + (x || '')\"\n";

#[test]
fn isdk_071_a_call_in_a_text_is_replaced_by_its_result() {
    let ran = case("---\nwho: Ann\n---\nuser: \"a [[@e(who)]] b [[@e(content=\\\"{{who}}!\\\", x=1+1)]] [[@e(note.txt)]]\"\n").file("e.ai.yaml", ECHO).replies(&["r"]).run();
    assert_eq!(ran.sent(0), ["user: a <Ann> b <Ann!>2 <note.txt>"]);
}

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
fn isdk_072_a_directive_in_a_text() {
    let ran = case("!fn |-\n  up(s) { return s.toUpperCase() }\nuser: \"[[@$up('x')]] [[@$echo('y')]] [[@$none]]\"\n").replies(&["r"]).run();
    assert!(ran.error().contains("none"), "{}", ran.error());
    let ran = case(
        "!fn |-\n  up(s) { return s.toUpperCase() }\nuser: \"[[@$up('x')]] [[@$echo('y')]]\"\n",
    )
    .replies(&["r"])
    .run();
    assert_eq!(ran.sent(0), ["user: X y"]);
}

#[test]
fn isdk_073_superfluous_spaces_are_removed() {
    let ran = case("user: \"a  [[@$echo('')]]  b [[@$echo('c')]]  d\"\n").replies(&["r"]).run();
    assert_eq!(ran.sent(0), ["user: a b c d"]);
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
fn isdk_079_without_a_match_it_is_the_whole_variable() {
    let ran = case("---\nv: abc\n---\nuser: \"[[/x(.)/:v]] [[/b/:v]] [[/(?<n>c)/:v:n]]\"\n")
        .replies(&["r"])
        .run();
    assert_eq!(ran.sent(0), ["user: abc b c"]);
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

// ---- chains and flow ----

#[test]
fn isdk_083_a_chain_continues_to_a_directive() {
    let ran = case("user: q\nassistant: \"[[R]]\"\n-> e(x=1) -> $print\n")
        .file("e.ai.yaml", ECHO)
        .replies(&["hi"])
        .run();
    assert_eq!(ran.seen.printed, [json!("<hi>1")]);
    assert_eq!(ran.value(), json!("<hi>1"));
}

#[test]
fn the_joke_of_the_seed_is_printed() {
    let ran = case("assistant: \"A joke: [[JOKE]] Enjoy!\"\n-> $print(JOKE)\n$ret('')\n")
        .replies(&["ha"])
        .run();
    assert_eq!(ran.seen.printed, [json!("ha")]);
    assert_eq!(ran.value(), json!(""));
}

#[test]
fn isdk_085_the_last_instruction_gives_the_value() {
    assert_eq!(case("$echo: 1\n$echo: 2\n$set: {x: 3}\n").run().value(), json!(2));
}

#[test]
fn isdk_087_the_automatic_call_can_be_turned_off() {
    let ran = case("---\nautoRunLLMIfPromptAvailable: false\n---\nuser: q\n").run();
    assert_eq!(ran.calls(), 0);
}

#[test]
fn isdk_088_answers_are_streamed() {
    let ran = case("user: q\n").raw(json!([{"chunks": ["he", "llo"], "content": "hello"}])).run();
    assert_eq!((ran.value(), ran.seen.deltas.as_str()), (json!("hello"), "hello"));
}

#[test]
fn isdk_089_own_settings_win_and_base_messages_come_first() {
    let base = "---\ntype: type\ninput: [{tone: {default: calm}}]\nparameters: {temperature: 0.1, top_p: 0.5}\n---\nsystem: \"Be {{tone}} to {{name}}.\"\n";
    let ran = case("---\ntype: base\nname: Ann\ntone: loud\nparameters: {temperature: 0.9}\n---\nsystem: Own.\nuser: q\n").file("base.ai.yaml", base).replies(&["r"]).run();
    assert_eq!(ran.sent(0), ["system: Be loud to Ann.\nOwn.", "user: q"]);
    assert_eq!(
        (ran.seen.calls[0].params.temperature, ran.seen.calls[0].params.top_p),
        (Some(0.9), Some(0.5))
    );
}

#[test]
fn a_cycle_of_types_is_an_error() {
    let ran = case("---\ntype: a\n---\nuser: q\n")
        .file("a.ai.yaml", "---\ntype: b\n---\n")
        .file("b.ai.yaml", "---\ntype: a\n---\n")
        .run();
    assert!(ran.error().contains("leads back"), "{}", ran.error());
}

#[test]
fn isdk_092_extends_inherits_settings_and_messages() {
    let ran = case("---\nextends: base\nb: 2\n---\nuser: \"{{a}}{{b}}\"\n")
        .file("base.ai.yaml", "---\na: 1\nb: 1\n---\nsystem: Base.\n")
        .replies(&["r"])
        .run();
    assert_eq!(ran.sent(0), ["system: Base.", "user: 12"]);
}

// ---- tools ----

const WEATHER: &str = "---\ntitle: get weather\ninput:\n  - location: {description: the place, example: Rome, required: true}\n  - date: {default: today}\n  - key: {hidden: true, default: k1}\n---\n$echo: \"?='rain in ' + location + ' ' + date + ' ' + key\"\n";

#[test]
fn isdk_093_the_model_names_calls_and_the_answer_has_their_results() {
    let ran = case("---\ntools:\n  - weather\n  - id: now\n    title: the time\n---\nuser: weather?\nassistant: \"[[Answer]]\"\n$echo: \"?=Answer\"\n")
        .file("weather.ai.yaml", WEATHER)
        .file("now.ai.yaml", "---\ntitle: clock\n---\n$echo: \"12:00\"\n")
        .replies(&["@weather(location=\"Paris\")\n@now()", "rainy at noon"])
        .run();
    assert!(
        ran.system(0).contains("get weather")
            && ran.system(0).contains("the time")
            && !ran.system(0).contains("clock")
    );
    assert!(!ran.system(0).contains("key"), "{}", ran.system(0));
    let second = ran.sent(1).join("\n");
    assert!(second.contains("rain in Paris today k1") && second.contains("12:00"), "{second}");
    assert_eq!(ran.value(), json!("rainy at noon"));
}

#[test]
fn isdk_095_without_a_call_the_reply_is_the_answer() {
    let ran = case("---\ntools: [weather]\n---\nuser: hello\n")
        .file("weather.ai.yaml", WEATHER)
        .replies(&["none", "hi"])
        .run();
    assert_eq!((ran.value(), ran.calls()), (json!("hi"), 2));
}

#[test]
fn arguments_written_by_a_model_are_data() {
    let ran = case("---\ntools: [weather]\n---\nuser: q\n")
        .file("weather.ai.yaml", WEATHER)
        .replies(&["@weather(location=(1+1), date=this.x)", "a"])
        .run();
    assert!(ran.sent(1).join("\n").contains("rain in (1+1) this.x"), "{:?}", ran.sent(1));
}

#[test]
fn isdk_096_a_route_selects_tools() {
    let ran = case("---\ntools: [$route]\n---\n!fn |-\n  route(context) { return context.includes('rain') ? ['weather'] : [] }\nuser: rain?\n")
        .file("weather.ai.yaml", WEATHER)
        .replies(&["@weather(location=\"X\")", "yes"])
        .run();
    assert!(ran.sent(1).join("\n").contains("rain in X"), "{:?}", ran.sent(1));
}

#[test]
fn isdk_097_a_trigger_runs_a_tool_by_itself() {
    let log =
        "---\ntitle: log\ninput: [message]\n---\n$print: \"?='logged ' + message\"\n$echo: done\n";
    let ran = case("---\ntools:\n  log: {trigger: AfterUserMessage}\n---\nuser: hey\n")
        .file("log.ai.yaml", log)
        .replies(&["r"])
        .run();
    assert_eq!(ran.seen.printed, [json!("logged hey")]);
}

const LOG: &str = "---\ntitle: log\ninput: [message, memory, operation]\n---\n$print: \"?=(operation || 'said') + ' ' + (memory ? memory.id : message)\"\n$echo: done\n";

#[test]
fn isdk_097_a_trigger_runs_after_every_answer() {
    let ran = case("---\ntools:\n  log: {trigger: AfterAIResponse}\n---\nuser: hey\n$AI\nuser: more\nassistant: \"[[A]]\"\n")
        .file("log.ai.yaml", LOG)
        .replies(&["one", "two"])
        .run();
    assert_eq!(ran.seen.printed, [json!("said one"), json!("said two")]);
    let words = case("---\ntools:\n  log: {trigger: Keyword, keywords: [fig]}\n---\nuser: a plum\n$AI\nuser: a fig\n")
        .file("log.ai.yaml", LOG)
        .replies(&["r", "with a tool"])
        .run();
    assert_eq!(words.seen.printed, [json!("said a fig")]);
    assert!(words.sent(1).join("\n").contains("@log"), "{:?}", words.sent(1));
}

#[test]
fn isdk_097_a_trigger_runs_at_the_start_and_at_the_end() {
    let ran =
        case("---\ntools:\n  log: {trigger: [AtStartup, BeforeShutdown]}\n---\n$print: body\n")
            .file("log.ai.yaml", LOG)
            .args(json!({"message": "m"}))
            .run();
    assert_eq!(ran.seen.printed, [json!("said m"), json!("body"), json!("said m")]);
}

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
    let waits = modes("concurrent_answer: true", &["none", "end"]);
    assert!(waits.seen.noted.join(" ").contains("concurrent_answer"), "{:?}", waits.seen.noted);
}

#[test]
fn isdk_098_a_failed_call_does_not_affect_the_others() {
    let ran = case("---\ntools: [slow, bad]\nrun_mode: parallel\n---\nuser: q\n")
        .file("slow.ai.yaml", SLOW)
        .file("bad.ai.yaml", "---\ntitle: bad\n---\n$throw: \"no luck\"\n")
        .replies(&["@bad()\n@slow(n=1)", "fine", "end"])
        .run();
    assert_eq!(ran.value(), json!("end"));
    let last = ran.sent(2).join("\n");
    assert!(last.contains("no luck") && last.contains("fine"), "{last}");
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
    assert_eq!(denied.seen.steps.len(), 0);
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

#[test]
fn isdk_099_a_tool_needs_a_title_or_a_description() {
    let ran = case("---\ntools: [t]\n---\nuser: q\n").file("t.ai.yaml", "$echo: 1\n").run();
    assert!(ran.error().contains("title"), "{}", ran.error());
}

#[test]
fn isdk_102_a_toolset_brings_its_tools() {
    let ran = case("---\ntools:\n  set: {defaults: {location: Oslo}}\n---\nuser: q\n")
        .file("set.ai.yaml", "---\nexport: [weather.ai.yaml]\n---\n")
        .file("weather.ai.yaml", WEATHER)
        .replies(&["@weather()", "ok"])
        .run();
    assert!(ran.sent(1).join("\n").contains("rain in Oslo today"), "{:?}", ran.sent(1));
}

#[test]
fn isdk_103_the_closest_default_wins_and_maps_are_merged() {
    let show = "---\ntitle: t\ninput: [o]\n---\n$echo: \"?=JSON.stringify(o)\"\n";
    let set = "---\nexport: [t.ai.yaml]\ninput: [o]\no: {a: script, b: script, c: script}\n---\n";
    let ran = case("---\ntools:\n  set: {defaults: {o: {a: set, b: set}}}\n---\nuser: q\n")
        .file("set.ai.yaml", set)
        .file("t.ai.yaml", show)
        .replies(&["@t(o={a: \"call\"})", "ok"])
        .run();
    let line = ran.sent(1).join("\n");
    for part in ["\"a\":\"call\"", "\"b\":\"set\"", "\"c\":\"script\""] {
        assert!(line.contains(part), "{part}: {line}");
    }
}

// ---- permissions ----

#[test]
fn isdk_109_a_tool_that_is_denied_ends_the_script() {
    let ran = case("---\ntools: [weather]\npermissions: {ai: {call: [\"!weather\"]}, defaultAction: allow}\n---\nuser: q\n")
        .file("weather.ai.yaml", WEATHER)
        .replies(&["@weather(location=\"X\")", "never"])
        .run();
    assert!(
        ran.error().contains("MethodNotAllowed") && ran.error().contains("weather"),
        "{}",
        ran.error()
    );
    assert_eq!(ran.seen.calls.len(), 1);
}

#[test]
fn isdk_107_calls_without_a_rule_ask() {
    let script =
        "---\npermissions: {ai: {call: [\"w*\"]}}\n---\n$exec: {id: e, args: {content: a}}\n";
    let ran = case(script).file("e.ai.yaml", ECHO).run();
    assert!(
        ran.error().contains("MethodNotAllowed") && ran.seen.asked.len() == 1,
        "{}",
        ran.error()
    );
    assert_eq!(case(script).file("e.ai.yaml", ECHO).approve_all().run().value(), json!("<a>"));
}

#[test]
fn isdk_109_a_callers_denial_covers_its_callees() {
    let ran = case("---\npermissions: {ai: {call: [\"mid\", \"!e\"]}}\n---\n-> mid\n")
        .file("mid.ai.yaml", "$exec: {id: e, args: {content: a}}\n")
        .file("e.ai.yaml", ECHO)
        .run();
    assert!(
        ran.error().contains("permission denied") && ran.error().contains("`e`"),
        "{}",
        ran.error()
    );
}

// ---- packages, imports, exports ----

#[test]
fn isdk_112_a_folder_is_a_package() {
    let ran = case("-> pkg -> other\n")
        .file("pkg/pkg.ai.yaml", "$echo: one\n")
        .file("pkg/index.ai.yaml", "$echo: wrong\n")
        .file("other/index.ai.yaml", "---\ninput: [content]\n---\n$echo: \"?=content + ' two'\"\n")
        .run();
    assert_eq!(ran.value(), json!("one two"));
}

#[test]
fn isdk_117_an_import_is_a_text_a_list_or_a_map() {
    for import in [
        "import: js:path",
        "import: [js:path]",
        "import: {js:path: [basename]}",
        "import: [{js:path: [basename]}]",
    ] {
        let ran = case(&format!("---\n{import}\n---\n$basename('/a/b.txt')\n")).run();
        assert_eq!(ran.value(), json!("b.txt"), "{import}");
    }
}

#[test]
fn isdk_118_functions_of_a_file_are_named_and_renamed() {
    let js = "export function one() { return 1 }\nexport const two = () => 2\nexport function three() { return 3 }\n";
    let ran = case("---\nimport:\n  - \"./lib/m.js\": [one, {two: zwei}]\n---\n$echo: \"?=$one() + $zwei()\"\n$set: {a: $one, b: \"$zwei\"}\n$echo: \"?=a + b\"\n").file("lib/m.js", js).run();
    assert_eq!(ran.value(), json!(3));
    let ran =
        case("---\nimport: {\"./lib/m.js\": [one]}\n---\n$three\n").file("lib/m.js", js).run();
    assert!(ran.error().contains("$three"), "{}", ran.error());
}

#[test]
fn isdk_119_functions_on_an_object() {
    let ran = case("---\nimport: {\"js:path\": aPath}\n---\n$aPath.basename('/x/y')\n$echo: \"?=LatestResult + $aPath.extname('a.b')\"\n").run();
    assert_eq!(ran.value(), json!("y.b"));
}

#[test]
fn isdk_120_an_imported_script_is_a_function_with_a_memory() {
    let ran = case("---\nimport: ./dobby.ai.yaml\n---\n\"$dobby.interact({message: 'hi'})\"\n$dobby.interact(message=\"again\")\n").file("dobby.ai.yaml", ELF).replies(&["one", "two"]).run();
    assert_eq!(ran.value(), json!("two"));
    assert_eq!(ran.sent(1)[1..], ["user: hi", "assistant: one", "user: again"]);
}

#[test]
fn isdk_122_an_import_does_not_replace_an_existing_name() {
    let ran = case("---\nimport: ./m.js\n---\n!fn |-\n  one() { return 'own' }\n$one\n")
        .file("m.js", "export function one() { return 'other' }")
        .run();
    assert_eq!(ran.value(), json!("own"));
}

#[test]
fn isdk_130_an_initialiser_receives_the_caller() {
    let js = "let seen = ''\nexport function $initializeExec(data, caller) { seen = data.w + caller.id }\nexport const state = () => seen";
    let ran = case("---\nimport: ./m.mjs\n---\n$state\n")
        .file("m.mjs", js)
        .args(json!({"w": "fig "}))
        .run();
    assert_eq!(ran.value(), json!("fig script"));
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
fn isdk_126_other_languages_are_reported_as_unsupported() {
    let ran = case("---\nimport: ruby-funcs.rb\n---\nuser: q\n").run();
    assert!(
        ran.error().contains("ruby-funcs.rb") && ran.error().contains(":2:"),
        "{}",
        ran.error()
    );
}

#[test]
fn isdk_127_without_an_export_a_script_exports_itself() {
    let ran =
        case("---\nimport: ./e.ai.yaml\n---\n$e: {content: a}\n").file("e.ai.yaml", ECHO).run();
    assert_eq!(ran.value(), json!("<a>"));
}

#[test]
fn isdk_128_exports_of_modules_and_of_itself() {
    let lib = "---\nexport:\n  - \"js:path\": [basename]\n  - \".\"\n  - ./e.ai.yaml\n---\n$echo: \"lib ran\"\n";
    let ran = case("---\nimport: ./lib.ai.yaml\n---\n$set: {a: \"$basename('/x/y')\", b: $lib}\n$e: {content: \"?=a + b\"}\n").file("lib.ai.yaml", lib).file("e.ai.yaml", ECHO).run();
    assert_eq!(ran.value(), json!("<ylib ran>"));
}

#[test]
fn isdk_129_an_exporting_script_runs_when_it_is_imported() {
    let lib =
        "---\nexport: [\"$get1\"]\nn: 0\n---\n$set: {n: 5}\n!fn |-\n  get1() { return this.n }\n";
    assert_eq!(
        case("---\nimport: ./lib.ai.yaml\n---\n$get1\n").file("lib.ai.yaml", lib).run().value(),
        json!(5)
    );
    let init = lib.replace("n: 0", "n: 0\n$initializeExec: !fn |-\n  init(data) { this.n = data.word }\nrunSelfBeforeInitializeExec: true");
    assert_eq!(
        case("---\nimport: ./lib.ai.yaml\nword: w\ninput: [word]\n---\n$get1\n")
            .file("lib.ai.yaml", &init)
            .run()
            .value(),
        json!("w")
    );
}

#[test]
fn isdk_113_a_package_exports_what_its_entry_says() {
    let entry = "---\nexport: [\"$hi\", \"./dobby.ai.yaml\"]\n---\n!fn |-\n  [js]hi() { return 'hi' }\n!fn |-\n  own() { return 1 }\n";
    let pack = |script: &str| {
        case(script)
            .file("pkg/pkg.ai.yaml", entry)
            .file("pkg/dobby.ai.yaml", "---\ninput: [content]\n---\n$echo: \"?='d' + content\"\n")
            .run()
    };
    let both =
        "---\nimport: ai:pkg\n---\n$set: {a: $hi, b: {$dobby: {content: x}}}\n$echo: \"?=a + b\"\n";
    assert_eq!(pack(both).value(), json!("hidx"));
    assert!(pack("---\nimport: ai:pkg\n---\n$own\n").error().contains("$own"));
}

#[test]
fn isdk_118_files_of_javascript_import_each_other() {
    let ran = case("---\nimport: ./a.mjs\n---\n$a\n")
        .file("a.mjs", "import { b, two as zwei } from './lib/b.mjs'\nimport path from 'path'\nimport old from './lib/old.cjs'\nimport { half } from './lib/old.cjs'\nexport function a() { return 'a' + b() + zwei + path.basename('/x/y') + old.half + half }")
        .file("lib/b.mjs", "import c from '../c.mjs'\nexport * from '../two.mjs'\nexport function b() { return 'b' + c }")
        .file("c.mjs", "export default 'c'")
        .file("two.mjs", "export const two = 2")
        .file("lib/old.cjs", "const deep = require('./deep')\nexports.half = deep.value / 2")
        .file("lib/deep.js", "exports.value = 8")
        .run();
    assert_eq!(ran.value(), json!("abc2y44"));
    let common = case("---\nimport: ./m.cjs\n---\n$twice(4)\n")
        .file("m.cjs", "const { by } = require('./lib/by')\nexports.twice = (n) => by(n, 2)")
        .file("lib/by.js", "exports.by = (n, m) => n * m")
        .run();
    assert_eq!(common.value(), json!(8));
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
fn isdk_138_a_model_that_never_answers_times_out() {
    let ran =
        case("---\nparameters: {timeout: 20}\n---\nuser: q\n").raw(json!([{"hangs": true}])).run();
    assert!(ran.error().contains("parameters.timeout"), "{}", ran.error());
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
fn isdk_143_the_event_of_a_request_can_be_turned_off() {
    let script = |head: &str| {
        case(&format!("---\n{head}\n---\n!fn |-\n  [js]f(e, messages) {{ console.log(messages.length) }}\n$on(llmRequest, f)\nuser: q\n"))
            .replies(&["a"])
            .run()
    };
    for head in ["disableLlmRequest: true", "parameters: {disableLlmRequest: true}"] {
        let ran = script(head);
        assert_eq!(
            (ran.calls(), ran.value(), ran.seen.printed.len()),
            (1, json!("a"), 0),
            "{head}"
        );
    }
    assert_eq!(script("title: t").seen.printed, [json!("1")]);
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
fn isdk_136_a_truncated_answer_is_continued() {
    let replies = json!([{"content": "one ", "finish_reason": "length"}, {"content": "two"}]);
    let unasked = case("user: q\n").raw(replies.clone()).run();
    assert_eq!((unasked.calls(), unasked.value()), (1, json!("one ")));
    let ran =
        case("---\nparameters: {continueOnLengthLimit: true}\n---\nuser: q\n").raw(replies).run();
    assert_eq!(ran.value(), json!("one two"));
    assert_eq!(ran.sent(1), ["user: q", "assistant: one"]);
}

#[test]
fn isdk_137_stream_of_the_parameters_wins() {
    let off = case("---\nllmStream: true\nparameters: {stream: false}\n---\nuser: q\n")
        .replies(&["a"])
        .run();
    assert_eq!((off.seen.deltas.as_str(), off.value()), ("", json!("a")));
    assert_eq!(case("---\nllmStream: false\n---\nuser: q\n").replies(&["a"]).run().seen.deltas, "");
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

#[test]
fn isdk_146_reasoning_is_requested() {
    let ran = case("---\nparameters: {shouldThink: first}\n---\nuser: q\n")
        .replies(&["<Think>a</Think><Answer>b</Answer>"])
        .run();
    assert!(ran.system(0).contains("<Think>"), "{}", ran.system(0));
    assert_eq!(ran.value(), json!("b"));
}

// ---- prefixes ----

#[test]
fn isdk_151_an_expression_that_begins_with_a_number_sign_is_rendered() {
    assert_eq!(
        case("---\nw: one\n---\n$echo: \"?='#' + '{{w}}!'\"\n").run().value(),
        json!("one!")
    );
    let ran = case(
        "---\nw: one\n---\nuser: \"?=w + 1\"\nuser: \"?='#{{w}}'\"\n$echo: \"?=unknown\"\n$AI\n",
    )
    .replies(&["r"])
    .run();
    assert_eq!(ran.sent(0), ["user: one1\n\none"]);
}

#[test]
fn isdk_152_messages_are_replaced() {
    let ran = case(
        "system: S\nuser: a\nassistant: b\nuser: c\n\"#:[0]S2\"\n\"#:[-2:user]b2\"\n\":[-1]c2\"\n",
    )
    .replies(&["r"])
    .run();
    assert_eq!(ran.sent(0), ["system: S2", "user: a\n\nb2\n\nc2"]);
}

#[test]
fn isdk_153_messages_are_inserted() {
    let ran = case("user: a\nassistant: b\n\"#+[0:system]S\"\n\"#+[1]first\"\n\"#+last\"\n")
        .replies(&["r"])
        .run();
    assert_eq!(ran.sent(0), ["system: S", "user: first\n\na", "assistant: b", "user: last"]);
}

#[test]
fn isdk_154_an_unknown_prefix_is_a_message() {
    let ran = case("\"#:[x y]z\"\n\"+1 from me\"\n\"$5 is the price\"\n").replies(&["r"]).run();
    assert_eq!(ran.sent(0), ["user: #:[x y]z\n\n+1 from me\n\n$5 is the price"]);
}

// ---- directives ----

#[test]
fn isdk_155_any_value_is_printed() {
    let ran = case(
        "---\nv: {a: 1}\n---\n$print: \"?=v\"\n$print: \"!{{v.a}} x\"\n$print(v.a)\n$print: 7\n",
    )
    .run();
    assert_eq!(ran.seen.printed, [json!({"a": 1}), json!("1 x"), json!(1), json!(7)]);
}

#[test]
fn isdk_157_ret_ends_the_script() {
    let ran =
        case("$print: a\n- $if: \"true\"\n  then:\n    - $ret: {x: 1}\n$print: never\n").run();
    assert_eq!((ran.value(), ran.seen.printed.len()), (json!({"x": 1}), 1));
}

#[test]
fn isdk_158_values_are_set_and_read_by_path() {
    let ran = case("$set: {u: {n: Ann}}\n$set: {\"u.age\": 7, list: [1, 2]}\n$set(z=\"?\")\n$get: [u.n, u.age, \"list[1]\", z, none]\n").run();
    assert_eq!(
        ran.value(),
        json!({"u.n": "Ann", "u.age": 7, "list[1]": 2, "z": "?", "none": null})
    );
    assert_eq!(case("$set: {x: 5}\n$get: x\n").run().value(), json!(5));
    assert_eq!(case("$set: {x: 5}\n$get(x)\n").run().value(), json!(5));
}

#[test]
fn isdk_160_conditions_are_expressions() {
    let script = "---\ninput: [n]\n---\n- $if: \"n > 2 && !other\"\n  then:\n    - $echo: big\n  else:\n    - $if: \"n\"\n      then: {$echo: small}\n      else: {$echo: none}\n";
    let value = |args: Value| case(script).args(args).run().value();
    assert_eq!(value(json!({"n": 3})), json!("big"));
    assert_eq!(value(json!({"n": 1})), json!("small"));
    assert_eq!(value(json!({})), json!("none"));
}

#[test]
fn a_condition_sees_the_reply_above_it() {
    let ran = case("user: ok?\nassistant: \"[[A]]\"\n- $if: \"A == 'yes'\"\n  then: {$echo: right}\n  else: {$echo: wrong}\n").replies(&["yes"]).run();
    assert_eq!(ran.value(), json!("right"));
}

#[test]
fn isdk_161_loops_iterate_over_counts_lists_maps_and_ranges() {
    let over = |items: &str| {
        let script = format!(
            "---\nlist: [a, b]\nmap: {{k: v}}\nacc: \"\"\n---\n- $for: {items}\n  do:\n    - $set: {{acc: \"?=acc + index + ':' + value + ' '\"}}\n$echo: \"?=acc\"\n"
        );
        case(&script).run().value()
    };
    assert_eq!(over("3"), json!("0:1 1:2 2:3 "));
    assert_eq!(over("list"), json!("0:a 1:b "));
    assert_eq!(over("\"?=list\""), json!("0:a 1:b "));
    assert_eq!(over("[x, y]"), json!("0:x 1:y "));
    assert_eq!(over("\"['x','y']\""), json!("0:x 1:y "));
    assert_eq!(over("map"), json!("k:v "));
    assert_eq!(over("\"2..<4\""), json!("0:2 1:3 "));
    assert_eq!(over("\"2>..4\""), json!("0:3 1:4 "));
    assert_eq!(over("{start: 1, end: 5, step: 2}"), json!("0:1 1:3 2:5 "));
}

#[test]
fn a_message_in_a_loop_keeps_the_value_of_its_turn() {
    let ran = case("- $for: [a, b]\n  as: it\n  do:\n    - user: \"item {{it}}\"\n    - $if: \"it == 'a'\"\n      then: [$continue]\n").replies(&["r"]).run();
    assert_eq!(ran.sent(0), ["user: item a\n\nitem b"]);
}

#[test]
fn isdk_162_handlers_are_added_and_removed() {
    let ran = case("---\non: [\"ping:$seen\"]\nn: 0\n---\n!fn |-\n  seen(event, by) { this.n = this.n + by }\n$emit: {event: ping, args: [1]}\n$on(ping, $seen)\n$emit(ping, 10)\n$off: ping\n$emit: {event: ping, args: [100]}\n- $once:\n    event: pong\n    callback: !fn |-\n      (event, by) { this.n += by }\n$emit: {event: pong, args: [1000]}\n$emit: {event: pong, args: [1000]}\n$echo: \"?=n\"\n").run();
    assert_eq!(ran.value(), json!(1021));
}

#[test]
fn isdk_163_ai_answers_at_its_position() {
    let ran = case("user: a\n$AI\nuser: b\n$AI: {max_tokens: 5}\n").replies(&["x", "y"]).run();
    assert_eq!(ran.sent(1), ["user: a", "assistant: x", "user: b"]);
    assert_eq!(ran.seen.calls[1].params.max_tokens, Some(5));
    assert_eq!(ran.calls(), 2);
}

#[test]
fn isdk_166_functions_are_called_in_every_form() {
    let ran = case("!fn |-\n  add(a, b) { return a + b }\n!fn |-\n  [js]async function obj({x, y}) { return x * y }\n!fn |-\n  now() { return 7 }\n$set: {r1: \"$add(1, 2)\", r2: {$obj: {x: 2, y: 3}}, r3: \"$obj(x=3, y=4)\", r4: $now}\n$get: [r1, r2, r3, r4]\n").run();
    assert_eq!(ran.value(), json!({"r1": 3, "r2": 6, "r3": 12, "r4": 7}));
}

#[test]
fn javascript_can_call_directives_and_scripts() {
    let ran = case("---\nimport: ./e.ai.yaml\n---\n!fn |-\n  async work() {\n    const a = await this.$e({content: 'x'})\n    await this.$print(a)\n    this.seen = a\n    return await this.$exec({id: 'e', args: {content: a}})\n  }\n$work\n$echo: \"?=seen + LatestResult\"\n").file("e.ai.yaml", ECHO).run();
    assert_eq!(ran.value(), json!("<x><<x>>"));
    assert_eq!(ran.seen.printed, [json!("<x>")]);
}

#[test]
fn isdk_167_match_break_throw_exit() {
    let script = "---\ninput: [v]\n---\n- $match: v\n  \":/^a(.)/i\": {$echo: letter}\n  \":1..5\": {$echo: few}\n  \":>5\": {$echo: many}\n  \":{k: '_'}\": {$echo: map}\n  \":_\": {$echo: \"?='else ' + COND__\"}\n";
    let value = |v: Value| case(script).args(json!({"v": v})).run().value();
    assert_eq!(value(json!("Abc")), json!("letter"));
    assert_eq!(value(json!(3)), json!("few"));
    assert_eq!(value(json!(9)), json!("many"));
    assert_eq!(value(json!({"k": 1})), json!("map"));
    assert_eq!(value(json!("zzz")), json!("else zzz"));
    let ran = case("$set: {n: 0}\n- $while: \"true\"\n  do:\n    - $set: {n: \"?=n+1\"}\n    - $if: \"n > 3\"\n      then: $break\n$echo: \"?=n\"\n").run();
    assert_eq!(ran.value(), json!(4));
    assert!(case("$throw: \"too bad\"\n").run().error().contains("too bad"));
    let ran = case("-> e\n$echo: never\n").file("e.ai.yaml", "$exit: out\n").run();
    assert_eq!(ran.value(), json!("out"));
}

#[test]
fn isdk_167_chats_are_saved_and_restored() {
    let ran = case("system: S\n---\nuser: one\nassistant: \"[[A]]\"\n$saveChats: talk\n---\n$loadChats: none\n$print: \"?=LatestResult\"\n$loadChats: talk\n$print: \"?=LatestResult\"\nuser: two\n")
        .replies(&["{{evil}} [[X]]", "end"])
        .run();
    assert_eq!(ran.seen.printed, [json!(0), json!(2)]);
    assert_eq!(ran.sent(1), ["system: S", "user: one", "assistant: {{evil}} [[X]]", "user: two"]);
}

#[test]
fn isdk_167_a_script_ends_its_own_call_of_the_model() {
    let ran = case("- $on:\n    event: llmStream\n    callback: !fn |-\n      (event, part, content) { if (content.includes('stop')) this.$abort() }\nuser: q\n")
        .raw(json!([{"chunks": ["a ", "stop ", "never"], "content": ""}]))
        .run();
    assert_eq!((ran.value(), ran.calls()), (json!("a stop "), 1));
}

#[test]
fn isdk_167_texts_are_measured() {
    let ran = case("$tokenize: \"Hello big 2024\"\n$print: \"?=LatestResult\"\n$countTokens: \"Hello big 2024\"\n").run();
    assert_eq!(ran.seen.printed, [json!(["Hello", " big", " ", "202", "4"])]);
    assert_eq!(ran.value(), json!(5));
}

#[test]
fn isdk_168_exec_runs_a_script() {
    let ran = case("$exec: {id: e, args: {content: a, x: 1}}\n").file("e.ai.yaml", ECHO).run();
    assert_eq!(ran.value(), json!("<a>1"));
}

#[test]
fn isdk_169_prompt_and_parameters_are_added_to() {
    let ran = case("---\nprompt: {a: 1}\n---\n$prompt: {b: 2}\n$parameters: {temperature: 0.4}\nuser: \"{{a}}{{b}}\"\n").replies(&["r"]).run();
    assert_eq!(ran.sent(0), ["user: 12"]);
    assert_eq!(ran.seen.calls[0].params.temperature, Some(0.4));
}

#[test]
fn isdk_170_an_error_names_its_position() {
    let ran = case("user: a\n\n$set: {x: 1}\n-> nothing\n").replies(&["r"]).run();
    assert!(
        ran.error().contains("script.ai.yaml:4:1") && ran.error().contains("`nothing`"),
        "{}",
        ran.error()
    );
}

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

#[test]
fn isdk_171_a_pack_belongs_to_the_script_unless_it_names_an_owner() {
    let ran = case("$remember: {id: k, value: {a: 1}}\n$remember(k2, \"two\", tbl=\"t\")\n$remember: {id: \"pack://k3?tbl=t&db=d\", value: three}\nuser: \"[[@file(pack://k2?tbl=t)]] [[@url('pack://k3?tbl=t&db=d')]]\"\n$readFile: pack://k\n$print: \"?=LatestResult.a\"\n")
        .replies(&["r"])
        .run();
    assert_eq!(ran.seen.printed, [json!(1)]);
    assert_eq!(ran.sent(0), ["user: two three"]);
    assert_eq!(ran.seen.steps.len(), 0);
    let none = case("user: \"[[@file(pack://nothing)]]\"\n").run();
    assert!(none.error().contains("pack://nothing"), "{}", none.error());
    assert!(case("$remember: x\n").run().error().contains("value"));
}

#[test]
fn isdk_176_keys_are_joined_to_the_object_above() {
    assert_eq!(
        case("$if: \"1 > 2\"\n|- then: {$echo: a}\n|- else: {$echo: b}\n").run().value(),
        json!("b")
    );
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
fn an_untrusted_script_can_only_send_messages() {
    let ran = case("---\nw: x\n---\nsystem: S\n---\nuser: \"{{w}}\"\nassistant: \"[[A]]\"\n")
        .replies(&["r"])
        .untrusted()
        .run();
    assert_eq!(ran.value(), json!("r"));
    for script in [
        "$print: x\n",
        "?=1+1 + process\n",
        "!fn |-\n  f() {}\nuser: q\n",
        "user: \"[[@file(x)]]\"\n",
        "-> summary\n",
        "---\nimport: js:path\n---\nuser: q\n",
        "user: \"?=nothing.x\"\n",
    ] {
        let ran = case(script).replies(&["r"]).untrusted().run();
        assert!(ran.error().contains("do not trust"), "{script}: {}", ran.error());
        assert_eq!(ran.seen.calls.len(), 0, "{script}");
    }
}

#[test]
fn the_built_in_scripts_are_valid() {
    for (id, _) in avocet::script::built_in::SCRIPTS {
        if !matches!(*id, "char" | "file" | "input" | "url" | "json" | "segment") {
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
fn a_forbidden_script_is_not_started_by_an_import_either() {
    let ran = case("---\npermissions: {ai: {call: [\"!lib\"]}, defaultAction: allow}\nimport: [./lib.ai.yaml]\n---\n$echo: 1\n")
        .file("lib.ai.yaml", "---\nexport: [\"$f\"]\n---\n!fn |-\n  [js]f() { return 1 }\n$print: RAN\n")
        .run();
    assert_eq!(ran.seen.printed, [] as [Value; 0]);
    assert!(ran.error().contains("MethodNotAllowed"), "{}", ran.error());
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

#[test]
fn misspelt_permissions_stop_a_call_and_are_reported() {
    let ran = case("---\npermissions: {ai: {cal: [\"!t\"]}, defaultAction: allow}\n---\n-> t\n")
        .file("t.ai.yaml", "$print: RAN\n")
        .run();
    assert_eq!(ran.seen.printed, [] as [Value; 0]);
    assert!(ran.error().contains("Did you mean `call`?"), "{}", ran.error());
    assert!(ran.seen.noted.iter().any(|note| note.contains("`cal`")), "{:?}", ran.seen.noted);
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

#[test]
fn a_model_is_told_which_argument_a_tool_does_not_have() {
    let script = "---\ntools: [at]\n---\nuser: q\n";
    let tool = "---\ntitle: the time\ninput: [{place: {required: true}}]\n---\n$echo: noon\n";
    let ran =
        case(script).file("at.ai.yaml", tool).replies(&["@at(plce=\"here\")", "I cannot"]).run();
    let sent = ran.sent(1).join(" ");
    assert!(sent.contains("`place`") && sent.contains("no argument `plce`"), "{sent}");
}
