//! stub
#[derive(Debug)]
pub struct Guide;
