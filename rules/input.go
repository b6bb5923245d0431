package rules

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/gpulint/gpulint/facts"
)

// Kinds lists the kinds of candidates that a rule may need.
func Kinds() []string {
	return []string{"driver_files", "driver_packages", "verdicts", "version_drift", "incomplete"}
}

// document is the input as rules read it, converted once for all of them.
type document struct {
	value      *ast.Term
	kinds      map[string]bool
	candidates map[string]facts.Candidate
	subject    string
}

func newDocument(in *facts.Input, limit int) (*document, error) {
	d := &document{kinds: map[string]bool{}, candidates: map[string]facts.Candidate{}, subject: in.Subject.ID}
	for _, kind := range Kinds() {
		list := candidates(in, kind)
		d.kinds[kind] = len(list) > 0
		for _, c := range list {
			if _, ok := d.candidates[c.ID]; ok {
				return nil, fmt.Errorf("two candidates have the id %q", c.ID)
			}
			d.candidates[c.ID] = c
		}
	}
	text, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	if len(text) > limit {
		return nil, fmt.Errorf("%d bytes are more than the limit of %d", len(text), limit)
	}
	v, err := ast.ValueFromReader(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("decoding: %w", err)
	}
	d.value = ast.NewTerm(v)
	return d, nil
}

// candidates returns what the input's candidates of a kind have in common.
func candidates(in *facts.Input, kind string) []facts.Candidate {
	switch kind {
	case "driver_files":
		return common(in.DriverFiles, func(c facts.DriverCandidate) facts.Candidate { return c.Candidate })
	case "driver_packages":
		return common(in.DriverPackages, func(c facts.PackageCandidate) facts.Candidate { return c.Candidate })
	case "verdicts":
		return common(in.Verdicts, func(c facts.VerdictCandidate) facts.Candidate { return c.Candidate })
	case "version_drift":
		return common(in.VersionDrift, func(c facts.DriftCandidate) facts.Candidate { return c.Candidate })
	case "incomplete":
		return common(in.Incomplete, func(c facts.LimitCandidate) facts.Candidate { return c.Candidate })
	}
	return nil
}

func common[T any](list []T, get func(T) facts.Candidate) []facts.Candidate {
	out := make([]facts.Candidate, len(list))
	for i, c := range list {
		out[i] = get(c)
	}
	return out
}
