//go:build integration

package integration

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSkopeo reads what skopeo writes, in each of its forms, as a file and as a
// stream.
func TestSkopeo(t *testing.T) {
	t.Parallel()
	s := bundled(t, libcuda535, libcudart118, "535.261.03", "11.8", "11.8.89", true)
	img := build(t, "gzip", s.layers...)
	from := img.write(t, "oci", "example.org/team/cuda", "1")
	for form, kind := range map[string]string{"oci-archive": "oci-archive", "docker-archive": "docker-archive", "oci": "oci-layout"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			to := filepath.Join(t.TempDir(), "image")
			args := []string{"copy", "--insecure-policy", "oci-archive:" + from, form + ":" + to + ":example.org/team/cuda:1"}
			if out, err := exec.Command("skopeo", args...).CombinedOutput(); err != nil {
				t.Fatalf("skopeo %s: %v: make test installs it\n%s", strings.Join(args, " "), err, out)
			}
			status, report, found := lint(t, "--input", to)
			if diff := len(report.Findings); status != s.status || diff == 0 || found.Source != kind {
				t.Errorf("status %d, %d findings, source %s", status, diff, found.Source)
			}
			got, want := sorted(findingLines(report.Findings)), sorted(s.findings)
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("findings\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if found.Name != "example.org/team/cuda" {
				t.Errorf("name %q", found.Name)
			}
		})
	}
}
