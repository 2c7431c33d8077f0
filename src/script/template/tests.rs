//! The three formats, their limits, and template functions.

use proptest::prelude::*;
use serde_json::json;

use super::limits::MAX_OUTPUT;
use super::*;

fn hf(text: &str, data: &Value) -> String {
    render(Format::Hf, text, data).unwrap()
}

fn go(text: &str, data: &Value) -> String {
    render(Format::Golang, text, data).unwrap()
}

fn render_error(format: Format, text: &str, data: &Value) -> String {
    render(format, text, data).unwrap_err().to_string()
}

/// ISDK-055: Jinja2 as HuggingFace uses it.
#[test]
fn isdk_055_blocks_are_trimmed_and_missing_values_print_nothing() {
    let text = "A\n{% if flag %}\nfoo\n{% endif %}\nbar\n{%- if flag %} z{% endif %}\n{{ list[0] }}{{ missing }}{{ missing.x }}|{{ \"a\" if flag else \"b\" }}";
    assert_eq!(hf(text, &json!({"flag": true, "list": [1, 2]})), "A\nfoo\nbar z1|a");
    assert_eq!(hf("{{ a }}\n", &json!({"a": 1})), "1\n");
}

#[test]
fn isdk_055_values_print_as_in_javascript_and_nothing_is_escaped() {
    let data = json!({"list": [1, 2], "map": {"a": [1]}, "yes": true, "none": null, "half": 0.5, "one": 1.0, "html": "<a & b>"});
    assert_eq!(
        hf("{{list}} {{map}} {{yes}} [{{none}}] {{half}} {{one}} {{html}}", &data),
        "1,2 {\"a\":[1]} true [] 0.5 1 <a & b>"
    );
    assert_eq!(hf("{{ map|tojson }} {{ html|tojson }}", &data), "{\"a\": [1]} \"<a & b>\"");
    assert_eq!(hf("{{ map|tojson(indent=1) }}", &json!({"map": {"a": 1}})), "{\n \"a\": 1\n}");
}

#[test]
fn isdk_055_python_methods_are_available() {
    let data = json!({"m": {"b": 1, "a": 2}, "s": " Ab c ", "l": ["x", "y"]});
    assert_eq!(hf("{% for k, v in m.items() %}{{k}}={{v}};{% endfor %}", &data), "b=1;a=2;");
    assert_eq!(
        hf(
            "{{ m.keys()|list|join('-') }} {{ m.values()|list }} {{ m.get('a') }} {{ m.get('z', 7) }}",
            &data
        ),
        "b-a 1,2 2 7"
    );
    assert_eq!(
        hf(
            "{{ s.strip().upper() }}|{{ s.split() }}|{{ 'a,b'.split(',')[1] }}|{{ s.lower().replace(' ', '_') }}",
            &data
        ),
        "AB C|Ab,c|b|_ab_c_"
    );
    assert_eq!(
        hf(
            "{{ 'abc'.startswith('a') }} {{ ', '.join(l) }} {{ l|join(', ') }} {{ 'a b'.title() }} {{ 'x1'.isdigit() }}",
            &data
        ),
        "true x, y x, y A B false"
    );
    assert_eq!(
        hf(
            "{{ s.strip()[:2] }}{{ l[-1] }} {{ 'a'|replace('a', 'b') }} {{ 'a\nb'|indent(2) }}",
            &data
        ),
        "Aby b a\n  b"
    );
}

#[test]
fn isdk_055_python_methods_split_find_and_take_off_ends() {
    let data = json!({"m": {"b": 1, "a": 2}, "l": ["x", "y"]});
    let cases = [
        ("{{ 'a,b,c'.rsplit(',', 1) }} {{ ' a  b '.rsplit() }}", "a,b,c a,b"),
        ("{{ 'a b c'.rsplit(' ', 1)[0] }} {{ 'a\nb'.splitlines()[1] }}", "a b b"),
        ("{{ 'abc'.find('c') }} {{ 'abc'.index('x') }} {{ 'aba'.count('a') }}", "2 -1 2"),
        ("{{ 'é1'.removeprefix('é') }} {{ 'a.b'.removesuffix('.b') }}", "1 a"),
        ("{{ 'aB'.capitalize() }} {{ 'ab'.islower() }} {{ ' '.isspace() }}", "Ab true true"),
        ("{{ 'xax'.strip('x') }}{{ 'xa'.lstrip('x') }}{{ 'a'.endswith(['b', 'a']) }}", "aatrue"),
        ("{{ l.append('z') }} {{ l.index('y') }} {{ l.count('x') }}", "x,y,z 1 1"),
        ("{{ m.keys()[1] }} {{ m.values()[0] }} {{ m.items()[0][1] }}", "a 1 1"),
    ];
    for (text, made) in cases {
        assert_eq!(hf(text, &data), made, "{text}");
    }
}

#[test]
fn isdk_055_a_chat_template_of_a_model_renders() {
    let text = "{% for m in messages %}{{ '<|' + m['role'] + '|>\\n' + m['content'].strip() + '</s>' }}{% endfor %}{% if add %}{{ '<|assistant|>' }}{% endif %}";
    let data = json!({"messages": [{"role": "user", "content": " hi "}, {"role": "assistant", "content": "yo"}], "add": true});
    assert_eq!(hf(text, &data), "<|user|>\nhi</s><|assistant|>\nyo</s><|assistant|>");
    let text = "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}";
    assert_eq!(hf(text, &data), "2");
    assert_eq!(hf("{% macro f(a, b=2) %}{{ a }}-{{ b }}{% endmacro %}{{ f(1) }}", &data), "1-2");
}

#[test]
fn three_braces_are_a_placeholder() {
    assert_eq!(
        hf("扮演{{{name}}。{{description}}", &json!({"name": "Dobby", "description": "d"})),
        "扮演Dobby。d"
    );
    assert_eq!(hf("{{{name}}}", &json!({"name": "Dobby"})), "Dobby");
}

#[test]
fn rendered_text_is_not_rendered_again() {
    let data = json!({"a": "{{ b }} {% raw %} {{", "b": "x"});
    for (format, text) in
        [(Format::Hf, "{{ a }}"), (Format::Golang, "{{ .a }}"), (Format::FString, "{a}")]
    {
        assert_eq!(render(format, text, &data).unwrap(), "{{ b }} {% raw %} {{");
    }
}

/// ISDK-125: functions of the script in templates.
#[test]
fn isdk_125_a_template_function_call_is_requested_and_its_result_used() {
    let mut functions = Functions::new(["shout".to_owned()]);
    let data = json!({"word": "ab"});
    for text in ["say {{word|shout}}", "say {{shout(word)}}"] {
        let call = TemplateCall { name: "shout".to_owned(), args: vec![json!("ab")] };
        functions.results.clear();
        assert_eq!(
            render_with(Format::Hf, text, &data, &functions).unwrap(),
            Rendered::NeedsCall(call.clone())
        );
        functions.add_result(call, json!("AB!"));
        assert_eq!(
            render_with(Format::Hf, text, &data, &functions).unwrap(),
            Rendered::Done("say AB!".to_owned())
        );
    }
    assert!(render_error(Format::Hf, "{{ word|other }}", &data).contains("other"));
}

#[test]
fn a_template_that_grows_or_loops_without_end_stops_with_an_error() {
    let data = json!({"s": "x".repeat(1000)});
    let doubling = "{% set s = s ~ s %}".repeat(40);
    for text in [
        "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
        doubling.as_str(),
        "{% set ns = namespace(s=s) %}{% for i in range(40) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
        "{% macro f(x) %}{{ f(x ~ x) }}{% endmacro %}{{ f('x') }}",
        "{{ s|replace('x', s)|replace('x', s) }}",
        "{{ range(100000)|join(s) }}",
        "{% set l = range(1000)|list %}{% set l = l * 1000 %}{{ l }}",
        "{{ s.replace('x', s).replace('x', s) }}",
        "{{ s.join(range(100000)) }}",
        "{{ '{:>999999999999}'.format(1) }}",
        "{{ 'a'|indent(99999999) }}{{ 'a\nb'|indent(99999999) }}",
    ] {
        let why = render_error(Format::Hf, text, &data);
        assert!(why.starts_with("The template"), "{why}");
    }
    assert!(
        render_error(Format::Hf, "{% for i in range(50000) %}{{ s }}{% endfor %}", &data)
            .contains("bytes of text")
    );
    assert!(
        render_error(Format::Golang, "{{range 5000000}}{{range 5000000}}{{end}}{{end}}", &data)
            .contains("exceeded the work limit")
    );
    assert!(
        render_error(Format::Golang, "{{range 100000}}{{$.s}}{{end}}", &data)
            .starts_with("The template")
    );
    assert!(
        render_error(Format::Hf, &format!("{{{{ {} }}}}", "(".repeat(100_000)), &data)
            .starts_with("The template")
    );
    assert!(
        render_error(Format::Golang, &format!("{{{{ {} }}}}", "(".repeat(100_000)), &data)
            .contains("deep")
    );
    assert!(render_error(Format::Golang, &"{{if 1}}".repeat(10_000), &data).contains("deep"));
}

#[test]
fn an_error_names_the_line_and_the_reason() {
    assert_eq!(
        render_error(Format::Hf, "a\n{% if %}", &json!({})).split(',').next(),
        Some("The template cannot be rendered")
    );
    assert!(render_error(Format::Hf, "a\n{{ x( }}", &json!({})).contains("line 2"));
    assert!(
        render_error(Format::Golang, "a\n{{ nope 1 }}", &json!({}))
            .contains("line 2: there is no function `nope`")
    );
    assert!(
        render_error(Format::Hf, "{{ raise_exception('no system role') }}", &json!({}))
            .contains("no system role")
    );
}

/// ISDK-056: Go templates.
#[test]
fn isdk_056_fields_blocks_and_pipes_of_go_render() {
    let data = json!({"name": "Bob", "n": 3, "list": ["a", "b"], "map": {"y": 2, "x": 1}, "msgs": [{"Role": "user", "Content": "hi"}]});
    let cases = [
        ("Hi {{.name}}", "Hi Bob"),
        ("{{.Name}} {{ $.name }} {{.nope.x}}", "Bob Bob "),
        ("a {{- .n -}} b", "a3b"),
        ("{{if eq .n 1}}one{{else if gt .n 2}}many{{else}}few{{end}}", "many"),
        ("{{if and .name (not .nope)}}y{{end}}{{if or .nope .zip}}n{{end}}", "y"),
        ("{{range $i, $v := .list}}{{$i}}{{$v}} {{end}}", "0a 1b "),
        (
            "{{range .list}}{{.}}{{$.n}}{{else}}none{{end}}{{range .nope}}x{{else}}none{{end}}",
            "a3b3none",
        ),
        ("{{range $k, $v := .map}}{{$k}}{{$v}}{{end}}", "x1y2"),
        ("{{with .map}}{{.x}}{{end}}{{with .nope}}x{{else}}y{{end}}", "1y"),
        ("{{$x := .n}}{{range .list}}{{$x = .}}{{end}}{{$x}}", "b"),
        ("{{len .list}} {{index .list 1}} {{index .map \"x\"}} {{slice .name 1 2}}", "2 b 1 o"),
        ("{{.name | printf \"%s-%03d|%5.1f|%q\" | print}}", "%!d(MISSING)"),
        ("{{printf \"%s-%03d|%5.1f|%q %%\" .name .n 2.25 \"a\"}}", "Bob-003|  2.2|\"a\" %"),
        ("{{range .msgs}}{{if eq .Role \"user\"}}<{{ .Content }}>{{ end }}{{end}}", "<hi>"),
        ("{{/* note }} */}}x{{ \"a}}b\" }}{{`r`}}", "xa}}br"),
        (
            "{{(index .msgs 0).Content}} {{.name | upper | lower}} {{ne 1 2 }} {{le 2 2}}",
            "hi bob true true",
        ),
        ("{{range .list}}{{if eq . \"b\"}}{{break}}{{end}}{{.}}{{end}}", "a"),
    ];
    for (text, made) in cases {
        if made.contains("MISSING") {
            assert!(go(text, &data).contains(made), "{text}");
        } else {
            assert_eq!(go(text, &data), made, "{text}");
        }
    }
    for text in [
        "{{",
        "{{end}}",
        "{{if .a}}",
        "{{.a b}}",
        "{{ | }}",
        "{{$x}}",
        "{{define \"a\"}}{{end}}",
        "{{(.a}}",
        "{{range 1.5}}{{else}}{{else}}{{end}}",
    ] {
        assert!(render(Format::Golang, text, &data).is_err(), "{text}");
    }
}

/// ISDK-057: format strings.
#[test]
fn isdk_057_names_in_braces_are_replaced_and_doubled_braces_become_single() {
    let data = json!({"name": "Bob", "a": {"b": [1, 2]}, "price": 2.5});
    let cases = [
        ("Hi {name}, {{x}} {a.b[1]} {a[b][0]}", "Hi Bob, {x} 2 1"),
        ("{\"json\": 1} { name } {return 1} {}", "{\"json\": 1} { name } {return 1} {}"),
        ("{price:.2f} [{name:>5}] {name!r} {missing}.", "2.50 [  Bob] 'Bob' ."),
        ("open { and } close", "open { and } close"),
    ];
    for (text, made) in cases {
        assert_eq!(render(Format::FString, text, &data).unwrap(), made, "{text}");
    }
}

#[test]
fn the_names_of_the_formats_are_known() {
    for (name, format) in [
        ("hf", Format::Hf),
        ("Ollama", Format::Golang),
        ("localai", Format::Golang),
        ("f-string", Format::FString),
        ("langchain", Format::FString),
    ] {
        assert_eq!(Format::parse(name), Some(format));
    }
    assert_eq!(Format::parse("mustache"), None);
}

proptest! {
    #[test]
    fn any_template_ends(
        text in "[{}%#$.|()\\-=:~+*\"'a-c0-3 \n]{0,60}",
        words in prop::collection::vec(prop::sample::select(vec![
            "{{", "}}", "{%", "%}", "if", "for", "in", "range", "end", "endif", "endfor", "else", "set", "with", " ", ".", "$x", ":=", "a", "b", "|", "(", ")", "\"", "raw", "endraw", "macro f(a)",
        ]), 0..24),
    ) {
        let data = json!({"a": [1, {"b": "x"}], "b": "y"});
        for text in [text, words.concat(), words.join(" ")] {
            for format in [Format::Hf, Format::Golang, Format::FString] {
                if let Ok(made) = render(format, &text, &data) {
                    prop_assert!(made.len() <= MAX_OUTPUT);
                }
            }
        }
    }
}

#[test]
fn every_filter_that_the_help_lists_exists() {
    for name in FILTERS {
        let came = render(Format::Hf, &format!("{{{{ 'x' | {name} }}}}"), &json!({}));
        let why = came.err().map(|why| why.to_string()).unwrap_or_default();
        assert!(!why.contains("is unknown"), "{name}: {why}");
    }
    assert!(render_error(Format::Hf, "{{ 'x' | nosuch }}", &json!({})).contains("is unknown"));
}
