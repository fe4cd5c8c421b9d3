package main

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// inferRequest is all that an answer depends on: how many rows, and the id to send back.
type inferRequest struct {
	id    []byte
	batch int
}

// inferAnswers holds the ready reply per batch size (0 is unused), for unary calls and, wrapped, for streams.
var inferAnswers [maxBatch + 1][]byte

func buildGRPCAnswers() {
	for batch := 1; batch <= maxBatch; batch++ {
		inferAnswers[batch] = inferAnswerPB(batch)
	}
}

// read finds ModelInferRequest.id (3) and the length of the first raw_input_contents (7) without decoding the rest.
// A request with its values in typed fields instead counts as one row.
func (r *inferRequest) read(message []byte) {
	r.batch = 1
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return
		}
		message = message[n:]
		if kind != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(field, kind, message); n < 0 {
				return
			}
			message = message[n:]
			continue
		}
		value, n := protowire.ConsumeBytes(message)
		if n < 0 {
			return
		}
		switch field {
		case 3:
			r.id = append(r.id[:0], value...)
		case 7:
			r.batch = min(max(len(value)/rowBytes, 1), maxBatch)
			return // the writers of this message put the id before the tensors
		}
		message = message[n:]
	}
}

func (r *inferRequest) answer() []byte {
	ready := inferAnswers[r.batch]
	if len(r.id) == 0 {
		return ready
	}
	out := make([]byte, 0, len(ready)+len(r.id)+8)
	return appendMessage(append(out, ready...), 3, r.id)
}

func (r *inferRequest) streamAnswer() []byte {
	bare := inferAnswers[r.batch]
	idBytes := 0
	if len(r.id) > 0 {
		idBytes = protowire.SizeTag(3) + protowire.SizeBytes(len(r.id))
	}
	out := make([]byte, 0, len(bare)+idBytes+8)
	out = protowire.AppendVarint(protowire.AppendTag(out, 2, protowire.BytesType), uint64(len(bare)+idBytes)) // infer_response
	out = append(out, bare...)
	if idBytes > 0 {
		out = appendMessage(out, 3, r.id)
	}
	return out
}

// rawCodec moves message bytes as they are. Inference requests are looked through in place, all others ignored.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(message any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(message.([]byte))}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, into any) error {
	request, ok := into.(*inferRequest)
	switch {
	case !ok:
	case len(data) == 1:
		request.read(data[0].ReadOnlyData())
	default:
		request.read(data.Materialize())
	}
	return nil
}

func method(name string, answer func() []byte) grpc.MethodDesc {
	return grpc.MethodDesc{MethodName: name, Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		if err := decode(nil); err != nil {
			return nil, err
		}
		return answer(), nil
	}}
}

func constant(message []byte) func() []byte { return func() []byte { return message } }

func inferUnary(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	var request inferRequest
	if err := decode(&request); err != nil {
		return nil, err
	}
	count.add(viaGRPC, request.batch)
	return request.answer(), nil
}

func inferStream(_ any, stream grpc.ServerStream) error {
	var request inferRequest
	for {
		request.id = request.id[:0]
		if err := stream.RecvMsg(&request); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		count.add(viaStream, request.batch)
		if err := stream.SendMsg(request.streamAnswer()); err != nil {
			return err
		}
	}
}

func newGRPCServer(options ...grpc.ServerOption) *grpc.Server {
	buildGRPCAnswers()
	encoding.RegisterCodecV2(rawCodec{})
	// Workers save a goroutine per call; a fixed window saves the pings that would estimate one.
	options = append(options, grpc.NumStreamWorkers(4), grpc.StaticStreamWindowSize(1<<20), grpc.StaticConnWindowSize(4<<20))
	server := grpc.NewServer(options...)
	yes := constant(appendInt(nil, 1, 1))
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "inference.GRPCInferenceService",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{
			method("ServerLive", yes), method("ServerReady", yes), method("ModelReady", yes),
			method("ServerMetadata", constant(serverMetadataPB())),
			method("ModelMetadata", constant(modelMetadataPB())),
			method("ModelConfig", constant(modelConfigPB())),
			method("ModelStatistics", statisticsPB),
			method("TraceSetting", constant(nil)),
			{MethodName: "ModelInfer", Handler: inferUnary},
		},
		Streams: []grpc.StreamDesc{{StreamName: "ModelStreamInfer", ServerStreams: true, ClientStreams: true, Handler: inferStream}},
	}, struct{}{})
	return server
}
