//! Filters: text in, text out.

use super::super::checks;
use super::super::spec::Operands::{PatternThenReads, Reads, Text};
use super::super::spec::{Danger, Spec};
use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect::{Exec, Network, Outside, Secret, Write};

const ANY: usize = usize::MAX;

#[rustfmt::skip]
pub(super) const ROWS: &[Spec] = &[
    Spec::read("cut")
        .flags("-n -s -z -w --complement --only-delimited --zero-terminated")
        .values("-b=text --bytes=text -c=text --characters=text -d=text --delimiter=text -f=text --fields=text --output-delimiter=text")
        .operands(Reads(ANY)).keeps(&["cut -d: -f1 a.txt", "cut -c 1-5 a.txt"]).raised(&["cut -f1 .env"]),
    Spec::read("paste").flags("-s -z --serial --zero-terminated").values("-d=text --delimiters=text").operands(Reads(ANY)).keeps(&["paste a.txt b.txt"]).raised(&["paste .env"]),
    Spec::read("sort")
        .flags("-b -d -f -g -i -M -h -n -R -r -V -c -C -m -s -u -z --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort \
                --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort --reverse --version-sort --merge --stable \
                --unique --zero-terminated --debug")
        .values("-k=text --key=text -t=text --field-separator=text --parallel=text --sort=text --check=?text --batch-size=text -S=text --buffer-size=text")
        .operands(Reads(ANY))
        .dangers(&[
            Danger::ask("output", &["-o=|--output="], phrases::WRITES_A_FILE, &[Write]),
            Danger::ask("compress", &["--compress-program="], phrases::STARTS_PROGRAM, &[Exec]),
            Danger::ask("elsewhere", &["--files0-from=|--random-source=|-T=|--temporary-directory="], phrases::READS_ELSEWHERE, &[Outside]),
        ])
        .check(checks::output)
        .keeps(&["sort -u a.txt", "sort -t, -k2,2n a.txt", "sort -rn", "sort -- -o"])
        .raised(&["sort -o x a.txt", "sort -ox a.txt", "sort --output=x a.txt", "sort --outp=x a.txt", "sort -uoX a.txt", "sort a.txt -o a.txt",
                  "sort --comp=./evil.sh a.txt", "sort --compress-program ./evil.sh a.txt", "sort .env", "sort --files0-from=x", "sort -T x a.txt"]),
    Spec::read("uniq")
        .flags("-c -d -D -i -u -z --count --repeated --ignore-case --unique --zero-terminated")
        .values("-f=text --skip-fields=text -s=text --skip-chars=text -w=text --check-chars=text --all-repeated=?text --group=?text")
        // Where the first operand ends the options, a second one is a file it writes.
        .posix().operands(Reads(1)).keeps(&["uniq a.txt", "uniq -c a.txt", "uniq -f 1 a.txt"])
        .raised(&["uniq a.txt out.txt", "uniq -- a.txt out.txt", "uniq -c a.txt -d out.txt", "uniq .env", "uniq - out.txt", "uniq a.txt -c"]),
    Spec::read("tr").flags("-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1").operands(Text).keeps(&["tr a-z A-Z", "tr -d x"]),
    Spec::read("fold").flags("-b -s --bytes --spaces -NUM").values("-w=text --width=text").operands(Reads(ANY)).keeps(&["fold -w 80 a.txt"]).raised(&["fold .env"]),
    Spec::read("fmt").flags("-c -s -t -u --crown-margin --split-only --tagged-paragraph --uniform-spacing -NUM").values("-w=text --width=text -g=text --goal=text -p=path --prefix=text")
        .operands(Reads(ANY)).keeps(&["fmt -w 72 a.txt"]).raised(&["fmt .env", "fmt -p .env"]),
    Spec::read("expand unexpand").flags("-i -a --initial --all --first-only -NUM").values("-t=text --tabs=text").operands(Reads(ANY)).keeps(&["expand -t 4 a.txt"]).raised(&["expand .env"]),
    Spec::read("column").flags("-e -J -L -R -t -x --json --table --fillrows --keep-empty-lines")
        .values("-c=text -s=text -o=text -N=text -n=path -H=text --separator=text --output-separator=text --output-width=text --table-columns=text")
        .operands(Reads(ANY)).keeps(&["column -t a.txt", "column -s, -t a.txt"]).raised(&["column .env", "column -n .env"]),
    Spec::read("join").flags("-i -z --ignore-case --check-order --nocheck-order --header --zero-terminated").values("-1=text -2=text -a=text -e=text -j=text -o=text -t=text -v=text")
        .operands(Reads(2)).keeps(&["join a.txt b.txt"]).raised(&["join a.txt .env"]),
    Spec::read("pr").flags("-d -F -f -m -r -t -T -a -J -NUM").values("-l=text -w=text -W=text -h=text -o=text -n=?text -s=?text").operands(Reads(ANY)).keeps(&["pr -t a.txt"]).raised(&["pr .env"]),
    Spec::read("tsort").operands(Reads(1)).keeps(&["tsort a.txt"]).raised(&["tsort .env"]),
    Spec::read("shuf").flags("-e -r -z --echo --repeat --zero-terminated").values("-i=text --input-range=text -n=text --head-count=text").operands(Reads(ANY))
        .dangers(&[Danger::ask("output", &["-o=|--output="], phrases::WRITES_A_FILE, &[Write])]).check(checks::output)
        .keeps(&["shuf -n 3 a.txt"]).raised(&["shuf -o x a.txt", "shuf --random-source=.env a.txt", "shuf --outp=x a.txt"]),
    Spec::read("base64 base32 basenc").flags("-d -D -i --decode --ignore-garbage --base64 --base64url --base32 --base16").values("-w=text --wrap=text -b=text --break=text").operands(Reads(1))
        .keeps(&["base64 a.txt", "base64 -w0 a.txt"]).raised(&["base64 -o out.txt a.txt", "base64 .env", "base64 server.pem", "base64 -i a.txt -o b.txt"]),
    Spec::read("seq").flags("-w --equal-width").values("-f=text --format=text -s=text --separator=text -t=text").operands(Text).keeps(&["seq 1 10", "seq -w 3"]).raised(&["seq --nobody"]),
    Spec::read("numfmt").flags("-z --debug --grouping --header").values("-d=text --delimiter=text --field=text --format=text --from=text --from-unit=text --invalid=text --padding=text --round=text --suffix=text --to=text --to-unit=text")
        .operands(Text).keeps(&["numfmt --to=iec 2048"]),
    Spec::read("echo true false printf").flags("*").operands(Text)
        .keeps(&["echo hello", "echo a && rm -rf /", "echo -e x", "printf %s x", "true", "false", "echo $(id)"]),
    Spec::read("expr factor").flags("*").operands(Text).keeps(&["expr 1 + 2", "factor 12"]),
    Spec::read("iconv").flags("-c -s -l --list --silent --verbose").values("-f=path --from-code=path -t=path --to-code=path").operands(Reads(ANY))
        .dangers(&[Danger::ask("output", &["-o=|--output="], phrases::WRITES_A_FILE, &[Write])]).check(checks::output)
        .keeps(&["iconv -f utf-8 -t ascii a.txt"]).raised(&["iconv -f utf-8 -t ascii -o out.txt a.txt", "iconv --outp=x a.txt", "iconv -f /etc/passwd a.txt", "iconv -f/etc/passwd a.txt", "iconv --to-code=../x a.txt"]),
    // The two that have another name are scripts that start the first.
    Spec::read("grep egrep fgrep").starts(&["grep"])
        .flags("-E -F -G -P -i -y -v -w -x -c -L -l -o -q -s -b -H -h -n -T -Z -a -I -r -U -z -NUM --extended-regexp --fixed-strings --basic-regexp \
                --perl-regexp --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --files-without-match \
                --files-with-matches --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --line-number \
                --initial-tab --null --text --recursive --binary --null-data --line-buffered --no-group-separator")
        .values("-e=sure --regexp=sure -m=text --max-count=text --label=text -A=text --after-context=text -B=text --before-context=text -C=text \
                 --context=text --color=?text --colour=?text --binary-files=text -D=text --devices=text -d=text --directories=text \
                 --exclude=sure --exclude-dir=sure --include=glob -f=path --file=path --exclude-from=path --group-separator=text")
        .operands(PatternThenReads("-e|--regexp|-f|--file"))
        .dangers(&[Danger::ask("follow", &["-R|--dereference-recursive"], phrases::FOLLOWS_LINKS, &[Outside])])
        .check(checks::grep)
        .keeps(&["grep -rn x .", "grep -n TODO README.md", "grep -e a -e b a.txt", "grep -C3 x a.txt", "grep -- -v a.txt", "grep --include=*.rs -r fn src", "grep /etc/passwd a.txt", "grep -e /api/ a.txt", "grep -rho TODO.* src", "grep -r --include=*.json x .", "grep -o . a.txt"])
        .raised(&["grep x .env", "grep -R x .", "grep -r . link_ssh/", "grep -f /etc/shadow a.txt", "grep -f .env a.txt", "grep x /etc/passwd",
                  "grep --include=.env -r . .", "grep --recurs x .", "grep -e x .env", "grep -r --include *.pem . .", "grep -ex .env", "grep -rh . . --include=*nv", "grep -rho . .", "grep -ro [a-z] src", "grep -r -o -e abc -e . src", "grep -o -d recurse . .", "grep -r x .git", "grep -r x .docker"]),
    Spec::read("sed gsed").by_language()
        .flags("-n -E -r -s -u -z --quiet --silent --regexp-extended --separate --unbuffered --null-data --zero-terminated --posix --sandbox")
        .values("-e=sure --expression=sure -l=text --line-length=text")
        .operands(PatternThenReads("-e|--expression|-f|--file"))
        .dangers(&[
            Danger::ask("in_place", &["-i|-I|--in-place"], phrases::WRITES_IN_PLACE, &[Write]),
            Danger::ask("file", &["-f=|--file="], phrases::RUNS_SCRIPT, &[Exec]),
        ])
        .check(checks::sed)
        .keeps(&["sed -n 1,40p README.md", "sed -n /foo/p a.txt", "sed s/a/b/g a.txt", "sed -n -e 1p -e 3p a.txt", "sed 5q a.txt", "sed -n $p a.txt", "sed s|a|b| a.txt", "sed -n 2{p;q} a.txt"])
        .raised(&["sed -i s/a/b/ a.txt", "sed -i.bak s/a/b/ a.txt", "sed --in-pl s/a/b/ a.txt", "sed -n 1,5p a.txt -i", "sed -ni p a.txt", "sed -f x a.txt",
                  "sed s/a/b/w_out a.txt", "sed 1e a.txt", "sed -n p .env", "sed s/a/id/e a.txt", "sed -e w_out a.txt", "sed -n --expression=w_x a.txt",
                  "sed -s -i s/a/b/ a.txt", "sed --expr=p a.txt", "sed -n p /etc/shadow", "sed -ne p .env", "sed s,[^],],g;s,w.out,p,g a.txt", "sed s/[[:alpha:]/]/g;s/w/p/g a.txt", "sed h;G;D a.txt", "sed -l w_out p a.txt"]),
    Spec::read("jq").by_language()
        .flags("-n -r -j -a -s -c -C -M -S -e -R --null-input --raw-output --join-output --ascii-output --slurp --compact-output --color-output \
                --monochrome-output --sort-keys --tab --exit-status --raw-input --seq --stream --raw-output0 -h")
        .values("--indent=text")
        .operands(PatternThenReads("-f|--from-file"))
        .dangers(&[
            Danger::ask("module", &["-L=|--library-path="], phrases::READS_ELSEWHERE, &[Outside]),
            Danger::ask("file", &["-f|--from-file|--slurpfile|--rawfile|--args|--jsonargs|--arg|--argjson"], phrases::OPTION_VALUES, &[Secret]),
        ])
        .check(checks::jq)
        .quiet(&["-V"])
        .keeps(&["jq . data.json", "jq -r .name package.json", "jq .scripts|keys package.json", "jq --version"])
        .raised(&["jq -n env", "jq -n $ENV.PATH", "jq . .env", "jq -n input", "jq -f x data.json", "jq --rawfile a /etc/shadow $a", "jq -L x . a.json", "jq . /etc/shadow", "jq -nc path(.[env:1])", "jq .[$ENV:1] a.json", "jq .[input:] a.json"]),
    Spec::read("awk gawk mawk nawk original-awk").by_language().posix().values("-F=text -v=text").operands(PatternThenReads(""))
        .dangers(&[Danger::ask("file", &["-f=|--file=|-i=|--include=|-l=|--load=|-E=|--exec="], phrases::RUNS_SCRIPT, &[Exec])])
        .check(checks::awk).quiet(&["-V", "-W version"])
        .keeps(&["awk {print} a.txt", "awk '{print $1}' a.txt", "awk 'NR>=10 && NR<=20' a.txt", "awk -F: '{s+=$2} END{print s/NR}' a.txt", "awk -v n=5 'NR==n' a.txt", "awk 1 FS=: a.txt", "gawk -F , '$3 > 100 {print $1, $3}' a.txt"])
        .raised(&["gawk BEGIN{system(1)}", "awk '{print > \"x\"}' a.txt", "awk -f x.awk a.txt", "awk '{print}' .env", "awk 1 /etc/shadow", "awk --file=x a.txt", "gawk -i inplace 1 a.txt", "awk -v ENVIRON=1 1 a.txt", "awk 'BEGIN{while((getline l < ARGV[1])>0) print l}' a.txt",
                  "awk 1 ~/.ssh/id_rsa", "gawk -l filefuncs 1 a.txt", "gawk --source 1 a.txt", "gawk -e 1 a.txt", "awk -d x 1 a.txt", "gawk -o 1 a.txt", "awk 1 link_key"]),
    Spec::ask("yq xq dasel gron fx", phrases::QUERY_TOOL, &[Secret]).check(super::super::wrappers::scan_arguments).keeps(&["yq -i .a=1 a.yaml"]),
    Spec::ask("sqlite3 psql mysql mariadb mongosh redis-cli duckdb", phrases::DATABASE, &[Write, Exec, Network]).check(checks::statements).keeps(&["psql -c 'select 1'", "redis-cli get x"])
        .raised(&["sqlite3 app.db 'DROP TABLE x'", "sqlite3 app.db '.shell rm -rf x'", "psql -c 'drop table x'", "redis-cli FLUSHALL", "mysql -e 'TRUNCATE TABLE x'"]),
    Spec::ask("bat batcat", phrases::OPENS_PAGER, &[Exec]).keeps(&["bat --pager=x a.txt"]),
    Spec::ask("pandoc", phrases::WRITES_FILES, &[Write, Exec]).keeps(&["pandoc a.md"]),
];
