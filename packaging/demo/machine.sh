#!/bin/sh
# The first process of a machine of packaging/demo/install.sh, in namespaces of its own.
#
#     machine.sh FOLDER COMMAND...
#
# It gives the machine file systems, says so by FOLDER.is-up, and becomes COMMAND, such as systemd.
set -eu
folder=$1
shift
mount --make-rprivate /
mkdir "$folder"
mount -t tmpfs none "$folder"
for name in etc usr var; do
    mkdir "$folder/$name" "$folder/$name.work"
    mount -t overlay overlay \
        -o "lowerdir=/$name,upperdir=$folder/$name,workdir=$folder/$name.work" "/$name"
done
echo "${folder##*/}" >/etc/hostname
mount -t tmpfs -o mode=755 none /run
mount -t proc none /proc

# Devices, as udev has them.
devices=$folder/dev
mkdir "$devices"
mount -t tmpfs -o mode=755 none "$devices"
while read -r name major minor; do
    mknod -m 666 "$devices/$name" c "$major" "$minor"
done <<END
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
END
mkdir "$devices/net" "$devices/pts" "$devices/shm"
mknod -m 666 "$devices/net/tun" c 10 200
ln -s /proc/self/fd "$devices/fd"
ln -s pts/ptmx "$devices/ptmx"
mount --move "$devices" /dev

# Systemd takes a machine without a writable /sys for a container, and leaves the kernel's settings alone.
umount -l /sys
mount -t sysfs -o ro none /sys
mount -t cgroup2 none /sys/fs/cgroup
# Nothing of this machine is started there.
rm -rf /etc/systemd/system/*.wants /usr/lib/systemd/system/sysinit.target.wants \
    /usr/lib/systemd/system/timers.target.wants
: >/etc/fstab
# An image of a container has this file, which keeps packages from restarting services.
rm -f /usr/sbin/policy-rc.d
: >/etc/machine-id
ip link set lo up
: >"$folder.is-up"
# Private folders of services are not to be left in this machine's.
mkdir "$folder/tmp" "$folder/tmp.work"
mount -t overlay overlay -o "lowerdir=/tmp,upperdir=$folder/tmp,workdir=$folder/tmp.work" /tmp
# Credentials of services are mounted in a child, and seen by all.
mount --make-rshared /
exec env -i container=other PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
