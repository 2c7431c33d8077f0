//! Images of the conversation as pictures, where the terminal can show them.
//!
//! A picture takes rows of the conversation that are blank for everything else. What a terminal
//! needs to draw it is made on another thread, and sent by the backend beside the frame: no part of
//! it is ever text of a cell.

mod encode;
mod graphics;
mod placed;
#[cfg(test)]
pub mod sample;
mod shelf;
mod size;
#[cfg(test)]
mod tests;
mod worker;

pub use encode::EncodeResult;
#[cfg(test)]
pub use encode::EncodedPicture;
pub use graphics::{GraphicsProbe, GraphicsReply, PictureSupport};
pub use placed::{PlacedPicture, reserve};
pub use shelf::{PictureShelf, WantedPicture};
pub use size::{CellSize, PictureSize, picture_size};
pub use worker::{PictureEvent, PictureWorker};
