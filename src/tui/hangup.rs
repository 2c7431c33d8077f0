//! Detects that the terminal is gone. Usually a signal reports it; where none comes (the program
//! has no controlling terminal, or continues in another session) reading the keyboard returns its
//! end for ever, and a reader would spin.

use tokio::sync::oneshot;

#[derive(Debug)]
pub struct HangUp(Option<oneshot::Receiver<()>>);

impl HangUp {
    /// Watches from a thread that sleeps until it happens. Without a thread only signals remain.
    #[cfg(unix)]
    pub fn watch() -> HangUp {
        let (told, gone) = oneshot::channel();
        let watch = move || {
            if wait().is_ok() {
                let _ = told.send(());
            }
        };
        let started = std::thread::Builder::new().name("hangup".into()).spawn(watch);
        HangUp(started.is_ok().then_some(gone))
    }

    #[cfg(not(unix))]
    pub fn watch() -> HangUp {
        HangUp(None)
    }

    /// Waits until the terminal is gone; for ever where nothing watches.
    pub async fn wait_until_gone(&mut self) {
        if let Some(gone) = &mut self.0
            && gone.await.is_ok()
        {
            return;
        }
        self.0 = None;
        std::future::pending().await
    }
}

/// Waits for the hang-up only: keys do not wake it.
#[cfg(unix)]
fn wait() -> rustix::io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};

    let keyboard = rustix::stdio::stdin();
    if !rustix::termios::isatty(keyboard) {
        return Err(rustix::io::Errno::NOTTY);
    }
    let ended = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    loop {
        let mut watched = [PollFd::new(&keyboard, PollFlags::empty())];
        match poll(&mut watched, None) {
            Ok(_) if watched.iter().any(|fd| fd.revents().intersects(ended)) => return Ok(()),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}
