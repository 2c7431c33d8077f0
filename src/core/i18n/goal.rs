//! Sentences about `/goal`.

words! { "goal":
    ABOUT_COMMAND: "Work towards a goal, turn after turn, until it is met", "持续多轮工作，直到达成目标";
    OPTION_TEXT: "the goal; `resume` goes on with it, `clear` ends it", "目标；`resume` 继续，`clear` 结束";
    OPTION_UNTIL: "the shell line that succeeds once it is met", "达成时会成功的 shell 命令";
    OPTION_COST: "the most it may cost, in dollars", "最高花费（美元）";
    NO_TEXT: "Say what the goal is: `/goal TEXT [--until COMMAND] [--max-cost N]`.", "请写出目标：`/goal 文本 [--until 命令] [--max-cost 金额]`。";
    NO_COMMAND: "`--until` needs a command.", "`--until` 后需要一条命令。";
    NO_COST: "`{found}` is not an amount in dollars. Write, for example, `--max-cost 2.50`.", "`{found}` 不是金额（美元）。例如可写 `--max-cost 2.50`。";
    NO_PRICE: "The price of `{model}` isn't known, so `--max-cost` can't be checked. Set `prices` for it, or leave the limit out.", "不知道 `{model}` 的价格，无法检查 `--max-cost`。请为它设置 `prices`，或去掉此限制。";
    NONE: "No goal is set. `/goal TEXT` sets one.", "尚未设定目标。用 `/goal 文本` 设定。";
    TITLE: "Goal", "目标";
    MET_WHEN: "met when", "达成条件";
    BY_COMMAND: "`{command}` succeeds", "`{command}` 成功";
    BY_MODEL: "the model finds that it is", "由模型判断";
    WORKING: "working, turn {n}", "进行中，第 {n} 轮";
    PAUSED_STATE: "paused after turn {n}; `/goal resume` goes on, `/goal clear` ends it", "第 {n} 轮后暂停；`/goal resume` 继续，`/goal clear` 结束";
    COST: "cost", "花费";
    COST_OF: "{cost} of {most}", "{cost} / {most}";
    LATER: "The goal is set; work on it begins after this turn.", "目标已设定，本轮结束后开始。";
    CLEARED: "The goal is ended.", "目标已结束。";
    MET: "The goal is met. Turns: {turns}.", "目标已达成。轮数：{turns}。";
    MET_FOR: "The goal is met. Turns: {turns}, cost: {cost}.", "目标已达成。轮数：{turns}，花费：{cost}。";
    PAUSED: "The goal is paused: {why}", "目标已暂停：{why}";
    PAUSED_HINT: "`/goal resume` goes on with it, `/goal clear` ends it.", "`/goal resume` 继续，`/goal clear` 结束。";
    WHY_STOPPED: "you stopped the turn.", "你停止了本轮。";
    WHY_STALLED: "two turns in a row brought no progress.", "连续两轮没有进展。";
    HAS_COST: "The goal has cost {spent}; its `--max-cost` allows {most}.", "目标已花费 {spent}，其 `--max-cost` 允许 {most}。";
    WHY_COST: "it has cost {cost}, and may cost {most}.", "已花费 {cost}，上限为 {most}。";
    WHY_NOT_RUN: "`{command}` did not run to its end.", "`{command}` 没有运行完。";
    WHY_NOT_JUDGED: "the model didn't say whether it is met.", "模型没有说明目标是否达成。";
    WHY_NO_MODEL: "no model could judge it: {why}", "没有模型能够判断：{why}";
    JUDGING: "Is the goal met? {text}", "目标达成了吗？{text}";
    BEGIN: "Work towards this goal: {text}", "请朝这个目标工作：{text}";
    CONTINUE: "{why}\n\nGo on working towards the goal: {text}", "{why}\n\n请继续朝目标工作：{text}";
    CHECKED_BY: "{text}\n\nIt is met when `{command}` succeeds; that is checked after each turn.", "{text}\n\n当 `{command}` 成功时即为达成；每轮之后都会检查。";
    NOT_MET: "The goal is not met yet: {why}", "目标尚未达成：{why}";
    EXITED: "`{command}` ended with exit code {code}.", "`{command}` 的退出码为 {code}。";
    ASK: "This conversation has a goal: {text}. Go on working towards it now?", "这段对话有一个目标：{text}。现在继续吗？";
    ASK_YES: "Go on", "继续";
    ASK_NO: "Leave it paused", "保持暂停";
    STATUS: "goal: turn {n}", "目标：第 {n} 轮";
    STATUS_PAUSED: "goal paused", "目标已暂停";
}
