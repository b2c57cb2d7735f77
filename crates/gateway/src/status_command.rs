//! `status`: shows the status of a running gateway.

use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use clap::Args;

use crate::Failure;
use crate::control::{answering, check, default_path};
use crate::foreign_protocol::ForeignProtocol;
use crate::output::printed;
use crate::status::Document;
use crate::status::table::{TableOptions, tables};

const MAX_DOCUMENT: u64 = 16 << 20;

const TIMEOUT: Duration = Duration::from_secs(5);

const STEP: Duration = Duration::from_secs(1);

/// Verbs with a control socket, in the order in which they are tried.
const VERBS: [&str; 4] = ["client", "proxy", "tunnel", "relay"];

/// Show the links and streams of a running gateway as a table, updated every second on a terminal.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: which links are up?
  ropewalk-gateway status --json | jq '.associations[].links[] | {name, state, rtt_ms}'")]
pub struct Arguments {
    /// Control socket of the gateway. Default: the first default socket of client, proxy, tunnel or
    /// relay that answers.
    #[arg(long, value_name = "PATH")]
    control: Option<PathBuf>,
    /// Print one JSON object and nothing else.
    #[arg(long)]
    json: bool,
    /// Print one table and exit, as in a pipe.
    #[arg(long)]
    once: bool,
    /// Print nothing, and exit with status 1 if no data can be carried. Causes: no gateway answers, a
    /// client's tunnel has no session, or no link of a client is up.
    #[arg(long, conflicts_with_all = ["json", "once"])]
    check: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let control = find(arguments.control.as_deref())?;
    let mut out = io::stdout().lock();
    if arguments.json {
        let line = ask(&control)?;
        return printed(out.write_all(line.as_bytes()));
    }
    if arguments.check {
        return match read(&ask(&control)?)?.problem() {
            Some(problem) => Err(Failure::run(problem)),
            None => Ok(()),
        };
    }
    let is_live = out.is_terminal() && !arguments.once;
    loop {
        let document = read(&ask(&control)?)?;
        let (width, height) = size(&out).unzip();
        let options = TableOptions {
            colours: out.is_terminal(),
            width,
        };
        let text = tables(&document, options);
        if !is_live {
            return printed(out.write_all(text.as_bytes()));
        }
        printed(draw(&mut out, &text, height))?;
        sleep(STEP);
    }
}

/// Returns the given socket, or the first default one that answers.
fn find(named: Option<&Path>) -> Result<PathBuf, Failure> {
    check(named)?;
    if let Some(path) = named {
        return Ok(path.to_owned());
    }
    let place = default_path(VERBS[0]);
    match (
        answering(&VERBS),
        place.as_ref().and_then(|path| path.parent()),
    ) {
        (Some(path), _) => Ok(path),
        (None, Some(folder)) => Err(Failure::run(format!(
            "no gateway listens in {}; --control names another's socket",
            folder.display()
        ))),
        (None, None) => Err(Failure::input(
            "--control is required where XDG_RUNTIME_DIR is not set",
        )),
    }
}

/// Draws over the previous output, without flicker.
fn draw(out: &mut impl Write, text: &str, height: Option<usize>) -> io::Result<()> {
    let lines = text.lines().take(height.unwrap_or(usize::MAX).max(2) - 1);
    let drawn: String = lines.map(|line| format!("{line}\x1b[K\n")).collect();
    write!(out, "\x1b[H{drawn}\x1b[J")?;
    out.flush()
}

fn size(out: &io::StdoutLock<'_>) -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(out).ok()?;
    let known = |number: u16| Some(usize::from(number)).filter(|&number| number > 0);
    Some((known(size.ws_col)?, known(size.ws_row)?))
}

/// Returns the gateway's answer, which is a line.
fn ask(control: &Path) -> Result<String, Failure> {
    let answer = || -> io::Result<String> {
        let mut stream = UnixStream::connect(control)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        stream.write_all(b"{\"status\":{}}\n")?;
        let mut line = Vec::new();
        BufReader::new(stream.take(MAX_DOCUMENT)).read_until(b'\n', &mut line)?;
        String::from_utf8(line).map_err(|error| not_a_gateway(error.as_bytes()))
    };
    let answer = answer().and_then(|line| match line.starts_with('{') {
        true => Ok(line),
        false => Err(not_a_gateway(line.as_bytes())),
    });
    answer.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Failure::run(format!(
            "{}: no gateway listens there; --control names another's socket",
            control.display()
        )),
        _ => Failure::run(format!("{}: {error}", control.display())),
    })
}

fn not_a_gateway(answer: &[u8]) -> io::Error {
    let problem = match answer {
        [] => "there is no answer; no gateway listens there".to_owned(),
        first => format!(
            "the answer is not a gateway's: {}",
            ForeignProtocol::of(first)
        ),
    };
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

fn read(line: &str) -> Result<Document, Failure> {
    serde_json::from_str(line)
        .map_err(|error| Failure::run(format!("the gateway's answer is no status: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::examples;
    use std::os::unix::net::UnixListener;

    #[test]
    fn status_request_and_answer_are_one_line_each() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control");
        let listener = UnixListener::bind(&path).unwrap();
        let gateway = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = String::new();
            BufReader::new(stream.try_clone().unwrap())
                .read_line(&mut request)
                .unwrap();
            let answer = serde_json::to_string(&examples::proxy()).unwrap();
            stream.write_all((answer + "\n").as_bytes()).unwrap();
            request
        });
        let document = read(&ask(&path).unwrap()).unwrap();
        assert_eq!(document, examples::proxy());
        assert_eq!(gateway.join().unwrap(), "{\"status\":{}}\n");
    }

    #[test]
    fn missing_gateway_is_reported_with_its_path() {
        let path = Path::new("/nonexistent/control");
        let failure = ask(path).unwrap_err().to_string();
        assert!(failure.contains("no gateway listens there"), "{failure}");
        assert!(read("{}").is_err() && read("").is_err());
    }

    #[test]
    fn answer_of_another_service_is_named() {
        let folder = tempfile::tempdir().unwrap();
        for (answer, expected) in [
            (
                &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
                "is not a gateway's: HTTP",
            ),
            (b"\xff\xfe", "is not a gateway's: it begins with 0xfffe"),
            (b"", "there is no answer"),
        ] {
            let path = folder.path().join(answer.len().to_string());
            let listener = UnixListener::bind(&path).unwrap();
            let service = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = String::new();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                reader.read_line(&mut request).unwrap();
                stream.write_all(answer).unwrap();
            });
            let failure = ask(&path).unwrap_err().to_string();
            service.join().unwrap();
            assert!(failure.contains(expected), "{failure}");
            assert!(failure.contains(path.to_str().unwrap()), "{failure}");
        }
    }

    #[test]
    fn drawing_fits_terminal_and_erases_the_previous_one() {
        let mut out = Vec::new();
        draw(&mut out, "a\nb\nc\n", Some(3)).unwrap();
        assert_eq!(out, b"\x1b[Ha\x1b[K\nb\x1b[K\n\x1b[J");
    }
}
