package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"arrival"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
)

// inferRequest is all that an answer depends on, and the id to send back.
type inferRequest struct {
	asked
	id []byte
}

// grpcAnswers holds the ready replies by model, by whether outputs lie in shared memory (0 or 1), and by batch size, for unary calls and,
// wrapped, for streams.
var grpcAnswers [len(modelNames)][2][maxBatch + 1][]byte

func buildGRPCAnswers() {
	for name := range modelNames {
		for shared := range 2 {
			for batch := 1; batch <= maxBatch; batch++ {
				grpcAnswers[name][shared][batch] = model(name).inferAnswerPB(batch, shared == 1)
			}
		}
	}
}

// read finds ModelInferRequest's model_name (1), id (3), the parameters (4) of a sequence and the length of the first raw_input_contents (7)
// without decoding the rest. A request without raw contents has its tensors in shared memory, if it says so of all of them, or its values
// in typed fields; it then counts as one row.
func (r *inferRequest) read(message []byte) {
	r.asked = asked{batch: 1}
	for rest := message; len(rest) > 0; {
		field, kind, n := protowire.ConsumeTag(rest)
		if n < 0 {
			return
		}
		rest = rest[n:]
		if kind != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(field, kind, rest); n < 0 {
				return
			}
			rest = rest[n:]
			continue
		}
		value, n := protowire.ConsumeBytes(rest)
		if n < 0 {
			return
		}
		switch field {
		case 1:
			if string(value) == sequenceName {
				r.model = sequential
			}
		case 3:
			r.id = append(r.id[:0], value...)
		case 4:
			if r.model == sequential {
				r.readParameter(value)
			}
		case 7:
			r.batch = min(max(len(value)/rowBytes, 1), maxBatch)
			return // the writers of this message put everything else before the tensors
		}
		rest = rest[n:]
	}
	if regions.any() {
		r.readShared(message)
	}
}

// readShared looks whether all tensors of a request lie in shared memory.
func (r *inferRequest) readShared(message []byte) {
	rows, inputs, outputs := uint64(1), 0, 0
	eachField(message, func(field protowire.Number, tensor []byte, _ uint64) {
		if field != 5 && field != 6 || !bytes.Contains(tensor, []byte(regionName)) {
			return
		}
		if field == 6 {
			outputs++
			return
		}
		inputs++
		eachField(tensor, func(field protowire.Number, shape []byte, _ uint64) {
			if field == 3 {
				rows, _ = protowire.ConsumeVarint(shape)
			}
		})
	})
	if inputs == len(inputNames) && outputs == len(outputNames) {
		r.shared, r.batch = true, int(min(max(rows, 1), maxBatch))
	}
}

const regionName = "shared_memory_region"

// readParameter notes what one entry of the map of parameters says of a sequence.
func (r *inferRequest) readParameter(entry []byte) {
	var name, value []byte
	eachField(entry, func(field protowire.Number, bytes []byte, _ uint64) {
		switch field {
		case 1:
			name = bytes
		case 2:
			value = bytes
		}
	})
	isTrue := false
	eachField(value, func(field protowire.Number, _ []byte, number uint64) { isTrue = field == 1 && number == 1 })
	switch string(name) {
	case "sequence_id":
		r.inSequence = true
	case "sequence_start":
		r.isStart = isTrue
	case "sequence_end":
		r.isEnd = isTrue
	}
}

func (r *inferRequest) bareAnswer() []byte {
	if r.shared {
		return grpcAnswers[r.model][1][r.batch]
	}
	return grpcAnswers[r.model][0][r.batch]
}

func (r *inferRequest) answer() []byte {
	ready := r.bareAnswer()
	if len(r.id) == 0 {
		return ready
	}
	out := make([]byte, 0, len(ready)+len(r.id)+8)
	return appendMessage(append(out, ready...), 3, r.id)
}

func (r *inferRequest) streamAnswer() []byte {
	bare := r.bareAnswer()
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

// rawCodec moves message bytes as they are. Inference requests are looked through in place, others copied for who wants them.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(message any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(message.([]byte))}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, into any) error {
	switch message := into.(type) {
	case *inferRequest:
		if len(data) == 1 {
			message.read(data[0].ReadOnlyData())
		} else {
			message.read(data.Materialize())
		}
	case *[]byte:
		*message = data.Materialize()
	}
	return nil
}

func method(name string, answer func(request []byte) ([]byte, error)) grpc.MethodDesc {
	return grpc.MethodDesc{MethodName: name, Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		var request []byte
		if err := decode(&request); err != nil {
			return nil, err
		}
		return answer(request)
	}}
}

func constant(message []byte) func([]byte) ([]byte, error) {
	return func([]byte) ([]byte, error) { return message, nil }
}

// ofNamed answers for the model that the first field of a request names; all of these requests begin with it.
func ofNamed(answer func(model) []byte) func([]byte) ([]byte, error) {
	return func(request []byte) ([]byte, error) {
		name := readRegion(request).Name
		m := slices.Index(modelNames[:], name)
		if name != "" && m < 0 {
			return nil, status.Errorf(codes.NotFound, "the stub has no model %s", name)
		}
		return answer(model(max(m, 0))), nil
	}
}

// ofRegion changes the table of regions and answers with an empty message.
func ofRegion(change func(region)) func([]byte) ([]byte, error) {
	return func(request []byte) ([]byte, error) {
		change(readRegion(request))
		return nil, nil
	}
}

func inferUnary(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	var request inferRequest
	if err := decode(&request); err != nil {
		return nil, err
	}
	count.add(viaGRPC, request.asked, arrivalOfCall(ctx))
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
		count.add(viaStream, request.asked, arrivalOfCall(stream.Context()))
		if err := stream.SendMsg(request.streamAnswer()); err != nil {
			return err
		}
	}
}

func newGRPCServer(options ...grpc.ServerOption) *grpc.Server {
	buildGRPCAnswers()
	encoding.RegisterCodecV2(rawCodec{})
	// Workers save a goroutine per call; a fixed window saves the pings that would estimate one.
	options = append(options, grpc.NumStreamWorkers(4), grpc.StaticStreamWindowSize(1<<20), grpc.StaticConnWindowSize(4<<20), grpc.MaxRecvMsgSize(64<<20))
	server := grpc.NewServer(options...)
	yes := constant(appendInt(nil, 1, 1))
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "inference.GRPCInferenceService",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{
			method("ServerLive", yes), method("ServerReady", yes), method("ModelReady", yes),
			method("ServerMetadata", constant(serverMetadataPB())),
			method("ModelMetadata", ofNamed(model.metadataPB)),
			method("ModelConfig", ofNamed(model.configPB)),
			method("ModelStatistics", ofNamed(model.statisticsPB)),
			method("SystemSharedMemoryRegister", ofRegion(regions.put)),
			method("SystemSharedMemoryUnregister", ofRegion(func(r region) { regions.remove(r.Name) })),
			method("SystemSharedMemoryStatus", func(request []byte) ([]byte, error) {
				return statusPB(regions.list(readRegion(request).Name)), nil
			}),
			method("CudaSharedMemoryUnregister", constant(nil)),
			method("CudaSharedMemoryStatus", constant(nil)),
			method("TraceSetting", constant(nil)),
			{MethodName: "ModelInfer", Handler: inferUnary},
		},
		Streams: []grpc.StreamDesc{{StreamName: "ModelStreamInfer", ServerStreams: true, ClientStreams: true, Handler: inferStream}},
	}, struct{}{})
	server.RegisterService(callService(), struct{}{})
	server.RegisterService(predictService(), struct{}{})
	return server
}

func arrivalOfCall(ctx context.Context) int64 {
	if from, ok := peer.FromContext(ctx); ok {
		return arrival.At(from.Addr)
	}
	return arrival.At(nil)
}
