//! Tests addresses, hosts and redirects.

use super::*;

fn task(url: &str) -> FetchTask {
    FetchTask {
        url: parse_address(url).unwrap(),
        from: 0,
        private_hosts: vec!["box.test".into()],
        allowed_hosts: vec!["docs.test".into(), "docs.test:8443".into()],
    }
}

/// The bytes of an address as it is written.
fn octets(host: &str) -> Vec<u8> {
    literal_octets(&Url::parse(&format!("https://{host}/")).unwrap()).unwrap()
}

#[test]
fn only_addresses_of_the_public_internet_are_public() {
    for host in [
        "1.1.1.1",
        "93.184.215.14",
        "172.15.0.1",
        "172.32.0.1",
        "100.63.0.1",
        "198.20.0.1",
        "[2606:4700::1111]",
        "[2a00:1450::1]",
        "[::ffff:1.1.1.1]",
        "[64:ff9b::101:101]",
    ] {
        assert!(is_public(&octets(host)), "{host}");
    }
    for host in [
        "127.0.0.1",
        "127.9.9.9",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "2130706433",
        "0x7f.1",
        "017700000001",
        "localhost",
        "a.localhost",
        "localhost.",
        "[::]",
        "[::1]",
        "[fe80::1]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "[ff02::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:a9fe:a9fe]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[2001:db8::1]",
        "[2001::1]",
    ] {
        assert!(!is_public(&octets(host)), "{host}");
        assert!(
            task("https://a.test")
                .check_host(&Url::parse(&format!("https://{host}")).unwrap())
                .is_err()
        );
    }
    assert!(!is_public(&[1, 1, 1]));
}

#[test]
fn an_address_without_a_scheme_is_meant_as_https() {
    for (text, url) in [
        ("docs.rs/serde", "https://docs.rs/serde"),
        (" http://a.test/x#part ", "http://a.test/x"),
        ("HTTPS://A.Test:443", "https://a.test/"),
        ("https://mañana.test", "https://xn--maana-pta.test/"),
    ] {
        assert_eq!(parse_address(text).unwrap().as_str(), url);
    }
    for text in ["", "file:///etc/passwd", "ftp://a.test", "javascript://a", "https://", "a b"] {
        assert!(parse_address(text).is_err(), "{text}");
    }
}

#[test]
fn a_private_host_is_read_only_if_the_user_names_it() {
    let task = task("https://a.test");
    let url = |text: &str| Url::parse(text).unwrap();
    assert!(task.may_reach(&url("http://box.test/"), &[10, 0, 0, 1]));
    assert!(task.may_reach(&url("http://box.test:81/"), &[10, 0, 0, 1]));
    assert!(!task.may_reach(&url("http://other.test/"), &[10, 0, 0, 1]));
    assert!(task.may_reach(&url("http://other.test/"), &[1, 1, 1, 1]));
}

#[test]
fn a_redirect_stays_on_its_host_or_goes_to_one_that_is_allowed() {
    let from = Url::parse("https://a.test/x/y").unwrap();
    let follow = |to: &str| task("https://a.test").follow(&from, to);
    for (to, url) in [
        ("z", "https://a.test/x/z"),
        ("/z#a", "https://a.test/z"),
        ("//docs.test/", "https://docs.test/"),
        ("https://u:p@docs.test:8443/", "https://docs.test:8443/"),
    ] {
        assert_eq!(follow(to).unwrap().as_str(), url);
    }
    for (to, key) in [
        ("https://evil.test/?a", "web.OTHER_HOST"),
        ("https://a.test:8443/", "web.OTHER_HOST"),
        ("https://a.test.evil.test/", "web.OTHER_HOST"),
        ("https://127.0.0.1/", "web.OTHER_HOST"),
        ("http://a.test/", "web.DOWNGRADES"),
        ("file:///etc/passwd", "web.SCHEME_WRONG"),
        ("https://", "web.ADDRESS_WRONG"),
    ] {
        assert_eq!(follow(to).unwrap_err().phrase().key, key, "{to}");
    }
    let plain = Url::parse("http://a.test/").unwrap();
    assert!(task("http://a.test").follow(&plain, "https://a.test/").is_ok());
}
