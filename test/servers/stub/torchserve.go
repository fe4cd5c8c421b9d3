package main

import (
	"fmt"
	"io"
	"net/http"
	"time"
)

// handleTorchServe adds TorchServe's health check and the predictions of the model "simple", which answers how many bytes it got.
func handleTorchServe(mux *http.ServeMux) {
	mux.HandleFunc("GET /ping", document(func() []byte { return []byte(`{"status": "Healthy"}`) }))
	path := "/predictions/" + modelName
	mux.HandleFunc("OPTIONS "+path, document(func() []byte { return []byte(`{"openapi": "3.0.1"}`) }))
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		arrivedNs := time.Now().UnixNano()
		size, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			return
		}
		count.add(viaHTTP, asked{model: plain, batch: 1}, arrivedNs)
		sendJSON(w, http.StatusOK, fmt.Appendf(nil, `{"bytes": %d}`, size))
	})
}
