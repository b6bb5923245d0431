# METADATA
# title: Tool of the GPU driver in the image
# description: |
#   Finds programs that belong to the driver: nvidia-smi, nvidia-persistenced,
#   nvidia-cuda-mps-control, nvidia-modprobe and others. Wrapper scripts of that
#   name are not meant.
#
#   The container toolkit brings the host's own tools. A copy in the image
#   is of another version than the host's driver sooner or later; where it comes
#   first in PATH it hides the injected one, and health checks that call
#   nvidia-smi fail on a machine that is in order.
# related_resources:
# - ref: https://github.com/NVIDIA/nvidia-docker/issues/528
#   description: driver and tools installed in a Dockerfile
# - ref: https://github.com/aws/deep-learning-containers/issues/598
#   description: nvidia-smi is injected by the host and not part of an image
# custom:
#   id: GPU104
#   name: bundled-driver-tool
#   level: warning
#   needs: [driver_files]
#   predicts: "a stale tool hides the injected one: \"Failed to initialize NVML: Driver/library version mismatch\""
#   fix: leave the driver's tools out of the image; the NVIDIA container toolkit injects the host's
#   before: |
#     FROM ubuntu:24.04
#     RUN apt-get update && apt-get install -y nvidia-utils-535 my-app
#   after: |
#     FROM ubuntu:24.04
#     ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility
#     RUN apt-get update && apt-get install -y my-app
#   since: 0.1.0
package gpulint.GPU104

import data.gpulint.lib

deny contains f if {
	some c in lib.files("tool")
	f := {
		"candidate": c.id,
		"msg": sprintf("%s The host injects its own; where this copy comes first in PATH, or the host has another driver, it fails.", [origin(c)]),
		"predicted": predicted(c),
		"fix": fix(c),
	}
}

origin(c) := lib.sentence(lib.subject_text(
	c,
	sprintf("a tool of %s", [lib.driver_text(c)]),
	sprintf("tools of %s", [lib.driver_text(c)]),
))

predicted(c) := "Failed to initialize NVML: Driver/library version mismatch" if {
	"nvidia-smi" in lib.names(c)
} else := sprintf("%s of another version than the host's driver", [lib.list(lib.names(c), 3)])

fix(c) := lib.package_fix(c) if {
	lib.has_package(c)
} else := lib.of_base(c, sprintf(
	"do not copy %s into the image; with NVIDIA_DRIVER_CAPABILITIES=compute,utility the NVIDIA container toolkit injects the host's tools",
	[lib.list(lib.names(c), 3)],
))
