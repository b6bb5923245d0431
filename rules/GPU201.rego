# METADATA
# title: Driver too old for the image's CUDA
# description: |
#   Finds CUDA runtimes that the image's programs load and that do not run on a
#   target's driver: neither natively, nor by minor-version compatibility, nor
#   through a cuda-compat package. Judged for each runtime and its users. Where
#   the verdict rests on a table row of low confidence, it is a warning.
#
#   The container starts and fails at the first CUDA call; frameworks then say
#   that there is no GPU, or quietly compute on the CPU.
# related_resources:
# - ref: https://docs.nvidia.com/deploy/cuda-compatibility/
#   description: "CUDA compatibility: minor versions and forward compatibility"
# - ref: https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/
#   description: the driver that each release of the toolkit needs
# - ref: https://github.com/MauriceNino/dashdot/issues/1226
#   description: an image that moved to CUDA 12.8 on hosts with driver 535
# custom:
#   id: GPU201
#   name: driver-too-old
#   level: error
#   needs: [verdicts]
#   predicts: "CUDA error 35: CUDA driver version is insufficient for CUDA runtime version"
#   fix: upgrade the driver on the targets, or build the image on an older CUDA
#   before: |
#     # the targets have driver 470
#     FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04
#   after: |
#     # CUDA 11 runs on driver 450.80.02 and later
#     FROM nvidia/cuda:11.8.0-runtime-ubuntu22.04
#   since: 0.1.0
package gpulint.GPU201

import data.gpulint.lib

deny contains f if {
	some c in input.verdicts
	c.level == "incompatible"
	is_string(c.id)
	is_string(c.cuda.text)
	f := {
		"candidate": c.id,
		"level": level(c),
		"msg": concat(" ", [statement(c), doubt(c)]),
		"targets": lib.strings(c.targets),
		"code": code(c),
		"predicted": predicted(c),
		"fix": fix(c),
	}
}

low(c) if c.confidence == "low"

level(c) := "warning" if {
	low(c)
} else := "error"

statement(c) := sprintf("CUDA %s does not run on %s%s.", [c.cuda.text, lib.drivers_text(c), demand(c)])

demand(c) := sprintf(": it needs driver %s or later, and %s or later for all its features", [c.minor, c.native]) if {
	lib.known(c, "minor")
	lib.known(c, "native")
	c.minor != c.native
} else := sprintf(": it needs driver %s or later", [c.native]) if {
	lib.known(c, "native")
} else := sprintf(": it needs driver %s or later", [c.minor]) if {
	lib.known(c, "minor")
} else := ""

doubt(c) := "The sources for this are weak, so it is a warning: try it on such a machine." if {
	low(c)
} else := "The container starts and fails at the first CUDA call."

code(c) := c.code if {
	is_number(c.code)
	c.code > 0
} else := 35

predicted(c) := c.text if {
	is_string(c.text)
	c.text != ""
} else := "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version"

fix(c) := sprintf("%s%s, or build the image on a CUDA that runs there%s", [
	lib.upgrade(c),
	lowest(c),
	forward(c),
])

lowest(c) := sprintf(" to %s or later", [c.minor]) if {
	lib.known(c, "minor")
} else := sprintf(" to %s or later", [c.native]) if {
	lib.known(c, "native")
} else := ""

# Forward compatibility is for data-center GPUs; the package's name is that of
# the toolkit's release.
forward(c) := sprintf("; on data-center GPUs package `cuda-compat-%d-%d` may do instead, where NVIDIA supports the pair", [c.cuda.parts[0], c.cuda.parts[1]]) if {
	is_number(c.cuda.parts[0])
	is_number(c.cuda.parts[1])
} else := ""
