"""OpenWrt's package: its layout, the configuration from UCI, the init script, and the hook in ash.

OpenWrt's own shell functions are replaced by short ones with the same behaviour: the functions of
a section that ``uci export`` prints, their callbacks, and records of calls to procd.
"""

import os
import re
import shutil
import subprocess
import tarfile
import tomllib

import pytest

from places import ROOT

FOLDER = ROOT / "packaging/openwrt"
RECIPE = FOLDER / "ropewalk-gateway"
FILES = RECIPE / "files"
HOOK = ROOT / "packaging/hooks/tunnel-hook"
BUSYBOX = shutil.which("busybox")
ASH = [BUSYBOX, "ash"] if BUSYBOX else [shutil.which("dash") or "sh"]

FUNCTIONS = r"""
config_cb() { return 0; }
option_cb() { return 0; }
list_cb() { return 0; }
package() { return 0; }
config() {
    local cfgtype="$1" name="$2"
    CONFIG_SECTION=$name
    CONFIG_SECTIONS="$CONFIG_SECTIONS $name"
    config_set "$name" TYPE "$cfgtype"
    config_cb "$cfgtype" "$name"
}
option() {
    local varname="$1"; shift
    config_set "$CONFIG_SECTION" "$varname" "$*"
    option_cb "$varname" "$*"
}
list() {
    local varname="$1" len; shift
    config_get len "$CONFIG_SECTION" "${varname}_LENGTH" 0
    len=$((len + 1))
    config_set "$CONFIG_SECTION" "${varname}_ITEM$len" "$*"
    config_set "$CONFIG_SECTION" "${varname}_LENGTH" "$len"
    list_cb "$varname" "$*"
}
config_set() { eval "CONFIG_${1}_${2}=\$3"; }
config_get() { eval "$1=\${CONFIG_${2}_${3}:-\$4}"; }
config_get_bool() {
    local found
    config_get found "$2" "$3" "$4"
    case $found in
    1 | on | true | yes | enabled) eval "$1=1" ;;
    *) eval "$1=0" ;;
    esac
}
config_foreach() {
    local function="$1" wanted="$2" section cfgtype
    for section in $CONFIG_SECTIONS; do
        config_get cfgtype "$section" TYPE
        test "$cfgtype" != "$wanted" || "$function" "$section"
    done
}
config_list_foreach() {
    local section="$1" option="$2" function="$3" len val c=1
    config_get len "$section" "${option}_LENGTH" 0
    while test "$c" -le "$len"; do
        config_get val "$section" "${option}_ITEM$c"
        "$function" "$val"
        c=$((c + 1))
    done
}
config_load() {
    CONFIG_SECTION= CONFIG_SECTIONS=
    test -f "@root/etc/config/$1.export" || return 1
    eval "$(cat "@root/etc/config/$1.export")"
    ${CONFIG_SECTION:+config_cb}
}
"""

NETWORK = r"""
network_get_device() { test "$1 $2" != "device wan" || device=eth1; }
network_get_dnsserver() { test "$1 $2" != "servers wan" || servers="192.0.2.53 fe80::1%eth1"; }
"""

PROCD = r"""
for call in open_instance close_instance set_param send_signal add_reload_trigger \
    add_reload_interface_trigger; do
    eval "procd_$call() { echo \"procd $call \$*\"; }"
done
start() { start_service; service_started; }
stop() { echo "procd kill"; service_stopped; }
logger() { sed "s/^/log: /"; }
chown() { echo "chown $*"; }
sleep() { :; }
"""

GATEWAY = """#!/bin/sh
echo "$*" >>@root/calls
case "$*" in *--check) ! grep -q wrong "$3" || { echo "unknown key" >&2; exit 2; } ;; esac
"""


def quoted(text):
    """Return a text as ``uci export`` quotes it."""
    return "'" + text.replace("'", "'\\''") + "'"


def exported(*sections):
    """Return sections (type, name, options) as ``uci export`` prints them."""
    lines = ["package ropewalk", ""]
    for kind, name, options in sections:
        lines.append(f"config {kind} {quoted(name)}")
        for key, value in options.items():
            if isinstance(value, list):
                lines += [f"\tlist {key} {quoted(each)}" for each in value]
            else:
                lines.append(f"\toption {key} {quoted(value)}")
        lines.append("")
    return "\n".join(lines)


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Return a folder with BusyBox's programs, ip and nft only."""
    folder = tmp_path_factory.mktemp("bin")
    for name in run(BUSYBOX, "--list").split():
        (folder / name).symlink_to(BUSYBOX)
    for name in filter(shutil.which, ("ip", "nft")):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(shutil.which(name))
    return folder


@pytest.fixture
def router(tmp_path, monkeypatch, request):
    """Return a folder with the package's scripts, whose paths begin there, and OpenWrt's."""
    if BUSYBOX:
        monkeypatch.setenv("PATH", str(request.getfixturevalue("programs")))

    def place(name, text, mode=0o644):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("@root", str(tmp_path)))
        file.chmod(mode)

    place("lib/functions.sh", FUNCTIONS)
    place("lib/functions/network.sh", NETWORK)
    place("usr/bin/ropewalk-gateway", GATEWAY, 0o755)
    place("run/empty", "")
    (tmp_path / "var/run").mkdir(parents=True)
    for name in ("usr/lib/ropewalk/uci-to-toml", "etc/init.d/ropewalk"):
        text = (FILES / name).read_text()
        text = re.sub(r"(?<=[ =\"])/(?=(lib|usr|var|run)\b)", "@root/", text)
        place(name, text.replace("#!/bin/sh", f"#!{' '.join(ASH)}", 1), 0o755)
    return tmp_path


def configure(router, *sections):
    file = router / "etc/config/ropewalk.export"
    file.parent.mkdir(exist_ok=True)
    file.write_text(exported(*sections))


def run(*command, **options):
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def toml(router, section="client"):
    file = router / "var/etc/ropewalk/out.toml"
    run(router / "usr/lib/ropewalk/uci-to-toml", section, file)
    assert file.stat().st_mode & 0o7777 == 0o600
    assert [*file.parent.iterdir()] == [file]
    return tomllib.loads(file.read_text())


def init(router, *functions):
    """Run functions of the init script; return the recorded lines of procd and the log."""
    calls = "\n".join(functions)
    script = f". {router}/lib/functions.sh\n{PROCD}\n. {router}/etc/init.d/ropewalk\n{calls}\n"
    return run(*ASH, "-c", script).splitlines()


def gateway_calls(router):
    file = router / "calls"
    lines = file.read_text().splitlines() if file.exists() else []
    file.unlink(missing_ok=True)
    return [line.replace(f"{router}/var/etc/ropewalk/", "") for line in lines]


CLIENT = {"enabled": "1", "user": "nobody", "relay": "192.0.2.1:4433", "link": ["wan", "b=eth2"]}


def test_options_of_uci_become_typed_keys(router):
    options = {
        "enabled": "1",
        "relay_key": "/etc/ropewalk/relay.pub",
        "tcp_port": "4435",
        "zero": "0",
        "long": "9" * 30,
        "octal": "0755",
        "masquerade": "true",
        "plaintext_anywhere": "false",
        "log": "off",
        "empty": "",
        "address": ["10.9.0.2/24", "fd00:9::2/64"],
        "dns": ["9"],
        "leak": "block",
    }
    configure(router, ("relay", "other", {"streams": "1"}), ("client", "client", options))
    assert toml(router) == {
        "relay-key": "/etc/ropewalk/relay.pub",
        "tcp-port": 4435,
        "zero": 0,
        "long": "9" * 30,
        "octal": "0755",
        "masquerade": True,
        "plaintext-anywhere": False,
        "log": "off",
        "empty": "",
        "address": ["10.9.0.2/24", "fd00:9::2/64"],
        "dns": ["9"],
        "leak": "block",
    }
    assert toml(router, "other") == {"streams": 1}


HOSTILE = [
    'a "quoted" word',
    "it's",
    "back\\slash \\n \\u0041 \\\\",
    "line\nline = 1\n",
    "\n\n",
    "$(touch /tmp/pwned) `id` ${HOME} $$",
    '"\nhook = "/tmp/evil"\n#',
    "'''\n]]]",
    "-n -e %s %d",
    "Grüße, 世界 \U0001f6a2",
    "".join(map(chr, range(1, 32))) + "\x7f",
    "*",
    " spaces  around ",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_values_stay_strings(router, text):
    options = {"relay": text, "link": [text, f"{text},cost=5"], "after": "1"}
    configure(router, ("client", "client", options))
    assert toml(router) == {"relay": text, "link": [text, f"{text},cost=5"], "after": 1}


def test_link_without_device_gets_device_and_name_servers_of_its_interface(router):
    links = ["wan", "wan,cost=5", "wan,dns=198.51.100.1", "wwan,rank=backup", "lte=wwan0"]
    configure(router, ("client", "client", {"link": links}))
    assert toml(router)["link"] == [
        "wan=eth1,dns=192.0.2.53",
        "wan=eth1,cost=5,dns=192.0.2.53",
        "wan=eth1,dns=198.51.100.1",
        "wwan=wwan,rank=backup",
        "lte=wwan0",
    ]
    configure(router, ("client", "client", {"link": "wan"}))
    assert toml(router)["link"] == "wan=eth1,dns=192.0.2.53"


def test_missing_configuration_leaves_the_file(router):
    configure(router, ("client", "client", {"relay": "first"}))
    assert toml(router) == {"relay": "first"}
    (router / "etc/config/ropewalk.export").unlink()
    file = router / "var/etc/ropewalk/out.toml"
    command = [router / "usr/lib/ropewalk/uci-to-toml", "client", file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert [*file.parent.iterdir()] == [file]
    assert tomllib.loads(file.read_text()) == {"relay": "first"}


def test_default_configuration_is_off_and_has_options_of_the_gateway(router):
    sections = (FILES / "etc/config/ropewalk").read_text()
    (router / "etc/config").mkdir()
    (router / "etc/config/ropewalk.export").write_text(sections)
    source = "\n".join(file.read_text() for file in (ROOT / "crates/gateway/src").rglob("*.rs"))
    for section in ("client", "relay"):
        keys = toml(router, section)
        assert len(keys) > 5
        for key in keys:
            assert re.search(rf"^\s*(pub(\(\w+\))? )?{key.replace('-', '_')}: ", source, re.M), key
    assert init(router, "start") == []
    assert gateway_calls(router) == []


def test_start_checks_prepares_and_runs_enabled_sections(router):
    relay = {"enabled": "0", "clients": "/etc/ropewalk/clients"}
    configure(router, ("client", "client", CLIENT), ("relay", "relay", relay))
    lines = init(router, "start")
    assert gateway_calls(router) == [
        "client --config client.toml.new --check",
        "client --config client.toml --run-hook prepare",
    ]
    folder = router / "var/etc/ropewalk"
    assert [file.name for file in folder.iterdir()] == ["client.toml"]
    assert lines[:3] == [
        f"chown nobody {folder}/client.toml.new",
        "procd open_instance client",
        f"procd set_param command {router}/usr/bin/ropewalk-gateway client "
        f"--config {folder}/client.toml",
    ]
    assert "procd set_param respawn 3600 2 0" in lines
    assert lines[-1] == "procd close_instance "


def test_invalid_configuration_is_logged_and_the_earlier_one_runs_on(router):
    wrong = {**CLIENT, "wrong": "1"}
    configure(router, ("client", "client", wrong))
    assert init(router, "start") == ["log: unknown key"]
    configure(router, ("client", "client", CLIENT))
    init(router, "start")
    file = router / "var/etc/ropewalk/client.toml"
    before = file.read_text()
    configure(router, ("client", "client", wrong))
    lines = init(router, "start")
    assert lines[0] == "log: unknown key"
    assert "procd open_instance client" in lines
    assert file.read_text() == before
    assert [*file.parent.iterdir()] == [file]


def test_stop_removes_filters_and_restart_keeps_them(router):
    configure(router, ("client", "client", CLIENT))
    init(router, "start")
    gateway_calls(router)
    assert "procd kill" in init(router, "restart")
    assert [call for call in gateway_calls(router) if "purge" in call] == []
    init(router, "stop")
    assert gateway_calls(router) == ["client --config client.toml --run-hook purge"]
    assert [*(router / "var/etc/ropewalk").iterdir()] == []
    init(router, "stop")
    assert gateway_calls(router) == []


def test_disabled_section_removes_filters_at_reload(router):
    configure(router, ("client", "client", CLIENT))
    init(router, "start")
    gateway_calls(router)
    configure(router, ("client", "client", {**CLIENT, "enabled": "0"}))
    assert init(router, "reload_service") == []
    assert gateway_calls(router) == ["client --config client.toml --run-hook purge"]


def test_reload_signals_only_what_was_running(router):
    configure(router, ("client", "client", CLIENT))
    signal = "procd send_signal ropewalk client HUP"
    assert signal not in init(router, "reload_service")
    (router / "var/run/ropewalk-client.pid").write_text(f"{os.getpid()}\n")
    lines = init(router, "reload_service")
    assert lines[-1] == signal
    assert "client --config client.toml --run-hook prepare" in gateway_calls(router)


def test_triggers_are_the_configuration_and_interfaces_of_links(router):
    links = ["wan", "wwan,cost=5", "lte=wwan0", "a b"]
    configure(router, ("client", "client", {**CLIENT, "link": links}))
    assert init(router, "service_triggers") == [
        "procd add_reload_trigger ropewalk",
        "procd add_reload_interface_trigger wan",
        "procd add_reload_interface_trigger wwan",
    ]


SCRIPTS = [
    HOOK,
    *(file for file in FILES.rglob("*") if os.access(file, os.X_OK) and file.is_file()),
]


@pytest.mark.skipif(not BUSYBOX, reason="missing: apt install busybox")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_script_parses_in_ash(script):
    run(*ASH, "-n", script)


def unpacked(archive, folder):
    """Unpack a tar; return its members by name."""
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
        return {member.name: member for member in opened.getmembers()}


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Build a package of a dummy binary; return its file."""
    folder = tmp_path_factory.mktemp("ipk")
    binary = folder / "gateway"
    binary.write_bytes(b"\x7fELF dummy")
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    command = [FOLDER / "ipk.sh", binary, "aarch64_cortex-a53", folder / "out"]
    printed = run(*command, env=environment)
    (file,) = (folder / "out").iterdir()
    assert printed.strip() == str(file)
    first = file.read_bytes()
    run(*command, env=environment, umask=0o077)
    assert file.read_bytes() == first
    return file


def test_ipk_has_opkgs_layout_modes_and_owners(package, tmp_path):
    outer = unpacked(package, tmp_path)
    assert [*outer] == ["./debian-binary", "./data.tar.gz", "./control.tar.gz"]
    assert (tmp_path / "debian-binary").read_text() == "2.0\n"
    data = unpacked(tmp_path / "data.tar.gz", tmp_path / "data")
    control = unpacked(tmp_path / "control.tar.gz", tmp_path / "control")
    for member in (*outer.values(), *data.values(), *control.values()):
        assert (member.uid, member.gid, member.mtime) == (0, 0, 1700000000)
    assert {name: oct(each.mode) for name, each in data.items() if each.isfile()} == {
        "./etc/config/ropewalk": "0o600",
        "./etc/init.d/ropewalk": "0o755",
        "./etc/uci-defaults/90_ropewalk": "0o755",
        "./lib/upgrade/keep.d/ropewalk-gateway": "0o644",
        "./usr/bin/ropewalk-gateway": "0o755",
        "./usr/lib/ropewalk/tunnel-hook": "0o755",
        "./usr/lib/ropewalk/uci-to-toml": "0o755",
    }
    assert {each.mode for each in data.values() if each.isdir()} == {0o755}
    assert "./etc/ropewalk" in data
    assert (tmp_path / "data/usr/bin/ropewalk-gateway").read_bytes() == b"\x7fELF dummy"
    assert (tmp_path / "data/usr/lib/ropewalk/tunnel-hook").read_bytes() == HOOK.read_bytes()


def test_ipk_has_the_recipes_fields_and_scripts(package, tmp_path):
    unpacked(package, tmp_path)
    control = unpacked(tmp_path / "control.tar.gz", tmp_path / "control")
    modes = {name.removeprefix("./"): each.mode for name, each in control.items() if each.isfile()}
    assert modes == {"conffiles": 0o644, "control": 0o644, "postinst": 0o755, "prerm": 0o755}
    assert (tmp_path / "control/conffiles").read_text() == "/etc/config/ropewalk\n"
    lines = (tmp_path / "control/control").read_text().splitlines()
    fields = dict(line.split(": ", 1) for line in lines)
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert package.name == f"ropewalk-gateway_{version}-r1_aarch64_cortex-a53.ipk"
    assert fields["Package"] == "ropewalk-gateway"
    assert fields["Version"] == f"{version}-r1"
    assert fields["Architecture"] == "aarch64_cortex-a53"
    needed = fields["Depends"].split(", ")
    assert {"ip-full", "kmod-nft-tproxy", "kmod-tun", "nftables"} < {*needed}
    assert fields["Require-User"] == "ropewalk:ropewalk"
    assert int(fields["Installed-Size"]) > 10_000
    assert all(fields.values())
    for name in ("postinst", "prerm"):
        run(*ASH, "-n", tmp_path / "control" / name)
        assert f"default_{name}" in (tmp_path / "control" / name).read_text()


RULES = """
INCLUDE_DIR := include
ARCH := aarch64
INSTALL_DIR := install -d -m 755
INSTALL_BIN := install -m 755
CP := cp -fpR
"""
PACKAGE = """
define BuildPackage
all:
	$$(call Build/Compile)
	$$(call Package/$(1)/install,$$(OUT))
	@printf 'field %s\\n' '$$(PKG_VERSION)' '$$(strip $$(call Package/$(1)/conffiles))'
endef
"""


@pytest.mark.skipif(not shutil.which("make"), reason="missing: apt install make")
def test_recipe_installs_the_files_of_the_ipk(package, tmp_path):
    for name, text in (("rules.mk", RULES), ("include/package.mk", PACKAGE)):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    out, binary = tmp_path / "out", tmp_path / "gateway"
    arguments = [f"TOPDIR={tmp_path}", f"OUT={out}", f"ROPEWALK_BINARY={binary}"]
    command = ["make", "-I", tmp_path, "-C", RECIPE, *arguments]
    missing = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert "gateway is missing: run make package in the clone" in missing.stderr
    binary.write_text("dummy")
    binary.chmod(0o755)
    printed = run(*command)
    version = package.name.split("_")[1].removesuffix("-r1")
    assert f"field {version}\nfield /etc/config/ropewalk\n" in printed
    unpacked(package, tmp_path / "ipk")
    data = unpacked(tmp_path / "ipk/data.tar.gz", tmp_path / "data")
    for name, member in data.items():
        made = (out / name).stat()
        if member.isfile():
            assert made.st_mode & 0o777 == member.mode, name
    assert {f"./{file.relative_to(out)}" for file in out.rglob("*")} == {*data} - {"."}


def test_ipk_script_without_arguments_is_refused():
    done = subprocess.run([FOLDER / "ipk.sh"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "usage: ipk.sh BINARY ARCHITECTURE FOLDER\n")


HOOK_IN_ASH = r"""
mount -t tmpfs none /run
ip tuntap add ropewalk0 mode tun
ip addr add 10.9.0.2/24 dev ropewalk0
ip link set ropewalk0 up
export ROPEWALK_DEVICE=ropewalk0 ROPEWALK_ROLE=client ROPEWALK_ADDRESSES=10.9.0.2/24
export ROPEWALK_LINKS='lo 127.0.0.1' ROPEWALK_DNS='9.9.9.9 149.112.112.112'
export ROPEWALK_DEFAULT_ROUTE=yes ROPEWALK_LEAK=block ROPEWALK_RESOLV_CONF=/run/resolv.conf
export ROPEWALK_INTERCEPT_MARK=4435 ROPEWALK_BYPASS_MARK=4436
export ROPEWALK_NFT='table inet ropewalk_ropewalk0 {}'
printf 'search lan\nnameserver 127.0.0.1\n' >/run/resolv.conf
hook() { ash "$HOOK" "$1"; }
shown() {
    ip -4 rule
    ip -4 route show table 4434 2>/dev/null || :
    cat /run/resolv.conf
    nft list tables
}
before=$(shown)
hook prepare
hook up
hook up
shown
grep '^group lo ' /run/ropewalk-hook/ropewalk0.kept
hook down
echo down
nft list tables
hook purge
test "$(shown)" = "$before"
ls /run/ropewalk-hook
"""


@pytest.mark.skipif(
    not (BUSYBOX and shutil.which("nft") and shutil.which("unshare") and os.geteuid() == 0),
    reason="it takes root, busybox, nft and unshare",
)
def test_hook_works_in_ash_with_programs_of_busybox(programs):
    script = HOOK_IN_ASH.replace("$HOOK", str(HOOK))
    command = [shutil.which("unshare"), "--net", "--mount", *ASH, "-euc", script]
    environment = {"PATH": str(programs)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if "Operation not permitted" in done.stderr:
        pytest.skip(f"no namespaces or devices here: {done.stderr}")
    assert (done.returncode, done.stderr) == (0, "")
    up, _, down = done.stdout.partition("down\n")
    assert "default dev ropewalk0" in up
    assert "nameserver 9.9.9.9\nnameserver 149.112.112.112\nsearch lan\n" in up
    assert up.count("suppress_ifgroup 4434") == 1
    assert up.count("lookup 4434") == 1
    # `down` keeps packet filters, `purge` removes them and all files.
    assert down == "table inet ropewalk_ropewalk0\n"
