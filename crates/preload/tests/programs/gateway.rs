//! Test gateway that connects to this machine for every request, and programs under the library that use it.

use std::ffi::OsStr;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use ropewalk_gateway::programs::{
    ClientEntry, Connector, ControlConnection, DatagramChannel, Programs,
};
use ropewalk_gateway::request::{Host, Target};
use ropewalk_preload_protocol::Reason;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

/// Client's address that listening programs see.
pub const CLIENT: &str = "192.0.2.7:5555";

/// Gateway that ends when it is dropped.
pub struct Gateway {
    far: Arc<Far>,
    folder: tempfile::TempDir,
    _runtime: Runtime,
}

/// Connector whose result depends on the requested name.
struct Far {
    programs: Programs,
    requests: Mutex<Vec<String>>,
}

impl Gateway {
    pub fn start() -> Gateway {
        let runtime = Runtime::new().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let _context = runtime.enter();
        let listener = UnixListener::bind(folder.path().join("control")).unwrap();
        let far = Arc::new(Far {
            programs: Programs::new(true).unwrap(),
            requests: Mutex::default(),
        });
        runtime.spawn(serve(far.clone(), listener));
        drop(_context);
        Gateway {
            far,
            folder,
            _runtime: runtime,
        }
    }

    /// Returns the targets that programs requested since the last call.
    pub fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.far.requests.lock().unwrap())
    }

    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("LD_PRELOAD", library());
        command.env("ROPEWALK_EXEC_CONTROL", self.folder.path().join("control"));
        command.env("ROPEWALK_EXEC_DIRECT", "10.77.0.0/16");
        command
    }

    /// Runs Python under the library; it must succeed.
    pub fn python(&self, script: &str, arguments: &[&str]) -> String {
        let mut command = self.command(python());
        output(
            command
                .args(["-c", &format!("{PRELUDE}{script}")])
                .args(arguments),
        )
    }
}

const PRELUDE: &str = "
import asyncio, errno, os, select, signal, socket, subprocess, sys
def code(call, *arguments):
    try:
        call(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]
    return 'OK'
";

async fn serve(far: Arc<Far>, listener: UnixListener) {
    while let Ok((control, _)) = listener.accept().await {
        let far = far.clone();
        tokio::spawn(async move { answer(&far, control).await });
    }
}

async fn answer(far: &Far, control: UnixStream) -> io::Result<()> {
    let mut connection = ControlConnection::new(control);
    let (request, socket) = connection.read().await?;
    far.programs.serve(far, connection, request, socket).await
}

impl Connector for Far {
    type Stream = (TcpStream, Option<ClientEntry>);
    type Datagrams = FarDatagrams;

    async fn open(&self, target: Target) -> Result<Self::Stream, Reason> {
        self.requests.lock().unwrap().push(target.to_string());
        let (host, port) = match target.host {
            Host::Name(name) => (name, target.port),
            Host::Address(_) => (String::new(), target.port),
        };
        let servers = self.programs.servers().unwrap();
        let opened = match host.split('.').next().unwrap() {
            "denied" => return Err(Reason::NotAllowed),
            "nowhere" => return Err(Reason::HostUnreachable),
            "silent" => return Err(Reason::TimedOut),
            "never" => std::future::pending().await,
            "server" => servers
                .connect(port, CLIENT.parse().unwrap())
                .await
                .map(|connection| (connection.stream, Some(connection.entry))),
            name => {
                if name == "slow" {
                    tokio::time::sleep(Duration::from_millis(300)).await;
                }
                TcpStream::connect(("127.0.0.1", port))
                    .await
                    .map(|stream| (stream, None))
            }
        };
        opened.map_err(|_| Reason::ConnectionRefused)
    }

    async fn carry(&self, (mut stream, _entry): Self::Stream, mut program: TcpStream) {
        let _ = copy_bidirectional(&mut stream, &mut program).await;
    }

    async fn own_route(&self, target: &Target) -> Result<Option<SocketAddr>, Reason> {
        match &target.host {
            Host::Name(name) if name == "denied.example" => Err(Reason::NotAllowed),
            Host::Name(name) if name == "near.example" => {
                Ok(Some(([127, 0, 0, 1], target.port).into()))
            }
            _ => Ok(None),
        }
    }

    async fn open_datagrams(&self) -> Result<FarDatagrams, Reason> {
        let (targets, taken) = mpsc::unbounded_channel();
        Ok(FarDatagrams {
            sent: targets,
            taken: tokio::sync::Mutex::new(taken),
        })
    }
}

/// Channel that answers each datagram from its target: `TARGET: PAYLOAD`. For a name, the address is
/// 203.0.113.9. The payload `foreign` is answered from another address first.
pub struct FarDatagrams {
    sent: mpsc::UnboundedSender<(Target, Vec<u8>)>,
    taken: tokio::sync::Mutex<mpsc::UnboundedReceiver<(Target, Vec<u8>)>>,
}

impl DatagramChannel for FarDatagrams {
    async fn send(&self, target: &Target, payload: &[u8]) {
        self.sent.send((target.clone(), payload.to_vec())).unwrap();
    }

    async fn receive(&self, mut each: impl FnMut(SocketAddr, &[u8]) + Send) {
        while let Some((target, payload)) = self.taken.lock().await.recv().await {
            let from = match target.address() {
                Some(address) => address,
                None => ([203, 0, 113, 9], target.port).into(),
            };
            if payload == b"foreign" {
                each(([203, 0, 113, 99], target.port).into(), b"x");
            }
            let mut answer = format!("{target}: ").into_bytes();
            answer.extend(payload);
            each(from, &answer);
        }
    }
}

pub fn library() -> PathBuf {
    built().join("libropewalk_preload.so")
}

/// Returns the folder of the library and of the gateway. Cargo builds neither for a test that cannot be
/// linked to them; so this does, in the profile of the test, unless `make test` has (BUILT).
pub fn built() -> &'static Path {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
        let own = std::env::current_exe().unwrap();
        let folder = own.parent().and_then(Path::parent).unwrap();
        if std::env::var_os("BUILT").is_some() {
            return folder.to_owned();
        }
        let profile = match folder.file_name().and_then(OsStr::to_str) {
            Some("debug") | None => "dev",
            Some(name) => name,
        };
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.args([
            "build",
            "--quiet",
            "--locked",
            "--package",
            "ropewalk-preload",
        ]);
        cargo.args(["--package", "ropewalk-gateway", "--profile", profile]);
        output(cargo.arg("--target-dir").arg(folder.parent().unwrap()));
        folder.to_owned()
    });
    &BUILT
}

pub fn output(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let (stdout, stderr) = (
        String::from_utf8_lossy(&stdout),
        String::from_utf8_lossy(&stderr),
    );
    assert!(status.success(), "{status}: {stdout}\n{stderr}");
    stdout.into_owned()
}

/// Returns the interpreter itself, not a script that finds it.
pub fn python() -> PathBuf {
    let requests = ["-c", "import sys; print(sys.executable)"];
    output(Command::new("python3").args(requests)).trim().into()
}

/// Whether a program is installed; if not, the test is skipped with a message.
pub fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = std::env::split_paths(&path).any(|folder: PathBuf| folder.join(program).is_file());
    if !there {
        eprintln!("skipped: {program} is not installed");
    }
    there
}

/// Folder with a file of the given size, and a server of it on loopback.
pub struct Site {
    pub port: u16,
    pub folder: tempfile::TempDir,
    server: std::process::Child,
}

impl Site {
    pub fn start(size: usize) -> Site {
        let folder = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..size).map(|place| (place * 31 % 251) as u8).collect();
        std::fs::write(folder.path().join("file"), bytes).unwrap();
        let mut command = Command::new(python());
        command.args(["-u", "-m", "http.server", "--bind", "127.0.0.1", "0"]);
        let (server, port) = server(command.current_dir(folder.path()));
        Site {
            port,
            folder,
            server,
        }
    }

    pub fn is_like(&self, file: &Path) -> bool {
        std::fs::read(self.folder.path().join("file")).unwrap() == std::fs::read(file).unwrap()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Starts a server that prints a line with its port, like http.server.
pub fn server(command: &mut Command) -> (std::process::Child, u16) {
    use std::io::{BufRead, BufReader};
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    let mut words = line.split_whitespace().skip_while(|&word| word != "port");
    let port = words.nth(1).and_then(|port| port.parse().ok());
    (child, port.unwrap_or_else(|| panic!("no port in {line:?}")))
}
