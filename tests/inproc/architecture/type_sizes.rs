//! How many methods and fields each type has. Its inherent methods count over all files together, as
//! splitting an `impl` makes no type smaller; what it does for a trait does not.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};
use syn::{Attribute, Fields, ImplItem, Item, Type};

use super::modules::{Modules, name_of};
use super::syntax::{Code, NamedPath, attributes, is_test};

/// A type by the path of its file and its own name: `tui::composer::Composer`.
pub type TypeName = String;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TypeSize {
    pub methods: usize,
    /// None are counted of types whose fields a wire or a file names.
    pub fields: usize,
}

/// The types of a file and the blocks of methods in it.
#[derive(Debug, Default)]
pub struct TypeParts {
    fields: Vec<(String, usize)>,
    methods: Vec<(NamedPath, usize)>,
    inside: Vec<String>,
}

impl TypeParts {
    pub fn of(file: &syn::File) -> TypeParts {
        let mut parts = TypeParts::default();
        parts.visit_file(file);
        parts
    }
}

impl<'ast> Visit<'ast> for TypeParts {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.inside.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.inside.pop();
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let count = match &item.fields {
            Fields::Named(fields) => fields.named.len(),
            Fields::Unnamed(fields) => fields.unnamed.len(),
            Fields::Unit => 0,
        };
        let count = if is_wire(&item.attrs) { 0 } else { count };
        self.fields.push((item.ident.to_string(), count));
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.fields.push((item.ident.to_string(), 0));
    }

    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        let is_method =
            |item: &&ImplItem| matches!(item, ImplItem::Fn(method) if !is_test(&method.attrs));
        if let (None, Type::Path(path)) = (&block.trait_, &*block.self_ty) {
            let segments = &path.path.segments;
            let segments = segments.iter().map(|segment| segment.ident.to_string()).collect();
            let path = NamedPath { segments, inside: self.inside.clone(), line: 0 };
            self.methods.push((path, block.items.iter().filter(is_method).count()));
        }
    }
}

/// `#[derive(Serialize)]` or `#[derive(Deserialize)]`, also with the crate's name.
fn is_wire(attributes: &[Attribute]) -> bool {
    let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    derives.filter_map(|attribute| attribute.meta.require_list().ok()).any(|list| {
        let names = list.tokens.to_string();
        names.contains("Serialize") || names.contains("Deserialize")
    })
}

/// All types of these files, each with its path, its code and its parts.
pub fn type_sizes<'a>(
    modules: &Modules,
    files: impl Iterator<Item = (&'a str, &'a Code, &'a TypeParts)>,
) -> BTreeMap<TypeName, TypeSize> {
    let mut sizes: BTreeMap<TypeName, TypeSize> = BTreeMap::new();
    for (path, code, parts) in files {
        let file = name_of(path);
        for (name, count) in &parts.fields {
            sizes.entry(named(&file, name)).or_default().fields += count;
        }
        for (kind, count) in &parts.methods {
            let Some(name) = kind.segments.last() else { continue };
            let is_here =
                kind.segments.len() == 1 && parts.fields.iter().any(|(here, _)| here == name);
            let path = NamedPath { segments: code.expand(kind), ..kind.clone() };
            let elsewhere = if is_here { None } else { modules.defines(&file, &path) };
            let owner = elsewhere.as_ref().unwrap_or(&file);
            sizes.entry(named(owner, name)).or_default().methods += count;
        }
    }
    sizes
}

fn named(file: &[String], name: &str) -> TypeName {
    [file, &[name.to_owned()]].concat().join("::")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(files: &[(&str, &str)]) -> Vec<(TypeName, usize, usize)> {
        let read: Vec<(&str, Code, TypeParts)> = files
            .iter()
            .map(|(path, text)| {
                let file = syn::parse_file(text).unwrap();
                (*path, Code::of(&file), TypeParts::of(&file))
            })
            .collect();
        let modules = Modules::new(read.iter().map(|(path, code, _)| (*path, code)));
        type_sizes(&modules, read.iter().map(|(path, code, parts)| (*path, code, parts)))
            .into_iter()
            .map(|(name, size)| (name, size.methods, size.fields))
            .collect()
    }

    #[test]
    fn methods_of_all_files_are_those_of_one_type() {
        let files = [
            ("src/tui/lib.rs", "mod a;"),
            ("src/tui/a.rs", "mod b; pub struct Wide { x: u8, y: u8 } impl Wide { fn one() {} }"),
            (
                "src/tui/a/b.rs",
                "use super::Wide; impl Wide { fn two() {} fn three() {} } struct Other(u8);
                 impl crate::a::Wide { fn four() {} } impl Other { fn f() {} }",
            ),
        ];
        let expected = [("tui::a::Wide".to_owned(), 4, 2), ("tui::a::b::Other".to_owned(), 1, 1)];
        assert_eq!(sizes(&files), expected);
    }

    #[test]
    fn traits_tests_and_the_fields_of_wire_types_do_not_count() {
        let text = "#[derive(Debug, serde::Serialize)] struct Wire { a: u8, b: u8 }
            impl Wire { #[cfg(test)] fn f() {} fn g() {} } impl Drop for Wire { fn drop(&mut self) {} }
            #[cfg(test)] impl Wire { fn h() {} }";
        assert_eq!(sizes(&[("src/a.rs", text)]), [("a::Wire".to_owned(), 1, 0)]);
    }
}
