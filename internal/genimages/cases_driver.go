package main

import t "github.com/gpulint/gpulint/internal/testimage"

// driverCases are images that hold what the host injects.
func driverCases() []testCase {
	owned := " @1 libcuda1 535.161.08-1"
	return []testCase{
		{"bundled-libcuda", oci("bundled-libcuda", t.Image{
			Env: []string{"PATH=/usr/bin", "NVIDIA_VISIBLE_DEVICES=all"}, Cmd: []string{"/app/train"},
			Layers: []t.Layer{
				base(), env("NVIDIA_VISIBLE_DEVICES=all"),
				apt(libcuda1(), cudart("libcudart.so.12", "12.2.140")), app(),
			},
		}), want{
			About: "libcuda1 installed by apt: the main case", Status: 1,
			Findings: []string{
				"GPU101 error", "  /" + lib + "libcuda.so.535.161.08" + owned,
				"GPU102 warning", "  /" + lib + "libcuda.so" + owned, "  /" + lib + "libcuda.so.1" + owned,
			},
		}},
		{"links", oci("links", t.Image{Layers: []t.Layer{base(), {
			CreatedBy: "RUN /bin/sh -c ln -s /usr/local/nvidia/lib64/libcuda.so.1 /usr/lib/x86_64-linux-gnu/libcuda.so.1 # buildkit",
			Files: []t.File{
				t.Symlink(lib+"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"),
				t.Symlink(lib+"libcudart.so", "libcudart.so.12"), // CUDA's own: no driver library
			},
		}}}), want{
			About:    "a dangling link with libcuda's name; one of libcudart is nothing",
			Findings: []string{"GPU102 warning", "  /" + lib + "libcuda.so.1 @1"},
		}},
		{"empty-files", oci("empty-files", t.Image{Layers: []t.Layer{base(), {
			CreatedBy: "RUN /bin/sh -c nvidia-smi && ./build.sh # buildkit",
			Files: []t.File{
				t.Reg(lib+"libcuda.so.1", nil), t.Reg(lib+"libnvidia-ml.so.535.161.08", nil), t.Exec("usr/bin/nvidia-smi", nil),
			},
		}}}), want{
			About: "built under the NVIDIA runtime: its mounts left empty files", Status: 1,
			Findings: []string{
				"GPU103 error", "  /" + lib + "libcuda.so.1 @1",
				"GPU103 warning", "  /usr/bin/nvidia-smi @1",
				"GPU103 warning", "  /" + lib + "libnvidia-ml.so.535.161.08 @1",
			},
		}},
		{"renamed-copy", oci("renamed-copy", t.Image{
			Env: []string{"LD_LIBRARY_PATH=/opt/gpu"},
			Layers: []t.Layer{base(), {
				CreatedBy: "COPY drivers/ /opt/ # buildkit",
				Files: []t.File{
					t.Reg("opt/gpu/libgpu.so", t.DriverLibrary("libcuda.so.1", rm535)),
					t.Reg("opt/old/libcuda.so.1.bak", t.DriverLibrary("libcuda.so.1", "470.256.02")),
				},
			}},
		}), want{
			About: "libcuda under other names, on and off the linker's path", Status: 1,
			Findings: []string{
				"GPU101 error", "  /opt/gpu/libgpu.so @1",
				"GPU101 warning", "  /opt/old/libcuda.so.1.bak @1",
			},
		}},
		{"tools", oci("tools", t.Image{Layers: []t.Layer{base(), {
			CreatedBy: "COPY nvidia-smi /usr/local/bin/ # buildkit",
			Files: []t.File{
				t.Exec("usr/local/bin/nvidia-smi", t.Program([]string{"libc.so.6"}, "nvidia-application-profiles-535.161.08-rc")),
				t.Exec("usr/local/sbin/nvidia-smi", []byte("#!/bin/sh\nexit 0\n")), // a mock is no driver tool
			},
		}}}), want{
			About:    "nvidia-smi copied into the image; a shell script of that name is nothing",
			Findings: []string{"GPU104 warning", "  /usr/local/bin/nvidia-smi @1"},
		}},
		{"package-managers", oci("package-managers", t.Image{Layers: []t.Layer{base(), {
			CreatedBy: "RUN /bin/sh -c ./install-everything.sh # buildkit",
			Files: []t.File{
				t.Reg("opt/venv/lib/python3.12/site-packages/gpu_tool/lib/libcuda.so.1", t.DriverLibrary("libcuda.so.1", rm535)),
				t.Text("opt/venv/lib/python3.12/site-packages/gpu_tool-1.4.dist-info/RECORD", "gpu_tool/lib/libcuda.so.1,sha256=x,344\n"),
				t.Reg("opt/conda/lib/libcuda.so.1", t.DriverLibrary("libcuda.so.1", rm535)),
				t.Text("opt/conda/conda-meta/cuda-driver-dev-12.4-0.json", `{"name":"cuda-driver-dev","version":"12.4","files":["lib/libcuda.so.1"]}`),
				t.Reg("app/node_modules/@acme/gpu/bin/libcuda.so.1", t.DriverLibrary("libcuda.so.1", rm535)),
			},
		}}}), want{
			About: "libraries of the driver that pip, conda and npm brought, off every linker path",
			Findings: []string{
				"GPU101 warning", "  /app/node_modules/@acme/gpu/bin/libcuda.so.1 @1 @acme/gpu",
				"GPU101 warning", "  /opt/conda/lib/libcuda.so.1 @1 cuda-driver-dev 12.4",
				"GPU101 warning", "  /opt/venv/lib/python3.12/site-packages/gpu_tool/lib/libcuda.so.1 @1 gpu-tool 1.4",
			},
		}},
		{"alpine", oci("alpine", t.Image{Layers: []t.Layer{{
			CreatedBy: "RUN /bin/sh -c apk add nvidia-libs # buildkit",
			Files: []t.File{
				t.Reg("usr/lib/libcuda.so.1", t.DriverLibrary("libcuda.so.1", rm535)),
				t.Text("lib/apk/db/installed", "P:nvidia-libs\nV:535.161.08-r0\nA:x86_64\nF:usr/lib\nR:libcuda.so.1\n\n"),
			},
		}}}), want{
			About: "a library of the driver that apk brought", Status: 1,
			Findings: []string{"GPU101 error", "  /usr/lib/libcuda.so.1 @0 nvidia-libs 535.161.08-r0"},
		}},
		{"package-only", oci("package-only", t.Image{Layers: []t.Layer{base(), apt(
			pkg{name: "cuda-drivers-535", version: "535.161.08-1", description: "NVIDIA CUDA Driver meta-package"},
			pkg{name: "cuda-toolkit", version: "12.2.2-1", depends: "cuda-drivers-535 (>= 535.104.05)"},
			pkg{name: "nvidia-driver-470", version: "470.256.02-0", status: "deinstall ok config-files"},
			pkg{name: "libcuda1", version: "1:1.0", description: "dummy package so that apt is content"},
		)}}), want{
			About: "a metapackage of the driver; one that was removed and a dummy are nothing", Status: 1,
			Findings: []string{"GPU107 error", "  /var/lib/dpkg/status @1 cuda-drivers-535 535.161.08-1"},
		}},
	}
}
