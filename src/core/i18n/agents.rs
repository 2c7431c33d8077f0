//! Sentences about subagents and their definitions.

words! { "agents":
    AN_AGENT: "agent", "智能体";
    ABOUT_COMMAND: "Show the agents that a model may hand tasks to", "查看模型可以派任务的智能体";
    ABOUT_TOOL: "Hands a task to an agent with a context of its own", "把任务交给拥有独立上下文的智能体";
    HANDS_ON: "Hands a task to an agent; each of its steps is judged like any other.", "把任务交给智能体；它的每一步都会照常评估。";
    NOT_HERE: "No task can be handed on here.", "此处不能派出任务。";
    BROKE: "The agent broke off, which is a fault of Avocet: {why}", "智能体中断，这是 Avocet 的故障：{why}";
    STOPPED: "The agent `{name}` was stopped.", "智能体 `{name}` 已被停止。";
    GAVE_UP: "The agent `{name}` could not do it.", "智能体 `{name}` 未能完成。";
    FAILED: "The agent `{name}` did not finish: {why}", "智能体 `{name}` 没有完成：{why}";
    IN_BACKGROUND: "The agent `{name}` works in the background; its result comes with a later message.", "智能体 `{name}` 在后台工作，结果会随之后的消息给出。";
    ROW: "{name}: {doing}  ·  steps: {steps}, tokens: {tokens}", "{name}：{doing}  ·  步数 {steps}，token {tokens}";
    STARTED: "The agent `{name}` ({model}) begins: {about}", "智能体 `{name}`（{model}）开始：{about}";
    OF_AGENT: "{name} asks: {text}", "{name} 询问：{text}";
    TITLE: "Agents", "智能体";
    WAIT_AGENT: "1 agent", "1 个智能体";
    WAIT_AGENTS: "{n} agents", "{n} 个智能体";
    NO_DESCRIPTION: "{place}: `description` is missing or empty. It says when the agent is useful.", "{place}：缺少 `description`，或它是空的。它说明该智能体在何时有用。";
    NO_PROMPT: "{place}: there is no prompt.", "{place}：没有提示词。";
    NO_FRONT: "{place}: it does not begin with `---`, so it has neither name nor description.", "{place}：开头没有 `---`，因此没有名称和说明。";
    NO_TOOL: "{place}: there is no tool `{tool}`.", "{place}：没有工具 `{tool}`。";
    BAD_NAME: "{place}: `{name}` is not a usable name for an agent.", "{place}：`{name}` 不能用作智能体名称。";
    DRAFT: "An agent: `description` says when it is useful, `prompt` what it is told.\nOptional: tools, model, effort, mode, worktree.", "智能体：`description` 说明何时有用，`prompt` 是给它的指示。\n还可以写：tools、model、effort、mode、worktree。";
}
