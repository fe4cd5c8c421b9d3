package main

import (
	"math"
	"testing"
)

// The schedule of these tests: 1,000 requests per second, of which the first half second is left out.
func arriveAt(delayUs func(i int) int64) []int64 {
	times := make([]int64, 2000)
	for i := range times {
		times[i] = int64(i)*1e6 + delayUs(i)*1000
	}
	return times
}

func TestLateness(t *testing.T) {
	cases := []struct {
		name          string
		delayUs       func(i int) int64
		p50, p99, max float64
	}{
		{"on time", func(int) int64 { return 0 }, 0, 0, 0},
		{"all as late", func(int) int64 { return 700 }, 0, 0, 0},
		{"late while starting only", func(i int) int64 { return max(0, int64(400-i)) * 100 }, 0, 0, 0},
		{"one in ten late by 400 us", func(i int) int64 { return int64(i%10/9) * 400 }, 0, 400, 400},
		{"1 ppt slower", func(i int) int64 { return int64(i) }, 749, 1484, 1499},
		{"1 ppt faster", func(i int) int64 { return int64(-i) }, 749, 1484, 1499},
		{"a pause of 5 ms near the end", func(i int) int64 { return int64(i/1980) * 5000 }, 0, 5000, 5000},
	}
	for _, c := range cases {
		l := measureLateness(arriveAt(c.delayUs), 1000)
		for _, pair := range [][2]float64{{l.p50Us, c.p50}, {l.p99Us, c.p99}, {l.maxUs, c.max}} {
			if math.Abs(pair[0]-pair[1]) > 1.5 {
				t.Errorf("%s: got %+v, want %v %v %v", c.name, l, c.p50, c.p99, c.max)
			}
		}
	}
	if l := measureLateness(nil, 1000); l.requests != 0 {
		t.Errorf("no arrivals: %+v", l)
	}
}
