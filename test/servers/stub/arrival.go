package main

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"google.golang.org/grpc/peer"
)

// arrivalConn tells when the system got the bytes that were read last, which is before this process was woken to read them.
type arrivalConn struct {
	*net.TCPConn
	raw       syscall.RawConn
	control   [64]byte
	arrivedNs atomic.Int64 // ns since 1970
}

// withArrivals returns the connection as it is where the system tells no times.
func withArrivals(conn net.Conn) net.Conn {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return conn
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return conn
	}
	var problem error
	err = raw.Control(func(fd uintptr) {
		problem = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
	})
	if err != nil || problem != nil {
		return conn
	}
	return &arrivalConn{TCPConn: tcp, raw: raw}
}

func (c *arrivalConn) Read(bytes []byte) (int, error) {
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

func (c *arrivalConn) note(control []byte) {
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
func (c *arrivalConn) RemoteAddr() net.Addr { return arrivalAddr{c.TCPConn.RemoteAddr(), c} }

type arrivalAddr struct {
	net.Addr
	conn *arrivalConn
}

// arrivalOf is when the latest bytes of a connection came: not before its latest request did, and never later than now.
func arrivalOf(conn net.Conn) int64 {
	if stamped, ok := conn.(*arrivalConn); ok {
		return stamped.arrivedNs.Load()
	}
	return time.Now().UnixNano()
}

func arrivalOfCall(ctx context.Context) int64 {
	if from, ok := peer.FromContext(ctx); ok {
		if address, ok := from.Addr.(arrivalAddr); ok {
			return address.conn.arrivedNs.Load()
		}
	}
	return time.Now().UnixNano()
}
