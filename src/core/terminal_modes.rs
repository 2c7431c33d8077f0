//! Reads and sets the modes of a terminal, for every frontend.

/// Sets ordinary modes if a killed program left the terminal in raw mode: otherwise the program
/// would restore those raw modes when it exits. If the modes cannot be read, there is no terminal.
#[cfg(unix)]
pub fn restore_from_raw(terminal: impl std::os::fd::AsFd) {
    use rustix::termios::{
        InputModes, LocalModes, OptionalActions, OutputModes, tcgetattr, tcsetattr,
    };

    if !is_raw(&terminal) {
        return;
    }
    let Ok(mut modes) = tcgetattr(&terminal) else { return };
    modes.output_modes |= OutputModes::OPOST | OutputModes::ONLCR;
    modes.input_modes |= InputModes::ICRNL | InputModes::IXON | InputModes::BRKINT;
    modes.local_modes |= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
    modes.local_modes |= LocalModes::ECHOE | LocalModes::ECHOK | LocalModes::IEXTEN;
    let _ = tcsetattr(&terminal, OptionalActions::Now, &modes);
}

/// The modes of a terminal, to be set again after another program had it.
#[derive(Debug, Default)]
pub struct SavedModes(#[cfg(unix)] Option<rustix::termios::Termios>);

#[cfg(unix)]
impl SavedModes {
    pub fn of(terminal: impl std::os::fd::AsFd) -> SavedModes {
        SavedModes(rustix::termios::tcgetattr(terminal).ok())
    }

    /// Sets them, if there was a terminal.
    pub fn restore(self, terminal: impl std::os::fd::AsFd) {
        use rustix::termios::{OptionalActions, tcsetattr};

        let _ = self.0.map(|modes| tcsetattr(terminal, OptionalActions::Drain, &modes));
    }
}

#[cfg(not(unix))]
impl SavedModes {
    pub fn of(_terminal: std::io::Stdin) -> SavedModes {
        SavedModes()
    }

    pub fn restore(self, _terminal: std::io::Stdin) {}
}

/// Reads a line from the terminal without showing it. The terminal shows what is typed again
/// afterwards, also if reading fails.
#[cfg(unix)]
pub fn read_hidden_line() -> std::io::Result<String> {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

    let keyboard = rustix::stdio::stdin();
    let shown = tcgetattr(keyboard)?;
    let mut hidden = shown.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    tcsetattr(keyboard, OptionalActions::Drain, &hidden)?;
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    let _ = tcsetattr(keyboard, OptionalActions::Drain, &shown);
    read.map(|_| line)
}

/// Whether our process group has the terminal; `None` where there is none, or one that was opened
/// outside of this container. Our group is only asked for then: where it was made outside too, its
/// number is 0, and the call expects a process.
#[cfg(unix)]
pub fn is_foreground() -> Option<bool> {
    let group = rustix::termios::tcgetpgrp(rustix::stdio::stdin()).ok()?;
    Some(group == rustix::process::getpgrp())
}

/// Passes the typed part of an unfinished line to the next reader. Linux does so when canonical
/// mode is left and entered again; elsewhere the text arrives with the end of its line.
#[cfg(target_os = "linux")]
pub fn pass_on_typed() {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

    let keyboard = rustix::stdio::stdin();
    // In the background, another program has the terminal.
    if is_foreground() != Some(true) {
        return;
    }
    let Ok(modes) = tcgetattr(keyboard) else { return };
    if !modes.local_modes.contains(LocalModes::ICANON) {
        return;
    }
    let mut by_letter = modes.clone();
    by_letter.local_modes.remove(LocalModes::ICANON);
    let _ = tcsetattr(keyboard, OptionalActions::Now, &by_letter);
    let _ = tcsetattr(keyboard, OptionalActions::Now, &modes);
}

#[cfg(not(target_os = "linux"))]
pub fn pass_on_typed() {}

/// Drops typed input that was not read, including an unfinished line; true if there was any. A
/// closed terminal has nothing to drop: the next read finds the end of input.
#[cfg(unix)]
pub fn discard_typed() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::termios::{QueueSelector, tcflush};

    let keyboard = rustix::stdio::stdin();
    // In the background, another program has the terminal.
    if is_foreground() != Some(true) {
        return false;
    }
    pass_on_typed();
    let mut watched = [PollFd::new(&keyboard, PollFlags::IN)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let polled = poll(&mut watched, Some(&at_once)).is_ok();
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    let came = watched
        .iter()
        .map(PollFd::revents)
        .any(|found| found.contains(PollFlags::IN) && !found.intersects(gone));
    let _ = tcflush(keyboard, QueueSelector::IFlush);
    polled && came
}

#[cfg(not(unix))]
pub fn discard_typed() -> bool {
    false
}

/// Whether a terminal has the raw modes of a full screen. Shells with their own line editor leave
/// signals and output as they are.
#[cfg(unix)]
pub fn is_raw(terminal: impl std::os::fd::AsFd) -> bool {
    use rustix::termios::{LocalModes, OutputModes, tcgetattr};

    let lines = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
    tcgetattr(terminal).is_ok_and(|modes| {
        !modes.output_modes.contains(OutputModes::OPOST) && !modes.local_modes.intersects(lines)
    })
}

#[cfg(not(unix))]
pub fn is_raw(_terminal: std::io::Stdin) -> bool {
    true
}

#[cfg(not(unix))]
pub fn restore_from_raw(_terminal: std::io::Stdin) {}
