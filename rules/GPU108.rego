# METADATA
# title: Driver file hidden by a later layer
# description: |
#   Finds driver files that a later layer deletes or replaces. They are not in
#   the final file system, so nothing loads them.
#
#   A layer cannot take bytes out of the ones below it: the files are still
#   pulled and stored on every node. They show as well that an earlier
#   instruction installs a driver, which comes back with the next change of the
#   one that deletes it.
# related_resources:
# - ref: https://docs.docker.com/build/building/best-practices/
#   description: how to keep files out of layers
# custom:
#   id: GPU108
#   name: driver-file-shadowed
#   level: note
#   needs: [driver_files]
#   fix: delete the files in the instruction that brings them, or do not bring them
#   before: |
#     RUN apt-get update && apt-get install -y cuda-12-4
#     RUN rm -f /usr/lib/x86_64-linux-gnu/libcuda.so*
#   after: |
#     RUN apt-get update && apt-get install -y --no-install-recommends cuda-libraries-12-4
#   since: 0.1.0
package gpulint.GPU108

import data.gpulint.lib

deny contains f if {
	some c in lib.files("shadowed")
	f := {
		"candidate": c.id,
		"msg": concat(" ", [origin(c), outcome(c)]),
		"fix": fix(c),
	}
}

origin(c) := lib.sentence(lib.subject_text(
	c,
	sprintf("a file of %s", [lib.driver_text(c)]),
	sprintf("files of %s", [lib.driver_text(c)]),
))

outcome(c) := sprintf("%s, so nothing loads them, but %s still ship with the image.", [hidden(c), lib.size(c.bytes)]) if {
	is_number(c.bytes)
	c.bytes > 0
} else := sprintf("%s, so nothing loads them.", [hidden(c)])

hidden(c) := sprintf("Layer %d %s", [c.shadowed_by.index, verb(c)]) if {
	is_number(c.shadowed_by.index)
} else := sprintf("A later layer %s", [verb(c)])

verbs := {
	"whiteout": "deletes these bytes",
	"opaque": "empties the directory of these bytes",
	"replaced": "replaces these bytes",
}

verb(c) := object.get(verbs, object.get(c, "how", ""), "hides these bytes")

fix(c) := sprintf("%s; deleting in a later layer does not make the image smaller", [lib.files_fix(c)])
