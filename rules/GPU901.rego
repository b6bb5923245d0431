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
#   fix: raise the limit if you trust the image, or leave out of it what exceeds the limit
#   before: |
#     COPY dataset/ /data/
#   after: |
#     # mounted at run time instead
#     VOLUME /data
#   since: 0.1.0
package gpulint.GPU901

deny contains f if {
	some c in input.incomplete
	is_string(c.id)
	is_string(c.limit)
	f := {
		"candidate": c.id,
		"msg": sprintf("The scan hit the limit `%s`%s. %s", [c.limit, times(c), hides(c)]),
		"fix": sprintf("raise the limit `%s` if you trust the image, or leave out of it what exceeds the limit", [c.limit]),
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
