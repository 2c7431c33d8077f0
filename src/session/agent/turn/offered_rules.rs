//! The rules that a question offers to remember.

use std::path::Path;

use avocet_core::i18n::LocalizedText;
use avocet_safety::{self as safety, Grant};

/// The rules that would be remembered, as the question shows them.
pub fn joined_rules(grants: &[Grant]) -> Option<String> {
    let rules: Vec<String> = grants.iter().map(|grant| grant.rule.to_string()).collect();
    (!rules.is_empty()).then(|| rules.join(", "))
}

/// What they cover, each sentence once.
pub fn joined_coverage(grants: &[Grant], folder: &Path) -> Vec<LocalizedText> {
    let mut texts: Vec<LocalizedText> = Vec::new();
    for grant in grants {
        for say in safety::describe_coverage(&grant.rule, Some(&grant.terms), folder) {
            if !texts.contains(&say) {
                texts.push(say);
            }
        }
    }
    texts
}
