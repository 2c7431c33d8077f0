//! Words of `screen`.

words! { "screen":
    // transcript
    TIER_L0: "L0 safe", "L0 安全";
    TIER_L1: "L1 confirm", "L1 需确认";
    TIER_L2: "L2 blocked", "L2 禁止";
    COMMA: ", ", "，";
    STEP_WAITS: "waits for your answer", "等待你决定";
    STEP_DECLINED: "you said no", "你已拒绝";
    STEP_REFUSED: "refused", "未执行";
    STEP_TIMED_OUT: "timed out", "超时";
    STEP_CANCELLED: "stopped", "已停止";
    STEP_EDITED: "edited by you", "经你修改";
    STEP_EXIT: "exit {code}", "退出码 {code}";
    STEP_KILLED: "ended without an exit code", "没有退出码";
    STEP_FOLDER: "folder", "目录";
    STEP_REASON: "reason", "理由";
    STEP_RULE: "{why} ({rule})", "{why}（{rule}）";
    STEP_EXIT_LABEL: "exit code", "退出码";
    STEP_NOTE: "note", "备注";
    STEP_STDERR: "on stderr:", "标准错误：";
    STEP_TRUNCATED: "It printed more than is kept here.", "输出过长，此处只保留了一部分。";
    COUNT_MATCHES: "{n} matches", "{n} 处匹配";
    COUNT_FILES: "{n} files", "{n} 个文件";
    COUNT_COMMITS: "{n} commits", "{n} 个提交";
    COUNT_PROBLEMS: "{n} diagnostics", "{n} 条诊断";
    OUTPUT_BINARY: "(binary output, {n} bytes)", "（二进制输出，{n} 字节）";
    OUTPUT_LEFT_OUT: "({n} lines left out)", "（省略 {n} 行）";
    TIME_SECONDS: "{s} s", "{s} 秒";
    TIME_MINUTES: "{m} m {s} s", "{m} 分 {s} 秒";
    TIME_HOURS: "{h} h {m} m", "{h} 时 {m} 分";
    THOUGHT: "Thought: ", "思考：";
    HINT: "hint: ", "提示：";
    RETRYING: "{why} Trying again in {wait} ({attempt} of {of}).", "{why}{wait}后重试（第 {attempt} 次，共 {of} 次）。";
    REPAIRING: "The reply was no valid answer: {fault} The model is asked once more.", "回复无效：{fault}正在请模型重新回答。";
    CUT_CANCELLED: "Cut off here: you stopped it.", "到此中断：你已停止。";
    CUT_BROKEN: "Cut off here: the connection broke.", "到此中断：连接断开。";
    CUT_LENGTH: "Cut off here: the server's limit of tokens was reached.", "到此中断：达到服务器的长度上限。";
    CUT_FILTERED: "Cut off here: the server filtered the answer.", "到此中断：内容被服务器过滤。";
    ENDED_STOPPED: "Stopped.", "已停止。";
    ENDED_LIMIT: "Paused: {why}", "已暂停：{why}";
    ENDED_FAILED: "The turn failed: {why}", "本轮失败：{why}";
    ENDED_AFTER: "{time}", "{time}";
    ENDED_COST: "{time}, {input} tokens in, {output} out", "{time}，输入 {input} 词元，输出 {output}";
    ENDED_ABOUT: "{time}, about {input} tokens in, {output} out", "{time}，约输入 {input} 词元，输出 {output}";
    IMAGE: "image: ", "图片：";
    THEME_TOML: "This theme is not valid TOML: {why}.", "此主题不是有效的 TOML：{why}。";
    THEME_MISSING: "This theme gives no colour for `{name}`. Add it, for example `{name} = \"default\"`.", "此主题没有给出 `{name}` 的颜色。请补上，例如 `{name} = \"default\"`。";
    THEME_UNKNOWN: "This theme sets `{name}`, which means nothing here. The built-in themes show every name.", "此主题设置了 `{name}`，但没有这个名称。可用的名称见内置主题。";
    THEME_SHAPE: "`{name}` in this theme must be a colour such as \"#7aa2f7\" or a table with `fg`, `bg`, `bold`.", "此主题中的 `{name}` 应为颜色（如 \"#7aa2f7\"）或含 `fg`、`bg`、`bold` 的表。";
    THEME_COLOR: "`{color}` is no colour. Write \"#rrggbb\" or \"default\", and one of the 16 names for `ansi`.", "`{color}` 不是颜色。请写 \"#rrggbb\" 或 \"default\"，`ansi` 请用 16 色名称之一。";
}
