//! Patterns for the names of models: `*` is any text, `?` one character, `[12]` one of these.

/// Whether `pattern` covers `name`, whatever the case. A name may have a folder before it
/// (`openai/gpt-5`, `models/gemini-3-flash`), which a pattern may leave out.
pub fn covers(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.to_lowercase().chars().collect();
    let name = name.to_lowercase();
    let last = name.rsplit('/').next().unwrap_or_default();
    [name.as_str(), last].into_iter().any(|name| {
        let name: Vec<char> = name.chars().collect();
        fits(&pattern, &name)
    })
}

fn fits(pattern: &[char], name: &[char]) -> bool {
    // Where to go on if what follows the last `*` does not fit, so that it takes one more.
    let mut at = 0;
    let mut read = 0;
    let mut star = None;

    while read < name.len() {
        match step(pattern.get(at..).unwrap_or_default(), name.get(read).copied()) {
            PatternStep::Star => {
                star = Some((at + 1, read));
                at += 1;
            }
            PatternStep::Fits(width) => {
                at += width;
                read += 1;
            }
            PatternStep::Differs => {
                let Some((after, from)) = star else { return false };
                star = Some((after, from + 1));
                (at, read) = (after, from + 1);
            }
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|c| *c == '*')
}

enum PatternStep {
    Star,
    /// The next character fits, and takes so many of the pattern.
    Fits(usize),
    Differs,
}

fn step(pattern: &[char], next: Option<char>) -> PatternStep {
    match (pattern, next) {
        (['*', ..], _) => PatternStep::Star,
        (['?', ..], Some(_)) => PatternStep::Fits(1),
        (['[', rest @ ..], Some(next)) => match rest.iter().position(|c| *c == ']') {
            Some(end) if rest.iter().take(end).any(|c| *c == next) => PatternStep::Fits(end + 2),
            _ => PatternStep::Differs,
        },
        ([c, ..], Some(next)) if *c == next => PatternStep::Fits(1),
        _ => PatternStep::Differs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_covers_names_with_or_without_their_folder() {
        for (pattern, name) in [
            ("gpt-5*", "gpt-5-mini"),
            ("gpt-5*", "openai/GPT-5"),
            ("qwen/*", "Qwen/Qwen3-8B"),
            ("*", ""),
            ("*llama-3.[123]*", "Meta-Llama-3.1-8B-Instruct.gguf"),
            ("gpt-5.?-pro*", "gpt-5.4-pro-2026-03-05"),
            ("a*b*c", "aXbYbZc"),
        ] {
            assert!(covers(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("gpt-5*", "gpt-4.1"),
            ("gpt-5", "gpt-5-mini"),
            ("a*b*c", "aXbYbZ"),
            ("x[12]", "x3"),
            ("x[12", "x1"),
            ("", "a"),
        ] {
            assert!(!covers(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        assert!(!covers(&format!("{}b", "a*".repeat(60)), &"a".repeat(2_000)));
    }
}
