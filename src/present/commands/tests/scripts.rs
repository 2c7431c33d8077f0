//! Scripts as commands, and the completion of `/run`.

use super::super::{CommandOutcome, complete};
use super::{CommandFixture, fixture};
use avocet_core::i18n::{Lang, commands as phrases};
use avocet_core::protocol::{
    CommandTraits, Extension, ExtensionKind, ExtensionState, Extensions, Op, ScriptDetails,
    ScriptInput, TurnOp, WhileBusy,
};

#[test]
fn scripts_are_completed_by_their_names_with_their_titles() {
    let details = ScriptDetails {
        name: "summary".into(),
        title: "Summarise a text".into(),
        ..ScriptDetails::default()
    };
    let desk = CommandFixture {
        extensions: Extensions {
            scripts: vec!["summary".into(), "super".into()],
            script_details: vec![details],
            ..Extensions::default()
        },
        ..fixture()
    };
    let found: Vec<_> = complete(&desk.call(), "/run su")
        .into_iter()
        .map(|found| (found.text, found.about.map(|about| about.text(Lang::En))))
        .collect();
    let titled = ("/run summary".to_owned(), Some("Summarise a text".to_owned()));
    assert_eq!(found, [titled, ("/run super".to_owned(), None)]);
}

#[test]
fn the_inputs_of_a_script_are_completed_after_its_name() {
    let input = |name: &str| ScriptInput { name: name.into(), ..ScriptInput::default() };
    let target = ScriptInput {
        choices: vec!["en".into(), "zh".into()],
        required: true,
        about: "the language".into(),
        ..input("target")
    };
    let details = ScriptDetails {
        name: "tr".into(),
        inputs: vec![
            ScriptInput { kind: "object".into(), ..input("content") },
            target,
            ScriptInput { kind: "boolean".into(), ..input("short") },
        ],
        ..ScriptDetails::default()
    };
    let desk = CommandFixture {
        extensions: Extensions {
            scripts: vec!["tr".into()],
            script_details: vec![details],
            ..Extensions::default()
        },
        ..fixture()
    };
    let about = |typed: &str| -> Vec<String> {
        let found = complete(&desk.call(), typed).into_iter();
        found.filter_map(|found| Some(found.about?.text(Lang::En))).collect()
    };
    assert_eq!(about("/run tr "), ["object", "en | zh (required): the language", "boolean"]);
    let after = |typed: &str| -> Vec<String> {
        complete(&desk.call(), typed).into_iter().map(|found| found.text).collect()
    };
    let first = ["/run tr {content: ", "/run tr {target: ", "/run tr {short: "];
    assert_eq!(after("/run tr "), first);
    assert_eq!(after("/run tr {ta"), ["/run tr {target: "]);
    assert_eq!(after("/run tr {content: \"x\",")[0], "/run tr {content: \"x\", target: ");
    assert_eq!(after("/run tr {content: \"x\", t"), ["/run tr {content: \"x\", target: "]);
    assert_eq!(after("/run tr {target: "), ["/run tr {target: en}", "/run tr {target: zh}"]);
    assert_eq!(after("/run tr {target:z"), ["/run tr {target: zh}"]);
    assert_eq!(after("/run tr {short: f"), ["/run tr {short: false, "]);
    for none in [
        "/run tr plain text",
        "/run tr {content: ",
        "/run tr {target: fr",
        "/run tr {content: \"a, t",
        "/run tr {content: 1, target: 2}",
        "/run other ",
    ] {
        assert_eq!(after(none), [] as [&str; 0], "{none}");
    }
}

/// A command that is a script with two inputs.
fn script_desk() -> CommandFixture {
    let input = |name: &str| ScriptInput { name: name.into(), ..ScriptInput::default() };
    let details = ScriptDetails {
        name: "tr".into(),
        inputs: vec![ScriptInput { required: true, ..input("text") }, input("lang")],
        ..ScriptDetails::default()
    };
    let entry = Extension {
        kind: ExtensionKind::Script,
        name: "tr".into(),
        about: "Translates".into(),
        hint: "{text: …, lang: …}".into(),
        from: phrases::SCRIPTS.into(),
        state: ExtensionState::Usable,
        traits: CommandTraits { busy: WhileBusy::Refuse, ..CommandTraits::default() },
    };
    let extensions =
        Extensions { entries: vec![entry], script_details: vec![details], ..Extensions::default() };
    CommandFixture { extensions, ..fixture() }
}

#[test]
fn a_script_of_a_folder_of_scripts_runs_by_its_name_with_its_inputs_completed() {
    let desk = script_desk();
    let texts = |line: &str| -> Vec<String> {
        complete(&desk.call(), line).into_iter().map(|found| found.text).collect()
    };
    assert_eq!(texts("/tr")[0], "/tr");
    assert_eq!(texts("/tr "), ["/tr {text: ", "/tr {lang: "]);
    assert_eq!(texts("/tr {text: 1, l"), ["/tr {text: 1, lang: "]);
    for (line, args) in [("/tr", ""), ("/tr {lang: zh}", "{lang: zh}"), ("/TR a b", "a b")] {
        let (script, args) = ("tr".to_owned(), args.to_owned());
        let op = Op::Turn(TurnOp::RunScript { script, args });
        assert_eq!(desk.dispatch_line(line), CommandOutcome::Send(op), "{line}");
    }
    let busy = CommandFixture { busy: true, ..desk };
    assert!(busy.notice_for("/tr x").contains("/tr"));
}
