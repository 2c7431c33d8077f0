//! A command that was typed as a message. Pure.

/// `/name@bot args` as the name and the arguments, with the sign that the service's users type.
/// `None` if it is a message: a path, or a sign in front of something else.
pub fn typed_command(text: &str, sign: char) -> Option<(String, String)> {
    let line = text.strip_prefix(sign)?;
    let (word, args) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let name = word.split_once('@').map_or(word, |(name, _)| name);
    let is_name = name.starts_with(char::is_alphanumeric)
        && name.chars().all(|c| c.is_alphanumeric() || "-_.:".contains(c));
    is_name.then(|| (name.to_owned(), args.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::typed_command;

    #[test]
    fn a_name_after_the_sign_is_a_command_and_a_path_is_not() {
        let pair = |name: &str, args: &str| Some((name.to_owned(), args.to_owned()));
        assert_eq!(typed_command("/status", '/'), pair("status", ""));
        assert_eq!(typed_command("/model@avocet_bot  qwen 3 ", '/'), pair("model", "qwen 3"));
        assert_eq!(typed_command("!steer be\nbrief", '!'), pair("steer", "be\nbrief"));
        for text in ["", "/", "//", "/etc/passwd is what", "!!", "/ x", "status", "!status"] {
            assert_eq!(typed_command(text, '/'), None, "{text}");
        }
    }
}
