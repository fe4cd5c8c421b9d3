// Command stub answers the models "simple" and "simple_sequence" over KServe v2 (HTTP with binary tensors, gRPC unary and streamed) from
// ready bytes, so that a bench measures the load generator, and counts the requests it got. Tensors in system shared memory are never
// looked at: a request that names regions, where there are any, is answered as if its outputs had been written.
//
//	GET  /counter   {"http","grpc","stream": requests, "first_ns","last_ns": wall clock, "cpu_us": own CPU, "connections"}, since the last
//	                reset; of the requests "shm" had all tensors in shared memory, "sequence_requests" belonged to sequences,
//	                "sequence_starts" and "sequence_ends" of them began and ended one
//	GET  /calls     {"calls","received","receivedBytes","sent","halfCloses","cancelled"} of the service stub.Calls since the last reset
//	GET  /lateness?rate=N  {"requests","p50_us","p99_us","max_us"} of the requests since the last reset: see lateness.go
//	GET  /first     answers once an inference request has come since the last reset, 408 after 30 s
//	POST /reset     starts these counts again; the model's statistics keep growing
//
// All are answered on the HTTP port and on a control port, which stays without TLS. Once all ports listen it prints one line:
// {"http":PORT,"grpc":PORT,"control":PORT}.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime/debug"

	"arrival"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip"
)

func listen(address string) net.Listener {
	listener, err := arrival.Listen(address)
	if err != nil {
		log.Fatal(err)
	}
	return listener
}

// countingListener counts what it accepts and hands on connections that know when their bytes came.
type countingListener struct{ net.Listener }

func (l countingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		count.connections.Add(1)
		conn = arrival.Wrap(conn)
	}
	return conn, err
}

func portOf(listener net.Listener) int { return listener.Addr().(*net.TCPAddr).Port }

// readTLS returns nil where no certificate was named. With a client CA, clients must show a certificate it signed.
func readTLS(certFile, keyFile, clientCAFile string) (*tls.Config, error) {
	if certFile == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}}
	if clientCAFile != "" {
		pem, err := os.ReadFile(clientCAFile)
		if err != nil {
			return nil, err
		}
		config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		if !config.ClientCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("no certificate in %s", clientCAFile)
		}
	}
	return config, nil
}

func main() {
	log.SetFlags(0)
	httpAddress := flag.String("http", "127.0.0.1:0", "address of the HTTP port; port 0 takes a free one")
	grpcAddress := flag.String("grpc", "127.0.0.1:0", "address of the gRPC port")
	controlAddress := flag.String("control", "127.0.0.1:0", "address of the port for /counter and /reset")
	certFile := flag.String("tls-cert", "", "certificate (PEM) for the HTTP and the gRPC port")
	keyFile := flag.String("tls-key", "", "its private key")
	clientCAFile := flag.String("client-ca", "", "require client certificates signed by this CA")
	untilStdinEnds := flag.Bool("until-stdin-ends", false, "exit when standard input ends, as it does when the parent dies")
	flag.Parse()
	debug.SetGCPercent(800)

	tlsConfig, err := readTLS(*certFile, *keyFile, *clientCAFile)
	if err != nil {
		log.Fatal(err)
	}
	httpListener, grpcListener, controlListener := net.Listener(countingListener{listen(*httpAddress)}), countingListener{listen(*grpcAddress)}, listen(*controlAddress)
	fmt.Printf(`{"http":%d,"grpc":%d,"control":%d}`+"\n", portOf(httpListener), portOf(grpcListener), portOf(controlListener))

	var grpcOptions []grpc.ServerOption
	if tlsConfig != nil {
		grpcOptions = append(grpcOptions, grpc.Creds(credentials.NewTLS(tlsConfig.Clone())))
		tlsConfig.NextProtos = []string{"http/1.1"}
		httpListener = tls.NewListener(httpListener, tlsConfig)
	}
	handler := newHTTPHandler()
	grpcServer := newGRPCServer(grpcOptions...)
	go func() { log.Fatal(grpcServer.Serve(grpcListener)) }()
	go func() { log.Fatal(serveHTTP(httpListener, handler)) }()
	go func() { log.Fatal(http.Serve(controlListener, handler)) }()
	if *untilStdinEnds {
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	select {}
}
