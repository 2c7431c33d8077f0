//! A server whose certificate is not acceptable, and what the user is told about it.

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

use crate::support::bench::TestDir;

/// A loopback server with one of the certificates of `tests/fixtures/tls`. Signed by nobody:
/// one of 2001, one of 2090, one that is valid until 2099. Signed by `authority`: one for
/// this address and one for another name.
fn server(name: &str) -> String {
    let file = |name: &str| format!("{}/tests/fixtures/tls/{name}.pem", env!("CARGO_MANIFEST_DIR"));
    let certificate = CertificateDer::from_pem_file(file(name)).unwrap();
    let key = PrivateKeyDer::from_pem_file(file("key")).unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = ServerConfig::builder().with_no_client_auth();
    let config = Arc::new(config.with_single_cert(vec![certificate], key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut tls = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = stream.unwrap();
            while tls.is_handshaking() && tls.complete_io(&mut stream).is_ok() {}
        }
    });
    address
}

fn error_for(name: &str) -> String {
    asked(&TestDir::new(), name, &[])
}

fn asked(bench: &TestDir, name: &str, envs: &[(&str, &str)]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_avocet"))
        .args(["--base-url", &server(name), "--model", "m", "-p", "hello"])
        .current_dir(bench.work())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", bench.root.path().join("home"))
        .env("AVOCET_HOME", bench.root.path().join("avocet"))
        .env("LANG", "en_US.UTF-8")
        .envs(envs.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn certificate_expiry_and_a_wrong_clock_differ_from_an_unknown_authority() {
    let expired = error_for("expired");
    assert!(expired.contains("has expired") && expired.contains("clock"), "{expired}");
    let early = error_for("early");
    assert!(early.contains("not valid yet") && early.contains("clock"), "{early}");
    let unknown = error_for("unknown");
    assert!(unknown.contains("is not trusted") && !unknown.contains("clock"), "{unknown}");
}

#[test]
fn a_certificate_name_mismatch_differs_from_an_untrusted_certificate() {
    let authority = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tls/authority.pem");
    let trusted = [("SSL_CERT_FILE", authority)];
    let other = asked(&TestDir::new(), "other", &trusted);
    assert!(
        other.contains("is for another name") && !other.contains("certificate is not trusted"),
        "{other}"
    );
    let untrusted = error_for("other");
    assert!(untrusted.contains("certificate is not trusted"), "{untrusted}");
    // Where name and authority are right, it is what comes behind the handshake that fails.
    let good = asked(&TestDir::new(), "good", &trusted);
    assert!(!good.contains("certificate"), "{good}");
}
