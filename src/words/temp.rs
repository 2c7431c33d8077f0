//! Words of temporary folders.

words! { "temp":
    NO_PLACE: "No temporary folder can be made ({tried}). Set `TMPDIR` to a folder that can be written and has room.",
        "无法建立临时目录（{tried}）。请把 `TMPDIR` 设为可写且有空间的目录。";
    DETOUR: "The folder for temporary files, `{place}`, cannot be used: {why}. `{instead}` is used instead. Set `TMPDIR` to a folder that can be written and has room.",
        "临时文件目录 `{place}` 无法使用：{why}。已改用 `{instead}`。请把 `TMPDIR` 设为可写且有空间的目录。";
    NOWHERE: "The folder for temporary files, `{place}`, cannot be used ({why}), nor can any other place: steps cannot start. Set `TMPDIR` to a folder that can be written and has room.",
        "临时文件目录 `{place}` 无法使用（{why}），其他位置也都不行：步骤无法启动。请把 `TMPDIR` 设为可写且有空间的目录。";
    OPEN_TO_OTHERS: "other users may replace what lies in it", "其他用户可以替换其中的内容";
    DOCTOR: "temporary files", "临时文件";
}
