//! Sentences about subagents and their definitions.

words! { "agents":
    AN_AGENT: "agent", "智能体";
    BUILT_IN: "built in", "内置";
    ABOUT_COMMAND: "Show the agents that a model may hand tasks to", "查看模型可以派任务的智能体";
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
