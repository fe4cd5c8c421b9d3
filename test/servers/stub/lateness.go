package main

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
)

// arrivalRing keeps when the system got the latest inference requests, ns since 1970: before this process was woken for them (arrival.go). A slot is taken before it is written, so it is read at rest,
// after a client's run.
type arrivalRing struct {
	taken atomic.Int64
	ns    [1 << 18]atomic.Int64
}

var arrivals arrivalRing

func (a *arrivalRing) add(ns int64) { a.ns[(a.taken.Add(1)-1)%int64(len(a.ns))].Store(ns) }

func (a *arrivalRing) reset() { a.taken.Store(0) }

// sorted gives the kept times in order.
func (a *arrivalRing) sorted() []int64 {
	times := make([]int64, min(a.taken.Load(), int64(len(a.ns))))
	for i := range times {
		times[i] = a.ns[i].Load()
	}
	slices.Sort(times)
	return times
}

const startUpNs = 500_000_000

type lateness struct {
	requests            int
	p50Us, p99Us, maxUs float64
}

// measureLateness compares arrivals with a constant schedule of so many requests per second: the i-th to come is held against the i-th due,
//
//	lateness_i = (a_i - i/rate) - min_j(a_j - j/rate),
//
// so the schedule begins such that nobody is early, and what every request needs to get here does not count. It takes no id: of all ways
// to match arrivals with due times the one in order is the kindest, and it is the same for requests that overtook each other on several
// connections. Requests that were left out, or sent besides the schedule, shift all others and show as lateness; so does a pause, which
// is right: a client that measures one level has no reason to pause. What came in the first half second, while code warms up and connections
// are made, is left out, of the minimum too.
func measureLateness(sortedNs []int64, rate float64) (l lateness) {
	if len(sortedNs) == 0 {
		return l
	}
	from, _ := slices.BinarySearch(sortedNs, sortedNs[0]+startUpNs)
	settled := sortedNs[from:]
	if len(settled) == 0 {
		return l
	}
	late := make([]float64, len(settled))
	for i, ns := range settled {
		late[i] = float64(ns-settled[0]) - float64(i)*1e9/rate
	}
	slices.Sort(late)
	at := func(share float64) float64 {
		return (late[max(int(math.Ceil(share*float64(len(late))))-1, 0)] - late[0]) / 1000
	}
	return lateness{len(late), at(0.5), at(0.99), at(1)}
}

func answerLateness(w http.ResponseWriter, r *http.Request) {
	rate, err := strconv.ParseFloat(r.URL.Query().Get("rate"), 64)
	if err != nil || !(rate > 0) {
		sendJSON(w, http.StatusBadRequest, mustJSON(object{"error": "/lateness?rate=N needs requests per second above 0"}))
		return
	}
	l := measureLateness(arrivals.sorted(), rate)
	sendJSON(w, http.StatusOK, fmt.Appendf(nil, `{"requests":%d,"p50_us":%.1f,"p99_us":%.1f,"max_us":%.1f}`, l.requests, l.p50Us, l.p99Us, l.maxUs))
}
