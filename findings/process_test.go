package findings

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/facts"
)

func active(subject, rule, level, key string) facts.Finding {
	return facts.Finding{Subject: subject, Rule: rule, Name: "n" + rule, Level: level, Key: key, Message: key, Status: facts.StatusActive}
}

func TestProcess(t *testing.T) {
	t.Parallel()
	list := []facts.Finding{
		active("b", "GPU101", facts.Error, "/x"),
		active("a", "GPU108", facts.Note, "/x"),
		active("a", "GPU104", facts.Warning, "/x"),
		active("a", "GPU101", facts.Error, "/x"),
		active("a", "GPU101", facts.Error, "/x"),
	}
	r := Process(list, Options{Names: map[string]string{"a": "repo", "b": "repo"}, Ignore: []string{"GPU104"}})
	if d := cmp.Diff(facts.Summary{Error: 2, Note: 1, Ignored: 1}, r.Summary); d != "" {
		t.Error(d)
	}
	var got []string
	for _, f := range r.Findings {
		got = append(got, f.Subject+f.Rule+f.Status)
	}
	want := []string{"aGPU101active", "aGPU104ignored", "aGPU108active", "bGPU101active"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if r.Findings[0].Fingerprint != Fingerprint("GPU101", "repo", "/x") || r.Findings[0].Fingerprint != r.Findings[3].Fingerprint {
		t.Error("fingerprints of one repository differ")
	}
	if list[0].Fingerprint != "" || list[2].Status != facts.StatusActive {
		t.Error("the input was changed")
	}
}

func TestProcessEmpty(t *testing.T) {
	t.Parallel()
	// An empty list, not null: it ends up in JSON.
	if r := Process(nil, Options{}); r.Findings == nil || len(r.Findings) != 0 || r.Summary != (facts.Summary{}) {
		t.Errorf("%+v", r)
	}
}

func TestProcessOrder(t *testing.T) {
	t.Parallel()
	var list []facts.Finding
	for i := range 60 {
		f := active(fmt.Sprint("s", i%3), fmt.Sprint("GPU10", i%5), []string{facts.Error, facts.Warning, facts.Note}[i%3], fmt.Sprint("/k", i%7))
		f.Message = fmt.Sprint("m", i%4)
		f.Evidence = []facts.Evidence{{Path: fmt.Sprint("/p", i%11)}}
		list = append(list, f)
	}
	want := Process(list, Options{Limit: 40})
	for seed := range uint64(20) {
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if d := cmp.Diff(want, Process(list, Options{Limit: 40})); d != "" {
			t.Fatal(d)
		}
	}
}

// TestStableAcrossRebuilds: another tag, another driver, shifted layers, and
// still the same alert; a further driver file is a new one.
func TestStableAcrossRebuilds(t *testing.T) {
	t.Parallel()
	build := func(subject, driver string, layer int, names ...string) map[string]bool {
		var list []facts.Finding
		for _, n := range names {
			path := "/usr/lib/" + n + ".so." + driver
			f := active(subject, "GPU101", facts.Error, path)
			f.Evidence = []facts.Evidence{{Path: path, Layer: &facts.LayerRef{Index: layer}}}
			list = append(list, f)
		}
		set := map[string]bool{}
		for _, f := range Process(list, Options{Names: map[string]string{subject: "ghcr.io/org/app"}}).Findings {
			set[f.Fingerprint] = true
		}
		return set
	}
	first := build("ghcr.io/org/app:1", "535.161.08", 1, "libcuda")
	rebuilt := build("ghcr.io/org/app:2@sha256:00", "550.54.14", 4, "libcuda")
	if d := cmp.Diff(first, rebuilt); d != "" {
		t.Error(d)
	}
	if more := build("ghcr.io/org/app:3", "535.161.08", 1, "libcuda", "libnvidia-ml"); len(more) != 2 {
		t.Error(more)
	}
}
