//! Responses of the proxy itself.

use std::io;

use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::request::RequestError;
use crate::request::Status;

/// A response without a body, after which the connection ends.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    status: &'static str,
    fields: &'static str,
}

/// Asks for a password.
const ASK: &str = "Proxy-Authenticate: Basic realm=\"ropewalk\", charset=\"UTF-8\"\r\n";

impl Answer {
    /// The response to a request that is refused.
    #[must_use]
    pub fn to(error: &RequestError) -> Answer {
        match error {
            RequestError::Malformed(_) => Answer::of("400 Bad Request"),
            RequestError::TooLarge => Answer::of("431 Request Header Fields Too Large"),
            RequestError::Version => Answer::of("505 HTTP Version Not Supported"),
            RequestError::Scheme | RequestError::Coding => Answer::of("501 Not Implemented"),
            RequestError::Method(_) => Answer {
                status: "405 Method Not Allowed",
                fields: "Allow: GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS, CONNECT\r\n",
            },
            RequestError::Password => Answer {
                status: "407 Proxy Authentication Required",
                fields: ASK,
            },
        }
    }

    /// The response if the target could not be connected.
    #[must_use]
    pub fn unopened(status: Status) -> Answer {
        match status {
            Status::NotAllowed => Answer::of("403 Forbidden"),
            Status::TimedOut => Answer::timed_out(),
            Status::Limit => Answer::of("503 Service Unavailable"),
            _ => Answer::bad_gateway(),
        }
    }

    /// The host did not respond in time.
    #[must_use]
    pub fn timed_out() -> Answer {
        Answer::of("504 Gateway Timeout")
    }

    /// The host sent an invalid response, or none.
    #[must_use]
    pub fn bad_gateway() -> Answer {
        Answer::of("502 Bad Gateway")
    }

    /// The body of the request is malformed.
    #[must_use]
    pub fn bad_request() -> Answer {
        Answer::of("400 Bad Request")
    }

    /// Success, without content.
    #[must_use]
    pub fn done() -> Answer {
        Answer::of("200 OK")
    }

    /// Status code and reason.
    #[must_use]
    pub fn status(&self) -> &'static str {
        self.status
    }

    /// Writes it.
    ///
    /// # Errors
    /// The connection failed.
    pub async fn write(&self, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let Answer { status, fields } = self;
        let text =
            format!("HTTP/1.1 {status}\r\n{fields}Content-Length: 0\r\nConnection: close\r\n\r\n");
        to.write_all(text.as_bytes()).await
    }

    fn of(status: &'static str) -> Answer {
        Answer { status, fields: "" }
    }
}
