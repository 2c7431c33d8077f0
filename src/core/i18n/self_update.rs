//! Sentences about updates of the program itself.

words! { "self_update":
    NOT_OURS: "`{program}` was not installed by install.sh, so it is updated by what installed it: a package manager, npm, pip or cargo.", "`{program}` 不是由 install.sh 安装的，请用安装它的工具更新：软件包管理器、npm、pip 或 cargo。";
    NO_KEY: "This program was built without the key of its releases, so nothing can be verified. Name the key with `--key`, or install again.", "此程序构建时没有内置发布密钥，因此无法验证更新。请用 `--key` 指定密钥，或重新安装。";
    BAD_KEY: "`{key}` is not a public key of minisign.", "`{key}` 不是 minisign 公钥。";
    NOT_ENCRYPTED: "`{from}` is not an https address or a folder.", "`{from}` 不是 https 地址，也不是目录。";
    UNREADABLE: "`{file}` of {from} cannot be read: {why}. Nothing was changed.", "无法读取 {from} 的 `{file}`：{why}。未做任何改动。";
    STATUS: "the server answers with {code}", "服务器返回 {code}";
    REDIRECTS: "it leads from one address to the next without end, or to one that is not encrypted", "地址不断跳转，或跳转到未加密的地址";
    TOO_LARGE: "it has more than {most} MiB", "超过 {most} MiB";
    BAD_SIGNATURE: "The release at {from} is not signed with the release key. Nothing was changed.", "{from} 的发布没有用发布密钥签名。未做任何改动。";
    NO_VERSION: "The signature of the release at {from} names no version. Nothing was changed.", "{from} 的发布签名没有注明版本。未做任何改动。";
    NO_ARCHIVE: "The release at {from} has no archive for this machine ({machine}). Nothing was changed.", "{from} 的发布没有适用于本机（{machine}）的归档。未做任何改动。";
    BAD_SUM: "The checksum of `{file}` is {found}, and should be {expected}. Nothing was changed.", "`{file}` 的校验和是 {found}，应为 {expected}。未做任何改动。";
    NOT_NEWER: "{from} has Avocet {found}, and this is {version}: there is nothing to update.", "{from} 提供 Avocet {found}，当前为 {version}：无需更新。";
    AVAILABLE: "Avocet {found} is available, and this is {version}. `avocet self update` installs it.", "可更新到 Avocet {found}，当前为 {version}。运行 `avocet self update` 即可安装。";
    NOT_INSTALLED: "Avocet {found} was not installed: {why}\nThe old program is still there.", "未能安装 Avocet {found}：{why}\n原来的程序仍在。";
    INSTALLED: "Avocet {found} is installed as `{program}`. Sessions that run keep the old one until they end.", "已将 Avocet {found} 安装为 `{program}`。正在运行的会话在结束前仍用旧版本。";
}
