//! Words of `agent`: what a turn says about itself.

words! { "agent":
    LIMIT: "This turn has reached its limit of steps ({n}).", "这一轮已达到步数上限（{n} 步）。";
    SAME_STEP: "The model proposes the same step for the third time: `{step}`.", "模型第三次提出同样的步骤：`{step}`。";
    SAME_FAILURE: "`{program}` failed three times in a row.", "`{program}` 连续失败了三次。";
    REFUSALS: "Three steps in a row were refused.", "连续三个步骤被拒绝执行。";
    REJECTIONS: "Three steps in a row were declined.", "连续三个步骤被你否决。";
    REFUSED_AHEAD: "Step {number} of {of}, `{step}`, will be refused; it and what follows it will not run.", "第 {number} 步（共 {of} 步）`{step}` 会被拒绝，它和后面的步骤都不会运行。";
    SKIPPED: "Not run: an earlier step of the same reply was not done.", "没有运行：同一回复中前面的步骤没有完成。";
    STEERED: "Not run: the user said something first.", "没有运行：用户先说了别的话。";
    CANCELLED: "Not run: the turn was stopped.", "没有运行：这一轮已被停止。";
    DECLINED: "The user said no.", "用户拒绝了。";
    DECLINED_WORD: "The user said no: {word}", "用户拒绝了：{word}";
    EDITED: "The user put this in place of `{step}`.", "用户把 `{step}` 改成了这一步。";
    EDITED_AND: "{edited} {note}", "{edited}{note}";
    CUT_BROKEN: "The answer broke off; what came of it was not acted on.", "回答中断了，其中的内容没有执行。";
    CUT_LENGTH: "The answer reached the server's limit of tokens and broke off. Ask for less at once, or raise `max_tokens`.", "回答达到服务器的长度上限而中断。请一次少要一些，或调大 `max_tokens`。";
    CUT_FILTERED: "The server's filter cut the answer off.", "回答被服务器的过滤器截断了。";
    UNREADABLE: "The model gave no valid reply twice in a row, so nothing of it was run. {fault}", "模型连续两次没有给出有效的回复，其中的内容没有执行。{fault}";
    UNANSWERED: "The user gave no answer.", "用户没有回答。";
    UNANSWERED_WORD: "The user gave no answer. They said: {word}", "用户没有回答，并说：{word}";
    CHECKS: "Files were changed, so `{command}` follows, as the settings say.", "文件已更改，按设置接着运行 `{command}`。";
    CHECKED: "This ran because files were changed: the user's settings name it as the check.", "因文件已更改而运行：用户的设置指定它为检查命令。";
    CHANGED_MEANWHILE: "`{path}` was changed on disk while you were asked. Here is what the step would do now.", "询问期间 `{path}` 在磁盘上已被改动。以下是该步骤现在的效果。";
}
