//! Shell pieces of a template: found once, filled with arguments that stay text.
//!
//! What is judged is always the final line, after the arguments stand in it.

/// What a piece holds where the arguments of the template go.
const HOLE: &str = "{{args}}";

/// The texts of the `!{…}` of a template, in order. Braces are balanced, and one inside
/// quotes closes nothing; a piece without its end is none.
pub fn pieces(template: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = template;
    while let Some((_, behind)) = rest.split_once("!{") {
        match closing(behind).and_then(|at| behind.split_at_checked(at)) {
            Some((piece, behind)) => {
                out.push(piece);
                rest = behind;
            }
            None => rest = behind,
        }
    }
    out
}

/// Where the brace stands that closes the piece.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut open = 0usize;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match (c, quote) {
            _ if escaped => escaped = false,
            ('\\', None | Some('"')) => escaped = true,
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(q)) if c == q => quote = None,
            ('{', None) => open += 1,
            ('}', None) if open == 0 => return Some(at),
            ('}', None) => open -= 1,
            _ => {}
        }
    }
    None
}

/// The line with the arguments in it as they are: what a template would run that trusts
/// its own quotes.
pub fn render_raw(piece: &str, args: &str) -> String {
    piece.replace(HOLE, args)
}

/// The line with the arguments in it as text of one word: quoted by themselves, or kept
/// from ending the quotes they stand in. They are not read again.
pub fn render(piece: &str, args: &str) -> String {
    let mut out = String::with_capacity(piece.len() + args.len());
    let mut quote = None;
    let mut rest = piece;
    while let Some((before, behind)) = rest.split_once(HOLE) {
        quote = within(before, quote);
        out.push_str(before);
        match quote {
            None => out.extend(["'", &args.replace('\'', "'\\''"), "'"]),
            Some('"') => args.chars().for_each(|c| {
                if "\\\"$`".contains(c) {
                    out.push('\\');
                }
                out.push(c);
            }),
            Some(_) => out.push_str(&args.replace('\'', "'\\''")),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// The quote that is open at the end of `text`.
fn within(text: &str, mut quote: Option<char>) -> Option<char> {
    let mut escaped = false;
    for c in text.chars() {
        match (c, quote) {
            _ if escaped => escaped = false,
            ('\\', None | Some('"')) => escaped = true,
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(q)) if c == q => quote = None,
            _ => {}
        }
    }
    quote
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_ends_at_its_own_brace() {
        for (template, expected) in [
            ("a !{git diff} b", &["git diff"][..]),
            ("!{awk '{print $2}' x} !{ls}", &["awk '{print $2}' x", "ls"]),
            ("!{echo \"}\"}", &["echo \"}\""]),
            ("!{echo '}' {a,b}}", &["echo '}' {a,b}"]),
            ("!{open and more", &[]),
            ("none", &[]),
        ] {
            assert_eq!(pieces(template), expected, "{template}");
        }
    }

    #[test]
    fn an_argument_stays_one_word_wherever_it_stands() {
        let args = "'; rm -rf x; \"$(id)";
        for piece in ["echo {{args}}", "echo '{{args}}'", "echo \"{{args}}\"", "echo a{{args}}b"] {
            let script = super::super::read(&render(piece, args));
            assert_eq!(script.commands.len(), 1, "{piece}");
            assert!(script.opaque.is_none(), "{piece}");
            assert_eq!(script.commands[0].words.len(), 2, "{piece}");
            assert!(script.commands[0].words[1].text.contains(args), "{piece}");
        }
        assert_eq!(render_raw("echo '{{args}}'", "a'b"), "echo 'a'b'");
        assert_eq!(render("{{args}}", "{{args}}"), "'{{args}}'");
    }
}
