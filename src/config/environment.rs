//! The environment of the process, read only here. All other code is given an [`Environment`], so a
//! test makes its own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

/// Variables by name, owned.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// The variables of this process.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    pub fn from_process() -> Environment {
        Environment { variables: std::env::vars_os().collect() }
    }

    pub fn from_pairs<N, V>(variables: impl IntoIterator<Item = (N, V)>) -> Environment
    where
        N: Into<OsString>,
        V: Into<OsString>,
    {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        Environment { variables: variables.collect() }
    }

    /// A variable as text. An empty one, or one that is not UTF-8, counts as not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(OsStr::new(name))?.to_str().filter(|value| !value.is_empty())
    }

    /// A variable as a path; an empty one counts as not set.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let value = self.variables.get(OsStr::new(name))?;
        (!value.is_empty()).then(|| PathBuf::from(value))
    }

    /// All variables, to pass on to children.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

/// Names only: values may be secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_counts_as_not_set() {
        let environment = Environment::from_pairs([("A", ""), ("B", "x")]);
        assert_eq!(environment.get("A"), None);
        assert_eq!(environment.path("A"), None);
        assert_eq!(environment.get("B"), Some("x"));
    }

    #[test]
    fn the_debug_form_never_shows_a_value() {
        let shown = format!("{:?}", Environment::from_pairs([("OPENAI_API_KEY", "sk-secret")]));
        assert!(shown.contains("OPENAI_API_KEY") && !shown.contains("sk-secret"), "{shown}");
    }
}
