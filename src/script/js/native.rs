//! Tells which code may run where the script runs, and which needs a thread that can be abandoned:
//! the engine interrupts loops and regular expressions, but not its own functions.

/// Words of functions that can take very long by themselves, of values they take that long for,
/// and of ways to reach them by another name. Escapes hide words.
const LONG_WORDS: &[&str] = &[
    "repeat",
    "padStart",
    "padEnd",
    "BigInt",
    "Atomics",
    "Infinity",
    "eval",
    "Function",
    "constructor",
    "prototype",
    "Reflect",
    "call",
    "apply",
    "bind",
    "\\u",
    "\\x",
];

/// Whether code ends when it is interrupted, as far as its text tells.
pub(super) fn ends_when_interrupted(text: &str) -> bool {
    !LONG_WORDS.iter().any(|word| text.contains(word))
        && !makes_long_list(text)
        && !has_big_number(text)
}

/// Whether code makes functions that may be called after it has ended.
pub(super) fn has_function(text: &str) -> bool {
    text.contains("=>") || text.contains("function")
}

/// `Array(n)`, `list.length = n` or `list[n] = x`: lists that are longer than their items.
fn makes_long_list(text: &str) -> bool {
    let assigns = |rest: &str| {
        let rest = rest.trim_start();
        rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>")
    };
    let safe = ["Array.isArray(", "Array.from("];
    safe.iter().fold(text.to_owned(), |text, call| text.replace(call, "(")).contains("Array")
        || text.split("length").skip(1).any(assigns)
        || text.split(']').skip(1).any(assigns)
}

/// `10n`
fn has_big_number(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| pair[0].is_ascii_digit() && pair[1] == b'n')
}

#[cfg(test)]
mod tests {
    use super::ends_when_interrupted;

    #[test]
    fn code_that_can_hang_in_a_function_of_the_engine_is_not_run_where_the_script_runs() {
        for code in [
            "Array(4e9).indexOf(1)",
            "new Array(4e9).join()",
            "[].indexOf.call({length: 4e9}, 1)",
            "(list.length = 4e9, list.indexOf(1))",
            "(list[4e9] = 1, list.indexOf(2))",
            "2n ** 9999999n",
            "'a'.repeat(1e7).indexOf('b')",
            "[].const\\u0072uctor",
            "new Uint8Array(9)",
        ] {
            assert!(!ends_when_interrupted(code), "{code}");
        }
        for code in [
            "(() => { for (;;) {} })()",
            "/^(a+)+$/.test(text)",
            "list[0] === 1 && list.length == 2 && [1].map(x => [x])",
            "Array.isArray(list) ? Array.from(list, x => x * 2) : []",
            "new Date().getTime() + $twice(2)",
        ] {
            assert!(ends_when_interrupted(code), "{code}");
        }
    }
}
