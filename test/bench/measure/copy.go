package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net"
	"os"
	"slices"
	"strconv"
	"time"
)

// copyRequests writes the same bytes to an HTTP/1.1 server over and over, on several connections, and reads what comes back without looking
// at more of it than its length: no client can send these requests for less. It prints the percentiles of their times.
func copyRequests(address, file string, connections int, duration time.Duration) {
	request, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	end := time.Now().Add(duration)
	results := make(chan []time.Duration, connections)
	for range connections {
		go func() { results <- copyOnConnection(address, request, end) }()
	}
	printTimes(results, connections)
}

// printTimes prints the percentiles of the times of all connections.
func printTimes(results <-chan []time.Duration, connections int) {
	var all []time.Duration
	for range connections {
		all = append(all, <-results...)
	}
	if len(all) == 0 {
		log.Fatal("measure: no request was answered")
	}
	slices.Sort(all)
	micros := func(share float64) float64 { return float64(all[int(share*float64(len(all)-1))].Nanoseconds()) / 1000 }
	_ = json.NewEncoder(os.Stdout).Encode(map[string]float64{"p50_us": micros(0.5), "p99_us": micros(0.99)})
}

func copyOnConnection(address string, request []byte, end time.Time) []time.Duration {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	buffer := make([]byte, 1<<18)
	var times []time.Duration
	for start := time.Now(); start.Before(end); start = time.Now() {
		if _, err := conn.Write(request); err != nil {
			log.Fatal(err)
		}
		if err := readResponse(conn, buffer); err != nil {
			log.Fatal(err)
		}
		times = append(times, time.Since(start))
	}
	return times
}

// readResponse takes a response that names its length and whose head fits the buffer.
func readResponse(conn net.Conn, buffer []byte) error {
	filled, head := 0, -1
	for head < 0 {
		count, err := conn.Read(buffer[filled:])
		if err != nil {
			return err
		}
		filled += count
		head = bytes.Index(buffer[:filled], []byte("\r\n\r\n"))
	}
	length := 0
	for _, line := range bytes.Split(buffer[:head], []byte("\r\n")) {
		if name, value, _ := bytes.Cut(line, []byte(":")); bytes.EqualFold(name, []byte("Content-Length")) {
			length, _ = strconv.Atoi(string(bytes.TrimSpace(value)))
		}
	}
	for left := head + 4 + length - filled; left > 0; {
		count, err := conn.Read(buffer[:min(left, len(buffer))])
		if err == io.EOF && count < left {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		left -= count
	}
	return nil
}
