// A language model's server that answers as fast as it can, or token by token on a schedule, and notes when each request came and each answer
// left: what a client's times are held against. It speaks HTTP/1.1 with OpenAI's chat completions.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"arrival"
)

var (
	host   = flag.String("host", "127.0.0.1", "address to listen on")
	buffer = flag.Int("buffer", 1<<16, "bytes that each connection reads into; a request must fit")
	ttft   = flag.Duration("ttft", 0, "from a request to its first token; 0: at once")
	itl    = flag.Duration("itl", 0, "between tokens; 0: none")
	tokens = flag.Int("tokens", 100, "of each answer")
)

// stream is what the server knows of one answered request, in ns since the start.
type stream struct {
	ReceivedNs int64 `json:"receivedNs"` // when the system got it, which may be long before a busy server reads it
	FirstNs    int64 `json:"firstNs"`    // right before the first token was written
	LastNs     int64 `json:"lastNs"`
}

var (
	startedAt = time.Now()
	requests  atomic.Int64
	chunks    atomic.Int64
	firstNs   atomic.Int64
	lastNs    atomic.Int64
	logged    struct {
		sync.Mutex
		streams []stream
		isOn    bool
	}
	cpuBefore atomic.Int64
	connected struct {
		sync.Mutex
		open, mostOpen int
		hosts          map[string]bool
	}
)

func main() {
	flag.Parse()
	listener, err := arrival.Listen(net.JoinHostPort(*host, "0"))
	check(err)
	control, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	buildAnswers()
	connected.hosts = map[string]bool{}
	http.HandleFunc("/counter", sendCounter)
	http.HandleFunc("/reset", reset)
	http.HandleFunc("/log", sendLog)
	go func() { check(http.Serve(control, nil)) }()
	go serve(listener)
	fmt.Printf("{\"port\":%d,\"control\":%d}\n", portOf(listener), portOf(control))
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func portOf(listener net.Listener) int { return listener.Addr().(*net.TCPAddr).Port }

func serve(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		check(err)
		noteOpen(conn)
		go func() {
			defer noteClosed()
			serveConnection(arrival.Wrap(conn))
		}()
	}
}

func noteOpen(conn net.Conn) {
	connected.Lock()
	defer connected.Unlock()
	connected.open++
	connected.mostOpen = max(connected.mostOpen, connected.open)
	connected.hosts[conn.RemoteAddr().(*net.TCPAddr).IP.String()] = true
}

func noteClosed() {
	connected.Lock()
	defer connected.Unlock()
	connected.open--
}

func sinceStart() int64 { return int64(time.Since(startedAt)) }

func sendCounter(out http.ResponseWriter, _ *http.Request) {
	connected.Lock()
	defer connected.Unlock()
	hosts, err := json.Marshal(slices.Sorted(maps.Keys(connected.hosts)))
	check(err)
	fmt.Fprintf(out, `{"requests":%d,"chunks":%d,"firstNs":%d,"lastNs":%d,"cpuUs":%d,"mostOpen":%d,"hosts":%s,"startMs":%.3f}`,
		requests.Load(), chunks.Load(), firstNs.Load(), lastNs.Load(), cpuUs()-cpuBefore.Load(), connected.mostOpen, hosts, float64(startedAt.UnixMicro())/1000)
}

// reset forgets what was; with ?log requests are noted one by one from now on.
func reset(_ http.ResponseWriter, request *http.Request) {
	requests.Store(0)
	chunks.Store(0)
	firstNs.Store(0)
	lastNs.Store(0)
	cpuBefore.Store(cpuUs())
	connected.Lock()
	connected.mostOpen = connected.open
	connected.hosts = map[string]bool{}
	connected.Unlock()
	logged.Lock()
	logged.streams = nil
	logged.isOn = request.URL.Query().Has("log")
	logged.Unlock()
}

func sendLog(out http.ResponseWriter, _ *http.Request) {
	logged.Lock()
	defer logged.Unlock()
	check(json.NewEncoder(out).Encode(logged.streams))
}

func note(one stream) {
	requests.Add(1)
	firstNs.CompareAndSwap(0, one.ReceivedNs)
	lastNs.Store(one.LastNs)
	logged.Lock()
	if logged.isOn {
		logged.streams = append(logged.streams, one)
	}
	logged.Unlock()
}

func cpuUs() int64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Utime.Sec*1e6 + int64(usage.Utime.Usec) + usage.Stime.Sec*1e6 + int64(usage.Stime.Usec)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "llm stub:", err)
		os.Exit(1)
	}
}
