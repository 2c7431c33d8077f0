//! What `script check` finds: slips that a run passes over in silence, or only reaches late. Each row is
//! a script beside a few others, and a part of the sentence about it; a `!` in front says that it is a
//! warning.

use std::fs;
use std::sync::Arc;

use avocet::script::check::{ScriptFaultSeverity, check, severity};
use avocet::script::source::ScriptLibrary;
use avocet::script::{LocatedError, built_in};

use crate::script_replay::Disk;

const BESIDE: &[(&str, &str)] = &[
    (
        "weather.ai.yaml",
        "---\ntitle: w\ninput: [{location: {required: true}}, {date: {default: today}}]\n---\n$echo: \"#{{location}} {{date}}\"\n",
    ),
    ("char-dobby.ai.yaml", "---\ntype: char\nname: Dobby\ndescription: elf\n---\n---\n"),
    ("kind.ai.yaml", "---\ntype: type\n---\nsystem: \"You are {{name}}.\"\n"),
    ("m.js", "exports.f = (x) => x\n"),
];

/// The head of a script, or its body, and what is said of it.
#[rustfmt::skip]
const HEADS: &[(&str, &str)] = &[
    ("inputs: [a]", "`input`"),
    ("input: [{hi: {requird: true}}]", "`required`"),
    ("input: [{hi: {type: strng}}]", "`string`"),
    ("input: [{hi: {enum: [x, y], default: z}}]", "`z`"),
    ("input: [{hi: {type: number, default: abc}}]", "`abc`"),
    ("input: [{hi: {required: true, hidden: true}}]", "!`hi` is required, so `hidden`"),
    ("input: [{hi: {index: 0}}, {q: {index: 0}}]", "same index"),
    ("input: [hi, other]", "!Nothing reads the input `other`"),
    ("parameters: {temprature: 0.5}", "`temperature`"),
    ("parameters: {max_tokens: many}", "`many`"),
    ("parameters: {response_format: {type: jsn}}", "`json`"),
    ("output: {type: objct}", "`objct`"),
    ("output: {type: object, properties: {a: {type: string, descripton: x}}}", "`description`"),
    ("output: {type: array, items: {type: object, propertis: {}}}", "`properties`"),
    ("output: {type: object, properties: {name: {type: string}}, required: [nme]}", "`nme`"),
    ("tools: [wether]", "`weather`"),
    ("tools: {weather: {defalts: {}}}", "`defaults`"),
    ("tools: {weather: {defaults: {locaton: x}}}", "`location`"),
    ("tools: [{id: weather, defaults: {zone: x}}]", "!`weather` has no input `zone`"),
    ("tools: {weather: {trigger: AfterUserMesage}}", "`AfterUserMessage`"),
    ("run_mode: paralel", "`parallel`"),
    ("permissions: {ai: {cal: []}}", "`call`"),
    ("permissions: {defaultAction: alow}", "`allow`"),
    ("shouldThink: frist", "`first`"),
    ("templateFormat: golng", "`templateFormat: golng`"),
    ("formatStringStrategy: raww", "one of: Raw"),
    ("prompt: {mesages: [x]}", "`messages`"),
    ("roles: {dobby: char-doby}", "`char-dobby`"),
    ("import: [{m.js: [g]}]", "`g`"),
    ("export: [$nosuch]", "`$nosuch`"),
];

#[rustfmt::skip]
const BODIES: &[(&str, &str)] = &[
    ("$sett: {a: 1}", "`$set`"),
    ("- $if: \"1\"\n  thn: {$print: a}", "`then`"),
    ("- $for: 3\n  as: {valu: x}\n  do: {$print: \"?=x\"}", "`value`"),
    ("user: x\nassistant: \"[[K:|a|b]]\"\n- $if: \"K = 'a'\"\n  then: {$print: a}", "!sets `K`"),
    ("user: x\n$AI: {temprature: 1}", "`temperature`"),
    ("user: x\nassistant: \"[[F:|a|b:randm]]\"", "`random`"),
    ("user: x\nassistant: \"[[Answer]]\"\nuser: \"[[/a/:Anser]]\"", "`Answer`"),
    ("user: \"[[@wether(1)]]\"", "`weather`"),
    ("$ret: 1\n$print: 2", "!Nothing below `$ret`"),
    ("$throw: no\n$print: 2", "!Nothing below `$throw`"),
    ("- $for: 3\n  do: [$break, {$print: never}]", "!Nothing below `$break`"),
    ("$set: {n: 1}\n$print: \"n {{n}}\"", "!`#`"),
    ("$exec: {program: ls, arg: [x]}", "`args`"),
    ("$agent: {task: x, tool: [exec]}", "`tools`"),
    ("$agent: {task: x, mode: pln}", "`plan`"),
    ("- $try: {$print: a}\n  retry: many", "`retry`"),
    ("- $try: {$throw: a}\n  cath: {$print: b}", "`catch`"),
    ("$on: {event: llmStrem, callback: $f}\n!fn |-\n  f() {}", "`llmStream`"),
    ("user: {{content}}", "uote"),
    ("assistant: [[AI]]", "uote"),
];

fn faults(script: &str) -> Vec<LocatedError> {
    let folder = crate::support::temp_dir();
    for (name, text) in BESIDE.iter().chain(&[("script.ai.yaml", script)]) {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let library =
        ScriptLibrary::new(Arc::new(Disk { trusted: true }), Vec::new(), built_in::SCRIPTS);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match library.find("script.ai.yaml", folder.path()) {
        Ok(source) => runtime.block_on(check(source, &library)).1,
        Err(unreadable) => vec![unreadable],
    }
}

#[test]
fn slips_that_a_run_passes_over_are_found_with_their_severity() {
    let heads = HEADS
        .iter()
        .map(|(head, said)| (format!("---\n{head}\n---\nuser: \"{{{{hi}}}}\"\n"), said));
    let bodies = BODIES.iter().map(|(body, said)| (format!("{body}\n"), said));
    let missed: Vec<String> = heads
        .chain(bodies)
        .filter_map(|(script, said)| {
            let (part, wanted) = match said.strip_prefix('!') {
                Some(part) => (part, ScriptFaultSeverity::Warning),
                None => (*said, ScriptFaultSeverity::Error),
            };
            let found = faults(&script);
            let fits = |fault: &LocatedError| {
                fault.to_string().contains(part) && severity(fault) == wanted
            };
            let all: Vec<String> = found.iter().map(ToString::to_string).collect();
            (!found.iter().any(fits)).then(|| format!("{script}   {said}: {all:?}"))
        })
        .collect();
    assert!(missed.is_empty(), "{} of them:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn no_function_of_templates_is_proposed_for_a_variable() {
    let said: Vec<String> =
        faults("---\ntype: kind\n---\nuser: q\n").iter().map(ToString::to_string).collect();
    assert!(!said.join("\n").contains("namespace"), "{said:?}");
    let said = faults("user: \"{{name}}\"\n");
    assert!(said.iter().all(|fault| severity(fault) == ScriptFaultSeverity::Warning), "{said:?}");
}
