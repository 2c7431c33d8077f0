//! The modes of a terminal that are nobody's in particular.

/// Sets ordinary modes where a program that was killed left the raw ones: a terminal that
/// is found so would be given back so. Where they cannot be read there is no terminal.
#[cfg(unix)]
pub fn mend(terminal: impl std::os::fd::AsFd) {
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

/// Hands on to whoever reads what was typed of a line that is not ended yet. Linux does so
/// when the reading of whole lines is left and taken up again; elsewhere it comes with the
/// end of its line.
#[cfg(target_os = "linux")]
pub fn hand_on_typed() {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcgetpgrp, tcsetattr};

    let keyboard = rustix::stdio::stdin();
    // In the background the terminal is somebody else's.
    if tcgetpgrp(keyboard).ok() != Some(rustix::process::getpgrp()) {
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
pub fn hand_on_typed() {}

/// Drops what was typed and not read, a line that is not ended yet too; true where there
/// was any. A terminal that is gone has nothing to drop: the next read finds its end.
#[cfg(unix)]
pub fn forget_typed() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::termios::{QueueSelector, tcflush, tcgetpgrp};

    let keyboard = rustix::stdio::stdin();
    // In the background the terminal is another program's.
    if tcgetpgrp(keyboard).ok() != Some(rustix::process::getpgrp()) {
        return false;
    }
    hand_on_typed();
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
pub fn forget_typed() -> bool {
    false
}

/// Whether a terminal has the raw modes of a full screen. Shells that edit lines themselves
/// leave signals and output as they are.
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
pub fn mend(_terminal: std::io::Stdin) {}
