//! `/healthz` on the loopback interface: whether each service is connected, as JSON.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::run::ServiceHealth;
use avocet_core::protocol::ChatPlatform;

/// The health of each service.
pub type HealthReports = Vec<(ChatPlatform, watch::Receiver<ServiceHealth>)>;

/// How long a client may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Clients at once; one more ends the oldest of them, so that it need not wait.
const MOST_CLIENTS: usize = 64;

/// The wait after a client that the system could not accept: it has no handles left.
const NO_CLIENT: Duration = Duration::from_millis(100);

/// The reports as JSON; `ok` if every service is connected.
pub fn report(services: &HealthReports) -> Value {
    let all = services.iter().map(|(platform, health)| {
        let health = serde_json::to_value(&*health.borrow()).unwrap_or_default();
        (platform.name().to_owned(), health)
    });
    let ok = services.iter().all(|(_, health)| health.borrow().connected);
    json!({ "ok": ok, "services": Value::Object(all.collect()) })
}

/// Answers until the program leaves. A client that says nothing keeps no other one waiting.
///
/// # Errors
/// Whatever the system says about the port.
pub async fn serve(
    port: u16,
    services: HealthReports,
    leaving: CancellationToken,
) -> io::Result<()> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = TcpListener::bind(address).await?;
    let mut clients = JoinSet::new();
    let mut open: VecDeque<AbortHandle> = VecDeque::new();
    while let Some(accepted) = leaving.run_until_cancelled(listener.accept()).await {
        while clients.try_join_next().is_some() {}
        open.retain(|client| !client.is_finished());
        let Ok((stream, _)) = accepted else {
            sleep(NO_CLIENT).await;
            continue;
        };
        if open.len() >= MOST_CLIENTS
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
        }
        let services = services.clone();
        open.push_back(clients.spawn(async move {
            let _ = timeout(PATIENCE, answer(stream, &services)).await;
        }));
    }
    Ok(())
}

async fn answer(mut stream: TcpStream, services: &HealthReports) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < 4_096 {
        let mut byte = [0];
        if stream.read(&mut byte).await? == 0 {
            break;
        }
        head.extend_from_slice(&byte);
    }
    let is_ours = head.starts_with(b"GET /healthz ") || head.starts_with(b"HEAD /healthz ");
    let report = report(services);
    let status = match (is_ours, report.get("ok") == Some(&Value::Bool(true))) {
        (false, _) => "404 Not Found",
        (true, true) => "200 OK",
        (true, false) => "503 Service Unavailable",
    };
    let body = if is_ours { report.to_string() } else { String::new() };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_probe_is_answered_however_many_clients_say_nothing() {
        let port = free_port();
        let leaving = CancellationToken::new();
        let served = tokio::spawn(serve(port, Vec::new(), leaving.clone()));
        let mut idle = Vec::new();
        while idle.len() < 4 * MOST_CLIENTS {
            // The first ones may come before it listens.
            match TcpStream::connect(("127.0.0.1", port)).await {
                Ok(stream) => idle.push(stream),
                Err(_) => tokio::task::yield_now().await,
            }
        }
        let mut probe = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        probe.write_all(b"GET /healthz HTTP/1.1\r\n\r\n").await.unwrap();
        let mut text = String::new();
        // One after the other, or in rounds of so many, the idle ones would take longer.
        let answered = timeout(3 * PATIENCE, probe.read_to_string(&mut text)).await;
        answered.expect("before the idle ones have to end").unwrap();
        assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
        leaving.cancel();
        served.await.unwrap().unwrap();
    }

    /// Outside of those that the system hands out: another test would get it otherwise.
    fn free_port() -> u16 {
        let is_free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
        std::iter::repeat_with(|| fastrand::u16(10_000..32_000)).find(is_free).unwrap()
    }
}
