//! Prompts of MCP servers beside the commands.

use super::extensions::{entry, invoked};
use super::*;

fn with_prompt() -> CommandFixture {
    let argument = |name: &str| CommandArgument { name: name.into(), ..CommandArgument::default() };
    let prompt = Extension {
        hint: "<file> [focus]".into(),
        traits: CommandTraits {
            aliases: vec!["mcp__hub__review".into()],
            arguments: vec![argument("file"), argument("focus")],
            ..CommandTraits::default()
        },
        ..entry(ExtensionKind::Prompt, "hub:review", "Reviews a file", ExtensionState::Usable)
    };
    let entries = vec![prompt];
    CommandFixture { extensions: Extensions { entries, ..Extensions::default() }, ..fixture() }
}

#[test]
fn a_prompt_of_a_server_runs_by_either_of_its_names() {
    let fixture = with_prompt();
    assert_eq!(fixture.dispatch_line("/hub:review a.rs"), invoked("hub:review", "a.rs"));
    assert_eq!(fixture.dispatch_line("/mcp__hub__review a.rs"), invoked("hub:review", "a.rs"));
    assert_eq!(
        fixture.dispatch_line("/other:review x"),
        invoked("other:review", "x"),
        "its server may not have started yet"
    );
}

#[test]
fn the_arguments_of_a_prompt_are_completed_by_name() {
    let fixture = with_prompt();
    assert_eq!(fixture.offers("/hub"), ["/hub:review"]);
    assert_eq!(fixture.offers("/hub:review "), ["/hub:review file=", "/hub:review focus="]);
    assert_eq!(fixture.offers("/hub:review file=a fo"), ["/hub:review file=a focus="]);
    assert_eq!(fixture.offers("/hub:review file=a focus=b "), Vec::<String>::new());
}

#[test]
fn the_values_of_an_argument_are_those_that_its_server_names() {
    let fixture = with_prompt();
    let typed =
        |line: &str| typed_argument(&fixture.call(), line).map(|it| (it.argument, it.typed));
    assert_eq!(typed("/mcp__hub__review file=a fo=x"), None);
    assert_eq!(typed("/hub:review file=a focus=sp"), Some(("focus".into(), "sp".into())));
    assert_eq!(typed("/hub:review file"), None);
    let of = typed_argument(&fixture.call(), "/mcp__hub__review focus=").unwrap();
    assert_eq!(of.prompt, "hub:review");
    let values = ["speed", "spelling of names", "safety"].map(str::to_owned).to_vec();
    let fixture = CommandFixture { values: Some(ArgumentValues { of, values }), ..fixture };
    assert_eq!(
        fixture.offers("/hub:review focus=sp"),
        ["/hub:review focus=speed", "/hub:review \"focus=spelling of names\""]
    );
    assert_eq!(fixture.offers("/hub:review file=s"), Vec::<String>::new(), "another argument");
}
