package store

import "syscall"

// tcpUserTimeout is TCP_USER_TIMEOUT of <linux/tcp.h>, which package syscall lacks.
const tcpUserTimeout = 18

// limitUnacknowledged lets the kernel give a TCP connection up if packets are not acknowledged for silentNetwork.
func limitUnacknowledged(network, _ string, c syscall.RawConn) error {
	if network == "unix" {
		return nil
	}
	var failed error
	err := c.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(silentNetwork.Milliseconds()))
	})
	if err != nil {
		return err
	}
	return failed
}
