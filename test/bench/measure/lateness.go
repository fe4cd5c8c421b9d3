package main

import (
	"encoding/json"
	"log"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"
	"unsafe"
)

const (
	sleepEvery   = 200 * time.Microsecond
	sleeps       = 15_000
	timerAbsTime = 1
	prSetSlack   = 29 // from Linux's prctl.h: how much later than asked a sleep may end, ns
	monotonic    = 1
)

// awakeFile stays open as long as the process: the system listens to it until it is closed.
var awakeFile *os.File

// keepAwake asks the system to let no core sleep until this program ends, as latency tests do (Linux: PM QoS, /dev/cpu_dma_latency). A virtual
// core that sleeps wakes when its host finds the time, up to milliseconds late, which would be blamed on whoever slept. Where the system
// does not allow it, cores sleep.
func keepAwake() {
	file, err := os.OpenFile("/dev/cpu_dma_latency", os.O_WRONLY, 0)
	if err != nil {
		return
	}
	if _, err := file.Write(make([]byte, 4)); err == nil {
		awakeFile = file
	}
}

// printLateness lets a thread on one core do nothing but sleep until moments 200 µs apart, for three seconds, and prints how late it woke,
// {"p50_us","p99_us","p999_us","max_us"}: what any client on that core has to live with.
func printLateness(core int) {
	runtime.LockOSThread()
	var mask [16]uint64
	mask[core/64] = 1 << (core % 64)
	call(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)), 0)
	call(syscall.SYS_PRCTL, prSetSlack, 1, 0, 0)
	late := make([]int64, sleeps)
	due := clockNs()
	for i := range late {
		due += int64(sleepEvery)
		until := syscall.NsecToTimespec(due)
		call(syscall.SYS_CLOCK_NANOSLEEP, monotonic, timerAbsTime, uintptr(unsafe.Pointer(&until)), 0)
		late[i] = max(clockNs()-due, 0)
	}
	slices.Sort(late)
	at := func(share float64) float64 { return float64(late[int(share*(sleeps-1))]) / 1000 }
	text, err := json.Marshal(map[string]float64{"p50_us": at(0.5), "p99_us": at(0.99), "p999_us": at(0.999), "max_us": at(1)})
	if err != nil {
		log.Fatal(err)
	}
	os.Stdout.Write(text)
}

func clockNs() int64 {
	var now syscall.Timespec
	call(syscall.SYS_CLOCK_GETTIME, monotonic, uintptr(unsafe.Pointer(&now)), 0, 0)
	return now.Nano()
}

// call ends the program when the system refuses; a sleep that a signal cuts short is begun again.
func call(number, a, b, c, d uintptr) {
	for {
		_, _, errno := syscall.Syscall6(number, a, b, c, d, 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			log.Fatalf("measure: system call %d: %v", number, errno)
		}
		return
	}
}
