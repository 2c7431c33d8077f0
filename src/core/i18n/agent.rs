//! Sentences of `agent`: limits, results and errors of a turn.

words! { "agent":
    LIMIT_RAISE: "{key} in the settings raises it.", "可在设置中调高 {key}。";
    LIMIT: "This turn has reached its step limit ({n}).", "本轮已达到步数上限（{n} 步）。";
    TURN_COST: "This turn has cost {spent}; `{key}` allows {most}.", "本轮已花费 {spent}，`{key}` 允许 {most}。";
    TURN_TOKENS: "This turn has used {spent} tokens; `{key}` allows {most}.", "本轮已用 {spent} 个词元，`{key}` 允许 {most}。";
    SESSION_COST: "This conversation has cost {spent}; `{key}` allows {most}.", "这段对话已花费 {spent}，`{key}` 允许 {most}。";
    SESSION_TOKENS: "This conversation has used {spent} tokens; `{key}` allows {most}.", "这段对话已用 {spent} 个词元，`{key}` 允许 {most}。";
    RUN_COST: "This run has cost {spent}; `{key}` allows {most}.", "本次运行已花费 {spent}，`{key}` 允许 {most}。";
    RUN_TOKENS: "This run has used {spent} tokens; `{key}` allows {most}.", "本次运行已用 {spent} 个词元，`{key}` 允许 {most}。";
    SAME_STEP: "The model made the same call three times in a row, with the same result: `{step}`.", "模型连续三次做出同样的调用，结果也相同：`{step}`。";
    NO_PROGRESS: "The model's last steps brought nothing new.", "模型最近的步骤没有带来任何新的结果。";
    REPEATED: "This is the same call with the same result as just before; once more, and the turn stops. Do something else.", "与刚才的调用和结果完全相同；再重复一次，本轮就会停止。请换一种做法。";
    REFUSED_AHEAD: "Step {number} of {of}, `{step}`, will be refused; it and the steps after it will not run.", "第 {number} 步（共 {of} 步）`{step}` 会被拒绝，它和后面的步骤都不会运行。";
    SKIPPED: "Not run: an earlier step of the same reply did not complete.", "没有运行：同一回复中前面的步骤没有完成。";
    SKIPPED_TOGETHER: "Not run: it was approved together with `{step}`, which failed.", "没有运行：它与 `{step}` 是一起批准的，而后者失败了。";
    STEERED: "Not run: the user sent a message first.", "没有运行：用户先发来了消息。";
    CANCELLED: "Not run: the turn was stopped.", "没有运行：本轮已停止。";
    DECLINED: "The user rejected this step.", "用户拒绝了这一步。";
    DECLINED_WORD: "The user rejected this step: {word}", "用户拒绝了这一步：{word}";
    NOT_ASKED: "Not run: nobody can be asked. {remedy}", "没有运行：没有用户可以询问。{remedy}";
    EDITED_AND: "{edited} {note}", "{edited}{note}";
    EDITED: "The user replaced `{step}` with this step.", "用户把 `{step}` 改成了这一步。";
    CUT_BY: "{why} Nothing from it was run.", "{why}其中的内容没有执行。";
    CUT_BROKEN: "The connection dropped mid-answer. Nothing from it was run.", "连接在回答途中断开，其中的内容没有执行。";
    CUT_LENGTH: "The answer was cut off twice at the limit of its length. Ask for less at once, or raise `output` of this model under `[models]` in `config.toml`.", "回答两次达到长度上限而中断。请一次少要求一些，或在 `config.toml` 的 `[models]` 下调大该模型的 `output`。";
    CUT_GO_ON: "The answer was cut off at the limit of its length, and no call in it was made. Go on where it ended, in smaller pieces.", "回答达到长度上限而中断，其中的调用都没有执行。请从中断处继续，分成更小的部分。";
    CUT_REPEATED: "The model repeats itself; stopped.", "模型不断重复自己的话，已停止。";
    CUT_FILTERED: "The server's content filter cut off the answer.", "回答被服务器的过滤器截断了。";
    EMPTY_REPLY: "The model returned an empty answer.", "模型没有给出任何回答。";
    CALL_BROKE_OFF: "The call in the answer breaks off, so nothing of it was run. It has to be sent again, whole.", "回答中的调用不完整，其中的内容没有执行，需要完整地重新发送。";
    ONLY_THOUGHT: "The model only reasoned and gave no answer.", "模型只给出了思考，没有回答。";
    UNREADABLE: "The model gave an invalid reply twice in a row, so none of it was run. {fault}", "模型连续两次没有给出有效的回复，其中的内容没有执行。{fault}";
    UNANSWERED: "The user did not answer.", "用户没有回答。";
    UNANSWERED_WORD: "The user did not answer, and wrote: {word}", "用户没有回答，并留言：{word}";
    PLAN_ACCEPTED: "The user accepted the plan, and plan mode is over. Carry it out.", "用户接受了计划，计划模式结束。请按计划执行。";
    PLAN_EDITED: "The user edited the plan and accepted it; plan mode is over. Carry out exactly this:\n{plan}", "用户修改并接受了计划，计划模式结束。请严格按以下内容执行：\n{plan}";
    PLAN_REFUSED: "The user refused the plan.", "用户拒绝了计划。";
    PLAN_REFUSED_WORD: "The user wants another plan: {word}", "用户希望修改计划：{word}";
    CHECKS: "Files were changed, so the configured check `{command}` runs next.", "文件已更改，接着运行设置中的检查命令 `{command}`。";
    CHECKED: "This ran because files were changed: it is the check command in the user's settings.", "因文件已更改而运行：它是用户设置中的检查命令。";
    CHANGED_MEANWHILE: "`{path}` changed on disk while you were being asked. This is what the step would do now.", "询问期间 `{path}` 在磁盘上已被改动。以下是该步骤现在的效果。";
}
