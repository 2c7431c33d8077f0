//! How the indentation of a model's text differs from that of the file, found in the lines that
//! both have, and done to the lines that are new.

/// What makes the file's indentation of the model's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndentShift {
    Same,
    /// The file has this before each line.
    More(String),
    /// The model has this before each line.
    Less(String),
    /// The model's blanks in units, where the file has tabs, and so many tabs more.
    ToTabs {
        unit: usize,
        more: isize,
    },
    /// The model's tabs as so many blanks each, and so many blanks more.
    ToBlanks {
        unit: usize,
        more: isize,
    },
    /// Line by line, without a rule: the model's and the file's.
    Each(Vec<(String, String)>),
}

/// The blanks and tabs before a line, hard spaces too.
pub fn indent_of(line: &str) -> &str {
    let content = line.trim_start_matches([' ', '\t', HARD_SPACE]);
    line.get(..line.len() - content.len()).unwrap_or_default()
}

const HARD_SPACE: char = '\u{a0}';

/// A text whose lines are indented by plain blanks where it has hard spaces; `None`: it has none.
pub fn with_plain_indent(text: &str) -> Option<String> {
    let is_odd = |line: &str| indent_of(line).contains(HARD_SPACE);
    text.lines().any(is_odd).then(|| {
        let plain = |line: &str| {
            let (indent, content) = line.split_at(indent_of(line).len());
            indent.replace(HARD_SPACE, " ") + content
        };
        text.split_inclusive('\n').map(plain).collect()
    })
}

impl IndentShift {
    /// From the indentation of the same lines in the model's text and in the file; `None`: it
    /// contradicts itself.
    pub fn find(pairs: &[(&str, &str)]) -> Option<IndentShift> {
        let Some((here, there)) = pairs.first() else { return Some(IndentShift::Same) };
        if pairs.iter().all(|(here, there)| here == there) {
            return Some(IndentShift::Same);
        }
        if let Some(more) = there.strip_suffix(here) {
            let shift = IndentShift::More(more.to_owned());
            if shift.fits(pairs) {
                return Some(shift);
            }
        }
        if let Some(less) = here.strip_suffix(there) {
            let shift = IndentShift::Less(less.to_owned());
            if shift.fits(pairs) {
                return Some(shift);
            }
        }
        units(pairs).into_iter().find(|shift| shift.fits(pairs)).or_else(|| each(pairs))
    }

    fn fits(&self, pairs: &[(&str, &str)]) -> bool {
        pairs.iter().all(|(here, there)| self.apply(here).as_deref() == Some(there))
    }

    /// The indentation of a line of the new text; `None`: nothing tells it.
    pub fn apply(&self, here: &str) -> Option<String> {
        let moved = |count: usize, more: isize| count.checked_add_signed(more);
        match self {
            IndentShift::Same => Some(here.to_owned()),
            IndentShift::More(more) => Some(format!("{more}{here}")),
            IndentShift::Less(less) => here.strip_prefix(less.as_str()).map(str::to_owned),
            IndentShift::ToTabs { unit, more } if is_only(here, ' ') => {
                let tabs = "\t".repeat(moved(here.len() / unit, *more)?);
                Some(tabs + &" ".repeat(here.len() % unit))
            }
            IndentShift::ToBlanks { unit, more } if is_only(here, '\t') => {
                Some(" ".repeat(moved(here.len() * unit, *more)?))
            }
            IndentShift::ToTabs { .. } | IndentShift::ToBlanks { .. } => None,
            IndentShift::Each(pairs) => {
                pairs.iter().find(|(known, _)| known == here).map(|(_, there)| there.clone())
            }
        }
    }
}

fn is_only(indent: &str, sign: char) -> bool {
    indent.chars().all(|c| c == sign)
}

/// The units in which blanks may replace tabs, the likeliest first.
fn units(pairs: &[(&str, &str)]) -> Vec<IndentShift> {
    let to_tabs = pairs.iter().all(|(here, there)| is_only(here, ' ') && is_only(there, '\t'));
    let to_blanks = pairs.iter().all(|(here, there)| is_only(here, '\t') && is_only(there, ' '));
    if !to_tabs && !to_blanks {
        return Vec::new();
    }
    let Some((here, there)) = pairs.first() else { return Vec::new() };
    let (blanks, tabs) =
        if to_tabs { (here.len(), there.len()) } else { (there.len(), here.len()) };
    let signed = |count: usize| isize::try_from(count).unwrap_or(isize::MAX);
    let shift = |unit: usize| {
        if to_tabs {
            IndentShift::ToTabs { unit, more: signed(tabs) - signed(blanks / unit) }
        } else {
            IndentShift::ToBlanks { unit, more: signed(blanks) - signed(tabs * unit) }
        }
    };
    let whole = pairs.iter().find_map(|(here, there)| {
        let (blanks, tabs) =
            if to_tabs { (here.len(), there.len()) } else { (there.len(), here.len()) };
        (tabs > 0 && blanks > 0 && blanks % tabs == 0).then(|| blanks / tabs)
    });
    whole.into_iter().chain([4, 2, 8, 3, 1]).map(shift).collect()
}

/// One indentation of the file for each of the model's.
fn each(pairs: &[(&str, &str)]) -> Option<IndentShift> {
    let mut known: Vec<(String, String)> = Vec::new();
    for (here, there) in pairs {
        match known.iter().find(|(seen, _)| seen == here) {
            Some((_, other)) if other != there => return None,
            Some(_) => {}
            None => known.push(((*here).to_owned(), (*there).to_owned())),
        }
    }
    Some(IndentShift::Each(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(pairs: &[(&str, &str)], here: &str) -> Option<String> {
        IndentShift::find(pairs).expect("it has a rule").apply(here)
    }

    #[test]
    fn a_constant_difference_is_done_to_new_lines() {
        assert_eq!(moved(&[("", "    "), ("  ", "      ")], "    ").as_deref(), Some("        "));
        assert_eq!(moved(&[("    ", ""), ("      ", "  ")], "    ").as_deref(), Some(""));
        assert_eq!(moved(&[("    ", "")], "  "), None, "nothing tells what less than none is");
    }

    #[test]
    fn blanks_stand_for_tabs_in_the_unit_that_fits_every_line() {
        assert_eq!(moved(&[("    ", "\t"), ("        ", "\t\t")], "").as_deref(), Some(""));
        assert_eq!(moved(&[("  ", "\t"), ("    ", "\t\t")], "      ").as_deref(), Some("\t\t\t"));
        assert_eq!(moved(&[("\t\t", "        ")], "\t").as_deref(), Some("    "));
        assert_eq!(moved(&[("", "\t"), ("    ", "\t\t")], "        ").as_deref(), Some("\t\t\t"));
    }

    #[test]
    fn without_a_rule_only_known_indentation_is_given() {
        let pairs = [("        ", "        "), ("          ", "            ")];
        assert_eq!(moved(&pairs, "          ").as_deref(), Some("            "));
        assert_eq!(moved(&pairs, "    "), None);
        assert_eq!(IndentShift::find(&[("  ", " "), ("  ", "   ")]), None);
    }
}
