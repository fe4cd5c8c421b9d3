// A gRPC server of demo.proto without generated code: its types are made when it starts. It serves reflection v1, and counts calls.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/durationpb"
)

type field struct {
	name     string
	kind     descriptorpb.FieldDescriptorProto_Type
	typeName string
	isList   bool
}

func messageOf(name string, fields ...field) *descriptorpb.DescriptorProto {
	message := &descriptorpb.DescriptorProto{Name: &name}
	for i, f := range fields {
		label := descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
		if f.isList {
			label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED
		}
		described := &descriptorpb.FieldDescriptorProto{Name: proto.String(f.name), Number: proto.Int32(int32(i + 1)), Type: &f.kind, Label: &label}
		if f.typeName != "" {
			described.TypeName = &f.typeName
		}
		message.Field = append(message.Field, described)
	}
	return message
}

func methodOf(name string, isClientStream, isServerStream bool) *descriptorpb.MethodDescriptorProto {
	return &descriptorpb.MethodDescriptorProto{
		Name: &name, InputType: proto.String(".demo.v1.Request"), OutputType: proto.String(".demo.v1.Reply"),
		ClientStreaming: &isClientStream, ServerStreaming: &isServerStream,
	}
}

// describe is demo.proto.
func describe() protoreflect.FileDescriptor {
	const (
		text     = descriptorpb.FieldDescriptorProto_TYPE_STRING
		small    = descriptorpb.FieldDescriptorProto_TYPE_INT32
		large    = descriptorpb.FieldDescriptorProto_TYPE_INT64
		truth    = descriptorpb.FieldDescriptorProto_TYPE_BOOL
		message  = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
		choice   = descriptorpb.FieldDescriptorProto_TYPE_ENUM
		duration = ".google.protobuf.Duration"
	)
	fault := &descriptorpb.EnumDescriptorProto{Name: proto.String("Fault")}
	for i, name := range []string{"NONE", "REFUSE", "HANG"} {
		fault.Value = append(fault.Value, &descriptorpb.EnumValueDescriptorProto{Name: proto.String(name), Number: proto.Int32(int32(i))})
	}
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("demo.proto"), Package: proto.String("demo.v1"), Syntax: proto.String("proto3"),
		Dependency: []string{durationpb.File_google_protobuf_duration_proto.Path()},
		EnumType:   []*descriptorpb.EnumDescriptorProto{fault},
		MessageType: []*descriptorpb.DescriptorProto{
			messageOf("Request", field{"text", text, "", false}, field{"count", small, "", false}, field{"numbers", large, "", true},
				field{"delay", message, duration, false}, field{"fault", choice, ".demo.v1.Fault", false}),
			messageOf("Reply", field{"text", text, "", false}, field{"number", large, "", false}, field{"ok", truth, "", false}),
		},
		Service: []*descriptorpb.ServiceDescriptorProto{{
			Name: proto.String("Text"),
			Method: []*descriptorpb.MethodDescriptorProto{
				methodOf("Echo", false, false), methodOf("Collect", true, false), methodOf("Repeat", false, true), methodOf("Talk", true, true),
			},
		}},
	}, protoregistry.GlobalFiles)
	if err == nil {
		err = protoregistry.GlobalFiles.RegisterFile(file)
	}
	if err != nil {
		panic(err)
	}
	return file
}

var demo = describe()
var requestType = demo.Messages().ByName("Request")
var replyType = demo.Messages().ByName("Reply")
var calls, received, sent, cancelled atomic.Int64

func get(message *dynamicpb.Message, name protoreflect.Name) protoreflect.Value {
	return message.Get(message.Descriptor().Fields().ByName(name))
}

func reply(text string, number int64) *dynamicpb.Message {
	message := dynamicpb.NewMessage(replyType)
	fields := replyType.Fields()
	message.Set(fields.ByName("text"), protoreflect.ValueOfString(text))
	message.Set(fields.ByName("number"), protoreflect.ValueOfInt64(number))
	message.Set(fields.ByName("ok"), protoreflect.ValueOfBool(number >= 0))
	return message
}

func sum(message *dynamicpb.Message) int64 {
	total, numbers := int64(0), get(message, "numbers").List()
	for i := range numbers.Len() {
		total += numbers.Get(i).Int()
	}
	return total
}

// wait does what a request asks for before its reply.
func wait(stream grpc.ServerStream, request *dynamicpb.Message) error {
	switch get(request, "fault").Enum() {
	case 1:
		return status.Error(codes.FailedPrecondition, "refused as asked")
	case 2:
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	delay := get(request, "delay").Message()
	fields := delay.Descriptor().Fields()
	time.Sleep(time.Duration(delay.Get(fields.ByName("seconds")).Int())*time.Second + time.Duration(delay.Get(fields.ByName("nanos")).Int()))
	return nil
}

func send(stream grpc.ServerStream, message *dynamicpb.Message) error {
	if err := stream.SendMsg(message); err != nil {
		return err
	}
	sent.Add(1)
	return nil
}

func serve(stream grpc.ServerStream, isClientStream, isServerStream bool) error {
	count, total := 0, int64(0)
	for {
		request := dynamicpb.NewMessage(requestType)
		if err := stream.RecvMsg(request); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		received.Add(1)
		count++
		total += sum(request)
		text := get(request, "text").String()
		switch {
		case isServerStream:
			for i := range max(1, get(request, "count").Int()) {
				if err := wait(stream, request); err != nil {
					return err
				}
				if err := send(stream, reply(text, i+1)); err != nil {
					return err
				}
			}
		case !isClientStream:
			if err := wait(stream, request); err != nil {
				return err
			}
			return send(stream, reply(text, total))
		default:
			if err := wait(stream, request); err != nil {
				return err
			}
		}
		if !isClientStream {
			return nil
		}
	}
	if isServerStream {
		return nil
	}
	return send(stream, reply(strconv.Itoa(count), total))
}

func textService() *grpc.ServiceDesc {
	service := &grpc.ServiceDesc{ServiceName: "demo.v1.Text", HandlerType: (*any)(nil), Metadata: "demo.proto"}
	methods := demo.Services().ByName("Text").Methods()
	for i := range methods.Len() {
		method := methods.Get(i)
		isClientStream, isServerStream := method.IsStreamingClient(), method.IsStreamingServer()
		service.Streams = append(service.Streams, grpc.StreamDesc{
			StreamName: string(method.Name()), ClientStreams: isClientStream, ServerStreams: isServerStream,
			Handler: func(_ any, stream grpc.ServerStream) error {
				calls.Add(1)
				err := serve(stream, isClientStream, isServerStream)
				if stream.Context().Err() != nil {
					cancelled.Add(1)
				}
				return err
			},
		})
	}
	return service
}

func control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /counter", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"calls":%d,"received":%d,"sent":%d,"cancelled":%d}`, calls.Load(), received.Load(), sent.Load(), cancelled.Load())
	})
	mux.HandleFunc("POST /reset", func(http.ResponseWriter, *http.Request) {
		for _, counter := range []*atomic.Int64{&calls, &received, &sent, &cancelled} {
			counter.Store(0)
		}
	})
	return mux
}

func main() {
	certFile := flag.String("cert", "", "PEM file; with -key, TLS")
	keyFile := flag.String("key", "", "")
	port := flag.Int("port", 0, "0: a free one")
	flag.Parse()
	grpcListener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		panic(err)
	}
	httpListener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	var options []grpc.ServerOption
	if *certFile != "" {
		tls, err := credentials.NewServerTLSFromFile(*certFile, *keyFile)
		if err != nil {
			panic(err)
		}
		options = append(options, grpc.Creds(tls))
	}
	server := grpc.NewServer(options...)
	server.RegisterService(textService(), struct{}{})
	reflection.RegisterV1(server)
	go server.Serve(grpcListener)
	go http.Serve(httpListener, control())
	fmt.Printf("{\"grpc\":%d,\"control\":%d}\n", grpcListener.Addr().(*net.TCPAddr).Port, httpListener.Addr().(*net.TCPAddr).Port)
	io.Copy(io.Discard, os.Stdin) // ends with the process that started it
}
