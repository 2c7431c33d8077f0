//! Where one looks, and what happens meanwhile.

use super::*;

#[test]
fn nothing_is_shown_of_nothing() {
    let mut screen = Screen::new(80, 24);
    assert_eq!(screen.text(), "");
    assert!(screen.transcript.is_empty() && screen.transcript.following());
}
