//! Listening programs, by port.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::net::{TcpSocket, TcpStream};

use ropewalk_preload_protocol::CLIENTS;

use crate::lock::lock;

/// Listening programs, and the clients connected to them.
#[derive(Debug, Default)]
pub struct Servers {
    listening: Mutex<HashMap<u16, Vec<SocketAddr>>>,
    clients: Mutex<HashMap<SocketAddr, SocketAddr>>,
}

/// Connection to a listening program.
#[derive(Debug)]
pub struct ServerConnection {
    /// The gateway's end.
    pub stream: TcpStream,
    /// Keep it while the connection lasts.
    pub entry: ClientEntry,
}

/// Client of a connection, whose address the program can request while this exists.
#[derive(Debug)]
pub struct ClientEntry {
    at: SocketAddr,
    servers: Arc<Servers>,
}

impl Servers {
    /// Directs streams for the port to the program that listens at `at`.
    pub fn listen(&self, port: u16, at: SocketAddr) {
        let mut listening = lock(&self.listening);
        let programs = listening.entry(port).or_default();
        if !programs.contains(&at) {
            programs.push(at);
        }
    }

    /// Whether a program listens on the port.
    pub fn has(&self, port: u16) -> bool {
        lock(&self.listening).contains_key(&port)
    }

    /// Connects to the program that listens on the port, on behalf of a client. A program that no longer
    /// listens is forgotten. Errors: ECONNREFUSED if no program listens, and the errors of socket(2), bind(2)
    /// and connect(2).
    pub async fn connect(
        self: &Arc<Servers>,
        port: u16,
        client: SocketAddr,
    ) -> io::Result<ServerConnection> {
        let programs = lock(&self.listening).get(&port).cloned();
        for program in programs.unwrap_or_default() {
            match self.connect_to(program, client).await {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    self.forget(port, program);
                }
                connected => return connected,
            }
        }
        Err(io::ErrorKind::ConnectionRefused.into())
    }

    /// Returns the client behind this end of a connection to a program.
    pub fn client(&self, at: SocketAddr) -> Option<SocketAddr> {
        lock(&self.clients).get(&at).copied()
    }

    async fn connect_to(
        self: &Arc<Servers>,
        program: SocketAddr,
        client: SocketAddr,
    ) -> io::Result<ServerConnection> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((CLIENTS, 0).into())?;
        let at = socket.local_addr()?;
        // Before the connection exists: the program may accept and ask at once.
        lock(&self.clients).insert(at, client);
        let servers = Arc::clone(self);
        let entry = ClientEntry { at, servers };
        let stream = socket.connect(program).await?;
        stream.set_nodelay(true)?;
        Ok(ServerConnection { stream, entry })
    }

    fn forget(&self, port: u16, program: SocketAddr) {
        let mut listening = lock(&self.listening);
        if let Some(programs) = listening.get_mut(&port) {
            programs.retain(|&at| at != program);
            if programs.is_empty() {
                listening.remove(&port);
            }
        }
    }
}

impl Drop for ClientEntry {
    fn drop(&mut self) {
        lock(&self.servers.clients).remove(&self.at);
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn clients_are_known_while_they_are_connected() {
        let servers = Arc::new(Servers::default());
        let program = TcpListener::bind("127.0.0.1:0").unwrap();
        servers.listen(8000, program.local_addr().unwrap());
        servers.listen(8000, program.local_addr().unwrap());
        let client: SocketAddr = "192.0.2.7:5000".parse().unwrap();
        let connection = servers.connect(8000, client).await.unwrap();
        let (_, at) = program.accept().unwrap();
        assert_eq!(servers.client(at), Some(client));
        drop(connection);
        assert_eq!(servers.client(at), None);
    }

    #[tokio::test]
    async fn programs_that_ended_are_forgotten() {
        let servers = Arc::new(Servers::default());
        let client: SocketAddr = "192.0.2.7:5000".parse().unwrap();
        assert!(servers.connect(8000, client).await.is_err());
        let program = TcpListener::bind("127.0.0.1:0").unwrap();
        servers.listen(8000, program.local_addr().unwrap());
        drop(program);
        assert!(servers.has(8000));
        assert!(servers.connect(8000, client).await.is_err());
        assert!(!servers.has(8000));
        assert!(lock(&servers.clients).is_empty());
    }
}
