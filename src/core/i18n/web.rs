//! Sentences about pages of the web.

words! { "web":
    ABOUT_FETCH: "Reads a page of the web", "读取网页";
    FETCHES: "Reads a page from the host `{host}`, which gets the address and nothing else.", "从主机 `{host}` 读取网页；只会发送该地址，不发送其他内容。";
    FETCHES_PLAIN: "It is not encrypted (`http`): others on the way can read and change it.", "未加密（`http`）：途中的其他人可以读取并更改内容。";
    FETCHES_PORT: "The port {port} is not the usual one of the web.", "端口 {port} 不是网页的常用端口。";
    FETCHES_USER: "What stands before the `@` is a user name, not the host; it is not sent. The host is `{host}`.", "`@` 之前是用户名而不是主机，不会发送。主机是 `{host}`。";
    COVERS_HOST: "Any page of `{host}`, as long as it is encrypted (`https`) where you approved that.", "`{host}` 的任何网页；若当时批准的是加密连接（`https`），则仅限加密连接。";
    OFF: "Your settings switch off reading the web (`[web] fetch = false`).", "你的设置关闭了读取网页（`[web] fetch = false`）。";
    ADDRESS_WRONG: "`{address}` is not an address of the web.", "`{address}` 不是网页地址。";
    SCHEME_WRONG: "Only `https` and `http` addresses can be read, not `{scheme}`.", "只能读取 `https` 和 `http` 地址，不能读取 `{scheme}`。";
    PRIVATE: "`{host}` is on this machine or a private network, so it is not read. The user may allow it by name: `[web] hosts`.", "`{host}` 位于本机或私有网络，因此不读取。用户可在 `[web] hosts` 中按名称允许它。";
    OTHER_HOST: "`{from}` redirects to another host, `{host}`, which is not allowed yet. To read it, fetch {address}", "`{from}` 重定向到另一个主机 `{host}`，尚未获准。如需读取，请获取 {address}";
    DOWNGRADES: "`{from}` redirects to an address that is not encrypted, so it was not followed: {address}", "`{from}` 重定向到未加密的地址，因此没有跟随：{address}";
    MANY_REDIRECTS: "There were more redirects than are followed ({n}), the last one to {address}", "重定向超过 {n} 次，最后一次指向 {address}";
    NO_HOST: "The host `{host}` was not found.", "找不到主机 `{host}`。";
    UNREACHABLE: "`{host}` cannot be reached.", "无法连接 `{host}`。";
    BROKEN: "The connection to `{host}` broke, or its answer cannot be unpacked.", "与 `{host}` 的连接中断，或其响应无法解压。";
    TOO_LARGE: "The page is larger than {mib} MiB.", "网页超过 {mib} MiB。";
    TIMEOUT: "`{host}` did not answer within {seconds} s.", "`{host}` 在 {seconds} 秒内没有响应。";
    WRONG_TYPE: "The page is neither text nor an image nor a PDF document: {type}, {bytes} bytes.", "该网页不是文本、图片或 PDF 文档：{type}，{bytes} 字节。";
    PAST_THE_END: "The text has {total} {total:byte|bytes}; {from} is past its end.", "文本共 {total} 字节，{from} 已超出末尾。";
    ABOUT_SEARCH: "Searches the web", "搜索网页";
    SEARCHES: "Sends the query “{query}” to the search service `{host}`.", "把查询“{query}”发送给搜索服务 `{host}`。";
    SEARCHES_BY_PROVIDER: "Sends the query “{query}” to `{host}`, the server of the model, which searches the web for it. It has the conversation anyway; the pages it finds are its choice.", "把查询“{query}”发送给模型的服务器 `{host}`，由它搜索网页。它本来就能看到对话；找到哪些网页由它决定。";
    COVERS_SEARCH: "Any query to the search service of your settings.", "向你设置的搜索服务发送的任何查询。";
    SEARCH_OFF: "No search service is set. The user can name one: `[web] search`.", "没有设置搜索服务。用户可用 `[web] search` 指定一个。";
    SEARCH_LENGTH: "A query has 1 to {most} characters.", "查询应为 1 到 {most} 个字符。";
    SEARCH_NO_ADDRESS: "`{service}` needs the address of a server: `[web] search_url`.", "`{service}` 需要服务器地址：`[web] search_url`。";
    SEARCH_NO_PROVIDER: "The server of this model does not search the web by itself. The user can name a search service: `[web] search`.", "此模型的服务器不会自行搜索网页。用户可用 `[web] search` 指定搜索服务。";
    SEARCH_NO_KEY: "`{service}` needs a key: set the variable `{variable}`.", "`{service}` 需要密钥：请设置环境变量 `{variable}`。";
    SEARCH_PLAIN: "The key would go to `{host}` unencrypted (`http`), so nothing is sent. Use `https` in `[web] search_url`.", "密钥会以未加密方式（`http`）发送到 `{host}`，因此不发送。请在 `[web] search_url` 中使用 `https`。";
    SEARCH_REDIRECTS: "`{host}` redirects queries to another address (status {status}), which is not followed. Check `[web] search_url`.", "`{host}` 把查询重定向到其他地址（状态 {status}），不会跟随。请检查 `[web] search_url`。";
    SEARCH_KEY_REFUSED: "`{host}` does not accept the key in `{variable}` (status {status}).", "`{host}` 不接受 `{variable}` 中的密钥（状态 {status}）。";
    SEARCH_NO_JSON: "`{host}` refuses queries (status {status}). A SearXNG server has to allow `json` in `search.formats`.", "`{host}` 拒绝查询（状态 {status}）。SearXNG 服务器须在 `search.formats` 中允许 `json`。";
    SEARCH_USED_UP: "`{host}` takes no more queries for now (status {status}).", "`{host}` 暂时不再接受查询（状态 {status}）。";
    SEARCH_STATUS: "`{host}` did not answer the query (status {status}).", "`{host}` 没有回答查询（状态 {status}）。";
    SEARCH_UNREADABLE: "The answer of `{host}` is not a list of results in JSON: {type}, {bytes} bytes.", "`{host}` 的响应不是 JSON 格式的结果列表：{type}，{bytes} 字节。";
    DOCTOR_SEARCH: "web search", "网页搜索";
    DOCTOR_NO_SEARCH: "no service; `[web] search` names one", "未设置服务；可用 `[web] search` 指定";
    DOCTOR_SEARCH_BY_PROVIDER: "by the server of the model: Anthropic, OpenAI (`openai-responses`) or Gemini", "由模型的服务器搜索：Anthropic、OpenAI（`openai-responses`）或 Gemini";
    DOCTOR_SEARCH_NEEDS_NO_KEY: "by the server of the model, with the key of the model: `search_key_env` and `search_url` are not used", "由模型的服务器搜索，用模型的密钥；不会使用 `search_key_env` 和 `search_url`";
    DOCTOR_SEARCH_AT: "{service} at {host}", "{service}，位于 {host}";
    STATUS: "The server answered with the status {status}.", "服务器返回状态 {status}。";
}
