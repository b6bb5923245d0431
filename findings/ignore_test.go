package findings

import (
	"strings"
	"testing"

	"github.com/gpulint/gpulint/facts"
)

func TestIgnore(t *testing.T) {
	t.Parallel()
	list := []facts.Finding{
		{Rule: "GPU101", Name: "bundled-driver-library", Status: facts.StatusActive},
		{Rule: "GPU104", Name: "bundled-driver-tool", Status: facts.StatusActive},
		{Rule: "GPU104", Name: "bundled-driver-tool", Status: facts.StatusBaseline},
		{Rule: "GPU108", Name: "driver-file-shadowed", Status: facts.StatusActive},
	}
	got := Ignore(list, []string{"gpu101", "bundled-driver-tool", "GPU1"})
	for i, want := range []string{facts.StatusIgnored, facts.StatusIgnored, facts.StatusBaseline, facts.StatusActive} {
		if got[i].Status != want {
			t.Errorf("%s: %s, want %s", got[i].Rule, got[i].Status, want)
		}
	}
	if got[0].Reason != "--ignore" || got[3].Reason != "" {
		t.Errorf("%+v", got)
	}
	if list[0].Status != facts.StatusActive {
		t.Error("the list was changed")
	}
}

func TestCheckIgnore(t *testing.T) {
	t.Parallel()
	rules := []facts.Rule{{ID: "GPU101", Name: "bundled-driver-library"}}
	if err := CheckIgnore([]string{"GPU101", "bundled-driver-library"}, rules); err != nil {
		t.Error(err)
	}
	err := CheckIgnore([]string{"GPU101", "GPU1001"}, rules)
	if err == nil || !strings.Contains(err.Error(), `--ignore "GPU1001": no such rule`) {
		t.Error(err)
	}
}
