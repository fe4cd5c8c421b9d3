package main

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// interfaceRequest is the kernel's `struct ifreq`.
type interfaceRequest struct {
	name [16]byte
	data [24]byte
}

func requestFor(name string) *interfaceRequest {
	request := &interfaceRequest{}
	copy(request.name[:], name)
	return request
}

func (r *interfaceRequest) setFlags(flags uint16) *interfaceRequest {
	*(*uint16)(unsafe.Pointer(&r.data)) = flags
	return r
}

// setAddress writes a `struct sockaddr_in`.
func (r *interfaceRequest) setAddress(address [4]byte) *interfaceRequest {
	*(*uint16)(unsafe.Pointer(&r.data)) = syscall.AF_INET
	copy(r.data[4:8], address[:])
	return r
}

func (r *interfaceRequest) send(fd int, code uintptr, what string) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), code, uintptr(unsafe.Pointer(r))); errno != 0 {
		return fmt.Errorf("%s: %w", what, errno)
	}
	return nil
}

// openDevice makes a device in this thread's namespace whose packets this process reads and writes.
func openDevice(name string) (*os.File, error) {
	fd, err := syscall.Open("/dev/net/tun", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("/dev/net/tun: %w", err)
	}
	if err := requestFor(name).setFlags(syscall.IFF_TUN|syscall.IFF_NO_PI).send(fd, syscall.TUNSETIFF, "TUNSETIFF"); err != nil {
		return nil, err
	}
	// So that a goroutine waits, not a thread.
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "/dev/net/tun"), nil
}

// bringUp gives the device its address, in a network with those of the other hosts, and starts it and the loopback device.
func bringUp(name string, address [4]byte) error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	if err := requestFor(name).setAddress(address).send(fd, syscall.SIOCSIFADDR, "SIOCSIFADDR"); err != nil {
		return err
	}
	if err := requestFor(name).setAddress([4]byte{255, 255, 255, 0}).send(fd, syscall.SIOCSIFNETMASK, "SIOCSIFNETMASK"); err != nil {
		return err
	}
	for _, one := range []string{name, "lo"} {
		if err := requestFor(one).setFlags(syscall.IFF_UP|syscall.IFF_RUNNING).send(fd, syscall.SIOCSIFFLAGS, "SIOCSIFFLAGS"); err != nil {
			return err
		}
	}
	return nil
}
