package main

import (
	"encoding/binary"
	"log"
	"math"
	"net"
	"os"
	"time"
)

// As many as perf_analyzer puts on one connection.
const streamsPerConnection = 6

const (
	frameHead      = 9
	frameData      = 0
	frameHeaders   = 1
	frameSettings  = 4
	frameWindow    = 8
	flagEndStream  = 1
	flagEndHeaders = 4
	settingWindow  = 4
)

// copyCalls makes the same unary gRPC call over and over, as many at once as there are lanes, and looks at no more of what comes back than
// where a call ends. What one read brings is followed by one write. No client that keeps to these connections can send the calls for less.
func copyCalls(address, file, path string, lanes int, duration time.Duration) {
	message, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	end := time.Now().Add(duration)
	connections := (lanes + streamsPerConnection - 1) / streamsPerConnection
	results := make(chan []time.Duration, connections)
	for index := range connections {
		// The first ones carry one more where they do not divide evenly.
		own := lanes / connections
		if index < lanes%connections {
			own++
		}
		go func() { results <- callOnConnection(address, callFrames(address, path, message), own, end) }()
	}
	printTimes(results, connections)
}

func callOnConnection(address string, call []byte, lanes int, end time.Time) []time.Duration {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	out := openingFrames()
	started := map[uint32]time.Time{}
	next := uint32(1)
	start := func(now time.Time) {
		out = appendCall(out, call, next)
		started[next] = now
		next += 2
	}
	for range lanes {
		start(time.Now())
	}
	if _, err := conn.Write(out); err != nil {
		log.Fatal(err)
	}
	buffer := make([]byte, 1<<18)
	var times []time.Duration
	for filled := 0; len(started) > 0; {
		count, err := conn.Read(buffer[filled:])
		if err != nil {
			log.Fatal(err)
		}
		now := time.Now()
		filled += count
		out = out[:0]
		at := 0
		for filled-at >= frameHead {
			length := int(buffer[at])<<16 | int(buffer[at+1])<<8 | int(buffer[at+2])
			if filled-at < frameHead+length {
				break
			}
			id := binary.BigEndian.Uint32(buffer[at+5:])
			if buffer[at+3] == frameHeaders && buffer[at+4]&flagEndStream != 0 {
				times = append(times, now.Sub(started[id]))
				delete(started, id)
				if now.Before(end) {
					start(now)
				}
			}
			at += frameHead + length
		}
		filled = copy(buffer, buffer[at:filled])
		if len(out) == 0 {
			continue
		}
		if _, err := conn.Write(out); err != nil {
			log.Fatal(err)
		}
	}
	return times
}

// openingFrames lets the server send without waiting for this side: windows are as large as they can be.
func openingFrames() []byte {
	out := []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	setting := binary.BigEndian.AppendUint32([]byte{0, settingWindow}, math.MaxInt32)
	out = appendFrame(out, frameSettings, 0, setting)
	const initial = 65_535
	return appendFrame(out, frameWindow, 0, binary.BigEndian.AppendUint32(nil, math.MaxInt32-initial))
}

// callFrames returns the frames of a call, whose stream is still 0.
func callFrames(address, path string, message []byte) []byte {
	var head []byte
	for _, field := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":path", path}, {":authority", address},
		{"te", "trailers"}, {"content-type", "application/grpc"},
	} {
		// A literal that is not indexed: the same bytes are right for every call.
		head = append(head, 0, byte(len(field[0])))
		head = append(head, field[0]...)
		head = append(head, byte(len(field[1])))
		head = append(head, field[1]...)
	}
	data := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	out := appendFrame(nil, frameHeaders, flagEndHeaders, head)
	return appendFrame(out, frameData, flagEndStream, append(data, message...))
}

func appendFrame(out []byte, kind, flags byte, payload []byte) []byte {
	length := len(payload)
	out = append(out, byte(length>>16), byte(length>>8), byte(length), kind, flags, 0, 0, 0, 0)
	return append(out, payload...)
}

// appendCall adds the two frames of a call with its stream.
func appendCall(out, call []byte, stream uint32) []byte {
	at := len(out)
	out = append(out, call...)
	binary.BigEndian.PutUint32(out[at+5:], stream)
	second := at + frameHead + (int(out[at])<<16 | int(out[at+1])<<8 | int(out[at+2]))
	binary.BigEndian.PutUint32(out[second+5:], stream)
	return out
}
