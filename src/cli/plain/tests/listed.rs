//! The commands that are listed without a screen: each of them works.

use super::*;

/// What the arguments of a command are in this test; the others need none.
fn arguments(name: &str) -> &'static str {
    match name {
        "steer" | "rename" | "btw" => " words",
        "recall" | "output" => " 1",
        "mode" => " ask",
        "lang" => " en",
        "run" => " nosuch",
        _ => "",
    }
}

#[test]
fn every_command_that_the_help_lists_works_in_plain_mode() {
    let surface = commands::Surface::Plain;
    let listed = commands::by_category(surface).into_iter().flat_map(|(_, commands)| commands);
    let names: Vec<&str> = listed.map(|command| command.name).collect();
    assert!(names.len() > 30, "{names:?}");
    for name in &names {
        let mut linear = linear();
        linear.on_event(started());
        linear.on_event(ended());
        let effects = linear.on_line(&format!("/{name}{}", arguments(name)));
        let does = |effect: &PlainEffect| match effect {
            PlainEffect::Send(_) | PlainEffect::Page(_) | PlainEffect::End(_) => true,
            PlainEffect::Notice(notice) => notice.say != w::NEEDS_SCREEN.into(),
            PlainEffect::Line(_) | PlainEffect::Prompt => false,
        };
        // The language of the sentences is the only change without a sentence of its own.
        assert!(*name == "lang" || effects.iter().any(does), "/{name}: {effects:?}");
        let errors: Vec<_> = effects
            .iter()
            .filter(|effect| {
                matches!(effect, PlainEffect::Notice(Notice { level: NoticeLevel::Error, .. }))
            })
            .collect();
        assert!(errors.is_empty(), "/{name}: {errors:?}");
    }
    let on_screen_only = ["vim", "timestamps", "copy", "search", "raw", "keys"];
    assert!(on_screen_only.iter().all(|name| !names.contains(name)), "{names:?}");
    for name in on_screen_only {
        let said = written(&linear().on_line(&format!("/{name}")));
        assert!(said[0].contains("not available here"), "{said:?}");
    }
}

#[test]
fn help_lists_aliases_and_a_slash_or_a_question_mark_alone_is_help() {
    for line in ["/", "?", "/?", "/help"] {
        let effects = linear().on_line(line);
        let [PlainEffect::Page(page), PlainEffect::Prompt] = &effects[..] else {
            panic!("{line}: {effects:?}")
        };
        let rows = format!("{:?}", page.rows);
        assert!(rows.contains("/quit, /q") && !rows.contains("/vim"), "{rows}");
    }
}

#[test]
fn rewind_without_a_number_lists_the_turns_to_go_back_to() {
    let mut linear = linear();
    assert!(written(&linear.on_line("/rewind"))[0].contains("nothing to rewind"));
    for (turn, text) in [(1, "one"), (2, "two\nlines"), (3, "three")] {
        let origin = TurnOrigin::Typed;
        linear.on_event(Event::TurnStarted { turn, text: text.into(), origin, submit: None });
        linear.on_event(ended());
    }
    linear.on_event(Event::Rewound {
        turn: 3,
        text: "three".into(),
        what: avocet_core::protocol::Rewind::Chat,
    });
    linear.facts.turns = 2;
    let effects = linear.on_line("/rewind");
    let PlainEffect::Page(page) = &effects[0] else { panic!("{effects:?}") };
    let expected = [PageRow::pair("/rewind 1", "two lines"), PageRow::pair("/rewind 2", "one")];
    assert_eq!(page.rows[..2], expected);
}
