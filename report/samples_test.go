package report

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/facts"
)

var update = flag.Bool("update", false, "write the golden files anew")

func hexOf(c string) string { return strings.Repeat(c, 64) }

// sample is an ordinary report: two targets, findings of each level and status.
func sample() *facts.Report {
	layers := []facts.Layer{
		{Index: 0, Digest: "sha256:" + hexOf("a"), DiffID: "sha256:" + hexOf("b"), Size: 29 << 20, CreatedBy: "ADD rootfs.tar / # buildkit", Entries: 3000, Verified: true},
		{Index: 1, Digest: "sha256:" + hexOf("c"), DiffID: "sha256:" + hexOf("d"), Size: 3 << 30, CreatedBy: "RUN |1 CUDA=12.4 /bin/sh -c apt-get update && apt-get install -y --no-install-recommends libcuda1 cuda-libraries-12-4 && rm -rf /var/lib/apt/lists/* # buildkit", Entries: 120, Verified: true},
	}
	ref := &facts.LayerRef{Index: 1, Digest: layers[1].Digest, DiffID: layers[1].DiffID, Size: layers[1].Size, CreatedBy: layers[1].CreatedBy}
	reasons := []facts.Reason{
		{Text: "CUDA 12.4 needs driver 550.54.14 or later", Source: "toolkit_driver 12.4.0", Confidence: "high"},
		{Text: "535.161.08 is at or above the floor of CUDA 12, 525.60.13", Source: "family_minimum 12", Confidence: "high"},
	}
	verdict := func(target, mode, level string, code int, text string) facts.Verdict {
		return facts.Verdict{
			Subject: "acme/trainer:1.4", Target: target, RuntimeMode: mode, Level: level, Code: code, Text: text, DeviceCode: "unknown",
			UserModeDriver: facts.UserModeDriver{Kind: "host", Driver: target}, Reasons: reasons,
			Runtimes: []facts.RuntimeVerdict{{CUDA: "12.4", Level: level, Code: code, Text: text, Reasons: reasons, Paths: []string{"/usr/lib/libcudart.so.12.4.127"}}},
		}
	}
	return &facts.Report{
		Schema: facts.SchemaReport,
		Tool:   facts.Tool{Name: "gpulint", Version: "0.1.0", Matrix: "2026-11"},
		Subjects: []facts.Subject{{
			ID: "acme/trainer:1.4", Kind: facts.KindImage, Ref: "acme/trainer:1.4", Name: "acme/trainer",
			Digest: "sha256:" + hexOf("e"), Platform: "linux/amd64", IndexPlatforms: []string{"linux/amd64", "linux/arm64"},
			Verified: true, Layers: layers,
			Needs: &facts.Needs{
				CUDA: []facts.CUDANeed{{
					Version: "12.4", Linkage: "shared", Native: "550.54.14", Minor: "525.60.13",
					Consumers: []string{"/usr/lib/libcudart.so.12.4.127", "/opt/a/libcudart.so.12", "/opt/b/libcudart.so.12", "/opt/c/libcudart.so.12"},
				}},
				Driver: facts.DriverNeed{Native: "550.54.14", Minor: "525.60.13"},
			},
		}},
		Targets: []facts.Target{{Name: "535.161.08", Driver: "535.161.08"}, {Name: "old", Driver: "470.256.02", Runtime: "legacy"}},
		Verdicts: []facts.Verdict{
			verdict("535.161.08", "legacy", facts.LevelMinor, 0, ""), verdict("535.161.08", "cdi", facts.LevelMinor, 0, ""),
			verdict("old", "legacy", facts.LevelIncompatible, 35, "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version"),
		},
		Findings: []facts.Finding{
			{
				Subject: "acme/trainer:1.4", Rule: "GPU101", Name: "bundled-driver-library", Level: facts.Error,
				Message:     "Package libcuda1 535.161.08-1 brings 2 libraries of GPU driver 535.161.08.",
				Targets:     []string{"535.161.08", "old"},
				Predicted:   &facts.Predicted{Code: 803, Text: "cudaErrorSystemDriverMismatch"},
				Evidence:    []facts.Evidence{{Path: "/usr/lib/libcuda.so.535.161.08", Layer: ref, Package: "libcuda1 535.161.08-1", Detail: "28.4 MiB, driver 535.161.08"}, {Path: "/usr/lib/libnvidia-ml.so.535.161.08", Layer: ref, Package: "libcuda1 535.161.08-1"}},
				Fix:         "drop `libcuda1`",
				HelpURI:     "https://github.com/gpulint/gpulint/blob/main/docs/rules/GPU101.md",
				Fingerprint: hexOf("1"), Status: facts.StatusActive,
			},
			{
				Subject: "acme/trainer:1.4", Rule: "GPU202", Name: "minor-version-compat", Level: facts.Note,
				Message: "Runs by minor-version compatibility only.", Targets: []string{"535.161.08"},
				Evidence: []facts.Evidence{{Path: "/usr/lib/libcudart.so.12.4.127", Layer: ref}}, Fingerprint: hexOf("2"), Status: facts.StatusActive,
			},
			{
				Subject: "acme/trainer:1.4", Rule: "GPU211", Name: "cuda-version-drift", Level: facts.Warning, Message: "CUDA_VERSION says 12.2.",
				Evidence: []facts.Evidence{{Detail: "CUDA_VERSION=12.2.0"}}, Fingerprint: hexOf("3"), Status: facts.StatusIgnored, Reason: "--ignore",
			},
		},
		Summary: facts.Summary{Error: 1, Note: 1, Ignored: 1},
		Rules: []facts.Rule{{
			ID: "GPU101", Name: "bundled-driver-library", Level: facts.Error, Title: "Library of the GPU driver in the image", Since: "0.1.0",
			HelpURI:     "https://github.com/gpulint/gpulint/blob/main/docs/rules/GPU101.md",
			Description: "Finds real bytes of a driver library.\n\nThe host injects it.", Predicts: "CUDA error 803", Fix: "leave it out",
			Before: "RUN apt-get install -y libcuda1", After: "RUN true", References: []string{"https://docs.nvidia.com/deploy/cuda-compatibility/"},
		}},
	}
}

// nasty are texts that images may hold.
var nasty = []string{
	"\x1b[31mred\x1b[0m", "\x1b]8;;http://evil\x07link", "a\r\nb\n::error::x", "\u202egnp.exe", "bad\xff\xfeutf8", "\x00nul",
	"[click](http://evil)", "{0} and {1}", "../../etc/passwd", "debian:12/usr/lib/x.so", "/a//b/./../c d/%zz?q#f", "C:\\x\\y",
	strings.Repeat("long ", 2000), "日本語/ライブラリ", "\U000e0041tag", "<script>alert(1)</script>", "```", "",
}

// hostile is a report in which every text is one of the nasty ones.
func hostile(s string) *facts.Report {
	layer := &facts.LayerRef{Index: 0, Digest: s, DiffID: s, CreatedBy: s}
	return &facts.Report{
		Tool: facts.Tool{Name: "gpulint", Version: s, Matrix: s},
		Subjects: []facts.Subject{
			{ID: s, Kind: facts.KindImage, Ref: s, Name: s, Platform: s, IndexPlatforms: []string{s}, AbsentPlatforms: []string{s}, ImageKinds: []string{s}, Needs: &facts.Needs{}},
			{ID: s + "#2", Kind: facts.KindImage, Ref: s, Name: s, Platform: s},
		},
		Targets:  []facts.Target{{Name: s, Driver: s}},
		Verdicts: []facts.Verdict{{Subject: s, Target: s, RuntimeMode: s, Level: facts.LevelUnknown, Text: s, Reasons: []facts.Reason{{Text: s, Source: s}}}},
		Findings: []facts.Finding{
			{
				Subject: s, Rule: s, Name: s, Level: facts.Warning, Message: s, Targets: []string{s}, Predicted: &facts.Predicted{Code: 1, Text: s},
				Evidence: []facts.Evidence{{Path: s, Layer: layer, Package: s, Detail: s}, {Path: s, Source: &facts.SourceRef{File: s, Line: 3}}},
				Fix:      s, HelpURI: s, Fingerprint: hexOf("f"), Status: facts.StatusActive,
			},
			{Subject: "nobody", Rule: "GPU101", Level: "weird", Message: s, Fingerprint: hexOf("0"), Status: facts.StatusIgnored, Reason: s},
		},
		Failures: []facts.Failure{{Ref: s, Message: s, Hint: s}},
		Rules:    []facts.Rule{{ID: s, Name: s, Level: s, Title: s, HelpURI: s, Description: s, Predicts: s, Fix: s, Before: s, After: s, References: []string{s}}},
	}
}

// worstName is all at once what an image may hold as a name.
const worstName = "../debian:12/\x1b[31mred\x1b[0m\r\n::error::x \u202egnp.exe\xff [click](http://evil) {0} ```"

// hostileButValid is a hostile report whose words, unlike its texts, are those
// of the schema.
func hostileButValid(s string) *facts.Report {
	r := hostile(s)
	r.Findings[1].Level = facts.Note
	return r
}

// many is a report of n subjects of one repository with one finding each.
func many(n int) *facts.Report {
	r := &facts.Report{Tool: facts.Tool{Name: "gpulint", Version: "0.1.0"}}
	for i := range n {
		id := fmt.Sprintf("acme/app:%d", i)
		r.Subjects = append(r.Subjects, facts.Subject{ID: id, Kind: facts.KindImage, Ref: id, Name: "acme/app", Platform: "linux/amd64"})
		r.Findings = append(r.Findings, facts.Finding{Subject: id, Rule: "GPU101", Level: facts.Error, Message: "x", Fingerprint: hexOf("1"), Status: facts.StatusActive})
	}
	return r
}

// render writes a report in one format.
func render(t *testing.T, format string, o Options, r *facts.Report) []byte {
	t.Helper()
	f, err := Get(format, o)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := f.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return []byte(b.String())
}

// golden compares with a file, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got), -update writes it anew:\n%s", file, diff)
	}
}
