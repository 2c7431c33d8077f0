//! Sentences about the context: its usage, what was dropped from it, and the project's
//! instructions.

words! { "context":
    COMPACTING: "Summarising earlier turns…", "正在总结较早的对话…";
    RECEIPT: "Context compressed: past turns now take {after} instead of {before}.", "上下文已压缩：过往对话由 {before} 减为 {after}。";
    RECEIPT_FOCUS: "focus", "重点";
    RECEIPT_SUMMED: "summarised", "已总结";
    RECEIPT_SHORTENED: "shortened", "已缩短";
    RECEIPT_PART: "{id} ({size}): {about}", "{id}（{size}）：{about}";
    RECEIPT_MORE: "and {n} more, up to {last}", "另有 {n} 项，直至 {last}";
    RECEIPT_KEPT: "kept", "保留";
    RECEIPT_KEPT_WHAT: "the last {turns} turns and {results} results unchanged, project instructions, skills, open tasks", "最近 {turns} 轮和 {results} 条结果原样保留，另有项目说明、技能和待办事项";
    RECEIPT_FACT: "fact", "要点";
    RECEIPT_TASK: "open task", "待办";
    RECEIPT_CLOSED: "no longer open", "不再待办";
    RECEIPT_RECALL: "`/recall {id}` restores a part.", "用 `/recall {id}` 可以取回其中一部分。";
    SUM_FAILED: "Earlier turns could not be summarised: {why}. Nothing is lost; the oldest turns are no longer sent.", "无法总结较早的对话：{why}。没有内容丢失，只是最旧的几轮不再发送。";
    SUM_NONSENSE: "the model did not return a summary", "模型没有给出摘要";
    SUM_CUT: "the answer was cut off", "回答中断";
    SUM_NO_MODEL: "the offline guide cannot summarise; connect a model first", "离线向导不会总结，请先连接模型";
    NOTHING_TO_SUM: "Nothing to compress: the conversation is still short.", "没有可以压缩的内容：对话还太短。";
    SUMMED_ALREADY: "The context was just compressed; continue the conversation first.", "上下文刚刚压缩过，请先继续对话。";
    RECALLED: "`{id}` ({size}) is included again until the context is next compressed.", "`{id}`（{size}）会重新随请求发送，直到下次压缩上下文。";
    RECALLED_ALREADY: "`{id}` is already included.", "`{id}` 已经在随请求发送。";
    NO_PART: "There is no part `{id}`. Ids look like `turn_3` and `cmd_012`.", "没有编号为 `{id}` 的内容。编号形如 `turn_3` 或 `cmd_012`。";
    NO_PART_YET: "There is nothing to recall yet.", "还没有可以取回的内容。";
    NO_PART_HERE: "Available: {ids}.", "这里有：{ids}。";
    LEDGER: "The next request", "下一次请求";
    LEDGER_NOW: "The request of the running turn", "本轮的请求";
    PART_SYSTEM: "system prompt", "系统提示";
    PART_SUMMARY: "summary", "摘要";
    PART_RECALLED: "recalled", "已取回";
    PART_RESULTS: "latest results", "最近结果";
    PART_HISTORY: "past turns", "过往对话";
    PART_TURN: "this turn", "本轮";
    LEDGER_FREE: "free", "空余";
    LEDGER_BOUND: "limit", "上限";
    LEDGER_BOUND_IS: "{bytes}, about {tokens} tokens", "{bytes}，约 {tokens} 词元";
    LEDGER_TOKENS_ARE: "about {taken} of {room}", "约 {taken} / {room}";
    LEDGER_TURNS: "Past turns included: {n}; too old to include: {out}.", "随请求发送的轮数：{n}；因太旧而不发送的：{out}。";
    MESSAGE_CUT: "Your message is too long for one request: {bytes} from its middle were left out.", "消息过长，一次请求放不下：中间有 {bytes} 未发送。";
    MESSAGE_CUT_HINT: "Send it in parts, or save it to a file and ask for the places that matter.", "请分几次发送，或存成文件后指明要看的部分。";
    LEDGER_CUT: "Truncated to fit: {part}, {bytes}.", "因空间不足而截去：{part}，{bytes}。";
    LEDGER_FULL: "Beyond {bytes}, the oldest past turns are summarised.", "过往对话达到 {bytes} 时，会总结最旧的部分。";
    NOTE: "{path} ({size})", "{path}（{size}）";
    NOTE_CUT: "{path} ({size} of {whole})", "{path}（{whole} 中的 {size}）";
    NOTES_CUT: "The project instructions are too long: {cut} of {path} are left out. The limit is {most}.", "项目说明过长：{path} 有 {cut} 未发送。最多发送 {most}。";
    NOTES_SENSITIVE: "`{path}` was not read: it points to a file that usually holds credentials.", "`{path}` 指向通常存放凭据的文件，没有读取。";
    NOTES_OUTSIDE: "`{path}` was not read: it points outside the project.", "没有读取 `{path}`：它指向项目之外。";
    NOTES_UNREADABLE: "`{path}` was not read: {why}.", "没有读取 `{path}`：{why}。";
    NOTES_NOT_TEXT: "it is not UTF-8 text", "它不是 UTF-8 文本";
}
