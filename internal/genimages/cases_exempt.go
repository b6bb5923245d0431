package main

import t "github.com/gpulint/gpulint/internal/testimage"

// exemptCases are good images that a naive rule would call bad.
func exemptCases() []testCase {
	cuda := toolkit("12.4.1", "12.4.127", "libcudart.so.12")
	cuda = append(cuda,
		t.Reg("usr/local/cuda-12.4/compat/libcuda.so.550.54.15", t.DriverLibrary("libcuda.so.1", "550.54.15")),
		t.Symlink("usr/local/cuda-12.4/compat/libcuda.so.1", "libcuda.so.550.54.15"),
		t.Symlink("usr/local/cuda-12.4/compat/libcuda.so", "libcuda.so.1"),
		t.Reg("usr/local/cuda-12.4/compat/libnvidia-ptxjitcompiler.so.550.54.15", t.DriverLibrary("libnvidia-ptxjitcompiler.so.1", "550.54.15")),
		t.Reg("usr/local/cuda-12.4/targets/x86_64-linux/lib/stubs/libcuda.so", t.Stub("libcuda.so.1")),
		t.Reg("usr/local/cuda-12.4/targets/x86_64-linux/lib/stubs/libnvidia-ml.so", t.Stub("libnvidia-ml.so.1")),
		t.Reg("usr/local/cuda-12.4/targets/x86_64-linux/lib/libOpenCL.so.1.0.0", t.Library("libOpenCL.so.1")),
		t.Reg("usr/local/cuda-12.4/nvvm/lib64/libnvvm.so.4.0.0", t.Library("libnvvm.so.4")),
		t.Reg("usr/local/cuda-12.4/targets/x86_64-linux/lib/libcufile.so.1.9.1", t.Library("libcufile.so.0")),
	)
	return []testCase{
		{"clean-cuda", oci("clean-cuda", t.Image{
			Env: []string{
				"NVARCH=x86_64", "CUDA_VERSION=12.4.1", "NVIDIA_REQUIRE_CUDA=cuda>=12.4 brand=tesla,driver>=470,driver<471",
				"NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
				"LD_LIBRARY_PATH=/usr/local/nvidia/lib:/usr/local/nvidia/lib64",
			},
			Layers: []t.Layer{base(), {
				CreatedBy: "RUN /bin/sh -c apt-get install -y cuda-cudart-12-4 cuda-compat-12-4 # buildkit", Files: cuda,
			}, app()},
		}), want{About: "made like nvidia/cuda devel images: cuda-compat, stubs, libOpenCL, libnvvm, libcufile are no findings"}},
		{"stub-copied", oci("stub-copied", t.Image{Layers: []t.Layer{base(), {
			CreatedBy: "COPY --from=build /opt/conda /opt/conda # buildkit",
			Files: []t.File{
				t.Reg("opt/conda/lib/libcuda.so", t.Stub("libcuda.so.1")),
				t.Reg("usr/lib/libcuda-injection.so", t.Library("libcuda-injection.so")),
				t.Reg("opt/dlss/libnvidia-ngx-dlss.so.310.2.1", t.Library("libnvidia-ngx-dlss.so")),
			},
		}}}), want{About: "a stub outside of stubs directories, and names that only look like the driver's"}},
		{"driver-container", oci("driver-container", t.Image{Layers: []t.Layer{base(), {
			CreatedBy: "RUN /bin/sh -c ./NVIDIA-Linux-x86_64-535.161.08.run -x # buildkit",
			Files: []t.File{
				t.Exec("usr/local/bin/nvidia-driver", []byte("#!/bin/bash\n")),
				t.Reg(lib+"libcuda.so.535.161.08", t.DriverLibrary("libcuda.so.1", rm535)),
				t.Exec("usr/bin/nvidia-smi", t.Program(nil, "nvidia-application-profiles-535.161.08-rc")),
			},
		}}}), want{About: "a driver container, known by its start script: the driver belongs there"}},
		{"dcgm-like", oci("dcgm-like", t.Image{Cmd: []string{"/usr/bin/nv-hostengine", "-n"}, Layers: []t.Layer{base(), {
			CreatedBy: "RUN /bin/sh -c apt-get install -y datacenter-gpu-manager # buildkit",
			Files: []t.File{
				t.Exec("usr/bin/nv-hostengine", t.Program([]string{"libc.so.6"})),
				t.Reg(lib+"libnvidia-nscq.so.535.161.08", t.DriverLibrary("libnvidia-nscq.so.2", rm535)),
			},
		}}}), want{About: "DCGM with NSCQ, known by its content and by what it starts"}},
		{"dcgm-in-app", oci("dcgm-in-app", t.Image{Cmd: []string{"/app/train"}, Layers: []t.Layer{base(), {
			CreatedBy: "RUN /bin/sh -c apt-get install -y datacenter-gpu-manager # buildkit",
			Files: []t.File{
				t.Exec("usr/bin/nv-hostengine", t.Program([]string{"libc.so.6"})),
				t.Reg(lib+"libcuda.so.535.161.08", t.DriverLibrary("libcuda.so.1", rm535)),
			},
		}, app()}}), want{
			About: "an application with DCGM beside it: it starts its own program, and the driver does not belong there", Status: 1,
			Findings: []string{"GPU101 error", "  /" + lib + "libcuda.so.535.161.08 @1"},
		}},
	}
}
