//! Sentences about MCP servers in a session and on the command line.

words! { "mcp_pages":
    TITLE: "MCP servers", "MCP 服务器";
    NONE: "No MCP server is configured. `avocet mcp add NAME -- COMMAND` adds one; `.mcp.json` and the settings of other agents are read as well.", "没有配置 MCP 服务器。可用 `avocet mcp add 名称 -- 命令` 添加；也会读取 `.mcp.json` 和其他智能体的设置。";
    RUNNING: "{count} tools; {title}, revision {revision}", "{count} 个工具；{title}，协议版本 {revision}";
    STARTING: "starting", "正在启动";
    OFF: "off", "已关闭";
    UNTRUSTED: "not started: this folder is not trusted", "未启动：此目录不受信任";
    WAITS: "not started: this project's server waits for your approval", "未启动：该项目的服务器等待你的批准";
    DECLINED: "not started: you declined it", "未启动：你已拒绝";
    FAILED: "stopped: {why}", "已停止：{why}";
    FAILED_RETRIES: "stopped, starts again in {seconds} s: {why}", "已停止，{seconds} 秒后重新启动：{why}";
    TOOLS: "tools", "工具";
    DEFINED_IN: "from {file}", "来自 {file}";
    HOW: "`/mcp restart NAME`, `/mcp on NAME`, `/mcp off NAME`; `/mcp reload` reads the settings again.", "`/mcp restart 名称`、`/mcp on 名称`、`/mcp off 名称`；`/mcp reload` 重新读取设置。";
    USAGE: "`{found}` is not something `/mcp` does. Use `/mcp`, `/mcp reload`, or `restart`, `on` or `off` with the name of a server.", "`/mcp` 不支持 `{found}`。请用 `/mcp`、`/mcp reload`，或 `restart`、`on`、`off` 加服务器名称。";
    UNKNOWN: "There is no MCP server `{name}`. `/mcp` lists them.", "没有名为 `{name}` 的 MCP 服务器。`/mcp` 会列出全部。";
    RELOADED: "Reading the definitions of MCP servers again; `/mcp` shows them.", "正在重新读取 MCP 服务器的定义；用 `/mcp` 查看。";
    FAILED_NOTICE: "MCP server `{name}`: {why}", "MCP 服务器 `{name}`：{why}";
    NOT_ASKED: "The MCP servers of this project were not started: {names}.", "未启动该项目的 MCP 服务器：{names}。";
    NOT_ASKED_HINT: "Start `avocet` in this folder to be asked about them once.", "在此目录运行 `avocet`，会询问一次是否启动。";
    NOT_SAVED: "The answer was not saved: {why}", "未能保存你的回答：{why}";
    ASK: "`{file}` of this project names the MCP server `{name}`:\n\n{command}\n{variables}\nIt runs in the sandbox: it writes only in this folder, and the network is open. Start it, now and in later sessions?", "该项目的 `{file}` 指定了 MCP 服务器 `{name}`：\n\n{command}\n{variables}\n它在沙箱中运行：只能写入此目录，网络开放。现在及以后的会话中都启动它吗？";
    ASK_REMOTE: "`{file}` of this project names the MCP server `{name}`:\n\n{command}\n{variables}\nIt gets what the model sends to its tools. Connect to it, now and in later sessions?", "该项目的 `{file}` 指定了 MCP 服务器 `{name}`：\n\n{command}\n{variables}\n模型发给其工具的内容都会传给它。现在及以后的会话中都连接它吗？";
    ASK_VARIABLES: "Variables: {names}", "变量：{names}";
    ASK_YES: "Start it", "启动";
    ASK_NO: "Don't start it", "不启动";
    ABOUT_TOOL: "Calls a tool of an MCP server", "调用 MCP 服务器的工具";
    ABOUT_COMMAND: "List and restart MCP servers", "列出和重启 MCP 服务器";
    OPTION_ACTION: "`reload`, `restart`, `on` or `off`", "`reload`、`restart`、`on` 或 `off`";
    OPTION_SERVER: "Name of a server", "服务器名称";
    NO_TOOL: "The server has no such tool any more.", "服务器已不再提供这个工具。";
    NO_OBJECT: "The input of a tool is an object.", "工具的输入必须是对象。";
}
