/// The pages of a list of `len` rows with `size` rows each: the first and one past the last.
pub fn pages(len: usize, size: usize) -> Vec<(usize, usize)> {
    let mut pages = Vec::new();
    let mut from = 0;
    while from + size < len {
        pages.push((from, from + size));
        from += size;
    }
    pages
}

#[cfg(test)]
mod tests {
    #[test]
    fn whole_pages() {
        assert_eq!(super::pages(5, 2)[..2], [(0, 2), (2, 4)]);
    }
}
