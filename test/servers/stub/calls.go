package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// callCounters are what the service stub.Calls saw since the last reset.
type callCounters struct {
	calls, received, receivedBytes, sent, halfCloses, cancelled atomic.Int64
}

var callCount callCounters

func (c *callCounters) reset() {
	for _, counter := range []*atomic.Int64{&c.calls, &c.received, &c.receivedBytes, &c.sent, &c.halfCloses, &c.cancelled} {
		counter.Store(0)
	}
}

func (c *callCounters) json() []byte {
	return fmt.Appendf(nil, `{"calls":%d,"received":%d,"receivedBytes":%d,"sent":%d,"halfCloses":%d,"cancelled":%d}`,
		c.calls.Load(), c.received.Load(), c.receivedBytes.Load(), c.sent.Load(), c.halfCloses.Load(), c.cancelled.Load())
}

// callOrders is what a call's metadata asks for.
type callOrders struct {
	responses int  // stub-responses: how often each answer is sent, with its number if more than once; default 1
	endAfter  int  // stub-end-after: end after so many messages without reading on; 0, the default, reads to the end
	code      int  // stub-status: the status after all responses; default OK
	isHalf    bool // stub-half-duplex: read all messages before the first answer
	isHeld    bool // stub-hold: do not end before the client cancels
}

func readOrders(md metadata.MD) callOrders {
	number := func(name string, otherwise int) int {
		if values := md.Get(name); len(values) > 0 {
			if value, err := strconv.Atoi(values[0]); err == nil {
				return value
			}
		}
		return otherwise
	}
	return callOrders{
		responses: number("stub-responses", 1),
		endAfter:  number("stub-end-after", 0),
		code:      number("stub-status", 0),
		isHalf:    number("stub-half-duplex", 0) == 1,
		isHeld:    number("stub-hold", 0) == 1,
	}
}

// oneCall is one call of any of the four types.
type oneCall struct {
	grpc.ServerStream
	desc          *grpc.StreamDesc
	orders        callOrders
	receivedBytes int
}

func (c *oneCall) answer(message []byte) error {
	for n := range c.orders.responses {
		numbered := message
		if c.orders.responses > 1 {
			numbered = fmt.Appendf(nil, "%s#%d", message, n+1)
		}
		if err := c.SendMsg(numbered); err != nil {
			return err
		}
		callCount.sent.Add(1)
	}
	return nil
}

// readAll reads the messages, answers each where the call interleaves them, and returns the last one and, for the end, those still due.
func (c *oneCall) readAll() (last []byte, due [][]byte, err error) {
	for n := 1; ; n++ {
		var message []byte
		if err := c.RecvMsg(&message); errors.Is(err, io.EOF) {
			callCount.halfCloses.Add(1)
			return last, due, nil
		} else if err != nil {
			return last, nil, err
		}
		callCount.received.Add(1)
		callCount.receivedBytes.Add(int64(len(message)))
		c.receivedBytes += len(message)
		last = message
		switch {
		case !c.desc.ClientStreams || !c.desc.ServerStreams: // answered at the end
		case c.orders.isHalf:
			due = append(due, message)
		default:
			if err := c.answer(message); err != nil {
				return last, nil, err
			}
		}
		if !c.desc.ClientStreams || n == c.orders.endAfter {
			return last, due, nil
		}
	}
}

func (c *oneCall) serve() error {
	last, due, err := c.readAll()
	if err != nil {
		return err
	}
	switch {
	case c.orders.code != 0 && !c.desc.ServerStreams:
	case c.desc.ClientStreams && !c.desc.ServerStreams:
		err = c.answer(fmt.Appendf(nil, "%d bytes", c.receivedBytes))
	case !c.desc.ClientStreams:
		err = c.answer(last)
	}
	for _, message := range due {
		if err == nil {
			err = c.answer(message)
		}
	}
	if err == nil && c.orders.isHeld {
		<-c.Context().Done()
		err = c.Context().Err()
	}
	if err == nil && c.orders.code != 0 {
		return status.Error(codes.Code(c.orders.code), "asked for by the client")
	}
	return err
}

// callService echoes messages in the four types of calls, as the metadata of each call asks; see callOrders. Repeated answers are numbered.
// ClientStream answers with the number of bytes it got.
func callService() *grpc.ServiceDesc {
	service := &grpc.ServiceDesc{ServiceName: "stub.Calls", HandlerType: (*any)(nil)}
	for _, desc := range []grpc.StreamDesc{
		{StreamName: "Unary"},
		{StreamName: "ClientStream", ClientStreams: true},
		{StreamName: "ServerStream", ServerStreams: true},
		{StreamName: "BidiStream", ClientStreams: true, ServerStreams: true},
	} {
		desc.Handler = func(_ any, stream grpc.ServerStream) error {
			callCount.calls.Add(1)
			md, _ := metadata.FromIncomingContext(stream.Context())
			err := (&oneCall{ServerStream: stream, desc: &desc, orders: readOrders(md)}).serve()
			if stream.Context().Err() != nil {
				callCount.cancelled.Add(1)
			}
			return err
		}
		service.Streams = append(service.Streams, desc)
	}
	return service
}
