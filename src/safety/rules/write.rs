//! Programs that create, change and remove files, and that end processes.

use super::super::checks;
use super::super::spec::Operands::{Loose, ReadsThenWrites, Writes};
use super::super::spec::{Danger, Spec};
use super::super::wrappers;
use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect::{Delete, Elevate, Exec, Irreversible, Network, Write};

const RECURSIVE: &[&str] = &["-R|--recursive"];
const LASTING: &[avocet_core::protocol::Effect] = &[Delete, Irreversible];

#[rustfmt::skip]
pub(super) const ROWS: &[Spec] = &[
    Spec::ask("mkdir touch mkfifo install mknod link symlink fallocate", phrases::WRITES_FILES, &[Write]).values("-m=text --mode=text -d=text --date=text -t=text -r=path --reference=path -s=text")
        .operands(Writes).keeps(&["mkdir -p src/x", "touch a.txt", "touch /etc/x"]).raised(&["touch ~/.ssh/authorized_keys", "mkdir /dev/x"]),
    Spec::ask("cp mv gcp gmv", phrases::WRITES_FILES, &[Write]).values("-t=text --target-directory=text -S=text --suffix=text").operands(ReadsThenWrites).check(checks::output)
        .keeps(&["cp a.txt c.txt", "mv a.txt b.txt", "cp /dev/null README.md", "cp -r src src3", "cp a.txt /tmp/x"]).raised(&["cp a.txt ~/.ssh/authorized_keys", "mv a.txt /dev/sda", "cp -t ~/.ssh a.txt", "cp a.bin /dev/sda", "cp x link_ssh/config"]),
    Spec::ask("ln", phrases::WRITES_FILES, &[Write]).values("-t=text --target-directory=text").operands(ReadsThenWrites).check(checks::links).keeps(&["ln -s a.txt l", "ln -s / root"]).raised(&["ln -s a.txt ~/.ssh/x"]),
    Spec::ask("rm grm", phrases::DELETES_FILES, LASTING).operands(Writes)
        .dangers(&[
            Danger::refuse("force_recursive", &["-r|-R|--recursive", "-f|--force"], phrases::DELETES_FORCED, LASTING),
            Danger::refuse("root", &["--no-preserve-root"], phrases::REMOVES_ROOT, LASTING),
        ])
        .check(checks::removes)
        .keeps(&["rm a.txt", "rm -f a.txt", "rm -r build", "rm -- -rf", "rm -i a.txt"])
        .raised(&["rm -rf build", "rm -fr build", "rm -r -f build", "rm -Rf build", "rm build -rf", "rm --recurs --forc build", "rm -r --force x", "rm -rvf x", "rm --no-preserve-root x", "/bin/rm -rf build",
                  "rm -r /", "rm -r ~", "rm ~/.ssh/id_rsa", "rm -rf .", "rm -f x -R", "rm -xrf y", "rm --unknown -rf y", "rm -r *", "rm /dev/sda", "rm --r --f x"]),
    Spec::ask("rmdir unlink rimraf trash trash-put gio", phrases::DELETES_FILES, LASTING).operands(Writes).keeps(&["rmdir x", "rimraf build"]).raised(&["unlink ~/.ssh/id_rsa"]),
    Spec::ask("chmod chown chgrp setfacl chattr chcon lsattr", phrases::CHANGES_RIGHTS, &[Write]).operands(Writes)
        .dangers(&[Danger::refuse("recursive", RECURSIVE, phrases::CHANGES_RIGHTS_ALL, &[Write, Irreversible])])
        .keeps(&["chmod u+w a.txt", "chmod 644 a.txt", "chmod -v +x a.sh", "chmod -x a.sh"]).raised(&["chmod -R 777 .", "chmod --recurs 777 .", "chown -vR me .", "chgrp --recursive g .", "chmod 777 . -R", "chmod 600 ~/.ssh/id_rsa", "chmod 666 /dev/sda"]),
    Spec::ask("tee sponge", phrases::WRITES_FILES, &[Write]).operands(Writes).quiet(&["/dev/null", "/dev/stderr"]).keeps(&["tee out.txt", "tee -a out.txt", "tee"]).raised(&["tee ~/.ssh/config", "tee -a /etc/sudoers", "tee /dev/sda"]),
    Spec::ask("truncate split csplit dos2unix unix2dos rename prename indent", phrases::WRITES_FILES, &[Write]).operands(Writes).keeps(&["truncate -s 0 a.txt"]).raised(&["truncate -s 0 /dev/sda"]),
    Spec::ask("tar bsdtar gtar", phrases::PACKS, &[Write, Exec]).flags("-t -x -c -v -z -j -J").values("-f=text --file=text -C=text --directory=text").operands(Loose)
        .dangers(&[
            Danger::ask("program", &["--to-command=|--checkpoint-action=|-I=|--use-compress-program=|--rsh-command=|--info-script=|-F=|--new-volume-script=|--rmt-command="], phrases::STARTS_PROGRAM, &[Exec]),
            Danger::ask("delete", &["--remove-files|--delete|--recursive-unlink|--unlink-first"], phrases::DELETES_FILES, &[Delete]),
            Danger::ask("outside", &["-P|--absolute-names"], phrases::WRITES_ANYWHERE, &[Write]),
        ])
        .check(checks::output)
        .quiet(&["--version"])
        .keeps(&["tar tf host:x.tar", "tar -xzf x.tar.gz", "tar tf x.tar --checkpoint-action=exec=id", "tar --to-comm=id -xf x.tar", "tar --use-compress-program=./evil.sh -tf x.tar"])
        .raised(&["tar -xf x.tar -C ~/.ssh"]),
    Spec::ask("zip unzip gzip gunzip zcat bzip2 bunzip2 xz unxz zstd unzstd lz4 7z 7za 7zr rar unrar cpio ar pax zipinfo zgrep xzcat bzcat zless brotli compress uncompress pigz lzma jar zstdcat", phrases::PACKS, &[Write])
        .dangers(&[Danger::ask("program", &["-TT=|--unzip-command="], phrases::STARTS_PROGRAM, &[Exec])]).quiet(&["--version"]).keeps(&["unzip x.zip", "gzip a.txt", "zip -r x.zip src"]),
    Spec::ask("patch", phrases::WRITES_FILES, &[Write]).values("-o=text --output=text -d=text --directory=text").check(checks::output).quiet(&["--version"]).keeps(&["patch -p1 -i x.patch"]),
    Spec::ask("kill", phrases::ENDS_PROCESSES, &[Irreversible]).check(checks::kill).keeps(&["kill 1234", "kill -9 1234", "kill -l"]).raised(&["kill -9 -1", "kill -KILL -- -1", "kill -- -1", "kill 1", "kill -s KILL -1", "kill -9 1"]),
    Spec::ask("pkill killall skill xkill fuser", phrases::ENDS_PROCESSES, &[Irreversible]).check(checks::kill_by_name).keeps(&["pkill node", "killall node"]).raised(&["pkill -f .", "pkill -9 .*"]),
    Spec::ask("rsync", phrases::COPIES_FAR, &[Write, Network])
        .dangers(&[Danger::ask("program", &["-e=|--rsh=|--rsync-path="], phrases::STARTS_PROGRAM, &[Exec]), Danger::ask("delete", &["--delete|--delete-before|--delete-after|--delete-excluded|--del|--remove-source-files"], phrases::DELETES_FILES, &[Delete])])
        .keeps(&["rsync -a src/ dst/", "rsync -e ./evil.sh a h:b", "rsync --delete a b"]),
    Spec::ask("crontab at batch atrm", phrases::SCHEDULES, &[Write, Exec, Elevate]).dangers(&[Danger::refuse("remove", &["-r"], phrases::SCHEDULES, LASTING)]).keeps(&["crontab job.txt", "at now"]).raised(&["crontab -r"]),
    Spec::ask("systemctl loginctl machinectl service launchctl rc-service initctl supervisorctl", phrases::CHANGES_SERVICES, &[Write, Exec, Elevate])
        .flags("--no-pager --user --system -q --quiet -l --full -a --all --failed").check(checks::power)
        .quiet(&["list-units --no-pager", "--version"])
        .subs(&[Spec::ask("status show is-active is-enabled is-failed is-system-running list-units list-unit-files list-timers list-sockets list-dependencies list-jobs list-sessions list-users list-seats list print get-default show-environment cat session-status user-status", phrases::SHOWS_SERVICES, &[Exec]).keeps(&["systemctl status x", "loginctl list-sessions"])])
        .keeps(&["systemctl status x", "systemctl restart x"]).raised(&["systemctl poweroff", "systemctl reboot", "systemctl --force kexec", "systemctl isolate rescue.target", "systemctl --no-wall halt"]),
    Spec::ask("ip ifconfig route tc bridge networksetup nmcli iwconfig iw resolvectl rfkill ethtool arp", phrases::CHANGES_NETWORK, &[Write, Network, Exec]).keeps(&["ip addr flush dev x", "ip -batch cmds.txt"]),
    Spec::ask("stress stress-ng ab hey wrk siege sysbench fio", phrases::TAKES_LONG, &[avocet_core::protocol::Effect::Resource]).keeps(&["stress -c 64"]),
    Spec::ask("xclip xsel pbcopy pbpaste wl-copy wl-paste clip", phrases::SHOWS_SECRETS, &[avocet_core::protocol::Effect::Secret]).keeps(&["pbpaste"]),
    Spec::ask("gpg gpg2 pass ssh-keygen ssh-add ssh-agent age sops openssl keytool security secret-tool op bw lpass keyring vault kwallet-query certtool mkcert gpg-agent gpgsm git-crypt ansible-vault doppler chamber keychain keyctl", phrases::SHOWS_SECRETS, &[avocet_core::protocol::Effect::Secret, Write, Network])
        .values("-o=text --output=text -out=text").check(checks::output).keeps(&["gpg --decrypt a.gpg", "openssl s_client x", "secret-tool lookup a b"]).raised(&["gpg --output ~/.ssh/x --decrypt a"]),
    Spec::ask("logger wall write notify-send say espeak mesg reset clear tput stty tset setterm chvt screendump", phrases::USES_TERMINAL, &[avocet_core::protocol::Effect::Terminal]).keeps(&["clear", "notify-send x"]),
    Spec::ask("fusermount fusermount3 udisksctl gparted eject", phrases::CHANGES_SYSTEM, &[Elevate]).keeps(&["eject"]),
    Spec::ask("diskutil hdiutil tmutil", phrases::CHANGES_SYSTEM, &[Write]).check(checks::disk).keeps(&["diskutil list"]).raised(&["diskutil eraseDisk JHFS+ x disk2", "diskutil partitionDisk disk2", "diskutil secureErase 0 disk2", "diskutil reformat x", "diskutil zeroDisk x"]),
    Spec::ask("magick convert mogrify ffmpeg ffprobe gs dot inkscape rsvg-convert exiftool identify pdftotext wkhtmltopdf", phrases::WRITES_FILES, &[Write, Exec]).check(wrappers::scan_arguments).keeps(&["convert a.png b.jpg"]),
];
