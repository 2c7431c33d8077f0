//! Parses the addressees of a message: `user[@dobby(PM), @other]` and `@dobby(PM), @other hello`.

use super::delimiters;

/// Maximum number of roles one message may address.
const MAX_ROLES: usize = 64;
/// The arguments that mark a message as private.
const PRIVATE: &[&str] = &["PM", "DM", "私"];

/// One addressed role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addressee {
    pub role: String,
    /// The text in brackets after the name.
    pub arg: Option<String>,
}

impl Addressee {
    pub fn is_private(&self) -> bool {
        self.arg.as_deref().is_some_and(|arg| PRIVATE.contains(&arg.trim()))
    }
}

/// One private role makes the whole message private.
pub fn is_private(addressees: &[Addressee]) -> bool {
    addressees.iter().any(Addressee::is_private)
}

/// A role key: its name, and whom it addresses in brackets.
pub fn parse_key(text: &str) -> (&str, Vec<Addressee>) {
    let text = text.trim();
    let Some((name, inside)) = text.strip_suffix(']').and_then(|text| text.split_once('[')) else {
        return (text, Vec::new());
    };
    let mut to = Vec::new();
    let mut rest = inside.trim();
    while !rest.is_empty() && to.len() < MAX_ROLES {
        match parse_address(rest) {
            Some((one, after)) => {
                to.push(one);
                rest = after.trim_start_matches([',', '，', ' ', '\t']);
            }
            // Not a list of roles: the key is a plain name.
            None => return (text, Vec::new()),
        }
    }
    (name.trim(), to)
}

/// The addressed roles at the start of a message and the text after them. An `@name` for which
/// `is_role` is false is part of the text.
pub fn parse_leading(text: &str, is_role: impl Fn(&str) -> bool) -> (Vec<Addressee>, &str) {
    let mut to = Vec::new();
    let mut rest = text.trim_start();
    while let Some((one, after)) = parse_address(rest).filter(|(one, _)| is_role(&one.role)) {
        let next = after.trim_start_matches([',', '，', ' ', '\t', '\n', '\r']);
        // `@dobby's hat` does not address a role.
        if next.len() == after.len() && !after.is_empty() && !after.starts_with([':', '：', '@']) {
            break;
        }
        to.push(one);
        rest = next.trim_start_matches([':', '：']).trim_start();
        if to.len() == MAX_ROLES {
            break;
        }
    }
    if to.is_empty() { (to, text) } else { (to, rest) }
}

fn parse_address(text: &str) -> Option<(Addressee, &str)> {
    let (role, rest) = delimiters::leading_word(text.strip_prefix('@')?, |c| c == '-')?;
    let (arg, rest) = match rest.strip_prefix(['(', '（']) {
        Some(open) => {
            let (arg, rest) = open.split_once([')', '）'])?;
            (Some(arg.trim().to_owned()), rest)
        }
        None => (None, rest),
    };
    Some((Addressee { role: role.to_owned(), arg }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(to: &[Addressee]) -> Vec<&str> {
        to.iter().map(|to| to.role.as_str()).collect()
    }

    /// ISDK-020, 023, 024: the bracket form.
    #[test]
    fn isdk_020_a_role_key_addresses_in_brackets() {
        let (name, to) = parse_key("user[@dobby(PM), @other]");
        assert_eq!((name, names(&to), is_private(&to)), ("user", vec!["dobby", "other"], true));
        let (name, to) = parse_key("user");
        assert_eq!((name, to.len()), ("user", 0));
        let (name, to) = parse_key("user[@dobby(私)]");
        assert_eq!((name, is_private(&to)), ("user", true));
        assert_eq!(parse_key("list[0]").0, "list[0]");
    }

    /// ISDK-021, 023: the text form, with the tokens taken off.
    #[test]
    fn isdk_021_leading_names_address_and_leave_the_text() {
        let known = |name: &str| ["dobby", "other", "哈利"].contains(&name);
        let (to, rest) = parse_leading("@dobby(PM), @other hi @dobby", known);
        assert_eq!((names(&to), rest), (vec!["dobby", "other"], "hi @dobby"));
        let (to, rest) = parse_leading("@dobby，@哈利，你好", known);
        assert_eq!((names(&to), rest), (vec!["dobby", "哈利"], "你好"));
        for text in ["@nobody, hi", "mail a@dobby.org", "@dobby's hat", "hi @dobby", "@"] {
            assert_eq!(parse_leading(text, known), (Vec::new(), text));
        }
    }
}
