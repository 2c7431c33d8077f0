//! Sentences about rules: what a rule covers, and why it may cover nothing.

words! { "rules":
    EXACT: "It covers exactly these arguments, run in `{folder}`.", "只覆盖在 `{folder}` 中以完全相同的参数运行。";
    OPEN: "It covers `{command}` with {what}, run in `{folder}`.", "覆盖在 `{folder}` 中运行的 `{command}` 及其后的{what}。";
    OPERANDS_NONE: "nothing except options from its list", "（仅限）清单中的选项";
    OPERANDS_NAMES: "names", "名称";
    OPERANDS_INSIDE: "names and paths in this folder", "名称和此目录内的路径";
    OPERANDS_REMOTE: "the names of a remote and branches", "远程仓库名和分支名";
    OPTIONS: "Covered options: {options}.", "覆盖的选项：{options}。";
    OPTIONS_MORE: "Covered options: {options} and {count} more.", "覆盖的选项：{options}，另有 {count} 个。";
    ASKS: "Avocet still asks about other options, paths outside, URLs, another folder, and a program of the same name in the folder.", "其他选项、目录外的路径、URL、其他目录以及目录中的同名程序仍会询问。";
    REASONS: "Only for these reasons: {reasons}.", "仅适用于这些原因：{reasons}。";
    UNBOUND: "Scripts are allowed by content, not by name. `/allow {rule}` covers the current script.", "仅凭文本不生效：脚本按其内容授权。`/allow {rule}` 可授权当前的脚本。";
    PINNED: "It applies as long as the content of `{program}` does not change.", "仅在 `{program}` 的内容不变时有效。";
    MCP_CALL: "Any call of `{tool}`, whatever its input.", "对 `{tool}` 的任何调用，无论输入是什么。";
    FILES: "It covers new files in `{folder}`, and changes to files there that the model has read and that are unchanged since.", "覆盖 `{folder}` 中模型读过且此后未被改动的文件，以及新建文件。";
    FILES_ASK: "Avocet still asks about files that steer programs or agents (`AGENTS.md`, `package.json`, `.github/workflows`, build files and the like), credentials, `.git`, and files outside.", "以下文件仍会询问：影响程序或智能体行为的文件（`AGENTS.md`、`package.json`、`.github/workflows`、构建文件等）、凭据、`.git` 以及目录外的文件。";
    NO_STAR: "`*` covers nothing here: the rule covers only `{command}`, run in `{folder}`.", "`*` 在这里不覆盖任何参数：规则只覆盖在 `{folder}` 中运行的 `{command}`。";
    NOTHING: "It covers nothing: `{program}` can do anything with its arguments.", "不覆盖任何命令：`{program}` 可借参数做任何事。";
    NEVER_OPEN: "`{rule}` would cover nothing: `{program}` can do anything with its arguments. Allow a command with its exact arguments.", "`{rule}` 不会覆盖任何命令：`{program}` 可借参数做任何事。请用完整参数来允许某条命令。";
    NEVER_TOOL: "No rule covers `{rule}`. Of the tools, only `file.write *`, `file.edit *`, `web.search *` and `web.fetch HOST` can be allowed.", "没有规则能覆盖 `{rule}`。工具中只能允许 `file.write *`、`file.edit *`、`web.search *` 和 `web.fetch 主机`。";
    NEVER_REFUSED: "`{rule}` is still refused: {why}", "`{rule}` 仍会被拒绝：{why}";
    NEVER_ASKED: "`{rule}` still asks: {why}", "`{rule}` 仍会询问：{why}";
    NEVER_NEEDED: "`{rule}` already runs without asking.", "`{rule}` 本来就无需询问。";
    NARROWED: "One rule remembered here by an older version was kept but now covers less: `/permissions` shows it.", "旧版本在此记住的一条规则已保留，但覆盖范围变小，可用 `/permissions` 查看。";
    NARROWED_MANY: "{n} {n:rule|rules} remembered here by an older version {n:was|were} kept but now {n:covers|cover} less: `/permissions` shows them.", "旧版本在此记住的 {n} 条规则已保留，但覆盖范围变小，可用 `/permissions` 查看。";
}
