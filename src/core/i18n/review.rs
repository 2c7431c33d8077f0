//! Sentences of `review`.

words! { "review":
    NO_DIFF: "The change to review cannot be read: {why}", "无法读取要评审的改动：{why}";
    NO_CHANGE: "Nothing is changed.", "没有改动。";
    NO_ANSWER: "The model gave no findings that can be read.", "模型没有给出可读取的评审结果。";
    DROPPED: "Findings left out because they are about no changed file: {n}.", "因不涉及改动的文件而略去的评审结果：{n} 条。";
    COMMENT_WHERE: "`--comment` needs `--format github` or `--format gitlab`.", "`--comment` 需要与 `--format github` 或 `--format gitlab` 同用。";
}
