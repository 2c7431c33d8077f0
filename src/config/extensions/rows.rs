//! Lists the files of a kind, as a page and the command line show them.

use avocet_core::i18n::{Localize, PhraseValue, library as w};
use avocet_core::protocol::PageRow;

use super::{
    ExtensionFileKind, ExtensionLibrary, ExtensionSource, LoadState, LoadedFile, Owner, agent,
};

impl ExtensionLibrary {
    /// All files of a kind: those in use, by origin, then the others.
    pub fn rows(&self, kind: ExtensionFileKind) -> Vec<PageRow> {
        let files = || self.files.iter().filter(move |file| file.kind == kind);
        let mut rows = Vec::new();
        let mut owners: Vec<Owner> = Vec::new();
        for file in files().filter(|file| is_used(file)) {
            if !owners.contains(&file.owner) {
                owners.push(file.owner);
            }
        }
        for owner in owners {
            rows.push(PageRow::heading(owner.localized()));
            for file in files().filter(|file| is_used(file) && file.owner == owner) {
                rows.push(PageRow::pair(file.name.as_str(), self.about(file)));
                if let LoadState::Loaded { remarks } = &file.state {
                    rows.extend(remarks.iter().map(|remark| PageRow::pair("", remark.clone())));
                }
            }
        }
        let files: Vec<&LoadedFile> = files().filter(|file| !is_used(file)).collect();
        if !files.is_empty() {
            rows.push(PageRow::heading(w::NOT_USED));
            rows.extend(files.into_iter().map(state_row));
        }
        rows.extend(self.cut.iter().map(|cut| PageRow::line(cut.clone())));
        if rows.is_empty() {
            let folder = self.user_folder(kind).display().to_string();
            rows.push(PageRow::line(w::NONE_AT_ALL.with("folder", folder)));
        }
        rows.extend(self.places().untrusted_note.clone().map(PageRow::line));
        rows
    }

    /// What a file says of itself; empty for one that is not used.
    pub fn about(&self, file: &LoadedFile) -> PhraseValue {
        let name = file.name.as_str();
        if file.kind == ExtensionFileKind::Agent && file.owner.maker == ExtensionSource::BuiltIn {
            let built_in = agent::BUILT_IN.iter().find(|(known, ..)| *known == name);
            return built_in.map_or(PhraseValue::from(""), |(.., about)| (*about).into());
        }
        let text = match file.kind {
            ExtensionFileKind::Agent => self.agent(name).map(|agent| agent.description.clone()),
            ExtensionFileKind::Bot => self.bot(name).map(|bot| bot.description.clone()),
            ExtensionFileKind::Command => {
                self.command(name).map(|command| command.description.clone())
            }
            ExtensionFileKind::Skill => self.skill(name).map(|skill| skill.description.clone()),
        };
        text.unwrap_or_default().into()
    }
}

fn is_used(file: &LoadedFile) -> bool {
    matches!(file.state, LoadState::Loaded { .. })
}

/// An error names its file itself.
fn state_row(file: &LoadedFile) -> PageRow {
    match &file.state {
        LoadState::Refused { because } => PageRow::pair(file.name.as_str(), because.clone()),
        LoadState::Loaded { .. } | LoadState::Shadowed { .. } => {
            let state = w::STATE_OF.with("state", file.state.localized());
            let path = file.path.display().to_string();
            PageRow::pair(file.name.as_str(), state.with("file", path))
        }
    }
}
