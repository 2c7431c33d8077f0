//! A machine for the policy: it has every program, every path is a folder, and it has only the
//! files it is given. A file that includes it imports the types of `safety` first, since the
//! crate's own tests have another path for them than outside tests.

#![allow(dead_code, reason = "tests use what they need")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Contents, Machine, PathKind, Program, digest};

#[derive(Debug, Default)]
pub struct TestMachine {
    pub files: BTreeMap<PathBuf, String>,
}

impl TestMachine {
    pub const EMPTY: TestMachine = TestMachine { files: BTreeMap::new() };
}

impl Machine for TestMachine {
    fn resolve(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }

    fn kind(&self, _: &Path) -> PathKind {
        PathKind::Folder
    }

    fn program(&self, name: &str) -> Option<Program> {
        let path = Path::new("/usr/bin").join(name);
        (!name.contains('/')).then_some(Program {
            path,
            device: 1,
            inode: 1,
            modified: 0,
            link: None,
        })
    }

    fn read(&self, path: &Path, _: usize) -> Contents {
        let file = self.files.get(path);
        file.map_or(Contents::Missing, |text| Contents::Bytes(text.clone().into_bytes()))
    }

    /// The model has read all there is.
    fn last_known_digest(&self, path: &Path) -> Option<String> {
        self.files.get(path).map(|text| digest(text.as_bytes()))
    }
}
