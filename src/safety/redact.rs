//! Masks secrets in text before it leaves the machine or is kept.
