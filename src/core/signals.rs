//! The signals the program handles: those that end it and those that stop it.
//!
//! A signal without a handler kills the program at once, and leaves the terminal's modes and the
//! child processes as they are. So every signal that can be caught is caught, and each frontend
//! decides what to do then. `KILL`, `STOP` and the faults of the processor (`SEGV`, `BUS`, `ILL`,
//! `FPE`) cannot be caught.

use tokio::sync::mpsc::{Receiver, channel};

/// Ctrl-C.
pub const INT: i32 = 2;
/// Ctrl-\\.
pub const QUIT: i32 = 3;
/// The terminal was closed.
pub const HUP: i32 = 1;

/// What a signal asks the program to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Exit; the number of the signal.
    End(i32),
    /// Restore the terminal and stop, as Ctrl-Z does.
    Stop,
    /// Continue after a stop.
    Continued,
    /// Adapt to the terminal's new size.
    Resized,
}

/// By number: the same on x86-64 and on 64-bit ARM.
#[cfg(target_os = "linux")]
const ENDING: &[i32] = &[
    HUP, INT, QUIT, //
    5,    // TRAP
    6,    // ABRT
    10,   // USR1
    12,   // USR2
    14,   // ALRM
    15,   // TERM
    16,   // STKFLT
    24,   // XCPU
    26,   // VTALRM
    27,   // PROF
    29,   // IO
    30,   // PWR
    31,   // SYS
];
#[cfg(target_os = "macos")]
const ENDING: &[i32] = &[
    HUP, INT, QUIT, //
    5,    // TRAP
    6,    // ABRT
    7,    // EMT
    12,   // SYS
    14,   // ALRM
    15,   // TERM
    24,   // XCPU
    26,   // VTALRM
    27,   // PROF
    30,   // USR1
    31,   // USR2
];
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
const ENDING: &[i32] = &[HUP, INT, QUIT, 14, 15];

/// Real-time signals end a program too.
#[cfg(target_os = "linux")]
const REAL_TIME: std::ops::RangeInclusive<i32> = 34..=64;
#[cfg(not(target_os = "linux"))]
const REAL_TIME: std::ops::RangeInclusive<i32> = 1..=0;

/// A file that exceeds its size limit: the write fails with an error, which is enough.
#[cfg(unix)]
const FILE_TOO_LARGE: i32 = 25;

/// Every ending signal from now on, by number. Must be called inside a runtime.
pub fn listen_ending() -> Receiver<i32> {
    let (sender, receiver) = channel(8);
    listen(ENDING.iter().copied().chain(REAL_TIME), sender, |number| number);
    receiver
}

/// Every signal that the full screen handles. Must be called inside a runtime.
pub fn listen_all() -> Receiver<Signal> {
    let (sender, receiver) = channel(8);
    let ending =
        ENDING.iter().copied().chain(REAL_TIME).map(|number| (number, Signal::End(number)));
    let pairs: Vec<(i32, Signal)> = ending.chain(terminal()).collect();
    let numbers: Vec<i32> = pairs.iter().map(|(number, _)| *number).collect();
    listen(numbers, sender, move |number| {
        let known = pairs.iter().find(|(own, _)| *own == number);
        known.map_or(Signal::End(number), |(_, signal)| *signal)
    });
    receiver
}

#[cfg(unix)]
fn terminal() -> Vec<(i32, Signal)> {
    use rustix::process::Signal as Of;
    let rows = [
        (Of::TSTP, Signal::Stop),
        (Of::TTIN, Signal::Stop),
        (Of::TTOU, Signal::Stop),
        (Of::CONT, Signal::Continued),
        (Of::WINCH, Signal::Resized),
    ];
    rows.into_iter().map(|(of, signal)| (of.as_raw(), signal)).collect()
}

#[cfg(not(unix))]
fn terminal() -> Vec<(i32, Signal)> {
    Vec::new()
}

/// One task per signal, so that a signal wakes only one task.
#[cfg(unix)]
fn listen<T: Send + 'static>(
    numbers: impl IntoIterator<Item = i32>,
    sender: tokio::sync::mpsc::Sender<T>,
    of: impl Fn(i32) -> T + Send + Sync + 'static,
) {
    use tokio::signal::unix::{SignalKind, signal};

    let of = std::sync::Arc::new(of);
    for number in numbers {
        let Ok(mut coming) = signal(SignalKind::from_raw(number)) else { continue };
        let sender = sender.clone();
        let of = std::sync::Arc::clone(&of);

        tokio::spawn(async move {
            while coming.recv().await.is_some() && sender.send(of(number)).await.is_ok() {}
        });
    }
    // The handler stays after this is dropped: from now on the write fails instead.
    let _ = signal(SignalKind::from_raw(FILE_TOO_LARGE));
}

#[cfg(not(unix))]
fn listen<T: Send + 'static>(
    _numbers: impl IntoIterator<Item = i32>,
    sender: tokio::sync::mpsc::Sender<T>,
    of: impl Fn(i32) -> T + Send + Sync + 'static,
) {
    tokio::spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() && sender.send(of(INT)).await.is_ok() {}
    });
}

/// Stops this process until the shell continues it. Uses the signal that cannot be caught, since
/// the others are caught.
pub fn stop() {
    #[cfg(unix)]
    {
        use rustix::process::{Signal as Of, getpid, kill_process};
        let _ = kill_process(getpid(), Of::STOP);
    }
}
