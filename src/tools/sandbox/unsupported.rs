//! Replaces `landlock` on systems that are not Linux: there is no such kernel, so nothing of
//! it is available.

use std::path::Path;

use super::profile::Confinement;
use super::rights::{ReadAccess, Rights, WorkAccess};

/// Replaces landlock's `Kernel`. It has no values, as none supports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {}

impl Kernel {
    pub fn detect() -> Option<Kernel> {
        None
    }

    pub fn abi(self) -> i32 {
        match self {}
    }

    pub fn rights(self) -> Rights {
        match self {}
    }
}

/// Replaces landlock's `Layer`. It has no values, as none can be made here.
#[derive(Debug)]
pub(super) enum Layer {}

pub(super) fn read_layer(_access: &ReadAccess<'_>) -> Result<Layer, String> {
    Err("there is no such kernel".to_owned())
}

pub(super) fn work_layer(kernel: Kernel, _access: &WorkAccess<'_>) -> Result<Layer, String> {
    match kernel {}
}

pub(super) fn own_folder_layer(kernel: Kernel, _temp: &Path) -> Result<Layer, String> {
    match kernel {}
}

pub(super) fn restrict(
    _kernel: Kernel,
    _layers: &[&Layer],
    _confinement: Confinement,
) -> Result<(), String> {
    Err("there is no such kernel".to_owned())
}
