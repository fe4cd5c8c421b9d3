package main

import (
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
)

// region is a registered piece of system shared memory. Nothing here opens it.
type region struct {
	Name     string `json:"name"`
	Key      string `json:"key"`
	Offset   uint64 `json:"offset"`
	ByteSize uint64 `json:"byte_size"`
}

// regionTable holds what clients have registered, by name.
type regionTable struct {
	lock   sync.Mutex
	byName map[string]region
	held   atomic.Int64
}

var regions = regionTable{byName: map[string]region{}}

// any says whether a request can name a region at all; cheap enough for every request.
func (t *regionTable) any() bool { return t.held.Load() > 0 }

func (t *regionTable) put(r region) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.byName[r.Name] = r
	t.held.Store(int64(len(t.byName)))
}

// remove forgets one region, or all when no name is given.
func (t *regionTable) remove(name string) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if name == "" {
		clear(t.byName)
	} else {
		delete(t.byName, name)
	}
	t.held.Store(int64(len(t.byName)))
}

// list gives one region, or all when no name is given.
func (t *regionTable) list(name string) []region {
	t.lock.Lock()
	defer t.lock.Unlock()
	found := []region{}
	for _, r := range t.byName {
		if name == "" || r.Name == name {
			found = append(found, r)
		}
	}
	return found
}

// handleRegions serves Triton's extension for system shared memory; of CUDA's only that there is nothing to unregister.
func handleRegions(mux *http.ServeMux) {
	status := func(w http.ResponseWriter, r *http.Request) {
		sendJSON(w, http.StatusOK, mustJSON(regions.list(r.PathValue("region"))))
	}
	unregister := func(_ http.ResponseWriter, r *http.Request) { regions.remove(r.PathValue("region")) }
	register := func(w http.ResponseWriter, r *http.Request) {
		made := region{}
		if err := json.NewDecoder(r.Body).Decode(&made); err != nil || made.Key == "" || made.ByteSize == 0 {
			sendJSON(w, http.StatusBadRequest, mustJSON(object{"error": "the stub expects a region's key and byte_size"}))
			return
		}
		made.Name = r.PathValue("region")
		regions.put(made)
	}
	for _, path := range []string{"/v2/systemsharedmemory", "/v2/systemsharedmemory/region/{region}"} {
		mux.HandleFunc("GET "+path+"/status", status)
		mux.HandleFunc("POST "+path+"/unregister", unregister)
	}
	mux.HandleFunc("POST /v2/systemsharedmemory/region/{region}/register", register)
	mux.HandleFunc("GET /v2/cudasharedmemory/status", document(func() []byte { return []byte("[]") }))
	mux.HandleFunc("POST /v2/cudasharedmemory/unregister", func(http.ResponseWriter, *http.Request) {})
}

// readRegion reads a SystemSharedMemoryRegisterRequest; those for status and unregistering have only its first field.
func readRegion(message []byte) (r region) {
	eachField(message, func(field protowire.Number, bytes []byte, number uint64) {
		switch field {
		case 1:
			r.Name = string(bytes)
		case 2:
			r.Key = string(bytes)
		case 3:
			r.Offset = number
		case 4:
			r.ByteSize = number
		}
	})
	return r
}

// statusPB is a SystemSharedMemoryStatusResponse: a map from names to regions.
func statusPB(found []region) (b []byte) {
	for _, r := range found {
		status := appendString(appendString(nil, 1, r.Name), 2, r.Key)
		status = appendInt(appendInt(status, 3, int64(r.Offset)), 4, int64(r.ByteSize))
		b = appendMessage(b, 1, appendMessage(appendString(nil, 1, r.Name), 2, status))
	}
	return b
}

// eachField calls back with every length-delimited and varint field of a message, up to where it is broken.
func eachField(message []byte, visit func(field protowire.Number, bytes []byte, number uint64)) {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return
		}
		message = message[n:]
		var bytes []byte
		var number uint64
		switch kind {
		case protowire.BytesType:
			bytes, n = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(message)
		default:
			n = protowire.ConsumeFieldValue(field, kind, message)
		}
		if n < 0 {
			return
		}
		if kind == protowire.BytesType || kind == protowire.VarintType {
			visit(field, bytes, number)
		}
		message = message[n:]
	}
}
