//! The subset of YAML used in front matter: a mapping of names to texts, lists and mappings. No
//! anchors, no tags, no types: `true` and `5` are texts as well.

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};

use crate::diagnostic::TextPosition;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum YamlNode {
    Text(String),
    List(Vec<YamlNode>),
    Map(Vec<(String, YamlNode)>),
}

/// Why a text cannot be parsed, and where, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    pub place: TextPosition,
    /// The parser's own words.
    pub why: String,
}

/// Maximum number of values, and their deepest nesting.
const MAX_VALUES: usize = 2_000;
const MAX_DEPTH: usize = 8;

impl YamlNode {
    /// A text, or a list of texts joined to one.
    pub fn text(&self) -> Option<&str> {
        match self {
            YamlNode::Text(text) => Some(text),
            YamlNode::List(_) | YamlNode::Map(_) => None,
        }
    }

    /// Any node, as one line.
    pub fn flat(&self) -> String {
        match self {
            YamlNode::Text(text) => text.clone(),
            YamlNode::List(items) => {
                items.iter().map(YamlNode::flat).collect::<Vec<_>>().join(", ")
            }
            YamlNode::Map(pairs) => {
                let shown = |(name, node): &(String, YamlNode)| format!("{name}: {}", node.flat());
                pairs.iter().map(shown).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// Parses a mapping; an empty text is an empty one. If a key is repeated, the first one counts.
pub fn read(text: &str) -> Result<Vec<(String, YamlNode)>, YamlError> {
    let mut reader = YamlReader { parser: Parser::new_from_str(text), left: MAX_VALUES };
    loop {
        match reader.next()? {
            (Event::StreamStart | Event::DocumentStart(_) | Event::Nothing, _) => {}
            (Event::MappingStart(..), _) => break,
            (Event::StreamEnd | Event::DocumentEnd, _) => return Ok(Vec::new()),
            (Event::Scalar(text, ScalarStyle::Plain, ..), _) if text == "~" || text.is_empty() => {
                return Ok(Vec::new());
            }
            (_, place) => return Err(error_at(place, "there is no `name: value` here")),
        }
    }
    let pairs = reader.map(0)?;
    match reader.next()? {
        (Event::DocumentEnd | Event::StreamEnd, _) => Ok(pairs),
        (_, place) => Err(error_at(place, "there is more than one mapping")),
    }
}

struct YamlReader<'t> {
    parser: Parser<'t, saphyr_parser::StrInput<'t>>,
    left: usize,
}

impl<'t> YamlReader<'t> {
    fn next(&mut self) -> Result<(Event<'t>, TextPosition), YamlError> {
        match self.parser.next() {
            Some(Ok((event, span))) => {
                let position =
                    TextPosition { line: span.start.line(), column: span.start.col() + 1 };
                self.left = self.left.saturating_sub(1);
                match self.left {
                    0 => Err(error_at(position, "there is too much of it")),
                    _ => Ok((event, position)),
                }
            }
            Some(Err(error)) => Err(parser_error(&error)),
            None => Ok((Event::StreamEnd, TextPosition { line: 1, column: 1 })),
        }
    }

    fn map(&mut self, depth: usize) -> Result<Vec<(String, YamlNode)>, YamlError> {
        let mut pairs: Vec<(String, YamlNode)> = Vec::new();
        loop {
            let name = match self.next()? {
                (Event::MappingEnd, _) => return Ok(pairs),
                (Event::Scalar(name, ..), _) => name.into_owned(),
                (_, place) => return Err(error_at(place, "a name must be a text")),
            };
            let (event, place) = self.next()?;
            let node = self.node(event, place, depth + 1)?;
            if !pairs.iter().any(|(known, _)| *known == name) {
                pairs.push((name, node));
            }
        }
    }

    fn node(
        &mut self,
        event: Event<'t>,
        place: TextPosition,
        depth: usize,
    ) -> Result<YamlNode, YamlError> {
        if depth > MAX_DEPTH {
            return Err(error_at(place, "values stand too deep in each other"));
        }
        match event {
            Event::Scalar(text, ScalarStyle::Plain, ..) if matches!(&*text, "~" | "null") => {
                Ok(YamlNode::Text(String::new()))
            }
            Event::Scalar(text, ..) => Ok(YamlNode::Text(text.into_owned())),
            Event::MappingStart(..) => self.map(depth).map(YamlNode::Map),
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => return Ok(YamlNode::List(items)),
                        (event, place) => items.push(self.node(event, place, depth + 1)?),
                    }
                }
            }
            Event::Alias(_) => Err(error_at(place, "anchors are not read here")),
            _ => Err(error_at(place, "a value is missing")),
        }
    }
}

fn parser_error(error: &ScanError) -> YamlError {
    let position = TextPosition { line: error.marker().line(), column: error.marker().col() + 1 };
    YamlError { place: position, why: error.info().to_owned() }
}

fn error_at(position: TextPosition, why: &str) -> YamlError {
    YamlError { place: position, why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> YamlNode {
        YamlNode::Text(text.to_owned())
    }

    #[test]
    fn texts_lists_and_mappings_are_read_without_types() {
        let read =
            read("a: 1\nb: [x, 'y z']\nc:\n  d: true\n  e: ~\nf: |\n  one\n  two\n").unwrap();
        let inner = vec![("d".to_owned(), text("true")), ("e".to_owned(), text(""))];
        let expected = [
            ("a".to_owned(), text("1")),
            ("b".to_owned(), YamlNode::List(vec![text("x"), text("y z")])),
            ("c".to_owned(), YamlNode::Map(inner)),
            ("f".to_owned(), text("one\ntwo\n")),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn an_empty_text_is_an_empty_mapping() {
        for empty in ["", "\n", "# only words\n", "~"] {
            assert_eq!(read(empty), Ok(Vec::new()), "{empty:?}");
        }
    }

    #[test]
    fn errors_have_a_position() {
        assert_eq!(read("a: 1\nb: x: y\n").unwrap_err().place.line, 2);
        for wrong in ["- a", "a: &x 1\nb: *x", "just words", "a: ["] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_yaml_bomb_is_refused() {
        assert!(read(&format!("a: {}{}", "[".repeat(60), "]".repeat(60))).is_err());
        assert!(read(&format!("a: [{}]", "x, ".repeat(5_000))).is_err());
    }

    #[test]
    fn the_first_of_two_equal_keys_counts() {
        assert_eq!(read("a: 1\na: 2").unwrap(), [("a".to_owned(), text("1"))]);
    }
}
