# METADATA
# title: The scan is incomplete
# description: |
#   Finds limits that the scan hit: on sizes, on numbers of files, on nesting, on
#   candidates. The message says which, and what may have been missed.
#
#   Everything else in the report holds, but what was left out was not judged:
#   no finding does not mean that there is nothing to find. A gate that has to
#   rely on the answer must not pass silently.
# related_resources:
# - ref: https://github.com/gpulint/gpulint
#   description: gpulint, its limits and flags
# custom:
#   id: GPU901
#   name: scan-incomplete
#   level: error
#   needs: [incomplete]
#   fix: "raise the limit if you trust the image (`--limit entries=30000000`), or leave out of it what exceeds the limit"
#   before: |
#     # a dataset of 40 million files in the image
#     COPY dataset/ /data/
#   after: |
#     # one file, or a volume that is mounted at run time
#     COPY dataset.squashfs /data/
#   since: 0.1.0
package gpulint.GPU901

deny contains f if {
	some c in input.incomplete
	is_string(c.id)
	is_string(c.limit)
	f := {
		"candidate": c.id,
		"msg": sprintf("The scan hit the limit `%s`%s. %s", [c.limit, times(c), hides(c)]),
		"fix": fix(c),
	}
}

times(c) := sprintf(" %d times", [c.count]) if {
	is_number(c.count)
	c.count > 1
} else := ""

hides(c) := sprintf("May be missed: %s.", [trim_right(c.hides, ".")]) if {
	is_string(c.hides)
	c.hides != ""
} else := "Something may be missed."

# flags are the names that --limit takes, by the limits that were hit. The
# others are the format's or the kernel's own, and no flag raises them.
flags := {
	"entries": "entries",
	"layer-bytes": "layer-bytes",
	"index-bytes": "index-bytes",
	"driver-files": "facts",
	"runtimes": "facts",
	"packages": "facts",
}

fix(c) := sprintf("raise the limit with `--limit %s=N` if you trust the image, or leave out of it what exceeds the limit", [flags[c.limit]]) if {
	flags[c.limit]
} else := "have the base image's vendor distribute the layer, or scan the image where it is complete" if {
	c.limit == "foreign-layer"
} else := "judge fewer targets at once" if {
	c.limit == "targets"
} else := "leave out of the image what exceeds the limit; no flag raises it"
