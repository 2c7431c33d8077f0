//! Servers over HTTP: the newer transport, the older one, and logging in.

use std::convert::Infallible;
use std::sync::Mutex;

use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::StreamExt as _;

use super::*;

/// Serves an application on a port of this machine; the address.
async fn serve(app: Router) -> String {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

fn connect(url: String, keys: KeyStore) -> Client {
    let server = RemoteServer { url, headers: [("X-Key".to_owned(), "k".to_owned())].into() };
    start_with(definition(ServerTransport::Http(server)), keys, Arc::new(|_| async {}.boxed()))
}

/// What a server of an older revision answers.
fn answer(request: &Value) -> Option<Value> {
    let result = match request["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "remote", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{"name": "echo"}]}),
        "tools/call" => text("over HTTP"),
        _ if request.get("id").is_none() => return None,
        _ => {
            let error = json!({"code": -32601, "message": "Method not found"});
            return Some(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}));
        }
    };
    Some(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
}

async fn post_message(headers: HeaderMap, Json(request): Json<Value>) -> Response {
    if headers.get("x-key").is_none_or(|key| key != "k") {
        return StatusCode::FORBIDDEN.into_response();
    }
    match answer(&request) {
        Some(answer) => Json(answer).into_response(),
        None => StatusCode::ACCEPTED.into_response(),
    }
}

#[tokio::test]
async fn a_server_is_called_over_http_with_its_headers() {
    let address = serve(Router::new().route("/mcp", post(post_message))).await;
    let mut client = connect(format!("{address}/mcp"), no_keys());
    let facts = client.started().await;
    assert_eq!((facts.title.as_str(), facts.revision.as_str()), ("remote 1", "2025-06-18"));
    client.call(1);
    assert_eq!(client.answered().await, (1, Ok("over HTTP".to_owned())));
    client.server.stop().await;
}

/// A server of the older transport: what is posted is answered in the one stream.
fn older() -> Router {
    let (sender, receiver) = mpsc::unbounded_channel::<Value>();
    let receiver = Arc::new(Mutex::new(Some(receiver)));
    let stream = move || {
        let receiver = receiver.lock().unwrap().take().unwrap();
        let endpoint = Event::default().event("endpoint").data("/messages?id=1");
        let answers = futures_util::stream::unfold(receiver, |mut receiver| async {
            let answer = receiver.recv().await?;
            Some((Event::default().event("message").data(answer.to_string()), receiver))
        });
        let events = futures_util::stream::once(async { endpoint }).chain(answers);
        async { Sse::new(events.map(Ok::<_, Infallible>)) }
    };
    let take = async |State(sender): State<mpsc::UnboundedSender<Value>>,
                      Json(request): Json<Value>| {
        if let Some(answer) = answer(&request) {
            sender.send(answer).unwrap();
        }
        StatusCode::ACCEPTED
    };
    Router::new().route("/sse", get(stream)).route("/messages", post(take)).with_state(sender)
}

#[tokio::test]
async fn an_older_server_is_reached_by_its_stream_of_events() {
    let address = serve(older()).await;
    let mut client = connect(format!("{address}/sse"), no_keys());
    assert_eq!(client.started().await.title, "remote 1");
    client.call(1);
    assert_eq!(client.answered().await, (1, Ok("over HTTP".to_owned())));
    client.server.stop().await;
}

#[tokio::test]
async fn an_endpoint_at_another_server_is_refused() {
    let stream = async || {
        let endpoint = Event::default().event("endpoint").data("http://127.0.0.2:1/x");
        Sse::new(futures_util::stream::iter([Ok::<_, Infallible>(endpoint)]))
    };
    let address = serve(Router::new().route("/sse", get(stream))).await;
    let server = RemoteServer { url: format!("{address}/sse"), ..RemoteServer::default() };
    let definition = definition(ServerTransport::Sse(server));
    let mut client = start_with(definition, no_keys(), Arc::new(|_| async {}.boxed()));
    let McpEvent::Failed { error: McpError::Unreachable { why }, .. } = client.next().await else {
        panic!()
    };
    assert_eq!(why, avocet_core::i18n::mcp::BAD_ENDPOINT.into());
}

#[tokio::test]
async fn an_address_that_nobody_answers_at_or_that_is_none_is_told() {
    for (url, retries) in [("http://127.0.0.1:1/mcp", true), ("file:///etc/passwd", true)] {
        let mut client = connect(url.to_owned(), no_keys());
        let McpEvent::Failed { error, retry_after } = client.next().await else { panic!() };
        assert!(matches!(error, McpError::Unreachable { .. }), "{error:?}");
        assert_eq!(retry_after.is_some(), retries);
    }
}

type Form = Query<std::collections::BTreeMap<String, String>>;

/// A server that wants a token, and gives one to who asks as OAuth says.
fn guarded(address: &str) -> Router {
    guarded_by(address, address, "code=c&state=STATE")
}

/// The same that calls itself so, and sends the browser back with this.
fn guarded_by(address: &str, issuer: &str, back: &'static str) -> Router {
    let base = address.to_owned();
    let resource = json!({"resource": format!("{base}/mcp"), "authorization_servers": [base]});
    let metadata = json!({
        "issuer": issuer, "authorization_endpoint": format!("{base}/authorize"),
        "token_endpoint": format!("{base}/token"), "registration_endpoint": format!("{base}/register"),
        "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
    });
    let challenge =
        format!("Bearer resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\"");
    let guard = async move |headers: HeaderMap, request: Json<Value>| {
        if headers.get("authorization").is_some_and(|token| token == "Bearer good") {
            return post_message(headers, request).await;
        }
        (StatusCode::UNAUTHORIZED, [("www-authenticate", challenge)]).into_response()
    };
    let register = async |Json(wanted): Json<Value>| {
        let registered = json!({"client_id": "us", "redirect_uris": wanted["redirect_uris"],
            "client_name": wanted["client_name"], "token_endpoint_auth_method": "none"});
        (StatusCode::CREATED, Json(registered))
    };
    // The user says yes at once: the code is in the address that the browser is sent back to.
    let authorize = async move |Query(asked): Form| {
        assert!(asked["code_challenge_method"] == "S256" && asked["client_id"] == "us");
        let back = format!("{}?{}", asked["redirect_uri"], back.replace("STATE", &asked["state"]));
        (StatusCode::FOUND, [("location", back)])
    };
    // The first token is over before it is used.
    let token = async |body: String| {
        let is_renewed = body.contains("grant_type=refresh_token");
        if is_renewed {
            assert!(body.contains("refresh_token=again"), "{body}");
        } else {
            assert!(body.contains("code=c") && body.contains("code_verifier="), "{body}");
        }
        let (token, seconds) = if is_renewed { ("good", 3600) } else { ("over", 0) };
        let token = json!({"access_token": token, "token_type": "bearer", "expires_in": seconds,
            "refresh_token": "again"});
        Json(token)
    };
    let resource = async move || Json(resource);
    let metadata = async move || Json(metadata);
    Router::new()
        .route("/mcp", post(guard))
        .route("/.well-known/oauth-protected-resource/mcp", get(resource))
        .route("/.well-known/oauth-authorization-server", get(metadata))
        .route("/register", post(register))
        .route("/authorize", get(authorize))
        .route("/token", post(token))
}

/// Logs in at a server in the way of a user with a browser.
async fn log_in(transport: ServerTransport, keys: KeyStore) {
    let login = begin_login(definition(transport), Arc::new(keys)).await.unwrap();
    let asked = login.url().to_owned();
    let browser = tokio::spawn(async move {
        let back = reqwest::get(asked).await.unwrap();
        back.text().await.unwrap()
    });
    login.finish().await.unwrap();
    assert_eq!(browser.await.unwrap(), "Avocet: OK");
}

/// Listens on a port of this machine before the application knows its address.
async fn serve_at(app: impl FnOnce(&str) -> Router) -> String {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let app = app(&address);
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

#[tokio::test]
async fn a_login_saves_tokens_that_the_next_start_renews_and_uses() {
    let address = serve_at(guarded).await;
    let url = format!("{address}/mcp");
    let folder = tempfile::tempdir().unwrap();
    let keys = || KeyStore::new(folder.path().join("keys.toml"), None);

    let mut client = connect(url.clone(), keys());
    let error = McpError::LoginNeeded;
    assert_eq!(client.next().await, McpEvent::Failed { error, retry_after: None });

    let server = RemoteServer { url: url.clone(), ..RemoteServer::default() };
    log_in(ServerTransport::Http(server), keys()).await;
    let mut client = connect(url, keys());
    assert_eq!(client.started().await.title, "remote 1");
    client.server.stop().await;
}

#[tokio::test]
async fn a_login_with_another_state_or_issuer_fails_and_saves_nothing() {
    for (issuer, back) in [
        (None, "code=c&state=forged"),
        (None, "code=c"),
        (None, "code=c&state=STATE&iss=https%3A%2F%2Fother.example"),
        (None, "error=access_denied&state=STATE"),
        (Some("https://other.example"), "code=c&state=STATE"),
    ] {
        let address = serve_at(|base| guarded_by(base, issuer.unwrap_or(base), back)).await;
        let url = format!("{address}/mcp");
        let folder = tempfile::tempdir().unwrap();
        let keys = || Arc::new(KeyStore::new(folder.path().join("keys.toml"), None));
        let server = RemoteServer { url: url.clone(), ..RemoteServer::default() };
        let login = begin_login(definition(ServerTransport::Http(server)), keys()).await;
        let failed = match login {
            Ok(login) => {
                tokio::spawn(reqwest::get(login.url().to_owned()));
                login.finish().await.unwrap_err()
            }
            Err(error) => error,
        };
        assert!(matches!(failed, McpError::LoginFailed { .. }), "{back}: {failed:?}");
        assert!(keys().place(&format!("mcp {url}")).is_none(), "{back}");
    }
}

#[tokio::test]
async fn a_server_of_the_older_transport_gets_the_token_with_each_request() {
    let guard = async |headers: HeaderMap, request: Request, next: Next| {
        let is_open = ["/sse", "/messages"].iter().all(|path| *path != request.uri().path());
        let is_good = headers.get("authorization").is_some_and(|token| token == "Bearer good");
        if is_open || is_good {
            return next.run(request).await;
        }
        StatusCode::UNAUTHORIZED.into_response()
    };
    let app = |address: &str| guarded(address).merge(older()).layer(from_fn(guard));
    let address = serve_at(app).await;
    let folder = tempfile::tempdir().unwrap();
    let keys = || KeyStore::new(folder.path().join("keys.toml"), None);
    let server = RemoteServer { url: format!("{address}/sse"), ..RemoteServer::default() };
    let transport = ServerTransport::Sse(server);
    log_in(transport.clone(), keys()).await;
    let mut client = start_with(definition(transport), keys(), Arc::new(|_| async {}.boxed()));
    assert_eq!(client.started().await.title, "remote 1");
    client.call(1);
    assert_eq!(client.answered().await, (1, Ok("over HTTP".to_owned())));
    client.server.stop().await;
}

#[tokio::test]
async fn what_proves_the_user_is_not_sent_to_another_machine_unencrypted() {
    let headers = [("authorization".to_owned(), "Bearer x".to_owned())].into();
    let server = RemoteServer { url: "http://192.0.2.1/mcp".to_owned(), headers };
    for transport in [ServerTransport::Http(server.clone()), ServerTransport::Sse(server)] {
        let definition = definition(transport.clone());
        let play: Play = Arc::new(|_| async {}.boxed());
        let mut client = start_with(definition.clone(), no_keys(), play);
        let McpEvent::Failed { error: McpError::Unreachable { why }, .. } = client.next().await
        else {
            panic!()
        };
        let told = avocet_core::i18n::mcp::PLAIN_HTTP.with("host", "192.0.2.1");
        assert_eq!(why, told);
        let error = begin_login(definition, Arc::new(no_keys())).await.err().unwrap();
        assert_eq!(error, McpError::Unreachable { why: told });
    }
}

#[tokio::test]
async fn a_server_without_an_address_has_no_login() {
    let definition = definition(ServerTransport::Stdio(StdioServer::default()));
    let error = begin_login(definition, Arc::new(no_keys())).await.err().unwrap();
    assert!(matches!(error, McpError::Unreachable { .. }), "{error:?}");
}
