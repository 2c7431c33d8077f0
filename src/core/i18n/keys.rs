//! Sentences of API keys: saving, reading and removing them.

words! { "keys":
    FILE_FAILED: "The saved keys in {file} cannot be used: {why}.", "无法使用 {file} 中保存的密钥：{why}。";
    FILE_UNREADABLE: "it cannot be read", "无法读取";
    FILE_NOT_TOML: "it is not valid TOML", "它不是有效的 TOML";
    KEYRING_FAILED: "The system's keyring does not answer: {why}. Unlock it, or set `key_store` to \"file\" and log in again.", "系统密钥环没有应答：{why}。请解锁它，或把 `key_store` 设为 \"file\" 后重新登录。";
    KEY_GONE: "The system's keyring no longer has the key for {server}. Log in again with `avocet login`.", "系统密钥环中已没有 {server} 的密钥。请用 `avocet login` 重新登录。";
    IN_KEYRING: "in the system's keyring", "在系统密钥环中";
    IN_FILE: "in {file}", "在 {file} 中";
    BY_COMMAND: "from the program `{program}`", "由程序 `{program}` 给出";

    // The program that prints the key
    COMMAND_MISSING: "`{program}`, which prints the key, is not a program in your PATH.", "用来输出密钥的 `{program}` 不是 PATH 中的程序。";
    COMMAND_FAILED: "`{program}`, which prints the key, failed: {why}.", "用来输出密钥的 `{program}` 失败：{why}。";
    COMMAND_SLOW: "`{program}`, which prints the key, took longer than {seconds} s and was stopped.", "用来输出密钥的 `{program}` 超过 {seconds} 秒，已被停止。";
    COMMAND_OUTPUT: "`{program}` must print the key on one line and nothing else.", "`{program}` 应只在一行中输出密钥，不输出其他内容。";
    WHY_EXIT: "exit code {code}", "退出码 {code}";
    WHY_SIGNAL: "ended by a signal", "被信号终止";

    BAD_SERVICE_ACCOUNT: "`GOOGLE_APPLICATION_CREDENTIALS` names no usable key of a service account. Download it again, or use `gcloud auth login`.", "`GOOGLE_APPLICATION_CREDENTIALS` 指向的文件不是可用的服务账号密钥。请重新下载，或使用 `gcloud auth login`。";
    NO_TOKEN: "{url} gave no token for the service account: {why}", "{url} 没有为该服务账号签发令牌：{why}";
    PLAIN_HTTP: "The key was not sent: {host} is another machine and the address is not encrypted (http://). Use https://, or add the host to `plain_http_hosts` if you accept that anyone on the way can read the key.", "密钥没有发送：{host} 是另一台机器，而地址未加密（http://）。请使用 https://；若你接受途中任何人都能读到密钥，可把该主机加入 `plain_http_hosts`。";

    // /connect
    KEY_IN_VARIABLE: "key in {variable}", "密钥在 {variable} 中";
    KEY_SAVED: "logged in", "已登录";
    KEY_NEEDED: "needs a key", "需要密钥";
    NO_SERVER: "Nothing answers at {url}. Start the model server there, then `/connect` again.", "{url} 没有应答。请先启动那里的模型服务器，再输入 `/connect`。";
    NO_SERVER_NAMED: "Nothing answers at {url}. Start {name}, then `/connect` again.", "{url} 没有应答。请先启动 {name}，再输入 `/connect`。";
    SERVER_HERE: "here, at {url}, models: {n}", "本机 {url}，模型 {n} 个";

    // login
    NO_PROVIDER: "`{name}` is not a known provider: {known}. An address (https://…) works too.", "`{name}` 不是已知的服务商：{known}。也可以写地址（https://…）。";
    NO_PROVIDER_NEAR: "`{name}` is not a known provider. Did you mean `{near}`?", "`{name}` 不是已知的服务商。你是指 `{near}` 吗？";
    NAME_PROVIDER: "Name a provider: {known}. For example `avocet login openai`; an address (https://…) works too.", "请写明服务商：{known}。例如 `avocet login openai`；也可以写地址（https://…）。";
    ASK_PROVIDER: "Provider (a number, a name or an address, https://…): ", "服务商（编号、名称或地址 https://…）：";
    ASK_KEY: "API key for {name} ({url}), not shown: ", "{name}（{url}）的 API 密钥（不显示）：";
    ASK_KEY_VARIABLE: "API key for {name} ({url}), not shown; Enter uses {variable}: ", "{name}（{url}）的 API 密钥（不显示；直接回车则使用 {variable}）：";
    ASK_MODEL: "Model (a number, a name or a part of one; Enter takes {model}): ", "模型（编号、名称或其一部分；直接回车选 {model}）：";
    MORE_MODELS: "… and {n} more: type a part of the name.", "……还有 {n} 个：请输入名称的一部分。";
    NO_KEY_GIVEN: "No key was given, so nothing was saved. Pass it with `--key-stdin`, or type it in a terminal.", "没有给出密钥，未保存任何内容。请用 `--key-stdin` 传入，或在终端中输入。";
    KEY_ODD: "That is not a key: a key is one line without spaces. Nothing was saved.", "这不是密钥：密钥只占一行，不含空格。未保存任何内容。";
    NOT_SAVED: "Nothing was saved.", "未保存任何内容。";
    MODEL_UNKNOWN: "{url} has no model `{model}`.", "{url} 没有模型 `{model}`。";
    MODEL_NEEDED: "{url} does not list its models. Name one with `--model NAME`.", "{url} 没有列出模型。请用 `--model 名称` 指定一个。";
    SAVED_KEYRING: "The key for {name} is saved in the system's keyring.", "{name} 的密钥已保存在系统密钥环中。";
    SAVED_FILE: "The key for {name} is saved in {file}, which only you can read: there is no keyring to save it in.", "{name} 的密钥已保存在 {file} 中，只有你能读取：没有可用的密钥环。";
    USES_VARIABLE: "{variable} is used for {name}; no key was saved.", "{name} 将使用 {variable}；没有保存密钥。";
    PROFILE_SET: "Profile `{profile}` now uses `{model}` at {url}, and is the one that starts.", "配置方案 `{profile}` 现在使用 {url} 的 `{model}`，并在启动时使用。";
    LOGGED_OUT: "The key for {name} was removed.", "{name} 的密钥已移除。";
    NOT_LOGGED_IN: "No key is saved for {name}.", "没有为 {name} 保存密钥。";
    VARIABLE_STAYS: "{variable} is still set and is used as before.", "{variable} 仍然设置着，会照常使用。";
    KEY_REFUSED_HINT: "Nothing was saved. Check the key at the provider, and that it was copied whole.", "未保存任何内容。请在服务商处检查密钥，并确认复制完整。";
    CONNECT_HOW: "Keys are not typed into the conversation. Run `avocet login {name}` in another terminal; its models are then in /model here.", "密钥不在对话中输入。请在另一个终端运行 `avocet login {name}`，之后这里的 /model 就会列出它的模型。";
}
