//! Sentences of `gateway`.

words! { "gateway":
    MENU_UMBRELLA: "Any command of Avocet, by its name", "按名称执行 Avocet 的任意命令";
    MENU_LINE: "The command and its arguments", "命令及其参数";

    // Why a command is not in a menu.
    LEFT_TERMINAL: "works only in the terminal", "只能在终端里使用";
    LEFT_SETTING: "works in a chat when `{setting}` is true", "`{setting}` 为 true 时才能在聊天里使用";
    LEFT_RESERVED: "the platform keeps this name for itself", "平台保留了这个名称";
    LEFT_NO_NAME: "nothing of its name is left in the letters that the platform takes", "名称中没有平台允许的字符";
    LEFT_TOO_LONG: "the name is longer than {most} characters", "名称超过 {most} 个字符";
    LEFT_TAKEN: "`{name}` is the name of another command there", "另一个命令在那里已叫 `{name}`";
    LEFT_NO_PLACE: "the platform takes {most} commands", "平台最多接受 {most} 个命令";
    // Who may talk.
    STRANGER: "You are not allowed to use this bot. Your id here is {id}; its owner can add it to the settings, or pair you with a code from `avocet gateway pair`.", "你无权使用此机器人。你在这里的编号是 {id}；其所有者可以把它加入设置，或用 `avocet gateway pair` 生成的配对码与你配对。";
    CODE_WRONG: "This code is wrong. Tries left: {n}.", "配对码错误。剩余次数：{n}。";
    CODE_CLOSED: "This code is wrong, and no tries are left. Ask for a new one.", "配对码错误，且已无剩余次数。请索取新的配对码。";
    PAIRED: "You are paired: {role}. `/help` lists the commands.", "配对成功：{role}。`/help` 会列出命令。";
    ROLE_USER: "user", "用户";
    ROLE_ADMIN: "admin", "管理员";
    NO_RANDOM: "The system gave no random bytes, so no code was made.", "系统未能提供随机数，因此没有生成配对码。";
    USERS_BROKEN: "The list of paired users cannot be read, so only the settings count: {file}", "无法读取已配对用户的列表，因此只按设置判断：{file}";
    USERS_NOT_SAVED: "The list of paired users was not saved: {file}: {why}", "已配对用户的列表没有保存：{file}：{why}";
    CODE: "Send this code to the bot in a private chat within {minutes} minutes: {code}", "请在 {minutes} 分钟内，在私聊中把此配对码发给机器人：{code}";
    CODE_HINT: "It works once and pairs one {role}. Five wrong codes close it.", "它只能用一次，配对一个{role}。错误五次后失效。";
    USER_REMOVED: "{id} can no longer talk on {platform}.", "{id} 不能再通过 {platform} 使用。";
    NO_SUCH_USER: "No user {id} is paired on {platform}. Users of the settings are removed there.", "{platform} 上没有已配对的用户 {id}。设置中的用户请在设置里移除。";
    NO_USERS: "Nobody may talk yet. `avocet gateway pair` makes a code.", "目前没有人可以使用。`avocet gateway pair` 可生成配对码。";
    OF_SETTINGS: "{role}, in the settings", "{role}，来自设置";
    OF_PAIRING: "{role}, paired", "{role}，已配对";
    TOKEN_SAVED: "The token is saved in the keyring.", "令牌已保存到钥匙串。";
    TOKEN_SAVED_FILE: "The token is saved in {file}, which only you can read.", "令牌已保存到 {file}，只有你能读取。";
    TOKEN_REMOVED: "The saved token is removed.", "已移除保存的令牌。";
    NO_TOKEN_SAVED: "No token was saved.", "没有保存过令牌。";
    ASK_TOKEN: "The token for {name} (it is not shown): ", "{name} 的令牌（不会显示）：";
    NO_TOKEN_GIVEN: "No token was given; nothing is saved.", "没有输入令牌，未保存任何内容。";
    NOT_A_TOKEN: "This is not a token: it contains a space or another character that no token has. Nothing is saved.", "这不是令牌：其中含有空格或令牌中不会出现的字符。未保存任何内容。";
    NO_SUCH_PLATFORM: "There is no platform {platform}. Known: {known}.", "没有平台 {platform}。可用的有：{known}。";
    NO_APP_TOKEN: "Only Slack has an app token.", "只有 Slack 有应用级令牌。";
    // `avocet gateway setup`.
    SETUP_ENTER: "Enter when it is done: ", "完成后按回车：";
    SETUP_ASK_ID: "The id of the app (`cli_…`): ", "应用编号（`cli_…`）：";
    SETUP_ASK_DOMAIN: "`feishu` or `lark`? Enter for feishu: ", "`feishu` 还是 `lark`？直接按回车为 feishu：";
    SETUP_ASK_APP_TOKEN: "The app token for {name} (it is not shown): ", "{name} 的应用级令牌（不会显示）：";
    SETUP_REFUSED: "{name} does not accept this token.", "{name} 不接受此令牌。";
    SETUP_KEEP: "A token is saved. Enter alone keeps it.", "已保存过令牌，直接按回车即保留。";
    SETUP_FAILED: "{name} could not be asked: {why}", "无法向 {name} 查询：{why}";
    SETUP_BOT: "The token is valid: the bot is {bot}.", "令牌有效，机器人是 {bot}。";
    LACKS_PRIVACY: "Privacy mode is on: in groups, typed answers do not reach the bot.", "隐私模式已开启：群组中输入的回答无法到达机器人。";
    LACKS_SCOPES: "These permissions are missing: {scopes}", "缺少以下权限：{scopes}";
    LACKS_INTENT: "Message Content Intent is off: typed answers in channels are empty.", "Message Content Intent 未启用：频道中输入的回答为空。";
    LACKS_PLACE: "The bot is in no server or group yet.", "机器人尚未加入任何服务器或群组。";
    LACKS_CONNECTION: "The connection for events cannot be opened: {why}", "无法建立接收事件的连接：{why}";
    SETUP_WEBHOOK: "A webhook is set, so that no message reaches a gateway: {url}\nRemove it? [y/N] ", "已设置 webhook，消息无法到达网关：{url}\n要移除吗？[y/N] ";
    SETUP_AGAIN: "Enter to check again, any other key and Enter to go on: ", "按回车再次检查，输入任意字符后按回车则继续：";
    SETUP_TRUST: "Chats will work in {folder}. Trust it? Otherwise chats ask before each program. [y/N] ", "聊天将在 {folder} 中工作。信任该目录吗？否则聊天中运行每个程序前都会询问。[y/N] ";
    SETUP_NOT_TRUSTED: "The answer could not be saved: {why}", "无法保存该回答：{why}";
    SETUP_CODE: "Send this code to the bot in a private chat within 10 minutes of its start; it makes you its admin: {code}", "请在 10 分钟内启动网关，并在私聊中把此配对码发给机器人，你将成为管理员：{code}";
    SETUP_DONE: "{name} is set up. `avocet gateway run` starts it.", "{name} 已设置完成。用 `avocet gateway run` 启动。";
    MENU_SHOWN: "In the menu", "菜单中";
    MENU_LEFT_OUT: "Left out", "未列入";
    MENU_UNUSABLE: "Not usable", "无法使用";

    // `/help gateways`.

    LEFT_NO_ROOM: "the menu would have more than {most} bytes", "菜单会超过 {most} 字节";
}
