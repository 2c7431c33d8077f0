//! The time of the screen.

/// Milliseconds since the screen began; the driver has the clock.
pub type Millis = u64;
