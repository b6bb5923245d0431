package catalog

import "testing"

func TestCUDA(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"libcudart.so.11.0": "cudart 11", "libcudart.so.12": "cudart 12", "libcudart-9335f6a2.so.12": "cudart 12", "libcudart.so.10.2": "cudart 10",
		"libcudart.so": "cudart ", "libcublas.so.12": "cublas 12", "libcublasLt.so.13": "cublasLt 13", "libcufft.so.11": "cufft 12", "libcufft.so.12": "cufft 13",
		"libcurand.so.10": "curand ", "libcusolver.so.11": "cusolver ", "libcusolver.so.12": "cusolver 13", "libcusparse.so.12": "cusparse ",
		"libnppif.so.12": "npp 12", "libnppc.so.11": "npp 11", "libnvrtc.so.11.2": "nvrtc 11", "libnvrtc-builtins.so.12.4": "nvrtc-builtins 12.4",
		"libcudnn.so.9": "cudnn ", "libcudnn_ops_infer.so.8": "cudnn ", "libcudnn_engines_precompiled.so.9": "cudnn ", "libnvinfer_plugin.so.10": "TensorRT ",
		"libnccl.so.2": "nccl ", "libnvJitLink.so.12": "nvJitLink 12",
		"libcuda.so.1": "", "libc.so.6": "", "libcublas.so.12x": "", "cublas.so.12": "", "libcudart.so.": "", "libnvidia-ml.so.1": "",
	} {
		l, ok := CUDA(name)
		got := ""
		if ok {
			got = l.Component + " " + l.CUDA
		}
		if got != want || ok && (l.Source == "" || l.Confidence == "") {
			t.Errorf("%s: %q, want %q (%+v)", name, got, want, l)
		}
	}
	for _, tt := range [][3]string{
		{"libcublas.so.12.4.5.8", "libcublas.so.12", "12.4.5.8"},
		{"libcudart.so.11.8.89", "libcudart.so.11.0", "11.8.89"},
		{"libcudart.so.12", "libcudart.so.12", ""},
		{"libother.so.1.2.3", "libcudart.so.12", ""},
		{"copy", "libcudart.so.12", ""},
	} {
		if got := LibraryVersion(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%v: %q", tt, got)
		}
	}
	for _, tt := range [][3]string{
		{"nvidia-cudnn-cu12", "9.28.0.42", "12"},
		{"libcudnn9-cuda-13", "9.5.1.17-1", "13"},
		{"libnccl2", "2.23.4-1+cuda12.6", "12.6"},
		{"libcudnn8", "8.9.6.50-1+cuda11.8", "11.8"},
		{"nvidia-cublas", "13.10.0.20", ""},
		{"cupy-cuda12x", "14.2.0", ""},
	} {
		if got := PackageCUDA(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%v: %q", tt, got)
		}
	}
	for text, want := range map[string]bool{
		"libcudnn_ops_infer.so.8": true, "libnvidia-encode.so.1": true, "libcuda.so.1": true, "libnvcuvid.so.1": true, "libnvinfer.so.10": true,
		"libssl.so.3": false, "cudart": false, "lib.so": false, "libcuda.so.1 not found": false,
	} {
		if got := Opened(text); got != want {
			t.Errorf("Opened(%q) = %t", text, got)
		}
	}
}

func TestFrameworks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ manager, name, version, framework, cuda string }{
		{"pip", "torch", "2.15.0+cu132", "torch", "13.2"},
		{"pip", "torch", "2.4.0+cpu", "torch", ""},
		{"pip", "torch", "2.4.0", "torch", ""},
		{"pip", "jax-cuda12-plugin", "0.5.0", "jax", "12"},
		{"pip", "jaxlib", "0.4.1+cuda12.cudnn89", "jax", "12"},
		{"pip", "cupy-cuda12x", "14.2.0", "cupy", "12"},
		{"pip", "cupy-cuda112", "9.0", "cupy", "11.2"},
		{"pip", "nvidia-dali-cuda120", "1.0", "dali", "12"},
		{"pip", "mxnet-cu112", "1.9", "mxnet", "11.2"},
		{"pip", "faiss-gpu-cu12", "1.9", "faiss", "12"},
		{"pip", "vllm", "0.10.1+cu129", "vllm", "12.9"},
		{"pip", "flash-attn", "2.8.0+cu12torch2.8cxx11abiFALSE", "flash-attn", "12"},
		{"npm", "@node-llama-cpp/linux-x64-cuda", "3.22.1", "llama.cpp", ""},
		{"pip", "numpy", "2.0", "", ""},
		{"dpkg", "torch", "1", "", ""},
		{"pip", "torch-geometric", "2", "", ""},
	} {
		f, ok := FrameworkOf(tt.manager, tt.name, tt.version)
		if f.Name != tt.framework || f.CUDA != tt.cuda || ok != (tt.framework != "") || ok && f.Source == "" {
			t.Errorf("%v: %+v", tt, f)
		}
	}
}
