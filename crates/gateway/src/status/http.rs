//! Status over HTTP on a loopback port: the page, the document, the metrics.
//!
//! The server reads each request completely, within limits of size and time, answers it, and closes the
//! connection (RFC 9112 with `Connection: close`). Pages of other sites must not read the status: `Host` must
//! name a loopback address, so that DNS rebinding fails, and no header permits other origins.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::{Meter, metrics};
use crate::sockets;

const MAX_REQUEST: usize = 8 * 1024;

/// Maximum number of concurrent connections; further ones wait in the kernel's queue.
const MAX_CONNECTIONS: usize = 16;

const TIMEOUT: Duration = Duration::from_secs(5);

/// Browsers may show this page with its own script and style, and fetch from here.
const HEADERS: &str = "\
Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; \
connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
Cross-Origin-Opener-Policy: same-origin\r\n\
Cross-Origin-Resource-Policy: same-origin\r\n\
X-Content-Type-Options: nosniff\r\n\
Referrer-Policy: no-referrer\r\n\
Cache-Control: no-store\r\n\
Connection: close\r\n";

/// Opens the port. Only loopback addresses are accepted, so that only users of this machine can read.
pub fn listen(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    if !address.ip().is_loopback() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{address} is not a loopback address, such as 127.0.0.1:9090"),
        ));
    }
    sockets::listen(address)
}

pub async fn serve(listener: TcpListener, meter: Arc<Meter>) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(permit) = room.clone().acquire_owned().await else {
            return;
        };
        let (stream, _) = sockets::accept(|| listener.accept()).await;
        let meter = meter.clone();
        tokio::spawn(async move {
            let _ = converse(stream, &meter).await;
            drop(permit);
        });
    }
}

async fn converse(mut stream: TcpStream, meter: &Meter) -> io::Result<()> {
    let mut request = Vec::new();
    let answer = match timeout(TIMEOUT, read_request(&mut stream, &mut request)).await {
        Ok(read) => match read? {
            Some(()) => answer(&request, meter),
            None => return Ok(()),
        },
        Err(_) => StatusResponse::error("408 Request Timeout"),
    };
    timeout(TIMEOUT, async {
        stream.write_all(&answer.bytes()).await?;
        stream.shutdown().await
    })
    .await
    .unwrap_or(Ok(()))
}

/// Reads up to the empty line, or up to the size limit. `None` if the connection ended before.
async fn read_request(stream: &mut TcpStream, request: &mut Vec<u8>) -> io::Result<Option<()>> {
    let mut piece = [0; 1024];
    loop {
        let length = stream.read(&mut piece).await?;
        if length == 0 {
            return Ok(None);
        }
        request.extend_from_slice(&piece[..length]);
        let whole = request.windows(4).any(|bytes| bytes == b"\r\n\r\n");
        if whole || request.len() > MAX_REQUEST {
            return Ok(Some(()));
        }
    }
}

struct StatusResponse {
    status: &'static str,
    content_type: &'static str,
    body: Vec<u8>,
    with_body: bool,
}

impl StatusResponse {
    fn new(content_type: &'static str, body: impl Into<Vec<u8>>) -> StatusResponse {
        StatusResponse {
            status: "200 OK",
            content_type,
            body: body.into(),
            with_body: true,
        }
    }

    fn json(value: &impl serde::Serialize) -> StatusResponse {
        match serde_json::to_vec(value) {
            Ok(body) => StatusResponse::new("application/json", body),
            Err(_) => StatusResponse::error("500 Internal Server Error"),
        }
    }

    fn error(status: &'static str) -> StatusResponse {
        StatusResponse {
            status,
            ..StatusResponse::new("text/plain; charset=utf-8", format!("{status}\n"))
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let (status, content_type, length) = (self.status, self.content_type, self.body.len());
        let mut bytes = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\n\
             Content-Length: {length}\r\n{HEADERS}\r\n"
        )
        .into_bytes();
        if self.with_body {
            bytes.extend_from_slice(&self.body);
        }
        bytes
    }
}

#[cfg(any(test, fuzzing))]
pub(crate) fn status_of(request: &[u8], meter: &Meter) -> &'static str {
    let answer = answer(request, meter);
    assert!(answer.bytes().starts_with(b"HTTP/1.1 "));
    answer.status
}

fn answer(request: &[u8], meter: &Meter) -> StatusResponse {
    let Ok(request) = StatusRequest::parse(request) else {
        return StatusResponse::error("400 Bad Request");
    };
    if !request.host.is_some_and(is_loopback) {
        return StatusResponse::error("421 Misdirected Request");
    }
    if request.from_elsewhere {
        return StatusResponse::error("403 Forbidden");
    }
    if request.method != "GET" && request.method != "HEAD" {
        return StatusResponse::error("405 Method Not Allowed");
    }
    let found = match request.path {
        "/" => StatusResponse::new("text/html; charset=utf-8", include_str!("page/page.html")),
        "/page.css" => {
            StatusResponse::new("text/css; charset=utf-8", include_str!("page/page.css"))
        }
        "/page.js" => StatusResponse::new(
            "text/javascript; charset=utf-8",
            include_str!("page/page.js"),
        ),
        "/status.json" => StatusResponse::json(&meter.document()),
        "/history.json" => StatusResponse::json(&meter.recorded()),
        "/metrics" => StatusResponse::new(
            metrics::CONTENT_TYPE,
            metrics::exposition(&meter.document()),
        ),
        _ => StatusResponse::error("404 Not Found"),
    };
    StatusResponse {
        with_body: request.method == "GET",
        ..found
    }
}

struct StatusRequest<'a> {
    method: &'a str,
    path: &'a str,
    host: Option<&'a str>,
    /// The browser reports a request from a page of another site.
    from_elsewhere: bool,
}

struct MalformedRequest;

impl<'a> StatusRequest<'a> {
    /// Parses the request line and the relevant headers.
    fn parse(bytes: &'a [u8]) -> Result<StatusRequest<'a>, MalformedRequest> {
        let text = str::from_utf8(bytes).map_err(|_| MalformedRequest)?;
        let (head, _) = text.split_once("\r\n\r\n").ok_or(MalformedRequest)?;
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target), Some("HTTP/1.0" | "HTTP/1.1"), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(MalformedRequest);
        };
        let path = target.split('?').next().unwrap_or_default();
        let mut request = StatusRequest {
            method,
            path,
            host: None,
            from_elsewhere: false,
        };
        for line in lines {
            let (name, value) = line.split_once(':').ok_or(MalformedRequest)?;
            let value = value.trim_matches([' ', '\t']);
            if name.eq_ignore_ascii_case("host") && request.host.replace(value).is_some() {
                return Err(MalformedRequest);
            }
            if name.eq_ignore_ascii_case("sec-fetch-site") {
                request.from_elsewhere |= !matches!(value, "same-origin" | "none");
            }
        }
        Ok(request)
    }
}

/// Whether a `Host` is a loopback name or address, with any port, since a port may be forwarded.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => {
            if port.parse::<u16>().is_err() {
                return false;
            }
            name
        }
        _ => host,
    };
    let address = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'))
        .unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || address
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests;
