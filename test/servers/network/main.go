// Command network makes hosts: network namespaces with a device each, between which this program carries the IP packets, late and with losses. It
// does what `tc netem` does in kernels that have it, and needs root and /dev/net/tun.
//
//	network NAME=OUT_MS,IN_MS,JITTER_MS,LOSS_RATIO …
//
// A packet from A to B takes A's time out and B's time in, each with its jitter (evenly spread, below or above), and is lost with A's or B's ratio.
// Packets of a pair of hosts stay in order. Once the hosts are there it prints one line, {NAME:{"address","namespace":path}}. It ends when standard
// input ends, as it does when the parent dies, and prints {NAME:{"carried","lost"}}, packets from and to that host. The namespaces are those of its
// threads: nothing is left of them when it has ended.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Packets on the way of a pair of hosts; more are lost, as at a full queue.
const mostWaiting = 10_000

type host struct {
	name            string
	address         [4]byte
	out, in, jitter time.Duration
	lossRatio       float64
	namespace       string
	device          *os.File
	carried, lost   atomic.Int64
	ways            map[*host]chan packet
}

type packet struct {
	bytes []byte
	due   time.Time
}

func main() {
	log.SetFlags(0)
	var hosts []*host
	for i, text := range os.Args[1:] {
		// Addresses for the measurement of networks (RFC 2544): no route leads there.
		h, err := parse(text, [4]byte{198, 18, 0, byte(i + 1)})
		if err == nil {
			err = h.open()
		}
		if err != nil {
			log.Fatalf("network: the host %s cannot be made: %v; it takes root and /dev/net/tun", text, err)
		}
		hosts = append(hosts, h)
	}
	described := map[string]any{}
	for _, h := range hosts {
		described[h.name] = map[string]any{"address": dotted(h.address), "namespace": h.namespace}
		go h.carry(hosts)
	}
	printLine(described)
	_, _ = io.Copy(io.Discard, os.Stdin)
	counts := map[string]any{}
	for _, h := range hosts {
		counts[h.name] = map[string]any{"carried": h.carried.Load(), "lost": h.lost.Load()}
	}
	printLine(counts)
}

func printLine(value any) {
	text, err := json.Marshal(value)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
}

func parse(text string, address [4]byte) (*host, error) {
	name, values, _ := strings.Cut(text, "=")
	var numbers [4]float64
	for i, one := range strings.SplitN(values, ",", len(numbers)) {
		number, err := strconv.ParseFloat(one, 64)
		if err != nil {
			return nil, err
		}
		numbers[i] = number
	}
	ms := func(number float64) time.Duration { return time.Duration(number * float64(time.Millisecond)) }
	return &host{
		name: name, address: address, out: ms(numbers[0]), in: ms(numbers[1]), jitter: ms(numbers[2]), lossRatio: numbers[3],
		ways: map[*host]chan packet{},
	}, nil
}

// open makes the namespace, on a thread that stays in it, and its device.
func (h *host) open() error {
	opened := make(chan error)
	go func() {
		runtime.LockOSThread()
		opened <- h.openHere()
		select {}
	}()
	return <-opened
}

func (h *host) openHere() error {
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	h.namespace = fmt.Sprintf("/proc/%d/task/%d/ns/net", os.Getpid(), syscall.Gettid())
	device, err := openDevice("wan0")
	if err != nil {
		return err
	}
	h.device = device
	return bringUp("wan0", h.address)
}

// carry takes what the host sends to the others.
func (h *host) carry(hosts []*host) {
	for _, other := range hosts {
		way := make(chan packet, mostWaiting)
		h.ways[other] = way
		go deliver(way, other)
	}
	buffer := make([]byte, 65536)
	for {
		count, err := h.device.Read(buffer)
		if err != nil {
			log.Fatalf("network: %s: %v", h.name, err)
		}
		to := receiver(hosts, buffer[:count])
		if to == nil {
			continue
		}
		if rand.Float64() < h.lossRatio || rand.Float64() < to.lossRatio {
			h.lost.Add(1)
			to.lost.Add(1)
			continue
		}
		due := time.Now().Add(h.out + h.spread() + to.in + to.spread())
		select {
		case h.ways[to] <- packet{append([]byte(nil), buffer[:count]...), due}:
			h.carried.Add(1)
			to.carried.Add(1)
		default:
			h.lost.Add(1)
			to.lost.Add(1)
		}
	}
}

func (h *host) spread() time.Duration {
	return time.Duration((rand.Float64()*2 - 1) * float64(h.jitter))
}

func deliver(way <-chan packet, to *host) {
	for next := range way {
		time.Sleep(time.Until(next.due))
		// A packet that does not fit into the host's queue is lost.
		_, _ = to.device.Write(next.bytes)
	}
}

// receiver returns nil where a packet is no IPv4, or for none of the hosts.
func receiver(hosts []*host, bytes []byte) *host {
	if len(bytes) < 20 || bytes[0]>>4 != 4 {
		return nil
	}
	for _, h := range hosts {
		if [4]byte(bytes[16:20]) == h.address {
			return h
		}
	}
	return nil
}

func dotted(address [4]byte) string {
	return fmt.Sprintf("%d.%d.%d.%d", address[0], address[1], address[2], address[3])
}
