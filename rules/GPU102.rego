# METADATA
# title: Symbolic link with the name of a driver library
# description: |
#   Finds symbolic links named like a driver library (libcuda.so.1,
#   libnvidia-ml.so.1), dangling or not. An error for targets on WSL and where
#   the link has the very name of the file that the target's driver brings
#   (libcuda.so.535.161.08).
#
#   The container toolkit puts the host's files into the container and creates
#   missing ones first. Where it has to create a file and the image has a link of
#   that name, it refuses and the container does not start. On plain Linux the
#   files carry the driver version in their names, so links such as libcuda.so.1
#   are rarely hit; on WSL the host's files are named libcuda.so.1 and
#   libnvidia-ml.so.1.
# related_resources:
# - ref: https://github.com/NVIDIA/nvidia-container-toolkit/issues/289
#   description: "file exists on WSL: link of libnvidia-compute in the image"
# - ref: https://github.com/NVIDIA/nvidia-container-toolkit/issues/371
#   description: nvidia-opencl-dev pulled the driver's packages in
# - ref: https://github.com/NVIDIA/nvidia-container-toolkit/issues/295
#   description: the same with an aarch64 image
# custom:
#   id: GPU102
#   name: driver-library-link
#   level: warning
#   needs: [driver_files]
#   predicts: "nvidia-container-cli: mount error: file creation failed: …/libnvidia-ml.so.1: file exists"
#   fix: remove the link; the NVIDIA container toolkit makes it at start
#   before: |
#     FROM ubuntu:22.04
#     RUN apt-get update && apt-get install -y nvidia-opencl-dev
#   after: |
#     FROM ubuntu:22.04
#     RUN apt-get update && apt-get install -y ocl-icd-opencl-dev
#   since: 0.1.0
package gpulint.GPU102

import data.gpulint.lib

deny contains f if {
	some c in lib.files("link")
	hit := sort([t | some t in lib.targets; blocks(c, t)])
	f := {
		"candidate": c.id,
		"level": level(hit),
		"msg": concat(" ", [origin(c), outcome(hit)]),
		"targets": [t.name | some t in hit],
		"predicted": sprintf("nvidia-container-cli: mount error: file creation failed: %s: file exists", [example(c, hit)]),
		"fix": fix(c),
	}
}

level(hit) := "error" if {
	count(hit) > 0
} else := "warning"

# blocks tells that the toolkit has to create a file of the link's name.
blocks(_, t) if t.runtime == "wsl"

blocks(c, t) if {
	some path in lib.strings(c.paths)
	injected(path, t)
}

injected(path, t) if {
	lib.parts(t.driver)
	name := base(path)
	startswith(name, "lib")
	endswith(name, concat("", [".so.", t.driver]))
}

base(path) := parts[count(parts) - 1] if parts := split(path, "/")

# example is the path that an error would name.
example(c, hit) := path if {
	named := [path | some path in lib.strings(c.paths); some t in hit; injected(path, t)]
	count(named) > 0
	path := named[0]
} else := path if {
	sonames := [path | some path in lib.strings(c.paths); endswith(path, ".so.1")]
	count(sonames) > 0
	path := sonames[0]
} else := lib.strings(c.paths)[0]

origin(c) := lib.sentence(lib.subject_text(
	c,
	sprintf("a symbolic link%s with the name of a driver library", [leading(c)]),
	"symbolic links with names of driver libraries",
))

default leading(_) := ""

leading(c) := sprintf(" to %s", [links[0]]) if {
	links := lib.strings(c.links)
	count(links) == 1
	links[0] != ""
}

outcome(hit) := sprintf("On %s the host's file of that name cannot be mounted and the container does not start.", [lib.list([t.name | some t in hit], 3)]) if {
	count(hit) > 0
} else := "Where the host injects a file of that very name, as it does on WSL, the container does not start."

fix(c) := lib.package_fix(c) if {
	lib.has_package(c)
} else := lib.of_base(c, sprintf("remove %s in the instruction that brings it; the NVIDIA container toolkit makes such links at start", [lib.list(lib.strings(c.paths), 3)]))
