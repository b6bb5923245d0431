# METADATA
# title: Package of the GPU driver installed
# description: |
#   Finds installed packages of the driver (cuda-drivers, nvidia-driver-535,
#   libnvidia-compute-535, libcuda1 and others) of which no file was reported by
#   another rule: metapackages and packages that hold configuration only.
#   Removed packages and dummies are not meant.
#
#   A driver works with the kernel module of the same version only, and that
#   is the host's. The package also pulls driver libraries in again with each
#   upgrade in a later layer or a derived image.
# related_resources:
# - ref: https://github.com/NVIDIA/nvidia-container-toolkit/issues/371
#   description: nvidia-opencl-dev pulled the driver's packages in
# - ref: https://github.com/NVIDIA/nvidia-docker/issues/528
#   description: the maintainers advise against a driver in the Dockerfile
# - ref: https://docs.nvidia.com/deploy/cuda-compatibility/
#   description: NVIDIA's page on which driver a CUDA program needs
# custom:
#   id: GPU107
#   name: driver-package
#   level: error
#   needs: [driver_packages]
#   predicts: "with the driver's libraries that it brings: CUDA error 803, or \"Failed to initialize NVML: Driver/library version mismatch\""
#   fix: leave driver packages out of the image; the NVIDIA container toolkit injects the host's driver at start
#   before: |
#     FROM ubuntu:24.04
#     RUN apt-get update && apt-get install -y cuda-12-4
#   after: |
#     FROM ubuntu:24.04
#     RUN apt-get update && apt-get install -y --no-install-recommends cuda-libraries-12-4
#   since: 0.1.0
package gpulint.GPU107

import data.gpulint.lib

deny contains f if {
	some c in input.driver_packages
	is_string(c.id)
	lib.has_package(c)
	f := {
		"candidate": c.id,
		"msg": sprintf(
			"Package %s belongs to the GPU driver, which the host must provide. The driver libraries that it stands for do not work with the kernel module of another version.",
			[lib.package_text(c.package)],
		),
		"fix": lib.package_fix(c),
	}
}
