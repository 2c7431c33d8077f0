//! The part of Go's `text/template` that model files of Ollama and LocalAI use: fields, variables,
//! `if`, `with`, `range`, pipes, comparisons, `printf`, trim marks. `define` and `template` are not
//! supported and are refused with a sentence.

mod call;
mod eval;
mod lex;
mod names;
mod parse;

use serde_json::Value;

use super::{TemplateFault, TemplateNames};
use crate::error::ScriptError;

pub(super) fn render(text: &str, data: &Value) -> Result<String, ScriptError> {
    let nodes = parse::parse(text)?;
    eval::run(&nodes, data)
}

/// Parses a template without rendering it, and finds the names it reads.
pub(super) fn compile(text: &str) -> Result<TemplateNames, TemplateFault> {
    let nodes = parse::parse(text).map_err(|why| TemplateFault { line: None, why })?;
    let found = names::read(&nodes);
    let fault = |(name, line): (&str, usize)| {
        let why = call::unknown_function_error(name, line);
        TemplateFault { line: Some(line), why }
    };
    let unknown = found.functions.iter().find(|(name, _)| !call::FUNCTIONS.contains(name));
    match unknown.copied().map(fault) {
        Some(fault) => Err(fault),
        None => Ok(TemplateNames { variables: found.required(), ..TemplateNames::default() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_tells_the_names_that_it_needs() {
        for (text, needed) in [
            ("{{ .a }} and {{.b.c}}", &["a", "b"][..]),
            // What a condition asks about may be missing.
            ("{{ if .a }}{{ .a }}{{ else }}{{ .b }}{{ end }}", &["b"]),
            ("{{ with .a }}{{ .inside }}{{ end }}{{ .b }}", &["b"]),
            ("{{ range $i, $m := .messages }}{{ $m.role }}{{ .role }}{{ $.a }}{{ end }}", &["a"]),
            ("{{ default \"x\" .a }}{{ .b | default 1 }}", &[]),
            ("{{ printf \"%s\" (upper .a) }}{{ $x := .b }}{{ $x }}", &["a", "b"]),
            ("{{ . }} {{/* .c */}}", &[]),
        ] {
            assert_eq!(compile(text).unwrap().variables, needed, "{text}");
        }
    }

    #[test]
    fn a_function_that_does_not_exist_is_found() {
        let fault = compile("a\n{{ if true }}{{ uper .a }}{{ end }}").unwrap_err();
        assert_eq!(fault.line, Some(2));
        assert!(fault.why.to_string().contains("there is no function `uper`"), "{}", fault.why);
        for name in call::FUNCTIONS {
            let called = render(&format!("{{{{ {name} 1 2 }}}}"), &Value::Null);
            let is_unknown = called.is_err_and(|why| why.to_string().contains("no function"));
            assert!(!is_unknown, "{name}");
        }
    }
}
