package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"arrival"
)

// A connection is served by a loop of its own. Answers lie ready as bytes; a paced token is one write, others go together as far as they fit.

const word = " the"

var (
	streamHead = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
	firstEvent []byte // the role, without text
	tokenEvent []byte
	lastEvents []byte // why it ended, usage, [DONE], and the end of the body
	wholeReply []byte // of a request that is not streamed
)

func buildAnswers() {
	event := func(delta, finish string) []byte {
		data := fmt.Sprintf(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"tiny","choices":[{"index":0,"delta":{%s},"finish_reason":%s}]}`+"\n\n", delta, finish)
		return []byte(fmt.Sprintf("%x\r\n%s\r\n", len(data), data))
	}
	firstEvent = event(`"role":"assistant","content":""`, "null")
	tokenEvent = event(`"content":"`+word+`"`, "null")
	done := "data: [DONE]\n\n"
	lastEvents = append(event("", `"stop"`), []byte(fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(done), done))...)
	text := strings.Repeat(word, *tokens)
	body := fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"tiny","choices":[{"index":0,"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":%d,"total_tokens":%d}}`, text, *tokens, *tokens+10)
	wholeReply = []byte(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
}

func serveConnection(conn net.Conn) {
	defer conn.Close()
	reader := bufio.NewReaderSize(conn, *buffer)
	for {
		if _, err := reader.Peek(1); err != nil {
			return
		}
		receivedNs := arrival.Of(conn) - startedAt.UnixNano()
		body, isLast, err := readRequest(reader)
		if err != nil {
			return
		}
		one := stream{ReceivedNs: receivedNs}
		if bytes.Contains(body, []byte(`"stream":true`)) || bytes.Contains(body, []byte(`"stream": true`)) {
			err = sendStream(conn, &one)
		} else {
			waitUntil(receivedNs + int64(*ttft))
			one.FirstNs = sinceStart()
			one.LastNs = one.FirstNs
			_, err = conn.Write(wholeReply)
		}
		if err != nil {
			return
		}
		note(one)
		if isLast {
			return
		}
	}
}

// readRequest reads a request; its body is valid until the next one.
func readRequest(reader *bufio.Reader) (body []byte, isLast bool, err error) {
	length := 0
	for {
		line, err := reader.ReadSlice('\n')
		if err != nil {
			return nil, false, err
		}
		text := bytes.TrimRight(line, "\r\n")
		if len(text) == 0 {
			break
		}
		name, value, _ := bytes.Cut(text, []byte(":"))
		switch strings.ToLower(string(name)) {
		case "content-length":
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return nil, false, err
			}
		case "connection":
			isLast = strings.EqualFold(string(bytes.TrimSpace(value)), "close")
		}
	}
	body, err = reader.Peek(length)
	if err == nil {
		_, err = reader.Discard(length)
	}
	return body, isLast, err
}

// sendStream writes a token at a time: each leaves when it is due, or as soon as can be.
func sendStream(conn net.Conn, one *stream) error {
	if _, err := conn.Write(append(append([]byte(nil), streamHead...), firstEvent...)); err != nil {
		return err
	}
	for i := 0; i < *tokens; i++ {
		if *ttft > 0 || *itl > 0 {
			waitUntil(one.ReceivedNs + int64(*ttft) + int64(i)*int64(*itl))
		}
		if i == 0 {
			one.FirstNs = sinceStart()
		}
		if i == *tokens-1 {
			one.LastNs = sinceStart()
		}
		if _, err := conn.Write(tokenEvent); err != nil {
			return err
		}
	}
	chunks.Add(int64(*tokens))
	_, err := conn.Write(lastEvents)
	return err
}

func waitUntil(dueNs int64) {
	if wait := dueNs - sinceStart(); wait > 0 {
		time.Sleep(time.Duration(wait))
	}
}
