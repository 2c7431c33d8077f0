//! Sentences about temporary folders.

words! { "temp":
    NO_PLACE: "No temporary folder could be created ({tried}). Set `TMPDIR` to a writable folder with free space.",
        "无法建立临时目录（{tried}）。请把 `TMPDIR` 设为可写且有空间的目录。";
    DETOUR: "The folder for temporary files, `{place}`, cannot be used: {why}. Using `{instead}` instead. Set `TMPDIR` to a writable folder with free space.",
        "临时文件目录 `{place}` 无法使用：{why}。已改用 `{instead}`。请把 `TMPDIR` 设为可写且有空间的目录。";
    NOWHERE: "The folder for temporary files, `{place}`, cannot be used ({why}), and neither can any other: steps cannot start. Set `TMPDIR` to a writable folder with free space.",
        "临时文件目录 `{place}` 无法使用（{why}），其他位置也都不行：步骤无法启动。请把 `TMPDIR` 设为可写且有空间的目录。";
    OPEN_TO_OTHERS: "other users can replace its contents", "其他用户可以替换其中的内容";
    DOCTOR: "temporary files", "临时文件";
}
