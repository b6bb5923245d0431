# METADATA
# title: Runs by minor-version compatibility only
# description: |
#   Finds CUDA runtimes that are newer than a target's driver, but of the same
#   major version and above its floor: they run by minor-version compatibility.
#
#   Most programs work. What does not: calls that need a newer driver give error
#   36, and device code that comes as PTX of this toolkit, or is compiled to PTX
#   at run time (NVRTC, numba), gives error 222, since the driver's JIT compiler
#   is older than it.
# related_resources:
# - ref: https://docs.nvidia.com/deploy/cuda-compatibility/
#   description: "CUDA compatibility: what minor-version compatibility gives and what not"
# - ref: https://github.com/ComputationalRadiationPhysics/cuda_memtest/issues/31
#   description: PTX of CUDA 11.3 on driver 460.80
# custom:
#   id: GPU202
#   name: minor-version-compat
#   level: note
#   needs: [verdicts]
#   predicts: "error 36 (the call needs a newer driver) or 222 (the PTX was compiled with an unsupported toolchain) in some programs"
#   fix: upgrade the driver on the targets, or ship device code for their GPUs so that nothing depends on PTX
#   before: |
#     nvcc -gencode arch=compute_80,code=compute_80 kernel.cu
#   after: |
#     nvcc -gencode arch=compute_80,code=sm_80 kernel.cu
#   since: 0.1.0
package gpulint.GPU202

import data.gpulint.lib

deny contains f if {
	some c in input.verdicts
	c.level == "minor"
	is_string(c.id)
	is_string(c.cuda.text)
	f := {
		"candidate": c.id,
		"msg": sprintf(
			"CUDA %s runs on %s by minor-version compatibility only%s. PTX of this toolkit cannot be compiled there, and calls that need a newer driver fail.",
			[c.cuda.text, lib.drivers_text(c), native(c)],
		),
		"targets": lib.strings(c.targets),
		"predicted": "error 36 (the call needs a newer driver) or 222 (the PTX was compiled with an unsupported toolchain) in some programs",
		"fix": fix(c),
	}
}

native(c) := sprintf("; driver %s or later runs it natively", [c.native]) if {
	lib.known(c, "native")
} else := ""

fix(c) := sprintf("nothing if the program works; else %s to %s or later, or ship device code (SASS) for its GPUs", [
	lib.upgrade(c),
	c.native,
]) if {
	lib.known(c, "native")
} else := "nothing if the program works; else upgrade the driver, or ship device code (SASS) for its GPUs"
