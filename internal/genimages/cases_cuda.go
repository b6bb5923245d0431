package main

import t "github.com/gpulint/gpulint/internal/testimage"

// cudaCases are about CUDA on drivers.
func cudaCases() []testCase {
	drift := toolkit("12.2.2", "12.2.140", "libcudart.so.12")
	return []testCase{
		{"cuda-on-drivers", oci("cuda-on-drivers", t.Image{Layers: []t.Layer{
			base(), apt(cudart("libcudart.so.11.0", "11.2.152")),
		}}), want{
			About: "CUDA 11.2 on a driver too old, one for minor-version compatibility, and one of its own",
			Args:  []string{"--driver", "418.87.01,450.80.02,470.256.02", "--runtime", "legacy"}, Status: 1,
			Findings: []string{
				"GPU201 error", "  /" + lib + "libcudart.so.11.2.152 @1 libcudart11.0 11.2.152~dfsg-1",
				"GPU202 note", "  /" + lib + "libcudart.so.11.2.152 @1 libcudart11.0 11.2.152~dfsg-1",
			},
			Verdicts: []string{"418.87.01 legacy incompatible 35", "450.80.02 legacy minor 0", "470.256.02 legacy native 0"},
		}},
		{"pip-cuda", oci("pip-cuda", t.Image{Layers: []t.Layer{base(), {
			CreatedBy: "RUN /bin/sh -c pip install torch # buildkit",
			Files: []t.File{t.Reg("usr/lib/python3/dist-packages/nvidia/cuda_runtime/lib/libcudart.so.12",
				t.Library("libcudart.so.12", "libc.so.6"))},
		}}}), want{
			About: "pip's runtime is some 12.x: what its minor version decides is unknown, not fine",
			Args:  []string{"--driver", "470.256.02,535.161.08,580.65.06", "--runtime", "cdi"}, Status: 1,
			Findings: []string{"GPU201 error", "  /usr/lib/python3/dist-packages/nvidia/cuda_runtime/lib/libcudart.so.12 @1"},
			Verdicts: []string{"470.256.02 cdi incompatible 35", "535.161.08 cdi unknown 0", "580.65.06 cdi native 0"},
		}},
		{"compat-decides", oci("compat-decides", t.Image{Layers: []t.Layer{base(), {
			CreatedBy: "RUN /bin/sh -c apt-get install -y cuda-cudart-12-4 cuda-compat-12-4 # buildkit",
			Files: append(toolkit("12.4.1", "12.4.127", "libcudart.so.12"),
				t.Reg("usr/local/cuda-12.4/compat/libcuda.so.550.54.15", t.DriverLibrary("libcuda.so.1", "550.54.15"))),
		}}}), want{
			About:    "too old a driver, but cuda-compat may help: unknown, not an error and not fine",
			Args:     []string{"--driver", "470.256.02", "--runtime", "cdi"},
			Verdicts: []string{"470.256.02 cdi unknown 0"},
		}},
		{"drift", oci("drift", t.Image{
			Env: []string{"CUDA_VERSION=11.8.0", "NVIDIA_REQUIRE_CUDA=cuda>=11.8"},
			Layers: []t.Layer{base(), env("CUDA_VERSION=11.8.0"), {
				CreatedBy: "RUN /bin/sh -c apt-get install -y cuda-cudart-12-2 # buildkit", Files: drift,
			}},
		}), want{
			About: "CUDA_VERSION of the base image, and another toolkit installed over it",
			Findings: []string{
				"GPU211 warning", "  CUDA_VERSION=11.8.0",
				"  /usr/local/cuda-12.2/version.json @1",
				"  /usr/local/cuda-12.2/targets/x86_64-linux/lib/libcudart.so.12.2.140 @1",
			},
		}},
	}
}
