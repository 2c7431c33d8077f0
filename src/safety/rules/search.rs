//! Programs that search text.

use super::super::checks;
use super::super::spec::Operands::PatternThenReads;
use super::super::spec::{Danger, Spec};
use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect::{Exec, Outside};

#[rustfmt::skip]
pub(super) const ROWS: &[Spec] = &[
    Spec::read("rg ripgrep")
        .flags("-a -b -c -F -H -h -i -I -l -n -N -o -p -P -q -s -S -u -U -v -V -w -x -0 -. --text --byte-offset --count --count-matches \
                --fixed-strings --with-filename --no-filename --ignore-case --files-with-matches --files-without-match --line-number \
                --no-line-number --only-matching --pretty --pcre2 --quiet --case-sensitive --smart-case --unrestricted --multiline \
                --multiline-dotall --invert-match --word-regexp --line-regexp --null --null-data --hidden --no-hidden --no-ignore \
                --no-ignore-vcs --no-ignore-global --no-ignore-parent --no-ignore-dot --no-ignore-exclude --no-ignore-files --ignore \
                --json --vimgrep --column --no-column --heading --no-heading --stats --no-stats --trim --no-trim --files --type-list \
                --no-messages --no-config --crlf --passthru --passthrough --debug --trace --glob-case-insensitive --one-file-system \
                --line-buffered --block-buffered --no-mmap --mmap --no-unicode --auto-hybrid-regex --include-zero --max-columns-preview \
                --sort-files --no-require-git --stop-on-nonmatch --binary --no-binary --no-follow")
        .values("-e=sure --regexp=sure -g=glob --glob=glob --iglob=glob -t=text --type=text -T=text --type-not=text --type-add=text --type-clear=text \
                 -A=text --after-context=text -B=text --before-context=text -C=text --context=text -m=text --max-count=text -M=text --max-columns=text \
                 -d=text --max-depth=text --maxdepth=text -j=text --threads=text -r=sure --replace=sure -E=text --encoding=text --color=text --colors=text \
                 --sort=text --sortr=text --max-filesize=text --context-separator=text --field-match-separator=text --field-context-separator=text \
                 --path-separator=text --engine=text --dfa-size-limit=text --regex-size-limit=text --hyperlink-format=text --generate=text \
                 -f=path --file=path --ignore-file=path")
        .operands(PatternThenReads("-e|--regexp|-f|--file|--files|--type-list"))
        .dangers(&[
            Danger::ask("pre", &["--pre=|--pre-glob=|--hostname-bin="], phrases::STARTS_PROGRAM, &[Exec]),
            Danger::ask("zip", &["-z|--search-zip"], phrases::STARTS_PROGRAM, &[Exec]),
            Danger::ask("follow", &["-L|--follow"], phrases::FOLLOWS_LINKS, &[Outside]),
        ])
        .check(checks::rg)
        .quiet(&["-V"])
        .keeps(&["rg -n TODO src", "rg fn", "rg -e a -e b .", "rg --files", "rg --files src", "rg -g *.rs -C2 x", "rg -tjs x packages", "rg -uu x", "rg --json x .", "rg -- --pre src", "rg --version", "rg -g !.env x", "rg -g *.{ts,json} x", "rg -o fn.* src"])
        .raised(&["rg --pre ./evil.sh x", "rg --pre=./evil.sh x", "rg --hostname-bin ./x y", "rg -z x", "rg -nz x", "rg -L x", "rg x /etc", "rg -f .env x",
                  "rg x .env", "rg -g .env x", "rg --files ..", "rg x link_ssh", "rg --search-zip foo", "rg -g *.pem . .", "rg --nobody x", "rg -uu -g ?env .", "rg -g *nv x", "rg -g {.env,x} x", "rg -g .* x", "rg -o . src", "rg -r $0 x", "rg --replace=x y src", "rg -uuo [a-z]"]),
    Spec::ask("ag ack ugrep ug pt sift ast-grep", phrases::RUNS_PROJECT_SETTINGS, &[Exec]).keeps(&["ag x", "ack --pager=x y"]),
];
