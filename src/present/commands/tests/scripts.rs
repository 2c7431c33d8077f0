//! The completion of `/run`.

use super::super::complete;
use super::{CommandFixture, fixture};
use avocet_core::i18n::Lang;
use avocet_core::protocol::{Extensions, ScriptDetails, ScriptInput};

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
        title: String::new(),
        inputs: vec![ScriptInput { kind: "object".into(), ..input("content") }, target],
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
    assert_eq!(about("/run tr "), ["object", "en | zh (required): the language"]);
    let after = |typed: &str| -> Vec<String> {
        complete(&desk.call(), typed).into_iter().map(|found| found.text).collect()
    };
    assert_eq!(after("/run tr "), ["/run tr {content: ", "/run tr {target: "]);
    assert_eq!(after("/run tr {ta"), ["/run tr {target: "]);
    assert_eq!(after("/run tr {content: \"x\","), ["/run tr {content: \"x\", target: "]);
    assert_eq!(after("/run tr {content: \"x\", t"), ["/run tr {content: \"x\", target: "]);
    assert_eq!(after("/run tr {target: "), ["/run tr {target: en", "/run tr {target: zh"]);
    assert_eq!(after("/run tr {target:z"), ["/run tr {target: zh"]);
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
