//! Replaces `kernel` on systems that are not Linux: there is no such kernel, so nothing of
//! it is available.

use std::path::{Path, PathBuf};

use super::Strict;
use super::rights::Rights;

/// Has no values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {}

impl Kernel {
    pub fn ask() -> Option<Kernel> {
        None
    }

    pub fn abi(self) -> i32 {
        match self {}
    }

    pub fn rights(self) -> Rights {
        match self {}
    }
}

/// Has no values either.
#[derive(Debug)]
pub(super) enum Layer {}

#[derive(Debug)]
pub(super) struct Reading<'a> {
    pub read: &'a [PathBuf],
    pub list: &'a [PathBuf],
    pub run: &'a [PathBuf],
}

#[derive(Debug)]
pub(super) struct Working<'a> {
    pub read: &'a [PathBuf],
    pub write: &'a [PathBuf],
    pub network: bool,
}

pub(super) fn reading(_reading: &Reading<'_>) -> Result<Layer, String> {
    Err("there is no such kernel".to_owned())
}

pub(super) fn working(kernel: Kernel, _working: &Working<'_>) -> Result<Layer, String> {
    match kernel {}
}

pub(super) fn own_folder(kernel: Kernel, _temp: &Path) -> Result<Layer, String> {
    match kernel {}
}

pub(super) fn restrict(_kernel: Kernel, _layers: &[&Layer], _strict: Strict) -> Result<(), String> {
    Err("there is no such kernel".to_owned())
}
