package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/internal/testimage"
)

// TestFingerprints holds that dismissed alerts stay dismissed: a fingerprint
// is the same under another tag, path, layer index and driver version, and
// another one in another repository or for another package.
func TestFingerprints(t *testing.T) {
	t.Parallel()
	base := testimage.Layer{CreatedBy: "ADD rootfs.tar / # buildkit", Files: []testimage.File{testimage.Text("etc/os-release", "ID=debian\n")}}
	other := testimage.Layer{CreatedBy: "COPY a / # buildkit", Files: []testimage.File{testimage.Text("a", "a")}}
	lib := func(name, rm string) testimage.Layer {
		return testimage.Layer{CreatedBy: "COPY lib / # buildkit", Files: []testimage.File{
			testimage.Reg("usr/lib/x86_64-linux-gnu/"+name+rm, testimage.DriverLibrary("libcuda.so.1", rm)),
		}}
	}
	of := func(ref string, layers ...testimage.Layer) string {
		file := filepath.Join(t.TempDir(), "image.tar")
		b := testimage.Image{Ref: ref, Layers: layers}.Build()
		if err := os.WriteFile(file, testimage.Tar(testimage.Layout(b)...), 0o644); err != nil {
			t.Fatal(err)
		}
		_, out, errw := gpulint(t, "image", "-f", "json", "--input", file)
		var r facts.Report
		if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.Findings) != 1 {
			t.Fatalf("%s: %v, %s%s", ref, err, out, errw)
		}
		return r.Findings[0].Fingerprint
	}
	const so = "libcuda.so."
	first := of("example.com/team/app:1", base, lib(so, "535.161.08"))
	for name, got := range map[string]string{
		"tag":    of("example.com/team/app:2", base, lib(so, "535.161.08")),
		"layer":  of("example.com/team/app:1", base, other, lib(so, "535.161.08")),
		"driver": of("example.com/team/app:1", base, lib(so, "550.54.14")),
	} {
		if got != first {
			t.Errorf("another %s gives another fingerprint", name)
		}
	}
	all := []string{
		first,
		of("example.com/team/other:1", base, lib(so, "535.161.08")),
		of("", base, lib(so, "535.161.08")),
		of("example.com/team/app:1", base, lib("libother.so.", "535.161.08")),
	}
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != 4 {
		t.Errorf("%d fingerprints of 4 things", n)
	}
}
