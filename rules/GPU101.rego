# METADATA
# title: Library of the GPU driver in the image
# description: |
#   Finds real bytes of a driver library (libcuda, libnvidia-ml,
#   libnvidia-ptxjitcompiler and others) in the final file system: by exact
#   name, by the ending .so.<driver version>, or by SONAME together with a
#   driver version inside, so that a renamed copy is found and a stub is not.
#   cuda-compat and stubs directories are exempt. Off every linker path it is a
#   warning.
#
#   A driver library works with the kernel module of the same version only. The
#   container toolkit mounts the host's libraries beside the image's; which copy
#   a program gets then depends on version and search path, so the image runs
#   on the machine where it was tried and breaks on the next.
# related_resources:
# - ref: https://docs.nvidia.com/deploy/cuda-compatibility/
#   description: NVIDIA's page on which driver a CUDA program needs
# - ref: https://github.com/NVIDIA/nvidia-docker/issues/528
#   description: driver installed in a Dockerfile, "Driver/library version mismatch"; the maintainers advise against it
# - ref: https://github.com/k4yt3x/video2x/issues/1226
#   description: an image with libraries of driver 565 on a host with driver 535
# - ref: https://github.com/tensorflow/tensorflow/issues/51641
#   description: libcuda in the container differs from the kernel module
# custom:
#   id: GPU101
#   name: bundled-driver-library
#   level: error
#   needs: [driver_files]
#   predicts: "CUDA error 803 (system has unsupported display driver / cuda driver combination), or \"Failed to initialize NVML: Driver/library version mismatch\""
#   fix: leave the driver's libraries out of the image; the NVIDIA container toolkit injects the host's at start
#   before: |
#     FROM ubuntu:24.04
#     RUN apt-get update && apt-get install -y cuda-12-4
#   after: |
#     FROM ubuntu:24.04
#     RUN apt-get update && apt-get install -y --no-install-recommends cuda-libraries-12-4
#   since: 0.1.0
package gpulint.GPU101

import data.gpulint.lib

deny contains f if {
	some c in lib.files("library")
	f := {
		"candidate": c.id,
		"level": level(c),
		"msg": concat(" ", [origin(c), outcome(c)]),
		"targets": [t.name | some t in array.concat(losing(c), winning(c))],
		"code": code(c),
		"predicted": predicted(c),
		"fix": lib.files_fix(c),
	}
}

# Vendor-neutral EGL platform libraries are redistributable and carry no driver
# version: at most a warning.
level(c) := "warning" if {
	every name in lib.names(c) { startswith(name, "libnvidia-egl-") }
} else := "warning" if {
	not c.on_linker_path
} else := "error"

origin(c) := lib.sentence(lib.subject_text(
	c,
	sprintf("a library of %s", [lib.driver_text(c)]),
	sprintf("libraries of %s", [lib.driver_text(c)]),
))

outcome(c) := "No linker path leads there: only a program that opens it by its path, or a changed LD_LIBRARY_PATH, loads it, and then fails on a host with another driver." if {
	not c.on_linker_path
} else := lib.sentence(concat("; ", compared(c))) if {
	count(compared(c)) > 0
} else := sprintf("On a host with another driver, %s.", [consequence(c)])

# compared says of each target which copy its programs get.
compared(c) := [text | some text in [wins(c), loses(c), luck(c)]; text != ""]

wins(c) := sprintf("on %s the image's newer copy %s", [lib.list(lib.with_driver(winning(c)), 3), victory(c)]) if {
	count(winning(c)) > 0
} else := ""

# Elsewhere the order of the linker's directories decides.
victory(c) := sprintf("wins over the host's and %s", [consequence(c)]) if {
	c.beside_host
} else := sprintf("may win over the host's, and then %s", [consequence(c)])

loses(c) := sprintf("on %s the host's newer copy usually wins, but where the image's is found first %s", [
	lib.list(lib.with_driver(losing(c)), 3),
	likewise(c),
]) if {
	count(losing(c)) > 0
} else := ""

likewise(c) := "it fails as well" if {
	count(winning(c)) > 0
} else := consequence(c)

luck(c) := sprintf(
	"on %s the versions are equal, which works only until the host's driver changes",
	[lib.list(lib.with_driver(same(c)), 3)],
) if {
	count(same(c)) > 0
} else := ""

# winning are the targets on which ldconfig prefers the image's copy: it takes
# the highest version of a SONAME.
winning(c) := sort([t | some t in comparable; c.driver.parts > lib.parts(t.driver)])

losing(c) := sort([t | some t in comparable; c.driver.parts < lib.parts(t.driver)])

same(c) := sort([t | some t in comparable; c.driver.parts == lib.parts(t.driver)])

# Where drivers are not Linux drivers, or get in without ldconfig, comparing
# their versions says nothing.
comparable contains t if {
	some t in lib.targets
	not object.get(t, "runtime", "") in {"wsl", "gke", "csv"}
	lib.parts(t.driver)
}

code(c) := 803 if {
	"libcuda.so" in lib.names(c)
} else := 0

consequence(c) := "CUDA fails with error 803 and nvidia-smi with \"Driver/library version mismatch\"" if {
	{"libcuda.so", "libnvidia-ml.so"} & {name | some name in lib.names(c)} == {"libcuda.so", "libnvidia-ml.so"}
} else := "CUDA fails with error 803" if {
	"libcuda.so" in lib.names(c)
} else := "NVML and nvidia-smi fail with \"Driver/library version mismatch\"" if {
	"libnvidia-ml.so" in lib.names(c)
} else := "programs that load it fail or misbehave"

predicted(c) := "cudaErrorSystemDriverMismatch: system has unsupported display driver / cuda driver combination" if {
	"libcuda.so" in lib.names(c)
} else := "Failed to initialize NVML: Driver/library version mismatch" if {
	"libnvidia-ml.so" in lib.names(c)
} else := "library and driver differ in version: errors when it is loaded or first called"
