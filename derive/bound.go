package derive

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/gpulint/gpulint/facts"
)

// Bounds of the rules' input. What is over them is counted and reported.
const (
	maxCandidates = 2000
	maxInput      = 900 << 10 // bytes, below the engine's cap of 1 MiB
	maxConfig     = 96 << 10  // bytes of the environment, and of the labels
	maxTargets    = 256 << 10 // bytes
)

// incomplete lists the limits that the scan hit.
func (d *deriver) incomplete() []facts.LimitCandidate {
	var out []facts.LimitCandidate
	for i, x := range d.img.Incomplete {
		c := facts.LimitCandidate{Limit: x.Limit, Hides: x.Hides, Count: x.Count}
		c.ID = "incomplete/" + strconv.Itoa(i)
		c.Key = "limit:" + x.Limit + ":" + normalPath(x.Path)
		c.Evidence = []facts.Evidence{{Path: x.Path, Layer: d.layerRef(x.Layer), Detail: times(x.Count)}}
		out = append(out, c)
	}
	return out
}

func times(n int) string {
	if n <= 1 {
		return ""
	}
	return fmt.Sprintf("%d times", n)
}

// bound cuts the input to what the rules take: the first candidates of each
// kind, limits before all else, of driver files those that do most harm.
// dropped is what was left out before; config and its like what of the image's
// configuration was.
func bound(in *facts.Input, dropped, config int) {
	t := &budget{left: maxTargets, count: len(in.Targets)}
	in.Targets = keep(t, in.Targets)
	b := &budget{left: maxInput - (maxTargets - t.left), count: maxCandidates, dropped: dropped}
	b.spend(in.Subject) // bounded above: it always fits
	in.Incomplete = keep(b, in.Incomplete)
	in.Verdicts = keep(b, in.Verdicts)
	in.VersionDrift = keep(b, in.VersionDrift)
	in.DriverPackages = keep(b, in.DriverPackages)
	slices.SortStableFunc(in.DriverFiles, func(a, b facts.DriverCandidate) int {
		return cmp.Compare(gravity[a.Class], gravity[b.Class])
	})
	in.DriverFiles = keep(b, in.DriverFiles)
	in.Incomplete = append(in.Incomplete, leftOut(
		limit{"candidates", b.dropped, "candidates", "further findings"},
		limit{"config", config, "variables and labels", "what the environment and the labels say"},
		limit{"targets", t.dropped, "targets", "what findings say of some targets; their verdicts are there"},
	)...)
}

// gravity orders the classes of driver files by the harm they do.
var gravity = map[string]int{facts.ClassLibrary: 0, facts.ClassEmpty: 1, facts.ClassTool: 2, facts.ClassLink: 3, classShadowed: 4}

// limit is a bound of the input, and how much was over it.
type limit struct {
	name        string
	count       int
	what, hides string
}

func leftOut(limits ...limit) []facts.LimitCandidate {
	var out []facts.LimitCandidate
	for _, l := range limits {
		if l.count == 0 {
			continue
		}
		c := facts.LimitCandidate{Limit: l.name, Hides: l.hides, Count: l.count}
		c.ID, c.Key = "incomplete/"+l.name, "limit:"+l.name
		c.Evidence = []facts.Evidence{{Detail: fmt.Sprintf("%d %s were left out", l.count, l.what)}}
		out = append(out, c)
	}
	return out
}

type budget struct{ left, count, dropped int }

func (b *budget) spend(v any) bool {
	data, err := json.Marshal(v)
	if err != nil || len(data) >= b.left {
		return false
	}
	b.left -= len(data) + 1 // a comma
	return true
}

// keep returns the candidates that fit; one that does not takes no other along.
func keep[T any](b *budget, cs []T) []T {
	kept := slices.Clip(cs[:0:0])
	for _, c := range cs {
		if b.count == 0 || !b.spend(c) {
			b.dropped++
			continue
		}
		b.count--
		kept = append(kept, c)
	}
	return kept
}
