package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// transport says over which of the three ways a request came in.
type transport int

const (
	viaHTTP transport = iota
	viaGRPC
	viaStream
)

// counters are what a bench or a test asks the server itself, so that no tool's own count has to be believed.
// The first group starts again at every reset; the second only grows, as a real server's statistics do.
type counters struct {
	byTransport   [3]atomic.Int64
	shared        atomic.Int64 // requests whose inputs and outputs lie in shared memory
	ofSequences   atomic.Int64 // requests that belong to a sequence, and how many of them begin and end one
	starts        atomic.Int64
	ends          atomic.Int64
	connections   atomic.Int64 // accepted on the HTTP and the gRPC port
	firstNs       atomic.Int64 // wall clock of the first and the latest inference request, ns since 1970
	lastNs        atomic.Int64
	cpuUsAtReset  atomic.Int64
	allRequests   [len(modelNames)]atomic.Int64
	allInferences [len(modelNames)]atomic.Int64
}

var count counters

// asked is what an inference request is counted by.
type asked struct {
	model  model
	batch  int
	shared bool // its inputs and its outputs lie in shared memory
	sequenceMark
}

// sequenceMark says how a request belongs to a sequence, where it does.
type sequenceMark struct{ inSequence, isStart, isEnd bool }

// add counts a request that came at arrivedNs, ns since 1970.
func (c *counters) add(t transport, request asked, arrivedNs int64) {
	nowNs := time.Now().UnixNano()
	if c.firstNs.Load() == 0 && c.firstNs.CompareAndSwap(0, nowNs) {
		c.announceFirst()
	}
	c.lastNs.Store(nowNs)
	c.byTransport[t].Add(1)
	arrivals.add(arrivedNs)
	if request.shared {
		c.shared.Add(1)
	}
	if request.inSequence {
		c.ofSequences.Add(1)
		if request.isStart {
			c.starts.Add(1)
		}
		if request.isEnd {
			c.ends.Add(1)
		}
	}
	c.allRequests[request.model].Add(1)
	c.allInferences[request.model].Add(int64(request.batch))
}

func (c *counters) reset() {
	for i := range c.byTransport {
		c.byTransport[i].Store(0)
	}
	for _, counter := range []*atomic.Int64{&c.shared, &c.ofSequences, &c.starts, &c.ends} {
		counter.Store(0)
	}
	arrivals.reset()
	callCount.reset()
	c.connections.Store(0)
	c.firstNs.Store(0)
	c.lastNs.Store(0)
	c.cpuUsAtReset.Store(processCPUUs())
}

func (c *counters) json() []byte {
	return fmt.Appendf(nil, `{"http":%d,"grpc":%d,"stream":%d,"shm":%d,"sequence_requests":%d,"sequence_starts":%d,"sequence_ends":%d,"connections":%d,"first_ns":%d,"last_ns":%d,"cpu_us":%d}`,
		c.byTransport[viaHTTP].Load(), c.byTransport[viaGRPC].Load(), c.byTransport[viaStream].Load(),
		c.shared.Load(), c.ofSequences.Load(), c.starts.Load(), c.ends.Load(),
		c.connections.Load(), c.firstNs.Load(), c.lastNs.Load(), processCPUUs()-c.cpuUsAtReset.Load())
}

var (
	waitersLock sync.Mutex
	waiters     []chan struct{}
)

// announceFirst lets go whoever waits for the first inference request since the reset, so that nobody has to poll for it.
func (c *counters) announceFirst() {
	waitersLock.Lock()
	defer waitersLock.Unlock()
	for _, waiter := range waiters {
		close(waiter)
	}
	waiters = nil
}

// first returns a channel that closes when an inference request has come since the reset.
func (c *counters) first() <-chan struct{} {
	waitersLock.Lock()
	defer waitersLock.Unlock()
	waiter := make(chan struct{})
	if c.firstNs.Load() != 0 {
		close(waiter)
	} else {
		waiters = append(waiters, waiter)
	}
	return waiter
}

func processCPUUs() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return (usage.Utime.Nano() + usage.Stime.Nano()) / 1000
}
