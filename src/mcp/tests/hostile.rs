//! Servers that fail: each costs one sentence, and nothing waits for them.

use super::*;

#[tokio::test]
async fn a_program_that_cannot_be_started_is_not_tried_again() {
    let missing = StdioServer { command: "missing".to_owned(), ..StdioServer::default() };
    let definition = definition(ServerTransport::Stdio(missing));
    let mut client = start_with(definition, no_keys(), Arc::new(|_| async {}.boxed()));
    let McpEvent::Failed { error, retry_after: None } = client.next().await else { panic!() };
    assert!(error.to_string().starts_with("It cannot be reached: "), "{error}");
    client.call(1);
    assert_eq!(client.answered().await, (1, Err(McpError::NotRunning)));
}

#[tokio::test]
async fn a_server_that_says_nothing_at_its_start_is_given_up_and_ended() {
    let start_timeout = Duration::from_millis(50);
    let definition =
        ServerDefinition { start_timeout, ..definition(ServerTransport::Stdio(fake())) };
    let mut client = start_within(definition, |server| async move {
        let _silent = server;
        std::future::pending::<()>().await;
    });
    let error = McpError::StartTimeout { seconds: 0 };
    assert_eq!(client.next().await, McpEvent::Failed { error, retry_after: None });
    assert_eq!(client.ended.recv().await, Some(0));
}

#[tokio::test]
async fn a_call_that_is_never_answered_ends_by_itself() {
    let definition = with_call_timeout(Duration::from_millis(50));
    let mut client = start_within(definition, |mut server| async move {
        server.call().await;
        server.until("tools/call").await;
    });
    client.started().await;
    client.call(1);
    assert_eq!(client.answered().await, (1, Err(McpError::CallTimeout { seconds: 0 })));
}

#[tokio::test]
async fn progress_without_end_does_not_hold_a_call_for_ever() {
    let definition = with_call_timeout(Duration::from_millis(50));
    let mut client = start_within(definition, |mut server| async move {
        let call = server.call().await;
        let token = call["params"]["_meta"]["progressToken"].clone();
        loop {
            tokio::time::sleep(Duration::from_millis(5)).await;
            let params = json!({"progressToken": token, "progress": 1});
            let told =
                json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
            server.send(told).await;
        }
    });
    client.started().await;
    client.call(1);
    let error = loop {
        match client.next().await {
            McpEvent::Progress { .. } => {}
            McpEvent::Answered { result, .. } => break result.unwrap_err(),
            event => panic!("{event:?}"),
        }
    };
    assert_eq!(error, McpError::CallTimeout { seconds: 0 });
}

#[tokio::test]
async fn second_answers_unknown_ids_and_garbage_are_passed_over() {
    let mut client = start(|mut server| async move {
        server.write("Starting...\n\n{\"half\": \nnull\n[]\n\u{1b}[31m\n").await;
        let call = server.call().await;
        server.write("not json\n{\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{}}\n").await;
        server.answer(&call, text("first")).await;
        server.answer(&call, text("second")).await;
        let next = server.call().await;
        server.answer(&next, text("third")).await;
        server.until("never").await;
    });
    client.started().await;
    client.call(1);
    assert_eq!(client.answered().await, (1, Ok("first".to_owned())));
    client.call(2);
    assert_eq!(client.answered().await, (2, Ok("third".to_owned())));
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_told_with_its_last_line_and_started_again() {
    let mut client = start(|mut server| async move {
        let call = server.call().await;
        if server.starts == 0 {
            server.complain("first\nError: \u{1b}[31mboom\n\n").await;
            // Half a message.
            server.write("{\"jsonrpc\":\"2.0\",\"id\":").await;
            return;
        }
        server.answer(&call, text("again")).await;
        server.until("never").await;
    });
    client.started().await;
    client.call(1);
    let error = McpError::Ended { last_line: "Error: boom".to_owned() };
    assert_eq!(client.answered().await, (1, Err(error.clone())));
    let retry_after = Some(Duration::from_secs(1));
    assert_eq!(client.next().await, McpEvent::Failed { error, retry_after });
    client.call(2);
    assert_eq!(client.answered().await, (2, Err(McpError::NotRunning)));
    client.started().await;
    client.call(3);
    assert_eq!(client.answered().await, (3, Ok("again".to_owned())));
}

#[tokio::test]
async fn a_server_of_the_project_whose_script_has_changed_is_not_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("server.js");
    std::fs::write(&script, "one").unwrap();
    let args = vec!["server.js".to_owned()];
    let mut definition = definition(ServerTransport::Stdio(StdioServer { args, ..fake() }));
    definition.origin.is_from_repository = true;
    let play: Play = Arc::new(|mut server: FakeServer| {
        async move {
            server.call().await;
        }
        .boxed()
    });
    let mut client = start_in(folder.path().to_owned(), definition, no_keys(), play);
    for content in ["one", "two"] {
        client.started().await;
        std::fs::write(&script, content).unwrap();
        client.call(1);
        assert!(matches!(client.answered().await, (1, Err(McpError::Ended { .. }))));
        assert!(matches!(client.next().await, McpEvent::Failed { retry_after: Some(_), .. }));
    }
    let error = McpError::Changed { name: "fake".to_owned() };
    assert_eq!(client.next().await, McpEvent::Failed { error, retry_after: None });
}

#[tokio::test]
async fn a_flood_ends_the_server_and_nothing_else() {
    let mut client = start(|mut server| async move {
        server.call().await;
        let part = "x".repeat(1 << 20);
        for _ in 0..100 {
            server.write(&part).await;
        }
        std::future::pending::<()>().await;
    });
    client.started().await;
    client.call(1);
    let (id, result) = client.answered().await;
    assert!(id == 1 && matches!(result, Err(McpError::Flooded { .. })), "{result:?}");
    assert!(matches!(client.next().await, McpEvent::Failed { retry_after: None, .. }));
    assert_eq!(client.ended.recv().await, Some(0));
}

#[tokio::test]
async fn a_flood_of_log_lines_is_lost_and_not_waited_for() {
    let mut client = start(|mut server| async move {
        let call = server.call().await;
        for number in 0..2000 {
            server.complain(&format!("line {number}\n")).await;
            let params = json!({"level": "info", "data": "x\u{1b}]0;t\u{7}"});
            let line =
                json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
            server.send(line).await;
        }
        server.answer(&call, text("done")).await;
        server.until("never").await;
    });
    client.started().await;
    client.call(1);
    let mut lines = Vec::new();
    let answer = loop {
        match client.event().await {
            McpEvent::Logged(line) => lines.push(line),
            McpEvent::Answered { result, .. } => break result,
            event => panic!("{event:?}"),
        }
    };
    assert!(answer.is_ok());
    assert!(!lines.is_empty() && lines.iter().all(|line| !line.contains(char::is_control)));
}

#[tokio::test]
async fn a_list_that_changes_in_a_call_is_read_again_and_the_call_goes_on() {
    let mut client = start(|mut server| async move {
        let call = server.call().await;
        server.tools = json!([{"name": "other"}, {"name": 7}, "no tool"]);
        let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
        for _ in 0..100 {
            server.send(changed.clone()).await;
        }
        let list = server.until("tools/list").await.unwrap();
        let tools = server.tools.clone();
        server.answer(&list, json!({"tools": tools})).await;
        let prompts = server.until("prompts/list").await.unwrap();
        server.answer(&prompts, json!("no list")).await;
        let resources = server.until("resources/list").await.unwrap();
        server.answer(&resources, json!({"resources": null})).await;
        server.answer(&call, text("went on")).await;
        server.until("never").await;
    });
    client.started().await;
    client.call(1);
    let mut changed = None;
    let mut answered = None;
    while changed.is_none() || answered.is_none() {
        match client.next().await {
            McpEvent::Changed(facts) => changed = Some(facts),
            McpEvent::Answered { result, .. } => answered = Some(result),
            event => panic!("{event:?}"),
        }
    }
    let facts = changed.unwrap();
    let names: Vec<&str> = facts.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!((names, facts.prompts.len()), (vec!["other"], 0));
}

#[tokio::test]
async fn changes_without_end_are_followed_ever_more_seldom() {
    let mut client = start(|mut server| async move {
        let mut number = 0;
        loop {
            number += 1;
            let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            server.send(changed).await;
            server.tools = json!([{"name": format!("tool{number}")}]);
            let next = server.until("never");
            let _ = tokio::time::timeout(Duration::from_millis(10), next).await;
        }
    });
    client.started().await;
    let end = tokio::time::Instant::now() + Duration::from_secs(2);
    let mut changes = 0;
    while let Ok(event) = tokio::time::timeout_at(end, client.next()).await {
        assert!(matches!(event, McpEvent::Changed(_)), "{event:?}");
        changes += 1;
    }
    assert!((1..=4).contains(&changes), "{changes}");
}

#[tokio::test]
async fn pages_without_end_are_read_to_a_limit() {
    let mut client = start(|mut server| async move {
        while let Some(list) = server.until("tools/list").await {
            let tools: Vec<Value> = (0..20).map(|n| json!({"name": format!("t{n}")})).collect();
            server.answer(&list, json!({"tools": tools, "nextCursor": "more"})).await;
        }
    });
    let facts = client.started().await;
    assert_eq!(facts.tools.len(), 500);
}

#[tokio::test]
async fn too_many_questions_are_declined_and_those_of_a_dead_server_withdrawn() {
    let mut client = start(|mut server| async move {
        server.call().await;
        for id in 0..20 {
            let params = json!({"mode": "form", "message": "Q", "requestedSchema":
                {"type": "object", "properties": {}}});
            let ask = json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params});
            server.send(ask).await;
        }
        for _ in 0..16 {
            let declined = server.receive().await.unwrap();
            assert_eq!(declined["result"]["action"], "decline");
        }
    });
    client.started().await;
    client.call(1);
    let mut questions = Vec::new();
    loop {
        match client.next().await {
            McpEvent::Asked(question) => questions.push(question.id),
            McpEvent::Withdrawn(id) => questions.retain(|question| *question != id),
            McpEvent::Answered { .. } => break,
            event => panic!("{event:?}"),
        }
    }
    assert!(questions.is_empty());
}

#[tokio::test]
async fn what_a_server_refuses_is_told_in_its_own_words_without_its_colours() {
    let mut client = start(|mut server| async move {
        let call = server.call().await;
        let error = json!({"code": -32000, "message": "no\u{1b}[31m such\nthing", "data": [1]});
        server.send(json!({"jsonrpc": "2.0", "id": call["id"], "error": error})).await;
        let sampling = json!({"jsonrpc": "2.0", "id": 5, "method": "sampling/createMessage",
            "params": {"messages": [], "maxTokens": 1}});
        let call = server.call().await;
        server.send(sampling).await;
        let refused = server.receive().await.unwrap();
        server.answer(&call, text(&refused["error"]["code"].to_string())).await;
        server.until("never").await;
    });
    client.started().await;
    client.call(1);
    let refused = McpError::Refused { why: "no such thing".to_owned() };
    assert_eq!(client.answered().await, (1, Err(refused)));
    client.call(2);
    assert_eq!(client.answered().await, (2, Ok("-32601".to_owned())), "sampling is refused");
}

#[tokio::test]
async fn a_server_asks_the_model_only_if_the_user_allows_that_and_two_at_once() {
    let ask = |id: u64, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": "sampling/createMessage", "params": params});
    let definition =
        ServerDefinition { samples: true, ..with_call_timeout(Duration::from_secs(60)) };
    let mut client = start_within(definition, move |mut server| async move {
        let call = server.call().await;
        let text = |text: &str| json!({"role": "user", "content": {"type": "text", "text": text}});
        let image = json!({"role": "user", "content": {"type": "image", "data": "", "mimeType": "image/png"}});
        server.send(ask(1, json!({"messages": [image], "maxTokens": 5}))).await;
        let refused = server.receive().await.unwrap();
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32602)));
        let asked = json!({"messages": [text("a\u{1b}[31m?")], "systemPrompt": "be short", "maxTokens": 9_000_000});
        for id in 2..5 {
            server.send(ask(id, asked.clone())).await;
        }
        let busy = server.receive().await.unwrap();
        assert_eq!((&busy["id"], &busy["error"]["code"]), (&json!(4), &json!(-32603)));
        let answered = server.receive().await.unwrap();
        let result = &answered["result"];
        let said = format!("{} {} {}", answered["id"], result["model"], result["content"]["text"]);
        server.answer(&call, super::text(&said)).await;
        server.until("never").await;
    });
    client.started().await;
    client.call(1);
    let mut requests = Vec::new();
    while requests.len() < 2 {
        if let McpEvent::Sampled(request) = client.events.recv().await.unwrap().1 {
            requests.push(request);
        }
    }
    let request = requests.remove(0);
    let texts: Vec<String> =
        request.messages.iter().map(|message| message.text().into_owned()).collect();
    assert_eq!((&texts[..], request.max_tokens), (&["be short".to_owned(), "a?".into()][..], 8192));
    let answer = Ok(SampledAnswer { model: "m".into(), text: "yes".into() });
    assert!(client.server.send(McpRequest::AnswerSampling { question: request.id, answer }));
    assert_eq!(client.answered().await, (1, Ok("2 \"m\" \"yes\"".to_owned())));
}

#[tokio::test]
async fn requests_without_end_are_read_only_so_fast() {
    let (sender, sent) = oneshot::channel();
    let sender = std::sync::Mutex::new(Some(sender));
    let mut client = start(move |mut server| {
        let sender = sender.lock().unwrap().take();
        async move {
            server.call().await;
            // The answers are never read.
            let asked =
                json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}).to_string() + "\n";
            let flood = async {
                for _ in 0..100_000 {
                    server.write(&asked).await;
                }
            };
            let done = tokio::time::timeout(Duration::from_secs(2), flood).await;
            sender.unwrap().send(done.is_ok()).unwrap();
        }
    });
    client.started().await;
    client.call(1);
    assert!(!sent.await.unwrap(), "a hundred thousand requests are not read at once");
    let (id, result) = client.answered().await;
    assert!(id == 1 && matches!(result, Err(McpError::Ended { .. })), "{result:?}");
}
