//! System call filter (seccomp(2)), for all threads.
//!
//! It refuses groups of calls that no verb needs after its set-up, and allows all others: a new C library may
//! use calls that an allow list lacks. The groups follow systemd's (`systemd-analyze syscall-filter`).

/// Puts the filter in force. Errors: the kernel lacks seccomp or refuses, or this architecture has no filter.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn restrict() -> Result<(), String> {
    Err("there is no filter for this architecture".to_owned())
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use filter::restrict;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod filter {
    use std::collections::BTreeMap;

    use libc::c_long;
    #[cfg(target_arch = "x86_64")]
    use seccompiler::sock_filter;
    use seccompiler::{
        BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
        SeccompFilter, SeccompRule, apply_filter_all_threads,
    };

    /// Calls refused regardless of their arguments.
    const REFUSED: &[c_long] = &[
        // Running programs.
        libc::SYS_execve,
        libc::SYS_execveat,
        // Users, groups, owners, permissions, capabilities.
        libc::SYS_capset,
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        libc::SYS_mknodat,
        libc::SYS_setfsgid,
        libc::SYS_setfsuid,
        libc::SYS_setgid,
        libc::SYS_setgroups,
        libc::SYS_setregid,
        libc::SYS_setresgid,
        libc::SYS_setresuid,
        libc::SYS_setreuid,
        libc::SYS_setuid,
        // Mounts and namespaces.
        libc::SYS_chroot,
        libc::SYS_fsconfig,
        libc::SYS_fsmount,
        libc::SYS_fsopen,
        libc::SYS_fspick,
        libc::SYS_mount,
        libc::SYS_mount_setattr,
        libc::SYS_move_mount,
        libc::SYS_name_to_handle_at,
        libc::SYS_open_by_handle_at,
        libc::SYS_open_tree,
        libc::SYS_pivot_root,
        libc::SYS_setns,
        libc::SYS_umount2,
        libc::SYS_unshare,
        // Debugging, other processes, and kernel interfaces with many known vulnerabilities.
        libc::SYS_bpf,
        libc::SYS_fanotify_init,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        libc::SYS_io_uring_setup,
        libc::SYS_kcmp,
        libc::SYS_perf_event_open,
        libc::SYS_pidfd_getfd,
        libc::SYS_process_madvise,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_ptrace,
        libc::SYS_userfaultfd,
        // Keys of the kernel.
        libc::SYS_add_key,
        libc::SYS_keyctl,
        libc::SYS_request_key,
        // The machine: modules, clock, swap, accounting, reboot.
        libc::SYS_acct,
        libc::SYS_adjtimex,
        libc::SYS_clock_adjtime,
        libc::SYS_clock_settime,
        libc::SYS_delete_module,
        libc::SYS_finit_module,
        libc::SYS_init_module,
        libc::SYS_kexec_load,
        libc::SYS_lookup_dcookie,
        libc::SYS_nfsservctl,
        libc::SYS_personality,
        libc::SYS_quotactl,
        libc::SYS_reboot,
        libc::SYS_setdomainname,
        libc::SYS_sethostname,
        libc::SYS_settimeofday,
        libc::SYS_swapoff,
        libc::SYS_swapon,
        libc::SYS_syslog,
        libc::SYS_vhangup,
    ];
    /// Further refused calls of this architecture.
    #[cfg(target_arch = "x86_64")]
    const ALSO_REFUSED: &[c_long] = &[
        libc::SYS_chmod,
        libc::SYS_chown,
        libc::SYS_ioperm,
        libc::SYS_iopl,
        libc::SYS_kexec_file_load,
        libc::SYS_lchown,
        libc::SYS_mknod,
        libc::SYS_modify_ldt,
        libc::SYS_uselib,
    ];
    #[cfg(target_arch = "aarch64")]
    const ALSO_REFUSED: &[c_long] = &[];
    /// Refuses every call through the x32 interface, which has the numbers from __X32_SYSCALL_BIT on.
    /// `libc::SYS_*` are numbers of the other interface, and a rule of seccompiler is for one number.
    #[cfg(target_arch = "x86_64")]
    const NO_X32: [sock_filter; 4] = [
        // BPF_LD | BPF_W | BPF_ABS: the number of the call, the first field of seccomp_data.
        instruction(0x20, 0, 0),
        // BPF_JMP | BPF_JGE | BPF_K: below the bit, skip an instruction.
        instruction(0x35, 1, 0x4000_0000),
        // BPF_RET | BPF_K.
        instruction(0x06, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        instruction(0x06, 0, libc::SECCOMP_RET_ALLOW),
    ];

    #[cfg(target_arch = "x86_64")]
    const fn instruction(code: u16, jf: u8, k: u32) -> sock_filter {
        sock_filter { code, jt: 0, jf, k }
    }

    const FAMILIES: [libc::c_int; 4] = [
        libc::AF_UNIX,
        libc::AF_INET,
        libc::AF_INET6,
        libc::AF_NETLINK,
    ];
    /// Flags of clone(2) that make namespaces.
    const NAMESPACES: [libc::c_int; 7] = [
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWUTS,
    ];

    type SyscallRules = BTreeMap<c_long, Vec<SeccompRule>>;

    pub(in super::super) fn restrict() -> Result<(), String> {
        for (rules, error) in filters().map_err(|error| error.to_string())? {
            let program = compile(rules, error).map_err(|error| error.to_string())?;
            apply_filter_all_threads(&program).map_err(|error| error.to_string())?;
        }
        #[cfg(target_arch = "x86_64")]
        apply_filter_all_threads(&NO_X32).map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Returns the calls to refuse, with their errors.
    fn filters() -> Result<[(SyscallRules, libc::c_int); 2], BackendError> {
        let refused = REFUSED.iter().chain(ALSO_REFUSED);
        let mut rules: SyscallRules = refused.map(|&number| (number, Vec::new())).collect();

        let namespaces = NAMESPACES.iter().map(|&flag| rule(vec![has(0, flag)?]));
        rules.insert(libc::SYS_clone, namespaces.collect::<Result<_, _>>()?);
        let families = FAMILIES.iter().map(|&family| {
            let (length, family) = (SeccompCmpArgLen::Dword, family as u64);
            SeccompCondition::new(0, length, SeccompCmpOp::Ne, family)
        });
        let families: Result<Vec<_>, _> = families.collect();
        rules.insert(libc::SYS_socket, vec![rule(families?)?]);
        // Memory is either writable or executable.
        let (run, written) = (libc::PROT_EXEC, libc::PROT_WRITE);
        let both = || rule(vec![has(2, run)?, has(2, written)?]);
        rules.insert(libc::SYS_mmap, vec![both()?]);
        let runs = || rule(vec![has(2, run)?]);
        rules.insert(libc::SYS_mprotect, vec![runs()?]);
        rules.insert(libc::SYS_pkey_mprotect, vec![runs()?]);

        // The flags of clone3 are in memory, which a filter cannot read. The C library falls back on clone.
        let clone3 = SyscallRules::from([(libc::SYS_clone3, Vec::new())]);
        Ok([(clone3, libc::ENOSYS), (rules, libc::EPERM)])
    }

    fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, BackendError> {
        SeccompRule::new(conditions)
    }

    /// Matches calls whose argument of that number has the flag.
    fn has(argument: u8, flag: libc::c_int) -> Result<SeccompCondition, BackendError> {
        let flag = flag as u32 as u64;
        let operation = SeccompCmpOp::MaskedEq(flag);
        SeccompCondition::new(argument, SeccompCmpArgLen::Qword, operation, flag)
    }

    fn compile(rules: SyscallRules, error: libc::c_int) -> Result<BpfProgram, BackendError> {
        let refuse = SeccompAction::Errno(error as u32);
        let architecture = std::env::consts::ARCH.try_into()?;
        SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)?.try_into()
    }
}
