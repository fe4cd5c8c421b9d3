// Command measure runs one command and reports what its whole process tree cost:
//
//	measure -out FILE [-limit 60s] [-until URL] [-awake] -- command arguments…
//	measure -sleep-on CORE
//	measure -copy HOST:PORT -request FILE [-connections 16] [-for 4s]
//	measure -copy HOST:PORT -request FILE -streams N [-connections 16]
//	measure -call HOST:PORT -path METHOD -request FILE [-connections 16] [-for 4s]
//
// FILE gets {"start_ns","wall_ms","user_us","system_us","peak_rss_kb","exit","timed_out"}. start_ns is the wall clock just before
// the process starts. CPU time includes every descendant, the orphaned too; peak_rss_kb is the largest single process.
// With -until the command is killed as soon as that URL answers: this is how a time to the first request is taken without polling.
// With -awake the machine's cores do not sleep meanwhile. -sleep-on prints how late a thread wakes on a core: see lateness.go.
// -copy sends a file's bytes as requests: see copy.go, and copy_streams.go for responses that are streams; -call does so with calls of gRPC: see copy_grpc.go.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

const prSetChildSubreaper = 36 // from Linux's prctl.h; orphans of the command then become children of this process

type result struct {
	StartNs   int64 `json:"start_ns"`
	WallMs    int64 `json:"wall_ms"`
	UserUs    int64 `json:"user_us"`
	SystemUs  int64 `json:"system_us"`
	PeakRSSKB int64 `json:"peak_rss_kb"`
	Exit      int   `json:"exit"`
	TimedOut  bool  `json:"timed_out"`
}

func main() {
	log.SetFlags(0)
	outFile := flag.String("out", "", "file for the result")
	limit := flag.Duration("limit", time.Minute, "kill the command after this long")
	untilURL := flag.String("until", "", "kill the command once this URL answers")
	awake := flag.Bool("awake", false, "keep cores from sleeping")
	sleepOn := flag.Int("sleep-on", -1, "a core's number: print how late a thread wakes there")
	copyTo := flag.String("copy", "", "the address of an HTTP server")
	callTo := flag.String("call", "", "the address of a gRPC server")
	path := flag.String("path", "", "with -call: of the method")
	request := flag.String("request", "", "with -copy or -call: the file of the request's bytes, or of the message")
	connections := flag.Int("connections", 16, "with -copy or -call: how many requests at once")
	streams := flag.Int("streams", 0, "with -copy: how many requests, whose responses are streams")
	duration := flag.Duration("for", 4*time.Second, "with -copy or -call: how long")
	flag.Parse()
	if *copyTo != "" && *streams > 0 {
		copyStreams(*copyTo, *request, *connections, *streams)
		return
	}
	if *copyTo != "" {
		copyRequests(*copyTo, *request, *connections, *duration)
		return
	}
	if *callTo != "" {
		copyCalls(*callTo, *request, *path, *connections, *duration)
		return
	}
	if *awake {
		keepAwake()
	}
	if *sleepOn >= 0 {
		printLateness(*sleepOn)
		return
	}
	runtime.LockOSThread() // the command is killed when the thread that started it ends
	if flag.NArg() == 0 || *outFile == "" {
		log.Fatal("measure: -out FILE and a command are needed")
	}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0); errno != 0 {
		log.Fatalf("measure: prctl: %v", errno)
	}
	text, err := json.Marshal(run(flag.Args(), *limit, *untilURL))
	if err == nil {
		err = os.WriteFile(*outFile, text, 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(arguments []string, limit time.Duration, untilURL string) result {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if untilURL != "" {
		go endWhenAnswered(ctx, cancel, untilURL)
		time.Sleep(20 * time.Millisecond) // the waiting request is in before the command costs anything
	}
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	start := time.Now()
	if err := command.Start(); err != nil {
		log.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
			_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		case <-ended:
		}
	}()
	err := command.Wait()
	close(ended)
	r := result{StartNs: start.UnixNano(), WallMs: time.Since(start).Milliseconds(), Exit: command.ProcessState.ExitCode()}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		log.Fatal(err)
	}
	r.TimedOut = errors.Is(ctx.Err(), context.DeadlineExceeded)
	reapOrphans(command.Process.Pid)
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err != nil {
		log.Fatal(err)
	}
	r.UserUs, r.SystemUs, r.PeakRSSKB = usage.Utime.Nano()/1000, usage.Stime.Nano()/1000, usage.Maxrss
	return r
}

// endWhenAnswered is asked with a fresh connection: reuse is of no use here.
func endWhenAnswered(ctx context.Context, end func(), url string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		log.Fatal(err)
	}
	if response, err := http.DefaultClient.Do(request); err == nil {
		response.Body.Close()
	}
	end()
}

// reapOrphans ends what the command left running, so that its CPU time is counted and it does not disturb the next client.
func reapOrphans(group int) {
	_ = syscall.Kill(-group, syscall.SIGKILL)
	for {
		if _, err := syscall.Wait4(-1, nil, 0, nil); err != syscall.EINTR && err != nil {
			return
		}
	}
}
