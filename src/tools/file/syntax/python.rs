//! Finds what Python refuses before it looks at a statement: brackets, strings and indentation that do
//! not fit, a colon or a block that is missing.

/// Replacements in strings of replacements are read so deep.
const MAX_DEPTH: usize = 60;

/// A line, counted from 1, and what is wrong there.
type LineFault = (usize, String);

/// The first fault of a text.
pub(super) fn find_fault(text: &str) -> Option<LineFault> {
    let bytes = text.as_bytes();
    let mut reader =
        PythonReader { bytes, at: 0, line: 1, depth: 0, indents: vec![(0, 0)], opener: None };
    reader.read().err()
}

type ReadResult = Result<(), LineFault>;

/// Statements that have a block.
const WITH_BLOCK: &[&str] =
    &["if", "elif", "else", "for", "while", "try", "except", "finally", "with", "def", "class"];

struct PythonReader<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    /// How many replacements of strings it is in.
    depth: usize,
    /// The columns of the blocks around, with tabs that go to every eighth column and with tabs of
    /// one: where the two disagree, so do tabs and spaces.
    indents: Vec<(usize, usize)>,
    /// The line whose block comes next.
    opener: Option<usize>,
}

impl PythonReader<'_> {
    fn read(&mut self) -> ReadResult {
        while self.at < self.bytes.len() {
            self.logical_line()?;
        }
        self.opener.map_or(Ok(()), |line| Err(missing_block(line, self.line)))
    }

    /// A line, with those that its brackets and strings continue it on.
    fn logical_line(&mut self) -> ReadResult {
        let column = self.column();
        if matches!(self.peek(), None | Some(b'\n' | b'\r' | b'#')) {
            self.skip_line();
            self.take();
            return Ok(());
        }
        self.indent(column)?;
        let from = self.at;
        let line = self.line;
        let (last, has_colon) = self.tokens()?;
        let statement = self.bytes.get(from..).unwrap_or_default();
        let begins_with = |word: &str| {
            let rest = statement.strip_prefix(word.as_bytes());
            rest.is_some_and(|rest| !rest.first().is_some_and(|byte| is_of_word(*byte)))
        };
        if !has_colon && WITH_BLOCK.iter().any(|word| begins_with(word)) {
            return Err(fault(line, "expected ':'"));
        }
        self.opener = (last == b':').then_some(line);
        Ok(())
    }

    /// Reads the tokens of a logical line. Returns their last byte, and whether there is a colon
    /// outside of brackets.
    fn tokens(&mut self) -> Result<(u8, bool), LineFault> {
        let mut last = b' ';
        let mut has_colon = false;
        let mut brackets: Vec<(u8, usize)> = Vec::new();
        while let Some(byte) = self.take() {
            match byte {
                b'\n' if brackets.is_empty() => break,
                b'#' => {
                    self.skip_line();
                    continue;
                }
                b'\\' => self.skip_escaped(),
                b'(' | b'[' | b'{' => brackets.push((byte, self.line)),
                b')' | b']' | b'}' => close(brackets.pop(), byte, self.line)?,
                b'\'' | b'"' => self.string(byte)?,
                b':' => has_colon |= brackets.is_empty(),
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                last = byte;
            }
        }
        match brackets.last() {
            Some((open, line)) => {
                Err(fault(*line, &format!("'{}' was never closed", char::from(*open))))
            }
            None => Ok((last, has_colon)),
        }
    }

    /// The rest of a string, whose first quote was taken.
    fn string(&mut self, quote: u8) -> ReadResult {
        let line = self.line;
        let quotes = [quote, quote];
        let is_format = self.has_format_prefix();
        let is_long = self.rest().starts_with(&quotes);
        if is_long {
            self.at += quotes.len();
        }
        while let Some(byte) = self.take() {
            match byte {
                b'\n' if !is_long => break,
                b'\\' if !(is_format && self.peek() == Some(b'{')) => self.skip_escaped(),
                b'{' if is_format && self.peek() == Some(b'{') => self.at += 1,
                b'{' if is_format => self.replacement(quote)?,
                _ if byte == quote && !is_long => return Ok(()),
                _ if byte == quote && self.rest().starts_with(&quotes) => {
                    self.at += quotes.len();
                    return Ok(());
                }
                _ => {}
            }
        }
        let kind = if is_long { "triple-quoted string" } else { "string" };
        Err(fault(line, &format!("unterminated {kind} literal")))
    }

    /// The rest of a replacement in a string of this quote, up to its closing brace. A colon begins
    /// the format, where other quotes are plain text.
    fn replacement(&mut self, quote: u8) -> ReadResult {
        if self.depth == MAX_DEPTH {
            return Ok(());
        }
        self.depth += 1;
        let mut depth = 0_usize;
        let mut in_format = false;
        while let Some(byte) = self.take() {
            match byte {
                b'}' if depth == 0 => break,
                b'{' if in_format => self.replacement(quote)?,
                _ if in_format && byte == quote => {
                    self.at -= 1;
                    break;
                }
                _ if in_format => {}
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b'\'' | b'"' => self.string(byte)?,
                b'#' => self.skip_line(),
                b':' => in_format = depth == 0,
                _ => {}
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Whether an `f` or a `t` is among the letters before the quote that was taken.
    fn has_format_prefix(&self) -> bool {
        let before = self.bytes.get(..self.at.saturating_sub(1)).unwrap_or_default();
        let word = before.iter().rev().take_while(|byte| is_of_word(**byte));
        let word: Vec<u8> = word.map(u8::to_ascii_lowercase).collect();
        matches!(word.as_slice(), b"f" | b"t" | b"rf" | b"fr" | b"rt" | b"tr")
    }

    fn indent(&mut self, column: (usize, usize)) -> ReadResult {
        let top = self.indents.last().copied().unwrap_or_default();
        let opener = self.opener.take();
        match opener {
            Some(_) if column.0 > top.0 && column.1 > top.1 => {
                self.indents.push(column);
                return Ok(());
            }
            Some(line) if column.0 <= top.0 => return Err(missing_block(line, self.line)),
            None if column.0 > top.0 => return Err(fault(self.line, "unexpected indent")),
            _ => {}
        }
        while self.indents.last().is_some_and(|block| block.0 > column.0) {
            self.indents.pop();
        }
        let block = self.indents.last().copied().unwrap_or_default();
        if block == column {
            Ok(())
        } else if block.0 == column.0 || opener.is_some() {
            Err(fault(self.line, "inconsistent use of tabs and spaces in indentation"))
        } else {
            Err(fault(self.line, "unindent does not match any outer indentation level"))
        }
    }

    fn column(&mut self) -> (usize, usize) {
        let mut wide = 0;
        let mut narrow = 0;
        loop {
            (wide, narrow) = match self.peek() {
                Some(b' ') => (wide + 1, narrow + 1),
                Some(b'\t') => ((wide / 8 + 1) * 8, narrow + 1),
                Some(b'\x0c') => (0, 0),
                _ => return (wide, narrow),
            };
            self.at += 1;
        }
    }

    /// Skips the character after a backslash, which may be the end of a line.
    fn skip_escaped(&mut self) {
        if self.take() == Some(b'\r') && self.peek() == Some(b'\n') {
            self.take();
        }
    }

    /// Goes to the end of the line, and not over it.
    fn skip_line(&mut self) {
        self.at += self.rest().iter().take_while(|byte| **byte != b'\n').count();
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        self.line += usize::from(byte == b'\n');
        Some(byte)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

fn close(open: Option<(u8, usize)>, closed: u8, line: usize) -> ReadResult {
    let closed = char::from(closed);
    match open.map(|(open, _)| char::from(open)) {
        None => Err(fault(line, &format!("unmatched '{closed}'"))),
        Some('(') if closed == ')' => Ok(()),
        Some('[') if closed == ']' => Ok(()),
        Some('{') if closed == '}' => Ok(()),
        Some(open) => Err(fault(line, &format!("'{closed}' does not match '{open}'"))),
    }
}

fn missing_block(opener: usize, line: usize) -> LineFault {
    fault(line, &format!("expected an indented block after line {opener}"))
}

fn fault(line: usize, why: &str) -> LineFault {
    (line, why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        find_fault(text).map_or_else(String::new, |(line, why)| format!("{line}: {why}"))
    }

    #[test]
    fn what_python_refuses_is_found_where_python_says() {
        for (text, expected) in [
            ("f(1,\n  [2)\n", "2: ')' does not match '['"),
            ("a = f(1\nb = 2\n", "1: '(' was never closed"),
            ("a = 1)\n", "1: unmatched ')'"),
            ("a = 'b\nc = 1\n", "1: unterminated string literal"),
            ("x = 1\na = \"\"\"b\nc = 1\n", "2: unterminated triple-quoted string literal"),
            ("a = f'{x['\n", "1: unterminated string literal"),
            ("if a\n    b\n", "1: expected ':'"),
            ("class A(\n    B,\n)\n    x = 1\n", "1: expected ':'"),
            ("else\n", "1: expected ':'"),
            ("def f():\nreturn 1\n", "2: expected an indented block after line 1"),
            ("def f():\n    # nothing\n", "3: expected an indented block after line 1"),
            ("a = 1\n    b = 2\n", "2: unexpected indent"),
            ("if a:\n    b\n  c\n", "3: unindent does not match any outer indentation level"),
            ("if a:\n        b\n\tc\n", "3: inconsistent use of tabs and spaces in indentation"),
        ] {
            assert_eq!(told(text), expected, "{text}");
            assert_eq!(told(&text.replace('\n', "\r\n")), expected, "{text}");
        }
    }

    #[test]
    fn whatever_python_takes_is_no_fault() {
        for text in [
            "",
            "# (\n\n   \n\t# '\n",
            "def f(a: int = 1) -> dict[str, int]:\n    return {'a': [1, (2)]}\n\n\nf(1)\n",
            "if a: b\nelif c: d\nelse: e\nwhile a: b; c\n",
            "x = (1 +\n  2)\ny = 1 + \\\n    2\nif (a and\nb):\n    pass\n",
            "if a:\n\tb\n\tif c:\n\t\td\ne = 1\n",
            "if a:\n    b\n# at the edge\n    c\n\n  # and inside\n    d",
            "a = '\\'(' + \"it's\" + r'\\\\' + b'[' + ''\n",
            "a = 'b\\\nc'\n",
            "\"\"\"It's (not\nclosed: \"quoted\" \"\"\"\n",
            "a = f'{x!r:>{w}} {{ {y[\"k\"]} {d:%H:%M} {v:\"^9}'\n",
            "a = f\"{\"(\" if x else ', '.join(y)}\" + f'{f\"{x}\"}' + rf'\\{x}' + f'\\N{DASH}'\n",
            "a = f\"\"\"{ # it's\n  x\n}\n'\"\"\"\n",
            "match = {1: 2}\nprint(match[1:2])\nmatch x:\n    case [a, b]: pass\n",
            "@a(b)\nasync def f():\n    async with a as b, c as d:\n        yield\n",
            "iffy = elsewhere = 1\nclassify(x)\nform = 2\n",
            "f = lambda x: (x,\n  1)\nd: int\n",
            "def f(): ...\nclass A: x = 1\n",
        ] {
            assert_eq!(told(text), "", "{text}");
            assert_eq!(told(&text.replace('\n', "\r\n")), "", "{text}");
        }
    }

    #[test]
    fn strings_in_strings_are_read_to_a_bound() {
        let deep = "f'{\"}\" ".repeat(100_000);
        assert_ne!(told(&deep), "");
    }
}
