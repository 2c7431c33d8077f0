//! Formats a step as one line for the command line.

use crate::protocol::StepAction;

/// The program with its arguments, quoted where needed; a tool with its input.
pub fn action_line(work: &StepAction) -> String {
    match work {
        StepAction::Exec { program, args } => {
            let words = std::iter::once(program).chain(args);
            words.map(|word| quote(word)).collect::<Vec<_>>().join(" ")
        }
        StepAction::Tool { name, input } => StepAction::summary(name, input),
        StepAction::Shell { line } => line.clone(),
    }
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,^~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    // A newline in an argument must not look like the end of the line.
    let escaped = word.replace('\'', r"'\''");
    let letters = escaped.chars().map(|c| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    });
    format!("'{}'", letters.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_arguments_can_be_distinguished() {
        let args = ["commit", "-m", "it's\nme", "", "a b", "中文"];
        let expected = r"git commit -m 'it'\''s\nme' '' 'a b' 中文";
        assert_eq!(action_line(&StepAction::exec("git", &args)), expected);
    }
}
