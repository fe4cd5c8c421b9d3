package main

import (
	"bytes"
	"io"
	"log"
	"net"
	"os"
	"sync"
	"sync/atomic"
)

// endOfChunks ends a chunked body; no event of a stream ends so.
var endOfChunks = []byte("\r\n0\r\n\r\n")

// copyStreams writes the same request to an HTTP/1.1 server as often as count says, on several connections, and reads the chunked responses
// without looking at more than their ends: no client can read these streams for less.
func copyStreams(address, file string, connections, count int) {
	request, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	var started atomic.Int64
	var done sync.WaitGroup
	for range connections {
		done.Add(1)
		go func() {
			defer done.Done()
			conn, err := net.Dial("tcp", address)
			if err != nil {
				log.Fatal(err)
			}
			defer conn.Close()
			buffer := make([]byte, 1<<16)
			for started.Add(1) <= int64(count) {
				if _, err := conn.Write(request); err != nil {
					log.Fatal(err)
				}
				if err := readChunks(conn, buffer); err != nil {
					log.Fatal(err)
				}
			}
		}()
	}
	done.Wait()
}

// readChunks takes a response up to the end of its chunks.
func readChunks(conn io.Reader, buffer []byte) error {
	kept := 0
	for {
		count, err := conn.Read(buffer[kept:])
		if err != nil {
			return err
		}
		filled := buffer[:kept+count]
		if bytes.HasSuffix(filled, endOfChunks) {
			return nil
		}
		kept = copy(buffer, filled[max(0, len(filled)-len(endOfChunks)+1):])
	}
}
