//! Refuses steps that are not commands at all: an empty program, NUL, look-alike letters,
//! excessive sizes. Checked before anything else.

use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::{Effect, Tier};
use avocet_core::text::chars;

use super::findings::{Findings, excerpt};

const MAX_ARGS: usize = 4096;
const MAX_ARG: usize = 64 * 1024;
const MAX_TOTAL: usize = 1024 * 1024;

/// Looks at the name of a program. False: there is nothing more to judge.
pub fn check_program_name(name: &str, arg: Option<usize>, findings: &mut Findings) -> bool {
    let why = if name.is_empty() {
        phrases::PROGRAM_EMPTY
    } else if !name.is_ascii() {
        phrases::PROGRAM_NOT_ASCII
    } else if name.starts_with('-') {
        phrases::PROGRAM_IS_FLAG
    } else if name.len() > MAX_NAME || !name.bytes().all(is_plain) {
        phrases::PROGRAM_ODD
    } else {
        return true;
    };
    let say = why.with("program", excerpt(name)).with("plain", look_alike(name));
    findings.add("malformed.program", Tier::L2, say, arg, &[Effect::Exec]);
    false
}

/// Whether there is more than is looked at.
pub fn is_too_large(args: &[String]) -> bool {
    args.len() > MAX_ARGS || args.iter().map(String::len).sum::<usize>() > MAX_TOTAL
}

/// Looks at the arguments as bytes.
pub fn check_args(args: &[String], findings: &mut Findings) {
    // The first of each kind is enough; thousands of reasons help no one.
    let find = |test: fn(&String) -> bool| args.iter().position(test);
    if let Some(at) = find(|arg| arg.len() > MAX_ARG) {
        findings.add("malformed.size", Tier::L2, phrases::ARG_TOO_LARGE, Some(at), &[]);
    }
    if let Some(at) = find(|arg| arg.contains('\0')) {
        findings.add("malformed.nul", Tier::L2, phrases::ARG_NUL, Some(at), &[]);
    }
    if let Some(at) = find(|arg| arg.chars().any(is_hidden)) {
        findings.add("malformed.hidden", Tier::L1, phrases::ARG_HIDDEN, Some(at), &[]);
    }
}

/// Characters that show nothing, or something else than they are.
pub fn is_hidden(c: char) -> bool {
    // In charts of a program a blank of Braille has its use, in a command it has none.
    c != '\n' && c != '\t' && (c.is_control() || chars::is_hidden(c) || c == '\u{2800}')
}

const MAX_NAME: usize = 4096;

/// `[` alone is a program of that name.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"/._-+@,:%[".contains(&byte)
}

/// The name with the letters it seems to be made of.
fn look_alike(name: &str) -> String {
    let plain: String = name.chars().filter(|c| !is_hidden(*c)).map(plain_letter).collect();
    excerpt(&plain)
}

fn plain_letter(c: char) -> char {
    let folded = match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0),
        _ => None,
    };
    folded.unwrap_or_else(|| {
        LOOK_ALIKES.iter().find(|(odd, _)| odd.contains(c)).map_or(c, |(_, plain)| *plain)
    })
}

#[rustfmt::skip]
const LOOK_ALIKES: &[(&str, char)] = &[
    ("аαɑ", 'a'), ("ЬƄ", 'b'), ("сϲⅽ", 'c'), ("ԁⅾ", 'd'), ("еҽ", 'e'), ("ɡ", 'g'), ("һ", 'h'),
    ("іıⅰ", 'i'), ("ј", 'j'), ("к", 'k'), ("ⅼӏ", 'l'), ("мⅿ", 'm'), ("ո", 'n'), ("оοօ", 'o'),
    ("рρ", 'p'), ("ԛ", 'q'), ("гᴦ", 'r'), ("ѕ", 's'), ("т", 't'), ("υս", 'u'), ("ѵν", 'v'),
    ("ԝ", 'w'), ("хχⅹ", 'x'), ("уγ", 'y'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_alike_is_shown_with_the_letter_it_imitates() {
        assert_eq!(look_alike("гm"), "rm");
        assert_eq!(look_alike("ⅼs"), "ls");
        assert_eq!(look_alike("s\u{200b}udo"), "sudo");
        assert_eq!(look_alike("ｒｍ"), "rm");
    }

    #[test]
    fn what_shows_nothing_in_an_argument_is_asked_about() {
        for c in "\u{2800}\u{3164}\u{115f}\u{ffa0}\u{ad}\u{e0041}\u{e0100}\u{fe01}\u{1d159}".chars()
        {
            let mut findings = Findings::default();
            check_args(&[format!("a{c}b")], &mut findings);
            assert!(findings.rule_ids().eq(["malformed.hidden"]), "{c:?}");
        }
    }

    #[test]
    fn a_plain_name_passes_and_others_do_not() {
        for good in ["ls", "[", "g++", "/usr/bin/env", "python3.11", "mkfs.ext4"] {
            assert!(check_program_name(good, None, &mut Findings::default()), "{good}");
        }
        for bad in ["", "-rf", "ls\n", "rm -rf", "a;b", "гm", "a\0", "~/x", "$SHELL", "a=b"] {
            assert!(!check_program_name(bad, None, &mut Findings::default()), "{bad:?}");
        }
    }
}
