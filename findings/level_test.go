package findings

import (
	"testing"

	"github.com/gpulint/gpulint/facts"
)

func TestWorst(t *testing.T) {
	t.Parallel()
	if got := Worst(nil); got != facts.None {
		t.Error(got)
	}
	list := []facts.Finding{
		{Level: facts.Note, Status: facts.StatusActive},
		{Level: facts.Error, Status: facts.StatusIgnored},
		{Level: facts.Warning, Status: facts.StatusActive},
		{Level: facts.Error, Status: facts.StatusBaseline},
	}
	if got := Worst(list); got != facts.Warning {
		t.Error(got)
	}
}

func TestFails(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		level, failOn string
		want          bool
	}{
		{facts.Error, facts.Error, true},
		{facts.Warning, facts.Error, false},
		{facts.Warning, facts.Warning, true},
		{facts.Error, facts.Note, true},
		{facts.Note, facts.Note, true},
		{facts.Error, Never, false},
	} {
		list := []facts.Finding{{Level: tc.level, Status: facts.StatusActive}}
		if got := Fails(list, tc.failOn); got != tc.want {
			t.Errorf("%s under --fail-on %s: %v", tc.level, tc.failOn, got)
		}
	}
	if Fails(nil, facts.Note) {
		t.Error("fails without findings")
	}
}

func TestCheckFailOn(t *testing.T) {
	t.Parallel()
	for _, ok := range []string{facts.Error, facts.Warning, facts.Note, Never} {
		if err := CheckFailOn(ok); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "none", "Error", "critical"} {
		if CheckFailOn(bad) == nil {
			t.Errorf("%q passes", bad)
		}
	}
}
