package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"arrival"
)

// A connection is served by a loop of its own, which answers the usual inference request (complete head in the buffer, a
// Content-Length, binary tensors) from ready bytes. Everything else goes through net/http's parser and the handler below.

// httpAnswer is what one model answers to requests of one batch size.
type httpAnswer struct {
	headerBytes int    // of the JSON header
	body        []byte // header and output bytes
	reply       []byte // the complete reply for a request without an id
}

// httpAnswers by model, by whether outputs lie in shared memory (0 or 1), and by batch size.
var httpAnswers [len(modelNames)][2][maxBatch + 1]httpAnswer

func buildHTTPAnswers() {
	for name := range modelNames {
		for shared := range 2 {
			for batch := 1; batch <= maxBatch; batch++ {
				rows := model(name).rows(batch)
				body := model(name).inferHeaderJSON(rows, shared == 1)
				headerBytes := len(body)
				for output := range outputNames {
					if shared == 0 {
						body = append(body, outputBytes(output, rows)...)
					}
				}
				answer := httpAnswer{headerBytes: headerBytes, body: body}
				answer.reply = answer.append(nil, nil)
				httpAnswers[name][shared][batch] = answer
			}
		}
	}
}

func (a asked) httpAnswer() *httpAnswer {
	if a.shared {
		return &httpAnswers[a.model][1][a.batch]
	}
	return &httpAnswers[a.model][0][a.batch]
}

func (a *httpAnswer) append(out []byte, id []byte) []byte {
	extra := 0
	if len(id) > 0 {
		extra = len(`"id":"",`) + len(id)
	}
	out = append(out, "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nInference-Header-Content-Length: "...)
	out = strconv.AppendInt(out, int64(a.headerBytes+extra), 10)
	out = append(out, "\r\nContent-Length: "...)
	out = strconv.AppendInt(out, int64(len(a.body)+extra), 10)
	out = append(out, "\r\n\r\n"...)
	if extra == 0 {
		return append(out, a.body...)
	}
	out = append(append(append(out, `{"id":"`...), id...), `",`...)
	return append(out, a.body[1:]...)
}

func serveHTTP(listener net.Listener, handler http.Handler) error {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go serveConnection(conn, handler)
	}
}

func serveConnection(conn net.Conn, handler http.Handler) {
	defer conn.Close()
	reader := bufio.NewReaderSize(conn, 1<<16)
	var scratch []byte
	for {
		if _, err := reader.Peek(1); err != nil {
			return
		}
		buffered, _ := reader.Peek(reader.Buffered())
		if head, ok := readInferHead(buffered); ok && head.model == bulk && head.headBytes+head.jsonBytes <= len(buffered) {
			id, _ := findID(buffered[head.headBytes : head.headBytes+head.jsonBytes])
			request := asked{model: bulk, batch: maxBatch}
			scratch = request.httpAnswer().append(scratch[:0], id)
			count.add(viaHTTP, request, arrival.Of(conn))
			if _, err := reader.Discard(head.totalBytes); err != nil {
				return
			}
			if _, err := conn.Write(scratch); err != nil {
				return
			}
			continue
		}
		if head, ok := readInferHead(buffered); ok && head.totalBytes <= reader.Size() {
			whole, err := reader.Peek(head.totalBytes)
			if err != nil {
				return
			}
			body := whole[head.headBytes:]
			id, isPlain := findID(body[:head.jsonBytes])
			request, isUsual := readAsked(head.model, body, head.jsonBytes)
			if isPlain && isUsual {
				answer := request.httpAnswer()
				reply := answer.reply
				if len(id) > 0 {
					scratch = answer.append(scratch[:0], id)
					reply = scratch
				}
				count.add(viaHTTP, request, arrival.Of(conn))
				_, _ = reader.Discard(head.totalBytes)
				if _, err := conn.Write(reply); err != nil {
					return
				}
				continue
			}
		}
		if !serveAnyRequest(conn, reader, handler) {
			return
		}
	}
}

type inferHead struct {
	model                            model
	headBytes, jsonBytes, totalBytes int
}

// readInferHead says whether this is an inference request of the usual kind, for which model, and how long its parts are.
func readInferHead(buffered []byte) (head inferHead, ok bool) {
	end := bytes.Index(buffered, []byte("\r\n\r\n"))
	if end < 0 {
		return head, false
	}
	switch {
	case bytes.HasPrefix(buffered, []byte("POST /v2/models/"+modelName+"/")):
	case bytes.HasPrefix(buffered, []byte("POST /v2/models/"+sequenceName+"/")):
		head.model = sequential
	case bytes.HasPrefix(buffered, []byte("POST /v2/models/"+bulkName+"/")):
		head.model = bulk
	default:
		return head, false
	}
	line, rest, _ := bytes.Cut(buffered[:end], []byte("\r\n"))
	if !bytes.HasSuffix(line, []byte("/infer HTTP/1.1")) {
		return head, false
	}
	head.headBytes = end + 4
	bodyBytes := -1
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		if len(line) < 7 {
			continue
		}
		switch line[0] | 0x20 { // only four first letters can matter
		case 'i':
			if value, is := headerValue(line, "inference-header-content-length:"); is {
				head.jsonBytes = parseDecimal(value)
			}
		case 'c':
			if value, is := headerValue(line, "content-length:"); is {
				bodyBytes = parseDecimal(value)
			} else if _, is := headerValue(line, "content-encoding:"); is {
				return head, false
			} else if value, is := headerValue(line, "connection:"); is && !bytes.EqualFold(value, []byte("keep-alive")) {
				return head, false
			}
		case 'e':
			if _, is := headerValue(line, "expect:"); is {
				return head, false
			}
		case 't':
			if _, is := headerValue(line, "transfer-encoding:"); is {
				return head, false
			}
		}
	}
	head.totalBytes = head.headBytes + bodyBytes
	return head, head.jsonBytes > 0 && bodyBytes >= head.jsonBytes
}

func headerValue(line []byte, name string) ([]byte, bool) {
	if len(line) < len(name) || !bytes.EqualFold(line[:len(name)], []byte(name)) {
		return nil, false
	}
	return bytes.TrimSpace(line[len(name):]), true
}

func parseDecimal(digits []byte) int {
	n := 0
	for _, digit := range digits {
		if digit < '0' || digit > '9' || n > 1<<30 {
			return -1
		}
		n = n*10 + int(digit-'0')
	}
	return n
}

// readAsked looks at what tensors and sequence a request has; isUsual is false for tensors that are neither binary nor in shared memory.
func readAsked(m model, body []byte, jsonBytes int) (request asked, isUsual bool) {
	request = asked{model: m, batch: min(max((len(body)-jsonBytes)/(len(inputNames)*rowBytes), 1), maxBatch)}
	header := body[:jsonBytes]
	if m == sequential {
		request.sequenceMark = readSequence(header)
	}
	if len(body) > jsonBytes {
		return request, true
	}
	inputs, outputs, _ := bytes.Cut(header, []byte(`"outputs":`))
	if !regions.any() || bytes.Count(inputs, []byte(regionParameter)) < len(inputNames) ||
		bytes.Count(outputs, []byte(regionParameter)) < len(outputNames) {
		return request, false
	}
	if _, shape, ok := bytes.Cut(inputs, []byte(`"shape":[`)); ok {
		digits, _, _ := bytes.Cut(shape, []byte(","))
		request.batch = min(max(parseDecimal(digits), 1), maxBatch)
	}
	request.shared = true
	return request, true
}

const regionParameter = `"shared_memory_region":`

// readSequence finds the parameters as the two tools write them: without spaces before the values.
func readSequence(header []byte) sequenceMark {
	_, parameters, ok := bytes.Cut(header, []byte(`"sequence_id":`))
	if !ok {
		return sequenceMark{}
	}
	parameters, _, _ = bytes.Cut(parameters, []byte("}"))
	return sequenceMark{inSequence: true, isStart: bytes.Contains(parameters, []byte(`"sequence_start":true`)),
		isEnd: bytes.Contains(parameters, []byte(`"sequence_end":true`))}
}

// findID returns the request's id; plain is false where it takes a real JSON parser to tell.
func findID(header []byte) (id []byte, plain bool) {
	at := bytes.Index(header, []byte(`"id"`))
	if at < 0 {
		return nil, true
	}
	rest, ok := bytes.CutPrefix(header[at+4:], []byte(`:"`))
	end := bytes.IndexByte(rest, '"')
	if !ok || end < 0 || bytes.IndexByte(rest[:end], '\\') >= 0 {
		return nil, false
	}
	return rest[:end], true
}

// ---- everything that need not be fast ----

// recorder collects a handler's answer, so that it can be written with its length known.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header            { return r.header }
func (r *recorder) WriteHeader(status int)         { r.status = status }
func (r *recorder) Write(part []byte) (int, error) { return r.body.Write(part) }

// serveAnyRequest answers one request with the handler and says whether the connection stays open.
func serveAnyRequest(conn net.Conn, reader *bufio.Reader, handler http.Handler) bool {
	request, err := http.ReadRequest(reader)
	if err != nil {
		return false
	}
	if request.Header.Get("Expect") != "" {
		if _, err := io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return false
		}
	}
	answer := &recorder{header: http.Header{}, status: http.StatusOK}
	handler.ServeHTTP(answer, request)
	if _, err := io.Copy(io.Discard, request.Body); err != nil {
		return false
	}
	response := &http.Response{ProtoMajor: 1, ProtoMinor: 1, StatusCode: answer.status, Header: answer.header, Request: request,
		ContentLength: int64(answer.body.Len()), Body: io.NopCloser(&answer.body), Close: request.Close}
	var text bytes.Buffer // one write, one packet: a client's start is timed against these answers too
	if response.Write(&text) != nil {
		return false
	}
	_, err = conn.Write(text.Bytes())
	return err == nil && !request.Close
}

func sendJSON(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

func document(text func() []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, http.StatusOK, text()) }
}

func ofModel(handle func(m model, w http.ResponseWriter, r *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		version := r.PathValue("version")
		m := slices.Index(modelNames[:], r.PathValue("model"))
		if m < 0 || (version != "" && version != modelVersion) {
			sendJSON(w, http.StatusNotFound, mustJSON(object{"error": "the stub has only version " + modelVersion + " of models " + strings.Join(modelNames[:], ", ")}))
			return
		}
		handle(model(m), w, r)
	}
}

func modelDocument(text func(model) []byte) http.HandlerFunc {
	return ofModel(func(m model, w http.ResponseWriter, _ *http.Request) { sendJSON(w, http.StatusOK, text(m)) })
}

func newHTTPHandler() http.Handler {
	buildHTTPAnswers()
	mux := http.NewServeMux()
	done := func(http.ResponseWriter, *http.Request) {}
	mux.HandleFunc("GET /v2/health/{state}", done)
	mux.HandleFunc("GET /v2", document(serverMetadataJSON))
	for _, path := range []string{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"} {
		mux.HandleFunc("GET "+path, modelDocument(model.metadataJSON))
		mux.HandleFunc("GET "+path+"/ready", ofModel(func(model, http.ResponseWriter, *http.Request) {}))
		mux.HandleFunc("GET "+path+"/config", modelDocument(model.configJSON))
		mux.HandleFunc("GET "+path+"/stats", modelDocument(model.statisticsJSON))
		mux.HandleFunc("POST "+path+"/infer", ofModel(inferAny))
	}
	mux.HandleFunc("GET /v2/models/stats", document(plain.statisticsJSON))
	handleRegions(mux)
	handleTorchServe(mux)
	mux.HandleFunc("GET /lateness", answerLateness)
	mux.HandleFunc("GET /counter", document(count.json))
	mux.HandleFunc("GET /calls", document(callCount.json))
	mux.HandleFunc("GET /first", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-count.first():
		case <-r.Context().Done():
		case <-time.After(30 * time.Second):
			w.WriteHeader(http.StatusRequestTimeout)
		}
	})
	mux.HandleFunc("POST /reset", func(http.ResponseWriter, *http.Request) { count.reset() })
	return mux
}

// inferAny answers the requests that the fast loop leaves: JSON tensors, chunked bodies, connections that end, unusual ids.
func inferAny(m model, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	header := body
	binaryTensors := r.Header.Get("Inference-Header-Content-Length") != ""
	if n, bad := strconv.Atoi(r.Header.Get("Inference-Header-Content-Length")); binaryTensors && bad == nil && n >= 0 && n <= len(body) {
		header = body[:n]
	}
	var request struct {
		ID         string `json:"id"`
		Parameters struct {
			ID    json.RawMessage `json:"sequence_id"`
			Start bool            `json:"sequence_start"`
			End   bool            `json:"sequence_end"`
		} `json:"parameters"`
		Inputs []struct {
			Shape []int `json:"shape"`
		} `json:"inputs"`
	}
	if err == nil {
		err = json.Unmarshal(header, &request)
	}
	if err != nil || len(request.Inputs) != len(inputNames) || len(request.Inputs[0].Shape) != 2 ||
		request.Inputs[0].Shape[0] < 1 || request.Inputs[0].Shape[0] > m.maxRows() || request.Inputs[0].Shape[1] != columns {
		sendJSON(w, http.StatusBadRequest, mustJSON(object{"error": fmt.Sprintf("the stub expects two inputs of shape [1 to %d,%d]", m.maxRows(), columns)}))
		return
	}
	batch := request.Inputs[0].Shape[0]
	mark := sequenceMark{inSequence: request.Parameters.ID != nil, isStart: request.Parameters.Start, isEnd: request.Parameters.End}
	seen, _ := readAsked(m, body, len(header))
	count.add(viaHTTP, asked{model: m, batch: batch, shared: seen.shared, sequenceMark: mark}, time.Now().UnixNano())
	answer := object{"model_name": modelNames[m], "model_version": modelVersion}
	if request.ID != "" {
		answer["id"] = request.ID
	}
	var outputs []object
	var raw []byte
	for output, name := range outputNames {
		tensor := object{"name": name, "datatype": "INT32", "shape": []int{batch, columns}}
		if seen.shared {
			// Triton says nothing of them
		} else if binaryTensors {
			tensor["parameters"] = object{"binary_data_size": batch * rowBytes}
			raw = append(raw, outputBytes(output, batch)...)
		} else {
			tensor["data"] = outputValues(output, batch)
		}
		outputs = append(outputs, tensor)
	}
	answer["outputs"] = outputs
	text := mustJSON(answer)
	if !binaryTensors {
		sendJSON(w, http.StatusOK, text)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Inference-Header-Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(append(text, raw...))
}
