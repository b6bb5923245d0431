# METADATA
# title: Empty driver file
# description: |
#   Finds driver files of size zero. They are the mount points of an earlier
#   container: the image was built with the NVIDIA runtime as Docker's default,
#   or committed from a running GPU container. An error only for an empty file
#   whose name programs open, such as libcuda.so.1.
#
#   An empty libcuda.so.418.56 stays beside the host's libraries for ever:
#   ldconfig complains at each start and linking against it fails. An empty
#   libcuda.so.1 is what programs load where the host does not cover it.
# related_resources:
# - ref: https://github.com/NVIDIA/libnvidia-container/issues/140
#   description: "File … is empty, not checked: image built with the nvidia runtime as default"
# - ref: https://github.com/NVIDIA/nvidia-docker/issues/1504
#   description: "file not recognized: File truncated, from an empty libcuda in the base image"
# - ref: https://github.com/NVIDIA/libnvidia-container/issues/50
#   description: empty files of the old driver after an upgrade of the host
# custom:
#   id: GPU103
#   name: empty-driver-file
#   level: warning
#   needs: [driver_files]
#   predicts: "\"File … is empty, not checked\" from ldconfig at start; \"file too short\" where a program opens the empty file"
#   fix: build without the NVIDIA runtime, and from a base image without such files
#   before: |
#     $ docker run --gpus all --name work nvidia/cuda:12.4.1-devel-ubuntu22.04 make
#     $ docker commit work my-image
#   after: |
#     FROM nvidia/cuda:12.4.1-devel-ubuntu22.04
#     RUN make
#   since: 0.1.0
package gpulint.GPU103

import data.gpulint.lib

deny contains f if {
	some c in lib.files("empty")
	f := {
		"candidate": c.id,
		"level": level(c),
		"msg": concat(" ", [origin(c), outcome(c)]),
		"predicted": predicted(c),
		"fix": fix(c),
	}
}

opened(c) if c.opened == true

level(c) := "error" if {
	opened(c)
} else := "warning"

origin(c) := lib.sentence(lib.subject_text(
	c,
	sprintf("an empty file in place of a file of %s", [lib.driver_text(c)]),
	sprintf("empty files in place of files of %s", [lib.driver_text(c)]),
))

outcome(c) := "Programs open it by this name and fail wherever the host does not mount its own file over it; it is left by a build or commit under the NVIDIA runtime." if {
	opened(c)
} else := "It is left by a build or commit under the NVIDIA runtime: ldconfig complains about it at each start, and linking against it fails."

predicted(c) := sprintf("%s: file too short", [name]) if {
	opened(c)
	parts := split(lib.strings(c.paths)[0], "/")
	name := parts[count(parts) - 1]
} else := sprintf("ldconfig: File %s is empty, not checked.", [lib.strings(c.paths)[0]])

fix(c) := sprintf(
	"build with runc as Docker's default runtime or with BuildKit, do not commit a running GPU container, and take a base image without %s",
	[lib.list(lib.strings(c.paths), 3)],
)
