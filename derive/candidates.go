package derive

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gpulint/gpulint/facts"
)

// candidates folds targets on which a runtime fares alike.
type candidates struct {
	list []facts.VerdictCandidate
	at   map[candidateKey]int
	// seen are the targets and drivers that a candidate names already.
	seen map[string]bool
}

type candidateKey struct {
	cuda, linkage, level string
	code                 int
}

// add adds a target to the candidate of its runtime and level.
func (cs *candidates) add(d *deriver, r runtime, rv facts.RuntimeVerdict, t facts.Target) {
	key := candidateKey{r.cuda, r.linkage, rv.Level, rv.Code}
	i, ok := cs.at[key]
	if !ok {
		i = len(cs.list)
		cs.at[key] = i
		cs.list = append(cs.list, d.candidate(r, rv, i))
	}
	c := &cs.list[i]
	for _, reason := range rv.Reasons {
		c.Confidence = lower(c.Confidence, reason.Confidence)
		if len(c.Reasons) < 20 && !slices.Contains(c.Reasons, reason.Text) {
			c.Reasons = append(c.Reasons, reason.Text)
		}
	}
	if cs.first(i, "target", t.Name) {
		c.Targets = append(c.Targets, t.Name)
	}
	if t.Driver != "" && cs.first(i, "driver", t.Driver) {
		c.Drivers = append(c.Drivers, t.Driver)
	}
}

func (cs *candidates) first(i int, kind, name string) bool {
	key := strconv.Itoa(i) + kind + name
	seen := cs.seen[key]
	cs.seen[key] = true
	return !seen
}

// candidate begins the candidate of a runtime and a level.
func (d *deriver) candidate(r runtime, rv facts.RuntimeVerdict, i int) facts.VerdictCandidate {
	native, minor := d.matrix.Need(r.cuda)
	c := facts.VerdictCandidate{
		CUDA: *version(r.cuda), Level: rv.Level, Code: rv.Code, Text: rv.Text, Native: native, Minor: minor,
		Confidence: "high", Targets: []string{}, Drivers: []string{}, Reasons: []string{},
	}
	c.ID = "verdicts/" + strconv.Itoa(i)
	c.Key = "cuda:" + r.cuda
	for _, f := range r.files[:min(len(r.files), maxEvidence)] {
		c.Evidence = append(c.Evidence, facts.Evidence{
			Path: f.Path, Layer: d.layerRef(f.Layer), Package: d.packageText(f.File), Detail: runtimeDetail(f),
		})
	}
	return c
}

func runtimeDetail(f facts.Runtime) string {
	v := f.Library
	if v == "" {
		v = f.SONAME
	}
	return fmt.Sprintf("CUDA runtime %s", strings.TrimPrefix(v, path.Base(f.Path)+" "))
}

// lower returns the lower of two confidences; none counts as high.
func lower(a, b string) string {
	rank := map[string]int{"low": 0, "medium": 1, "high": 2, "": 2}
	if rank[b] < rank[a] {
		return b
	}
	return a
}
