package main

import (
	"compress/zlib"
	"io"

	"google.golang.org/grpc/encoding"
)

// deflate is gRPC's encoding of that name, zlib's format, which grpc-go leaves to its users. gzip is its own.
type deflate struct{}

func init() { encoding.RegisterCompressor(deflate{}) }

func (deflate) Name() string { return "deflate" }

func (deflate) Compress(into io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(into), nil }

func (deflate) Decompress(from io.Reader) (io.Reader, error) { return zlib.NewReader(from) }
