package report

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/gpulint/gpulint/facts"
)

// TestSplitSARIFCategories holds that no two files hold a run of one category,
// also where an image has the name of the run of failures.
func TestSplitSARIFCategories(t *testing.T) {
	t.Parallel()
	r := many(maxRuns + 5)
	r.Subjects = append(r.Subjects, facts.Subject{ID: "failures", Kind: facts.KindImage, Ref: "failures", Name: "failures"})
	r.Failures = []facts.Failure{{Ref: "b", Message: "broken"}}
	var ids []string
	for _, part := range SplitSARIF(r) {
		var log struct {
			Runs []struct{ AutomationDetails struct{ ID string } }
		}
		if err := json.Unmarshal(render(t, "sarif", Options{}, part), &log); err != nil {
			t.Fatal(err)
		}
		for _, run := range log.Runs {
			ids = append(ids, run.AutomationDetails.ID)
		}
	}
	slices.Sort(ids)
	if n := len(slices.Compact(slices.Clone(ids))); n != len(ids) || n != maxRuns+7 {
		t.Errorf("%d categories of %d runs: %v", n, len(ids), ids)
	}
	if r.Subjects[0].Name != "acme/app" || r.Subjects[1].Name != "acme/app" {
		t.Error("the report was changed")
	}
}
