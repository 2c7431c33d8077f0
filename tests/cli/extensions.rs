//! Bots, commands and skills through the program: in the seed's format, in the formats of other
//! agents, and created, changed and deleted from the command line.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server};

trait ExtensionsDir {
    fn write(&self, name: &str, text: &str);
    fn read(&self, name: &str) -> String;
    fn run(&self, args: &[&str]) -> Output;
    fn pipe(&self, args: &[&str], input: &str) -> Output;
    fn git(&self, args: &[&str]);
}

impl ExtensionsDir for TestDir {
    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn pipe(&self, args: &[&str], input: &str) -> Output {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // One that does not read closes the pipe.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    fn git(&self, args: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.invalid"])
            .args(args)
            .current_dir(self.work())
            .output()
            .unwrap();
        assert!(done.status.success(), "git {args:?}: {}", err(&done));
    }
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn exits(output: &Output, code: i32) {
    let said = format!("stdout: {}\nstderr: {}", out(output), err(output));
    assert_eq!(output.status.code(), Some(code), "{said}");
}

fn server() -> Server {
    Server::start(vec![Reply::chat("All done.")])
}

/// The last message of the first request.
fn asked(server: &Server) -> String {
    let body = server.requests()[0].json();
    body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
}

/// As the seed writes it.
const REVIEWER: &str = r#"description = "Code review assistant"
system_prompt = """
You are a strict code reviewer.
Focus on correctness, security, and readability.
"""
"#;
const COMMIT_MSG: &str = r#"description = "Generate a commit message from staged diff"
prompt = """
Please generate a commit message from this diff:

!{git diff --staged}
"""
"#;

fn seed() -> TestDir {
    let bench = TestDir::new();
    bench.write("home/.r9s/bots/reviewer.toml", REVIEWER);
    bench.write("home/.r9s/commands/commit-msg.toml", COMMIT_MSG);
    bench.write("home/.r9s/commands/summarize.toml", "prompt = \"Summarize this: {{args}}\"\n");
    bench
}

// The seed's examples.

#[test]
fn echo_hello_into_chat_reviewer_asks_the_bot() {
    let (bench, server) = (seed(), server());
    let args = ["chat", "reviewer", "--base-url", &server.base_url(), "--model", "m"];
    let output = bench.pipe(&args, "hello\n");
    exits(&output, 0);
    assert_eq!(out(&output), "All done.\n");
    let body = server.requests()[0].json();
    assert!(body["messages"][0]["content"].as_str().unwrap().contains("strict code reviewer"));
    assert!(asked(&server).contains("hello"));
    // How long an answer may be is bounded at a local server whatever the bot says.
    assert!(body["max_tokens"].is_number(), "{body}");
    for key in ["temperature", "top_p", "presence_penalty", "frequency_penalty"] {
        assert!(body.get(key).is_none(), "{key} was not set: {body}");
    }
}

#[test]
fn render_of_commit_msg_prints_the_staged_diff_and_asks_no_model() {
    let bench = seed();
    bench.git(&["init", "-q"]);
    bench.write("work/notes.txt", "a line of notes\n");
    bench.git(&["add", "-A"]);
    for args in
        [["command", "render", "commit-msg", "-y"], ["-y", "command", "render", "commit-msg"]]
    {
        let output = bench.run(&args);
        exits(&output, 0);
        let text = out(&output);
        assert!(
            text.starts_with("Please generate a commit message from this diff:\n\ndiff --git"),
            "{text}"
        );
        assert!(text.contains("+a line of notes"), "{text}");
        assert!(
            err(&output).contains("git diff --staged"),
            "the notice stays with -y: {}",
            err(&output)
        );
        assert!(!err(&output).contains("guide"), "{}", err(&output));
    }
    let output = bench.run(&["command", "render", "commit-msg"]);
    exits(&output, 3);
    assert_eq!(out(&output), "");
    assert!(err(&output).contains("git diff --staged") && err(&output).contains("-y"));
}

#[test]
fn summarize_focus_on_risks_is_one_user_message() {
    for args in [
        &["command", "run", "summarize", "focus", "on", "risks"][..],
        &["command", "run", "summarize", "focus on risks"],
        &["-p", "/summarize focus on risks"],
    ] {
        let (bench, server) = (seed(), server());
        let output =
            bench.run(&[args, &["--base-url", &server.base_url(), "--model", "m"]].concat());
        exits(&output, 0);
        assert_eq!(out(&output), "All done.\n");
        assert!(asked(&server).contains("Summarize this: focus on risks"), "{}", asked(&server));
        let body = server.requests()[0].json();
        let users = body["messages"].as_array().unwrap().iter();
        assert_eq!(users.filter(|message| message["role"] == "user").count(), 1, "{body}");
    }
}

#[test]
fn an_own_command_of_a_program_runs_that_and_asks_no_model() {
    let (bench, server) = (TestDir::new(), server());
    bench.write("avocet/commands/say.toml", "exec = [\"echo\", \"it said {{args}}\"]\n");
    bench.write("avocet/commands/make.toml", "exec = [\"touch\", \"{{args}}\"]\n");
    let url = server.base_url();
    let run = |args: &[&str]| bench.run(&[args, &["--base-url", &url, "--model", "m"]].concat());
    for args in [&["command", "run", "say", "hello; there"][..], &["-p", "/say hello; there"]] {
        let output = run(args);
        exits(&output, 0);
        assert!(out(&output).contains("it said hello; there\n"), "{}", out(&output));
    }
    let output = run(&["command", "run", "make", "a file"]);
    exits(&output, 3);
    assert!(err(&output).contains("touch 'a file'"), "{}", err(&output));
    assert!(!bench.work().join("a file").exists() && server.requests().is_empty());
}

// Where r9s does otherwise.

#[test]
fn unlike_r9s_standard_input_reaches_the_template_commands() {
    let bench = TestDir::new();
    bench.write("avocet/commands/x.toml", "prompt = \"got: !{tr a-z A-Z}\"\n");
    let output = bench.pipe(&["command", "render", "x", "-y"], "through the pipe");
    exits(&output, 0);
    assert_eq!(out(&output), "got: THROUGH THE PIPE\n");
}

#[test]
fn standard_input_joins_the_message_when_no_template_command_reads_it() {
    let bench = seed();
    let output = bench.pipe(&["command", "render", "summarize", "now"], "the notes\n");
    exits(&output, 0);
    assert_eq!(out(&output), "Summarize this: now\n\nthe notes\n");
}

#[test]
fn unlike_r9s_an_argument_cannot_run_a_command() {
    let bench = seed();
    bench.write("avocet/commands/x.toml", "prompt = \"say {{args}} and !{echo {{args}}}\"\n");
    let arg = "!{touch made}; $(touch made) `touch made` {{args}} @{x} $1";
    let output = bench.run(&["command", "render", "x", "-y", arg]);
    exits(&output, 0);
    assert_eq!(out(&output), format!("say {arg} and {arg}\n"));
    assert!(!bench.path("work/made").exists());
}

#[test]
fn unlike_r9s_a_brace_inside_quotes_does_not_end_a_command() {
    let bench = TestDir::new();
    bench.write("avocet/commands/x.toml", "prompt = '''!{echo one two | awk '{print $2}'}'''\n");
    let output = bench.run(&["command", "render", "x", "-y"]);
    exits(&output, 0);
    assert_eq!(out(&output), "two\n");
}

#[test]
fn unlike_r9s_no_name_leaves_its_folder() {
    let bench = TestDir::new();
    bench.write("avocet/config.toml", "");
    bench.write("avocet/x.toml", "prompt = \"secret\"\n");
    for name in ["../x", "a/b", "..", "a b", "", "a\u{1b}b", "a\nb"] {
        for args in [
            &["command", "show", name][..],
            &["command", "render", name],
            &["command", "new", name, "--prompt", "x"],
            &["command", "edit", name],
            &["command", "delete", "-y", name],
            &["bot", "show", name],
            &["bot", "new", name, "--prompt", "x"],
            &["chat", name],
            &["skill", "show", name],
        ] {
            let output = bench.pipe(args, "hello");
            exits(&output, 2);
            let said = err(&output);
            assert!(
                !said.contains('\u{1b}') && !out(&output).contains("secret"),
                "{args:?}: {said}"
            );
        }
    }
    let output = bench.run(&["command", "new", "../y", "--prompt", "x"]);
    assert!(err(&output).contains("`../y` is not a usable name"), "{}", err(&output));
    assert!(!bench.path("y.toml").exists() && !bench.path("avocet/y.toml").exists());
    assert!(bench.path("avocet/x.toml").exists());
}

// Sampling.

#[test]
fn only_the_bots_settings_reach_the_request() {
    let (bench, server) = (seed(), server());
    bench.write(
        "avocet/bots/b.toml",
        "temperature = 0.5\nmax_tokens = 99\nfrequency_penalty = -1\n",
    );
    let args = [
        "command",
        "run",
        "summarize",
        "x",
        "--bot",
        "b",
        "--base-url",
        &server.base_url(),
        "--model",
        "m",
    ];
    exits(&bench.run(&args), 0);
    let body = server.requests()[0].json();
    assert_eq!(body["temperature"], 0.5);
    assert_eq!(body["frequency_penalty"], -1.0);
    assert!(body.get("top_p").is_none() && body.get("presence_penalty").is_none(), "{body}");
    let tokens = body.get("max_tokens").or_else(|| body.get("max_completion_tokens"));
    assert_eq!(tokens, Some(&99.into()), "{body}");
}

// Names.

#[test]
fn an_unknown_name_gets_a_suggestion_and_is_never_sent() {
    let (bench, server) = (seed(), server());
    let url = server.base_url();
    for args in [["command", "run", "sumarize"], ["command", "render", "sumarize"]] {
        let output = bench.run(&[&args[..], &["--base-url", &url, "--model", "m"]].concat());
        exits(&output, 2);
        assert!(err(&output).contains("`summarize`"), "{}", err(&output));
    }
    let output = bench.run(&["-p", "/sumarize x", "--base-url", &url, "--model", "m"]);
    exits(&output, 2);
    assert!(err(&output).contains("`summarize`"), "{}", err(&output));
    let output = bench.run(&["-p", "/help", "--base-url", &url, "--model", "m"]);
    exits(&output, 2);
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn a_broken_file_is_reported_with_its_line_wherever_it_is_named() {
    let bench = TestDir::new();
    bench.write("avocet/commands/x.toml", "prompt = \"a\"\nmodel = \"m\"\n");
    bench.write("avocet/bots/b.toml", "\nsystem_prompt_file = \"x\"\n");
    let output = bench.run(&["command", "render", "x"]);
    exits(&output, 2);
    assert!(err(&output).contains("x.toml, line 2, column 1"), "{}", err(&output));
    let output = bench.pipe(&["chat", "b"], "hello");
    exits(&output, 2);
    assert!(err(&output).contains("b.toml, line 2") && err(&output).contains("`system_prompt`"));
}

// Files.

#[test]
fn files_of_other_agents_are_used_in_place_and_project_files_need_trust() {
    let bench = seed();
    bench.write(
        "work/.claude/commands/git/commit.md",
        "---\ndescription: Commit\n---\nCommit $ARGUMENTS",
    );
    bench.write("work/.gemini/commands/plan.toml", "prompt = \"Plan {{args}}\"\n");
    bench.write(
        "work/.agents/skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: PDFs\n---\nRead it.\n",
    );
    let rendered = |name: &str| out(&bench.run(&["command", "render", name, "now"]));
    assert_eq!(rendered("git:commit"), "Commit now\n");
    assert_eq!(rendered("commit"), "Commit now\n");
    assert_eq!(rendered("plan"), "Plan now\n");
    let skills = out(&bench.run(&["skill", "list"]));
    assert!(skills.contains("the project's, in .agents") && skills.contains("pdf"), "{skills}");
    let stranger = bench.untrusted_command(&["command", "render", "plan", "now"]).output().unwrap();
    exits(&stranger, 2);
    let listed = bench.untrusted_command(&["command", "list"]).output().unwrap();
    assert!(
        out(&listed).contains("summarize") && !out(&listed).contains("plan"),
        "{}",
        out(&listed)
    );
}

#[test]
fn a_list_shows_the_state_of_each_file() {
    let bench = seed();
    bench.write("avocet/commands/summarize.toml", "prompt = \"mine\"\n");
    bench.write("avocet/commands/help.toml", "prompt = \"x\"\n");
    bench.write("avocet/commands/torn.toml", "prompt = \n");
    bench.write("avocet/commands/a b.toml", "prompt = \"x\"\n");
    let output = bench.run(&["command", "list"]);
    exits(&output, 0);
    for line in [
        "yours, in .r9s",
        "Generate a commit message",
        "takes precedence",
        "a built-in command has the same name",
        "torn.toml, line 1",
        "`a b` is not a usable name",
    ] {
        assert!(out(&output).contains(line), "{line}: {}", out(&output));
    }
    let json = out(&bench.run(&["command", "list", "--json"]));
    let rows: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let state = |name: &str| {
        let of_name = rows.iter().filter(|row| row["name"] == name);
        of_name.map(|row| row["state"].as_str().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(state("summarize"), ["loaded", "shadowed"]);
    assert_eq!((state("help"), state("torn")), (vec!["shadowed"], vec!["refused"]));
    let doctor = out(&bench.run(&["doctor"]));
    for line in ["command commit-msg", "bot reviewer", "takes precedence", "torn.toml, line 1"] {
        assert!(doctor.contains(line), "{line}: {doctor}");
    }
}

#[test]
fn a_file_is_created_from_options_or_piped_input_and_never_overwritten() {
    let bench = TestDir::new();
    let args = [
        "bot",
        "new",
        "terse",
        "--description",
        "Says little",
        "--prompt",
        "Be terse.",
        "--temperature",
        "0.1",
        "--presence-penalty",
        "-1",
    ];
    exits(&bench.run(&args), 0);
    let shown = bench.run(&["bot", "show", "terse"]);
    assert_eq!(out(&shown), bench.read("avocet/bots/terse.toml"));
    assert!(out(&shown).contains("temperature = 0.1") && err(&shown).contains("yours"));
    let json: Value =
        serde_json::from_str(&out(&bench.run(&["bot", "show", "terse", "--json"]))).unwrap();
    assert_eq!(
        (&json["system_prompt"], &json["params"]["presence_penalty"]),
        (&"Be terse.".into(), &(-1.0).into())
    );
    let again = bench.run(&args);
    exits(&again, 1);
    assert!(err(&again).contains("already exists"), "{}", err(&again));

    exits(
        &bench.pipe(
            &["command", "new", "审查", "--description", "Review"],
            "Look at {{args}}\n!{git diff}\n",
        ),
        0,
    );
    let text = bench.read("avocet/commands/审查.toml");
    assert!(text.contains("Look at {{args}}\n!{git diff}\n"), "{text}");
    let output = bench.run(&["command", "new", "empty"]);
    exits(&output, 1);
    assert!(err(&output).contains("`prompt` is missing"), "{}", err(&output));
    let output = bench.run(&["command", "new", "help", "--prompt", "x"]);
    exits(&output, 2);
    assert!(err(&output).contains("built-in"), "{}", err(&output));
    let output = bench.run(&["bot", "new", "hot", "--prompt", "x", "--temperature", "9"]);
    exits(&output, 1);
    assert!(!bench.path("avocet/bots/hot.toml").exists());
}

#[test]
fn a_skill_is_created_and_never_overwritten() {
    let bench = TestDir::new();
    let about = "This skill should be used when a release is made.";
    let args = ["skill", "new", "release", "--description", about];
    let made = bench.pipe(&args, "# Release\n\nTag it.\n");
    exits(&made, 0);
    let text = bench.read("avocet/skills/release/SKILL.md");
    assert!(text.contains(about) && text.ends_with("Tag it.\n"), "{text}");
    assert!(out(&bench.run(&["skill", "list"])).contains("release"));
    exits(&bench.run(&["skill", "check", "release"]), 0);
    let again = bench.pipe(&args, "other");
    exits(&again, 1);
    assert!(err(&again).contains("already exists"), "{}", err(&again));
    let undescribed = bench.pipe(&["skill", "new", "vague"], "Do it.");
    exits(&undescribed, 1);
    assert!(err(&undescribed).contains("`description` is missing"), "{}", err(&undescribed));
    assert!(!bench.path("avocet/skills/vague/SKILL.md").exists());
}

#[test]
fn an_edit_is_checked_before_it_is_saved() {
    let bench = TestDir::new();
    bench.write("avocet/commands/x.toml", "# mine\nprompt = \"old\"\n");
    let edit = |editor: &str| {
        bench.command(&["command", "edit", "x"]).env("EDITOR", editor).output().unwrap()
    };
    let output = edit("sed -i s/old/new/");
    exits(&output, 0);
    assert_eq!(bench.read("avocet/commands/x.toml"), "# mine\nprompt = \"new\"\n");
    let output = edit("sed -i s/prompt/pormpt/");
    exits(&output, 1);
    assert!(err(&output).contains("`pormpt`"), "{}", err(&output));
    assert_eq!(bench.read("avocet/commands/x.toml"), "# mine\nprompt = \"new\"\n");
    let output = edit("true");
    exits(&output, 0);
    assert!(err(&output).contains("Nothing was changed"), "{}", err(&output));
    let output = bench.run(&["command", "edit", "x"]);
    exits(&output, 2);
    assert!(err(&output).contains("EDITOR"), "{}", err(&output));
    bench.write("avocet/commands/x.toml", "prompt = ");
    exits(&edit("sed -i s/$/'\"mended\"'/"), 0);
    assert_eq!(bench.read("avocet/commands/x.toml"), "prompt = \"mended\"\n");
}

#[test]
fn nothing_is_deleted_without_confirmation() {
    let bench = TestDir::new();
    bench.write("avocet/bots/b.toml", "");
    let output = bench.run(&["bot", "delete", "b"]);
    exits(&output, 3);
    assert!(bench.path("avocet/bots/b.toml").exists() && err(&output).contains("-y"));
    for args in [["-y", "bot", "delete", "b"], ["bot", "delete", "b", "-y"]] {
        bench.write("avocet/bots/b.toml", "");
        exits(&bench.run(&args), 0);
        assert!(!bench.path("avocet/bots/b.toml").exists());
    }
    exits(&bench.run(&["bot", "delete", "b", "-y"]), 2);
}

#[test]
fn the_rules_remembered_for_a_folder_are_printed_with_what_they_cover() {
    let bench = TestDir::new();
    bench.settings("[safety]\nallow = [\"git push *\"]\ndeny = [\"curl *\"]\n");
    let said = out(&bench.run(&["policy", "permissions"]));
    let work = bench.work().canonicalize().unwrap();
    let covers = format!("run in `{}`", work.display());
    for part in ["1. git push *", "2. curl *", covers.as_str()] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let json = out(&bench.run(&["policy", "permissions", "--json"]));
    assert!(json.contains("git push *") && json.contains(&covers), "{json}");
}

#[test]
fn a_skill_is_checked_by_its_name_or_by_its_folder() {
    let bench = TestDir::new();
    bench.write("avocet/skills/good/SKILL.md", "---\nname: good\ndescription: x\n---\n");
    bench.write("avocet/skills/odd/SKILL.md", "---\nname: Odd_One\ndescription: x\n---\n");
    bench.write("work/bad/SKILL.md", "---\nname: bad\n---\n");
    exits(&bench.run(&["skill", "check", "good"]), 0);
    let odd = bench.run(&["skill", "check", "Odd_One"]);
    exits(&odd, 0);
    assert!(err(&odd).contains("lower-case"), "{}", err(&odd));
    let bad = bench.run(&["skill", "check", "./bad"]);
    exits(&bad, 1);
    assert!(err(&bad).contains("`description`"), "{}", err(&bad));
    exits(&bench.run(&["skill", "check", "none"]), 2);
}

#[test]
fn the_examples_are_copied_once_and_each_of_them_works() {
    let bench = TestDir::new();
    bench.write("avocet/commands/tests.toml", "prompt = \"mine\"\n");
    let output = bench.run(&["init-home"]);
    exits(&output, 0);
    assert!(
        out(&output).contains("written") && out(&output).contains("not changed"),
        "{}",
        out(&output)
    );
    assert_eq!(bench.read("avocet/commands/tests.toml"), "prompt = \"mine\"\n");
    assert!(!out(&bench.run(&["init-home"])).contains("written"));
    bench.git(&["init", "-q"]);
    bench.write("work/a.txt", "one\n");
    bench.git(&["add", "-A"]);
    bench.git(&["commit", "-qm", "Begin"]);
    bench.write("work/a.txt", "two\n");
    bench.git(&["add", "-A"]);
    for (name, holds) in
        [("commit-msg", "+two"), ("explain", "README"), ("tests", "mine"), ("changelog", "commits")]
    {
        let output = bench.run(&["command", "render", name, "README", "-y"]);
        exits(&output, 0);
        assert!(out(&output).contains(holds), "{name}: {}", out(&output));
    }
    for bot in ["reviewer", "teacher", "translator"] {
        let server = server();
        let args = ["chat", bot, "--base-url", &server.base_url(), "--model", "m"];
        exits(&bench.pipe(&args, "hello"), 0);
        assert!(server.requests()[0].json().get("temperature").is_some(), "{bot}");
    }
    for skill in ["find-bug", "plan-change"] {
        exits(&bench.run(&["skill", "check", skill]), 0);
    }
}

#[test]
fn help_is_in_the_language_of_the_settings() {
    let bench = TestDir::new();
    let help = |args: &[&str]| {
        let output = bench.untrusted_command(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(help(&["--help"]).contains("Usage: avocet"));
    assert!(help(&["session", "list", "--lang", "zh", "--help"]).contains("用法：avocet session"));
    bench.write("avocet/config.toml", "lang = \"zh\"\n");
    assert!(help(&["help", "session", "list"]).contains("用法：avocet session list"));
    assert!(help(&["bot", "--lang=en", "-h"]).contains("Usage: avocet bot"));
}

#[test]
fn the_words_of_a_command_line_reach_a_template_as_they_were() {
    let bench = TestDir::new();
    let folder = bench.work().join(".claude/commands");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("fix.md"), "title=$1 n=$2 all=$ARGUMENTS\n").unwrap();
    let render = |args: &[&str]| {
        let all = [&["command", "render", "fix", "--trust", "."], args].concat();
        String::from_utf8(bench.run(&all).stdout).unwrap()
    };
    assert_eq!(render(&["my title", "12"]).trim(), "title=my title n=12 all=\"my title\" 12");
    assert_eq!(render(&["--since", "2020"]).trim(), "title=--since n=2020 all=--since 2020");
    assert_eq!(render(&["-m", "fix bug"]).trim(), "title=-m n=fix bug all=-m \"fix bug\"");
}

#[test]
fn agents_are_listed_shown_and_created_and_a_broken_one_is_named() {
    let bench = TestDir::new();
    bench.write("home/.claude/agents/broken.md", "no head\n");
    let args = ["agents", "new", "tester", "--description", "Writes tests", "--prompt", "Test it."];
    exits(&bench.run(&args), 0);
    let listed = bench.run(&["agents", "list"]);
    exits(&listed, 0);
    for expected in ["explore", "Writes tests", "broken.md"] {
        assert!(out(&listed).contains(expected), "{expected}: {}", out(&listed));
    }
    let shown = bench.run(&["agents", "show", "tester"]);
    assert!(out(&shown).contains("prompt = \"Test it.\""), "{}", out(&shown));
    assert!(out(&bench.run(&["agents", "show", "explore"])).contains("mode = \"plan\""));
}
