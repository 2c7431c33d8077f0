//! The cases of the script language, told in `tests/scripts/*.md`. A heading `## …` begins a case,
//! prose says what it is about, and fences hold what is run and what must come of it. The word
//! behind the language of a fence says which it is:
//!
//! | block | holds |
//! |---|---|
//! | `script.ai.yaml` | the script that is run |
//! | another file name | a file beside it |
//! | `args` | the arguments, as JSON |
//! | `llm` | the replies of the model in their order, as JSON: a text, or an object as a server sends it |
//! | `expect` | what must come of it, as JSON; `tests/inproc/scripts.rs` lists the keys |

use std::fs;
use std::path::Path;

use serde_json::Value;

#[derive(Clone, Debug)]
pub struct ScriptCase {
    /// Its file and heading, as a failure names it.
    pub place: String,
    pub title: String,
    blocks: Vec<(String, String)>,
}

/// Blocks that are no files beside the script.
const DATA: [&str; 3] = ["args", "llm", "expect"];

impl ScriptCase {
    fn new(file: &str, title: &str) -> ScriptCase {
        let place = format!("tests/scripts/{file}: {title}");
        ScriptCase { place, title: title.to_owned(), blocks: Vec::new() }
    }

    fn block(&self, name: &str) -> Option<&str> {
        let found = self.blocks.iter().find(|(known, _)| known == name);
        found.map(|(_, text)| text.as_str())
    }

    /// One of the blocks of JSON.
    pub fn json(&self, name: &str) -> Option<Value> {
        let text = self.block(name)?;
        let value = serde_json::from_str(text);
        Some(value.unwrap_or_else(|error| panic!("{}: `{name}`: {error}", self.place)))
    }

    /// The script and the files beside it.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.blocks.iter().filter(|(name, _)| !DATA.contains(&name.as_str()));
        files.map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Writes the script and the files beside it.
    pub fn write_to(&self, folder: &Path) {
        for (name, text) in self.files() {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    /// What makes it no case that can be run: a misspelt block would test nothing.
    fn fault(&self) -> Option<String> {
        let mut names: Vec<&str> = self.blocks.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
        let stray = names.iter().find(|name| !name.contains('.') && !DATA.contains(name));
        match (twice, stray) {
            (Some(name), _) => Some(format!("`{name}` stands twice")),
            (_, Some(name)) => Some(format!("`{name}` is neither a file nor one of {DATA:?}")),
            _ if self.block("script.ai.yaml").is_none() => Some("the script is missing".to_owned()),
            _ if self.block("expect").is_none() => Some("nothing is expected of it".to_owned()),
            _ => None,
        }
    }
}

/// The cases of a text.
fn parse(file: &str, markdown: &str) -> Result<Vec<ScriptCase>, String> {
    let mut cases: Vec<ScriptCase> = Vec::new();
    let mut open: Option<(String, String)> = None;
    for (number, line) in (1..).zip(markdown.lines()) {
        let place = || format!("tests/scripts/{file}:{number}");
        match (&mut open, line.strip_prefix("```"), line.strip_prefix("## ")) {
            (None, Some(head), _) => {
                let name = head.split_once(' ').map(|(_, name)| name);
                let name = name.ok_or_else(|| format!("{}: a block without a name", place()))?;
                open = Some((name.to_owned(), String::new()));
            }
            (Some(_), Some(_), _) => {
                let case = cases.last_mut();
                let case = case.ok_or_else(|| format!("{}: a block above a heading", place()))?;
                case.blocks.extend(open.take());
            }
            (Some((_, text)), None, _) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None, Some(title)) => cases.push(ScriptCase::new(file, title)),
            (None, None, None) => {}
        }
    }
    if let Some((name, _)) = open {
        return Err(format!("tests/scripts/{file}: the block `{name}` has no end"));
    }
    match cases.iter().find_map(|case| Some(format!("{}: {}", case.place, case.fault()?))) {
        Some(fault) => Err(fault),
        None => Ok(cases),
    }
}

/// The cases of one file of `tests/scripts`.
pub fn script_cases_of(file: &str) -> Vec<ScriptCase> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts").join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    parse(file, &text).unwrap_or_else(|fault| panic!("{fault}"))
}

/// All cases, file by file.
pub fn script_cases() -> Vec<ScriptCase> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names.iter().flat_map(|name| script_cases_of(name)).collect()
}

/// What [`script_cases_of`] has against a text, for the test of it.
pub fn script_case_fault(markdown: &str) -> Option<String> {
    parse("x.md", markdown).err()
}
