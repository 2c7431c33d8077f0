//! Sentences about worktrees, in which agents and sessions work apart from the main folder.

words! { "worktrees":
    OF_AGENT: "Its work is on the branch `{branch}`; `/worktrees show {name}` shows it.", "它的工作在分支 `{branch}` 上，用 `/worktrees show {name}` 查看。";
    ABOUT_COMMAND: "List, show, merge and remove the worktrees of this project", "列出、查看、合并和删除此项目的工作树";
    OPTION_ACTION: "list, show, merge or remove", "list、show、merge 或 remove";
    OPTION_NAME: "The name of a worktree", "工作树的名称";
    USAGE: "`{found}` is not understood. Use `/worktrees`, or `show`, `merge` or `remove` with a name.", "无法识别 `{found}`。请使用 `/worktrees`，或 `show`、`merge`、`remove` 加名称。";
    PRUNE_ASK: "Remove these worktrees, which have nothing of their own: {names}?", "删除这些没有自身内容的工作树吗：{names}？";
    PRUNE_NOBODY: "These worktrees have nothing of their own, and are kept as nobody can be asked: {names}.", "这些工作树没有自身内容；无人可询问，因此保留：{names}。";
    NOTHING_TO_PRUNE: "Each worktree is in use or has something of its own; `avocet worktrees list` shows them.", "每个工作树都在使用或有自身内容；可用 `avocet worktrees list` 查看。";
    TITLE: "Worktrees", "工作树";
    NONE: "There are none. An agent makes one if its task or its definition says `worktree`; `avocet -w NAME` starts a session in one.", "还没有工作树。任务或智能体定义中写有 `worktree` 时会创建；`avocet -w 名称` 可在工作树中开始会话。";
    HOW: "`/worktrees show`, `merge` or `remove` with a name.", "`/worktrees show`、`merge` 或 `remove` 加名称。";
    ROW: "branch `{branch}`, made {when}; commits: {commits}, files not committed: {files}", "分支 `{branch}`，创建于 {when}；提交 {commits} 个，未提交的文件 {files} 个";
    ROW_IN_USE: "branch `{branch}`, made {when}; commits: {commits}, files not committed: {files}; in use", "分支 `{branch}`，创建于 {when}；提交 {commits} 个，未提交的文件 {files} 个；正在使用";
    ROW_GONE: "commits: {commits}; its folder is gone, the branch `{branch}` is there", "提交 {commits} 个；目录已不存在，分支 `{branch}` 仍在";
    BRANCH: "Branch", "分支";
    COMMITS: "Commits", "提交";
    CHANGES: "Changes", "改动";
    UNCOMMITTED: "Not committed", "未提交";
    NO_REPOSITORY: "`{folder}` is not in the working tree of a git repository, so it has no worktrees.", "`{folder}` 不在 git 仓库的工作目录中，因此没有工作树。";
    NO_COMMIT: "The repository has no commit yet. A worktree starts from one.", "仓库还没有任何提交。工作树需要从一个提交开始。";
    BAD_NAME: "`{name}` cannot name a worktree: use letters, digits, `.`, `_` and `-`, and begin with a letter or digit.", "`{name}` 不能用作工作树名称：请使用字母、数字、`.`、`_` 和 `-`，并以字母或数字开头。";
    IN_USE: "The worktree `{name}` is in use by another session or agent.", "工作树 `{name}` 正被另一个会话或智能体使用。";
    LOCKED: "The worktree `{name}` was locked with `git worktree lock`; after `git worktree unlock` it can be removed.", "工作树 `{name}` 已被 `git worktree lock` 锁定；执行 `git worktree unlock` 后才能删除。";
    NOT_OURS: "`{path}` is there, but is not a worktree of this repository.", "`{path}` 已存在，但不是此仓库的工作树。";
    LINK: "`{path}` is a link or not a folder; no worktree is made there.", "`{path}` 是链接或不是目录，不会在其中创建工作树。";
    NOT_MADE: "The worktree `{name}` cannot be made: {why}", "无法创建工作树 `{name}`：{why}";
    TOO_MANY: "No further worktree is made: there are already {count}. `/worktrees remove` removes one.", "已有 {count} 个工作树，不再创建。可用 `/worktrees remove` 删除。";
    NO_SUCH: "No worktree is named `{name}`.", "没有名为 `{name}` 的工作树。";
    HAS_FILES: "The worktree `{name}` is kept: these files in it are in no commit.\n{files}\n`/worktrees merge {name}` brings what git does not ignore; with `--yes` it is removed with all of them.", "保留工作树 `{name}`：其中这些文件不在任何提交中。\n{files}\n`/worktrees merge {name}` 会合并 git 不忽略的文件；加上 `--yes` 则连同全部文件一起删除。";
    HAS_COMMITS: "The worktree `{name}` is kept: it has commits that are in no other branch (commits: {commits}). `/worktrees merge {name}` brings them here.", "保留工作树 `{name}`：其中有其他分支没有的提交（{commits} 个）。可用 `/worktrees merge {name}` 合并。";
    FAILED: "Git cannot work with the worktree `{name}`: {why}", "git 无法处理工作树 `{name}`：{why}";
    REMOVED: "The worktree `{name}` and its branch were removed.", "已删除工作树 `{name}` 及其分支。";
    IS_HERE: "This session works in the worktree `{name}`. Use a session in the main folder for that.", "此会话就在工作树 `{name}` 中。请在主目录的会话中操作。";
    NOTHING_TO_MERGE: "The worktree `{name}` has nothing that is not in the current branch.", "工作树 `{name}` 中没有当前分支缺少的内容。";
    MERGE_BUSY: "A worktree is merged when nothing else runs.", "没有其他任务运行时才能合并工作树。";
    NO_AGENT_HERE: "No worktree can be made here: the folder is not trusted, or the mode is plan.", "此处不能创建工作树：目录未受信任，或处于计划模式。";
    OPENED: "This session works in the worktree `{name}`, on the branch `{branch}`.", "此会话在工作树 `{name}` 中工作，分支为 `{branch}`。";
    STARTED: "The worktree `{name}` was made from the commit {commit}, on the branch `{branch}`.", "已从提交 {commit} 创建工作树 `{name}`，分支为 `{branch}`。";
    LEFT_OUT: "Uncommitted changes of the folder are not in it (files: {files}).", "目录中未提交的改动不在其中（文件 {files} 个）。";
    NO_SUBMODULES: "Its submodules are empty.", "其中的子模块是空的。";
    NOT_COPIED: "Not copied into it, as each has to be an ignored file: {paths}.", "未复制（每一项必须是被忽略的文件）：{paths}。";
}
