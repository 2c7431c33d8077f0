use super::*;
use avocet_core::protocol::{ToolCall, ToolResult};

const ROOM: ContextSize = ContextSize { bytes: 40_000, tokens: 10_000 };

/// A turn of steps with results of 2,000 bytes, in the dialect of tools.
fn turn(steps: usize) -> (Vec<Message>, TurnIndex) {
    let (mut messages, mut index) = (vec![Message::user("first words")], TurnIndex::default());
    for step in 0..steps {
        let call = ToolCall {
            id: format!("call_{step}"),
            name: "exec".into(),
            arguments: "{}".into(),
            opaque: None,
        };
        let blocks = vec![ContentBlock::ToolCall(call)];
        messages.push(Message { role: Role::Assistant, blocks });
        let content = format!("{step:04} ").repeat(400);
        let result = ToolResult {
            call: format!("call_{step}"),
            name: "exec".into(),
            content,
            is_error: false,
        };
        let (id, line) = (format!("cmd_{step:03}"), format!("look at {step}"));
        index.steps.push(StepResultLocation { message: messages.len(), block: Some(0), id, line });
        let blocks = vec![ContentBlock::ToolResult(result)];
        messages.push(Message { role: Role::User, blocks });
    }
    (messages, index)
}

fn text(messages: &[Message]) -> String {
    let mut all = messages.to_vec();
    all.iter_mut().for_each(Message::flatten);
    all.iter().map(|message| message.text().into_owned() + "\n").collect()
}

#[test]
fn old_results_are_shortened_and_name_their_step() {
    let (messages, index) = turn(20);
    let whole = TurnCompaction::new(ROOM);
    assert_eq!(whole.view(&messages), messages);
    let plan = whole.plan(&messages, &index, ROOM).expect("there are steps");
    assert!(plan.fits && plan.summed.is_none());
    let view = plan.shortened.view(&messages);
    assert_eq!(view.len(), messages.len());
    assert!(text(&view).contains("`recall` cmd_000 returns the rest"));
    assert_eq!(view.last(), messages.last());
    let lost: usize = plan.parts.iter().map(|part| part.bytes).sum();
    let bytes = |messages: &[Message]| messages.iter().map(Message::len).sum::<usize>();
    assert_eq!(lost, bytes(&messages) - bytes(&view), "the receipt tells every byte");
    let again = plan.shortened.plan(&messages, &index, ROOM).expect("there are steps");
    assert_eq!((again.parts, again.shortened), (Vec::new(), plan.shortened));
}

#[test]
fn many_shortened_steps_are_left_out_with_a_note() {
    let (messages, index) = turn(60);
    let plan = TurnCompaction::new(ROOM).plan(&messages, &index, ROOM).expect("there are steps");
    let range = plan.summed.expect("they are many");
    let mut next = plan.shortened;
    let summary = Summary { summary: "Looked around.".into(), ..Summary::default() };
    let parts = next.leave_out(range.clone(), Some(summary), &messages, &index);
    next.write_note(&messages, &index, "Your plan, what is open of it:\n- mend it");
    assert_eq!(parts.len(), range.len() / 2);
    assert!(parts.iter().all(|part| part.bytes == 2_000), "what it was before it was shortened");
    let view = text(&next.view(&messages));
    assert!(view.starts_with("first words\n\n[") && view.contains("cmd_000 to cmd_"), "{view}");
    assert!(view.contains("Looked around.") && view.contains("- mend it"));
}

#[test]
fn without_a_summary_the_last_steps_are_listed_until_there_is_one() {
    let (messages, index) = turn(120);
    let mut compaction = TurnCompaction::new(ROOM);
    compaction.leave_out(1..101, None, &messages, &index);
    compaction.write_note(&messages, &index, "");
    let view = text(&compaction.view(&messages));
    assert!(view.contains("cmd_049: look at 49") && !view.contains("cmd_009: look at 9"));
    let asked = compaction.transcript(101..121, &messages, &index).join("\n");
    assert!(asked.contains("cmd_049: look at 49") && asked.contains("[cmd_050]"), "{asked}");
    assert!(asked.starts_with("person: first words"));
    let summary = Summary { summary: "All of it.".into(), ..Summary::default() };
    compaction.leave_out(101..121, Some(summary), &messages, &index);
    compaction.write_note(&messages, &index, "");
    assert!(!text(&compaction.view(&messages)).contains("cmd_049: look at 49"));
}

#[test]
fn the_words_beside_results_are_never_shortened() {
    let line = |id: &str| {
        json!({ "_event": "tool_result", "id": id, "stdoutTail": "out ".repeat(500),
            "parsed": { "kind": "files", "total": 90, "items": vec!["a long name"; 90] } })
        .to_string()
    };
    let words = "and the tests, ".repeat(60);
    let results = format!("{}\n{}\n\n{words}", line("cmd_001"), line("cmd_002"));
    let messages = [Message::user("do"), Message::assistant("{}"), Message::user(results)];
    let mut compaction = TurnCompaction::new(ROOM);
    compaction.shorten(2, RESULT, &TurnIndex::default());
    let view = compaction.view(&messages);
    let short = view[2].text();
    assert!(short.len() < words.len() + 800 && short.ends_with(&words), "{short}");
    let first: Value =
        serde_json::from_str(short.lines().next().unwrap_or_default()).expect("JSON");
    assert_eq!((&first["id"], &first["truncated"]), (&json!("cmd_001"), &json!(true)));
    assert_eq!(first["parsed"]["total"], 90);
}

#[test]
fn only_words_that_take_more_than_half_of_the_room_are_cut() {
    let half = "word ".repeat(3_900);
    let compaction = TurnCompaction::new(ROOM);
    let fits = [Message::user(half.as_str())];
    assert_eq!((compaction.view(&fits), compaction.omitted_words(&fits)), (fits.to_vec(), 0));
    let long = [Message::user(half.repeat(3))];
    let sent = compaction.view(&long);
    assert!(message_size(&sent[0]).fits(longest_words(ROOM)));
    assert_eq!(compaction.omitted_words(&long), long[0].len() - sent[0].len());
}
