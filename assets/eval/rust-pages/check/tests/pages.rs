#[test]
fn the_last_page_is_there() {
    assert_eq!(pages::pages(5, 2), [(0, 2), (2, 4), (4, 5)]);
    assert_eq!(pages::pages(4, 2), [(0, 2), (2, 4)]);
    assert!(pages::pages(0, 2).is_empty());
}
