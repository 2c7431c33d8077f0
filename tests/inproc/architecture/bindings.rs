//! How many bindings say what they are: a parameter, a field or a `let` of one of the program's own
//! types shares a word with the name of that type. `policy: Policy`, `old_policy: Policy` and
//! `rules: Vec<PolicyRule>` do, `world: Policy` does not.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Expr, FnArg, GenericArgument, Pat, PathArguments, Type};

use super::syntax::{attributes, is_test};

/// Short names that the field uses for a word of a type.
const SHORT: &[(&str, &str)] = &[
    ("cx", "context"),
    ("ctx", "context"),
    ("tx", "sender"),
    ("rx", "receiver"),
    ("msg", "message"),
    ("dir", "directory"),
    ("err", "error"),
    ("env", "environment"),
    ("info", "information"),
];

/// The bindings of some files, by name and type.
#[derive(Debug, Default)]
pub struct Bindings {
    found: Vec<(String, String)>,
}

impl Bindings {
    pub fn read(&mut self, file: &syn::File) {
        self.visit_file(file);
    }

    /// How many there are of the types that `own` names, and those that share no word with theirs.
    pub fn unrelated(&self, own: &BTreeSet<String>) -> (usize, BTreeMap<(&str, &str), usize>) {
        let mut unrelated = BTreeMap::new();
        let ours = self.found.iter().filter(|(_, kind)| own.contains(kind));
        let all = ours
            .inspect(|(name, kind)| {
                if !is_related(name, kind) {
                    *unrelated.entry((name.as_str(), kind.as_str())).or_default() += 1;
                }
            })
            .count();
        (all, unrelated)
    }

    fn add(&mut self, pattern: &Pat, kind: &Type) {
        if let (Pat::Ident(name), Some(kind)) = (pattern, inner_type(kind)) {
            self.found.push((name.ident.to_string(), kind));
        }
    }
}

/// The words of `StepQuestion` and of `step_question`, in small letters and without a plural's `s`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if c == '_' || c.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c != '_') {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    let singular = |word: String| match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => word.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(&word).to_owned(),
    };
    words.into_iter().map(singular).collect()
}

fn is_related(name: &str, kind: &str) -> bool {
    let kind = words(kind);
    words(name).iter().any(|word| {
        let long =
            SHORT.iter().find(|(short, _)| short == word).map_or(word.as_str(), |(_, it)| it);
        kind.iter().any(|of| {
            // `config` is short for `Configuration`, and `judged` is of the verb in `Judgement`.
            of == long
                || of == word
                || word.len() > 3 && of.len() > 3 && of.get(..4) == word.get(..4)
        })
    })
}

/// The type behind references, boxes, options and collections.
fn inner_type(kind: &Type) -> Option<String> {
    match kind {
        Type::Reference(to) => inner_type(&to.elem),
        Type::Slice(of) => inner_type(&of.elem),
        Type::Array(of) => inner_type(&of.elem),
        Type::Paren(of) => inner_type(&of.elem),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let inner = match &last.arguments {
                PathArguments::AngleBracketed(list) => list.args.iter().find_map(|of| match of {
                    GenericArgument::Type(of) => Some(of),
                    _ => None,
                }),
                _ => None,
            };
            let wraps =
                ["Box", "Arc", "Rc", "Option", "Vec", "VecDeque", "Cow", "Mutex", "RefCell"]
                    .iter()
                    .any(|name| last.ident == name);
            match inner.filter(|_| wraps) {
                Some(inner) => inner_type(inner),
                None => Some(last.ident.to_string()),
            }
        }
        _ => None,
    }
}

/// `Policy` for `Policy::new(…)`, `Policy::default()` and `Policy { … }`.
fn made(value: &Expr) -> Option<String> {
    let path = match value {
        Expr::Struct(made) => return Some(made.path.segments.last()?.ident.to_string()),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => &path.path,
            _ => return None,
        },
        _ => return None,
    };
    let mut segments = path.segments.iter().rev();
    let is_made = matches!(segments.next()?.ident.to_string().as_str(), "new" | "default");
    segments.next().filter(|_| is_made).map(|kind| kind.ident.to_string())
}

impl<'ast> Visit<'ast> for Bindings {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_fn_arg(&mut self, argument: &'ast FnArg) {
        if let FnArg::Typed(argument) = argument {
            self.add(&argument.pat, &argument.ty);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if let (Some(name), Some(kind)) = (&field.ident, inner_type(&field.ty)) {
            self.found.push((name.to_string(), kind));
        }
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        for input in &closure.inputs {
            if let Pat::Type(typed) = input {
                self.add(&typed.pat, &typed.ty);
            }
        }
        visit::visit_expr_closure(self, closure);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        let value = local.init.as_ref().and_then(|init| made(&init.expr));
        match (&local.pat, value) {
            (Pat::Type(typed), _) => self.add(&typed.pat, &typed.ty),
            (Pat::Ident(name), Some(kind)) => self.found.push((name.ident.to_string(), kind)),
            _ => {}
        }
        visit::visit_local(self, local);
    }
}

/// The types that a file defines.
pub fn types_of(file: &syn::File) -> Vec<String> {
    let named = |item: &syn::Item| match item {
        syn::Item::Struct(it) => Some(it.ident.to_string()),
        syn::Item::Enum(it) => Some(it.ident.to_string()),
        syn::Item::Trait(it) => Some(it.ident.to_string()),
        _ => None,
    };
    file.items.iter().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unrelated(text: &str) -> Vec<String> {
        let file = syn::parse_file(text).unwrap();
        let mut bindings = Bindings::default();
        bindings.read(&file);
        let own = types_of(&file).into_iter().collect();
        bindings.unrelated(&own).1.keys().map(|(name, _)| (*name).to_owned()).collect()
    }

    #[test]
    fn a_binding_shares_a_word_with_its_type() {
        let types = "struct Policy; struct PolicyRule; struct StepQuestion; struct DrawContext;";
        let related = "fn f(old_policy: &Policy, rules: Vec<PolicyRule>, cx: &mut DrawContext) {
            let question: Option<Box<StepQuestion>> = None; let policy = Policy::default(); }";
        assert_eq!(unrelated(&format!("{types}{related}")), Vec::<String>::new());
    }

    #[test]
    fn a_parameter_a_field_and_a_let_of_another_name_are_counted() {
        let text = "struct Policy; struct Other { world: Policy, count: usize }
            fn f(ground: &Policy) { let seat = Policy::new(); let desk: Policy = g(); |pen: Policy| 1; }
            #[cfg(test)] mod tests { fn f(torn: Policy) {} }";
        assert_eq!(unrelated(text), ["desk", "ground", "pen", "seat", "world"]);
    }
}
