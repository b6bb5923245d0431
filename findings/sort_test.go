package findings

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/facts"
)

func TestSort(t *testing.T) {
	t.Parallel()
	want := []facts.Finding{
		{Subject: "a", Level: facts.Error, Rule: "GPU101", Key: "x"},
		{Subject: "a", Level: facts.Error, Rule: "GPU101", Key: "y", Message: "1"},
		{Subject: "a", Level: facts.Error, Rule: "GPU101", Key: "y", Message: "2"},
		{Subject: "a", Level: facts.Error, Rule: "GPU901"},
		{Subject: "a", Level: facts.Warning, Rule: "GPU101"},
		{Subject: "a", Level: facts.Note, Rule: "GPU101"},
		{Subject: "b", Level: facts.Error, Rule: "GPU101"},
	}
	for seed := range uint64(20) {
		list := append([]facts.Finding{}, want...)
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if d := cmp.Diff(want, Sort(list)); d != "" {
			t.Fatal(d)
		}
	}
}
