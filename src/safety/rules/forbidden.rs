//! Programs that are refused by name.

use super::super::spec::Operands::Command;
use super::super::spec::Spec;
use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect::{Delete, Elevate, Exec, Irreversible};

const DISK: &[avocet_core::protocol::Effect] = &[Delete, Irreversible];
const POWER: &[avocet_core::protocol::Effect] = &[Elevate, Irreversible];

#[rustfmt::skip]
pub(super) const ROWS: &[Spec] = &[
    Spec::refuse("sudo sudo-rs doas pkexec run0 sudoedit runuser gosu su-exec kdesudo gksudo gksu kdesu beesu please calife super dzdo pfexec sux lxsudo lxqt-sudo dpexec gsudo runas", phrases::ELEVATES, &[Elevate, Exec]).posix()
        .flags("-n -S -E -H -i -s -k -b -A -l -v -P -K -e").values("-u=text --user=text -g=text -p=text -C=text -h=text -D=text -r=text -t=text -T=text -U=text -a=text -c=text").operands(Command(0))
        .keeps(&["sudo ls", "sudo -n true", "doas ls", "sudo", "sudo rm -rf /"]),
    Spec::refuse("su sg newgrp login visudo vipw vigr", phrases::ELEVATES, &[Elevate, Exec]).posix().values("-c=text --command=text").check(super::super::wrappers::dash_c).keeps(&["su", "su -c ls", "visudo"]),
    Spec::refuse("chroot systemd-nspawn arch-chroot", phrases::ELEVATES, &[Elevate, Exec]).posix().operands(Command(1)).keeps(&["chroot x ls"]),
    Spec::refuse("mkfs mkfs.* mke2fs mkswap mkdosfs mkntfs newfs newfs_* fdisk sfdisk cfdisk gdisk sgdisk cgdisk parted partprobe partx wipefs blkdiscard shred srm wipe sfill scrub nwipe cryptsetup veritysetup mdadm dmsetup lvremove vgremove pvremove lvcreate pvcreate vgcreate lvreduce lvresize zpool zfs btrfs bcachefs xfs_repair losetup umount swapoff swapon badblocks tune2fs resize2fs e2fsck fsck fsck.* debugfs hdparm sdparm nvme smartctl sg_format ddrescue dcfldd dc3dd flashrom fwupdmgr format diskpart mkisofs cdrecord wodim growisofs testdisk photorec e2label fatlabel xfs_admin mlabel", phrases::DISK, DISK)
        .keeps(&["mkswap /dev/sda2", "mkfs.ext4 /dev/sda1", "nvme format /dev/nvme0", "shred a.txt", "fdisk -l", "newfs_hfs x"]),
    Spec::refuse("dd", phrases::DISK, DISK).keeps(&["dd if=/dev/zero of=/dev/sda", "dd if=a of=b"]),
    Spec::refuse("mount mount.*", phrases::DISK, POWER).quiet(&["", "-l", "--version"]).keeps(&["mount /dev/sda1 /mnt"]),
    Spec::refuse("reboot shutdown halt poweroff init telinit kexec pm-suspend pm-hibernate systemsetup pmset killall5 rtcwake", phrases::POWER, POWER).keeps(&["reboot", "shutdown -h now", "init 0"]),
    Spec::refuse("insmod modprobe rmmod depmod kmod kextload kextunload kmutil bpftool dkms", phrases::KERNEL, POWER).keeps(&["modprobe x", "insmod x.ko"]),
    Spec::refuse("useradd adduser userdel deluser usermod groupadd addgroup groupdel delgroup groupmod passwd chpasswd chsh chfn chage gpasswd newusers pwconv dscl dseditgroup sysadminctl faillock pam_tally2", phrases::ACCOUNTS, POWER).keeps(&["useradd x", "passwd"]),
    Spec::refuse("iptables-* ip6tables-* ebtables arptables pfctl ipset setenforce semanage setsebool auditctl aa-teardown aa-disable apparmor_parser restorecon", phrases::FIREWALL, POWER).keeps(&["iptables-restore x", "setenforce 0"]),
    Spec::refuse("grub-install grub-mkconfig update-grub grub2-install grub2-mkconfig grub-set-default efibootmgr bootctl csrutil spctl nvram bless lilo syslinux extlinux mokutil update-initramfs mkinitcpio dracut fw_setenv tpm2_clear setpci wrmsr ldconfig update-alternatives update-rc.d chkconfig sysrc", phrases::BOOT, POWER).keeps(&["csrutil disable", "grub-install /dev/sda"]),
    Spec::refuse("hwclock ntpdate chronyc setcap", phrases::CHANGES_SYSTEM, POWER).keeps(&["hwclock --systohc"]),
];
