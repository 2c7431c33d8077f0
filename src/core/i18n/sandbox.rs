//! Sentences about the sandbox.

words! { "sandbox":
    // Reasons why a step did not start.
    /// It worked when it was tested, but does not now.
    NOT_APPLIED: "The sandbox could not be applied to this step, so it was not started: {why}.",
        "无法对这一步启用沙箱，因此没有启动：{why}。";

    // Reasons why there is none.
    NO_KERNEL: "the kernel does not support Landlock.", "内核不支持 Landlock。";
    NO_SYSTEM: "this system has no built-in sandbox.", "本系统没有内置的沙箱。";
    LEAKS: "a test showed that it does not block {what}.", "测试时未能拦截{what}。";
    FAULT: "it could not be set up: {why}.", "无法建立：{why}。";

    // Tested operations.
    TRIED_READ: "reading a file elsewhere", "读取别处的文件";
    TRIED_WRITE: "writing a file", "写文件";
    TRIED_CHANGE: "changing a file's mode", "更改文件权限";
    TRIED_CONNECT: "connecting", "网络连接";
    TRIED_TEMP: "its own temporary folder", "它自己的临时目录";

    // Rows of `doctor`.
    DOCTOR: "Sandbox", "沙箱";
    DOCTOR_L0: "steps that run without asking", "无需询问的步骤";
    DOCTOR_L1: "steps you approve", "经你批准的步骤";
    HELD: "sandboxed, profile `read`: read the workspace, the system and toolchains; no writing, no network, no other programs", "沙箱配置 `read`：只能读取工作目录、系统与工具链；不能写入、不能联网、不能启动其他程序";
    HELD_L1: "sandboxed, profile `work`: read the workspace, the system and toolchains; write in the workspace, a temporary folder and the caches of the program; network where the step says so; credentials only for the program made for them", "沙箱配置 `work`：只能读取工作目录、系统与工具链；只能写工作目录、临时目录及该程序的缓存；仅在步骤声明时可联网；凭据只对相应的程序开放";
    FREE_L1: "not sandboxed; set `sandbox = \"work\"` under `[safety]` to sandbox them too", "不受限；在 `[safety]` 下设 `sandbox = \"work\"` 可一并限制";
    ABSENT_ASKS: "`sed`, `awk`, `jq`, `find` and `git` always ask here: whether they are harmless depends on a language in their arguments, and there is no sandbox to stop them.", "此处 `sed`、`awk`、`jq`、`find` 与 `git` 每次都会询问：它们是否无害取决于参数中的小语言，而这里没有沙箱可以兜底。";
    /// The setting uses a name from an older version.
    OLD_WORD: "`{old}` is the old name for `{new}`", "`{old}` 是 `{new}` 的旧写法";
    ABSENT: "not sandboxed: {why}", "不受限：{why}";
    SET_OFF: "not sandboxed: turned off in your settings", "不受限：设置已将其关闭";
    DOCTOR_KERNEL: "uses", "实现方式";
    KERNEL: "Landlock (kernel ABI {abi}) and seccomp", "Landlock（内核 ABI {abi}）与 seccomp";
    SEATBELT: "sandbox-exec (not tested by us on this system)", "sandbox-exec（我们未在此系统上实测）";
    DOCTOR_SECRETS: "credentials in known locations", "已知位置的凭据";
    // The row of `/status`.
    IS_WORK: "`work`: steps that run by themselves only read; approved steps stay in this folder", "`work`：直接运行的步骤只能读取；经批准的步骤限于此目录";
    IS_READ: "`read`: steps that run by themselves only read; approved steps are not sandboxed", "`read`：直接运行的步骤只能读取；经批准的步骤不受限";
    IS_ABSENT: "none on this system; see `avocet doctor`", "此系统没有；原因见 `avocet doctor`";
    IS_OFF: "off in your settings", "已由设置关闭";
    /// Shown once per user.
    TOLD_ABSENT: "This system has no sandbox, so steps run without one. `sed`, `awk`, `jq`, `find` and `git` always ask, because nothing would stop them.", "此系统没有沙箱，步骤将不受限制地运行。`sed`、`awk`、`jq`、`find` 与 `git` 每次都会询问，因为没有沙箱可以兜底。";
    TOLD_ABSENT_HINT: "`avocet doctor` shows why. This message appears only once.", "原因见 `avocet doctor`。此提示只出现一次。";

    // Blocked operations; each ends a sentence.
    DENIED_READ: "reading `{path}`", "读取 `{path}`";
    DENIED_WRITE: "changing `{path}`", "更改 `{path}`";
    DENIED_NETWORK: "using the network", "访问网络";
    DENIED_AND: "{first} and {second}", "{first}以及{second}";
    DENIED: "Its output says that the sandbox kept it from {what}.", "它的输出称沙箱阻止了它{what}。";
    DENIED_MAYBE: "The sandbox may be why: it reaches only this folder, the system, toolchains, and the caches of its program.", "可能是沙箱所致：它只能使用此目录、系统、工具链及其程序的缓存。";
    SECRETS_HIDDEN: "contents hidden, names visible", "内容不可读，文件名可见";
    SECRETS_PARTLY: "contents hidden, except in folders with too many entries", "内容不可读，条目过多的目录除外";

    // `/help sandbox`, whose list of what is open is in the README too.
    HELP_KERNEL: "{what}; on older kernels: {without}", "{what}；在较旧的内核上：{without}";
    OPEN_SOCKETS: "No version of Landlock that Avocet uses restricts sockets that have a path (tmux, D-Bus, `ssh-agent`, Docker). An approved step that has the network and finds one can run anything outside: through it another program of yours, which is not sandboxed, does what the step says. The variables that name such sockets (`TMUX`, `DBUS_*`, `SSH_AUTH_SOCK`, `XDG_RUNTIME_DIR`, `WAYLAND_DISPLAY`, `DISPLAY`) reach only the programs made for them.", "Avocet 所用的 Landlock 版本都不限制带路径的套接字（tmux、D-Bus、`ssh-agent`、Docker）。经批准且可联网的步骤若找到这样的套接字，便能在沙箱外运行任何程序：由你的另一个不受限的程序代其执行。指向这类套接字的变量（`TMUX`、`DBUS_*`、`SSH_AUTH_SOCK`、`XDG_RUNTIME_DIR`、`WAYLAND_DISPLAY`、`DISPLAY`）只传给为其而设的程序。";
    OPEN_NETWORK: "An approved step that has the network can send away what it can read.", "经批准且可联网的步骤可以把它能读到的内容发送出去。";
    OPEN_SENT: "Whatever steps that run without asking read goes to your model's server.", "无需询问的步骤读到的一切都会发往模型的服务器。";
    OPEN_NAMES: "File names in your folder can be listed, those of credentials too.", "工作目录中的文件名可以列出，凭据文件的名字也不例外。";
    OPEN_MODES: "An approved step can change modes, owners, times and attributes of your other files, and reach shared memory of your other programs. It cannot set setuid, but it can set setgid on a file, so that anyone who runs the file gets the rights of one of your groups.", "经批准的步骤可以更改你其他文件的权限、属主、时间和属性，也能访问你其他程序的共享内存。它不能设置 setuid，但可以给文件设置 setgid，这样任何人运行该文件时都会拥有你某个用户组的权限。";
    OPEN_FREE: "A step you run without the sandbox, and what you type after `!`, has all your rights.", "你让其不受沙箱限制运行的步骤，以及你在 `!` 后输入的命令，拥有你的全部权限。";

    // What each version of the kernel's interface restricts, and how it is on older kernels.
    LIMIT_FILES: "reading, writing and starting files", "读取、写入与启动文件";
    WITHOUT_FILES: "not sandboxed at all; `sed`, `awk`, `jq`, `find` and `git` always ask", "完全不受沙箱限制；`sed`、`awk`、`jq`、`find` 与 `git` 每次都会询问";
    LIMIT_MOVES: "moves between folders", "在目录之间移动文件";
    MOVES_FAIL: "fail in approved steps: they cannot be allowed", "在已批准的步骤中会失败：无法放行";
    LIMIT_CUTTING: "shortening a file by its path", "按路径截短文件";
    WITHOUT_CUTTING: "fails in every step, in your folder too", "在所有步骤中都会失败，工作目录内也一样";
    LIMIT_PORTS: "TCP ports", "TCP 端口";
    WITHOUT_PORTS: "closed together with all other network sockets, where the network is closed", "在网络关闭时与其他网络套接字一并关闭";
    LIMIT_DEVICES: "commands to devices", "发给设备的控制命令";
    WITHOUT_DEVICES: "not blocked for devices that a step may open", "对步骤可打开的设备不拦截";
    LIMIT_SIGNALS: "signals and nameless sockets of your other programs", "你的其他程序的信号与匿名套接字";
    WITHOUT_SIGNALS: "can be reached: through them an approved step can run anything outside", "可以触及：已批准的步骤可借此在沙箱外运行任何程序";
    LIMIT_RECORDS: "nothing more", "没有新增";
    WITHOUT_RECORDS: "the same", "相同";
}
