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

/// The number of letters to insert, delete, replace or swap with a neighbour.
fn distance(a: &str, b: &str) -> usize {
    let start = |text: &str| text.chars().take(LONGEST).collect::<String>();
    strsim::osa_distance(&start(a), &start(b))
}

/// Names are short; only the beginning of a longer one is compared.
const LONGEST: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

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
