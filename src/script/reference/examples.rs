//! The examples of the chapters. `tests/cli/script_help.rs` runs each of them.

/// One example: a script named like its chapter, and those it uses.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceExample {
    pub chapter: &'static str,
    pub files: &'static [(&'static str, &'static str)],
    /// What follows `avocet run CHAPTER`.
    pub args: &'static [&'static str],
    /// What the model replies, call by call.
    pub replies: &'static [&'static str],
    /// What is printed then.
    pub output: &'static str,
}

macro_rules! files {
    ($($name:literal),*) => {
        &[$((
            concat!($name, ".ai.yaml"),
            include_str!(concat!("../../../assets/scripts/examples/", $name, ".ai.yaml")),
        )),*]
    };
}

#[rustfmt::skip]
pub const EXAMPLES: &[ReferenceExample] = &[
    ReferenceExample { chapter: "messages", files: files!("messages"), args: &[],
        replies: &["It is 28.", "It is 22."],
        output: "It is 28.\nIt is 22.\n" },
    ReferenceExample { chapter: "settings", files: files!("settings"), args: &["Hello there"],
        replies: &["{\"grade\": 7, \"why\": \"clear\"}"],
        output: "{\n  \"grade\": 7,\n  \"why\": \"clear\"\n}\n" },
    ReferenceExample { chapter: "templates", files: files!("templates"), args: &["--dry-run"],
        replies: &[],
        output: "user: DOBBY is happy and expects:\n- Harry\n- Ron\n\n" },
    ReferenceExample { chapter: "marks", files: files!("marks"), args: &[],
        replies: &["<f>lemon</f>", "sour"],
        output: "sour\nIn short: sour\n" },
    ReferenceExample { chapter: "directives", files: files!("directives"), args: &[],
        replies: &[],
        output: "Hello Ana, Hello Bo\na few\n" },
    ReferenceExample { chapter: "chains", files: files!("chains"), args: &[],
        replies: &["A joke.", "Une blague."],
        output: "A joke. / Une blague.\n" },
    ReferenceExample { chapter: "inheritance", files: files!("inheritance"), args: &[],
        replies: &["happy"],
        output: "happy\n" },
    ReferenceExample { chapter: "groups", files: files!("groups", "groups-ana", "groups-bo"), args: &[],
        replies: &["Spring.", "Yes."],
        output: "Yes.\n" },
    ReferenceExample { chapter: "tools", files: files!("tools", "tools-weather"), args: &[],
        replies: &["@tools-weather(place=\"Rome\")", "It is sunny."],
        output: "It is sunny.\n" },
    ReferenceExample { chapter: "functions", files: files!("functions"), args: &[],
        replies: &[],
        output: "15\nPAID!\n" },
    ReferenceExample { chapter: "thinking", files: files!("thinking"), args: &[],
        replies: &["<Think>7 times 13 is 91.</Think><Answer>No.</Answer>"],
        output: "{\n  \"content\": \"No.\",\n  \"finishReason\": \"stop\",\n  \"stop\": true,\n  \"thinking\": \"7 times 13 is 91.\",\n  \"_thinking\": \"7 times 13 is 91.\"\n}\n" },
    ReferenceExample { chapter: "limits", files: files!("limits"), args: &[],
        replies: &["A heron waits."],
        output: "1 request\nA heron waits.\n" },
];
