// Package arrival tells when the system got the bytes that a server read last.
package arrival

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Conn tells when the system got the bytes that were read last, which is before this process was woken to read them.
type Conn struct {
	*net.TCPConn
	raw       syscall.RawConn
	control   [64]byte
	arrivedNs atomic.Int64 // ns since 1970
}

// Listen listens on a TCP address. What comes before a connection is accepted has a time too.
func Listen(address string) (net.Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		_ = noteTimes(raw)
		return nil
	}}
	return config.Listen(context.Background(), "tcp", address)
}

// Wrap returns the connection as it is where the system tells no times.
func Wrap(conn net.Conn) net.Conn {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return conn
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return conn
	}
	if noteTimes(raw) != nil {
		return conn
	}
	return &Conn{TCPConn: tcp, raw: raw}
}

func noteTimes(raw syscall.RawConn) error {
	var problem error
	err := raw.Control(func(fd uintptr) {
		problem = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
	})
	return errors.Join(err, problem)
}

func (c *Conn) Read(bytes []byte) (int, error) {
	var n, controlBytes int
	var problem error
	err := c.raw.Read(func(fd uintptr) bool {
		for {
			n, controlBytes, _, _, problem = syscall.Recvmsg(int(fd), bytes, c.control[:], 0)
			if problem != syscall.EINTR {
				return problem != syscall.EAGAIN
			}
		}
	})
	if err == nil && problem == nil && n > 0 {
		c.note(c.control[:controlBytes])
		return n, nil
	}
	// The end, an error or an empty buffer: the usual way words it.
	return c.TCPConn.Read(bytes)
}

func (c *Conn) note(control []byte) {
	arrivedNs := time.Now().UnixNano()
	if messages, err := syscall.ParseSocketControlMessage(control); err == nil {
		for _, message := range messages {
			if message.Header.Type == syscall.SCM_TIMESTAMPNS && len(message.Data) >= int(unsafe.Sizeof(syscall.Timespec{})) {
				arrivedNs = (*syscall.Timespec)(unsafe.Pointer(&message.Data[0])).Nano()
			}
		}
	}
	c.arrivedNs.Store(arrivedNs)
}

// RemoteAddr leads from a gRPC call, which knows only its peer's address, to its connection.
func (c *Conn) RemoteAddr() net.Addr { return address{c.TCPConn.RemoteAddr(), c} }

type address struct {
	net.Addr
	conn *Conn
}

// Of is when the latest bytes of a connection came, in ns since 1970: not before its latest request did, and never later than now.
func Of(conn net.Conn) int64 {
	if stamped, ok := conn.(*Conn); ok {
		return stamped.arrivedNs.Load()
	}
	return time.Now().UnixNano()
}

// At is the same for the connection with this remote address.
func At(remote net.Addr) int64 {
	if known, ok := remote.(address); ok {
		return known.conn.arrivedNs.Load()
	}
	return time.Now().UnixNano()
}
