//! The ports that the processes of a step listen on, as far as the system shows them.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::watch;

use super::process_group::Group;

/// How often it is looked while a job is young, and later.
const SOON: Duration = Duration::from_secs(1);
const LATER: Duration = Duration::from_secs(10);
const YOUNG: u32 = 60;

/// Tells of the ports while the step runs in the background. Never ends.
pub(super) async fn watch_ports(group: &Group, to: Option<&watch::Sender<Vec<u16>>>) {
    let Some(to) = to else { return std::future::pending().await };
    let mut looks = 0_u32;
    loop {
        tokio::time::sleep(if looks < YOUNG { SOON } else { LATER }).await;
        looks = looks.saturating_add(1);
        let ports = listening_of(group.members()).await;
        to.send_if_modified(|known| {
            let changed = *known != ports;
            *known = ports;
            changed
        });
    }
}

/// Whether a process of the step serves a port.
pub(super) async fn is_listening(group: &Group) -> bool {
    !listening_of(group.members()).await.is_empty()
}

/// The ports of the processes that are found.
pub(super) async fn listening_of(members: impl Fn() -> Vec<i32> + Send + 'static) -> Vec<u16> {
    let found = tokio::task::spawn_blocking(move || listening(&members())).await;
    found.unwrap_or_default()
}

/// The ports of these processes.
#[cfg(target_os = "linux")]
fn listening(pids: &[i32]) -> Vec<u16> {
    let sockets: BTreeSet<String> = pids.iter().flat_map(|pid| sockets_of(*pid)).collect();
    if sockets.is_empty() {
        return Vec::new();
    }
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let tables: Vec<String> =
        tables.iter().filter_map(|table| std::fs::read_to_string(table).ok()).collect();
    let ports: BTreeSet<u16> = tables
        .iter()
        .flat_map(|table| table.lines().skip(1))
        .filter_map(|line| listening_port(line, &sockets))
        .collect();
    ports.into_iter().collect()
}

#[cfg(not(target_os = "linux"))]
fn listening(_: &[i32]) -> Vec<u16> {
    Vec::new()
}

/// The inodes of the sockets that a process has open.
#[cfg(target_os = "linux")]
fn sockets_of(pid: i32) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let inode = |entry: std::fs::DirEntry| {
        let target = std::fs::read_link(entry.path()).ok()?;
        let name = target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
        Some(name.to_owned())
    };
    entries.flatten().take(4096).filter_map(inode).collect()
}

/// The port of a row of the table, if it listens and is one of these sockets.
#[cfg(target_os = "linux")]
fn listening_port(line: &str, sockets: &BTreeSet<String>) -> Option<u16> {
    const LISTENING: &str = "0A";
    let fields: Vec<&str> = line.split_whitespace().collect();
    let local = fields.get(1)?;
    let state = fields.get(3)?;
    let inode = fields.get(9)?;

    let (_, port) = local.rsplit_once(':')?;
    (*state == LISTENING && sockets.contains(*inode))
        .then(|| u16::from_str_radix(port, 16).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_port_is_found_while_it_is_listened_on() {
        let own = i32::try_from(std::process::id()).unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(listening(&[own]).contains(&port));
        drop(listener);
        assert!(!listening(&[own]).contains(&port));
    }
}
