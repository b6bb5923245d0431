package rules

import (
	"fmt"

	"github.com/gpulint/gpulint/facts"
)

// goldenInputs are made-up inputs as package derive would give them.
func goldenInputs() map[string]*facts.Input {
	a100 := facts.Target{Name: "a100-prod", Driver: "535.161.08", GPUs: []string{"NVIDIA-A100-SXM4-80GB"}, Runtime: facts.ModeCDI, Count: 128}
	old := facts.Target{Name: "old", Driver: "470.256.02"}
	current := facts.Target{Name: "new", Driver: "580.65.06"}
	laptop := facts.Target{Name: "laptop", Driver: "566.07", Runtime: facts.ModeWSL}
	return map[string]*facts.Input{
		"clean":      input(nil),
		"no-target":  withFiles(input(nil)),
		"targets":    withFiles(input([]facts.Target{a100, old, current, laptop})),
		"verdicts":   withVerdicts(input([]facts.Target{a100, old})),
		"everything": withRest(withVerdicts(withFiles(input([]facts.Target{a100, old, current, laptop})))),
	}
}

func input(targets []facts.Target) *facts.Input {
	return &facts.Input{
		Schema: facts.SchemaInput,
		Subject: facts.InputSubject{
			ID: "example.com/app:1", Kind: facts.KindImage, Ref: "example.com/app:1", Name: "example.com/app",
			Platform: "linux/amd64", Env: map[string]string{"CUDA_VERSION": "12.2.2"}, Labels: map[string]string{},
		},
		Targets: targets,
	}
}

func candidate(id, key string, layer int, paths ...string) facts.Candidate {
	c := facts.Candidate{ID: id, Key: key, Evidence: []facts.Evidence{}}
	for _, p := range paths {
		c.Evidence = append(c.Evidence, facts.Evidence{Path: p, Layer: &facts.LayerRef{
			Index: layer, Digest: "sha256:00", Size: 30_000_000, CreatedBy: "RUN apt-get install -y nvidia-opencl-dev",
		}})
	}
	return c
}

// driver is a group of driver files; the package is empty for copied files.
func driver(id, class, pkg, version string, names []string, paths ...string) facts.DriverCandidate {
	c := facts.DriverCandidate{Candidate: candidate(id, paths[0], 1, paths...), Class: class, Names: names, Paths: paths, OnLinkerPath: true, BesideHost: true, Bytes: 29_453_824}
	if pkg != "" {
		c.Key = pkg
		c.Package = &facts.PackageRef{Name: pkg, Version: version + "-0ubuntu1", Manager: "dpkg", PulledBy: []string{"nvidia-opencl-dev"}}
	}
	if version == "535.161.08" {
		c.Driver = &facts.Version{Text: version, Parts: []int64{535, 161, 8}}
	}
	return c
}

func withFiles(in *facts.Input) *facts.Input {
	const dir, v = "/usr/lib/x86_64-linux-gnu/", "535.161.08"
	cudaAndML := []string{"libcuda.so", "libnvidia-ml.so"}
	off := driver("driver_files/2", "library", "", "", []string{"libnvidia-ml.so"}, "/opt/tool/libnvidia-ml.so.1")
	off.OnLinkerPath = false
	link := driver("driver_files/3", "link", "", "", []string{"libcuda.so"}, dir+"libcuda.so.1")
	link.Links = []string{"libcuda.so." + v}
	opened := driver("driver_files/5", "empty", "", "", []string{"libcuda.so"}, "/usr/lib64/libcuda.so.1")
	opened.Opened = true
	hidden := driver("driver_files/7", "shadowed", "", v, cudaAndML, dir+"libcuda.so."+v, dir+"libnvidia-ml.so."+v)
	hidden.ShadowedBy, hidden.How = &facts.LayerRef{Index: 4}, "whiteout"
	in.DriverFiles = []facts.DriverCandidate{
		driver("driver_files/0", "library", "libnvidia-compute-535", v, cudaAndML, dir+"libcuda.so."+v, dir+"libnvidia-ml.so."+v),
		driver("driver_files/1", "library", "", v, []string{"libnvidia-ptxjitcompiler.so"}, "/usr/local/lib/libnvidia-ptxjitcompiler.so.1"),
		off,
		link,
		driver("driver_files/4", "empty", "", "", []string{"libcuda.so"}, dir+"libcuda.so.418.56"),
		opened,
		driver("driver_files/6", "tool", "nvidia-utils-535", v, []string{"nvidia-smi"}, "/usr/bin/nvidia-smi"),
		hidden,
	}
	in.DriverPackages = []facts.PackageCandidate{{
		Candidate: candidate("driver_packages/0", "cuda-drivers", 2, "/var/lib/dpkg/status"),
		Package:   facts.PackageRef{Name: "cuda-drivers", Version: "550.54.15-1", Manager: "dpkg", PulledBy: []string{"cuda-12-4"}},
		Layer:     &facts.LayerRef{Index: 2},
	}}
	return in
}

func withVerdicts(in *facts.Input) *facts.Input {
	const cudart = "/usr/local/cuda-12.4/targets/x86_64-linux/lib/libcudart.so.12.4.127"
	cuda := facts.Version{Text: "12.4", Parts: []int64{12, 4}}
	in.Verdicts = []facts.VerdictCandidate{
		{
			Candidate: candidate("verdicts/0", "libcudart.so.12", 1, cudart), CUDA: cuda, Level: facts.LevelIncompatible,
			Code: 35, Text: "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version",
			Targets: []string{"old"}, Drivers: []string{"470.256.02"}, Native: "550.54.14", Minor: "525.60.13", Confidence: "high",
		},
		{
			Candidate: candidate("verdicts/1", "libcudart.so.12", 1, cudart), CUDA: cuda, Level: facts.LevelMinor,
			Targets: []string{"a100-prod"}, Drivers: []string{"535.161.08"}, Native: "550.54.14", Minor: "525.60.13", Confidence: "high",
		},
		{
			Candidate: candidate("verdicts/2", "libcudart.so.13", 1, "/opt/libcudart.so.13"),
			CUDA:      facts.Version{Text: "13", Parts: []int64{13}}, Level: facts.LevelIncompatible,
			Targets: []string{"a100-prod"}, Drivers: []string{"535.161.08"}, Confidence: "low",
		},
		{
			Candidate: candidate("verdicts/3", "libcudart.so.11.0", 1, "/opt/libcudart.so.11.8.89"),
			CUDA:      facts.Version{Text: "11.8", Parts: []int64{11, 8}}, Level: facts.LevelNative,
			Targets: []string{"a100-prod"}, Drivers: []string{"535.161.08"}, Confidence: "high",
		},
	}
	return in
}

func withRest(in *facts.Input) *facts.Input {
	in.VersionDrift = []facts.DriftCandidate{{
		Candidate: candidate("version_drift/0", "cuda", 1, "/usr/local/cuda/version.json"),
		Statements: []facts.VersionStatement{
			{Where: "CUDA_VERSION", CUDA: facts.Version{Text: "12.2.2", Parts: []int64{12, 2, 2}}},
			{Where: "/usr/local/cuda/version.json", CUDA: facts.Version{Text: "12.4.1", Parts: []int64{12, 4, 1}}},
		},
	}}
	in.Incomplete = []facts.LimitCandidate{{
		Candidate: candidate("incomplete/0", "entries", 3), Limit: "entries", Hides: "files after the first 3000000 of layer 3", Count: 1,
	}}
	return in
}

// largeInput has n unpackaged libraries, which is about 500 bytes each.
func largeInput(n int) *facts.Input {
	in := input([]facts.Target{{Name: "a", Driver: "550.54.14"}})
	for i := range n {
		in.DriverFiles = append(in.DriverFiles, driver(fmt.Sprint("driver_files/", i), "library", "", "535.161.08",
			[]string{"libcuda.so"}, fmt.Sprintf("/opt/%d/libcuda.so.535.161.08", i)))
	}
	return in
}
