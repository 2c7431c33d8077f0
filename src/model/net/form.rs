//! Bodies of type `multipart/form-data`, as uploads need them.

use bytes::Bytes;

use super::http::HttpBody;

/// One field of a form.
#[derive(Clone, Debug)]
pub struct MultipartField {
    pub name: &'static str,
    /// With a name the field is a file.
    pub file_name: Option<String>,
    pub content_type: String,
    pub bytes: Bytes,
}

/// The body of a form with these fields.
pub fn form(fields: &[MultipartField]) -> HttpBody {
    // Random, so that it is in no file.
    let boundary = format!("avocet-{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
    let mut body = Vec::new();
    for field in fields {
        body.extend_from_slice(field.head(&boundary).as_bytes());
        body.extend_from_slice(&field.bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    let content_type = format!("multipart/form-data; boundary={boundary}");
    HttpBody::Bytes { content_type, bytes: body.into() }
}

impl MultipartField {
    fn head(&self, boundary: &str) -> String {
        let file = match &self.file_name {
            Some(name) => format!("; filename=\"{}\"", quotable(name)),
            None => String::new(),
        };
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"{file}\r\nContent-Type: {}\r\n\r\n",
            self.name,
            quotable(&self.content_type),
        )
    }
}

/// Nothing that ends a quote or a line, written as browsers do it.
fn quotable(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_cannot_leave_its_line() {
        let file_name = Some("a\"\r\nX: y.txt".to_owned());
        let (content_type, bytes) = ("text/plain".to_owned(), Bytes::from_static(b"\r\n--x"));
        let field = MultipartField { name: "files[0]", file_name, content_type, bytes };
        let HttpBody::Bytes { content_type, bytes } = form(&[field]) else { panic!() };
        let boundary = content_type.strip_prefix("multipart/form-data; boundary=").unwrap();
        let expected = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"files[0]\"; \
             filename=\"a%22%0D%0AX: y.txt\"\r\nContent-Type: text/plain\r\n\r\n\r\n--x\r\n--{boundary}--\r\n"
        );
        assert_eq!(String::from_utf8_lossy(&bytes), expected);
    }
}
