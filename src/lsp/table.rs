//! The servers that are known without a word of the user. Of several for one language the first that
//! is installed is used.

/// How a server is started, which files it is for, and what is in the folder that it starts in.
pub(crate) struct ServerRow {
    pub name: &'static str,
    pub command: &'static [&'static str],
    /// Endings of names, each with the language it means to the protocol.
    pub languages: &'static [(&'static str, &'static str)],
    /// Files of a project's folder.
    pub roots: &'static [&'static str],
}

const PYTHON: &[(&str, &str)] = &[("py", "python"), ("pyi", "python")];
#[rustfmt::skip]
const PYTHON_ROOTS: &[&str] = &["pyrightconfig.json", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"];
const SCRIPTS: &[(&str, &str)] = &[
    ("ts", "typescript"),
    ("mts", "typescript"),
    ("cts", "typescript"),
    ("tsx", "typescriptreact"),
    ("js", "javascript"),
    ("mjs", "javascript"),
    ("cjs", "javascript"),
    ("jsx", "javascriptreact"),
];
const C: &[(&str, &str)] = &[
    ("c", "c"),
    ("h", "cpp"),
    ("cc", "cpp"),
    ("cpp", "cpp"),
    ("cxx", "cpp"),
    ("hh", "cpp"),
    ("hpp", "cpp"),
    ("m", "objective-c"),
    ("mm", "objective-cpp"),
];

#[rustfmt::skip]
pub(crate) const SERVERS: &[ServerRow] = &[
    ServerRow { name: "rust-analyzer",              command: &["rust-analyzer"],                       languages: &[("rs", "rust")],                    roots: &["Cargo.toml", "rust-project.json"] },
    ServerRow { name: "gopls",                      command: &["gopls"],                               languages: &[("go", "go")],                      roots: &["go.work", "go.mod"] },
    ServerRow { name: "typescript-language-server", command: &["typescript-language-server", "--stdio"], languages: SCRIPTS,                            roots: &["tsconfig.json", "jsconfig.json", "package.json"] },
    ServerRow { name: "basedpyright",               command: &["basedpyright-langserver", "--stdio"],  languages: PYTHON,                               roots: PYTHON_ROOTS },
    ServerRow { name: "pyright",                    command: &["pyright-langserver", "--stdio"],       languages: PYTHON,                               roots: PYTHON_ROOTS },
    ServerRow { name: "clangd",                     command: &["clangd"],                              languages: C,                                    roots: &["compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt", "meson.build", "Makefile"] },
    ServerRow { name: "jdtls",                      command: &["jdtls"],                               languages: &[("java", "java")],                  roots: &["settings.gradle", "settings.gradle.kts", "pom.xml", "build.gradle", "build.gradle.kts"] },
    ServerRow { name: "zls",                        command: &["zls"],                                 languages: &[("zig", "zig")],                    roots: &["build.zig"] },
    ServerRow { name: "lua-language-server",        command: &["lua-language-server"],                 languages: &[("lua", "lua")],                    roots: &[".luarc.json", ".luarc.jsonc"] },
    ServerRow { name: "ruby-lsp",                   command: &["ruby-lsp"],                            languages: &[("rb", "ruby")],                    roots: &["Gemfile"] },
    ServerRow { name: "intelephense",               command: &["intelephense", "--stdio"],             languages: &[("php", "php")],                    roots: &["composer.json"] },
    ServerRow { name: "kotlin-language-server",     command: &["kotlin-language-server"],              languages: &[("kt", "kotlin"), ("kts", "kotlin")], roots: &["settings.gradle", "settings.gradle.kts", "build.gradle.kts", "pom.xml"] },
    ServerRow { name: "csharp-ls",                  command: &["csharp-ls"],                           languages: &[("cs", "csharp")],                  roots: &["global.json", "Directory.Build.props"] },
    ServerRow { name: "elixir-ls",                  command: &["elixir-ls"],                           languages: &[("ex", "elixir"), ("exs", "elixir")], roots: &["mix.exs"] },
    ServerRow { name: "haskell-language-server",    command: &["haskell-language-server-wrapper", "--lsp"], languages: &[("hs", "haskell")],            roots: &["cabal.project", "stack.yaml", "package.yaml"] },
    ServerRow { name: "ocamllsp",                   command: &["ocamllsp"],                            languages: &[("ml", "ocaml"), ("mli", "ocaml.interface")], roots: &["dune-project"] },
    ServerRow { name: "sourcekit-lsp",              command: &["sourcekit-lsp"],                       languages: &[("swift", "swift")],                roots: &["Package.swift"] },
    ServerRow { name: "dart",                       command: &["dart", "language-server"],             languages: &[("dart", "dart")],                  roots: &["pubspec.yaml"] },
    ServerRow { name: "bash-language-server",       command: &["bash-language-server", "start"],       languages: &[("sh", "shellscript"), ("bash", "shellscript")], roots: &[] },
];
