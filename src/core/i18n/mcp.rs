//! Sentences of the client of the Model Context Protocol: why a server or a call of it failed, and
//! what is wrong with a definition.

words! { "mcp":
    UNREACHABLE: "It cannot be reached: {why}", "无法连接：{why}";
    BAD_ADDRESS: "its address does not begin with http:// or https://", "其地址不以 http:// 或 https:// 开头";
    BAD_HEADER: "one of its headers is not valid", "它的某个标头无效";
    PLAIN_HTTP: "its `Authorization` would go to {host} unencrypted; use https://", "它的 `Authorization` 会以明文发送到 {host}；请使用 https://";
    BAD_ENDPOINT: "it names an address of another server for messages", "它给出的消息地址属于另一台服务器";
    MISSING_VARIABLE: "Its definition needs the variable `{name}`, which is not set.", "其定义需要变量 `{name}`，但它没有设置。";
    ENDED: "It ended.", "它已结束。";
    ENDED_AFTER: "It ended. Its last line was: {line}", "它已结束。最后一行是：{line}";
    START_TIMEOUT: "It did not start within {seconds} s.", "它没有在 {seconds} 秒内启动。";
    CALL_TIMEOUT: "It did not answer within {seconds} s.", "它没有在 {seconds} 秒内应答。";
    FLOODED: "It sent more than {limit} at once and was stopped.", "它一次发送的内容超过 {limit}，已被停止。";
    NO_PROTOCOL: "It broke the protocol: {why}. Check that it is an MCP server, and update it.", "它没有遵守协议：{why}。请确认它是 MCP 服务器，并更新它。";
    WRONG_START: "its first answer is not one to `initialize`", "它的第一个应答不是对 `initialize` 的应答";
    WRONG_ANSWER: "its answer does not fit the request", "它的应答与请求不符";
    WRONG_REVISION: "it speaks other revisions only ({list})", "它只支持其他修订版（{list}）";
    WRONG_REQUEST: "it asks for `{method}`, which it is not offered", "它请求了 `{method}`，但并未向它提供";
    ASKS_AGAIN: "it answers `{method}` with one question after another", "它对 `{method}` 一再以提问作答";
    REFUSED: "It refused: {why}", "它拒绝了：{why}";
    LOGIN_NEEDED: "It wants you to log in: `avocet mcp login`.", "它要求登录：请运行 `avocet mcp login`。";
    LOGIN_FAILED: "Logging in failed: {why}.", "登录失败：{why}。";
    CHANGED: "A file of the project that it starts from has changed since you allowed it, so it was not started again. `/mcp restart {name}` asks you.", "你允许之后，它启动所用的项目文件已改变，因此没有再次启动。`/mcp restart {name}` 会重新询问。";
    NOT_RUNNING: "It is not running.", "它没有运行。";
    CANCELLED: "Cancelled.", "已取消。";

    // Definitions
    NOT_USED: "The MCP server `{server}` in {file} is not used: {why}.", "{file} 中的 MCP 服务器 `{server}` 未被使用：{why}。";
    FILE_NOT_USED: "The MCP servers in {file} are not used: {why}.", "{file} 中的 MCP 服务器未被使用：{why}。";
    BAD_SYNTAX: "the file cannot be read as it is written ({why})", "文件的写法有误（{why}）";
    TOO_LARGE: "the file is larger than {limit}", "文件大于 {limit}";
    TOO_LONG: "its command line and its variables take more than {limit} bytes, too many to be read in a question", "其命令行和变量超过 {limit} 字节，太长，无法在提问中看清";
    BAD_NAME: "a name has 1 to {limit} visible characters", "名称应为 1 到 {limit} 个可见字符";
    SHADOWED: "{file} defines another server of that name", "{file} 定义了另一个同名的服务器";
    REPEATED: "{file} defines the same server", "{file} 定义了同一个服务器";
    UNTRUSTED_FILE: "this folder is not trusted", "此目录不受信任";
    USED: "`{server}`: {state}", "`{server}`：{state}";
    NO_SERVERS: "defines no MCP server", "没有定义 MCP 服务器";
    NO_COMMAND: "it has neither a `command` nor a `url`", "它既没有 `command` 也没有 `url`";
    WRONG_TYPE: "`{key}` has a value of the wrong type", "`{key}` 的值类型不对";
    UNKNOWN_TRANSPORT: "its type `{type}` is not known; use `stdio`, `http` or `sse`", "类型 `{type}` 未知；请使用 `stdio`、`http` 或 `sse`";
    NOT_SUPPORTED: "`{key}` is not supported", "不支持 `{key}`";
    BEARER_TOKEN: "`bearer_token` would be a secret in a file; use `bearer_token_env_var`", "`bearer_token` 会把密钥写在文件里；请使用 `bearer_token_env_var`";
}
