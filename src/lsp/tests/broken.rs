//! Tests servers that die, flood, hang, or speak of another version: each costs a line.

use super::*;

#[tokio::test]
async fn a_server_that_dies_is_said_with_its_last_line_and_started_again() {
    let project = Project::new(|mut server| async move {
        if server.text().await.is_some() {
            server.errors.write_all(b"thread main\npanicked at \x1b[31mx\n").await.unwrap();
            server.errors.shutdown().await.unwrap();
        }
    });
    let mut lines = Vec::new();
    for n in 0..4 {
        lines.push(project.change("a.rs", &format!("bad {n}")).await);
    }
    assert!(lines[0].starts_with("The language server `rust-analyzer` failed: its process ended"));
    assert_eq!(project.starts.lock().unwrap().len(), 3);
    assert_eq!(lines[3], "");
    let page = project.page().await;
    assert!(page[0].contains("failed too often"), "{page:?}");
    assert!(page[2].contains("last error: its process ended"), "{page:?}");
}

#[tokio::test]
async fn a_server_that_floods_is_ended() {
    let mut project = Project::new(|mut server| async move {
        server.text().await;
        let text = "x".repeat(1 << 20);
        while server.output.write_all(&framed(&json!({ "text": text }))).await.is_ok() {}
    });
    let mut said = project.change("a.rs", "bad").await;
    if said.contains("still being checked") {
        said = project.until_late().await;
    }
    assert!(said.contains("it sent too much"), "{said}");
    project.ended.wait_for(|ended| *ended == 1).await.unwrap();
}

#[tokio::test]
async fn a_server_that_says_nothing_is_waited_for_once() {
    let project = Project::new(|mut server| async move {
        server.until("never").await;
    });
    let began = tokio::time::Instant::now();
    for n in 0..5 {
        let found = project.change("a.rs", &format!("bad {n}")).await;
        assert!(found.contains("still being checked"), "{found}");
    }
    assert!(began.elapsed() < Duration::from_secs(12), "each edit waited");
}

#[tokio::test]
async fn what_is_said_of_another_version_counts_as_nothing() {
    let project = Project::new(|mut server| async move {
        while let Some((uri, version, text)) = server.text().await {
            server.publish(&uri, version + 7, &text).await;
        }
    });
    let found = project.change("a.rs", "bad").await;
    assert_eq!(found, "`a.rs` is still being checked; what is found comes with a later result.");
}

#[tokio::test]
async fn a_message_that_is_none_ends_it() {
    let project = Project::new(|mut server| async move {
        server.text().await;
        // The client may end it at once.
        let _ = server.output.write_all(b"hello\r\n\r\n{}").await;
        server.until("never").await;
    });
    let found = project.change("a.rs", "bad").await;
    assert!(found.contains("it sent what cannot be read"), "{found}");
}
