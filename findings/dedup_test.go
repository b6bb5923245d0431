package findings

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/facts"
)

func TestDedupMerges(t *testing.T) {
	t.Parallel()
	layer := &facts.LayerRef{Index: 1}
	got := Dedup([]facts.Finding{
		{
			Rule: "GPU201", Subject: "a", Key: "libcudart.so.12", Level: facts.Warning, Message: "weak", Targets: []string{"t2"},
			Evidence: []facts.Evidence{{Path: "/x", Layer: layer}, {Path: "/y", Layer: layer}}, Fix: "weak fix",
		},
		{
			Rule: "GPU201", Subject: "a", Key: "libcudart.so.12", Level: facts.Error, Message: "sure", Targets: []string{"t3", "t1"},
			Evidence: []facts.Evidence{{Path: "/x", Layer: &facts.LayerRef{Index: 1}}}, Fix: "fix", Predicted: &facts.Predicted{Code: 35},
		},
		{Rule: "GPU201", Subject: "b", Key: "libcudart.so.12", Message: "other subject"},
		{Rule: "GPU202", Subject: "a", Key: "libcudart.so.12", Message: "other rule"},
	})
	want := []facts.Finding{
		{
			Rule: "GPU201", Subject: "a", Key: "libcudart.so.12", Level: facts.Error, Message: "sure weak", Targets: []string{"t1", "t2", "t3"},
			Evidence: []facts.Evidence{{Path: "/x", Layer: layer}, {Path: "/y", Layer: layer}}, Fix: "fix", Predicted: &facts.Predicted{Code: 35},
		},
		{Rule: "GPU201", Subject: "b", Key: "libcudart.so.12", Message: "other subject"},
		{Rule: "GPU202", Subject: "a", Key: "libcudart.so.12", Message: "other rule"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A finding that names no target concerns every target, also once merged.
func TestDedupAllTargets(t *testing.T) {
	t.Parallel()
	got := Dedup([]facts.Finding{{Key: "k", Targets: []string{"a"}}, {Key: "k"}})
	if len(got) != 1 || got[0].Targets != nil {
		t.Errorf("%+v", got)
	}
}

// Two driver versions of one file are one thing: they share the fingerprint.
func TestDedupDriverVersions(t *testing.T) {
	t.Parallel()
	got := Dedup([]facts.Finding{
		{Key: "/l/libcuda.so.535.161.08", Message: "m", Evidence: []facts.Evidence{{Path: "/l/libcuda.so.535.161.08"}}},
		{Key: "/l/libcuda.so.550.54.14", Message: "m", Evidence: []facts.Evidence{{Path: "/l/libcuda.so.550.54.14"}}},
		{Key: "/l/libnvidia-ml.so.550.54.14", Message: "m"},
	})
	if len(got) != 2 || len(got[0].Evidence) != 2 || got[0].Message != "m" {
		t.Errorf("%+v", got)
	}
}

func TestDedupManyMessages(t *testing.T) {
	t.Parallel()
	var list []facts.Finding
	for _, m := range []string{"e", "d", "c", "b", "a"} {
		list = append(list, facts.Finding{Message: m})
	}
	if got := Dedup(list); len(got) != 1 || got[0].Message != "a b c (and 2 more like these)" {
		t.Errorf("%+v", got)
	}
}

func TestEvidenceKeepsSources(t *testing.T) {
	t.Parallel()
	list := []facts.Finding{
		{Evidence: []facts.Evidence{{Source: &facts.SourceRef{File: "Dockerfile", Line: 3}}}},
		{Evidence: []facts.Evidence{{Source: &facts.SourceRef{File: "Dockerfile", Line: 4}}}},
	}
	if got := Dedup(list); len(got[0].Evidence) != 2 {
		t.Errorf("%+v", got)
	}
}
