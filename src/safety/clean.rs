//! What foreign text may show: no control character of it reaches the terminal.
