//! What the environment and the settings say of the terminal.

use super::startup::Startup;
use avocet_config::settings::{Color, Notify};
use avocet_session::persistence;
use avocet_tui::notify::NotifyMethod;
use avocet_tui::terminal_caps::supports_links;
use avocet_tui::theme::{Background as Shade, Depth};
use avocet_tui::{Clipboard, PictureSupport, TerminalCaps};

impl Startup {
    /// The assumed background, until the terminal reports it.
    fn shade(&self) -> Shade {
        let said = self.environment.get("COLORFGBG").and_then(Shade::from_colorfgbg);
        said.unwrap_or_default()
    }

    /// How a user who is looking elsewhere is notified.
    fn notify_method(&self, method: NotifyMethod) -> NotifyMethod {
        match self.loaded.settings.look.notify {
            Notify::Auto => method,
            Notify::Bell => NotifyMethod::Bell,
            Notify::Off => NotifyMethod::Off,
        }
    }

    /// The number of colours that the terminal claims.
    fn color_depth(&self) -> Depth {
        let variable = |name| self.environment.get(name).unwrap_or_default();
        let term = variable("TERM");
        let color = variable("COLORTERM");

        if color.contains("truecolor") || color.contains("24bit") {
            Depth::True
        } else if term.contains("256color") || term.contains("direct") {
            Depth::Full256
        } else {
            Depth::Sixteen
        }
    }

    /// What the screen knows of the terminal and the machine before it queries them.
    pub fn terminal_caps(&self) -> TerminalCaps {
        let variable = |name: &str| self.environment.get(name).unwrap_or_default().to_owned();
        let auto_depth = self.color_depth();
        let none =
            self.loaded.settings.look.color == Color::Never || !variable("NO_COLOR").is_empty();
        let depth = if none { Depth::None } else { auto_depth };
        let auto_notify = NotifyMethod::for_terminal(&variable("TERM_PROGRAM"), &variable("TERM"));
        TerminalCaps {
            depth,
            auto_depth,
            background: self.shade(),
            notify_method: self.notify_method(auto_notify),
            auto_notify,
            clipboard: self.clipboard(),
            home: self.paths.home.clone(),
            supports_links: depth != Depth::None && supports_links(variable),
            pictures: PictureSupport::from_variables(variable),
            clock: wall_clock_ms(),
        }
    }

    /// The ways to reach the clipboard.
    fn clipboard(&self) -> Clipboard {
        let set = |name: &&str| Some(((*name).to_owned(), self.environment.get(name)?.to_owned()));
        Clipboard { variables: Clipboard::VARIABLES.iter().filter_map(set).collect() }
    }

    /// A terminal without a name, or a `dumb` one, cannot move its cursor.
    pub fn terminal_can_draw(&self) -> bool {
        !matches!(self.environment.get("TERM"), None | Some("" | "dumb"))
    }
}

/// The wall-clock time, in milliseconds since 1970.
fn wall_clock_ms() -> u64 {
    let now = jiff::Timestamp::now().as_millisecond();
    u64::try_from(persistence::local_millis(now, &jiff::tz::TimeZone::system())).unwrap_or(0)
}
