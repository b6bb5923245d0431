//go:build integration

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/cmd/gpulint/cli"
	"github.com/gpulint/gpulint/facts"
)

// lint runs gpulint image with a report in JSON and the facts beside it.
func lint(t *testing.T, args ...string) (status int, report facts.Report, found facts.Image) {
	t.Helper()
	factsFile := filepath.Join(t.TempDir(), "facts.json")
	args = append([]string{"image", "-f", "json", "-f", "facts=" + factsFile}, args...)
	var out, errw bytes.Buffer
	status = cli.Main(t.Context(), args, strings.NewReader(""), &out, &errw)
	if status > 1 {
		t.Fatalf("gpulint %s: status %d\n%s", strings.Join(args, " "), status, errw.String())
	}
	if errw.Len() > 0 {
		t.Errorf("gpulint %s wrote to standard error: %s", strings.Join(args, " "), errw.String())
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("the report is no JSON: %v\n%s", err, out.String())
	}
	data, err := os.ReadFile(factsFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &found); err != nil {
		t.Fatalf("the facts are no JSON: %v", err)
	}
	return status, report, found
}

// A scenario is an image with all that gpulint must say of it.
type scenario struct {
	name   string
	layers []layer
	status int
	// findings are "rule level", each followed by its evidence: "  path @layer package".
	findings []string
	// drivers are the visible driver files of known version, runtimes the CUDA runtimes.
	drivers, runtimes []string
}

const (
	nvidiaDir = "/usr/lib/x86_64-linux-gnu/nvidia/current/"
	libDir    = "/usr/lib/x86_64-linux-gnu/"
)

// bundled is the scenario of libcuda1 and libcudart of one suite. With the
// alternatives' links the linker finds libcuda, and the warning is an error.
func bundled(t *testing.T, libcuda, libcudart debRef, driver, cuda, library string, linked bool) scenario {
	t.Helper()
	debs := need(t, libcuda, libcudart)
	owner := " @1 libcuda1 " + libcuda.version
	s := scenario{
		name:   libcuda.suite,
		status: 0,
		findings: []string{
			"GPU101 warning",
			"  " + nvidiaDir + "libcuda.so." + driver + owner,
			"GPU102 warning",
			"  " + nvidiaDir + "libcuda.so" + owner,
			"  " + nvidiaDir + "libcuda.so.1" + owner,
		},
		drivers:  []string{nvidiaDir + "libcuda.so." + driver + " " + driver},
		runtimes: []string{libDir + "libcudart.so." + library + " " + cuda + " " + library + " " + libcudart.name + " @2"},
	}
	var links []tarFile
	if linked {
		s.name += " linked"
		s.status = 1
		links = alternatives()
		s.findings[0] = "GPU101 error"
		s.findings = append(s.findings, "GPU102 warning", "  "+libDir+"libcuda.so.1 @1")
	}
	s.layers = []layer{base(), install(nil, debs[:1], links...), install(debs[:1], debs[1:])}
	return s
}

// tools is the scenario of all driver packages of bookworm.
func tools(t *testing.T) scenario {
	t.Helper()
	debs := need(t, libcuda535, libnvidiaML, nvidiaSMI)
	return scenario{
		name:   "tools",
		layers: []layer{base(), install(nil, debs[:1]), install(debs[:1], debs[1:])},
		findings: []string{
			"GPU101 warning",
			"  " + nvidiaDir + "libcuda.so.535.261.03 @1 libcuda1 535.261.03-1",
			"GPU101 warning",
			"  " + nvidiaDir + "libnvidia-ml.so.535.261.03 @2 libnvidia-ml1 535.261.03-1",
			"GPU102 warning",
			"  " + nvidiaDir + "libcuda.so @1 libcuda1 535.261.03-1",
			"  " + nvidiaDir + "libcuda.so.1 @1 libcuda1 535.261.03-1",
			"GPU102 warning",
			"  " + nvidiaDir + "libnvidia-ml.so @2 libnvidia-ml1 535.261.03-1",
			"  " + nvidiaDir + "libnvidia-ml.so.1 @2 libnvidia-ml1 535.261.03-1",
			"GPU104 warning",
			"  /usr/lib/nvidia/current/nvidia-smi @2 nvidia-smi 535.261.03-1",
		},
		drivers: []string{
			"/usr/lib/nvidia/current/nvidia-smi 535.261.03",
			nvidiaDir + "libcuda.so.535.261.03 535.261.03",
			nvidiaDir + "libnvidia-ml.so.535.261.03 535.261.03",
		},
		runtimes: []string{},
	}
}

func scenarios(t *testing.T) []scenario {
	t.Helper()
	var out []scenario
	for _, linked := range []bool{false, true} {
		out = append(out,
			bundled(t, libcuda470, libcudart112, "470.256.02", "11.2", "11.2.152", linked),
			bundled(t, libcuda535, libcudart118, "535.261.03", "11.8", "11.8.89", linked),
			bundled(t, libcuda550, libcudart124, "550.163.01", "12.4", "12.4.127", linked))
	}
	return append(out, tools(t))
}

// TestArchives reads every scenario in both formats and all compressions.
func TestArchives(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios(t) {
		for _, compression := range compressions {
			t.Run(s.name+"/"+compression, func(t *testing.T) {
				t.Parallel()
				img := build(t, compression, s.layers...)
				for format := range formats {
					input := img.write(t, format, "registry.example.org/team/cuda", "1")
					for _, flags := range [][]string{nil, {"--verify"}} {
						t.Run(format+strings.Join(flags, ""), func(t *testing.T) {
							t.Parallel()
							status, report, found := lint(t, append(flags, "--input", input)...)
							s.check(t, img, status, report, found)
							if want := format + "-archive"; found.Source != want {
								t.Errorf("source %s, want %s", found.Source, want)
							}
							if flags != nil && !found.Verified {
								t.Error("--verify left the image unverified")
							}
						})
					}
				}
			})
		}
	}
}

// TestRegistry reads an image of each compression from a real registry, by tag
// and by digest.
func TestRegistry(t *testing.T) {
	t.Parallel()
	addr := startRegistry(t)
	s := bundled(t, libcuda535, libcudart118, "535.261.03", "11.8", "11.8.89", true)
	for _, compression := range compressions {
		img := build(t, compression, s.layers...)
		img.push(t, addr, "team/cuda", compression)
		for _, ref := range []string{addr + "/team/cuda:" + compression, addr + "/team/cuda@" + img.manifest.digest} {
			status, report, found := lint(t, "--plain-http", ref)
			s.check(t, img, status, report, found)
			if found.Source != "registry" || !found.Verified || found.Digest != img.manifest.digest || found.Name != addr+"/team/cuda" {
				t.Errorf("%s: source %s, verified %t, digest %s, name %s", ref, found.Source, found.Verified, found.Digest, found.Name)
			}
		}
	}
	var out, errw bytes.Buffer
	if status := cli.Main(t.Context(), []string{"image", "--plain-http", addr + "/team/cuda:missing"}, strings.NewReader(""), &out, &errw); status != 3 {
		t.Errorf("an unknown tag: status %d, want 3\n%s", status, errw.String())
	}
}

// check compares what gpulint said with what it must say.
func (s scenario) check(t *testing.T, img *image, status int, report facts.Report, found facts.Image) {
	t.Helper()
	if status != s.status {
		t.Errorf("status %d, want %d", status, s.status)
	}
	if diff := cmp.Diff(sorted(s.findings), sorted(findingLines(report.Findings))); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(s.drivers, driverLines(found)); diff != "" {
		t.Errorf("driver files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(s.runtimes, runtimeLines(found)); diff != "" {
		t.Errorf("runtimes (-want +got):\n%s", diff)
	}
	for _, f := range report.Findings {
		for _, e := range f.Evidence {
			if e.Layer != nil {
				img.checkLayer(t, e.Layer, found.Source == "docker-archive")
			}
		}
	}
}

// checkLayer compares a layer of a piece of evidence with the image's. An image
// without a manifest names no digests of blobs, and may have none.
func (img *image) checkLayer(t *testing.T, l *facts.LayerRef, nameless bool) {
	t.Helper()
	if l.Index >= len(img.layers) {
		t.Errorf("evidence in layer %d of %d", l.Index, len(img.layers))
		return
	}
	b := img.layers[l.Index]
	want := facts.LayerRef{
		Index: l.Index, Digest: b.digest, DiffID: img.diffIDs[l.Index], Size: int64(len(b.data)), CreatedBy: img.createdBy[l.Index],
	}
	if nameless && l.Digest == "" {
		want.Digest = ""
	}
	if diff := cmp.Diff(want, *l); diff != "" {
		t.Errorf("layer of the evidence (-want +got):\n%s", diff)
	}
}

// findingLines writes findings, each with its evidence.
func findingLines(fs []facts.Finding) []string {
	lines := []string{}
	for _, f := range fs {
		lines = append(lines, f.Rule+" "+f.Level)
		for _, e := range f.Evidence {
			line := "  " + e.Path
			if e.Layer != nil {
				line += fmt.Sprintf(" @%d", e.Layer.Index)
			}
			if e.Package != "" {
				line += " " + e.Package
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// sorted sorts findings with their evidence: their order in a report is no
// matter here.
func sorted(lines []string) []string {
	var blocks []string
	for _, l := range lines {
		if strings.HasPrefix(l, " ") {
			blocks[len(blocks)-1] += "\n" + l
		} else {
			blocks = append(blocks, l)
		}
	}
	slices.Sort(blocks)
	return blocks
}

func driverLines(img facts.Image) []string {
	out := []string{}
	for _, f := range img.DriverFiles {
		if f.Class != facts.ClassLink && f.Shadowed == nil {
			out = append(out, strings.TrimSpace(f.Path+" "+f.Driver))
		}
	}
	slices.Sort(out)
	return out
}

func runtimeLines(img facts.Image) []string {
	out := []string{}
	for _, r := range img.Runtimes {
		out = append(out, fmt.Sprintf("%s %s %s %s @%d", r.Path, r.CUDA, r.Library, r.Package, r.Layer))
	}
	slices.Sort(out)
	return out
}

// Drivers of the verdicts, oldest first.
var drivers = []string{"418.87.01", "450.80.02", "470.256.02", "525.60.13", "535.261.03", "550.163.01", "580.65.06"}

// TestVerdicts judges images with a CUDA runtime alone, which are clean where
// the driver suffices, on drivers from too old to newer than need be.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	const incompatible, minor, native = facts.LevelIncompatible, facts.LevelMinor, facts.LevelNative
	for _, tt := range []struct {
		runtime debRef
		cuda    string
		levels  []string // in the order of the drivers
	}{
		{libcudart112, "11.2", []string{incompatible, minor, native, native, native, native, native}},
		{libcudart118, "11.8", []string{incompatible, minor, minor, native, native, native, native}},
		{libcudart124, "12.4", []string{incompatible, incompatible, incompatible, minor, minor, native, native}},
	} {
		t.Run(tt.cuda, func(t *testing.T) {
			t.Parallel()
			debs := need(t, tt.runtime)
			input := build(t, "gzip", base(), install(nil, debs)).write(t, "oci", "cuda", tt.cuda)

			status, report, _ := lint(t, "--input", input)
			if status != 0 || len(report.Findings) != 0 {
				t.Errorf("a clean image without a target: status %d, findings %v", status, findingLines(report.Findings))
			}

			status, report, _ = lint(t, "--input", input, "--driver", strings.Join(drivers, ","))
			if status != 1 {
				t.Errorf("status %d, want 1", status)
			}
			// Without --runtime each target is judged in two modes.
			var want []string
			for i, d := range drivers {
				code := 0
				if tt.levels[i] == incompatible {
					code = 35
				}
				for _, mode := range []string{facts.ModeCDI, facts.ModeLegacy} {
					want = append(want, fmt.Sprintf("%s %s %s %d", d, mode, tt.levels[i], code))
				}
			}
			got := []string{}
			for _, v := range report.Verdicts {
				got = append(got, fmt.Sprintf("%s %s %s %d", v.Target, v.RuntimeMode, v.Level, v.Code))
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("verdicts (-want +got):\n%s", diff)
			}
			checkVerdictFindings(t, report.Findings, tt.levels)
		})
	}
}

// checkVerdictFindings holds that the findings name the targets of each level.
func checkVerdictFindings(t *testing.T, fs []facts.Finding, levels []string) {
	t.Helper()
	type row struct {
		Rule, Level string
		Code        int
		Targets     []string
	}
	want := []row{{"GPU201", facts.Error, 35, nil}, {"GPU202", facts.Note, 0, nil}}
	for i, d := range drivers {
		switch levels[i] {
		case facts.LevelIncompatible:
			want[0].Targets = append(want[0].Targets, d)
		case facts.LevelMinor:
			want[1].Targets = append(want[1].Targets, d)
		}
	}
	var got []row
	for _, f := range fs {
		r := row{Rule: f.Rule, Level: f.Level, Targets: f.Targets}
		if f.Predicted != nil {
			r.Code = f.Predicted.Code
		}
		got = append(got, r)
	}
	slices.SortFunc(got, func(a, b row) int { return strings.Compare(a.Rule, b.Rule) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
