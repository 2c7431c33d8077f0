//! The table: which programs, and with which arguments.

/// Where a program reads keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// From the terminal itself, whatever its input is.
    FromTerminal,
    /// From its input: what is piped into it is not typed.
    FromInput,
}

/// Programs that want the terminal under the same conditions.
#[derive(Clone, Copy, Debug)]
pub(super) struct TerminalRow {
    /// Separated by blanks; a version after a name (`python3.12`) does not count.
    pub names: &'static str,
    /// Its first operand must be one of these; empty: it has none.
    pub subcommands: &'static str,
    /// With one of these after the sub-command it wants no terminal.
    pub unless: &'static str,
    /// One of these options must be given; empty: none need be.
    pub with: &'static str,
    /// With one of these options it wants no terminal.
    pub without: &'static str,
    /// It wants one only with so many operands at most: `python3` alone.
    pub operands: Option<usize>,
    /// Options whose value is the next argument, so that it is not counted.
    pub values: &'static str,
    /// Its options come before its first operand; what follows is for another program.
    pub options_first: bool,
    pub keys: Keys,
    pub works_without: bool,
    pub is_editor: bool,
}

impl TerminalRow {
    /// A program that fills the screen.
    const fn screen(names: &'static str) -> TerminalRow {
        TerminalRow {
            names,
            subcommands: "",
            unless: "",
            with: "",
            without: "",
            operands: None,
            values: "",
            options_first: false,
            keys: Keys::FromTerminal,
            works_without: false,
            is_editor: false,
        }
    }

    /// A program that reads what is typed line by line.
    const fn typed(names: &'static str) -> TerminalRow {
        TerminalRow { keys: Keys::FromInput, ..TerminalRow::screen(names) }
    }

    const fn git(subcommands: &'static str) -> TerminalRow {
        let git = TerminalRow::screen("git");
        TerminalRow { subcommands, values: "-C -c --git-dir --work-tree --namespace", ..git }
    }

    const fn subcommands(self, subcommands: &'static str) -> TerminalRow {
        TerminalRow { subcommands, ..self }
    }

    const fn unless(self, unless: &'static str) -> TerminalRow {
        TerminalRow { unless, ..self }
    }

    const fn with(self, with: &'static str) -> TerminalRow {
        TerminalRow { with, ..self }
    }

    const fn without(self, without: &'static str) -> TerminalRow {
        TerminalRow { without, ..self }
    }

    const fn operands(self, most: usize) -> TerminalRow {
        TerminalRow { operands: Some(most), ..self }
    }

    const fn values(self, values: &'static str) -> TerminalRow {
        TerminalRow { values, ..self }
    }

    const fn options_first(self) -> TerminalRow {
        TerminalRow { options_first: true, ..self }
    }

    const fn works_without(self) -> TerminalRow {
        TerminalRow { works_without: true, ..self }
    }

    const fn editor(self) -> TerminalRow {
        TerminalRow { is_editor: true, ..self }
    }

    /// Whether the name alone decides, and the program is useless without a terminal. Forms of
    /// the others that the table does not know may work without one.
    pub(super) fn is_certain(&self) -> bool {
        let is_name = self.subcommands.is_empty() && self.with.is_empty();
        let needs_it = self.keys == Keys::FromTerminal && !self.works_without;
        is_name && needs_it && self.operands.is_none() && !self.is_editor
    }
}

const SSH_VALUES: &str = "-b -B -c -D -E -e -F -I -i -J -L -l -m -o -p -R -S -W -w";
const CONTAINER_VALUES: &str = "-v -e -p -w -u -l -m -h --name --network --env --env-file --volume --mount --workdir --user --entrypoint --platform";

/// The first row that fits counts.
#[rustfmt::skip]
pub(super) const ROWS: &[TerminalRow] = &[
    // Editors.
    TerminalRow::screen("$EDITOR ${EDITOR} $VISUAL ${VISUAL}"),
    TerminalRow::screen("vi vim nvim view vimdiff rvim rview vim.basic vim.tiny vim.nox").without("-es -Es --headless --remote"),
    TerminalRow::typed("ex").without("-s -es -Es"),
    TerminalRow::screen("nano pico rnano micro joe jed tilde hx helix kak mcedit zile")
        .without("-version -plugin -options --health -g --grammar -f -l -p -clear"),
    TerminalRow::screen("ne mg").operands(9),
    TerminalRow::screen("emacs emacs-nox").without("-batch --batch -script --script --daemon"),
    TerminalRow::screen("emacsclient").with("-t -nw --tty"),
    TerminalRow::typed("ed").without("-s"),
    // Pagers: without a terminal they print.
    TerminalRow::screen("less more most man info pinfo").works_without(),
    // Monitors and browsers of files.
    TerminalRow::screen("top").without("-b -l"),
    TerminalRow::screen("iotop").without("-b --batch"),
    TerminalRow::screen("iftop nethogs").without("-t"),
    TerminalRow::screen("atop").without("-P -w"),
    TerminalRow::screen("glances").without("--stdout --stdout-csv --stdout-json --export -w --webserver -s --server"),
    TerminalRow::screen("powertop").without("-r --html -C --csv -c --calibrate --auto-tune"),
    TerminalRow::screen("nvtop").without("-s --snapshot"),
    TerminalRow::screen("htop btop btm gtop ctop watch"),
    TerminalRow::screen("tig lazygit lazydocker gitui ranger nnn lf yazi vifm cfdisk cgdisk nmtui alsamixer cmus"),
    // Names that other programs have too.
    TerminalRow::screen("mc").operands(2),
    TerminalRow::screen("k9s").operands(0).values("-n --namespace --context -c --command -l --logLevel"),
    TerminalRow::screen("ncdu").without("-o"),
    TerminalRow::screen("fzf sk").without("-f --filter --bash --zsh --fish --shell"),
    TerminalRow::screen("dialog whiptail peco irssi weechat"),
    TerminalRow::screen("newsboat").without("-x --execute"),
    TerminalRow::typed("mutt neomutt alpine"),
    TerminalRow::screen("w3m lynx elinks").without("-dump --dump -source -dump_source -dump_head -listonly"),
    TerminalRow::screen("links").operands(1).without("-dump -source"),
    // Interpreters without a program.
    TerminalRow::typed("python pypy").operands(0).values("-W -X").without("-c -m -V").options_first(),
    TerminalRow::typed("python pypy").values("-W -X -c -m").with("-i").options_first(),
    TerminalRow::typed("ipython bpython ptpython").operands(0).without("-c -m"),
    TerminalRow::typed("node nodejs deno ts-node").operands(0)
        .without("-e --eval -p --print -v -c --check -h --test --run --v8-options --completion-bash"),
    TerminalRow::typed("node nodejs").with("-i --interactive").options_first(),
    TerminalRow::typed("irb pry ghci iex jshell scala utop lua luajit R julia octave gp ocaml racket clisp swipl sqlplus bc dc")
        .operands(0).without("-e --eval -E -f --file -s --script -v -V -h -c --cmd"),
    TerminalRow::typed("php").with("-a").options_first(),
    TerminalRow::typed("gdb lldb cgdb").without("-b -batch --batch"),
    TerminalRow::typed("pdb ipdb"),
    // Databases.
    TerminalRow::typed("psql pgcli").without("-c --command -f --file -l --list -V"),
    TerminalRow::typed("mysql mariadb mycli").without("-e --execute -V"),
    TerminalRow::typed("sqlite litecli").operands(1).values("-cmd -init -separator -newline -nullvalue").without("-batch"),
    TerminalRow::typed("redis-cli valkey-cli").operands(0).values("-h -p -a -n -u -s --user --pass")
        .without("-x --scan --bigkeys --memkeys --hotkeys --stat --latency --pipe --rdb --eval"),
    TerminalRow::typed("mongo mongosh").operands(1).without("--eval -f --file"),
    // Shells.
    TerminalRow::typed("sh bash zsh fish dash ksh tcsh csh nu pwsh elvish xonsh").operands(0).without("-c -s --command"),
    TerminalRow::screen("su").without("-c --command"),
    TerminalRow::screen("sudo").with("-i -s --login --shell").operands(0).values("-u -g -h -p -C -T -R -D -U"),
    TerminalRow::screen("sudo").with("-e --edit"),
    TerminalRow::screen("visudo").without("-c --check -x --export"),
    TerminalRow::screen("sudoedit vipw vigr"),
    TerminalRow::screen("passwd").without("-S -l -u -d -e -x -n -a --stdin --status --lock --unlock --delete --expire --all"),
    TerminalRow::screen("crontab").with("-e").editor(),
    TerminalRow::screen("systemctl").subcommands("edit").editor(),
    // Other machines and containers.
    TerminalRow::screen("ssh").values(SSH_VALUES).with("-t").options_first(),
    TerminalRow::screen("ssh").operands(1).values(SSH_VALUES).without("-V -G -Q -f -N -O -T").options_first(),
    TerminalRow::screen("mosh minicom picocom"),
    TerminalRow::typed("telnet ftp ncftp"),
    TerminalRow::screen("sftp").without("-b"),
    TerminalRow::screen("lftp").without("-c -e -f"),
    TerminalRow::screen("docker podman nerdctl").subcommands("run exec").values(CONTAINER_VALUES).with("-t --tty").options_first(),
    TerminalRow::screen("docker podman nerdctl").subcommands("attach"),
    TerminalRow::screen("kubectl oc").subcommands("run exec").with("-t --tty"),
    TerminalRow::screen("kubectl oc").subcommands("attach"),
    TerminalRow::screen("kubectl oc").subcommands("edit").editor(),
    TerminalRow::screen("gh").subcommands("auth").with("login").without("--with-token"),
    TerminalRow::screen("vagrant multipass").subcommands("ssh shell"),
    // Git: what opens an editor, and what asks piece by piece.
    TerminalRow::git("commit").without("-m --message -F --file -C --reuse-message --no-edit --fixup --dry-run -p --patch --interactive").editor(),
    TerminalRow::git("tag").with("-a -s -u --annotate --sign --local-user").without("-m --message -F --file -d -l -v").editor(),
    TerminalRow::git("rebase").with("-i --interactive --edit-todo").editor(),
    TerminalRow::git("rebase cherry-pick revert merge").with("--continue").editor(),
    TerminalRow::git("commit add checkout reset restore").with("-p --patch"),
    TerminalRow::git("stash").with("-p --patch").unless("show list"),
    TerminalRow::git("add clean").with("-i --interactive"),
    TerminalRow::git("commit").with("--interactive"),
    TerminalRow::git("add").with("-e --edit").editor(),
    TerminalRow::git("mergetool difftool"),
];
