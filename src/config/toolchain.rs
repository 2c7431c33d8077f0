//! The toolchain that rustup uses where no project overrides it. Steps that run without asking get
//! it, so that no file of a project chooses the program that runs. Also tells
//! which programs are missing components.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Environment;

/// `stable-x86_64-unknown-linux-gnu`; `None` if rustup is not used, or has none.
pub fn default(environment: &Environment, home: &Path) -> Option<String> {
    if let Some(named) = environment.get("RUSTUP_TOOLCHAIN").filter(|named| is_plain_name(named)) {
        return Some(named.to_owned());
    }
    let text = fs::read_to_string(folder(environment, home).join("settings.toml")).ok()?;
    let table: toml::Table = text.parse().ok()?;
    let named = table.get("default_toolchain")?.as_str()?;
    is_plain_name(named).then(|| named.to_owned())
}

fn folder(environment: &Environment, home: &Path) -> PathBuf {
    environment.path("RUSTUP_HOME").unwrap_or_else(|| home.join(".rustup"))
}

/// Whether a program is rustup under another name, for a component that no toolchain has: it would
/// only say so.
pub fn is_missing_component(program: &Path, environment: &Environment, home: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    let rustup = identity(&program.with_file_name("rustup"));
    let Some(name) = program.file_name().filter(|_| rustup.is_some()) else { return false };
    if identity(program) != rustup {
        return false;
    }
    let toolchains = fs::read_dir(folder(environment, home).join("toolchains"));
    let mut toolchains = toolchains.into_iter().flatten().flatten();
    !toolchains.any(|toolchain| toolchain.path().join("bin").join(name).is_file())
}

/// A name, not a path.
fn is_plain_name(name: &str) -> bool {
    let of_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    !name.is_empty() && name.len() < 200 && name.chars().all(of_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_only_stands_for_a_component_is_missing_until_the_component_is_there() {
        let home = tempfile::tempdir().unwrap();
        let none = Environment::default();
        let bin = home.path().join(".cargo/bin");
        fs::create_dir_all(&bin).unwrap();
        fs::write(bin.join("rustup"), "").unwrap();
        fs::write(bin.join("other"), "").unwrap();
        fs::hard_link(bin.join("rustup"), bin.join("rust-analyzer")).unwrap();
        std::os::unix::fs::symlink("rustup", bin.join("rustfmt")).unwrap();
        let is_missing = |name: &str| is_missing_component(&bin.join(name), &none, home.path());
        assert!(is_missing("rust-analyzer") && is_missing("rustfmt") && !is_missing("other"));
        let toolchain = home.path().join(".rustup/toolchains/stable/bin");
        fs::create_dir_all(&toolchain).unwrap();
        fs::write(toolchain.join("rust-analyzer"), "").unwrap();
        assert!(!is_missing("rust-analyzer") && is_missing("rustfmt"));
    }

    #[test]
    fn the_rustup_default_is_found_unless_it_is_a_path() {
        let home = tempfile::tempdir().unwrap();
        let none = Environment::default();
        assert_eq!(default(&none, home.path()), None);
        let file = home.path().join(".rustup/settings.toml");
        fs::create_dir(file.parent().unwrap()).unwrap();
        fs::write(&file, "default_toolchain = \"stable-x86_64\"\n[overrides]\n").unwrap();
        assert_eq!(default(&none, home.path()).as_deref(), Some("stable-x86_64"));
        fs::write(&file, "default_toolchain = \"/w/evil\"").unwrap();
        assert_eq!(default(&none, home.path()), None);
        let named = Environment::from_pairs([("RUSTUP_TOOLCHAIN", "nightly")]);
        assert_eq!(default(&named, home.path()).as_deref(), Some("nightly"));
    }
}
