package main

import (
	"context"
	"encoding/binary"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
)

// TensorFlow Serving's PredictionService with the same model: its metadata, and answers with typed values, as the real server's.

const (
	dtInt32        = 3
	signatureName  = "serving_default"
	signatureField = "signature_def"
	signaturesType = "type.googleapis.com/tensorflow.serving.SignatureDefMap"
)

// predictAnswers holds the ready replies by batch size.
var predictAnswers [maxBatch + 1][]byte

func buildPredictAnswers() {
	for batch := 1; batch <= maxBatch; batch++ {
		predictAnswers[batch] = predictAnswerPB(batch)
	}
}

// tensorShapePB is a TensorShapeProto.
func tensorShapePB(shape ...int64) []byte {
	var b []byte
	for _, size := range shape {
		b = appendMessage(b, 2, appendInt(nil, 1, size))
	}
	return b
}

// modelSpecPB is the ModelSpec of answers.
func modelSpecPB() []byte {
	return appendMessage(appendString(nil, 1, modelNames[plain]), 2, appendInt(nil, 1, 1))
}

func predictMetadataPB() []byte {
	var signature []byte
	for at, names := range [][]string{inputNames, outputNames} {
		for _, name := range names {
			info := appendInt(appendString(nil, 1, name+":0"), 2, dtInt32)
			info = appendMessage(info, 3, tensorShapePB(-1, columns))
			signature = appendMessage(signature, protowire.Number(at+1), appendMessage(appendString(nil, 1, name), 2, info))
		}
	}
	signature = appendString(signature, 3, "tensorflow/serving/predict")
	signatures := appendMessage(nil, 1, appendMessage(appendString(nil, 1, signatureName), 2, signature))
	packed := appendMessage(appendString(nil, 1, signaturesType), 2, signatures)
	b := appendMessage(nil, 1, modelSpecPB())
	return appendMessage(b, 2, appendMessage(appendString(nil, 1, signatureField), 2, packed))
}

func predictAnswerPB(batch int) []byte {
	var b []byte
	for output, name := range outputNames {
		var values []byte
		for raw := outputBytes(output, batch); len(raw) > 0; raw = raw[4:] {
			values = protowire.AppendVarint(values, uint64(int64(int32(binary.LittleEndian.Uint32(raw)))))
		}
		tensor := appendMessage(appendInt(nil, 1, dtInt32), 2, tensorShapePB(int64(batch), columns))
		tensor = appendMessage(tensor, 7, values)
		b = appendMessage(b, 1, appendMessage(appendString(nil, 1, name), 2, tensor))
	}
	return appendMessage(b, 2, modelSpecPB())
}

// batchOf is the first dimension of the first input of a PredictRequest.
func batchOf(message []byte) int {
	batch := 0
	eachField(message, func(field protowire.Number, entry []byte, _ uint64) {
		if field != 2 || batch > 0 {
			return
		}
		within(entry, 2, func(tensor []byte) {
			within(tensor, 2, func(shape []byte) {
				within(shape, 2, func(dim []byte) {
					eachField(dim, func(field protowire.Number, _ []byte, number uint64) {
						if field == 1 && batch == 0 {
							batch = int(min(max(number, 1), maxBatch))
						}
					})
				})
			})
		})
	})
	return max(batch, 1)
}

// within calls back with each message in a field of a message.
func within(message []byte, wanted protowire.Number, use func([]byte)) {
	eachField(message, func(field protowire.Number, bytes []byte, _ uint64) {
		if field == wanted {
			use(bytes)
		}
	})
}

func predict(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	var request []byte
	if err := decode(&request); err != nil {
		return nil, err
	}
	batch := batchOf(request)
	count.add(viaGRPC, asked{batch: batch}, arrivalOfCall(ctx))
	return predictAnswers[batch], nil
}

func predictService() *grpc.ServiceDesc {
	buildPredictAnswers()
	return &grpc.ServiceDesc{
		ServiceName: "tensorflow.serving.PredictionService",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{
			method("GetModelMetadata", constant(predictMetadataPB())),
			{MethodName: "Predict", Handler: predict},
		},
	}
}
