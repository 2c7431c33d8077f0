//! Which protocol for pictures the terminal has, and how large its cells are: asked for beside the
//! background, without waiting. Its answers arrive among the keys; without them there are no
//! pictures.

use super::size::CellSize;

/// How a terminal draws pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphicsProtocol {
    /// `compression`: it takes compressed pictures.
    Kitty {
        compression: bool,
    },
    Iterm2,
    Sixel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Graphics {
    pub protocol: GraphicsProtocol,
    pub cell: CellSize,
}

/// What the environment says of pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PictureSupport {
    #[default]
    None,
    /// The terminal has the protocol of iTerm2, and others less well.
    Iterm2,
    /// The terminal may have the protocol of kitty, or sixels.
    Unknown,
}

/// Terminals known by `TERM_PROGRAM` to have the protocol of iTerm2.
const ITERM2: &[&str] = &["iTerm", "WezTerm", "mintty", "rio", "WarpTerminal"];
/// Programs between this one and the terminal, by their variables: what they pass on is uncertain.
const BETWEEN: &[&str] = &["TMUX", "STY", "ZELLIJ"];
/// Terminals without the placeholders of kitty and with errors in their sixels.
const WITHOUT: &[&str] = &["KONSOLE_VERSION"];

impl PictureSupport {
    pub fn from_variables(variable: impl Fn(&str) -> String) -> PictureSupport {
        let is_set = |name: &&str| !variable(name).is_empty();
        let program = variable("TERM_PROGRAM");
        let term = variable("TERM");

        let is_between = program == "tmux"
            || term.starts_with("screen")
            || term.starts_with("tmux")
            || BETWEEN.iter().any(is_set);
        if is_between || WITHOUT.iter().any(is_set) {
            return PictureSupport::None;
        }
        let is_iterm2 = ITERM2.iter().any(|name| program.contains(name))
            || variable("LC_TERMINAL").contains("iTerm")
            || is_set(&"WEZTERM_EXECUTABLE");
        if is_iterm2 { PictureSupport::Iterm2 } else { PictureSupport::Unknown }
    }
}

/// An answer of the terminal about pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphicsReply {
    /// It took a picture in the protocol of kitty.
    Kitty,
    /// It took a compressed one.
    KittyCompression,
    CellSize(CellSize),
    /// Its attributes, which every terminal reports: the end of the answers.
    Attributes {
        sixel: bool,
    },
}

/// The numbers of the two pictures that the query sends.
const PLAIN: &str = "31";
const COMPRESSED: &str = "32";
/// The attribute of a terminal with sixels.
const SIXEL: &str = "4";

impl GraphicsReply {
    /// `Gi=31;OK`, without the mark of an application command.
    pub fn from_kitty(text: &str) -> Option<GraphicsReply> {
        let (keys, said) = text.strip_prefix('G')?.split_once(';')?;
        let id = keys.split(',').find_map(|key| key.strip_prefix("i="))?;
        match (said, id) {
            ("OK", PLAIN) => Some(GraphicsReply::Kitty),
            ("OK", COMPRESSED) => Some(GraphicsReply::KittyCompression),
            _ => None,
        }
    }

    /// `CSI 6;height;width t`, or `CSI ?62;4c`.
    pub fn from_csi(text: &str, last: u8) -> Option<GraphicsReply> {
        match last {
            b't' => {
                let mut sizes = text.strip_prefix("6;")?.split(';').map(str::parse::<u16>);
                let height = sizes.next()?.ok()?;
                let width = sizes.next()?.ok()?;

                (width > 0 && height > 0)
                    .then_some(GraphicsReply::CellSize(CellSize { width, height }))
            }
            b'c' => {
                let sixel = text.strip_prefix('?')?.split(';').any(|part| part == SIXEL);
                Some(GraphicsReply::Attributes { sixel })
            }
            _ => None,
        }
    }
}

/// What is known of the terminal so far.
#[derive(Clone, Debug, Default)]
pub struct GraphicsProbe {
    support: PictureSupport,
    is_on: bool,
    kitty: bool,
    compression: bool,
    cell: Option<CellSize>,
    found: Option<Graphics>,
}

impl GraphicsProbe {
    /// `is_on`: the user wants pictures.
    pub fn new(is_on: bool, support: PictureSupport) -> GraphicsProbe {
        let is_on = is_on && support != PictureSupport::None;
        GraphicsProbe { support, is_on, ..GraphicsProbe::default() }
    }

    /// The user wants pictures now, or no more. Returns what asks the terminal.
    pub fn set_on(&mut self, is_on: bool) -> String {
        *self = GraphicsProbe::new(is_on, self.support);
        self.query()
    }

    /// True when the user wants pictures, and the terminal may have them.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// What asks the terminal; empty where nothing is to be known. The attributes come last.
    pub fn query(&self) -> String {
        let size_and_attributes = "\x1b[16t\x1b[c";
        match self.support {
            _ if !self.is_on => String::new(),
            PictureSupport::None => String::new(),
            PictureSupport::Iterm2 => size_and_attributes.to_owned(),
            // A black pixel each.
            PictureSupport::Unknown => format!(
                "\x1b_Gi={PLAIN},s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\
                 \x1b_Gi={COMPRESSED},s=1,v=1,a=q,t=d,f=24,o=z;eJxjYGAAAAADAAE=\x1b\\\
                 {size_and_attributes}"
            ),
        }
    }

    /// Takes an answer. `measured`: the size of a cell by what the system knows of the terminal.
    pub fn handle(&mut self, reply: GraphicsReply, size: Option<CellSize>) {
        if !self.is_on {
            return;
        }
        match reply {
            GraphicsReply::Kitty => self.kitty = true,
            GraphicsReply::KittyCompression => self.compression = true,
            GraphicsReply::CellSize(cell) => self.cell = Some(cell),
            // The answer to a question of another program.
            GraphicsReply::Attributes { .. } if self.found.is_some() && self.cell.is_none() => {}
            GraphicsReply::Attributes { sixel } => {
                let protocol = match self.support {
                    PictureSupport::Iterm2 => Some(GraphicsProtocol::Iterm2),
                    PictureSupport::Unknown if self.kitty => {
                        Some(GraphicsProtocol::Kitty { compression: self.compression })
                    }
                    PictureSupport::Unknown if sixel => Some(GraphicsProtocol::Sixel),
                    _ => None,
                };
                let cell = self.cell.or(size);
                self.found = protocol.zip(cell).map(|(protocol, cell)| Graphics { protocol, cell });
                (self.kitty, self.compression, self.cell) = (false, false, None);
            }
        }
    }

    /// How pictures are drawn; `None`: not at all.
    pub fn graphics(&self) -> Option<Graphics> {
        self.found
    }
}
