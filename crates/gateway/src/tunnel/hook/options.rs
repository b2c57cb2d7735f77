//! Options of a hook, and the environment variables that they set.

use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{self, PathBuf};

use clap::{Args, ValueEnum};

use super::Hook;
use super::link_interface::interface_of;
use crate::Failure;
use crate::links::Egress;
use crate::option_parsers;
use crate::prefix::Prefix;
use crate::target_rules::Rule;
use crate::tunnel::firewall::{
    ClientMarks, Firewall, Interception, KillSwitch, PortForward, check_forwards,
};

const EXECUTABLE: u32 = 0o111;
const MAX_TABLE: u32 = u32::MAX - 1;
/// The two marks after it are the client's, too.
const MAX_MARK: i64 = u32::MAX as i64 - 2;

/// The hook, and its parameters besides the tunnel's own options.
#[derive(Clone, Debug, Args)]
pub(crate) struct HookOptions {
    #[command(flatten)]
    pub(crate) program: HookProgram,
    /// Hook of a client: route all traffic into the device once the relay has answered, except the
    /// traffic of the tunnel's own sockets.
    #[arg(long, requires = "hook")]
    pub(crate) default_route: bool,
    #[command(flatten)]
    pub(crate) routing: ClientRouting,
    #[command(flatten)]
    pub(crate) forwarding: RelayForwarding,
    /// Hook of a relay: targets that clients may reach. A rule is public, private, own (addresses of
    /// this machine), or ADDRESS/BITS (IPv6 in brackets); :PORTS limits it to ports. Repeat for several
    /// rules.
    #[arg(long, value_name = "RULE", default_value = "public")]
    pub(crate) allow: Vec<Rule>,
    /// Hook of a relay: targets that clients may not reach even if --allow names them. Repeat for
    /// several rules.
    #[arg(long, value_name = "RULE")]
    pub(crate) deny: Vec<Rule>,
}

/// Program that changes the system for a tunnel, and who runs it.
#[derive(Clone, Debug, Args)]
pub(crate) struct HookProgram {
    /// Program that sets up routes, DNS, NAT and packet filters. It runs with `up` once the device is
    /// up, and with `down` or `purge` at the end. Packages install /usr/lib/ropewalk/tunnel-hook.
    #[arg(long, value_name = "FILE")]
    hook: Option<PathBuf>,
    /// Who runs the hook. `always`: the tunnel. `never`: another program, such as a systemd unit.
    /// `prepare`, `up`, `down`, `purge`: run the hook once with this verb and exit, for example after
    /// a crash: --device ropewalk0 --run-hook purge.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = RunHook::Always)]
    run_hook: RunHook,
}

/// Routing of a client's traffic: marks, tables, name servers, and traffic outside the tunnel.
#[derive(Clone, Debug, Args)]
pub(crate) struct ClientRouting {
    /// Hook of a client: name server that is used through the tunnel. Repeat for several name servers.
    /// With --leak block, name servers on the links' networks are blocked, such as a router.
    #[arg(long, value_name = "ADDRESS", requires = "hook", value_parser = option_parsers::host)]
    dns: Vec<IpAddr>,
    /// Hook of a client that has the default route: traffic outside the tunnel. `block` lets traffic
    /// leave this machine only through the tunnel, even while it is down (a kill switch). `allow` lets
    /// it use the links directly while the tunnel is down.
    #[arg(long, value_name = "CHOICE", value_enum, default_value_t = Leak::Allow)]
    leak: Leak,
    /// Hook of a client that has the default route: firewall mark of the tunnel's own sockets (SO_MARK).
    #[arg(long, value_name = "NUMBER", default_value_t = 4434, value_parser = clap::value_parser!(u32).range(1..=MAX_MARK))]
    pub(crate) mark: u32,
    /// Hook of a client: routing table of the default route.
    #[arg(long, value_name = "NUMBER", default_value_t = 4434, value_parser = parse_table)]
    pub(crate) table: u32,
    /// Hook of a client: preference of the routing rules of the default route. It must be below 32766,
    /// the preference of the main table.
    #[arg(long, value_name = "NUMBER", default_value_t = 32765, value_parser = clap::value_parser!(u32).range(1..32766))]
    preference: u32,
}

/// Forwarding of clients' packets at a relay.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RelayForwarding {
    /// Hook of a relay: forward packets of clients with the relay's own address as source (NAT).
    #[arg(long, requires = "hook")]
    masquerade: bool,
    /// Hook of a relay: largest number of connections that the kernel tracks for each address of a
    /// client. Packets that would open another one are dropped. 0 means no limit.
    #[arg(long, value_name = "NUMBER", default_value_t = 4096)]
    client_connections: u32,
    /// Hook of a relay: ports of this machine that lead to an address of a client, such as
    /// tcp:443=10.9.0.2, tcp:8080=10.9.0.2:80 or udp:5000-5010=10.9.0.2. The client sees the address of
    /// the remote host. Repeat for several ports.
    #[arg(long, value_name = "PROTOCOL:PORTS=ADDRESS", requires = "hook")]
    forward: Vec<PortForward>,
}

/// Parses the number of a routing table. The kernel's own are 253 to 255, and a client also uses the next one.
fn parse_table(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(table @ (1..=251 | 256..=MAX_TABLE)) => Ok(table),
        _ => Err(format!("allowed: 1 to 251, or 256 to {MAX_TABLE}")),
    }
}

/// Traffic of a client outside the tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Leak {
    /// Traffic leaves only through the tunnel.
    Block,
    /// While the tunnel is down, traffic uses the links directly.
    Allow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RunHook {
    /// Run the hook at the start and at the end of the tunnel.
    Always,
    /// Do not run the hook in this process.
    Never,
    /// Run the hook now: set up packet filters, NAT and forwarding, without a device.
    Prepare,
    /// Run the hook now: set up packet filters, NAT, forwarding, the default route and DNS.
    Up,
    /// Run the hook now: remove the default route and DNS. Packet filters, NAT and forwarding stay.
    Down,
    /// Run the hook now: remove everything that it set up.
    Purge,
}

/// Parameters for the hook from the tunnel's own options.
#[derive(Debug)]
pub(in crate::tunnel) struct HookVariables {
    pub is_relay: bool,
    pub addresses: Vec<Prefix>,
    pub links: Vec<Egress>,
    pub relay: String,
    /// TCP connections that end at this process, if any do.
    pub interception: Option<Interception>,
}

impl HookOptions {
    /// Creates the options of a relay with these rules, allowed and denied.
    pub(crate) fn of_relay(
        program: HookProgram,
        forwarding: RelayForwarding,
        (allow, deny): (&[Rule], &[Rule]),
    ) -> HookOptions {
        HookOptions {
            program,
            default_route: false,
            routing: ClientRouting::default(),
            forwarding,
            allow: allow.to_vec(),
            deny: deny.to_vec(),
        }
    }

    /// Creates the options of a client whose default route is the device, if there is a hook.
    pub(crate) fn of_client(program: HookProgram, routing: ClientRouting) -> HookOptions {
        let has_hook = program.is_set();
        HookOptions {
            default_route: has_hook,
            program,
            // Without a hook nothing is routed, and nothing can be blocked.
            routing: if has_hook {
                routing
            } else {
                ClientRouting::default()
            },
            forwarding: RelayForwarding::default(),
            allow: Vec::new(),
            deny: Vec::new(),
        }
    }

    /// Checks that the options fit together.
    pub fn check_choices(&self) -> Result<(), Failure> {
        if self.blocks_leaks() && !self.default_route {
            return Err(Failure::input(
                "--leak block: without --default-route; allowed: allow",
            ));
        }
        Ok(())
    }

    /// Checks the forwarded ports of a relay with these addresses that listens at these protocols and ports.
    pub fn check_forwards(
        &self,
        addresses: &[Prefix],
        listening: &[(&str, u16)],
    ) -> Result<(), Failure> {
        check_forwards(&self.forwarding.forward, addresses, listening).map_err(Failure::input)
    }

    /// Checks that the hook exists and is executable.
    pub fn check(&self) -> Result<(), Failure> {
        let Some(program) = &self.program.hook else {
            return Ok(());
        };
        let wrong = |what: &dyn std::fmt::Display| {
            let program = program.display();
            Failure::input(format!(
                "--hook {program}: {what}; allowed: an executable file"
            ))
        };
        let found = fs::metadata(program).map_err(|error| wrong(&error))?;
        match (found.is_file(), found.permissions().mode() & EXECUTABLE) {
            (false, _) => Err(wrong(&"not a file")),
            (true, 0) => Err(wrong(&"not executable")),
            _ => Ok(()),
        }
    }

    /// Returns these options with the rules for targets and the forwarded ports of `other`, which SIGHUP reads again.
    pub fn with_rules_of(&self, other: &HookOptions) -> HookOptions {
        HookOptions {
            forwarding: RelayForwarding {
                forward: other.forwarding.forward.clone(),
                ..self.forwarding.clone()
            },
            allow: other.allow.clone(),
            deny: other.deny.clone(),
            ..self.clone()
        }
    }

    /// Whether traffic leaves this machine only through the tunnel.
    pub fn blocks_leaks(&self) -> bool {
        self.routing.leak == Leak::Block
    }

    /// Whether a kill switch blocks the name servers of the links, and the tunnel has no other.
    pub fn leaves_no_dns(&self) -> bool {
        self.blocks_leaks() && self.routing.dns.is_empty()
    }

    /// Returns the effects of the hook, for the log and `--check`.
    pub fn summary(&self, is_relay: bool) -> String {
        let Some(hook) = &self.program.hook else {
            return "no hook: no default route, DNS, NAT or packet filters".to_owned();
        };
        let servers = match self.routing.dns.is_empty() {
            true => "no --dns".to_owned(),
            false => format!("DNS {}", words(&self.routing.dns)),
        };
        let effects = match (is_relay, self.default_route, self.routing.leak) {
            (true, ..) => {
                let nat = if self.forwarding.masquerade {
                    "NAT"
                } else {
                    "no NAT"
                };
                format!("{nat}, targets by --allow and --deny")
            }
            (_, false, _) => format!("no default route, {servers}"),
            (_, true, Leak::Block) => format!("default route, kill switch, {servers}"),
            (_, true, Leak::Allow) => format!("default route, no kill switch, {servers}"),
        };
        format!("hook {}: {effects}", hook.display())
    }

    pub fn is_run_elsewhere(&self) -> bool {
        matches!(self.program.run_hook, RunHook::Never)
    }

    /// Firewall mark of the tunnel's sockets, if they need one.
    pub fn mark(&self) -> Option<u32> {
        self.default_route.then_some(self.routing.mark)
    }

    pub(in crate::tunnel) fn hook(&self, variables: HookVariables) -> Option<Hook> {
        let flag = |is_set: bool| if is_set { "yes" } else { "no" }.to_owned();
        let role = if variables.is_relay {
            "relay"
        } else {
            "client"
        };
        let firewall = match variables.is_relay {
            true => Some(Firewall::Relay {
                masquerade: self.forwarding.masquerade,
                connections: self.forwarding.client_connections,
                forwards: self.forwarding.forward.clone(),
                allow: self.allow.clone(),
                deny: self.deny.clone(),
            }),
            false => self.default_route.then(|| Firewall::Client {
                marks: self.routing.marks(),
                links: variables.links.iter().filter_map(interface_of).collect(),
                kill_switch: self.blocks_leaks().then(|| KillSwitch {
                    links: variables.links.iter().map(interface_of).collect(),
                }),
                interception: variables.interception.clone(),
            }),
        };
        let marks = self.routing.marks();
        let intercepts = variables.interception.is_some();
        let if_intercepted = |number: u32| {
            if intercepts {
                number.to_string()
            } else {
                String::new()
            }
        };
        let leak = match self.routing.leak {
            Leak::Block => "block",
            Leak::Allow => "allow",
        };
        Some(Hook {
            // A name without a folder is a file in the current folder, and is not searched in PATH.
            program: path::absolute(self.program.hook.as_ref()?).ok()?,
            environment: vec![
                ("ROPEWALK_ROLE", role.to_owned()),
                ("ROPEWALK_ADDRESSES", words(&variables.addresses)),
                ("ROPEWALK_LINKS", words(&variables.links)),
                ("ROPEWALK_RELAY", variables.relay),
                ("ROPEWALK_DEFAULT_ROUTE", flag(self.default_route)),
                ("ROPEWALK_DNS", words(&self.routing.dns)),
                ("ROPEWALK_LEAK", leak.to_owned()),
                ("ROPEWALK_MARK", self.routing.mark.to_string()),
                ("ROPEWALK_TABLE", self.routing.table.to_string()),
                ("ROPEWALK_PREFERENCE", self.routing.preference.to_string()),
                ("ROPEWALK_INTERCEPT_MARK", if_intercepted(marks.intercepted)),
                ("ROPEWALK_BYPASS_MARK", if_intercepted(marks.bypassing)),
                ("ROPEWALK_MASQUERADE", flag(self.forwarding.masquerade)),
                (
                    "ROPEWALK_FORWARD",
                    flag(!self.forwarding.forward.is_empty()),
                ),
            ],
            firewall,
            addresses: variables.addresses,
            helper: None,
        })
    }
}

impl Default for ClientRouting {
    fn default() -> ClientRouting {
        ClientRouting {
            dns: Vec::new(),
            leak: Leak::Allow,
            mark: 4434,
            table: 4434,
            preference: 32765,
        }
    }
}

impl HookProgram {
    /// Whether there is a hook.
    pub(crate) fn is_set(&self) -> bool {
        self.hook.is_some()
    }

    /// Returns the hook's argument, if the command only runs the hook.
    pub(crate) fn run_only(&self) -> Option<&'static str> {
        match self.run_hook {
            RunHook::Prepare => Some("prepare"),
            RunHook::Up => Some("up"),
            RunHook::Down => Some("down"),
            RunHook::Purge => Some("purge"),
            RunHook::Always | RunHook::Never => None,
        }
    }
}

impl ClientRouting {
    /// Returns the marks of the client's packets.
    pub(crate) fn marks(&self) -> ClientMarks {
        ClientMarks::from_own(self.mark)
    }
}

fn words<T: ToString>(all: impl IntoIterator<Item = T>) -> String {
    let all: Vec<String> = all.into_iter().map(|one| one.to_string()).collect();
    all.join(" ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn options() -> HookOptions {
        HookOptions {
            program: HookProgram {
                hook: None,
                run_hook: RunHook::Always,
            },
            default_route: false,
            routing: ClientRouting::default(),
            forwarding: RelayForwarding::default(),
            allow: vec!["public".parse().unwrap()],
            deny: Vec::new(),
        }
    }

    /// Options of a client with this hook, a default route and a kill switch.
    fn blocking(hook: Option<PathBuf>) -> HookOptions {
        let mut options = HookOptions {
            default_route: true,
            ..options()
        };
        options.program.hook = hook;
        options.routing.leak = Leak::Block;
        options
    }

    #[test]
    fn leak_block_without_a_default_route_is_refused() {
        let block = |default_route| HookOptions {
            default_route,
            ..blocking(None)
        };
        let failure = block(false).check_choices().unwrap_err();
        assert_eq!(failure.exit_status(), 2);
        assert!(failure.to_string().contains("--leak block"), "{failure}");
        block(true).check_choices().unwrap();
    }

    #[test]
    fn summary_names_route_kill_switch_and_name_servers() {
        let mut options = blocking(Some("/hook".into()));
        assert!(options.leaves_no_dns());
        assert_eq!(
            options.summary(false),
            "hook /hook: default route, kill switch, no --dns"
        );
        options.routing.dns = vec!["9.9.9.9".parse().unwrap()];
        assert!(!options.leaves_no_dns());
        assert!(options.summary(false).ends_with("kill switch, DNS 9.9.9.9"));
        assert_eq!(
            options.summary(true),
            "hook /hook: no NAT, targets by --allow and --deny"
        );
        options.program.hook = None;
        assert!(options.summary(true).starts_with("no hook"));
    }

    #[test]
    fn hook_gets_the_ruleset_of_its_device() {
        let options = blocking(Some("/hook".into()));
        let hook = options.hook(HookVariables {
            is_relay: false,
            addresses: vec!["10.9.0.2/24".parse().unwrap()],
            links: vec!["wlan0".parse().unwrap(), "192.0.2.7".parse().unwrap()],
            relay: "relay:4434".to_owned(),
            interception: None,
        });
        let hook = hook.unwrap().for_device("rope-0");
        let variable = |name| {
            let mut variables = hook.environment.iter();
            variables
                .find(|(known, _)| *known == name)
                .unwrap()
                .1
                .as_str()
        };
        assert_eq!(hook.device(), "rope-0");
        assert_eq!(variable("ROPEWALK_LEAK"), "block");
        assert_eq!(variable("ROPEWALK_LINKS"), "wlan0 192.0.2.7");
        assert_eq!(variable("ROPEWALK_NFT_TABLE"), "ropewalk_rope_0");
        assert!(variable("ROPEWALK_NFT").contains("meta mark 4434 accept"));
        assert_eq!(options.mark(), Some(4434));
    }

    #[test]
    fn hook_that_cannot_run_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("hook");
        fs::write(&program, "").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let options = |program: &Path| blocking(Some(program.to_owned()));
        options(&program).check().unwrap();
        let refused = |program: &Path| options(program).check().unwrap_err();
        let failure = refused(&folder.path().join("none"));
        assert_eq!(failure.exit_status(), 2);
        assert!(failure.to_string().contains("No such file"), "{failure}");
        let failure = refused(folder.path());
        assert!(failure.to_string().contains("not a file"), "{failure}");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
        let failure = refused(&program);
        assert!(failure.to_string().contains("not executable"), "{failure}");
    }
}
