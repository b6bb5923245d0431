package findings

import "testing"

func TestNormalizeKey(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"/usr/lib/libcuda.so.535.161.08":                 "/usr/lib/libcuda.so.<RM>",
		"/usr/lib/libcuda.so.418.56":                     "/usr/lib/libcuda.so.<RM>",
		"/opt/nvidia-535.161.08/lib/x.so.550.54.14":      "/opt/nvidia-<RM>/lib/x.so.<RM>",
		"/usr/lib/libcuda.so.<RM>":                       "/usr/lib/libcuda.so.<RM>",
		"libnvidia-compute-535":                          "libnvidia-compute-535",
		"/usr/local/cuda-12.4/lib/libcudart.so.12.4.127": "/usr/local/cuda-12.4/lib/libcudart.so.12.4.127",
		"/usr/lib/libnl-3.so.200.26.0":                   "/usr/lib/libnl-3.so.200.26.0",
		"/usr/lib/libx264.so.164":                        "/usr/lib/libx264.so.164",
		"/usr/lib/libpoppler.so.118.0.0":                 "/usr/lib/libpoppler.so.118.0.0",
		"":                                               "",
	} {
		if got := NormalizeKey(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	base := Fingerprint("GPU101", "ghcr.io/org/app", "/usr/lib/libcuda.so.535.161.08")
	// The value is stored in dismissed alerts and baselines: it must never change.
	if want := "32b6a7748d681af0f93f7a3209ce3e8bb8aab083e0cc5d6a013102430764a47f"; base != want {
		t.Errorf("got %s, want %s", base, want)
	}
	same := map[string]string{
		"other driver": Fingerprint("GPU101", "ghcr.io/org/app", "/usr/lib/libcuda.so.550.54.14"),
		"tag":          Fingerprint("GPU101", "ghcr.io/org/app:1.2", "/usr/lib/libcuda.so.<RM>"),
		"digest":       Fingerprint("GPU101", "ghcr.io/org/app:1.2@sha256:00", "/usr/lib/libcuda.so.<RM>"),
	}
	for name, got := range same {
		if got != base {
			t.Errorf("%s changes the fingerprint", name)
		}
	}
	different := map[string]string{
		"rule":       Fingerprint("GPU102", "ghcr.io/org/app", "/usr/lib/libcuda.so.<RM>"),
		"repository": Fingerprint("GPU101", "ghcr.io/org/other", "/usr/lib/libcuda.so.<RM>"),
		"no name":    Fingerprint("GPU101", "", "/usr/lib/libcuda.so.<RM>"),
		"file":       Fingerprint("GPU101", "ghcr.io/org/app", "/usr/lib/libnvidia-ml.so.<RM>"),
		"boundaries": Fingerprint("GPU101", "ghcr.io/org", "/app/usr/lib/libcuda.so.<RM>"),
	}
	seen := map[string]string{base: "base"}
	for name, got := range different {
		if other, ok := seen[got]; ok {
			t.Errorf("%s has the fingerprint of %s", name, other)
		}
		seen[got] = name
	}
}

func TestStripTag(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                        "",
		"app":                     "app",
		"app:1":                   "app",
		"localhost:5000/app":      "localhost:5000/app",
		"localhost:5000/app:1":    "localhost:5000/app",
		"localhost:5000/a:1@sha2": "localhost:5000/a",
	} {
		if got := stripTag(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
