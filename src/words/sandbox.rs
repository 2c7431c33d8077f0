//! Words of the sandbox.

words! { "sandbox":
    // Why a step did not start.
    /// `safety.sandbox = "all"` on a system that has none.
    REQUIRED: "Your settings let steps run in a sandbox only, and there is none here: {why} Set `sandbox = \"auto\"` under `[safety]` to run without one.",
        "设置要求步骤只能在沙箱中运行，而这里没有可用的沙箱：{why}若要在没有沙箱时运行，请在 `[safety]` 下设 `sandbox = \"auto\"`。";
    /// It worked when it was tried out, and does not now.
    NOT_APPLIED: "The sandbox could not be put around this step, so it was not started: {why}.",
        "无法为这一步套上沙箱，因此没有启动：{why}。";

    // Why there is none.
    NO_KERNEL: "the kernel offers no Landlock.", "内核不提供 Landlock。";
    NO_SYSTEM: "this system offers none that is built in.", "本系统没有内置的沙箱。";
    LEAKS: "it was tried out and did not hold {what}.", "试用时它没有拦住{what}。";
    FAULT: "it could not be set up: {why}.", "无法建立：{why}。";

    // What was tried inside.
    TRIED_WRITE: "writing a file", "写文件";
    TRIED_CHANGE: "changing a file's mode", "更改文件权限";
    TRIED_CONNECT: "connecting", "网络连接";
    TRIED_TEMP: "its own temporary folder", "它自己的临时目录";

    // What `doctor` shows.
    DOCTOR: "Sandbox", "沙箱";
    DOCTOR_L0: "steps that run by themselves (L0)", "自动运行的步骤（L0）";
    DOCTOR_L1: "steps you approve (L1)", "经你批准的步骤（L1）";
    HELD: "held: no writing, no network, no changed modes or owners; nothing of the workspace is started", "受限：不能写入、不能联网、不能更改权限或属主；不会启动工作区里的程序";
    HELD_L1: "held: writing in the workspace and a temporary folder only; network where the step says so", "受限：只能写工作区和临时目录；仅在步骤声明时可联网";
    FREE_L1: "not held; `sandbox = \"all\"` under `[safety]` holds them too", "不受限；在 `[safety]` 下设 `sandbox = \"all\"` 可一并限制";
    ABSENT: "not held: {why}", "不受限：{why}";
    SET_OFF: "not held: your settings switch it off", "不受限：设置已将其关闭";
    DOCTOR_KERNEL: "built from", "实现方式";
    KERNEL: "Landlock (kernel ABI {abi}) and seccomp", "Landlock（内核 ABI {abi}）与 seccomp";
    SEATBELT: "sandbox-exec", "sandbox-exec";
    DOCTOR_SECRETS: "credentials in known places", "已知位置的凭据";
    SECRETS_HIDDEN: "not readable inside; their names are", "沙箱内不可读，但文件名可见";
    SECRETS_PARTLY: "not readable inside, except where a folder has too many entries", "沙箱内不可读，条目过多的目录除外";
    DOCTOR_SIGNALS: "signals to other processes", "发往其他进程的信号";
    SIGNALS_HELD: "held", "受限";
    SIGNALS_FREE: "not held by this kernel", "此内核不限制";
}
