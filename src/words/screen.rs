//! Words of `screen`.

words! { "screen":
    // transcript
    THEME_TOML: "This theme is not valid TOML: {why}.", "此主题不是有效的 TOML：{why}。";
    THEME_MISSING: "This theme gives no colour for `{name}`. Add it, for example `{name} = \"default\"`.", "此主题没有给出 `{name}` 的颜色。请补上，例如 `{name} = \"default\"`。";
    THEME_UNKNOWN: "This theme sets `{name}`, which means nothing here. The built-in themes show every name.", "此主题设置了 `{name}`，但没有这个名称。可用的名称见内置主题。";
    THEME_SHAPE: "`{name}` in this theme must be a colour such as \"#7aa2f7\" or a table with `fg`, `bg`, `bold`.", "此主题中的 `{name}` 应为颜色（如 \"#7aa2f7\"）或含 `fg`、`bg`、`bold` 的表。";
    THEME_COLOR: "`{color}` is no colour. Write \"#rrggbb\" or \"default\", and one of the 16 names for `ansi`.", "`{color}` 不是颜色。请写 \"#rrggbb\" 或 \"default\"，`ansi` 请用 16 色名称之一。";
}
