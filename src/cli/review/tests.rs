use super::*;
use crate::cli::review_formats::{formatted, github_review, gitlab_note};

const DIFF: &str = "\
diff --git a/src/a.rs b/src/a.rs
index 1..2 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -1,2 +1,3 @@ fn a()
 one
+two
+++ b/not/a/name
@@ -10 +12 @@
-old
+new
diff --git a/old name.txt b/new name.txt
similarity index 90%
rename from old name.txt
rename to new name.txt
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/.env b/.env
--- a/.env
+++ b/.env
@@ -1 +1 @@
+TOKEN=x
";

fn answer(findings: Value) -> String {
    json!({ "findings": findings }).to_string()
}

fn finding(path: &str, line: Value, severity: &str, title: &str, text: &str) -> Value {
    json!({ "path": path, "line": line, "severity": severity, "title": title, "text": text })
}

fn hostile() -> Vec<ReviewFinding> {
    let title = "a,b:c%0A\u{1b}[2J\n::error::x";
    let text = "@all see #1 <b> [x](y)\n/close\n::set-output name=a::b\n    code";
    let all = answer(json!([finding("src/a.rs", json!(2), "high", title, text)]));
    checked_findings(&all, &parse_diff(DIFF)).0
}

#[test]
fn a_difference_is_read_by_its_files_without_those_of_credentials() {
    let files = parse_diff(DIFF);
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["src/a.rs", "new name.txt", "gone.txt"]);
    assert_eq!(files[0].lines, [1..4, 12..13]);
    let request = request(&files);
    assert!(request.contains("+two") && !request.contains("TOKEN"), "{request}");
    assert!(parse_diff("").is_empty() && parse_diff("@@ -1 +1 @@\n+x\n").is_empty());
}

#[test]
fn a_file_whose_difference_is_too_long_is_named_instead() {
    let long =
        format!("diff --git a/long b/long\n--- a/long\n+++ b/long\n{}", "+x\n".repeat(MAX_SENT));
    let request = request(&parse_diff(&(long + DIFF)));
    assert!(request.contains("read these files: long\n"), "it is not");
    assert!(request.len() < MAX_SENT && request.contains("+two"));
}

#[test]
fn a_finding_outside_of_the_change_is_dropped_or_is_about_its_file() {
    let all = answer(json!([
        finding("src/a.rs", json!(9), "low", "beside", "x"),
        finding("./src/a.rs", json!(12), "medium", "inside", "x"),
        finding("b/gone.txt", json!(1), "high", "gone", "x"),
        finding("src/b.rs", json!(1), "high", "elsewhere", "x"),
        finding("../src/a.rs", json!(1), "high", "elsewhere", "x"),
        finding("src/a.rs", json!(-1), "low", "no line", "x"),
        "no finding",
    ]));
    let (findings, dropped) = checked_findings(&all, &parse_diff(DIFF));
    let short: Vec<_> = findings.iter().map(|it| (it.path.as_str(), it.line)).collect();
    let expected =
        [("gone.txt", None), ("src/a.rs", Some(12)), ("src/a.rs", None), ("src/a.rs", None)];
    assert_eq!((short.as_slice(), dropped), (expected.as_slice(), 3));
}

#[test]
fn what_the_model_writes_is_no_command_of_a_log() {
    let github = formatted(ReviewFormat::Github, &hostile());
    assert_eq!(github.lines().count(), 1, "{github}");
    let start = "::error file=src/a.rs,line=2,title=a%2Cb%3Ac%250A";
    assert!(github.starts_with(start) && !github.contains('\u{1b}'), "{github}");
    assert_eq!(github.matches("%0A").count(), 3);
}

#[test]
fn what_the_model_writes_stays_text_in_markdown() {
    let md = formatted(ReviewFormat::Md, &hostile());
    assert!(md.starts_with("**high**: a\\,b\\:\u{2060}c"), "{md}");
    let starts = |start: &str| md.lines().any(|line| line.starts_with(start));
    assert!(!starts("/") && !starts(" ") && !starts("::"), "{md}");
    assert!(
        md.contains("\\@\u{2060}all see \\#\u{2060}1 \\<b\\> \\[x\\]\\(y\\)\\\n\\/close"),
        "{md}"
    );
    let note = gitlab_note(&hostile());
    assert!(note["body"].as_str().unwrap().contains("\\/close"), "{note}");
}

#[test]
fn each_line_of_a_text_is_moved_in() {
    let text = formatted(ReviewFormat::Text, &hostile());
    let outside: Vec<&str> = text.lines().filter(|line| !line.starts_with("    ")).collect();
    assert_eq!(outside.len(), 1, "{text}");
    assert!(outside[0].starts_with("src/a.rs:2: high: a,b:c%0A"), "{text}");
}

#[test]
fn reports_for_other_programs_are_json_with_the_place_of_each_finding() {
    let gitlab: Value = serde_json::from_str(&formatted(ReviewFormat::Gitlab, &hostile())).unwrap();
    assert_eq!(gitlab[0]["severity"], "critical");
    assert_eq!(gitlab[0]["location"], json!({ "path": "src/a.rs", "lines": { "begin": 2 } }));
    assert_eq!(gitlab[0]["fingerprint"].as_str().unwrap().len(), 16);
    let whole = ReviewFinding { path: "ä b.rs".into(), line: None, ..hostile()[0].clone() };
    let sarif: Value =
        serde_json::from_str(&formatted(ReviewFormat::Sarif, std::slice::from_ref(&whole)))
            .unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!((&sarif["version"], &result["level"]), (&json!("2.1.0"), &json!("error")));
    let place = json!({ "artifactLocation": { "uri": "%C3%A4%20b.rs" } });
    assert_eq!(result["locations"][0]["physicalLocation"], place);
    assert!(result["message"]["text"].as_str().unwrap().contains("\\[x\\](y)"), "{result}");
    let review = github_review(&[whole, hostile()[0].clone()]);
    assert_eq!(review["comments"][0]["line"], 2);
    assert_eq!(review["comments"].as_array().unwrap().len(), 1);
    assert!(review["body"].as_str().unwrap().contains("ä b"), "{review}");
}

#[test]
fn the_range_is_never_an_option_of_git() {
    let range = Some("--output=x".to_owned());
    let options = ReviewOptions {
        range,
        staged: false,
        format: ReviewFormat::Text,
        fail_on: None,
        comment: None,
    };
    let args = diff_args(&options);
    assert_eq!(args[args.len() - 3..], ["--end-of-options", "--output=x", "--"]);
}
