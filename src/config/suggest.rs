//! Suggests names for "did you mean".

/// The known names nearest to `name`, at most three, nearest first; none if all of them are too
/// different. A name that begins with `name` counts as near.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let far = (name.chars().count() / 3).clamp(1, 3);
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .filter(|known| {
            // The lengths alone tell of most names that they are too different.
            let length = known.chars().count();
            length.abs_diff(name.chars().count()) <= far || known.starts_with(name)
        })
        .map(|known| (distance(name, known), known))
        .map(|(distance, known)| {
            let begins = name.len() >= 2 && known.starts_with(name);
            (if begins { distance.min(far) } else { distance }, known)
        })
        .filter(|(distance, _)| *distance <= far)
        .collect();
    near.sort_unstable();
    near.dedup();
    near.truncate(3);
    near.into_iter().map(|(_, known)| known).collect()
}

/// The known names that begin with the same letter and hold the others in their order: `rsum` for
/// `resume`. At most three, shortest first; none for a name of one letter.
pub fn abbreviated<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let holds = |known: &&str| {
        let mut letters = known.chars();
        name.chars().all(|wanted| letters.any(|letter| letter == wanted))
    };
    let begins = |known: &&str| known.chars().next() == name.chars().next();
    let found = known.into_iter().filter(|_| name.chars().count() > 1).filter(begins);
    let mut found: Vec<&str> = found.filter(holds).collect();
    found.sort_unstable_by_key(|known| (known.len(), *known));
    found.dedup();
    found.truncate(3);
    found
}

/// The number of letters to insert, delete, replace or swap with a neighbour.
fn distance(a: &str, b: &str) -> usize {
    let start = |text: &str| text.chars().take(MAX_LENGTH).collect::<String>();
    strsim::osa_distance(&start(a), &start(b))
}

/// Names are short; only the beginning of a longer one is compared.
const MAX_LENGTH: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_by_some_of_its_letters() {
        let known = ["resume", "rename", "review", "model"];
        assert_eq!(abbreviated("rsum", known), ["resume"]);
        assert_eq!(abbreviated("rem", known), ["rename", "resume"]);
        for none in ["sum", "x", "r", "", "modelx"] {
            assert!(abbreviated(none, known).is_empty(), "{none}");
        }
    }

    #[test]
    fn distance_counts_insertions_deletions_replacements_and_swaps() {
        let cases = [
            ("", "", 0),
            ("a", "", 1),
            ("mode", "mdoe", 1),
            ("mode", "modes", 1),
            ("中文", "中", 1),
        ];
        for (a, b, expected) in cases {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn similar_names_are_sorted_and_distant_ones_are_omitted() {
        let known = ["model", "mode", "help", "status"];
        assert_eq!(nearest("mdoe", known), ["mode"]);
        assert_eq!(nearest("stat", known), ["status"]);
        assert_eq!(nearest("weather", known), [""; 0]);
    }
}
