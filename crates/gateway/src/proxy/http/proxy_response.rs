//! Responses of the proxy itself.

use std::borrow::Cow;
use std::io;

use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::request::RequestError;
use crate::request::Status;

/// Response without a body, after which the connection ends.
#[derive(Clone, Debug)]
pub struct ProxyResponse {
    status: &'static str,
    fields: Cow<'static, str>,
}

const ASK: &str = "Proxy-Authenticate: Basic realm=\"ropewalk\", charset=\"UTF-8\"\r\n";

impl ProxyResponse {
    pub fn to(error: &RequestError) -> ProxyResponse {
        match error {
            RequestError::Malformed(_) => ProxyResponse::of("400 Bad Request"),
            RequestError::TooLarge => ProxyResponse::of("431 Request Header Fields Too Large"),
            RequestError::Version => ProxyResponse::of("505 HTTP Version Not Supported"),
            RequestError::Scheme | RequestError::Coding => ProxyResponse::of("501 Not Implemented"),
            RequestError::Method(_) => ProxyResponse {
                status: "405 Method Not Allowed",
                fields: "Allow: GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS, CONNECT\r\n".into(),
            },
            RequestError::Password => ProxyResponse {
                status: "407 Proxy Authentication Required",
                fields: ASK.into(),
            },
        }
    }

    /// Returns the response to a failed connection to the target. `unreachable_reason` is the reason why no link
    /// reaches the relay, if that is the cause. The field `Proxy-Status` has the cause (RFC 9209).
    pub fn connect_failed(status: Status, unreachable_reason: Option<&str>) -> ProxyResponse {
        let kind = match (status, unreachable_reason) {
            (_, Some(_)) => "destination_unavailable",
            (Status::NotAllowed, None) => "destination_ip_prohibited",
            (Status::NetworkUnreachable, None) => "destination_ip_unroutable",
            (Status::HostUnreachable, None) => "destination_not_found",
            (Status::Refused, None) => "connection_refused",
            (Status::TimedOut, None) => "connection_timeout",
            (Status::Limit, None) => "connection_limit_reached",
            _ => "proxy_internal_error",
        };
        let text = unreachable_reason.map_or_else(|| status.to_string(), str::to_owned);
        let answer = ProxyResponse::of(match status {
            Status::NotAllowed => "403 Forbidden",
            Status::TimedOut => "504 Gateway Timeout",
            Status::Limit => "503 Service Unavailable",
            _ => "502 Bad Gateway",
        });
        let details = quoted(&text);
        ProxyResponse {
            fields: format!("Proxy-Status: ropewalk; error={kind}; details={details}\r\n").into(),
            ..answer
        }
    }

    pub fn timed_out() -> ProxyResponse {
        ProxyResponse::of("504 Gateway Timeout")
    }

    /// Returns the response after an invalid one of the host, or none.
    pub fn bad_gateway() -> ProxyResponse {
        ProxyResponse::of("502 Bad Gateway")
    }

    pub fn bad_request() -> ProxyResponse {
        ProxyResponse::of("400 Bad Request")
    }

    pub fn done() -> ProxyResponse {
        ProxyResponse::of("200 OK")
    }

    pub fn status(&self) -> &'static str {
        self.status
    }

    pub async fn write(&self, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let ProxyResponse { status, fields } = self;
        let text =
            format!("HTTP/1.1 {status}\r\n{fields}Content-Length: 0\r\nConnection: close\r\n\r\n");
        to.write_all(text.as_bytes()).await
    }

    fn of(status: &'static str) -> ProxyResponse {
        let fields = Cow::Borrowed("");
        ProxyResponse { status, fields }
    }
}

/// Returns a string of structured fields (RFC 9651, section 3.3.3): visible ASCII and spaces.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for byte in text.chars() {
        match byte {
            '"' | '\\' => out.extend(['\\', byte]),
            ' '..='~' => out.push(byte),
            _ => out.push('?'),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxy_status_details_are_a_quoted_string() {
        let cause = "link wi\"fi: \\no\r\nInjected: 1\u{e4}";
        let answer = ProxyResponse::connect_failed(Status::Failed, Some(cause));
        let details = r#"details="link wi\"fi: \\no??Injected: 1?""#;
        let fields =
            format!("Proxy-Status: ropewalk; error=destination_unavailable; {details}\r\n");
        assert_eq!(answer.fields, fields);
        let answer = ProxyResponse::connect_failed(Status::Refused, None);
        assert_eq!(answer.status(), "502 Bad Gateway");
        assert!(
            answer
                .fields
                .contains("error=connection_refused; details=\"connection refused\"")
        );
    }
}
