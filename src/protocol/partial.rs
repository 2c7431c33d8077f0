//! Takes the growing `message` out of a reply whose JSON is not finished yet.
