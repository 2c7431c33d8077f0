//! Sentences of `safety`: why a step runs, asks or is refused.

words! { "safety":
    // Programs in the tables.
    ONLY_READS: "`{program}` only reads, and everything about it is known to be harmless.", "`{program}` 只读取，且每个参数都已知无害。";
    WRITES_FILES: "`{program}` makes or changes files.", "`{program}` 会新建或修改文件。";
    DELETES_FILES: "`{program}` deletes files; this cannot be undone.", "`{program}` 会删除文件，且无法恢复。";
    DELETES_FORCED: "`{arg}`: deletes whole folders without confirmation.", "`{arg}`：不经询问删除整个目录。";
    REMOVES_ROOT: "Deletes a root folder, a home folder or everything.", "会删除根目录、主目录或全部内容。";
    CHANGES_RIGHTS: "`{program}` changes permissions or owners of files.", "`{program}` 会改变文件的权限或归属。";
    CHANGES_RIGHTS_ALL: "`{arg}`: changes permissions or owners of a whole tree.", "`{arg}`：会改变整个目录树的权限或归属。";
    PACKS: "`{program}` writes files, and some of its options start programs.", "`{program}` 会写入文件，部分选项还会启动程序。";
    ENDS_PROCESSES: "`{program}` ends running programs.", "`{program}` 会结束正在运行的程序。";
    KILLS_ALL: "Would end every process, or process 1.", "会结束所有进程或一号进程。";
    COPIES_FAR: "`{program}` writes files, on this machine or another.", "`{program}` 会在本机或其他机器上写入文件。";
    SCHEDULES: "`{program}` changes what runs automatically later.", "`{program}` 会改变之后自动运行的任务。";
    CHANGES_SERVICES: "`{program}` can start, stop or change services of this machine.", "`{program}` 可以启动、停止或修改本机服务。";
    CHANGES_NETWORK: "`{program}` can change this machine's network settings.", "`{program}` 可以改变本机的网络设置。";
    CHANGES_SYSTEM: "Changes a system-wide setting.", "会改变整台机器的设置。";
    CHANGES_PACKAGES: "`{program}` can change the software installed on this machine.", "`{program}` 可以改变本机安装的软件。";
    TELLS_MACHINE: "`{program}` shows information about this machine; not all of its options are known to be harmless.", "`{program}` 显示本机信息，但并非所有选项都已知无害。";
    TAKES_LONG: "`{program}` may take long or use a lot of resources.", "`{program}` 可能耗时很久或占用大量资源。";
    NEVER_ENDS: "`{arg}`: does not end on its own.", "`{arg}`：不会自行结束。";
    OPENS_PAGER: "`{program}` opens a pager, an editor or a window, and can start programs.", "`{program}` 会打开分页器、编辑器或窗口，并可启动其他程序。";
    USES_TERMINAL: "`{program}` writes to the terminal or to other users.", "`{program}` 会直接写终端或给其他用户发消息。";
    SHOWS_SECRETS: "`{program}` can show or change keys, passwords or the clipboard.", "`{program}` 可能显示或改变密钥、密码或剪贴板。";
    USES_NETWORK: "Uses the network.", "会访问网络。";
    DOWNLOADS: "`{program}` downloads from the network into files.", "`{program}` 会从网络下载并写入文件。";
    UPLOADS: "`{arg}`: sends data or files to another machine.", "`{arg}`：会把数据或文件发送到其他机器。";
    SENDS_CREDENTIALS: "`{arg}`: sends a name, a password, a cookie or a key.", "`{arg}`：会发送用户名、密码、Cookie 或密钥。";
    INSECURE: "`{arg}`: does not verify the server's identity.", "`{arg}`：不验证对方身份。";
    REACHES_MACHINE: "`{program}` connects to another machine and can run or copy things there.", "`{program}` 会连接其他机器，并可在那里运行或复制内容。";
    STEERS_CONTAINERS: "`{program}` controls containers or virtual machines, which can access files and the network.", "`{program}` 会操作容器或虚拟机，它们可以访问文件和网络。";
    STEERS_CLOUD: "`{program}` acts on a cluster or a cloud account.", "`{program}` 会操作集群或云账号。";
    CLOUD_DESTROYS: "Destroys or deletes resources permanently.", "会永久销毁或删除资源。";
    CONTAINER_HOST: "`{arg}`: gives the container control of this machine.", "`{arg}`：会让容器控制本机。";
    LOGS_IN: "`{program}` changes stored credentials.", "`{program}` 会改变保存的凭据。";
    PUBLISHES: "`{program}` publishes to the public; this cannot be undone.", "`{program}` 会公开发布，且无法撤回。";
    DATABASE_LOSES: "Discards data of a database; this cannot be undone.", "会丢弃数据库中的数据，且无法恢复。";
    REPOSITORY: "`{program}` reads or changes a repository, using settings that can start programs.", "`{program}` 会按可启动程序的配置读取或更改仓库。";
    DATABASE: "`{program}` can change data, read files and run commands.", "`{program}` 可以修改数据、读取文件并运行命令。";
    QUERY_TOOL: "`{program}` can read the environment and other files through its query.", "`{program}` 的查询可以读取环境变量和其他文件。";

    // Programs that run others.
    RUNS_PROJECT: "`{program}` runs code or settings of the project.", "`{program}` 会运行项目中的代码或配置。";
    RUNS_PROJECT_SETTINGS: "`{program}` reads project settings that can start programs.", "`{program}` 会读取项目配置，其中可能启动程序。";
    READS_PROJECT: "`{program}` reads the project's settings and may use the network.", "`{program}` 会读取项目配置，并可能访问网络。";
    INSTALLS: "`{program}` downloads packages and runs their scripts.", "`{program}` 会从网络获取软件包并运行其脚本。";
    RUNS_FETCHED: "`{program}` can download a program and run it.", "`{program}` 可从网络获取程序并运行。";
    RUNS_CODE: "`{program}` runs whatever code it is given.", "`{program}` 会运行给它的任何代码。";
    RUNS_AWK: "`{program}` programs can write files and start programs.", "`{program}` 的程序可以写文件和启动其他程序。";
    RUNS_SHELL: "`{program}` runs a script or waits for commands.", "`{program}` 会运行脚本或等待命令。";
    RUNS_SCRIPT: "`{arg}`: reads commands from a file.", "`{arg}`：从文件读取命令。";
    RUNS_AGENT: "`{program}` starts another agent or its plugins, with their own permissions.", "`{program}` 会启动另一个智能体或其插件，权限由它自己决定。";
    RUNS_ELSEWHERE: "`{program}` runs commands in places Avocet cannot see.", "`{program}` 会在 Avocet 看不到的地方运行命令。";
    RUNS_WRAPPED: "`{program}` runs another program.", "`{program}` 会运行另一个程序。";
    RUNS_FOR_LINES: "`{program}` runs a command whose arguments are not known yet.", "`{program}` 会运行参数尚未可知的命令。";
    RUNS_FOR_EACH: "Runs `{program}` on what it finds.", "会对找到的每一项运行 `{program}`。";
    RUNS_PROGRAM_GIVEN: "`{program}` runs the program or file it is given.", "`{program}` 会运行给它的程序或文件。";
    STARTS_PROGRAM: "`{arg}`: starts another program.", "`{arg}`：会启动另一个程序。";
    SETS_VARIABLE: "Sets `{name}`, which can change what a program does.", "设置 `{name}`，可能改变程序的行为。";
    STRIPS_ENVIRONMENT: "Removes the variables that keep programs from starting others and from going online.", "会去掉使程序不启动其他程序、不联网的环境变量。";
    PRINTS_ARGUMENTS: "Shows the arguments of running programs, which may contain passwords.", "会显示正在运行的程序的参数，其中可能有密码。";
    PRINTS_ENVIRONMENT: "Shows environment variables, which may contain keys.", "会显示环境变量，其中可能有密钥。";
    CODE_DELETES: "The code deletes files (`{arg}`).", "代码会删除文件（`{arg}`）。";
    CODE_STARTS: "The code starts programs (`{arg}`).", "代码会启动程序（`{arg}`）。";
    CODE_NETWORK: "The code uses the network (`{arg}`).", "代码会访问网络（`{arg}`）。";
    CODE_ENVIRONMENT: "The code reads environment variables (`{arg}`).", "代码会读取环境变量（`{arg}`）。";
    TOO_DEEP: "Commands are nested too deeply to check.", "命令层层嵌套，数量过多，无法逐一检查。";

    // Options and operands.
    OPTION_UNKNOWN: "`{option}` is not a known harmless option of `{program}`.", "`{option}` 不在 `{program}` 已知无害的选项之中。";
    OPTION_LACKS_VALUE: "`{option}` of `{program}` needs a value, and none is given.", "`{program}` 的选项 `{option}` 需要取值，但没有给出。";
    OPTION_VALUES: "`{arg}`: its values are not checked.", "`{arg}`：其取值不会被检查。";
    OPERAND_UNKNOWN: "`{arg}`: `{program}` may write there, or do more than show.", "`{arg}`：`{program}` 可能会写入那里，或不止于显示。";
    WRITES_A_FILE: "`{arg}`: writes a file.", "`{arg}`：会写入文件。";
    WRITES_IN_PLACE: "`{arg}`: changes files in place.", "`{arg}`：会直接修改文件本身。";
    WRITES_ANYWHERE: "`{arg}`: may write to any folder.", "`{arg}`：可能写入任意目录。";
    READS_ELSEWHERE: "`{arg}`: reads what other files or settings name.", "`{arg}`：会读取由其他文件或设置指定的内容。";
    READS_SECRETS: "`{program}` would read every file in the folders, including those with credentials.", "`{program}` 会读取目录中的每个文件，包括保存凭据的文件。";
    LINE_UNGUARDED: "In a shell line, `{program}` runs without the options that keep it from credentials and settings when it runs alone.", "在 shell 命令行中，`{program}` 不会带上单独运行时用来避开凭据和配置的限制。";
    GIT_NUMBER: "`{arg}` may be any file of the repository, including one with credentials. Name it as `REVISION:PATH` instead.", "`{arg}` 可能是仓库中的任意文件，包括保存凭据的文件。请改用 `版本:路径` 指明。";
    SPLITS_OUTPUT: "`{arg}`: splits its output so that keys in it would not be recognised and masked.", "`{arg}`：会把内容拆成碎片输出，其中的密钥将无法识别和遮盖。";
    FOLDER_HOLDS: "`{path}` would also be read: it points outside the workspace, may hold credentials, or is too large to check.", "`{path}` 也会被读取：它通向工作区之外、可能含有凭据，或内容过多无法检查。";
    READS_ARGUMENTS: "`{arg}`: `{program}` reads more arguments from that file, and they are not known.", "`{arg}`：`{program}` 会从该文件读取更多参数，其内容未知。";
    FOLLOWS_LINKS: "`{arg}`: follows links, which may point outside the workspace.", "`{arg}`：会跟随链接，可能离开工作区。";
    FIND_DELETES: "Deletes everything it finds; this cannot be undone.", "会删除找到的一切，且无法恢复。";
    SED_SCRIPT: "This `sed` script may write files or start programs.", "此 `sed` 脚本可能写文件或启动程序。";
    JQ_FILTER: "This `jq` filter uses functions that are not known to be harmless.", "此 `jq` 过滤器用到了未知是否无害的函数。";
    SETS_CLOCK: "Sets the clock of the machine.", "会设置系统时钟。";
    SETS_HOSTNAME: "Changes the name of the machine.", "会更改主机名。";

    // Git.
    GIT_UNKNOWN: "`{program}` is not a known sub-command; it may be an alias that runs a program.", "`{program}`：此子命令未知，可能是会运行程序的别名。";
    GIT_CONFIGURED: "`{arg}`: settings given to git can start programs.", "`{arg}`：传给 git 的设置可以启动程序。";
    GIT_ELSEWHERE: "`{arg}`: makes git work on another repository.", "`{arg}`：会让 git 操作另一个仓库。";
    GIT_SIGNATURE: "Verifies signatures, which starts a program the repository may choose.", "会校验签名，从而启动仓库可指定的程序。";
    GIT_WRITES: "`{program}` changes the repository.", "`{program}` 会修改仓库。";
    GIT_RUNS: "`{program}` changes the repository and can run its hooks or other programs.", "`{program}` 会修改仓库，并可能运行其钩子或其他程序。";
    GIT_SWITCHES: "`{program}` changes files in the working tree and can run hooks.", "`{program}` 会改变工作树中的文件，并可能运行钩子。";
    GIT_CONFIGURES: "`{program}` shows or changes settings, which can hold credentials and start programs.", "`{program}` 会显示或修改设置，其中可能有凭据，也可能启动程序。";
    GIT_PUSHES: "`{program}` sends commits to another machine.", "`{program}` 会把提交发送到其他机器。";
    GIT_FORCES: "`{arg}`: overwrites what others may have; commits can be lost.", "`{arg}`：会覆盖他人可能已有的内容，可能丢失提交。";
    GIT_MIRRORS: "`{arg}`: deletes remote refs that do not exist here.", "`{arg}`：会在远端删除本地没有的引用。";
    GIT_DELETES: "`{program}` deletes something.", "`{program}` 会删除内容。";
    GIT_DELETES_BRANCH: "`{arg}`: deletes a branch even if its commits exist nowhere else.", "`{arg}`：即使提交别处没有，也会删除分支。";
    GIT_DELETES_REMOTE: "`{arg}`: deletes a remote branch or tag.", "`{arg}`：会删除远端的分支或标签。";
    GIT_DELETES_STASH: "`{program}` discards stashed work.", "`{program}` 会丢弃 stash 中保存的改动。";
    GIT_DISCARDS: "Discards uncommitted work, or the means to recover it.", "会丢弃未提交的工作，或失去找回它的途径。";
    GIT_DISCARDS_FILE: "`{program}` can discard changes to a file.", "`{program}` 可能丢弃文件的改动。";
    GIT_DISCARDS_ALL: "Discards all uncommitted changes.", "会丢弃所有未提交的改动。";
    GIT_CLEANS: "`{arg}`: deletes files git does not track; this cannot be undone.", "`{arg}`：会删除 git 未跟踪的文件，且无法恢复。";
    GIT_MAKES_BRANCH: "Creates a branch `{name}`.", "会新建分支 `{name}`。";
    GIT_MAKES_TAG: "Creates a tag `{name}`.", "会新建标签 `{name}`。";

    // Refused by name.
    ELEVATES_ASKED: "`{program}` asks for the rights of another user.", "`{program}` 会请求其他用户的权限。";
    ELEVATES: "`{program}` asks for the rights of another user. Set `allow_sudo = true` in your own settings to be asked instead.", "`{program}` 会请求其他用户的权限。若想改为询问，请在个人设置中写 `allow_sudo = true`。";
    DISK: "`{program}` works directly on disks or file systems; data can be lost for good.", "`{program}` 直接操作磁盘或文件系统，数据可能永久丢失。";
    POWER: "Stops or restarts the machine.", "会关闭或重启机器。";
    KERNEL: "`{program}` changes the running kernel.", "`{program}` 会改变正在运行的内核。";
    ACCOUNTS: "`{program}` changes users or passwords.", "`{program}` 会改变用户或密码。";
    FIREWALL: "`{program}` changes the firewall or the security rules of the machine.", "`{program}` 会改变防火墙或系统安全规则。";
    BOOT: "`{program}` changes how the machine starts or protects itself.", "`{program}` 会改变机器的启动或保护方式。";

    // Paths.
    PATH_SENSITIVE: "`{path}` usually holds credentials.", "`{path}` 通常存有凭据。";
    PATH_OUTSIDE: "`{path}` is outside the workspace.", "`{path}` 位于工作区之外。";
    PATH_SECRET: "`{path}` is in a protected location (credentials, devices or process memory).", "`{path}` 位于受保护的位置（凭据、设备或进程内存）。";
    WRITES_REPOSITORY: "Writes to `{path}`, inside git's own folder, which holds hooks and settings.", "会写入 `{path}`，即存放钩子与设置的 git 目录。";
    WRITES_SENSITIVE: "Writes to `{path}`, which usually holds credentials.", "会写入通常存有凭据的 `{path}`。";
    WRITES_OUTSIDE: "Writes to `{path}`, outside the workspace.", "会写入工作区之外的 `{path}`。";
    WRITES_SECRET: "Writes to `{path}`, a protected location (credentials or devices).", "会写入受保护的位置 `{path}`（凭据或设备）。";
    CWD_OUTSIDE: "Runs in `{path}`, outside the workspace.", "将在工作区之外的 `{path}` 中运行。";
    CWD_MISSING: "The folder `{path}` does not exist.", "目录 `{path}` 不存在。";

    // The repository of a git step.
    GIT_CONFIG_EXEC: "The repository's own settings can start a program: `{setting}`.", "仓库自身的设置可能启动程序：`{setting}`。";
    GIT_DRIVER: "`.git/info/attributes` of this repository names the driver `{driver}`, which can start a program.", "此仓库的 `.git/info/attributes` 指定了驱动 `{driver}`，它可能启动程序。";
    GIT_UNREAD: "`{path}` belongs to the repository, but cannot be read as git would read it.", "`{path}` 属于该仓库，但无法按 git 的方式读取。";
    GIT_OUTSIDE: "The repository points git outside itself: `{path}`.", "此仓库会把 git 引到仓库之外：`{path}`。";
    GIT_BARE: "`{path}` is a repository without a working tree; its settings come from whoever created it.", "`{path}` 是一个没有工作树的仓库，其设置由放置它的人写定。";
    GIT_SUBMODULES: "Looks into submodules, whose own settings can start programs.", "会查看子模块，子模块自身的设置可能启动程序。";

    // Programs as such.
    PROGRAM_EMPTY: "No program was given.", "没有给出程序名。";
    PROGRAM_NOT_ASCII: "`{program}` looks like `{plain}`, but contains different letters; no program has such a name.", "`{program}` 看起来像 `{plain}`，实际含有其他字符；不存在这样命名的程序。";
    PROGRAM_IS_FLAG: "`{program}` is an option, not a program.", "`{program}` 是选项，不是程序。";
    PROGRAM_ODD: "`{program}` is not a program name: it contains spaces, shell characters or control characters. Give the program and its arguments separately.", "`{program}` 不是程序名：其中含有空白、shell 符号或控制字符。请把程序与参数分开给出。";
    PROGRAM_BUILT_IN: "`{program}` is a shell built-in, and there is no shell here. Use the working folder, or separate steps.", "`{program}` 是 shell 的内建命令，而这里没有 shell。请使用工作目录或拆成多个步骤。";
    PROGRAM_IS_TOOL: "`{tool}` is a tool, not a program: propose it with `\"tool\": \"{tool}\"` and its `input`.", "`{tool}` 是工具，不是程序：请用 `\"tool\": \"{tool}\"` 及其 `input` 来提出。";
    PROGRAM_UNKNOWN: "`{program}` is not among the allowed programs. To allow it, add `\"+{name}\"` to `allowed_programs` under `[safety]` in config.toml.", "`{program}` 不在允许的程序之列。若要允许，请在 config.toml 的 `[safety]` 中把 `\"+{name}\"` 加入 `allowed_programs`。";
    PROGRAM_ADDED: "You allowed `{program}`, but Avocet does not know what it does.", "你已允许 `{program}`，但 Avocet 不了解它会做什么。";
    PROGRAM_OF_WORKSPACE: "`{program}` is a file of the workspace, not a program of the system.", "`{program}` 是工作区中的文件，不是系统程序。";
    ADD_TOO_MUCH: "`{path}` contains the whole home folder or more, so it was not added. Name only the folder you need.", "`{path}` 包含整个主目录甚至更多内容，不能添加。请指明所需的那个目录。";
    ADD_OWN: "`{path}` contains Avocet's own files, so it was not added.", "`{path}` 中有 Avocet 自己的文件，不能添加。";
    ADD_SECRET: "`{path}` is in a protected location (credentials or devices), so it was not added.", "`{path}` 位于受保护的位置（凭据或设备），不能添加。";
    PROGRAM_OF_FOLDER: "`{program}` is one of this project's own programs, from `{folder}`.", "`{program}` 是此项目自带的程序，位于 `{folder}`。";
    PROGRAM_OF_VENV: "`{program}` is a program of the Python environment in `{folder}`, and loads what is installed there.", "`{program}` 是 `{folder}` 中 Python 环境的程序，会载入该环境中安装的内容。";
    PROGRAM_OF_MANAGER: "`{program}` comes from `{folder}`, where a toolchain manager keeps its programs; the project's own settings may choose the version.", "`{program}` 来自 `{folder}`，即工具链管理器存放程序之处；其版本可能由项目自身的设置决定。";
    PROGRAM_OUTSIDE: "`{program}` is not in a trusted program folder. To allow only this program, add `\"+{path}\"` to `allowed_programs` under `[safety]` in config.toml.", "`{program}` 不在受信任的程序目录中。若只允许它，请在 config.toml 的 `[safety]` 中把 `\"+{path}\"` 加入 `allowed_programs`。";

    // Arguments as bytes.
    ARGS_TOO_LARGE: "Too many arguments, or too long in total.", "参数过多或总长度过大。";
    ARG_TOO_LARGE: "An argument is longer than 64 KiB.", "有参数超过 64 KiB。";
    ARG_NUL: "An argument contains a NUL character.", "有参数含有 NUL 字符。";
    ARG_HIDDEN: "An argument contains characters that are invisible or change how text is read.", "有参数含有不可见或会改变阅读方式的字符。";

    // Shell lines.
    SHELL_STRING: "The arguments contain a shell line.", "参数中含有一行 shell 命令。";
    SHELL_PIECE: "A part of a shell line.", "shell 命令行的一部分。";
    SHELL_EMPTY: "There is no command in this line.", "这一行没有命令。";
    SHELL_NAME_UNKNOWN: "The program is only known when the shell runs.", "要到 shell 运行时才知道会执行哪个程序。";
    SHELL_EXPANDS: "`{word}` is only known when the shell runs.", "`{word}` 要到 shell 运行时才能确定。";
    SHELL_EVALUATES: "Text or a file is run as commands; it cannot be fully analysed.", "文本或文件会被当作命令运行，无法完全分析。";
    SHELL_CHANGES: "`{program}` changes the folder or settings of the commands after it.", "`{program}` 会改变后续命令的目录或设置。";
    SHELL_HIDES: "This line contains invisible characters; it may not run what it shows.", "此行含有不可见字符，所见未必是实际运行的内容。";
    SHELL_BACKGROUND: "Keeps running in the background after the line ends.", "此行结束后仍会在后台运行。";
    SHELL_DEFINES: "The line defines its own commands.", "此行自行定义了命令。";
    SHELL_RENAMED: "`{program}` has another meaning in this line; it cannot be fully analysed.", "`{program}` 在此行中另有所指，无法完全分析。";
    SHELL_RECURSES: "A command keeps starting itself; it can bring the machine to a halt.", "有命令会不断启动自身，可能使机器停止响应。";
    SHELL_FOLDER: "The folder it runs in is only known when the shell runs.", "要到 shell 运行时才知道它在哪个目录中运行。";
    SHELL_PIPED: "The output of another command or a file is run as commands; it cannot be analysed.", "其他命令或文件的内容会被当作命令运行，无法分析。";
    SHELL_ENDLESS: "A loop in this line does not end on its own.", "此行中有循环不会自行结束。";
    SHELL_NOT_UNDERSTOOD: "This line cannot be fully analysed.", "此行无法完全分析。";
    SHELL_UNFINISHED: "A quote or bracket in this line is not closed; it cannot be fully analysed.", "此行的引号或括号没有闭合，无法完全分析。";
    SHELL_TOO_DEEP: "This line is too long or nested too deeply to be analysed.", "此行过长或嵌套过深，无法分析。";

    // Verdicts from the model, the folder and the user.
    REQUIRES_CONFIRM: "The model asks for your approval.", "模型要求你确认。";
    REQUIRES_ELEVATED: "The model says it needs elevated rights.", "模型表示需要提升权限。";
    REQUIRES_NETWORK: "The model says it uses the network.", "模型表示会访问网络。";
    REQUIRES_WRITE: "The model says it writes.", "模型表示会写入。";
    RULES_L2: "Refused, unless `[safety] lift` names the rule", "拒绝执行，除非在 `[safety] lift` 中列出该规则";
    RULES_L1: "Asks first", "先询问";
    RULES_L0: "Runs without asking", "直接运行";
    RULE_LINE: "{tier} · {why}", "{tier} · {why}";
    RULE_FIRM: "{tier} · cannot be lifted · {why}", "{tier} · 不可放宽 · {why}";
    SANDBOX_ABSENT: "Whether it is harmless depends on a small language in its arguments or on the repository's settings, and this system has no sandbox to stop it if Avocet is wrong.", "它是否无害取决于参数中的小语言或仓库自身的设置，而此系统没有沙箱可以在判定有误时拦住它。";
    SANDBOX_WORK: "Sandboxed: it can write only in this folder, a temporary folder and caches; the network is {network}.", "沙箱内运行：只能写此目录、临时目录与缓存；网络{network}。";
    SANDBOX_PIECE: "Sandboxed: it can write only in a temporary folder; the network is {network}.", "沙箱内运行：只能写临时目录；网络{network}。";
    SANDBOX_NONE_RULE: "It is not sandboxed.", "没有沙箱限制它。";
    SANDBOX_OFF: "Not sandboxed: your settings turn the sandbox off (`sandbox = \"off\"`).", "没有沙箱限制它：设置已将沙箱关闭（`sandbox = \"off\"`）。";
    SANDBOX_READ: "Not sandboxed: your settings sandbox only steps that run without asking (`sandbox = \"read\"`).", "没有沙箱限制它：设置只对无需询问的步骤启用沙箱（`sandbox = \"read\"`）。";
    SANDBOX_MISSING: "Not sandboxed: this system has no sandbox.", "没有沙箱限制它：此系统没有沙箱。";
    SANDBOX_WORK_RULE: "It runs in the sandbox for approved steps.", "它在供已批准步骤使用的沙箱中运行。";
    SANDBOX_CREDENTIALS_RULE: "It needs credentials, so the sandbox leaves some readable.", "其程序需要凭据，因此沙箱对它开放其中一部分。";
    SANDBOX_DENIED_RULE: "The sandbox blocked something it did; approving runs it again without the sandbox.", "沙箱拒绝了它的某个操作；批准后将不经沙箱再运行一次。";
    SANDBOX_NETWORK_OPEN: "open", "开放";
    SANDBOX_NETWORK_CLOSED: "closed", "关闭";
    SANDBOX_NETWORK: "It runs code of this project and keeps network access, because this machine cannot be told apart from others. `allow_network = false` under `[safety]` turns it off.", "它会运行本项目的代码；由于无法区分本机与其他机器，网络保持开放。在 `[safety]` 下设 `allow_network = false` 可关闭。";
    SANDBOX_CREDENTIALS: "It needs credentials, so it can read these: {places}.", "其程序需要凭据，因此以下位置对它开放：{places}。";
    SANDBOX_FREE: "It changes the system itself, so it is not sandboxed.", "它会更改系统本身，因此不受沙箱限制。";
    SANDBOX_DENIED: "The sandbox kept it from {what}. Approving runs it again without the sandbox; what it has already done is not undone.", "沙箱阻止了它{what}。批准后将不经沙箱再运行一次；已经完成的部分不会撤销。";
    FOLDER_UNTRUSTED: "This folder is not trusted: Avocet asks before a program that reads its settings or does more than read. `/trust` trusts the folder.", "此目录未受信任：会读取其设置或不只是读取的程序，运行前都会先询问。`/trust` 可信任此目录。";
    LIMIT_NETWORK: "Your settings refuse network access (`allow_network = false`).", "你的设置拒绝访问网络（`allow_network = false`）。";
    LIMIT_WRITE: "Your settings refuse writing and deleting (`allow_write = false`).", "你的设置拒绝写入或删除（`allow_write = false`）。";
    DENIED: "Your rule `{rule}` refuses it.", "你的规则 `{rule}` 拒绝了它。";
    ALLOWED: "Your rule `{rule}` lets it run without asking.", "你的规则 `{rule}` 允许其直接运行。";
    TOOL_UNKNOWN: "There is no tool `{tool}`. Available: {tools}.", "没有名为 `{tool}` 的工具。可用的有：{tools}。";

    // Tools other than programs.
    TOOL_FAULT: "The input is invalid, so nothing is done.", "输入无效，因此什么都不会做。";
    TOOL_READS: "Only reads `{path}`.", "只读取 `{path}`。";
    TOOL_WRITES: "Writes `{path}`.", "会写入 `{path}`。";
    TOOL_RECALLS: "Only reads the conversation.", "只读取对话内容。";
    TOOL_TALKS: "Only talks with you.", "只与你对话。";
    TOOL_PATCHES: "Changes the settings in `{path}`; a copy of the old file is kept next to it.", "会更改 `{path}` 中的设置；旧文件会在旁边保留一份副本。";
    WRITES_STEERING: "`{path}` tells agents or programs what to do in this folder.", "`{path}` 决定智能体或程序在此目录中的行为。";
    PATH_LINK: "`{path}` is a link to `{target}`, outside the workspace. If you mean that file, use its own path.", "`{path}` 是通向工作区之外 `{target}` 的链接。若确实要用那个文件，请直接写出它的路径。";
    PATH_NUL: "A path or an argument contains a NUL character.", "路径或参数含有 NUL 字符。";
    FILE_CHANGED: "`{path}` changed on disk since the model read it.", "模型读取之后，`{path}` 在磁盘上已被改动。";
    WRITES_MASKED: "Writes the secret masked as {masks} into `{path}`, which does not contain it yet.", "会把 {masks} 遮盖的密钥写入 `{path}`，该文件目前不含此密钥。";
    MASK_UNKNOWN: "`{mask}` does not match any secret of this session, so nothing was written. If it is from before the session was resumed, read the file with the secret again.", "`{mask}` 不代表本会话中的任何密钥，因此没有写入。如果它来自恢复之前的会话，请重新读取含有该密钥的文件。";
    MASK_IN_ARGUMENT: "Programs never receive secrets: `{mask}` would be passed literally. Write the value into a file with file.write or file.edit, which replace the mask with the value.", "程序得不到密钥：`{mask}` 会原样传给它。请用 file.write 或 file.edit 写入文件，掩码在那里会还原为值。";
    FILE_CHANGED_SINCE: "`{path}` has changed since; those changes would be lost.", "`{path}` 此后又有改动，这些改动会丢失。";
    FILE_UNREAD: "`{path}` already exists, and the model has not read it.", "`{path}` 已经存在，而模型没有读过它。";
    FIELD_MISSING: "`{tool}` needs the field `{field}`; given: {there}.", "`{tool}` 需要字段 `{field}`；已给出：{there}。";
    FIELD_WRONG: "`{tool}`: the field `{field}` must be {wanted}, not {found}.", "`{tool}`：字段 `{field}` 应为{wanted}，而不是 {found}。";
    FIELD_NUMBER: "a whole number", "整数";
    RANGE_WRONG: "`{found}` is not a line range: the first line is 1, and the last must not come before it.", "`{found}` 不是行的范围：首行为 1，末行不得早于首行。";
    TOOL_NO_FILE: "There is no file `{path}`.", "没有文件 `{path}`。";
    TOOL_TOO_BIG: "`{path}` is larger than {most} KiB or cannot be read, so it is not changed here.", "`{path}` 大于 {most} KiB 或无法读取，因此不在这里修改。";
    TOOL_NOT_TEXT: "`{path}` is not UTF-8 text, so it is not changed here.", "`{path}` 不是 UTF-8 文本，因此不在这里修改。";
    NOTHING_CHANGES: "`{path}` already has this content: nothing would change.", "`{path}` 已是如此，没有什么需要更改。";
    EDIT_SAME: "Edit {n}: `old` and `new` are the same.", "第 {n} 处修改：`old` 与 `new` 相同。";
    EDIT_EMPTY_OLD: "Edit {n}: `old` is empty. Give the text to replace, or write the whole file with file.write.", "第 {n} 处修改：`old` 为空。请给出要替换的文本，或用 file.write 写入整个文件。";
    EDIT_NOT_FOUND: "`old` is not in the file, byte for byte. Nothing was changed.", "文件中没有与 `old` 逐字节相同的内容，未作任何修改。";
    EDIT_NOT_FOUND_NTH: "Edit {n} of {of}: its `old` is not in the file, byte for byte. None of the edits was made. Each is matched against the file as it is now, not against the result of another.", "第 {n}/{of} 处修改：文件中没有与其 `old` 逐字节相同的内容，所有修改均未进行。每处修改都按文件现状匹配，而不是按其他修改之后的结果。";
    EDIT_AMBIGUOUS: "Edit {n}: `old` appears {count} times in the file (lines {lines}). Add surrounding lines until it is unique, or set `all` to true. Nothing was changed.", "第 {n} 处修改：`old` 在文件中出现 {count} 次（第 {lines} 行）。请补充前后行使其唯一，或把 `all` 设为 true。未作任何修改。";
    LARGE_NOT_FOUND: "Edit {n}: `old` is not in the file, or not in the lines named by `from` and `to`. Nothing was changed.", "第 {n} 处修改：文件中（或 `from` 到 `to` 的行内）没有 `old`。未作任何修改。";
    LARGE_TOO_OFTEN: "Edit {n}: the texts are in more places than a large file is changed in at once. Limit the lines with `from` and `to`. Nothing was changed.", "第 {n} 处修改：匹配位置过多，大文件一次无法全部修改。请用 `from` 和 `to` 限定行。未作任何修改。";
    LARGE_CHANGES: "{path} changed while it was read, or could not be read. Nothing was changed; try again.", "读取 {path} 时它发生了变化，或无法读取。未作任何修改，请重试。";
    EDIT_OVERLAP: "Two of the edits change the same place. Nothing was changed.", "有两处修改涉及同一位置，未作任何修改。";
    KEPT_CRLF: "The file ends its lines with CRLF; that was kept.", "文件以 CRLF 换行，已保持不变。";
    KEPT_END: "The file ends with a newline; that was kept.", "文件以换行结尾，已保持不变。";
    KEPT_BOM: "The file begins with a byte order mark; that was kept.", "文件以字节顺序标记开头，已保持不变。";
    TOO_MANY_CHOICES: "{count} choices are too many; the limit is {most}.", "{count} 个选项过多，最多 {most} 个。";
    TOO_MANY_ITEMS: "{count} lines are too many for a plan; the limit is {most}.", "计划有 {count} 行，过多；最多 {most} 行。";
    TOOL_JOBS: "Looks after the steps in the background.", "查看或停止后台步骤。";
    TOOL_NOT_ENCODABLE: "{path} is encoded in {encoding}, which does not have all of these characters.", "{path} 的编码是 {encoding}，无法表示其中某些字符。";
    TOOL_WITHHELD: "This run has no such tool.", "本次运行不提供此工具。";
    PLAN_MODE: "In plan mode only steps that read run.", "计划模式下只运行读取类步骤。";
    EDITS_MODE: "Changes of files in the folder are accepted in this mode.", "当前模式接受本目录内的文件修改。";
    PLAN_STATE: "Line {item} of the plan: `{found}` is not a state. Use pending, doing or done.", "计划第 {item} 行：`{found}` 不是状态。可用的有 pending、doing 和 done。";
    CONFIG_NOT_LISTED: "`{path}` is not a file that may be patched: only `~/.slothtool/settings.json`, `~/.slothtool/plugin-configs/*.json`, and the files the user lists under `config_files` may.", "`{path}` 不在可修改的文件之列：`~/.slothtool/settings.json`、`~/.slothtool/plugin-configs/*.json`，以及用户在 `config_files` 中列出的文件。";
    CONFIG_NOT_JSON: "`{path}` is not plain JSON: {why}.", "`{path}` 不是规范的 JSON：{why}。";
    CONFIG_PATCH_WRONG: "The patch cannot be applied, so nothing was changed: {why}", "补丁无法应用，因此未作任何修改：{why}";
    CONFIG_LOOSENS: "`{key}` is a setting that restricts agents; a model may not loosen it.", "`{key}` 属于约束智能体的设置，模型不得放宽。";
    CONFIG_TIGHTENS: "`{key}` is a setting that restricts agents; this makes it stricter.", "`{key}` 属于约束智能体的设置，此次更改会使其更严格。";
    REGISTRY_BROKEN: "The slothtool registry `{file}` could not be read ({why}).", "无法把 `{file}` 读作 slothtool 的注册表（{why}）。";
    NO_REGISTRY: "There are no plugins: `{file}` does not exist. slothtool creates it when a plugin is installed.", "没有插件：`{file}` 不存在。用 slothtool 安装插件后会生成它。";
    NO_PLUGIN: "There is no plugin `{alias}`. Installed: {known}.", "没有插件 `{alias}`。已安装：{known}。";
    NO_NODE: "Plugins need `node`, which is not in the trusted program folders. Install Node.js first.", "插件需要 `node`，但受信任的程序目录中没有它。请先安装 Node.js。";
    PLUGIN_OUTSIDE: "The registry says `{alias}` is run by `{path}`, which is not below `~/.slothtool`.", "注册表指明 `{alias}` 由 `{path}` 运行，但它不在 `~/.slothtool` 之下。";
    PLUGIN_RUNS: "Runs the plugin `{alias}` ({name} {version}), which can do anything a program can.", "会运行插件 `{alias}`（{name} {version}），程序能做的它都能做。";
    PLUGIN_TERMINAL: "It interacts with you directly and takes over the terminal until it ends.", "它会直接与你对话，并在结束前接管终端。";
    RULE_EMPTY: "A rule begins with the name of a program, such as `git push *`.", "规则须以程序名开头，例如 `git push *`。";
    RULE_QUOTE: "A quote in the rule `{rule}` is not closed.", "规则 `{rule}` 中有引号没有闭合。";

    // `policy explain`.
    EXPLAIN_RUNS: "runs without asking", "直接运行";
    EXPLAIN_ASKS: "asks first", "先询问";
    EXPLAIN_REFUSED: "refused", "拒绝";
    EXPLAIN_TOOL: "tool", "工具";
    EXPLAIN_FAULT: "this input would do nothing", "这样的输入什么也不会做";
    EXPLAIN_CHANGE: "would change", "将修改";
    EXPLAIN_NO_OBJECT: "`--args` takes the tool's input as a JSON object: {error}", "`--args` 应为工具输入的 JSON 对象：{error}";
    EXPLAIN_SKILL: "The permissions of a skill are judged in the conversation that uses it; `avocet skill check NAME` checks its file.", "技能的权限在使用它的对话中判定；`avocet skill check NAME` 可检查其文件。";
    EXPLAIN_NOT_FOUND: "not found in the trusted program folders", "在受信任的程序目录中未找到";
    EXPLAIN_EFFECTS: "may", "可能";
    EXPLAIN_ARG: "argument {number}", "参数 {number}";
    BATCH_NOT_JSON: "This line is not a JSON object with the required fields: {error}", "此行不是包含所需字段的 JSON 对象：{error}";
    BATCH_TOO_LONG: "This line is longer than 4 MiB.", "此行超过 4 MiB。";
    LIST_L0: "L0: runs without asking while its flags and paths are harmless", "L0：参数与路径都无害时直接运行";
    LIST_L1: "L1: asks", "L1：先询问";
    LIST_L2: "L2: refused", "L2：拒绝";
}
