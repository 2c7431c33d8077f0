//! Sentences of `batch`.

words! { "batch":
    IN_LINE: "Line {line}: {why}", "第 {line} 行：{why}";
    BAD_LINE: "it is not a task: {why}.", "不是任务：{why}。";
    BAD_ID: "`{id}` cannot be an id: use letters, digits, `.`, `_` and `-`, and begin with a letter or digit.", "`{id}` 不能用作 id：请使用字母、数字、`.`、`_` 和 `-`，并以字母或数字开头。";
    TWICE: "line {line} has the id `{id}` too.", "第 {line} 行已有 id `{id}`。";
    NO_PLACE: "name either a `dir`, which is copied, or a `repo`, which gets a worktree.", "请写明 `dir`（复制该文件夹）或 `repo`（使用工作树）之一。";
    BAD_MODE: "`{mode}` is not a mode: use ask, edits, auto, plan, low or high.", "`{mode}` 不是模式：请使用 ask、edits、auto、plan、low 或 high。";
    NO_TASKS: "The file has no task.", "文件中没有任务。";
    NO_LINE: "Line {line} has no task.", "第 {line} 行没有任务。";
    NO_FOLDER: "`{path}` is not a folder.", "`{path}` 不是文件夹。";
    BAD_PLACE: "`{place}` is not a place to run tasks: use slurm, kubernetes, or ssh:HOST,HOST.", "`{place}` 不是可运行任务的地方：请使用 slurm、kubernetes 或 ssh:主机,主机。";
    NEEDS_IMAGE: "`--on kubernetes` needs `--image` and `--volume`.", "`--on kubernetes` 需要 `--image` 和 `--volume`。";
    SUBMITTED: "Submitted as `{job}`.", "已提交为 `{job}`。";
    NO_JOB: "`sbatch` printed no job: {why}", "`sbatch` 没有给出作业编号：{why}";
    HOST_LOST: "`{host}` is not used any more: {why}", "不再使用 `{host}`：{why}";
    LOST: "Tasks that ended without a result: {tasks}. The same command runs them again.", "结束却没有结果的任务：{tasks}。再次运行同一命令即可重试。";
}
