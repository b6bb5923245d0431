package fleet

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/facts"
)

func TestFromFlags(t *testing.T) {
	t.Parallel()
	got := FromFlags([]string{"535.161.08", " 470 ", "535.161.08"}, facts.ModeCDI)
	want := []facts.Target{
		{Name: "535.161.08", Driver: "535.161.08", Runtime: facts.ModeCDI}, {Name: "470", Driver: "470", Runtime: facts.ModeCDI},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := FromFlags(nil, ""); got == nil || len(got) != 0 {
		t.Errorf("no flags: %v", got)
	}
}
