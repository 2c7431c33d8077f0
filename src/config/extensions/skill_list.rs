//! The list of all skills, and the part of it in the system prompt (002 §2.3): the name, when the
//! skill is useful, and example requests. The model chooses; there are no keywords.
//!
//! The list for the model is limited in bytes. Over the limit, examples go first, then ends of
//! descriptions, then names; omissions are reported, to the model as well.

use std::path::Path;

use super::{ExtensionFileKind, Maker, Owner, SearchDir, Skill, scan, skill};
use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::OmittedSkills;
use avocet_core::text::{cut, one_line};

/// Largest list of skills for the model, in bytes.
pub const BUDGET: usize = 8 * 1024;
/// Number of examples of one skill in the model's list.
const EXAMPLES: usize = 3;
/// The shortest and the longest length to which all descriptions are cut when they do not fit.
const SHORT: std::ops::Range<usize> = 16..1024;
/// Number of omitted skills that are listed by name for the user.
const NAMED: usize = 12;
/// Bytes reserved for the sentence about omissions.
const TAIL: usize = 120;

/// The skills of a session, each name once, in order of precedence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkillsContext {
    skills: Vec<Skill>,
}

/// A file that is not a skill, and why.
pub type InvalidSkill = (std::path::PathBuf, LocalizedText);

impl SkillsContext {
    /// Adds a skill; false if the name is taken, in which case nothing changes.
    pub fn register(&mut self, skill: Skill) -> bool {
        let free = self.find(&skill.name).is_none();
        if free {
            self.skills.push(skill);
        }
        free
    }

    /// Adds every skill below a folder of the user's; files that could not be read are returned
    /// with the reason.
    pub fn load_from_directory(&mut self, folder: &Path) -> Vec<InvalidSkill> {
        let owner = Owner { maker: Maker::Avocet, project: false };
        let dir = SearchDir {
            folder: folder.to_owned(),
            kind: ExtensionFileKind::Skill,
            owner,
            link_targets: Vec::new(),
        };
        let look = scan::scan_folder(&dir);
        let mut refused: Vec<InvalidSkill> =
            look.refused.into_iter().map(|(found, why)| (found.path, why)).collect();
        for found in look.files {
            match skill::read(&found.path, owner) {
                Ok((skill, _)) => {
                    self.register(skill);
                }
                Err(why) => refused.push((found.path, why)),
            }
        }
        refused
    }

    pub fn find(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.name == name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter()
    }

    pub fn len(&self) -> usize {
        self.skills.len()
    }

    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// One line for each skill, for the system prompt, in at most `budget` bytes; empty if there is
    /// none the model may enter.
    pub fn skills_prompt(&self, budget: usize) -> String {
        self.fit_list(budget).text
    }

    /// The skills that the model's list omits or shortens.
    pub fn omitted(&self, budget: usize) -> OmittedSkills {
        let FittedList { shown, form, .. } = self.fit_list(budget);
        let told = self.enterable();
        let out = told.get(shown..).unwrap_or_default();
        OmittedSkills {
            of: told.len(),
            count: out.len(),
            names: out.iter().take(NAMED).map(|skill| skill.name.clone()).collect(),
            cut: form != ListForm::Whole,
            names_only: form == ListForm::Names,
            most: budget,
        }
    }

    /// The skills the model may enter.
    fn enterable(&self) -> Vec<&Skill> {
        self.skills.iter().filter(|skill| !skill.disable_model_invocation).collect()
    }

    fn fit_list(&self, budget: usize) -> FittedList {
        let told = self.enterable();
        let list = |entry: &dyn Fn(&Skill) -> String| {
            let lines: Vec<String> = told.iter().map(|skill| entry(skill)).collect();
            let size: usize = lines.iter().map(|line| line.len() + 1).sum();
            (size <= budget.saturating_add(1)).then(|| lines.join("\n"))
        };
        if let Some(whole) = list(&entry_with_examples) {
            return FittedList { text: whole, shown: told.len(), form: ListForm::Whole };
        }
        // All descriptions are shortened to the same length, the longest that fits.
        let lengths: Vec<usize> = SHORT.collect();
        let cut_to =
            |length: usize| list(&|skill: &Skill| entry_with_short_description(skill, length));
        let fitting = lengths.partition_point(|length| cut_to(*length).is_some());
        let longest = fitting.checked_sub(1).and_then(|at| lengths.get(at).copied());
        let shortened = list(&entry_with_description).or_else(|| longest.and_then(cut_to));
        if let Some(text) = shortened {
            return FittedList { text, shown: told.len(), form: ListForm::Cut };
        }
        let (text, shown) = list(&entry_with_name)
            .map_or_else(|| names_that_fit(&told, budget), |text| (text, told.len()));
        FittedList { text, shown, form: ListForm::Names }
    }
}

/// The list for the model.
struct FittedList {
    text: String,
    /// The number of skills it names.
    shown: usize,
    form: ListForm,
}

/// How much the list says of each skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListForm {
    Whole,
    /// Examples are left out, and descriptions may be cut.
    Cut,
    Names,
}

/// As many names as fit.
fn names_that_fit(skills: &[&Skill], budget: usize) -> (String, usize) {
    let room = budget.saturating_sub(TAIL);
    let mut out = String::new();
    let mut shown = 0;

    for skill in skills {
        let line = entry_with_name(skill);
        if out.len() + line.len() + 1 > room {
            break;
        }
        out += &line;
        out.push('\n');
        shown += 1;
    }
    let tail = format!(
        "({} more skills are left out here for want of room; the user can list and enter them.)",
        skills.len() - shown
    );
    if out.len() + tail.len() <= budget { (out + &tail, shown) } else { (String::new(), 0) }
}

fn entry_with_examples(skill: &Skill) -> String {
    let examples: Vec<String> = skill
        .examples
        .iter()
        .take(EXAMPLES)
        .map(|text| format!("\"{}\"", one_line(text)))
        .collect();
    if examples.is_empty() {
        entry_with_description(skill)
    } else {
        format!("{} Examples: {}", entry_with_description(skill), examples.join(", "))
    }
}

fn entry_with_description(skill: &Skill) -> String {
    format!("- {}: {}", skill.name, skill.description)
}

fn entry_with_short_description(skill: &Skill, length: usize) -> String {
    format!("- {}: {}", skill.name, cut(&skill.description, length))
}

fn entry_with_name(skill: &Skill) -> String {
    format!("- {}", skill.name)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::extensions::skill::UnusedMetadata;
    use avocet_core::i18n::Lang;

    fn skill(name: &str, description: &str, examples: &[&str]) -> Skill {
        Skill {
            name: name.into(),
            description: description.into(),
            examples: examples.iter().map(|text| (*text).to_owned()).collect(),
            allowed_tools: Vec::new(),
            argument_hint: String::new(),
            traits: avocet_core::protocol::CommandTraits::default(),
            disable_model_invocation: false,
            unused: UnusedMetadata::default(),
            file: "/x/SKILL.md".into(),
            owner: Owner { maker: Maker::Avocet, project: false },
        }
    }

    fn many(count: usize) -> SkillsContext {
        let mut context = SkillsContext::default();
        for number in 0..count {
            let about = format!(
                "This skill should be used when number {number} is wanted. {}",
                "x".repeat(200)
            );
            assert!(context.register(skill(&format!("skill-{number}"), &about, &["do it", "now"])));
        }
        context
    }

    #[test]
    fn the_prompt_has_name_description_and_examples() {
        let mut context = SkillsContext::default();
        context.register(skill(
            "test",
            "This skill should be used when tests are run.",
            &["Run the tests", "a", "b", "c"],
        ));
        context.register(skill("bare", "Bare.", &[]));
        let secret = Skill { disable_model_invocation: true, ..skill("deploy", "Deploys.", &[]) };
        context.register(secret);
        assert_eq!(
            context.skills_prompt(BUDGET),
            "- test: This skill should be used when tests are run. Examples: \"Run the tests\", \"a\", \"b\"\n- bare: Bare."
        );
        assert_eq!(SkillsContext::default().skills_prompt(BUDGET), "");
    }

    #[test]
    fn a_name_is_registered_once() {
        let mut context = SkillsContext::default();
        assert!(context.register(skill("a", "first", &[])));
        assert!(!context.register(skill("a", "second", &[])));
        assert_eq!(context.find("a").unwrap().description, "first");
    }

    #[test]
    fn over_budget_the_list_drops_examples_then_descriptions_then_names() {
        let of = |count| many(count).skills_prompt(BUDGET);
        assert!(of(10).contains("Examples:"));
        assert!(of(30).contains("xxx") && !of(30).contains("Examples:"));
        assert!(of(70).contains("…") && of(70).contains("- skill-69:"));
        assert!(of(400).contains("- skill-399") && !of(400).contains("This skill"));
        let huge = of(5_000);
        assert!(
            huge.ends_with(
                "more skills are left out here for want of room; the user can list and enter them.)"
            ),
            "{huge}"
        );
        for count in [0, 1, 10, 30, 31, 70, 400, 700, 5_000] {
            let context = many(count);
            for budget in [0, 50, 200, 1_000, BUDGET] {
                let (prompt, untold) = (context.skills_prompt(budget), context.omitted(budget));
                assert!(prompt.len() <= budget, "{count} {budget}: {}", prompt.len());
                // Omitted skills are counted, and the first of them named.
                let listed = prompt.lines().filter(|line| line.starts_with("- ")).count();
                assert_eq!((listed, untold.of), (count - untold.count, count));
                let first = untold.names.first().cloned();
                assert_eq!(first, (listed < count).then(|| format!("skill-{listed}")));
                if listed > 0 && untold.count > 0 {
                    assert!(prompt.contains(&format!("({} more skills", untold.count)), "{prompt}");
                }
            }
        }
        assert!(many(30).omitted(BUDGET).cut && !many(10).omitted(BUDGET).cut);
        let names_only = |count| many(count).omitted(BUDGET).names_only;
        assert!(!names_only(70) && names_only(400) && names_only(5_000));
    }

    #[test]
    fn descriptions_that_do_not_fit_are_all_cut_to_the_same_length_that_fills_the_list() {
        let list = many(134).skills_prompt(BUDGET);
        let shown: Vec<usize> =
            list.lines().map(|line| line.split_once(": ").unwrap().1.chars().count()).collect();
        assert_eq!(shown.len(), 134);
        // A cut at a space is one character shorter.
        assert!(shown.iter().all(|length| length.abs_diff(shown[0]) <= 1), "{shown:?}");
        assert!(shown[0] > 30, "{shown:?}");
        assert!(list.len() > BUDGET * 9 / 10, "{}", list.len());
    }

    #[test]
    fn a_folder_is_loaded_whole_and_files_that_are_not_skills_are_named() {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("good", "---\nname: good\ndescription: This skill should be used when it is.\n---\n"),
            ("bad", "front matter is missing"),
        ] {
            fs::create_dir_all(root.path().join(name)).unwrap();
            fs::write(root.path().join(name).join("SKILL.md"), text).unwrap();
        }
        let mut context = SkillsContext::default();
        let refused = context.load_from_directory(root.path());
        assert_eq!((context.len(), refused.len()), (1, 1));
        assert!(refused[0].1.text(Lang::En).contains("bad"), "{refused:?}");
        assert!(context.load_from_directory(&root.path().join("none")).is_empty());
    }
}
