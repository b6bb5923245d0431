package catalog

import (
	"path"
	"testing"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base, name, rm string
		known, ok      bool
	}{
		{"libcuda.so", "libcuda.so", "", true, true},
		{"libcuda.so.1", "libcuda.so", "", true, true},
		{"libcuda.so.1.1", "libcuda.so", "", true, true},
		{"libcuda.so.535.161.08", "libcuda.so", "535.161.08", true, true},
		{"libcuda.so.304.137", "libcuda.so", "304.137", true, true},
		{"libnvidia-ml.so.1", "libnvidia-ml.so", "", true, true},
		{"libnvidia-nvvm70.so.4", "libnvidia-nvvm70.so", "", true, true},
		{"libnvidia-future.so.999.10.02", "libnvidia-future.so", "999.10.02", false, true},
		{"libGL.so.440.64", "libGL.so", "440.64", false, true},
		{"nvidia-smi", "nvidia-smi", "", true, true},
		{"libGL.so.1.7.0", "", "", false, false},
		{"libcuda.so.12", "", "", false, false},
		{"libcuda-injection.so", "", "", false, false},
		{"libnvidia-ngx-dlss.so", "", "", false, false},
		{"libnvidia-container.so.1", "", "", false, false},
		{"libnvidia-container.so.1.17.8", "", "", false, false},
		{"libnvidia-egl-wayland.so.1.1.13", "", "", false, false},
		{"libOpenCL.so.1", "", "", false, false},
		{"libnvvm.so.4", "", "", false, false},
		{"libcudart.so.12.4.127", "", "", false, false},
		{"libx264.so.164", "", "", false, false},
		{"libnl-3.so.200.26.0", "", "", false, false},
		{"libpoppler.so.118.0.0", "", "", false, false},
		{"libLLVM.so.19.1", "", "", false, false},
		{"nvidia-smi.1.gz", "", "", false, false},
		{"libnvidia-ml.so.1.bak", "", "", false, false},
	} {
		f, ok := Match(c.base)
		if ok != c.ok || f.Name != c.name || f.RM != c.rm || f.Known != c.known {
			t.Errorf("Match(%q) = %+v, %v", c.base, f, ok)
		}
		if ok && f.Source == "" {
			t.Errorf("Match(%q): no source", c.base)
		}
	}
}

func TestSONAME(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"libcuda.so.1": true, "libnvidia-ml.so.1": true, "libnvidia-ptxjitcompiler.so.1": true,
		"libcudart.so.12": false, "nvidia-smi": false, "": false, "libfoo.so.535.161.08": false,
	} {
		if _, ok := SONAME(s); ok != want {
			t.Errorf("SONAME(%q) = %v", s, ok)
		}
	}
}

func TestDriverPackage(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"libnvidia-compute-535": true, "libnvidia-compute-535-server": true, "nvidia-driver-550": true,
		"nvidia-driver-570-open": true, "nvidia-driver-570-server-open": true, "cuda-drivers": true,
		"cuda-drivers-550": true, "libcuda1": true, "nvidia-smi": true, "nvidia-alternative": true,
		"nvidia-driver": true, "libnvidia-ml1": true, "nvidia-open-575": true,
		"cuda-compat-12-4": false, "nvidia-container-toolkit": false, "libnvidia-container1": false,
		"libnvidia-container-tools": false, "cuda": false, "cuda-12-4": false, "cuda-runtime-12-4": false,
		"nvidia-cuda-toolkit": false, "libcudart12": false, "libnvidia-egl-wayland1": false, "bash": false,
		"libnvidia-compute-53": false, "xlibcuda1": false, "libcuda12": false,
	} {
		if DriverPackage(name) != want {
			t.Errorf("DriverPackage(%q) = %v", name, !want)
		}
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for _, k := range Kinds() {
		for _, p := range k.Programs {
			if _, err := path.Match(p, ""); err != nil {
				t.Errorf("%s: bad pattern %q: %v", k.Name, p, err)
			}
		}
		for _, p := range k.Paths {
			if _, err := path.Match(p, ""); err != nil || !path.IsAbs(p) {
				t.Errorf("%s: bad pattern %q: %v", k.Name, p, err)
			}
		}
	}
}

func TestTablesAreWhole(t *testing.T) {
	t.Parallel()
	for name, columns := range map[string][]string{
		"driver_files.tsv":    {"name", "class", "proof", "source"},
		"driver_packages.tsv": {"pattern", "manager", "source"},
		"image_kinds.tsv":     {"kind", "path", "source"},
	} {
		seen := map[string]bool{}
		for i, r := range table(name) {
			for _, c := range columns {
				if r[c] == "" {
					t.Errorf("%s row %d has no %s", name, i+1, c)
				}
			}
			key := r[columns[0]] + "\t" + r["path"]
			if seen[key] {
				t.Errorf("%s: %q stands twice", name, key)
			}
			seen[key] = true
		}
	}
	for name, r := range fileTable() {
		if r.class != Library && r.class != Tool || r.proof != ProofRM && r.proof != ProofELF && r.proof != ProofWSL {
			t.Errorf("%s: class %q, proof %q", name, r.class, r.proof)
		}
	}
	if len(Hash()) != 64 {
		t.Error("no hash of the tables")
	}
}
