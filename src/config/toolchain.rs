//! The toolchain that rustup uses where no project overrides it. Steps that run without asking get
//! it, so that no file of a project chooses the program that runs.

use std::fs;
use std::path::Path;

use super::Environment;

/// `stable-x86_64-unknown-linux-gnu`; `None` if rustup is not used, or has none.
pub fn default(environment: &Environment, home: &Path) -> Option<String> {
    if let Some(named) = environment.get("RUSTUP_TOOLCHAIN").filter(|named| is_plain_name(named)) {
        return Some(named.to_owned());
    }
    let folder = environment.path("RUSTUP_HOME").unwrap_or_else(|| home.join(".rustup"));
    let text = fs::read_to_string(folder.join("settings.toml")).ok()?;
    let table: toml::Table = text.parse().ok()?;
    let named = table.get("default_toolchain")?.as_str()?;
    is_plain_name(named).then(|| named.to_owned())
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
