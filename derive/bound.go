package derive

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/gpulint/gpulint/facts"
)

// Bounds of the rules' input. What is over them is counted and reported.
const (
	maxCandidates = 2000
	maxInput      = 900 << 10 // bytes, below the engine's cap of 1 MiB
)

// incomplete lists the limits that the scan hit.
func (d *deriver) incomplete() []facts.LimitCandidate {
	var out []facts.LimitCandidate
	for i, x := range d.img.Incomplete {
		c := facts.LimitCandidate{Limit: x.Limit, Hides: x.Hides, Count: x.Count}
		c.ID = "incomplete/" + strconv.Itoa(i)
		c.Key = "limit:" + x.Limit + ":" + normalPath(x.Path)
		c.Evidence = []facts.Evidence{{Path: x.Path, Layer: d.layerRef(x.Layer), Detail: fmt.Sprintf("%d times", x.Count)}}
		out = append(out, c)
	}
	return out
}

// bound cuts the input to what the rules take: the first candidates of each
// kind, limits before all else. dropped is what was left out before.
func bound(in *facts.Input, dropped int) {
	b := &budget{left: maxInput, count: maxCandidates, dropped: dropped}
	b.spend(in.Subject, in.Targets)
	in.Incomplete = keep(b, in.Incomplete)
	in.Verdicts = keep(b, in.Verdicts)
	in.VersionDrift = keep(b, in.VersionDrift)
	in.DriverPackages = keep(b, in.DriverPackages)
	in.DriverFiles = keep(b, in.DriverFiles)
	if b.dropped == 0 {
		return
	}
	c := facts.LimitCandidate{Limit: "candidates", Hides: "further findings", Count: b.dropped}
	c.ID, c.Key = "incomplete/candidates", "limit:candidates"
	c.Evidence = []facts.Evidence{{Detail: fmt.Sprintf("%d candidates were left out", b.dropped)}}
	in.Incomplete = append(in.Incomplete, c)
}

type budget struct{ left, count, dropped int }

func (b *budget) spend(vs ...any) bool {
	for _, v := range vs {
		data, err := json.Marshal(v)
		if err != nil || len(data) > b.left {
			return false
		}
		b.left -= len(data)
	}
	return true
}

// keep returns the candidates that fit.
func keep[T any](b *budget, cs []T) []T {
	for i, c := range cs {
		if b.count == 0 || !b.spend(c) {
			b.dropped += len(cs) - i
			return cs[:i:i]
		}
		b.count--
	}
	return cs
}
