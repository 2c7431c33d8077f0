//! Sentences of the client of the Model Context Protocol: why a server or a call of it failed, and
//! what is wrong with a definition.

words! { "mcp":
    UNREACHABLE: "It cannot be reached: {why}.", "无法连接：{why}。";
    MISSING_VARIABLE: "Its definition needs the variable `{name}`, which is not set.", "其定义需要变量 `{name}`，但它没有设置。";
    ENDED: "It ended.", "它已结束。";
    ENDED_AFTER: "It ended. Its last line was: {line}", "它已结束。最后一行是：{line}";
    START_TIMEOUT: "It did not start within {seconds} s.", "它没有在 {seconds} 秒内启动。";
    CALL_TIMEOUT: "It did not answer within {seconds} s.", "它没有在 {seconds} 秒内应答。";
    FLOODED: "It sent more than {limit} at once and was stopped.", "它一次发送的内容超过 {limit}，已被停止。";
    NO_PROTOCOL: "It does not speak the protocol: {why}.", "它没有按协议应答：{why}。";
    REFUSED: "It refused: {why}", "它拒绝了：{why}";
    LOGIN_NEEDED: "It wants you to log in: `avocet mcp login`.", "它要求登录：请运行 `avocet mcp login`。";
    LOGIN_FAILED: "Logging in failed: {why}.", "登录失败：{why}。";
    NOT_RUNNING: "It is not running.", "它没有运行。";
    CANCELLED: "Cancelled.", "已取消。";
}
