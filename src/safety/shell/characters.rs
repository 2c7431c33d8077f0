//! The letters of a shell line, and the place where they are read.

pub(super) struct ShellCharacters {
    chars: Vec<char>,
    pub at: usize,
}

impl ShellCharacters {
    pub fn new(chars: Vec<char>) -> ShellCharacters {
        ShellCharacters { chars, at: 0 }
    }

    pub fn is_at_end(&self) -> bool {
        self.at >= self.chars.len()
    }

    pub fn len(&self) -> usize {
        self.chars.len()
    }

    /// The letter here; a backslash at the end of a line joins it to the next.
    pub fn peek(&mut self) -> Option<char> {
        while self.peek_raw(0) == Some('\\') && self.peek_raw(1) == Some('\n') {
            self.at += 2;
        }
        self.peek_raw(0)
    }

    /// The letter after the one here.
    pub fn peek_next(&self) -> Option<char> {
        let mut ahead = 1;
        while self.peek_raw(ahead) == Some('\\') && self.peek_raw(ahead + 1) == Some('\n') {
            ahead += 2;
        }
        self.peek_raw(ahead)
    }

    pub fn peek_raw(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    pub fn slice(&self, from: usize, to: usize) -> String {
        self.chars.get(from..to.min(self.chars.len())).unwrap_or_default().iter().collect()
    }

    /// Takes the letters of an operator if they come next.
    pub fn take(&mut self, operator: &str) -> bool {
        let start = self.at;
        for c in operator.chars() {
            if self.peek() != Some(c) {
                self.at = start;
                return false;
            }
            self.at += 1;
        }
        true
    }

    /// Takes `()` after the name of a function.
    pub fn take_empty_parens(&mut self) -> bool {
        let start = self.at;
        self.skip_blanks();
        if self.take("(") {
            self.skip_blanks();
            if self.take(")") {
                return true;
            }
        }
        self.at = start;
        false
    }

    /// Takes the rest of the line and its end.
    pub fn take_line(&mut self) -> String {
        let rest = self.chars.get(self.at..).unwrap_or_default();
        let line: String = rest.iter().take_while(|c| **c != '\n').collect();
        self.at += line.chars().count() + 1;
        line
    }

    /// Takes the digits of a number.
    pub fn take_number(&mut self, base: u32, most: usize) -> Option<u32> {
        let mut number = None;
        for _ in 0..most {
            let Some(digit) = self.peek_raw(0).and_then(|c| c.to_digit(base)) else { break };
            number = Some(number.unwrap_or(0u32).wrapping_mul(base).wrapping_add(digit));
            self.at += 1;
        }
        number
    }

    pub fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
    }

    pub fn skip_comment(&mut self) {
        while self.peek_raw(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    /// Skips the rest of a variable after its first letter.
    pub fn skip_variable(&mut self, first: char) {
        self.at += 1;
        if first.is_ascii_alphabetic() || first == '_' {
            while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                self.at += 1;
            }
        }
    }
}
