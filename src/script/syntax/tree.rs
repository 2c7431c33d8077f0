//! YAML as a tree whose nodes keep their tag and their place. Keys keep their order and may be
//! repeated; words like `yes` and `on` are text, as in YAML 1.2.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};
use serde_json::{Map, Number, Value};

use crate::error::SourcePosition;
use avocet_core::i18n::{LocalizedText, script_run as phrases};

/// Deepest nesting, and maximum number of nodes including those that aliases expand to.
/// How deep the YAML of a script may be nested.
pub const MAX_DEPTH: usize = 64;
const MAX_NODES: usize = 200_000;

#[derive(Clone, Debug, PartialEq)]
pub struct ScriptValue {
    pub tree: Tree,
    /// `fn` for `!fn`; YAML's own tags (`!!str`) are already applied.
    pub tag: Option<String>,
    pub position: SourcePosition,
    /// How far below the place the text begins, in lines: 1 for a block of text.
    pub text_below: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<ScriptValue>),
    Map(Vec<(ScriptValue, ScriptValue)>),
}

impl ScriptValue {
    pub fn new(tree: Tree, position: SourcePosition) -> ScriptValue {
        ScriptValue { tree, tag: None, position, text_below: 0 }
    }

    /// A text node that replaces another node.
    pub fn text(text: impl Into<String>, position: SourcePosition) -> ScriptValue {
        ScriptValue::new(Tree::Text(text.into()), position)
    }

    pub fn as_text(&self) -> Option<&str> {
        match &self.tree {
            Tree::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn pairs(&self) -> &[(ScriptValue, ScriptValue)] {
        match &self.tree {
            Tree::Map(pairs) => pairs,
            _ => &[],
        }
    }

    /// The value of a map under a name; the last one if the key is repeated, as in a map of values.
    pub fn get(&self, name: &str) -> Option<&ScriptValue> {
        let mut pairs = self.pairs().iter().rev();
        pairs.find(|(key, _)| key.key_text().as_deref() == Some(name)).map(|(_, value)| value)
    }

    /// The place of a name in a list or a map of names.
    pub fn find_name(&self, name: &str) -> Option<SourcePosition> {
        let is_it = |value: &&ScriptValue| value.key_text().as_deref() == Some(name);
        match &self.tree {
            Tree::List(items) => items.iter().find_map(|item| match &item.tree {
                Tree::Map(_) => item.find_name(name),
                _ => Some(item).filter(is_it).map(|item| item.position),
            }),
            Tree::Map(pairs) => {
                let id = pairs.iter().filter(|(key, _)| key.as_text() == Some("id"));
                let ids = id.map(|(_, value)| value).chain(pairs.iter().map(|(key, _)| key));
                ids.into_iter().find(is_it).map(|key| key.position)
            }
            _ => Some(self).filter(is_it).map(|node| node.position),
        }
    }

    /// The text of a key: any scalar can be one.
    pub fn key_text(&self) -> Option<String> {
        match &self.tree {
            Tree::Text(text) => Some(text.clone()),
            Tree::Number(number) => Some(number.to_string()),
            Tree::Bool(is) => Some(is.to_string()),
            Tree::Null => Some(String::new()),
            Tree::List(_) | Tree::Map(_) => None,
        }
    }

    /// The value without tags and places. A key that is itself a list or a map is omitted.
    pub fn to_value(&self) -> Value {
        match &self.tree {
            Tree::Null => Value::Null,
            Tree::Bool(is) => Value::Bool(*is),
            Tree::Number(number) => Value::Number(number.clone()),
            Tree::Text(text) => Value::String(text.clone()),
            Tree::List(items) => items.iter().map(ScriptValue::to_value).collect(),
            Tree::Map(pairs) => {
                let entries = pairs.iter().filter_map(|(k, v)| Some((k.key_text()?, v.to_value())));
                Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }
}

type TreeError = (LocalizedText, SourcePosition);

/// Parses the one document of a text; `source` maps a place to its real one.
pub fn read(
    yaml: &str,
    source: &dyn Fn(SourcePosition) -> SourcePosition,
) -> Result<ScriptValue, TreeError> {
    let mut builder = TreeBuilder { source, ..TreeBuilder::new(source) };
    let mut documents = 0;
    for event in Parser::new_from_str(yaml) {
        let (event, span) = event.map_err(|error| builder.scan_error(&error, yaml))?;
        if matches!(event, Event::DocumentStart(_)) {
            documents += 1;
            if documents > 1 {
                return Err((phrases::TWO_DOCUMENTS.into(), builder.position(span)));
            }
        }
        builder.handle_event(event, span)?;
    }
    Ok(builder.root.unwrap_or_else(|| {
        ScriptValue::new(Tree::Null, source(SourcePosition { line: 1, column: 1 }))
    }))
}

struct TreeBuilder<'a> {
    source: &'a dyn Fn(SourcePosition) -> SourcePosition,
    open: Vec<OpenNode>,
    root: Option<ScriptValue>,
    anchors: BTreeMap<usize, (ScriptValue, usize)>,
    nodes: usize,
}

/// A collection that has not ended.
struct OpenNode {
    node: ScriptValue,
    /// Where it begins, in characters.
    start: usize,
    anchor: usize,
    /// A key whose value has not been read yet.
    key: Option<ScriptValue>,
    is_map: bool,
    /// The number of nodes when it began.
    nodes_before: usize,
}

impl<'a> TreeBuilder<'a> {
    fn new(source: &'a dyn Fn(SourcePosition) -> SourcePosition) -> TreeBuilder<'a> {
        TreeBuilder { source, open: Vec::new(), root: None, anchors: BTreeMap::new(), nodes: 0 }
    }

    fn position(&self, span: Span) -> SourcePosition {
        (self.source)(position_at(span.start.line(), span.start.col()))
    }

    /// A bracket that is still open from a line above is what is wrong.
    fn scan_error(&self, error: &ScanError, yaml: &str) -> TreeError {
        let at = error.marker();
        let position = (self.source)(position_at(at.line(), at.col()));
        let open = self.open.iter().filter(|open| open.node.position.line < position.line);
        let bracket = |open: &OpenNode| {
            let sign = yaml.chars().nth(open.start).filter(|sign| matches!(sign, '[' | '{'))?;
            Some((phrases::FLOW_OPEN.with("sign", sign.to_string()), open.node.position))
        };
        let said = || phrases::NOT_YAML.with("why", explain_error(error.info()));
        open.filter_map(bracket).next().unwrap_or_else(|| (said(), position))
    }

    fn handle_event(&mut self, event: Event<'_>, span: Span) -> Result<(), TreeError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tree = parse_scalar(&text, style, tag.as_deref());
                let value = ScriptValue {
                    tree,
                    tag: custom_tag(tag.as_deref()),
                    position: self.position(span),
                    text_below: match style {
                        ScalarStyle::Literal | ScalarStyle::Folded => 1,
                        _ => 0,
                    },
                };
                self.count_nodes(1, span)?;
                self.add_node(value, anchor, 1, span)
            }
            Event::SequenceStart(anchor, tag) => {
                self.begin_collection(Tree::List(Vec::new()), anchor, tag.as_deref(), span)
            }
            Event::MappingStart(anchor, tag) => {
                self.begin_collection(Tree::Map(Vec::new()), anchor, tag.as_deref(), span)
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => {
                    let size = self.nodes - open.nodes_before;
                    self.add_node(open.node, open.anchor, size, span)
                }
                None => Ok(()),
            },
            Event::Alias(anchor) => {
                let known = self.anchors.get(&anchor).cloned();
                let Some((node, size)) = known else {
                    return Err((phrases::NO_ANCHOR.into(), self.position(span)));
                };
                self.count_nodes(size, span)?;
                self.add_node(node, 0, size, span)
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn begin_collection(
        &mut self,
        tree: Tree,
        anchor: usize,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<(), TreeError> {
        if self.open.len() >= MAX_DEPTH {
            return Err((phrases::TOO_DEEP.with("most", MAX_DEPTH), self.position(span)));
        }
        let since = self.nodes;
        self.count_nodes(1, span)?;
        let is_map = matches!(tree, Tree::Map(_));
        let value =
            ScriptValue { tag: custom_tag(tag), ..ScriptValue::new(tree, self.position(span)) };
        let start = span.start.index();
        let node = value;
        self.open.push(OpenNode { node, start, anchor, key: None, is_map, nodes_before: since });
        Ok(())
    }

    fn count_nodes(&mut self, nodes: usize, span: Span) -> Result<(), TreeError> {
        self.nodes += nodes;
        if self.nodes > MAX_NODES {
            Err((phrases::TOO_MANY.with("most", MAX_NODES), self.position(span)))
        } else {
            Ok(())
        }
    }

    fn add_node(
        &mut self,
        value: ScriptValue,
        anchor: usize,
        size: usize,
        span: Span,
    ) -> Result<(), TreeError> {
        if anchor > 0 {
            self.anchors.insert(anchor, (value.clone(), size));
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(value);
            return Ok(());
        };
        match &mut open.node.tree {
            Tree::List(items) => items.push(value),
            Tree::Map(pairs) => match open.key.take() {
                Some(key) => pairs.push((key, value)),
                None if matches!(value.tree, Tree::List(_) | Tree::Map(_)) && open.is_map => {
                    return Err((
                        phrases::KEY_NO_TEXT.into(),
                        (self.source)(self.key_position(span)),
                    ));
                }
                None => open.key = Some(value),
            },
            _ => {}
        }
        Ok(())
    }

    fn key_position(&self, span: Span) -> SourcePosition {
        position_at(span.start.line(), span.start.col())
    }
}

fn position_at(line: usize, column: usize) -> SourcePosition {
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    SourcePosition { line: small(line.max(1)), column: small(column + 1) }
}

/// The words of the YAML parser, with advice for the most common mistakes.
fn explain_error(info: &str) -> String {
    let info: String = info.chars().filter(|c| !c.is_control()).take(200).collect();
    let hint = if info.contains("mapping values are not allowed") || info.contains("simple key") {
        "; quote a text that holds `: `, and put a dash before a `$directive` that has keys below it"
    } else if ["cannot start any token", "invalid indentation", "unexpected character"]
        .iter()
        .any(|said| info.contains(said))
    {
        "; quote a text that begins with `@`, `` ` ``, `%`, `[` or `{`"
    } else {
        ""
    };
    format!("{info}{hint}")
}

fn custom_tag(tag: Option<&Tag>) -> Option<String> {
    let tag = tag?;
    (!tag.is_yaml_core_schema()).then(|| tag.suffix.clone())
}

fn parse_scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Tree {
    let as_text = match tag {
        Some(tag) => !tag.is_yaml_core_schema() || tag.suffix == "str",
        None => style != ScalarStyle::Plain,
    };
    if as_text { Tree::Text(text.to_owned()) } else { parse_plain(text) }
}

/// The core schema of YAML 1.2.
fn parse_plain(text: &str) -> Tree {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Tree::Null,
        "true" | "True" | "TRUE" => return Tree::Bool(true),
        "false" | "False" | "FALSE" => return Tree::Bool(false),
        _ => {}
    }
    match parse_number(text) {
        Some(number) => Tree::Number(number),
        None => Tree::Text(text.to_owned()),
    }
}

fn parse_number(text: &str) -> Option<Number> {
    let starts = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !starts.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16).ok().map(Number::from);
    }
    if let Some(octal) = text.strip_prefix("0o") {
        return i64::from_str_radix(octal, 8).ok().map(Number::from);
    }
    let digits = text.strip_prefix('+').unwrap_or(text);
    if let Ok(whole) = digits.parse::<i64>() {
        return Some(Number::from(whole));
    }
    let is_float = starts.chars().any(|c| c.is_ascii_digit())
        && starts.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-' | '+'));
    if !is_float {
        return None;
    }
    Number::from_f64(digits.parse().ok()?)
}
