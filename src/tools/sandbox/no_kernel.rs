//! Stands in for `kernel` on systems that are not Linux: there is no such kernel, so
//! nothing of it can be had.

use std::path::Path;

use super::Strict;
use super::places::Trees;

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

    pub fn holds_signals(self) -> bool {
        match self {}
    }
}

#[derive(Debug)]
pub(super) struct Reading {
    pub trees: Trees,
}

#[derive(Debug)]
pub(super) struct Writing<'a> {
    pub trees: &'a [&'a Path],
    pub strict: Strict,
}

pub(super) fn reading(trees: Trees) -> Result<Reading, String> {
    Ok(Reading { trees })
}

pub(super) fn restrict(
    kernel: Kernel,
    _reading: Option<&Reading>,
    _writing: &Writing<'_>,
) -> Result<(), String> {
    match kernel {}
}
