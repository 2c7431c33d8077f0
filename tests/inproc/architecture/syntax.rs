//! The source as a syntax tree: each path in a file, with its line and the module around it. Unit
//! tests are left out, wherever they are.

use std::collections::HashMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, UseTree};

/// A path as it is written, in a module below its file's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPath {
    pub segments: Vec<String>,
    pub inside: Vec<String>,
    pub line: usize,
}

/// One leaf of a `use`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    pub path: NamedPath,
    /// The name it has here; `*` for all.
    pub name: String,
    pub is_public: bool,
}

#[derive(Debug, Default)]
pub struct Code {
    pub paths: Vec<NamedPath>,
    pub imports: Vec<Import>,
    /// Lines with `async` or `.await`.
    pub waits: Vec<usize>,
    /// Macros by their last name, with their line.
    pub macros: Vec<(String, usize)>,
    inside: Vec<String>,
    /// The places of imports by their names.
    by_name: HashMap<String, Vec<usize>>,
}

impl Code {
    pub fn of(file: &syn::File) -> Code {
        let mut code = Code::default();
        code.visit_file(file);
        for (place, import) in code.imports.iter().enumerate() {
            code.by_name.entry(import.name.clone()).or_default().push(place);
        }
        code
    }

    /// What a path means with the file's imports put in: `p::Command` after
    /// `use std::process as p` is `std::process::Command`.
    pub fn expand(&self, path: &NamedPath) -> Vec<String> {
        let mut segments = path.segments.clone();
        for _ in 0..4 {
            let Some(head) = segments.first() else { break };
            let known = self.imported_as(head).find(|import| {
                path.inside.starts_with(&import.path.inside)
                    && import.path.segments.first() != Some(head)
            });
            let Some(import) = known else { break };
            segments.splice(..1, import.path.segments.iter().cloned());
        }
        segments
    }

    pub fn imported_as(&self, name: &str) -> impl Iterator<Item = &Import> {
        self.by_name.get(name).into_iter().flatten().map(|place| &self.imports[*place])
    }

    fn named(&self, segments: Vec<String>, line: usize) -> NamedPath {
        NamedPath { segments, inside: self.inside.clone(), line }
    }

    fn import(&mut self, tree: &UseTree, before: &[String], is_public: bool) {
        let with = |name: String| [before, &[name]].concat();
        match tree {
            UseTree::Path(path) => {
                self.import(&path.tree, &with(path.ident.to_string()), is_public);
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|item| self.import(item, before, is_public));
            }
            UseTree::Name(name) if name.ident == "self" => {
                let own = before.last().cloned().unwrap_or_default();
                self.add_import(before.to_vec(), own, name.span(), is_public);
            }
            UseTree::Name(name) => {
                let own = name.ident.to_string();
                self.add_import(with(own.clone()), own, name.span(), is_public);
            }
            UseTree::Rename(rename) => {
                let own = rename.ident.to_string();
                let path = if own == "self" { before.to_vec() } else { with(own) };
                self.add_import(path, rename.rename.to_string(), rename.span(), is_public);
            }
            UseTree::Glob(glob) => {
                self.add_import(before.to_vec(), "*".to_owned(), glob.span(), is_public);
            }
        }
    }

    fn add_import(
        &mut self,
        segments: Vec<String>,
        name: String,
        span: proc_macro2::Span,
        is_public: bool,
    ) {
        let path = self.named(segments, span.start().line);
        self.imports.push(Import { path, name, is_public });
    }

    /// The paths in the tokens of a macro, which need not be Rust.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut run: Vec<String> = Vec::new();
        let (mut line, mut colons) = (0, 0);
        for token in tokens {
            match token {
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                TokenTree::Punct(mark) if mark.as_char() == '!' => {
                    self.macros.extend(run.last().map(|name| (name.clone(), line)));
                    self.end_run(&mut run, line);
                    colons = 0;
                }
                TokenTree::Ident(ident) => {
                    if colons != 2 || run.is_empty() {
                        self.end_run(&mut run, line);
                        line = ident.span().start().line;
                    }
                    if ident == "await" || ident == "async" {
                        self.waits.push(ident.span().start().line);
                    }
                    run.push(ident.to_string());
                    colons = 0;
                }
                other => {
                    self.end_run(&mut run, line);
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.end_run(&mut run, line);
    }

    fn end_run(&mut self, run: &mut Vec<String>, line: usize) {
        if !run.is_empty() {
            let path = self.named(std::mem::take(run), line);
            self.paths.push(path);
        }
    }
}

/// `#[cfg(test)]`, `#[cfg(all(test, unix))]` and `#[test]`.
pub fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.meta.require_list().is_ok_and(|list| {
                    let mut tokens = list.tokens.clone().into_iter();
                    match tokens.next() {
                        Some(TokenTree::Ident(first)) if first == "test" => true,
                        Some(TokenTree::Ident(first)) if first == "all" => {
                            matches!(tokens.next(), Some(TokenTree::Group(of)) if of
                                .stream()
                                .into_iter()
                                .any(|t| matches!(t, TokenTree::Ident(t) if t == "test")))
                        }
                        _ => false,
                    }
                })
    })
}

pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

impl<'ast> Visit<'ast> for Code {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes: &[Attribute] = match item {
            ImplItem::Fn(it) => &it.attrs,
            ImplItem::Const(it) => &it.attrs,
            _ => &[],
        };
        if !is_test(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.inside.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.inside.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let is_public = !matches!(item.vis, syn::Visibility::Inherited);
        self.import(&item.tree, &[], is_public);
    }

    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    // `pub(in path)` limits who may see an item; the item does not use what the path names.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let path_here = self.named(segments, path.span().start().line);
        self.paths.push(path_here);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, of: &'ast syn::Macro) {
        self.visit_path(&of.path);
        let name = of.path.segments.last().map(|segment| segment.ident.to_string());
        self.macros.extend(name.map(|name| (name, of.path.span().start().line)));
        self.tokens(of.tokens.clone());
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        if let Some(word) = &signature.asyncness {
            self.waits.push(word.span().start().line);
        }
        visit::visit_signature(self, signature);
    }

    fn visit_expr_async(&mut self, block: &'ast syn::ExprAsync) {
        self.waits.push(block.async_token.span().start().line);
        visit::visit_expr_async(self, block);
    }

    fn visit_expr_await(&mut self, waited: &'ast syn::ExprAwait) {
        self.waits.push(waited.await_token.span().start().line);
        visit::visit_expr_await(self, waited);
    }
}
