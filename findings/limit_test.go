package findings

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/facts"
)

func TestLimit(t *testing.T) {
	t.Parallel()
	f := func(rule, level, status string) facts.Finding {
		return facts.Finding{Rule: rule, Level: level, Status: status}
	}
	list := []facts.Finding{
		f("1", facts.Error, facts.StatusIgnored),
		f("2", facts.Note, facts.StatusActive),
		f("3", facts.Warning, facts.StatusActive),
		f("4", facts.Warning, facts.StatusActive),
		f("5", facts.Error, facts.StatusActive),
	}
	for n, want := range map[int][]string{
		1: {"5"},
		2: {"3", "5"},
		3: {"3", "4", "5"},
		4: {"2", "3", "4", "5"},
		5: {"1", "2", "3", "4", "5"},
		0: {"1", "2", "3", "4", "5"},
	} {
		kept, omitted := Limit(list, n)
		var got []string
		for _, f := range kept {
			got = append(got, f.Rule)
		}
		if d := cmp.Diff(want, got); d != "" || omitted != len(list)-len(want) {
			t.Errorf("limit %d: omitted %d, %s", n, omitted, d)
		}
	}
	if kept, omitted := Limit(make([]facts.Finding, DefaultLimit+7), 0); len(kept) != DefaultLimit || omitted != 7 {
		t.Error(len(kept), omitted)
	}
}
