//! Sentences of `model`: connection and server errors, with advice.

words! { "model":
    OFFER_PROVIDER: "{name}", "{name}";
    OFFER_WINDOW: "{n}", "{n}";
    /// Avocet's sentence, then the server's own message.
    SAYS: "{what} The server says: \"{said}\".", "{what}服务器说：“{said}”。";

    ADDRESS: "`{given}` is not a model server's address. Write `base_url` as http://… or https://….", "`{given}` 不是模型服务器的地址。请把 `base_url` 写成 http://… 或 https://…。";
    KEY_UNUSABLE: "The key in {key} contains characters that cannot be sent. Copy it again, on one line.", "{key} 中的密钥含有无法发送的字符。请重新复制，只占一行。";
    KEY_WRONG: "{url} does not accept the key. Check {key} and try again.", "{url} 不接受这个密钥。请检查 {key} 后重试。";
    KEY_MISSING: "{url} requires a key, and {key} is not set. {how}", "{url} 需要密钥，而 {key} 没有设置。{how}";
    // How to get a model, wherever one is missing.
    NOT_CONNECTED: "No model is connected. {how}", "还没有连接模型。{how}";
    HOW_TO_CONNECT: "To connect one: `avocet login`, or /connect in the full screen; for a server of your own, `avocet --base-url URL --model NAME`.", "连接方法：`avocet login`，或全屏界面中的 /connect；自己的服务器用 `avocet --base-url 网址 --model 名称`。";
    FORBIDDEN: "{url} does not allow this key to use `{model}`. Choose another model with /model, or ask for access.", "{url} 不允许这个密钥使用 `{model}`。请用 /model 换一个模型，或申请权限。";
    FORBIDDEN_ALL: "{url} does not allow this key. Use another one, or ask for access.", "{url} 不允许使用这个密钥。请换一个密钥，或申请权限。";
    UNPAID: "The account behind this key at {url} has no credit left. Top it up or use another key.", "{url} 上这个密钥的账户余额已用完。请充值或换一个密钥。";
    NO_MODEL: "{url} has no model `{model}`. List its models with /model.", "{url} 没有模型 `{model}`。用 /model 查看可用的模型。";
    NO_MODEL_NEAR: "{url} has no model `{model}`. Did you mean {near}? /model lists its models.", "{url} 没有模型 `{model}`。你是指 {near} 吗？用 /model 查看可用的模型。";
    NO_ENDPOINT: "Nothing answers at {url} (404). Check `base_url`: it usually ends in /v1.", "{url} 不存在（404）。请检查 `base_url`，它通常以 /v1 结尾。";
    NO_TOOLS: "`{model}` at {url} takes no tools.", "{url} 上的 `{model}` 不支持工具调用。";
    OTHER_FORMAT: "{url} answers in the format of another provider. Set `provider = \"{provider}\"` in the profile, and `base_url` to the address that belongs to it.", "{url} 用另一种服务商的格式作答。请在配置方案中设置 `provider = \"{provider}\"`，并把 `base_url` 改为相应的地址。";
    TOO_LONG: "The conversation is too long for `{model}`. Shorten it with /compress, start over with /new, or choose a model with a larger limit.", "对话超出了 `{model}` 的长度上限。请用 /compress 压缩、用 /new 重新开始，或换一个上限更高的模型。";
    REJECTED: "{url} rejected the request ({status}).", "{url} 拒绝了请求（{status}）。";
    BUSY_UNTIL: "{url} is busy ({status}), and asks to wait {minutes} {minutes:minute|minutes}. Try again then, or use another model.", "{url} 正忙（{status}），要求等待 {minutes} 分钟。请届时再试，或换用其他模型。";
    LEFT_OUT: "The server does not accept {what} for this model; it is left out from now on.", "服务器不接受该模型使用{what}，之后将不再发送。";
    IMAGES_LEFT_OUT: "The server does not accept an image of this conversation; it is left out from now on.", "服务器不接受对话中的一张图片，之后将不再发送。";
    BUSY: "{url} is busy (429). Wait a little and try again.", "{url} 正忙（429）。请稍候再试。";
    LOADING: "{url} is still loading the model. It is asked again until it has done so.", "{url} 仍在加载模型，将持续重试直到加载完成。";
    FAULTY: "{url} failed ({status}). That is on the server's side; try again in a while.", "{url} 出错（{status}）。问题在服务器一侧，请稍后再试。";
    REDIRECTED: "{url} redirects to {to}. The key is not sent there automatically; set `base_url` to the new address if you trust it.", "{url} 指向 {to}。密钥不会自动发往那里；若信任它，请把 `base_url` 改为新地址。";
    UNREACHABLE: "Cannot reach {url}: {why}. Check that the server is running and that `base_url` is right.", "无法连接 {url}：{why}。请确认服务器正在运行，且 `base_url` 正确。";
    CLIENT: "This machine cannot make connections: {why}.", "这台机器无法建立连接：{why}。";
    PROXY_DEAD: "Cannot reach {url} through the proxy {proxy}. Check that the proxy is running, or leave it out with `NO_PROXY`.", "无法通过代理 {proxy} 连接 {url}。请确认代理正在运行，或用 `NO_PROXY` 绕过它。";
    STALLED: "{url} sent nothing for {seconds} s. Try again, or allow more time with `idle_timeout`.", "{url} 已有 {seconds} 秒没有发送任何内容。请重试，或用 `idle_timeout` 放宽时限。";
    BROKEN: "The connection to {url} broke before the answer was complete. Try again.", "与 {url} 的连接在回答完成之前中断。请重试。";
    WEB_PAGE: "{url} answered with a web page, not with a model's answer. Check `base_url`: it usually ends in /v1.", "{url} 返回的是网页，而不是模型的回答。请检查 `base_url`，它通常以 /v1 结尾。";
    FOREIGN: "{url} answered with something other than a chat completion. Check that `base_url` is an OpenAI-compatible server.", "{url} 返回的内容不是对话补全。请确认 `base_url` 是兼容 OpenAI 的服务器。";
    REPORTED: "{url} failed with an error in mid-answer.", "{url} 在回答途中报错并停止。";
    TOO_LARGE: "The answer from {url} is larger than {mib} MiB and was cut off.", "{url} 的回答超过 {mib} MiB，已被截断。";
    SCRIPT_UNREADABLE: "The replies in {file} could not be read: {why}.", "无法读取 {file} 中的回复：{why}。";
    SCRIPT_FAULTY: "{file}, line {line}: unknown directive: {why}.", "{file} 第 {line} 行：无法理解这条指令：{why}。";
    SCRIPT_OVER: "All replies of {file} ({count}) have been used. Add another block to it, or restart.", "{file} 中的 {count} 条回复已全部用完。请再加一段，或重新开始。";

    /// Why a server cannot be reached; each fits after a colon.
    WHY_REFUSED: "nothing is listening there", "那里没有程序在监听";
    WHY_NAME: "its host name is not known", "找不到这个主机名";
    WHY_SLOW: "the connection timed out", "连接超时";
    WHY_EXPIRED: "its certificate has expired, or the clock of this machine is wrong: it says {now}", "证书已过期，或本机时钟有误：本机时间为 {now}";
    WHY_NOT_YET: "its certificate is not valid yet, or the clock of this machine is wrong: it says {now}", "证书尚未生效，或本机时钟有误：本机时间为 {now}";
    WHY_OTHER_NAME: "its certificate is for another name", "证书属于另一个名称";
    WHY_TRUST: "its certificate is not trusted", "证书不受信任";
    WHY_OTHER: "{detail}", "{detail}";
}
